//! Statuses as Envoy Gateway writes them: conditions, parents and ancestors. Does not decide which conditions an object gets.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::ObjectId;
use chancery_kubernetes::status::{list, number, object, text};
use chancery_text::{Node, Str};

/// The default of Envoy Gateway's name in statuses.
pub(crate) const CONTROLLER: &str = "gateway.envoyproxy.io/gatewayclass-controller";

/// The longest message that the API server accepts.
const LONGEST: usize = 32768;
const TRUNCATED: &str = " (message truncated).";

/// One condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition {
    pub(crate) kind: Str,
    pub(crate) holds: bool,
    pub(crate) reason: Str,
    pub(crate) message: String,
}

/// Conditions, at most one of each type, in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Conditions(pub(crate) Vec<Condition>);

impl Conditions {
    /// Sets the condition of this type.
    pub(crate) fn set(&mut self, kind: &str, holds: bool, reason: &str, message: impl Into<String>) {
        let condition = Condition { kind: Str::new(kind), holds, reason: Str::new(reason), message: truncate(message.into()) };
        match self.0.iter_mut().find(|known| known.kind == kind) {
            Some(known) => *known = condition,
            None => self.0.push(condition),
        }
    }

    /// Returns the condition of this type.
    pub(crate) fn get(&self, kind: &str) -> Option<&Condition> {
        self.0.iter().find(|condition| condition.kind == kind)
    }

    /// Whether the condition of this type is there and has this status.
    pub(crate) fn is(&self, kind: &str, holds: bool) -> bool {
        self.get(kind).is_some_and(|condition| condition.holds == holds)
    }

    /// Writes them sorted by type.
    pub(crate) fn node(&self, generation: i64) -> Node {
        let mut sorted: Vec<&Condition> = self.0.iter().collect();
        sorted.sort_by(|a, b| a.kind.cmp(&b.kind));
        list(
            sorted
                .into_iter()
                .map(|condition| {
                    object(alloc::vec![
                        ("message", text(&condition.message)),
                        ("observedGeneration", number(generation)),
                        ("reason", text(&condition.reason)),
                        ("status", text(if condition.holds { "True" } else { "False" })),
                        ("type", text(&condition.kind)),
                    ])
                })
                .collect(),
        )
    }
}

fn truncate(message: String) -> String {
    if message.len() <= LONGEST {
        return message;
    }
    let mut end = LONGEST - TRUNCATED.len();
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{TRUNCATED}", &message[..end])
}

/// Turns an error into the message of a condition: a capital first letter, and a full stop.
pub(crate) fn sentence(error: &str) -> String {
    let mut characters = error.chars();
    let Some(first) = characters.next() else { return String::new() };
    let mut out: String = first.to_uppercase().chain(characters).collect();
    if !out.ends_with('.') {
        out.push('.');
    }
    out
}

/// An object that a route, or a policy, is attached to.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reference {
    pub(crate) group: Option<Str>,
    pub(crate) kind: Option<Str>,
    pub(crate) namespace: Option<Str>,
    pub(crate) name: Str,
    pub(crate) section: Option<Str>,
    pub(crate) port: Option<i64>,
}

impl Reference {
    /// Refers to an object of Gateway API.
    pub(crate) fn new(kind: &'static str, namespace: &Str, name: &Str, section: Option<Str>) -> Self {
        Self {
            group: Some(Str::new_static(super::kinds::GATEWAY_API)),
            kind: Some(Str::new_static(kind)),
            namespace: Some(namespace.clone()),
            name: name.clone(),
            section,
            port: None,
        }
    }

    /// Whether both mean the same ancestor; ports are ignored.
    fn is_same_ancestor(&self, other: &Self) -> bool {
        let key = |of: &Self| (of.group.clone(), of.kind.clone(), of.namespace.clone(), of.name.clone(), of.section.clone());
        key(self) == key(other)
    }

    /// Writes it.
    pub(crate) fn node(&self) -> Node {
        let mut fields = Vec::new();
        let optional = [("group", &self.group), ("kind", &self.kind)];
        fields.extend(optional.into_iter().filter_map(|(name, value)| Some((name, text(value.as_ref()?)))));
        fields.push(("name", text(&self.name)));
        fields.extend(self.namespace.as_ref().map(|namespace| ("namespace", text(namespace))));
        fields.extend(self.port.map(|port| ("port", number(port))));
        fields.extend(self.section.as_ref().map(|section| ("sectionName", text(section))));
        object(fields)
    }
}

/// The most ancestors that Gateway API allows in the status of a policy.
const MOST_ANCESTORS: usize = 16;
/// The most parents that Gateway API allows in the status of a route.
const MOST_PARENTS: usize = 32;

/// The status of a policy: conditions for each ancestor.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PolicyStatus {
    pub(crate) ancestors: Vec<(Reference, Conditions)>,
}

impl PolicyStatus {
    fn find(&self, ancestor: &Reference) -> Option<&Conditions> {
        self.ancestors.iter().find(|(known, _)| known.is_same_ancestor(ancestor)).map(|(_, conditions)| conditions)
    }

