//! The walk that checks every field against its rules.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use super::{Bound, Rule, Violation, code, header};
use crate::describe::{Cardinality, FieldInfo, Kind, MessageInfo, Reflect, Value, Visitor};
use crate::pointer::Path;

/// Returns all rules that a message breaks, in the order of the walk. The walk enters an [`Any`](crate::Any) if it is typed.
#[must_use]
pub fn validate(message: &dyn Reflect) -> Vec<Violation> {
    let mut out = Vec::new();
    let mut walk = Walk { path: Path::default(), out: &mut out };
    walk.value(message.as_value());
    out
}

struct Walk<'a> {
    path: Path,
    out: &'a mut Vec<Violation>,
}

/// The check of one message's fields.
struct Message<'w, 'a> {
    walk: &'w mut Walk<'a>,
    info: &'static MessageInfo,
    /// The set fields. Few messages have more than 128 fields.
    seen: u128,
    oneofs: u64,
    /// Whether Envoy's code has rules for its scalars.
    has_code: bool,
}

impl Walk<'_> {
    /// Looks into whatever holds messages.
    fn value(&mut self, value: Value<'_>) {
        match value {
            Value::Message(message) => self.message(message),
            Value::Any(any) => {
                if let Some(message) = any.message() {
                    self.value(message.as_value());
                }
            }
            _ => {}
        }
    }

    fn message(&mut self, message: &dyn Reflect) {
        let info = message.info();
        let mut check = Message { walk: self, info, seen: 0, oneofs: 0, has_code: code::knows(info) };
        message.visit(&mut check);
        check.absent();
    }

    fn broken(&mut self, info: &'static MessageInfo, field: &'static str, rule: &'static str, message: String) {
        self.out.push(Violation { pointer: self.path.pointer(), message_type: info.full_name, field, rule, message });
    }
}

impl Visitor for Message<'_, '_> {
    fn field(&mut self, field: &'static FieldInfo, value: Value<'_>) {
        self.seen |= bit(field);
        if let Some(oneof) = field.oneof_index() {
            self.oneofs |= 1 << (oneof % 64);
        }
        // Most fields are scalars without rules, which need no check.
        if field.rules.is_empty() && !holds_messages(field) && !self.has_code {
            return;
        }
        self.walk.path.field(field);
        let before = self.walk.out.len();
        if self.rules(field, field.rules, value) {
            self.inside(value);
        }
        if self.walk.out.len() == before {
            self.code(field, value);
        }
        self.walk.path.leave();
    }
}

fn bit(field: &FieldInfo) -> u128 {
    1u128.checked_shl(u32::from(field.index)).unwrap_or(0)
}

fn holds_messages(field: &FieldInfo) -> bool {
    matches!(field.kind, Kind::Message(_))
}

impl Message<'_, '_> {
    fn inside(&mut self, value: Value<'_>) {
        let walk = &mut *self.walk;
        match value {
            Value::List(list) => {
                for (index, item) in list.iter().enumerate() {
                    walk.path.index(index);
                    walk.value(item);
                    walk.path.leave();
                }
            }
            Value::Map(map) => map.each(&mut |key, value| {
                walk.path.key(key);
                walk.value(value);
                walk.path.leave();
            }),
            value => walk.value(value),
        }
    }

    /// Returns the error of Envoy's code for a value that the rules accept.
    fn code(&mut self, field: &'static FieldInfo, value: Value<'_>) {
        let Some((index, message)) = code::complaint(self.info, field, value) else { return };
        if let Some(index) = index {
            self.walk.path.index(index);
        }
        self.walk.broken(self.info, field.name(), "code", message);
        if index.is_some() {
            self.walk.path.leave();
        }
    }

