//! Dumps the IR as a readable tree, and records where in it each origin went.
//!
//! Unset values (`None`, empty lists) are left out, durations are strings, and variant names are in snake case. A value with an origin is written
//! as the value alone; with origins, as `{"value": ..., "origin": {...}}`.
//!
//! Knows no type of the IR except `Sourced`, `Origin` and fields named `origins`.

use super::named_parts::NamedParts;
use super::{OriginView, Positions};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::{GatewayRef, SideRef};
use chancery_base::ir::Ir;
use chancery_base::output_map::OutputMap;
use chancery_base::output_map::Trace;
use chancery_base::resource::{ObjectId, Origin, Rule};
use chancery_text::{Node, Object, Str, Value};
use core::fmt;
use serde::ser::{self, Serialize};

/// Returns the IR as a tree, and the place of each origin in it.
pub fn dump(ir: &Ir) -> (Node, OutputMap) {
    let mut dumper = Dumper { trace: Trace::on(), ..Dumper::quiet() };
    let node = ir.serialize(&mut dumper).unwrap_or_else(|_| null());
    (node, OutputMap::new(dumper.trace.finish(), Vec::new()))
}

/// Returns the IR as a tree.
pub fn dump_tree(ir: &Ir) -> Node {
    ir.serialize(&mut Dumper::quiet()).unwrap_or_else(|_| null())
}

/// Collects the named parts of the IR and their owners.
pub(super) fn collect_named_parts(ir: &Ir) -> NamedParts {
    let mut modelled = ir.clone();
    let verbatim = core::mem::take(&mut modelled.delivery.verbatim);
    let mut dumper = Dumper { named_parts: Some(NamedParts::default()), ..Dumper::quiet() };
    drop(modelled.serialize(&mut dumper));
    let mut parts = dumper.named_parts.unwrap_or_default();
    parts.add_verbatim(&verbatim);
    parts
}

/// Returns a controller's loaded objects as a tree, and the place of each field in it. Key material is left out of both.
pub fn dump_config(side: SideRef<'_>) -> (Node, OutputMap) {
    let (mut trace, mut keys) = (Trace::on(), Object::new());
    for (key, all) in side.side.stages.loaded(side.objects()) {
        let mut names = Object::new();
        trace.at(&key, |t| {
            for of in all {
                t.at(&of.name, |t| written(&of.written, (of.object, of.rule), t));
                names.insert(of.name, of.shown);
            }
        });
        keys.insert(key, Node::synthesised(Value::Object(names)));
    }
    (Node::synthesised(Value::Object(keys)), OutputMap::new(trace.finish(), Vec::new()))
}

/// Records the origin of every value in a text. Readers limit the depth of trees.
fn written(node: &Node, of: (ObjectId, Rule), t: &mut Trace) {
    if node.id.is_some() {
        t.here(Origin::new(of.0, node.id, of.1));
    }
    match &node.value {
        Value::Object(entries) => entries.iter().for_each(|entry| t.at(&entry.key, |t| written(&entry.value, of, t))),
        Value::Array(items) => items.iter().enumerate().for_each(|(at, item)| t.item(at, |t| written(item, of, t))),
        _ => {}
    }
}

/// Returns the IR as a tree in which each value has its origin.
pub fn dump_with_origins(gateway: GatewayRef<'_>, positions: &Positions<'_>) -> Node {
    let show = |origin: Origin| {
        let view = OriginView::of(origin, gateway.of(), positions);
        let mut out = Object::new();
        let mut put = |key: &'static str, value: Value| {
            out.insert(key, Node::synthesised(value));
        };
        put("rule", text(view.rule.name()));
        if let Some(span) = view.span {
            put("file", Value::String(span.file));
            put("line", Value::Int(span.line.into()));
            put("column", Value::Int(span.column.into()));
        }
        if let Some(path) = view.path {
            put("path", text(&path));
        }
        Node::synthesised(Value::Object(out))
    };
    let mut dumper = Dumper { shown: Some(&show), ..Dumper::quiet() };
    gateway.ir.serialize(&mut dumper).unwrap_or_else(|_| null())
}

struct Dumper<'a> {
    trace: Trace,
    /// How to write origins; `None` if they are left out.
    shown: Option<&'a dyn Fn(Origin) -> Node>,
    /// Receives names and origins instead of the trace, if set. The dump then writes only the parts of the tree that names are made from.
    named_parts: Option<NamedParts>,
    /// Whether the value being written is a part of a name.
    is_name: bool,
    /// Collects the origins that are written, if set; nothing else is then kept.
    origins: Option<Vec<Origin>>,
}

