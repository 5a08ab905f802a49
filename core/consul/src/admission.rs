//! Applies the API server's schema to a resource before Consul's controller sees it: unknown fields are dropped, and a value of the wrong type
//! makes it refuse the resource.
//!
//! Source of behaviour: consul-k8s `control-plane/config/crd/bases` and `control-plane/api/v1alpha1/*_webhook.go`. Field names are those of Consul
//! with a lower-case first letter. Does not apply Consul's own rules; see `validate`.

use super::codes;
use super::documents::group;
use super::entry::Kind;
use super::schema::{Field, Struct, Type};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::diagnostic::{Code, codes as shared};
use chancery_base::resource::nearest;
use chancery_text::{Node, NodeId, Object, Str, Value};

/// The only version of the resources.
pub(crate) const VERSION: &str = "v1alpha1";

/// Fields of config entries that resources do not have, wherever they are.
const ABSENT: &[&str] = &[
    "balanceOutboundConnections",
    "consulVersion",
    "envoyVersion",
    "legacyCreateTime",
    "legacyID",
    "legacyMeta",
    "legacyUpdateTime",
    "meta",
    "parsedFromCheck",
    "precedence",
];

/// Fields that resources have in other versions of Consul than the one that is followed, or in Consul Enterprise.
const FIELDS_ELSEWHERE: &[&str] = &[
    "caseInsensitive",
    "contains",
    "deployment",
    "disableAutoHostRewrite",
    "ignoreCase",
    "incoming",
    "namespace",
    "partition",
    "rateLimits",
    "secretRef",
    "useSNI",
    "validateClusters",
];

/// The edition of Consul that has the field at a path, where the community's has not.
pub(crate) fn edition(path: &str) -> Option<&'static str> {
    let field = path.rsplit('.').next()?.to_ascii_lowercase();
    Some(match &*field {
        "namespace" | "sourcenamespace" => "Consul Enterprise, 1.7 or later",
        "partition" => "Consul Enterprise, 1.11 or later",
        "samenessgroup" => "Consul Enterprise, 1.16 or later",
        _ => return None,
    })
}

/// A resource as the API server stores it.
pub(crate) struct Admitted {
    /// The config entry, with Consul's field names.
    pub(crate) entry: Node,
    /// Fields that are dropped.
    pub(crate) dropped: Vec<Dropped>,
    /// Why it is refused, as the API server's message, with the code and the wrong node.
    pub(crate) refused: Vec<(&'static Code, String, NodeId)>,
}

/// A field that is dropped.
pub(crate) struct Dropped {
    /// Its path, as in `spec.routes[0].match`.
    pub(crate) path: String,
    /// Its value.
    pub(crate) node: NodeId,
    /// The field that is probably meant.
    pub(crate) meant: Option<String>,
    /// Whether another version or edition of Consul has it.
    pub(crate) is_elsewhere: bool,
}

/// A config entry with Consul's field names, as far as the API server keeps them.
pub(crate) fn entry(root: &Node, kind: Kind) -> Cow<'_, Node> {
    if group(root).is_some() { Cow::Owned(admit(root, kind).entry) } else { Cow::Borrowed(root) }
}

