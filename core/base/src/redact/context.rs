//! Decides whether a field is a credential by its key, its neighbouring fields and the keys above it.
//!
//! Text and trees share these rules; see `cover` and `secret_objects`.

use super::opaque::is_opaque;
use super::value::{is_credential, misplaced_keys};
use super::words::{
    bare_key, holds_access, holds_tokens, is_cookie, is_cookie_header, is_line_of_header, is_match_of_header, is_part_of_reference, is_qualifier,
    is_sensitive_flag, is_sensitive_header, is_sensitive_key, is_sensitive_query, is_value_of_header, may_be_token, names_client, names_headers,
    names_sensitive_header, refers_to_secret, refers_to_store, sets_headers, split_key,
};

/// The match of a header or query parameter in Envoy's messages.
const MATCHER: &str = "string_match";

/// What the keys above a node say about it.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) struct Context {
    /// Below a key for headers: keys are header names.
    in_headers: bool,
    /// Below a key for headers, or one key deeper.
    near_headers: bool,
    /// These headers are sent.
    sets_headers: bool,
    /// In a list below a key for headers: each item is a header.
    is_header: bool,
    /// Each field is a credential.
    in_tokens: bool,
    /// Each list item is a credential.
    pub(super) is_value: bool,
    /// At any depth below a key that names a credential: a field named `value` is a credential.
    in_sensitive: bool,
    /// Below a key for tokens and policies.
    in_access: bool,
    /// Below the first of two words that name a credential; `key` is the second.
    in_qualifier: bool,
    /// Below a key for the names of cookies.
    names_cookies: bool,
    /// Below a reference to a secret store.
    in_store: bool,
}

impl Context {
    /// The context below a key. `by_key` says whether the key names a credential.
    pub(super) fn below(self, key: &str, by_key: bool) -> Self {
        let in_headers = names_headers(key);
        // Everything below a header's name is its value. The same holds for its match, and where a typing error kept a quotation mark.
        let in_value = by_key && (self.in_headers && is_sensitive_header(key) || key == MATCHER || key.ends_with(['"', '\'']));
        let in_tokens = holds_tokens(key) || in_value;
        Self {
            in_headers,
            near_headers: in_headers || self.in_headers,
            sets_headers: in_headers && sets_headers(key) || self.in_headers && self.sets_headers,
            is_header: false,
            in_tokens,
            is_value: by_key || in_tokens,
            in_sensitive: by_key || self.in_sensitive || self.sets_headers && is_cookie_header(key),
            in_access: holds_access(key),
            in_qualifier: is_qualifier(key),
            names_cookies: key == "cookieNames",
            in_store: self.in_store || refers_to_store(key),
        }
    }

    /// The context in a list.
    pub(super) fn in_list(self) -> Self {
        Self { in_headers: false, near_headers: false, is_header: self.near_headers, ..self }
    }
}

/// What the fields of an object say about each other.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) struct Fields {
    /// One names a header that carries credentials.
    of_header: bool,
    /// One identifies a client, which has a `secret`.
    of_client: bool,
    /// One is a password, whose user is in `data`.
    of_pair: bool,
    /// One names a Secret.
    of_reference: bool,
}

impl Fields {
    /// Adds a field.
    pub(super) fn add(&mut self, at: Context, key: &str, value: Option<&str>) {
        let is_session = || at.is_header && at.sets_headers && matches!(key, "name" | "headerName") && value.is_some_and(is_cookie_header);
        self.of_header |= names_sensitive_header(key, value) || is_session();
        self.of_client |= names_client(key);
        self.of_pair |= key == "password";
        self.of_reference |= refers_to_secret(key) && value.is_none_or(|value| !value.trim_matches(['"', '\'']).is_empty());
    }
}

/// Whether a field is a credential. `value` is missing if it is not a scalar.
pub(super) fn is_credential_field(at: Context, fields: Fields, key: &str, value: Option<&str>) -> bool {
    let (name, _) = split_key(key);
    let name = bare_key(name);
    // A section of a policy's rules has the name of a header.
    let is_section = || key == "authorization" && value.is_none();
    // The key of a Secret or of a secret store is a name, unless a typing error put a value there.
    let is_named = at.in_store || fields.of_reference && is_part_of_reference(key);
    if is_named && value.is_some_and(|value| !is_opaque(value) && !is_credential(value)) {
        return false;
    }
    at.in_tokens
        || (is_sensitive_key(key) || name.len() < key.len() && is_sensitive_key(name)) && !at.names_cookies && !is_section()
        || name == "key" && at.in_qualifier
        || at.in_access && value.is_some_and(may_be_token)
        || at.near_headers && is_line_of_header(key)
        // A comma may have split a header's name.
        || (at.in_headers || at.near_headers && at.sets_headers) && (is_sensitive_header(name) || key.starts_with('-'))
        || at.near_headers && at.sets_headers && value.is_some_and(|value| is_cookie(name, value))
        || (fields.of_header || at.in_sensitive) && is_value_of_header(name)
        || fields.of_header && (at.near_headers || at.is_header) && is_match_of_header(name)
        || fields.of_header && name == MATCHER
        || fields.of_client && name == "secret"
        || fields.of_pair && name == "data"
        || value.is_some_and(|value| is_sensitive_query(name, value) || !misplaced_keys(name, value).is_empty())
}

/// Whether a list item names a credential that the next item holds: a flag, or a header in a list without the keys `name` and `value`.
pub(super) fn is_name_of_next(at: Context, item: &str) -> bool {
    is_sensitive_flag(item) || at.is_header && is_sensitive_header(item)
}
