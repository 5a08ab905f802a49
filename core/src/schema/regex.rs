//! The regular expressions that schemas are written with: compiled once, matched in time that is linear in the text.
//!
//! What CRDs use of RE2's syntax: literals, `.`, classes with ranges and escapes, groups, `|`, `*`, `+`, `?`, `{m,n}`, `^`, `$` and `(?i)`.
//!
//! What must not be here: expressions that people write in their configuration.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::iter::Peekable;
use core::str::Chars;

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct Regex {
    program: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    One(Class),
    Fork(usize, usize),
    Go(usize),
    Start,
    End,
    Match,
}

/// Characters, by ranges.
#[derive(Clone, Debug, Default)]
struct Class {
    ranges: Vec<(char, char)>,
    negated: bool,
}

impl Class {
    fn of(character: char) -> Self {
        Self { ranges: vec![(character, character)], negated: false }
    }

    fn has(&self, character: char) -> bool {
        self.ranges.iter().any(|(low, high)| (*low..=*high).contains(&character)) != self.negated
    }

    /// With the other case of its letters.
    fn folded(mut self) -> Self {
        for at in 0..self.ranges.len() {
            let (low, high) = self.ranges[at];
            for (letters, shift) in [(('a', 'z'), -32_i32), (('A', 'Z'), 32)] {
                let (from, to) = (low.max(letters.0), high.min(letters.1));
                let other = |character: char| char::from_u32((character as i32 + shift) as u32).unwrap_or(character);
                if from <= to {
                    self.ranges.push((other(from), other(to)));
                }
            }
        }
        self
    }
}

enum Piece {
    Empty,
    One(Class),
    Start,
    End,
    Sequence(Vec<Piece>),
    Either(Vec<Piece>),
    Repeat { piece: Box<Piece>, min: usize, max: Option<usize> },
}

/// As deep as groups may nest, and as long as a program may get.
const DEEPEST: usize = 50;
const LONGEST: usize = 20_000;

impl Regex {
    /// Compiles; `None` for what is no expression of this syntax.
    pub fn new(text: &str) -> Option<Self> {
        let mut reader = Reader { rest: text.chars().peekable(), folds: false, depth: 0 };
        let piece = reader.either()?;
        if reader.rest.next().is_some() {
            return None;
        }
        let mut program = Vec::new();
        write(&piece, &mut program)?;
        program.push(Step::Match);
        Some(Self { program })
    }

    /// Whether it matches somewhere in a text.
    pub fn is_match(&self, text: &str) -> bool {
        let mut now = Threads::new(self.program.len());
        let mut next = Threads::new(self.program.len());
        let mut characters = text.chars().peekable();
        let mut at_start = true;
        loop {
            let character = characters.next();
            self.follow(0, at_start, character.is_none(), &mut now);
            if now.matched {
                return true;
            }
            let Some(character) = character else { return false };
            for thread in &now.list {
                if let Step::One(class) = &self.program[*thread]
                    && class.has(character)
                {
                    self.follow(thread + 1, false, characters.peek().is_none(), &mut next);
                }
            }
            if next.matched {
                return true;
            }
            core::mem::swap(&mut now, &mut next);
            next.clear();
            at_start = false;
        }
    }

    fn follow(&self, from: usize, at_start: bool, at_end: bool, threads: &mut Threads) {
        threads.stack.push(from);
        while let Some(at) = threads.stack.pop() {
            if core::mem::replace(&mut threads.seen[at], true) {
                continue;
            }
            match &self.program[at] {
                Step::One(_) => threads.list.push(at),
                Step::Fork(one, other) => threads.stack.extend([*other, *one]),
                Step::Go(to) => threads.stack.push(*to),
                Step::Start if at_start => threads.stack.push(at + 1),
                Step::End if at_end => threads.stack.push(at + 1),
                Step::Start | Step::End => {}
                Step::Match => threads.matched = true,
            }
        }
    }
}

/// Where a match may stand.
struct Threads {
    list: Vec<usize>,
    seen: Vec<bool>,
    stack: Vec<usize>,
    matched: bool,
}

impl Threads {
    fn new(steps: usize) -> Self {
        Self { list: Vec::new(), seen: vec![false; steps], stack: Vec::new(), matched: false }
    }

    fn clear(&mut self) {
        self.list.clear();
        self.seen.fill(false);
    }
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    folds: bool,
    depth: usize,
}

