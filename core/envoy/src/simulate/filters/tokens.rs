//! Simulates tokens, passwords and logins. Their presence is evaluated; their validity becomes a condition.
//!
//! Follows Envoy's `jwt_authn`, `basic_auth`, `api_key_auth` and `oauth2` in `source/extensions/filters/http`. Does not read keys, hashes or signatures.

use super::services::{cluster_of_uri, query_service};
use super::{Answer, Stage, Verdict};
use crate::emit::pb;
use crate::simulate::matcher::{check, parameter, takes};
use crate::simulate::path::{split, without_query};
use crate::simulate::simulation::Credential;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use pb::hcm::HttpFilter;
use pb::http_filter::api_key_auth::v3::{ApiKeyAuth, ApiKeyAuthPerRoute};
use pb::http_filter::basic_auth::v3::BasicAuth;
use pb::http_filter::jwt_authn::v3::{
    JwtAuthentication, JwtProvider, JwtRequirement, PerRouteConfig, jwt_provider::JwksSourceSpecifier, jwt_requirement::RequiresType,
    per_route_config::RequirementSpecifier, requirement_rule::RequirementType,
};
use pb::http_filter::oauth2::v3::{OAuth2, OAuth2Config, OAuth2PerRoute};

/// The result of a token requirement.
enum Token {
    Fine,
    /// Not met, with the reason.
    Fails(String),
    /// Depends on a provider's keys.
    Decides(String),
}

type Providers = BTreeMap<String, JwtProvider>;

/// The token requirement of a request.
enum Required<'r> {
    /// No token, with the reason.
    Nothing(&'static str),
    Of(&'r JwtRequirement),
    /// The filter does not define the requirement that the route names.
    Unknown(String),
}

pub(super) fn jwt(filter: &HttpFilter, of: &JwtAuthentication, stage: &Stage<'_, '_>) -> Verdict {
    let requirement = match required(filter, of, stage) {
        Required::Nothing(why) => return Verdict::passes(why),
        Required::Unknown(name) => return Verdict::answers(403, format!("the route requires a token of {name}, which the filter does not know")),
        Required::Of(requirement) => requirement,
    };
    match holds(requirement, &of.providers, &[], stage) {
        Token::Fine => Verdict::passes("requires no token for this request"),
        Token::Fails(why) => missing_credential_answer(why, first_provider(requirement).and_then(|name| of.providers.get(name)).map(credential)),
        Token::Decides(name) => {
            let provider = of.providers.get(&name);
            let issuer = provider.map_or(&*name, |provider| issuer(&name, provider));
            match provider.and_then(keys_of) {
                Some(cluster) => {
                    query_service(filter, Some(cluster), &format!("serves the keys of {issuer}, and the token is valid"), Some(401), None)
                }
                None => Verdict::asks(filter, format!("the token of {issuer} is valid"), Some(401)),
            }
        }
    }
}

/// An answer to a client without credentials.
fn missing_credential_answer(why: impl Into<String>, lacks: Option<Credential>) -> Verdict {
    Verdict::Answers(Answer { status: 401, why: why.into(), lacks, ..Answer::default() })
}

/// Returns the first provider that a requirement names.
fn first_provider(of: &JwtRequirement) -> Option<&str> {
    match of.requires_type.as_ref()? {
        RequiresType::ProviderName(name) => Some(name),
        RequiresType::ProviderAndAudiences(of) => Some(&of.provider_name),
        RequiresType::RequiresAny(list) => list.requirements.iter().find_map(first_provider),
        RequiresType::RequiresAll(list) => list.requirements.iter().find_map(first_provider),
        _ => None,
    }
}

/// Returns the first place where a provider expects a token.
fn credential(of: &JwtProvider) -> Credential {
    if let Some(header) = of.from_headers.first() {
        return Credential::header(&header.name, format!("{}{ANY_TOKEN}", header.value_prefix));
    }
    if let Some(name) = of.from_params.first() {
        return Credential { name: name.clone(), value: ANY_TOKEN.into(), in_query: true };
    }
    match of.from_cookies.first() {
        Some(name) => Credential::header("cookie", format!("{name}={ANY_TOKEN}")),
        None => Credential::header("authorization", format!("Bearer {ANY_TOKEN}")),
    }
}

fn required<'r>(filter: &HttpFilter, of: &'r JwtAuthentication, stage: &Stage<'_, '_>) -> Required<'r> {
    let is_preflight = stage.request.method == "OPTIONS"
        && ["origin", "access-control-request-method"].iter().all(|name| stage.header(name).is_some_and(|value| !value.is_empty()));
    if of.bypass_cors_preflight && is_preflight {
        return Required::Nothing("requires no token for CORS preflight requests");
    }
    let requirement = match stage.scopes.first::<PerRouteConfig>(&filter.name).and_then(|of| of.requirement_specifier.as_ref()) {
        Some(RequirementSpecifier::Disabled(true)) => return Required::Nothing("requires no token: the route disables it"),
        Some(RequirementSpecifier::RequirementName(name)) => match of.requirement_map.get(name) {
            Some(requirement) => Some(requirement),
            None => return Required::Unknown(name.clone()),
        },
        Some(RequirementSpecifier::Disabled(false)) | None => by_rule(of, stage),
    };
    requirement.map_or(Required::Nothing("requires no token here"), Required::Of)
}

