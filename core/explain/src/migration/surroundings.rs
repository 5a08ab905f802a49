//! Finds the objects that one side of a comparison lacks although both run in the same cluster: Services, endpoints, Secrets, ConfigMaps and
//! namespaces. Does not compile.

use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use chancery_base::compilation::Compilation;
use chancery_base::resource::{Input, Object};

/// Kinds that belong to the cluster and not to a controller.
const KINDS: &[(&str, &str)] =
    &[("", "Service"), ("", "Endpoints"), ("discovery.k8s.io", "EndpointSlice"), ("", "Secret"), ("", "ConfigMap"), ("", "Namespace")];

/// Returns the cluster's objects that only the other side has, as an input.
#[must_use]
pub fn surroundings(own: &Compilation, other: &Compilation) -> Option<Input> {
    let is_of_cluster = |object: &&Object| {
        let key = &object.key;
        !object.broken && !object.assumed && object.parent.is_none() && KINDS.iter().any(|(group, kind)| key.group == *group && key.kind == *kind)
    };
    let name = |object: &Object| {
        let namespace = object.key.namespace.as_deref().filter(|namespace| !namespace.is_empty()).unwrap_or("default");
        (object.key.kind.clone(), namespace.to_owned(), object.key.name.clone())
    };
    let known: BTreeSet<_> = own.objects.iter().filter(is_of_cluster).map(name).collect();
    let missing = other.objects.iter().filter(is_of_cluster).filter(|object| !known.contains(&name(object)));
    let texts: String = missing.filter_map(|object| text_of(object, other)).map(|text| format!("---\n{text}\n")).collect();
    (!texts.is_empty()).then(|| Input { name: "shared.yaml".into(), text: texts.into() })
}

/// Returns the text of an object as it is written, with its indentation.
fn text_of(object: &Object, compilation: &Compilation) -> Option<String> {
    let span = object.document.spans.get(object.root.id)?.value;
    let text = &compilation.inputs.inputs.get(object.source.source.0 as usize)?.text;
    let start = object.source.offset as usize + span.start as usize;
    let end = object.source.offset as usize + span.end as usize;
    let line = text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
    Some(format!("{}{}", " ".repeat(start - line), text.get(start..end)?))
}
