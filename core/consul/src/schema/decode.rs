//! Reads a document by the shape of its kind.
//!
//! Values are read as leniently as in Consul, which depends on the entry point ([`Leniency`]). Invalid values become a [`Fault`] at their node. Does
//! not validate values; see `validate`.

use super::super::go;
use super::{Field, Struct, Type};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::ir::{Fields, Plain, Tree};
use chancery_base::resource::{ObjectId, Origin};
use chancery_base::schema::duration;
use chancery_text::{Node, NodeId, Object, Str, Value};

/// The result of reading a document.
pub(crate) struct Decoded {
    /// The given fields, with the names of the shape.
    pub(crate) tree: Tree,
    /// Unknown keys: their path, and their place.
    pub(crate) unknown: Vec<Fault>,
    /// Invalid values.
    pub(crate) unfit: Vec<Fault>,
}

/// A problem at a place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    /// A path, or a whole sentence.
    pub(crate) text: String,
    pub(crate) node: NodeId,
    /// For an unknown key, the key that is probably meant.
    pub(crate) meant: Option<&'static str>,
}

/// The rules of leniency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leniency {
    /// For a config entry: a number may be a string, a single value may replace a list of one, and a list of one may replace its value.
    Entry,
    /// For an agent's file: fields are named by their aliases, a list of one may replace its value, and nothing else is converted. In HCL an object
    /// is also a list of one.
    Definition { hcl: bool },
    /// For a request to the catalog: plain JSON.
    Catalog,
}

impl Leniency {
    fn is_definition(self) -> bool {
        matches!(self, Self::Definition { .. })
    }
}

/// Reads an object by its shape.
pub(crate) fn decode(root: &Node, shape: &'static Struct, object: ObjectId, manner: Leniency) -> Decoded {
    let mut reader = Reader { object, manner, unknown: Vec::new(), unfit: Vec::new() };
    let tree = match &root.value {
        Value::Object(fields) => reader.object(fields, root, shape, ""),
        _ => Tree::NULL,
    };
    Decoded { tree, unknown: reader.unknown, unfit: reader.unfit }
}

struct Reader {
    object: ObjectId,
    manner: Leniency,
    unknown: Vec<Fault>,
    unfit: Vec<Fault>,
}

impl Field {
    /// How well a key names it: not at all, in another case, by its alias, exactly.
    fn named(&self, key: &str, manner: Leniency) -> u8 {
        let by_alias = manner.is_definition();
        let alias = !self.alias.is_empty() && key.eq_ignore_ascii_case(self.alias);
        match () {
            () if by_alias && !self.alias.is_empty() => u8::from(alias) * 3,
            () if key == self.name => 3,
            () if alias => 2,
            () => u8::from(key.eq_ignore_ascii_case(self.name)),
        }
    }
}

impl Reader {
    fn origin(&self, node: &Node) -> Option<Origin> {
        node.id.is_some().then(|| Origin::field(self.object, node.id))
    }

    fn object(&mut self, fields: &Object, at: &Node, shape: &'static Struct, path: &str) -> Tree {
        let mut out: Vec<(Str, Tree)> = Vec::new();
        for field in shape.0 {
            let best = fields.iter().map(|entry| (field.named(&entry.key, self.manner), entry)).filter(|(rank, _)| *rank > 0);
            let Some((_, entry)) = best.max_by_key(|(rank, _)| *rank) else { continue };
            let path = if path.is_empty() {
                field.name.to_string()
            } else {
                format!("{path}.{}", if self.manner.is_definition() { field.alias } else { field.name })
            };
            let value = self.value(&entry.value, &field.holds, &path);
            if !value.is_null() {
                out.push((Str::new_static(field.name), value));
            }
        }
        for entry in fields {
            if !shape.0.iter().any(|field| field.named(&entry.key, self.manner) > 0) {
                let text = if path.is_empty() { entry.key.to_string() } else { format!("{path}.{}", entry.key) };
                let names = shape.0.iter().map(|field| if self.manner.is_definition() { field.alias } else { field.name });
                let meant = chancery_base::resource::nearest(&entry.key, names);
                self.unknown.push(Fault { text, node: entry.value.id, meant });
            }
        }
        Tree { value: Plain::Object(Fields(out.into())), origin: self.origin(at) }
    }