/// Whether a filter certainly writes nothing under a metadata key, because the request has no token for it.
pub(super) fn leaves_nothing(filter: &HttpFilter, of: &JwtAuthentication, key: &str, stage: &Stage<'_, '_>) -> bool {
    if !matches!(required(filter, of, stage), Required::Of(_)) {
        return true;
    }
    of.providers.values().all(|provider| {
        let by_token = [&provider.payload_in_metadata, &provider.header_in_metadata].iter().any(|name| *name == key);
        provider.failed_status_in_metadata != key && !(by_token && token(provider, stage).is_some_and(is_token))
    })
}

/// Returns a token that the request lacks and whose claims a filter would write for later filters.
pub(super) fn missing_claims(filter: &HttpFilter, of: &JwtAuthentication, stage: &Stage<'_, '_>) -> Option<Credential> {
    let Required::Of(_) = required(filter, of, stage) else { return None };
    let provider = of.providers.values().find(|provider| !provider.payload_in_metadata.is_empty())?;
    token(provider, stage).is_none().then(|| credential(provider))
}

/// Returns the provider, and its issuer, whose claims are written under a metadata key.
pub(super) fn provider_of<'r>(of: &'r JwtAuthentication, key: &str) -> Option<(&'r str, &'r str)> {
    let mut all = of.providers.iter().filter(|(_, provider)| provider.payload_in_metadata == key);
    all.next().map(|(name, provider)| (name.as_str(), provider.issuer.as_str()))
}

/// Returns the cluster that serves a provider's keys.
fn keys_of(of: &JwtProvider) -> Option<String> {
    let Some(JwksSourceSpecifier::RemoteJwks(remote)) = &of.jwks_source_specifier else { return None };
    remote.http_uri.as_ref().and_then(cluster_of_uri)
}

/// Returns the requirement of the first rule that matches the request.
fn by_rule<'r>(of: &'r JwtAuthentication, stage: &Stage<'_, '_>) -> Option<&'r JwtRequirement> {
    let subject = stage.subject();
    let rule = of.rules.iter().find(|rule| rule.r#match.as_ref().is_none_or(|of| check(of, &subject, &mut Vec::new()).is_ok()))?;
    match rule.requirement_type.as_ref()? {
        RequirementType::Requires(requirement) => Some(requirement),
        RequirementType::RequirementName(name) => of.requirement_map.get(name),
    }
}

