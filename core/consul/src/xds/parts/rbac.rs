//! Converts intentions to Envoy's rules.
//!
//! Envoy's rules have no order: intentions of higher precedence become exceptions of the others.

use super::proto::{empty, extension, list, message, one, regex};
use crate::entry::Kind;
use crate::names::{DEFAULT, PEER_TRUST_DOMAIN, TRUST_DOMAIN};
use crate::validate::is_set;
use crate::xds::context::{Context, Failure};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_text::Str;

/// Any name in a path.
const ANY: &str = "[^/]+";

/// The effect of an intention.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Deny,
    Allow,
    /// Its permissions decide.
    Permissions,
}

/// The caller.
#[derive(Clone, PartialEq, Eq)]
struct Source {
    name: Str,
    peer: Str,
}

struct Rule {
    source: Source,
    except: Vec<Source>,
    action: Action,
    permissions: Vec<Permission>,
    jwt: Vec<Token>,
    origin: Option<chancery_base::resource::Origin>,
}

struct Permission {
    action: Action,
    rule: Tree,
    except: Vec<Tree>,
    jwt: Vec<Token>,
}

/// A required token.
#[derive(Clone)]
struct Token {
    provider: Tree,
    issuer: Tree,
}

/// The filter for connections.
pub(crate) fn network_filter(cx: &Context<'_>, intentions: &[Tree], peers: &BTreeSet<Str>) -> Tree {
    // Without HTTP there are no tokens, so nothing can fail.
    let rules = rules(cx, intentions, false, peers).unwrap_or_else(|_| empty());
    let config = message! { "stat_prefix": "connect_authz", "rules": rules };
    extension("envoy.filters.network.rbac", "envoy.extensions.filters.network.rbac.v3.RBAC", config)
}

/// The filter for requests.
pub(crate) fn http_filter(cx: &Context<'_>, intentions: &[Tree], peers: &BTreeSet<Str>) -> Result<Tree, Failure> {
    let config = message! { "rules": rules(cx, intentions, true, peers)? };
    Ok(extension("envoy.filters.http.rbac", "envoy.extensions.filters.http.rbac.v3.RBAC", config))
}

fn action(tree: &Tree) -> Action {
    if tree.get("Action").is("allow") { Action::Allow } else { Action::Deny }
}

fn tokens(cx: &Context<'_>, jwt: &Tree) -> Result<Vec<Token>, Failure> {
    let token = |provider: &Tree| {
        let name = provider.get("Name").text();
        let found = cx.mail.entries(Kind::JwtProvider).iter().find(|entry| entry.name == name);
        let why = || Failure::new(format!("provider specified in intention does not exist. Provider name: {name}"), provider.origin);
        Ok(Token { provider: provider.clone(), issuer: found.ok_or_else(why)?.tree.get("Issuer").clone() })
    };
    jwt.get("Providers").items().iter().map(token).collect()
}

fn rule_of(cx: &Context<'_>, intention: &Tree, is_http: bool) -> Result<Rule, Failure> {
    let mut rule = Rule {
        source: Source { name: intention.get("Name").str(), peer: intention.get("Peer").str() },
        except: Vec::new(),
        action: action(intention),
        permissions: Vec::new(),
        jwt: if is_http { tokens(cx, intention.get("JWT"))? } else { Vec::new() },
        origin: intention.origin,
    };
    let permissions = intention.get("Permissions").items();
    if !permissions.is_empty() {
        rule.action = if is_http { Action::Permissions } else { Action::Deny };
        for permission in permissions.iter().filter(|_| is_http) {
            rule.permissions.push(Permission {
                action: action(permission),
                rule: condition(permission.get("HTTP")).or_from(permission.origin),
                except: Vec::new(),
                jwt: tokens(cx, permission.get("JWT"))?,
            });
        }
    }
    Ok(rule)
}

fn rules(cx: &Context<'_>, intentions: &[Tree], is_http: bool, peers: &BTreeSet<Str>) -> Result<Tree, Failure> {
    let forwarded = is_http && !peers.is_empty() && intentions.iter().any(|intention| is_set(intention.get("Peer")));
    let mut all: Vec<Rule> = Vec::new();
    for intention in intentions {
        let peer = intention.get("Peer").str();
        if !peer.is_empty() && !peers.contains(&peer) {
            continue;
        }
        let rule = rule_of(cx, intention, is_http)?;
        if !all.iter().any(|other| other.source == rule.source) {
            all.push(rule);
        }
    }
    let default = if cx.default_deny { Action::Deny } else { Action::Allow };
    let all = without_order(all, default);
    let mut policies: Vec<(String, Tree)> = Vec::new();
    let mut connections = Vec::new();
    for (at, rule) in all.iter().enumerate() {
        let principal = principal(rule, forwarded);
        if rule.action != Action::Permissions {
            connections.push(principal);
            continue;
        }
        let permissions = rule.permissions.iter().map(flat).collect();
        let policy = message! { "permissions": list(permissions), "principals": list(flat_or(Vec::from([principal]))) };
        policies.push((format!("consul-intentions-layer7-{at}"), policy.or_from(rule.origin)));
    }
    if !connections.is_empty() {
        let policy = message! { "permissions": one(any_permission()), "principals": list(flat_or(connections)) };
        policies.push((String::from("consul-intentions-layer4"), policy));
    }
    let policies = if policies.is_empty() { Tree::NULL } else { Tree::object(policies) };
    // ALLOW is the default and is not written.
    let action = if cx.default_deny { Tree::NULL } else { "DENY".into() };
    Ok(message! { "action": action, "policies": policies })
}

