//! Applies the patches of EnvoyPatchPolicies to Envoy's resources, as Envoy Gateway does after everything else.
//!
//! Does not decide which Envoy a policy is for; see `policy`.

mod path;
mod pointer;

use super::model::PatchPolicy;
use super::xds::Resources;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Origin;
use chancery_envoy_api::{envoy, json, rules};

/// The secret of the system's trust store, which no patch may touch.
const SYSTEM_SECRET: &str = "system_ca_certificates";

const LISTENER: &str = "type.googleapis.com/envoy.config.listener.v3.Listener";
const ROUTE: &str = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";
const CLUSTER: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const ENDPOINT: &str = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
const SECRET: &str = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";

/// The results of a policy's patches.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    /// Why patches could not be applied.
    pub(crate) errors: Vec<String>,
    /// Type and name of resources that do not exist.
    pub(crate) not_found: Vec<String>,
    /// The places of patches that fail for other reasons.
    pub(crate) failed: Vec<usize>,
    /// The places of patches whose resource does not exist.
    pub(crate) missing: Vec<usize>,
}

/// Applies a policy. A patch that fails changes nothing; the others are applied.
pub(crate) fn apply(resources: &mut Resources, policy: &PatchPolicy) -> Outcome {
    let mut outcome = Outcome::default();
    for (at, patch) in policy.patches.iter().enumerate() {
        let known = outcome.not_found.len();
        if let Err(error) = apply_one(resources, patch, &mut outcome.not_found) {
            outcome.errors.push(error);
            outcome.failed.push(at);
        }
        if outcome.not_found.len() > known {
            outcome.missing.push(at);
        }
    }
    outcome
}

fn list_of<'r>(resources: &'r mut Resources, kind: &str) -> Result<&'r mut Vec<Arc<Tree>>, String> {
    match kind {
        LISTENER => Ok(&mut resources.listeners),
        ROUTE => Ok(&mut resources.routes),
        CLUSTER => Ok(&mut resources.clusters),
        ENDPOINT => Ok(&mut resources.endpoints),
        SECRET => Ok(&mut resources.secrets),
        other => Err(format!("unsupported patch type {other}")),
    }
}

fn apply_one(resources: &mut Resources, patch: &Tree, not_found: &mut Vec<String>) -> Result<(), String> {
    let operation = patch.get("operation");
    validate(operation)?;
    let (kind, name) = (patch.get("type").text(), patch.get("name").text());
    let is_whole = operation.get("path").text().is_empty() && operation.get("jsonPath").text().is_empty();
    if operation.get("op").is("add") && is_whole {
        let value = written(operation.get("value"), patch.origin);
        let list = list_of(resources, kind)?;
        check(kind, &value)?;
        if kind == SECRET && value.get("name").is(SYSTEM_SECRET) {
            return Err(reserved("cannot be used by other resources"));
        }
        list.push(Arc::new(value));
        return Ok(());
    }
    let key = if kind == ENDPOINT { "cluster_name" } else { "name" };
    let list = list_of(resources, kind)?;
    let Some(place) = list.iter().position(|of| of.get(key).is(name)) else {
        not_found.push(format!("{kind}/{name}"));
        return Ok(());
    };
    if kind == SECRET && name == SYSTEM_SECRET {
        return Err(reserved("cannot be modified by patches"));
    }
    let mut changed = Tree::clone(&list[place]);
    apply_operation(&mut changed, operation)?;
    check(kind, &changed)?;
    if kind == SECRET && changed.get("name").is(SYSTEM_SECRET) {
        return Err(reserved("cannot be used by other resources"));
    }
    list[place] = Arc::new(changed);
    Ok(())
}

fn reserved(why: &str) -> String {
    format!("secret name \"{SYSTEM_SECRET}\" is reserved for the system trust store and {why}")
}

/// Returns a value of a patch; everything in it has an origin.
fn written(value: &Tree, origin: Option<Origin>) -> Tree {
    value.clone().or_from(origin)
}

