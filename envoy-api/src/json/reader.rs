//! The walk through a text: what a message, a list and a map are, and what did not fit.
//!
//! Not here: syntax (`tokens`), how a single field is read (`fields`), and messages that are found by their names (`any`).

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::tokens::{Start, Stop, Tokens};
use crate::describe::{FieldInfo, MessageInfo};
use crate::pointer::Path;

/// What reading a value gives; `None` where the text does not fit.
pub(super) type Maybe<T> = Result<Option<T>, Stop>;

/// A message whose fields can be read one by one. The codegen implements it.
pub trait ReadFields {
    /// Reads the field at a place of the message's table.
    fn read_field(&mut self, at: usize, reader: &mut Reader<'_>, field: &'static FieldInfo) -> Result<(), Stop>;
}

/// A value that stands alone: a message, a scalar, an element of a list.
pub trait Element: Default {
    /// Whether `null` is a value of its own.
    const NULLABLE: bool = false;
    /// Reads it; `None` where the text does not fit, which has been reported then.
    fn read(reader: &mut Reader<'_>, field: Option<&'static FieldInfo>) -> Maybe<Self>;
}

/// A part of the text that did not fit, and was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where, as a JSON pointer of proto field names.
    pub pointer: String,
    /// What kind of misfit.
    pub kind: ProblemKind,
    /// In words.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pointer, self.message)
    }
}

/// The kinds of misfit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The message has no such field.
    UnknownField,
    /// An `Any` of a type that is not known. It is kept as JSON.
    UnknownType,
    /// The enum has no such value.
    UnknownEnumValue,
    /// A string where a number belongs, and the like.
    WrongType,
    /// Two members of one oneof.
    OneofTwice,
}

/// The state of one read.
pub struct Reader<'t> {
    pub(super) tokens: Tokens<'t>,
    pub(super) path: Path,
    pub(super) problems: Vec<Problem>,
    /// Whether the object that comes next is an `Any`'s, whose `@type` has been seen.
    pub(super) typed: bool,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { tokens: Tokens::new(text), path: Path::default(), problems: Vec::new(), typed: false }
    }

    pub(super) fn problem(&mut self, kind: ProblemKind, message: String) {
        self.problems.push(Problem { pointer: self.path.pointer(), kind, message });
    }

    /// Passes over a value of the wrong kind.
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

    /// Whether the next value is `null`, which it passes over.
    pub(super) fn null(&mut self) -> Result<bool, Stop> {
        let null = self.tokens.start()? == Start::Null;
        if null {
            self.tokens.word("null")?;
        }
        Ok(null)
    }

    /// Whether the next value is an object; passes over any other.
    pub(super) fn is_object(&mut self) -> Result<bool, Stop> {
        let found = self.tokens.start()? == Start::Object;
        if !found {
            self.typed = false;
            self.wrong("an object")?;
        }
        Ok(found)
    }

    /// Reads the object that comes next into a message.
    pub(super) fn object(&mut self, target: &mut dyn ReadFields, info: &'static MessageInfo) -> Result<(), Stop> {
        let typed = core::mem::take(&mut self.typed);
        self.tokens.open()?;
        let (mut first, mut guess, mut oneofs) = (true, 0, 0u64);
        while self.tokens.more(&mut first, b'}')? {
            let key = self.tokens.key()?;
            // Most texts follow the order of declaration.
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

    /// Reads a list, each element by the call; a single element is taken for a list of one, as Envoy does.
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

    /// Reads an object of any keys, the value of each by the call.
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
