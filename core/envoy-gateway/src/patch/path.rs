//! Finds the places that a JSONPath selects: members, indexes, wildcards, descent and filters. Does not change anything.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::{Plain, Tree};
use chancery_base::re2::engine::Finder;

enum Step {
    Member(String),
    Index(i64),
    All,
    /// The value itself and everything within.
    Descent,
    Filter(Test),
}

enum Test {
    Exists(Vec<Step>),
    Compare(Operand, &'static str, Operand),
    Matches { of: Vec<Step>, expression: String, whole: bool },
    Both(Box<Test>, Box<Test>),
    Either(Box<Test>, Box<Test>),
    Not(Box<Test>),
}

enum Operand {
    Path(Vec<Step>),
    Text(String),
    Number(f64),
    Bool(bool),
    Null,
}

/// Returns the pointers of all places that the expression selects.
pub(super) fn locate(document: &Tree, expression: &str) -> Result<Vec<String>, String> {
    let mut parser = Parser { rest: expression.trim() };
    parser.eat("$");
    parser.eat("@");
    let steps = parser.steps()?;
    if !parser.rest.is_empty() {
        return Err(format!("an expression fragment can not start with a '{}'", parser.rest.chars().next().unwrap_or_default()));
    }
    let mut found = Vec::new();
    walk(document, &steps, &mut String::new(), &mut |pointer, _| found.push(String::from(pointer)));
    Ok(found)
}

fn walk(at: &Tree, steps: &[Step], pointer: &mut String, found: &mut dyn FnMut(&str, &Tree)) {
    let Some((step, rest)) = steps.split_first() else { return found(pointer, at) };
    let mut enter = |key: &str, child: &Tree, rest: &[Step]| {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
        walk(child, rest, pointer, found);
        pointer.truncate(length);
    };
    let children = || -> Vec<(String, &Tree)> {
        let fields = at.fields().iter().map(|(key, value)| (String::from(key.as_str()), value));
        let items = at.items().iter().enumerate().map(|(index, value)| (format!("{index}"), value));
        fields.chain(items).collect()
    };
    match step {
        Step::Member(name) => {
            if let Some((_, value)) = at.fields().iter().find(|(key, _)| key.as_str() == name) {
                enter(name, value, rest);
            }
        }
        Step::Index(number) => {
            let length = at.items().len() as i64;
            let place = if *number < 0 { number + length } else { *number };
            if let Some(value) = usize::try_from(place).ok().and_then(|place| at.items().get(place)) {
                enter(&format!("{place}"), value, rest);
            }
        }
        Step::All => children().into_iter().for_each(|(key, value)| enter(&key, value, rest)),
        Step::Filter(test) => {
            children().into_iter().filter(|(_, value)| holds(test, value)).for_each(|(key, value)| enter(&key, value, rest));
        }
        Step::Descent => {
            let all = children();
            walk(at, rest, pointer, found);
            for (key, value) in all {
                let length = pointer.len();
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                walk(value, steps, pointer, found);
                pointer.truncate(length);
            }
        }
    }
}

fn values<'t>(at: &'t Tree, steps: &[Step]) -> Vec<Tree> {
    let mut all = Vec::new();
    let _: &'t Tree = at;
    walk(at, steps, &mut String::new(), &mut |_, value| all.push(value.clone()));
    all
}

fn holds(test: &Test, at: &Tree) -> bool {
    match test {
        Test::Exists(path) => values(at, path).iter().any(|value| !matches!(value.value, Plain::Null | Plain::Bool(false))),
        Test::Both(one, other) => holds(one, at) && holds(other, at),
        Test::Either(one, other) => holds(one, at) || holds(other, at),
        Test::Not(of) => !holds(of, at),
        Test::Matches { of, expression, whole } => {
            let expression = if *whole { format!("^(?:{expression})$") } else { expression.clone() };
            let Ok(finder) = Finder::new(&expression) else { return false };
            values(at, of).iter().any(|value| finder.is_match(value.text()))
        }
        Test::Compare(one, operator, other) => {
            let (one, other) = (operand(one, at), operand(other, at));
            match (one, other) {
                (Some(one), Some(other)) => compare(&one, operator, &other),
                _ => *operator == "!=",
            }
        }
    }
}

fn operand(of: &Operand, at: &Tree) -> Option<Tree> {
    match of {
        Operand::Path(path) => values(at, path).into_iter().next(),
        Operand::Text(text) => Some(Tree::from(text.as_str())),
        Operand::Number(number) => Some(Tree::from(*number)),
        Operand::Bool(value) => Some(Tree::from(*value)),
        Operand::Null => Some(Tree::NULL),
    }
}

fn compare(one: &Tree, operator: &str, other: &Tree) -> bool {
    let is_number = |of: &Tree| matches!(of.value, Plain::Int(_) | Plain::Selected(_) | Plain::Float(_));
    let order = if is_number(one) && is_number(other) {
        one.float().partial_cmp(&other.float())
    } else {
        match (&one.value, &other.value) {
            (Plain::String(one), Plain::String(other)) => Some(one.cmp(other)),
            (one, other) => (one == other).then_some(core::cmp::Ordering::Equal),
        }
    };
    match operator {
        "==" => order.is_some_and(core::cmp::Ordering::is_eq),
        "!=" => !order.is_some_and(core::cmp::Ordering::is_eq),
        "<" => order.is_some_and(core::cmp::Ordering::is_lt),
        "<=" => order.is_some_and(core::cmp::Ordering::is_le),
        ">" => order.is_some_and(core::cmp::Ordering::is_gt),
        _ => order.is_some_and(core::cmp::Ordering::is_ge),
    }
}

