//! Shared parts of validation rules: verdicts, zero values, names, paths, methods, TLS versions.

use crate::go;
use alloc::format;
use alloc::string::String;
use chancery_base::ir::{Plain, Tree};
use chancery_base::resource::Sourced;
use chancery_kubernetes::reason::Reason;
use chancery_text::Str;

/// Valid, or the reason why not.
pub(crate) type Verdict = Result<(), Reason>;

/// Returns the error if the condition holds.
pub(crate) fn refuse(condition: bool, why: impl FnOnce() -> String) -> Verdict {
    if condition { Err(why().into()) } else { Ok(()) }
}

pub(super) fn named(tree: &Tree) -> Verdict {
    refuse(tree.get("Name").text().is_empty(), || "Name is required".into())
}

/// The maximum number of metadata pairs, and their maximum lengths.
pub(super) const META: (usize, usize, usize) = (64, 128, 512);

pub(super) fn meta(tree: &Tree) -> Verdict {
    let fields = tree.get("Meta").fields();
    let mut errors = go::Errors::default();
    if fields.len() > META.0 {
        errors.add(format!("Meta exceeds maximum element count {}", META.0));
    }
    for (key, value) in fields {
        if key.len() > META.1 {
            errors.add(format!("Meta key {} exceeds maximum length {}", go::quote(key), META.1));
        }
        if value.text().len() > META.2 {
            errors.add(format!("Meta value for key {} exceeds maximum length {}", go::quote(key), META.2));
        }
    }
    errors.result()
}

/// Checks a path: it must begin with a slash.
pub(super) fn path(value: &Tree, what: &str) -> Verdict {
    let text = value.text();
    refuse(!text.is_empty() && !text.starts_with('/'), || format!("{what} doesn't start with '/': {}", go::quote(text)))
}

pub(super) const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE"];

pub(super) fn methods(list: &Tree, what: &str) -> Verdict {
    for (at, method) in list.items().iter().enumerate() {
        let method = method.text();
        refuse(!METHODS.contains(&method), || format!("{what} contains an invalid method {}", go::quote(method)))?;
        let before = list.items().iter().take(at).any(|other| other.text() == method);
        refuse(before, || format!("{what} contains {} more than once", go::quote(method)))?;
    }
    Ok(())
}

/// How many of these fields are set.
pub(super) fn count(tree: &Tree, fields: &[&str]) -> usize {
    fields.iter().filter(|field| is_set(tree.get(field))).count()
}

/// Whether a value differs from the zero value of its type.
pub(crate) fn is_set(tree: &Tree) -> bool {
    match &tree.value {
        Plain::Null => false,
        Plain::Bool(value) => *value,
        Plain::Int(value) | Plain::Selected(Sourced { value, .. }) => *value != 0,
        Plain::Float(value) => *value != 0.0,
        Plain::String(value) | Plain::Material(value) => !value.is_empty(),
        Plain::List(items) => !items.is_empty(),
        Plain::Object(fields) => !fields.0.is_empty(),
    }
}

/// Converts a string to lower case.
pub(super) fn lower(tree: &mut Tree, field: &str) {
    change_case(tree.get_mut(field), str::to_ascii_lowercase);
}

pub(super) fn upper_all(list: Option<&mut Tree>) {
    if let Some(list) = list {
        list.items_mut().iter_mut().for_each(|item| change_case(Some(item), str::to_ascii_uppercase));
    }
}

pub(crate) fn change_case(text: Option<&mut Tree>, change: fn(&str) -> String) {
    if let Some(Tree { value: Plain::String(text), .. }) = text {
        *text = Str::from(change(text));
    }
}

pub(super) const TLS_VERSIONS: [&str; 5] = ["TLS_AUTO", "TLSv1_0", "TLSv1_1", "TLSv1_2", "TLSv1_3"];

/// Cipher suites, and their names in Envoy.
pub(crate) const CIPHERS: [(&str, &str); 14] = [
    ("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"),
    ("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"),
    ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"),
    ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"),
    ("TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA"),
    ("TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"),
    ("TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256"),
    ("TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"),
    ("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"),
    ("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"),
    ("TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA"),
    ("TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA"),
    ("TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384"),
    ("TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA"),
];

pub(super) fn tls(minimum: &Tree, maximum: &Tree, ciphers: &Tree) -> Verdict {
    let (low, high) = (minimum.text(), maximum.text());
    for version in [low, high] {
        let known = version.is_empty() || TLS_VERSIONS.contains(&version);
        refuse(!known, || {
            let all = "TLS_AUTO, TLSv1_0, TLSv1_1, TLSv1_2, TLSv1_3";
            format!("no matching TLS version found for {version}, please specify one of [{all}]")
        })?;
    }
    let rank = |version: &str| TLS_VERSIONS.iter().position(|known| *known == version).filter(|at| *at > 0);
    if let (Some(from), Some(to)) = (rank(low), rank(high)) {
        refuse(to < from, || format!("configuring max version {high} less than the configured min version {low} is invalid"))?;
    }
    if ciphers.items().is_empty() {
        return Ok(());
    }
    refuse(low == "TLSv1_3", || {
        format!("configuring CipherSuites is only applicable to connections negotiated with TLS 1.2 or earlier, TLSMinVersion is set to {low}")
    })?;
    let unknown = ciphers.items().iter().map(Tree::text).filter(|name| !CIPHERS.iter().any(|(known, _)| known == name));
    let unknown: alloc::vec::Vec<&str> = unknown.collect();
    refuse(!unknown.is_empty(), || format!("no matching Envoy TLS cipher suite found for {}", unknown.join(",")))
}
