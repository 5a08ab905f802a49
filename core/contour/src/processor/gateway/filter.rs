//! Processes the `filters` of rules and backends. The first of several with one type wins.

use super::context::Attachment;
use super::kind::RouteKind;
use crate::model::{HeadersPolicy, Mirror, PathRewrite, Redirect};
use crate::processor::header::{Variables, canonical, escape, name_error};
use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::Sourced;
use chancery_base::schema::go_quoted;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// The filters of a rule.
#[derive(Default)]
pub(super) struct Filters {
    pub request_headers: Option<HeadersPolicy>,
    pub response_headers: Option<HeadersPolicy>,
    pub redirect: Option<Sourced<Redirect>>,
    pub rewrite: Option<Sourced<PathRewrite>>,
    pub mirrors: Vec<Mirror>,
}

impl Attachment<'_, '_> {
    pub(super) fn rule_filters(&mut self, rule: Cursor<'_>) -> Filters {
        let is_http = self.kind == RouteKind::Http;
        let (mut filters, mut hostname) = (Filters::default(), None);
        for filter in rule.field("filters").items() {
            match filter.field("type").str() {
                "RequestHeaderModifier" | "ResponseHeaderModifier" => {
                    self.headers(filter, &mut filters.request_headers, &mut filters.response_headers);
                }
                "RequestRedirect" if is_http => {
                    let at = filter.field("requestRedirect");
                    if at.exists() && filters.redirect.is_none() {
                        filters.redirect = self.redirect(at);
                    }
                }
                "RequestMirror" => {
                    let at = filter.field("requestMirror");
                    if at.exists() {
                        filters.mirrors.extend(self.mirror(at));
                    }
                }
                "URLRewrite" if is_http => {
                    let at = filter.field("urlRewrite");
                    if at.exists() && filters.rewrite.is_none() {
                        hostname = at.field("hostname").some_str().map(|_| at.field("hostname")).or(hostname);
                        filters.rewrite = self.rewrite(at.field("path"), "HTTPRoute.Spec.Rules.Filters.URLRewrite.Path.Type").ok().flatten();
                    }
                }
                other => {
                    let supported = if is_http {
                        "RequestHeaderModifier, ResponseHeaderModifier, RequestRedirect, RequestMirror and URLRewrite"
                    } else {
                        "RequestHeaderModifier, ResponseHeaderModifier and RequestMirror"
                    };
                    let kind = self.kind.name();
                    self.unsupported(
                        format!("{kind}.Spec.Rules.Filters: invalid type {}: only {supported} are supported.", go_quoted(other)),
                        filter.field("type").origin(),
                    );
                }
            }
        }
        // A rewritten host overrides the host of a header modifier.
        if let Some(host) = hostname.and_then(Cursor::text) {
            filters.request_headers.get_or_insert_default().host_rewrite = Some(host);
        }
        filters
    }

    /// The filters of a backend: changes of request and of response headers.
    pub(super) fn backend_filters(&mut self, backend: Cursor<'_>) -> (Option<HeadersPolicy>, Option<HeadersPolicy>) {
        let (mut request, mut response) = (None, None);
        for filter in backend.field("filters").items() {
            match filter.field("type").str() {
                "RequestHeaderModifier" | "ResponseHeaderModifier" => self.headers(filter, &mut request, &mut response),
                _ => {
                    let supported = "Only RequestHeaderModifier and ResponseHeaderModifier type is supported.";
                    self.unsupported(format!("{}.Spec.Rules.BackendRef.Filters: {supported}", self.kind.name()), filter.field("type").origin());
                }
            }
        }
        (request, response)
    }

    fn headers(&mut self, filter: Cursor<'_>, request: &mut Option<HeadersPolicy>, response: &mut Option<HeadersPolicy>) {
        let is_request = filter.field("type").str() == "RequestHeaderModifier";
        let (slot, field, what) =
            if is_request { (request, "requestHeaderModifier", "request") } else { (response, "responseHeaderModifier", "response") };
        let Some(at) = filter.field(field).some().filter(|_| slot.is_none()) else { return };
        let (policy, faults) = headers_policy(at, is_request);
        match faults.as_slice() {
            [] => {}
            [only] => self.unresolved("Degraded", format!("{only} on {what} headers"), at.origin()),
            several => self.unresolved("Degraded", format!("[{}] on {what} headers", several.join(", ")), at.origin()),
        }
        *slot = Some(policy);
    }

