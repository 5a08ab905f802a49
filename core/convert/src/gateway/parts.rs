//! The parts of routes: matches, filters and backends.

use super::super::build::{Fields, list, named_values, number, text};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::Node;

/// The condition on the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathMatch {
    Exact(String),
    /// By whole segments.
    Prefix(String),
    /// RE2, for the whole path.
    Regex(String),
}

/// A condition on a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub name: String,
    pub value: String,
    pub is_regex: bool,
}

/// The conditions of a rule on a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteMatch {
    pub path: PathMatch,
    pub headers: Vec<Header>,
    pub method: Option<&'static str>,
}

impl RouteMatch {
    pub fn new(path: PathMatch) -> Self {
        Self { path, headers: Vec::new(), method: None }
    }

    /// The same conditions and one more.
    pub fn and(&self, header: Header) -> Self {
        let mut more = self.clone();
        more.headers.retain(|known| !known.name.eq_ignore_ascii_case(&header.name));
        more.headers.push(header);
        more
    }

    pub(super) fn node(&self) -> Node {
        let (kind, value) = match &self.path {
            PathMatch::Exact(value) => ("Exact", value),
            PathMatch::Prefix(value) => ("PathPrefix", value),
            PathMatch::Regex(value) => ("RegularExpression", value),
        };
        let (mut path, mut out) = (Fields::new(), Fields::new());
        path.set("type", text(kind)).set("value", text(value));
        out.set("path", path.node());
        out.set("headers", list(self.headers.iter().map(Header::node).collect()));
        out.set_some("method", self.method.map(text));
        out.node()
    }
}

impl Header {
    pub fn exact(name: &str, value: &str) -> Self {
        Self { name: name.into(), value: value.into(), is_regex: false }
    }

    pub fn regex(name: &str, value: &str) -> Self {
        Self { name: name.into(), value: value.into(), is_regex: true }
    }

    fn node(&self) -> Node {
        let mut out = Fields::new();
        if self.is_regex {
            out.set("type", text("RegularExpression"));
        }
        out.set("name", text(&self.name)).set("value", text(&self.value));
        out.node()
    }
}

/// A port of a Service.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServiceRef {
    pub namespace: String,
    pub name: String,
    pub port: i64,
}

/// Where a rule sends requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backend {
    pub service: ServiceRef,
    /// The name of the Backend object that represents the Service.
    pub object: Option<String>,
    pub weight: Option<i64>,
    /// It needs its own cluster, next to the other backends of its rule.
    pub is_apart: bool,
}

impl Backend {
    /// The reference in a route of a namespace.
    pub fn node(&self, namespace: &str) -> Node {
        let mut out = self.reference(namespace);
        out.set_some("weight", self.weight.map(number));
        if self.is_apart {
            // Envoy Gateway gives each backend with a filter its own cluster. The listener has removed this header already.
            out.comment("the filter gives the backend its own cluster: consistent hashing ignores weights inside a cluster");
            out.set("filters", list(Vec::from([request_modifier(&[], &["Proxy"])])));
        }
        out.node()
    }

    /// The reference without a weight.
    pub fn reference(&self, namespace: &str) -> Fields {
        let mut out = Fields::new();
        match &self.object {
            Some(name) => {
                out.set("group", text(super::ENVOY_GATEWAY_GROUP)).set("kind", text("Backend")).set("name", text(name));
            }
            None => {
                out.set("name", text(&self.service.name));
            }
        }
        if self.service.namespace != namespace {
            out.set("namespace", text(&self.service.namespace));
        }
        if self.object.is_none() {
            out.set("port", number(self.service.port));
        }
        out
    }
}

/// A filter that sets headers: `RequestHeaderModifier` or `ResponseHeaderModifier`.
pub fn header_modifier(kind: &str, set: &[(String, String)]) -> Node {
    let (field, mut inner, mut out) = (lower_first(kind), Fields::new(), Fields::new());
    inner.set("set", named_values(set.iter().map(|(name, value)| (name.as_str(), value.as_str()))));
    out.set("type", text(kind)).set(&field, inner.node());
    out.node()
}

/// A filter that sets and removes headers of requests.
pub fn request_modifier(set: &[(String, String)], remove: &[&str]) -> Node {
    let (mut inner, mut out) = (Fields::new(), Fields::new());
    inner.set("set", named_values(set.iter().map(|(name, value)| (name.as_str(), value.as_str()))));
    inner.set("remove", items(remove));
    out.set("type", text("RequestHeaderModifier")).set("requestHeaderModifier", inner.node());
    out.node()
}

/// A filter that redirects.
pub fn redirect(fields: &Fields) -> Node {
    let mut out = Fields::new();
    out.set("type", text("RequestRedirect")).set("requestRedirect", fields.node());
    out.node()
}

fn lower_first(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(chars).collect()
}

/// The target of a policy.
pub fn target_of(kind: &str, name: &str, section: Option<&str>) -> Node {
    let mut out = Fields::new();
    out.set("group", text(super::GATEWAY_GROUP)).set("kind", text(kind)).set("name", text(name));
    out.set_some("sectionName", section.map(text));
    out.node()
}

/// A list with one item for each string.
pub fn items<S: AsRef<str>>(strings: impl IntoIterator<Item = S>) -> Node {
    list(strings.into_iter().map(|item| text(item.as_ref())).collect::<Vec<_>>())
}
