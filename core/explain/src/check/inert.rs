//! Lists fields that never change what a gateway does, and reports them with the reason, one finding for each object. The page of `inert-field`
//! prints the list.
//!
//! Does not report fields that another field turns off; see the checks of the dialects.

use super::whole::Whole;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::State;
use chancery_base::diagnostic::{Diagnostic, Place, codes};
use chancery_base::resource::{Object, ObjectId};
use chancery_text::{Node, NodeId, Value, series};
use hashbrown::HashSet;

/// A field, or a value, that no gateway depends on.
pub(super) struct InertField {
    kinds: &'static [&'static str],
    /// The last steps of its path, in lower case and without `_`. `*` is any field.
    path: &'static [&'static str],
    /// When it is inert.
    when: When,
    pub(super) reason: &'static str,
}

#[derive(Clone, Copy, PartialEq)]
enum When {
    Always,
    /// No object refers to its object.
    Unreferenced,
    /// It belongs to the only item of its list.
    Alone,
    /// No object of the input has a regular expression.
    WithoutRegex,
    /// It belongs to a gateway of another datacenter with a `wan` address.
    RemoteGateway,
    /// It belongs to a gateway.
    OfGateway,
    /// No Service of the input has an external name.
    WithoutExternalName,
    /// Its configuration names a Gateway.
    WithGateway,
}

const ROUTES: &[&str] = &["HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"];
const REGISTRATIONS: &[&str] = &["service", "catalog"];

/// The list. Each entry has its reason.
pub(super) const FIELDS: &[InertField] = &[
    InertField { kinds: &["Mapping"], path: &["docs", "*"], when: When::Always, reason: "only a documentation portal reads it" },
    InertField {
        kinds: &["Module"],
        path: &["config", "enablegrpcweb"],
        when: When::Always,
        reason: "Emissary adds the filter if the field is set, also if it is `false`",
    },
    InertField {
        kinds: &["Module"],
        path: &["gzip", "enabled"],
        when: When::Always,
        reason: "Emissary compresses if `gzip` is set, also if it is `enabled: false`",
    },
    InertField {
        kinds: &["Module"],
        path: &["config", "envoyvalidationtimeout"],
        when: When::Always,
        reason: "it limits how long Emissary checks a configuration before Envoy gets it",
    },
    InertField {
        kinds: &["Mapping"],
        path: &["usewebsocket"],
        when: When::Always,
        reason: "Emissary permits WebSockets if the field is set, also if it is `false`",
    },
    InertField {
        kinds: &["RateLimitService"],
        path: &["grpc", "useresourceexhaustedcode"],
        when: When::Always,
        reason: "Emissary does not pass it to Envoy",
    },
    InertField {
        kinds: &["Host"],
        path: &["tls", "redirectcleartextfrom"],
        when: When::Always,
        reason: "`requestPolicy` of the Host decides about redirects",
    },
    InertField {
        kinds: &["Module"],
        path: &["config", "regexmaxsize"],
        when: When::WithoutRegex,
        reason: "it limits regular expressions, and the input has none",
    },
    InertField {
        kinds: &["ExtensionService"],
        path: &["timeoutpolicy", "response"],
        when: When::Unreferenced,
        reason: "it applies to requests of filters that use the service, and none does",
    },
    InertField {
        kinds: &["ContourConfiguration"],
        path: &["enableexternalnameservice"],
        when: When::WithoutExternalName,
        reason: "it permits Services with an external name, and the input has none",
    },
    InertField {
        kinds: &["ContourConfiguration"],
        path: &["http", "port"],
        when: When::WithGateway,
        reason: "the listeners of the Gateway set the ports",
    },
    InertField {
        kinds: &["ContourConfiguration"],
        path: &["https", "port"],
        when: When::WithGateway,
        reason: "the listeners of the Gateway set the ports",
    },
    InertField { kinds: &["HTTPProxy"], path: &["services", "weight"], when: When::Alone, reason: "its service is the only one of its route" },
    InertField { kinds: ROUTES, path: &["backendrefs", "weight"], when: When::Alone, reason: "its backend is the only one of its rule" },
    InertField { kinds: REGISTRATIONS, path: &["checks", "interval"], when: When::Always, reason: "the agent's schedule; Envoy gets the result" },
    InertField { kinds: REGISTRATIONS, path: &["check", "interval"], when: When::Always, reason: "the agent's schedule; Envoy gets the result" },
    InertField { kinds: REGISTRATIONS, path: &["checks", "ttl"], when: When::Always, reason: "the agent's schedule; Envoy gets the result" },
    InertField { kinds: REGISTRATIONS, path: &["check", "ttl"], when: When::Always, reason: "the agent's schedule; Envoy gets the result" },
    InertField { kinds: REGISTRATIONS, path: &["checks", "timeout"], when: When::Always, reason: "the agent's schedule; Envoy gets the result" },
    InertField { kinds: REGISTRATIONS, path: &["check", "timeout"], when: When::Always, reason: "the agent's schedule; Envoy gets the result" },
    InertField {
        kinds: REGISTRATIONS,
        path: &["connect", "native"],
        when: When::OfGateway,
        reason: "a gateway has its own Envoy, and is not a native service",
    },
    InertField {
        kinds: &["Module"],
        path: &["config", "enablegrpchttp11bridge"],
        when: When::Always,
        reason: "Emissary adds the filter if the field is set, also if it is `false`",
    },
    InertField {
        kinds: REGISTRATIONS,
        path: &["lan", "port"],
        when: When::RemoteGateway,
        reason: "gateways of other datacenters are reached at their `wan` address",
    },
    InertField {
        kinds: REGISTRATIONS,
        path: &["service", "port"],
        when: When::RemoteGateway,
        reason: "gateways of other datacenters are reached at their `wan` address",
    },
];

