//! The JWT filter, and the clusters for keys.

use super::proto::{copied, duration, empty, endpoint, extension, flag, list, message, one};
use super::tls;
use crate::entry::Kind;
use crate::go;
use crate::validate::is_set;
use crate::xds::context::{Context, Failure};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine as _;
use chancery_base::ir::Tree;

const SECOND: i64 = 1_000_000_000;

/// The filter that reads tokens, if intentions require any.
pub(crate) fn filter(cx: &Context<'_>, intentions: &[Tree]) -> Result<Option<Tree>, Failure> {
    let mut providers: Vec<(String, Tree)> = Vec::new();
    let mut requirements = Vec::new();
    for intention in intentions {
        let permissions = intention.get("Permissions").items().iter();
        let wanted = permissions.chain([intention]).flat_map(|holder| holder.at(&["JWT", "Providers"]).items());
        for provider in wanted {
            let name = provider.get("Name").text();
            if providers.iter().any(|(other, _)| other == name) {
                continue;
            }
            let found = cx.mail.entries(Kind::JwtProvider).iter().find(|entry| entry.name == name);
            let why = || Failure::new(format!("provider specified in intention does not exist. Provider name: {name}"), provider.origin);
            let entry = found.ok_or_else(why)?;
            providers.push((name.into(), self::provider(&entry.tree)?));
            let optional = Vec::from([message! { "provider_name": name }, message! { "allow_missing_or_failed": empty() }]);
            requirements.push(message! { "requires_any": message! { "requirements": list(optional) } });
        }
    }
    if requirements.is_empty() {
        return Ok(None);
    }
    let requires = if requirements.len() == 1 {
        requirements.pop().unwrap_or_default()
    } else {
        message! { "requires_all": message! { "requirements": list(requirements) } }
    };
    let rule = message! { "match": message! { "prefix": "/" }, "requires": requires };
    let config = message! { "providers": Tree::object(providers), "rules": one(rule) };
    let kind = "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication";
    Ok(Some(extension("envoy.filters.http.jwt_authn", kind, config)))
}

fn provider(entry: &Tree) -> Result<Tree, Failure> {
    let name = entry.get("Name").text();
    let forwarding = entry.get("Forwarding");
    let mut out = message! {
        "issuer": copied(entry.get("Issuer")),
        "audiences": list(entry.get("Audiences").items().to_vec()),
        "payload_in_metadata": format!("jwt_payload_{name}"),
        "forward_payload_header": copied(forwarding.get("HeaderName")),
        "pad_forward_payload_header": flag(forwarding.get("PadForwardPayloadHeader").flag()),
    };
    let keys = entry.get("JSONWebKeySet");
    if let Some(local) = keys.find("Local") {
        out.set("local_jwks", self::local(local)?);
    } else {
        out.set("remote_jwks", remote(keys.get("Remote"), name));
    }
    let (mut headers, mut params, mut cookies) = (Vec::new(), Vec::new(), Vec::new());
    for location in entry.get("Locations").items() {
        if let Some(header) = location.find("Header") {
            out.set("forward", flag(header.get("Forward").flag()));
            let prefix = copied(header.get("ValuePrefix"));
            headers.push(message! { "name": header.get("Name").clone(), "value_prefix": prefix });
        } else if let Some(param) = location.find("QueryParam") {
            params.push(param.get("Name").clone());
        } else if let Some(cookie) = location.find("Cookie") {
            cookies.push(cookie.get("Name").clone());
        }
    }
    out.set("from_headers", list(headers));
    out.set("from_params", list(params));
    out.set("from_cookies", list(cookies));
    Ok(out.or_from(entry.origin))
}

