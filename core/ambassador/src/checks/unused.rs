//! Finds settings that Emissary accepts but does not use: overridden fields, unknown settings, unread Modules. Does not repeat what a schema prunes
//! or Emissary reports.
//!
//! Source of behaviour: Emissary `python/ambassador/ir/{irambassador,irhttpmapping,irhttpmappinggroup}.py`, `envoy/v3/v3route.py`.

use super::field;
use crate::lower::RUNTIME_FLAGS;
use crate::spec::decode::Unset;
use crate::spec::{AmbassadorModule, Buffer, Cors, GrpcStats, Gzip, KeepAlive, MappingDefaults, Probe, RetryPolicy};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{Assumptions, Missing, SideRef};
use chancery_base::diagnostic::{Diagnostic, Known, Place, Severity, Values, codes};
use chancery_base::ir::HttpFilterKind;
use chancery_base::re2::engine::Regex;
use chancery_base::resource::{Object, nearest};
use chancery_kubernetes::at_name;
use chancery_kubernetes::known::{Field, is_read, unknown_values};
use chancery_text::{Node, Str};

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

/// Fields of Mappings that another kind needs to do anything.
const FOR_SERVICES: [(&str, &str, &str); 3] = [
    ("labels", "they are for a", "RateLimitService"),
    ("bypass_auth", "it is for an", "AuthService"),
    ("auth_context_extensions", "they are for an", "AuthService"),
];

/// Fields of Mappings and Hosts without effect.
pub fn fields(side: SideRef<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    // A fragment may leave these services to the cluster.
    let is_whole = Assumptions::of(&side.side.options).for_other_kinds() == Missing::Error;
    let is_written = |kind: &str| side.objects().iter().any(|object| *object.key.kind == *kind && !object.broken);
    let missing: Vec<_> = FOR_SERVICES.into_iter().filter(|(_, _, kind)| !is_written(kind)).collect();
    let domains = limited_domains(side);
    for object in side.objects().iter().filter(|object| is_read(side, object)) {
        match &*object.key.kind {
            "Mapping" => {
                for (name, are, kind) in &missing {
                    let is_set = |node: &&Node| !node.is_null() && node.as_bool() != Some(false);
                    let Some(node) = field(object, name).filter(is_set) else { continue };
                    let why = format!("{are} {kind}, and the input has none");
                    let mut finding =
                        without_effect(object, node, name, &why, &format!("add the {kind} that the cluster has, or take `{name}` away"));
                    if !is_whole {
                        finding.severity = Severity::Notice;
                    }
                    found.push(finding);
                }
                of_other_domains(object, &domains, &mut found);
                optional_headers(object, &mut found);
                of_mapping(object, &mut found);
            }
            "Host" => {
                let insecure = field(object, "requestPolicy").and_then(|policy| policy.get("insecure"));
                if let Some(node) = insecure.and_then(|insecure| insecure.get("additionalPort")).filter(|node| !node.is_null()) {
                    let help = "write a Listener with that port";
                    found.push(without_effect(object, node, "additionalPort", "Emissary opens ports for Listeners alone", help));
                }
                let has_secret = field(object, "tlsSecret").and_then(|secret| secret.get("name")).is_some_and(|name| !name.is_null());
                if let Some(node) = field(object, "tls").filter(|node| node.as_object().is_some() && !has_secret) {
                    let why = "Emissary reads it only with `tlsSecret`, so this Host has no certificate";
                    found.push(without_effect(object, node, "tls", why, "name the Secret with the certificate in `tlsSecret`"));
                }
            }
            _ => {}
        }
    }
    found
}

/// The domains of the RateLimitService.
fn limited_domains(side: SideRef<'_>) -> Vec<&Str> {
    let mut domains: Vec<&Str> = side
        .irs()
        .flat_map(|ir| &ir.listeners)
        .flat_map(|listener| listener.http_managers())
        .flat_map(|manager| &manager.filters)
        .filter_map(|filter| if let HttpFilterKind::RateLimit(limit) = &filter.kind { Some(&limit.domain.value) } else { None })
        .collect();
    domains.dedup();
    domains
}

