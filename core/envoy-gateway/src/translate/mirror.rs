//! Translates filters that send copies of requests to another backend.

use super::super::context::Translator;
use super::super::model::{Destination, Mirror};
use super::super::names;
use super::error::{About, RouteError};
use super::route_backend::{Backend, check_address_type, resolve, routing_type, validate_backend};
use super::rule_filters::At;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// Translates a mirror; nothing if the filter is empty.
pub(super) fn process<'a>(t: &mut Translator<'a>, at: At<'_, 'a>, index: usize, filter: Cursor<'a>) -> Result<Option<Mirror>, RouteError> {
    if !filter.exists() {
        return Ok(None);
    }
    let reference = filter.field("backendRef");
    let backend = Backend { at: reference, filters: Vec::new(), weight: 1 };
    let within = |error: RouteError, about: About| RouteError { about, ..error.within("failed to validate the RequestMirror filter") };
    validate_backend(t, at.route, &backend).map_err(|error| within(error, About::ResolvedRefs))?;
    // Filters of a GRPCRoute do not know their rule.
    let rule = if at.is_grpc { 0 } else { at.rule };
    let name = format!("{}-mirror-{index}", names::destination(at.route, rule as i64));
    let kind = routing_type(t, at.route, at.parent, at.gateway, None);
    let resolved = resolve(t, at, &names::setting(&name, -1), &backend, kind.as_deref());
    let setting = resolved.and_then(|setting| check_address_type(t, at, &backend, kind.as_deref(), &setting).map(|()| setting)).map_err(|error| {
        let is_missing = error.reason == "EndpointsNotFound";
        if is_missing { within(error, About::BackendsAvailable) } else { error }
    })?;
    let destination = Destination { name: Str::from(name), origin: setting.origin, settings: Vec::from([setting]), ..Destination::default() };
    Ok(Some(Mirror { destination, percentage: percentage(filter), origin: Some(filter.origin()) }))
}

fn percentage(filter: Cursor<'_>) -> Tree {
    let fraction = filter.field("fraction");
    if let Some(numerator) = fraction.field("numerator").int() {
        let denominator = fraction.field("denominator").int().unwrap_or(100);
        let share = 100.0 * numerator as f32 / denominator as f32;
        return Tree::from(f64::from(share)).with_origin(Some(fraction.origin().whole()));
    }
    let percent = filter.field("percent");
    percent.int().map_or(Tree::NULL, |share| Tree::from(share as f64).with_origin(Some(percent.origin())))
}
