//! The result of each annotation: exact, approximate, impossible, or without effect on requests.
//!
//! The reference page of the documentation is written from this table.

use super::super::gateway::Target;

/// How well an annotation is converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fidelity {
    /// Requests get the same answers.
    Exact,
    /// Some requests get other answers.
    Approximate,
    /// It is left out.
    Impossible,
    /// It changes no answer.
    Unneeded,
}

impl Fidelity {
    pub const fn name(self) -> &'static str {
        match self {
            Fidelity::Exact => "exact",
            Fidelity::Approximate => "approximate",
            Fidelity::Impossible => "impossible",
            Fidelity::Unneeded => "not needed",
        }
    }
}

/// The result of an annotation.
#[derive(Clone, Copy, Debug)]
pub struct NginxVerdict {
    /// Its name without the prefix.
    pub name: &'static str,
    pub envoy_gateway: Fidelity,
    pub standard: Fidelity,
    /// How it is written, how the result differs, or what to do instead.
    pub words: &'static str,
}

impl NginxVerdict {
    pub fn on(&self, target: Target) -> Fidelity {
        match target {
            Target::EnvoyGateway => self.envoy_gateway,
            Target::Contour if self.name == LEFT_TO_CONTROLLER => Fidelity::Exact,
            Target::Contour | Target::Standard => self.standard,
        }
    }
}

/// Gateway API leaves regular expressions to the controller. Contour serves them.
const LEFT_TO_CONTROLLER: &str = "use-regex";

/// Returns the result of the annotation with this name.
pub fn verdict(name: &str) -> Option<&'static NginxVerdict> {
    let at = VERDICTS.binary_search_by(|of| of.name.cmp(name)).ok()?;
    VERDICTS.get(at)
}

const E: Fidelity = Fidelity::Exact;
const A: Fidelity = Fidelity::Approximate;
const I: Fidelity = Fidelity::Impossible;
const N: Fidelity = Fidelity::Unneeded;

macro_rules! verdicts {
    ($($name:literal $eg:ident $standard:ident $words:literal;)*) => {
        /// All annotations, by name.
        pub static VERDICTS: &[NginxVerdict] = &[$(NginxVerdict { name: $name, envoy_gateway: $eg, standard: $standard, words: $words }),*];
    };
}

