//! Names the causes of differences, and explains each: why it happens, and what removes it. Does not find differences; see `difference`.

use super::requests::Variant;
use crate::answers::{AnswerEnding, Aspect, GatewayAnswer};

/// A cause of differences. Its name is the rule of an accepted change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    pub name: &'static str,
    pub title: &'static str,
    /// One or two sentences.
    pub why: &'static str,
    /// What to change, as an instruction.
    pub fix: &'static str,
    /// The usual decision, as an instruction.
    pub decision: &'static str,
}

macro_rules! causes {
    ($($constant:ident $name:literal: $title:literal, $why:literal, $fix:literal, $decision:literal;)*) => {
        $(pub(super) const $constant: &Cause = &Cause { name: $name, title: $title, why: $why, fix: $fix, decision: $decision };)*
        /// All causes, the gravest first.
        pub const CAUSES: &[&Cause] = &[$($constant),*];
    };
}

causes! {
    LOST_PROTECTION "lost-protection": "Protection is lost", "The first side denies these requests or checks credentials, and the second side forwards them unchecked.", "Configure the protection of the first side on the second side before you send traffic to it", "Never accept it";
    FORGED_HEADERS "forged-headers": "Clients can set headers of the proxy", "The first side replaces or removes these request headers, and the second side passes the client's values on.", "Set or remove the header on the second side before the service gets it", "Fix it, if a service trusts the header";
    NOT_EVALUATED "not-evaluated": "A part is not evaluated", "One side contains a part that Chancery does not evaluate. It may deny or change these requests.", "Read what the part does, and configure the same on the other side", "Accept it after you have checked the other side by hand";
    GRPC_WITHOUT_HTTP2 "grpc-without-http2": "gRPC clients cannot connect", "gRPC needs HTTP/2, and the second side offers only HTTP/1.1 in the TLS handshake.", "Set `tls.alpnProtocols: [h2, http/1.1]` in the ClientTrafficPolicy of the host's listener, or give the host a certificate that has no name in common with those of other listeners", "Fix it";
    ROUTE "route": "Requests end differently", "The two sides have different rules for these requests.", "Add or change the rule for this host and path on the second side", "Fix it, unless no client sends these requests";
    SERVICE "service": "Requests go to another service", "The rules of the two sides name different services.", "Name the first side's service in the second side's rule", "Fix it";
    WEIGHTS "weights": "Services get other shares", "The weights of the two sides differ.", "Set the same weights on the second side", "Fix it, unless you want other shares";
    HOST_MATCH "host-match": "Hosts match differently", "The two sides match hosts by different rules: wildcards, ports, final dots or unknown hosts.", "Add the host to the second side, or accept the change if no client sends it", "Accept it, if no client sends such hosts";
    PATH_CASE "path-case": "Paths match in another case", "One side ignores the case of the path, and the other does not.", "Match the path with a regular expression that begins with `(?i)`, or send the path as written", "Accept it, if no client writes paths in another case";
    PATH_BOUNDARY "path-boundary": "Longer path segments match differently", "One side matches the path as a string prefix, and the other matches whole segments.", "Match the path with a regular expression that ends with `.*`, or accept the change", "Accept it, if no client sends such paths";
    TRAILING_SLASH "trailing-slash": "A trailing slash matters", "The two sides treat a path with and without a trailing slash differently.", "Add a rule for the other form of the path, as an exact path or a redirect", "Fix it for paths that people type or link; accept the others";
    PATH_NORMALIZATION "path-normalization": "Paths are normalized differently", "One side decodes or merges parts of the path before it matches rules, and the other does not.", "Set the second side's path normalization, or accept the change if no client sends such paths", "Accept it, if no service needs `//` or `..`";
    QUERY_MATCH "query-match": "The query decides differently", "The two sides match query parameters differently.", "Match the same query parameters on the second side", "Fix it";
    METHOD_MATCH "method-match": "The method decides differently", "The two sides treat the method differently.", "Match the same methods on the second side", "Fix it, or accept it if no client sends the method";
    HEADER_MATCH "header-match": "A header decides differently", "The two sides match the header differently.", "Match the same header values on the second side", "Fix it, or accept it if no client sends the header";
    COOKIE_MATCH "cookie-match": "A cookie decides differently", "The two sides match the cookie differently.", "Match the same cookie values on the second side, as a regular expression on the `Cookie` header", "Fix it, or accept it if no client sends the cookie";
    CLIENT_ADDRESS "client-address": "The client's address decides differently", "The two sides allow different client addresses, or determine the client's address differently.", "Allow the same ranges on the second side, and set how it finds the client's address", "Fix it";
    FORWARDED_TRUST "forwarded-trust": "Forwarded headers of clients are treated differently", "One side trusts `X-Forwarded-*` headers of clients, and the other replaces them.", "Set the number of trusted proxies on the second side", "Fix it, if a proxy is in front of the gateway; otherwise accept it";
    AUTHENTICATION "authentication": "Authentication differs", "The two sides require different credentials, or ask different services.", "Configure the same authentication on the second side", "Fix it";
    HTTPS_REDIRECT "https-redirect": "Redirects to https differ", "One side redirects plain requests to https, and the other does not.", "Add a rule on the http listener that redirects to https with the same status", "Fix it";
    REDIRECT "redirect": "Redirects differ", "One side redirects the request, and the other does not.", "Add or remove the redirect on the second side", "Fix it";
    REDIRECT_STATUS "redirect-status": "Redirects have another status", "Both sides redirect to the same place with different statuses.", "Set the first side's status code in the redirect", "Accept it, if the new status is as permanent as the old one and keeps the method";
    REDIRECT_LOCATION "redirect-location": "Redirects lead elsewhere", "Both sides redirect, to different places.", "Set scheme, host, port and path of the redirect as on the first side", "Accept it, if only a query or a final slash differs";
    STATUS "status": "The gateway's own responses differ", "Neither side forwards the request, and their statuses differ.", "Accept the change if clients do not depend on the status, or add a rule that answers with it", "Accept it, unless clients depend on the status";
    TLS "tls": "TLS connections end differently", "One side completes the TLS handshake for this name, and the other closes the connection.", "Add an HTTPS listener with a certificate for this name, or accept the change", "Accept it, if no client uses https for these hosts";
    LISTENER "listener": "One side does not answer", "One side closes the connection or does not listen.", "Add a listener for the port and the host", "Fix it, unless no client uses the port";
    CORS "cors": "CORS differs", "The two sides answer requests from other sites differently.", "Set the same origins, methods, headers and credentials on the second side", "Fix it, if browsers of other sites use the service";
    REWRITE "rewrite": "The service gets another path", "The two sides rewrite the path differently.", "Change the rewrite so that the service gets the first side's path", "Fix it";
    UPSTREAM_HOST "upstream-host": "The service gets another host", "The two sides send different `Host` headers.", "Set or remove the host rewrite on the second side", "Fix it, unless the service ignores `Host`";
    BACKEND_PROTOCOL "backend-protocol": "The service is spoken to differently", "The two sides use different protocols to the service.", "Set the protocol on the Service's port (`appProtocol`) or in the policy for the service", "Fix it";
    BACKEND_TLS "backend-tls": "The service's certificate is verified differently", "The two sides verify the service's certificate differently.", "Add or change the policy for TLS to the service", "Fix it, or accept a stricter check that the service passes";
    CERTIFICATE "certificate": "Clients get another certificate", "The two sides have different certificates for this name.", "Refer to the same Secret on the second side", "Fix it, or accept another certificate that clients trust";
    TLS_VERSIONS "tls-versions": "Other TLS versions are accepted", "The two sides accept different versions of TLS.", "Set the lowest and highest TLS version on the second side", "Accept it, if only old versions are lost";
    HTTP_VERSIONS "http-versions": "Clients with TLS can use other versions of HTTP", "The two sides offer different versions of HTTP in the TLS handshake.", "Envoy Gateway offers no HTTP/2 to listeners whose certificates have a name in common: write one listener for their hosts, or set `tls.alpnProtocols` in the ClientTrafficPolicy", "Fix it, if clients use gRPC; accept it, if HTTP/1.1 is fast enough";
    CLIENT_ADDRESS_HEADERS "client-address-headers": "Services see another client address", "The two sides tell the service different addresses of the client.", "Set the header on the second side to the address of the client, such as `%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%`", "Fix it, unless no service reads the address";
    FORWARDED_HEADERS "forwarded-headers": "Forwarded headers differ", "The two sides tell the service differently who sent the request.", "Set the header on the second side if a service reads it", "Accept it, if no service reads the header";
    PROXY_HEADERS "proxy-headers": "The proxy's own request headers differ", "Each proxy adds its own headers to requests.", "Remove the header on the second side, or accept the change if no service reads it", "Accept it, if no service reads the header";
    REQUEST_HEADERS "request-headers": "Request headers differ", "The two sides add, change or remove different request headers.", "Set or remove the header on the second side", "Fix it, unless no service reads the header";
    HSTS "hsts": "HSTS differs", "The two sides send different `Strict-Transport-Security` headers.", "Add the response header on the second side", "Fix it";
    RESPONSE_HEADERS "response-headers": "Response headers differ", "The two sides add different response headers.", "Add or remove the response header on the second side", "Fix it, unless no client reads the header";
    RESPONSE_TIMEOUT "response-timeout": "Slow responses end at another time", "The two sides wait for responses for different times.", "Set the first side's request timeout on the second side", "Fix it, or accept it if services answer in time";
    CONNECT_TIMEOUT "connect-timeout": "Connection attempts end at another time", "The two sides wait for connections to the service for different times.", "Set the first side's connect timeout on the second side", "Accept it, if services accept connections in time";
    RETRIES "retries": "Failed requests are repeated differently", "The two sides repeat requests a different number of times, or after other failures.", "Set the same number of retries and the same conditions on the second side", "Accept it, if repeated requests do no harm";
    BODY_SIZE "body-size": "Large request bodies are treated differently", "The two sides accept request bodies of different sizes.", "Set the first side's limit on the second side, or accept the change if a larger limit is safe", "Fix a lower limit; accept a larger limit that is safe";
    RATE_LIMIT "rate-limit": "Rate limits differ", "The two sides limit requests differently.", "Set an equal limit on the second side", "Accept it, if clients need no larger bursts";
    CONNECTION_LIMIT "connection-limit": "Connection limits differ", "The two sides limit connections differently.", "Set an equal limit on the second side", "Fix it, if the limit protects a service";
    AFFINITY "affinity": "Clients stay at endpoints differently", "The two sides choose endpoints by different properties of the request.", "Set the same session affinity on the second side; cookies of the first side are lost at the switch", "Accept it, if a client may change its endpoint once";
    MIRROR "mirror": "Copies of requests go elsewhere", "The two sides copy requests to different services.", "Mirror to the same service on the second side", "Fix it, unless the copies are no longer used";
}

