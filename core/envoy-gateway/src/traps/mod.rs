//! Reports policies that Envoy Gateway accepts although they do not do what they say.
//!
//! Does not report refusals; see `findings`.

mod addresses;
mod credentials;
mod denials;
mod index;
mod limits;
mod listeners;
mod preflights;
mod replaced;
mod shared_ports;

pub(crate) use shared_ports::{no_quic, shared_ports};

use index::Index;

use super::cluster::{Admitted, Name};
use super::codes;
use super::context::{ADDRESSING, RouteContext, RouteKind, Translator};
use super::model::PatchPolicy;
use super::patch::Outcome;
use super::policy::value_or_first;
use super::value::tree;
use super::xds::Resources;
use super::xds::proto::nanos;
use super::{jwks, lua_syntax};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Code, Diagnostic, Findings, Place, Severity, codes as base_codes};
use chancery_base::ir::Tree;
use chancery_base::resource::{Objects, Origin, nearest};
use chancery_kubernetes::cursor::Cursor;
use chancery_text::series;

/// Fields of a SecurityPolicy that keep requests out, each with its name in sentences.
const PROTECTIONS: [(&str, &str); 6] = [
    ("authorization", "authorization"),
    ("jwt", "JWT check"),
    ("oidc", "OIDC login"),
    ("basicAuth", "basic authentication"),
    ("apiKeyAuth", "API key check"),
    ("extAuth", "external authorization"),
];

/// Triggers that retry an attempt after its own timeout.
const RETRY_TIMEOUTS: [&str; 3] = ["5xx", "gateway-error", "reset"];

/// Nanoseconds after which Envoy ends a request, unless a policy or route says otherwise.
const ROUTE_TIMEOUT: i64 = 15_000_000_000;

/// The path of a login's return, unless the policy has another.
const CALLBACK: &str = "/oauth2/callback";
const LOGOUT: &str = "/logout";

/// Reports all traps of a class.
pub(crate) fn report(t: &Translator<'_>, sink: &mut Findings) {
    let index = Index::of(t);
    for policy in t.resources.security_policies.iter().copied().filter(|policy| is_accepted(t, policy)) {
        replaced_protection(t, &index, policy, sink);
        login(t, &index, policy, sink);
        broken_keys(t, policy, sink);
        credentials::broken_users(t, policy, sink);
        credentials::bearer_keys(t, policy, sink);
        preflights::lost(&index, policy, sink);
        literal_headers(policy, sink);
    }
    for policy in t.resources.backend_tls_policies.iter().copied() {
        tls_targets(t, policy, sink);
    }
    for policy in t.resources.security_policies.iter().chain(&t.resources.envoy_extension_policies).copied() {
        incomplete_back_off(policy, sink);
    }
    for policy in t.resources.envoy_extension_policies.iter().copied().filter(|policy| is_accepted(t, policy)) {
        broken_script(policy, sink);
    }
    for policy in t.resources.backend_traffic_policies.iter().copied() {
        first_attempt(policy, sink);
        replaced::retries(&index, policy, sink);
        source_ranges(policy, sink);
        empty_rules(t, policy, sink);
        lost_limit(t, policy, sink);
        limits::never_reached(policy, sink);
    }
    for policy in t.resources.client_traffic_policies.iter().copied() {
        addresses::no_trusted_hops(policy, sink);
        addresses::early_addresses(policy, sink);
    }
    replaced::client_validation(t, sink);
    listeners::without_routes(t, sink);
}

fn finding(code: &'static Code, message: String, object: &Admitted<'_>, place: Place) -> Diagnostic {
    Diagnostic::new(code, message, place).about(object.object.key.clone())
}

fn value_place(at: Cursor<'_>) -> Place {
    Place::origin(at.origin())
}

fn key_place(at: Cursor<'_>) -> Place {
    let origin: Origin = at.origin();
    Place::key(origin.object(), origin.node())
}

/// Whether the policy is in force somewhere.
fn is_accepted(t: &Translator<'_>, policy: &Admitted<'_>) -> bool {
    let ancestors = t.policies.get(&policy.id()).map(|status| &status.ancestors);
    ancestors.into_iter().flatten().any(|(_, conditions)| conditions.is("Accepted", true))
}

