//! What makes nginx refuse a whole configuration, as far as it can be told without nginx.
//!
//! Two locations of the same name are found by the dialect, which knows both paths.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::nginx::Nginx;
use chancery_base::resource::Origin;

/// A reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What nginx says, in plain words.
    pub why: String,
    /// Where the reason is written.
    pub origin: Option<Origin>,
}

/// All of them.
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
