//! The fast reader: handles the common subset of YAML, several times as fast as the full parser.
//!
//! It reads block objects and lists, flow collections, single-line plain and quoted scalars, literal block scalars, and comments. On anything else,
//! and on any possible error, it gives up, and the full parser reads the whole document. It must never read a text differently, and it never
//! reports a problem.

mod flow;

use alloc::string::String;

use super::{
    Document, Limits, Str, TextRange, Value,
    build::{Builder, Stop},
};

/// The full parser must read the document.
struct GiveUp;

impl From<Stop> for GiveUp {
    fn from(_: Stop) -> Self {
        Self
    }
}

type Read<T = ()> = Result<T, GiveUp>;

/// Reads one document, or gives up.
pub(super) fn parse(text: &str, limits: &Limits) -> Option<Document> {
    if !is_harmless(text.as_bytes()) {
        return None;
    }
    let builder = Builder::new(limits, text);
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, builder, depth: 0 };
    match reader.document() {
        Ok(()) => Some(reader.builder.finish()),
        Err(GiveUp) => None,
    }
}

/// The maximum depth; the full parser goes deeper.
const MAX_DEPTH: u32 = 48;

/// Longer keys have special rules.
const MAX_KEY: usize = 256;

/// Whether the text has no tabs, carriage returns, control characters, or Unicode characters that YAML treats specially.
fn is_harmless(bytes: &[u8]) -> bool {
    // Any byte below a space except `\n`, and any start of U+007F..U+00A0, U+2028, U+2029, U+FEFF, U+FFFE, U+FFFF.
    const SUSPECT: [bool; 256] = {
        let mut table = [false; 256];
        let mut at = 0;
        while at < 0x20 {
            table[at] = at != b'\n' as usize;
            at += 1;
        }
        table[0x7f] = true;
        table[0xc2] = true;
        table[0xe2] = true;
        table[0xef] = true;
        table
    };
    bytes.iter().enumerate().filter(|(_, b)| SUSPECT[**b as usize]).all(|(at, b)| match b {
        0xc2 => bytes.get(at + 1).is_some_and(|next| *next > 0xa0),
        0xe2 => bytes.get(at + 1).is_some_and(|next| *next != 0x80) || bytes.get(at + 2).is_some_and(|next| !matches!(*next, 0xa8 | 0xa9)),
        _ => false,
    })
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    builder: Builder<'a>,
    depth: u32,
}

/// How a plain scalar ends.
#[derive(PartialEq, Eq)]
enum PlainEnd {
    /// At the end of its line, or at a comment.
    Line,
    /// At a `:` with this offset.
    Colon(usize),
    /// At a bracket or a comma.
    Flow,
}

