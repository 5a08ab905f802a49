//! How clients prove who they are, as SecurityPolicies write it. Does not attach policies.

use super::super::cluster_settings::traffic_features;
use super::super::context::Translator;
use super::super::model::{ApiKeyAuth, AppProtocol, BasicAuth, ExtAuth, ExtAuthProtocol, Jwt, JwtProvider, Oidc, RemoteJwks};
use super::super::names;
use super::super::translate::certificates;
use super::super::value::tree;
use super::super::xds::split_url;
use super::attach::Effective;
use super::matching::value_or_first;
use super::reference::{Purpose, secret, service};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::{Plain, Tree};
use chancery_base::schema::go_quoted;
use chancery_text::{Str, base64};

const REDIRECT: &str = "%REQ(x-forwarded-proto)%://%REQ(:authority)%/oauth2/callback";
const HMAC: (&str, &str) = ("envoy-oidc-hmac", "hmac-secret");

fn is_set(spec: &Tree, path: &[&str]) -> bool {
    let at = spec.at(path);
    match &at.value {
        Plain::Null => false,
        Plain::List(items) => !items.is_empty(),
        _ => true,
    }
}

/// Reads `basicAuth`.
pub(super) fn basic_auth(t: &Translator<'_>, policy: &Effective<'_>) -> Result<Option<BasicAuth>, String> {
    let written = policy.spec.get("basicAuth");
    if written.is_null() {
        return Ok(None);
    }
    const KEY: &str = ".htpasswd";
    let owner = policy.owner(|spec| is_set(spec, &["basicAuth"]));
    let users = secret(t, owner, written.get("users"))?;
    let value = certificates::value(users, KEY).unwrap_or_default();
    if value.is_empty() {
        return Err(format!("secret {} must contain a non-empty \"{KEY}\" key", users.path()));
    }
    for line in String::from_utf8_lossy(&value).lines().map(str::trim).filter(|line| !line.is_empty()) {
        let Some((_, password)) = line.split_once(':') else {
            return Err("invalid htpasswd format: each line must be in the format 'username:password'".into());
        };
        let Some(hash) = password.strip_prefix("{SHA}") else { return Err("unsupported htpasswd format: please use {SHA}".into()) };
        match base64::decode(hash) {
            Some(hash) if hash.len() == 20 => {}
            Some(_) => return Err("invalid htpasswd format: {SHA} must be SHA1 (20 bytes)".into()),
            None => return Err("invalid htpasswd format: {SHA} must be base64-encoded SHA1".into()),
        }
    }
    Ok(Some(BasicAuth {
        name: Str::from(names::config(owner)),
        users: certificates::key_of(users, KEY),
        forward_username_header: written.get("forwardUsernameHeader").clone(),
        origin: written.origin,
    }))
}

/// Reads `apiKeyAuth`.
pub(super) fn api_key_auth(t: &Translator<'_>, policy: &Effective<'_>) -> Result<Option<ApiKeyAuth>, String> {
    let written = policy.spec.get("apiKeyAuth");
    if written.is_null() {
        return Ok(None);
    }
    let owner = policy.owner(|spec| is_set(spec, &["apiKeyAuth", "credentialRefs"]));
    let (mut clients, mut keys, mut credentials) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for reference in written.get("credentialRefs").items() {
        let secret = secret(t, owner, reference)?;
        let mut names = certificates::keys(secret);
        names.sort();
        for client in names {
            if !clients.insert(client.clone()) {
                continue;
            }
            let value = certificates::value(secret, &client).unwrap_or_default();
            if !keys.insert(value) {
                return Err("duplicated API key".into());
            }
            let named = certificates::key_of(secret, &client);
            credentials.push((Tree::from(&client).with_origin(named.origin), named));
        }
    }
    Ok(Some(ApiKeyAuth { credentials, spec: written.clone() }))
}