/// Finds labels that should be left out without their header. Emissary does not pass this on (`python/ambassador/envoy/v3/v3ratelimitaction.py`), and
/// Envoy then leaves out the whole group.
fn optional_headers(object: &Object, found: &mut Vec<Diagnostic>) {
    let domains = field(object, "labels").and_then(Node::as_object).into_iter().flatten();
    let groups = domains.flat_map(|domain| domain.value.as_array().into_iter().flatten());
    let labels = groups.flat_map(|group| group.as_object().into_iter().flatten()).flat_map(|group| group.value.as_array().into_iter().flatten());
    for of in labels.filter_map(|label| label.get("request_headers")) {
        let Some(node) = of.get("omit_if_not_present").filter(|node| !node.is_null()) else { continue };
        let header = of.get("header_name").and_then(Node::as_str).unwrap_or_default();
        let why = format!("a request without `{header}` gets no label of this group, so the limit of the group does not count for it");
        let help = "write the other labels in a second group without the header";
        let mut finding = without_effect(object, node, "omit_if_not_present", &why, help);
        if node.as_bool() != Some(true) {
            finding.severity = Severity::Notice;
        }
        found.push(finding);
    }
}

/// Finds labels of a Mapping in domains that the RateLimitService does not use.
fn of_other_domains(object: &Object, domains: &[&Str], found: &mut Vec<Diagnostic>) {
    let Some(asked) = domains.first() else { return };
    for entry in field(object, "labels").and_then(Node::as_object).into_iter().flatten() {
        if !domains.contains(&&entry.key) && !entry.value.is_null() {
            let name = format!("labels.{}", entry.key);
            let why = format!("Envoy asks the RateLimitService about the domain `{asked}` alone");
            let help = format!("write the labels under `{asked}`, or set `domain: {}` in the RateLimitService", entry.key);
            found.push(without_effect(object, &entry.value, &name, &why, &help));
        }
    }
}

/// A field that changes nothing.
fn without_effect(object: &Object, node: &Node, name: &str, why: &str, help: &str) -> Diagnostic {
    let message = format!("`{name}` changes nothing: {why}");
    Diagnostic::new(&codes::FIELD_WITHOUT_EFFECT, message, Place::key(object.id, node.id)).about(object.key.clone()).help(help)
}

/// `idle_time` of a keep-alive, which the schema has and Emissary does not read: it reads `time`
/// (`python/ambassador/envoy/v3/v3cluster.py`).
fn idle_time(object: &Object, keepalive: Option<&Node>, help: &str) -> Option<Diagnostic> {
    let node = keepalive?.get("idle_time").filter(|node| !node.is_null())?;
    Some(without_effect(object, node, "keepalive.idle_time", "Emissary does not read it", help))
}