impl Reader<'_> {
    fn either(&mut self) -> Option<Piece> {
        let mut choices = vec![self.sequence()?];
        while self.rest.next_if_eq(&'|').is_some() {
            choices.push(self.sequence()?);
        }
        if choices.len() == 1 { choices.pop() } else { Some(Piece::Either(choices)) }
    }

    fn sequence(&mut self) -> Option<Piece> {
        let mut pieces = Vec::new();
        while self.rest.peek().is_some_and(|next| !matches!(next, '|' | ')')) {
            let piece = self.atom()?;
            pieces.push(self.repeated(piece)?);
        }
        Some(Piece::Sequence(pieces))
    }

    fn repeated(&mut self, piece: Piece) -> Option<Piece> {
        let (min, max) = match self.rest.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                self.rest.next();
                let min = self.number()?;
                let max = match self.rest.next()? {
                    '}' => return Some(Piece::Repeat { piece: Box::new(piece), min, max: Some(min) }),
                    ',' if self.rest.peek() == Some(&'}') => None,
                    ',' => Some(self.number()?),
                    _ => return None,
                };
                (min, max)
            }
            _ => return Some(piece),
        };
        self.rest.next();
        Some(Piece::Repeat { piece: Box::new(piece), min, max })
    }

    fn number(&mut self) -> Option<usize> {
        let mut number = self.rest.next()?.to_digit(10)? as usize;
        while let Some(digit) = self.rest.peek().and_then(|next| next.to_digit(10)) {
            self.rest.next();
            number = number.checked_mul(10)?.checked_add(digit as usize)?;
        }
        (number <= 1000).then_some(number)
    }

    fn atom(&mut self) -> Option<Piece> {
        let class = match self.rest.next()? {
            '^' => return Some(Piece::Start),
            '$' => return Some(Piece::End),
            '(' => return self.group(),
            '[' => self.class()?,
            '.' => Class { ranges: vec![('\n', '\n')], negated: true },
            '\\' => self.escaped()?,
            literal => Class::of(literal),
        };
        Some(Piece::One(if self.folds { class.folded() } else { class }))
    }

    fn group(&mut self) -> Option<Piece> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let folds = self.folds;
        if self.rest.next_if_eq(&'?').is_some() {
            let sets = self.rest.next_if_eq(&'i').is_some();
            self.folds |= sets;
            if sets && self.rest.next_if_eq(&')').is_some() {
                // It holds for the rest of the group around it.
                self.depth -= 1;
                return Some(Piece::Empty);
            }
            self.rest.next_if_eq(&':')?;
        }
        let piece = self.either()?;
        self.rest.next_if_eq(&')')?;
        self.folds = folds;
        self.depth -= 1;
        Some(piece)
    }

    fn class(&mut self) -> Option<Class> {
        let mut class = Class { ranges: Vec::new(), negated: self.rest.next_if_eq(&'^').is_some() };
        let mut is_first = true;
        loop {
            let low = match self.rest.next()? {
                ']' if !is_first => return Some(class),
                '\\' => match self.escaped()? {
                    Class { ranges, .. } if ranges.len() == 1 && ranges[0].0 == ranges[0].1 => ranges[0].0,
                    set => {
                        class.ranges.extend(set.ranges);
                        is_first = false;
                        continue;
                    }
                },
                literal => literal,
            };
            is_first = false;
            let mut ahead = self.rest.clone();
            let is_range = ahead.next() == Some('-') && ahead.next().is_some_and(|next| next != ']');
            let high = if is_range {
                self.rest.next();
                match self.rest.next()? {
                    '\\' => self.escaped()?.ranges.first()?.0,
                    literal => literal,
                }
            } else {
                low
            };
            class.ranges.push((low, high));
        }
    }

    /// What stands after a backslash.
    fn escaped(&mut self) -> Option<Class> {
        let character = match self.rest.next()? {
            'd' => return Some(Class { ranges: vec![('0', '9')], negated: false }),
            'w' => return Some(Class { ranges: vec![('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')], negated: false }),
            's' => return Some(Class { ranges: vec![('\t', '\n'), ('\x0c', '\r'), (' ', ' ')], negated: false }),
            'x' => char::from_u32(self.rest.next()?.to_digit(16)? * 16 + self.rest.next()?.to_digit(16)?)?,
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            letter if letter.is_ascii_alphanumeric() => return None,
            literal => literal,
        };
        Some(Class::of(character))
    }
}

