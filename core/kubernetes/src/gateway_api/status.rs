//! Builds statuses of Gateways, routes and policies in Gateway API's form. Does not decide the conditions.

use super::{GROUP, attachment};
use crate::cursor::Cursor;
use crate::status::{condition, list, number, object, text};
use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::{Node, Str, Value};

/// Conditions by their type.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    by_type: BTreeMap<&'static str, Condition>,
}

#[derive(Clone, Debug)]
struct Condition {
    holds: bool,
    reason: &'static str,
    message: String,
}

impl Conditions {
    /// Adds a condition. If this type exists already, the messages are joined and everything else is replaced.
    pub fn add(&mut self, kind: &'static str, holds: bool, reason: &'static str, message: impl Into<String>) {
        let message = message.into();
        match self.by_type.entry(kind) {
            Entry::Vacant(vacant) => {
                vacant.insert(Condition { holds, reason, message });
            }
            Entry::Occupied(mut earlier) => {
                let earlier = earlier.get_mut();
                (earlier.holds, earlier.reason) = (holds, reason);
                earlier.message.push_str(", ");
                earlier.message.push_str(&message);
            }
        }
    }

    /// Adds a condition unless this type exists already.
    pub fn add_missing(&mut self, kind: &'static str, holds: bool, reason: &'static str, message: impl Into<String>) {
        if !self.has(kind) {
            self.add(kind, holds, reason, message);
        }
    }

    /// Whether this type exists.
    pub fn has(&self, kind: &str) -> bool {
        self.by_type.contains_key(kind)
    }

    /// Whether this type exists with status False.
    pub fn denies(&self, kind: &str) -> bool {
        self.by_type.get(kind).is_some_and(|condition| !condition.holds)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_type.is_empty()
    }

    fn node(&self) -> Node {
        let write = |(kind, its): (&&str, &Condition)| object(condition(kind, if its.holds { "True" } else { "False" }, its.reason, &its.message));
        list(self.by_type.iter().map(write).collect())
    }
}

#[derive(Clone, Debug, Default)]
pub struct ListenerStatus {
    pub conditions: Conditions,
    /// The kinds of routes that it accepts.
    pub supported_kinds: Vec<&'static str>,
    /// The number of routes that would attach to it.
    pub attached_routes: i64,
}

/// The status of a Gateway; the caller adds the addresses.
#[derive(Clone, Debug, Default)]
pub struct GatewayStatus {
    pub conditions: Conditions,
    /// The statuses of its listeners, by name.
    pub listeners: BTreeMap<Str, ListenerStatus>,
}

impl GatewayStatus {
    /// The status document.
    pub fn node(&self) -> Node {
        let kind = |kind: &&'static str| object(alloc::vec![("group", text(GROUP)), ("kind", text(kind))]);
        let listener = |(name, its): (&Str, &ListenerStatus)| {
            object(alloc::vec![
                ("attachedRoutes", number(its.attached_routes)),
                ("conditions", its.conditions.node()),
                ("name", text(name)),
                ("supportedKinds", list(its.supported_kinds.iter().map(kind).collect())),
            ])
        };
        let listeners = list(self.listeners.iter().map(listener).collect());
        object(alloc::vec![("conditions", self.conditions.node()), ("listeners", listeners)])
    }
}

/// The status of a route at a parent, or of a policy at an ancestor.
#[derive(Clone, Debug)]
pub struct ParentStatus<'a> {
    /// The reference to the parent, as the route writes it.
    pub parent: Cursor<'a>,
    pub conditions: Conditions,
}

impl ParentStatus<'_> {
    fn node(&self, field: &'static str, controller: &str) -> Node {
        let parent = self.parent.node().cloned().unwrap_or_else(|| object(Vec::new()));
        object(alloc::vec![("conditions", self.conditions.node()), ("controllerName", text(controller)), (field, parent)])
    }
}

/// The status of a route. Entries of other Gateways in `before` are kept.
pub fn route(parents: &[ParentStatus<'_>], controller: &str, gateway: (&str, &str), before: Cursor<'_>) -> Node {
    object(alloc::vec![("parents", entries("parentRef", parents, controller, gateway, before))])
}

/// The status of a policy. Entries of other Gateways in `before` are kept.
pub fn policy(ancestors: &[ParentStatus<'_>], controller: &str, gateway: (&str, &str), before: Cursor<'_>) -> Node {
    object(alloc::vec![("ancestors", entries("ancestorRef", ancestors, controller, gateway, before))])
}

fn entries(field: &'static str, ours: &[ParentStatus<'_>], controller: &str, (namespace, name): (&str, &str), before: Cursor<'_>) -> Node {
    let ours = ours.iter().filter(|parent| !parent.conditions.is_empty()).map(|parent| parent.node(field, controller));
    let others = before.items().filter(|entry| !attachment::is_to_gateway(entry.field(field), namespace, name)).filter_map(|entry| {
        let mut entry = entry.node()?.clone();
        without_times(&mut entry);
        Some(entry)
    });
    list(ours.chain(others).collect())
}

/// Removes the transition times of conditions.
fn without_times(entry: &mut Node) {
    let Value::Object(entry) = &mut entry.value else { return };
    let Some(Node { value: Value::Array(conditions), .. }) = entry.get_mut("conditions") else { return };
    for condition in conditions.iter_mut() {
        if let Value::Object(condition) = &mut condition.value {
            condition.remove("lastTransitionTime");
        }
    }
    conditions.sort_by_key(|condition| condition.get("type").and_then(Node::as_str).map(Str::new));
}
