//! Why a value is what it is, in plain words.
//!
//! What must not be here: places, and what a controller does: only what it is known for is said.

use crate::dialect::Dialect;
use crate::resource::Rule;
use alloc::format;
use alloc::string::String;

/// What people call the controller.
fn controller(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Ambassador => "Emissary",
        Dialect::Contour => "Contour",
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

/// What is known of a default at the end of a pointer, where this value (as JSON) stands.
pub(super) fn known_default(pointer: &str, value: &str, dialect: Dialect) -> Option<String> {
    let known = match dialect {
        Dialect::Ambassador => AMBASSADOR,
        Dialect::Contour => &[],
    };
    let known = known.iter().find(|(end, usual, _)| pointer.ends_with(end) && (*usual == value || usual.is_empty()))?;
    Some(format!("default: {}", known.2))
}

/// Defaults that people ask about, by the end of the pointer (Envoy's and the IR's names) and the value.
const AMBASSADOR: &[(&str, &str, &str)] = &[
    ("route/timeout", "\"3s\"", "Emissary gives a service 3000 ms to answer when nobody sets `timeout_ms`"),
    ("forward/timeout", "\"3s\"", "Emissary gives a service 3000 ms to answer when nobody sets `timeout_ms`"),
    ("/connect_timeout", "\"3s\"", "Emissary waits 3000 ms for a connection when nobody sets `connect_timeout_ms`"),
    ("route/prefix_rewrite", "\"/\"", "Emissary rewrites the matched prefix to `/` when nobody sets `rewrite`"),
    ("forward/path_rewrite", "{\"prefix\":\"/\"}", "Emissary rewrites the matched prefix to `/` when nobody sets `rewrite`"),
    ("match/case_sensitive", "true", "Emissary matches paths with their case when nobody sets `case_sensitive`"),
    ("/lb_policy", "\"ROUND_ROBIN\"", "Emissary takes endpoints in turn when nobody sets `load_balancer`"),
    ("/lb_policy", "\"round_robin\"", "Emissary takes endpoints in turn when nobody sets `load_balancer`"),
    ("/dns_lookup_family", "\"V4_ONLY\"", "Emissary asks DNS for IPv4 when nobody sets `enable_ipv6`"),
    ("/dns_family", "\"v4_only\"", "Emissary asks DNS for IPv4 when nobody sets `enable_ipv6`"),
    ("/use_remote_address", "true", "Emissary takes the connection's address for the client's when nobody sets `use_remote_address`"),
    ("/normalize_path", "true", "Emissary always resolves dot segments before it routes"),
    ("/server_name", "\"envoy\"", "Emissary says `server: envoy` when nobody sets `server_name`"),
    ("address/socket_address/address", "\"0.0.0.0\"", "Emissary listens on all addresses when AMBASSADOR_ENVOY_BIND_ADDRESS is not set"),
];
