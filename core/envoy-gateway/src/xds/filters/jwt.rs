//! The filter that checks tokens.

use super::{HttpFilters, set_config};
use crate::model::{HttpListener, HttpRoute, Jwt, JwtProvider, RemoteJwks};
use crate::xds::cluster::ClusterArgs;
use crate::xds::proto::{Setting as _, any, copied, derived, duration, empty, extension, list, message};
use crate::xds::resources::ResourceBuilder;
use crate::xds::retries::service_retry_policy;
use crate::xds::tls::hex;
use crate::xds::url::UrlCluster;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_envoy_api::envoy::extensions::filters::http::jwt_authn::v3 as jwt_authn;
use chancery_envoy_api::json::{self, Readable};
use chancery_envoy_api::prost::Message;
use chancery_envoy_api::prost::encoding::{decode_varint, encode_varint};
use chancery_text::Str;
use sha2::{Digest as _, Sha256};

const NAME: &str = "envoy.filters.http.jwt_authn";
const KIND: &str = "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication";
/// The longest name of a provider or requirement.
const LONGEST: usize = 256;

fn jwt_of(route: &HttpRoute) -> Option<&Jwt> {
    route.security.as_ref()?.jwt.as_ref().filter(|jwt| !jwt.providers.is_empty())
}

pub(super) fn add_filter(filters: &mut HttpFilters, listener: &HttpListener) -> Result<(), String> {
    for jwt in listener.routes.iter().filter_map(|route| jwt_of(route)) {
        filters.add(extension(NAME, KIND, message! { "providers": empty(), "requirement_map": empty() }));
        let (providers, requirement, name) = requirements(jwt)?;
        let Some(config) = filters.get_mut(NAME).and_then(|filter| filter.get_mut("typed_config")) else { continue };
        for (name, provider) in providers {
            if let Some(all) = config.get_mut("providers") {
                all.set(&name, provider);
            }
        }
        if let Some(all) = config.get_mut("requirement_map") {
            all.set(&name, requirement);
        }
    }
    Ok(())
}

pub(super) fn configure(out: &mut Tree, route: &HttpRoute) -> Result<(), String> {
    if let Some(jwt) = jwt_of(route) {
        let (.., name) = requirements(jwt)?;
        let config = any("envoy.extensions.filters.http.jwt_authn.v3.PerRouteConfig", message! { "requirement_name": name });
        set_config(out, NAME, config.or_from(jwt.origin));
    }
    Ok(())
}

pub(super) fn add_resources(resources: &mut ResourceBuilder, routes: &[Arc<HttpRoute>]) -> Result<(), String> {
    let providers = routes.iter().filter_map(|route| jwt_of(route)).flat_map(|jwt| &jwt.providers);
    for remote in providers.filter_map(|provider| provider.remote.as_ref()) {
        match remote.destination.as_ref().filter(|destination| !destination.settings.is_empty()) {
            Some(destination) => {
                resources.add_cluster(&ClusterArgs::of_service(destination, remote.traffic.as_ref()));
                resources.add_client_certificates(&destination.settings);
            }
            None => resources.add_cluster(&UrlCluster::of(&remote.uri)?.args(remote.traffic.as_ref())),
        }
    }
    Ok(())
}

/// The first half of the digest of a message's bytes.
fn digest<M: Readable + Message>(of: &Tree, order: &Order) -> String {
    // JSON that was just written can be read.
    let message = json::from_str::<M>(&of.json()).map(|read| read.message).unwrap_or_default();
    let bytes = message.encode_to_vec();
    let bytes = choices_last(&bytes, order).unwrap_or(bytes);
    hex(Sha256::digest(bytes).get(..8).unwrap_or_default())
}

/// The fields of a message that exclude each other, and those that are messages with such fields.
struct Order {
    choices: &'static [u64],
    within: &'static [(u64, &'static Order)],
}

/// `http_uri`: `cluster`.
static URI: Order = Order { choices: &[2], within: &[] };
static REMOTE_KEYS: Order = Order { choices: &[], within: &[(1, &URI)] };
/// `remote_jwks`, `local_jwks`.
static PROVIDER: Order = Order { choices: &[3, 4], within: &[(3, &REMOTE_KEYS)] };
static REQUIREMENT: Order = Order { choices: &[], within: &[] };

/// Puts fields that exclude each other behind the others, as Go writes messages.
fn choices_last(bytes: &[u8], order: &Order) -> Option<Vec<u8>> {
    let (mut first, mut last, mut rest) = (Vec::new(), Vec::new(), bytes);
    while !rest.is_empty() {
        let mut after = rest;
        let key = decode_varint(&mut after).ok()?;
        let number = key >> 3;
        let (body, next) = match key & 7 {
            0 => {
                decode_varint(&mut after).ok()?;
                (None, after)
            }
            2 => {
                let length = usize::try_from(decode_varint(&mut after).ok()?).ok()?;
                (Some(after.get(..length)?), after.get(length..)?)
            }
            _ => return None,
        };
        let out = if order.choices.contains(&number) { &mut last } else { &mut first };
        match (order.within.iter().find(|(of, _)| *of == number), body) {
            (Some((_, within)), Some(body)) => {
                let body = choices_last(body, within)?;
                encode_varint(key, out);
                encode_varint(body.len() as u64, out);
                out.extend(body);
            }
            _ => out.extend_from_slice(rest.get(..rest.len() - next.len())?),
        }
        rest = next;
    }
    first.extend(last);
    Some(first)
}

