//! Decides whether a referenced object that the input lacks is missing or assumed to exist.
//!
//! [`Assumptions::assumes`] decides for every dialect. A dialect only lists the references of its objects ([`ReferencedObject`]). Does not create
//! assumed objects; see `compile::assume`.

use super::{OptionKind, OptionSpec, Options};
use crate::resource::{ObjectId, Objects, ResourceKey};
use alloc::collections::BTreeSet;
use alloc::string::String;
use chancery_text::{Node, NodeId, Str};

/// How referenced objects that the input lacks are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// They do not exist: right if the input is a whole cluster.
    #[default]
    Error,
    /// They are assumed to exist if the input has no object of their kind; otherwise they are missing.
    Auto,
    /// They are assumed to exist.
    Assume,
}

/// How objects that the input lacks are treated: Secrets, and all other kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assumptions {
    secrets: Missing,
    others: Missing,
    controller: bool,
    /// Kinds treated as present in the input.
    held: BTreeSet<(Str, Str)>,
}

const MISSING: &str = "missing";
const MISSING_SECRETS: &str = "missing-secrets";
const ERROR: &str = "error";
const AUTO: &str = "auto";
const ASSUME: &str = "assume";
const SAME: &str = "same";

/// `missing`: how objects that the input lacks are treated. Every dialect lists it.
pub const MISSING_OPTION: OptionSpec = OptionSpec {
    name: MISSING,
    kind: OptionKind::Choice(&[
        (ERROR, "they do not exist: the input is the whole cluster"),
        (AUTO, "they are assumed to exist if the input has none of their kind; a notice lists them"),
        (ASSUME, "they are assumed to exist; a notice lists them"),
    ]),
    doc: "Treatment of objects that the input refers to and does not contain",
    common: true,
};

/// `missing-secrets`: the same for Secrets alone.
pub const MISSING_SECRETS_OPTION: OptionSpec = OptionSpec {
    name: MISSING_SECRETS,
    kind: OptionKind::Choice(&[
        (SAME, "like other objects"),
        (ERROR, "they do not exist"),
        (ASSUME, "they are assumed to exist; a notice lists them"),
    ]),
    doc: "Treatment of Secrets that the input does not contain. If set, other objects are not assumed, unless --missing is set too",
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
    /// Reads the options.
    pub fn of(options: &Options) -> Self {
        let given = |name: &str| options.text(name).filter(|word| *word != SAME).map(|word| Missing::named(word));
        let others = given(MISSING).unwrap_or_default();
        Self { secrets: given(MISSING_SECRETS).unwrap_or(others), others, controller: options.assumes_controller, held: options.held.clone() }
    }

    /// Assumptions for Secrets alone.
    pub fn of_secrets(secrets: Missing) -> Self {
        Self { secrets, ..Self::default() }
    }

    /// Whether the controller's own configuration is assumed if the input lacks it.
    pub fn assumes_controller(&self) -> bool {
        self.controller || self.others != Missing::Error
    }

    /// How kinds other than Secrets are treated.
    pub fn for_other_kinds(&self) -> Missing {
        self.others
    }

    /// Whether nothing is ever assumed.
    pub fn is_error(&self) -> bool {
        self.secrets == Missing::Error && self.others == Missing::Error
    }

    /// Whether a Secret is assumed to exist that no object refers to and that a controller looks up itself. This holds for a whole cluster without
    /// its Secrets; a fragment does not tell.
    pub fn assumes_unreferenced_secrets(&self) -> bool {
        self.secrets == Missing::Assume && self.others == Missing::Error
    }

    /// Whether a Secret is assumed to exist that an operator generates from an object of the input, such as a cert-manager Certificate.
    pub fn assumes_provided(&self) -> bool {
        self.secrets != Missing::Error
    }

    /// Whether an object that the input lacks is assumed to exist. `kinds` are the kinds (group and name) that count as its own kind. Objects in
    /// `from`, which refer to such objects, are ignored.
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

/// The options of a host for interactive use, whose input is often a fragment: objects are assumed if the input has none of their kind. If the
/// options treat Secrets, the input is a whole cluster without its Secrets: nothing else is assumed then, unless the options say so.
pub fn for_interactive_use(options: Options) -> Options {
    if options.text(MISSING_SECRETS).is_some_and(|word| word != SAME) {
        return options;
    }
    options.or(Options::default().with(MISSING, super::OptionValue::Text(AUTO.into())))
}

/// The same options without assumed objects. Assumptions about the controller itself stay.
pub fn as_written(options: &Options) -> Options {
    let assumes_controller = Assumptions::of(options).assumes_controller();
    Options { assumes_controller, ..options.clone().with(MISSING, super::OptionValue::Text(ERROR.into())) }
}

/// An object that a field of another object refers to.
#[derive(Clone, Debug)]
pub struct ReferencedObject {
    /// The referring object.
    pub from: ObjectId,
    /// The referring field.
    pub at: NodeId,
    /// The referenced object's key.
    pub key: ResourceKey,
    /// If the input has no object of these kinds (group and name), [`Missing::Auto`] assumes the object.
    pub kinds: &'static [(&'static str, &'static str)],
    /// The required content. The requirements of several fields are merged.
    pub object: Node,
    /// The message of the notice; `None` if the notice about another object covers it.
    pub notice: Option<String>,
    /// Whether the object may refer to further objects, or other objects may refer to more because of it.
    pub asks: bool,
}