/// Returns the cause with this name.
#[must_use]
pub fn cause(name: &str) -> Option<&'static Cause> {
    CAUSES.iter().copied().find(|cause| cause.name == name)
}

/// Returns the cause of a different aspect.
pub(super) fn of_aspect(aspect: &Aspect, variant: Variant) -> &'static Cause {
    match aspect {
        Aspect::UpstreamPath if matches!(variant, Variant::DoubleSlash | Variant::DotSegments | Variant::Escaped) => PATH_NORMALIZATION,
        Aspect::UpstreamPath => REWRITE,
        Aspect::UpstreamHost if variant == Variant::ForwardedHeaders => FORWARDED_TRUST,
        Aspect::UpstreamHost if variant == Variant::HostWithDot => HOST_MATCH,
        Aspect::RequestHeader(name) if variant == Variant::HostWithDot && name == "x-forwarded-host" => HOST_MATCH,
        Aspect::UpstreamHost => UPSTREAM_HOST,
        Aspect::Protocol => BACKEND_PROTOCOL,
        Aspect::UpstreamTls => BACKEND_TLS,
        Aspect::Authentication | Aspect::ClientName | Aspect::AuthenticationPath | Aspect::AuthenticationFailure | Aspect::SignIn => AUTHENTICATION,
        Aspect::Certificate => CERTIFICATE,
        Aspect::TlsVersions => TLS_VERSIONS,
        Aspect::HttpVersions => HTTP_VERSIONS,
        Aspect::RequestHeader(name) => match name.as_str() {
            "x-scheme" | "forwarded" => FORWARDED_HEADERS,
            name if name.starts_with("x-forwarded-") && variant == Variant::ForwardedHeaders => FORWARDED_TRUST,
            "x-real-ip" | "x-forwarded-for" => CLIENT_ADDRESS_HEADERS,
            name if name.starts_with("x-forwarded-") || name.starts_with("x-original-") => FORWARDED_HEADERS,
            name if name.starts_with("x-envoy-") || name == "x-request-id" => PROXY_HEADERS,
            _ => REQUEST_HEADERS,
        },
        Aspect::ResponseHeader(name) => match name.as_str() {
            "strict-transport-security" => HSTS,
            name if name.starts_with("access-control-") => CORS,
            _ => RESPONSE_HEADERS,
        },
        Aspect::ResponseTimeout => RESPONSE_TIMEOUT,
        Aspect::ConnectTimeout => CONNECT_TIMEOUT,
        Aspect::Retries => RETRIES,
        Aspect::BodySize => BODY_SIZE,
        Aspect::RateLimit => RATE_LIMIT,
        Aspect::ConnectionLimit => CONNECTION_LIMIT,
        Aspect::Affinity => AFFINITY,
        Aspect::Mirror => MIRROR,
    }
}

