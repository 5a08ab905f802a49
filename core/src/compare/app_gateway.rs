//! What differs between two Application Gateways: their rules, by where requests come in and by path.
//!
//! What must not be here: resources.

use super::{Change, ChangeKind, FieldChange};
use crate::compilation::AppGatewayRef;
use crate::explain::{RouteRow, routes_of_app_gateway};
use crate::text::Str;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Compares the rules of two gateways.
#[must_use]
pub fn compare_app_gateways(before: AppGatewayRef<'_>, after: AppGatewayRef<'_>) -> Vec<Change> {
    let (old, new) = (routes_of_app_gateway(before), routes_of_app_gateway(after));
    let other = |row: &RouteRow, all: &[RouteRow]| all.iter().find(|other| name(other) == name(row)).cloned();
    let of_old = old.iter().filter_map(|row| match other(row, &new) {
        None => Some(change(row, ChangeKind::Removed, Vec::new())),
        Some(now) => {
            let fields = fields(row, &now);
            (!fields.is_empty()).then(|| change(&now, ChangeKind::Changed, fields))
        }
    });
    let added = new.iter().filter(|row| other(row, &old).is_none()).map(|row| change(row, ChangeKind::Added, Vec::new()));
    of_old.chain(added).collect()
}

/// By what rules are identified: `http://shop.example.com:80 path /api/*`.
fn name(row: &RouteRow) -> String {
    let domains: Vec<&str> = row.domains.iter().map(Str::as_str).collect();
    format!("{}://{}{} {}", row.chain.to_lowercase(), domains.join(","), row.address, row.path)
}

fn change(row: &RouteRow, change: ChangeKind, fields: Vec<FieldChange>) -> Change {
    Change { change, kind: "rule".into(), name: name(row), was: None, note: None, fields, before: Vec::new(), after: Vec::new() }
}

fn fields(before: &RouteRow, after: &RouteRow) -> Vec<FieldChange> {
    let texts = |row: &RouteRow| [("action", row.told.clone()), ("policies", row.policies.join(", ")), ("place", format!("{}", row.order))];
    let pairs = texts(before).into_iter().zip(texts(after)).filter(|((_, old), (_, new))| old != new);
    let field = |((path, old), (_, new)): ((&str, String), (&str, String))| FieldChange {
        path: path.into(),
        before: Some(old),
        after: Some(new),
        before_from: None,
        after_from: None,
    };
    pairs.map(field).collect()
}
