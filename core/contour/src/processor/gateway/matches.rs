//! Processes the matches of rules.

use super::context::Attachment;
use crate::model::{Conditions, HeaderCondition, MatchType, PathCondition, QueryCondition};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::resource::{Also, Rule, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::go;
use chancery_kubernetes::reason::Reason;
use chancery_text::Str;

impl Attachment<'_, '_> {
    /// The valid matches of an HTTPRoute's rule.
    pub(super) fn http_matches(&mut self, rule: Cursor<'_>) -> Vec<Conditions> {
        let mut matches = Vec::new();
        for at in rule.field("matches").items() {
            let Some(path) = self.http_path(at) else { continue };
            let mut headers = match headers(at.field("headers"), "HTTPRoute") {
                Ok(headers) => headers,
                Err(why) => {
                    self.unsupported(why, at.field("headers").origin());
                    continue;
                }
            };
            if let Some(method) = at.field("method").some() {
                headers.push(HeaderCondition { value: method.str().into(), ..exact_header(Str::new_static(":method"), method) });
            }
            match queries(at.field("queryParams")) {
                Ok(queries) => matches.push(Conditions { path, path_also: Also::default(), headers, queries }),
                Err(why) => self.unsupported(why, at.field("queryParams").origin()),
            }
        }
        matches
    }

    fn http_path(&mut self, at: Cursor<'_>) -> Option<Sourced<PathCondition>> {
        let written = at.field("path");
        let value = written.field("value");
        let path = value.some_str().unwrap_or("/");
        let match_type = written.field("type").some_str().unwrap_or("PathPrefix");
        let mut invalid = |message: &'static str| {
            self.mismatched(message, value.origin());
            None
        };
        let condition = match match_type {
            "PathPrefix" | "Exact" if !path.starts_with('/') => return invalid("Match.Path.Value must start with '/'."),
            "PathPrefix" | "Exact" if path.contains("//") => return invalid("Match.Path.Value must not contain consecutive '/' characters."),
            "PathPrefix" if path == "/" => PathCondition::Prefix(path.into()),
            "PathPrefix" => PathCondition::Segment(path.into()),
            "Exact" => PathCondition::Exact(path.into()),
            "RegularExpression" if go::check_regex(path).is_err() => {
                return invalid("Match.Path.Value is invalid for RegularExpression match type.");
            }
            "RegularExpression" => PathCondition::Regex(path.into()),
            _ => {
                let supported = "Only Prefix match type, Exact match type and RegularExpression match type are supported.";
                self.unsupported(format!("HTTPRoute.Spec.Rules.PathMatch: {supported}"), written.field("type").origin());
                return None;
            }
        };
        Some(Sourced::new(condition, value.origin()))
    }

    /// The valid matches of a GRPCRoute's rule; a rule without matches matches every request.
    pub(super) fn grpc_matches(&mut self, rule: Cursor<'_>) -> Vec<Conditions> {
        let written = rule.field("matches");
        let everything = || Sourced::new(PathCondition::Prefix(Str::new_static("/")), rule.origin()).by(Rule::Default);
        if written.is_empty() {
            return alloc::vec![Conditions { path: everything(), path_also: Also::default(), headers: Vec::new(), queries: Vec::new() }];
        }
        let mut matches = Vec::new();
        for at in written.items() {
            let method = at.field("method");
            let path = if method.exists() { self.grpc_path(method) } else { Some(everything()) };
            let Some(path) = path else { continue };
            match headers(at.field("headers"), "GRPCRoute") {
                Ok(headers) => matches.push(Conditions { path, path_also: Also::default(), headers, queries: Vec::new() }),
                Err(why) => self.unsupported(why, at.field("headers").origin()),
            }
        }
        matches
    }

    /// A service and a method of gRPC are a path of HTTP.
    fn grpc_path(&mut self, at: Cursor<'_>) -> Option<Sourced<PathCondition>> {
        if at.field("type").some_str().is_some_and(|written| written != "Exact") {
            self.unsupported("GRPCRoute.Spec.Rules.Matches.Method: Only Exact match type is supported.", at.field("type").origin());
            return None;
        }
        let (service, method) = (at.field("service").str(), at.field("method").str());
        if service.trim().is_empty() || method.trim().is_empty() {
            let message = "GRPCRoute.Spec.Rules.Matches.Method: Both Service and Method need be configured.";
            self.refused("InvalidMethodMatch", message, at.origin());
            return None;
        }
        Some(Sourced::new(PathCondition::Exact(format!("/{service}/{method}").into()), at.origin()).whole().by(Rule::Derived))
    }
}

fn exact_header(name: Str, at: Cursor<'_>) -> HeaderCondition {
    HeaderCondition {
        name,
        value: at.field("value").str().into(),
        match_type: MatchType::Exact,
        invert: false,
        ignore_case: false,
        missing_as_empty: false,
        origin: Sourced::new((), at.origin()).whole(),
    }
}

/// How a header or query parameter is compared; `None` if Contour does not know the type.
fn match_type(at: Cursor<'_>) -> Option<MatchType> {
    match at.field("type").some_str() {
        None | Some("Exact") => Some(MatchType::Exact),
        Some("RegularExpression") => Some(MatchType::Regex),
        Some(_) => None,
    }
}

/// Header conditions: the first one of each header wins.
fn headers(at: Cursor<'_>, kind: &str) -> Result<Vec<HeaderCondition>, Reason> {
    let (mut seen, mut headers) = (BTreeSet::new(), Vec::new());
    for item in at.items() {
        let wrong = |what: &str| format!("{kind}.Spec.Rules.Matches.Headers: {what}");
        let match_type = match_type(item).ok_or_else(|| wrong("Only Exact match type and RegularExpression match type are supported"))?;
        if match_type == MatchType::Regex && go::check_regex(item.field("value").str()).is_err() {
            return Err(wrong("Invalid value for RegularExpression match type is specified").into());
        }
        let name = item.field("name").str();
        if seen.insert(name.to_uppercase()) {
            headers.push(HeaderCondition { match_type, ..exact_header(name.into(), item) });
        }
    }
    Ok(headers)
}

/// Query parameter conditions: the first one of each parameter wins.
fn queries(at: Cursor<'_>) -> Result<Vec<QueryCondition>, Reason> {
    let (mut seen, mut queries) = (BTreeSet::new(), Vec::new());
    for item in at.items() {
        let wrong = |what: &str| format!("HTTPRoute.Spec.Rules.Matches.QueryParams: {what}");
        let match_type = match_type(item).ok_or_else(|| wrong("Only Exact and RegularExpression match types are supported"))?;
        let (name, value) = (item.field("name").str(), item.field("value").str());
        if match_type == MatchType::Regex && go::check_regex(value).is_err() {
            return Err(wrong("Invalid value for RegularExpression match type is specified").into());
        }
        if seen.insert(name) {
            let origin = Sourced::new((), item.origin());
            queries.push(QueryCondition { name: name.into(), value: value.into(), match_type, ignore_case: false, origin });
        }
    }
    Ok(queries)
}
