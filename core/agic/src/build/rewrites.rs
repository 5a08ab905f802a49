//! Makes rewrite sets: one for each AzureApplicationGatewayRewrite that an Ingress names. Sets that the controller made earlier are removed, others
//! are kept.
//!
//! AGIC `pkg/appgw/rewrites.go`. AGIC does not read the type of an action, so `delete` keeps the given value.

use super::builder::Builder;
use super::share::ShareInput;
use crate::annotations as a;
use crate::crash::ControllerCrash;
use crate::kinds::Kind;
use crate::model::Ingress;
use crate::names::{PartKind, rewrite_set};
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Actions, Condition, HeaderChange, Part, Reference, Rewrite, RewriteSet, UrlChange};
use chancery_base::resource::Sourced;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// The name prefix of the controller's own sets.
const OURS: &str = "crd-";

pub(super) fn make(builder: &mut Builder<'_, '_>) -> Result<(), ControllerCrash> {
    let mut made: BTreeMap<(Str, Str), Arc<Part<RewriteSet>>> = BTreeMap::new();
    for ingress in builder.shares.iter().map(|share| &share.ingress) {
        let Some(name) = ingress.annotations.some_text(&a::REWRITE_CUSTOM_RESOURCE) else { continue };
        let Some(held) = builder.source.cluster.get(Kind::Rewrite, &ingress.namespace, &name) else { continue };
        let part_name = rewrite_set(&ingress.namespace, &name);
        let part_id = builder.names.id(PartKind::RewriteSet, &part_name);
        let rules = held.root().at("spec.rewriteRules");
        let set = RewriteSet { rules: Some(rules.items().map(rewrite).collect()), ..RewriteSet::default() };
        let part = Part::new(part_name, part_id, set, held.root().origin());
        made.insert((ingress.namespace.clone(), name.value), Arc::new(part));
    }
    let properties = builder.properties();
    let mut sets = properties.rewrites.take().unwrap_or_default();
    sets.retain(|set| !set.name.starts_with(OURS));
    sets.extend(made.into_values());
    properties.rewrites = Some(sets);
    Ok(())
}

/// Returns the rewrite set of an Ingress, from either annotation; with both there is none.
pub(super) fn of_ingress(given: &ShareInput<'_, '_>, ingress: &Ingress) -> Option<Reference> {
    let named = ingress.annotations.some_text(&a::REWRITE_RULE_SET);
    let custom = ingress.annotations.some_text(&a::REWRITE_CUSTOM_RESOURCE);
    match (named, custom) {
        (Some(name), None) => Some(given.reference(PartKind::RewriteSet, &name, name.origin)),
        (None, Some(name)) => Some(given.reference(PartKind::RewriteSet, &rewrite_set(&ingress.namespace, &name), name.origin)),
        _ => None,
    }
}

fn text(at: Cursor<'_>) -> Option<Sourced<Str>> {
    Some(Sourced::new(Str::new(at.str()), at.origin()))
}

fn flag(at: Cursor<'_>) -> Option<Sourced<bool>> {
    Some(Sourced::new(at.is_true(), at.origin()))
}

fn rewrite(at: Cursor<'_>) -> Rewrite {
    let sequence = at.field("ruleSequence");
    let actions = at.field("actions");
    Rewrite {
        name: text(at.field("name")),
        sequence: Some(Sourced::new(i64::from(sequence.int().unwrap_or_default() as i32), sequence.origin())),
        conditions: Some(at.field("conditions").items().map(condition).collect()),
        actions: Some(Actions {
            request_headers: Some(headers(actions.field("requestHeaderConfigurations"))),
            response_headers: Some(headers(actions.field("responseHeaderConfigurations"))),
            url: actions.field("urlConfiguration").some().map(url),
            ..Actions::default()
        }),
        ..Rewrite::default()
    }
}

fn condition(at: Cursor<'_>) -> Condition {
    Condition {
        ignore_case: flag(at.field("ignoreCase")),
        negate: flag(at.field("negate")),
        variable: text(at.field("variable")),
        pattern: text(at.field("pattern")),
        ..Condition::default()
    }
}

fn headers(at: Cursor<'_>) -> Vec<HeaderChange> {
    let header =
        |at: Cursor<'_>| HeaderChange { name: text(at.field("headerName")), value: text(at.field("headerValue")), ..HeaderChange::default() };
    at.items().map(header).collect()
}

fn url(at: Cursor<'_>) -> UrlChange {
    UrlChange {
        path: text(at.field("modifiedPath")),
        query: text(at.field("modifiedQueryString")),
        reroute: flag(at.field("reroute")),
        ..UrlChange::default()
    }
}