struct Parser<'t> {
    rest: &'t str,
}

impl Parser<'_> {
    fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn word(&mut self) -> String {
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '@'))).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        String::from(word)
    }

    fn steps(&mut self) -> Result<Vec<Step>, String> {
        let mut steps = Vec::new();
        loop {
            if self.eat("..") {
                steps.push(Step::Descent);
                if self.rest.starts_with('[') || self.rest.is_empty() {
                    continue;
                }
                steps.push(self.name());
            } else if self.eat(".") {
                steps.push(self.name());
            } else if self.eat("[") {
                self.space();
                steps.push(self.bracket()?);
                self.space();
                if !self.eat("]") {
                    return Err("not terminated".into());
                }
            } else if steps.is_empty() && self.rest.starts_with(|c: char| c.is_alphabetic() || c == '_') {
                steps.push(self.name());
            } else {
                return Ok(steps);
            }
        }
    }

    fn name(&mut self) -> Step {
        if self.eat("*") { Step::All } else { Step::Member(self.word()) }
    }

    fn bracket(&mut self) -> Result<Step, String> {
        if self.eat("*") {
            return Ok(Step::All);
        }
        if self.eat("?") {
            self.space();
            return Ok(Step::Filter(self.either()?));
        }
        if self.rest.starts_with(['\'', '"']) {
            return Ok(Step::Member(self.text()?));
        }
        let end = self.rest.find(']').unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        number.trim().parse().map(Step::Index).map_err(|_| format!("invalid bracket fragment {number}"))
    }

    fn text(&mut self) -> Result<String, String> {
        let mut characters = self.rest.char_indices();
        let quote = characters.next().map_or('\'', |(_, quote)| quote);
        let mut out = String::new();
        while let Some((place, character)) = characters.next() {
            match character {
                '\\' => out.extend(characters.next().map(|(_, escaped)| escaped)),
                _ if character == quote => {
                    self.rest = &self.rest[place + character.len_utf8()..];
                    return Ok(out);
                }
                plain => out.push(plain),
            }
        }
        Err("not terminated".into())
    }

    fn either(&mut self) -> Result<Test, String> {
        let mut test = self.both()?;
        self.space();
        while self.eat("||") {
            self.space();
            test = Test::Either(Box::new(test), Box::new(self.both()?));
            self.space();
        }
        Ok(test)
    }

    fn both(&mut self) -> Result<Test, String> {
        let mut test = self.single()?;
        self.space();
        while self.eat("&&") {
            self.space();
            test = Test::Both(Box::new(test), Box::new(self.single()?));
            self.space();
        }
        Ok(test)
    }

    fn single(&mut self) -> Result<Test, String> {
        if self.eat("!") {
            return Ok(Test::Not(Box::new(self.single()?)));
        }
        if self.eat("(") {
            self.space();
            let test = self.either()?;
            self.space();
            return if self.eat(")") { Ok(test) } else { Err("not terminated".into()) };
        }
        for (name, whole) in [("match(", true), ("search(", false)] {
            if self.eat(name) {
                self.space();
                let Operand::Path(of) = self.operand()? else { return Err(format!("{name} wants a path")) };
                self.space();
                self.eat(",");
                self.space();
                let expression = self.text()?;
                self.space();
                return if self.eat(")") { Ok(Test::Matches { of, expression, whole }) } else { Err("not terminated".into()) };
            }
        }
        let one = self.operand()?;
        self.space();
        if self.eat("=~") || self.eat("~=") {
            self.space();
            let expression = if self.eat("/") { self.slashed()? } else { self.text()? };
            let Operand::Path(of) = one else { return Err("=~ wants a path".into()) };
            return Ok(Test::Matches { of, expression, whole: false });
        }
        let operator = ["==", "!=", "<=", ">=", "<", ">"].into_iter().find(|operator| self.eat(operator));
        self.space();
        match (operator, one) {
            (Some(operator), one) => Ok(Test::Compare(one, operator, self.operand()?)),
            (None, Operand::Path(path)) => Ok(Test::Exists(path)),
            (None, _) => Err("an operator is missing".into()),
        }
    }

    fn slashed(&mut self) -> Result<String, String> {
        let (expression, rest) = self.rest.split_once('/').ok_or("not terminated")?;
        self.rest = rest;
        Ok(String::from(expression))
    }

    fn operand(&mut self) -> Result<Operand, String> {
        if self.eat("@") || self.eat("$") {
            return Ok(Operand::Path(self.steps()?));
        }
        if self.rest.starts_with(['\'', '"']) {
            return Ok(Operand::Text(self.text()?));
        }
        let end = self.rest.find([' ', ')', ']', '&', '|', ',']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word {
            "true" => Ok(Operand::Bool(true)),
            "false" => Ok(Operand::Bool(false)),
            "null" => Ok(Operand::Null),
            number => number.parse().map(Operand::Number).map_err(|_| format!("'{number}' is not a value or function")),
        }
    }
}
