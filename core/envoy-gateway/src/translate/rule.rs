//! Translates backends of rules, with their filters, into destinations.

use super::super::context::Translator;
use super::super::model::{DestinationFilters, DestinationSetting};
use super::error::RouteError;
use super::filters;
use super::merge_backends::BackendDestination;
use super::route_backend::{Backend, check_address_type, resolve, validate_backend};
use super::rule_filters::At;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::Sourced;
use chancery_text::Str;

/// Translates a backend of a rule, and decides whether its cluster may be shared.
pub(super) fn process_backend<'a>(
    t: &mut Translator<'a>,
    at: At<'_, 'a>,
    name: &str,
    backend: &Backend<'a>,
    routing_type: Option<&str>,
    is_unsafe: bool,
) -> (BackendDestination, Option<RouteError>) {
    let (setting, error) = process_destination(t, at, name, backend, routing_type);
    let is_used = error.is_none() && backend.weight != 0;
    let namespace = match backend.at.field("namespace").str() {
        "" => at.route.object.namespace().as_str(),
        written => written,
    };
    let key = at.gateway.filter(|_| is_used).and_then(|gateway| t.shared_key(gateway, routing_type, is_unsafe, backend.at, namespace, &setting));
    (BackendDestination { setting, key }, error)
}

/// Translates a reference to a backend. With an error, the destination is empty.
fn process_destination<'a>(
    t: &mut Translator<'a>,
    at: At<'_, 'a>,
    name: &str,
    backend: &Backend<'a>,
    routing_type: Option<&str>,
) -> (DestinationSetting, Option<RouteError>) {
    let weight = Sourced::new(backend.weight, backend.at.field("weight").origin());
    let empty =
        || DestinationSetting { name: Str::new(name), weight: Some(weight), origin: Some(backend.at.origin()), ..DestinationSetting::default() };
    if let Err(error) = validate_backend(t, at.route, backend) {
        return (empty(), Some(error));
    }
    if backend.weight == 0 {
        return (empty(), None);
    }
    match resolve_with_filters(t, at, name, backend, routing_type) {
        Ok(setting) => (setting, None),
        Err(error) => (empty(), Some(error)),
    }
}

fn resolve_with_filters<'a>(
    t: &mut Translator<'a>,
    at: At<'_, 'a>,
    name: &str,
    backend: &Backend<'a>,
    routing_type: Option<&str>,
) -> Result<DestinationSetting, RouteError> {
    let mut setting = resolve(t, at, name, backend, routing_type)?;
    setting.filters = backend_filters(t, at, backend)?.map(Box::new);
    check_address_type(t, at, backend, routing_type, &setting)?;
    Ok(setting)
}

fn backend_filters<'a>(t: &mut Translator<'a>, at: At<'_, 'a>, backend: &Backend<'a>) -> Result<Option<DestinationFilters>, RouteError> {
    if backend.filters.is_empty() {
        return Ok(None);
    }
    let (filters, errors) = filters::process(t, At { rule: 0, ..at }, &backend.filters);
    if errors.is_empty() {
        return Ok(Some(filters.of_backend()));
    }
    let messages: Vec<String> = errors.into_iter().map(|error| error.message).collect();
    Err(RouteError::new("InvalidBackendFilters", messages.join("\n")))
}
