//! Lists the annotations that the controller reads, each with its group, its risk, the form of its value, its default and a description.
//!
//! ingress-nginx `internal/ingress/annotations`. Does not read annotations; see `read`.

use super::forms::Form::{
    AnyCaseWords, Basic, BasicWithBlanks, Extended, Flag, Headers, Number, Own, PathWithGroups, Ranges, Regex, ServerName, ServerNames, ServiceName,
    Size, Snippet, Url, UrlWithVariables, Variable, Words,
};
use super::forms::{self, Form};
use chancery_base::compilation::{AnnotationDoc, KnownAnnotations};

/// The default prefix of the controller's annotations.
pub const PREFIX: &str = "nginx.ingress.kubernetes.io";
/// The annotation that sets the class of Ingresses without `ingressClassName`.
pub const CLASS: &str = "kubernetes.io/ingress.class";

/// The risk of an annotation for everything beyond its Ingress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// The annotation accepts a few fixed values.
    Low,
    /// The annotation accepts a restricted string.
    Medium,
    /// The annotation accepts URLs and expressions.
    High,
    /// The annotation accepts any directive of nginx.
    Critical,
}

impl Risk {
    /// Returns the risk with a name in any case; `Low` for an unknown name.
    pub fn named(text: &str) -> Self {
        match text.to_lowercase().as_str() {
            "critical" => Risk::Critical,
            "high" => Risk::High,
            "medium" => Risk::Medium,
            _ => Risk::Low,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Risk::Low => "Low",
            Risk::Medium => "Medium",
            Risk::High => "High",
            Risk::Critical => "Critical",
        }
    }
}

/// An annotation that the controller reads.
#[derive(Debug)]
pub struct Annotation {
    /// The name without the prefix.
    pub name: &'static str,
    /// The name of the group of annotations that the controller reads together.
    pub group: &'static str,
    pub risk: Risk,
    /// Older names.
    pub aliases: &'static [&'static str],
    pub form: Form,
    /// A description of the default.
    pub default: &'static str,
    pub doc: &'static str,
}

macro_rules! annotations {
    ($($name:literal $group:ident $risk:ident [$($alias:literal),*] $form:expr, $default:literal $doc:literal;)*) => {
        /// All annotations, sorted by name.
        pub static ALL: &[Annotation] = &[$(Annotation {
            name: $name,
            group: stringify!($group),
            risk: Risk::$risk,
            aliases: &[$($alias),*],
            form: $form,
            default: $default,
            doc: $doc,
        }),*];

        /// All annotations, as editors and `chancery kinds` show them.
        pub const KNOWN: KnownAnnotations = KnownAnnotations {
            prefixes: &["nginx.ingress.kubernetes.io/"],
            names: &[
                $(concat!("nginx.ingress.kubernetes.io/", $name),)*
                $($(concat!("nginx.ingress.kubernetes.io/", $alias),)*)*
                CLASS,
            ],
            docs: &[$(AnnotationDoc {
                name: concat!("nginx.ingress.kubernetes.io/", $name),
                takes: $form.accepted_values(),
                values: $form.words(),
                default: $default,
                doc: $doc,
            }),*],
        };
    };
}

