//! Reads flow collections and quoted scalars for the fast reader.

use alloc::string::String;

use super::{GiveUp, MAX_KEY, PlainEnd, Read, Reader};
use crate::{Str, Value};

impl Reader<'_> {
    /// Reads a single-line quoted scalar, including its closing quote.
    pub fn quoted(&mut self, quote: u8) -> Read<Str> {
        self.at += 1;
        let start = self.at;
        let rest = &self.bytes[start..];
        if quote == b'\'' {
            let len = memchr::memchr2(b'\'', b'\n', rest).filter(|len| rest[*len] == b'\'').ok_or(GiveUp)?;
            if rest.get(len + 1) == Some(&b'\'') {
                return Err(GiveUp);
            }
            self.at = start + len + 1;
            return Ok(Str::new(&self.text[start..start + len]));
        }
        let len = memchr::memchr3(b'"', b'\\', b'\n', rest).ok_or(GiveUp)?;
        match rest[len] {
            b'"' => {
                self.at = start + len + 1;
                Ok(Str::new(&self.text[start..start + len]))
            }
            b'\\' => self.escaped(start, start + len),
            _ => Err(GiveUp),
        }
    }

    /// Reads a double-quoted scalar with simple escapes, starting with the one at `at`.
    fn escaped(&mut self, start: usize, mut at: usize) -> Read<Str> {
        let mut value = String::from(&self.text[start..at]);
        loop {
            match self.peek_at(at).ok_or(GiveUp)? {
                b'"' => {
                    self.at = at + 1;
                    return Ok(Str::from(value));
                }
                b'\\' => {
                    value.push(match self.peek_at(at + 1) {
                        Some(b'n') => '\n',
                        Some(b't') => '\t',
                        Some(b'r') => '\r',
                        Some(b'"') => '"',
                        Some(b'\\') => '\\',
                        Some(b'/') => '/',
                        _ => return Err(GiveUp),
                    });
                    at += 2;
                }
                _ => {
                    let len = memchr::memchr3(b'"', b'\\', b'\n', &self.bytes[at..]).ok_or(GiveUp)?;
                    if len == 0 {
                        return Err(GiveUp);
                    }
                    value.push_str(&self.text[at..at + len]);
                    at += len;
                }
            }
        }
    }

    /// Skips spaces and line breaks within brackets. Leaves comments and document markers to the full parser.
    fn flow_gap(&mut self) -> Read {
        loop {
            self.skip_spaces();
            if self.peek() != Some(b'\n') {
                break;
            }
            self.at += 1;
            self.no_marker(0)?;
        }
        if matches!(self.peek(), None | Some(b'#')) { Err(GiveUp) } else { Ok(()) }
    }

    /// Reads a flow collection, including its closing bracket.
    pub(super) fn flow(&mut self) -> Read {
        self.enter()?;
        let start = self.at;
        let is_object = self.bytes[start] == b'{';
        let close = if is_object { b'}' } else { b']' };
        self.builder.begin(start as u32, is_object, 0)?;
        self.at += 1;
        self.flow_gap()?;
        while self.peek() != Some(close) {
            if is_object {
                self.flow_key()?;
                self.flow_gap()?;
            }
            self.flow_value()?;
            self.flow_gap()?;
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    self.flow_gap()?;
                }
                Some(b) if b == close => {}
                _ => return Err(GiveUp),
            }
        }
        self.at += 1;
        self.depth -= 1;
        self.builder.end(Some(self.at as u32))?;
        Ok(())
    }

    /// Reads a key within brackets, including its colon.
    fn flow_key(&mut self) -> Read {
        let start = self.at;
        if let Some(quote @ (b'"' | b'\'')) = self.peek() {
            let key = self.quoted(quote)?;
            let end = self.at;
            self.skip_spaces();
            if self.peek() != Some(b':') || end - start > MAX_KEY {
                return Err(GiveUp);
            }
            self.at += 1;
            return Ok(self.builder.value(Self::range(start, end), Value::String(key), 0)?);
        }
        let (end, PlainEnd::Colon(colon)) = self.plain_extent(true)? else { return Err(GiveUp) };
        if colon - start > MAX_KEY {
            return Err(GiveUp);
        }
        self.builder.plain(Self::range(start, end), &self.text[start..end], 0)?;
        self.at = colon + 1;
        Ok(())
    }

    fn flow_value(&mut self) -> Read {
        let start = self.at;
        match self.peek() {
            Some(b'{' | b'[') => self.flow(),
            Some(quote @ (b'"' | b'\'')) => {
                let value = self.quoted(quote)?;
                Ok(self.builder.value(Self::range(start, self.at), Value::String(value), 0)?)
            }
            _ => {
                let (end, how) = self.plain_extent(true)?;
                if matches!(how, PlainEnd::Colon(_)) {
                    return Err(GiveUp);
                }
                self.builder.plain(Self::range(start, end), &self.text[start..end], 0)?;
                self.at = end;
                Ok(())
            }
        }
    }
}
