//! Checks the syntax of Lua scripts as Envoy Gateway does before it sends them: Lua 5.1, with labels and `goto`.
//!
//! Does not run scripts, so it does not find calls of functions that do not exist.

use alloc::format;
use alloc::string::{String, ToString};

/// The functions that Envoy calls.
const ENTRIES: [&str; 2] = ["envoy_on_request", "envoy_on_response"];

/// Blocks and expressions may be nested this deep; deeper scripts are not checked.
const DEEPEST: usize = 200;

/// Returns why Envoy Gateway refuses a script, if its syntax is wrong or it lacks both functions. `checks_syntax` is off if users turned it off.
pub(crate) fn refusal(script: &str, checks_syntax: bool) -> Option<String> {
    if !ENTRIES.iter().any(|entry| script.contains(entry)) {
        return Some("expected one of envoy_on_request() or envoy_on_response() to be defined".to_string());
    }
    if !checks_syntax {
        return None;
    }
    ENTRIES.iter().filter(|entry| script.contains(**entry)).find_map(|entry| {
        // Envoy Gateway adds a call of the function.
        let error = check(&format!("{script}\n{entry}(StreamHandle)")).err()?;
        Some(format!("failed to validate with {entry}: {error}"))
    })
}

/// Checks a whole chunk.
fn check(script: &str) -> Result<(), String> {
    let mut parser =
        Parser { lexer: Lexer { bytes: script.as_bytes(), at: 0, line: 1, column: 0 }, token: Token::End, text: String::new(), depth: 0 };
    let outcome = parser.advance().and_then(|()| parser.block()).and_then(|()| parser.expect_end());
    match outcome {
        Ok(()) | Err(Stop::TooDeep) => Ok(()),
        Err(Stop::Wrong(message)) => Err(message),
    }
}

/// Why a check ends early.
enum Stop {
    Wrong(String),
    TooDeep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Name,
    Number,
    Text,
    Keyword,
    Symbol,
    End,
}

const KEYWORDS: [&str; 22] = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil", "not", "or", "repeat", "return",
    "then", "true", "until", "while",
];

/// Symbols, longest first.
const SYMBOLS: [&str; 28] = [
    "...", "..", "==", "~=", "<=", ">=", "::", "+", "-", "*", "/", "%", "^", "#", "<", ">", "=", "(", ")", "{", "}", "[", "]", ";", ":", ",", ".",
    "~",
];

struct Lexer<'s> {
    bytes: &'s [u8],
    at: usize,
    line: usize,
    /// The bytes of the line that are read.
    column: usize,
}

