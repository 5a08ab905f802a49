//! Adds the conditions that the controller writes to the status of an object.
//!
//! A status can say `Accepted` although requests get an error, so it stands next to the findings. Does not judge conditions.

use super::LedgerRow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::Compilation;
use chancery_text::{Node, Str};
use hashbrown::HashMap;

/// A condition in an object's status.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct StatusCondition {
    /// Its type, such as `Accepted`.
    #[serde(rename = "type")]
    pub kind: Str,
    /// `True`, `False` or `Unknown`.
    pub status: Str,
    pub reason: Str,
}

/// The parts of a status that have their own conditions: one for each parent, ancestor or listener.
const PARTS: [&str; 3] = ["parents", "ancestors", "listeners"];

/// A load balancer assigns addresses. Without a cluster there is none, so this reason says nothing about the input.
const WITHOUT_CLUSTER: &str = "AddressNotAssigned";

/// Adds the conditions to the rows of their objects. A row has each type once: if parents differ, the one that is not `True`.
pub(super) fn add_statuses(rows: &mut [LedgerRow], compilation: &Compilation) {
    let statuses = compilation.sides.iter().flat_map(|side| {
        let all = side.answers.statuses.iter().flatten();
        all.map(|of| ((side.dialect.name, of.kind.as_str(), of.namespace.as_str(), of.name.as_str()), &*of.status))
    });
    let statuses: HashMap<(&str, &str, &str, &str), &Node> = statuses.collect();
    let first = compilation.sides.first().map_or("", |side| side.dialect.name);
    for row in rows {
        let (resource, dialect) = (&row.resource, row.dialect.unwrap_or(first));
        let key = (dialect, resource.kind.as_str(), resource.namespace.as_deref().unwrap_or_default(), resource.name.as_str());
        row.status = statuses.get(&key).map(|status| conditions(status)).unwrap_or_default();
    }
}

fn conditions(status: &Node) -> Vec<StatusCondition> {
    let parts = PARTS.into_iter().filter_map(|part| status.at(&[part])?.as_array()).flatten();
    let lists = core::iter::once(status).chain(parts).filter_map(|of| of.at(&["conditions"])?.as_array());
    let mut out: Vec<StatusCondition> = Vec::new();
    for condition in lists.flatten() {
        let text = |field: &str| condition.at(&[field]).and_then(Node::as_str).map(Str::from).unwrap_or_default();
        let next = StatusCondition { kind: text("type"), status: text("status"), reason: text("reason") };
        match out.iter_mut().find(|known| known.kind == next.kind) {
            _ if next.kind.is_empty() || next.reason == *WITHOUT_CLUSTER => {}
            Some(known) if known.status == *"True" => *known = next,
            Some(_) => {}
            None => out.push(next),
        }
    }
    out
}

impl LedgerRow {
    /// Returns the conditions in one line, such as `Accepted, ResolvedRefs=False (BackendNotFound)`; `None` if there are none.
    #[must_use]
    pub fn status_line(&self) -> Option<String> {
        let shown = |of: &StatusCondition| match of.status.as_str() {
            "True" => format!("{}", of.kind),
            status => format!("{}={status} ({})", of.kind, of.reason),
        };
        (!self.status.is_empty()).then(|| self.status.iter().map(shown).collect::<Vec<_>>().join(", "))
    }
}
