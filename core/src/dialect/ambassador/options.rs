//! What changes the answer and is not in the YAML: the environment and flags of the real controller's pod.
//!
//! Nothing here is read from the process: hosts pass everything in. Defaults are those of the real deployment.

use crate::text::Str;
use alloc::collections::BTreeMap;

/// What is done about objects that are referred to and that nobody supplied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingSecrets {
    /// They are taken to exist, and a notice says so.
    Assume,
    /// They do not exist: right where the whole cluster is known.
    #[default]
    Error,
}

/// The controller's environment.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// `AMBASSADOR_ID`.
    pub ambassador_id: Str,
    /// `AMBASSADOR_NAMESPACE`.
    pub ambassador_namespace: Str,
    /// `AMBASSADOR_SINGLE_NAMESPACE`: only the controller's own namespace is watched.
    pub single_namespace: bool,
    /// What is done about Secrets that nobody supplied.
    pub missing_secrets: MissingSecrets,
    /// Other variables of the pod: they switch features, and are expanded wherever the configuration says `$NAME` or `${NAME}`.
    pub env: BTreeMap<Str, Str>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            ambassador_id: Str::new_static("default"),
            ambassador_namespace: Str::new_static("default"),
            single_namespace: false,
            missing_secrets: MissingSecrets::default(),
            env: BTreeMap::new(),
        }
    }
}

impl Options {
    /// A variable of the pod; an empty one counts as absent.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let value = match name {
            "AMBASSADOR_ID" => &self.ambassador_id,
            "AMBASSADOR_NAMESPACE" => &self.ambassador_namespace,
            _ => self.env.get(name)?,
        };
        Some(value.as_str()).filter(|value| !value.is_empty())
    }

    /// `AMBASSADOR_KNATIVE_SUPPORT`: whether Knative's Ingresses are watched.
    pub fn knative(&self) -> bool {
        self.variable("AMBASSADOR_KNATIVE_SUPPORT").is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// `AMBASSADOR_FORCE_SECRET_VALIDATION`: whether Secrets without valid PEM are withheld. Read as Go reads booleans.
    pub fn force_secret_validation(&self) -> bool {
        let value = self.variable("AMBASSADOR_FORCE_SECRET_VALIDATION");
        matches!(value, Some("1" | "t" | "T" | "true" | "TRUE" | "True"))
    }

    /// Whether Secrets are read from the controller's own namespace only.
    pub fn certs_single_namespace(&self) -> bool {
        match self.env.get("AMBASSADOR_CERTS_SINGLE_NAMESPACE") {
            Some(value) => !value.is_empty(),
            None => self.single_namespace,
        }
    }
}
