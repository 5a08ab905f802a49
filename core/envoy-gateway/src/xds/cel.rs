//! Parses expressions of CEL into Envoy's form, with the numbers that the reference's parser gives to each part.
//!
//! Does not check types, and does not expand macros that walk lists or maps (`all`, `exists`).

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::Tree;

/// The expression in parsed form, or why there is none.
pub(crate) fn parsed_expression(text: &str) -> Result<Tree, String> {
    parse(text).map(|expression| Tree::object([("expr", expression)])).map_err(|_| format!("failed to parse CEL expression {text:?}"))
}

/// Whether an expression can be parsed.
pub(crate) fn is_valid(text: &str) -> bool {
    parse(text).is_ok()
}

struct Wrong;

type Parsed = Result<Tree, Wrong>;

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Name(String),
    Int(String),
    Uint(String),
    Double(String),
    Text(String),
    Bytes(Vec<u8>),
    Sign(&'static str),
}

const SIGNS: &[&str] =
    &["&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", ".", ",", "(", ")", "[", "]", "{", "}"];

fn parse(text: &str) -> Parsed {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens, at: 0, last: 0 };
    let expression = parser.expression()?;
    if parser.at == parser.tokens.len() { Ok(expression) } else { Err(Wrong) }
}

fn tokens(text: &str) -> Result<Vec<Token>, Wrong> {
    let (mut rest, mut out) = (text, Vec::new());
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.split_once('\n').map_or("", |(_, rest)| rest);
            continue;
        }
        let Some(first) = rest.chars().next() else { return Ok(out) };
        if let Some((token, after)) = literal(rest)? {
            out.push(token);
            rest = after;
        } else if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
            let (token, after) = number(rest);
            out.push(token);
            rest = after;
        } else if first.is_ascii_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
            out.push(Token::Name(rest[..end].into()));
            rest = &rest[end..];
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign)).ok_or(Wrong)?;
            out.push(Token::Sign(sign));
            rest = &rest[sign.len()..];
        }
    }
}

fn number(text: &str) -> (Token, &str) {
    if let Some(hex) = text.strip_prefix("0x") {
        let end = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
        let value = i64::from_str_radix(&hex[..end], 16).unwrap_or_default().to_string();
        return match hex[end..].strip_prefix(['u', 'U']) {
            Some(after) => (Token::Uint(value), after),
            None => (Token::Int(value), &hex[end..]),
        };
    }
    let mut end = 0;
    let bytes = text.as_bytes();
    let mut is_double = false;
    while let Some(byte) = bytes.get(end) {
        let next_is_digit = bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
        match byte {
            b'0'..=b'9' => {}
            b'.' if next_is_digit => is_double = true,
            b'e' | b'E' if end > 0 => {
                is_double = true;
                end += usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            }
            _ => break,
        }
        end += 1;
    }
    let written = String::from(&text[..end]);
    let rest = &text[end..];
    match rest.strip_prefix(['u', 'U']) {
        Some(after) if !is_double => (Token::Uint(written), after),
        _ if is_double => (Token::Double(written), rest),
        _ => (Token::Int(written), rest),
    }
}

/// Reads a string, with the letters before it.
fn literal(text: &str) -> Result<Option<(Token, &str)>, Wrong> {
    let prefix = text.find(['"', '\'']).filter(|end| *end <= 2 && text[..*end].chars().all(|c| matches!(c, 'r' | 'R' | 'b' | 'B')));
    let Some(prefix) = prefix else { return Ok(None) };
    let letters = text[..prefix].to_ascii_lowercase();
    let (is_raw, is_bytes) = (letters.contains('r'), letters.contains('b'));
    let body = &text[prefix..];
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| body.starts_with(quote)).ok_or(Wrong)?;
    let (mut rest, mut out) = (&body[quote.len()..], String::new());
    loop {
        if let Some(after) = rest.strip_prefix(quote) {
            let token = if is_bytes { Token::Bytes(out.into_bytes()) } else { Token::Text(out) };
            return Ok(Some((token, after)));
        }
        let mut characters = rest.chars();
        match characters.next().ok_or(Wrong)? {
            '\n' if quote.len() == 1 => return Err(Wrong),
            '\\' if !is_raw => {
                let (character, after) = escape(characters.as_str())?;
                out.push(character);
                rest = after;
            }
            plain => {
                out.push(plain);
                rest = characters.as_str();
            }
        }
    }
}

