//! Where a value comes from.
//!
//! An origin names a node of an input object, not a place in a file: text that moves, or a comment that changes, leaves
//! origins as they are. They become file, line and column only when shown.

use super::ObjectId;
use alloc::vec::Vec;
use chancery_text::NodeId;
use core::num::NonZeroU32;
use core::{cmp, fmt, hash, ops};

/// The node of an input object that a value came from, and the rule by which it did. Eight bytes, also as an `Option`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    object: NonZeroU32,
    // 24 bits of node, 1 bit whether all below it counts, 7 bits of rule
    node_and_rule: u32,
}

/// Why a value is what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Rule {
    /// Taken from the field that the origin names.
    Field,
    /// The controller's built-in default.
    Default,
    /// Inherited from a configuration for the whole gateway (Ambassador's `Module`, Contour's configuration).
    Module,
    /// Follows from the host or virtual host that the origin names.
    Host,
    /// Follows from the listener or gateway that the origin names.
    Listener,
    /// Follows from another resource that the origin names, e.g. a Service's ports.
    Reference,
    /// Converted from an older API version, or from another kind (Ingress).
    Conversion,
    /// Computed from the field that the origin names, e.g. a normalised weight, a cluster's name.
    Derived,
    /// Set by an environment variable or flag of the controller; the origin names no field.
    Environment,
}

impl Rule {
    const ALL: [Rule; 9] =
        [Rule::Field, Rule::Default, Rule::Module, Rule::Host, Rule::Listener, Rule::Reference, Rule::Conversion, Rule::Derived, Rule::Environment];

    /// The word by which outputs name it.
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
    /// The largest node number that an origin can name; nodes beyond it are named by it.
    const MAX_NODE: u32 = (1 << 24) - 1;
    const WHOLE: u32 = 0x80;

    /// A value taken from this node as it is.
    pub fn field(object: ObjectId, node: NodeId) -> Self {
        Self::new(object, node, Rule::Field)
    }

    /// A value that follows from this node by this rule.
    pub fn new(object: ObjectId, node: NodeId, rule: Rule) -> Self {
        Self { object: object.get(), node_and_rule: (node.0.min(Self::MAX_NODE) << 8) | rule as u32 }
    }

    /// The controller's own default: no object wrote it.
    pub fn built_in() -> Self {
        Self::new(ObjectId::BUILT_IN, NodeId(0), Rule::Default)
    }

    /// The input object.
    pub fn object(self) -> ObjectId {
        ObjectId::from_non_zero(self.object)
    }

    /// The node within its document.
    pub fn node(self) -> NodeId {
        NodeId(self.node_and_rule >> 8)
    }

    /// Why the value is what it is.
    pub fn rule(self) -> Rule {
        Rule::ALL.get((self.node_and_rule & 0x7f) as usize).copied().unwrap_or(Rule::Field)
    }

    /// The same node with all that stands below it: the value was computed from several fields of it.
    #[must_use]
    pub fn whole(self) -> Self {
        Self { object: self.object, node_and_rule: self.node_and_rule | Self::WHOLE }
    }

    /// Whether all that stands below the node counts.
    pub fn is_whole(self) -> bool {
        self.node_and_rule & Self::WHOLE != 0
    }

    /// All of it as one number.
    pub(crate) fn to_bits(self) -> u64 {
        (u64::from(self.object.get()) << 32) | u64::from(self.node_and_rule)
    }

    /// The origin of which [`Origin::to_bits`] gave this number.
    pub fn from_bits(bits: u64) -> Option<Self> {
        Some(Self { object: NonZeroU32::new((bits >> 32) as u32)?, node_and_rule: bits as u32 })
    }

    /// The same place by another rule.
    #[must_use]
    pub fn by(self, rule: Rule) -> Self {
        Self { object: self.object, node_and_rule: (self.node_and_rule & !0x7f) | rule as u32 }
    }
}

/// As a number that only `explain::dump` understands, which turns it into names and places.
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

/// Where a value comes from beyond the origin that it carries: what it was joined or summed up from. Equal to any other, as equality ignores
/// where something stands.
#[derive(Clone, Debug, Default)]
pub struct Also(pub Vec<Origin>);

impl Also {
    /// From how many members of a group values of each member are said to come, the first ones: a list of all for each would grow with the
    /// square of their number.
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

/// A value and where it comes from. Equality, order and hash look at the value only.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it comes from; `None` where nothing is known.
    pub origin: Option<Origin>,
}

impl<T> Sourced<T> {
    /// A value with its origin.
    pub fn new(value: T, origin: impl Into<Option<Origin>>) -> Self {
        Self { value, origin: origin.into() }
    }

    /// A value that the controller has built in.
    pub fn built_in(value: T) -> Self {
        Self { value, origin: Some(Origin::built_in()) }
    }

    /// The same origin for a value computed from this one.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Sourced<U> {
        Sourced { value: f(self.value), origin: self.origin }
    }

    /// A borrow that keeps the origin.
    pub fn as_ref(&self) -> Sourced<&T> {
        Sourced { value: &self.value, origin: self.origin }
    }

    /// The same value, computed from all that stands below its origin.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.origin = self.origin.map(Origin::whole);
        self
    }

    /// The same value, with its origin under another rule.
    #[must_use]
    pub fn by(mut self, rule: Rule) -> Self {
        self.origin = self.origin.map(|origin| origin.by(rule));
        self
    }
}

/// Of a value of which nothing is known.
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
