//! Expressions that select instances, for subsets of a resolver: `Service.Meta.version == v1 and "blue" in Service.Tags`.

use super::instance::Instance;
use super::schema::registration::SERVICE;
use super::schema::{Struct, Type};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::ir::{Plain, Tree};
use chancery_base::re2;
use chancery_base::resource::Sourced;
use chancery_kubernetes::reason::Reason;

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    /// No condition.
    All,
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Not(Box<Expression>),
    Test {
        selector: Vec<String>,
        operator: Operator,
        value: String,
    },
}

/// The condition on a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    NotEqual,
    In,
    NotIn,
    Empty,
    NotEmpty,
    Matches,
    NotMatches,
}

/// The maximum depth of parentheses and negations.
const DEPTH: u32 = 64;

impl Expression {
    /// Parses an expression; an empty one selects every instance.
    pub(crate) fn parse(text: &str) -> Result<Self, Reason> {
        let tokens = tokens(text)?;
        if tokens.is_empty() {
            return Ok(Expression::All);
        }
        let mut parser = Parser { tokens, at: 0 };
        let expression = parser.or(0)?;
        match parser.peek() {
            None => Ok(expression),
            Some(token) => Err(format!("there is `{}` after the expression", token.text()).into()),
        }
    }

    /// Whether it selects an instance.
    pub(crate) fn chooses(&self, instance: &Instance) -> bool {
        match self {
            Expression::All => true,
            Expression::And(one, two) => one.chooses(instance) && two.chooses(instance),
            Expression::Or(one, two) => one.chooses(instance) || two.chooses(instance),
            Expression::Not(inner) => !inner.chooses(instance),
            Expression::Test { selector, operator, value } => {
                let found = instance.field(selector);
                match operator {
                    Operator::Equal => equal(&found, value),
                    Operator::NotEqual => !equal(&found, value),
                    Operator::In => contains(&found, value),
                    Operator::NotIn => !contains(&found, value),
                    Operator::Empty => empty(&found),
                    Operator::NotEmpty => !empty(&found),
                    Operator::Matches => matches(&found, value),
                    Operator::NotMatches => !matches(&found, value),
                }
            }
        }
    }
}

fn text_of(value: &Tree) -> Option<String> {
    Some(match &value.value {
        Plain::String(text) => text.to_string(),
        Plain::Int(number) | Plain::Selected(Sourced { value: number, .. }) => number.to_string(),
        Plain::Float(number) => number.to_string(),
        Plain::Bool(value) => value.to_string(),
        Plain::Material(_) | Plain::Null | Plain::List(_) | Plain::Object(_) => return None,
    })
}

fn equal(found: &Tree, value: &str) -> bool {
    text_of(found).is_some_and(|text| text == value)
}

fn contains(found: &Tree, value: &str) -> bool {
    match &found.value {
        Plain::List(items) => items.iter().any(|item| equal(item, value)),
        Plain::Object(_) => found.find(value).is_some(),
        Plain::String(text) => text.contains(value),
        _ => false,
    }
}

fn empty(found: &Tree) -> bool {
    match &found.value {
        Plain::List(items) => items.is_empty(),
        Plain::Object(fields) => fields.0.is_empty(),
        Plain::String(text) => text.is_empty(),
        Plain::Null => true,
        _ => false,
    }
}

fn matches(found: &Tree, value: &str) -> bool {
    let Ok(pattern) = re2::engine::Finder::new(value) else { return false };
    text_of(found).is_some_and(|text| pattern.is_match(&text))
}

/// Returns the zero value of an unset field; null for an unknown field.
fn zero(shape: &Struct, path: &[&str]) -> Tree {
    let [name, rest @ ..] = path else { return Tree::NULL };
    let field = shape.0.iter().find(|field| field.name == *name);
    match (field.map(|field| &field.holds), rest) {
        (Some(Type::Struct(inner)), rest) => zero(inner, rest),
        (Some(Type::Text), []) => "".into(),
        (Some(Type::Bool), []) => false.into(),
        (Some(Type::Int), []) => Tree::from(0_i64),
        _ => Tree::NULL,
    }
}