/// Returns the cause of a different ending.
pub(super) fn of_ending(before: &GatewayAnswer, after: &GatewayAnswer, variant: Variant, is_tls: bool) -> &'static Cause {
    use AnswerEnding::{Answered, Forwarded, NotAnswered, Redirected};
    let is_to_https = |answer: &GatewayAnswer| !is_tls && answer.location.as_deref().is_some_and(|location| location.starts_with("https://"));
    let is_denied = |answer: &GatewayAnswer, status: u32| answer.ending == Answered && answer.status == Some(status);
    let denies = is_denied(before, 401) || is_denied(before, 403) || before.wants_certificate;
    // Right credentials do not help against another reason to deny.
    let is_refused = is_denied(before, 403) && !before.wants_certificate;
    if denies && after.ending == Forwarded && (is_refused || !after.facts.contains_key(&Aspect::Authentication)) {
        return LOST_PROTECTION;
    }
    match (before.ending, after.ending) {
        (Redirected, Redirected) if before.location == after.location => return REDIRECT_STATUS,
        (Redirected, Redirected) => return REDIRECT_LOCATION,
        (NotAnswered, _) | (_, NotAnswered) if is_tls => return TLS,
        (NotAnswered, _) | (_, NotAnswered) => return LISTENER,
        (Redirected, _) if is_to_https(before) => return HTTPS_REDIRECT,
        (_, Redirected) if is_to_https(after) => return HTTPS_REDIRECT,
        _ => {}
    }
    // One side denies what the other allows with credentials.
    let asks = |answer: &GatewayAnswer| answer.facts.contains_key(&Aspect::Authentication);
    let is_closed = |answer: &GatewayAnswer| answer.ending == Answered && answer.status.is_some_and(|status| matches!(status, 403 | 500..));
    let logs_in = asks(before) && after.ending == Redirected && !is_to_https(after);
    if logs_in || is_denied(before, 401) || is_denied(after, 401) || asks(before) && is_closed(after) || is_closed(before) && asks(after) {
        return AUTHENTICATION;
    }
    let of_variant = match variant {
        Variant::UpperCase => Some(PATH_CASE),
        Variant::Longer => Some(PATH_BOUNDARY),
        Variant::TrailingSlash | Variant::WithoutSlash => Some(TRAILING_SLASH),
        Variant::DoubleSlash | Variant::DotSegments | Variant::Escaped => Some(PATH_NORMALIZATION),
        Variant::Query => Some(QUERY_MATCH),
        Variant::HostWithPort | Variant::HostWithDot | Variant::HostInUpperCase | Variant::SecondLabel | Variant::UnknownHost => Some(HOST_MATCH),
        Variant::Header => Some(HEADER_MATCH),
        Variant::Cookie => Some(COOKIE_MATCH),
        Variant::Method => Some(METHOD_MATCH),
        Variant::Client => Some(CLIENT_ADDRESS),
        Variant::ForwardedHeaders | Variant::ForgedHeaders => Some(FORWARDED_TRUST),
        Variant::Preflight | Variant::Origin => Some(CORS),
        Variant::Plain | Variant::Below => None,
    };
    if let Some(cause) = of_variant {
        return cause;
    }
    match (before.ending, after.ending) {
        (Redirected, _) | (_, Redirected) => REDIRECT,
        _ if is_denied(before, 403) || is_denied(after, 403) => CLIENT_ADDRESS,
        (Forwarded, Forwarded) => {
            let names = |answer: &GatewayAnswer| {
                answer.targets.iter().flat_map(|target| target.names.iter().cloned()).collect::<alloc::collections::BTreeSet<_>>()
            };
            if names(before) == names(after) { WEIGHTS } else { SERVICE }
        }
        (Answered, Answered) => STATUS,
        _ => ROUTE,
    }
}
