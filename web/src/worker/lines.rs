//! The lines of a document that is written as YAML or JSON, with the punctuation around each value. Does not write values; see `tree`.

use chancery_core::text::{Node, Value};

#[derive(Clone, Copy)]
pub struct Line {
    /// The row that this line contains.
    pub item: u32,
    /// The column where it starts.
    column: u16,
    /// How many list items start in this line.
    dashes: u8,
    /// Whether it contains only a closing bracket.
    pub closes: bool,
}

impl Line {
    pub fn of(item: u32) -> Self {
        Self { item, column: 0, dashes: 0, closes: false }
    }

    /// The indentation and dashes before the value.
    pub fn lead(&self) -> String {
        let blank = usize::from(self.column).saturating_sub(2 * usize::from(self.dashes));
        format!("{}{}", " ".repeat(blank), "- ".repeat(self.dashes.into()))
    }
}

/// The child nodes of a node.
pub fn children(node: &Node) -> Vec<&Node> {
    match &node.value {
        Value::Object(object) => object.iter().map(|entry| &entry.value).collect(),
        Value::Array(list) => list.iter().collect(),
        _ => Vec::new(),
    }
}

/// The rows below a row, with their nodes. `end` returns the row after the last descendant of a row.
fn below(node: &Node, item: u32, end: impl Fn(u32) -> u32) -> impl Iterator<Item = (u32, &Node)> {
    let mut next = item + 1;
    children(node).into_iter().map(move |child| {
        let own = next;
        next = end(own);
        (own, child)
    })
}

/// The lines of YAML. The first line of a list item starts after its dash.
pub fn yaml(node: &Node, item: u32, column: u16, dashes: u8, end: &dyn Fn(u32) -> u32, out: &mut Vec<Line>) {
    let is_list = matches!(node.value, Value::Array(_));
    for (at, (item, child)) in below(node, item, end).enumerate() {
        let dashes = if at == 0 { dashes } else { 0 };
        let (column, dashes) = if is_list { (column.saturating_add(2), dashes.saturating_add(1)) } else { (column, dashes) };
        let holds = !children(child).is_empty();
        if is_list && holds {
            yaml(child, item, column, dashes, end, out);
            continue;
        }
        out.push(Line { item, column, dashes, closes: false });
        if holds {
            yaml(child, item, column.saturating_add(2), 0, end, out);
        }
    }
}

/// The lines of JSON.
pub fn json(node: &Node, item: u32, column: u16, end: &dyn Fn(u32) -> u32, out: &mut Vec<Line>) {
    out.push(Line { item, column, dashes: 0, closes: false });
    if !children(node).is_empty() {
        below(node, item, end).for_each(|(item, child)| json(child, item, column.saturating_add(2), end, out));
        out.push(Line { item, column, dashes: 0, closes: true });
    }
}
