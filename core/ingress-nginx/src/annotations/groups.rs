//! Reads the groups of annotations that only depend on the Ingress and the controller's ConfigMap.
//!
//! ingress-nginx `internal/ingress/annotations/*`. Does not read groups that name other objects; see `access`. Does not combine groups; see `mod`.

use super::forms::{self, Url};
use super::read::{Annotations, Fault};
use alloc::format;
use alloc::string::ToString as _;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{
    Affinity, Canary, Ciphers, Connection, Cookie, Cors, Globals, HashBy, Logs, Mirror, ModSecurity, OpenTelemetry, Proxy, RateLimit, Redirect,
    Rewrite, SourceRange, Zone,
};
use chancery_base::resource::Sourced;
use chancery_text::{Str, base64};

/// Returns the value, or a built-in default of the controller.
pub(super) fn or_built_in<T>(value: Result<Sourced<T>, Fault>, default: T) -> Sourced<T> {
    value.unwrap_or_else(|_| Sourced::built_in(default))
}

/// Returns the value, or the value of the ConfigMap.
fn or_global<T>(value: Result<Sourced<T>, Fault>, global: Sourced<T>) -> Sourced<T> {
    value.unwrap_or(global)
}

/// Returns the value. A wrong form is a fault; every other reason for a missing value gives `None`.
pub(super) fn unless_wrong<T>(value: Result<Sourced<T>, Fault>) -> Result<Option<Sourced<T>>, Fault> {
    match value {
        Ok(value) => Ok(Some(value)),
        Err(fault) if fault.is_validation() => Err(fault),
        Err(_) => Ok(None),
    }
}

/// Returns the value, or `None` if the annotation is missing. Every other reason for a missing value is a fault.
fn unless_missing<T>(value: Result<Sourced<T>, Fault>) -> Result<Option<Sourced<T>>, Fault> {
    match value {
        Ok(value) => Ok(Some(value)),
        Err(Fault::Missing) => Ok(None),
        Err(fault) => Err(fault),
    }
}

pub(super) fn aliases(of: &Annotations) -> Result<Sourced<Vec<Str>>, Fault> {
    let value = of.text("server-alias")?;
    let names = value.value.split(',').map(str::trim).filter(|name| !name.is_empty()).map(Str::new);
    Ok(Sourced::new(chancery_base::ir::nginx::sorted_names(names), value.origin))
}

pub(super) fn canary(of: &Annotations) -> Result<Canary, Fault> {
    let canary = Canary {
        enabled: or_built_in(of.flag("canary"), false),
        weight: or_built_in(of.number("canary-weight"), 0),
        weight_total: or_built_in(of.number("canary-weight-total"), 100),
        header: or_built_in(of.text("canary-by-header"), Str::default()),
        header_value: or_built_in(of.text("canary-by-header-value"), Str::default()),
        header_pattern: or_built_in(of.text("canary-by-header-pattern"), Str::default()),
        cookie: or_built_in(of.text("canary-by-cookie"), Str::default()),
    };
    let texts = [&canary.header, &canary.header_value, &canary.header_pattern, &canary.cookie];
    if !canary.enabled.value && (canary.weight.value > 0 || texts.iter().any(|text| !text.is_empty())) {
        return Err(Fault::Other("the annotation canary does not contain a valid configuration: configured but not enabled".into()));
    }
    Ok(canary)
}

pub(super) fn connection(of: &Annotations) -> Result<Connection, Fault> {
    let header = of.text("connection-proxy-header")?;
    Ok(Connection { enabled: Sourced::new(true, header.origin), header })
}

const CORS_METHODS: &str = "GET, PUT, POST, DELETE, PATCH, OPTIONS";
const CORS_HEADERS: &str = "DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization";
const CORS_MAX_AGE: i64 = 1_728_000;

pub(super) fn cors(of: &Annotations) -> Cors {
    let used = |value: Result<Sourced<Str>, Fault>, is_used: fn(&str) -> bool, default: &'static str| {
        value.ok().filter(|value| is_used(value)).unwrap_or_else(|| Sourced::built_in(Str::new_static(default)))
    };
    Cors {
        enabled: or_built_in(of.flag("enable-cors"), false),
        origins: match of.text("cors-allow-origin") {
            Ok(value) => Sourced::new(origins(&value), value.origin),
            Err(_) => Sourced::built_in(Vec::from([Str::new_static("*")])),
        },
        headers: used(of.text("cors-allow-headers"), forms::is_used_headers, CORS_HEADERS),
        methods: used(of.text("cors-allow-methods"), forms::is_used_methods, CORS_METHODS),
        credentials: or_built_in(of.flag("cors-allow-credentials"), true),
        expose: used(of.text("cors-expose-headers"), forms::is_used_exposed_headers, ""),
        max_age: or_built_in(of.number("cors-max-age"), CORS_MAX_AGE),
    }
}