/// Admits a resource. A resource has the fields of the entry in its `spec`, and its name in its metadata; nodes keep their ids.
pub(crate) fn admit(root: &Node, kind: Kind) -> Admitted {
    let mut admission = Admission { dropped: Vec::new(), refused: Vec::new() };
    let of_intentions = kind == Kind::ServiceIntentions;
    let name = if of_intentions { root.at(&["spec", "destination", "name"]) } else { root.at(&["metadata", "name"]) };
    let mut fields = Object::new();
    let id = root.get("kind").map_or_else(NodeId::default, |kind| kind.id);
    fields.insert(Str::new_static("Kind"), Node { id, value: Value::String(Str::new_static(kind.name())) });
    if let Some(name) = name.filter(|_| kind != Kind::Mesh) {
        fields.insert(Str::new_static("Name"), name.clone());
    }
    let only_name = match kind {
        Kind::Mesh => Some("mesh"),
        Kind::ProxyDefaults => Some("global"),
        Kind::ExportedServices => Some("default"),
        _ => None,
    };
    if let (Some(only), Some(name)) = (only_name, root.at(&["metadata", "name"]))
        && name.as_str() != Some(only)
    {
        let why = format!("metadata.name: {} resource name must be \"{only}\"", kind.resource());
        admission.refused.push((&codes::ENTRY_REFUSED, why, name.id));
    }
    match root.get("spec").filter(|spec| !spec.is_null()) {
        Some(Node { value: Value::Object(spec), .. }) => {
            let spec = spec.iter().filter(|field| !(of_intentions && field.key == "destination")).map(|field| (&field.key, &field.value));
            admission.fields(spec, kind.shape(), "spec", &mut fields);
        }
        Some(other) => admission.refuse(other, "object", "spec"),
        None => {}
    }
    let entry = Node { id: root.id, value: Value::Object(fields) };
    Admitted { entry, dropped: admission.dropped, refused: admission.refused }
}

/// The state of an admission.
struct Admission {
    dropped: Vec<Dropped>,
    refused: Vec<(&'static Code, String, NodeId)>,
}

impl Admission {
    fn fields<'n>(&mut self, fields: impl Iterator<Item = (&'n Str, &'n Node)>, shape: &'static Struct, path: &str, out: &mut Object) {
        let known: Vec<(&Field, String)> =
            shape.0.iter().map(|field| (field, json_name(field.name))).filter(|(_, name)| is_in_resources(path, name)).collect();
        for (key, value) in fields {
            let here = format!("{path}.{key}");
            if let Some((field, _)) = known.iter().find(|(_, name)| **key == **name) {
                if let Some(value) = self.value(value, &field.holds, &here) {
                    out.insert(Str::new_static(field.name), value);
                }
                continue;
            }
            let meant = nearest(key, known.iter().map(|(_, name)| name.as_str())).map(ToString::to_string);
            self.dropped.push(Dropped { path: here, node: value.id, meant, is_elsewhere: FIELDS_ELSEWHERE.contains(&&**key) });
        }
    }

    /// Returns the stored value; `None` if it has the wrong type or is null.
    fn value(&mut self, node: &Node, holds: &Type, path: &str) -> Option<Node> {
        let value = match (&node.value, holds) {
            (Value::Null, _) => return None,
            (Value::Object(fields), Type::Struct(shape)) => {
                let mut out = Object::new();
                self.fields(fields.iter().map(|field| (&field.key, &field.value)), shape, path, &mut out);
                Value::Object(out)
            }
            (Value::Object(fields), Type::Map(of)) => {
                let all =
                    fields.iter().filter_map(|field| Some((field.key.clone(), self.value(&field.value, of, &format!("{path}.{}", field.key))?)));
                Value::Object(all.collect())
            }
            (Value::Array(items), Type::List(of)) => {
                let all = items.iter().enumerate().filter_map(|(at, item)| self.value(item, of, &format!("{path}[{at}]")));
                Value::Array(all.collect())
            }
            (Value::String(_), Type::Text | Type::Bytes | Type::Duration | Type::DurationText)
            | (Value::Bool(_), Type::Bool)
            | (Value::Int(_), Type::Int | Type::Uint | Type::Float)
            | (Value::Float(_), Type::Float)
            | (Value::Object(_), Type::Opaque) => node.value.clone(),
            _ => {
                self.refuse(node, type_name(holds), path);
                return None;
            }
        };
        Some(Node { id: node.id, value })
    }

    fn refuse(&mut self, node: &Node, expected: &str, path: &str) {
        let found = node.kind_name();
        let why = format!("{path}: Invalid value: \"{found}\": {path} in body must be of type {expected}: \"{found}\"");
        self.refused.push((&shared::WRONG_TYPE, why, node.id));
    }
}

