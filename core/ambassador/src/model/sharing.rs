//! Finds Mappings whose fields affect other Mappings with the same match: some fields apply to the whole group, whichever member receives a
//! request. Emissary does not report them. For merging see `group`.

use super::HttpMapping;
use super::group::{Group, GroupKind};
use super::notices::Identity;
use crate::spec::{self, AddedHeader};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Code, Diagnostic, Place, Severity, codes};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// At most this many Mappings are named in a message.
const MOST_NAMES: usize = 3;

/// Fields that also affect other Mappings' requests, and fields that another Mapping overrides.
pub fn findings(group: &Group) -> Vec<Diagnostic> {
    let GroupKind::Http(group) = &group.kind else { return Vec::new() };
    let members: Vec<&HttpMapping> = group.mappings.iter().map(|member| &*member.mapping).collect();
    let mut check = Check { members: &members, found: Vec::new() };
    check.field("case_sensitive", group.shared.case_sensitive.as_ref(), |of| of.spec.case_sensitive.as_ref());
    check.field("regex_rewrite", group.shared.regex_rewrite.as_ref(), |of| of.spec.regex_rewrite.as_ref());
    check.field("remove_request_headers", group.shared.remove_request_headers.as_ref(), |of| of.spec.remove_request_headers.as_ref());
    check.field("remove_response_headers", group.shared.remove_response_headers.as_ref(), |of| of.spec.remove_response_headers.as_ref());
    check.field("priority", group.shared.priority.as_ref(), |of| of.spec.priority.as_ref());
    check.field("cors", group.shared.cors.as_ref(), |of| of.spec.cors.as_ref());
    check.field("retry_policy", group.shared.retry_policy.as_ref(), |of| of.spec.retry_policy.as_ref());
    check.field("allow_upgrade", group.shared.allow_upgrade.as_ref(), |of| of.spec.allow_upgrade.as_ref());
    check.headers("add_request_headers", &group.shared.add_request_headers, |of| of.spec.add_request_headers.as_ref());
    check.headers("add_response_headers", &group.shared.add_response_headers, |of| of.spec.add_response_headers.as_ref());
    check.found
}

struct Check<'c> {
    members: &'c [&'c HttpMapping],
    found: Vec<Diagnostic>,
}

impl Check<'_> {
    /// A field: the group's value, and each member's.
    fn field<T: PartialEq>(&mut self, name: &str, counts: Option<&Sourced<T>>, of: impl Fn(&HttpMapping) -> Option<&Sourced<T>>) {
        let decides = self.members.iter().find(|member| counts.is_some_and(|counts| of(member).is_some_and(|own| is_same(own, counts))));
        let lacking: Vec<&Identity> = self.members.iter().filter(|member| of(member).is_none()).map(|member| &member.identity).collect();
        if let (Some(counts), Some(decides), false) = (counts, decides, lacking.is_empty()) {
            let message = format!("`{name}` also applies to requests that go to {}: they match the same requests", names(&lacking));
            let help = "give this Mapping separate conditions if only its requests are meant";
            self.add(&codes::SHARED_FIELD, Severity::Notice, &decides.identity, message, counts.origin, help);
        }
        for member in self.members {
            let Some(lost) = of(member).filter(|own| counts.is_none_or(|counts| **own != *counts)) else { continue };
            let others: Vec<&Identity> = match decides {
                Some(decides) => Vec::from([&decides.identity]),
                None => self.members.iter().filter(|other| of(other).is_none()).map(|other| &other.identity).collect(),
            };
            let what =
                if counts.is_some() { "has another value, which applies to all of them" } else { "does not set it, which applies to all of them" };
            let message = format!("this `{name}` changes nothing: {} for the same requests {what}", names(&others));
            let help = "write the same in each of them, or give this Mapping separate conditions";
            self.add(&codes::FIELD_WITHOUT_EFFECT, Severity::Warning, &member.identity, message, lost.origin, help);
        }
    }

    fn add(&mut self, code: &'static Code, severity: Severity, on: &Identity, message: String, at: Option<Origin>, help: &str) {
        let mut finding = Diagnostic::new(code, message, Place::origin(at.or(on.origin))).about(on.key()).help(help);
        finding.severity = severity;
        self.found.push(finding);
    }

    /// Headers, each by itself.
    fn headers(
        &mut self,
        field: &str,
        counts: &[(Str, Sourced<AddedHeader>)],
        of: impl Fn(&HttpMapping) -> Option<&Sourced<spec::Map<AddedHeader>>>,
    ) {
        for (name, counts) in counts {
            self.field(&format!("{field}.{name}"), Some(counts), |member| {
                of(member).and_then(|headers| headers.value.0.iter().find(|(known, _)| known == name)).map(|(_, header)| header)
            });
        }
    }
}

