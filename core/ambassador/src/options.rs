//! Reads the environment and flags of the controller's pod.
//!
//! Nothing is read from the process: hosts pass everything. Defaults are those of the real deployment.

use alloc::collections::BTreeMap;
use chancery_base::compilation::{self, Assumptions, MISSING_OPTION, MISSING_SECRETS_OPTION, OptionKind, OptionSpec};
use chancery_text::Str;

/// The controller's environment.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// `AMBASSADOR_ID`.
    pub ambassador_id: Str,
    /// `AMBASSADOR_NAMESPACE`.
    pub ambassador_namespace: Str,
    /// `AMBASSADOR_SINGLE_NAMESPACE`: only the controller's own namespace is watched.
    pub single_namespace: bool,
    /// How missing objects are treated.
    pub missing: Assumptions,
    /// Other variables of the pod: they switch features, and replace `$NAME` or `${NAME}` in the configuration.
    pub env: BTreeMap<Str, Str>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            ambassador_id: Str::new_static("default"),
            ambassador_namespace: Str::new_static("default"),
            single_namespace: false,
            missing: Assumptions::default(),
            env: BTreeMap::new(),
        }
    }
}

const ID: &str = "ambassador-id";
const NAMESPACE: &str = "ambassador-namespace";
const SINGLE_NAMESPACE: &str = "single-namespace";
const ENV: &str = "env";

/// The options that users can set.
pub const SPECS: &[OptionSpec] = &[
    OptionSpec { name: ID, kind: OptionKind::Text { placeholder: "ID", default: "default" }, doc: "AMBASSADOR_ID of the controller", common: false },
    OptionSpec {
        name: NAMESPACE,
        kind: OptionKind::Text { placeholder: "NAMESPACE", default: "default" },
        doc: "Namespace of the controller",
        common: false,
    },
    OptionSpec { name: SINGLE_NAMESPACE, kind: OptionKind::Flag, doc: "The controller watches its own namespace only", common: false },
    MISSING_OPTION,
    MISSING_SECRETS_OPTION,
    OptionSpec { name: ENV, kind: OptionKind::Map, doc: "Variable of the controller's pod; repeatable", common: false },
];

impl Options {
    /// Reads the controller's environment from the options.
    pub fn of(options: &compilation::Options) -> Self {
        let default = Self::default();
        Self {
            ambassador_id: options.text(ID).cloned().unwrap_or(default.ambassador_id),
            ambassador_namespace: options.text(NAMESPACE).cloned().unwrap_or(default.ambassador_namespace),
            single_namespace: options.flag(SINGLE_NAMESPACE),
            missing: Assumptions::of(options),
            env: options.map(ENV).cloned().unwrap_or_default(),
        }
    }

    /// A variable of the pod; an empty one is treated as absent.
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

    /// `AMBASSADOR_ENVOY_BIND_ADDRESS`: the address of listeners.
    pub fn bind_address(&self) -> Str {
        Str::new(self.variable("AMBASSADOR_ENVOY_BIND_ADDRESS").unwrap_or("0.0.0.0"))
    }

    /// Whether all labels of a selector must match; `DISABLE_STRICT_LABEL_SELECTORS` lets one suffice.
    pub fn strict_label_selectors(&self) -> bool {
        !self.variable("DISABLE_STRICT_LABEL_SELECTORS").is_some_and(python_true)
    }

    /// Whether endpoints are used at all; `AMBASSADOR_DISABLE_ENDPOINTS` turns them off.
    pub fn endpoints_enabled(&self) -> bool {
        self.variable("AMBASSADOR_DISABLE_ENDPOINTS").is_none()
    }

    /// The first part of the node's cluster name: the id if one is set.
    pub fn node_id(&self) -> &str {
        if self.ambassador_id == "default" { "ambassador" } else { &self.ambassador_id }
    }

    /// `AMBASSADOR_READY_PORT`, the port of the readiness listener.
    pub fn ready_port(&self) -> u16 {
        let port = self.variable("AMBASSADOR_READY_PORT").and_then(|text| text.trim().parse().ok());
        port.filter(|port| (1..32767).contains(port)).unwrap_or(8006)
    }

    /// The address of the readiness listener; `AMBASSADOR_HEALTHCHECK_IP_FAMILY` can select IPv6.
    pub fn ready_address(&self) -> Str {
        Str::new_static(if self.variable("AMBASSADOR_HEALTHCHECK_IP_FAMILY") == Some("IPV6_ONLY") { "::1" } else { "127.0.0.1" })
    }

    /// `AMBASSADOR_READY_LOG`: whether the readiness listener logs.
    pub fn ready_log(&self) -> bool {
        self.variable("AMBASSADOR_READY_LOG").is_some_and(python_true)
    }

    /// The receiver of statistics with `STATSD_ENABLED`: `STATSD_HOST` as written. The controller resolves the name first.
    pub fn statsd_address(&self) -> Option<Str> {
        let on = self.variable("STATSD_ENABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
        on.then(|| Str::new(self.variable("STATSD_HOST").unwrap_or("statsd-sink")))
    }

    /// `DOGSTATSD`: whether statistics are sent in Datadog's form.
    pub fn dogstatsd(&self) -> bool {
        self.variable("DOGSTATSD").is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// Whether Secrets are read from the controller's own namespace only.
    pub fn certs_single_namespace(&self) -> bool {
        match self.env.get("AMBASSADOR_CERTS_SINGLE_NAMESPACE") {
            Some(value) => !value.is_empty(),
            None => self.single_namespace,
        }
    }
}

/// Whether Python's `parse_bool` considers a string true.
fn python_true(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "y" | "yes" | "on" | "1" | "true" | "t")
}
