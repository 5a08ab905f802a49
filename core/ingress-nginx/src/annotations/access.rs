//! Reads the groups of annotations that name other objects: authentication, client certificates, TLS to services, and headers of ConfigMaps.
//!
//! ingress-nginx `internal/ingress/annotations/auth*`, `proxyssl`, `customheaders`, `fastcgi`, `defaultbackend`. Does not read other
//! groups; see `groups`.

use super::Reading;
use super::forms::{self, Url};
use super::groups::{or_built_in, unless_wrong};
use super::read::Fault;
use crate::certificates::SecretCertificate;
use crate::cluster::uid_of;
use crate::endpoints;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{BasicAuth, ClientCertificates, CustomHeaders, DefaultBackend, ExternalAuth, FastCgi, ProxySsl};
use chancery_base::resource::{Secret, Sourced};
use chancery_text::Str;

/// Returns the namespace and the name of a reference. The namespace may be empty.
fn split_key(key: &str) -> Result<(&str, &str), String> {
    let mut parts = key.split('/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(name), None, _) => Ok(("", name)),
        (Some(namespace), Some(name), None) => Ok((namespace, name)),
        _ => Err(format!("unexpected key format: {}", chancery_base::schema::go_quoted(key))),
    }
}

/// Returns the namespace and the name of a reference that must have a namespace.
fn split_full_key(key: &str) -> Result<(&str, &str), String> {
    match key.split_once('/') {
        Some((namespace, name)) if !name.contains('/') => Ok((namespace, name)),
        _ => Err(format!("invalid format (namespace/name) found in '{key}'")),
    }
}

/// Returns the group of `auth-type`, and the content of the password file. The content is `None` if the Secret is assumed, because its passwords are
/// unknown.
pub(super) fn basic_auth(reading: &Reading<'_>) -> Result<(BasicAuth, Option<Secret<Str>>), Fault> {
    let of = reading.annotations;
    let kind = of.text("auth-type")?;
    if !forms::is_auth_type(&kind) {
        return Err(Fault::denied("invalid authentication type"));
    }
    let secret_type = unless_wrong(of.text("auth-secret-type"))?.unwrap_or_else(|| Sourced::built_in(Str::new_static("auth-file")));
    let name = |fault: &str| Fault::Denied(format!("error reading secret name from annotation: {fault}"));
    let written = of.text("auth-secret").map_err(|fault| name(fault.text()))?;
    let (namespace, secret_name) = split_key(&written).map_err(|fault| name(&fault))?;
    let namespace = if namespace.is_empty() { reading.namespace } else { namespace };
    if !reading.crosses_namespaces() && namespace != reading.namespace {
        return Err(Fault::Denied("cross namespace usage of secrets is not allowed".into()));
    }
    let key = format!("{namespace}/{secret_name}");
    let secret = reading.cluster().secret(namespace, secret_name).ok_or_else(|| {
        Fault::Denied(format!(
            "unexpected error reading secret {key}: no object matching key {} in local store",
            chancery_base::schema::go_quoted(&key)
        ))
    })?;
    let realm = unless_wrong(of.text("auth-realm"))?.unwrap_or_default();
    let uid = uid_of(secret.object);
    let passwords = match secret_type.value.as_str() {
        "auth-file" | "auth-map" if secret.object.assumed => None,
        "auth-file" => {
            Some(secret.text("auth").ok_or_else(|| Fault::Denied(format!("the secret {secret_name} does not contain a key with value auth")))?)
        }
        "auth-map" => Some(secret.lines()),
        _ => return Err(Fault::Denied("invalid auth-secret-type in annotation, must be 'auth-file' or 'auth-map': %!w(<nil>)".into())),
    };
    let file = format!("/etc/ingress-controller/auth/{}-{}-{uid}.passwd", reading.namespace, reading.uid);
    let origin = written.origin;
    let auth = BasicAuth {
        kind,
        realm,
        file: Sourced::new(Str::from(file), origin),
        secured: Sourced::new(true, origin),
        secret: Sourced::new(Str::from(key), origin),
        secret_type,
    };
    Ok((auth, passwords))
}

