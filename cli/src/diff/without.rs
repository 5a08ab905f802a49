//! Compares an input's result with the result without one of its fields or patches.
//!
//! Does not remove the field; see `chancery_core::explain`.

use super::compared::{Differences, compare};
use super::human;
use super::loaded::Loaded;
use crate::Unusable;
use crate::input::LoadedInput;
use crate::style::{Style, plain};
use chancery_core::compare::ChangeKind;
use chancery_core::compilation::Compilation;
use chancery_core::explain::InputWithoutField;
use chancery_core::resource::SourceId;
use serde_json::{Value, json};
use std::fmt::Write;

/// At most this many changed parts of each gateway are shown as text.
const MOST: usize = 12;

/// The difference that a field makes.
pub struct Without {
    field: String,
    /// What the text is about: the effect of a patch, or of the field's removal.
    is_patch: bool,
    found: Found,
}

enum Found {
    /// The differences. The second side is without the field; for a patch, the first side is.
    Differs(Box<Differences>),
    /// No gateway runs without the field, with the reason.
    Nothing(Unusable),
}

/// Compares an input with and without a field. Returns `None` unless the field's resource is the only changed resource.
pub fn without(given: &LoadedInput, source: SourceId, left: InputWithoutField) -> Option<Without> {
    compared(given, source, left, false)
}

/// Compares an input without and with a patch. Returns `None` unless the patch's resource is the only changed resource.
pub fn effect_of_patch(given: &LoadedInput, source: SourceId, left: InputWithoutField) -> Option<Without> {
    compared(given, source, left, true)
}

fn compared(given: &LoadedInput, source: SourceId, left: InputWithoutField, is_patch: bool) -> Option<Without> {
    let mut changed = given.clone();
    changed.inputs.inputs.get_mut(source.0 as usize)?.text = left.text.into();
    let before = Loaded::compiled(given.clone(), false).ok()?;
    let read = |of: &Compilation| (of.objects.len(), of.objects.iter().filter(|object| object.broken).count());
    if read(&changed.compile().ok()?.1) != read(before.compilation()?) {
        return None;
    }
    let after = match Loaded::compiled(changed, false) {
        Ok(after) => after,
        Err(why) => return Some(Without { field: left.field, is_patch, found: Found::Nothing(why) }),
    };
    let (old, new) = if is_patch { (&after, &before) } else { (&before, &after) };
    let mut differences = compare(old, new, true).ok()?;
    let is_alone = matches!(&differences.resources[..], [only] if only.change == ChangeKind::Changed);
    differences.resources.clear();
    is_alone.then(|| Without { field: left.field, is_patch, found: Found::Differs(Box::new(differences)) })
}

impl Without {
    /// Returns human-readable text.
    pub fn report(&self, style: &Style) -> String {
        let mut out = String::new();
        let field = style.bold(plain(&format!("`{}`", self.field)));
        match &self.found {
            Found::Differs(of) if of.is_same_for_envoy() => {
                let _ = writeln!(out, "Without {field}: {}", of.same());
                of.limits().into_iter().for_each(|limit| _ = writeln!(out, "{limit}"));
            }
            Found::Differs(of) if self.is_patch => {
                let _ = writeln!(out, "The effect of {field} (- without it, + with it):\n");
                out.push_str(&human::effects(of, MOST, style));
            }
            Found::Differs(of) => {
                let _ = writeln!(out, "Without {field} (- with it, + without it):\n");
                out.push_str(&human::effects(of, MOST, style));
            }
            Found::Nothing(why) => drop(writeln!(out, "Without {field} {}", plain(&why.0))),
        }
        out
    }

    /// The key of the data: the differences of a patch are those that it makes, and those of a field are those without it.
    pub fn key(&self) -> &'static str {
        if self.is_patch { "effect" } else { "without" }
    }

    /// Returns data: the field, and `diff`'s output, or the reason for no gateway.
    pub fn data(&self) -> Result<Value, Unusable> {
        Ok(match &self.found {
            Found::Differs(of) => json!({ "field": self.field, "differences": super::data(of, None)? }),
            Found::Nothing(why) => json!({ "field": self.field, "error": why.0 }),
        })
    }
}