fn validate(operation: &Tree) -> Result<(), String> {
    let has = |field: &str| operation.find(field).is_some();
    let op = operation.get("op").text();
    if !has("path") && !has("jsonPath") {
        return Err("a patch operation must specify a path or jsonPath".into());
    }
    match op {
        "add" | "replace" | "test" if !has("value") => Err(format!("the {op} operation requires a value")),
        "add" | "replace" | "test" if has("from") => Err(format!("the {op} operation doesn't support a from attribute")),
        "remove" if has("from") || has("value") => Err("value and from can't be specified with the remove operation".into()),
        "move" | "copy" if !has("from") => Err(format!("the {op} operation requires a valid from attribute")),
        "move" | "copy" if has("value") => Err(format!("the {op} operation doesn't support a value attribute")),
        "add" | "replace" | "test" | "remove" | "move" | "copy" => Ok(()),
        _ => Err("unsupported JSONPatch operation".into()),
    }
}

fn apply_operation(document: &mut Tree, operation: &Tree) -> Result<(), String> {
    let op = operation.get("op").text();
    let value = written(operation.get("value"), operation.origin);
    let path = operation.get("path").text();
    let pointers = match operation.find("jsonPath") {
        None => Vec::from([String::from(path)]),
        Some(expression) => pointers(document, expression.text(), path)?,
    };
    for pointer in pointers {
        let result = match op {
            "add" => pointer::add(document, &pointer, value.clone()),
            "remove" => pointer::remove(document, &pointer),
            "replace" => pointer::replace(document, &pointer, value.clone()),
            "test" => pointer::test(document, &pointer, &value),
            "move" => pointer::relocate(document, operation.get("from").text(), &pointer),
            _ => pointer::copy(document, operation.get("from").text(), &pointer),
        };
        result.map_err(|error| format!("unable to apply patch: op={op} path={pointer} err: {error}"))?;
    }
    Ok(())
}

/// Finds the places that a JSONPath selects.
fn pointers(document: &Tree, expression: &str, path: &str) -> Result<Vec<String>, String> {
    let wrong = |why: &str| format!("unable to convert jsonPath: '{expression}' into jsonPointers, err: {why}");
    if expression.trim() == "$" {
        return Err(wrong("Using only Root ('$') in json path expression is not allowed!"));
    }
    let found = path::locate(document, expression).map_err(|error| wrong(&format!("Error during parsing jpath: {error}")))?;
    if found.is_empty() {
        return Err(format!(
            "no jsonPointers were found while evaluating the jsonPath: '{expression}'. Ensure the elements you are trying to select with the \
             jsonPath exist in the document. If you need to add a non-existing property, use the 'path' attribute"
        ));
    }
    let with_path = |pointer: String| match path {
        "" => pointer,
        path => format!("{}/{}", pointer.strip_suffix('/').unwrap_or(&pointer), path.strip_prefix('/').unwrap_or(path)),
    };
    Ok(found.into_iter().map(with_path).collect())
}

/// Checks that a resource is a message of its type, and that Envoy's rules hold.
fn check(kind: &str, of: &Tree) -> Result<(), String> {
    match kind {
        LISTENER => check_as::<envoy::config::listener::v3::Listener>(kind, of),
        ROUTE => check_as::<envoy::config::route::v3::RouteConfiguration>(kind, of),
        CLUSTER => check_as::<envoy::config::cluster::v3::Cluster>(kind, of),
        ENDPOINT => check_as::<envoy::config::endpoint::v3::ClusterLoadAssignment>(kind, of),
        _ => check_as::<envoy::extensions::transport_sockets::tls::v3::Secret>(kind, of),
    }
}

fn check_as<M: json::Readable>(kind: &str, of: &Tree) -> Result<(), String> {
    let text = of.json();
    let unreadable = |why: &str| format!("unable to unmarshal xds resource {text}, err:proto: {why}");
    let read = json::from_str::<M>(&text).map_err(|_| unreadable("syntax error"))?;
    if let Some(problem) = read.problems.first() {
        return Err(unreadable(&problem.message));
    }
    match rules::validate(&read.message).first() {
        Some(violation) => Err(format!("validation failed for xds resource {kind}, err:{}", violation.message)),
        None => Ok(()),
    }
}
