//! The reader: JSON into messages, with a report of what did not fit.
//!
//! Here: the walk, and what is special about `Any`. Not here: syntax (`tokens`), and how a single field is read (`fields`).

use alloc::borrow::Cow;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;

use super::fields::{Element, ReadFields};
use super::tokens::{Start, Stop, SyntaxError, Tokens};
use crate::Any;
use crate::describe::{MessageInfo, Reflect};
use crate::pointer::Path;
use crate::registry;

/// A message that was read.
#[derive(Clone, Debug)]
pub struct Read<M> {
    /// What could be read.
    pub message: M,
    /// What could not, in the order of the text.
    pub problems: Vec<Problem>,
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

/// What can be read. Every message is.
pub trait Readable: Element + Reflect {}

impl<M: Element + Reflect> Readable for M {}

/// Reads a message.
///
/// # Errors
///
/// The text is not JSON. JSON that does not fit the message is no error, but a [`Problem`].
pub fn from_str<M: Readable>(text: &str) -> Result<Read<M>, SyntaxError> {
    Reader::new(text).all(|reader| Ok(M::read(reader, None)?.unwrap_or_default()))
}

/// Reads a message whose type stands in its `@type`.
///
/// # Errors
///
/// The text is not JSON.
pub fn any_from_str(text: &str) -> Result<Read<Any>, SyntaxError> {
    from_str(text)
}

/// Reads a message of the type that has this full name; `None` where no such type is known.
///
/// # Errors
///
/// The text is not JSON.
pub fn named_from_str(type_name: &str, text: &str) -> Result<Option<Read<Any>>, SyntaxError> {
    let Some(entry) = registry::find(type_name) else {
        return Ok(None);
    };
    Reader::new(text).all(|reader| entry.read(reader)).map(Some)
}

/// The state of one read.
pub struct Reader<'t> {
    pub(super) tokens: Tokens<'t>,
    pub(super) path: Path,
    problems: Vec<Problem>,
    /// Whether the object that comes next is an `Any`'s, whose `@type` has been seen.
    typed: bool,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        Self { tokens: Tokens::new(text), path: Path::default(), problems: Vec::new(), typed: false }
    }

    /// Reads all of the text.
    fn all<M>(mut self, read: impl FnOnce(&mut Self) -> Result<M, Stop>) -> Result<Read<M>, SyntaxError> {
        match read(&mut self).and_then(|message| self.tokens.end().map(|()| message)) {
            Ok(message) => Ok(Read { message, problems: self.problems }),
            Err(Stop) => Err(self.tokens.syntax_error()),
        }
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

    /// Reads an `Any`.
    pub(super) fn any(&mut self) -> Result<Option<Any>, Stop> {
        if self.tokens.start()? != Start::Object {
            self.wrong("an object")?;
            return Ok(None);
        }
        let Some(url) = self.type_url()? else {
            let empty = self.tokens.raw()? == "{}";
            if !empty {
                self.problem(ProblemKind::WrongType, "must have an \"@type\"".to_string());
            }
            return Ok(empty.then(Any::default));
        };
        let name = url.rsplit('/').next().unwrap_or_default();
        match registry::find(name) {
            Some(entry) if entry.is_message() => {
                self.typed = true;
                entry.read(self).map(Some)
            }
            Some(entry) => self.any_value(entry).map(Some),
            None => {
                self.problem(ProblemKind::UnknownType, alloc::format!("{name:?} is not a known type"));
                let fields = self.tokens.raw()?;
                Ok(Some(Any::unknown_json(url.into_owned(), fields)))
            }
        }
    }

    /// The `@type` of the object that comes next, wherever in it that stands.
    fn type_url(&mut self) -> Result<Option<Cow<'t, str>>, Stop> {
        fn found<'t>(ahead: &mut Tokens<'t>) -> Result<Option<Cow<'t, str>>, Stop> {
            ahead.open()?;
            let mut first = true;
            while ahead.more(&mut first, b'}')? {
                if ahead.key()? == "@type" && ahead.start()? == Start::String {
                    return ahead.string().map(Some);
                }
                ahead.skip()?;
            }
            Ok(None)
        }
        let mut ahead = self.tokens.clone();
        let url = found(&mut ahead);
        if url.is_err() {
            self.tokens = ahead;
        }
        url
    }

    /// The member `value` of an `Any` whose type is written as something else than an object.
    fn any_value(&mut self, entry: &'static registry::Entry) -> Result<Any, Stop> {
        let mut found = None;
        self.tokens.open()?;
        let mut first = true;
        while self.tokens.more(&mut first, b'}')? {
            if self.tokens.key()? == "value" {
                self.path.name("value");
                found = Some(entry.read(self)?);
                self.path.leave();
            } else {
                self.tokens.skip()?;
            }
        }
        Ok(found.unwrap_or_else(|| entry.empty()))
    }
}
