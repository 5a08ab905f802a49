//! Processes header policies (Contour `internal/dag/policy.go`): canonical names, values with Envoy's and Contour's variables, and merging.

use crate::model::HeadersPolicy;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use chancery_base::resource::{Rule, Sourced};
use chancery_base::schema::go_quoted;
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::reason::Reason;
use chancery_text::Str;

/// Contour's own variables in header values.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    /// `%CONTOUR_NAMESPACE%`
    pub namespace: Str,
    /// `%CONTOUR_SERVICE_NAME%` and `%CONTOUR_SERVICE_PORT%`
    pub service: Option<(Str, i64)>,
}

/// Envoy's variables in header values; every other `%` is literal.
const ENVOY: &[&str] = &[
    "DOWNSTREAM_REMOTE_ADDRESS",
    "DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT",
    "DOWNSTREAM_LOCAL_ADDRESS",
    "DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT",
    "DOWNSTREAM_LOCAL_PORT",
    "DOWNSTREAM_LOCAL_URI_SAN",
    "DOWNSTREAM_PEER_URI_SAN",
    "DOWNSTREAM_LOCAL_SUBJECT",
    "DOWNSTREAM_PEER_SUBJECT",
    "DOWNSTREAM_PEER_ISSUER",
    "DOWNSTREAM_TLS_SESSION_ID",
    "DOWNSTREAM_TLS_CIPHER",
    "DOWNSTREAM_TLS_VERSION",
    "DOWNSTREAM_PEER_FINGERPRINT_256",
    "DOWNSTREAM_PEER_FINGERPRINT_1",
    "DOWNSTREAM_PEER_SERIAL",
    "DOWNSTREAM_PEER_CERT",
    "DOWNSTREAM_PEER_CERT_V_START",
    "DOWNSTREAM_PEER_CERT_V_END",
    "HOSTNAME",
    "PROTOCOL",
    "UPSTREAM_REMOTE_ADDRESS",
    "RESPONSE_FLAGS",
    "RESPONSE_CODE_DETAILS",
    "TLS_JA3_FINGERPRINT",
    "TLS_JA4_FINGERPRINT",
];

/// A header's name like Go's `http.CanonicalHeaderKey`; an invalid name is unchanged.
pub fn canonical(name: &str) -> Str {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(token) {
        return name.into();
    }
    let mut upper = true;
    let letter = |c: char| {
        let written = if upper { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
        upper = c == '-';
        written
    };
    name.chars().map(letter).collect::<String>().into()
}

/// Kubernetes' error for an invalid header name.
pub fn name_error(name: &str) -> Option<&'static str> {
    let valid = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (!valid).then_some(
        "[a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')]",
    )
}

/// A header's value for Envoy: every `%` is doubled except in known variables, and Contour's variables are replaced.
pub fn escape(value: &str, variables: &Variables) -> Str {
    if !value.contains('%') {
        return value.into();
    }
    let mut escaped = value.replace('%', "%%");
    escaped = escaped.replace("%%CONTOUR_NAMESPACE%%", &variables.namespace);
    if let Some((name, port)) = &variables.service {
        escaped = escaped.replace("%%CONTOUR_SERVICE_NAME%%", name).replace("%%CONTOUR_SERVICE_PORT%%", &port.to_string());
    }
    for name in ENVOY {
        escaped = escaped.replace(&format!("%%{name}%%"), &format!("%{name}%"));
    }
    requests(&escaped).into()
}

