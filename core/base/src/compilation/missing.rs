//! What an input refers to and does not hold: whether it is missing, or assumed to exist.
//!
//! One place decides that for every dialect: [`Assumptions::assumes`]. A dialect only lists what its objects ask for ([`ReferencedObject`]).
//!
//! What must not be here: which fields refer to what, and how an assumed object is made (`compile::assume`).

use super::{OptionKind, OptionSpec, Options};
use crate::resource::{ObjectId, Objects, ResourceKey};
use alloc::collections::BTreeSet;
use alloc::string::String;
use chancery_text::{Node, NodeId, Str};

/// What is done about objects that are referred to and that the input does not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// They do not exist: right where the input is a whole cluster.
    #[default]
    Error,
    /// They are assumed to exist where the input holds none of their kind; otherwise they are missing.
    Auto,
    /// They are assumed to exist.
    Assume,
}

/// What is done about objects that the input does not hold, for Secrets and for all other kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assumptions {
    secrets: Missing,
    others: Missing,
    controller: bool,
    /// Kinds that count as held.
    held: BTreeSet<(Str, Str)>,
}

const MISSING: &str = "missing";
const MISSING_SECRETS: &str = "missing-secrets";
const ERROR: &str = "error";
const AUTO: &str = "auto";
const ASSUME: &str = "assume";
const SAME: &str = "same";

/// `missing`: what to do about what the input does not hold. Every dialect lists it.
pub const MISSING_OPTION: OptionSpec = OptionSpec {
    name: MISSING,
    kind: OptionKind::Choice(&[
        (ERROR, "They do not exist, as in a whole cluster"),
        (AUTO, "They are assumed to exist where the input has none of their kind; a notice says so"),
        (ASSUME, "They are assumed to exist; a notice says so"),
    ]),
    doc: "What to do about objects that others refer to and that are not in the input",
    common: true,
};

/// `missing-secrets`: the same for Secrets alone.
pub const MISSING_SECRETS_OPTION: OptionSpec = OptionSpec {
    name: MISSING_SECRETS,
    kind: OptionKind::Choice(&[
        (SAME, "They are treated as --missing says"),
        (ERROR, "They do not exist"),
        (ASSUME, "They are assumed to exist; a notice says so"),
    ]),
    doc: "What to do about Secrets that are not in the input; other objects are then not assumed, unless --missing is given too",
    common: false,
};

impl Missing {
    fn named(word: &str) -> Self {
        match word {
            AUTO => Self::Auto,
            ASSUME => Self::Assume,
            _ => Self::Error,
        }
    }
}

impl Assumptions {
    /// What the options say.
    pub fn of(options: &Options) -> Self {
        let given = |name: &str| options.text(name).filter(|word| *word != SAME).map(|word| Missing::named(word));
        let others = given(MISSING).unwrap_or_default();
        Self { secrets: given(MISSING_SECRETS).unwrap_or(others), others, controller: options.assumes_controller, held: options.held.clone() }
    }

    /// The same for Secrets alone.
    pub fn of_secrets(secrets: Missing) -> Self {
        Self { secrets, ..Self::default() }
    }

    /// Whether it is assumed how the controller itself is configured, where nothing says so.
    pub fn assumes_controller(&self) -> bool {
        self.controller || self.others != Missing::Error
    }

    /// What is done about other kinds than Secrets.
    pub fn of_others(&self) -> Missing {
        self.others
    }

    /// Whether nothing is ever assumed.
    pub fn is_error(&self) -> bool {
        self.secrets == Missing::Error && self.others == Missing::Error
    }

    /// Whether a Secret is assumed to exist that no object refers to and that a controller looks for by itself: the input is a whole cluster without its
    /// Secrets. Of a fragment nobody knows.
    pub fn assumes_unreferenced_secrets(&self) -> bool {
        self.secrets == Missing::Assume && self.others == Missing::Error
    }

    /// Whether a Secret is assumed to exist that an operator makes from an object of the input, such as a cert-manager Certificate.
    pub fn assumes_provided(&self) -> bool {
        self.secrets != Missing::Error
    }

    /// Whether an object that the input does not hold is assumed to exist. `kinds` are the kinds (group and name) of which one counts as
    /// one of its own; those of `from`, which refer to such objects themselves, do not count.
    pub fn assumes(&self, key: &ResourceKey, kinds: &[(&str, &str)], objects: &Objects, from: &BTreeSet<ObjectId>) -> bool {
        let missing = if key.group.is_empty() && key.kind == "Secret" { self.secrets } else { self.others };
        let is_one = |(group, kind): (&Str, &Str)| kinds.iter().any(|(known, name)| *group == *known && *kind == *name);
        let is_held = || {
            self.held.iter().any(|(group, kind)| is_one((group, kind)))
                || objects.iter().any(|object| is_one((&object.key.group, &object.key.kind)) && !from.contains(&object.id))
        };
        match missing {
            Missing::Error => false,
            Missing::Auto => !is_held(),
            Missing::Assume => true,
        }
    }
}

/// The options of a host that shows people what becomes of an input, which is often a fragment: what is missing is assumed where the input
/// holds none of its kind. Who says what to do about Secrets has a whole cluster without its Secrets: nothing else is assumed then, unless
/// the options say so.
pub fn for_people(options: Options) -> Options {
    if options.text(MISSING_SECRETS).is_some_and(|word| word != SAME) {
        return options;
    }
    options.or(Options::default().with(MISSING, super::OptionValue::Text(AUTO.into())))
}

/// The same without any object that is assumed. What is assumed of the controller itself stays.
pub fn as_written(options: &Options) -> Options {
    let assumes_controller = Assumptions::of(options).assumes_controller();
    Options { assumes_controller, ..options.clone().with(MISSING, super::OptionValue::Text(ERROR.into())) }
}

/// An object that a field of another object asks for.
#[derive(Clone, Debug)]
pub struct ReferencedObject {
    /// The object that refers to it.
    pub from: ObjectId,
    /// The field that does.
    pub at: NodeId,
    /// Its name.
    pub key: ResourceKey,
    /// The kinds (group and name) of which the input must hold none, so that [`Missing::Auto`] assumes it.
    pub kinds: &'static [(&'static str, &'static str)],
    /// What must be in it. What several fields ask of one object is laid together.
    pub object: Node,
    /// What a notice says of it; nothing where the notice about another object says it.
    pub notice: Option<String>,
    /// Whether the object may ask for others in its turn, or others for more because of it.
    pub asks: bool,
}
