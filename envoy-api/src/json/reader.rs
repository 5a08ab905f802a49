//! Walks through JSON: reads messages, lists and maps, and reports the parts that do not fit.
//!
//! Does not read syntax (see `tokens`), single fields (see `fields`) or messages that are looked up by name (see `any`).

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::tokens::{Start, Stop, Tokens};
use crate::describe::{FieldInfo, MessageInfo};
use crate::pointer::Path;

/// The result of reading a value, or `None` if the input does not fit.
pub(super) type Maybe<T> = Result<Option<T>, Stop>;

/// A message whose fields can be read one by one. The codegen implements it.
pub trait ReadFields {
    /// Reads the field at an index of the message's table.
    fn read_field(&mut self, at: usize, reader: &mut Reader<'_>, field: &'static FieldInfo) -> Result<(), Stop>;
}

/// A value without a field: a message, a scalar, or an element of a list.
pub trait Element: Default {
    /// Whether `null` is a valid value.
    const NULLABLE: bool = false;
    /// Reads the value. Returns `None` after it has reported that the input does not fit.
    fn read(reader: &mut Reader<'_>, field: Option<&'static FieldInfo>) -> Maybe<Self>;
}

/// A part of the input that did not fit and was omitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// A JSON pointer of proto field names.
    pub pointer: String,
    /// The kind of problem.
    pub kind: ProblemKind,
    /// The problem as a sentence.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pointer, self.message)
    }
}

/// The kinds of problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The message has no such field.
    UnknownField,
    /// The type of an `Any` is unknown. The message stays JSON.
    UnknownType,
    /// The enum has no such value.
    UnknownEnumValue,
    /// A value has the wrong type, such as a string instead of a number.
    WrongType,
    /// Two members of one oneof are set.
    OneofTwice,
}

/// The state of one read.
pub struct Reader<'t> {
    pub(super) tokens: Tokens<'t>,
    pub(super) path: Path,
    pub(super) problems: Vec<Problem>,
    /// Whether the next object belongs to an `Any` whose `@type` was already read.
    pub(super) typed: bool,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { tokens: Tokens::new(text), path: Path::default(), problems: Vec::new(), typed: false }
    }

    pub(super) fn problem(&mut self, kind: ProblemKind, message: String) {
        self.problems.push(Problem { pointer: self.path.pointer(), kind, message });
    }

    /// Skips a value of the wrong kind.
    pub(super) fn wrong(&mut self, wanted: &str) -> Result<(), Stop> {
        let found = match self.tokens.start()? {
            Start::Object => "an object",
            Start::List => "a list",
            Start::String => "a string",
            Start::Number => "a number",
            Start::True | Start::False => "a boolean",
            Start::Null => "null",
        };
        self.problem(ProblemKind::WrongType, alloc::format!("must be {wanted}, but is {found}"));
        self.tokens.skip()
    }

    /// Whether the next value is `null`. Skips the `null`.
    pub(super) fn null(&mut self) -> Result<bool, Stop> {
        let null = self.tokens.start()? == Start::Null;
        if null {
            self.tokens.word("null")?;
        }
        Ok(null)
    }

    /// Whether the next value is an object. Skips any other value.
    pub(super) fn is_object(&mut self) -> Result<bool, Stop> {
        let found = self.tokens.start()? == Start::Object;
        if !found {
            self.typed = false;
            self.wrong("an object")?;
        }
        Ok(found)
    }

    /// Reads the next object into a message.
    pub(super) fn object(&mut self, target: &mut dyn ReadFields, info: &'static MessageInfo) -> Result<(), Stop> {
        let typed = core::mem::take(&mut self.typed);
        self.tokens.open()?;
        let (mut first, mut guess, mut oneofs) = (true, 0, 0u64);
        while self.tokens.more(&mut first, b'}')? {
            let key = self.tokens.key()?;
            // Most inputs follow the order of declaration.
            let field = match info.fields.get(guess) {
                Some(field) if field.name() == key => Some(field),
                _ => info.field(&key),
            };
            let Some(field) = field else {
                if !(typed && key == "@type") {
                    self.problem(ProblemKind::UnknownField, alloc::format!("{} has no field {key:?}", info.full_name));
                }
                self.tokens.skip()?;
                continue;
            };
            guess = usize::from(field.index) + 1;
            self.path.field(field);
            if let Some(oneof) = field.oneof_index()
                && self.tokens.start()? != Start::Null
            {
                let bit = 1 << (oneof % 64);
                if oneofs & bit != 0 {
                    let name = info.oneofs.get(oneof).map_or("", |o| o.name);
                    self.problem(ProblemKind::OneofTwice, alloc::format!("another member of the oneof {name} is set too"));
                }
                oneofs |= bit;
            }
            target.read_field(usize::from(field.index), self, field)?;
            self.path.leave();
        }
        Ok(())
    }

    /// Reads a list, each element by the call. Like Envoy, treats a single element as a list with one element.
    pub(super) fn list(&mut self, each: &mut dyn FnMut(&mut Self) -> Result<(), Stop>) -> Result<(), Stop> {
        match self.tokens.start()? {
            Start::Null => return self.tokens.word("null"),
            Start::List => self.tokens.open()?,
            _ => return each(self),
        }
        let (mut first, mut index) = (true, 0);
        while self.tokens.more(&mut first, b']')? {
            self.path.index(index);
            each(self)?;
            self.path.leave();
            index += 1;
        }
        Ok(())
    }

    /// Reads an object with arbitrary keys, the value of each by the call.
    pub(super) fn map(&mut self, each: &mut dyn FnMut(&mut Self, &str) -> Result<(), Stop>) -> Result<(), Stop> {
        match self.tokens.start()? {
            Start::Null => return self.tokens.word("null"),
            Start::Object => self.tokens.open()?,
            _ => return self.wrong("an object"),
        }
        let mut first = true;
        while self.tokens.more(&mut first, b'}')? {
            let text = self.tokens.key()?;
            self.path.key(crate::describe::Value::String(&text));
            each(self, &text)?;
            self.path.leave();
        }
        Ok(())
    }
}