    fn redirect(&mut self, at: Cursor<'_>) -> Option<Sourced<Redirect>> {
        let path = self.rewrite(at.field("path"), "HTTPRoute.Spec.Rules.Filters.RequestRedirect.Path.Type").ok()?;
        let text = |field: &str| Sourced::new(Str::new(at.field(field).str()), at.field(field).origin());
        let number = |field: &str| at.field(field).u32().unwrap_or_else(|| Sourced::new(0, at.field(field).origin()));
        let redirect = Redirect { hostname: text("hostname"), scheme: text("scheme"), port: number("port"), status: number("statusCode"), path };
        Some(Sourced::new(redirect, at.origin()))
    }

    /// The rewrite of a path; an error if Contour does not know its type.
    fn rewrite(&mut self, at: Cursor<'_>, what: &str) -> Result<Option<Sourced<PathRewrite>>, ()> {
        let Some(at) = at.some() else { return Ok(None) };
        let (field, make): (_, fn(Str) -> PathRewrite) = match at.field("type").str() {
            "ReplacePrefixMatch" => ("replacePrefixMatch", PathRewrite::Prefix),
            "ReplaceFullPath" => ("replaceFullPath", PathRewrite::Full),
            other => {
                self.unsupported(
                    format!("{what}: invalid type {}: only ReplacePrefixMatch and ReplaceFullPath are supported.", go_quoted(other)),
                    at.field("type").origin(),
                );
                return Err(());
            }
        };
        let written = at.field(field);
        let path = if written.str().is_empty() { "/" } else { written.str() };
        Ok(Some(Sourced::new(make(path.into()), written.origin())))
    }

    fn mirror(&mut self, at: Cursor<'_>) -> Option<Mirror> {
        let backend = at.field("backendRef");
        let upstream = self.backend_service(backend, "Spec.Rules.Filters.RequestMirror.BackendRef")?;
        Some(Mirror { cluster: super::backend::mirrored(upstream, backend), weight: Sourced::new(100, at.origin()) })
    }
}

/// Changes of headers, and their errors; invalid changes are dropped.
fn headers_policy(at: Cursor<'_>, is_request: bool) -> (HeadersPolicy, Vec<String>) {
    let (mut policy, mut faults) = (HeadersPolicy::default(), Vec::new());
    let mut host_rewrite = None;
    let mut read = |field: &str, faults: &mut Vec<String>| {
        let mut headers = BTreeMap::new();
        for header in at.field(field).items() {
            let key = canonical(header.field("name").str());
            let value = header.field("value");
            let Entry::Vacant(vacant) = headers.entry(key.clone()) else {
                faults.push(format!("duplicate header addition: {}", go_quoted(&key)));
                continue;
            };
            if is_request && key == "Host" {
                host_rewrite = value.text();
            } else if let Some(why) = name_error(&key) {
                faults.push(format!("invalid {field} header {}: {why}", go_quoted(&key)));
            } else {
                vacant.insert(Sourced::new(escape(value.str(), &Variables::default()), value.origin()));
            }
        }
        headers
    };
    policy.set = read("set", &mut faults);
    policy.add = read("add", &mut faults);
    policy.host_rewrite = host_rewrite;
    let mut removed: BTreeMap<Str, Sourced<Str>> = BTreeMap::new();
    for name in at.field("remove").items() {
        let key = canonical(name.str());
        if removed.contains_key(&key) {
            faults.push(format!("duplicate header removal: {}", go_quoted(&key)));
        } else if let Some(why) = name_error(&key) {
            faults.push(format!("invalid remove header {}: {why}", go_quoted(&key)));
        } else {
            removed.insert(key.clone(), Sourced::new(key, name.origin()));
        }
    }
    policy.remove = removed.into_values().collect();
    (policy, faults)
}