fn escape(text: &str) -> Result<(char, &str), Wrong> {
    let mut characters = text.chars();
    let first = characters.next().ok_or(Wrong)?;
    let plain = match first {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '\\' | '\'' | '"' | '`' | '?' => first,
        'x' | 'X' | 'u' | 'U' | '0'..='3' => {
            let (digits, skipped, radix) = match first {
                'u' => (4, 1, 16),
                'U' => (8, 1, 16),
                'x' | 'X' => (2, 1, 16),
                _ => (3, 0, 8),
            };
            let code = text.get(skipped..skipped + digits).ok_or(Wrong)?;
            let value = u32::from_str_radix(code, radix).ok().and_then(char::from_u32).ok_or(Wrong)?;
            return Ok((value, &text[skipped + digits..]));
        }
        _ => return Err(Wrong),
    };
    Ok((plain, characters.as_str()))
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    last: i64,
}

fn id(number: i64) -> Tree {
    Tree::from(number.to_string())
}

fn call(number: i64, function: &str, args: Vec<Tree>) -> Tree {
    Tree::object([("id", id(number)), ("call_expr", Tree::object([("function", Tree::from(function)), ("args", args.into())]))])
}

impl Parser {
    fn next_id(&mut self) -> i64 {
        self.last += 1;
        self.last
    }

    fn peek(&self, sign: &str) -> bool {
        matches!(self.tokens.get(self.at), Some(Token::Sign(known)) if *known == sign)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = self.peek(sign);
        self.at += usize::from(found);
        found
    }

    fn want(&mut self, sign: &str) -> Result<(), Wrong> {
        if self.eat(sign) { Ok(()) } else { Err(Wrong) }
    }

    fn expression(&mut self) -> Parsed {
        let condition = self.logical("||", "_||_")?;
        if !self.eat("?") {
            return Ok(condition);
        }
        let number = self.next_id();
        let yes = self.logical("||", "_||_")?;
        self.want(":")?;
        let no = self.expression()?;
        Ok(call(number, "_?_:_", Vec::from([condition, yes, no])))
    }

    /// Terms that are joined by `&&` or `||`, as a balanced tree.
    fn logical(&mut self, sign: &str, function: &str) -> Parsed {
        let mut terms = Vec::from([self.term(sign)?]);
        let mut numbers = Vec::new();
        while self.eat(sign) {
            terms.push(self.term(sign)?);
            numbers.push(self.next_id());
        }
        Ok(balanced(function, &terms, &numbers))
    }

    fn term(&mut self, sign: &str) -> Parsed {
        if sign == "||" { self.logical("&&", "_&&_") } else { self.relation() }
    }

    fn relation(&mut self) -> Parsed {
        const RELATIONS: &[(&str, &str)] = &[("==", "_==_"), ("!=", "_!=_"), ("<=", "_<=_"), (">=", "_>=_"), ("<", "_<_"), (">", "_>_")];
        let mut left = self.sum()?;
        loop {
            let is_in = matches!(self.tokens.get(self.at), Some(Token::Name(name)) if name == "in");
            let function = if is_in { Some("@in") } else { RELATIONS.iter().find(|(sign, _)| self.peek(sign)).map(|(_, function)| *function) };
            let Some(function) = function else { return Ok(left) };
            self.at += 1;
            let number = self.next_id();
            let right = self.sum()?;
            left = call(number, function, Vec::from([left, right]));
        }
    }

    fn sum(&mut self) -> Parsed {
        self.chain(&[("+", "_+_"), ("-", "_-_")], Self::product)
    }

    fn product(&mut self) -> Parsed {
        self.chain(&[("*", "_*_"), ("/", "_/_"), ("%", "_%_")], Self::unary)
    }