fn name_with(prefix: &str, hash: &str) -> Str {
    let most = LONGEST.saturating_sub(hash.len() + 1);
    let mut end = prefix.len().min(most);
    while !prefix.is_char_boundary(end) {
        end -= 1;
    }
    Str::from(format!("{}_{hash}", prefix.get(..end).unwrap_or_default()))
}

type Requirements = (Vec<(Str, Tree)>, Tree, Str);

/// Providers by name, what is required of a token, and the name of that.
fn requirements(jwt: &Jwt) -> Result<Requirements, String> {
    let (mut providers, mut all, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for of in &jwt.providers {
        let own = of.spec.get("name");
        let provider = provider(of)?;
        let name = name_with(own.text(), &digest::<jwt_authn::JwtProvider>(&provider, &PROVIDER));
        all.push(message! { "provider_name": Tree::from(&name).or_from(own.origin) });
        providers.push((name, provider));
        names.push(own.text());
    }
    if jwt.allow_missing_or_failed.bool() {
        all.push(message! { "allow_missing_or_failed": empty() }.or_from(jwt.allow_missing_or_failed.origin));
        names.push("missing-or-failed");
    } else if jwt.allow_missing.bool() {
        all.push(message! { "allow_missing": empty() }.or_from(jwt.allow_missing.origin));
        names.push("missing");
    }
    let requirement = match all.len() {
        1 => all.pop().unwrap_or_default(),
        _ => message! { "requires_any": message! { "requirements": list(all) } },
    };
    let name = name_with(&names.join("-or-"), &digest::<jwt_authn::JwtRequirement>(&requirement, &REQUIREMENT));
    Ok((providers, requirement.or_from(jwt.origin), name))
}

fn provider(of: &JwtProvider) -> Result<Tree, String> {
    let spec = &of.spec;
    let claims = spec.get("claimToHeaders").items().iter();
    let claims =
        claims.map(|claim| message! { "header_name": claim.get("header").clone(), "claim_name": claim.get("claim").clone() }.or_from(claim.origin));
    let from = spec.get("extractFrom");
    let headers = from.get("headers").items().iter();
    let headers = headers
        .map(|header| message! { "name": header.get("name").clone(), "value_prefix": copied(header.get("valuePrefix")) }.or_from(header.origin));
    let name = spec.get("name");
    let mut out = message! {
        "issuer": copied(spec.get("issuer")),
        "audiences": list(spec.get("audiences").items().to_vec()),
        "payload_in_metadata": name.clone(),
        "claim_to_headers": list(claims.collect()),
        "forward": true,
        "normalize_payload_in_metadata": message! { "space_delimited_claims": Vec::from([Tree::from("scope"), "scp".into()]) },
        "clear_route_cache": super::proto::flag(spec.get("recomputeRoute")),
        "from_headers": list(headers.collect()),
        "from_cookies": list(from.get("cookies").items().to_vec()),
        "from_params": list(from.get("params").items().to_vec()),
    };
    if !of.local.is_null() {
        out.set("local_jwks", message! { "inline_string": of.local.clone() });
    } else if let Some(remote) = &of.remote {
        out.set("remote_jwks", remote_keys(remote)?);
    }
    Ok(out.or_from(spec.origin))
}

fn remote_keys(of: &RemoteJwks) -> Result<Tree, String> {
    let cluster = match of.destination.as_ref().filter(|destination| !destination.settings.is_empty()) {
        Some(destination) => Tree::from(&destination.name).or_from(destination.origin),
        None => derived(UrlCluster::of(&of.uri)?.name, &of.uri),
    };
    let timeout = of.traffic.as_ref().map_or(&Tree::NULL, |traffic| traffic.cluster.timeout.at(&["http", "requestTimeout"]));
    let mut fetch = empty();
    fetch.set("failed_refetch_duration", duration(&of.failed_refetch_duration));
    let retry = match of.traffic.as_ref().and_then(|traffic| traffic.retry.some()) {
        Some(retry) => service_retry_policy(retry)?,
        None => Tree::NULL,
    };
    let timeout = if timeout.is_null() { "10s".into() } else { duration(timeout) };
    Ok(message! {
        "http_uri": message! { "uri": of.uri.clone(), "cluster": cluster, "timeout": timeout },
        "cache_duration": duration(&of.cache_duration),
        "async_fetch": fetch,
        "retry_policy": retry,
    })
}
