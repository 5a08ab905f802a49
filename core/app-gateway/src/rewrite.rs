//! Simulates rewrites according to Azure's documentation ("Rewrite HTTP headers and URL with Application Gateway"). It was not compared with a real
//! gateway.
//!
//! Rewrites are applied by their sequence, each if the original request meets all its conditions. Conditions on the response or the connection are
//! unknown.
//!
//! Does not choose the rewrite set of a request; see `route`.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Condition, HeaderChange, Rewrite, RewriteSet};
use chancery_base::re2::engine::Finder;
use chancery_base::resource::Sourced;
use chancery_text::Str;

/// A request as it arrived.
pub struct Incoming<'a> {
    pub method: &'a str,
    /// `http` or `https`.
    pub scheme: &'a str,
    /// The host, without a port.
    pub host: &'a str,
    pub port: i64,
    /// The path, without a query.
    pub path: &'a str,
    /// The query, without `?`.
    pub query: Option<&'a str>,
    /// Returns the value of a header; `None` if the request does not have it.
    pub header: &'a dyn Fn(&str) -> Option<String>,
}

/// The result of rewrites.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Rewritten {
    /// The rewrites, in the order in which they are applied.
    pub rewrites: Vec<RewriteResult>,
    /// The new path, if it changed.
    pub path: Option<String>,
    /// The new query, if it changed.
    pub query: Option<String>,
    /// Whether the path map is evaluated again with the new path.
    pub reroute: bool,
}

/// The result of one rewrite.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RewriteResult {
    pub name: Str,
    /// Whether it is applied; `None` if that depends on the response.
    pub done: Option<bool>,
    /// The variable whose condition failed or is unknown.
    pub because_of: Option<Str>,
    /// Request headers that it sets; an empty value removes the header.
    pub request_headers: Vec<(Str, String)>,
    /// Response headers that it sets.
    pub response_headers: Vec<(Str, String)>,
}

/// Matches of expressions in variables: the whole match first, then its groups.
type Groups = BTreeMap<String, Vec<String>>;

/// Applies a set of rewrites to a request.
#[must_use]
pub fn rewrite(set: &RewriteSet, request: &Incoming<'_>) -> Rewritten {
    let mut all: Vec<&Rewrite> = set.rules.iter().flatten().collect();
    all.sort_by_key(|rewrite| rewrite.sequence.map_or(0, |sequence| sequence.value));
    let mut out = Rewritten::default();
    for rewrite in all {
        let result = one(rewrite, request, &mut out);
        out.rewrites.push(result);
    }
    out
}

fn one(rewrite: &Rewrite, request: &Incoming<'_>, out: &mut Rewritten) -> RewriteResult {
    let mut groups = Groups::new();
    let (mut done, mut because_of) = (Some(true), None);
    for condition in rewrite.conditions.iter().flatten() {
        let variable = condition.variable.as_ref().map(|name| name.value.clone()).unwrap_or_default();
        match is_met(condition, request, &mut groups) {
            Some(true) => {}
            Some(false) => {
                (done, because_of) = (Some(false), Some(variable));
                break;
            }
            None => (done, because_of) = (None, Some(variable)),
        }
    }
    let headers = |list: &Option<Vec<HeaderChange>>| -> Vec<(Str, String)> {
        let header = |change: &HeaderChange| Some((change.name.as_ref()?.value.clone(), fill_variables(text(&change.value), request, &groups)));
        list.iter().flatten().filter_map(header).collect()
    };
    let actions = rewrite.actions.clone().unwrap_or_default();
    let name = rewrite.name.as_ref().map(|name| name.value.clone()).unwrap_or_default();
    if done == Some(false) {
        return RewriteResult { name, done, because_of, request_headers: Vec::new(), response_headers: Vec::new() };
    }
    if let Some(url) = actions.url.as_ref().filter(|_| done == Some(true)) {
        let new = |value: &Option<Sourced<Str>>| Some(fill_variables(text(value), request, &groups)).filter(|text| !text.is_empty());
        out.path = new(&url.path).or(out.path.take());
        out.query = new(&url.query).or(out.query.take());
        out.reroute |= url.reroute.is_some_and(|reroute| reroute.value);
    }
    RewriteResult { name, done, because_of, request_headers: headers(&actions.request_headers), response_headers: headers(&actions.response_headers) }
}

fn text(value: &Option<Sourced<Str>>) -> &str {
    value.as_ref().map_or("", |value| value.value.as_str())
}

/// Whether a condition is met; `None` if unknown.
fn is_met(condition: &Condition, request: &Incoming<'_>, groups: &mut Groups) -> Option<bool> {
    let variable = text(&condition.variable);
    let value = variable_of(variable, request)?;
    let ignores_case = condition.ignore_case.is_some_and(|ignores| ignores.value);
    let flag = if ignores_case { "(?i)" } else { "" };
    // The gateway accepts Perl expressions; those that RE2 cannot parse are unknown.
    let found = Finder::new(&format!("{flag}{}", text(&condition.pattern))).ok()?.groups(&value);
    let is_found = found.is_some();
    groups.extend(found.map(|found| (variable.to_string(), found)));
    Some(is_found != condition.negate.is_some_and(|negate| negate.value))
}

