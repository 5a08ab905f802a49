//! Finds reasons for nginx to refuse a whole configuration, as far as they can be detected without nginx.
//!
//! Does not find two locations with the same name; the dialect, which knows both paths, reports them.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::nginx::Nginx;
use chancery_base::resource::Origin;

/// A reason for a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// nginx's error in short form.
    pub why: String,
    /// The origin of the value that causes the refusal.
    pub origin: Option<Origin>,
}

/// Returns all reasons.
pub fn find(nginx: &Nginx) -> Vec<Refusal> {
    let mut all = Vec::new();
    for redirect in &nginx.redirects {
        if redirect.from.value.contains('*') {
            let why = format!("`from-to-www-redirect` on a wildcard makes the server name `{}`, which is not valid", redirect.from.value);
            all.push(Refusal { why, origin: redirect.from.origin });
        }
    }
    all
}
