//! Builds whole objects to start from, as snippets with fields to fill in: `$1`, `$2`. Does not complete single fields; see `assist`.

use super::assist::Completion;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::Dialect;
use chancery_base::schema::{Schema, Shape};

/// At most this many levels of required fields are written.
const MOST_DEPTH: usize = 4;

/// Returns a snippet for each kind of the dialects, in its newest version.
#[must_use]
pub fn object_snippets(dialects: &[&'static Dialect]) -> Vec<Completion> {
    let mut out: Vec<Completion> = Vec::new();
    for kind in dialects.iter().flat_map(|dialect| (dialect.kinds)()) {
        if kind.api_version.is_empty() || out.iter().any(|known| known.label == kind.name) {
            continue;
        }
        let mut writer = Writer { text: String::new(), next: 1 };
        writer.text.push_str(&format!("apiVersion: {}\nkind: {}\nmetadata:\n  name: ${{1:name}}\nspec:", kind.api_version, kind.name));
        writer.next = 2;
        writer.fields(kind.spec, 1);
        if writer.next == 2 {
            writer.text.push_str("\n  $2");
        }
        writer.text.push('\n');
        out.push(Completion {
            label: kind.name.into(),
            insert: writer.text,
            sort: "snippet",
            detail: kind.api_version.clone(),
            doc: kind.doc.into(),
        });
    }
    out
}

struct Writer {
    text: String,
    next: usize,
}

impl Writer {
    /// Writes the required fields of an object.
    fn fields(&mut self, schema: &Schema, depth: usize) {
        let members = match &schema.shape {
            Shape::Object(members) => members,
            Shape::Array { items, .. } => {
                let indent = "  ".repeat(depth.saturating_sub(1));
                if let Shape::Object(_) = &items.shape {
                    let mut inner = Writer { text: String::new(), next: self.next };
                    inner.fields(items, depth);
                    if !inner.text.is_empty() {
                        // The first field follows the dash.
                        self.text.push_str(&format!("\n{indent}- {}", inner.text.trim_start()));
                        self.next = inner.next;
                        return;
                    }
                }
                self.text.push_str(&format!("\n{indent}- ${}", self.next));
                self.next += 1;
                return;
            }
            _ => return,
        };
        let indent = "  ".repeat(depth);
        for field in members.fields.iter().filter(|field| field.required) {
            self.text.push_str(&format!("\n{indent}{}:", field.name));
            match &field.schema.shape {
                Shape::Object(_) | Shape::Array { .. } if depth < MOST_DEPTH => self.fields(&field.schema, depth + 1),
                _ => {
                    self.text.push_str(&format!(" ${}", self.next));
                    self.next += 1;
                }
            }
        }
    }
}
