//! Builds the path of a place in an object on the stack during a walk, and formats it only when needed.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// A path through an object: `spec.labels.ambassador[0].group`.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    above: Option<&'a Path<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Entry(&'a str),
    Index(usize),
}

impl<'a> Path<'a> {
    pub const fn root(key: &'a str) -> Self {
        Self { above: None, step: Step::Key(key) }
    }

    pub const fn key(&'a self, key: &'a str) -> Self {
        Self { above: Some(self), step: Step::Key(key) }
    }

    /// The path of a map entry, which is written differently from a field: `spec.labels[a]`.
    pub const fn entry(&'a self, key: &'a str) -> Self {
        Self { above: Some(self), step: Step::Entry(key) }
    }

    pub const fn index(&'a self, index: usize) -> Self {
        Self { above: Some(self), step: Step::Index(index) }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The reader bounds the depth of trees; the walk that built this path recursed as deep.
        if let Some(above) = self.above {
            above.fmt(f)?;
        }
        match self.step {
            Step::Key("") => Ok(()),
            Step::Key(key) if self.above.is_none_or(|above| above.is_empty()) => f.write_str(key),
            Step::Key(key) => write!(f, ".{key}"),
            Step::Entry(key) => write!(f, "[{key}]"),
            Step::Index(index) => write!(f, "[{index}]"),
        }
    }
}

impl<'a> Path<'a> {
    /// The steps from the root, each with the path of the value that it leads from.
    pub(super) fn steps(&self) -> Vec<(String, Step<'a>)> {
        let mut steps = self.above.map(Path::steps).unwrap_or_default();
        let from = self.above.map(|above| format!("{above}")).unwrap_or_default();
        steps.push((from, self.step));
        steps
    }
}

impl Path<'_> {
    fn is_empty(&self) -> bool {
        matches!(self.step, Step::Key("")) && self.above.is_none()
    }
}
