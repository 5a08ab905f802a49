//! Defines the keys of the controller's ConfigMap with their defaults, and the effective settings of the controller.
//!
//! Does not read the ConfigMap; see `chancery-ingress-nginx`, `config_map`.

use super::record::{Record, Shown};
use super::settings::ExternalAuth;
use crate::ir::{Plain, Tree};
use crate::resource::Sourced;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use chancery_text::Str;

/// The type of a key of the ConfigMap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyType {
    Flag,
    Number,
    /// A number that need not be whole.
    Decimal,
    Text,
    /// Strings, separated by commas.
    List,
    /// Whole numbers, separated by commas.
    Numbers,
}

/// A key of the ConfigMap.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub name: &'static str,
    pub kind: KeyType,
    /// The default, as the ConfigMap would contain it.
    pub default: &'static str,
}

/// A value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GlobalValue {
    Flag(bool),
    Number(i64),
    /// A string, or a number that is not whole.
    Text(Str),
    List(Vec<Str>),
    Numbers(Vec<i64>),
}

macro_rules! keys {
    ($($kind:ident $name:literal $default:literal;)*) => {
        /// All keys, by name. Keys of `global-auth-*` are read into [`Globals::external_auth`].
        pub static KEYS: &[Key] = &[$(Key { name: $name, kind: KeyType::$kind, default: $default }),*];
    };
}

