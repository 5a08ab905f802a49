//! What changes the answer and is not in the YAML: how the controller is started, and what Azure answers.
//!
//! Nothing here is read from the process: hosts pass everything in.

use alloc::collections::BTreeMap;
use chancery_base::compilation::{self, Assumptions, MISSING_OPTION, MISSING_SECRETS_OPTION, Missing, OptionKind, OptionSpec};
use chancery_text::{Limits, Str, parse};

/// How the controller is started, and what Azure answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The text of the gateway as it is now, as ARM JSON; an empty gateway unless given.
    pub existing_gateway: Option<Str>,
    /// Variables of the controller's pod; defaults are those of its Helm chart.
    pub env: BTreeMap<Str, Str>,
    /// The addresses of public addresses, by their ids; every one is 203.0.113.10 unless given.
    pub public_ips: Option<BTreeMap<Str, Str>>,
    /// What Azure answers when the gateway is asked for, instead of the gateway.
    pub get_error: Option<Str>,
    /// What Azure answers when the gateway is changed, instead of changing it.
    pub update_error: Option<Str>,
    /// The cluster is older than 1.19: Ingresses are those of `extensions/v1beta1`.
    pub old_ingress_api: bool,
    /// What nothing says of how the controller is started is assumed.
    pub assumes_start: bool,
    /// The gateway is assumed to have the parts that Ingresses name, as far as its text is not given.
    pub assumes_parts: bool,
}

/// The option that holds the gateway as it is.
pub const EXISTING_GATEWAY: &str = "existing-gateway";
/// The option that holds the addresses of public addresses.
pub const PUBLIC_IPS: &str = "public-ips";
/// The option that holds why the gateway cannot be read.
pub const GET_ERROR: &str = "get-error";
const UPDATE_ERROR: &str = "update-error";
const OLD_INGRESS_API: &str = "old-ingress-api";
/// The option that holds variables of the controller.
pub const ENV: &str = "env";

/// The options by which people say so.
pub const SPECS: &[OptionSpec] = &[
    MISSING_OPTION,
    MISSING_SECRETS_OPTION,
    OptionSpec {
        name: EXISTING_GATEWAY,
        kind: OptionKind::File { placeholder: "FILE" },
        doc: "The Application Gateway as it is now, as ARM JSON; an empty gateway unless given",
        common: false,
    },
    OptionSpec {
        name: PUBLIC_IPS,
        kind: OptionKind::File { placeholder: "FILE" },
        doc: "JSON with the address of each public address by its id; 203.0.113.10 for each unless given",
        common: false,
    },
    OptionSpec {
        name: GET_ERROR,
        kind: OptionKind::Text { placeholder: "TEXT", default: "" },
        doc: "The error that Azure answers with when the gateway is read",
        common: false,
    },
    OptionSpec {
        name: UPDATE_ERROR,
        kind: OptionKind::Text { placeholder: "TEXT", default: "" },
        doc: "The error that Azure answers with when the gateway is changed",
        common: false,
    },
    OptionSpec {
        name: OLD_INGRESS_API,
        kind: OptionKind::Flag,
        doc: "Read Ingresses of extensions/v1beta1, as in clusters before 1.19",
        common: false,
    },
    OptionSpec { name: ENV, kind: OptionKind::Map, doc: "Variable of the controller's pod; may be given several times", common: false },
];

impl Options {
    /// How the controller is started, by the options that are given.
    pub fn of(options: &compilation::Options) -> Self {
        Self {
            existing_gateway: options.text(EXISTING_GATEWAY).cloned(),
            env: options.map(ENV).cloned().unwrap_or_default(),
            public_ips: options.text(PUBLIC_IPS).map(|text| addresses(text)),
            get_error: options.text(GET_ERROR).cloned(),
            update_error: options.text(UPDATE_ERROR).cloned(),
            old_ingress_api: options.flag(OLD_INGRESS_API),
            assumes_start: Assumptions::of(options).assumes_controller(),
            assumes_parts: Assumptions::of(options).of_others() != Missing::Error && options.text(EXISTING_GATEWAY).is_none(),
        }
    }
}

/// Addresses by ids; what is none is left out, so that nothing is known of it.
fn addresses(text: &str) -> BTreeMap<Str, Str> {
    let root = parse(text, &Limits::default()).root;
    let entries = root.as_ref().and_then(|root| root.as_object()).into_iter().flatten();
    entries.filter_map(|entry| Some((entry.key.clone(), Str::new(entry.value.as_str()?)))).collect()
}
