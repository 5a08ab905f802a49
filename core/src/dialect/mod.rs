//! One folder for each configuration language: what its kinds are, what they mean, and how they become the IR.
//!
//! A dialect must not know another one; `kubernetes` is what all of them share.

pub mod ambassador;
pub mod contour;
pub mod kubernetes;

use crate::schema::KnownKind;
use alloc::vec::Vec;

/// A configuration language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