/// The backends of a rule with a redirect.
static OF_REDIRECT: InertField = InertField {
    kinds: &["HTTPRoute"],
    path: &["backendrefs", "port"],
    when: When::Always,
    reason: "its rule redirects all requests, so its backends get none",
};

/// At most this many further places are shown for one object.
const MOST_PLACES: usize = 32;

/// Reports the fields of the list, one finding for each object.
pub(super) fn check(whole: &mut Whole<'_>) {
    let side = whole.side;
    let referenced: HashSet<ObjectId> = whole.references.iter().filter_map(|reference| reference.to.as_ref().ok().copied()).collect();
    let mut regexes: Option<bool> = None;
    let is_regex = |key: &str| key.contains("regex") && key != "regexmaxsize";
    let mut has_regex = || *regexes.get_or_insert_with(|| side.objects().iter().any(|object| has_key_that(&object.root, is_regex)));
    let mut all = Vec::new();
    let is_used = |object: &&Object| !matches!(side.side.ledger.get(object.id), State::Ignored(..) | State::Invalid(_) | State::Shadowed(_));
    for object in side.objects().iter().filter(|object| !object.broken).filter(is_used) {
        let fields: Vec<&InertField> = FIELDS.iter().filter(|field| field.kinds.contains(&&*object.key.kind)).collect();
        if fields.is_empty() {
            continue;
        }
        let mut walk = Walk { fields: &fields, path: Vec::new(), found: Vec::new() };
        walk.node(&object.root, false);
        let mut found = walk.found;
        found.extend(backends_of_redirects(object));
        found.retain(|(field, ..)| match field.when {
            When::Always | When::Alone => true,
            When::Unreferenced => !referenced.contains(&object.id),
            When::WithoutRegex => !has_regex(),
            When::WithoutExternalName => !side.objects().iter().any(|object| has_key(&object.root, "externalname") && *object.key.kind == *"Service"),
            When::WithGateway => has_key(&object.root, "gatewayref"),
            When::OfGateway => is_gateway(object),
            When::RemoteGateway => is_gateway(object) && has_key(&object.root, "wan") && has_key(&object.root, "datacenter"),
        });
        all.extend(finding(object, &found));
    }
    all.into_iter().for_each(|finding| whole.report(finding));
}

/// The backends of rules that redirect: they get no request.
fn backends_of_redirects(object: &Object) -> Vec<(&'static InertField, String, NodeId)> {
    let list = |node: &Node, key: &str| node.get(key).and_then(Node::as_array).map(|items| items.to_vec()).unwrap_or_default();
    let rules = object.root.get("spec").filter(|_| *object.key.kind == *"HTTPRoute").map(|spec| list(spec, "rules")).unwrap_or_default();
    let redirects = |rule: &Node| list(rule, "filters").iter().any(|filter| filter.get("type").and_then(Node::as_str) == Some("RequestRedirect"));
    let mut found = Vec::new();
    for backend in rules.iter().filter(|rule| redirects(rule)).flat_map(|rule| list(rule, "backendRefs")) {
        let scalars = backend.as_object().into_iter().flat_map(|fields| fields.iter()).filter(|field| matches!(&*field.key, "name" | "port"));
        found.extend(scalars.map(|field| (&OF_REDIRECT, format!("`backendRefs.{}`", field.key), field.value.id)));
    }
    found
}