verdicts! {
    "affinity" A I "Cookie with a hash in BackendTrafficPolicy `loadBalancer`; clients with a cookie of nginx may get another endpoint once, and the cookie has the path `/` unless `session-cookie-path` is set";
    "affinity-canary-behavior" A I "A hash of the cookie keeps clients on the canary or the main Service, as `sticky` does; conditions on headers come first, and `legacy` has no counterpart";
    "affinity-mode" A I "Consistent hashing moves few clients when endpoints change, as `balanced` does; `persistent` has no counterpart";
    "allowlist-source-range" E I "`authorization` of a SecurityPolicy; `whitelist-source-range` is its older name";
    "app-root" A A "RequestRedirect of the exact path `/`; the Gateway keeps the query of the request, nginx drops it";
    "auth-always-set-cookie" I I "Envoy passes cookies of the authentication service on if it denies the request only";
    "auth-cache-duration" I I "Envoy asks the authentication service about every request";
    "auth-cache-key" I I "Envoy asks the authentication service about every request";
    "auth-keepalive" N N "Envoy keeps connections to the authentication service open";
    "auth-keepalive-requests" N N "Envoy keeps connections to the authentication service open";
    "auth-keepalive-share-vars" I I "Envoy has no variables of nginx";
    "auth-keepalive-timeout" N N "Envoy keeps connections to the authentication service open";
    "auth-method" I I "Envoy asks with the method of the request";
    "auth-proxy-set-headers" I I "Add the headers in the authentication service, or with `contextExtensions` of a gRPC service";
    "auth-realm" I I "Envoy chooses the realm";
    "auth-request-redirect" I I "The authentication service gets no X-Auth-Request-Redirect; it gets the path of `auth-url`";
    "auth-response-headers" A I "`headersToBackend` of `extAuth`; the listener removes these headers of clients (`earlyRequestHeaders`) for all paths, nginx for paths with authentication only";
    "auth-secret" A I "`basicAuth` of a SecurityPolicy; write the passwords under the key `.htpasswd` with SHA hashes (`htpasswd -s`)";
    "auth-secret-type" A I "Envoy Gateway reads the key `.htpasswd` of the Secret only";
    "auth-signin" I I "Clients without access get the answer of the authentication service; write `oidc` in the SecurityPolicy for a login";
    "auth-signin-redirect-param" I I "Write `oidc` in the SecurityPolicy for a login";
    "auth-snippet" I I "nginx directives have no counterpart";
    "auth-tls-error-page" I I "Envoy closes connections without an accepted certificate";
    "auth-tls-match-cn" I I "Envoy checks alternative names; write `subjectAltNames` in `clientValidation`";
    "auth-tls-pass-certificate-to-upstream" I I "Write `xForwardedClientCert` in the ClientTrafficPolicy; the header is named X-Forwarded-Client-Cert";
    "auth-tls-secret" A I "`clientValidation` of a ClientTrafficPolicy; Envoy closes connections without a valid certificate, nginx answers 400, and services get no `ssl-client-*` headers: the routes remove those of clients. Set them from `%DOWNSTREAM_PEER_SUBJECT%` and `%DOWNSTREAM_PEER_ISSUER%`";
    "auth-tls-verify-client" A I "`mode: VerifyIfGiven` of `clientValidation`; `optional_no_ca` verifies in Envoy";
    "auth-tls-verify-depth" I I "Envoy accepts chains of any length to the CA";
    "auth-type" A I "`basicAuth` of a SecurityPolicy for `basic`; routes with `digest` stay closed";
    "auth-url" A I "`extAuth` of a SecurityPolicy; other statuses than 2xx reach the client, nginx answers 500 for those except 401 and 403, and the service gets the listed headers only, without X-Original-URL and X-Original-Method";
    "backend-protocol" A I "A Backend with TLS or HTTP/2; FCGI has no counterpart, and AUTO_HTTP becomes HTTP";
    "canary" E E "A backend of the same route";
    "canary-by-cookie" E E "A match of the header Cookie";
    "canary-by-header" E E "A match of the header";
    "canary-by-header-pattern" E E "A match of the header by a regular expression";
    "canary-by-header-value" E E "A match of the header";
    "canary-weight" E E "Weights of the backends";
    "canary-weight-total" E E "Weights of the backends";
    "client-body-buffer-size" N N "Envoy streams bodies";
    "configuration-snippet" I I "nginx directives have no counterpart; write filters for headers, redirects and rewrites";
    "connection-proxy-header" N N "Envoy manages connections to services";
    "cors-allow-credentials" E I "Response headers, or `cors` of a SecurityPolicy";
    "cors-allow-headers" E I "Response headers, or `cors` of a SecurityPolicy";
    "cors-allow-methods" E I "Response headers, or `cors` of a SecurityPolicy";
    "cors-allow-origin" A I "`*` becomes response headers and an answer to preflight requests; a list becomes `cors` of a SecurityPolicy, where preflight requests get 200 instead of 204";
    "cors-expose-headers" E I "Response headers, or `cors` of a SecurityPolicy";
    "cors-max-age" E I "Response headers, or `cors` of a SecurityPolicy";
    "custom-headers" E E "ResponseHeaderModifier";
    "custom-http-errors" I I "Envoy cannot ask another service for an error page; write `responseOverride` in the BackendTrafficPolicy with a fixed page";
    "default-backend" I I "Write a second Backend with `fallback: true` for a service without endpoints";
    "denylist-source-range" E I "`authorization` of a SecurityPolicy";
    "disable-proxy-intercept-errors" N N "Error pages are not converted";
    "enable-access-log" I I "Write `telemetry.accessLog` in the EnvoyProxy for the whole gateway";
    "enable-cors" A I "`*` becomes response headers and an answer to preflight requests; a list becomes `cors` of a SecurityPolicy";
    "enable-global-auth" E I "`global-auth-url` of the ConfigMap becomes `extAuth` of each route that it applies to";
    "enable-modsecurity" I I "Run a firewall as a Wasm module or an external processor: EnvoyExtensionPolicy";
    "enable-opentelemetry" I I "Write `telemetry.tracing` in the EnvoyProxy";
    "enable-owasp-core-rules" I I "Run a firewall as a Wasm module or an external processor: EnvoyExtensionPolicy";
    "enable-rewrite-log" N N "Envoy has no log of rewrites";
    "fastcgi-index" I I "Envoy does not speak FastCGI; put a web server before the service";
    "fastcgi-params-configmap" I I "Envoy does not speak FastCGI; put a web server before the service";
    "force-ssl-redirect" A A "A route with RequestRedirect on the listener without TLS; nginx cuts the slash at the end of the path";
    "from-to-www-redirect" A A "A route with RequestRedirect; nginx writes the port and cuts the slash at the end of the path";
    "http2-push-preload" N N "Browsers no longer accept pushes";
    "limit-allowlist" I I "Limits apply to every client; write a rule for these addresses";
    "limit-burst-multiplier" I I "A limit of Envoy has no burst: raise the limit";
    "limit-connections" I I "Envoy limits connections for a whole listener; write `connection.connectionLimit` in the ClientTrafficPolicy";
    "limit-rate" I I "Write `bandwidthLimit` in the BackendTrafficPolicy, which limits a route, not a response";
    "limit-rate-after" I I "Write `bandwidthLimit` in the BackendTrafficPolicy, which limits a route, not a response";
    "limit-rpm" A I "Local `rateLimit` by client address; without burst; the status is 429, in nginx 503 or `limit-req-status-code`";
    "limit-rps" A I "Local `rateLimit` by client address; without burst; the status is 429, in nginx 503 or `limit-req-status-code`";
    "load-balance" E I "`loadBalancer` of a BackendTrafficPolicy: RoundRobin, or LeastRequest for `ewma`";
    "mirror-host" I I "Copies have the host of the request";
    "mirror-request-body" I I "Copies have the body";
    "mirror-target" E I "RequestMirror, for a target with the path of the request";
    "modsecurity-snippet" I I "Run a firewall as a Wasm module or an external processor: EnvoyExtensionPolicy";
    "modsecurity-transaction-id" I I "Run a firewall as a Wasm module or an external processor: EnvoyExtensionPolicy";
    "opentelemetry-operation-name" I I "Write `telemetry.tracing` in the BackendTrafficPolicy";
    "opentelemetry-trust-incoming-span" I I "Write `telemetry.tracing` in the EnvoyProxy";
    "permanent-redirect" E A "A direct response with the header Location, or RequestRedirect; RequestRedirect alone adds the query of the request";
    "permanent-redirect-code" E A "The status; Gateway API accepts 301, 302, 303, 307 and 308 in RequestRedirect";
    "preserve-trailing-slash" E E "RequestRedirect keeps the slash";
    "proxy-body-size" A I "A rule that answers 413 by the header Content-Length; bodies without it are not limited";
    "proxy-buffer-size" N N "Envoy streams responses";
    "proxy-buffering" N N "Envoy streams responses";
    "proxy-buffers-number" N N "Envoy streams responses";
    "proxy-busy-buffers-size" N N "Envoy streams responses";
    "proxy-connect-timeout" E I "`timeout.tcp.connectTimeout` of a BackendTrafficPolicy";
    "proxy-cookie-domain" I I "Envoy Gateway does not change cookies; set the domain in the service";
    "proxy-cookie-path" I I "Envoy Gateway does not change cookies; set the path in the service";
    "proxy-http-version" N N "Envoy speaks HTTP/1.1 to services";
    "proxy-max-temp-file-size" N N "Envoy streams responses";
    "proxy-next-upstream" A I "`retry` of a BackendTrafficPolicy; `timeout` is a timeout of the connection, and `invalid_header` has no counterpart";
    "proxy-next-upstream-timeout" I I "Limit the number of tries";
    "proxy-next-upstream-tries" E I "`retry.numRetries` of a BackendTrafficPolicy; without limit becomes 10";
    "proxy-read-timeout" A I "`timeout.http.streamIdleTimeout` of a BackendTrafficPolicy: the larger of this value and proxy-send-timeout";
    "proxy-redirect-from" I I "Envoy does not change Location headers of services; correct them in the service";
    "proxy-redirect-to" I I "Envoy does not change Location headers of services; correct them in the service";
    "proxy-request-buffering" N N "Envoy streams requests";
    "proxy-send-timeout" A I "`timeout.http.streamIdleTimeout` of a BackendTrafficPolicy: the larger of this value and proxy-read-timeout";
    "proxy-ssl-ciphers" I I "Write `tls.ciphers` in the Backend";
    "proxy-ssl-name" E I "`validation.hostname` of a BackendTLSPolicy";
    "proxy-ssl-protocols" I I "Write `tls.minVersion` in the Backend";
    "proxy-ssl-secret" A I "`caCertificateRefs` of a BackendTLSPolicy; for a client certificate write `clientCertificateRef` in the Backend";
    "proxy-ssl-server-name" E I "Envoy sends the name by SNI";
    "proxy-ssl-verify" E I "A BackendTLSPolicy for `on`, a Backend with `insecureSkipVerify` for `off`";
    "proxy-ssl-verify-depth" I I "Envoy accepts chains of any length to the CA";
    "relative-redirects" I I "Redirects of a Gateway have scheme and host";
    "rewrite-target" E A "HTTPRouteFilter with a regular expression, or ReplaceFullPath; groups need Envoy Gateway";
    "satisfy" I I "Envoy requires address and authentication; write one rule of `authorization`";
    "server-alias" E E "Further hosts of the route; regular expressions have no counterpart";
    "server-snippet" I I "nginx directives have no counterpart; write filters for headers, redirects and rewrites";
    "service-upstream" E I "`routingType: Service` of a BackendTrafficPolicy";
    "session-cookie-change-on-failure" N N "Consistent hashing chooses another endpoint";
    "session-cookie-conditional-samesite-none" I I "Envoy writes the same attributes for every browser";
    "session-cookie-domain" E I "An attribute of the cookie";
    "session-cookie-expires" E I "The age of the cookie";
    "session-cookie-max-age" E I "The age of the cookie";
    "session-cookie-name" E I "The name of the cookie";
    "session-cookie-path" E I "An attribute of the cookie";
    "session-cookie-samesite" E I "An attribute of the cookie";
    "session-cookie-secure" E I "An attribute of the cookie";
    "ssl-ciphers" A I "`tls.ciphers` of a ClientTrafficPolicy, for the suites that Envoy knows";
    "ssl-passthrough" E E "TLSRoute; without the controller's flag `--enable-ssl-passthrough` it has no effect, and is not converted";
    "ssl-prefer-server-ciphers" N N "Envoy's order applies";
    "ssl-redirect" A A "A route with RequestRedirect on the listener without TLS; nginx cuts the slash at the end of the path";
    "stream-snippet" I I "nginx directives have no counterpart";
    "temporal-redirect" E A "A direct response with the header Location, or RequestRedirect; RequestRedirect alone adds the query of the request";
    "temporal-redirect-code" E A "The status; Gateway API accepts 301, 302, 303, 307 and 308 in RequestRedirect";
    "upstream-hash-by" A I "`consistentHash` of a BackendTrafficPolicy for an address, a header, a parameter or a cookie";
    "upstream-hash-by-subset" I I "Envoy chooses one endpoint";
    "upstream-hash-by-subset-size" I I "Envoy chooses one endpoint";
    "upstream-vhost" E E "URLRewrite of the host";
    "use-port-in-redirects" I I "Redirects of a Gateway have the port of the request";
    "use-regex" E A "RegularExpression without case; Gateway API leaves such paths to the controller";
    "x-forwarded-prefix" E E "RequestHeaderModifier";
}

#[cfg(test)]
mod tests {
    use super::{VERDICTS, verdict};
    use alloc::vec::Vec;

    #[test]
    fn verdicts_cover_every_annotation() {
        let known: Vec<_> = chancery_ingress_nginx::annotations::ALL.iter().map(|of| of.name).collect();
        assert_eq!(VERDICTS.iter().map(|of| of.name).collect::<Vec<_>>(), known);
        assert!(known.iter().all(|name| verdict(name).is_some()));
    }
}