/// The references of a policy to objects of its namespace.
fn targets<'a>(policy: &'a Admitted<'_>) -> Vec<Cursor<'a>> {
    let spec = policy.spec();
    let single = spec.field("targetRef");
    if single.exists() { Vec::from([single]) } else { spec.field("targetRefs").items().collect() }
}

/// The Gateways, with their listeners, that a route is attached to.
fn listeners_of(t: &Translator<'_>, route: &RouteContext<'_>) -> Vec<(Name, chancery_text::Str)> {
    let attached = route.parents.iter().flat_map(|parent| &parent.listeners);
    let mut all: Vec<_> = attached.map(|id| (t.gateways[id.gateway].name(), t.listener(*id).name.clone())).collect();
    all.sort();
    all.dedup();
    all
}

/// Reports an empty list of rules that should remove the rules of a wider policy. Envoy Gateway merges what it makes of both policies: a list
/// without rules for some clients is left out, so those of the wider policy remain (`internal/gatewayapi/backendtrafficpolicy.go`, `internal/ir`).
/// The limit for all clients is replaced.
fn empty_rules(t: &Translator<'_>, policy: &Admitted<'_>, sink: &mut Findings) {
    let own = policy.spec().at("rateLimit.local.rules");
    if !own.exists() || own.has_items() {
        return;
    }
    let for_some = |policy: &'_ Admitted<'_>| {
        policy.spec().at("rateLimit.local.rules").items().find(|rule| rule.field("clientSelectors").has_items()).map(key_place)
    };
    let by_id = |id| t.resources.backend_traffic_policies.iter().copied().find(|wide| wide.id() == id);
    let mut wider = t.in_force.wider(policy.id()).filter_map(by_id);
    let Some((wide, remains)) = wider.find_map(|wide| Some((wide, for_some(wide)?))) else { return };
    let message = format!(
        "an empty list does not remove the rules of `{}` with `clientSelectors`: this policy is merged into it, and they still limit requests",
        wide.name()
    );
    let help = "remove `mergeType`, and repeat here what should remain of the wider policy";
    let found = finding(&base_codes::FIELD_WITHOUT_EFFECT, message, policy, key_place(own)).help(help);
    sink.report(found.related(remains, "this rule remains"));
}

/// Reports rules for some clients in a policy that is merged into a wider one with a limit for all clients. What Envoy Gateway makes of the rules
/// always has a limit for all clients, here none, and it replaces the wider one (`internal/ir`, `LocalRateLimit.Default`).
fn lost_limit(t: &Translator<'_>, policy: &Admitted<'_>, sink: &mut Findings) {
    let own = policy.spec().at("rateLimit.local.rules");
    let is_for_all = |rule: &Cursor<'_>| !rule.field("clientSelectors").has_items();
    if !own.has_items() || own.items().any(|rule| is_for_all(&rule)) {
        return;
    }
    let by_id = |id| t.resources.backend_traffic_policies.iter().copied().find(|wide| wide.id() == id);
    let for_all =
        |wide: &'_ Admitted<'_>| wide.spec().at("rateLimit.local.rules").items().find(is_for_all).map(|rule| key_place(rule.field("limit")));
    let mut wider = t.in_force.wider(policy.id()).filter_map(by_id);
    let Some((wide, lost)) = wider.find_map(|wide| Some((wide, for_all(wide)?))) else { return };
    let message =
        format!("the limit of `{}` for all requests no longer applies: these rules replace it, and none of them is for all requests", wide.name());
    let found =
        finding(&codes::PROTECTION_REPLACED, message, policy, key_place(own)).help("repeat the limit here, as a rule without `clientSelectors`");
    sink.report(found.related(lost, "the limit that is lost"));
}

