//! Simulates filters that allow or deny requests: addresses and roles (rbac), authorization services (ext_authz), and the gateway's own health
//! checks.
//!
//! Follows Envoy's `source/extensions/filters/common/rbac` and `ext_authz.cc`, `health_check.cc` in `source/extensions/filters/http`. Does not
//! handle tokens and passwords; see `tokens`.

use super::matching::{self, Found, MatchInput};
use super::metadata::{is_match, missing_credential};
use super::policy_text::{Named, words};
use super::services::{cluster_of, cluster_of_uri, query_service};
use super::{Share, Stage, Verdict};
use crate::emit::pb;
use crate::simulate::Request;
use crate::simulate::connection::contains;
use crate::simulate::matcher::takes;
use crate::simulate::path::without_query;
use crate::simulate::simulation::Condition;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;
use pb::hcm::HttpFilter;
use pb::http_filter::ext_authz::v3::{ExtAuthz, ExtAuthzPerRoute, ext_authz::Services, ext_authz_per_route::Override};
use pb::http_filter::health_check::v3::HealthCheck;
use pb::http_filter::rbac::v3::{Rbac, RbacPerRoute};
use pb::matcher::MetadataMatcher;
use pb::matcher::string_matcher::MatchPattern;
use pb::network_rbac::Rbac as NetworkRbac;
use pb::rbac::{MetadataSource, Permission, Policy, Principal, permission::Rule, principal::Identifier, rbac::Action};

pub(super) fn health_check(filter: &HttpFilter, of: &HealthCheck, stage: &Stage<'_, '_>) -> Verdict {
    if !stage.takes_headers(&of.headers) {
        return Verdict::passes("answers health checks");
    }
    if of.pass_through_mode == Some(true) {
        return Verdict::passes("passes health checks to the upstream");
    }
    if of.cluster_min_healthy_percentages.is_empty() {
        return Verdict::answers(200, "it is a health check, which the gateway answers itself");
    }
    let clusters: Vec<&str> = of.cluster_min_healthy_percentages.keys().map(String::as_str).collect();
    let wants = format!("enough endpoints of {} are healthy", clusters.join(", "));
    let condition = Condition { filter: filter.name.clone(), wants: wants.clone(), cluster: None, otherwise: Some(503), ..Condition::default() };
    Verdict::AnswersIf(condition, super::Answer { status: 200, why: format!("it is a health check, and {wants}"), ..super::Answer::default() })
}

pub(super) fn ext_authz(filter: &HttpFilter, of: &ExtAuthz, stage: &Stage<'_, '_>) -> Verdict {
    if !stage.is_routed {
        return Verdict::passes("does not ask the service: no route matches the request");
    }
    if let Some(Override::Disabled(true)) = stage.scopes.first::<ExtAuthzPerRoute>(&filter.name).and_then(|of| of.r#override.as_ref()) {
        return Verdict::passes("does not ask the service: the route disables it");
    }
    if stage.share(of.filter_enabled.as_ref(), true) == Share::None {
        let denies = of.deny_at_disable.as_ref().and_then(|flag| flag.default_value).unwrap_or(false);
        return if denies { Verdict::answers(403, "the filter is disabled, and rejects requests then") } else { Verdict::passes("is switched off") };
    }
    if of.shadow_mode {
        return Verdict::passes("asks the service, and lets the request pass whatever it answers");
    }
    let cluster = match &of.services {
        Some(Services::GrpcService(service)) => cluster_of(service),
        Some(Services::HttpService(service)) => service.server_uri.as_ref().and_then(cluster_of_uri),
        None => None,
    };
    let finds = match deciding_headers(of, stage) {
        headers if headers.is_empty() => "allows it".to_owned(),
        headers => format!("allows it without setting {}, which can lead to another route", headers.join(" or ")),
    };
    // The service chooses the status.
    match query_service(filter, cluster, &finds, None, sent_headers(of, stage)) {
        Verdict::Asks(condition) => Verdict::Asks(Condition { asked_path: asked_path(of, stage), fails_open: of.failure_mode_allow, ..condition }),
        other => other,
    }
}

