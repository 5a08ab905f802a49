//! Compares the parts of two Application Gateways and names their owners. Does not compare behaviour; see `requests`.

use super::AppGatewaySide;
use crate::OriginView;
use crate::compare::fields::{FoundDifference, differences};
use crate::compare::{Change, ChangeKind};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Gateway, Owner};
use chancery_text::{Node, Value};

/// The lists of parts, in the order of a request, each with the word for one part.
const LISTS: &[(&str, &str)] = &[
    ("frontendIPConfigurations", "address"),
    ("frontendPorts", "port"),
    ("httpListeners", "listener"),
    ("sslCertificates", "certificate"),
    ("requestRoutingRules", "rule"),
    ("urlPathMaps", "path map"),
    ("redirectConfigurations", "redirect"),
    ("rewriteRuleSets", "rewrite rule set"),
    ("backendAddressPools", "pool"),
    ("backendHttpSettingsCollection", "settings"),
    ("probes", "probe"),
    ("trustedRootCertificates", "trusted root certificate"),
    ("authenticationCertificates", "authentication certificate"),
];

/// A part that does not change, because others own it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct KeptPart {
    /// The word for such a part.
    pub kind: &'static str,
    pub name: String,
}

/// Compares the parts of two gateways. The note of each change names the owner.
#[must_use]
pub fn compare_app_gateways(before: &AppGatewaySide<'_>, after: &AppGatewaySide<'_>) -> Vec<Change> {
    let owners = [owners(before.parts), owners(after.parts)];
    let mut out = Vec::new();
    for (list, kind) in LISTS {
        let [old, new] = [named(before, list), named(after, list)];
        for (name, (at, node)) in &old {
            let pointer = format!("/properties/{list}/{at}");
            match new.get(name) {
                None => out.push(Change {
                    note: Some(owner(&owners[0], list, name, true)),
                    before: before.origins(&pointer),
                    ..change(ChangeKind::Removed, kind, name)
                }),
                Some((now, other)) => {
                    let now = format!("/properties/{list}/{now}");
                    let fields: Vec<_> = differences_of_input(list, node, other)
                        .map(|found| {
                            let [inner_old, inner_new] = &found.pointers;
                            let from = |side: &AppGatewaySide<'_>, place: [&str; 2], has: bool| -> Option<OriginView> {
                                has.then(|| side.origins(&place.concat()).into_iter().next()).flatten()
                            };
                            let mut field = found.change();
                            (field.before_from, field.after_from) =
                                (from(before, [&pointer, inner_old], found.before.is_some()), from(after, [&now, inner_new], found.after.is_some()));
                            field.path = field.path.strip_prefix("properties.").map(ToString::to_string).unwrap_or(field.path);
                            field
                        })
                        .collect();
                    if !fields.is_empty() {
                        out.push(Change {
                            note: Some(owner(&owners[1], list, name, false)),
                            fields,
                            before: before.origins(&pointer),
                            after: after.origins(&now),
                            ..change(ChangeKind::Changed, kind, name)
                        });
                    }
                }
            }
        }
        for (name, (at, _)) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
            let after = after.origins(&format!("/properties/{list}/{at}"));
            out.push(Change { note: Some(owner(&owners[1], list, name, false)), after, ..change(ChangeKind::Added, kind, name) });
        }
    }
    out
}

/// Fields that Azure writes and users do not set.
const OF_AZURE: &[&str] = &["etag", "type", "provisioningState", "resourceGroup", "resourceGuid"];

/// Lists in a part that name the parts that refer to it. Azure writes them.
const REFERRERS: &[&str] =
    &["requestRoutingRules", "urlPathMaps", "pathRules", "httpListeners", "backendHttpSettings", "backendIPConfigurations", "urlPathMapPathRules"];

/// Fields of certificates: Azure shows other fields than it accepts, and never shows the key.
const OF_CERTIFICATE: &[&str] = &["data", "password", "publicCertData"];

/// Returns the differences between two parts, without differences from fields that Azure adds.
fn differences_of_input<'a>(list: &'a str, before: &'a Node, after: &'a Node) -> impl Iterator<Item = FoundDifference<'a>> {
    differences(before, after).into_iter().filter(move |found| !is_of_azure(list, found))
}

