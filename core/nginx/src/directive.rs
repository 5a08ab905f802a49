//! Represents nginx's directives, each with its origin. Formats them as text, and parses them from snippets.
//!
//! Does not know which directives the controller writes; see `template`. Does not run them; see `simulate`.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// A directive: its name, its arguments and its block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Directive {
    pub name: Str,
    /// The arguments, without quotes.
    pub args: Vec<Str>,
    /// The block, if the directive has one.
    pub block: Option<Vec<Directive>>,
    pub origin: Option<Origin>,
}

impl Directive {
    /// Builds a directive without a block.
    pub fn new<A: Into<Str>>(name: &'static str, args: impl IntoIterator<Item = A>, origin: Option<Origin>) -> Self {
        Self { name: Str::new_static(name), args: args.into_iter().map(Into::into).collect(), block: None, origin }
    }

    /// Builds a directive with one argument.
    pub fn of(name: &'static str, value: &Sourced<Str>) -> Self {
        Self::new(name, [value.value.clone()], value.origin)
    }

    /// Builds a directive with a block.
    pub fn block<A: Into<Str>>(name: &'static str, args: impl IntoIterator<Item = A>, block: Vec<Directive>, origin: Option<Origin>) -> Self {
        Self { block: Some(block), ..Self::new(name, args, origin) }
    }

    /// Returns an argument, or an empty string if there are fewer.
    pub fn arg(&self, at: usize) -> &str {
        self.args.get(at).map_or("", Str::as_str)
    }

    /// Returns the words of an `if` without its parentheses.
    #[must_use]
    pub fn condition_words(&self) -> Vec<String> {
        let mut words: Vec<String> = self.args.iter().map(ToString::to_string).collect();
        if let Some(first) = words.first_mut() {
            *first = first.strip_prefix('(').map(String::from).unwrap_or_default();
        }
        if let Some(last) = words.last_mut() {
            *last = last.strip_suffix(')').map(String::from).unwrap_or_default();
        }
        let mut at = 0;
        words.retain(|word| {
            at += 1;
            !word.is_empty() || at > 1 && at < self.args.len()
        });
        words
    }

    /// Returns the directives in its block.
    pub fn inner(&self) -> &[Directive] {
        self.block.as_deref().unwrap_or_default()
    }
}

/// The reason why nginx cannot read a snippet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError(pub String);

/// The maximum nesting of blocks.
const DEPTH: usize = 16;

/// Parses the text of a snippet. All directives have its origin.
///
/// # Errors
///
/// The syntax error that nginx would report.
pub fn parse(text: &str, origin: Option<Origin>) -> Result<Vec<Directive>, SyntaxError> {
    let mut parser = Parser { rest: text, origin };
    let all = parser.block(0)?;
    if parser.rest.trim_start().starts_with('}') { Err(SyntaxError("unexpected \"}\"".into())) } else { Ok(all) }
}

struct Parser<'t> {
    rest: &'t str,
    origin: Option<Origin>,
}

enum Token {
    Word(Str),
    Semicolon,
    Open,
    Close,
    End,
}