/// The path that the service is asked for over HTTP.
fn asked_path(of: &ExtAuthz, stage: &Stage<'_, '_>) -> Option<String> {
    let Some(Services::HttpService(service)) = &of.services else { return None };
    Some(match service.path_override.as_str() {
        "" => format!("{}{}", service.path_prefix, stage.prepared.path),
        path => path.to_owned(),
    })
}

/// Headers that a service always gets over HTTP, beside the method and the path.
const ALWAYS_SENT: [&str; 3] = ["host", "authorization", "content-length"];

/// Says which headers the service gets: over HTTP only a few and the listed ones, over gRPC all unless some are listed
/// (`source/extensions/filters/common/ext_authz/check_request_utils.cc`). Returns `None` if it gets all.
fn sent_headers(of: &ExtAuthz, stage: &Stage<'_, '_>) -> Option<String> {
    let http = match &of.services {
        Some(Services::HttpService(service)) => Some(service),
        _ => None,
    };
    let listed = of.allowed_headers.as_ref().or_else(|| http?.authorization_request.as_ref()?.allowed_headers.as_ref());
    let (allowed, denied) = (listed.map(|of| of.patterns.as_slice()), of.disallowed_headers.as_ref().map(|of| of.patterns.as_slice()));
    if http.is_none() && allowed.is_none() && denied.is_none() {
        return None;
    }
    let is_always = |name: &str| http.is_some() && ALWAYS_SENT.contains(&name);
    let is_allowed = |name: &str| match allowed {
        Some(patterns) => patterns.iter().any(|pattern| takes(pattern, name)),
        None => http.is_none(),
    };
    let is_sent =
        |name: &str| is_always(name) || is_allowed(name) && !denied.is_some_and(|patterns| patterns.iter().any(|pattern| takes(pattern, name)));
    let quoted = |names: BTreeSet<String>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let exact = |pattern: &pb::matcher::StringMatcher| match &pattern.match_pattern {
        Some(MatchPattern::Exact(name)) => Some(name.to_ascii_lowercase()),
        _ => None,
    };
    let listed_names: BTreeSet<String> = allowed.into_iter().flatten().filter_map(exact).filter(|name| is_sent(name)).collect();
    let has_patterns = allowed.is_some_and(|patterns| patterns.iter().any(|pattern| exact(pattern).is_none()));
    let names = if http.is_some() {
        quoted(["host", "authorization"].map(String::from).into_iter().chain(listed_names).collect())
    } else {
        quoted(listed_names)
    };
    let patterns = if has_patterns { "those that match the filter's patterns" } else { "" };
    let parts: Vec<&str> = [names.as_str(), patterns].into_iter().filter(|part| !part.is_empty()).collect();
    let asked = asked_path(of, stage).map(|path| format!("the service is asked for {path} with the host {}; ", stage.prepared.authority));
    let mut sent = asked.unwrap_or_default();
    sent.push_str(&match allowed {
        None if http.is_none() => "the service gets all headers except for those that the filter excludes".to_owned(),
        _ if parts.is_empty() => "the service gets no headers".to_owned(),
        _ => format!("of the headers, the service gets only {}", parts.join(" and ")),
    });
    let of_request = stage.request.headers.iter().map(|(name, _)| name.to_ascii_lowercase());
    let withheld: BTreeSet<String> = of_request.filter(|name| !name.starts_with(':') && !is_sent(name)).collect();
    if !withheld.is_empty() {
        sent.push_str(&format!("; of this request it does not get {}", quoted(withheld)));
    }
    Some(sent)
}