impl Reader<'_> {
    fn document(&mut self) -> Read {
        let mut column = self.next_content();
        if column == Some(0) && self.bytes[self.at..].starts_with(b"---") {
            self.at += 3;
            self.end_of_line()?;
            column = self.next_content();
        }
        let Some(column) = column else { return Ok(()) };
        self.no_marker(column)?;
        self.node(column, None)?;
        match self.next_content() {
            None => Ok(()),
            Some(_) => Err(GiveUp),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn peek_at(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn skip_spaces(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    /// Whether a space, a line break or the end of the text follows.
    fn is_gap(&self, at: usize) -> bool {
        matches!(self.peek_at(at), None | Some(b' ' | b'\n'))
    }

    fn end_of(&self, from: usize) -> usize {
        memchr::memchr(b'\n', &self.bytes[from..]).map_or(self.bytes.len(), |at| from + at)
    }

    fn range(start: usize, end: usize) -> TextRange {
        TextRange { start: start as u32, end: end as u32 }
    }

    /// Skips blank lines and comments from the start of a line, and returns the column of the next content.
    fn next_content(&mut self) -> Option<u32> {
        loop {
            let line = self.at;
            self.skip_spaces();
            match self.peek() {
                None => return None,
                Some(b'\n') => self.at += 1,
                Some(b'#') => self.comment(true),
                Some(_) => return Some((self.at - line) as u32),
            }
        }
    }

    /// Reads a comment with its line break.
    fn comment(&mut self, own_line: bool) {
        let end = self.end_of(self.at);
        self.builder.comment(Self::range(self.at, end), own_line);
        self.at = (end + 1).min(self.bytes.len());
    }

    /// Skips the rest of a line, which may only contain spaces and a comment.
    fn end_of_line(&mut self) -> Read {
        let before = self.at;
        self.skip_spaces();
        match self.peek() {
            None => {}
            Some(b'\n') => self.at += 1,
            Some(b'#') if self.at > before => self.comment(false),
            Some(_) => return Err(GiveUp),
        }
        Ok(())
    }

    /// The column of the next content, without moving.
    fn look_ahead(&self) -> Option<(u32, usize)> {
        let mut at = self.at;
        loop {
            let line = at;
            while self.peek_at(at) == Some(b' ') {
                at += 1;
            }
            match self.peek_at(at)? {
                b'\n' => at += 1,
                b'#' => at = self.end_of(at),
                _ => return Some(((at - line) as u32, at)),
            }
        }
    }

    fn enter(&mut self) -> Read {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(GiveUp) } else { Ok(()) }
    }

    fn is_dash(&self) -> bool {
        self.peek() == Some(b'-') && self.is_gap(self.at + 1)
    }

    /// Reads a value that starts here at `column`; `parent` is the column of the containing object or list. Stops at a line's start.
    fn node(&mut self, column: u32, parent: Option<u32>) -> Read {
        match self.peek() {
            Some(b'-') if self.is_gap(self.at + 1) => self.list(column),
            Some(b'{' | b'[') => {
                self.flow()?;
                self.end_of_line()
            }
            Some(quote @ (b'"' | b'\'')) => {
                let start = self.at;
                let value = self.quoted(quote)?;
                let end = self.at;
                self.skip_spaces();
                if self.peek() == Some(b':') && self.is_gap(self.at + 1) && end - start <= MAX_KEY {
                    self.at = start;
                    return self.object(column);
                }
                self.at = end;
                self.builder.value(Self::range(start, end), Value::String(value), 0)?;
                self.end_of_line()?;
                self.no_continuation(parent)
            }
            Some(b'|') => self.literal(parent),
            _ => {
                let start = self.at;
                let (end, how) = self.plain_extent(false)?;
                match how {
                    PlainEnd::Colon(_) => self.object(column),
                    _ => {
                        self.builder.plain(Self::range(start, end), &self.text[start..end], 0)?;
                        self.at = end;
                        self.end_of_line()?;
                        self.no_continuation(parent)
                    }
                }
            }
        }
    }

    /// Gives up if the scalar continues on the next line with content.
    fn no_continuation(&self, parent: Option<u32>) -> Read {
        match (self.look_ahead(), parent) {
            (Some((column, _)), Some(parent)) if column <= parent => Ok(()),
            (None, _) => Ok(()),
            _ => Err(GiveUp),
        }
    }

    fn object(&mut self, column: u32) -> Read {
        self.enter()?;
        self.builder.begin(self.at as u32, true, 0)?;
        loop {
            self.key()?;
            let colon = self.at;
            self.at += 1;
            self.skip_spaces();
            match self.peek() {
                None | Some(b'\n' | b'#') => {
                    self.at = colon + 1;
                    self.end_of_line()?;
                    match self.next_content() {
                        Some(inner) if inner > column => self.node(inner, Some(column))?,
                        // A list may have its key's column.
                        Some(inner) if inner == column && self.is_dash() => self.list(column)?,
                        next => {
                            self.builder.plain(Self::range(colon + 1, colon + 1), "", 0)?;
                            if next != Some(column) {
                                return self.leave(next);
                            }
                            self.no_marker(column)?;
                            continue;
                        }
                    }
                }
                Some(_) => self.value_after_key(column)?,
            }
            let next = self.next_content();
            if next != Some(column) || self.is_dash() {
                return self.leave(next);
            }
            self.no_marker(column)?;
        }
    }

    /// Ends the object or list because the next content is less indented.
    fn leave(&mut self, next: Option<u32>) -> Read {
        self.depth -= 1;
        self.builder.end(None)?;
        // Returns to the start of the line, since the caller reads its column again; earlier comments are already read.
        if let Some(column) = next {
            self.at -= column as usize;
        }
        Ok(())
    }

    fn no_marker(&self, column: u32) -> Read {
        let rest = &self.bytes[self.at..];
        if column == 0 && (rest.starts_with(b"---") || rest.starts_with(b"...")) { Err(GiveUp) } else { Ok(()) }
    }

    fn list(&mut self, column: u32) -> Read {
        self.enter()?;
        self.builder.begin(self.at as u32, false, 0)?;
        loop {
            let dash = self.at;
            self.at += 1;
            self.skip_spaces();
            match self.peek() {
                None | Some(b'\n' | b'#') => {
                    self.at = dash + 1;
                    self.end_of_line()?;
                    match self.next_content() {
                        Some(inner) if inner > column => self.node(inner, Some(column))?,
                        next => {
                            self.builder.plain(Self::range(dash + 1, dash + 1), "", 0)?;
                            if next != Some(column) || !self.is_dash() {
                                return self.leave(next);
                            }
                            continue;
                        }
                    }
                }
                Some(_) => {
                    let inner = column + (self.at - dash) as u32;
                    self.node(inner, Some(column))?;
                }
            }
            let next = self.next_content();
            if next != Some(column) || !self.is_dash() {
                return self.leave(next);
            }
        }
    }

    /// Reads a key up to its colon.
    fn key(&mut self) -> Read {
        let start = self.at;
        if let Some(quote @ (b'"' | b'\'')) = self.peek() {
            let key = self.quoted(quote)?;
            let range = Self::range(start, self.at);
            self.skip_spaces();
            if self.peek() != Some(b':') || !self.is_gap(self.at + 1) || range.len() as usize > MAX_KEY {
                return Err(GiveUp);
            }
            self.builder.value(range, Value::String(key), 0)?;
            return Ok(());
        }
        match self.plain_extent(false)? {
            (end, PlainEnd::Colon(colon)) if colon - start <= MAX_KEY => {
                self.builder.plain(Self::range(start, end), &self.text[start..end], 0)?;
                self.at = colon;
                Ok(())
            }
            _ => Err(GiveUp),
        }
    }

    /// Reads a value on its key's line.
    fn value_after_key(&mut self, column: u32) -> Read {
        match self.peek() {
            Some(b'{' | b'[') => {
                self.flow()?;
                self.end_of_line()
            }
            Some(quote @ (b'"' | b'\'')) => {
                let start = self.at;
                let value = self.quoted(quote)?;
                self.builder.value(Self::range(start, self.at), Value::String(value), 0)?;
                self.end_of_line()?;
                self.no_continuation(Some(column))
            }
            Some(b'|') => self.literal(Some(column)),
            _ => {
                let start = self.at;
                let (end, PlainEnd::Line) = self.plain_extent(false)? else { return Err(GiveUp) };
                self.builder.plain(Self::range(start, end), &self.text[start..end], 0)?;
                self.at = end;
                self.end_of_line()?;
                self.no_continuation(Some(column))
            }
        }
    }

    /// The end of a plain scalar that starts here.
    fn plain_extent(&self, in_flow: bool) -> Read<(usize, PlainEnd)> {
        /// Bytes that may matter within a plain scalar.
        const STOPS: [u8; 256] = {
            let mut table = [0; 256];
            table[b'\n' as usize] = 1;
            table[b':' as usize] = 1;
            table[b'#' as usize] = 1;
            table[b',' as usize] = 2;
            table[b'[' as usize] = 2;
            table[b']' as usize] = 2;
            table[b'{' as usize] = 2;
            table[b'}' as usize] = 2;
            table
        };
        let start = self.at;
        let first = self.peek().ok_or(GiveUp)?;
        let begins_well = match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'$' | b'^' | b'(' | b'+' | b'\\' | b'~' | b'=' | b'<' | b';' | 0x80.. => {
                true
            }
            b'-' => self.peek_at(start + 1).is_some_and(|b| b.is_ascii_alphanumeric() || b == b'.'),
            _ => false,
        };
        if !begins_well {
            return Err(GiveUp);
        }
        let reach = if in_flow { 2 } else { 1 };
        let mut at = start;
        let (end, how) = loop {
            let Some(b) = self.peek_at(at) else { break (at, PlainEnd::Line) };
            let stop = STOPS[b as usize];
            if stop == 0 || stop > reach {
                at += 1;
                continue;
            }
            match b {
                b'\n' => break (at, PlainEnd::Line),
                b'#' if self.bytes[at - 1] != b' ' => at += 1,
                b'#' => break (at, PlainEnd::Line),
                b':' if self.is_gap(at + 1) => break (at, PlainEnd::Colon(at)),
                // The full parser decides the meaning of a colon before a bracket.
                b':' if in_flow && matches!(self.peek_at(at + 1), Some(b',' | b'[' | b']' | b'{' | b'}')) => return Err(GiveUp),
                b':' => at += 1,
                _ => break (at, PlainEnd::Flow),
            }
        };
        let end = start + self.bytes[start..end].iter().rposition(|b| *b != b' ').map_or(0, |last| last + 1);
        Ok((end, how))
    }

    /// Reads a literal block scalar without an indentation indicator.
    fn literal(&mut self, parent: Option<u32>) -> Read {
        let start = self.at;
        self.at += 1;
        let chomp = self.peek().filter(|b| matches!(b, b'-' | b'+'));
        self.at += usize::from(chomp.is_some());
        let header_end = self.at;
        self.skip_spaces();
        if self.peek() != Some(b'\n') {
            return Err(GiveUp);
        }
        self.at += 1;
        // The first line with content sets the indentation.
        let least = parent.map_or(0, |column| column as usize + 1);
        let (mut at, mut indent) = (self.at, 0);
        while indent == 0 {
            let content = self.bytes[at..].iter().take_while(|b| **b == b' ').count();
            match self.peek_at(at + content) {
                // A blank line before the content, or no content.
                None | Some(b'\n') => return Err(GiveUp),
                Some(_) if content < least.max(1) => return Err(GiveUp),
                Some(_) => indent = content,
            }
        }
        let mut value = String::new();
        let mut end = header_end;
        let mut blank = 0;
        loop {
            let line_end = self.end_of(at);
            let line = &self.bytes[at..line_end];
            let lead = line.iter().take(indent).take_while(|b| **b == b' ').count();
            if lead == line.len() && lead <= indent && line.len() <= indent {
                // A blank line, except at the end of the text.
                if at >= self.bytes.len() {
                    break;
                }
                blank += 1;
                if line_end == self.bytes.len() {
                    return Err(GiveUp);
                }
            } else if lead < indent {
                // Less indented: the scalar ends.
                if lead >= least {
                    return Err(GiveUp);
                }
                break;
            } else {
                value.extend(core::iter::repeat_n('\n', blank));
                blank = 0;
                value.push_str(&self.text[at + indent..line_end]);
                end = at + indent + self.text[at + indent..line_end].trim_ascii_end().len();
                if end == at + indent {
                    return Err(GiveUp);
                }
                if line_end == self.bytes.len() {
                    // No final line break.
                    return Err(GiveUp);
                }
                value.push('\n');
            }
            at = line_end + 1;
        }
        match chomp {
            Some(b'-') => {
                value.pop();
            }
            Some(_) => value.extend(core::iter::repeat_n('\n', blank)),
            None => {}
        }
        self.at = at.min(self.bytes.len());
        self.builder.value(Self::range(start, end), Value::String(Str::from(value)), 0)?;
        Ok(())
    }
}