/// Reads `jwt`.
pub(super) fn jwt(t: &mut Translator<'_>, policy: &Effective<'_>, gateway: usize) -> Result<Option<Jwt>, String> {
    let written = policy.spec.get("jwt");
    if written.is_null() {
        return Ok(None);
    }
    let items = written.get("providers").items();
    validate_providers(items)?;
    let owner = policy.owner(|spec| is_set(spec, &["jwt", "providers"]));
    let mut providers = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let remote = item.get("remoteJWKS");
        let mut provider = JwtProvider { spec: item.clone(), ..JwtProvider::default() };
        if remote.is_null() {
            provider.local = local_keys(t, owner.namespace(), item.get("localJWKS"))?;
        } else {
            let uri = remote.get("uri");
            let protocol = if uri.text().starts_with("https:") { AppProtocol::Https } else { AppProtocol::Http };
            let references = remote.get("backendRefs").items();
            let purpose = Purpose { name: "jwt", index, protocol };
            let destination = if references.is_empty() { None } else { Some(service(t, owner, references, purpose, gateway)?) };
            provider.remote = Some(RemoteJwks {
                destination,
                traffic: traffic_features(remote.get("backendSettings"))?,
                uri: uri.clone(),
                cache_duration: remote.get("cacheDuration").clone(),
                failed_refetch_duration: remote.get("failedRefetchDuration").clone(),
            });
        }
        providers.push(provider);
    }
    Ok(Some(Jwt {
        allow_missing: written.get("optional").clone(),
        allow_missing_or_failed: written.get("failOpen").clone(),
        providers,
        origin: written.origin,
    }))
}

