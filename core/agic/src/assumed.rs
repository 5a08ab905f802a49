//! Assumes how AGIC is started if the options do not say it: its variables are those of its chart's ConfigMap, and its class is the only AGIC
//! class.
//!
//! Assumed objects are the same for every dialect and not handled here.

use super::options::Options;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use chancery_base::diagnostic::{Diagnostic, Findings, codes};
use chancery_base::resource::{Object, Objects};
use chancery_kubernetes::at_name;
use chancery_text::{Node, Str};

const CLASS: &str = "INGRESS_CLASS_RESOURCE_NAME";

/// Returns the options with the assumed variables.
pub(super) fn options<'o>(objects: &Objects, given: &'o Options, sink: &mut Findings) -> Cow<'o, Options> {
    if !given.assumes_start || !given.env.is_empty() {
        return Cow::Borrowed(given);
    }
    let mut env = given.env.clone();
    let mut report = |object: &Object, message: String| {
        sink.report(Diagnostic::new(&codes::ASSUMED_OBJECT, message, at_name(object)).about(object.key.clone()));
    };
    let data = |map: &Object| map.root.get("data").and_then(Node::as_object).cloned().unwrap_or_default();
    if let Some(map) = only(objects, "ConfigMap", |map| data(map).iter().any(|entry| entry.key.starts_with("APPGW_"))) {
        report(map, format!("no variable of AGIC is given; the variables of the {} are assumed", map.key));
        env = data(map).iter().filter_map(|entry| Some((entry.key.clone(), Str::new(entry.value.as_str()?)))).collect();
    }
    let is_own = |class: &Object| class.root.at(&["spec", "controller"]).and_then(Node::as_str) == Some("azure/application-gateway");
    let class = only(objects, "IngressClass", is_own).filter(|class| *class.key.name != *"azure-application-gateway" && !env.contains_key(CLASS));
    if let Some(class) = class {
        report(class, format!("no variable of AGIC is given; `{CLASS}={}` is assumed, as the input has this class", class.key.name));
        env.insert(Str::new_static(CLASS), class.key.name.clone());
    }
    if env.is_empty() { Cow::Borrowed(given) } else { Cow::Owned(Options { env, ..given.clone() }) }
}

/// Returns the object of a kind that meets a condition, if there is exactly one.
fn only<'o>(objects: &'o Objects, kind: &str, is_so: impl Fn(&Object) -> bool) -> Option<&'o Object> {
    let mut found = objects.iter().filter(|object| !object.broken && *object.key.kind == *kind && is_so(object));
    found.next().filter(|_| found.next().is_none())
}
