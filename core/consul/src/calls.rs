//! Lists intentions as rules about calls, and decides a request between two proxies. Does not emit Envoy's rules; see `xds::parts::rbac`.

use super::documents::key;
use super::entry::Kind;
use super::instance::Instance;
use super::intention;
use super::state::State;
use super::validate::is_set;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::{Call, CallDecision, CallEffect, CallEnd, CallRule};
use chancery_base::ir::Tree;
use chancery_base::re2::engine::Regex;
use chancery_text::Str;

/// Returns a rule for each source of each intention. Leaves out sources of peers.
pub(crate) fn rules(state: &State) -> Vec<CallRule> {
    let services = state.registrations();
    let end = |name: &Str| match (name.as_str(), services.get(name)) {
        ("*", _) => CallEnd::Any,
        (_, Some(object)) => CallEnd::Object(*object),
        (_, None) => CallEnd::Unregistered(key("service", name)),
    };
    let mut out = Vec::new();
    for entry in state.entries.values().filter(|entry| entry.kind == Kind::ServiceIntentions) {
        for source in entry.tree.get("Sources").items().iter().filter(|source| !is_set(source.get("Peer"))) {
            let terms: Vec<String> = source.get("Permissions").items().iter().map(describe).collect();
            let effect = match (terms.is_empty(), source.get("Action").is("allow")) {
                (false, _) => CallEffect::Conditions,
                (true, true) => CallEffect::Allow,
                (true, false) => CallEffect::Deny,
            };
            let at = source.get("Name").origin.or(source.origin);
            out.push(CallRule { object: entry.object, at, from: end(&source.get("Name").str()), to: end(&entry.name), effect, terms });
        }
    }
    out
}

/// The words for an action.
fn word(tree: &Tree) -> &'static str {
    if tree.get("Action").is("allow") { "allow" } else { "deny" }
}

/// Describes a permission, for example `allow GET /orders*`.
fn describe(permission: &Tree) -> String {
    let http = permission.get("HTTP");
    let methods: Vec<&str> = http.get("Methods").items().iter().map(Tree::text).collect();
    let path = [("PathExact", "", ""), ("PathPrefix", "", "*"), ("PathRegex", "~ ", "")];
    let path =
        path.iter().find(|(field, ..)| is_set(http.get(field))).map(|(field, before, after)| format!("{before}{}{after}", http.get(field).text()));
    let headers = http.get("Header").items().iter().map(|header| format!("with header {}", header.get("Name").text()));
    let token = is_set(permission.get("JWT")).then(|| "with a token".to_string());
    let methods = (!methods.is_empty()).then(|| methods.join(", "));
    let parts: Vec<String> = [word(permission).to_string()].into_iter().chain(methods).chain(path).chain(headers).chain(token).collect();
    parts.join(" ")
}

/// Whether a permission applies to a request. `None` if that depends on headers.
fn applies(permission: &Tree, call: Call<'_>) -> Option<bool> {
    let http = permission.get("HTTP");
    let methods = http.get("Methods").items();
    if !methods.is_empty() && !methods.iter().any(|method| method.is(call.method)) {
        return Some(false);
    }
    let is_path = match ["PathExact", "PathPrefix", "PathRegex"].into_iter().find(|field| is_set(http.get(field))) {
        Some("PathExact") => http.get("PathExact").is(call.path),
        Some("PathPrefix") => call.path.starts_with(http.get("PathPrefix").text()),
        Some(_) => Regex::new(http.get("PathRegex").text()).ok()?.is_full_match(call.path),
        None => true,
    };
    match is_path {
        true if is_set(http.get("Header")) => None,
        of => Some(of),
    }
}

/// The service of a proxy that calls others. `None` for proxies that pass on the calls of others.
fn caller(instance: &Instance) -> Option<Str> {
    match instance.kind.as_str() {
        "connect-proxy" => Some(instance.destination()),
        "ingress-gateway" | "api-gateway" => Some(instance.service.clone()),
        _ => None,
    }
}

/// Decides a request between two proxies.
pub(crate) fn decide(state: &State, default_deny: bool, call: Call<'_>) -> Option<CallDecision> {
    let proxy = |id: &str| state.instances.iter().find(|instance| instance.id == *id);
    let from = caller(proxy(call.from)?)?;
    let to = proxy(call.to).filter(|instance| instance.kind == "connect-proxy")?.destination();
    let matching = |of: &intention::Intention| !is_set(of.source.get("Peer")) && [from.as_str(), "*"].contains(&of.source.get("Name").text());
    let default = if default_deny { "the default policy denies it" } else { "the default policy allows it" };
    let Some(found) = intention::of(state, &to).into_iter().find(matching) else {
        let why = format!("no intention names calls of `{from}` to `{to}`, and {default}");
        return Some(CallDecision { is_allowed: !default_deny, by: None, why, at: None });
    };
    if is_set(&found.jwt) {
        return None;
    }
    let name = found.destination.as_str();
    let permissions = found.source.get("Permissions").items();
    if permissions.is_empty() {
        let is_allowed = found.source.get("Action").is("allow");
        let verb = if is_allowed { "allows" } else { "denies" };
        let who = if found.source.get("Name").is("*") { "every service".to_string() } else { format!("`{from}`") };
        let by = format!("intention `{name}`");
        let why = format!("{by} {verb} {who}");
        return Some(CallDecision { is_allowed, by: Some(by), why, at: found.source.get("Action").origin.or(found.source.origin) });
    }
    for (at, permission) in permissions.iter().enumerate() {
        if !applies(permission, call)? {
            continue;
        }
        if is_set(permission.get("JWT")) {
            return None;
        }
        let is_allowed = permission.get("Action").is("allow");
        let verb = if is_allowed { "allows" } else { "denies" };
        let by = format!("permission {} of intention `{name}`", at + 1);
        let why = format!("{by} {verb} it: {}", describe(permission));
        return Some(CallDecision { is_allowed, by: Some(by), why, at: permission.origin });
    }
    let why = format!("no permission of intention `{name}` for `{from}` matches {} {}, and {default}", call.method, call.path);
    Some(CallDecision { is_allowed: !default_deny, by: None, why, at: found.source.get("Permissions").origin.or(found.source.origin) })
}