    fn value(&mut self, node: &Node, holds: &Type, path: &str) -> Tree {
        // A list of one is replaced by its value.
        let node = match (&node.value, holds) {
            (_, Type::List(_)) => node,
            (Value::Array(items), _) if self.manner != Leniency::Catalog => match &items[..] {
                [one] => one,
                _ => node,
            },
            _ => node,
        };
        let origin = self.origin(node);
        if node.is_null() {
            return Tree::NULL;
        }
        if self.manner != Leniency::Entry && !self.is_of(&node.value, holds) {
            self.unfit(node, format!("'{path}' expected {}, got '{}'", name_of(holds), go::kind_of(node)));
            return Tree::NULL;
        }
        let value = match holds {
            Type::Text | Type::Bytes => self.text(node, path),
            Type::Bool => self.bool(node, path),
            Type::Int | Type::Uint => self.int(node, matches!(holds, Type::Uint), path),
            Type::Float => self.float(node, path),
            Type::Duration | Type::DurationText => self.duration(node, path),
            Type::Opaque => match &node.value {
                Value::Object(_) => {
                    let mut value = Tree::of(node, &|node| self.origin(node));
                    if self.manner != Leniency::Catalog {
                        unwrap_values(&mut value);
                    }
                    Some(value.value)
                }
                Value::Array(items) if items.is_empty() => Some(Plain::Object(Fields::default())),
                _ => self.unfit(node, format!("'{path}' expected a map, got '{}'", go::kind_of(node))),
            },
            Type::List(of) => Some(self.list(node, of, path)),
            Type::Map(of) => self.map(node, of, path),
            Type::Struct(shape) => match &node.value {
                Value::Object(fields) => return self.object(fields, node, shape, path),
                _ => self.unfit(node, format!("'{path}' expected a map, got '{}'", go::kind_of(node))),
            },
        };
        value.map_or(Tree::NULL, |value| Tree { value, origin })
    }

    /// Whether a value has the type of a field, and needs no conversion.
    fn is_of(&self, value: &Value, holds: &Type) -> bool {
        match holds {
            Type::Text | Type::Bytes => matches!(value, Value::String(_)),
            Type::Bool => matches!(value, Value::Bool(_)),
            Type::Int | Type::Uint => matches!(value, Value::Int(_)) || self.manner.is_definition() && matches!(value, Value::Float(_)),
            Type::Float => matches!(value, Value::Int(_) | Value::Float(_)),
            Type::Duration | Type::DurationText => matches!(value, Value::String(_) | Value::Int(_)),
            Type::List(_) => match value {
                Value::Array(_) => true,
                Value::Object(_) => self.manner == Leniency::Definition { hcl: true },
                _ => false,
            },
            Type::Opaque | Type::Map(_) | Type::Struct(_) => matches!(value, Value::Object(_)),
        }
    }

    fn unfit(&mut self, node: &Node, text: String) -> Option<Plain> {
        self.unfit.push(Fault { text, node: node.id, meant: None });
        None
    }

    fn list(&mut self, node: &Node, of: &Type, path: &str) -> Plain {
        match &node.value {
            Value::Array(items) => {
                let items = items.iter().enumerate().map(|(at, item)| self.value(item, of, &format!("{path}[{at}]")));
                Plain::List(items.collect())
            }
            Value::Object(fields) if fields.is_empty() => Plain::List(Default::default()),
            _ => Plain::List([self.value(node, of, &format!("{path}[0]"))].into_iter().collect()),
        }
    }

    fn map(&mut self, node: &Node, of: &Type, path: &str) -> Option<Plain> {
        let mut out = Vec::new();
        let mut add = |reader: &mut Self, fields: &Object| {
            for entry in fields {
                let value = reader.value(&entry.value, of, &format!("{path}[{}]", entry.key));
                // A null in a map is present, with the zero value.
                let value = if value.is_null() { Tree { value: zero_of(of), origin: reader.origin(&entry.value) } } else { value };
                out.push((entry.key.clone(), value));
            }
        };
        match &node.value {
            Value::Object(fields) => add(self, fields),
            Value::Array(items) if items.iter().all(|item| item.as_object().is_some()) => {
                items.iter().filter_map(Node::as_object).for_each(|fields| add(self, fields));
            }
            _ => return self.unfit(node, format!("'{path}' expected a map, got '{}'", go::kind_of(node))),
        }
        Some(Plain::Object(Fields(out.into())))
    }

    fn text(&mut self, node: &Node, path: &str) -> Option<Plain> {
        Some(Plain::String(match &node.value {
            Value::String(text) => text.clone(),
            Value::Bool(value) => Str::new_static(if *value { "1" } else { "0" }),
            Value::Int(value) => Str::from(value.to_string()),
            Value::Float(value) => Str::from(go::float(*value)),
            _ => {
                let got = go::kind_of(node);
                return self.unfit(node, format!("'{path}' expected type 'string', got unconvertible type '{got}'"));
            }
        }))
    }