    /// Checks the rules for fields that are not set.
    fn absent(&mut self) {
        for field in self.info.fields.iter().filter(|f| !f.rules.is_empty()) {
            if self.seen & bit(field) != 0 || field.oneof_index().is_some() {
                continue;
            }
            self.walk.path.field(field);
            match (field.cardinality, zero(field.kind)) {
                (Cardinality::Implicit, Some(zero)) => {
                    self.rules(field, field.rules, zero);
                }
                (Cardinality::Repeated | Cardinality::Map(_), _) => {
                    for rule in field.rules {
                        if let Rule::MinItems(min) = rule {
                            self.broken(field, rule, at_least(*min, "item"));
                        }
                    }
                }
                _ => {
                    if field.rules.iter().any(|r| matches!(r, Rule::Required)) {
                        self.broken(field, &Rule::Required, "is required".to_string());
                    }
                }
            }
            self.walk.path.leave();
        }
        for (index, oneof) in self.info.oneofs.iter().enumerate() {
            if oneof.required && self.oneofs & (1 << (index % 64)) == 0 {
                let members: Vec<&str> = self.info.fields.iter().filter(|f| f.oneof_index() == Some(index)).map(FieldInfo::name).collect();
                let message = format!("needs one of: {}", members.join(", "));
                self.walk.broken(self.info, oneof.name, "required", message);
            }
        }
    }

    fn broken(&mut self, field: &'static FieldInfo, rule: &Rule, message: String) {
        self.walk.broken(self.info, field.name(), rule.name(), message);
    }

    /// Checks a value. Returns whether to enter it.
    fn rules(&mut self, field: &'static FieldInfo, rules: &'static [Rule], value: Value<'_>) -> bool {
        let mut look = true;
        let mut bounds = Bounds::default();
        for rule in rules {
            let complaint = match (rule, value) {
                (Rule::IgnoreEmpty, value) if is_zero(value) => return false,
                (Rule::Skip, _) => {
                    look = false;
                    None
                }
                (Rule::Gt(_) | Rule::Gte(_) | Rule::Lt(_) | Rule::Lte(_), _) => {
                    bounds.add(rule);
                    None
                }
                (Rule::Each(rules), value) => {
                    self.each(field, rules, value);
                    None
                }
                (Rule::Keys(rules), Value::Map(map)) => {
                    map.each(&mut |key, _| {
                        self.walk.path.key(key);
                        self.rules(field, rules, key);
                        self.walk.path.leave();
                    });
                    None
                }
                (rule, value) => single(rule, value),
            };
            if let Some(message) = complaint {
                self.broken(field, rule, message);
            }
        }
        if let Some((rule, message)) = bounds.complaint(value) {
            self.broken(field, rule, message);
        }
        look
    }

    fn each(&mut self, field: &'static FieldInfo, rules: &'static [Rule], value: Value<'_>) {
        match value {
            Value::List(list) => {
                for (index, item) in list.iter().enumerate() {
                    self.walk.path.index(index);
                    self.rules(field, rules, item);
                    self.walk.path.leave();
                }
            }
            Value::Map(map) => map.each(&mut |key, value| {
                self.walk.path.key(key);
                self.rules(field, rules, value);
                self.walk.path.leave();
            }),
            _ => {}
        }
    }
}