/// Keys of the values that names are made from.
const NAMES: [&str; 4] = ["name", "cluster_name", "path", "match"];
/// Keys of objects that contain such values, or whose presence decides what a part is called.
const HOLDERS: [&str; 3] = ["matcher", "virtual_hosts", "http"];

impl Dumper<'_> {
    fn quiet() -> Self {
        Self { trace: Trace::off(), shown: None, named_parts: None, is_name: false, origins: None }
    }

    fn enter(&mut self, name: &str) -> usize {
        match &mut self.named_parts {
            Some(named_parts) => named_parts.enter(name),
            None => self.trace.enter(name),
        }
    }

    fn enter_item(&mut self, index: usize) -> usize {
        match &mut self.named_parts {
            Some(named_parts) => named_parts.enter_item(),
            None => self.trace.enter_item(index),
        }
    }

    fn leave(&mut self, mark: usize) {
        match &mut self.named_parts {
            Some(named_parts) => named_parts.leave(mark),
            None => self.trace.leave(mark),
        }
    }

    /// Whether the value's presence is enough, without its content.
    fn is_terse(&self) -> bool {
        self.origins.is_some() || self.named_parts.is_some() && !self.is_name
    }

    fn text(&self, of: &str) -> Done {
        done(if self.is_terse() { Value::Bool(true) } else { text(of) })
    }

    fn here(&mut self, origins: &[Origin]) {
        match &mut self.named_parts {
            Some(named_parts) => named_parts.here(origins),
            None => self.trace.here(origins),
        }
    }
}

/// A dump never fails.
#[derive(Debug)]
struct Never(String);

impl fmt::Display for Never {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Never {}

impl ser::Error for Never {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Never(message.to_string())
    }
}

type Done = Result<Node, Never>;

/// Writes a value of any type. Only the closure is compiled per type.
type Write<'w> = &'w mut dyn FnMut(&mut Dumper<'_>) -> Done;

fn null() -> Node {
    Node::synthesised(Value::Null)
}

fn text(text: &str) -> Value {
    Value::String(Str::new(text))
}

fn done(value: Value) -> Done {
    Ok(Node::synthesised(value))
}

fn is_unset(node: &Node) -> bool {
    match &node.value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(object) => object.is_empty(),
        _ => false,
    }
}

fn snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut before = None;
    for c in name.chars() {
        if c.is_ascii_uppercase() && before.is_some_and(|before: char| before.is_ascii_lowercase() || before.is_ascii_digit()) {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
        before = Some(c);
    }
    out
}

impl<'d, 'a> ser::Serializer for &'d mut Dumper<'a> {
    type Ok = Node;
    type Error = Never;
    type SerializeSeq = Items<'d, 'a>;
    type SerializeTuple = Items<'d, 'a>;
    type SerializeTupleStruct = Items<'d, 'a>;
    type SerializeTupleVariant = Items<'d, 'a>;
    type SerializeMap = Fields<'d, 'a>;
    type SerializeStruct = Fields<'d, 'a>;
    type SerializeStructVariant = Fields<'d, 'a>;

