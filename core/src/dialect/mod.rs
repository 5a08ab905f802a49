//! One folder for each configuration language: what its kinds are, what they mean, and how they become the IR.
//!
//! A dialect must not know another one; `kubernetes` and `gateway_api` are what several of them share.

pub mod ambassador;
pub mod consul;
pub mod contour;
mod detect;
pub mod gateway_api;
pub mod kubernetes;

pub use detect::detect;

use crate::config::{Answers, Config, Relation, SettingChange};
use crate::resource::{Objects, ResourceKey};
use crate::schema::KnownKind;
use alloc::vec::Vec;
use kubernetes::kind::ListedKind;

/// A configuration language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// Ambassador, also known as Emissary-ingress.
    #[default]
    Ambassador,
    /// Contour.
    Contour,
}

impl Dialect {
    /// All of them.
    pub const ALL: &'static [Dialect] = &[Dialect::Ambassador, Dialect::Contour];

    /// The word by which the command line names it.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Ambassador => "ambassador",
            Dialect::Contour => "contour",
        }
    }

    /// What people call its controller.
    pub fn controller(self) -> &'static str {
        match self {
            Dialect::Ambassador => "Emissary",
            Dialect::Contour => "Contour",
        }
    }

    /// Defaults that people ask about: the end of a pointer (Envoy's and the IR's names), the value as JSON, and what is to be said.
    pub fn known_defaults(self) -> &'static [(&'static str, &'static str, &'static str)] {
        match self {
            Dialect::Ambassador => ambassador::defaults::DEFAULTS,
            Dialect::Contour => contour::defaults::DEFAULTS,
        }
    }

    /// Why nothing was made of an object of a kind that is in order and that nothing refers to.
    pub fn why_idle(self, kind: &str) -> &'static str {
        match self {
            Dialect::Ambassador => ambassador::defaults::why_idle(kind),
            Dialect::Contour => contour::defaults::why_idle(kind),
        }
    }

    /// Why no route was made of an object of a kind of which there should be one.
    pub fn why_unreached(self, kind: &str) -> Option<&'static str> {
        match self {
            Dialect::Ambassador => (kind == "Mapping").then_some("no route leads there, as no Host takes it"),
            Dialect::Contour => None,
        }
    }

    /// The kind that must take an object of this kind, so that any request gets to it.
    pub fn taken_by(self, kind: &str) -> Option<&'static str> {
        match (self, kind) {
            (Dialect::Ambassador, "Mapping") => Some("Host"),
            (Dialect::Ambassador, "Host" | "TCPMapping") => Some("Listener"),
            _ => None,
        }
    }

    /// The annotations that it reads, of each kind where those of its own can be told from others.
    pub fn annotations(self) -> &'static [(&'static str, contour::annotations::Known)] {
        match self {
            Dialect::Ambassador => &[],
            Dialect::Contour => contour::annotations::ALL,
        }
    }

    /// Which fields refer to which objects.
    pub fn relations(self, objects: &Objects, config: &Config) -> Vec<Relation> {
        match self {
            Dialect::Ambassador => ambassador::relations::relations(config),
            Dialect::Contour => contour::relations::relations(objects),
        }
    }

    /// The kinds that it reads, its own first.
    pub fn listing(self) -> Vec<ListedKind> {
        match self {
            Dialect::Ambassador => ambassador::listing(),
            Dialect::Contour => contour::kinds::listing(),
        }
    }

    /// Whether it reads objects of a kind, its own or others.
    pub fn reads(self, key: &ResourceKey) -> bool {
        match self {
            Dialect::Ambassador => ambassador::reads(key),
            Dialect::Contour => contour::kinds::find(&key.group, &key.kind).is_some(),
        }
    }

    /// The settings of the controller itself that differ between two compiles, each with what a change of it takes.
    pub fn setting_changes(self, before: &Answers, after: &Answers) -> Vec<SettingChange> {
        match self {
            Dialect::Ambassador => Vec::new(),
            Dialect::Contour => contour::settings::life::changes_between(before, after),
        }
    }

    /// The dialect of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|dialect| dialect.name() == name)
    }

    /// The kinds that people write for it, each in the versions that it has, the newest first.
    pub fn kinds(self) -> Vec<KnownKind> {
        match self {
            Dialect::Ambassador => ambassador::kinds::known(),
            Dialect::Contour => contour::kinds::known(),
        }
    }
}