/// Returns the error of one rule for a value.
fn single(rule: &Rule, value: Value<'_>) -> Option<String> {
    let bytes = |len: usize| len as u64;
    match (rule, value) {
        (Rule::MinChars(min), Value::String(s)) => {
            // The number of bytes is at least the number of characters.
            (*min > 0 && bytes(s.len()) < *min || s.chars().take(64).count() < 64 && bytes(s.chars().count()) < *min)
                .then(|| format!("{} long", at_least(*min, "character")))
        }
        (Rule::MaxChars(max), Value::String(s)) => {
            (bytes(s.len()) > *max && bytes(s.chars().count()) > *max).then(|| format!("{} long", at_most(*max, "character")))
        }
        (Rule::MinBytes(min), value) => (bytes(len(value)?) < *min).then(|| format!("{} long", at_least(*min, "byte"))),
        (Rule::MaxBytes(max), value) => (bytes(len(value)?) > *max).then(|| format!("{} long", at_most(*max, "byte"))),
        (Rule::Prefix(prefix), Value::String(s)) => (!s.starts_with(prefix)).then(|| format!("must start with {prefix:?}")),
        (Rule::Suffix(suffix), Value::String(s)) => (!s.ends_with(suffix)).then(|| format!("must end with {suffix:?}")),
        (Rule::Pattern(pattern), Value::String(s)) => (!pattern.matches(s)).then(|| format!("must match the pattern {}", pattern.text)),
        (Rule::In(list), Value::String(s)) => (!list.contains(&s)).then(|| format!("must be one of: {}", list.join(", "))),
        (Rule::HeaderName { strict }, Value::String(s)) => (!header::is_name(s, *strict)).then(|| "is not a valid header name".to_string()),
        (Rule::HeaderValue { strict }, Value::String(s)) => (!header::is_value(s, *strict)).then(|| "is not a valid header value".to_string()),
        (Rule::Bool(wanted), Value::Bool(v)) => (v != *wanted).then(|| format!("must be {wanted}")),
        (Rule::DefinedOnly, Value::Enum(number, of)) => {
            of.value(number).is_none().then(|| format!("must be a value of {}, but is {number}", of.full_name))
        }
        (Rule::NotIn(list), Value::Enum(number, of)) => {
            list.contains(&number).then(|| format!("must not be {}", of.value(number).map_or_else(|| number.to_string(), |v| v.name.to_string())))
        }
        (Rule::MinItems(min), value) => (bytes(count(value)?) < *min).then(|| at_least(*min, "item")),
        (Rule::MaxItems(max), value) => (bytes(count(value)?) > *max).then(|| at_most(*max, "item")),
        (Rule::Unique, Value::List(list)) => {
            let mut texts: Vec<String> = list.iter().map(crate::json::value_to_string).collect();
            let before = texts.len();
            texts.sort_unstable();
            texts.dedup();
            (texts.len() < before).then(|| "must not have an item twice".to_string())
        }
        _ => None,
    }
}

/// The bounds of one value. If the lower bound is above the upper bound, values between them are invalid.
#[derive(Default)]
struct Bounds {
    lower: Option<&'static Rule>,
    upper: Option<&'static Rule>,
}

impl Bounds {
    fn add(&mut self, rule: &'static Rule) {
        match rule {
            Rule::Gt(_) | Rule::Gte(_) => self.lower = Some(rule),
            _ => self.upper = Some(rule),
        }
    }

    fn complaint(&self, value: Value<'_>) -> Option<(&'static Rule, String)> {
        let fits = |rule: &Rule| keeps(rule, value);
        match (self.lower, self.upper) {
            (Some(lower), Some(upper)) => {
                if limit(lower) > limit(upper) {
                    let outside = fits(lower) || fits(upper);
                    (!outside).then(|| (lower, format!("must be {} or {}", words(lower), words(upper))))
                } else if fits(lower) && fits(upper) {
                    None
                } else {
                    let rule = if fits(lower) { upper } else { lower };
                    Some((rule, format!("must be {} and {}", words(lower), words(upper))))
                }
            }
            (Some(rule), None) | (None, Some(rule)) => (!fits(rule)).then(|| (rule, format!("must be {}", words(rule)))),
            (None, None) => None,
        }
    }
}

fn bound(rule: &Rule) -> Bound {
    match rule {
        Rule::Gt(b) | Rule::Gte(b) | Rule::Lt(b) | Rule::Lte(b) => *b,
        _ => Bound::Int(0),
    }
}

#[expect(clippy::cast_precision_loss, reason = "only tells which of two bounds is the greater")]
fn limit(rule: &Rule) -> f64 {
    match bound(rule) {
        Bound::Int(n) | Bound::Duration(n) => n as f64,
        Bound::Float(n) => n,
    }
}

