//! A document as rows: which rows exist, which are folded, and the origin of each. Creates only the visible rows. Does not style them; see
//! `page/views/tree.rs`.

use crate::protocol::{Form, Row, Rows, SearchHit};
use crate::worker::lines::{self, Line, children};
use chancery_core::backend::OutputMap;
use chancery_core::compilation::SideRef;
use chancery_core::explain::{OriginView, Positions, name_of};
use chancery_core::resource::{Origin, Rule};
use chancery_core::text::{Node, Value, to_json, to_yaml};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// Rows up to this depth are open at first.
const OPEN_TO: u16 = 3;

/// The largest number of characters of a text in one row.
const MOST_CHARACTERS: usize = 400;

pub struct Tree {
    root: Node,
    map: Arc<OutputMap>,
    items: Vec<Item>,
    /// Rows that were opened or closed against the default.
    changed: HashSet<u32>,
    /// Whether rows are open by default. If missing, the depth decides.
    habit: Option<bool>,
    form: Form,
    /// The rows in the current form, with the current folding.
    visible: Vec<Line>,
    /// The rows that belong to the selection: first row and end of each range.
    lit: Vec<(u32, u32)>,
}

/// How a document is folded and written.
pub struct Folding {
    /// Rows that were opened or closed against the default, as pointers.
    changed: Vec<String>,
    habit: Option<bool>,
    form: Form,
}

/// A row that is not created yet.
struct Item {
    parent: u32,
    /// Its index in its parent.
    at: u32,
    depth: u16,
    /// The row after its last descendant.
    end: u32,
}

impl Tree {
    pub fn new(root: Node, map: Arc<OutputMap>) -> Self {
        let mut tree =
            Self { root, map, items: Vec::new(), changed: HashSet::new(), habit: None, form: Form::Tree, visible: Vec::new(), lit: Vec::new() };
        let mut items = Vec::new();
        count(&tree.root, u32::MAX, 0, 0, &mut items);
        tree.items = items;
        tree.show();
        tree
    }

    /// The folding and form, for the next compile's document.
    pub fn folding(&self) -> Folding {
        Folding { changed: self.changed.iter().map(|item| self.pointer(*item)).collect(), habit: self.habit, form: self.form }
    }

    /// Applies the folding and form of the previous compile's document.
    pub fn like(mut self, before: &Folding) -> Self {
        let item = |pointer: &String| Some(self.item(pointer)).filter(|item| self.pointer(*item) == *pointer);
        self.changed = before.changed.iter().filter_map(item).collect();
        self.habit = before.habit;
        self.form = before.form;
        self.show();
        self
    }

    /// Changes the form.
    pub fn write(&mut self, form: Form) {
        self.form = form;
        self.show();
    }

    pub fn root(&self) -> &Node {
        &self.root
    }

    pub fn map(&self) -> &Arc<OutputMap> {
        &self.map
    }

    fn steps(&self, item: u32) -> Vec<u32> {
        let mut steps = Vec::new();
        let mut at = item;
        while let Some(item) = self.items.get(at as usize).filter(|item| item.parent != u32::MAX) {
            steps.push(item.at);
            at = item.parent;
        }
        steps.reverse();
        steps
    }

    /// A row's key, node and pointer.
    fn look(&self, item: u32) -> (String, bool, &Node, String) {
        let (mut node, mut key, mut pointer, mut is_item) = (&self.root, String::new(), String::new(), false);
        for step in self.steps(item) {
            match &node.value {
                Value::Object(object) => {
                    let Some(entry) = object.entries().get(step as usize) else { break };
                    key = entry.key.to_string();
                    pointer.push('/');
                    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                    node = &entry.value;
                    is_item = false;
                }
                Value::Array(list) => {
                    let Some(inner) = list.get(step as usize) else { break };
                    key = step.to_string();
                    pointer.push('/');
                    pointer.push_str(&key);
                    node = inner;
                    is_item = true;
                }
                _ => break,
            }
        }
        (key, is_item, node, pointer)
    }

    pub fn pointer(&self, item: u32) -> String {
        self.look(item).3
    }

    /// The row at a pointer, or the nearest existing row.
    pub fn item(&self, pointer: &str) -> u32 {
        let (mut node, mut item) = (&self.root, 0);
        for step in pointer.split('/').skip(1) {
            let key = step.replace("~1", "/").replace("~0", "~");
            let (at, next) = match &node.value {
                Value::Object(object) => match object.position(&key).and_then(|at| Some((at, &object.entries().get(at)?.value))) {
                    Some(found) => found,
                    None => break,
                },
                Value::Array(list) => match key.parse::<usize>().ok().and_then(|at| Some((at, list.get(at)?))) {
                    Some(found) => found,
                    None => break,
                },
                _ => break,
            };
            let mut child = item + 1;
            for _ in 0..at {
                child = self.items.get(child as usize).map_or(child, |item| item.end);
            }
            (node, item) = (next, child);
        }
        item
    }

