//! Defines the origin of a value.
//!
//! An origin names a node of an input object, not a place in a file, so moved text and changed comments do not affect it. It becomes file, line and
//! column only when shown.

use super::ObjectId;
use alloc::vec::Vec;
use chancery_text::NodeId;
use core::num::NonZeroU32;
use core::{cmp, fmt, hash, ops};

/// The input node of a value, and the rule that derived the value from it. Eight bytes, also as an `Option`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    object: NonZeroU32,
    // 24 bits of node, 1 bit for "includes everything below it", 7 bits of rule
    node_and_rule: u32,
}

/// How a value was derived from its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Rule {
    /// Copied from the origin's field.
    Field,
    /// The controller's built-in default.
    Default,
    /// Inherited from the gateway-wide configuration (Ambassador's `Module`, Contour's configuration).
    Module,
    /// Derived from the host or virtual host of the origin.
    Host,
    /// Derived from the listener or gateway of the origin.
    Listener,
    /// Derived from another resource, e.g. a Service's ports.
    Reference,
    /// Converted from an older API version or another kind (Ingress).
    Conversion,
    /// Computed from the origin's field, e.g. a normalized weight or a cluster's name.
    Derived,
    /// Set by an environment variable or flag of the controller; the origin names no field.
    Environment,
}

impl Rule {
    const ALL: [Rule; 9] =
        [Rule::Field, Rule::Default, Rule::Module, Rule::Host, Rule::Listener, Rule::Reference, Rule::Conversion, Rule::Derived, Rule::Environment];

    pub fn name(self) -> &'static str {
        match self {
            Rule::Field => "field",
            Rule::Default => "default",
            Rule::Module => "module",
            Rule::Host => "host",
            Rule::Listener => "listener",
            Rule::Reference => "reference",
            Rule::Conversion => "conversion",
            Rule::Derived => "derived",
            Rule::Environment => "environment",
        }
    }
}

impl Origin {
    /// The largest node number in an origin. Later nodes are recorded as this one.
    const MAX_NODE: u32 = (1 << 24) - 1;
    const WHOLE: u32 = 0x80;

    /// A value copied from this node.
    pub fn field(object: ObjectId, node: NodeId) -> Self {
        Self::new(object, node, Rule::Field)
    }

    /// A value that was derived from this node by this rule.
    pub fn new(object: ObjectId, node: NodeId, rule: Rule) -> Self {
        Self { object: object.get(), node_and_rule: (node.0.min(Self::MAX_NODE) << 8) | rule as u32 }
    }

    /// The controller's built-in default; no object contains it.
    pub fn built_in() -> Self {
        Self::new(ObjectId::BUILT_IN, NodeId(0), Rule::Default)
    }

    pub fn object(self) -> ObjectId {
        ObjectId::from_non_zero(self.object)
    }

    pub fn node(self) -> NodeId {
        NodeId(self.node_and_rule >> 8)
    }

    /// How the value was derived.
    pub fn rule(self) -> Rule {
        Rule::ALL.get((self.node_and_rule & 0x7f) as usize).copied().unwrap_or(Rule::Field)
    }

    /// The node with everything below it: the value was computed from several of its fields.
    #[must_use]
    pub fn whole(self) -> Self {
        Self { object: self.object, node_and_rule: self.node_and_rule | Self::WHOLE }
    }

    /// Whether the origin includes everything below the node.
    pub fn is_whole(self) -> bool {
        self.node_and_rule & Self::WHOLE != 0
    }

    /// The origin as one number.
    pub(crate) fn to_bits(self) -> u64 {
        (u64::from(self.object.get()) << 32) | u64::from(self.node_and_rule)
    }

    /// The inverse of [`Origin::to_bits`].
    pub fn from_bits(bits: u64) -> Option<Self> {
        Some(Self { object: NonZeroU32::new((bits >> 32) as u32)?, node_and_rule: bits as u32 })
    }

    /// The same place with another rule.
    #[must_use]
    pub fn by(self, rule: Rule) -> Self {
        Self { object: self.object, node_and_rule: (self.node_and_rule & !0x7f) | rule as u32 }
    }
}

/// Serializes as a number that only `explain::dump` understands; it converts the number to names and places.
impl serde::Serialize for Origin {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct("Origin", &self.to_bits())
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}@{}:{}", self.object(), self.node().0, self.rule().name())
    }
}

/// Further origins of a value beyond the one that it carries. All values are equal, as equality ignores origins.
#[derive(Clone, Debug, Default)]
pub struct Also(pub Vec<Origin>);

impl Also {
    /// The maximum number of group members recorded as origins of each member's value. Recording all members would take quadratic space.
    pub const MOST_OF_GROUP: usize = 32;
}

impl PartialEq for Also {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Also {}

impl PartialOrd for Also {
    fn partial_cmp(&self, other: &Self) -> Option<cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Also {
    fn cmp(&self, _: &Self) -> cmp::Ordering {
        cmp::Ordering::Equal
    }
}

/// A value with its origin. Equality, order and hash use only the value.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct Sourced<T> {
    pub value: T,
    /// `None` if the origin is unknown.
    pub origin: Option<Origin>,
}

impl<T> Sourced<T> {
    pub fn new(value: T, origin: impl Into<Option<Origin>>) -> Self {
        Self { value, origin: origin.into() }
    }

    /// A built-in value of the controller.
    pub fn built_in(value: T) -> Self {
        Self { value, origin: Some(Origin::built_in()) }
    }

    /// Computes another value with the same origin.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Sourced<U> {
        Sourced { value: f(self.value), origin: self.origin }
    }

    /// Borrows the value and keeps the origin.
    pub fn as_ref(&self) -> Sourced<&T> {
        Sourced { value: &self.value, origin: self.origin }
    }

    /// Extends the origin to everything below its node.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.origin = self.origin.map(Origin::whole);
        self
    }

    /// Changes the rule of the origin.
    #[must_use]
    pub fn by(mut self, rule: Rule) -> Self {
        self.origin = self.origin.map(|origin| origin.by(rule));
        self
    }
}

/// A value of unknown origin.
impl<T> From<T> for Sourced<T> {
    fn from(value: T) -> Self {
        Self { value, origin: None }
    }
}

impl<T> ops::Deref for Sourced<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: PartialEq> PartialEq for Sourced<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Sourced<T> {}

impl<T: PartialOrd> PartialOrd for Sourced<T> {
    fn partial_cmp(&self, other: &Self) -> Option<cmp::Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl<T: Ord> Ord for Sourced<T> {
    fn cmp(&self, other: &Self) -> cmp::Ordering {
        self.value.cmp(&other.value)
    }
}

impl<T: hash::Hash> hash::Hash for Sourced<T> {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}
