//! Checks whether a string is JSON, with the errors of Go's `encoding/json`. Returns only the outermost shape.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// The outermost value.
pub enum Shape {
    /// An object: its member names, and whether each value is an array.
    Object(Vec<(String, bool)>),
    /// Any other value.
    Other,
}

/// The maximum depth.
const DEPTH: usize = 10_000;

/// Checks a string and returns its shape.
pub fn shape(text: &[u8]) -> Result<Shape, JsonError> {
    let mut reader = Reader { text, at: 0, open: Vec::new(), members: None };
    reader.value()?;
    while !reader.open.is_empty() {
        reader.step()?;
    }
    reader.blanks();
    match reader.text.get(reader.at) {
        None => Ok(reader.members.map_or(Shape::Other, Shape::Object)),
        Some(_) => Err(reader.unexpected("after top-level value")),
    }
}

/// Why a string is not JSON. Prints the errors of Go's `encoding/json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonError {
    /// The string ends within a value.
    UnexpectedEnd,
    /// An invalid character with its context.
    InvalidCharacter {
        /// The character's first byte.
        byte: u8,
        /// Go's description of the position.
        context: Cow<'static, str>,
    },
    /// Too deep nesting.
    TooDeep,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnexpectedEnd => f.write_str("unexpected end of JSON input"),
            Self::InvalidCharacter { byte: b'\'', context } => write!(f, "invalid character '\\'' {context}"),
            Self::InvalidCharacter { byte, context } => write!(f, "invalid character '{}' {context}", char::from(*byte).escape_default()),
            Self::TooDeep => f.write_str("exceeded max depth"),
        }
    }
}

struct Open {
    is_object: bool,
    /// Whether nothing in it has been read yet.
    fresh: bool,
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    /// The open objects and arrays.
    open: Vec<Open>,
    members: Option<Vec<(String, bool)>>,
}

impl Reader<'_> {
    fn blanks(&mut self) {
        while self.text.get(self.at).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> Option<u8> {
        self.blanks();
        self.text.get(self.at).copied()
    }

    fn unexpected(&self, context: impl Into<Cow<'static, str>>) -> JsonError {
        match self.text.get(self.at) {
            None => JsonError::UnexpectedEnd,
            Some(byte) => JsonError::InvalidCharacter { byte: *byte, context: context.into() },
        }
    }

    /// Reads a scalar, or the start of an object or array.
    fn value(&mut self) -> Result<(), JsonError> {
        match self.peek() {
            Some(byte @ (b'{' | b'[')) => {
                if self.open.len() >= DEPTH {
                    return Err(JsonError::TooDeep);
                }
                self.at += 1;
                if self.open.is_empty() && byte == b'{' {
                    self.members = Some(Vec::new());
                }
                self.open.push(Open { is_object: byte == b'{', fresh: true });
                Ok(())
            }
            Some(b'"') => self.string().map(|_| ()),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            _ => Err(self.unexpected("looking for beginning of value")),
        }
    }

    /// Reads what may follow a value in the innermost object or array.
    fn step(&mut self) -> Result<(), JsonError> {
        let next = self.peek();
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        let (is_object, fresh) = (open.is_object, core::mem::take(&mut open.fresh));
        match (next, is_object) {
            (Some(b','), true) if !fresh => {
                self.at += 1;
                self.member("looking for beginning of object key string")
            }
            (Some(b','), false) if !fresh => {
                self.at += 1;
                self.value()
            }
            (Some(b'}'), true) | (Some(b']'), false) => {
                self.at += 1;
                self.open.pop();
                Ok(())
            }
            (_, true) if fresh => self.member("looking for beginning of object key string"),
            (_, false) if fresh => self.value(),
            (_, true) => Err(self.unexpected("after object key:value pair")),
            (_, false) => Err(self.unexpected("after array element")),
        }
    }

    fn member(&mut self, context: &'static str) -> Result<(), JsonError> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected(context));
        }
        let name = self.string()?;
        if self.peek() != Some(b':') {
            return Err(self.unexpected("after object key"));
        }
        self.at += 1;
        let is_array = self.peek() == Some(b'[');
        if self.open.len() == 1
            && let Some(members) = &mut self.members
        {
            members.push((name, is_array));
        }
        self.value()
    }

    fn string(&mut self) -> Result<String, JsonError> {
        let start = self.at + 1;
        self.at = start;
        loop {
            match self.text.get(self.at) {
                None => return Err(self.unexpected("")),
                Some(b'"') => break,
                Some(b'\\') => {
                    self.at += 1;
                    match self.text.get(self.at) {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
                        Some(b'u') => {
                            self.at += 1;
                            for _ in 0..4 {
                                if !self.text.get(self.at).is_some_and(u8::is_ascii_hexdigit) {
                                    return Err(self.unexpected("in \\u hexadecimal character escape"));
                                }
                                self.at += 1;
                            }
                        }
                        _ => return Err(self.unexpected("in string escape code")),
                    }
                }
                Some(0..=0x1f) => return Err(self.unexpected("in string literal")),
                Some(_) => self.at += 1,
            }
        }
        let text = String::from_utf8_lossy(self.text.get(start..self.at).unwrap_or_default()).to_string();
        self.at += 1;
        Ok(text)
    }

    fn digits(&mut self) -> bool {
        let start = self.at;
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        self.at > start
    }

    fn number(&mut self) -> Result<(), JsonError> {
        if self.text.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        if self.text.get(self.at) == Some(&b'0') {
            self.at += 1;
        } else if !self.digits() {
            return Err(self.unexpected("in numeric literal"));
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            if !self.digits() {
                return Err(self.unexpected("after decimal point in numeric literal"));
            }
        }
        if matches!(self.text.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.text.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if !self.digits() {
                return Err(self.unexpected("in exponent of numeric literal"));
            }
        }
        Ok(())
    }

    fn word(&mut self, word: &str) -> Result<(), JsonError> {
        for expected in word.bytes() {
            if self.text.get(self.at) != Some(&expected) {
                return Err(self.unexpected(format!("in literal {word} (expecting '{}')", char::from(expected))));
            }
            self.at += 1;
        }
        Ok(())
    }
}