/// Returns the value of a variable for a request; `None` if unknown.
fn variable_of(name: &str, request: &Incoming<'_>) -> Option<String> {
    if let Some(header) = name.strip_prefix("http_req_") {
        return Some((request.header)(header).unwrap_or_default());
    }
    let query = request.query.unwrap_or_default();
    Some(match name.strip_prefix("var_")? {
        "uri_path" => request.path.to_string(),
        "query_string" => query.to_string(),
        "host" => request.host.to_string(),
        "request_method" => request.method.to_string(),
        "request_scheme" => request.scheme.to_string(),
        "server_port" => request.port.to_string(),
        "request_uri" if query.is_empty() => request.path.to_string(),
        "request_uri" => format!("{}?{query}", request.path),
        _ => return None,
    })
}

/// Replaces the variables in a text; unknown ones are kept.
fn fill_variables(text: &str, request: &Incoming<'_>, groups: &Groups) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, behind)) = after.split_once('}') else { break };
        out.push_str(before);
        let group = name.rsplit_once('_').and_then(|(variable, number)| groups.get(variable)?.get(number.parse::<usize>().ok()?).cloned());
        match group.or_else(|| variable_of(name, request)) {
            Some(value) => out.push_str(&value),
            None => out.push_str(&format!("{{{name}}}")),
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::{Incoming, rewrite};
    use alloc::vec::Vec;
    use chancery_base::ir::appgw::{Actions, Condition, HeaderChange, Rewrite, RewriteSet, UrlChange};
    use chancery_base::resource::Sourced;
    use chancery_text::Str;

    fn word(text: &str) -> Option<Sourced<Str>> {
        Some(Sourced::built_in(Str::new(text)))
    }

    fn rule(name: &str, sequence: i64, condition: (&str, &str, bool), actions: Actions) -> Rewrite {
        let (variable, pattern, negate) = condition;
        let condition = Condition {
            variable: word(variable),
            pattern: word(pattern),
            negate: Some(Sourced::built_in(negate)),
            ignore_case: Some(Sourced::built_in(true)),
            ..Condition::default()
        };
        let conditions = if variable.is_empty() { Vec::new() } else { Vec::from([condition]) };
        Rewrite {
            name: word(name),
            sequence: Some(Sourced::built_in(sequence)),
            conditions: Some(conditions),
            actions: Some(actions),
            ..Rewrite::default()
        }
    }

    fn sets(name: &str, value: &str) -> Actions {
        let header = HeaderChange { name: word(name), value: word(value), ..HeaderChange::default() };
        Actions { request_headers: Some(Vec::from([header])), ..Actions::default() }
    }

    #[test]
    fn rewrites_apply_in_sequence_with_matched_groups() {
        let url = UrlChange {
            path: word("/{var_uri_path_1}"),
            query: word("id={var_query_string}"),
            reroute: Some(Sourced::built_in(true)),
            ..UrlChange::default()
        };
        let set = RewriteSet {
            rules: Some(Vec::from([
                rule("path", 20, ("var_uri_path", "^/SHOP/(.*)", false), Actions { url: Some(url), ..Actions::default() }),
                rule("always", 10, ("", "", false), sets("x-from", "{var_host}:{http_req_x-team}{unknown}")),
                rule("other", 30, ("var_uri_path", "^/shop", true), sets("x", "y")),
                rule("answer", 40, ("http_resp_server", ".", false), sets("a", "b")),
                rule("perl", 50, ("var_host", "(?=a)", false), sets("a", "b")),
            ])),
            ..RewriteSet::default()
        };
        let header = |name: &str| (name == "x-team").then(|| "edge".into());
        let request = Incoming { method: "GET", scheme: "http", host: "a.test", port: 80, path: "/shop/cart", query: Some("7"), header: &header };
        let out = rewrite(&set, &request);
        let states: Vec<(&str, Option<bool>)> = out.rewrites.iter().map(|of| (of.name.as_str(), of.done)).collect();
        assert_eq!(states, [("always", Some(true)), ("path", Some(true)), ("other", Some(false)), ("answer", None), ("perl", None)]);
        assert_eq!(out.rewrites[0].request_headers, [(Str::new("x-from"), "a.test:edge{unknown}".into())]);
        assert_eq!((out.path.as_deref(), out.query.as_deref(), out.reroute), (Some("/cart"), Some("id=7"), true));
        assert_eq!(out.rewrites[2].because_of.as_deref(), Some("var_uri_path"));
    }
}
