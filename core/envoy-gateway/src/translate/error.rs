//! Errors that become conditions of routes.

use super::super::status::sentence;
use alloc::collections::BTreeMap;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The type of condition that an error becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum About {
    Accepted,
    BackendsAvailable,
    ResolvedRefs,
}

impl About {
    /// Returns the condition's type.
    pub(crate) fn name(self) -> &'static str {
        match self {
            About::Accepted => "Accepted",
            About::BackendsAvailable => "BackendsAvailable",
            About::ResolvedRefs => "ResolvedRefs",
        }
    }
}

/// An error of a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RouteError {
    pub(crate) about: About,
    pub(crate) reason: String,
    pub(crate) message: String,
}

impl RouteError {
    /// An unresolved reference.
    pub(crate) fn new(reason: &str, message: impl Into<String>) -> Self {
        Self { about: About::ResolvedRefs, reason: reason.into(), message: message.into() }
    }

    /// A route that cannot be accepted.
    pub(crate) fn refused(reason: &str, message: impl Into<String>) -> Self {
        Self { about: About::Accepted, ..Self::new(reason, message) }
    }

    /// Puts words before the message.
    pub(crate) fn within(self, context: &str) -> Self {
        Self { message: format!("{context}: {}", self.message), ..self }
    }
}

/// Several errors as one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Errors(pub(crate) Vec<RouteError>);

impl Errors {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the reasons, sorted and joined.
    pub(crate) fn reason(&self) -> String {
        let reasons: BTreeSet<&str> = self.0.iter().map(|error| error.reason.as_str()).filter(|reason| !reason.is_empty()).collect();
        reasons.into_iter().collect::<Vec<_>>().join(",")
    }

    /// Returns the only message, or all messages as sentences on lines.
    pub(crate) fn message(&self) -> String {
        match self.0.as_slice() {
            [only] => only.message.clone(),
            all => all.iter().map(|error| sentence(&error.message)).collect::<Vec<_>>().join("\n"),
        }
    }
}

/// Errors by the condition that they become.
#[derive(Clone, Debug, Default)]
pub(crate) struct Collector(BTreeMap<About, Errors>);

impl Collector {
    pub(crate) fn add(&mut self, error: RouteError) {
        self.0.entry(error.about).or_default().0.push(error);
    }

    /// Returns one error for each condition.
    pub(crate) fn all(&self) -> Vec<RouteError> {
        self.0.iter().map(|(about, errors)| RouteError { about: *about, reason: errors.reason(), message: errors.message() }).collect()
    }
}