fn write(piece: &Piece, program: &mut Vec<Step>) -> Option<()> {
    if program.len() > LONGEST {
        return None;
    }
    match piece {
        Piece::Empty => {}
        Piece::One(class) => program.push(Step::One(class.clone())),
        Piece::Start => program.push(Step::Start),
        Piece::End => program.push(Step::End),
        Piece::Sequence(pieces) => {
            for piece in pieces {
                write(piece, program)?;
            }
        }
        Piece::Either(choices) => {
            let mut ends = Vec::new();
            for (at, choice) in choices.iter().enumerate() {
                if at + 1 == choices.len() {
                    write(choice, program)?;
                } else {
                    let fork = hold(program);
                    write(choice, program)?;
                    ends.push(hold(program));
                    program[fork] = Step::Fork(fork + 1, program.len());
                }
            }
            for end in ends {
                program[end] = Step::Go(program.len());
            }
        }
        Piece::Repeat { piece, min, max } => {
            for _ in 0..*min {
                write(piece, program)?;
            }
            match max {
                None => {
                    let fork = hold(program);
                    write(piece, program)?;
                    program.push(Step::Go(fork));
                    program[fork] = Step::Fork(fork + 1, program.len());
                }
                Some(max) => {
                    let mut forks = Vec::new();
                    for _ in *min..*max {
                        forks.push(hold(program));
                        write(piece, program)?;
                    }
                    for fork in forks {
                        program[fork] = Step::Fork(fork + 1, program.len());
                    }
                }
            }
        }
    }
    Some(())
}

/// A place for a step that is known later.
fn hold(program: &mut Vec<Step>) -> usize {
    program.push(Step::Go(0));
    program.len() - 1
}

#[cfg(test)]
mod tests {
    use super::Regex;

    fn matches(pattern: &str, yes: &[&str], no: &[&str]) {
        let regex = Regex::new(pattern).unwrap_or_else(|| panic!("{pattern} compiles"));
        for text in yes {
            assert!(regex.is_match(text), "{pattern} matches {text:?}");
        }
        for text in no {
            assert!(!regex.is_match(text), "{pattern} does not match {text:?}");
        }
    }

    #[test]
    fn patterns_of_crds_match_as_re2_does() {
        matches(
            r"^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
            &["a", "*.example.com", "a-b.c"],
            &["", "*", "A.com", "a..b", "-a", "a-", "a:80"],
        );
        matches(r"^(((\d*(\.\d*)?h)|(\d*(\.\d*)?µs))+|infinity)$", &["1h", "1.5h3µs", "h", "infinity"], &["", "1", "1m", "infinity1"]);
        matches(r#"^[^()<>@,;:\\"\/[\]?={} \t\x7f]+$"#, &["name", "naïve"], &["", "a b", "a[", "a]", "a\\", "a\t", "\x7f"]);
        matches(r"^[A-Za-z0-9!#$%&'*+\-.^_\x60|~]+$", &["x-y", "`"], &["a b", "é"]);
        matches("^([0-9]{1,5}(h|m|s|ms)){1,4}$", &["1h30m", "12345ms"], &["", "123456s", "1h1h1h1h1h"]);
        matches(r"^(?i)\.?[a-z_][a-z_0-9]*$", &["Foo", ".foo"], &["0foo"]);
        matches("^(?:[-a/]|[%][0-9a-fA-F]{2})+$", &["/a%2F"], &["%2", "b"]);
        matches(r"^Hostname|IP|[a-z]+\/x$", &["Hostnames", "an IP", "a/x"], &["a/xy", "hostname"]);
        matches("^$|^a$", &["", "a"], &["b", "aa"]);
        matches(r"^(([^:/?#]+):)(//([^/?#]*))([^?#]*)(\?([^#]*))?(#(.*))?", &["http://x", "a://b/c?d#e"], &["http:/x", "//x"]);
        matches("b{2,}", &["abbb"], &["ab", ""]);
    }

    #[test]
    fn time_is_linear_in_the_text() {
        let text = "a".repeat(20_000);
        matches("^(a*)*(a|aa)*b$", &[], &[&text]);
    }

    #[test]
    fn what_is_no_expression_is_none() {
        for pattern in ["(", ")", "[a", "a{", "a{1,", r"\", r"\p{L}", "(?<n>a)", "a{2000}", &"(".repeat(1000)] {
            assert!(Regex::new(pattern).is_none(), "{pattern}");
        }
    }
}