/// The conditions of the host's routes on headers that the service may set. If it sets one, Envoy chooses the route again
/// (`clear_route_cache` in `source/extensions/filters/http/ext_authz/ext_authz.cc`).
fn deciding_headers(of: &ExtAuthz, stage: &Stage<'_, '_>) -> Vec<String> {
    let (Some(Services::HttpService(service)), Some(host), true) = (&of.services, stage.scopes.host, of.clear_route_cache) else { return Vec::new() };
    let response = service.authorization_response.as_ref();
    let allowed = response.and_then(|of| of.allowed_upstream_headers.as_ref()).map(|of| of.patterns.as_slice()).unwrap_or_default();
    let conditions = host.routes.iter().filter_map(|route| route.r#match.as_ref()).flat_map(|of| &of.headers);
    let may_set = |name: &&str| !name.starts_with(':') && allowed.iter().any(|pattern| takes(pattern, name));
    let names: BTreeSet<&str> = conditions.map(|header| header.name.as_str()).filter(may_set).collect();
    names.into_iter().map(|name| format!("`{name}`")).collect()
}

pub(super) fn rbac(filter: &HttpFilter, of: &Rbac, stage: &Stage<'_, '_>) -> Verdict {
    let of = match stage.scopes.first::<RbacPerRoute>(&filter.name) {
        Some(per_route) => match &per_route.rbac {
            Some(of) => of,
            None => return Verdict::passes("checks nothing: the route disables it"),
        },
        None => of,
    };
    let Some(rules) = &of.rules else {
        return match &of.matcher {
            Some(tree) => by_matcher(filter, tree, stage),
            None => Verdict::passes("checks nothing here"),
        };
    };
    let input = RuleInput::of(stage);
    let (found, unknown) = policy(rules, &input);
    let word = if rules.policies.len() == 1 { "its policy" } else { "one of its policies" };
    match (rules.action(), found, unknown) {
        (Action::Log, ..) => Verdict::passes("notes who passes"),
        (Action::Allow, Some(name), _) => Verdict::passes(format!("the policy {name} allows it")),
        (Action::Allow, None, true) => Verdict::asks(filter, format!("{word} allows {}", who(rules, &input, false)), Some(403)),
        (Action::Allow, None, false) => {
            let why = no_policy_allows(rules, &input);
            Verdict::Answers(super::Answer { status: 403, why, lacks: missing_credential(stage), ..super::Answer::default() })
        }
        (Action::Deny, Some(name), _) => Verdict::answers(403, format!("the policy {name} denies it")),
        (Action::Deny, None, true) => {
            Verdict::asks(filter, format!("the request is none that {word} denies: {}", who(rules, &input, false)), Some(403))
        }
        (Action::Deny, None, false) => Verdict::passes("no policy denies it"),
    }
}

/// The decision of rules that are a tree of matchers, with its reason.
enum Decision {
    Allows(String),
    Denies(String),
    /// It is allowed if this holds.
    Depends(String),
    Logs,
}

/// Evaluates rules that are a tree of matchers. Without a match, Envoy denies the request.
fn decide(tree: &pb::tree::Matcher, input: MatchInput<'_, '_>) -> Decision {
    fn action_of(config: &pb::Any) -> Option<Action> {
        config.downcast_ref::<pb::rbac::Action>().map(pb::rbac::Action::action)
    }
    let (action, rule) = match matching::find(tree, input) {
        Found::Action { config, rule } => (action_of(config), rule),
        Found::Nothing => return Decision::Denies("no rule allows it".to_owned()),
        Found::Unknown => (None, None),
    };
    let by = |rule: Option<&str>, does: &str| match rule {
        Some(rule) => format!("the rule {rule} {does} it"),
        None => format!("no rule matches it, and the default {does} it"),
    };
    // Only rules about the client's address have a short reason.
    let client = input.client.map(|client| format!("client address {client}"));
    let of_client = client.filter(|_| matching::reads_client(tree)).map(|client| format!(" ({client})")).unwrap_or_default();
    match action {
        Some(Action::Allow) => Decision::Allows(format!("{}{of_client}", by(rule, "allows"))),
        Some(Action::Deny) => Decision::Denies(format!("{}{of_client}", by(rule, "denies"))),
        Some(Action::Log) => Decision::Logs,
        None => {
            let default = matching::default_action(tree).and_then(action_of);
            let ranges = |rules: Action| {
                let ranges = matching::ranges(tree, |config| action_of(config) == Some(rules)).filter(|ranges| !ranges.is_empty());
                ranges.filter(|_| input.client.is_none()).map(|ranges| ranges.join(" or "))
            };
            let (allowed, denied) = match default {
                Some(Action::Deny) | None => (ranges(Action::Allow), None),
                Some(Action::Allow) => (None, ranges(Action::Deny)),
                Some(Action::Log) => (None, None),
            };
            Decision::Depends(match (allowed, denied) {
                (Some(ranges), _) => format!("the client address is in {ranges}"),
                (None, Some(ranges)) => format!("the client address is not in {ranges}"),
                (None, None) => format!("its rules about {} allow it", matching::unknowns(tree, input)),
            })
        }
    }
}

fn by_matcher(filter: &HttpFilter, tree: &pb::tree::Matcher, stage: &Stage<'_, '_>) -> Verdict {
    match decide(tree, MatchInput { client: stage.prepared.client, source: stage.request.source, stage: Some(stage) }) {
        Decision::Allows(why) => Verdict::passes(why),
        Decision::Logs => Verdict::passes("notes who passes"),
        Decision::Denies(why) => Verdict::Answers(super::Answer { status: 403, why, lacks: missing_credential(stage), ..super::Answer::default() }),
        Decision::Depends(wants) => Verdict::asks(filter, wants, Some(403)),
    }
}

/// Describes whom the policies apply to: all policies, or those that may apply.
fn who(rules: &pb::rbac::Rbac, input: &RuleInput<'_, '_>, all: bool) -> String {
    let policies = rules.policies.values().filter(|policy| all || policy_matches(policy, input).is_none());
    let named = policies.map(|policy| Named { policy, is_permitted: !all && permissions_of(policy, input) == Some(true) });
    words(named, input.stage.map_or(&[], |stage| stage.before))
}

/// Whether one of several conditions holds; `None` if unknown.
fn any(all: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut found = Some(false);
    for one in all {
        match one {
            Some(true) => return Some(true),
            Some(false) => {}
            None => found = None,
        }
    }
    found
}

fn all(each: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    any(each.map(|one| one.map(|one| !one))).map(|one| !one)
}

/// The input of rules.
struct RuleInput<'s, 'a> {
    request: &'s Request,
    port: u32,
    client: Option<IpAddr>,
    /// The HTTP request, if HTTP is read.
    stage: Option<&'s Stage<'s, 'a>>,
}

impl<'s, 'a> RuleInput<'s, 'a> {
    fn of(stage: &'s Stage<'s, 'a>) -> Self {
        Self { request: stage.request, port: stage.port, client: stage.prepared.client, stage: Some(stage) }
    }
}

/// Evaluates a network filter's rules for a connection. `Err` means that it is closed, and why; a condition must hold to keep it open.
pub(in crate::simulate) fn connection(of: &NetworkRbac, request: &Request, port: u32) -> Result<Option<Condition>, String> {
    let condition = |wants: String| Condition { filter: "rbac".into(), wants, ..Condition::default() };
    let Some(rules) = &of.rules else {
        let Some(tree) = &of.matcher else { return Ok(None) };
        return match decide(tree, MatchInput { client: request.source, source: request.source, stage: None }) {
            Decision::Allows(_) | Decision::Logs => Ok(None),
            Decision::Denies(why) => Err(why),
            Decision::Depends(wants) => Ok(Some(condition(wants))),
        };
    };
    let input = RuleInput { request, port, client: request.source, stage: None };
    let (found, unknown) = policy(rules, &input);
    match (rules.action(), found, unknown) {
        (Action::Allow, None, true) => Ok(Some(condition(format!("a policy allows {}", who(rules, &input, false))))),
        (Action::Deny, None, true) => Ok(Some(condition(format!("no policy denies the connection: {}", who(rules, &input, false))))),
        (Action::Allow, None, false) => Err(no_policy_allows(rules, &input)),
        (Action::Deny, Some(name), _) => Err(format!("the policy {name} denies it")),
        _ => Ok(None),
    }
}

/// Explains why no allowing policy applies.
fn no_policy_allows(rules: &pb::rbac::Rbac, input: &RuleInput<'_, '_>) -> String {
    if rules.policies.is_empty() {
        "no policy allows anything, so every request is denied".into()
    } else {
        format!("no policy allows it: {} only", who(rules, input, true))
    }
}

/// Returns the first policy that applies, and whether another may apply.
fn policy<'r>(rules: &'r pb::rbac::Rbac, input: &RuleInput<'_, '_>) -> (Option<&'r String>, bool) {
    let mut unknown = false;
    for (name, policy) in &rules.policies {
        match policy_matches(policy, input) {
            Some(true) => return (Some(name), unknown),
            Some(false) => {}
            None => unknown = true,
        }
    }
    (None, unknown)
}

