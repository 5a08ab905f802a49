//! Converts one object for a virtual document. Does not convert itself; see `chancery_core::convert`.

use crate::analysis::Analysis;
use crate::context::Refused;
use chancery_core::compilation::Dialect;
use chancery_core::convert::{Conversion, http_proxy_to_gateway, ingress_to_gateway, mapping_to_http_proxy};
use chancery_core::dialect::{ambassador, contour};

/// The objects that an object becomes in another configuration language. `name` is `KIND/NAMESPACE/NAME`.
///
/// # Errors
///
/// The object cannot be converted.
pub fn converted(analysis: &Analysis, what: &str, name: &str) -> Result<String, Refused> {
    let mut steps = name.splitn(3, '/');
    let (kind, namespace, name) = (steps.next().unwrap_or_default(), steps.next().unwrap_or_default(), steps.next().unwrap_or_default());
    let compilation = &analysis.compilation;
    let side = |dialect: &'static Dialect| compilation.sides().find(|side| side.dialect().name == dialect.name);
    let conversion: Conversion = match (kind, what) {
        ("Mapping", "httpproxy") => {
            let stages = compilation.sides.iter().find_map(ambassador::Stages::of);
            stages.map(|stages| mapping_to_http_proxy(&stages.config)).unwrap_or_default()
        }
        ("HTTPProxy", _) => side(&contour::DIALECT).map(http_proxy_to_gateway).unwrap_or_default(),
        ("Ingress", _) => ingress_to_gateway(&compilation.objects),
        _ => return Err(format!("A {kind} cannot be converted").into()),
    };
    let is_about = |note_kind: &str, note_namespace: Option<&str>, note_name: &str| {
        note_kind == kind && note_name == name && note_namespace.unwrap_or("default") == namespace
    };
    let notes = conversion.notes.iter().filter(|note| is_about(&note.resource.kind, note.resource.namespace.as_deref(), &note.resource.name));
    let mut text: String = notes.map(|note| format!("# {}\n", note.message.replace('\n', " "))).collect();
    let is_meant = |object: &&chancery_core::text::Node| {
        let of = |field: &str| object.at(&["metadata", field]).and_then(chancery_core::text::Node::as_str);
        of("namespace").unwrap_or("default") == namespace && of("name").is_some_and(|own| own == name || own.starts_with(&format!("{name}-")))
    };
    let objects: Vec<_> = conversion.objects.iter().filter(is_meant).cloned().collect();
    // Mappings of one host become one object with another name.
    let objects = if objects.is_empty() { conversion.objects.clone() } else { objects };
    if objects.is_empty() {
        return Err(format!("There is nothing of {name} to convert").into());
    }
    text.push_str(&Conversion { objects, ..Conversion::default() }.yaml());
    Ok(text)
}