/// Takes the doubling off `%%REQ(name?other):5%%`.
fn requests(escaped: &str) -> String {
    let mut out = String::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some(at) = rest.find("%%REQ(") {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        match request(&from[6..]) {
            Some(length) => {
                out.push_str(&from[1..6 + length - 1]);
                rest = &from[6 + length..];
            }
            None => {
                out.push('%');
                rest = &from[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// How long the rest of a `%%REQ(` is, if it is one.
fn request(text: &str) -> Option<usize> {
    let word = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-').len();
    let name = |at: usize| {
        let start = at + usize::from(text[at..].starts_with(':'));
        let length = word(&text[start..]);
        (length > 0).then_some(start + length)
    };
    let mut at = name(0)?;
    if text[at..].starts_with('?') {
        at = name(at + 1)?;
    }
    at += text[at..].starts_with(')').then_some(1)?;
    if let Some(limit) = text[at..].strip_prefix(':') {
        let digits = limit.len() - limit.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        at += (digits > 0).then_some(1 + digits)?;
    }
    text[at..].starts_with("%%").then_some(at + 2)
}

/// The header of `%REQ(header)%`, if the host comes from a header.
fn host_header(value: &str) -> Option<&str> {
    let mut rest = value;
    while let Some(at) = rest.find("%REQ(") {
        let inner = &rest[at + 5..];
        let length = inner.len() - inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '-').len();
        if length > 0 && inner[length..].starts_with(")%") {
            return Some(&inner[..length]);
        }
        rest = inner;
    }
    None
}

/// The policy of a route or service. Errors are reported with Contour's messages.
pub fn policy(at: Cursor<'_>, host_allowed: bool, variables: &Variables) -> Result<Option<HeadersPolicy>, Reason> {
    if !at.exists() {
        return Ok(None);
    }
    let mut policy = HeadersPolicy::default();
    for entry in at.field("set").items() {
        let key = canonical(entry.field("name").str());
        if policy.set.contains_key(&key) {
            return Err(format!("duplicate header addition: {}", go_quoted(&key)).into());
        }
        let value = entry.field("value");
        if key == "Host" {
            if !host_allowed {
                return Err("rewriting \"Host\" header is not supported".into());
            }
            match host_header(value.str()) {
                Some(header) => policy.host_rewrite_header = Some(Sourced::new(canonical(header), value.origin())),
                None => policy.host_rewrite = value.text(),
            }
            continue;
        }
        if let Some(why) = name_error(&key) {
            return Err(format!("invalid set header {}: {why}", go_quoted(&key)).into());
        }
        policy.set.insert(key, Sourced::new(escape(value.str(), variables), value.origin()));
    }
    let mut removed = BTreeMap::new();
    for entry in at.field("remove").items() {
        let key = canonical(entry.str());
        if removed.contains_key(&key) {
            return Err(format!("duplicate header removal: {}", go_quoted(&key)).into());
        }
        if let Some(why) = name_error(&key) {
            return Err(format!("invalid remove header {}: {why}", go_quoted(&key)).into());
        }
        removed.insert(key, entry.origin());
    }
    policy.remove = removed.into_iter().map(|(key, origin)| Sourced::new(key, origin)).collect();
    Ok(Some(policy))
}

/// A service's policy, with Contour's default for all services below it.
pub fn service_policy(
    default: Option<Cursor<'_>>,
    at: Cursor<'_>,
    host_allowed: bool,
    variables: &Variables,
) -> Result<Option<HeadersPolicy>, Reason> {
    let own = policy(at, host_allowed, variables)?;
    let Some(default) = default else { return Ok(own) };
    let mut own = own.unwrap_or_default();
    for (name, value) in default.field("set").entries() {
        let key = canonical(name);
        if key == "Host" {
            if !host_allowed {
                return Err("rewriting \"Host\" header is not supported".into());
            }
            if own.host_rewrite.is_none() {
                if host_header(value.str()).is_some() {
                    return Err("rewriting \"Host\" host header with dynamic value is not supported on service".into());
                }
                own.host_rewrite = value.text().map(|text| text.by(Rule::Module));
            }
            continue;
        }
        if let Some(why) = name_error(&key) {
            return Err(format!("invalid set header {}: {why}", go_quoted(&key)).into());
        }
        let escaped = || Sourced::new(escape(value.str(), variables), value.origin()).by(Rule::Module);
        own.set.entry(key).or_insert_with(escaped);
    }
    let removed: BTreeSet<Str> = own.remove.iter().map(|name| name.value.clone()).collect();
    for entry in default.field("remove").items() {
        let key = canonical(entry.str());
        if let Some(why) = name_error(&key) {
            return Err(format!("invalid set header {}: {why}", go_quoted(&key)).into());
        }
        if !removed.contains(&key) {
            own.remove.push(Sourced::new(key, entry.origin()).by(Rule::Module));
        }
    }
    Ok(Some(own))
}

#[cfg(test)]
mod tests {
    use super::{Variables, canonical, escape};

    #[test]
    fn percent_signs_are_doubled_but_in_known_variables() {
        let variables = Variables { namespace: "teams".into(), service: None };
        let cases = [
            ("plain", "plain"),
            ("50%", "50%%"),
            ("%HOSTNAME% %NOPE%", "%HOSTNAME% %%NOPE%%"),
            ("%CONTOUR_NAMESPACE%", "teams"),
            ("%REQ(X-Host)%", "%REQ(X-Host)%"),
            ("%REQ(:path?x-p):7%!", "%REQ(:path?x-p):7%!"),
            ("%REQ()%", "%%REQ()%%"),
        ];
        for (written, sent) in cases {
            assert_eq!(escape(written, &variables), sent, "{written}");
        }
    }

    #[test]
    fn invalid_header_names_are_unchanged() {
        assert_eq!(canonical("x-reQuest-ID"), "X-Request-Id");
        assert_eq!(canonical("x request"), "x request");
    }
}
