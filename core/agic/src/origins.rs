//! Writes the origin of each value of the gateway as a document: by JSON pointer the resource, its field and its line.
//!
//! The form of the gateway's document is defined in `ir::appgw`.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::compilation::SideRef;
use chancery_base::ir::appgw::wire::{Branch, Tree};
use chancery_base::ir::appgw::{Document, Gateway, tree};
use chancery_base::resource::{Inputs, Origin, SourceId};
use chancery_kubernetes::status::{list, number, object, text};
use chancery_text::{LineIndex, Node, Object, Value};

/// Returns the document. The origin of an enclosing value is not repeated.
pub fn document(of: SideRef<'_>, gateway: &Gateway) -> Node {
    let mut walk = Walk { of, lines: BTreeMap::new(), out: Object::new() };
    walk.go(&tree(gateway, Document::Parts), "");
    Node::synthesised(Value::Object(walk.out))
}

struct Walk<'a> {
    of: SideRef<'a>,
    lines: BTreeMap<SourceId, LineIndex>,
    out: Object,
}

impl Walk<'_> {
    fn go(&mut self, tree: &Tree, pointer: &str) {
        if let Some(origin) = tree.origin {
            let mut fields = self.origin(origin);
            if !tree.also.0.is_empty() {
                fields.push(("also", list(tree.also.0.iter().map(|origin| object(self.origin(*origin))).collect())));
            }
            self.out.insert(pointer, object(fields));
        }
        match &tree.value {
            Branch::List(items) => items.iter().enumerate().for_each(|(at, item)| self.go(item, &format!("{pointer}/{at}"))),
            Branch::Fields(fields) => {
                fields.iter().for_each(|(key, value)| self.go(value, &format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))));
            }
            _ => {}
        }
    }

    fn origin(&mut self, origin: Origin) -> Vec<(&'static str, Node)> {
        let mut fields = Vec::from([("rule", text(origin.rule().name()))]);
        if let Some(found) = self.of.objects().get(origin.object()) {
            let path: String = found.path(origin.node()).to_string();
            fields.extend([("resource", text(&found.key.to_string())), ("path", text(&path))]);
            if let Some(line) = found.value_range(origin.node()).and_then(|range| self.line(found.source.source, range.start)) {
                fields.push(("line", number(line)));
            }
        }
        fields
    }

    /// The line of a place, from 1.
    fn line(&mut self, source: SourceId, offset: u32) -> Option<i64> {
        let inputs: &Inputs = &self.of.compilation.inputs;
        let input = inputs.inputs.get(source.0 as usize)?;
        let index = self.lines.entry(source).or_insert_with(|| LineIndex::new(&input.text));
        Some(i64::from(index.position(&input.text, offset).line) + 1)
    }
}