/// Whether a value is within a bound. Returns true for another kind of value.
fn keeps(rule: &Rule, value: Value<'_>) -> bool {
    let order = match (bound(rule), value) {
        (Bound::Int(bound), Value::I32(v)) => i128::from(v).partial_cmp(&bound),
        (Bound::Int(bound), Value::I64(v)) => i128::from(v).partial_cmp(&bound),
        (Bound::Int(bound), Value::U32(v)) => i128::from(v).partial_cmp(&bound),
        (Bound::Int(bound), Value::U64(v)) => i128::from(v).partial_cmp(&bound),
        (Bound::Float(bound), Value::F32(v)) => f64::from(v).partial_cmp(&bound),
        (Bound::Float(bound), Value::F64(v)) => v.partial_cmp(&bound),
        (Bound::Duration(bound), Value::Duration(v)) => (i128::from(v.seconds) * 1_000_000_000 + i128::from(v.nanos)).partial_cmp(&bound),
        _ => return true,
    };
    match rule {
        Rule::Gt(_) => order.is_some_and(|o| o.is_gt()),
        Rule::Gte(_) => order.is_some_and(|o| o.is_ge()),
        Rule::Lt(_) => order.is_some_and(|o| o.is_lt()),
        _ => order.is_some_and(|o| o.is_le()),
    }
}

fn words(rule: &Rule) -> String {
    let comparison = match rule {
        Rule::Gt(_) => "greater than",
        Rule::Gte(_) => "at least",
        Rule::Lt(_) => "less than",
        _ => "at most",
    };
    match bound(rule) {
        Bound::Int(n) => format!("{comparison} {n}"),
        Bound::Float(n) => format!("{comparison} {n}"),
        Bound::Duration(n) if n % 1_000_000_000 == 0 => {
            format!("{comparison} {}s", n / 1_000_000_000)
        }
        Bound::Duration(n) if n % 1_000_000 == 0 => format!("{comparison} {}ms", n / 1_000_000),
        Bound::Duration(n) => format!("{comparison} {n}ns"),
    }
}

fn at_least(n: u64, of: &str) -> String {
    format!("must be at least {n} {of}{}", if n == 1 { "" } else { "s" })
}

fn at_most(n: u64, of: &str) -> String {
    format!("must be at most {n} {of}{}", if n == 1 { "" } else { "s" })
}

fn len(value: Value<'_>) -> Option<usize> {
    match value {
        Value::String(s) => Some(s.len()),
        Value::Bytes(b) => Some(b.len()),
        _ => None,
    }
}

fn count(value: Value<'_>) -> Option<usize> {
    match value {
        Value::List(list) => Some(list.len()),
        Value::Map(map) => Some(map.len()),
        _ => None,
    }
}

/// The value that an absent scalar has.
fn zero(kind: Kind) -> Option<Value<'static>> {
    Some(match kind {
        Kind::Bool => Value::Bool(false),
        Kind::I32 => Value::I32(0),
        Kind::I64 => Value::I64(0),
        Kind::U32 => Value::U32(0),
        Kind::U64 => Value::U64(0),
        Kind::F32 => Value::F32(0.0),
        Kind::F64 => Value::F64(0.0),
        Kind::String => Value::String(""),
        Kind::Bytes => Value::Bytes(&[]),
        Kind::Enum(of) => Value::Enum(0, of),
        Kind::Message(_) => return None,
    })
}

fn is_zero(value: Value<'_>) -> bool {
    match value {
        Value::String(s) => s.is_empty(),
        Value::Bytes(b) => b.is_empty(),
        Value::I32(n) => n == 0,
        Value::I64(n) => n == 0,
        Value::U32(n) => n == 0,
        Value::U64(n) => n == 0,
        Value::F32(n) => n == 0.0,
        Value::F64(n) => n == 0.0,
        _ => false,
    }
}