/// Evaluates a requirement. `siblings` are the other providers of the same list: an optional token is looked for only in their places. Readers limit
/// the depth of messages.
fn holds(of: &JwtRequirement, providers: &Providers, siblings: &[&str], stage: &Stage<'_, '_>) -> Token {
    match &of.requires_type {
        None | Some(RequiresType::AllowMissingOrFailed(()) | RequiresType::ExtractOnlyWithoutValidation(_)) => Token::Fine,
        Some(RequiresType::ProviderName(name)) => by_provider(name, providers, stage),
        Some(RequiresType::ProviderAndAudiences(of)) => by_provider(&of.provider_name, providers, stage),
        Some(RequiresType::AllowMissing(())) => {
            let shown = siblings.iter().find(|name| providers.get(**name).is_some_and(|provider| token(provider, stage).is_some()));
            shown.map_or(Token::Fine, |name| by_provider(name, providers, stage))
        }
        Some(RequiresType::RequiresAny(list)) => {
            let mut last = Token::Fails("the request has no token".into());
            let named = |of: &'_ JwtRequirement| match &of.requires_type {
                Some(RequiresType::ProviderName(name)) => Some(name.clone()),
                Some(RequiresType::ProviderAndAudiences(of)) => Some(of.provider_name.clone()),
                _ => None,
            };
            let named: Vec<String> = list.requirements.iter().filter_map(named).collect();
            let siblings: Vec<&str> = named.iter().map(String::as_str).collect();
            for of in &list.requirements {
                match (holds(of, providers, &siblings, stage), &last) {
                    (Token::Fine, _) => return Token::Fine,
                    (Token::Decides(name), Token::Fails(_)) => last = Token::Decides(name),
                    (Token::Fails(why), Token::Fails(_)) => last = Token::Fails(why),
                    _ => {}
                }
            }
            last
        }
        Some(RequiresType::RequiresAll(list)) => {
            let mut last = Token::Fine;
            for of in &list.requirements {
                match holds(of, providers, &[], stage) {
                    Token::Fails(why) => return Token::Fails(why),
                    Token::Decides(name) => last = Token::Decides(name),
                    Token::Fine => {}
                }
            }
            last
        }
    }
}

fn by_provider(name: &str, providers: &Providers, stage: &Stage<'_, '_>) -> Token {
    let Some(provider) = providers.get(name) else { return Token::Fails(format!("there is no provider {name}")) };
    let issuer = issuer(name, provider);
    match token(provider, stage) {
        None => Token::Fails(format!("a token of {issuer} is required, and the request has none")),
        Some(token) if !is_token(token) => Token::Fails(format!("a token of {issuer} is required, and what the request has is not a token")),
        Some(_) => Token::Decides(name.into()),
    }
}

/// Who issues the tokens of a provider: controllers make up names of providers, but users know the issuer.
fn issuer<'p>(name: &'p str, provider: &'p JwtProvider) -> &'p str {
    if provider.issuer.is_empty() { name } else { &provider.issuer }
}

/// Returns the token from the places where a provider expects it.
fn token<'t>(of: &JwtProvider, stage: &'t Stage<'_, '_>) -> Option<&'t str> {
    let after = |value: &'t str, prefix: &str| {
        let rest = value.find(prefix).and_then(|at| value.get(at + prefix.len()..))?;
        if rest.trim_start().starts_with(ANY_TOKEN) {
            return Some(ANY_TOKEN);
        }
        Some(rest.trim_start().split(|c: char| !(c.is_ascii_alphanumeric() || "-_.+/=".contains(c))).next().unwrap_or_default())
    };
    let by_default = of.from_headers.is_empty() && of.from_params.is_empty() && of.from_cookies.is_empty();
    let parameter = |name: &str| {
        let query = split(&stage.prepared.path).1.strip_prefix('?')?;
        query.split('&').find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name)).map(|(_, value)| value)
    };
    if by_default {
        return stage.header("authorization").and_then(|value| after(value, "Bearer ")).or_else(|| parameter("access_token"));
    }
    let header = of.from_headers.iter().find_map(|of| stage.header(&of.name.to_ascii_lowercase()).and_then(|value| after(value, &of.value_prefix)));
    let cookie = |name: &String| cookie(name, stage);
    header.or_else(|| of.from_params.iter().find_map(|name| parameter(name))).or_else(|| of.from_cookies.iter().find_map(cookie))
}

