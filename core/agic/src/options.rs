//! Options that affect the result and are not in the YAML: how the controller is started, and what Azure answers.
//!
//! Hosts pass all of them in; nothing is read from the process.

use alloc::collections::BTreeMap;
use chancery_base::compilation::{self, Assumptions, MISSING_OPTION, MISSING_SECRETS_OPTION, Missing, OptionKind, OptionSpec};
use chancery_text::{Limits, Str, parse};

/// How the controller is started, and what Azure answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The current gateway as ARM JSON; by default an empty gateway.
    pub existing_gateway: Option<Str>,
    /// Variables of the controller's pod; the defaults are those of its Helm chart.
    pub env: BTreeMap<Str, Str>,
    /// The IP addresses of public addresses, by id; by default 203.0.113.10.
    pub public_ips: Option<BTreeMap<Str, Str>>,
    /// Azure's error when AGIC reads the gateway.
    pub get_error: Option<Str>,
    /// Azure's error when AGIC changes the gateway.
    pub update_error: Option<Str>,
    /// Whether the cluster is older than 1.19, with Ingresses of `extensions/v1beta1`.
    pub old_ingress_api: bool,
    /// Whether unknown start options of the controller are assumed.
    pub assumes_start: bool,
    /// Whether the parts that Ingresses name are assumed to exist, if the gateway's text is not given.
    pub assumes_parts: bool,
}

/// The option that holds the current gateway.
pub const EXISTING_GATEWAY: &str = "existing-gateway";
/// The option that holds the IP addresses of public addresses.
pub const PUBLIC_IPS: &str = "public-ips";
/// The option that holds the error for reading the gateway.
pub const GET_ERROR: &str = "get-error";
const UPDATE_ERROR: &str = "update-error";
const OLD_INGRESS_API: &str = "old-ingress-api";
/// The option that holds variables of the controller.
pub const ENV: &str = "env";

/// The options that users can set.
pub const SPECS: &[OptionSpec] = &[
    MISSING_OPTION,
    MISSING_SECRETS_OPTION,
    OptionSpec {
        name: EXISTING_GATEWAY,
        kind: OptionKind::File { placeholder: "FILE" },
        doc: "The current Application Gateway, as ARM JSON [default: an empty gateway]",
        common: false,
    },
    OptionSpec {
        name: PUBLIC_IPS,
        kind: OptionKind::File { placeholder: "FILE" },
        doc: "JSON with the IP address of each public address, by resource id [default: 203.0.113.10 for each]",
        common: false,
    },
    OptionSpec {
        name: GET_ERROR,
        kind: OptionKind::Text { placeholder: "TEXT", default: "" },
        doc: "Azure's error when AGIC reads the gateway",
        common: false,
    },
    OptionSpec {
        name: UPDATE_ERROR,
        kind: OptionKind::Text { placeholder: "TEXT", default: "" },
        doc: "Azure's error when AGIC changes the gateway",
        common: false,
    },
    OptionSpec {
        name: OLD_INGRESS_API,
        kind: OptionKind::Flag,
        doc: "Read Ingresses of extensions/v1beta1, as in clusters before 1.19",
        common: false,
    },
    OptionSpec { name: ENV, kind: OptionKind::Map, doc: "Variable of the controller's pod; repeatable", common: false },
];

impl Options {
    /// Reads the options.
    pub fn of(options: &compilation::Options) -> Self {
        Self {
            existing_gateway: options.text(EXISTING_GATEWAY).cloned(),
            env: options.map(ENV).cloned().unwrap_or_default(),
            public_ips: options.text(PUBLIC_IPS).map(|text| addresses(text)),
            get_error: options.text(GET_ERROR).cloned(),
            update_error: options.text(UPDATE_ERROR).cloned(),
            old_ingress_api: options.flag(OLD_INGRESS_API),
            assumes_start: Assumptions::of(options).assumes_controller(),
            assumes_parts: Assumptions::of(options).for_other_kinds() != Missing::Error && options.text(EXISTING_GATEWAY).is_none(),
        }
    }
}

/// Addresses by ids; invalid ones are left out, so that they are unknown.
fn addresses(text: &str) -> BTreeMap<Str, Str> {
    let root = parse(text, &Limits::default()).root;
    let entries = root.as_ref().and_then(|root| root.as_object()).into_iter().flatten();
    entries.filter_map(|entry| Some((entry.key.clone(), Str::new(entry.value.as_str()?)))).collect()
}
