//! Patches Envoy's messages: checks fields and values, and applies a patch. Does not select messages; see `xds::extensions`.

use crate::go;
use crate::validate::rule::{Verdict, refuse};
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::{Fields, Plain, Tree};
use chancery_base::schema::duration;
use chancery_envoy_api::describe::{Cardinality, Describe, FieldInfo, Kind, MessageInfo};
use chancery_envoy_api::envoy::config::cluster::v3::Cluster;
use chancery_envoy_api::envoy::config::endpoint::v3::ClusterLoadAssignment;
use chancery_envoy_api::envoy::config::listener::v3::Listener;
use chancery_envoy_api::envoy::config::route::v3::RouteConfiguration;
use chancery_kubernetes::reason::Reason;
use chancery_text::Str;

/// The message of a type of resource.
fn message(resource: &str) -> &'static MessageInfo {
    match resource {
        "cluster" => <Cluster as Describe>::INFO,
        "cluster-load-assignment" => <ClusterLoadAssignment as Describe>::INFO,
        "listener" => <Listener as Describe>::INFO,
        _ => <RouteConfiguration as Describe>::INFO,
    }
}

const DURATION: &str = "google.protobuf.Duration";

/// The names in a path.
fn names(path: &str) -> Vec<&str> {
    path.trim_start_matches('/').split('/').collect()
}

/// Checks whether a patch can be applied to a resource; without a value its field is removed.
pub(super) fn check(resource: &str, path: &str, value: Option<&Tree>) -> Verdict {
    refuse(matches!(path, "" | "/"), || "non-empty, non-root Path is required".into())?;
    let mut nothing = Tree::NULL;
    change(&mut nothing, message(resource), &names(path), value)
}

/// Applies a valid patch.
pub(crate) fn apply(resource: &str, to: &mut Tree, path: &str, value: Option<&Tree>) -> Verdict {
    change(to, message(resource), &names(path), value)
}