/// Reports a policy of a route that replaces a wider policy, so that the wider policy's protection is lost.
fn replaced_protection(t: &Translator<'_>, index: &Index<'_, '_>, policy: &Admitted<'_>, sink: &mut Findings) {
    let spec = policy.spec();
    if spec.field("mergeType").exists() {
        return;
    }
    let first = spec.entries().find(|(key, _)| !ADDRESSING.contains(&key.as_str())).map(|(_, value)| value);
    let mut reported: Vec<chancery_base::resource::ObjectId> = Vec::new();
    for route in index.routes_of(policy) {
        for (gateway, listener) in listeners_of(t, route) {
            let Some(wide) = index.policy_of_listener(&gateway, &listener).filter(|wide| wide.id() != policy.id() && !reported.contains(&wide.id()))
            else {
                continue;
            };
            let lost: Vec<(&str, Cursor<'_>)> = PROTECTIONS
                .into_iter()
                .filter(|(field, _)| !spec.field(field).exists())
                .filter_map(|(field, name)| Some((name, wide.spec().field(field).some()?)))
                .collect();
            if lost.is_empty()
                && let Some(rule) = denials::lost_denial(&wide.spec().field("authorization"), &spec.field("authorization"))
            {
                let message = format!(
                    "this SecurityPolicy replaces `{}` for {} `{}`: a client that its rule denies can pass there",
                    wide.name(),
                    route.kind.name(),
                    route.object.name()
                );
                let place = key_place(spec.field("authorization"));
                let found = finding(&codes::PROTECTION_REPLACED, message, policy, place).help("repeat the rule here, before all others");
                sink.report(found.related(key_place(rule.field("action")), "the rule that is lost"));
                reported.push(wide.id());
            }
            let Some((_, at)) = lost.first() else { continue };
            let names: Vec<&str> = lost.iter().map(|(name, _)| *name).collect();
            let (verb, route_name) = (if names.len() == 1 { "applies" } else { "apply" }, route.object.name());
            let message = format!(
                "this SecurityPolicy replaces `{}` for {} `{route_name}`: its {} no longer {verb} there",
                wide.name(),
                route.kind.name(),
                series(&names)
            );
            let help = format!("set `mergeType: StrategicMerge` in `{}` to keep both", policy.name());
            let place = first.map_or_else(|| value_place(spec), key_place);
            let found = finding(&codes::PROTECTION_REPLACED, message, policy, place).help(help);
            sink.report(found.related(key_place(*at), format!("the {} that is lost", names[0])));
            reported.push(wide.id());
        }
    }
}

/// Splits a URL into its literal host, if any, and its path.
fn host_and_path(url: &str) -> (Option<&str>, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (authority, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
    let host = authority.split(':').next().unwrap_or_default();
    (Some(host).filter(|host| !host.is_empty() && !authority.contains('%')), path)
}

/// Whether a hostname of a route takes a host.
fn takes_host(hostname: &str, host: &str) -> bool {
    match hostname.strip_prefix("*.") {
        Some(suffix) => host.strip_suffix(suffix).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.')),
        None => hostname.eq_ignore_ascii_case(host),
    }
}

/// Whether a rule of an HTTPRoute may match a path. All other conditions are assumed to hold.
fn takes_path(rule: Cursor<'_>, path: &str) -> bool {
    let matches = rule.field("matches");
    let one = |of: Cursor<'_>| {
        let of = of.field("path");
        let value = of.field("value").some_str().unwrap_or("/");
        match of.field("type").some_str().unwrap_or("PathPrefix") {
            "Exact" => value == path,
            "PathPrefix" => {
                let value = value.trim_end_matches('/');
                path.strip_prefix(value).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
            _ => true,
        }
    };
    matches.is_empty() || matches.items().any(one)
}

/// Whether a route takes a request, as far as host and path tell. `rule` is the only rule that counts, if it is given.
fn takes(route: &RouteContext<'_>, rule: Option<&str>, host: Option<&str>, path: &str) -> bool {
    let hostnames = route.object.spec().field("hostnames");
    let is_host = host.is_none_or(|host| hostnames.is_empty() || hostnames.items().any(|hostname| takes_host(hostname.str(), host)));
    let mut rules = route.object.spec().field("rules").items().filter(|of| rule.is_none_or(|rule| of.field("name").some_str() == Some(rule)));
    is_host && rules.any(|of| takes_path(of, path))
}

/// Reports an OIDC login that returns to a path which the policy does not cover.
fn login(t: &Translator<'_>, index: &Index<'_, '_>, policy: &Admitted<'_>, sink: &mut Findings) {
    let oidc = policy.spec().field("oidc");
    let covers_all =
        || policy.spec().field("targetSelectors").exists() || targets(policy).into_iter().any(|target| target.field("kind").str() != "HTTPRoute");
    if !oidc.exists() || covers_all() || index.routes_of(policy).is_empty() {
        return;
    }
    let url = oidc.field("redirectURL");
    let (host, callback) = host_and_path(url.some_str().unwrap_or(CALLBACK));
    let covered = |path: &str| {
        targets(policy).into_iter().any(|target| {
            let rule = target.field("sectionName").some_str();
            let is_named = |route: &&RouteContext<'_>| route.object.name().as_str() == target.field("name").str();
            index.routes_of(policy).into_iter().filter(is_named).any(|route| takes(route, rule, host, path))
        })
    };
    let is_elsewhere = |path: &str| t.routes.iter().filter(|route| route.kind == RouteKind::Http).any(|route| takes(route, None, host, path));
    let logout = oidc.field("logoutPath");
    for (path, at, what) in [(callback, url, "login"), (logout.some_str().unwrap_or(LOGOUT), logout, "logout")] {
        // The default of the logout path is no intention of the user.
        if covered(path) || what == "logout" && !at.exists() {
            continue;
        }
        let end = if is_elsewhere(path) { "does not reach this policy" } else { "ends in 404" };
        let message = format!("`{path}` matches no rule that this policy covers: the {what} {end}");
        let place = if at.exists() { value_place(at) } else { key_place(oidc) };
        let help = "put the path below a path that a rule of these routes matches, or add a match for it";
        sink.report(finding(&codes::LOGIN_WITHOUT_ROUTE, message, policy, place).help(help));
    }
}

/// Reports a timeout of retries that also ends the first attempt.
fn first_attempt(policy: &Admitted<'_>, sink: &mut Findings) {
    let retry = policy.spec().field("retry");
    let limit = retry.at("perRetry.timeout");
    let Some(each) = nanos(&tree(limit)).filter(|each| *each > 0) else { return };
    let whole = policy.spec().at("timeout.http.requestTimeout");
    if !whole.exists() && each >= ROUTE_TIMEOUT {
        let message = format!("a request without its own timeout ends after 15 s, before this timeout of {}", limit.str());
        let found = finding(&codes::RETRY_TIMEOUT_LIMITS_FIRST_ATTEMPT, message, policy, value_place(limit));
        sink.report(found.help("set `timeout.http.requestTimeout`; 15 s is the default, and all attempts share it"));
        return;
    }
    let has_less = nanos(&tree(whole)).is_some_and(|whole| whole > 0 && whole <= each);
    let triggers = retry.at("retryOn.triggers");
    if has_less || triggers.items().any(|trigger| RETRY_TIMEOUTS.contains(&trigger.str())) {
        return;
    }
    let message = format!("perRetry.timeout also ends the first attempt: answers slower than {} fail with 504", limit.str());
    let mut found = finding(&codes::RETRY_TIMEOUT_LIMITS_FIRST_ATTEMPT, message, policy, value_place(limit));
    found = found.help("add the trigger `reset` to retryOn to retry such attempts, or remove perRetry.timeout");
    if whole.exists() {
        found = found.related(value_place(whole), "the timeout of the whole request, which is longer");
    }
    sink.report(found);
}

/// Reports names of headers for an authorization service that look like patterns. Envoy Gateway compares them exactly (`internal/xds/translator`,
/// `extauth.go`).
fn literal_headers(policy: &Admitted<'_>, sink: &mut Findings) {
    let service = policy.spec().field("extAuth");
    let lists = [service.field("headersToExtAuth"), service.at("http.headersToBackend")];
    for name in lists.into_iter().flat_map(|list| list.items()).filter(|name| name.str().contains('*')) {
        let message = format!("`{0}` is not a pattern: only a header with the name `{0}` matches it", name.str());
        let help = match service.field("grpc").exists() {
            true => "list each header, or remove the list: a gRPC service then gets all headers",
            false => "list each header",
        };
        sink.report(finding(&base_codes::LITERAL_PATTERN, message, policy, value_place(name)).help(help));
    }
}

/// Reports a back-off for a service that has only one of its two intervals.
fn incomplete_back_off(policy: &Admitted<'_>, sink: &mut Findings) {
    let spec = policy.spec();
    let keys = spec.at("jwt.providers").items().map(|provider| provider.field("remoteJWKS"));
    let single = ["extAuth.http", "extAuth.grpc", "oidc.provider"].map(|path| spec.at(path));
    let services = spec.field("extProc").items().chain(keys).chain(single);
    for service in services {
        let back_off = service.at("backendSettings.retry.perRetry.backOff");
        let missing = match (back_off.field("baseInterval").exists(), back_off.field("maxInterval").exists()) {
            (true, false) => "maxInterval",
            (false, true) => "baseInterval",
            _ => continue,
        };
        let message = format!("this back-off has no {missing}: Envoy Gateway 1.9.0 crashes, and Chancery leaves it out");
        let mut found = finding(&codes::INCOMPLETE_BACK_OFF, message, policy, key_place(back_off)).help(format!("add {missing}"));
        for (_, field) in back_off.entries() {
            found = found.related(value_place(field), "this field has no effect until the problem is fixed");
        }
        sink.report(found);
    }
}

/// Reports a script with wrong syntax that Envoy Gateway does not check: Envoy rejects the listener.
fn broken_script(policy: &Admitted<'_>, sink: &mut Findings) {
    for script in policy.spec().field("lua").items().map(|item| item.field("inline")) {
        let Some(why) = lua_syntax::refusal(script.str(), true).filter(|_| script.exists()) else { continue };
        let why = why.split_once("<string> ").map_or(why.as_str(), |(_, why)| why).trim();
        let message = format!("Envoy rejects this script with the whole listener: {why}");
        sink.report(finding(&base_codes::REFUSED_BY_ENVOY, message, policy, value_place(script)));
    }
}

/// Reports options of HTTP towards backends that Envoy Gateway sends empty, as they break a rule: Envoy then rejects the whole cluster.
pub(crate) fn broken_options(resources: &Resources, objects: &Objects, sink: &mut Findings) {
    let options = resources.clusters.iter().flat_map(|cluster| cluster.get("typed_extension_protocol_options").fields());
    let mut known: BTreeSet<Origin> = BTreeSet::new();
    for origin in options.filter(|(_, options)| options.fields().is_empty()).filter_map(|(_, options)| options.origin) {
        let Some(object) = objects.get(origin.object()).filter(|_| known.insert(origin)) else { continue };
        let message = "this connectionKeepalive has no timeout: Envoy rejects the cluster, and requests to it fail";
        let found = Diagnostic::new(&base_codes::REFUSED_BY_ENVOY, message, Place::key(object.id, origin.node())).about(object.key.clone());
        let fields = object.leaves(origin.node()).into_iter();
        let found = found.help("add `timeout`, such as `timeout: 10s`");
        sink.report(
            fields.fold(found, |found, field| found.related(Place::value(object.id, field), "this field has no effect until the problem is fixed")),
        );
    }
}

/// Reports client ranges of a rate limit rule that a later range replaces.
fn source_ranges(policy: &Admitted<'_>, sink: &mut Findings) {
    let limits = ["rateLimit.global.rules", "rateLimit.local.rules"].into_iter().flat_map(|path| policy.spec().at(path).items());
    for rule in limits {
        let ranges: Vec<Cursor<'_>> = rule.field("clientSelectors").items().filter_map(|selector| selector.field("sourceCIDR").some()).collect();
        let Some((last, lost)) = ranges.split_last() else { continue };
        for at in lost {
            let message = String::from("this sourceCIDR has no effect: a rule keeps only its last one");
            let found = finding(&codes::SOURCE_RANGE_IGNORED, message, policy, key_place(*at));
            sink.report(found.help("write one rule for each sourceCIDR").related(key_place(*last), "the range that the rule keeps"));
        }
    }
}

/// Reports references of a policy to objects that do not exist. Returns whether there are any.
pub(crate) fn missing_targets(t: &Translator<'_>, policy: &Admitted<'_>, sink: &mut Findings) -> bool {
    let mut any = false;
    for target in targets(policy) {
        let (kind, name) = (target.field("kind").str(), target.field("name").str());
        let known: Vec<&str> = match kind {
            "Gateway" => t
                .gateways
                .iter()
                .chain(&t.failed)
                .map(|of| of.object)
                .filter(|of| of.namespace() == policy.namespace())
                .map(|of| of.name().as_str())
                .collect(),
            "ListenerSet" => {
                t.resources.listener_sets.iter().filter(|of| of.namespace() == policy.namespace()).map(|of| of.name().as_str()).collect()
            }
            _ => t
                .routes
                .iter()
                .filter(|of| of.kind.name() == kind && of.object.namespace() == policy.namespace())
                .map(|of| of.object.name().as_str())
                .collect(),
        };
        if name.is_empty() || known.contains(&name) {
            continue;
        }
        any = true;
        let is_protection = policy.kind.name() == "SecurityPolicy";
        let effect = if is_protection { "protects nothing" } else { "has no effect" };
        let message = format!("no {kind} `{name}` of this class in `{}`: the policy {effect}", policy.namespace());
        let near = nearest(name, known.iter().copied()).or(if let [only] = known[..] { Some(only) } else { None });
        let help = match near {
            Some(near) if is_protection => format!("write `{near}`, which this policy leaves open"),
            Some(near) => format!("write `{near}`"),
            None => "name an object of the policy's namespace".to_string(),
        };
        let mut found = finding(&codes::POLICY_WITHOUT_TARGET, message, policy, value_place(target.field("name")))
            .related(Place::Whole, "the controller reports nothing in the status")
            .help(help);
        if is_protection {
            found.severity = Severity::Error;
        }
        sink.report(found);
    }
    any
}

/// Reports keys of a policy, or of a ConfigMap that it names, that Envoy cannot read.
fn broken_keys(t: &Translator<'_>, policy: &Admitted<'_>, sink: &mut Findings) {
    for local in policy.spec().at("jwt.providers").items().map(|provider| provider.field("localJWKS")) {
        let (inline, name) = (local.field("inline"), local.at("valueRef.name"));
        let held = t.resources.config_map(policy.namespace(), name.str()).and_then(|map| value_or_first(map, "jwks"));
        let (text, place) = if inline.exists() { (inline.str(), inline) } else { (held.as_ref().map_or("", Tree::text), name) };
        let Some(why) = Some(text).filter(|text| !text.is_empty()).and_then(jwks::rejection) else { continue };
        let message = format!("Envoy rejects these keys, and the listener with all its routes: {why}");
        sink.report(finding(&base_codes::REFUSED_BY_ENVOY, message, policy, value_place(place)));
    }
}

/// Reports targets of a BackendTLSPolicy that do not exist: the controller writes no status, and the connection is not encrypted.
fn tls_targets(t: &Translator<'_>, policy: &Admitted<'_>, sink: &mut Findings) {
    for target in targets(policy).into_iter().filter(|target| target.field("kind").str() == "Service") {
        let (name, section) = (target.field("name"), target.field("sectionName"));
        let Some(service) = t.resources.services.get(&(policy.namespace().clone(), name.str().into())) else {
            let known = t.resources.services.iter().filter(|((namespace, _), _)| namespace == policy.namespace());
            let known: Vec<&str> = known.map(|((_, name), _)| name.as_str()).collect();
            let message = format!("no Service `{}` in use in `{}`: the policy encrypts nothing", name.str(), policy.namespace());
            let found = finding(&codes::POLICY_WITHOUT_TARGET, message, policy, value_place(name));
            sink.report(match nearest(name.str(), known.iter().copied()) {
                Some(near) => found.help(format!("write `{near}`")),
                None => found.help("name a Service that a route of the policy's namespace uses"),
            });
            continue;
        };
        let ports = service.spec().field("ports");
        let is_known = |section: &str| ports.items().any(|port| port.field("name").str() == section);
        let Some(written) = section.some_str().filter(|section| !is_known(section)) else { continue };
        let named = ports.items().find(|port| port.field("port").int().is_some_and(|number| format!("{number}") == written));
        let names: Vec<&str> = ports.items().filter_map(|port| port.field("name").some_str()).collect();
        let message = format!("Service `{}` has no port with the name `{written}`: the policy encrypts nothing", name.str());
        let found = finding(&codes::POLICY_WITHOUT_TARGET, message, policy, value_place(section));
        sink.report(match named.and_then(|port| port.field("name").some_str()) {
            Some(port) => found.help(format!("write `{port}`: sectionName is the port's name, not its number")),
            None if names.is_empty() => found.help("give the Service's port a name"),
            None => found.help(format!("write the name of a port: {}", series(&names))),
        });
    }
}

/// A patch that cannot be applied to its resource: the first step of its path that does not exist, or the error.
fn failed_patch(object: &Admitted<'_>, patch: &Tree, error: &str, resources: &Resources) -> Diagnostic {
    let (kind, name, path) = (patch.get("type").text(), patch.get("name").text(), patch.at(&["operation", "path"]));
    let place = |of: &Tree| Place::origin(of.origin.or(patch.origin));
    let short = kind.rsplit('.').next().unwrap_or_default();
    let found = |message: String, at: &Tree| finding(&codes::PATCH_FAILED, message, object, place(at));
    let lists = [&resources.listeners, &resources.routes, &resources.clusters, &resources.endpoints, &resources.secrets];
    let is_named = |of: &&Arc<Tree>| of.get("name").is(name) || of.get("cluster_name").is(name);
    let expression = patch.at(&["operation", "jsonPath"]);
    if error.starts_with(NOTHING_SELECTED) {
        let message = format!("the jsonPath selects nothing in {short} `{name}`: the patch is not applied");
        return found(message, expression)
            .help("select a field that exists; to add a field, select the object around it, and name the field in `path`");
    }
    let Some(mut at) = lists.into_iter().flatten().find(is_named).map(|of| &**of).filter(|_| !path.text().is_empty()) else {
        return found(format!("this patch is not applied: {error}"), patch.get("operation"));
    };
    let mut walked = String::new();
    let steps: Vec<&str> = path.text().split('/').skip(1).collect();
    for (depth, step) in steps.iter().enumerate() {
        let key = step.replace("~1", "/").replace("~0", "~");
        let below = match at.items() {
            [] => at.find(&key),
            items => key.parse::<usize>().ok().and_then(|place| items.get(place)),
        };
        let is_new = depth + 1 == steps.len() && patch.at(&["operation", "op"]).is("add");
        match below {
            Some(below) => at = below,
            None if is_new => break,
            None => {
                let holder = if walked.is_empty() { format!("{short} `{name}`") } else { format!("`{walked}` of {short} `{name}`") };
                let message = format!("{holder} has no `{step}`: the patch is not applied");
                let found = found(message, path);
                let keys: Vec<&str> = at.fields().iter().map(|(key, _)| key.as_str()).collect();
                return match (nearest(&key, keys.iter().copied()), at.items().len()) {
                    (Some(near), _) => found.help(format!("write `{walked}/{near}`")),
                    (None, 0) if keys.is_empty() => found.help("it is empty"),
                    (None, 0) => found.help(format!("it has {}", series(&keys))),
                    (None, 1) => found.help("it is a list with one item, 0"),
                    (None, items) => found.help(format!("it is a list with the items 0 to {}", items - 1)),
                };
            }
        }
        walked.push('/');
        walked.push_str(step);
    }
    found(format!("this patch is not applied: {error}"), patch.get("operation"))
}

/// The begin of the controller's message about a JSONPath that selects nothing.
const NOTHING_SELECTED: &str = "no jsonPointers were found";

/// Reports patches of resources that do not exist, and patches of the same policy that apply.
pub(crate) fn patches(object: &Admitted<'_>, policy: &PatchPolicy, outcome: &Outcome, resources: &Resources, sink: &mut Findings) {
    for (at, patch) in policy.patches.iter().enumerate() {
        let place = |of: &Tree| Place::origin(of.origin.or(patch.origin));
        let kind = patch.get("type").text().rsplit('.').next().unwrap_or_default();
        if outcome.missing.contains(&at) {
            let name = patch.get("name");
            let list = match kind {
                "Listener" => &resources.listeners,
                "RouteConfiguration" => &resources.routes,
                "Cluster" => &resources.clusters,
                "ClusterLoadAssignment" => &resources.endpoints,
                _ => &resources.secrets,
            };
            let key = if kind == "ClusterLoadAssignment" { "cluster_name" } else { "name" };
            let known: Vec<&str> = list.iter().map(|of| of.get(key).text()).filter(|of| !of.starts_with("envoy-gateway-proxy-ready")).collect();
            let message = format!("this Envoy has no {kind} `{}`: the patch has no effect", name.text());
            let found = finding(&codes::PATCH_FAILED, message, object, place(name));
            sink.report(match (nearest(name.text(), known.iter().copied()), &known[..]) {
                (Some(near), _) => found.help(format!("write `{near}`")),
                (None, []) => found.help("let a listener or route make such a resource first"),
                (None, known) => found.help(format!("write one of these names: {}", known.iter().take(3).copied().collect::<Vec<_>>().join(", "))),
            });
        } else if let Some(error) = outcome.failed.iter().position(|failed| *failed == at).and_then(|at| outcome.errors.get(at)) {
            sink.report(failed_patch(object, patch, error, resources));
        } else if outcome.failed.len() + outcome.missing.len() > 0 {
            let message = "this patch applies, although another patch of the policy fails".to_string();
            sink.report(finding(&codes::PATCH_APPLIED_ALONE, message, object, place(patch.get("operation"))));
        }
    }
}
