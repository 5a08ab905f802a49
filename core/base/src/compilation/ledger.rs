//! The ledger: what became of every input object.
//!
//! Each stage writes down what it decides. At the end no object may be without an entry, so that nothing is dropped in silence:
//! [`Ledger::undecided`] is empty, and a test of every corpus says so.
//!
//! What must not be here: any dialect's words. Why an object was ignored is said in general by [`Why`], and exactly by its detail.

use crate::resource::{ObjectId, Objects};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::Str;

/// What became of an input object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Not decided yet.
    #[default]
    Undecided,
    /// It is part of the configuration; what is made of it is not known yet.
    Loaded,
    /// It is in use: something was made of it, or what was made would be something else without it. Names what, such as a route or a listener.
    Emitted(Arc<Vec<Str>>),
    /// What is in effect looked it up, and would do the same without it.
    Read(Vec<ObjectId>),
    /// It was joined with other objects into one thing, e.g. canary Mappings into a route. Names all of them, itself too, in the order of
    /// their names: one list for all.
    Merged(Arc<Vec<ObjectId>>),
    /// Another object took its place.
    Shadowed(ObjectId),
    /// It was left alone.
    Ignored(Why, Str),
    /// It is wrong: what is wrong with it.
    Invalid(Str),
}

/// Why an object was left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// It is meant for another controller, or for another instance of this one: another id, another class.
    OtherController,
    /// The controller does not look there: another namespace, a label selector.
    NotWatched,
    /// The controller does not know the kind.
    UnknownKind,
    /// Another program reads it, which Chancery does not simulate.
    NotCovered,
    /// Nothing in use refers to it.
    NeverReferenced,
    /// There is nothing in it that the controller would use.
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

    /// The word by which outputs name it.
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
    /// How much is made of the object, for comparing.
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
    /// The word by which outputs name it.
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

/// One line of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerEntry<'a> {
    /// The object.
    pub object: ObjectId,
    /// What became of it.
    pub state: &'a State,
}

/// What became of every input object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    order: Arc<Vec<ObjectId>>,
    /// By the index of the object's number; empty as long as nothing is decided.
    states: Arc<Vec<State>>,
    slots: usize,
}

impl Ledger {
    /// One undecided entry for every object.
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

    /// Writes down what became of an object, in place of what stood there.
    pub fn set(&mut self, object: ObjectId, state: State) {
        if let Some(slot) = self.slot(object) {
            *slot = state;
        }
    }

    /// Writes down that something was made of an object, beside what else was. What was wrong with it, or took its place, is forgotten.
    pub fn emitted(&mut self, object: ObjectId, into: impl Into<Str>) {
        let Some(slot) = self.slot(object) else { return };
        match slot {
            State::Emitted(made) => Arc::make_mut(made).push(into.into()),
            _ => *slot = State::Emitted(Arc::new(alloc::vec![into.into()])),
        }
    }

    /// Takes over what several gateways, each with a copy of this ledger, wrote down of every object: of each what the gateway says that makes
    /// most of it. What something was made of before stays.
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

    /// How many objects there may be: more than the number of each.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// What became of an object.
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
