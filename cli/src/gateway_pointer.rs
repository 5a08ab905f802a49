//! JSON pointers in the output of `compile`, which contains a document for each gateway if there are several.
//!
//! Does not resolve the rest of a pointer; see `chancery_core::explain::resolve`.

use chancery_core::backend::output_map::push_name;
use chancery_core::compilation::NamedGateway;
use chancery_core::explain::LineReport;

/// Returns the pointer to the gateway's document; empty if the output is this document.
fn document_pointer(gateway: NamedGateway<'_>) -> String {
    let mut pointer = String::new();
    if gateway.of.compilation.sides().len() > 1 {
        push_name(&mut pointer, gateway.of.dialect().name);
    }
    if gateway.of.side.gateways.len() > 1 {
        push_name(&mut pointer, gateway.id.as_str());
    }
    pointer
}

/// Returns the part of a pointer below the gateway's document, if the pointer starts with this document.
pub fn within_document<'t>(gateway: NamedGateway<'_>, target: &'t str) -> Option<&'t str> {
    let document = document_pointer(gateway);
    let rest = target.strip_prefix(document.as_str()).filter(|_| !document.is_empty())?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// Makes the pointers of a report start at the output of `compile`.
pub fn complete<'a>(report: &mut LineReport, gateways: impl Iterator<Item = NamedGateway<'a>> + Clone) {
    for made in &mut report.made {
        if let Some(gateway) = gateways.clone().find(|gateway| made.gateway.is_some() && gateway.label() == made.gateway) {
            made.pointer.insert_str(0, &document_pointer(gateway));
        }
    }
}