impl Instance {
    /// Returns the value of a selector.
    fn field(&self, selector: &[String]) -> Tree {
        let [of, rest @ ..] = selector else { return Tree::NULL };
        let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
        match (of.as_str(), &rest[..]) {
            ("Service", ["Weights", which @ ("Passing" | "Warning")]) => {
                let (passing, warning) = self.weights.unwrap_or((1, 1));
                Tree::from(if *which == "Passing" { passing } else { warning })
            }
            ("Service", path) => match self.tree.at(path) {
                Tree { value: Plain::Null, .. } => zero(&SERVICE, path),
                found => found.clone(),
            },
            ("Node", ["Node"]) => (&self.node.name).into(),
            ("Node", ["Address"]) => (&self.node.address).into(),
            ("Node", ["Datacenter"]) => (&self.node.datacenter).into(),
            ("Node", ["PeerName"]) => (&self.node.peer).into(),
            ("Node", ["TaggedAddresses", name]) => self.node.tagged.get(*name).into(),
            ("Node", ["Meta", path @ ..]) => self.node.meta.at(path).clone(),
            _ => Tree::NULL,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Quoted(String),
    Sign(&'static str),
}

impl Token {
    fn text(&self) -> &str {
        match self {
            Token::Word(text) | Token::Quoted(text) => text,
            Token::Sign(sign) => sign,
        }
    }
}

const SIGNS: [&str; 6] = ["==", "!=", "(", ")", "[", "]"];

fn tokens(text: &str) -> Result<Vec<Token>, Reason> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            tokens.push(Token::Sign(sign));
            rest = &rest[sign.len()..];
        } else if matches!(first, '"' | '`') {
            let Some(end) = rest[1..].find(first) else { return Err(format!("a quote is not closed: {rest}").into()) };
            tokens.push(Token::Quoted(rest[1..=end].to_string()));
            rest = &rest[end + 2..];
        } else {
            let end = rest.find(|c: char| c.is_whitespace() || "=!()[]\"`".contains(c)).unwrap_or(rest.len());
            if end == 0 {
                return Err(format!("`{first}` is not expected here").into());
            }
            tokens.push(Token::Word(rest[..end].to_string()));
            rest = &rest[end..];
        }
        rest = rest.trim_start();
    }
    Ok(tokens)
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Result<Token, Reason> {
        let token = self.peek().cloned().ok_or("the expression ends too early")?;
        self.at += 1;
        Ok(token)
    }

    fn takes(&mut self, word: &str) -> bool {
        let is = matches!(self.peek(), Some(Token::Word(text)) if text == word) || matches!(self.peek(), Some(Token::Sign(sign)) if *sign == word);
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, word: &str) -> Result<(), Reason> {
        if self.takes(word) { Ok(()) } else { Err(format!("`{word}` is missing").into()) }
    }

    fn or(&mut self, depth: u32) -> Result<Expression, Reason> {
        let mut left = self.and(depth)?;
        while self.takes("or") {
            left = Expression::Or(Box::new(left), Box::new(self.and(depth)?));
        }
        Ok(left)
    }

    fn and(&mut self, depth: u32) -> Result<Expression, Reason> {
        let mut left = self.not(depth)?;
        while self.takes("and") {
            left = Expression::And(Box::new(left), Box::new(self.not(depth)?));
        }
        Ok(left)
    }

    fn not(&mut self, depth: u32) -> Result<Expression, Reason> {
        if depth > DEPTH {
            return Err("the expression is too deep".into());
        }
        if self.takes("not") {
            return Ok(Expression::Not(Box::new(self.not(depth + 1)?)));
        }
        if self.takes("(") {
            let inner = self.or(depth + 1)?;
            self.expect(")")?;
            return Ok(inner);
        }
        self.test()
    }