    fn is_open(&self, item: u32) -> bool {
        let depth = self.items.get(item as usize).map_or(0, |item| item.depth);
        let habit = self.habit.unwrap_or(depth < OPEN_TO);
        habit != self.changed.contains(&item)
    }

    fn show(&mut self) {
        let mut visible = Vec::new();
        let end = |item: u32| self.items.get(item as usize).map_or(item + 1, |item| item.end);
        match self.form {
            Form::Tree => {
                // The root itself is not a row.
                let mut at = 1;
                while (at as usize) < self.items.len() {
                    visible.push(Line::of(at));
                    at = if self.is_open(at) { at + 1 } else { end(at) };
                }
            }
            Form::Yaml => lines::yaml(&self.root, 0, 0, 0, &end, &mut visible),
            Form::Json => lines::json(&self.root, 0, 0, &end, &mut visible),
        }
        self.visible = visible;
    }

    fn set_open(&mut self, item: u32, open: bool) {
        if self.is_open(item) != open && !self.changed.remove(&item) {
            self.changed.insert(item);
        }
    }

    /// Opens or closes a row.
    pub fn toggle(&mut self, item: u32) {
        self.set_open(item, !self.is_open(item));
        self.show();
    }

    /// Opens or closes all rows.
    pub fn fold(&mut self, open: bool) {
        self.changed.clear();
        self.habit = Some(open);
        self.show();
    }

    /// Opens all rows that contain a row.
    fn reveal(&mut self, item: u32) {
        let mut at = self.items.get(item as usize).map_or(u32::MAX, |item| item.parent);
        let mut above = Vec::new();
        while let Some(parent) = self.items.get(at as usize).map(|item| item.parent) {
            above.push(at);
            at = parent;
        }
        for item in above.into_iter().rev().filter(|item| *item != 0) {
            self.set_open(item, true);
        }
        self.show();
    }

    /// Highlights these places and returns the first row.
    pub fn light(&mut self, pointers: &[String]) -> Option<u32> {
        let items: BTreeSet<u32> = pointers.iter().map(|pointer| self.item(pointer)).filter(|item| *item != 0).collect();
        self.lit = items.iter().filter_map(|item| Some((*item, self.items.get(*item as usize)?.end))).collect();
        let first = *items.first()?;
        self.reveal(first);
        self.row_of(first)
    }

    fn row_of(&self, item: u32) -> Option<u32> {
        // In YAML, the first line of a list item starts after its dash, and the item has no separate line.
        let is_it = |line: &Line| !line.closes && if self.form == Form::Tree { line.item == item } else { line.item >= item };
        self.visible.iter().position(is_it).map(|at| at as u32)
    }

    /// Writes some rows.
    pub fn rows(&self, from: u32, count: u32, side: SideRef<'_>) -> Rows {
        let positions = side.compilation.positions();
        let some = self.visible.iter().skip(from as usize).take(count as usize);
        let rows = some.map(|line| self.line(line, side, &positions)).collect();
        let lit = self.lit.first().and_then(|(first, _)| self.row_of(*first));
        Rows { form: self.form, total: self.visible.len() as u32, lit, from, rows }
    }

    fn line(&self, line: &Line, side: SideRef<'_>, positions: &Positions<'_>) -> Row {
        let mut row = self.row(line.item, side, positions);
        if self.form == Form::Tree {
            return row;
        }
        let (.., node, _) = self.look(line.item);
        let own = self.items.get(line.item as usize);
        let more = own.is_some_and(|own| self.items.get(own.parent as usize).is_some_and(|parent| parent.end > own.end));
        let comma = if more && self.form == Form::Json { "," } else { "" };
        let holds = !children(node).is_empty();
        let is_list = matches!(node.value, Value::Array(_));
        let name = |key: &str| if self.form == Form::Json { to_json(&text(key), false) } else { in_yaml(&text(key)) };
        row.key = if line.closes || row.item || line.item == 0 { String::new() } else { name(&row.key) };
        row.text = match (self.form, holds) {
            (Form::Json, true) => ["{", "}", "[", "]"][usize::from(is_list) * 2 + usize::from(line.closes)].into(),
            (_, true) => String::new(),
            (Form::Json, false) => cut(to_json(node, false)),
            (_, false) => cut(in_yaml(node)),
        };
        if line.closes {
            (row.sort, row.from, row.rule) = ("close".into(), None, None);
        }
        row.open = None;
        let behind = if holds && !line.closes { "" } else { comma };
        row.around = Some((line.lead(), behind.into()));
        row
    }

