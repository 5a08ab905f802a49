//! Evaluates a rule on a value. Does not parse; see `parse`.

use super::parse::{Expression, Function, Literal, Macro, Operator};
use crate::schema::duration;
use crate::schema::patterns::Patterns;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::{Node, Object, Value as Written};
use core::cell::Cell;
use core::cmp::Ordering;
use core::net::IpAddr;

/// Why a rule has no result, as the reference reports it.
pub(in crate::schema) type Failure = Cow<'static, str>;

type Outcome<'a> = Result<Value<'a>, Failure>;

const NO_OVERLOAD: Failure = Cow::Borrowed("no such overload");

/// The maximum number of steps of a rule.
const BUDGET: u32 = 1_000_000;

#[derive(Clone, Debug)]
enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(Cow<'a, str>),
    List(Vec<Value<'a>>),
    Items(&'a [Node]),
    Map(&'a Object),
    /// A map that a rule writes out.
    Table(Vec<(Value<'a>, Value<'a>)>),
    /// Nanoseconds.
    Duration(i64),
}

/// The bound names, the innermost first.
#[derive(Clone, Copy)]
struct Scope<'s, 'a> {
    name: &'s str,
    value: &'s Value<'a>,
    outer: Option<&'s Scope<'s, 'a>>,
}

struct Run<'m> {
    patterns: &'m Patterns,
    budget: Cell<u32>,
}

pub(super) fn is_true(expression: &Expression, node: &Node, patterns: &Patterns) -> Result<bool, Failure> {
    let run = Run { patterns, budget: Cell::new(BUDGET) };
    let value = Value::of(node);
    truth(run.eval(expression, &Scope { name: "self", value: &value, outer: None })?)
}

fn truth(value: Value<'_>) -> Result<bool, Failure> {
    if let Value::Bool(value) = value { Ok(value) } else { Err(NO_OVERLOAD) }
}

impl<'a> Value<'a> {
    fn of(node: &'a Node) -> Self {
        match &node.value {
            Written::Null => Value::Null,
            Written::Bool(value) => Value::Bool(*value),
            Written::Int(value) => Value::Int(*value),
            Written::Float(value) => Value::Double(*value),
            Written::String(text) => Value::Text(Cow::Borrowed(text)),
            Written::Array(items) => Value::Items(items),
            Written::Object(object) => Value::Map(object),
        }
    }

    fn text(&self) -> Result<&str, Failure> {
        if let Value::Text(text) = self { Ok(text) } else { Err(NO_OVERLOAD) }
    }

    /// The elements that macros iterate: items, or the keys of a map.
    fn each(self) -> Result<Vec<Value<'a>>, Failure> {
        match self {
            Value::List(items) => Ok(items),
            Value::Items(items) => Ok(items.iter().map(Value::of).collect()),
            Value::Map(object) => Ok(object.iter().map(|entry| Value::Text(Cow::Borrowed(entry.key.as_str()))).collect()),
            _ => Err(NO_OVERLOAD),
        }
    }

    fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Map(one), Value::Map(other)) => {
                let same = |key: &str, value: &Node| other.get(key).is_some_and(|other| Value::of(value).equals(&Value::of(other)));
                one.len() == other.len() && one.iter().all(|entry| same(&entry.key, &entry.value))
            }
            (Value::List(_) | Value::Items(_), Value::List(_) | Value::Items(_)) => match (self.clone().each(), other.clone().each()) {
                (Ok(one), Ok(other)) => one.len() == other.len() && one.iter().zip(&other).all(|(one, other)| one.equals(other)),
                _ => false,
            },
            _ => self.order(other) == Some(Ordering::Equal),
        }
    }

    fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Value::Bool(one), Value::Bool(other)) => Some(one.cmp(other)),
            (Value::Int(one), Value::Int(other)) => Some(one.cmp(other)),
            (Value::Double(one), Value::Double(other)) => one.partial_cmp(other),
            (Value::Int(one), Value::Double(other)) => (*one as f64).partial_cmp(other),
            (Value::Double(one), Value::Int(other)) => one.partial_cmp(&(*other as f64)),
            (Value::Text(one), Value::Text(other)) => Some(one.cmp(other)),
            (Value::Duration(one), Value::Duration(other)) => Some(one.cmp(other)),
            _ => None,
        }
    }
}