/// The number of wildcards in a source.
fn wild(source: &Source) -> usize {
    usize::from(source.name == "*")
}

/// Whether a wider source includes another.
fn within(narrow: &Source, wide: &Source) -> bool {
    wild(narrow) < wild(wide) && narrow.peer == wide.peer && (narrow.name == wide.name || wide.name == "*")
}

/// Makes rules of higher precedence exceptions of the others, and removes rules that repeat the default.
fn without_order(mut rules: Vec<Rule>, default: Action) -> Vec<Rule> {
    let mut gone: Vec<bool> = rules.iter().map(|_| false).collect();
    for at in (0..rules.len()).rev() {
        let (before, after) = rules.split_at_mut(at + 1);
        let Some(rule) = before.last() else { continue };
        for (other, gone) in after.iter_mut().zip(gone.iter().skip(at + 1)) {
            if !gone && within(&rule.source, &other.source) {
                other.except.push(rule.source.clone());
            }
        }
        if let Some(gone) = gone.get_mut(at) {
            *gone = rule.action == default;
        }
    }
    let kept = rules.into_iter().zip(gone).filter(|(_, gone)| !gone).map(|(mut rule, _)| {
        rule.permissions = permissions_without_order(core::mem::take(&mut rule.permissions), default);
        rule
    });
    kept.filter(|rule| rule.action != Action::Permissions || !rule.permissions.is_empty()).collect()
}

fn permissions_without_order(mut permissions: Vec<Permission>, default: Action) -> Vec<Permission> {
    let mut gone: Vec<bool> = permissions.iter().map(|_| false).collect();
    for at in (0..permissions.len()).rev() {
        let (before, after) = permissions.split_at_mut(at + 1);
        let Some(permission) = before.last() else { continue };
        for (other, gone) in after.iter_mut().zip(gone.iter().skip(at + 1)) {
            if !gone {
                other.except.push(permission.rule.clone());
            }
        }
        if let Some(gone) = gone.get_mut(at) {
            *gone = permission.action == default;
        }
    }
    permissions.into_iter().zip(gone).filter(|(_, gone)| !gone).map(|(permission, _)| permission).collect()
}

/// All of these principals or permissions.
fn all_of(name: &str, inner: &str, mut parts: Vec<Tree>) -> Tree {
    if parts.len() == 1 {
        return parts.pop().unwrap_or_default();
    }
    Tree::object([(name, Tree::object([(inner, list(parts))]))])
}

fn any_permission() -> Tree {
    message! { "any": true }
}

fn and_permissions(parts: Vec<Tree>) -> Tree {
    if parts.is_empty() { any_permission() } else { all_of("and_rules", "rules", parts) }
}

/// A permission with its exceptions and tokens.
fn flat(permission: &Permission) -> Tree {
    let mut parts = Vec::from([permission.rule.clone()]);
    parts.extend(permission.except.iter().map(|rule| message! { "not_rule": rule.clone() }));
    let conditions = all_of("and_rules", "rules", parts).or_from(permission.rule.origin);
    if permission.jwt.is_empty() {
        return conditions;
    }
    let tokens = permission.jwt.iter().map(|token| {
        let key = payload_key(token);
        let claims = token.provider.get("VerifyClaims").items().iter().map(|claim| claimed(&key, claim.get("Path").items(), claim.get("Value")));
        let claims = and_permissions(claims.collect());
        and_permissions(Vec::from([claimed(&key, &["iss".into()], &token.issuer), claims]))
    });
    let tokens = all_of("or_rules", "rules", tokens.collect());
    and_permissions(Vec::from([conditions, tokens]))
}

fn payload_key(token: &Token) -> String {
    format!("jwt_payload_{}", token.provider.get("Name").text())
}

/// A claim of a token, which another filter has written into metadata.
fn claimed(key: &str, path: &[Tree], value: &Tree) -> Tree {
    let segments = [Tree::from(key)].into_iter().chain(path.iter().cloned()).map(|key| message! { "key": key });
    // An empty value is compared too.
    let value = if value.is_null() { Tree::from("") } else { value.clone() };
    message! {
        "metadata": message! {
            "filter": "envoy.filters.http.jwt_authn",
            "path": list(segments.collect()),
            "value": message! { "string_match": message! { "exact": value } },
        },
    }
}

