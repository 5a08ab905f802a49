//! The directives that hold at a place: of all servers, of the server, of the location, of an `if` in it; and how each kind is inherited.

use crate::directive::Directive;
use alloc::vec::Vec;

/// The levels of directives at a place, the outermost first.
#[derive(Clone, Debug, Default)]
pub struct Scope<'d> {
    levels: Vec<&'d [Directive]>,
}

impl<'d> Scope<'d> {
    /// Of these levels.
    pub fn new(levels: impl IntoIterator<Item = &'d [Directive]>) -> Self {
        Self { levels: levels.into_iter().collect() }
    }

    /// With one more level inside.
    #[must_use]
    pub fn with(&self, level: &'d [Directive]) -> Self {
        let mut levels = self.levels.clone();
        levels.push(level);
        Self { levels }
    }

    /// The directives of some names at the innermost level that has one.
    pub fn all(&self, names: &[&str]) -> Vec<&'d Directive> {
        let of =
            |level: &&'d [Directive]| -> Vec<&'d Directive> { level.iter().filter(|directive| names.contains(&directive.name.as_str())).collect() };
        self.levels.iter().rev().map(of).find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// The directives of some names at all levels, the outermost first.
    pub fn merged(&self, names: &[&str]) -> Vec<&'d Directive> {
        self.levels.iter().flat_map(|level| level.iter()).filter(|directive| names.contains(&directive.name.as_str())).collect()
    }

    /// The last directive of a name at the innermost level that has one.
    pub fn last(&self, name: &str) -> Option<&'d Directive> {
        self.all(&[name]).pop()
    }

    /// The first argument of it.
    pub fn value(&self, name: &str) -> Option<&'d str> {
        self.last(name).map(|directive| directive.arg(0))
    }

    /// Whether it is `on`.
    pub fn is_on(&self, name: &str) -> bool {
        self.value(name) == Some("on")
    }
}