/// Returns the origins of a list. If the list has a `*`, returns only the `*`.
fn origins(text: &str) -> Vec<Str> {
    let mut all = Vec::new();
    for origin in text.split(',').map(str::trim).filter(|origin| !origin.is_empty()) {
        if origin == "*" {
            return Vec::from([Str::new_static("*")]);
        }
        if forms::is_origin(origin) {
            all.push(Str::new(origin));
        }
    }
    all
}

pub(super) fn custom_http_errors(of: &Annotations) -> Result<Sourced<Vec<i64>>, Fault> {
    let value = of.text("custom-http-errors")?;
    let codes = value.value.split(',').map(str::trim).filter(|code| !code.is_empty());
    let codes: Option<Vec<i64>> = codes.map(|code| code.parse().ok()).collect();
    let codes = codes.ok_or_else(|| Fault::Other(format!("invalid HTTP status code in {}", value.value)))?;
    Ok(Sourced::new(codes, value.origin))
}

pub(super) fn logs(of: &Annotations) -> Logs {
    Logs { access: or_built_in(of.flag("enable-access-log"), true), rewrite: or_built_in(of.flag("enable-rewrite-log"), false) }
}

pub(super) fn mirror(of: &Annotations, uid: &str) -> Mirror {
    let mut mirror = Mirror { request_body: Sourced::built_in(Str::new_static("on")), ..Mirror::default() };
    if let Ok(body) = of.text("mirror-request-body")
        && body.value == "off"
    {
        mirror.request_body = body;
    }
    match of.text("mirror-target") {
        Ok(target) => {
            mirror.source = Sourced::new(Str::from(format!("/_mirror-{uid}")), target.origin);
            mirror.target = target;
        }
        Err(fault) if fault.is_validation() => mirror.source = Sourced::built_in(Str::from(format!("/_mirror-{uid}"))),
        Err(_) => {}
    }
    mirror.host = of.text("mirror-host").unwrap_or_else(|_| {
        let target = mirror.target.value.split('$').next().unwrap_or_default();
        let host = Url::absolute(target).map(|url| Str::new(url.host_name())).unwrap_or_default();
        Sourced::new(host, mirror.target.origin)
    });
    mirror
}

pub(super) fn modsecurity(of: &Annotations) -> ModSecurity {
    let enabled = of.flag("enable-modsecurity");
    ModSecurity {
        set: Sourced::new(enabled.is_ok(), enabled.as_ref().ok().and_then(|value| value.origin)),
        enabled: or_built_in(enabled, false),
        owasp_rules: or_built_in(of.flag("enable-owasp-core-rules"), false),
        transaction_id: or_built_in(of.text("modsecurity-transaction-id"), Str::default()),
        snippet: or_built_in(of.text("modsecurity-snippet"), Str::default()),
    }
}

pub(super) fn opentelemetry(of: &Annotations) -> Result<OpenTelemetry, Fault> {
    let mut found = OpenTelemetry::default();
    let Ok(enabled) = of.flag("enable-opentelemetry") else { return Ok(found) };
    let is_enabled = enabled.value;
    found.set = Sourced::new(true, enabled.origin);
    found.enabled = enabled;
    if !is_enabled {
        return Ok(found);
    }
    if let Ok(trust) = of.flag("opentelemetry-trust-incoming-span") {
        found.trust_set = Sourced::new(true, trust.origin);
        found.trust_enabled = trust;
    }
    if let Some(name) = unless_wrong(of.text("opentelemetry-operation-name"))? {
        found.operation_name = name;
    }
    Ok(found)
}

/// Returns the ConfigMap's settings for requests to services.
pub fn global_proxy(globals: &Globals) -> Proxy {
    proxy(&Annotations::default(), globals)
}

