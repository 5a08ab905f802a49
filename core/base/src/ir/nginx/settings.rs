//! Defines the settings of an Ingress's annotations, in the controller's groups.
//!
//! Does not read annotations; see `chancery-ingress-nginx`, `annotations`.

use super::record::{Record, records};
use crate::ir::Tree;
use crate::resource::Sourced;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use chancery_text::Str;

records! {
    /// Basic or digest authentication.
    BasicAuth {
        kind: Str => "type",
        realm: Str => "realm",
        file: Str => "file",
        secured: bool => "secured",
        secret: Str => "secret",
        secret_type: Str => "secretType",
    }

    /// The share of requests that a canary receives.
    Canary {
        enabled: bool => "enabled",
        weight: i64 => "weight",
        weight_total: i64 => "weightTotal",
        header: Str => "header",
        header_value: Str => "headerValue",
        header_pattern: Str => "headerPattern",
        cookie: Str => "cookie",
    }

    ClientCertificates {
        secret: Str => "secret",
        ca_file: Str => "caFilename",
        crl_file: Str => "crlFileName",
        verify_client: Str => "verify_client",
        depth: i64 => "validationDepth",
        error_page: Str => "errorPage",
        pass_to_upstream: bool => "passCertToUpstream",
        match_cn: Str => "matchCN",
        error: Str => "AuthTLSError",
    }

    /// The `Connection` header of requests to Services.
    Connection {
        header: Str => "header",
        enabled: bool => "enabled",
    }

    /// Cross-origin resource sharing.
    Cors {
        enabled: bool => "corsEnabled",
        origins: Vec<Str> => "corsAllowOrigin",
        methods: Str => "corsAllowMethods",
        headers: Str => "corsAllowHeaders",
        credentials: bool => "corsAllowCredentials",
        expose: Str => "corsExposeHeaders",
        max_age: i64 => "corsMaxAge",
    }

    /// The response headers that a ConfigMap holds.
    CustomHeaders {
        headers: BTreeMap<Str, Str> => "headers",
    }

    /// The service that authorizes requests.
    ExternalAuth {
        url: Str => "url",
        host: Str => "host",
        signin_url: Str => "signinUrl",
        signin_parameter: Str => "signinUrlRedirectParam",
        method: Str => "method",
        response_headers: Vec<Str> => "responseHeaders",
        request_redirect: Str => "requestRedirect",
        snippet: Str => "authSnippet",
        cache_key: Str => "authCacheKey",
        cache_duration: Vec<Str> => "authCacheDuration",
        keepalive: i64 => "keepaliveConnections",
        keepalive_share_vars: bool => "keepaliveShareVars",
        keepalive_requests: i64 => "keepaliveRequests",
        keepalive_timeout: i64 => "keepaliveTimeout",
        set_headers: BTreeMap<Str, Str> => "proxySetHeaders",
        always_set_cookie: bool => "alwaysSetCookie",
    }

    FastCgi {
        index: Str => "index",
        params: BTreeMap<Str, Str> => "params",
    }

    Logs {
        access: bool => "accessLog",
        rewrite: bool => "rewriteLog",
    }

    /// Mirrored requests.
    Mirror {
        source: Str => "source",
        request_body: Str => "requestBody",
        target: Str => "target",
        host: Str => "host",
    }

    ModSecurity {
        enabled: bool => "enable-modsecurity",
        set: bool => "enable-modsecurity-set",
        owasp_rules: bool => "enable-owasp-core-rules",
        transaction_id: Str => "modsecurity-transaction-id",
        snippet: Str => "modsecurity-snippet",
    }

    OpenTelemetry {
        enabled: bool => "enabled",
        set: bool => "set",
        trust_enabled: bool => "trust-enabled",
        trust_set: bool => "trust-set",
        operation_name: Str => "operation-name",
    }

    /// Timeouts, buffers and retries of requests to Services.
    Proxy {
        body_size: Str => "bodySize",
        connect_timeout: i64 => "connectTimeout",
        send_timeout: i64 => "sendTimeout",
        read_timeout: i64 => "readTimeout",
        buffers_number: i64 => "buffersNumber",
        buffer_size: Str => "bufferSize",
        busy_buffers_size: Str => "busyBuffersSize",
        cookie_domain: Str => "cookieDomain",
        cookie_path: Str => "cookiePath",
        next_upstream: Str => "nextUpstream",
        next_upstream_timeout: i64 => "nextUpstreamTimeout",
        next_upstream_tries: i64 => "nextUpstreamTries",
        redirect_from: Str => "proxyRedirectFrom",
        redirect_to: Str => "proxyRedirectTo",
        request_buffering: Str => "requestBuffering",
        buffering: Str => "proxyBuffering",
        http_version: Str => "proxyHTTPVersion",
        max_temp_file_size: Str => "proxyMaxTempFileSize",
    }

    /// TLS to Services.
    ProxySsl {
        secret: Str => "secret",
        ca_file: Str => "caFilename",
        crl_file: Str => "crlFileName",
        ciphers: Str => "ciphers",
        protocols: Str => "protocols",
        name: Str => "proxySSLName",
        verify: Str => "verify",
        verify_depth: i64 => "verifyDepth",
        server_name: Str => "proxySSLServerName",
    }

    /// A limit, and nginx's shared memory zone for it.
    Zone {
        name: Str => "name",
        limit: i64 => "limit",
        burst: i64 => "burst",
        shared_size: i64 => "sharedSize",
    }

    Redirect {
        url: Str => "url",
        code: i64 => "code",
        from_to_www: bool => "fromToWWW",
        relative: bool => "relative",
    }

    /// Rewrites, and redirects to https.
    Rewrite {
        target: Str => "target",
        ssl_redirect: bool => "sslRedirect",
        force_ssl_redirect: bool => "forceSSLRedirect",
        preserve_trailing_slash: bool => "preserveTrailingSlash",
        app_root: Str => "appRoot",
        use_regex: bool => "useRegex",
    }

    /// Ranges of client addresses.
    SourceRange {
        cidr: Vec<Str> => "cidr",
    }

    /// The cookie of session affinity.
    Cookie {
        name: Str => "name",
        expires: Str => "expires",
        max_age: Str => "maxage",
        secure: bool => "secure",
        path: Str => "path",
        domain: Str => "domain",
        same_site: Str => "samesite",
        conditional_same_site_none: bool => "conditional_samesite_none",
        change_on_failure: bool => "change_on_failure",
    }

    /// The value whose hash chooses an endpoint.
    HashBy {
        by: Str => "upstream-hash-by",
        subset: bool => "upstream-hash-by-subset",
        subset_size: i64 => "upstream-hash-by-subset-size",
    }

    /// TLS ciphers for clients.
    Ciphers {
        ciphers: Str => "sslCiphers",
        prefer_server: Str => "sslPreferServerCiphers",
    }
}