impl Run<'_> {
    // The parser bounds the depth of the expression.
    fn eval<'a>(&self, expression: &'a Expression, scope: &Scope<'_, 'a>) -> Outcome<'a> {
        let Some(left) = self.budget.get().checked_sub(1) else { return Err("operation cancelled: actual cost limit exceeded".into()) };
        self.budget.set(left);
        match expression {
            Expression::Null => Ok(Value::Null),
            Expression::Bool(value) => Ok(Value::Bool(*value)),
            Expression::Int(value) => Ok(Value::Int(*value)),
            Expression::Double(value) => Ok(Value::Double(*value)),
            Expression::Text(Literal::Plain(text)) => Ok(Value::Text(Cow::Borrowed(text))),
            Expression::Text(Literal::Escaped(text)) => Ok(Value::Text(Cow::Borrowed(text))),
            Expression::List(items) => Ok(Value::List(items.iter().map(|item| self.eval(item, scope)).collect::<Result<_, _>>()?)),
            Expression::Map(entries) => {
                let entry = |(key, value): &'a (Expression, Expression)| Ok((self.eval(key, scope)?, self.eval(value, scope)?));
                Ok(Value::Table(entries.iter().map(entry).collect::<Result<_, Failure>>()?))
            }
            Expression::Name(name) => bound(name, scope),
            Expression::Field(of, name) => match self.eval(of, scope)? {
                Value::Map(object) => object.get(name).map(Value::of).ok_or_else(|| format!("no such key: {name}").into()),
                _ => Err(NO_OVERLOAD),
            },
            Expression::Has(of, name) => match self.eval(of, scope)? {
                Value::Map(object) => Ok(Value::Bool(object.get(name).is_some())),
                _ => Err(NO_OVERLOAD),
            },
            Expression::At(of, at) => at_index(self.eval(of, scope)?, self.eval(at, scope)?),
            Expression::Not(of) => Ok(Value::Bool(!truth(self.eval(of, scope)?)?)),
            Expression::Minus(of) => match self.eval(of, scope)? {
                Value::Int(value) => value.checked_neg().map(Value::Int).ok_or("integer overflow".into()),
                Value::Double(value) => Ok(Value::Double(-value)),
                _ => Err(NO_OVERLOAD),
            },
            Expression::And(one, other) => self.either(one, other, false, scope),
            Expression::Or(one, other) => self.either(one, other, true, scope),
            Expression::Binary(operator, one, other) => binary(*operator, self.eval(one, scope)?, self.eval(other, scope)?),
            Expression::Choice(parts) => {
                let [condition, then, otherwise] = &**parts;
                self.eval(if truth(self.eval(condition, scope)?)? { then } else { otherwise }, scope)
            }
            Expression::Each { how, list, name, body } => {
                let items = self.eval(list, scope)?.each()?;
                self.each(*how, items, name, body, scope)
            }
            Expression::Call(function, arguments) => {
                let arguments = arguments.iter().map(|argument| self.eval(argument, scope)).collect::<Result<Vec<_>, _>>()?;
                self.call(*function, arguments)
            }
        }
    }

    /// `&&` and `||`: one side that decides is enough, even if the other fails.
    fn either<'a>(&self, one: &'a Expression, other: &'a Expression, decides: bool, scope: &Scope<'_, 'a>) -> Outcome<'a> {
        let one = self.eval(one, scope).and_then(truth);
        if one == Ok(decides) {
            return Ok(Value::Bool(decides));
        }
        let other = self.eval(other, scope).and_then(truth);
        if other == Ok(decides) {
            return Ok(Value::Bool(decides));
        }
        one.and(other).map(Value::Bool)
    }

    fn each<'a>(&self, how: Macro, items: Vec<Value<'a>>, name: &'a str, body: &'a Expression, scope: &Scope<'_, 'a>) -> Outcome<'a> {
        let mut taken = Vec::new();
        let (mut count, mut failure) = (0, None);
        for item in items {
            let value = self.eval(body, &Scope { name, value: &item, outer: Some(scope) });
            if how == Macro::Map {
                taken.push(value?);
                continue;
            }
            match (value.and_then(truth), how) {
                // One item that decides is enough, even if another fails.
                (Ok(false), Macro::All) => return Ok(Value::Bool(false)),
                (Ok(true), Macro::Exists) => return Ok(Value::Bool(true)),
                (Err(why), Macro::All | Macro::Exists) => failure = failure.or(Some(why)),
                (Err(why), _) => return Err(why),
                (Ok(true), Macro::Filter) => taken.push(item),
                (Ok(true), _) => count += 1,
                (Ok(false), _) => {}
            }
        }
        match (how, failure) {
            (_, Some(why)) => Err(why),
            (Macro::All, None) => Ok(Value::Bool(true)),
            (Macro::Exists, None) => Ok(Value::Bool(false)),
            (Macro::ExistsOne, None) => Ok(Value::Bool(count == 1)),
            (Macro::Filter | Macro::Map, None) => Ok(Value::List(taken)),
        }
    }

    fn call<'a>(&self, function: Function, arguments: Vec<Value<'a>>) -> Outcome<'a> {
        let mut arguments = arguments.into_iter();
        let first = arguments.next().unwrap_or(Value::Null);
        let second = arguments.next().unwrap_or(Value::Null);
        Ok(match function {
            Function::Size => Value::Int(match &first {
                Value::Text(text) => text.chars().count(),
                Value::List(items) => items.len(),
                Value::Items(items) => items.len(),
                Value::Map(object) => object.len(),
                Value::Table(entries) => entries.len(),
                _ => return Err(NO_OVERLOAD),
            } as i64),
            Function::Matches => Value::Bool(self.patterns.matches(second.text()?, first.text()?).ok_or("no such regular expression")?),
            Function::StartsWith => Value::Bool(first.text()?.starts_with(second.text()?)),
            Function::EndsWith => Value::Bool(first.text()?.ends_with(second.text()?)),
            Function::Contains => Value::Bool(first.text()?.contains(second.text()?)),
            Function::Split => {
                let parts = first.text()?.split(second.text()?);
                Value::List(parts.map(|part| Value::Text(Cow::Owned(String::from(part)))).collect())
            }
            Function::Duration => match duration::parse(first.text()?) {
                Some(nanoseconds) => Value::Duration(nanoseconds),
                None => return Err("error converting to duration".into()),
            },
            Function::IsIp => Value::Bool(first.text()?.parse::<IpAddr>().is_ok()),
            Function::Trim => Value::Text(Cow::Owned(first.text()?.trim().into())),
            Function::LowerAscii => Value::Text(Cow::Owned(first.text()?.to_ascii_lowercase())),
            Function::UpperAscii => Value::Text(Cow::Owned(first.text()?.to_ascii_uppercase())),
            Function::Substring => match second {
                Value::Int(from) => {
                    let (text, from) = (first.text()?, usize::try_from(from).unwrap_or(usize::MAX));
                    if from > text.chars().count() {
                        return Err(format!("index out of range: {from}").into());
                    }
                    Value::Text(Cow::Owned(text.chars().skip(from).collect()))
                }
                _ => return Err(NO_OVERLOAD),
            },
        })
    }
}