impl Lexer<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        if byte == b'\n' {
            self.line += 1;
            self.column = 0;
        } else {
            self.column += 1;
        }
        Some(byte)
    }

    fn starts_with(&self, text: &str) -> bool {
        self.bytes[self.at.min(self.bytes.len())..].starts_with(text.as_bytes())
    }

    fn take(&mut self, count: usize) -> String {
        let start = self.at;
        (0..count).for_each(|_| {
            self.next();
        });
        String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned()
    }

    fn error(&self, near: &str, message: &str) -> Stop {
        if self.at >= self.bytes.len() && near.is_empty() {
            return Stop::Wrong(format!("<string> at EOF:   {message}\n"));
        }
        Stop::Wrong(format!("<string> line:{}(column:{}) near '{near}':   {message}\n", self.line, self.column))
    }

    /// The number of `=` of a long bracket that begins here, if one does.
    fn long_bracket(&self) -> Option<usize> {
        let rest = self.bytes.get(self.at + 1..)?;
        let level = rest.iter().take_while(|byte| **byte == b'=').count();
        (self.peek() == Some(b'[') && rest.get(level) == Some(&b'[')).then_some(level)
    }

    fn long_text(&mut self, level: usize) -> Result<String, Stop> {
        self.take(level + 2);
        let start = self.at;
        let close = format!("]{}]", "=".repeat(level));
        while !self.starts_with(&close) {
            if self.next().is_none() {
                return Err(self.error("", "unterminated multiline string"));
            }
        }
        let text = String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned();
        self.take(close.len());
        Ok(text)
    }

    fn skip(&mut self) -> Result<(), Stop> {
        loop {
            while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
                self.next();
            }
            if !self.starts_with("--") {
                return Ok(());
            }
            self.take(2);
            match self.long_bracket() {
                Some(level) => {
                    self.long_text(level)?;
                }
                None => {
                    while self.peek().is_some_and(|byte| byte != b'\n') {
                        self.next();
                    }
                }
            }
        }
    }

    fn token(&mut self) -> Result<(Token, String), Stop> {
        self.skip()?;
        let Some(byte) = self.peek() else { return Ok((Token::End, String::new())) };
        if byte.is_ascii_alphabetic() || byte == b'_' {
            let length = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            let word = self.take(length);
            return Ok((if KEYWORDS.contains(&word.as_str()) { Token::Keyword } else { Token::Name }, word));
        }
        let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        if byte.is_ascii_digit() || byte == b'.' && is_digit(self.bytes.get(self.at + 1)) {
            return Ok((Token::Number, self.number()));
        }
        if byte == b'"' || byte == b'\'' {
            return Ok((Token::Text, self.text(byte)?));
        }
        if let Some(level) = self.long_bracket() {
            return Ok((Token::Text, self.long_text(level)?));
        }
        match SYMBOLS.iter().find(|symbol| self.starts_with(symbol)) {
            Some(symbol) if *symbol != "~" => Ok((Token::Symbol, self.take(symbol.len()))),
            _ => {
                let text = self.take(1);
                Err(self.error(&text, "Invalid token"))
            }
        }
    }

    fn number(&mut self) -> String {
        let rest = &self.bytes[self.at..];
        let mut length = 0;
        while let Some(byte) = rest.get(length) {
            let is_sign = matches!(byte, b'+' | b'-') && matches!(rest.get(length.wrapping_sub(1)), Some(b'e' | b'E')) && !rest.starts_with(b"0x");
            let is_range = *byte == b'.' && rest.get(length + 1) == Some(&b'.');
            if is_range || !(byte.is_ascii_alphanumeric() || *byte == b'.' || is_sign) {
                break;
            }
            length += 1;
        }
        self.take(length)
    }

    fn text(&mut self, quote: u8) -> Result<String, Stop> {
        self.next();
        let start = self.at;
        loop {
            match self.peek() {
                Some(byte) if byte == quote => break,
                Some(b'\\') => {
                    self.take(2);
                }
                None | Some(b'\n') => {
                    let text = String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned();
                    return Err(self.error(&text, "unterminated string"));
                }
                Some(_) => {
                    self.next();
                }
            }
        }
        let text = String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned();
        self.next();
        Ok(text)
    }
}

struct Parser<'s> {
    lexer: Lexer<'s>,
    /// The token that is read next, and its text.
    token: Token,
    text: String,
    depth: usize,
}

type Step = Result<(), Stop>;

