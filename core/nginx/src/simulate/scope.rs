//! Finds the directives in scope at a place: of all servers, the server, the location, and an `if` in it; and applies the inheritance of each
//! kind.

use crate::directive::Directive;
use alloc::vec::Vec;

/// The levels of directives at a place, the outermost first.
#[derive(Clone, Debug, Default)]
pub struct Scope<'d> {
    levels: Vec<&'d [Directive]>,
}

impl<'d> Scope<'d> {
    pub fn new(levels: impl IntoIterator<Item = &'d [Directive]>) -> Self {
        Self { levels: levels.into_iter().collect() }
    }

    /// Adds an inner level.
    #[must_use]
    pub fn with(&self, level: &'d [Directive]) -> Self {
        let mut levels = self.levels.clone();
        levels.push(level);
        Self { levels }
    }

    /// Returns the directives with these names at the innermost level that has one.
    pub fn all(&self, names: &[&str]) -> Vec<&'d Directive> {
        let of =
            |level: &&'d [Directive]| -> Vec<&'d Directive> { level.iter().filter(|directive| names.contains(&directive.name.as_str())).collect() };
        self.levels.iter().rev().map(of).find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// Returns the directives with these names at all levels, the outermost first.
    pub fn merged(&self, names: &[&str]) -> Vec<&'d Directive> {
        self.levels.iter().flat_map(|level| level.iter()).filter(|directive| names.contains(&directive.name.as_str())).collect()
    }

    /// Returns the last directive with a name at the innermost level that has one.
    pub fn last(&self, name: &str) -> Option<&'d Directive> {
        self.all(&[name]).pop()
    }

    /// Returns the first argument of the last directive with this name.
    pub fn value(&self, name: &str) -> Option<&'d str> {
        self.last(name).map(|directive| directive.arg(0))
    }

    /// Whether the directive with this name is `on`.
    pub fn is_on(&self, name: &str) -> bool {
        self.value(name) == Some("on")
    }
}