fn is_of_azure(list: &str, found: &FoundDifference<'_>) -> bool {
    let [pointer, _] = &found.pointers;
    let name = pointer.rsplit('/').next().unwrap_or_default();
    let only = match (found.before, found.after) {
        (Some(before), Some(after)) => {
            // Azure keeps the first spelling of an id and compares ids case-insensitively.
            let ids = (name == "id").then(|| before.as_str().zip(after.as_str())).flatten();
            return ids.is_some_and(|(before, after)| before.eq_ignore_ascii_case(after));
        }
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => return true,
    };
    let is_referrers =
        pointer.strip_prefix("/properties/").is_some_and(|field| REFERRERS.contains(&field)) && !(list == "urlPathMaps" && name == "pathRules");
    OF_AZURE.contains(&name) || is_referrers || list == "sslCertificates" && OF_CERTIFICATE.contains(&name) || is_off(only)
}

/// Whether a value is an explicit default: Azure writes defaults out.
fn is_off(node: &Node) -> bool {
    match &node.value {
        Value::Null | Value::Bool(false) | Value::Int(0) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => {
            let is_disabled = node.get("enabled").is_some_and(|enabled| matches!(enabled.value, Value::Bool(false)));
            is_disabled || fields.iter().all(|entry| is_off(&entry.value))
        }
        _ => false,
    }
}

/// Returns the parts that others own and that do not change.
#[must_use]
pub fn parts_of_others(before: &AppGatewaySide<'_>, after: &AppGatewaySide<'_>) -> Vec<KeptPart> {
    let owners = owners(after.parts);
    let mut out = Vec::new();
    for (list, kind) in LISTS {
        let [old, new] = [named(before, list), named(after, list)];
        let is_kept = |name: &str, node: &Node| {
            owners.get(&(*list, name)) == Some(&Owner::Others)
                && old.get(name).is_some_and(|(_, before)| differences_of_input(list, before, node).next().is_none())
        };
        out.extend(new.iter().filter(|(name, (_, node))| is_kept(name, node)).map(|(name, _)| KeptPart { kind, name: name.to_string() }));
    }
    out
}

fn change(change: ChangeKind, kind: &str, name: &str) -> Change {
    Change { change, kind: kind.into(), name: name.into(), was: None, note: None, fields: Vec::new(), before: Vec::new(), after: Vec::new() }
}

fn named<'a>(side: &'a AppGatewaySide<'_>, list: &str) -> BTreeMap<&'a str, (usize, &'a Node)> {
    let parts = side.viewed.root.at(&["properties", list]).and_then(Node::as_array).into_iter().flatten();
    parts.enumerate().filter_map(|(at, part)| Some((part.get("name")?.as_str()?, (at, part)))).collect()
}

/// Owners by the list and the name of a part.
type Owners<'g> = BTreeMap<(&'static str, &'g str), Owner>;

fn owner(owners: &Owners<'_>, list: &'static str, name: &str, is_gone: bool) -> String {
    match (owners.get(&(list, name)), is_gone) {
        (Some(Owner::Others), true) => "nothing in the input asks for it, and no prohibited target keeps it".to_string(),
        (Some(Owner::Others), false) => "owned by others".to_string(),
        _ => "owned by the controller".to_string(),
    }
}

fn owners(gateway: &Gateway) -> Owners<'_> {
    let mut out = BTreeMap::new();
    let Some(of) = &gateway.properties else { return out };
    macro_rules! all {
        ($($list:literal $field:ident)*) => {
            $(out.extend(of.$field.iter().flatten().map(|part| (($list, part.name.as_str()), part.owner)));)*
        };
    }
    all! {
        "frontendIPConfigurations" frontends
        "frontendPorts" ports
        "httpListeners" listeners
        "sslCertificates" certificates
        "requestRoutingRules" rules
        "urlPathMaps" path_maps
        "redirectConfigurations" redirects
        "rewriteRuleSets" rewrites
        "backendAddressPools" pools
        "backendHttpSettingsCollection" settings
        "probes" probes
        "trustedRootCertificates" trusted_roots
        "authenticationCertificates" authentication_certificates
    }
    out
}
