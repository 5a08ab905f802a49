//! Records the fate of every input object.
//!
//! Each stage records its decisions. Every object must have an entry at the end, so that nothing is dropped silently: [`Ledger::undecided`] is
//! empty, and a test checks this for every corpus.
//!
//! Contains no dialect's terms: [`Why`] gives the general reason for an ignored object, and its detail the exact one.

use crate::resource::{ObjectId, Objects};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::Str;

/// The fate of an input object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    #[default]
    Undecided,
    /// The object is part of the configuration; its results are not known yet.
    Loaded,
    /// The object is in use: it produced something, or the results would differ without it. Names the results, such as a route or a listener.
    Emitted(Arc<Vec<Str>>),
    /// Objects in effect looked it up, but they would work the same without it.
    Read(Vec<ObjectId>),
    /// The object was joined with others into one result, e.g. canary Mappings into a route. Lists all of them, including itself, sorted by name;
    /// all share one list.
    Merged(Arc<Vec<ObjectId>>),
    /// Another object replaces it.
    Shadowed(ObjectId),
    /// The controller ignores it.
    Ignored(Why, Str),
    /// The object is invalid, for this reason.
    Invalid(Str),
}

/// Why an object is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// It belongs to another controller, or to another instance of this one: another id, another class.
    OtherController,
    /// The controller does not watch it: another namespace, a label selector.
    NotWatched,
    /// The controller does not know the kind.
    UnknownKind,
    /// Another program reads it, which Chancery does not simulate.
    NotCovered,
    /// Nothing in use refers to it.
    NeverReferenced,
    /// It contains nothing that the controller would use.
    NothingInIt,
}

impl State {
    /// The word for [`State::Emitted`].
    pub const EMITTED: &'static str = "emitted";
    /// The word for [`State::Read`].
    pub const READ: &'static str = "read";
    /// The word for [`State::Ignored`].
    pub const IGNORED: &'static str = "ignored";
    /// The word for [`State::Shadowed`].
    pub const SHADOWED: &'static str = "shadowed";
    /// The word for [`State::Invalid`].
    pub const INVALID: &'static str = "invalid";

    pub fn name(&self) -> &'static str {
        match self {
            State::Undecided => "undecided",
            State::Loaded => "loaded",
            State::Emitted(_) => Self::EMITTED,
            State::Read(_) => Self::READ,
            State::Merged(_) => "merged",
            State::Shadowed(_) => Self::SHADOWED,
            State::Ignored(..) => Self::IGNORED,
            State::Invalid(_) => Self::INVALID,
        }
    }
}

impl State {
    /// The rank of the state; the higher one wins in [`Ledger::join`].
    fn rank(&self) -> u8 {
        match self {
            State::Undecided => 0,
            State::Ignored(..) => 1,
            State::Shadowed(_) => 2,
            State::Invalid(_) => 3,
            State::Loaded => 4,
            State::Read(_) => 5,
            State::Emitted(_) | State::Merged(_) => 6,
        }
    }
}

impl Why {
    pub fn name(self) -> &'static str {
        match self {
            Why::OtherController => "other-controller",
            Why::NotWatched => "not-watched",
            Why::UnknownKind => "unknown-kind",
            Why::NotCovered => "not-covered",
            Why::NeverReferenced => "never-referenced",
            Why::NothingInIt => "nothing-in-it",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerEntry<'a> {
    pub object: ObjectId,
    pub state: &'a State,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    order: Arc<Vec<ObjectId>>,
    /// Indexed by the object's number; empty until something is decided.
    states: Arc<Vec<State>>,
    slots: usize,
}

impl Ledger {
    /// Creates an undecided entry for every object.
    pub fn new(objects: &Objects) -> Self {
        Self { order: objects.order().clone(), states: Arc::default(), slots: objects.slots() }
    }

    fn slot(&mut self, object: ObjectId) -> Option<&mut State> {
        let states = Arc::make_mut(&mut self.states);
        if states.is_empty() {
            states.resize_with(self.slots, State::default);
        }
        states.get_mut(object.index()?)
    }

    /// Records the fate of an object and replaces the previous entry.
    pub fn set(&mut self, object: ObjectId, state: State) {
        if let Some(slot) = self.slot(object) {
            *slot = state;
        }
    }

    /// Records a result of an object and keeps its earlier results. An earlier error or replacement is forgotten.
    pub fn emitted(&mut self, object: ObjectId, into: impl Into<Str>) {
        let Some(slot) = self.slot(object) else { return };
        match slot {
            State::Emitted(made) => Arc::make_mut(made).push(into.into()),
            _ => *slot = State::Emitted(Arc::new(alloc::vec![into.into()])),
        }
    }

    /// Merges the copies of this ledger that several gateways filled in. For each object, the entry of the highest rank wins. Earlier results stay.
    pub fn join(&mut self, gateways: &[Ledger]) {
        let order = self.order.clone();
        for object in order.iter().copied() {
            if matches!(self.get(object), State::Emitted(_)) {
                continue;
            }
            let most = gateways.iter().map(|ledger| ledger.get(object)).max_by_key(|state| state.rank());
            if let Some(state) = most.cloned() {
                self.set(object, state);
            }
        }
    }

    /// The length of a table by object number.
    pub fn slots(&self) -> usize {
        self.slots
    }

    pub fn get(&self, object: ObjectId) -> &State {
        object.index().and_then(|index| self.states.get(index)).unwrap_or(&State::Undecided)
    }

    /// All entries, in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = LedgerEntry<'_>> {
        self.order.iter().map(|object| LedgerEntry { object: *object, state: self.get(*object) })
    }

    /// The objects that no stage decided on.
    pub fn undecided(&self) -> impl Iterator<Item = ObjectId> {
        self.iter().filter(|entry| *entry.state == State::Undecided).map(|entry| entry.object)
    }
}