/// Limits by client address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RateLimit {
    /// Simultaneous connections.
    pub connections: Zone,
    /// Requests per second.
    pub rps: Zone,
    /// Requests per minute.
    pub rpm: Zone,
    /// Kilobytes per second.
    pub rate: Sourced<i64>,
    /// The number of kilobytes before `rate` applies.
    pub rate_after: Sourced<i64>,
    /// The name of the zones.
    pub name: Sourced<Str>,
    /// The name of the variables.
    pub id: Sourced<Str>,
    /// Client addresses without a limit.
    pub allowlist: Sourced<Vec<Str>>,
}

impl Record for RateLimit {
    fn fields(&self) -> Vec<(&'static str, Tree)> {
        let all = [
            ("connections", self.connections.tree()),
            ("rps", self.rps.tree()),
            ("rpm", self.rpm.tree()),
            ("limit-rate", super::record::shown(&self.rate)),
            ("limit-rate-after", super::record::shown(&self.rate_after)),
            ("name", super::record::shown(&self.name)),
            ("id", super::record::shown(&self.id)),
            ("allowlist", super::record::shown(&self.allowlist)),
        ];
        all.into_iter().filter(|(_, tree)| !tree.is_null()).collect()
    }
}

/// Session affinity: whether a client stays at its endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Affinity {
    /// `cookie` or nothing.
    pub kind: Sourced<Str>,
    /// `balanced`, `persistent` or nothing.
    pub mode: Sourced<Str>,
    /// `sticky`, `legacy` or nothing.
    pub canary_behaviour: Sourced<Str>,
    pub cookie: Cookie,
}

/// A Service that a `default-backend` annotation names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultBackend {
    /// `NAMESPACE/NAME`.
    pub service: Sourced<Str>,
    /// Its endpoints at its first port; `None` if it has no port.
    pub endpoints: Option<Vec<super::Endpoint>>,
}