annotations! {
    "affinity" SessionAffinity Low [] Words(&["cookie"]), "none"
        "Keeps a client at one endpoint by a cookie";
    "affinity-canary-behavior" SessionAffinity Low [] Words(&["sticky", "legacy"]), "sticky"
        "Whether canaries keep their clients (`sticky`) or ignore the cookie (`legacy`)";
    "affinity-mode" SessionAffinity Medium [] Words(&["balanced", "persistent"]), "balanced"
        "Whether clients move when endpoints are added (`balanced`) or stay (`persistent`)";
    "allowlist-source-range" Allowlist Medium ["whitelist-source-range"] Ranges, "whitelist-source-range of the ConfigMap"
        "Only these client addresses may send requests; others get 403";
    "app-root" Rewrite Medium [] PathWithGroups, "none"
        "Redirects `/` of the whole host to this path with 302";
    "auth-always-set-cookie" ExternalAuth Low [] Flag, "false"
        "Sets the cookie of the authentication service on every response, not only on 2xx and 3xx";
    "auth-cache-duration" ExternalAuth Medium [] Extended, "200 202 401 5m"
        "How long answers of the authentication service are kept, by status";
    "auth-cache-key" ExternalAuth Medium [] Variable, "none"
        "Keeps answers of the authentication service by this key";
    "auth-keepalive" ExternalAuth Low [] Number, "0"
        "Connections to the authentication service that stay open; has no effect with HTTP/2";
    "auth-keepalive-requests" ExternalAuth Low [] Number, "1000"
        "Requests on one connection to the authentication service";
    "auth-keepalive-share-vars" ExternalAuth Low [] Flag, "false"
        "Shares nginx variables with the authentication request";
    "auth-keepalive-timeout" ExternalAuth Low [] Number, "60"
        "Seconds that a connection to the authentication service stays open";
    "auth-method" ExternalAuth Low [] Own(forms::is_method), "the method of the request"
        "The method of the authentication request";
    "auth-proxy-set-headers" ExternalAuth Medium [] Basic, "none"
        "A ConfigMap, `NAMESPACE/NAME`, with headers for the authentication service";
    "auth-realm" BasicDigestAuth Medium [] BasicWithBlanks, "empty"
        "The realm that the browser shows when it asks for a password";
    "auth-request-redirect" ExternalAuth Medium [] Own(forms::is_packed_url), "the path of the request"
        "The value of X-Auth-Request-Redirect for the authentication service";
    "auth-response-headers" ExternalAuth Medium [] Headers, "none"
        "Headers of the authentication service's answer that the service gets";
    "auth-secret" BasicDigestAuth Medium [] Basic, "none"
        "The Secret with users and passwords";
    "auth-secret-type" BasicDigestAuth Low [] Own(forms::is_auth_secret_type), "auth-file"
        "Whether the Secret holds one file (`auth-file`) or one key per user (`auth-map`)";
    "auth-signin" ExternalAuth High [] UrlWithVariables, "none"
        "Where a client without access is redirected, with 302 instead of 401";
    "auth-signin-redirect-param" ExternalAuth Medium [] Own(forms::is_packed_url), "rd"
        "The parameter of `auth-signin` that holds the URL of the request";
    "auth-snippet" ExternalAuth Critical [] Snippet, "none"
        "nginx directives for the authentication request";
    "auth-tls-error-page" CertificateAuth High [] Own(forms::is_error_page), "none"
        "Where a client is sent whose certificate is not accepted";
    "auth-tls-match-cn" CertificateAuth High [] Own(forms::is_common_name), "none"
        "`CN=` and an expression that the subject of the client certificate must match";
    "auth-tls-pass-certificate-to-upstream" CertificateAuth Low [] Flag, "false"
        "Passes the client certificate to the service as `ssl-client-cert`";
    "auth-tls-secret" CertificateAuth Medium [] Basic, "none"
        "The Secret, `NAMESPACE/NAME`, with the CA of client certificates; applies to the whole host";
    "auth-tls-verify-client" CertificateAuth Medium [] Own(forms::is_verification), "on"
        "Whether a client certificate is required: `on`, `off`, `optional`, `optional_no_ca`";
    "auth-tls-verify-depth" CertificateAuth Low [] Number, "1"
        "The largest number of certificates between the client's and the CA";
    "auth-type" BasicDigestAuth Low [] Own(forms::is_auth_type), "none"
        "Asks for a password: `basic` or `digest`";
    "auth-url" ExternalAuth High [] UrlWithVariables, "none"
        "The URL of a service that authorizes requests";
    "backend-protocol" BackendProtocol Low [] AnyCaseWords(&["auto_http", "http", "https", "grpc", "grpcs", "fcgi"]), "HTTP"
        "The protocol towards the service";
    "canary" Canary Low [] Flag, "false"
        "Makes this Ingress a canary of the Ingress with the same host and path";
    "canary-by-cookie" Canary Medium [] Basic, "none"
        "A cookie that decides with the values `always` and `never`";
    "canary-by-header" Canary Medium [] Basic, "none"
        "A header that decides with the values `always` and `never`";
    "canary-by-header-pattern" Canary Medium [] Regex, "none"
        "An expression for the value of `canary-by-header`";
    "canary-by-header-value" Canary Medium [] Basic, "none"
        "The only value of `canary-by-header` that leads to the canary";
    "canary-weight" Canary Low [] Number, "0"
        "The share of other requests that the canary gets";
    "canary-weight-total" Canary Low [] Number, "100"
        "The total for `canary-weight`; at least 100";
    "client-body-buffer-size" ClientBodyBufferSize Low [] Size, "8k"
        "How much of a body stays in memory";
    "configuration-snippet" ConfigurationSnippet Critical [] Snippet, "none"
        "nginx directives for every location of the Ingress";
    "connection-proxy-header" Connection Low [] Own(forms::is_connection), "empty, or `upgrade` for WebSockets"
        "The Connection header towards the service";
    "cors-allow-credentials" CorsConfig Low [] Flag, "true"
        "Whether browsers may send cookies to other origins";
    "cors-allow-headers" CorsConfig Medium [] Headers, "a list of usual headers"
        "Headers that browsers may send";
    "cors-allow-methods" CorsConfig Medium [] Own(forms::is_methods), "GET, PUT, POST, DELETE, PATCH, OPTIONS"
        "Methods that browsers may use";
    "cors-allow-origin" CorsConfig Medium [] Own(forms::is_origin_list), "*"
        "Origins that may ask, by comma; `*` for all";
    "cors-expose-headers" CorsConfig Medium [] Own(forms::is_exposed_headers), "none"
        "Headers that scripts may read";
    "cors-max-age" CorsConfig Low [] Number, "1728000"
        "How many seconds a browser caches the answer to a preflight request";
    "custom-headers" CustomHeaders Medium [] Basic, "none"
        "A ConfigMap, `NAMESPACE/NAME`, with response headers that `global-allowed-response-headers` allows";
    "custom-http-errors" CustomHTTPErrors Low [] Own(forms::is_error_list), "custom-http-errors of the ConfigMap"
        "Statuses whose responses come from the default backend";
    "default-backend" DefaultBackend Low [] ServiceName, "the controller's default backend"
        "A Service for requests if the service has no endpoints, and for `custom-http-errors`";
    "denylist-source-range" Denylist Medium [] Ranges, "denylist-source-range of the ConfigMap"
        "These client addresses get 403";
    "disable-proxy-intercept-errors" DisableProxyInterceptErrors Low [] Flag, "false"
        "Passes error responses of the service on, despite `custom-http-errors`";
    "enable-access-log" Logs Low [] Flag, "true"
        "Whether requests are logged";
    "enable-cors" CorsConfig Low [] Flag, "false"
        "Answers cross-origin requests";
    "enable-global-auth" EnableGlobalAuth Low [] Flag, "true"
        "Whether `global-auth-url` of the ConfigMap applies";
    "enable-modsecurity" ModSecurity Low [] Flag, "false"
        "Turns ModSecurity on";
    "enable-opentelemetry" Opentelemetry Low [] Flag, "false"
        "Turns tracing on or off";
    "enable-owasp-core-rules" ModSecurity Low [] Flag, "false"
        "Adds the OWASP rules to ModSecurity";
    "enable-rewrite-log" Logs Low [] Flag, "false"
        "Logs rewrites";
    "fastcgi-index" FastCGI Medium [] Own(forms::is_file_name), "none"
        "The file that FastCGI adds to a path with a slash at its end";
    "fastcgi-params-configmap" FastCGI Medium [] Basic, "none"
        "A ConfigMap with parameters of FastCGI";
    "force-ssl-redirect" Rewrite Medium [] Flag, "false"
        "Redirects http to https even if the host has no certificate";
    "from-to-www-redirect" Redirect Low [] Flag, "false"
        "Redirects the host with `www.` to the host without it, or the other way round";
    "http2-push-preload" HTTP2PushPreload Low [] Flag, "false"
        "Turns preload links into HTTP/2 pushes";
    "limit-allowlist" RateLimit Low ["limit-whitelist"] Ranges, "none"
        "Client addresses without limits";
    "limit-burst-multiplier" RateLimit Low [] Number, "5"
        "How many times the limit may be exceeded for a moment";
    "limit-connections" RateLimit Low [] Number, "0"
        "Connections of one client address at the same time";
    "limit-rate" RateLimit Low [] Number, "0"
        "Kilobytes in a second that a response may have";
    "limit-rate-after" RateLimit Low [] Number, "0"
        "After how many kilobytes `limit-rate` applies";
    "limit-rpm" RateLimit Low [] Number, "0"
        "Requests of one client address in a minute";
    "limit-rps" RateLimit Low [] Number, "0"
        "Requests of one client address in a second";
    "load-balance" LoadBalancing Low [] Words(&["round_robin", "chash", "chashsubset", "sticky_balanced", "sticky_persistent", "ewma"]), "round_robin"
        "How an endpoint is chosen";
    "mirror-host" Mirror High [] ServerName, "the host of mirror-target"
        "The Host header of copies";
    "mirror-request-body" Mirror Low [] Own(forms::is_on_or_off), "on"
        "Whether copies have the body: `on` or `off`";
    "mirror-target" Mirror High [] ServerName, "none"
        "A URL that gets a copy of each request";
    "modsecurity-snippet" ModSecurity Critical [] Snippet, "none"
        "Rules of ModSecurity";
    "modsecurity-transaction-id" ModSecurity High [] Variable, "none"
        "The id of ModSecurity's transactions";
    "opentelemetry-operation-name" Opentelemetry Medium [] Own(forms::is_operation_name), "none"
        "The name of spans";
    "opentelemetry-trust-incoming-span" Opentelemetry Low [] Flag, "true"
        "Whether to continue the client's trace";
    "permanent-redirect" Redirect Medium [] Url, "none"
        "Redirects every request to this URL with 301";
    "permanent-redirect-code" Redirect Low [] Number, "301"
        "The status of `permanent-redirect`";
    "preserve-trailing-slash" Rewrite Medium [] Flag, "false"
        "Keeps the slash at the end of a path when http is redirected to https";
    "proxy-body-size" Proxy Medium [] Size, "1m"
        "The largest body that is accepted; larger ones get 413, and `0` means no limit";
    "proxy-buffer-size" Proxy Low [] Size, "4k"
        "The buffer for the first part of a response";
    "proxy-buffering" Proxy Low [] Words(&["on", "off"]), "off"
        "Whether responses are buffered: `on` or `off`";
    "proxy-buffers-number" Proxy Low [] Number, "4"
        "How many buffers a response has";
    "proxy-busy-buffers-size" Proxy Low [] Size, "chosen by nginx"
        "How much of a response may be on its way to the client while it is read";
    "proxy-connect-timeout" Proxy Low [] Number, "5"
        "Seconds that a connection to the service may take";
    "proxy-cookie-domain" Proxy Medium [] Own(forms::is_cookie_domain), "off"
        "Two domains: cookies of the first get the second; or `off`";
    "proxy-cookie-path" Proxy Medium [] Own(forms::is_packed_url), "off"
        "Two paths: cookies of the first get the second; or `off`";
    "proxy-http-version" Proxy Low [] Words(&["1.0", "1.1"]), "1.1"
        "The version of HTTP towards the service";
    "proxy-max-temp-file-size" Proxy Low [] Size, "1024m"
        "How much of a response goes to disk";
    "proxy-next-upstream" Proxy Medium [] Own(forms::is_next_upstream), "error timeout"
        "When another endpoint is tried";
    "proxy-next-upstream-timeout" Proxy Low [] Number, "0"
        "How many seconds nginx tries other endpoints; 0 for no limit";
    "proxy-next-upstream-tries" Proxy Low [] Number, "3"
        "How many endpoints are tried";
    "proxy-read-timeout" Proxy Low [] Number, "60"
        "Seconds between two parts of a response";
    "proxy-redirect-from" Proxy Medium [] Own(forms::is_packed_url), "off"
        "The beginning of Location headers that is replaced; `default` or `off`";
    "proxy-redirect-to" Proxy Medium [] Own(forms::is_packed_url), "off"
        "What replaces `proxy-redirect-from`";
    "proxy-request-buffering" Proxy Low [] Words(&["on", "off"]), "on"
        "Whether nginx reads the whole request before it forwards it: `on` or `off`";
    "proxy-send-timeout" Proxy Low [] Number, "60"
        "Seconds between two parts of a request";
    "proxy-ssl-ciphers" ProxySSL Medium [] Own(forms::is_proxy_ciphers), "DEFAULT"
        "Ciphers towards the service";
    "proxy-ssl-name" ProxySSL High [] ServerName, "the host of the service"
        "The name that the service's certificate must have";
    "proxy-ssl-protocols" ProxySSL Low [] Own(forms::is_proxy_protocols), "TLSv1.2"
        "TLS versions towards the service";
    "proxy-ssl-secret" ProxySSL Medium [] Basic, "none"
        "The Secret, `NAMESPACE/NAME`, with the certificate and CA for the service; applies to the whole host";
    "proxy-ssl-server-name" ProxySSL Low [] Own(forms::is_on_or_off), "off"
        "Whether the name is sent by SNI: `on` or `off`";
    "proxy-ssl-verify" ProxySSL Low [] Own(forms::is_on_or_off), "off"
        "Whether the service's certificate is checked: `on` or `off`";
    "proxy-ssl-verify-depth" ProxySSL Low [] Number, "1"
        "The largest number of certificates between the service's and the CA";
    "relative-redirects" Redirect Low [] Flag, "false"
        "Writes Location headers without scheme and host";
    "rewrite-target" Rewrite Medium [] PathWithGroups, "none"
        "The path that the service gets; it makes all paths of the host regular expressions";
    "satisfy" Satisfy Low [] Words(&["any", "all"]), "all"
        "Whether one (`any`) or each (`all`) kind of access control must let a request pass";
    "server-alias" Aliases High [] ServerNames, "none"
        "Other names of the host, by comma";
    "server-snippet" ServerSnippet Critical [] Snippet, "none"
        "nginx directives for the server of each host of the Ingress";
    "service-upstream" ServiceUpstream Low [] Flag, "false"
        "Sends requests to the Service's address instead of its endpoints";
    "session-cookie-change-on-failure" SessionAffinity Low [] Flag, "false"
        "Sets another cookie if the endpoint fails";
    "session-cookie-conditional-samesite-none" SessionAffinity Low [] Flag, "false"
        "Leaves `SameSite=None` out for browsers that do not know it";
    "session-cookie-domain" SessionAffinity Medium [] Basic, "none"
        "The domain of the cookie";
    "session-cookie-expires" SessionAffinity Medium [] Own(forms::is_packed_expiry), "none"
        "Seconds until the cookie expires";
    "session-cookie-max-age" SessionAffinity Medium [] Own(forms::is_plain_expiry), "none"
        "Seconds until the cookie expires, as Max-Age";
    "session-cookie-name" SessionAffinity Medium [] Basic, "INGRESSCOOKIE"
        "The name of the cookie";
    "session-cookie-path" SessionAffinity Medium [] Own(forms::is_packed_url), "the path of the Ingress"
        "The path of the cookie";
    "session-cookie-samesite" SessionAffinity Low [] AnyCaseWords(&["none", "lax", "strict"]), "none"
        "The SameSite attribute of the cookie";
    "session-cookie-secure" SessionAffinity Low [] Flag, "true for https"
        "Whether the cookie has the attribute Secure";
    "ssl-ciphers" SSLCipher Low [] Own(forms::is_ciphers), "ssl-ciphers of the ConfigMap"
        "TLS ciphers of the host";
    "ssl-passthrough" SSLPassthrough Low [] Flag, "false"
        "Passes TLS on to the service at `/`; needs `--enable-ssl-passthrough`";
    "ssl-prefer-server-ciphers" SSLCipher Low [] Flag, "true"
        "Whether the server's order of ciphers applies";
    "ssl-redirect" Rewrite Low [] Flag, "true"
        "Redirects http to https if the host has a certificate";
    "stream-snippet" StreamSnippet Critical [] Snippet, "none"
        "nginx directives next to TCP and UDP services";
    "temporal-redirect" Redirect Medium [] Url, "none"
        "Redirects every request to this URL with 302";
    "temporal-redirect-code" Redirect Low [] Number, "302"
        "The status of `temporal-redirect`";
    "upstream-hash-by" UpstreamHashBy High [] Own(forms::is_hash_by), "none"
        "A string with variables; its hash chooses the endpoint";
    "upstream-hash-by-subset" UpstreamHashBy Low [] Flag, "false"
        "Chooses a group of endpoints instead of one";
    "upstream-hash-by-subset-size" UpstreamHashBy Low [] Number, "3"
        "How many endpoints a group has";
    "upstream-vhost" UpstreamVhost Low [] ServerName, "the host of the request"
        "The Host header towards the service";
    "use-port-in-redirects" UsePortInRedirects Low [] Flag, "false"
        "Writes the port into redirects";
    "use-regex" Rewrite Low [] Flag, "false"
        "Turns all paths of the host into case-insensitive prefix expressions";
    "x-forwarded-prefix" XForwardedPrefix Medium [] Own(forms::is_packed_path), "none"
        "The value of X-Forwarded-Prefix; only with `rewrite-target`";
}

/// The groups of annotations that apply to a canary: settings of the canary's upstream, and settings of a server that any Ingress of the host may set.
const GROUPS_OF_CANARIES: [&str; 6] = ["Canary", "CertificateAuth", "LoadBalancing", "ServiceUpstream", "StreamSnippet", "UpstreamHashBy"];

impl Annotation {
    /// Whether the annotation applies to a canary, which has no location and no server. With `by_location`, `proxy-ssl-*` belongs to locations.
    pub fn applies_to_canary(&self, by_location: bool) -> bool {
        GROUPS_OF_CANARIES.contains(&self.group) || self.group == "ProxySSL" && !by_location || self.name == "affinity-canary-behavior"
    }
}

/// Returns the annotation with a name or an older name.
pub fn find(name: &str) -> Option<&'static Annotation> {
    match ALL.binary_search_by(|annotation| annotation.name.cmp(name)) {
        Ok(at) => ALL.get(at),
        Err(_) => ALL.iter().find(|annotation| annotation.aliases.contains(&name)),
    }
}
