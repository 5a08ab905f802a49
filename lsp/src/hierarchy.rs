//! Answers with the objects that refer to an object and the objects that it refers to: inclusion, delegation, backends.
//!
//! Does not find references; see `chancery_core::explain::Names`.

use crate::analysis::Analysis;
use crate::context::{Answer, AtPosition, Context, Refused, parameters};
use crate::uri::uri_of;
use chancery_core::explain::NamePlace;
use chancery_core::resource::{Object, ObjectId};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// # Errors
///
/// The parameters are invalid.
pub fn prepare(context: &Context, params: Value) -> Answer {
    let at: AtPosition = parameters(params)?;
    let Some(spot) = context.spot(&at) else { return Ok(Value::Null) };
    let here = |object: &&Object| object.value_range(object.root.id).is_some_and(|range| range.start <= spot.offset && spot.offset <= range.end);
    let Some(object) = spot.analysis.objects_of(spot.source).filter(here).last() else { return Ok(Value::Null) };
    Ok(item(context, spot.analysis, object).into_iter().collect())
}

fn item(context: &Context, analysis: &Analysis, object: &Object) -> Option<Value> {
    let source = object.source.source;
    let whole = object.value_range(object.root.id)?;
    let span = analysis.positions().object(object.id)?;
    Some(json!({
        "name": object.key.name,
        "kind": 19,
        "detail": format!("{} {}", object.key.kind, object.key.namespace.as_deref().unwrap_or_default()).trim(),
        "uri": uri_of(analysis.path(source)?),
        "range": analysis.range_of(source, whole.start as usize..whole.end as usize, context.client.encoding),
        "selectionRange": context.range(analysis, &span),
        "data": { "object": object.id.index(), "version": analysis.version },
    }))
}

/// The object of an item.
fn object_of<'a>(analysis: &'a Analysis, params: &Value) -> Result<&'a Object, Refused> {
    let name = params["item"]["name"].as_str().unwrap_or_default();
    let index = params["item"]["data"]["object"].as_u64().and_then(|index| usize::try_from(index).ok());
    let object = index.and_then(|index| analysis.compilation.objects.get(ObjectId::from_index(index)));
    object.filter(|object| object.key.name == name).ok_or_else(|| "The document changed".into())
}

/// # Errors
///
/// The document changed.
pub fn incoming(context: &Context, params: Value) -> Answer {
    let Some(analysis) = context.analysis.as_deref() else { return Ok(Value::Null) };
    let object = object_of(analysis, &params)?;
    let named = chancery_core::explain::Named::Object(object.id);
    let mut by_holder: BTreeMap<ObjectId, Vec<&NamePlace>> = BTreeMap::new();
    for place in analysis.names().places(&named).filter(|place| !place.is_definition) {
        by_holder.entry(place.holder).or_default().push(place);
    }
    let mut out: Vec<Value> = Vec::new();
    for (holder, places) in by_holder {
        let Some(from) = analysis.compilation.objects.get(holder).and_then(|holder| item(context, analysis, holder)) else { continue };
        let ranges: Vec<_> = places.iter().map(|place| context.range(analysis, &place.span)).collect();
        out.push(json!({ "from": from, "fromRanges": ranges }));
    }
    Ok(out.into())
}

/// # Errors
///
/// The document changed.
pub fn outgoing(context: &Context, params: Value) -> Answer {
    let Some(analysis) = context.analysis.as_deref() else { return Ok(Value::Null) };
    let object = object_of(analysis, &params)?;
    let names = analysis.names();
    let mut by_target: BTreeMap<ObjectId, Vec<&NamePlace>> = BTreeMap::new();
    for place in names.references_in(object.source.source).filter(|place| place.holder == object.id) {
        if let chancery_core::explain::Named::Object(target) = place.named {
            by_target.entry(target).or_default().push(place);
        }
    }
    // References without a field, such as a selection.
    for target in names.targets(object.id) {
        by_target.entry(target).or_default();
    }
    let mut out: Vec<Value> = Vec::new();
    for (target, places) in by_target {
        let Some(to) = analysis.compilation.objects.get(target).and_then(|target| item(context, analysis, target)) else { continue };
        let ranges: Vec<_> = places.iter().map(|place| context.range(analysis, &place.span)).collect();
        out.push(json!({ "to": to, "fromRanges": ranges }));
    }
    Ok(out.into())
}