    fn test(&mut self) -> Result<Expression, Reason> {
        let first = self.next()?;
        // `value in selector`
        if self.takes("in") {
            let value = value(&first)?;
            return Ok(Expression::Test { selector: self.selector()?, operator: Operator::In, value });
        }
        if matches!((self.peek(), self.tokens.get(self.at + 1)), (Some(Token::Word(not)), Some(Token::Word(within))) if not == "not" && within == "in")
        {
            self.at += 2;
            let value = value(&first)?;
            return Ok(Expression::Test { selector: self.selector()?, operator: Operator::NotIn, value });
        }
        self.at -= 1;
        let selector = self.selector()?;
        let negated = self.takes("not");
        let operator = match self.next()?.text() {
            "==" => Operator::Equal,
            "!=" => Operator::NotEqual,
            "contains" if negated => Operator::NotIn,
            "contains" => Operator::In,
            "matches" if negated => Operator::NotMatches,
            "matches" => Operator::Matches,
            "is" => {
                let operator = if self.takes("not") { Operator::NotEmpty } else { Operator::Empty };
                self.expect("empty")?;
                return Ok(Expression::Test { selector, operator, value: String::new() });
            }
            other => return Err(format!("`{other}` is not an operator").into()),
        };
        let value = value(&self.next()?)?;
        Ok(Expression::Test { selector, operator, value })
    }

    fn selector(&mut self) -> Result<Vec<String>, Reason> {
        let Token::Word(word) = self.next()? else { return Err("a field is missing".into()) };
        if !is_selector(&word) {
            return Err(format!("`{word}` is not a field").into());
        }
        let mut path: Vec<String> = word.split('.').map(String::from).collect();
        while self.takes("[") {
            path.push(self.next()?.text().into());
            self.expect("]")?;
        }
        Ok(path)
    }
}

/// Returns the value of a token. A string needs quotes unless it has the form of a field or a number (hashicorp/go-bexpr 0.1.2 `grammar.peg`).
fn value(token: &Token) -> Result<String, Reason> {
    match token {
        Token::Sign(sign) => Err(format!("`{sign}` is not a value").into()),
        Token::Word(word) if !is_selector(word) && !is_number(word) => Err(format!("the value `{word}` needs quotes").into()),
        token => Ok(token.text().to_string()),
    }
}

/// Whether a word is names of letters, digits and `_`, separated by dots.
fn is_selector(word: &str) -> bool {
    let is_name = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    word.split('.').all(is_name)
}

/// Whether a word is a number without leading zeros.
fn is_number(word: &str) -> bool {
    let word = word.strip_prefix('-').unwrap_or(word);
    let (whole, fraction) = word.split_once('.').map_or((word, None), |(whole, fraction)| (whole, Some(fraction)));
    let is_digits = |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_digits(whole) && (whole == "0" || !whole.starts_with('0')) && fraction.is_none_or(is_digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instance() -> Instance {
        let meta = Tree::object([("version", Tree::from("v1"))]);
        let tags = Tree::from(Vec::from([Tree::from("prod")]));
        Instance { tree: Tree::object([("Meta", meta), ("Tags", tags)]), ..Instance::default() }
    }

    #[test]
    fn expressions_choose() {
        let chosen = [
            "",
            "Service.Meta.version == v1",
            "Service.Meta.version == \"v1\" and \"prod\" in Service.Tags",
            "not Service.Meta.version == v2",
            "(Service.Meta.version == v2 or Service.Tags contains prod) and Service.Meta[\"other\"] is empty",
            "Service.Meta.version matches `^v[0-9]$`",
            "test not in Service.Tags",
            "Service.Address == \"\" and Service.Port == 0 and Service.EnableTagOverride == false",
            "Service.Connect.Native == false and Service.Proxy.DestinationServiceName == `` and Service.Weights.Passing == 1",
        ];
        for text in chosen {
            let expression = Expression::parse(text).expect(text);
            assert!(expression.chooses(&instance()), "{text}");
        }
        assert!(!Expression::parse("Service.Meta.version != v1").expect("is one").chooses(&instance()));
    }

    #[test]
    fn nonsense_is_refused() {
        let unquoted = ["foo-bar in Service.Tags", "a.example.com/b in Service.Tags", "Service.Meta.version == 1.2.3", "Node==host-name", "x == 01"];
        for text in unquoted {
            assert!(Expression::parse(text).is_err(), "{text}");
        }
        assert!(Expression::parse("Service.Meta.version == 1.2 and Service.Port == -1 and a.b in Service.Tags").is_ok());
        for text in ["Service.Meta.version", "== v1", "(Service.Meta.version == v1", "Service.Meta.version == \"v1", "a b c"] {
            assert!(Expression::parse(text).is_err(), "{text}");
        }
    }
}
