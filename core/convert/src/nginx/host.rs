//! Describes the host of a server: its file, names and listeners.
//!
//! Does not convert it; see `servers`.

use super::super::gateway::{HTTP, Header, PathMatch, RouteMatch};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::nginx::{DEFAULT_SERVER, Server};

/// The file of a host.
pub(super) fn file_of(host: &str) -> String {
    match host {
        DEFAULT_SERVER => "all-hosts.yaml".to_string(),
        host => format!("{}.yaml", host.replacen('*', "wildcard", 1).to_ascii_lowercase()),
    }
}

/// What a server's routes share.
pub(super) struct Host<'s> {
    pub(super) server: &'s Server,
    pub(super) file: String,
    /// Empty for all hosts.
    pub(super) names: Vec<String>,
    /// The names of listeners with TLS.
    pub(super) secure: Vec<String>,
    /// The condition that a wildcard matches one label.
    pub(super) label: Option<Header>,
}

impl Host<'_> {
    /// All listeners of the host.
    pub(super) fn sections(&self) -> Vec<String> {
        core::iter::once(HTTP.to_string()).chain(self.secure.iter().cloned()).collect()
    }

    /// The conditions on a path of the host.
    pub(super) fn on(&self, path: PathMatch) -> RouteMatch {
        let plain = RouteMatch::new(path);
        match &self.label {
            Some(label) => plain.and(label.clone()),
            None => plain,
        }
    }
}