fn policy_matches(policy: &Policy, input: &RuleInput<'_, '_>) -> Option<bool> {
    let expression = (policy.condition.is_some() || policy.checked_condition.is_some()).then_some(None);
    let permissions = permissions_of(policy, input);
    let principals = any(policy.principals.iter().map(|of| matches_principal(of, input)));
    all([permissions, principals].into_iter().chain(expression))
}

fn permissions_of(policy: &Policy, input: &RuleInput<'_, '_>) -> Option<bool> {
    any(policy.permissions.iter().map(|of| permits(of, input)))
}

/// Whether metadata written by filters meets a condition; a route's own metadata is not evaluated.
fn metadata_matches(of: Option<&MetadataMatcher>, source: MetadataSource, input: &RuleInput<'_, '_>) -> Option<bool> {
    match source {
        MetadataSource::Dynamic => is_match(of?, input.stage?),
        MetadataSource::Route => None,
    }
}

fn permits(of: &Permission, input: &RuleInput<'_, '_>) -> Option<bool> {
    match of.rule.as_ref()? {
        Rule::AndRules(set) => all(set.rules.iter().map(|of| permits(of, input))),
        Rule::OrRules(set) => any(set.rules.iter().map(|of| permits(of, input))),
        Rule::NotRule(of) => permits(of, input).map(|permitted| !permitted),
        Rule::Any(any) => Some(*any),
        Rule::Header(of) => input.stage.map(|stage| stage.takes_headers(core::slice::from_ref(of))),
        Rule::UrlPath(of) => takes_path(of, input.stage?),
        Rule::DestinationIp(range) => input.request.destination.map(|address| contains(range, address)),
        Rule::DestinationPort(port) => Some(*port == input.port),
        Rule::DestinationPortRange(range) => {
            let port = i32::try_from(input.port).unwrap_or_default();
            Some(range.start <= port && port < range.end)
        }
        Rule::RequestedServerName(of) => {
            let name = input.request.sni.as_deref().filter(|_| input.request.tls).unwrap_or_default();
            Some(takes(of, &name.to_ascii_lowercase()))
        }
        Rule::Metadata(of) => metadata_matches(Some(of), MetadataSource::Dynamic, input),
        Rule::SourcedMetadata(of) => metadata_matches(of.metadata_matcher.as_ref(), of.metadata_source(), input),
        Rule::Matcher(_) | Rule::UriTemplate(_) => None,
    }
}