keys! {
    Text "access-log-params" "";
    Text "access-log-path" "/var/log/nginx/access.log";
    Text "add-headers" "";
    Flag "allow-backend-server-header" "false";
    Flag "allow-cross-namespace-resources" "false";
    Flag "allow-snippet-annotations" "false";
    Text "annotation-value-word-blocklist" "";
    Text "annotations-risk-level" "High";
    Text "app-root" "";
    List "bind-address-ipv4" "";
    List "bind-address-ipv6" "";
    List "block-cidrs" "";
    List "block-referers" "";
    List "block-user-agents" "";
    Number "brotli-level" "4";
    Number "brotli-min-length" "20";
    Text "brotli-types" "application/xml+rss application/atom+xml application/javascript application/x-javascript application/json application/rss+xml application/vnd.ms-fontobject application/x-font-ttf application/x-web-app-manifest+json application/xhtml+xml application/xml font/opentype image/svg+xml image/x-icon text/css text/javascript text/plain text/x-component";
    Text "client-body-buffer-size" "8k";
    Number "client-body-timeout" "60";
    Text "client-header-buffer-size" "1k";
    Number "client-header-timeout" "60";
    Flag "compute-full-forwarded-for" "false";
    Numbers "custom-http-errors" "";
    List "debug-connections" "";
    Text "default-type" "text/html";
    List "denylist-source-range" "";
    Flag "disable-access-log" "false";
    Flag "disable-http-access-log" "false";
    Flag "disable-ipv6" "false";
    Flag "disable-ipv6-dns" "false";
    Flag "disable-proxy-intercept-errors" "false";
    Flag "disable-stream-access-log" "false";
    Flag "enable-access-log-for-default-backend" "false";
    Flag "enable-aio-write" "true";
    Flag "enable-auth-access-log" "false";
    Flag "enable-brotli" "false";
    Flag "enable-modsecurity" "false";
    Flag "enable-multi-accept" "true";
    Flag "enable-ocsp" "false";
    Flag "enable-opentelemetry" "false";
    Flag "enable-owasp-modsecurity-crs" "false";
    Flag "enable-real-ip" "false";
    Flag "enable-serial-reloads" "false";
    Flag "enable-syslog" "false";
    Flag "enable-underscores-in-headers" "false";
    Text "error-log-level" "notice";
    Text "error-log-path" "/var/log/nginx/error.log";
    Flag "force-ssl-redirect" "false";
    Text "forwarded-for-header" "X-Forwarded-For";
    Text "forwarded-for-proxy-protocol-header" "X-Forwarded-For-Proxy-Protocol";
    Text "forwarded-host-header" "X-Forwarded-Host";
    Flag "generate-request-id" "true";
    Number "geoip2-autoreload-in-minutes" "0";
    List "global-allowed-response-headers" "";
    Number "grpc-buffer-size-kb" "0";
    Text "gzip-disable" "";
    Number "gzip-level" "1";
    Number "gzip-min-length" "256";
    Text "gzip-types" "application/atom+xml application/javascript application/x-javascript application/json application/rss+xml application/vnd.ms-fontobject application/x-font-ttf application/x-web-app-manifest+json application/xhtml+xml application/xml font/opentype image/svg+xml image/x-icon text/css text/javascript text/plain text/x-component";
    List "hide-headers" "";
    Flag "hsts" "true";
    Flag "hsts-include-subdomains" "true";
    Text "hsts-max-age" "31536000";
    Flag "hsts-preload" "false";
    Text "http-access-log-path" "";
    Number "http-redirect-code" "308";
    Text "http-snippet" "";
    Number "http2-max-concurrent-streams" "128";
    Text "http2-max-field-size" "";
    Text "http2-max-header-size" "";
    Number "http2-max-requests" "0";
    Flag "ignore-invalid-headers" "true";
    Number "keep-alive" "75";
    Number "keep-alive-requests" "1000";
    Text "large-client-header-buffers" "4 8k";
    Number "limit-conn-status-code" "503";
    Text "limit-conn-zone-variable" "$binary_remote_addr";
    Number "limit-rate" "0";
    Number "limit-rate-after" "0";
    Number "limit-req-status-code" "503";
    Text "load-balance" "";
    Text "location-snippet" "";
    Flag "log-format-escape-json" "false";
    Flag "log-format-escape-none" "false";
    Text "log-format-stream" "[$remote_addr] [$time_local] $protocol $status $bytes_sent $bytes_received $session_time";
    Text "log-format-upstream" "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \"$http_referer\" \"$http_user_agent\" $request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name] $upstream_addr $upstream_response_length $upstream_response_time $upstream_status $req_id";
    Text "main-snippet" "";
    Number "map-hash-bucket-size" "64";
    Number "max-worker-connections" "16384";
    Number "max-worker-open-files" "0";
    Text "modsecurity-snippet" "";
    List "nginx-status-ipv4-whitelist" "127.0.0.1";
    List "nginx-status-ipv6-whitelist" "::1";
    Text "no-auth-locations" "/.well-known/acme-challenge";
    Text "no-tls-redirect-locations" "/.well-known/acme-challenge";
    Text "opentelemetry-config" "/etc/ingress-controller/telemetry/opentelemetry.toml";
    Text "opentelemetry-operation-name" "";
    Flag "opentelemetry-trust-incoming-span" "true";
    Number "otel-max-export-batch-size" "512";
    Number "otel-max-queuesize" "2048";
    Text "otel-sampler" "AlwaysOn";
    Flag "otel-sampler-parent-based" "true";
    Decimal "otel-sampler-ratio" "0.01";
    Number "otel-schedule-delay-millis" "5000";
    Text "otel-service-name" "nginx";
    Text "otlp-collector-host" "";
    Text "otlp-collector-port" "4317";
    Flag "preserve-trailing-slash" "false";
    Flag "proxy-add-original-uri-header" "false";
    Text "proxy-body-size" "1m";
    Text "proxy-buffer-size" "4k";
    Text "proxy-buffering" "off";
    Number "proxy-buffers-number" "4";
    Text "proxy-busy-buffers-size" "";
    Number "proxy-connect-timeout" "5";
    Text "proxy-cookie-domain" "off";
    Text "proxy-cookie-path" "off";
    Number "proxy-headers-hash-bucket-size" "64";
    Number "proxy-headers-hash-max-size" "512";
    Text "proxy-http-version" "1.1";
    Text "proxy-max-temp-file-size" "1024m";
    Text "proxy-next-upstream" "error timeout";
    Number "proxy-next-upstream-timeout" "0";
    Number "proxy-next-upstream-tries" "3";
    Text "proxy-protocol-header-timeout" "5s";
    Number "proxy-read-timeout" "60";
    List "proxy-real-ip-cidr" "0.0.0.0/0";
    Text "proxy-redirect-from" "off";
    Text "proxy-redirect-to" "off";
    Text "proxy-request-buffering" "on";
    Number "proxy-send-timeout" "60";
    Text "proxy-set-headers" "";
    Flag "proxy-ssl-location-only" "false";
    Flag "proxy-stream-next-upstream" "true";
    Text "proxy-stream-next-upstream-timeout" "600s";
    Number "proxy-stream-next-upstream-tries" "3";
    Number "proxy-stream-responses" "1";
    Text "proxy-stream-timeout" "600s";
    Flag "relative-redirects" "false";
    Flag "retry-non-idempotent" "false";
    Flag "reuse-port" "true";
    Number "server-name-hash-bucket-size" "0";
    Number "server-name-hash-max-size" "1024";
    Text "server-snippet" "";
    Flag "server-tokens" "false";
    Flag "service-upstream" "false";
    List "skip-access-log-urls" "";
    Text "ssl-buffer-size" "4k";
    Text "ssl-ciphers" "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
    Text "ssl-dh-param" "";
    Flag "ssl-early-data" "false";
    Text "ssl-ecdh-curve" "auto";
    Text "ssl-protocols" "TLSv1.2 TLSv1.3";
    Flag "ssl-redirect" "true";
    Flag "ssl-reject-handshake" "false";
    Flag "ssl-session-cache" "true";
    Text "ssl-session-cache-size" "10m";
    Text "ssl-session-ticket-key" "";
    Flag "ssl-session-tickets" "false";
    Text "ssl-session-timeout" "10m";
    Text "stream-access-log-path" "";
    Text "stream-snippet" "";
    Flag "strict-validate-path-type" "true";
    Text "syslog-host" "";
    Number "syslog-port" "514";
    Text "upstream-hash-by" "";
    Flag "upstream-hash-by-subset" "false";
    Number "upstream-hash-by-subset-size" "0";
    Number "upstream-keepalive-connections" "320";
    Number "upstream-keepalive-requests" "10000";
    Text "upstream-keepalive-time" "1h";
    Number "upstream-keepalive-timeout" "60";
    Flag "use-forwarded-headers" "false";
    Flag "use-geoip2" "false";
    Flag "use-gzip" "false";
    Flag "use-http2" "true";
    Flag "use-port-in-redirects" "false";
    Flag "use-proxy-protocol" "false";
    Number "variables-hash-bucket-size" "256";
    Number "variables-hash-max-size" "2048";
    List "whitelist-source-range" "";
    Text "worker-cpu-affinity" "";
    Text "worker-processes" "";
    Text "worker-shutdown-timeout" "240s";
}