/// A disjunction of principals, without nesting.
fn flat_or(principals: Vec<Tree>) -> Vec<Tree> {
    if principals.iter().any(|principal| principal.find("or_ids").is_none()) {
        return principals;
    }
    let ids = principals.iter().flat_map(|principal| principal.at(&["or_ids", "ids"]).items()).cloned().collect();
    Vec::from([all_of("or_ids", "ids", ids)])
}

fn authenticated(pattern: &str) -> Tree {
    message! { "authenticated": message! { "principal_name": message! { "safe_regex": regex(pattern) } } }
}

/// The identities of a source, without the ends of a pattern.
fn identity(source: &Source) -> String {
    let name = if source.name == "*" { ANY } else { &source.name };
    let domain = if source.peer.is_empty() { TRUST_DOMAIN } else { PEER_TRUST_DOMAIN };
    format!("spiffe://{domain}/ns/{DEFAULT}/dc/{ANY}/svc/{name}")
}

fn from_certificate(source: &Source) -> Tree {
    authenticated(&format!("^{}$", identity(source)))
}

fn from_header(source: &Source) -> Tree {
    let pattern = format!("^[^,]+;URI={}(?:,.*)?$", identity(source));
    message! {
        "header": message! {
            "name": "x-forwarded-client-cert",
            "string_match": message! { "safe_regex": regex(pattern) },
        },
    }
}

/// The exceptions that no other exception includes.
fn simplified(mut except: Vec<Source>) -> Vec<Source> {
    except.sort_by_key(wild);
    let keep = |at: usize| {
        let source = except.get(at)?;
        let wider = except.iter().skip(at + 1).any(|other| within(source, other));
        (!wider).then(|| source.clone())
    };
    (0..except.len()).filter_map(keep).collect()
}

fn principal(rule: &Rule, forwarded: bool) -> Tree {
    let by_header = forwarded && !rule.source.peer.is_empty();
    let id = if by_header { from_header } else { from_certificate };
    let mut parts = Vec::from([id(&rule.source)]);
    parts.extend(simplified(rule.except.clone()).iter().map(|source| message! { "not_id": id(source) }));
    let mut principal = all_of("and_ids", "ids", parts);
    if by_header {
        let gateway = format!("^spiffe://{TRUST_DOMAIN}/gateway/mesh/dc/{ANY}$");
        principal = all_of("and_ids", "ids", Vec::from([authenticated(&gateway), principal]));
    }
    if rule.jwt.is_empty() {
        return principal.or_from(rule.origin);
    }
    let tokens = rule.jwt.iter().map(|token| {
        let key = payload_key(token);
        let mut parts = Vec::from([claimed(&key, &["iss".into()], &token.issuer)]);
        let claims: Vec<Tree> =
            token.provider.get("VerifyClaims").items().iter().map(|claim| claimed(&key, claim.get("Path").items(), claim.get("Value"))).collect();
        if !claims.is_empty() {
            parts.push(all_of("and_ids", "ids", claims));
        }
        all_of("and_ids", "ids", parts)
    });
    let tokens = all_of("or_ids", "ids", tokens.collect());
    all_of("and_ids", "ids", Vec::from([principal, tokens])).or_from(rule.origin)
}

/// The condition of a request.
fn condition(http: &Tree) -> Tree {
    let mut parts = Vec::new();
    let kinds = [("PathExact", "exact"), ("PathPrefix", "prefix"), ("PathRegex", "safe_regex")];
    if let Some((field, name)) = kinds.iter().find(|(field, _)| is_set(http.get(field))) {
        let value = http.get(field).clone();
        let value = if *name == "safe_regex" { regex(value) } else { value };
        parts.push(message! { "url_path": message! { "path": Tree::object([(*name, value)]) } });
    }
    for header in http.get("Header").items() {
        if let Some(matcher) = super::route::header(header) {
            parts.push(message! { "header": matcher });
        }
    }
    let methods: Vec<&str> = http.get("Methods").items().iter().map(Tree::text).collect();
    if !methods.is_empty() {
        let matcher = message! { "name": ":method", "safe_regex_match": regex(methods.join("|")) };
        parts.push(message! { "header": matcher.or_from(http.get("Methods").origin) });
    }
    and_permissions(parts)
}

/// The filter that writes the parts of the caller's identity into metadata.
pub(crate) fn client_metadata() -> Tree {
    const PATTERN: &str = ".*URI=spiffe://([^/]+.[^/]+)(?:/ap/([^/]+))?/ns/([^/]+)/dc/([^/]+)/svc/([^/;,]+).*";
    let parts = ["trust-domain", "partition", "namespace", "datacenter", "service"];
    let rules = parts.iter().enumerate().map(|(at, part)| {
        let rewrite = message! { "pattern": regex(PATTERN), "substitution": format!("\\{}", at + 1) };
        let present = message! { "metadata_namespace": "consul", "key": *part, "regex_value_rewrite": rewrite };
        message! { "header": "x-forwarded-client-cert", "on_header_present": present }
    });
    let config = message! { "request_rules": list(rules.collect()) };
    extension("envoy.filters.http.header_to_metadata", "envoy.extensions.filters.http.header_to_metadata.v3.Config", config)
}
