//! Reads the list of accepted changes: known and wanted differences, each with its reason.
//!
//! The list is YAML: `accept`, with `rule` and `reason`, and if needed `host`, `path` and `header` that limit it. Does not open files.

use super::causes::{CAUSES, cause};
use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::resource::nearest;
use chancery_text::{Limits, Node, parse};

/// An accepted change.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct AcceptedChange {
    /// The name of the cause.
    pub rule: String,
    pub reason: String,
    /// Only for hosts that match this pattern, where `*` matches any characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Only for paths that match this pattern.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Only for this header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
}

const KEYS: [&str; 5] = ["rule", "reason", "host", "path", "header"];

impl AcceptedChange {
    /// Reads a list.
    ///
    /// # Errors
    ///
    /// The first problem with it.
    pub fn read(text: &str) -> Result<Vec<Self>, String> {
        let document = parse(text, &Limits::default());
        if let Some(problem) = document.problems.first() {
            return Err(format!("it is not valid YAML: {}", problem.message));
        }
        let root = document.root.ok_or("it is empty: write a list `accept`")?;
        if let Some(other) = root.as_object().into_iter().flatten().find(|entry| entry.key != "accept") {
            return Err(format!("it has the unknown key `{}`: write a list `accept`", other.key));
        }
        let list = root.get("accept").and_then(Node::as_array).ok_or("it has no list `accept`")?;
        list.iter().enumerate().map(|(at, node)| Self::read_one(node).map_err(|why| format!("`accept[{at}]` {why}"))).collect()
    }

    fn read_one(node: &Node) -> Result<Self, String> {
        let fields = node.as_object().ok_or("is not an object with `rule` and `reason`")?;
        for entry in fields {
            if !KEYS.contains(&entry.key.as_str()) {
                let near = nearest(&entry.key, KEYS).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                return Err(format!("has the unknown key `{}`{near}", entry.key));
            }
            if entry.value.as_str().is_none() {
                return Err(format!("has a `{}` that is not a string", entry.key));
            }
        }
        let text = |name: &str| node.get(name).and_then(Node::as_str).map(str::trim).filter(|text| !text.is_empty()).map(ToString::to_string);
        let rule = text("rule").ok_or("has no `rule`")?;
        if cause(&rule).is_none() {
            let near = nearest(&rule, CAUSES.iter().map(|cause| cause.name)).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Err(format!("has the unknown rule `{rule}`{near}"));
        }
        let reason = text("reason").ok_or("has no `reason`")?;
        Ok(Self { rule, reason, host: text("host"), path: text("path"), header: text("header").map(|name| name.to_ascii_lowercase()) })
    }

    /// Whether it covers a difference.
    pub(super) fn covers(&self, rule: &str, host: &str, path: &str, header: Option<&str>) -> bool {
        let path = path.split('?').next().unwrap_or_default();
        self.rule == rule
            && self.host.as_ref().is_none_or(|pattern| matches(&pattern.to_ascii_lowercase(), &host.to_ascii_lowercase()))
            && self.path.as_ref().is_none_or(|pattern| matches(pattern, path))
            && self.header.as_deref().is_none_or(|name| header == Some(name))
    }
}

/// Whether a text matches a pattern with `*`.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.to_owned().ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::{AcceptedChange, matches};

    #[test]
    fn list_without_reason_is_an_error() {
        let error = AcceptedChange::read("accept: [{rule: hsts}]").expect_err("a reason is required");
        assert_eq!(error, "`accept[0]` has no `reason`");
        let error = AcceptedChange::read("accept: [{rule: hstss, reason: x}]").expect_err("the rule is unknown");
        assert_eq!(error, "`accept[0]` has the unknown rule `hstss`; did you mean `hsts`?");
        assert!(AcceptedChange::read("accept: [{rule: hsts, reason: x, hosts: a}]").is_err(), "the key is unknown");
    }

    #[test]
    fn change_covers_only_its_host_and_path() {
        let all = AcceptedChange::read("accept: [{rule: rewrite, reason: known, host: '*.example.com', path: /api/*}]").expect("a list");
        assert!(all[0].covers("rewrite", "shop.example.com", "/api/x?q=1", None));
        assert!(!all[0].covers("rewrite", "shop.example.org", "/api/x", None));
        assert!(!all[0].covers("rewrite", "shop.example.com", "/", None));
        assert!(!all[0].covers("hsts", "shop.example.com", "/api/x", None));
    }

    #[test]
    fn pattern_matches_any_characters_at_a_star() {
        assert!(matches("a*c*", "abcd") && matches("*", "") && matches("a", "a") && matches("*b", "aab"));
        assert!(!matches("a*c", "abcd") && !matches("a", "ab"));
    }
}