pub(super) fn proxy(of: &Annotations, globals: &Globals) -> Proxy {
    let text = |name: &str| or_global(of.text(name), globals.text(name));
    let number = |name: &str| or_global(of.number(name), globals.number(name));
    Proxy {
        body_size: text("proxy-body-size"),
        connect_timeout: number("proxy-connect-timeout"),
        send_timeout: number("proxy-send-timeout"),
        read_timeout: number("proxy-read-timeout"),
        buffers_number: number("proxy-buffers-number"),
        buffer_size: text("proxy-buffer-size"),
        busy_buffers_size: text("proxy-busy-buffers-size"),
        cookie_domain: text("proxy-cookie-domain"),
        cookie_path: text("proxy-cookie-path"),
        next_upstream: text("proxy-next-upstream"),
        next_upstream_timeout: number("proxy-next-upstream-timeout"),
        next_upstream_tries: number("proxy-next-upstream-tries"),
        redirect_from: text("proxy-redirect-from"),
        redirect_to: text("proxy-redirect-to"),
        request_buffering: text("proxy-request-buffering"),
        buffering: text("proxy-buffering"),
        http_version: text("proxy-http-version"),
        max_temp_file_size: text("proxy-max-temp-file-size"),
    }
}

pub(super) fn rate_limit(of: &Annotations, globals: &Globals, zone: &str) -> Result<RateLimit, Fault> {
    const BURST: i64 = 5;
    const SHARED_SIZE: i64 = 5;
    let rate = or_global(of.number("limit-rate"), globals.number("limit-rate"));
    let rate_after = or_global(of.number("limit-rate-after"), globals.number("limit-rate-after"));
    let rpm = unless_wrong(of.number("limit-rpm"))?.unwrap_or_default();
    let rps = unless_wrong(of.number("limit-rps"))?.unwrap_or_default();
    let connections = unless_wrong(of.number("limit-connections"))?.unwrap_or_default();
    let burst = or_built_in(of.number("limit-burst-multiplier"), BURST);
    let allowlist = unless_wrong(of.text("limit-allowlist"))?;
    let allowlist = match allowlist {
        Some(value) => {
            let ranges = forms::ranges(&value).ok_or_else(|| Fault::Other(format!("invalid CIDR address: {}", value.value)))?;
            Sourced::new(ranges, value.origin)
        }
        None => Sourced::default(),
    };
    let mut limit = RateLimit { rate, rate_after, ..RateLimit::default() };
    if rpm.value == 0 && rps.value == 0 && connections.value == 0 {
        return Ok(limit);
    }
    let origin = [&rps, &rpm, &connections].iter().find_map(|value| value.origin);
    let zone_of = |of: Sourced<i64>, suffix: &str| Zone {
        name: Sourced::new(Str::from(format!("{zone}_{suffix}")), of.origin.or(origin)),
        burst: Sourced::new(of.value.saturating_mul(burst.value), of.origin),
        shared_size: Sourced::new(SHARED_SIZE, of.origin.or(origin)),
        limit: of,
    };
    limit.connections = zone_of(connections, "conn");
    limit.rps = zone_of(rps, "rps");
    limit.rpm = zone_of(rpm, "rpm");
    let id = base64::encode(zone.as_bytes()).replace('+', "-").replace('/', "_").replace('=', "");
    limit.id = Sourced::new(Str::from(id), origin);
    limit.name = Sourced::new(Str::new(zone), origin);
    limit.allowlist = allowlist;
    Ok(limit)
}

pub(super) fn redirect(of: &Annotations) -> Result<Redirect, Fault> {
    const MOVED: i64 = 301;
    const FOUND: i64 = 302;
    let from_to_www = unless_missing(of.flag("from-to-www-redirect"))?.unwrap_or_default();
    let relative = unless_missing(of.flag("relative-redirects"))?.unwrap_or_default();
    if let Some(url) = unless_missing(of.text("temporal-redirect"))? {
        let code = unless_missing(of.number("temporal-redirect-code"))?.filter(|code| (300..=307).contains(&code.value));
        let code = code.unwrap_or(Sourced::new(FOUND, url.origin));
        let parsed = Url::parse(&url).map_err(Fault::Other)?;
        if !parsed.scheme.starts_with("http") {
            return Err(Fault::Other(format!("only http and https are valid protocols ({})", parsed.scheme)));
        }
        return Ok(Redirect { url, code, from_to_www, relative });
    }
    let url = unless_missing(of.text("permanent-redirect"))?;
    let code = unless_missing(of.number("permanent-redirect-code"))?.filter(|code| (300..=308).contains(&code.value));
    if url.is_some() || from_to_www.value {
        let url = url.unwrap_or_default();
        let code = code.unwrap_or(Sourced::new(MOVED, url.origin.or(from_to_www.origin)));
        return Ok(Redirect { url, code, from_to_www, relative });
    }
    if relative.value {
        return Ok(Redirect { relative, ..Redirect::default() });
    }
    Err(Fault::Missing)
}