/// The settings of an Ingress's annotations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// `server-alias`, sorted.
    pub aliases: Sourced<Vec<Str>>,
    /// `auth-type` and its parameters.
    pub basic_auth: BasicAuth,
    /// `canary` and its parameters.
    pub canary: Canary,
    /// `auth-tls-*`
    pub client_certificates: ClientCertificates,
    /// `client-body-buffer-size`
    pub client_body_buffer_size: Sourced<Str>,
    /// `custom-headers`
    pub custom_headers: CustomHeaders,
    /// `configuration-snippet`
    pub configuration_snippet: Sourced<Str>,
    /// `connection-proxy-header`
    pub connection: Connection,
    /// `enable-cors` and `cors-*`
    pub cors: Cors,
    /// `custom-http-errors`
    pub custom_http_errors: Sourced<Vec<i64>>,
    /// `disable-proxy-intercept-errors`
    pub disable_proxy_intercept_errors: Sourced<bool>,
    /// `default-backend`
    pub default_backend: Option<DefaultBackend>,
    /// `fastcgi-*`
    pub fastcgi: FastCgi,
    /// The reason why nginx answers every request with 503.
    pub denied: Option<Sourced<Str>>,
    /// `auth-url` and its parameters.
    pub external_auth: ExternalAuth,
    /// `enable-global-auth`
    pub enable_global_auth: Sourced<bool>,
    /// `http2-push-preload`
    pub http2_push_preload: Sourced<bool>,
    /// `enable-opentelemetry` and `opentelemetry-*`
    pub opentelemetry: OpenTelemetry,
    /// `proxy-*`
    pub proxy: Proxy,
    /// `proxy-ssl-*`
    pub proxy_ssl: ProxySsl,
    /// The file with the certificate and key that the Secret of `proxy-ssl-secret` holds.
    pub proxy_ssl_pem: Sourced<Str>,
    /// `limit-*`
    pub rate_limit: RateLimit,
    /// `permanent-redirect`, `temporal-redirect` and their parameters.
    pub redirect: Redirect,
    /// `rewrite-target`, `ssl-redirect` and their parameters.
    pub rewrite: Rewrite,
    /// `satisfy`
    pub satisfy: Sourced<Str>,
    /// `server-snippet`
    pub server_snippet: Sourced<Str>,
    /// `service-upstream`
    pub service_upstream: Sourced<bool>,
    /// `affinity` and `session-cookie-*`
    pub affinity: Affinity,
    /// `ssl-passthrough`
    pub ssl_passthrough: Sourced<bool>,
    /// `use-port-in-redirects`
    pub use_port_in_redirects: Sourced<bool>,
    /// `upstream-hash-by*`
    pub hash_by: HashBy,
    /// `load-balance`
    pub load_balance: Sourced<Str>,
    /// `upstream-vhost`
    pub upstream_vhost: Sourced<Str>,
    /// `denylist-source-range`
    pub denylist: SourceRange,
    /// `x-forwarded-prefix`
    pub x_forwarded_prefix: Sourced<Str>,
    /// `ssl-ciphers`, `ssl-prefer-server-ciphers`
    pub ciphers: Ciphers,
    /// `enable-access-log`, `enable-rewrite-log`
    pub logs: Logs,
    /// `backend-protocol`
    pub backend_protocol: Sourced<Str>,
    /// `enable-modsecurity` and its parameters.
    pub modsecurity: ModSecurity,
    /// `mirror-*`
    pub mirror: Mirror,
    /// `stream-snippet`
    pub stream_snippet: Sourced<Str>,
    /// `allowlist-source-range`
    pub allowlist: SourceRange,
}

impl Record for Settings {
    /// Returns the settings of a location, by the model's names.
    fn fields(&self) -> Vec<(&'static str, Tree)> {
        use super::record::shown;
        let denied = self.denied.as_ref().map_or(Tree::NULL, shown);
        let default_backend = self.default_backend.as_ref().map_or(Tree::NULL, |backend| shown(&backend.service));
        let all = [
            ("upstream-vhost", shown(&self.upstream_vhost)),
            ("basicDigestAuth", self.basic_auth.tree()),
            ("denied", denied),
            ("customHeaders", self.custom_headers.tree()),
            ("corsConfig", self.cors.tree()),
            ("externalAuth", self.external_auth.tree()),
            ("enableGlobalAuth", shown(&self.enable_global_auth)),
            ("http2PushPreload", shown(&self.http2_push_preload)),
            ("rateLimit", self.rate_limit.tree()),
            ("redirect", self.redirect.tree()),
            ("rewrite", self.rewrite.tree()),
            ("denylist", self.denylist.tree()),
            ("allowlist", self.allowlist.tree()),
            ("proxy", self.proxy.tree()),
            ("proxySSL", self.proxy_ssl.tree()),
            ("usePortInRedirects", shown(&self.use_port_in_redirects)),
            ("configurationSnippet", shown(&self.configuration_snippet)),
            ("connection", self.connection.tree()),
            ("clientBodyBufferSize", shown(&self.client_body_buffer_size)),
            ("defaultBackendService", default_backend),
            ("xForwardedPrefix", shown(&self.x_forwarded_prefix)),
            ("logs", self.logs.tree()),
            ("backend-protocol", shown(&self.backend_protocol)),
            ("fastcgi", self.fastcgi.tree()),
            ("custom-http-errors", shown(&self.custom_http_errors)),
            ("disable-proxy-intercept-errors", shown(&self.disable_proxy_intercept_errors)),
            ("modsecurity", self.modsecurity.tree()),
            ("satisfy", shown(&self.satisfy)),
            ("mirror", self.mirror.tree()),
            ("opentelemetry", self.opentelemetry.tree()),
        ];
        all.into_iter().filter(|(_, tree)| !tree.is_null()).collect()
    }
}
