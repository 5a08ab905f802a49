//! What Emissary takes and does not use: fields beside others that win, settings that it does not have, Modules that it does not read.
//!
//! Source of behaviour: Emissary `python/ambassador/ir/{irambassador,irhttpmapping,irhttpmappinggroup}.py`, `envoy/v3/v3route.py`. What must
//! not be here: what a schema drops, and what Emissary reports.

use super::field;
use crate::compilation::SideRef;
use crate::diagnostic::{Diagnostic, Known, Place, Values, codes};
use crate::dialect::ambassador::spec::decode::Unset;
use crate::dialect::ambassador::spec::{AmbassadorModule, Buffer, GrpcStats, Gzip, KeepAlive, Probe};
use crate::dialect::kubernetes::at_name;
use crate::dialect::kubernetes::known::{Field, is_read, unknown_values};
use crate::resource::{Object, nearest};
use crate::text::Node;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

const DNS: Known = Known { values: Values::AnyCase(&["strict_dns", "logical_dns"]), otherwise: "takes `strict_dns`" };
const SWITCH: Known =
    Known { values: Values::AnyCase(&["true", "false", "yes", "no", "on", "off", "y", "n", "t", "f", "1", "0"]), otherwise: "leaves the switch off" };

const FIELDS: &[Field] = &[
    ("Mapping", &["spec", "dns_type"], DNS),
    ("Mapping", &["dns_type"], DNS),
    ("Module", &["spec", "config", "merge_slashes"], SWITCH),
    ("Module", &["spec", "config", "reject_requests_with_escaped_slashes"], SWITCH),
    ("Module", &["spec", "config", "strip_matching_host_port"], SWITCH),
    ("Module", &["spec", "config", "suppress_envoy_headers"], SWITCH),
];

/// Values that Emissary does not know.
pub fn values(side: SideRef<'_>) -> Vec<Diagnostic> {
    unknown_values(side, FIELDS)
}

/// Fields of Mappings without effect.
pub fn fields(side: SideRef<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for object in side.objects().iter().filter(|object| *object.key.kind == *"Mapping" && is_read(side, object)) {
        let is_set = |name: &str| field(object, name).is_some_and(|node| !node.is_null() && node.as_str() != Some(""));
        let is_true = |name: &str| field(object, name).and_then(Node::as_bool) == Some(true);
        let has_hostname = is_set("hostname") && object.api_version.ends_with("v3alpha1");
        let mut report = |name: &str, why: &str, help: &str| {
            let Some(node) = field(object, name).filter(|_| is_set(name)) else { return };
            let finding = Diagnostic::new(&codes::FIELD_WITHOUT_EFFECT, format!("`{name}` changes nothing: {why}"), Place::key(object.id, node.id));
            found.push(finding.about(object.key.clone()).help(help));
        };
        for name in ["envoy_override", "outlier_detection", "modules"] {
            report(name, "Emissary does not use it any more", "take it away");
        }
        if has_hostname && field(object, "host").and_then(Node::as_str) != field(object, "hostname").and_then(Node::as_str) {
            report("host", "`hostname` counts instead of it", "keep the one that is meant, as `hostname`");
        }
        if is_true("host_regex") && has_hostname {
            report(
                "host_regex",
                "`hostname` is no regular expression, but may begin or end with `*`",
                "write the expression in `host`, without `hostname`",
            );
        } else if is_true("host_regex") && !is_set("host") {
            report("host_regex", "there is no `host`", "write the expression in `host`");
        }
        if is_true("method_regex") && !is_set("method") {
            report("method_regex", "there is no `method`", "write the expression in `method`");
        }
        if !is_true("host_redirect") {
            for name in ["path_redirect", "prefix_redirect", "regex_redirect", "redirect_response_code"] {
                report(name, "requests are forwarded, not redirected", "add `host_redirect: true`, with the host to redirect to in `service`");
            }
        }
    }
    found
}

/// The Modules that are read.
const MODULES: [&str; 3] = ["ambassador", "tls", "authentication"];

/// Settings that Emissary takes besides those that we read; they do nothing.
const IDLE: [&str; 4] = ["auth_enabled", "prune_unreachable_routes", "regex_type", "statsd"];

/// Who may see the diagnostics from elsewhere, which is up to the page that shows them (Emissary `python/ambassador-diag`, `diagd.py`).
const OF_THE_PAGE: &[&str] = &["allow_non_local"];

/// Settings that hold others: which they hold, and which of these are not for Envoy.
const PARTS: &[(&str, &[&str], &[&str])] = &[
    ("buffer", Buffer::KEYS, &[]),
    ("diagnostics", Probe::KEYS, OF_THE_PAGE),
    ("grpc_stats", GrpcStats::KEYS, &[]),
    ("gzip", Gzip::KEYS, &[]),
    ("keepalive", KeepAlive::KEYS, &[]),
    ("liveness_probe", Probe::KEYS, &[]),
    ("readiness_probe", Probe::KEYS, &[]),
];

/// Modules that nobody reads, and settings that the one which counts does not have.
pub fn modules(side: SideRef<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for object in side.objects().iter().filter(|object| *object.key.kind == *"Module" && is_read(side, object)) {
        if !MODULES.contains(&&*object.key.name) {
            found.push(unread(object));
        } else if *object.key.name == *MODULES[0]
            && let Some(config) = field(object, "config")
        {
            unknown(object, config, "", [AmbassadorModule::KEYS, &IDLE], &mut found);
            for (name, keys, idle) in PARTS {
                if let Some(part) = config.get(name) {
                    unknown(object, part, name, [keys, idle], &mut found);
                }
            }
        }
    }
    found
}

fn unread(object: &Object) -> Diagnostic {
    let message = format!("Emissary reads no Module `{}`: the gateway's settings are in the one that is called `ambassador`", object.key.name);
    let finding = Diagnostic::new(&codes::NO_EFFECT, message, at_name(object)).about(object.key.clone());
    match nearest(&object.key.name, MODULES) {
        Some(near) => finding.fix(format!("call it `{near}`"), at_name(object), near),
        None => finding.help("call it `ambassador`, or delete it"),
    }
}

/// Settings of an object of settings that it does not have.
fn unknown(object: &Object, settings: &Node, of: &str, known: [&[&str]; 2], found: &mut Vec<Diagnostic>) {
    let known: Vec<&str> = known.concat();
    for entry in settings.as_object().into_iter().flatten().filter(|entry| !known.contains(&&*entry.key)) {
        let whose: String = if of.is_empty() { "the Module".into() } else { format!("`{of}` of the Module") };
        let message = format!("{whose} has no setting `{}`; Emissary does not read it", entry.key);
        let place = Place::key(object.id, entry.value.id);
        let mut finding = Diagnostic::new(&codes::UNKNOWN_FIELD, message, place.clone()).about(object.key.clone());
        // In JSON names are often written with capital letters instead of `_`.
        let plain = |name: &str| -> String { name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect() };
        let same = known.iter().copied().find(|name| plain(name) == plain(&entry.key));
        if let Some(near) = same.or_else(|| nearest(&entry.key, known.iter().copied())) {
            finding = finding.help(format!("did you mean `{near}`?")).fix(format!("rename to `{near}`"), place, near);
        }
        found.push(finding);
    }
}