    fn chain(&mut self, signs: &[(&str, &str)], operand: fn(&mut Self) -> Parsed) -> Parsed {
        let mut left = operand(self)?;
        while let Some((_, function)) = signs.iter().find(|(sign, _)| self.peek(sign)) {
            self.at += 1;
            let number = self.next_id();
            let right = operand(self)?;
            left = call(number, function, Vec::from([left, right]));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed {
        for (sign, function) in [("!", "!_"), ("-", "-_")] {
            let mut count = 0;
            let before = self.at;
            while self.eat(sign) {
                count += 1;
            }
            if count == 0 {
                continue;
            }
            if sign == "-" && count == 1 && matches!(self.tokens.get(self.at), Some(Token::Int(_) | Token::Double(_))) {
                self.at = before;
                break;
            }
            if count % 2 == 0 {
                return self.member();
            }
            let number = self.next_id();
            let operand = self.member()?;
            return Ok(call(number, function, Vec::from([operand])));
        }
        self.member()
    }

    fn member(&mut self) -> Parsed {
        let mut of = self.primary()?;
        loop {
            if self.eat(".") {
                let Some(Token::Name(name)) = self.tokens.get(self.at).cloned() else { return Err(Wrong) };
                self.at += 1;
                if self.eat("(") {
                    let number = self.next_id();
                    let args = self.arguments(")")?;
                    let target = Tree::object([("target", of), ("function", Tree::from(name.as_str())), ("args", args.into())]);
                    of = Tree::object([("id", id(number)), ("call_expr", target)]);
                } else {
                    let number = self.next_id();
                    of = Tree::object([("id", id(number)), ("select_expr", Tree::object([("operand", of), ("field", Tree::from(name.as_str()))]))]);
                }
            } else if self.eat("[") {
                let number = self.next_id();
                let index = self.expression()?;
                self.want("]")?;
                of = call(number, "_[_]", Vec::from([of, index]));
            } else {
                return Ok(of);
            }
        }
    }

    fn arguments(&mut self, end: &str) -> Result<Vec<Tree>, Wrong> {
        let mut all = Vec::new();
        while !self.eat(end) {
            all.push(self.expression()?);
            if !self.eat(",") {
                self.want(end)?;
                break;
            }
        }
        Ok(all)
    }

    fn primary(&mut self) -> Parsed {
        if self.eat("(") {
            let inner = self.expression()?;
            self.want(")")?;
            return Ok(inner);
        }
        if self.eat("[") {
            let number = self.next_id();
            let items = self.arguments("]")?;
            return Ok(Tree::object([("id", id(number)), ("list_expr", Tree::object([("elements", Tree::from(items))]))]));
        }
        if self.eat("{") {
            return self.entries();
        }
        let is_global = self.eat(".");
        let is_negative = self.eat("-");
        let token = self.tokens.get(self.at).cloned().ok_or(Wrong)?;
        self.at += 1;
        let sign = if is_negative { "-" } else { "" };
        let constant = match token {
            Token::Name(name) => return self.name(&name, is_global),
            Token::Int(text) => ("int64_value", Tree::from(format!("{sign}{text}"))),
            Token::Uint(text) => ("uint64_value", Tree::from(text)),
            Token::Double(text) => ("double_value", Tree::from(format!("{sign}{text}").parse::<f64>().map_err(|_| Wrong)?)),
            Token::Text(text) => ("string_value", Tree::from(text)),
            Token::Bytes(bytes) => ("bytes_value", Tree::from(chancery_text::base64::encode(&bytes))),
            Token::Sign(_) => return Err(Wrong),
        };
        Ok(self.constant(constant.0, constant.1))
    }

    fn constant(&mut self, kind: &'static str, value: Tree) -> Tree {
        let number = self.next_id();
        Tree::object([("id", id(number)), ("const_expr", Tree::object([(kind, value)]))])
    }

    fn name(&mut self, name: &str, is_global: bool) -> Parsed {
        match name {
            "true" | "false" => return Ok(self.constant("bool_value", Tree::from(name == "true"))),
            "null" => return Ok(self.constant("null_value", Tree::from("NULL_VALUE"))),
            "in" => return Err(Wrong),
            _ => {}
        }
        let number = self.next_id();
        let full = if is_global { format!(".{name}") } else { name.into() };
        if !self.eat("(") {
            return Ok(Tree::object([("id", id(number)), ("ident_expr", Tree::object([("name", Tree::from(full))]))]));
        }
        let mut args = self.arguments(")")?;
        if name != "has" || is_global {
            return Ok(call(number, &full, args));
        }
        // The macro `has` asks whether a field is there.
        let (Some(only), true) = (args.pop(), args.is_empty()) else { return Err(Wrong) };
        let mut select = only.get("select_expr").clone();
        if select.is_null() {
            return Err(Wrong);
        }
        select.set("test_only", Tree::from(true));
        let number = self.next_id();
        Ok(Tree::object([("id", id(number)), ("select_expr", select)]))
    }

    fn entries(&mut self) -> Parsed {
        let number = self.next_id();
        let mut entries = Vec::new();
        while !self.eat("}") {
            let key = self.expression()?;
            self.want(":")?;
            let entry = self.next_id();
            let value = self.expression()?;
            entries.push(Tree::object([("id", id(entry)), ("map_key", key), ("value", value)]));
            if !self.eat(",") {
                self.want("}")?;
                break;
            }
        }
        Ok(Tree::object([("id", id(number)), ("struct_expr", Tree::object([("entries", Tree::from(entries))]))]))
    }
}

/// Joins terms as a balanced tree, as the reference's parser does for long chains.
fn balanced(function: &str, terms: &[Tree], numbers: &[i64]) -> Tree {
    match terms {
        [only] => only.clone(),
        [one, other] => call(numbers[0], function, Vec::from([one.clone(), other.clone()])),
        _ => {
            let middle = numbers.len() / 2;
            let left = balanced(function, &terms[..=middle], &numbers[..middle]);
            let right = balanced(function, &terms[middle + 1..], &numbers[middle + 1..]);
            call(numbers[middle], function, Vec::from([left, right]))
        }
    }
}
