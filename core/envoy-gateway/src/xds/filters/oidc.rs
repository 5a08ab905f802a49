//! The filter that signs people in by OpenID Connect.

use super::{HttpFilters, set_config};
use crate::model::{HttpListener, HttpRoute, Jwt, Oidc, Security};
use crate::xds::cluster::{ClusterArgs, EndpointType};
use crate::xds::proto::{Setting as _, any, config_source, derived, duration, empty, extension, flag, list, message};
use crate::xds::resources::ResourceBuilder;
use crate::xds::retries::service_retry_policy;
use crate::xds::tls::generic_secret;
use crate::xds::url::UrlCluster;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;

const NAME: &str = "envoy.filters.http.oauth2";

fn oidc_of(route: &HttpRoute) -> Option<&Oidc> {
    route.security.as_ref()?.oidc.as_ref()
}

pub(super) fn add_filter(filters: &mut HttpFilters, listener: &HttpListener) {
    if listener.routes.iter().any(|route| oidc_of(route).is_some()) {
        filters.add(extension(NAME, "envoy.extensions.filters.http.oauth2.v3.OAuth2", empty()));
    }
}

pub(super) fn configure(out: &mut Tree, route: &HttpRoute) -> Result<(), String> {
    if let (Some(security), Some(of)) = (&route.security, oidc_of(route)) {
        let config = any("envoy.extensions.filters.http.oauth2.v3.OAuth2PerRoute", message! { "config": config(security, of)? });
        set_config(out, NAME, config.or_from(of.origin));
    }
    Ok(())
}

fn client_secret_name(of: &Oidc) -> String {
    format!("oauth2/client_secret/{}", of.name)
}

fn hmac_secret_name(of: &Oidc) -> String {
    format!("oauth2/hmac_secret/{}", of.name)
}

pub(super) fn add_resources(resources: &mut ResourceBuilder, routes: &[Arc<HttpRoute>]) -> Result<(), String> {
    let mut errors = Vec::new();
    for of in routes.iter().filter_map(|route| oidc_of(route)) {
        match of.destination.as_ref().filter(|destination| !destination.settings.is_empty()) {
            Some(destination) => {
                resources.add_cluster(&ClusterArgs::of_service(destination, of.traffic.as_ref()));
                resources.add_client_certificates(&destination.settings);
            }
            None => match token_cluster(of) {
                Ok(url) => resources.add_cluster(&url.args(of.traffic.as_ref())),
                Err(error) => errors.push(error),
            },
        }
    }
    if !errors.is_empty() {
        return Err(errors.join("\n"));
    }
    for of in routes.iter().filter_map(|route| oidc_of(route)) {
        resources.add_secret(generic_secret(&client_secret_name(of), &of.client_secret));
        resources.add_secret(generic_secret(&hmac_secret_name(of), &of.hmac_secret));
    }
    Ok(())
}

fn token_cluster(of: &Oidc) -> Result<UrlCluster, String> {
    let url = UrlCluster::of(&of.token_endpoint)?;
    if url.endpoint_type == EndpointType::Static {
        return Err(format!("static IP cluster is not allowed: {}", of.token_endpoint.text()));
    }
    Ok(url)
}

fn exact_path(path: &Tree) -> Tree {
    message! { "path": message! { "exact": path.clone() } }
}