/// Mappings in a sentence: a few by name.
fn names(members: &[&Identity]) -> String {
    let (first, rest) = members.split_at(members.len().min(MOST_NAMES));
    let first: Vec<&str> = first.iter().map(|identity| &*identity.name).collect();
    let others = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    format!("Mapping{} {}{others}", if members.len() == 1 { "" } else { "s" }, first.join(", "))
}

/// Whether it is the very value: from the same place.
fn is_same<T: PartialEq>(own: &Sourced<T>, counts: &Sourced<T>) -> bool {
    own == counts && own.origin == counts.origin
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;
    use chancery_base::compilation::Options;
    use chancery_base::diagnostic::Policy;
    use chancery_base::executor::Sequential;
    use chancery_base::resource::Inputs;
    use chancery_compile::{EmittedByGateway, compile};
    use chancery_explain::check::check;

    /// The reported fields of two Mappings for the same requests.
    fn reported(main: &str, canary: &str) -> Vec<String> {
        let mapping = |name: &str, fields: &str| {
            let spec = format!("spec: {{hostname: '*', prefix: /a/, service: {name}{fields}}}");
            format!("apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: {name}}}\n{spec}\n")
        };
        let text = format!("{}---\n{}", mapping("main", main), mapping("canary", &format!(", weight: 10{canary}")));
        let mut compilation = compile(&Inputs::one("a.yaml", text), &Options::default(), &[&crate::DIALECT]);
        check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
        let own = compilation.all_diagnostics().filter(|finding| matches!(finding.code.name, "shared-field" | "field-without-effect"));
        own.map(|finding| format!("{} {}: {}", finding.severity.name(), finding.code.name, finding.message)).collect()
    }

    #[test]
    fn field_affecting_other_mapping_is_reported() {
        assert_eq!(reported("", ", timeout_ms: 9000, rewrite: /b/"), [""; 0], "these are each Mapping's own");
        let finding = |field: &str, other: &str| {
            format!("notice shared-field: `{field}` also applies to requests that go to Mapping {other}: they match the same requests")
        };
        assert_eq!(reported("", ", retry_policy: {retry_on: 5xx}"), [finding("retry_policy", "main")]);
        assert_eq!(reported(", cors: {origins: ['*']}", ""), [finding("cors", "canary")]);
        assert_eq!(reported("", ", add_request_headers: {x-b: {value: b}}"), [finding("add_request_headers.x-b", "main")]);
        let both = ", retry_policy: {retry_on: 5xx}, add_response_headers: {x-b: {value: b}}";
        assert_eq!(reported(both, both), [""; 0]);
    }

    #[test]
    fn overridden_field_is_reported() {
        let finding = |field: &str, other: &str, what: &str| {
            format!(
                "warning field-without-effect: this `{field}` changes nothing: Mapping {other} for the same requests {what}, which applies to all of them"
            )
        };
        let (else_, none) = ("has another value", "does not set it");
        assert_eq!(reported(", priority: high", ", priority: default"), [finding("priority", "main", else_)]);
        let header = |value: &str| format!(", add_request_headers: {{x-b: {{value: {value}}}}}");
        assert_eq!(reported(&header("a"), &header("b")), [finding("add_request_headers.x-b", "main", else_)]);
        let rewrite = ", regex_rewrite: {pattern: a, substitution: b}";
        assert_eq!(reported("", rewrite), [finding("regex_rewrite", "main", none)]);
        assert!(reported(rewrite, "").concat().starts_with("notice shared-field"), "the last one counts");
    }
}