impl Parser<'_> {
    fn advance(&mut self) -> Step {
        (self.token, self.text) = self.lexer.token()?;
        Ok(())
    }

    fn is(&self, word: &str) -> bool {
        matches!(self.token, Token::Keyword | Token::Symbol) && self.text == word
    }

    fn wrong(&self) -> Stop {
        let near = if self.token == Token::End { "" } else { &self.text };
        self.lexer.error(near, "syntax error")
    }

    fn accept(&mut self, word: &str) -> Result<bool, Stop> {
        let is_here = self.is(word);
        if is_here {
            self.advance()?;
        }
        Ok(is_here)
    }

    fn expect(&mut self, word: &str) -> Step {
        if self.accept(word)? { Ok(()) } else { Err(self.wrong()) }
    }

    fn expect_end(&mut self) -> Step {
        if self.token == Token::End { Ok(()) } else { Err(self.wrong()) }
    }

    fn name(&mut self) -> Step {
        if self.token == Token::Name { self.advance() } else { Err(self.wrong()) }
    }

    fn deeper(&mut self, parse: impl FnOnce(&mut Self) -> Step) -> Step {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Stop::TooDeep);
        }
        parse(self)?;
        self.depth -= 1;
        Ok(())
    }

    fn ends_block(&self) -> bool {
        self.token == Token::End || ["end", "else", "elseif", "until"].iter().any(|word| self.is(word))
    }

    fn block(&mut self) -> Step {
        self.deeper(|parser| {
            while !parser.ends_block() {
                let is_last = parser.is("return") || parser.is("break");
                parser.statement()?;
                while parser.accept(";")? {}
                if is_last {
                    break;
                }
            }
            Ok(())
        })
    }

    fn statement(&mut self) -> Step {
        let word = if self.token == Token::Keyword { self.text.clone() } else { String::new() };
        match word.as_str() {
            "if" => self.condition(),
            "while" => {
                self.advance()?;
                self.expression()?;
                self.expect("do")?;
                self.closed_block()
            }
            "do" => {
                self.advance()?;
                self.closed_block()
            }
            "for" => self.loop_over(),
            "repeat" => {
                self.advance()?;
                self.block()?;
                self.expect("until")?;
                self.expression()
            }
            "function" => {
                self.advance()?;
                self.name()?;
                while self.accept(".")? {
                    self.name()?;
                }
                if self.accept(":")? {
                    self.name()?;
                }
                self.body()
            }
            "local" => self.local(),
            "return" => {
                self.advance()?;
                if self.ends_block() || self.is(";") { Ok(()) } else { self.expressions() }
            }
            "break" => self.advance(),
            "goto" => {
                self.advance()?;
                self.name()
            }
            _ if self.is("::") => {
                self.advance()?;
                self.name()?;
                self.expect("::")
            }
            _ => self.call_or_assignment(),
        }
    }

    fn closed_block(&mut self) -> Step {
        self.block()?;
        self.expect("end")
    }

    fn condition(&mut self) -> Step {
        loop {
            self.advance()?;
            self.expression()?;
            self.expect("then")?;
            self.block()?;
            if !self.is("elseif") {
                break;
            }
        }
        if self.accept("else")? {
            self.block()?;
        }
        self.expect("end")
    }

    fn loop_over(&mut self) -> Step {
        self.advance()?;
        self.name()?;
        if self.accept("=")? {
            self.expression()?;
            self.expect(",")?;
            self.expression()?;
            if self.accept(",")? {
                self.expression()?;
            }
        } else {
            while self.accept(",")? {
                self.name()?;
            }
            self.expect("in")?;
            self.expressions()?;
        }
        self.expect("do")?;
        self.closed_block()
    }

    fn local(&mut self) -> Step {
        self.advance()?;
        if self.accept("function")? {
            self.name()?;
            return self.body();
        }
        self.name()?;
        while self.accept(",")? {
            self.name()?;
        }
        if self.accept("=")? { self.expressions() } else { Ok(()) }
    }

    fn call_or_assignment(&mut self) -> Step {
        let mut is_call = self.prefixed()?;
        if is_call && !self.is("=") && !self.is(",") {
            return Ok(());
        }
        while self.is(",") {
            if is_call {
                return Err(self.wrong());
            }
            self.advance()?;
            is_call = self.prefixed()?;
        }
        if is_call {
            return Err(self.wrong());
        }
        self.expect("=")?;
        self.expressions()
    }

    /// A variable or call. Returns whether it ends with a call.
    fn prefixed(&mut self) -> Result<bool, Stop> {
        if self.accept("(")? {
            self.expression()?;
            self.expect(")")?;
        } else {
            self.name()?;
        }
        let mut is_call = false;
        loop {
            if self.accept(".")? {
                self.name()?;
                is_call = false;
            } else if self.accept("[")? {
                self.expression()?;
                self.expect("]")?;
                is_call = false;
            } else if self.accept(":")? {
                self.name()?;
                self.arguments()?;
                is_call = true;
            } else if self.is("(") || self.is("{") || self.token == Token::Text {
                self.arguments()?;
                is_call = true;
            } else {
                return Ok(is_call);
            }
        }
    }

    fn arguments(&mut self) -> Step {
        if self.token == Token::Text {
            return self.advance();
        }
        if self.is("{") {
            return self.table();
        }
        self.expect("(")?;
        if self.accept(")")? {
            return Ok(());
        }
        self.expressions()?;
        self.expect(")")
    }

    fn expressions(&mut self) -> Step {
        self.expression()?;
        while self.accept(",")? {
            self.expression()?;
        }
        Ok(())
    }

    /// Operators need no order for a check.
    fn expression(&mut self) -> Step {
        const BINARY: [&str; 15] = ["+", "-", "*", "/", "%", "^", "..", "==", "~=", "<", "<=", ">", ">=", "and", "or"];
        self.deeper(|parser| {
            loop {
                while ["not", "-", "#"].iter().any(|word| parser.is(word)) {
                    parser.advance()?;
                }
                parser.operand()?;
                if !BINARY.iter().any(|word| parser.is(word)) {
                    return Ok(());
                }
                parser.advance()?;
            }
        })
    }

    fn operand(&mut self) -> Step {
        if matches!(self.token, Token::Number | Token::Text) || ["nil", "true", "false", "..."].iter().any(|word| self.is(word)) {
            return self.advance();
        }
        if self.accept("function")? {
            return self.body();
        }
        if self.is("{") {
            return self.table();
        }
        self.prefixed().map(|_| ())
    }

    fn body(&mut self) -> Step {
        self.expect("(")?;
        if !self.is(")") {
            loop {
                if self.accept("...")? {
                    break;
                }
                self.name()?;
                if !self.accept(",")? {
                    break;
                }
            }
        }
        self.expect(")")?;
        self.closed_block()
    }

    fn table(&mut self) -> Step {
        self.expect("{")?;
        while !self.is("}") {
            if self.accept("[")? {
                self.expression()?;
                self.expect("]")?;
                self.expect("=")?;
            }
            // `name = value` begins like an expression.
            self.expression()?;
            if self.accept("=")? {
                self.expression()?;
            }
            if !self.accept(",")? && !self.accept(";")? {
                break;
            }
        }
        self.expect("}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_without_then_is_refused_at_next_token() {
        let script =
            "function envoy_on_response(response_handle)\n  local value = 10\n  if value > 5\n    print(\"Value is greater than 5\")\n  end\nend\n";
        let expected = "failed to validate with envoy_on_response: <string> line:4(column:9) near 'print':   syntax error\n";
        assert_eq!(refusal(script, true).as_deref(), Some(expected));
        assert_eq!(refusal(script, false), None);
    }

    #[test]
    fn script_without_end_is_refused_at_end() {
        let refused = refusal("function envoy_on_request(h) h:logInfo('x')", true);
        assert_eq!(refused.as_deref(), Some("failed to validate with envoy_on_request: <string> at EOF:   syntax error\n"));
    }

    #[test]
    fn script_without_function_is_refused() {
        let refused = refusal("print('hello')", true);
        assert_eq!(refused.as_deref(), Some("expected one of envoy_on_request() or envoy_on_response() to be defined"));
    }

    #[test]
    fn usual_scripts_are_accepted() {
        let scripts = [
            "function envoy_on_request(h) h:headers():add(\"a\", 'b') end",
            "-- a comment\n--[[ long\ncomment ]]\nlocal t = {a = 1, [2] = 'x', 3; f = function(...) return ... end}\nfunction envoy_on_request(h)\n  \
             for i = 1, #t do t[i] = not t[i] and -i ^ 2 .. [==[ x ]] ]==] end\n  for k, v in pairs(t) do if k == v then break elseif k ~= v then else \
             end end\n  repeat local x = 1.5e-3 until x >= 0x1F or true\n  while false do end\n  goto out\n  ::out::\n  return nil, t.a.b:c{1} \"s\"\nend",
            "function envoy_on_response(h) a, b.c = 1, 2; local function g() end; (g or h)() end",
            "function m.envoy_on_request:x(h) do end end",
        ];
        for script in scripts {
            assert_eq!(refusal(script, true), None, "{script}");
        }
    }

    #[test]
    fn broken_scripts_are_refused_without_panic() {
        for script in [
            "envoy_on_request(",
            "envoy_on_request = = 1",
            "f() = envoy_on_request",
            "envoy_on_request 'x",
            "envoy_on_request ~ 1",
            "[[ envoy_on_request",
        ] {
            assert!(refusal(script, true).is_some(), "{script}");
        }
        let deep = format!("envoy_on_request{}", "(".repeat(5000));
        assert_eq!(refusal(&deep, true), None, "too deep to be checked");
    }
}
