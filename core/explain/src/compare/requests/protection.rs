//! Compares the checks that clients must pass: tokens, logins, passwords, permissions.
//!
//! Does not compare how a check is configured; see `residue`.

use super::difference::{End, FieldDifference, end};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_envoy::emit::pb::route::Route;
use chancery_envoy::simulate::Simulation;
use chancery_text::{Node, Value, series};

/// Filters that check clients, each with what requests need to pass.
pub(in crate::compare) const CHECKS: [(&str, &str); 6] = [
    ("jwt_authn", "a valid token"),
    ("oauth2", "a login"),
    ("basic_auth", "a password"),
    ("api_key_auth", "an API key"),
    ("ext_authz", "permission from the authorization service"),
    ("rbac", "a permitted address or identity"),
];

/// A filter's mark in its name, and what requests need to pass it.
type Check = (&'static str, &'static str);

/// The checks that a request reaches.
fn checks(of: &Simulation) -> Vec<Check> {
    let makes = |mark: &str| of.filters.iter().any(|step| step.enabled && step.name.contains(mark) && matches!(step.verdict, "asks" | "answers"));
    CHECKS.into_iter().filter(|(mark, _)| makes(mark)).collect()
}

fn words(of: &[Check]) -> String {
    let needs: Vec<&str> = of.iter().map(|(_, need)| *need).collect();
    if needs.is_empty() { "not checked".to_string() } else { series(&needs) }
}

/// The checks that only one side makes.
pub(super) struct ChangedChecks {
    sides: [Vec<Check>; 2],
    marks: Vec<&'static str>,
}

impl ChangedChecks {
    /// Compares both sides; `None` if they make the same checks, or if the second side does not let the request pass.
    pub(super) fn of([old, new]: &[Simulation; 2]) -> Option<Self> {
        let passes = |of: &Simulation| matches!(end(of), End::Forwarded | End::Redirected);
        if !passes(new) {
            return None;
        }
        let sides = [checks(old), checks(new)];
        let [before, after] = &sides;
        let lost = before.iter().filter(|check| !after.contains(check));
        // A request that ends before the last filter does not reach all checks.
        let gained = after.iter().filter(|check| passes(old) && !before.contains(check));
        let marks: Vec<&str> = lost.chain(gained).map(|(mark, _)| *mark).collect();
        (!marks.is_empty()).then_some(Self { sides, marks })
    }

    /// The difference, at the routes' settings for these filters.
    pub(super) fn difference(&self, routes: [Option<&(&Route, String)>; 2]) -> FieldDifference {
        let [before, after] = &self.sides;
        FieldDifference {
            what: "protection".into(),
            before: Some(words(before)),
            after: Some(words(after)),
            alike: None,
            pointers: routes.map(|route| route.map(|(route, pointer)| self.place(route, pointer))),
        }
    }

    /// The setting of a changed check, or of another check that the route configures, or the route.
    fn place(&self, route: &Route, pointer: &str) -> String {
        let others = CHECKS.iter().map(|(mark, _)| *mark);
        let set = |mark: &str| route.typed_per_filter_config.iter().find(|(name, _)| name.contains(mark));
        match self.marks.iter().copied().chain(others).find_map(set) {
            Some((name, _)) => {
                let step = name.replace('~', "~0").replace('/', "~1");
                format!("{pointer}/typed_per_filter_config/{step}")
            }
            None => pointer.to_string(),
        }
    }

    /// Removes a route's settings for the changed checks, since the difference states their effect.
    pub(super) fn strip(&self, route: &mut Route) {
        route.typed_per_filter_config.retain(|name, _| !self.marks.iter().any(|mark| name.contains(mark)));
    }
}

/// Compares the checks that the filters of two connection managers make without a route's setting. Each manager is a tree.
pub(super) fn by_managers(managers: [&Node; 2], pointers: &[String; 2]) -> Option<FieldDifference> {
    let [before, after] = managers.map(|manager| {
        let filters = || manager.get("http_filters").and_then(Node::as_array).into_iter().flatten();
        CHECKS.into_iter().filter(|(mark, _)| filters().any(|filter| checks_by_itself(filter, mark))).collect::<Vec<_>>()
    });
    (before != after).then(|| FieldDifference {
        what: "protection".into(),
        before: Some(words(&before)),
        after: Some(words(&after)),
        alike: None,
        pointers: pointers.each_ref().map(|pointer| Some(format!("{pointer}/http_filters"))),
    })
}

/// Whether a filter with this mark checks requests of routes that do not configure it. Some controllers add filters that only routes turn on.
fn checks_by_itself(filter: &Node, mark: &str) -> bool {
    let is_named = filter.get("name").and_then(Node::as_str).is_some_and(|name| name.contains(mark));
    let is_disabled = filter.get("disabled").is_some_and(|value| matches!(value.value, Value::Bool(true)));
    let has = |field: &str| filter.get("typed_config").is_some_and(|config| config.get(field).is_some());
    let acts = match mark {
        "rbac" => has("rules") || has("matcher"),
        "jwt_authn" => has("rules") || has("filter_state_rules"),
        _ => true,
    };
    is_named && !is_disabled && acts
}

#[cfg(test)]
mod tests {
    use super::*;
    use chancery_envoy::simulate::{FilterStep, Outcome};

    fn forwarded(filters: &[(&str, &'static str)]) -> Simulation {
        let step = |(name, verdict): &(&str, &'static str)| FilterStep { name: (*name).into(), enabled: true, verdict, does: None };
        Simulation { outcome: Outcome::Forward, filters: filters.iter().map(step).collect(), ..Simulation::default() }
    }

    fn change(old: &[(&str, &'static str)], new: &[(&str, &'static str)]) -> Option<(String, String)> {
        let found = ChangedChecks::of(&[forwarded(old), forwarded(new)])?.difference([None; 2]);
        Some((found.before?, found.after?))
    }

    #[test]
    fn both_sides_name_their_checks() {
        let token = ("envoy.filters.http.jwt_authn", "asks");
        let login = ("envoy.filters.http.oauth2/securitypolicy/a/b", "asks");
        assert_eq!(change(&[token], &[]), Some(("a valid token".into(), "not checked".into())));
        assert_eq!(change(&[token, login], &[login]), Some(("a valid token and a login".into(), "a login".into())));
        assert_eq!(change(&[], &[token]), Some(("not checked".into(), "a valid token".into())));
        assert_eq!(change(&[token], &[token]), None);
    }

    #[test]
    fn filter_that_routes_turn_on_is_no_check() {
        let tree = |text: &str| chancery_text::parse(text, &chancery_text::Limits::default()).root.expect("a tree");
        let acts = tree("http_filters: [{name: envoy.filters.http.rbac, typed_config: {rules: {}}}, {name: envoy.filters.http.ext_authz}]");
        let idle = tree("http_filters: [{name: envoy.filters.http.rbac, typed_config: {}}, {name: envoy.filters.http.ext_authz, disabled: true}]");
        let none = tree("{}");
        let found = by_managers([&acts, &none], &Default::default()).expect("a difference");
        assert_eq!(found.before.as_deref(), Some("permission from the authorization service and a permitted address or identity"));
        assert_eq!(by_managers([&idle, &none], &Default::default()), None);
    }

    #[test]
    fn refused_request_changes_no_check() {
        let old = forwarded(&[("envoy.filters.http.jwt_authn", "asks")]);
        let new = Simulation { outcome: Outcome::DirectResponse, status: Some(403), ..Simulation::default() };
        assert!(ChangedChecks::of(&[old, new]).is_none());
    }
}