fn config(security: &Security, of: &Oidc) -> Result<Tree, String> {
    let spec = &of.spec;
    let cluster = match of.destination.as_ref().filter(|destination| !destination.settings.is_empty()) {
        Some(destination) => Tree::from(&destination.name).or_from(destination.origin),
        None => derived(token_cluster(of)?.name, &of.token_endpoint),
    };
    let timeout = of.traffic.as_ref().map_or(&Tree::NULL, |traffic| traffic.cluster.timeout.at(&["http", "requestTimeout"]));
    let forward = spec.get("forwardAccessToken");
    let header = spec.at(&["forwardIDToken", "header"]);
    let takes_header = header.text().eq_ignore_ascii_case("authorization");
    let refresh = spec.get("refreshToken");
    let retry = match of.traffic.as_ref().and_then(|traffic| traffic.retry.some()) {
        Some(retry) => service_retry_policy(retry)?,
        None => Tree::NULL,
    };
    let deny = spec.get("denyRedirect").get("headers").items().iter().map(denied_header);
    let mut out = message! {
        "stat_prefix": &of.name,
        "token_endpoint": message! { "uri": of.token_endpoint.clone(), "cluster": cluster, "timeout": if timeout.is_null() { "10s".into() } else { duration(timeout) } },
        "authorization_endpoint": of.authorization_endpoint.clone(),
        "redirect_uri": of.redirect_url.clone(),
        "redirect_path_matcher": exact_path(&of.redirect_path),
        "signout_path": exact_path(&of.logout_path),
        "use_refresh_token": if refresh.is_null() { true.into() } else { refresh.clone() },
        "forward_bearer_token": flag(forward),
        "credentials": credentials(of),
        "auth_type": "BASIC_AUTH",
        "auth_scopes": list(of.scopes.clone()),
        "resources": list(spec.get("resources").items().to_vec()),
        "preserve_authorization_header": if forward.bool() || takes_header { Tree::NULL } else { derived(true, forward) },
        "disable_token_encryption": flag(spec.get("disableTokenEncryption")),
        "default_expires_in": duration(spec.get("defaultTokenTTL")),
        "default_refresh_token_expires_in": duration(spec.get("defaultRefreshTokenTTL")),
        "csrf_token_expires_in": duration(spec.get("csrfTokenTTL")),
        "end_session_endpoint": of.end_session_endpoint.clone(),
        "retry_policy": retry,
        "deny_redirect_matcher": list(deny.collect()),
        "forward_id_token": if header.is_null() { Tree::NULL } else { message! { "header": header.clone() } },
    };
    if spec.get("passThroughAuthHeader").bool()
        && let Some(jwt) = &security.jwt
    {
        out.set("pass_through_matcher", list(passed_headers(jwt)));
    }
    out.set("cookie_configs", cookies(spec.at(&["cookieConfig", "sameSite"])));
    Ok(out.or_from(of.origin))
}

fn credentials(of: &Oidc) -> Tree {
    let own = of.spec.get("cookieNames");
    let name = |prefix: &str| Tree::from(format!("{prefix}-{}", of.cookie_suffix));
    let or = |field: &str, prefix: &str| if own.get(field).is_null() { name(prefix) } else { own.get(field).clone() };
    let names = message! {
        "bearer_token": or("accessToken", "AccessToken"),
        "oauth_hmac": name("OauthHMAC"),
        "oauth_expires": name("OauthExpires"),
        "id_token": or("idToken", "IdToken"),
        "refresh_token": name("RefreshToken"),
        "oauth_nonce": name("OauthNonce"),
    };
    let secret = |name: String, from: &Tree| message! { "name": derived(name, from), "sds_config": config_source() };
    message! {
        "client_id": of.client_id.clone(),
        "token_secret": secret(client_secret_name(of), &of.client_secret),
        "hmac_secret": secret(hmac_secret_name(of), &of.hmac_secret),
        "cookie_names": names,
        "cookie_domain": of.spec.get("cookieDomain").clone(),
    }
}

fn cookies(same_site: &Tree) -> Tree {
    let word = match same_site.text() {
        "" => return Tree::NULL,
        "Strict" => "STRICT",
        "Lax" => "LAX",
        "None" => "NONE",
        _ => "DISABLED",
    };
    let names = ["bearer_token", "oauth_hmac", "oauth_expires", "id_token", "refresh_token", "oauth_nonce", "code_verifier"];
    let config = || message! { "same_site": derived(word, same_site) };
    Tree::object(names.map(|name| (format!("{name}_cookie_config"), config()))).or_from(same_site.origin)
}

fn denied_header(of: &Tree) -> Tree {
    let value = of.get("value").clone();
    let matcher = match of.get("type").text() {
        "Prefix" => message! { "prefix": value },
        "Suffix" => message! { "suffix": value },
        "RegularExpression" => message! { "safe_regex": message! { "regex": value } },
        _ => message! { "exact": value },
    };
    message! { "name": of.get("name").clone(), "string_match": matcher }.or_from(of.origin)
}

/// Headers with tokens that are checked elsewhere.
fn passed_headers(jwt: &Jwt) -> Vec<Tree> {
    let mut out = Vec::new();
    for provider in &jwt.providers {
        let Some(from) = provider.spec.get("extractFrom").some() else {
            out.push(message! { "name": "Authorization", "string_match": message! { "prefix": "Bearer " } });
            continue;
        };
        for header in from.get("headers").items() {
            let prefix = header.get("valuePrefix");
            let matcher = if prefix.is_null() {
                Tree::NULL
            } else {
                message! { "prefix": prefix.clone() }
            };
            out.push(message! { "name": header.get("name").clone(), "string_match": matcher }.or_from(header.origin));
        }
    }
    out
}