    fn serialize_bool(self, v: bool) -> Done {
        done(Value::Bool(v))
    }
    fn serialize_i8(self, v: i8) -> Done {
        done(Value::Int(v.into()))
    }
    fn serialize_i16(self, v: i16) -> Done {
        done(Value::Int(v.into()))
    }
    fn serialize_i32(self, v: i32) -> Done {
        done(Value::Int(v.into()))
    }
    fn serialize_i64(self, v: i64) -> Done {
        done(Value::Int(v))
    }
    fn serialize_u8(self, v: u8) -> Done {
        done(Value::Int(v.into()))
    }
    fn serialize_u16(self, v: u16) -> Done {
        done(Value::Int(v.into()))
    }
    fn serialize_u32(self, v: u32) -> Done {
        done(Value::Int(v.into()))
    }
    fn serialize_u64(self, v: u64) -> Done {
        if let Some(origins) = &mut self.origins {
            // In the form that `Origin::to_bits` wrote.
            origins.extend(Origin::from_bits(v));
        }
        done(Value::Int(v as i64))
    }
    fn serialize_f32(self, v: f32) -> Done {
        self.serialize_f64(v.into())
    }
    fn serialize_f64(self, v: f64) -> Done {
        let whole = v as i64;
        done(if whole as f64 == v { Value::Int(whole) } else { Value::Float(v) })
    }
    fn serialize_char(self, v: char) -> Done {
        self.text(v.encode_utf8(&mut [0; 4]))
    }
    fn serialize_str(self, v: &str) -> Done {
        self.text(v)
    }
    fn serialize_bytes(self, v: &[u8]) -> Done {
        done(Value::Int(v.len() as i64))
    }
    fn serialize_none(self) -> Done {
        Ok(null())
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Done {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Done {
        // An object that is present but has no content, e.g. HTTP/2 without options.
        done(Value::Bool(true))
    }
    fn serialize_unit_struct(self, name: &'static str) -> Done {
        self.text(name)
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Done {
        if self.is_terse() { self.text(variant) } else { done(text(&snake_case(variant))) }
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Done {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(self, _: &'static str, _: u32, variant: &'static str, value: &T) -> Done {
        let mut fields = Fields::new(self, "", Some(variant));
        let name = snake_case(variant);
        fields.put(&name, &mut |dumper| value.serialize(dumper))?;
        Ok(fields.whole())
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'d, 'a>, Never> {
        Ok(Items { dumper: self, items: Vec::new(), count: 0, variant: None })
    }
    fn serialize_tuple(self, len: usize) -> Result<Items<'d, 'a>, Never> {
        self.serialize_seq(Some(len))
    }
    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Items<'d, 'a>, Never> {
        self.serialize_seq(Some(len))
    }
    fn serialize_tuple_variant(self, _: &'static str, _: u32, variant: &'static str, _: usize) -> Result<Items<'d, 'a>, Never> {
        Ok(Items { dumper: self, items: Vec::new(), count: 0, variant: Some(variant) })
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Fields<'d, 'a>, Never> {
        Ok(Fields::new(self, "", None))
    }
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Fields<'d, 'a>, Never> {
        Ok(Fields::new(self, name, None))
    }
    fn serialize_struct_variant(self, _: &'static str, _: u32, variant: &'static str, _: usize) -> Result<Fields<'d, 'a>, Never> {
        let mut fields = Fields::new(self, "", Some(variant));
        fields.mark = Some(fields.dumper.enter(&snake_case(variant)));
        Ok(fields)
    }
}

struct Items<'d, 'a> {
    dumper: &'d mut Dumper<'a>,
    items: Vec<Node>,
    /// How many items there are, kept or not.
    count: usize,
    variant: Option<&'static str>,
}

impl Items<'_, '_> {
    fn push(&mut self, write: Write<'_>) -> Result<(), Never> {
        let mark = self.dumper.enter_item(self.count);
        let node = write(self.dumper)?;
        match &mut self.dumper.named_parts {
            Some(named_parts) => named_parts.item(&node),
            None if self.dumper.origins.is_none() => self.items.push(node),
            None => {}
        }
        self.dumper.leave(mark);
        self.count += 1;
        Ok(())
    }

    fn close(self) -> Done {
        // When items are not kept, later code only asks whether any exist.
        let is_kept = self.items.len() == self.count;
        let list = Node::synthesised(if is_kept { Value::Array(self.items) } else { Value::Bool(true) });
        match self.variant {
            None => Ok(list),
            Some(variant) => done(Value::Object([(snake_case(variant), list)].into_iter().collect())),
        }
    }
}

struct Fields<'d, 'a> {
    dumper: &'d mut Dumper<'a>,
    name: &'static str,
    object: Object,
    /// Whether the object has fields that it does not keep.
    has_more: bool,
    variant: Option<&'static str>,
    /// The trace's mark to return to, for a struct variant.
    mark: Option<usize>,
    key: Str,
    value: Option<Node>,
    origins: Vec<Origin>,
    duration: [u64; 2],
}

impl<'d, 'a> Fields<'d, 'a> {
    fn new(dumper: &'d mut Dumper<'a>, name: &'static str, variant: Option<&'static str>) -> Self {
        Self {
            dumper,
            name,
            object: Object::new(),
            has_more: false,
            variant,
            mark: None,
            key: Str::default(),
            value: None,
            origins: Vec::new(),
            duration: [0; 2],
        }
    }

    fn put(&mut self, key: &str, write: Write<'_>) -> Result<(), Never> {
        let heard = self.dumper.named_parts.as_ref().map(NamedParts::mark);
        let mark = self.dumper.enter(key);
        let was_name = self.dumper.is_name;
        self.dumper.is_name = was_name || NAMES.contains(&key);
        let node = write(self.dumper)?;
        let is_kept = !self.dumper.is_terse() || HOLDERS.contains(&key);
        self.dumper.is_name = was_name;
        self.dumper.leave(mark);
        match (is_unset(&node), &mut self.dumper.named_parts, heard) {
            (false, ..) if is_kept => drop(self.object.insert(key, node)),
            (false, ..) => self.has_more = true,
            (true, Some(named_parts), Some(heard)) => named_parts.forget(heard),
            (true, ..) => {}
        }
        Ok(())
    }

    fn field(&mut self, key: &'static str, write: Write<'_>) -> Result<(), Never> {
        match (self.name, key) {
            ("Sourced", "value") => self.value = Some(write(self.dumper)?),
            ("Sourced", "origin") | (_, "origins") => {
                let mut dumper = Dumper { origins: Some(core::mem::take(&mut self.origins)), ..Dumper::quiet() };
                write(&mut dumper)?;
                self.origins = dumper.origins.unwrap_or_default();
                self.dumper.here(&self.origins);
            }
            ("Duration", _) => {
                let number = write(self.dumper)?.as_i64().unwrap_or_default() as u64;
                self.duration[usize::from(key == "nanos")] = number;
            }
            _ => self.put(key, write)?,
        }
        Ok(())
    }

    /// Returns the object, or only that it exists.
    fn whole(self) -> Node {
        Node::synthesised(if self.has_more && self.object.is_empty() { Value::Bool(true) } else { Value::Object(self.object) })
    }

    fn close(mut self) -> Done {
        if let Some(mark) = self.mark {
            self.dumper.leave(mark);
        }
        let shown: Vec<Node> = self.dumper.shown.map(|show| self.origins.iter().map(|origin| show(*origin)).collect()).unwrap_or_default();
        if let Some(value) = self.value {
            return Ok(match shown.into_iter().next() {
                None => value,
                Some(origin) => Node::synthesised(Value::Object([("value", value), ("origin", origin)].into_iter().collect())),
            });
        }
        if self.name == "Duration" && self.dumper.is_terse() {
            return done(Value::Bool(true));
        }
        if self.name == "Duration" {
            let [seconds, nanos] = self.duration;
            let fraction = format!("{nanos:09}");
            let fraction = fraction.trim_end_matches('0');
            let dot = if fraction.is_empty() { "" } else { "." };
            return done(Value::String(format!("{seconds}{dot}{fraction}s").into()));
        }
        if !shown.is_empty() {
            self.object.insert("origins", Node::synthesised(Value::Array(shown)));
        }
        let variant = self.variant;
        let object = self.whole();
        match variant {
            None => Ok(object),
            Some(variant) => done(Value::Object([(snake_case(variant), object)].into_iter().collect())),
        }
    }
}

macro_rules! items {
    ($($kind:ident $method:ident;)*) => {$(
        impl ser::$kind for Items<'_, '_> {
            type Ok = Node;
            type Error = Never;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
                self.push(&mut |dumper| value.serialize(dumper))
            }
            fn end(self) -> Done {
                self.close()
            }
        }
    )*};
}

items! {
    SerializeSeq serialize_element;
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
    SerializeTupleVariant serialize_field;
}

impl ser::SerializeMap for Fields<'_, '_> {
    type Ok = Node;
    type Error = Never;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Never> {
        let was_name = core::mem::replace(&mut self.dumper.is_name, true);
        let key = key.serialize(&mut *self.dumper)?;
        self.dumper.is_name = was_name;
        self.key = Str::new(key.as_str().unwrap_or_default());
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        let key = core::mem::take(&mut self.key);
        self.put(&key, &mut |dumper| value.serialize(dumper))
    }
    fn end(self) -> Done {
        self.close()
    }
}

impl ser::SerializeStruct for Fields<'_, '_> {
    type Ok = Node;
    type Error = Never;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Never> {
        self.field(key, &mut |dumper| value.serialize(dumper))
    }
    fn end(self) -> Done {
        self.close()
    }
}

impl ser::SerializeStructVariant for Fields<'_, '_> {
    type Ok = Node;
    type Error = Never;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Never> {
        self.field(key, &mut |dumper| value.serialize(dumper))
    }
    fn end(self) -> Done {
        self.close()
    }
}
