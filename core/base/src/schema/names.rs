//! Implements Kubernetes' rules for names and labels (`k8s.io/apimachinery/pkg/util/validation`). Does not map kinds to rules.

use alloc::string::String;
use alloc::vec::Vec;

const ENDS: &str = "must start and end with an alphanumeric character";

const QUALIFIED: &str = "must consist of alphanumeric characters, '-', '_' or '.', and ";
const QUALIFIED_EXAMPLES: &str =
    " (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/// Checks a DNS subdomain (RFC 1123), the form of most objects' names. Returns the reference's messages.
pub fn subdomain(name: &str) -> Vec<String> {
    let mut faults = too_long(name, 253);
    if name.is_empty() || !name.split('.').all(is_label) {
        faults.push(alloc::format!(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and {ENDS} (e.g. 'example.com', \
             regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        ));
    }
    faults
}

/// Checks a wildcard DNS subdomain, `*.example.com`.
pub fn wildcard_subdomain(name: &str) -> Vec<String> {
    let mut faults = too_long(name, 253);
    if !name.strip_prefix("*.").is_some_and(|rest| rest.split('.').all(is_label)) {
        faults.push(
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric \
             characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is \
             '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
                .into(),
        );
    }
    faults
}

/// Checks a DNS label (RFC 1123), the form of namespaces.
pub fn label(name: &str) -> Vec<String> {
    let mut faults = too_long(name, 63);
    if !is_label(name) {
        faults.push(alloc::format!(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and {ENDS} (e.g. 'my-name',  or '123-abc', \
             regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
        ));
    }
    faults
}

/// Checks a path segment, the form of the names of RBAC kinds.
pub fn path_segment(name: &str) -> Vec<String> {
    if matches!(name, "." | "..") {
        return Vec::from([alloc::format!("may not be '{name}'")]);
    }
    ["/", "%"].into_iter().filter(|illegal| name.contains(*illegal)).map(|illegal| alloc::format!("may not contain '{illegal}'")).collect()
}

/// Checks a DNS label of the older kind (RFC 1035), the form of Services' names: it cannot start with a digit.
pub fn label_1035(name: &str) -> Vec<String> {
    let mut faults = too_long(name, 63);
    if !is_label(name) || name.starts_with(|c: char| c.is_ascii_digit()) {
        faults.push(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an \
             alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
                .into(),
        );
    }
    faults
}

/// Checks the value of a label.
pub fn label_value(value: &str) -> Vec<String> {
    let mut faults = too_long(value, 63);
    if !value.is_empty() && !is_loose_name(value) {
        faults.push(alloc::format!(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and {ENDS} (e.g. 'MyValue',  or \
             'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
        ));
    }
    faults
}

/// Checks the key of a label or annotation: `name` or `example.com/name`.
pub fn qualified_name(key: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let name = match key.split_once('/') {
        None => key,
        Some((prefix, name)) if !name.contains('/') => {
            if prefix.is_empty() {
                faults.push("prefix part must be non-empty".into());
            } else {
                faults.extend(subdomain(prefix).into_iter().map(|fault| alloc::format!("prefix part {fault}")));
            }
            name
        }
        Some(_) => {
            return alloc::vec![alloc::format!(
                "a qualified name {QUALIFIED}{ENDS}{QUALIFIED_EXAMPLES} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        faults.push("name part must be non-empty".into());
    } else {
        faults.extend(too_long(name, 63).into_iter().map(|fault| alloc::format!("name part {fault}")));
    }
    if !is_loose_name(name) {
        faults.push(alloc::format!("name part {QUALIFIED}{ENDS}{QUALIFIED_EXAMPLES}"));
    }
    faults
}

fn too_long(text: &str, limit: usize) -> Vec<String> {
    if text.len() > limit { alloc::vec![alloc::format!("must be no more than {limit} characters")] } else { Vec::new() }
}

fn is_label(text: &str) -> bool {
    let edge = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(edge) && bytes.last().is_some_and(edge) && bytes.iter().all(|byte| edge(byte) || *byte == b'-')
}

fn is_loose_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let edge = u8::is_ascii_alphanumeric;
    bytes.first().is_some_and(edge) && bytes.last().is_some_and(edge) && bytes.iter().all(|byte| edge(byte) || matches!(byte, b'-' | b'_' | b'.'))
}
