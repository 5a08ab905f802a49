//! Parses the text of a rule to a tree.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

#[derive(Debug)]
pub(super) enum Expression {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(Literal),
    List(Vec<Expression>),
    Map(Vec<(Expression, Expression)>),
    Name(&'static str),
    Field(Box<Expression>, &'static str),
    Has(Box<Expression>, &'static str),
    At(Box<Expression>, Box<Expression>),
    Not(Box<Expression>),
    Minus(Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
    Choice(Box<[Expression; 3]>),
    Each { how: Macro, list: Box<Expression>, name: &'static str, body: Box<Expression> },
    Call(Function, Vec<Expression>),
}

/// A string: verbatim, or with resolved escapes.
#[derive(Debug)]
pub(super) enum Literal {
    Plain(&'static str),
    Escaped(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    In,
    Plus,
    Minus,
    Times,
    Over,
    Modulo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Macro {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
}

/// Functions. The receiver of a method is its first argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Size,
    Matches,
    StartsWith,
    EndsWith,
    Contains,
    Split,
    Duration,
    IsIp,
    Trim,
    LowerAscii,
    UpperAscii,
    Substring,
}

impl Function {
    /// The function of this name, and its number of arguments.
    fn named(name: &str) -> Option<(Self, usize)> {
        Some(match name {
            "size" => (Self::Size, 1),
            "matches" => (Self::Matches, 2),
            "startsWith" => (Self::StartsWith, 2),
            "endsWith" => (Self::EndsWith, 2),
            "contains" => (Self::Contains, 2),
            "split" => (Self::Split, 2),
            "duration" => (Self::Duration, 1),
            "isIP" => (Self::IsIp, 1),
            "trim" => (Self::Trim, 1),
            "lowerAscii" => (Self::LowerAscii, 1),
            "upperAscii" => (Self::UpperAscii, 1),
            "substring" => (Self::Substring, 2),
            _ => return None,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token {
    Name(&'static str),
    Number(&'static str),
    /// A string: the text between its quotes, and whether escapes apply.
    Text(&'static str, bool),
    Sign(&'static str),
}

/// The maximum depth of an expression.
const DEEPEST: usize = 100;

pub(super) fn parse(text: &'static str) -> Option<Expression> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens, at: 0, depth: 0 };
    let expression = parser.expression()?;
    (parser.at == parser.tokens.len()).then_some(expression)
}

const SIGNS: [&str; 25] =
    ["==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", "(", ")", "[", "]", ".", ",", "{", "}", "="];

fn tokens(text: &'static str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let raw = rest.starts_with("r\"") || rest.starts_with("r'");
        let token = if raw || matches!(first, '"' | '\'') {
            let quoted = if raw { &rest[1..] } else { rest };
            let single = &quoted[..1];
            let quote = if quoted.starts_with("\"\"\"") || quoted.starts_with("'''") { &quoted[..3] } else { single };
            let body = &quoted[quote.len()..];
            let end = end_of_string(body, quote, !raw)?;
            rest = &body[end + quote.len()..];
            Token::Text(&body[..end], !raw)
        } else if first.is_ascii_digit() {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
            let (number, after) = rest.split_at(end);
            rest = after;
            Token::Number(number)
        } else if first.is_ascii_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            rest = after;
            Token::Name(name)
        } else {
            let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign))?;
            rest = &rest[sign.len()..];
            Token::Sign(sign)
        };
        tokens.push(token);
        rest = rest.trim_start();
    }
    Some(tokens)
}

fn end_of_string(body: &str, quote: &str, escapes: bool) -> Option<usize> {
    let mut at = 0;
    loop {
        let end = at + body.get(at..)?.find(quote)?;
        let backslash = body[at..end].find('\\').filter(|_| escapes);
        match backslash {
            Some(backslash) => at = (at + backslash + 1..).skip(1).find(|at| body.is_char_boundary(*at))?,
            None => return Some(end),
        }
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn takes(&mut self, sign: &str) -> bool {
        let is = self.tokens.get(self.at) == Some(&Token::Sign(sign_of(sign)));
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, sign: &str) -> Option<()> {
        self.takes(sign).then_some(())
    }

    fn next(&mut self) -> Option<Token> {
        let token = *self.tokens.get(self.at)?;
        self.at += 1;
        Some(token)
    }

    fn expression(&mut self) -> Option<Expression> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let condition = self.or()?;
        let expression = if self.takes("?") {
            let then = self.or()?;
            self.expect(":")?;
            Expression::Choice(Box::new([condition, then, self.expression()?]))
        } else {
            condition
        };
        self.depth -= 1;
        Some(expression)
    }

    fn or(&mut self) -> Option<Expression> {
        let mut left = self.and()?;
        while self.takes("||") {
            left = Expression::Or(Box::new(left), Box::new(self.and()?));
        }
        Some(left)
    }

    fn and(&mut self) -> Option<Expression> {
        let mut left = self.relation()?;
        while self.takes("&&") {
            left = Expression::And(Box::new(left), Box::new(self.relation()?));
        }
        Some(left)
    }

    fn relation(&mut self) -> Option<Expression> {
        let mut left = self.sum()?;
        loop {
            let operator = match self.tokens.get(self.at) {
                Some(Token::Sign("==")) => Operator::Equal,
                Some(Token::Sign("!=")) => Operator::Unequal,
                Some(Token::Sign("<")) => Operator::Less,
                Some(Token::Sign("<=")) => Operator::AtMost,
                Some(Token::Sign(">")) => Operator::Greater,
                Some(Token::Sign(">=")) => Operator::AtLeast,
                Some(Token::Name("in")) => Operator::In,
                _ => return Some(left),
            };
            self.at += 1;
            left = Expression::Binary(operator, Box::new(left), Box::new(self.sum()?));
        }
    }

    fn sum(&mut self) -> Option<Expression> {
        let mut left = self.product()?;
        loop {
            let operator = match self.tokens.get(self.at) {
                Some(Token::Sign("+")) => Operator::Plus,
                Some(Token::Sign("-")) => Operator::Minus,
                _ => return Some(left),
            };
            self.at += 1;
            left = Expression::Binary(operator, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Option<Expression> {
        let mut left = self.unary()?;
        loop {
            let operator = match self.tokens.get(self.at) {
                Some(Token::Sign("*")) => Operator::Times,
                Some(Token::Sign("/")) => Operator::Over,
                Some(Token::Sign("%")) => Operator::Modulo,
                _ => return Some(left),
            };
            self.at += 1;
            left = Expression::Binary(operator, Box::new(left), Box::new(self.unary()?));
        }
    }

    fn unary(&mut self) -> Option<Expression> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let expression = if self.takes("!") {
            Expression::Not(Box::new(self.unary()?))
        } else if self.takes("-") {
            Expression::Minus(Box::new(self.unary()?))
        } else {
            self.member()?
        };
        self.depth -= 1;
        Some(expression)
    }

    fn member(&mut self) -> Option<Expression> {
        let mut left = self.primary()?;
        loop {
            if self.takes(".") {
                let Token::Name(name) = self.next()? else { return None };
                left = if self.takes("(") { self.method(left, name)? } else { Expression::Field(Box::new(left), unescaped(name)) };
            } else if self.takes("[") {
                left = Expression::At(Box::new(left), Box::new(self.expression()?));
                self.expect("]")?;
            } else {
                return Some(left);
            }
        }
    }

    fn method(&mut self, receiver: Expression, name: &str) -> Option<Expression> {
        let how = match name {
            "all" => Some(Macro::All),
            "exists" => Some(Macro::Exists),
            "exists_one" => Some(Macro::ExistsOne),
            "filter" => Some(Macro::Filter),
            "map" => Some(Macro::Map),
            _ => None,
        };
        if let Some(how) = how {
            let Token::Name(name) = self.next()? else { return None };
            self.expect(",")?;
            let body = Box::new(self.expression()?);
            self.expect(")")?;
            return Some(Expression::Each { how, list: Box::new(receiver), name, body });
        }
        let arguments = self.list(")", vec![receiver])?;
        call(name, arguments)
    }

    fn list(&mut self, end: &str, mut items: Vec<Expression>) -> Option<Vec<Expression>> {
        if self.takes(end) {
            return Some(items);
        }
        loop {
            items.push(self.expression()?);
            if !self.takes(",") {
                self.expect(end)?;
                return Some(items);
            }
        }
    }

    /// The entries of a map, after its first brace.
    fn entries(&mut self) -> Option<Vec<(Expression, Expression)>> {
        let mut entries = Vec::new();
        if self.takes("}") {
            return Some(entries);
        }
        loop {
            let key = self.expression()?;
            self.expect(":")?;
            entries.push((key, self.expression()?));
            if !self.takes(",") {
                self.expect("}")?;
                return Some(entries);
            }
        }
    }

    fn primary(&mut self) -> Option<Expression> {
        Some(match self.next()? {
            Token::Sign("(") => {
                let inner = self.expression()?;
                self.expect(")")?;
                inner
            }
            Token::Sign("[") => Expression::List(self.list("]", Vec::new())?),
            Token::Sign("{") => Expression::Map(self.entries()?),
            Token::Number(number) => match number.parse() {
                Ok(number) => Expression::Int(number),
                Err(_) => Expression::Double(number.parse().ok()?),
            },
            Token::Text(text, escapes) => Expression::Text(literal(text, escapes)?),
            Token::Name("true") => Expression::Bool(true),
            Token::Name("false") => Expression::Bool(false),
            Token::Name("null") => Expression::Null,
            Token::Name("has") => {
                self.expect("(")?;
                let Expression::Field(of, name) = self.expression()? else { return None };
                self.expect(")")?;
                Expression::Has(of, name)
            }
            Token::Name(name) if self.takes("(") => {
                let arguments = self.list(")", Vec::new())?;
                call(name, arguments)?
            }
            Token::Name(name) => Expression::Name(name),
            Token::Sign(_) => return None,
        })
    }
}

fn sign_of(sign: &str) -> &'static str {
    SIGNS.into_iter().find(|known| *known == sign).unwrap_or_default()
}

fn call(name: &str, arguments: Vec<Expression>) -> Option<Expression> {
    let (function, count) = Function::named(name)?;
    (arguments.len() == count).then_some(Expression::Call(function, arguments))
}

/// A field whose name is a reserved word is written `__namespace__`.
fn unescaped(name: &'static str) -> &'static str {
    name.strip_prefix("__").and_then(|name| name.strip_suffix("__")).unwrap_or(name)
}

fn literal(text: &'static str, escapes: bool) -> Option<Literal> {
    if !escapes || !text.contains('\\') {
        return Some(Literal::Plain(text));
    }
    let mut out = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        out.push(match character {
            '\\' => match characters.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                escaped @ ('\\' | '\'' | '"' | '`' | '?') => escaped,
                _ => return None,
            },
            plain => plain,
        });
    }
    Some(Literal::Escaped(out))
}