fn bound<'a>(name: &str, scope: &Scope<'_, 'a>) -> Outcome<'a> {
    let mut scope = Some(scope);
    while let Some(Scope { name: bound, value, outer }) = scope {
        if *bound == name {
            return Ok((*value).clone());
        }
        scope = *outer;
    }
    Err(format!("no such attribute: {name}").into())
}

fn at_index<'a>(of: Value<'a>, at: Value<'a>) -> Outcome<'a> {
    match (of, at) {
        (Value::Map(object), Value::Text(key)) => object.get(&key).map(Value::of).ok_or_else(|| format!("no such key: {key}").into()),
        (Value::Table(entries), key) => {
            let found = entries.into_iter().find(|(known, _)| known.equals(&key));
            found.map(|(_, value)| value).ok_or_else(|| format!("no such key: {}", key.text().unwrap_or_default()).into())
        }
        (Value::Items(items), Value::Int(at)) => {
            let item = usize::try_from(at).ok().and_then(|at| items.get(at));
            item.map(Value::of).ok_or_else(|| format!("index out of bounds: {at}").into())
        }
        (Value::List(mut items), Value::Int(at)) => match usize::try_from(at) {
            Ok(at) if at < items.len() => Ok(items.swap_remove(at)),
            _ => Err(format!("index out of bounds: {at}").into()),
        },
        _ => Err(NO_OVERLOAD),
    }
}

fn binary<'a>(operator: Operator, one: Value<'a>, other: Value<'a>) -> Outcome<'a> {
    let ordered = |wanted: fn(Ordering) -> bool| one.order(&other).map(|order| Value::Bool(wanted(order))).ok_or(NO_OVERLOAD);
    match operator {
        Operator::Equal => Ok(Value::Bool(one.equals(&other))),
        Operator::Unequal => Ok(Value::Bool(!one.equals(&other))),
        Operator::Less => ordered(Ordering::is_lt),
        Operator::AtMost => ordered(Ordering::is_le),
        Operator::Greater => ordered(Ordering::is_gt),
        Operator::AtLeast => ordered(Ordering::is_ge),
        Operator::In => Ok(Value::Bool(other.each()?.iter().any(|item| item.equals(&one)))),
        Operator::Plus | Operator::Minus | Operator::Times | Operator::Over | Operator::Modulo => arithmetic(operator, one, other),
    }
}

fn arithmetic<'a>(operator: Operator, one: Value<'a>, other: Value<'a>) -> Outcome<'a> {
    match (one, other) {
        (Value::Int(one), Value::Int(other)) => {
            let result = match operator {
                Operator::Plus => one.checked_add(other),
                Operator::Minus => one.checked_sub(other),
                Operator::Times => one.checked_mul(other),
                Operator::Over | Operator::Modulo if other == 0 => {
                    return Err(if operator == Operator::Over { "division by zero" } else { "modulus by zero" }.into());
                }
                Operator::Over => one.checked_div(other),
                _ => one.checked_rem(other),
            };
            result.map(Value::Int).ok_or("integer overflow".into())
        }
        (Value::Text(one), Value::Text(other)) if operator == Operator::Plus => Ok(Value::Text(one + other)),
        _ => Err(NO_OVERLOAD),
    }
}