fn local(local: &Tree) -> Result<Tree, Failure> {
    let keys = local.get("JWKS");
    if !is_set(keys) {
        return Ok(message! { "filename": local.get("Filename").clone() });
    }
    let decoded = base64::engine::general_purpose::STANDARD.decode(keys.text()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let text = decoded.ok_or_else(|| Failure::new("the keys are no text in base 64", keys.origin))?;
    Ok(message! { "inline_string": Tree::from(text).or_from(keys.origin) })
}

fn remote(remote: &Tree, name: &str) -> Tree {
    // Whole seconds only.
    let timeout = remote.get("RequestTimeoutMs").number().map(|millis| millis / 1000 * SECOND);
    let cached = remote.get("CacheDuration").number();
    let policy = remote.find("RetryPolicy").map(|policy| {
        let back_off = policy.find("RetryPolicyBackOff").map(|back_off| {
            message! {
                "base_interval": duration(back_off.get("BaseInterval").number()),
                "max_interval": duration(back_off.get("MaxInterval").number()),
            }
        });
        message! { "retry_back_off": back_off, "num_retries": policy.get("NumRetries").number().map(go::cut) }
    });
    let uri = message! {
        "uri": remote.get("URI").clone(),
        "cluster": format!("jwks_cluster_{name}"),
        "timeout": duration(timeout),
    };
    message! {
        "http_uri": uri,
        // The reference sends the nanoseconds as seconds.
        "cache_duration": if *cached > 0 { cached.map(|seconds| format!("{seconds}s")).into() } else { Tree::NULL },
        "async_fetch": message! { "fast_listener": flag(remote.get("FetchAsynchronously").flag()) },
        "retry_policy": policy,
    }
}

/// The cluster that serves a provider's keys.
pub(crate) fn cluster(entry: &Tree) -> Option<Tree> {
    let remote = entry.get("JSONWebKeySet").find("Remote")?;
    let uri = remote.get("URI");
    let url = go::Url::parse(uri.text()).ok()?;
    let port = match url.port() {
        Some(port) => port.parse::<i64>().ok()?,
        None => 0,
    };
    let port = match (port, url.scheme) {
        (0, "https") => 443,
        (0, _) => 80,
        (port, _) => port,
    };
    let settings = remote.get("JWKSCluster");
    let kind = settings.get("DiscoveryType");
    let kind = match kind.text() {
        // Without any setting, the zero value, which is STATIC.
        "" if settings.is_null() => Tree::from("STATIC"),
        "" => Tree::from("STRICT_DNS"),
        _ => kind.clone(),
    };
    let name = format!("jwks_cluster_{}", entry.get("Name").text());
    let at = |value: Tree| value.or_from(uri.origin);
    let locality = message! { "lb_endpoints": one(endpoint(at(url.hostname().into()), at(port.into()))) };
    let timeout = settings.get("ConnectTimeout").number().map(|nanos| nanos / SECOND * SECOND);
    let socket = (url.scheme == "https").then(|| {
        let common = message! { "validation_context": trusted_ca(settings) };
        tls::socket_up(message! { "common_tls_context": common })
    });
    Some(
        message! {
            "name": name.as_str(),
            "type": kind,
            "load_assignment": message! { "cluster_name": name.as_str(), "endpoints": one(locality) },
            "connect_timeout": if *timeout > 0 { duration(timeout) } else { Tree::NULL },
            "transport_socket": socket,
        }
        .or_from(entry.origin),
    )
}

fn trusted_ca(settings: &Tree) -> Tree {
    let certificates = settings.get("TLSCertificates");
    let authority = certificates.find("TrustedCA").map(|authority| {
        let kinds = [
            ("InlineBytes", "inline_bytes"),
            ("InlineString", "inline_string"),
            ("EnvironmentVariable", "environment_variable"),
            ("Filename", "filename"),
        ];
        let given = kinds.iter().find(|(field, _)| is_set(authority.get(field)));
        Tree::object(given.map(|(field, name)| (*name, authority.get(field).clone())))
    });
    let instance = certificates.find("CaCertificateProviderInstance").map(|instance| {
        message! {
            "instance_name": copied(instance.get("InstanceName")),
            "certificate_name": copied(instance.get("CertificateName")),
        }
    });
    message! { "trusted_ca": authority, "ca_certificate_provider_instance": instance }
}
