//! Finds checks of clients that only the first side makes: tokens, logins, passwords, permissions.
//!
//! Does not compare how a check is configured; see `residue`.

use super::difference::{End, FieldDifference, end};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use chancery_envoy::simulate::Simulation;
use chancery_text::series;

/// Filters that check clients, each with what requests need to pass.
const CHECKS: [(&str, &str); 6] = [
    ("jwt_authn", "a valid token"),
    ("oauth2", "a login"),
    ("basic_auth", "a password"),
    ("api_key_auth", "an API key"),
    ("ext_authz", "permission from the authorization service"),
    ("rbac", "a permitted address or identity"),
];

/// What a request needs to pass the filters that it reaches.
fn needs(of: &Simulation) -> Vec<&'static str> {
    let makes = |mark: &str| of.filters.iter().any(|step| step.enabled && step.name.contains(mark) && matches!(step.verdict, "asks" | "answers"));
    CHECKS.into_iter().filter(|(mark, _)| makes(mark)).map(|(_, need)| need).collect()
}

/// Returns the lost checks as a difference, if the second side lets the request pass all its filters.
pub(super) fn lost([old, new]: &[Simulation; 2]) -> Option<FieldDifference> {
    if !matches!(end(new), End::Forwarded | End::Redirected) {
        return None;
    }
    let (before, after) = (needs(old), needs(new));
    let lost: Vec<&str> = before.into_iter().filter(|need| !after.contains(need)).collect();
    if lost.is_empty() {
        return None;
    }
    let rest = if after.is_empty() { "no longer need it".to_string() } else { format!("only need {}", series(&after)) };
    Some(FieldDifference {
        what: "protection".into(),
        before: Some(format!("need {}", series(&lost))),
        after: Some(rest),
        ..FieldDifference::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use chancery_envoy::simulate::{FilterStep, Outcome};

    fn forwarded(filters: &[(&str, &'static str)]) -> Simulation {
        let step = |(name, verdict): &(&str, &'static str)| FilterStep { name: (*name).into(), enabled: true, verdict, does: None };
        Simulation { outcome: Outcome::Forward, filters: filters.iter().map(step).collect(), ..Simulation::default() }
    }

    fn change(old: &[(&str, &'static str)], new: &[(&str, &'static str)]) -> Option<(String, String)> {
        let found = lost(&[forwarded(old), forwarded(new)])?;
        Some((found.before?, found.after?))
    }

    #[test]
    fn lost_check_names_what_was_needed() {
        let token = ("envoy.filters.http.jwt_authn", "asks");
        let login = ("envoy.filters.http.oauth2/securitypolicy/a/b", "asks");
        assert_eq!(change(&[token], &[]), Some(("need a valid token".into(), "no longer need it".into())));
        assert_eq!(change(&[token, login], &[login]), Some(("need a valid token".into(), "only need a login".into())));
        assert_eq!(change(&[token], &[token]), None);
        assert_eq!(change(&[], &[token]), None);
    }

    #[test]
    fn refused_request_loses_no_check() {
        let old = forwarded(&[("envoy.filters.http.jwt_authn", "asks")]);
        let new = Simulation { outcome: Outcome::DirectResponse, status: Some(403), ..Simulation::default() };
        assert_eq!(lost(&[old, new]), None);
    }
}
