//! Statuses of Gateways, routes and policies, in the forms that Gateway API gives them.
//!
//! What must not be here: which conditions there are, and when.

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
    /// Adds one. Where there is one of this type its words stay in front, and all else is replaced.
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

    /// Adds one unless there is one of this type.
    pub fn add_missing(&mut self, kind: &'static str, holds: bool, reason: &'static str, message: impl Into<String>) {
        if !self.has(kind) {
            self.add(kind, holds, reason, message);
        }
    }

    /// Whether there is one of this type.
    pub fn has(&self, kind: &str) -> bool {
        self.by_type.contains_key(kind)
    }

    /// Whether there is one of this type that says no.
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

/// The status of a listener.
#[derive(Clone, Debug, Default)]
pub struct ListenerStatus {
    /// Its conditions.
    pub conditions: Conditions,
    /// Kinds of routes that it takes.
    pub supported_kinds: Vec<&'static str>,
    /// How many routes there are that would attach to it.
    pub attached_routes: i64,
}

/// The status of a Gateway; whoever knows its addresses adds them.
#[derive(Clone, Debug, Default)]
pub struct GatewayStatus {
    /// Its conditions.
    pub conditions: Conditions,
    /// Those of its listeners, by their names.
    pub listeners: BTreeMap<Str, ListenerStatus>,
}

impl GatewayStatus {
    /// As it is written.
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

/// What a route's parent, or a policy's ancestor, makes of it.
#[derive(Clone, Debug)]
pub struct ParentStatus<'a> {
    /// The reference to it, as the route has it.
    pub parent: Cursor<'a>,
    /// Its conditions.
    pub conditions: Conditions,
}

impl ParentStatus<'_> {
    fn node(&self, field: &'static str, controller: &str) -> Node {
        let parent = self.parent.node().cloned().unwrap_or_else(|| object(Vec::new()));
        object(alloc::vec![("conditions", self.conditions.node()), ("controllerName", text(controller)), (field, parent)])
    }
}

/// The status of a route: `before` is the list that it had, of which what other Gateways wrote stays.
pub fn route(parents: &[ParentStatus<'_>], controller: &str, gateway: (&str, &str), before: Cursor<'_>) -> Node {
    object(alloc::vec![("parents", entries("parentRef", parents, controller, gateway, before))])
}

/// The status of a policy: `before` is the list that it had, of which what other Gateways wrote stays.
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

/// Conditions by their type, without when they came about.
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