fn cookie<'t>(name: &str, stage: &'t Stage<'_, '_>) -> Option<&'t str> {
    let pairs = stage.prepared.headers.iter().filter(|(key, _)| *key == "cookie").flat_map(|(_, line)| line.split(';'));
    pairs.filter_map(|pair| pair.trim().split_once('=')).find(|(key, _)| *key == name).map(|(_, value)| value.trim_matches('"'))
}

/// The placeholder for a token.
const ANY_TOKEN: &str = "$TOKEN";
/// The placeholder for an encoded user name and password, which is taken to be right.
pub const ANY_PASSWORD: &str = "$CREDENTIALS";

/// Whether a text has three parts, and the first two are JSON in base64.
fn is_token(text: &str) -> bool {
    if text == ANY_TOKEN {
        return true;
    }
    let parts: Vec<&str> = text.split('.').collect();
    let is_json = |part: &&str| URL_SAFE_NO_PAD.decode(part).is_ok_and(|bytes| bytes.starts_with(b"{"));
    parts.len() == 3 && parts.iter().take(2).all(is_json)
}

pub(super) fn basic(filter: &HttpFilter, of: &BasicAuth, stage: &Stage<'_, '_>) -> Verdict {
    let name = if of.authentication_header.is_empty() { "authorization".into() } else { of.authentication_header.to_ascii_lowercase() };
    let Some(value) = stage.header(&name) else {
        return if of.allow_missing {
            Verdict::passes("allows requests without a password")
        } else {
            missing_credential_answer(
                "a user name and a password are required, and the request has none",
                Some(Credential::header(&name, format!("Basic {ANY_PASSWORD}"))),
            )
        };
    };
    let Some(given) = value.strip_prefix("Basic ") else {
        return Verdict::answers(401, format!("a user name and a password are required, and {name} has something else"));
    };
    if given == ANY_PASSWORD {
        return Verdict::asks(filter, "its user name and password are valid", Some(401));
    }
    let padded = format!("{}{}", given, "=".repeat((4 - given.len() % 4) % 4));
    match STANDARD.decode(padded) {
        Ok(decoded) if decoded.contains(&b':') => Verdict::asks(filter, "its user name and password are valid", Some(401)),
        _ => Verdict::answers(401, format!("a user name and a password are required, and {name} cannot be read")),
    }
}

/// The placeholder for an API key.
const ANY_KEY: &str = "$API_KEY";

/// A route's keys and sources replace those of the filter.
pub(super) fn api_key(filter: &HttpFilter, of: &ApiKeyAuth, stage: &Stage<'_, '_>) -> Verdict {
    let own = stage.scopes.first::<ApiKeyAuthPerRoute>(&filter.name);
    let credentials = own.map(|own| &own.credentials).filter(|all| !all.is_empty()).unwrap_or(&of.credentials);
    let sources = own.map(|own| &own.key_sources).filter(|all| !all.is_empty()).unwrap_or(&of.key_sources);
    let find = |of: &pb::http_filter::api_key_auth::v3::KeySource| {
        let (header, query, named) = (of.header.to_ascii_lowercase(), of.query.as_str(), of.cookie.as_str());
        match (header.is_empty(), query.is_empty()) {
            (false, _) => stage.header(&header),
            (true, false) => parameter(&stage.prepared.path, query),
            (true, true) => cookie(named, stage),
        }
        .is_some_and(|key| !key.is_empty())
    };
    if sources.iter().any(find) {
        let clients = own.map(|own| own.allowed_clients.len()).filter(|count| *count > 0);
        return match (credentials.len(), clients) {
            (0, _) => Verdict::answers(401, "no API keys are configured"),
            (_, Some(allowed)) => Verdict::asks(filter, format!("its API key belongs to one of {allowed} allowed clients"), Some(403)),
            (_, None) => Verdict::asks(filter, "its API key is one of the configured keys", Some(401)),
        };
    }
    let words = |of: &pb::http_filter::api_key_auth::v3::KeySource| match (of.header.as_str(), of.query.as_str(), of.cookie.as_str()) {
        ("", "", cookie) => format!("the cookie `{cookie}`"),
        ("", query, _) => format!("the query parameter `{query}`"),
        (header, ..) => format!("the header `{header}`"),
    };
    let places: Vec<String> = sources.iter().map(words).collect();
    let lacks = sources.first().map(|of| match (of.header.as_str(), of.query.as_str(), of.cookie.as_str()) {
        ("", "", cookie) => Credential::header("cookie", format!("{cookie}={ANY_KEY}")),
        ("", query, _) => Credential { name: query.into(), value: ANY_KEY.into(), in_query: true },
        (header, ..) => Credential::header(header, ANY_KEY),
    });
    missing_credential_answer(format!("an API key is required in {}, and the request has none", places.join(" or ")), lacks)
}

