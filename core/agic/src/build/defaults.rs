//! Removes the default pool, settings and probes if nothing refers to them.
//!
//! AGIC `pkg/appgw/cleanup.go`.

use super::builder::Builder;
use crate::crash::ControllerCrash;
use chancery_base::ir::appgw::{HTTP, HTTPS, Parts, Properties, Reference};

pub(super) fn remove(builder: &mut Builder<'_, '_>) -> Result<(), ControllerCrash> {
    let names = builder.names;
    let properties = builder.properties();
    let pool = names.default_pool();
    if !backends(properties).any(|(used, _)| leads_to(used, &pool)) {
        take_out(&mut properties.pools, &pool);
    }
    let settings = names.default_settings();
    if !backends(properties).any(|(_, used)| leads_to(used, &settings)) {
        take_out(&mut properties.settings, &settings);
    }
    for protocol in [HTTP, HTTPS] {
        let probe = names.default_probe(protocol);
        if !properties.settings.iter().flatten().any(|settings| leads_to(&settings.properties.probe, &probe)) {
            take_out(&mut properties.probes, &probe);
        }
    }
    Ok(())
}

/// Returns all references to pools and settings.
fn backends(properties: &Properties) -> impl Iterator<Item = (&Option<Reference>, &Option<Reference>)> {
    let rules = properties.rules.iter().flatten().map(|rule| (&rule.properties.pool, &rule.properties.settings));
    let maps = properties.path_maps.iter().flatten();
    let defaults = maps.clone().map(|map| (&map.properties.default_pool, &map.properties.default_settings));
    let paths = maps.flat_map(|map| map.properties.rules.iter().flatten()).map(|rule| (&rule.properties.pool, &rule.properties.settings));
    rules.chain(defaults).chain(paths)
}

fn leads_to(reference: &Option<Reference>, name: &str) -> bool {
    reference.as_ref().is_some_and(|reference| is_named(&reference.id.value, name))
}

fn take_out<T>(parts: &mut Option<Parts<T>>, name: &str) {
    if let Some(parts) = parts
        && let Some(place) = parts.iter().position(|part| is_named(&part.id, name))
    {
        parts.remove(place);
    }
}

/// Whether an id ends with this name, after its last slash.
fn is_named(id: &str, name: &str) -> bool {
    let start = id.len().checked_sub(name.len()).and_then(|start| Some((start, id.get(start..)?)));
    start.is_some_and(|(start, last)| last.eq_ignore_ascii_case(name) && (start == 0 || id.get(..start).is_some_and(|before| before.ends_with('/'))))
}