/// Returns the key with this name.
pub fn key(name: &str) -> Option<&'static Key> {
    let at = KEYS.binary_search_by(|key| key.name.cmp(name)).ok()?;
    KEYS.get(at)
}

impl Key {
    /// Returns the default.
    pub fn default_value(&self) -> GlobalValue {
        let items = || self.default.split(',').filter(|item| !item.is_empty());
        match self.kind {
            KeyType::Flag => GlobalValue::Flag(self.default == "true"),
            KeyType::Number => GlobalValue::Number(self.default.parse().unwrap_or_default()),
            KeyType::Text | KeyType::Decimal => GlobalValue::Text(Str::new_static(self.default)),
            KeyType::List => GlobalValue::List(items().map(Str::new).collect()),
            KeyType::Numbers => GlobalValue::Numbers(items().filter_map(|item| item.parse().ok()).collect()),
        }
    }
}

/// The effective settings of the controller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Globals {
    /// Values that the ConfigMap sets, by key.
    values: BTreeMap<&'static str, Sourced<GlobalValue>>,
    /// `global-auth-*`
    pub external_auth: ExternalAuth,
    /// The content of the ConfigMap that `proxy-set-headers` names.
    pub set_headers: BTreeMap<Str, Sourced<Str>>,
    /// The content of the ConfigMap that `add-headers` names.
    pub add_headers: BTreeMap<Str, Sourced<Str>>,
}