pub(super) fn oauth2(filter: &HttpFilter, of: &OAuth2, stage: &Stage<'_, '_>) -> Verdict {
    let per_route = stage.scopes.first::<OAuth2PerRoute>(&filter.name).and_then(|of| of.config.as_ref());
    let Some(of) = per_route.or(of.config.as_ref()) else { return Verdict::passes("requires no login here") };
    let any = |all: &[pb::route::HeaderMatcher]| all.iter().any(|matcher| stage.takes_headers(core::slice::from_ref(matcher)));
    if any(&of.pass_through_matcher) {
        return Verdict::passes("requires no login for requests that match pass_through_matcher");
    }
    let path = without_query(&stage.prepared.path);
    let takes_path = |matcher: &Option<pb::matcher::PathMatcher>| match matcher.as_ref().and_then(|of| of.rule.as_ref()) {
        Some(pb::matcher::path_matcher::Rule::Path(matcher)) => takes(matcher, path),
        None => false,
    };
    if takes_path(&of.signout_path) {
        let to = format!("{}://{}/", stage.prepared.scheme, stage.prepared.authority);
        let to = if of.end_session_endpoint.is_empty() { to } else { format!("{}?<...>", of.end_session_endpoint) };
        return redirect(to, "the client signs out");
    }
    let names = of.credentials.as_ref().and_then(|of| of.cookie_names.as_ref());
    let name = |own: Option<&String>, usual: &str| own.filter(|name| !name.is_empty()).map_or_else(|| usual.into(), Clone::clone);
    let wanted: [String; 2] = [name(names.map(|of| &of.oauth_hmac), "OauthHMAC"), name(names.map(|of| &of.oauth_expires), "OauthExpires")];
    if wanted.iter().all(|name| cookie(name, stage).is_some()) {
        return Verdict::asks(filter, "the login in its cookies is valid", Some(302));
    }
    if takes_path(&of.redirect_path_matcher) {
        return login_ends(filter, of);
    }
    if any(&of.deny_redirect_matcher) {
        return Verdict::answers(401, "the client is not logged in, and the request matches deny_redirect_matcher");
    }
    let cookies = wanted.iter().map(|name| format!("{name}={ANY_TOKEN}")).collect::<Vec<_>>().join("; ");
    match redirect(format!("{}?<...>", of.authorization_endpoint), "the client is not logged in") {
        Verdict::Answers(answer) => Verdict::Answers(Answer { lacks: Some(Credential::header("cookie", cookies)), ..answer }),
        other => other,
    }
}

/// The client returns with a code, which Envoy exchanges for a token. Then Envoy redirects the client to the URL that it first asked for.
fn login_ends(filter: &HttpFilter, of: &OAuth2Config) -> Verdict {
    let cluster = of.token_endpoint.as_ref().and_then(cluster_of_uri);
    match query_service(filter, cluster, "exchanges the authorization code for a token", Some(401), None) {
        Verdict::Asks(condition) => {
            let location = Some("<the URL that the client asked for before the login>".into());
            Verdict::AnswersIf(condition, Answer { status: 302, why: "the login is complete".into(), location, ..Answer::default() })
        }
        other => other,
    }
}

fn redirect(location: String, why: &str) -> Verdict {
    Verdict::Answers(Answer { status: 302, why: why.into(), location: Some(location), ..Answer::default() })
}