    fn row(&self, at: u32, side: SideRef<'_>, positions: &Positions<'_>) -> Row {
        let (key, item, node, pointer) = self.look(at);
        let (depth, end) = self.items.get(at as usize).map_or((0, at), |item| (u32::from(item.depth), item.end));
        let origin = |of: &[Origin]| of.iter().min_by_key(|origin| origin.rule() == Rule::Default).copied();
        let own = self.map.get(&pointer).and_then(origin);
        let view = own.map(|origin| OriginView::of(origin, side, positions));
        // All parts of a default value are defaults too.
        let around = || self.map.lookup(&pointer).and_then(|place| origin(place.origins)).map(Origin::rule);
        let rule = own.map(Origin::rule).or_else(|| around().filter(|rule| *rule == Rule::Default));
        let lit = self.lit.iter().any(|(first, after)| *first <= at && at < *after);
        let holds_lit = !lit && self.lit.iter().any(|(first, _)| at < *first && *first < end);
        Row {
            node: at,
            depth: depth.saturating_sub(1),
            text: summarize(node),
            sort: node_kind(node).into(),
            open: (end > at + 1).then(|| self.is_open(at)),
            from: view.as_ref().and_then(|view| view.span.as_ref()).map(crate::worker::common::span),
            rule: rule.map(|rule| rule.name().into()),
            why: view.map(|view| view.why),
            key,
            item,
            lit,
            holds_lit,
            around: None,
        }
    }

    /// Finds the next row whose key or value contains a text.
    pub fn find(&mut self, text: &str, after: Option<u32>, back: bool) -> SearchHit {
        let wanted = text.to_lowercase();
        let mut hits = Vec::new();
        if !wanted.is_empty() {
            let mut at = 0;
            search(&self.root, "", &wanted, &mut at, &mut hits);
        }
        let next = match (after, back) {
            (Some(after), true) => hits.iter().rev().find(|hit| **hit < after).or(hits.last()),
            (Some(after), false) => hits.iter().find(|hit| **hit > after).or(hits.first()),
            (None, _) => hits.first(),
        };
        let next = next.copied();
        if let Some(item) = next {
            self.reveal(item);
        }
        SearchHit { row: next.and_then(|item| self.row_of(item)), node: next, count: hits.len() as u32, total: self.visible.len() as u32 }
    }
}

/// Numbers the rows in the order of the document.
fn count(node: &Node, parent: u32, at: u32, depth: u16, items: &mut Vec<Item>) {
    let own = items.len() as u32;
    items.push(Item { parent, at, depth, end: 0 });
    for (at, child) in children(node).into_iter().enumerate() {
        count(child, own, at as u32, depth.saturating_add(1), items);
    }
    let end = items.len() as u32;
    if let Some(item) = items.get_mut(own as usize) {
        item.end = end;
    }
}

fn search(node: &Node, key: &str, wanted: &str, at: &mut u32, hits: &mut Vec<u32>) {
    let own = *at;
    *at += 1;
    let holds = |text: &str| text.to_lowercase().contains(wanted);
    let value = match &node.value {
        Value::String(text) => holds(text),
        Value::Object(_) | Value::Array(_) | Value::Null => false,
        _ => holds(&to_json(node, false)),
    };
    if value || holds(key) {
        hits.push(own);
    }
    match &node.value {
        Value::Object(object) => object.iter().for_each(|entry| search(&entry.value, &entry.key, wanted, at, hits)),
        Value::Array(list) => list.iter().for_each(|item| search(item, "", wanted, at, hits)),
        _ => {}
    }
}

fn node_kind(node: &Node) -> &'static str {
    match &node.value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::String(_) => "string",
        Value::Object(_) => "object",
        Value::Array(_) => "array",
        _ => "number",
    }
}

/// A value on one line, or a summary of the contents.
fn summarize(node: &Node) -> String {
    let name = || name_of(node).unwrap_or_default().to_string();
    match &node.value {
        Value::Object(object) if object.is_empty() => "{}".into(),
        Value::Array(list) if list.is_empty() => "[]".into(),
        Value::Object(_) => name(),
        Value::Array(list) => list.len().to_string(),
        _ => cut(to_json(node, false)),
    }
}

fn cut(text: String) -> String {
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

fn text(of: &str) -> Node {
    Node::synthesised(Value::String(of.into()))
}

/// A value on one line of YAML.
fn in_yaml(node: &Node) -> String {
    let yaml = to_yaml(node);
    let yaml = yaml.trim_end();
    if yaml.contains('\n') { to_json(node, false) } else { yaml.into() }
}
