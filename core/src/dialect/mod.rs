//! One folder for each configuration language: what its kinds are, what they mean, and how they become the IR.
//!
//! A dialect must not know another one; `kubernetes` is what all of them share.

pub mod ambassador;
pub mod contour;
pub mod kubernetes;

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
}