    fn bool(&mut self, node: &Node, path: &str) -> Option<Plain> {
        Some(Plain::Bool(match &node.value {
            Value::Bool(value) => *value,
            Value::Int(value) => *value != 0,
            Value::Float(value) => *value != 0.0,
            Value::String(text) => match go::parse_bool(text) {
                Some(value) => value,
                None => {
                    let text = format!("cannot parse '{path}' as bool: strconv.ParseBool: parsing {}: invalid syntax", go::quote(text));
                    return self.unfit(node, text);
                }
            },
            _ => {
                let got = go::kind_of(node);
                return self.unfit(node, format!("'{path}' expected type 'bool', got unconvertible type '{got}'"));
            }
        }))
    }

    fn int(&mut self, node: &Node, unsigned: bool, path: &str) -> Option<Plain> {
        let value = match &node.value {
            Value::Int(value) => *value,
            Value::Float(value) => *value as i64,
            Value::Bool(value) => i64::from(*value),
            Value::String(text) => match go::parse_int(text).filter(|_| !unsigned || !text.starts_with(['-', '+'])) {
                Some(value) => value,
                None => {
                    let (kind, call) = if unsigned { ("uint", "ParseUint") } else { ("int", "ParseInt") };
                    let text = format!("cannot parse '{path}' as {kind}: strconv.{call}: parsing {}: invalid syntax", go::quote(text));
                    return self.unfit(node, text);
                }
            },
            _ => {
                let (kind, got) = (if unsigned { "uint" } else { "int" }, go::kind_of(node));
                return self.unfit(node, format!("'{path}' expected type '{kind}', got unconvertible type '{got}'"));
            }
        };
        // A negative number in an unsigned 32-bit field wraps around.
        Some(Plain::Int(if unsigned && value < 0 { go::cut(value) } else { value }))
    }

    fn float(&mut self, node: &Node, path: &str) -> Option<Plain> {
        let value = match &node.value {
            Value::String(text) => text.trim().parse::<f64>().ok(),
            Value::Bool(value) => Some(f64::from(u8::from(*value))),
            _ => node.as_f64(),
        };
        match value {
            Some(value) => Some(Plain::Float(value)),
            None => {
                let got = go::kind_of(node);
                self.unfit(node, format!("'{path}' expected type 'float32', got unconvertible type '{got}'"))
            }
        }
    }

    fn duration(&mut self, node: &Node, path: &str) -> Option<Plain> {
        match &node.value {
            Value::String(text) => match duration::read(text) {
                Ok(value) => Some(Plain::Int(value)),
                Err(why) => self.unfit(node, format!("error decoding '{path}': {why}")),
            },
            _ => self.int(node, false, path),
        }
    }
}

/// Inside a value that was in a list of one, all lists of one are replaced by their values.
fn unwrap_all(value: &mut Tree) {
    if let Plain::List(items) = &mut value.value {
        if let [_] = items[..]
            && let Some(only) = items.pop()
        {
            *value = only;
            unwrap_all(value);
        }
        return;
    }
    if let Plain::Object(fields) = &mut value.value {
        fields.0.iter_mut().for_each(|(_, value)| unwrap_all(value));
    }
}

/// Inside an opaque map, lists of one are replaced by their values, except inside values that are maps.
fn unwrap_values(map: &mut Tree) {
    let Plain::Object(fields) = &mut map.value else { return };
    for (_, value) in fields.0.iter_mut() {
        if let Plain::List(items) = &mut value.value
            && let [_] = items[..]
            && let Some(mut only) = items.pop()
        {
            unwrap_all(&mut only);
            *value = only;
        }
    }
}

/// The name of a field's type.
fn name_of(of: &Type) -> &'static str {
    match of {
        Type::Text | Type::Bytes => "type 'string'",
        Type::Bool => "type 'bool'",
        Type::Int | Type::Uint => "type 'int'",
        Type::Float => "type 'float32'",
        Type::Duration | Type::DurationText => "a duration",
        Type::List(_) => "an array or slice",
        Type::Opaque | Type::Map(_) | Type::Struct(_) => "a map",
    }
}

/// The value of a map's key if it is null.
fn zero_of(of: &Type) -> Plain {
    match of {
        Type::Text | Type::Bytes => Plain::String(Str::default()),
        Type::Bool => Plain::Bool(false),
        Type::Int | Type::Uint | Type::Duration | Type::DurationText => Plain::Int(0),
        Type::Float => Plain::Float(0.0),
        Type::List(_) => Plain::List(Default::default()),
        Type::Opaque | Type::Map(_) | Type::Struct(_) => Plain::Object(Fields::default()),
    }
}