/// Whether resources have a field, by the path of what it is in.
fn is_in_resources(path: &str, name: &str) -> bool {
    let is_of_root = path == "spec" && matches!(name, "kind" | "name");
    let is_of_source = name == "type" && path.starts_with("spec.sources[") && path.ends_with(']') && !path.contains("].");
    !is_of_root && !is_of_source && !ABSENT.contains(&name)
}

/// A field of a config entry as resources write it: `TLSMinVersion` is `tlsMinVersion`.
fn json_name(name: &str) -> String {
    let capitals = name.bytes().take_while(u8::is_ascii_uppercase).count();
    // The last of several begins the next word.
    let begin = if capitals > 1 && capitals < name.len() { capitals - 1 } else { capitals };
    let (begin, rest) = name.split_at(begin);
    begin.to_ascii_lowercase() + rest
}

fn type_name(of: &Type) -> &'static str {
    match of {
        Type::Text | Type::Bytes | Type::Duration | Type::DurationText => "string",
        Type::Bool => "boolean",
        Type::Int | Type::Uint => "integer",
        Type::Float => "number",
        Type::List(_) => "array",
        Type::Opaque | Type::Map(_) | Type::Struct(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::load;
    use chancery_base::resource::Inputs;

    fn admitted(kind: Kind, name: &str, spec: &str) -> (Vec<String>, Vec<String>) {
        let meta = format!("apiVersion: consul.hashicorp.com/v1alpha1\nkind: {}\nmetadata: {{name: {name}}}\n", kind.resource());
        let (objects, _) = load(&Inputs::one("crd.yaml", format!("{meta}spec: {spec}\n")));
        let admitted = admit(&objects.iter().next().expect("a resource").root, kind);
        let dropped = admitted.dropped.into_iter().map(|of| format!("{} {}", of.path, of.meant.unwrap_or_default()).trim().into());
        (dropped.collect(), admitted.refused.into_iter().map(|(_, why, _)| why).collect())
    }

    #[test]
    fn names_are_those_of_the_resource() {
        let names = ["Protocol", "TLSMinVersion", "ExternalSNI", "JWT", "CAFile", "JSONWebKeySet", "MutualTLSMode"].map(json_name);
        assert_eq!(names, ["protocol", "tlsMinVersion", "externalSNI", "jwt", "caFile", "jsonWebKeySet", "mutualTLSMode"]);
        let (dropped, refused) = admitted(Kind::ServiceDefaults, "web", "{Protocol: http, meta: {a: b}, mutualTLSMode: strict}");
        assert_eq!((&dropped[..], &refused[..]), (&["spec.Protocol protocol".into(), "spec.meta".into()][..], &[][..]));
    }

    #[test]
    fn value_of_wrong_type_refuses_resource() {
        let (_, refused) = admitted(Kind::ServiceResolver, "web", "{connectTimeout: 5, subsets: {v1: {onlyPassing: 'true'}}}");
        let words = |path: &str, found: &str, expected: &str| {
            format!("{path}: Invalid value: \"{found}\": {path} in body must be of type {expected}: \"{found}\"")
        };
        assert_eq!(refused, [words("spec.connectTimeout", "integer", "string"), words("spec.subsets.v1.onlyPassing", "string", "boolean")]);
        let (_, refused) = admitted(Kind::ServiceRouter, "web", "{routes: [{match: {http: {methods: GET}}}, {destination: {numRetries: 3}}]}");
        assert_eq!(refused, [words("spec.routes[0].match.http.methods", "string", "array")]);
        assert_eq!(admitted(Kind::ServiceSplitter, "web", "{splits: [{weight: 50}, {weight: 49.5, serviceSubset: v1}]}"), Default::default());
        assert_eq!(admitted(Kind::Mesh, "mesh", "null"), Default::default());
        assert_eq!(admitted(Kind::Mesh, "config", "[]").1.len(), 2, "its name and its spec");
    }
}