impl Parser<'_> {
    fn block(&mut self, depth: usize) -> Result<Vec<Directive>, SyntaxError> {
        if depth > DEPTH {
            return Err(SyntaxError("blocks are too deep within each other".into()));
        }
        let mut all = Vec::new();
        let mut words: Vec<Str> = Vec::new();
        loop {
            let before = self.rest;
            match self.token()? {
                Token::Word(word) => words.push(word),
                Token::Semicolon if words.is_empty() => return Err(SyntaxError("unexpected \";\"".into())),
                Token::Semicolon => all.push(self.directive(&mut words, None)),
                Token::Open if words.is_empty() => return Err(SyntaxError("unexpected \"{\"".into())),
                Token::Open => {
                    let is_lua = words.first().is_some_and(|name| name.ends_with("_by_lua_block"));
                    let inner = if is_lua { self.skip_block()? } else { self.block(depth + 1)? };
                    if !is_lua && !matches!(self.token()?, Token::Close) {
                        return Err(SyntaxError("unexpected end of file, expecting \"}\"".into()));
                    }
                    all.push(self.directive(&mut words, Some(inner)));
                }
                Token::Close if words.is_empty() => {
                    self.rest = before;
                    return Ok(all);
                }
                Token::Close => return Err(SyntaxError("unexpected \"}\"".into())),
                Token::End if words.is_empty() => return Ok(all),
                Token::End => return Err(SyntaxError("unexpected end of file, expecting \";\" or \"}\"".into())),
            }
        }
    }

    fn directive(&self, words: &mut Vec<Str>, block: Option<Vec<Directive>>) -> Directive {
        let mut words = core::mem::take(words).into_iter();
        let name = words.next().unwrap_or_default();
        Directive { name, args: words.collect(), block, origin: self.origin }
    }

    /// Skips a block of another language.
    fn skip_block(&mut self) -> Result<Vec<Directive>, SyntaxError> {
        let mut depth = 1;
        for (at, c) in self.rest.char_indices() {
            depth += match c {
                '{' => 1,
                '}' => -1,
                _ => 0,
            };
            if depth == 0 {
                self.rest = self.rest.get(at + 1..).unwrap_or_default();
                return Ok(Vec::new());
            }
        }
        Err(SyntaxError("unexpected end of file, expecting \"}\"".into()))
    }

    fn token(&mut self) -> Result<Token, SyntaxError> {
        loop {
            self.rest = self.rest.trim_start();
            match self.rest.strip_prefix('#') {
                Some(comment) => self.rest = comment.split_once('\n').map_or("", |(_, after)| after),
                None => break,
            }
        }
        let Some(first) = self.rest.chars().next() else { return Ok(Token::End) };
        let single = match first {
            ';' => Some(Token::Semicolon),
            '{' => Some(Token::Open),
            '}' => Some(Token::Close),
            _ => None,
        };
        if let Some(token) = single {
            self.rest = self.rest.get(1..).unwrap_or_default();
            return Ok(token);
        }
        let quote = Some(first).filter(|c| matches!(c, '"' | '\''));
        let mut word = String::new();
        let mut chars = self.rest.char_indices().skip(usize::from(quote.is_some())).peekable();
        let mut end = self.rest.len();
        let mut closed = quote.is_none();
        let mut variable = false;
        while let Some((at, c)) = chars.next() {
            if c == '\\' {
                let next = chars.peek().map(|(_, c)| *c);
                match next {
                    Some('"' | '\'' | '\\') => word.extend(chars.next().map(|(_, c)| c)),
                    Some('t') => word.extend(chars.next().map(|_| '\t')),
                    Some('r') => word.extend(chars.next().map(|_| '\r')),
                    Some('n') => word.extend(chars.next().map(|_| '\n')),
                    Some(next) => {
                        word.push('\\');
                        word.push(next);
                        chars.next();
                    }
                    None => word.push('\\'),
                }
                continue;
            }
            if quote == Some(c) {
                end = at + 1;
                closed = true;
                break;
            }
            let opens = c == '{' && variable;
            if quote.is_none() && !opens && (c.is_whitespace() || matches!(c, ';' | '{')) {
                end = at;
                break;
            }
            variable = c == '$';
            word.push(c);
        }
        if !closed {
            return Err(SyntaxError("unexpected end of file, expecting \";\" or \"}\"".into()));
        }
        self.rest = self.rest.get(end..).unwrap_or_default();
        if quote.is_some() && !self.rest.is_empty() && !self.rest.starts_with(|c: char| c.is_whitespace() || matches!(c, ';' | '{' | ')')) {
            return Err(SyntaxError(format!("unexpected {:?}", self.rest.chars().next().unwrap_or_default())));
        }
        Ok(Token::Word(Str::from(word)))
    }
}

/// Formats an argument for nginx, in quotes if it needs them.
pub fn quoted(arg: &str) -> Cow<'_, str> {
    let is_plain = |c: char| !c.is_whitespace() && !matches!(c, ';' | '"' | '\'' | '#' | '\\');
    let has_braces = arg.contains(['{', '}']) && !arg.contains("${");
    if !arg.is_empty() && arg.chars().all(is_plain) && !has_braces {
        return Cow::Borrowed(arg);
    }
    let mut out = String::from("\"");
    for c in arg.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out.push('"');
    Cow::Owned(out)
}
