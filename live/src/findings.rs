//! Makes findings from what happens when a build is served: Envoys reject resources, and the server does not send resources.
//!
//! Their places are places of the build that was served. A file may have changed since, so each place is looked up again. Does not find the
//! causes; see `xds::blame`.

use crate::event::{Basis, Event, Place};
use crate::worker::build::{Build, withheld_events};
use crate::xds::clients::{Clients, RejectedNow};
use chancery_core::compilation::Compilation;
use chancery_core::diagnostic::codes;
use chancery_core::explain::{Finding, Positions, RelatedView, ResourceRef, Span};
use chancery_core::resource::ResourceKey;
use chancery_core::text::TextRange;

/// The most resources that are reported as not sent.
const MOST_WITHHELD: usize = 100;

/// Returns the resources that Envoys reject now, then the withheld resources. Empty while every Envoy has all of the build.
#[must_use]
pub fn served_findings(build: &Build, clients: &Clients) -> Vec<Finding> {
    let positions = build.compilation.positions();
    let rejected = clients.rejected_now();
    let mut out: Vec<Finding> = rejected.iter().map(|of| of_rejection(of, &build.compilation, &positions)).collect();
    for event in build.gateways.iter().flat_map(withheld_events).take(MOST_WITHHELD) {
        let Event::Withheld { r#type, resource, message, places, gateway } = event else { continue };
        let kind = r#type.rsplit('.').next().unwrap_or(&r#type);
        let message = format!("{kind} {resource} of {gateway} is not sent, because {}", clients.events().scrubbed(&message));
        out.push(finding(message, &places, &build.compilation, &positions));
    }
    let withheld: usize = build.gateways.iter().map(|gateway| gateway.withheld.len()).sum();
    if let Some(more) = withheld.checked_sub(MOST_WITHHELD + 1) {
        let message = format!("{} more resources are not sent", more + 1);
        out.push(finding(message, &[], &build.compilation, &positions));
    }
    out
}

fn of_rejection(of: &RejectedNow, compilation: &Compilation, positions: &Positions<'_>) -> Finding {
    let (one_verb, verb) = if of.is_past { ("rejected", "rejected") } else { ("rejects", "reject") };
    let who = match &of.envoys[..] {
        [one] => format!("the Envoy {one} {one_verb}"),
        [one, ..] => format!("{} Envoys, {one} and others, {verb}", of.envoys.len()),
        [] => format!("an Envoy {one_verb}"),
    };
    let reason = |place: &Place, basis: Basis| format!(" ({}: {})", named(place), basis.reason());
    let basis = of.blamed.places.first().map(|place| reason(place, of.blamed.basis)).unwrap_or_default();
    finding(format!("{who} {}{basis}", of.resource_and_message), &of.blamed.places, compilation, positions)
}

/// The object and the field of a place.
fn named(place: &Place) -> String {
    format!("{} {}", place.object, place.field).trim().to_owned()
}

/// A finding at the first place. The other places are related.
fn finding(message: String, places: &[Place], compilation: &Compilation, positions: &Positions<'_>) -> Finding {
    let first = places.first();
    // Most names differ, so that few keys are written out.
    let may_be_its = |key: &&ResourceKey| first.is_some_and(|place| !place.object.is_empty() && place.object.contains(key.name.as_str()));
    let is_its = |key: &ResourceRef| first.is_some_and(|place| key.to_string() == place.object);
    let keys = compilation.objects.iter().map(|object| &object.key).filter(may_be_its);
    let object = keys.map(ResourceRef::from).find(is_its);
    let related = |of: &Place| RelatedView { message: named(of), span: span(of, positions) };
    Finding {
        code: codes::REFUSED_BY_ENVOY.name,
        severity: codes::REFUSED_BY_ENVOY.severity.name(),
        dialect: None,
        message,
        span: first.and_then(|place| span(place, positions)),
        path: first.map(|of| of.field.clone()).filter(|path| !path.is_empty()),
        resource: object.clone(),
        object,
        related: places.iter().skip(1).map(related).collect(),
        help: None,
        fix: None,
    }
}

/// The rest of the line from a place's column, in the present text.
fn span(of: &Place, positions: &Positions<'_>) -> Option<Span> {
    let source = positions.source(&of.file)?;
    let line = positions.lines(source)?.line_range(of.line.checked_sub(1)?)?;
    let text = positions.text(source).get(line.start as usize..line.end as usize)?;
    let indent = text.len() - text.trim_start().len();
    // Columns count characters. If the line became shorter, its whole text is the place.
    let column = text.char_indices().map(|(at, _)| at).nth(of.column.saturating_sub(1) as usize);
    let from = column.filter(|column| *column >= indent && *column < text.trim_end().len()).unwrap_or(indent) as u32;
    positions.span(source, TextRange::new(line.start + from, line.start + text.trim_end().len() as u32))
}