/// The default of `auth-cache-duration`.
const CACHE_DURATION: &str = "200 202 401 5m";

/// Parses a list of durations. An empty list gives the default.
///
/// # Errors
///
/// A duration is invalid. The message names the duration.
pub fn cache_durations(text: &str) -> Result<Vec<Str>, String> {
    let items: Vec<&str> = text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
    if let Some(wrong) = items.iter().find(|item| !forms::is_cache_duration(item)) {
        return Err(format!("invalid cache duration: {wrong}"));
    }
    let items = if items.is_empty() { Vec::from([CACHE_DURATION]) } else { items };
    Ok(items.into_iter().map(Str::new).collect())
}

pub(super) fn external_auth(reading: &Reading<'_>) -> Result<ExternalAuth, Fault> {
    let of = reading.annotations;
    let url = of.text("auth-url")?;
    let parsed = Url::absolute(&url).map_err(|fault| Fault::Denied(format!("could not parse auth-url annotation: {fault}")))?;
    let method = unless_wrong(of.text("auth-method")).map_err(|_| Fault::denied("invalid HTTP method"))?.unwrap_or_default();
    let text = |name: &str| or_built_in(of.text(name), Str::default());
    let mut keepalive = or_built_in(of.number("auth-keepalive"), 0);
    let requests = or_built_in(of.number("auth-keepalive-requests"), 1000);
    let timeout = or_built_in(of.number("auth-keepalive-timeout"), 60);
    if keepalive.value < 0 || parsed.host.contains('$') || requests.value <= 0 || timeout.value <= 0 {
        keepalive.value = 0;
    }
    let duration = of.text("auth-cache-duration");
    if duration.as_ref().is_err_and(Fault::is_validation) {
        return Err(Fault::Other("auth-cache-duration contains invalid value".into()));
    }
    let duration = or_built_in(duration, Str::default());
    let cache_duration = cache_durations(&duration).map_err(|fault| Fault::denied(&fault))?;
    let headers = unless_wrong(of.text("auth-response-headers")).map_err(|_| Fault::denied("validation error"))?.unwrap_or_default();
    let response_headers: Vec<Str> = headers.value.split(',').map(str::trim).filter(|name| !name.is_empty()).map(Str::new).collect();
    if response_headers.iter().any(|name| !forms::is_header(name)) {
        return Err(Fault::denied("invalid headers list"));
    }
    let map = text("auth-proxy-set-headers");
    let (namespace, _) =
        split_key(&map).map_err(|fault| Fault::Denied(format!("error reading configmap name {} from annotation: {fault}", map.value)))?;
    if !reading.crosses_namespaces() && !namespace.is_empty() && namespace != reading.namespace {
        return Err(Fault::Denied("cross namespace usage of secrets is not allowed".into()));
    }
    let mut set_headers = Sourced::default();
    if !map.is_empty() {
        let data = reading.cluster().config_map(&map);
        let data = data.ok_or_else(|| Fault::denied(&format!("unable to find configMap {}", chancery_base::schema::go_quoted(&map))))?;
        if data.keys().any(|name| !forms::is_header(name)) {
            return Err(Fault::denied("invalid proxy-set-headers in configmap"));
        }
        set_headers = Sourced::new(data, map.origin);
    }
    let plain = |name: &'static str, value: Result<Sourced<Str>, Fault>| match unless_wrong(value) {
        Ok(value) => Ok(value.unwrap_or_default()),
        Err(fault) => Err(Fault::Other(format!("{name} is invalid: {}", fault.text()))),
    };
    let request_redirect = plain("auth-request-redirect", of.text("auth-request-redirect"))?;
    let always_set_cookie = unless_wrong(of.flag("auth-always-set-cookie"))
        .map_err(|fault| Fault::Other(format!("auth-always-set-cookie is invalid: {}", fault.text())))?;
    Ok(ExternalAuth {
        host: Sourced::new(Str::new(parsed.host_name()), url.origin),
        url,
        signin_url: text("auth-signin"),
        signin_parameter: text("auth-signin-redirect-param"),
        method,
        response_headers: Sourced::new(response_headers, headers.origin),
        request_redirect,
        snippet: text("auth-snippet"),
        cache_key: text("auth-cache-key"),
        cache_duration: Sourced::new(cache_duration, duration.origin),
        keepalive,
        keepalive_share_vars: or_built_in(of.flag("auth-keepalive-share-vars"), false),
        keepalive_requests: requests,
        keepalive_timeout: timeout,
        set_headers,
        always_set_cookie: always_set_cookie.unwrap_or_default(),
    })
}

