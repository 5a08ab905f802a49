//! Returns an input without the field that begins on a line, or without a patch, to show its effect. Does not compile or compare the result.

use super::trace::choose_line;
use alloc::string::String;
use chancery_base::compilation::Compilation;
use chancery_base::resource::{Object, SourceId};
use chancery_text::{Node, NodeId, TextRange};

/// An input without one field.
pub struct InputWithoutField {
    /// The path of the removed field.
    pub field: String,
    /// The remaining text.
    pub text: String,
}

/// Removes the one field, or list item, that begins on a line (from 1). Returns `None` if none or several begin there, or if a whole resource does.
#[must_use]
pub fn input_without_line(compilation: &Compilation, source: SourceId, line: u32) -> Option<InputWithoutField> {
    let (object, nodes) = choose_line(compilation, source, line)?;
    let object = compilation.objects.iter().find(|of| of.id == object)?;
    let whole = compilation.positions().lines(source)?.line_range(line.checked_sub(1)?)?;
    let begins_here = |node: &&NodeId| written(object, **node).is_some_and(|range| whole.start <= range.start && range.start <= whole.end);
    let parent = |node: NodeId| object.document.spans.get(node).map(|span| span.parent);
    let mut outermost = nodes.iter().filter(begins_here).filter(|node| parent(**node).is_some_and(|parent| !nodes.contains(&parent)));
    let (only, None) = (outermost.next()?, outermost.next()) else { return None };
    if *only == object.root.id {
        return None;
    }
    without_node(compilation, object, *only)
}

/// Removes the patch of an EnvoyPatchPolicy that a line (from 1) is part of; all of its patches if the line is part of none. Returns `None` for
/// lines of other resources.
#[must_use]
pub fn input_without_patch(compilation: &Compilation, source: SourceId, line: u32) -> Option<InputWithoutField> {
    let (object, _) = choose_line(compilation, source, line)?;
    let object = compilation.objects.iter().find(|of| of.id == object).filter(|of| of.key.kind == "EnvoyPatchPolicy")?;
    let whole = compilation.positions().lines(source)?.line_range(line.checked_sub(1)?)?;
    let patches = object.root.at(&["spec", "jsonPatches"])?;
    let is_on_line = |patch: &&Node| written(object, patch.id).is_some_and(|range| range.start < whole.end && whole.start < range.end);
    // A list without items would be refused.
    let patch = patches.as_array().filter(|all| all.len() > 1).and_then(|all| all.iter().find(is_on_line));
    without_node(compilation, object, patch.unwrap_or(patches).id)
}

fn without_node(compilation: &Compilation, object: &Object, node: NodeId) -> Option<InputWithoutField> {
    let positions = compilation.positions();
    let text = positions.text(object.source.source);
    let gone = with_punctuation(text, written(object, node)?);
    let text = [text.get(..gone.start as usize)?, text.get(gone.end as usize..)?].concat();
    Some(InputWithoutField { field: positions.path(object, node), text })
}

/// Returns the range from the key, or from the value of an item, to the end of the value.
fn written(object: &Object, node: NodeId) -> Option<TextRange> {
    Some(TextRange::new(object.key_range(node)?.start, object.value_range(node)?.end))
}

/// Extends the range of a field or item: to whole lines if it has them for itself, else by the comma on one of its sides.
fn with_punctuation(text: &str, range: TextRange) -> TextRange {
    let (before, behind) = (text.get(..range.start as usize).unwrap_or_default(), text.get(range.end as usize..).unwrap_or_default());
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let indent = before.get(line_start..).unwrap_or_default();
    let rest = behind.split('\n').next().unwrap_or_default();
    let is_end = rest.trim_start().is_empty() || rest.trim_start().starts_with('#') || before.ends_with('\n') && behind.is_empty();
    if indent.trim_start().trim_start_matches(['-', ' ']).is_empty() && is_end {
        // A block value ends with the end of its last line.
        let own = text.get(range.start as usize..range.end as usize).unwrap_or_default();
        let more = if own.ends_with('\n') { 0 } else { (rest.len() + 1).min(behind.len()) };
        return TextRange::new(line_start as u32, range.end + more as u32);
    }
    let blanks = |text: &str| text.len() - text.trim_start().len();
    if behind.trim_start().starts_with(',') {
        let comma = blanks(behind) + 1;
        let next = behind.get(comma..).map_or(0, blanks);
        return TextRange::new(range.start, range.end + (comma + next) as u32);
    }
    match before.trim_end().strip_suffix(',') {
        Some(before) => TextRange::new(before.len() as u32, range.end),
        None => range,
    }
}
