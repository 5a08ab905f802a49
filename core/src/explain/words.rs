//! Why a value is what it is, in plain words.
//!
//! What must not be here: places, and what a controller does: only what it is known for is said.

use crate::dialect::Dialect;
use crate::resource::Rule;
use alloc::format;
use alloc::string::{String, ToString};

/// What people call the controller.
fn controller(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Ambassador => "Emissary",
    }
}

/// The rule by which a value came from what `what` names (`spec.timeout_ms of Mapping quote.default`).
pub(super) fn rule(rule: Rule, what: Option<&str>, dialect: Dialect) -> String {
    let controller = controller(dialect);
    let Some(what) = what else {
        return match rule {
            Rule::Environment => format!("environment: set by a variable or flag of {controller}'s pod"),
            Rule::Default => format!("default: nobody sets it, and this is what {controller} then uses"),
            _ => format!("built in: {controller} always does this, whatever the resources say"),
        };
    };
    match rule {
        Rule::Field => format!("set by {what}"),
        Rule::Default => format!("default of {controller}, because of {what}"),
        Rule::Module => format!("module: set for the whole gateway by {what}"),
        Rule::Host => format!("host: follows from {what}"),
        Rule::Listener => format!("listener: follows from {what}"),
        Rule::Reference => format!("reference: follows from {what}, which is referred to"),
        Rule::Conversion => format!("conversion: made by {controller} from {what}"),
        Rule::Derived => format!("derived: {controller} works it out from {what}"),
        Rule::Environment => format!("environment: {controller} expands a variable in {what}"),
    }
}

/// What is known of a default at the end of a pointer.
pub(super) fn known_default(pointer: &str, dialect: Dialect) -> Option<String> {
    let Dialect::Ambassador = dialect;
    let known = AMBASSADOR.iter().find(|(end, _)| pointer.ends_with(end))?;
    Some(format!("default: {}", known.1).to_string())
}

/// Defaults that people ask about, by the end of the pointer (Envoy's and the IR's names).
const AMBASSADOR: &[(&str, &str)] = &[
    ("route/timeout", "Emissary gives a service 3000 ms to answer when nobody sets `timeout_ms`"),
    ("forward/timeout", "Emissary gives a service 3000 ms to answer when nobody sets `timeout_ms`"),
    ("/connect_timeout", "Emissary waits 3000 ms for a connection when nobody sets `connect_timeout_ms`"),
    ("route/prefix_rewrite", "Emissary rewrites the matched prefix to `/` when nobody sets `rewrite`"),
    ("/path_rewrite/prefix", "Emissary rewrites the matched prefix to `/` when nobody sets `rewrite`"),
    ("route/priority", "Emissary counts requests against the default circuit breaker when nobody sets `priority`"),
    ("/lb_policy", "Emissary takes endpoints in turn when nobody sets `load_balancer`"),
    ("/dns_lookup_family", "Emissary asks DNS for IPv4 when nobody sets `enable_ipv6`"),
    ("/use_remote_address", "Emissary takes the connection's address for the client's when nobody sets `use_remote_address`"),
    ("/normalize_path", "Emissary always resolves dot segments before it routes"),
    ("/server_name", "Emissary says `server: envoy` when nobody sets `server_name`"),
    ("/retry_policy/num_retries", "Emissary retries once when nobody sets `num_retries`"),
    ("/max_grpc_timeout", "Emissary leaves it to Envoy"),
    ("address/socket_address/address", "Emissary listens on all addresses when AMBASSADOR_ENVOY_BIND_ADDRESS is not set"),
    ("/weight", "Emissary shares what is left of 100 per cent among the Mappings without a weight"),
    ("/per_connection_buffer_limit_bytes", "Emissary leaves it to Envoy when nobody sets `buffer_limit_bytes`"),
];
