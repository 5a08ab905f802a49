//! Reads JSON as tokens, on demand.
//!
//! Contains the syntax. Does not interpret values; see `reader`.

use alloc::borrow::Cow;
use alloc::string::{String, ToString as _};
use core::fmt;

/// The maximum depth of nested values.
const MAX_DEPTH: usize = 200;

/// The input is not JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The number of bytes before the error.
    pub offset: usize,
    /// The error as a sentence.
    pub message: String,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.message)
    }
}

impl core::error::Error for SyntaxError {}

/// The input is not JSON; [`Tokens::syntax_error`] returns the place and the reason. This type is empty because hundreds of fields pass it on.
#[derive(Clone, Copy, Debug)]
pub struct Stop;

/// The kind of a value, detected from its first byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    Object,
    List,
    String,
    Number,
    True,
    False,
    Null,
}

/// A position in the input.
#[derive(Clone, Debug)]
pub struct Tokens<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    failed: Option<SyntaxError>,
}

impl<'t> Tokens<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { text, at: 0, depth: 0, failed: None }
    }

    /// Returns the error after a [`Stop`].
    pub fn syntax_error(self) -> SyntaxError {
        self.failed.unwrap_or_else(|| SyntaxError { offset: self.at, message: "this is not JSON".to_string() })
    }

    fn error<T>(&mut self, message: &str) -> Result<T, Stop> {
        self.failed = Some(SyntaxError { offset: self.at, message: message.to_string() });
        Err(Stop)
    }

    fn blanks(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn byte(&mut self) -> Option<u8> {
        self.blanks();
        self.text.as_bytes().get(self.at).copied()
    }

    /// Detects the kind of the next value.
    pub fn start(&mut self) -> Result<Start, Stop> {
        Ok(match self.byte() {
            Some(b'{') => Start::Object,
            Some(b'[') => Start::List,
            Some(b'"') => Start::String,
            Some(b'-' | b'0'..=b'9') => Start::Number,
            Some(b't') => Start::True,
            Some(b'f') => Start::False,
            Some(b'n') => Start::Null,
            Some(_) => return self.error("a value was expected"),
            None => return self.error("the text ends where a value was expected"),
        })
    }

    /// After the last value.
    pub fn end(&mut self) -> Result<(), Stop> {
        if self.byte().is_some() { self.error("there is text after the value") } else { Ok(()) }
    }

    /// Enters an object or a list. `start` has already detected it.
    pub fn open(&mut self) -> Result<(), Stop> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.error("the values lie too deep in one another");
        }
        self.at += 1;
        Ok(())
    }

    /// Whether there is another member or element; leaves the object or list if there is none.
    pub fn more(&mut self, first: &mut bool, close: u8) -> Result<bool, Stop> {
        let found = self.byte();
        if found == Some(close) {
            self.at += 1;
            self.depth -= 1;
            return Ok(false);
        }
        if !core::mem::replace(first, false) {
            if found != Some(b',') {
                return self.error("a comma was expected");
            }
            self.at += 1;
            if self.byte() == Some(close) {
                return self.error("a value was expected after the comma");
            }
        }
        Ok(true)
    }

    /// The key of a member, with its colon.
    pub fn key(&mut self) -> Result<Cow<'t, str>, Stop> {
        if self.byte() != Some(b'"') {
            return self.error("a key was expected");
        }
        let key = self.string()?;
        if self.byte() != Some(b':') {
            return self.error("a colon was expected");
        }
        self.at += 1;
        Ok(key)
    }

    /// Reads a string. `start` has already detected it.
    pub fn string(&mut self) -> Result<Cow<'t, str>, Stop> {
        self.at += 1;
        let mut from = self.at;
        let mut out = String::new();
        let (text, bytes) = (self.text, self.text.as_bytes());
        loop {
            match bytes.get(self.at) {
                Some(b'"') => {
                    let last = &text[from..self.at];
                    self.at += 1;
                    if out.is_empty() {
                        return Ok(Cow::Borrowed(last));
                    }
                    out.push_str(last);
                    return Ok(Cow::Owned(out));
                }
                Some(b'\\') => {
                    out.push_str(&text[from..self.at]);
                    let c = self.escape()?;
                    out.push(c);
                    from = self.at;
                }
                Some(0..0x20) => return self.error("a string contains a control character"),
                Some(_) => self.at += 1,
                None => return self.error("the text ends in a string"),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Stop> {
        let kind = self.text.as_bytes().get(self.at + 1).copied();
        self.at += 2;
        Ok(match kind {
            Some(b @ (b'"' | b'\\' | b'/')) => char::from(b),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let high = self.hex()?;
                if !(0xd800..0xdc00).contains(&high) {
                    return Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                if !self.text[self.at..].starts_with("\\u") {
                    return Ok(char::REPLACEMENT_CHARACTER);
                }
                self.at += 2;
                let low = self.hex()?;
                let joined = 0x10000 + ((high - 0xd800) << 10) + (low.wrapping_sub(0xdc00) & 0x3ff);
                char::from_u32(joined).filter(|_| (0xdc00..0xe000).contains(&low)).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => {
                self.at -= 2;
                return self.error("an unknown escape");
            }
        })
    }

    fn hex(&mut self) -> Result<u32, Stop> {
        let digits = self.text.get(self.at..self.at + 4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        match digits.and_then(|d| u32::from_str_radix(d, 16).ok()) {
            Some(value) => {
                self.at += 4;
                Ok(value)
            }
            None => self.error("four hexadecimal digits were expected"),
        }
    }

    /// Reads the digits of a number. `start` has already detected it.
    pub fn number(&mut self) -> Result<&'t str, Stop> {
        let from = self.at;
        let rest = &self.text[from..];
        let len = rest.bytes().position(|b| !matches!(b, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')).unwrap_or(rest.len());
        let number = &rest[..len];
        let digits = number.strip_prefix('-').unwrap_or(number);
        let zero = digits.starts_with('0') && digits.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        if zero || number.parse::<f64>().is_err() {
            return self.error("a malformed number");
        }
        self.at += len;
        Ok(number)
    }

    /// Reads `true`, `false` or `null`. `start` has already detected which.
    pub fn word(&mut self, word: &str) -> Result<(), Stop> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            Ok(())
        } else {
            self.error("a value was expected")
        }
    }

    /// Skips one value.
    pub fn skip(&mut self) -> Result<(), Stop> {
        match self.start()? {
            Start::String => self.string().map(drop),
            Start::Number => self.number().map(drop),
            Start::True => self.word("true"),
            Start::False => self.word("false"),
            Start::Null => self.word("null"),
            Start::Object => {
                self.open()?;
                let mut first = true;
                while self.more(&mut first, b'}')? {
                    self.key()?;
                    self.skip()?;
                }
                Ok(())
            }
            Start::List => {
                self.open()?;
                let mut first = true;
                while self.more(&mut first, b']')? {
                    self.skip()?;
                }
                Ok(())
            }
        }
    }

    /// Skips one value and returns it without blanks.
    pub fn raw(&mut self) -> Result<String, Stop> {
        self.blanks();
        let from = self.at;
        self.skip()?;
        let mut out = String::with_capacity(self.at - from);
        let (mut quoted, mut escaped) = (false, false);
        for c in self.text[from..self.at].chars() {
            if quoted {
                quoted = escaped || c != '"';
                escaped = c == '\\' && !escaped;
            } else if c.is_ascii_whitespace() {
                continue;
            } else {
                quoted = c == '"';
            }
            out.push(c);
        }
        Ok(out)
    }
}