impl Globals {
    pub fn set(&mut self, key: &'static Key, value: Sourced<GlobalValue>) {
        self.values.insert(key.name, value);
    }

    /// Returns the value of a key, if the ConfigMap sets it.
    pub fn written(&self, name: &str) -> Option<&Sourced<GlobalValue>> {
        self.values.get(name)
    }

    fn value<T: Default>(&self, name: &str, of: impl Fn(&GlobalValue) -> Option<T>) -> Sourced<T> {
        let written = self.values.get(name).and_then(|value| Some(Sourced { value: of(&value.value)?, origin: value.origin }));
        debug_assert!(key(name).is_some(), "{name} is not in the table");
        written.unwrap_or_else(|| Sourced::built_in(key(name).and_then(|key| of(&key.default_value())).unwrap_or_default()))
    }

    pub fn flag(&self, name: &str) -> Sourced<bool> {
        self.value(name, |value| if let GlobalValue::Flag(value) = value { Some(*value) } else { None })
    }

    pub fn number(&self, name: &str) -> Sourced<i64> {
        self.value(name, |value| if let GlobalValue::Number(value) = value { Some(*value) } else { None })
    }

    pub fn text(&self, name: &str) -> Sourced<Str> {
        self.value(name, |value| if let GlobalValue::Text(value) = value { Some(value.clone()) } else { None })
    }

    pub fn list(&self, name: &str) -> Sourced<Vec<Str>> {
        self.value(name, |value| if let GlobalValue::List(value) = value { Some(value.clone()) } else { None })
    }

    pub fn numbers(&self, name: &str) -> Sourced<Vec<i64>> {
        self.value(name, |value| if let GlobalValue::Numbers(value) = value { Some(value.clone()) } else { None })
    }

    /// Returns the settings that differ from their defaults.
    pub fn tree(&self) -> Tree {
        let is_changed = |(name, value): &(&&'static str, &Sourced<GlobalValue>)| key(name).is_none_or(|key| key.default_value() != value.value);
        let values = self.values.iter().filter(is_changed).map(|(name, value)| (*name, Tree { value: value.value.show(), origin: value.origin }));
        let is_default_auth = self.external_auth == ExternalAuth::default();
        let auth = (!is_default_auth).then(|| ("global-external-auth", self.auth_tree()));
        Tree::object(values.chain(auth))
    }

    /// The controller's default for response headers is a list with an empty name.
    fn auth_tree(&self) -> Tree {
        let mut tree = self.external_auth.tree();
        if let Plain::Object(fields) = &mut tree.value
            && self.external_auth.response_headers.is_empty()
            && self.external_auth.response_headers.origin.is_none()
        {
            fields.0.push((Str::new_static("responseHeaders"), Tree::from(Vec::from([Tree::from(Plain::String(Str::default()))]))));
        }
        tree
    }
}

impl Shown for GlobalValue {
    fn show(&self) -> Plain {
        match self {
            GlobalValue::Flag(value) => Plain::Bool(*value),
            GlobalValue::Number(value) => Plain::Int(*value),
            GlobalValue::Text(value) => Plain::String(value.clone()),
            GlobalValue::List(value) => Plain::List(value.iter().map(|item| Tree::from(Plain::String(item.clone()))).collect()),
            GlobalValue::Numbers(value) => Plain::List(value.iter().map(|item| Tree::from(Plain::Int(*item))).collect()),
        }
    }
}