/// Whether Go's `url.ParseRequestURI` takes a text, as far as issuers and key sets go.
fn request_uri(text: &str) -> Result<(), String> {
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    let is_scheme = scheme.is_some_and(|scheme| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    let fail = |why: &str| Err(format!("parse {}: {why}", go_quoted(text)));
    match scheme {
        _ if text.is_empty() => fail("empty url"),
        _ if text.starts_with('/') => Ok(()),
        Some("") => fail("missing protocol scheme"),
        Some(_) if is_scheme && !text.contains(' ') => Ok(()),
        Some(_) if is_scheme => fail("invalid character \" \" in host name"),
        Some(scheme) if !scheme.contains('/') => fail("first path segment in URL cannot contain colon"),
        _ => fail("invalid URI for request"),
    }
}

fn validate_providers(providers: &[Tree]) -> Result<(), String> {
    let (mut errors, mut names): (Vec<String>, Vec<Str>) = (Vec::new(), Vec::new());
    for provider in providers {
        let (name, issuer) = (provider.get("name").text(), provider.get("issuer").text());
        if name.is_empty() {
            errors.push("jwt provider cannot be an empty string".into());
        }
        if issuer.contains(':') {
            if request_uri(issuer).is_err() {
                errors.push("invalid issuer; when issuer contains ':' character, it MUST be a valid URI".into());
            }
        } else if issuer.contains('@') && (issuer.starts_with('@') || issuer.ends_with('@') || issuer.matches('@').count() != 1) {
            let words = "invalid issuer; when issuer contains '@' character, it MUST be a valid Email Address format";
            errors.push(format!("{words}: mail: no angle-addr"));
        }
        let (remote, local) = (provider.get("remoteJWKS"), provider.get("localJWKS"));
        if remote.is_null() == local.is_null() {
            errors.push(format!("either remoteJWKS or localJWKS must be specified for jwt provider: {name}"));
        }
        if !remote.is_null() {
            let uri = remote.get("uri").text();
            if uri.is_empty() {
                errors.push(format!("uri must be set for remote JWKS provider: {name}"));
            } else if let Err(error) = request_uri(uri) {
                errors.push(format!("invalid remote JWKS URI: {error}"));
            }
        }
        if !local.is_null() {
            if !local.get("type").is("ValueRef") {
                if local.get("inline").is_null() {
                    errors.push(format!("inline JWKS must be set for local JWKS provider: {name} if type is Inline"));
                }
            } else if local.get("valueRef").is_null() {
                errors.push(format!("valueRef must be set for local JWKS provider: {name} if type is ValueRef"));
            }
        }
        if errors.is_empty() {
            if names.iter().any(|known| known == name) {
                errors.push(format!("provider name {name} must be unique"));
            }
            names.push(Str::new(name));
        }
        for claim in provider.get("claimToHeaders").items() {
            if claim.get("header").text().is_empty() {
                errors.push("header must be set for claimToHeader provider: ".into());
            } else if claim.get("claim").text().is_empty() {
                errors.push("claim must be set for claimToHeader provider: ".into());
            }
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

fn local_keys(t: &Translator<'_>, namespace: &str, written: &Tree) -> Result<Tree, String> {
    if !written.get("type").is("ValueRef") {
        return Ok(written.get("inline").clone());
    }
    let name = written.at(&["valueRef", "name"]).text();
    let Some(map) = t.resources.config_map(namespace, name) else {
        return Err(format!("local JWKS ConfigMap {namespace}/{name} not found"));
    };
    // Envoy Gateway confuses the words of this message.
    value_or_first(map, "jwks")
        .ok_or_else(|| format!("JWKS data not found in ConfigMap jwks/{namespace}, no {} key and no other data found", go_quoted(name)))
}

/// Reads `oidc`.
pub(super) fn oidc(t: &mut Translator<'_>, policy: &Effective<'_>, gateway: usize) -> Result<Option<Oidc>, String> {
    let written = policy.spec.get("oidc");
    if written.is_null() {
        return Ok(None);
    }
    let owner = policy.owner(|spec| is_set(spec, &["oidc"]));
    let provider = written.get("provider");
    let token = provider.get("tokenEndpoint");
    let issuer = provider.get("issuer");
    let of = if token.is_null() { issuer } else { token };
    let protocol = if of.text().starts_with("https:") { AppProtocol::Https } else { AppProtocol::Http };
    let references = provider.get("backendRefs").items();
    let destination = if references.is_empty() {
        None
    } else {
        let owner = policy.owner(|spec| is_set(spec, &["oidc", "provider", "backendRefs"]));
        Some(service(t, owner, references, Purpose { name: "oidc", index: 0, protocol }, gateway)?)
    };
    let authorization = provider.get("authorizationEndpoint");
    if authorization.text().is_empty() || token.text().is_empty() {
        let uri = format!("{}/.well-known/openid-configuration", issuer.text());
        return Err(format!("Get {}: the issuer's configuration is not known", go_quoted(&uri)));
    }
    validate_token_endpoint(token.text())?;
    let traffic = traffic_features(provider.get("backendSettings"))?;
    let client_id = client_id(t, policy, written)?;
    let held = secret(t, owner, written.get("clientSecret"))?;
    if certificates::value(held, "client-secret").is_none_or(|value| value.is_empty()) {
        return Err(format!("client secret not found in secret {}", held.path()));
    }
    let mut scopes: Vec<Tree> = written.get("scopes").items().to_vec();
    if !scopes.iter().any(|scope| scope.is("openid")) {
        scopes.push(Tree::from("openid").with_origin(written.origin));
    }
    let default = |text: &'static str| Tree::from(text).with_origin(written.origin);
    let redirect_url = written.find("redirectURL").cloned().unwrap_or_else(|| default(REDIRECT));
    let redirect_path = match written.find("redirectURL") {
        Some(url) => Tree::from(redirect_path(url.text())?).with_origin(url.origin),
        None => default("/oauth2/callback"),
    };
    let namespace = t.settings.namespace.clone();
    // The installation of Envoy Gateway creates this Secret, so inputs rarely contain it.
    let hmac = t.resources.secret(&namespace, HMAC.0);
    if hmac.is_some_and(|hmac| certificates::value(hmac, HMAC.1).is_none_or(|value| value.is_empty())) {
        return Err(format!("HMAC secret not found in secret {namespace}/{}", HMAC.0));
    }
    Ok(Some(Oidc {
        name: Str::from(names::config(owner)),
        destination,
        traffic,
        authorization_endpoint: authorization.clone(),
        token_endpoint: token.clone(),
        end_session_endpoint: provider.get("endSessionEndpoint").clone(),
        spec: written.clone(),
        client_id,
        client_secret: certificates::key_of(held, "client-secret"),
        hmac_secret: hmac
            .map_or_else(|| Tree::named_material(format!("secret:{namespace}/{}/{}", HMAC.0, HMAC.1)), |hmac| certificates::key_of(hmac, HMAC.1))
            .or_from(written.origin),
        scopes,
        redirect_url,
        redirect_path,
        logout_path: written.find("logoutPath").cloned().unwrap_or_else(|| default("/logout")),
        cookie_suffix: Str::from(digest(owner.metadata().field("uid").str())),
        origin: written.origin,
    }))
}

/// Returns the FNV-1a hash of a text, in hexadecimal digits.
fn digest(text: &str) -> String {
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{hash:x}")
}

fn client_id(t: &Translator<'_>, policy: &Effective<'_>, written: &Tree) -> Result<Tree, String> {
    if let Some(id) = written.find("clientID") {
        return Ok(id.clone());
    }
    let Some(reference) = written.find("clientIDRef") else {
        return Err(format!("client ID must be specified in OIDC policy {}", policy.object.path()));
    };
    let owner = policy.owner(|spec| is_set(spec, &["oidc", "clientIDRef"]));
    let held = secret(t, owner, reference)?;
    match certificates::value(held, "client-id") {
        Some(value) if !value.is_empty() => Ok(Tree::from(String::from_utf8_lossy(&value).into_owned()).with_origin(reference.origin)),
        _ => Err(format!("client ID not found in secret {}", held.path())),
    }
}

fn validate_token_endpoint(text: &str) -> Result<(), String> {
    let (_, host, _) = split_url(text).map_err(|error| format!("error parsing token endpoint URL: {error}"))?;
    if host.parse::<core::net::IpAddr>().is_ok() { Err(format!("token endpoint URL must be a domain name: {text}")) } else { Ok(()) }
}

fn redirect_path(url: &str) -> Result<&str, String> {
    let path = url.split_once("://").and_then(|(scheme, rest)| {
        let at = rest.find('/').filter(|at| *at > 0)?;
        matches!(scheme, "http" | "https" | "%REQ(x-forwarded-proto)%").then(|| &rest[at..])
    });
    path.filter(|path| *path != "/").ok_or_else(|| format!("invalid redirect URL {url}"))
}

/// Reads `extAuth`.
pub(super) fn ext_auth(t: &mut Translator<'_>, policy: &Effective<'_>, gateway: usize) -> Result<Option<ExtAuth>, String> {
    let written = policy.spec.get("extAuth");
    if written.is_null() {
        return Ok(None);
    }
    let (http, grpc) = (written.get("http"), written.get("grpc"));
    let (protocol, asked, name) = match (http.is_null(), grpc.is_null()) {
        (true, true) => return Err("one of grpc or http must be specified".into()),
        (false, false) => return Err("only one of grpc or http can be specified".into()),
        (false, true) => (AppProtocol::Http, http, "http"),
        (true, false) => (AppProtocol::Grpc, grpc, "grpc"),
    };
    let references: Vec<Tree> = match (asked.get("backendRefs").items(), asked.find("backendRef")) {
        ([], Some(single)) => Vec::from([single.clone()]),
        ([], None) => return Err(format!("{name} backend refs must be specified")),
        (all, _) => all.to_vec(),
    };
    let owner = policy.owner(|spec| {
        let has = |kind: &str| is_set(spec, &["extAuth", kind, "backendRefs"]) || is_set(spec, &["extAuth", kind, "backendRef"]);
        has("http") || has("grpc")
    });
    let destination = service(t, owner, &references, Purpose { name: "extauth", index: 0, protocol }, gateway)?;
    let authority = references.first().map(|reference| authority(t, reference, owner.namespace())).unwrap_or_default();
    let traffic = traffic_features(asked.get("backendSettings"))?;
    let context_extensions = context_extensions(t, policy, written.get("contextExtensions").items())?;
    let body = written.get("bodyToExtAuth");
    let named = policy.owner(|spec| is_set(spec, &["extAuth"]));
    Ok(Some(ExtAuth {
        name: Str::from(names::config(named)),
        protocol: if protocol == AppProtocol::Http { ExtAuthProtocol::Http } else { ExtAuthProtocol::Grpc },
        destination,
        authority,
        path: http.get("path").clone(),
        path_override: http.get("pathOverride").clone(),
        headers_to_backend: http.get("headersToBackend").items().to_vec(),
        traffic,
        headers_to_ext_auth: written.get("headersToExtAuth").items().to_vec(),
        body: body.clone(),
        timeout: written.get("timeout").clone(),
        fail_open: written.get("failOpen").clone(),
        recompute_route: written.get("recomputeRoute").clone(),
        include_route_metadata: written.get("includeRouteMetadata").clone(),
        context_extensions,
        status_on_error: written.get("statusOnError").clone(),
        origin: written.origin,
    }))
}

fn authority(t: &Translator<'_>, reference: &Tree, namespace: &str) -> Tree {
    let name = reference.get("name").text();
    let there = reference.find("namespace").map_or(namespace, Tree::text);
    if reference.get("kind").is("Backend") {
        if let Some(backend) = t.resources.backend(there, name)
            && let Some(fqdn) = backend.spec().field("endpoints").items().map(|of| of.field("fqdn")).find(|fqdn| fqdn.exists())
        {
            let host = tree(fqdn.field("hostname"));
            let port = fqdn.field("port").int().unwrap_or_default();
            return Tree::from(format!("{}:{port}", host.text())).with_origin(host.origin);
        }
        return Tree::from(format!("{name}.{there}")).with_origin(reference.origin);
    }
    Tree::from(format!("{name}.{there}:{}", reference.get("port").int())).with_origin(reference.origin)
}

fn context_extensions(t: &Translator<'_>, policy: &Effective<'_>, written: &[Tree]) -> Result<Vec<(Tree, Tree)>, String> {
    let mut all = Vec::new();
    for of in written {
        let name = of.get("name").clone();
        if !of.get("type").is("ValueRef") {
            all.push((name, of.find("value").cloned().unwrap_or_else(|| Tree::from("").with_origin(of.origin))));
            continue;
        }
        let is_same = |item: &Tree| item.get("name").text() == name.text();
        let owner = policy.owner(|spec| spec.at(&["extAuth", "contextExtensions"]).items().iter().any(is_same));
        let reference = of.get("valueRef");
        let (namespace, held, key) = (owner.namespace(), reference.get("name").text(), reference.get("key").text());
        let (quoted_key, quoted) = (go_quoted(key), go_quoted(held));
        let missing = |kind: &str| format!("can't find the referenced {kind} {quoted} in namespace {}", go_quoted(namespace));
        let no_key = |kind: &str| format!("can't find the key {quoted_key} in the referenced {kind} {quoted}");
        let value = match reference.get("kind").text() {
            "ConfigMap" => {
                let map = t.resources.config_map(namespace, held).ok_or_else(|| missing("configmap"))?;
                let at = map.root().field("data").field(key).some().ok_or_else(|| no_key("configmap"))?;
                tree(at)
            }
            "Secret" => {
                let secret = t.resources.secret(namespace, held).ok_or_else(|| missing("secret"))?;
                certificates::value(secret, key).ok_or_else(|| no_key("secret"))?;
                certificates::key_of(secret, key)
            }
            other => return Err(format!("unexpected reference to kind {}", go_quoted(other))),
        };
        all.push((name, value));
    }
    Ok(all)
}