    /// Sets a condition for an ancestor, which is added if it is new. Beyond one more than the limit, the ancestor that sorts last goes.
    pub(crate) fn set(&mut self, ancestor: &Reference, kind: &str, holds: bool, reason: &str, message: &str) {
        if let Some((_, conditions)) = self.ancestors.iter_mut().find(|(known, _)| known.is_same_ancestor(ancestor)) {
            conditions.set(kind, holds, reason, message);
            return;
        }
        let mut conditions = Conditions::default();
        conditions.set(kind, holds, reason, message);
        self.ancestors.push((ancestor.clone(), conditions));
        if self.ancestors.len() > MOST_ANCESTORS + 1 {
            let mut worst = 0;
            for at in 1..self.ancestors.len() {
                if rank(&self.ancestors[worst]) < rank(&self.ancestors[at]) {
                    worst = at;
                }
            }
            self.ancestors.remove(worst);
        }
    }

    /// Sets a condition for each of these ancestors.
    pub(crate) fn set_all(&mut self, ancestors: &[Reference], kind: &str, holds: bool, reason: &str, message: &str) {
        ancestors.iter().for_each(|ancestor| self.set(ancestor, kind, holds, reason, message));
    }

    /// Marks it as accepted, for each of these ancestors whose acceptance is still open.
    pub(crate) fn accept(&mut self, ancestors: &[Reference]) {
        for ancestor in ancestors {
            if self.find(ancestor).is_none_or(|conditions| conditions.get("Accepted").is_none()) {
                self.set(ancestor, "Accepted", true, "Accepted", "Policy has been accepted.");
            }
        }
    }

    /// Adds a warning for an ancestor; several warnings are joined.
    pub(crate) fn warn(&mut self, ancestor: &Reference, reason: &str, message: &str) {
        if message.is_empty() {
            return;
        }
        let known = self.find(ancestor).and_then(|conditions| conditions.get("Warning"));
        let (reason, message) = match known {
            None => (Str::new(reason), String::from(message)),
            Some(known) => {
                let reason = if known.reason.is_empty() || known.reason == reason { Str::new(reason) } else { Str::new_static("Warnings") };
                let joined = match known.message.as_str() {
                    "" => String::from(message),
                    before if before.contains(message) => String::from(before),
                    before if message.contains(before) => String::from(message),
                    before => format!("{before}; {message}"),
                };
                (reason, joined)
            }
        };
        self.set(ancestor, "Warning", true, &reason, &message);
    }

    /// Cuts the ancestors to the limit, and adds a note.
    pub(crate) fn truncate(&mut self) {
        if self.ancestors.len() <= MOST_ANCESTORS {
            return;
        }
        self.ancestors.sort_by(|a, b| rank(a).cmp(&rank(b)));
        self.ancestors.truncate(MOST_ANCESTORS);
        if let Some((_, last)) = self.ancestors.last_mut() {
            let message = "Ancestors have been truncated because the number of policy ancestors exceeds 16.";
            last.set("Aggregated", true, "Aggregated", message);
        }
    }

    /// Writes it.
    pub(crate) fn node(&self, controller: &str, generation: i64) -> Node {
        let ancestor = |(reference, conditions): &(Reference, Conditions)| {
            object(alloc::vec![("ancestorRef", reference.node()), ("conditions", conditions.node(generation)), ("controllerName", text(controller)),])
        };
        object(alloc::vec![("ancestors", list(self.ancestors.iter().map(ancestor).collect()))])
    }
}

/// By what ancestors are sorted: refused ones first.
fn rank((reference, conditions): &(Reference, Conditions)) -> (u8, &str, &str) {
    let rank = if conditions.is("Accepted", false) {
        0
    } else if conditions.is("Overridden", true) {
        1
    } else {
        2
    };
    (rank, reference.namespace.as_deref().unwrap_or_default(), &reference.name)
}

/// The statuses of policies, by their objects.
pub(crate) type PolicyStatuses = BTreeMap<ObjectId, PolicyStatus>;

/// Writes the status of a route.
pub(crate) fn route(parents: &[(Reference, Conditions)], controller: &str, generation: i64) -> Node {
    let mut parents: Vec<(Reference, Conditions)> = parents.to_vec();
    if parents.len() > MOST_PARENTS {
        parents.sort_by_cached_key(|(reference, conditions)| {
            let rank = if conditions.is("Accepted", false) {
                0
            } else if conditions.is("ResolvedRefs", false) {
                1
            } else {
                2
            };
            (rank, reference.namespace.clone(), reference.name.clone(), reference.section.clone(), reference.port, reference.kind.clone())
        });
        parents.truncate(MOST_PARENTS);
        if let Some((_, last)) = parents.last_mut() {
            let message = "Parents have been truncated because the number of route parents exceeds 32.";
            last.set("Aggregated", true, "Aggregated", message);
        }
    }
    let parent = |(reference, conditions): &(Reference, Conditions)| {
        object(alloc::vec![("conditions", conditions.node(generation)), ("controllerName", text(controller)), ("parentRef", reference.node()),])
    };
    object(alloc::vec![("parents", list(parents.iter().map(parent).collect()))])
}