pub(super) fn rewrite(of: &Annotations, globals: &Globals) -> Rewrite {
    Rewrite {
        target: or_built_in(of.text("rewrite-target"), Str::default()),
        ssl_redirect: or_global(of.flag("ssl-redirect"), globals.flag("ssl-redirect")),
        preserve_trailing_slash: or_global(of.flag("preserve-trailing-slash"), globals.flag("preserve-trailing-slash")),
        force_ssl_redirect: or_global(of.flag("force-ssl-redirect"), globals.flag("force-ssl-redirect")),
        use_regex: or_built_in(of.flag("use-regex"), false),
        app_root: of.text("app-root").ok().filter(|root| is_absolute_path(root)).unwrap_or_else(|| Sourced::built_in(Str::default())),
    }
}

/// Whether a string is a path without a host, as Go parses the target of a request.
fn is_absolute_path(text: &str) -> bool {
    text.starts_with('/') && Url::parse(text).is_ok_and(|url| url.scheme.is_empty())
}

pub(super) fn affinity(of: &Annotations) -> Affinity {
    const NAME: Str = Str::new_static("INGRESSCOOKIE");
    let text = |name: &str| or_built_in(of.text(name), Str::default());
    let flag = |name: &str| or_built_in(of.flag(name), false);
    let expiry = |name: &str| of.text(name).ok().filter(|value| forms::is_expiry(value)).unwrap_or_else(|| Sourced::built_in(Str::default()));
    let kind = text("affinity");
    let cookie = if kind.value == "cookie" {
        Cookie {
            name: or_built_in(of.text("session-cookie-name"), NAME),
            expires: expiry("session-cookie-expires"),
            max_age: expiry("session-cookie-max-age"),
            path: text("session-cookie-path"),
            domain: text("session-cookie-domain"),
            same_site: text("session-cookie-samesite"),
            secure: flag("session-cookie-secure"),
            conditional_same_site_none: flag("session-cookie-conditional-samesite-none"),
            change_on_failure: flag("session-cookie-change-on-failure"),
        }
    } else {
        Cookie::default()
    };
    Affinity { kind, mode: text("affinity-mode"), canary_behaviour: text("affinity-canary-behavior"), cookie }
}

pub(super) fn hash_by(of: &Annotations) -> Result<HashBy, Fault> {
    const SIZE: i64 = 3;
    let by = unless_missing(of.text("upstream-hash-by"))?.unwrap_or_default();
    let subset = unless_missing(of.flag("upstream-hash-by-subset"))?.unwrap_or_default();
    let subset_size = unless_missing(of.number("upstream-hash-by-subset-size"))?.filter(|size| size.value != 0);
    Ok(HashBy { by, subset, subset_size: subset_size.unwrap_or_else(|| Sourced::built_in(SIZE)) })
}

pub(super) fn ciphers(of: &Annotations) -> Result<Ciphers, Fault> {
    let prefer = of.flag("ssl-prefer-server-ciphers").ok();
    let word = |value: bool| Str::new_static(if value { "on" } else { "off" });
    Ok(Ciphers {
        prefer_server: prefer.map(|prefer| prefer.map(word)).unwrap_or_default(),
        ciphers: unless_wrong(of.text("ssl-ciphers"))?.unwrap_or_default(),
    })
}

/// Returns the list of client addresses of an annotation, or the ConfigMap's list if the annotation is missing.
pub(super) fn source_range(of: &Annotations, name: &str, global: Sourced<Vec<Str>>) -> Result<SourceRange, Fault> {
    match of.text(name) {
        Ok(value) => {
            let ranges = forms::ranges(&value).ok_or_else(|| {
                Fault::Denied(format!("the annotation does not contain a valid IP address or network: invalid CIDR address: {}", value.value))
            })?;
            Ok(SourceRange { cidr: Sourced::new(ranges, value.origin) })
        }
        Err(Fault::Missing) => {
            let mut global = global;
            global.value.sort();
            Ok(SourceRange { cidr: global })
        }
        Err(fault) => Err(Fault::Denied(fault.text().to_string())),
    }
}

pub(super) fn satisfy(of: &Annotations) -> Sourced<Str> {
    of.text("satisfy").ok().filter(|value| matches!(value.as_str(), "any" | "all")).unwrap_or_default()
}