/// Reads the Secret with the CA that an annotation names.
fn read_ca(reading: &Reading<'_>, written: &str) -> Result<SecretCertificate, Fault> {
    let (namespace, name) = split_full_key(written).map_err(|fault| Fault::denied(&fault))?;
    if !reading.crosses_namespaces() && namespace != reading.namespace {
        return Err(Fault::denied("cross namespace secrets are not supported"));
    }
    let found = reading.cluster().secret(namespace, name).and_then(|secret| SecretCertificate::of(&secret));
    found.ok_or_else(|| Fault::Denied(format!("error obtaining certificate: local SSL certificate {written} was not found")))
}

pub(super) fn client_certificates(reading: &Reading<'_>) -> Result<ClientCertificates, Fault> {
    let of = reading.annotations;
    let secret = of.text("auth-tls-secret")?;
    let material = read_ca(reading, &secret)?;
    let verify = of.text("auth-tls-verify-client").ok().filter(|value| ["on", "off", "optional", "optional_no_ca"].contains(&value.as_str()));
    let depth = of.number("auth-tls-verify-depth").ok().filter(|depth| depth.value != 0);
    let file = |file: Option<Str>| Sourced::new(file.unwrap_or_default(), secret.origin);
    Ok(ClientCertificates {
        ca_file: file(material.ca_file(&secret)),
        crl_file: file(material.crl_file(&secret)),
        verify_client: verify.unwrap_or_else(|| Sourced::built_in(Str::new_static("on"))),
        depth: depth.unwrap_or_else(|| Sourced::built_in(1)),
        error_page: unless_wrong(of.text("auth-tls-error-page"))?.unwrap_or_default(),
        pass_to_upstream: unless_wrong(of.flag("auth-tls-pass-certificate-to-upstream"))?.unwrap_or_default(),
        match_cn: unless_wrong(of.text("auth-tls-match-cn"))?.unwrap_or_default(),
        error: Sourced::default(),
        secret,
    })
}

/// Returns the settings for TLS to services, and the path of the file with certificate and key.
pub(super) fn proxy_ssl(reading: &Reading<'_>) -> Result<(ProxySsl, Sourced<Str>), Fault> {
    let of = reading.annotations;
    let secret = of.text("proxy-ssl-secret")?;
    let material = read_ca(reading, &secret)?;
    let file = |file: Option<Str>| Sourced::new(file.unwrap_or_default(), secret.origin);
    let on_or_off = |name: &str| {
        of.text(name).ok().filter(|value| matches!(value.as_str(), "on" | "off")).unwrap_or_else(|| Sourced::built_in(Str::new_static("off")))
    };
    let ssl = ProxySsl {
        ca_file: file(material.ca_file(&secret)),
        crl_file: file(material.crl_file(&secret)),
        ciphers: or_built_in(of.text("proxy-ssl-ciphers"), Str::new_static("DEFAULT")),
        protocols: of
            .text("proxy-ssl-protocols")
            .map_or_else(|_| Sourced::built_in(Str::new_static("TLSv1.2")), |value| Sourced::new(sorted_protocols(&value), value.origin)),
        name: or_built_in(of.text("proxy-ssl-name"), Str::default()),
        verify: on_or_off("proxy-ssl-verify"),
        verify_depth: of.number("proxy-ssl-verify-depth").ok().filter(|depth| depth.value != 0).unwrap_or_else(|| Sourced::built_in(1)),
        server_name: on_or_off("proxy-ssl-server-name"),
        secret: secret.clone(),
    };
    Ok((ssl, file(material.pem_file(&secret))))
}

