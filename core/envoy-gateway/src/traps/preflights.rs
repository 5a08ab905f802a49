//! Reports CORS settings of a SecurityPolicy whose preflights reach no rule of the route.

use super::super::cluster::Admitted;
use super::super::codes;
use super::super::context::RouteKind;
use super::index::Index;
use super::{finding, key_place};
use alloc::format;
use chancery_base::diagnostic::Findings;
use chancery_kubernetes::cursor::Cursor;

/// Reports a policy with CORS for a route that matches no `OPTIONS` request. Envoy Gateway adds a rule for preflights only for the CORS filter of an
/// HTTPRoute (`internal/gatewayapi/route.go`).
pub(super) fn lost(index: &Index<'_, '_>, policy: &Admitted<'_>, sink: &mut Findings) {
    let cors = policy.spec().field("cors");
    if !cors.exists() {
        return;
    }
    for route in index.routes_of(policy).into_iter().filter(|route| route.kind == RouteKind::Http) {
        let rules = route.object.spec().field("rules");
        let Some(first) = rules.items().next().filter(|_| rules.items().all(excludes_options)) else { continue };
        let message = format!("preflight requests (OPTIONS) match no rule of HTTPRoute `{}`: this policy does not answer them", route.object.name());
        let found = finding(&codes::PREFLIGHT_WITHOUT_ROUTE, message, policy, key_place(cors));
        let found = found.related(key_place(first.field("matches")), "each match names another method");
        sink.report(found.help("add a match with `method: OPTIONS` to the rule, or use the filter `CORS` of the HTTPRoute instead"));
    }
}

/// Whether no match of a rule takes `OPTIONS`.
fn excludes_options(rule: Cursor<'_>) -> bool {
    let has_filter = rule.field("filters").items().any(|filter| filter.field("type").str() == "CORS");
    let matches = rule.field("matches");
    !has_filter && matches.has_items() && matches.items().all(|of| of.field("method").some_str().is_some_and(|method| method != "OPTIONS"))
}