fn finding(object: &Object, found: &[(&InertField, String, NodeId)]) -> Option<Diagnostic> {
    let (first, _, at) = found.first()?;
    let mut by_reason: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (field, name, _) in found {
        let names = by_reason.entry(field.reason).or_default();
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let names = by_reason.remove(first.reason).unwrap_or_default();
    let verb = if names.len() == 1 { "does" } else { "do" };
    let mut message = format!("{} {verb} not change what the gateway does: {}", series(&names), first.reason);
    for (reason, names) in by_reason {
        let verb = if names.len() == 1 { "does" } else { "do" };
        message.push_str(&format!("; nor {verb} {}: {reason}", series(&names)));
    }
    let finding = Diagnostic::new(&codes::INERT_FIELD, message, Place::value(object.id, *at)).about(object.key.clone());
    let others = found.iter().skip(1).take(MOST_PLACES);
    Some(others.fold(finding, |finding, (_, name, at)| finding.related(Place::value(object.id, *at), format!("nor does {name}"))))
}

/// Whether a registration is that of a gateway.
fn is_gateway(object: &Object) -> bool {
    let is_kind = |node: &Node| node.as_str().is_some_and(|kind| kind.ends_with("-gateway"));
    values_at(&object.root, "kind").into_iter().any(is_kind)
}

/// The spelling of a key that the list uses.
fn plain(key: &str) -> String {
    key.chars().filter(|letter| *letter != '_').collect::<String>().to_lowercase()
}

/// Returns the values of a key anywhere in an object.
fn values_at<'n>(root: &'n Node, wanted: &str) -> Vec<&'n Node> {
    let (mut found, mut open) = (Vec::new(), Vec::from([root]));
    while let Some(node) = open.pop() {
        match &node.value {
            Value::Object(members) => {
                for entry in members.iter() {
                    if plain(&entry.key) == wanted {
                        found.push(&entry.value);
                    }
                    open.push(&entry.value);
                }
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    found
}

/// Whether a key contains these letters anywhere in an object.
fn has_key(root: &Node, part: &str) -> bool {
    has_key_that(root, |key| key.contains(part))
}

/// Whether a key, in the spelling of the list, meets a condition anywhere in an object.
fn has_key_that(root: &Node, is_wanted: impl Fn(&str) -> bool) -> bool {
    let mut open = Vec::from([root]);
    while let Some(node) = open.pop() {
        match &node.value {
            Value::Object(members) => {
                if members.iter().any(|entry| is_wanted(&plain(&entry.key))) {
                    return true;
                }
                open.extend(members.iter().map(|entry| &entry.value));
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    false
}

/// Walks through an object.
struct Walk<'f> {
    fields: &'f [&'static InertField],
    /// The keys around the node.
    path: Vec<String>,
    found: Vec<(&'static InertField, String, NodeId)>,
}

impl Walk<'_> {
    fn node(&mut self, node: &Node, is_alone: bool) {
        match &node.value {
            Value::Object(members) => {
                for entry in members.iter() {
                    self.path.push(plain(&entry.key));
                    match &entry.value.value {
                        Value::Object(_) | Value::Array(_) => self.node(&entry.value, is_alone),
                        _ => self.scalar(&entry.key, &entry.value, is_alone),
                    }
                    self.path.pop();
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.node(item, items.len() == 1)),
            _ => {}
        }
    }

    fn scalar(&mut self, key: &str, node: &Node, is_alone: bool) {
        let fits = |field: &&&InertField| {
            let end = self.path.len().checked_sub(field.path.len()).and_then(|from| self.path.get(from..));
            let is_it = end.is_some_and(|end| end.iter().zip(field.path).all(|(own, wanted)| *wanted == "*" || own == wanted));
            is_it && (field.when != When::Alone || is_alone)
        };
        if let Some(field) = self.fields.iter().find(fits).filter(|_| !node.is_null()) {
            self.found.push((field, format!("`{key}`"), node.id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FIELDS;
    use chancery_base::diagnostic::codes;

    #[test]
    fn page_prints_every_field_of_the_list() {
        for field in FIELDS.iter().chain([&super::OF_REDIRECT]) {
            assert!(codes::INERT_FIELD.page.contains(field.reason), "the page of `inert-field` lacks: {}", field.reason);
        }
    }
}