fn matches_principal(of: &Principal, input: &RuleInput<'_, '_>) -> Option<bool> {
    let within = |range: &pb::base::CidrRange, address: Option<IpAddr>| address.map(|address| contains(range, address));
    match of.identifier.as_ref()? {
        Identifier::AndIds(set) => all(set.ids.iter().map(|of| matches_principal(of, input))),
        Identifier::OrIds(set) => any(set.ids.iter().map(|of| matches_principal(of, input))),
        Identifier::NotId(of) => matches_principal(of, input).map(|meant| !meant),
        Identifier::Any(any) => Some(*any),
        Identifier::SourceIp(range) => within(range, input.client),
        Identifier::RemoteIp(range) => within(range, input.client),
        Identifier::DirectRemoteIp(range) => within(range, input.request.source),
        Identifier::Header(of) => input.stage.map(|stage| stage.takes_headers(core::slice::from_ref(of))),
        Identifier::UrlPath(of) => takes_path(of, input.stage?),
        Identifier::Authenticated(of) => match (input.request.tls, &of.principal_name) {
            (false, _) => Some(false),
            (true, None) => Some(true),
            (true, Some(name)) => input.request.identity.as_ref().map(|identity| takes(name, identity)),
        },
        Identifier::Metadata(of) => metadata_matches(Some(of), MetadataSource::Dynamic, input),
        Identifier::SourcedMetadata(of) => metadata_matches(of.metadata_matcher.as_ref(), of.metadata_source(), input),
        Identifier::FilterState(_) | Identifier::Custom(_) => None,
    }
}

fn takes_path(of: &pb::matcher::PathMatcher, stage: &Stage<'_, '_>) -> Option<bool> {
    let Some(pb::matcher::path_matcher::Rule::Path(matcher)) = &of.rule else { return Some(false) };
    Some(takes(matcher, without_query(&stage.prepared.path)))
}