fn of_mapping(object: &Object, found: &mut Vec<Diagnostic>) {
    let help = "write `time` in `keepalive` of the Module `ambassador`: the schema of a Mapping has no field that Emissary reads";
    found.extend(idle_time(object, field(object, "keepalive"), help));
    let is_set = |name: &str| field(object, name).is_some_and(|node| !node.is_null() && node.as_str() != Some(""));
    let is_true = |name: &str| field(object, name).and_then(Node::as_bool) == Some(true);
    let has_hostname = is_set("hostname") && object.api_version.ends_with("v3alpha1");
    let mut report = |name: &str, why: &str, help: &str| {
        found.extend(field(object, name).filter(|_| is_set(name)).map(|node| without_effect(object, node, name, why, help)));
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
    if let Some(prefix) = field(object, "prefix").filter(|_| is_true("prefix_regex") && !is_true("host_redirect") && !is_set("regex_rewrite")) {
        found.extend(whole_path(object, prefix));
    }
    let mut report = |name: &str, why: &str, help: &str| {
        found.extend(field(object, name).filter(|_| is_set(name)).map(|node| without_effect(object, node, name, why, help)));
    };
    if is_true("method_regex") && !is_set("method") {
        report("method_regex", "there is no `method`", "write the expression in `method`");
    }
    if is_true("host_redirect") {
        for name in FORWARDING {
            report(name, "requests are redirected, not forwarded", "take it away, or `host_redirect`");
        }
    } else {
        for name in ["path_redirect", "prefix_redirect", "regex_redirect", "redirect_response_code"] {
            report(name, "requests are forwarded, not redirected", "add `host_redirect: true`, with the host to redirect to in `service`");
        }
    }
}

/// Reports a regular expression whose default `rewrite` replaces the whole path: Envoy matches the whole path, and all of it is the prefix
/// (`python/ambassador/ir/irhttpmapping.py` sets `/`).
fn whole_path(object: &Object, prefix: &Node) -> Option<Diagnostic> {
    if field(object, "rewrite").is_some_and(|rewrite| !rewrite.is_null())
        || prefix.as_str().is_none_or(|prefix| matches!(prefix, "" | "/") || Regex::new(prefix).is_err())
    {
        return None;
    }
    let message = "the upstream gets `/` for every path: `rewrite` is `/` by default, and replaces everything that `prefix_regex` matches";
    let finding = Diagnostic::new(&codes::WHOLE_PATH_REPLACED, message, Place::value(object.id, prefix.id)).about(object.key.clone());
    Some(finding.help("write `rewrite: \"\"` to keep the path, or change a part of it with `regex_rewrite`"))
}

/// Fields of a Mapping that only affect forwarded requests.
const FORWARDING: [&str; 16] = [
    "allow_upgrade",
    "auto_host_rewrite",
    "circuit_breakers",
    "cluster_idle_timeout_ms",
    "connect_timeout_ms",
    "cors",
    "health_checks",
    "host_rewrite",
    "idle_timeout_ms",
    "keepalive",
    "remove_request_headers",
    "remove_response_headers",
    "retry_policy",
    "rewrite",
    "timeout_ms",
    "tls",
];

/// Module settings that Emissary accepts but no longer uses since it has Listeners: the reason, and their replacement. Emissary
/// `python/ambassador/ir/irambassador.py` reads them, and no other code uses them.
const MOVED: [(&str, &str, &str); 5] = [
    ("service_port", "Listeners define the ports", "write the port in a Listener"),
    (
        "use_proxy_proto",
        "Listeners say what they speak",
        "write `protocolStack: [PROXY, HTTP, TCP]` in the Listener (with `TLS` before `TCP` for TLS)",
    ),
    ("xff_num_trusted_hops", "Listeners set the number of trusted proxies", "write the number as `l7Depth` in the Listener"),
    (
        "x_forwarded_proto_redirect",
        "Hosts decide how insecure requests are handled",
        "write `requestPolicy: {insecure: {action: Redirect}}` in the Host",
    ),
    ("debug_mode", "Emissary does not use it", "take it away"),
];

/// The Modules that are read.
const MODULES: [&str; 3] = ["ambassador", "tls", "authentication"];

/// Settings that Emissary accepts in addition to ours; they have no effect.
const IDLE: [&str; 4] = ["auth_enabled", "prune_unreachable_routes", "regex_type", "statsd"];

/// Who may see the diagnostics from elsewhere, which is up to the page that shows them (Emissary `python/ambassador-diag`, `diagd.py`).
const OF_THE_PAGE: &[&str] = &["allow_non_local"];

/// Members of `defaults` in addition to the defaults of Mappings.
const OF_DEFAULTS: &[&str] = &["httpmapping", "tls_secret_namespacing"];

/// Nested settings: their known members, and members that do not concern Envoy.
const PARTS: &[(&str, &[&str], &[&str])] = &[
    ("buffer", Buffer::KEYS, &[]),
    ("cors", Cors::KEYS, &[]),
    ("defaults", MappingDefaults::KEYS, OF_DEFAULTS),
    ("diagnostics", Probe::KEYS, OF_THE_PAGE),
    ("grpc_stats", GrpcStats::KEYS, &[]),
    ("gzip", Gzip::KEYS, &[]),
    ("keepalive", KeepAlive::KEYS, &[]),
    ("liveness_probe", Probe::KEYS, &[]),
    ("readiness_probe", Probe::KEYS, &[]),
    ("retry_policy", RetryPolicy::KEYS, &[]),
];

/// Finds unread Modules, and unknown settings of the effective one.
pub fn modules(side: SideRef<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for object in side.objects().iter().filter(|object| *object.key.kind == *"Module" && is_read(side, object)) {
        if !MODULES.contains(&&*object.key.name) {
            found.push(unread(object));
        } else if *object.key.name == *MODULES[0]
            && let Some(config) = field(object, "config")
        {
            unknown(object, config, "", [AmbassadorModule::KEYS, &IDLE], &mut found);
            for (name, why, help) in MOVED {
                found.extend(config.get(name).filter(|node| !node.is_null()).map(|node| without_effect(object, node, name, why, help)));
            }
            found.extend(idle_time(object, config.get("keepalive"), "call it `time`"));
            for (name, keys, idle) in PARTS {
                if let Some(part) = config.get(name) {
                    unknown(object, part, name, [keys, idle], &mut found);
                }
            }
            if let Some(flags) = config.get("runtime_flags") {
                let known: Vec<&str> = RUNTIME_FLAGS.iter().map(|(name, _)| *name).collect();
                unknown(object, flags, "runtime_flags", [&known, &[]], &mut found);
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
