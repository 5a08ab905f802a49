//! Lists what the fields of a line produce in a document, each with a short value. Does not select the line; see `Lineage`.

use super::{Lineage, OriginView, Positions, describe, get};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, SideRef};
use chancery_base::output_map::OutputMap;
use chancery_text::{Node, to_json};

/// Longer values are left out.
const LONGEST_VALUE: usize = 80;

/// A place that a line produces.
#[derive(Clone, Debug, PartialEq)]
pub struct MadeByLine {
    pub pointer: String,
    /// Its name and value: `route /cart/ › timeout: "3s"`.
    pub text: String,
}

/// Returns the places that the fields of a line produce; none if the line selects a whole resource.
#[must_use]
pub fn made_by_line(of: &Lineage, compilation: &Compilation, root: &Node, map: &OutputMap) -> Vec<MadeByLine> {
    if of.fields(compilation).is_empty() {
        return Vec::new();
    }
    let made = |pointer: String| {
        let names = describe(root, &pointer);
        let near = names.get(names.len().saturating_sub(2)..).unwrap_or_default().join(" › ");
        let value = get(root, &pointer).map(|value| to_json(value, false)).filter(|value| value.len() <= LONGEST_VALUE);
        let text = value.map_or_else(|| near.clone(), |value| format!("{near}: {value}"));
        MadeByLine { pointer, text }
    };
    of.places(compilation, map).into_iter().map(made).collect()
}

impl MadeByLine {
    /// Returns the origins of the place outside of the selected lines, such as a policy that overrides it.
    #[must_use]
    pub fn origins_elsewhere(&self, side: SideRef<'_>, positions: &Positions<'_>, map: &OutputMap, of: &Lineage) -> Vec<OriginView> {
        let own = of.spans(positions);
        let origins = map.get(&self.pointer).unwrap_or_default().iter().map(|origin| OriginView::of(*origin, side, positions));
        let is_elsewhere = |origin: &OriginView| {
            origin.span.as_ref().is_some_and(|span| !own.iter().any(|known| known.source == span.source && known.line == span.line))
        };
        let mut out: Vec<OriginView> = origins.filter(is_elsewhere).collect();
        out.dedup();
        out.truncate(3);
        out
    }
}