fn sorted_protocols(text: &str) -> Str {
    let mut all: Vec<&str> = text.split(' ').map(str::trim).filter(|one| !one.is_empty() && forms::is_proxy_protocols(one)).collect();
    all.sort_unstable();
    if all.is_empty() { Str::new_static("TLSv1.2") } else { all.join(" ").into() }
}

pub(super) fn custom_headers(reading: &Reading<'_>) -> Result<CustomHeaders, Fault> {
    let Ok(written) = reading.annotations.text("custom-headers") else { return Ok(CustomHeaders::default()) };
    let data = reading.cluster().config_map(&written);
    let data = data.ok_or_else(|| Fault::denied(&format!("unable to find configMap {}", chancery_base::schema::go_quoted(&written))))?;
    let allowed = reading.globals.list("global-allowed-response-headers");
    for (name, value) in &data {
        if !forms::is_header(name) {
            return Err(Fault::denied("invalid header name in configmap"));
        }
        if !forms::is_header_value(value) {
            return Err(Fault::denied("invalid header value in configmap"));
        }
        if !allowed.value.contains(name) {
            let list = allowed.value.join(" ");
            return Err(Fault::denied(&format!(
                "header {name} is not allowed, defined allowed headers inside global-allowed-response-headers [{list}]"
            )));
        }
    }
    Ok(CustomHeaders { headers: Sourced::new(data, written.origin) })
}

pub(super) fn fastcgi(reading: &Reading<'_>) -> Result<FastCgi, Fault> {
    let of = reading.annotations;
    let mut found = FastCgi { index: unless_wrong(of.text("fastcgi-index"))?.unwrap_or_default(), params: Sourced::default() };
    let Some(written) = unless_wrong(of.text("fastcgi-params-configmap"))? else { return Ok(found) };
    let (namespace, name) = split_key(&written).map_err(|fault| Fault::Denied(format!("error reading configmap name from annotation: {fault}")))?;
    if !namespace.is_empty() && !reading.crosses_namespaces() && namespace != reading.namespace {
        return Err(Fault::Other("different namespace is not supported on fast_cgi param configmap".into()));
    }
    let key = format!("{}/{name}", reading.namespace);
    let data: BTreeMap<Str, Str> = reading.cluster().config_map(&key).ok_or_else(|| {
        Fault::Denied(format!(
            "unexpected error reading configmap {key}: no object matching key {} in local store",
            chancery_base::schema::go_quoted(&key)
        ))
    })?;
    if data.iter().any(|(name, value)| !forms::is_file_name(name) || !forms::is_fastcgi_value(value)) {
        return Err(Fault::Validation("annotation fastcgi-params-configmap contains invalid value".into()));
    }
    found.params = Sourced::new(data, written.origin);
    Ok(found)
}

pub(super) fn default_backend(reading: &Reading<'_>) -> Result<DefaultBackend, Fault> {
    let written = reading.annotations.text("default-backend")?;
    let service = reading.cluster().service(reading.namespace, &written);
    let service = service.ok_or_else(|| Fault::Other(format!("unexpected error reading service {}/{}", reading.namespace, written.value)))?;
    let key = Str::from(format!("{}/{}", reading.namespace, written.value));
    let endpoints = endpoints::ports(service).into_iter().next().map(|port| endpoints::endpoints_of_port(reading.cluster(), service, &port, "TCP"));
    Ok(DefaultBackend { service: Sourced::new(key, written.origin), endpoints })
}