fn field(of: &'static MessageInfo, name: &str) -> Result<&'static FieldInfo, Reason> {
    refuse(name.is_empty(), || "empty field name in path".into())?;
    let found = of.fields.iter().find(|field| field.name() == name);
    found.ok_or_else(|| format!("no match for field '{name}'! It is none of {}", of.full_name).into())
}

/// The type name of a field.
fn type_of(field: &FieldInfo) -> Str {
    let name = match (field.cardinality, field.kind) {
        (Cardinality::Map(_), _) => return Str::new_static("map"),
        (_, Kind::Message(info)) => info.full_name,
        (_, Kind::Enum(_)) => "enum",
        (_, Kind::Bool) => "bool",
        (_, Kind::I32) => "int32",
        (_, Kind::I64) => "int64",
        (_, Kind::U32) => "uint32",
        (_, Kind::U64) => "uint64",
        (_, Kind::F32) => "float",
        (_, Kind::F64) => "double",
        (_, Kind::String) => "string",
        (_, Kind::Bytes) => "bytes",
    };
    Str::from(if matches!(field.cardinality, Cardinality::Repeated) { format!("repeated {name}") } else { name.into() })
}

fn change(to: &mut Tree, of: &'static MessageInfo, path: &[&str], value: Option<&Tree>) -> Verdict {
    let Some((name, rest)) = path.split_first() else { return Ok(()) };
    let target = field(of, name)?;
    if rest.is_empty() {
        let made = value.map(|value| made(target, value)).transpose()?;
        to.take(name);
        if let Some(made) = made {
            set(to, name, made);
        }
        return Ok(());
    }
    let inner = match (target.cardinality, target.kind) {
        (Cardinality::Repeated, _) => Err(format!("path contains member of repeated field '{name}'; repeated field member access is not supported")),
        (Cardinality::Map(_), _) => Err(format!("path contains member of map field '{name}'; map field member access is not supported")),
        (Cardinality::Wrapper, _) if rest == ["value"] => return change(to, of, &[name], value),
        (Cardinality::Implicit | Cardinality::Optional, Kind::Message(info)) if info.full_name == "google.protobuf.Any" => {
            Err("variant-type message fields (google.protobuf.Any) are not supported".into())
        }
        (Cardinality::Implicit | Cardinality::Optional, Kind::Message(info)) => Ok(info),
        _ => Err(format!("path contains member of non-message field '{name}' (type '{}')", type_of(target))),
    }?;
    // A missing message has nothing to remove, but the path must be valid anyway.
    let mut nothing = Tree::NULL;
    if to.get(name).is_null() && value.is_some() {
        set(to, name, Tree { value: Plain::Object(Fields::default()), origin: None });
    }
    let part = to.get_mut(name).unwrap_or(&mut nothing);
    if inner.full_name != DURATION {
        return change(part, inner, rest, value);
    }
    let mut parts = in_parts(part);
    change(&mut parts, inner, rest, value)?;
    *part = Tree { value: Plain::String(of_parts(&parts)), origin: value.and_then(|value| value.origin).or(part.origin) };
    Ok(())
}

/// Sets a field of a message, creating it if necessary.
fn set(to: &mut Tree, name: &str, value: Tree) {
    if to.is_null() {
        to.value = Plain::Object(Fields::default());
    }
    to.set(name, value);
}

/// A duration as a message instead of a string.
fn in_parts(text: &Tree) -> Tree {
    const SECOND: i64 = 1_000_000_000;
    let nanos = duration::read(text.text()).unwrap_or_default();
    Tree::object([("seconds", Tree::from(nanos / SECOND)), ("nanos", Tree::from(nanos % SECOND))])
}

fn of_parts(parts: &Tree) -> Str {
    const SECOND: i64 = 1_000_000_000;
    go::proto_duration(parts.get("seconds").int().saturating_mul(SECOND).saturating_add(parts.get("nanos").int()))
}

/// The value of a field after it is set.
fn made(target: &'static FieldInfo, value: &Tree) -> Result<Tree, Reason> {
    refuse(value.is_null(), || {
        "non-nil Value is required; use an empty map to reset all fields on a message or the 'remove' op to unset fields".into()
    })?;
    let Plain::Object(fields) = &value.value else { return single(target, value) };
    let unfit = || -> Reason { format!("non-message field type '{}' cannot be set via a map", type_of(target)).into() };
    match (target.cardinality, target.kind) {
        (Cardinality::Wrapper, _) => match &fields.0[..] {
            [(name, inner)] if name == "value" => single(target, inner),
            _ => Err(unfit()),
        },
        (Cardinality::Implicit | Cardinality::Optional, Kind::Message(info)) => {
            let mut out = Tree { value: Plain::Object(Fields::default()), origin: value.origin };
            for (name, inner) in &fields.0 {
                out.set(name, single(field(info, name)?, inner)?);
            }
            Ok(if info.full_name == DURATION { Tree { value: Plain::String(of_parts(&out)), origin: value.origin } } else { out })
        }
        _ => Err(unfit()),
    }
}

/// A single value that is not a message.
fn single(target: &'static FieldInfo, value: &Tree) -> Result<Tree, Reason> {
    let unsupported = || -> Reason { format!("unsupported target field type '{}'", type_of(target)).into() };
    let mismatch = || -> Reason { format!("patch value could not be applied to target field type '{}'", type_of(target)).into() };
    match target.cardinality {
        Cardinality::Map(_) => return Err(unsupported()),
        Cardinality::Repeated if matches!(target.kind, Kind::Message(_) | Kind::Bytes) => return Err(unsupported()),
        Cardinality::Repeated => return Err(mismatch()),
        Cardinality::Implicit | Cardinality::Optional | Cardinality::Wrapper => {}
    }
    let number = match value.value {
        Plain::Int(number) => Some((number, number as f64)),
        Plain::Float(number) => Some((number as i64, number)),
        _ => None,
    };
    let made = match (target.kind, &value.value) {
        (Kind::Message(_) | Kind::Bytes, _) => return Err(unsupported()),
        (Kind::Enum(info), Plain::String(text)) if info.values.iter().any(|known| *text == known.name) => value.value.clone(),
        (Kind::Bool, Plain::Bool(_)) | (Kind::String, Plain::String(_)) => value.value.clone(),
        (kind, _) => match (kind, number) {
            (Kind::U32, Some((whole, _))) => Plain::Int(go::cut(whole)),
            (Kind::I32 | Kind::I64 | Kind::U64, Some((whole, _))) => Plain::Int(whole),
            (Kind::F32 | Kind::F64, Some((_, real))) => Plain::Float(real),
            _ => return Err(mismatch()),
        },
    };
    Ok(Tree { value: made, origin: value.origin })
}
