//! The set of texts that an expression matches as a whole: whether two of them have a text in common, and whether one holds the other.
//! Texts are of visible ASCII, as paths and values of headers are.
//!
//! Both automata are run side by side over all texts at once, a byte at a time, as far as a limit: what is larger stays undecided.
//! What must not be here: one text at a time ([`super::engine`]).

use super::engine;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use hashbrown::HashMap;
use regex_automata::nfa::thompson::{Compiler, Config, NFA, State};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;

/// The texts that an expression matches.
#[derive(Clone, Debug)]
pub struct Language(NFA);

/// Larger automata are not looked into: bytes.
const MOST_MEMORY: usize = 1 << 16;

/// How many pairs of positions are looked at.
const MOST_PAIRS: usize = 600;

/// Positions in an automaton, after the same text.
type Set = Vec<StateID>;

impl Language {
    /// Of an expression; `None` where RE2 refuses it, or where it is too large, or looks at words or lines.
    #[must_use]
    pub fn new(regex: &str) -> Option<Self> {
        let hir = engine::parse(regex).ok()?;
        let config = Config::new().nfa_size_limit(Some(MOST_MEMORY)).utf8(false);
        let nfa = Compiler::new().configure(config).build_from_hir(&hir).ok()?;
        let simple = |state: &State| match state {
            State::Look { look, .. } => matches!(look, Look::Start | Look::End),
            _ => true,
        };
        nfa.states().iter().all(simple).then_some(Self(nfa))
    }

    /// Of all texts that begin with this one.
    #[must_use]
    pub fn prefix(text: &str) -> Option<Self> {
        Self::new(&format!("{}\\C*", engine::quote(text)))
    }

    /// A text that both match; the outer `None`: it could not be decided.
    #[must_use]
    pub fn common(&self, other: &Self) -> Option<Option<String>> {
        let found = walk(&self.0, &other.0, |one, two| one && two)?;
        Some(found.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Whether it certainly matches whatever the other matches.
    #[must_use]
    pub fn holds(&self, other: &Self) -> bool {
        matches!(walk(&self.0, &other.0, |one, two| two && !one), Some(None))
    }
}

/// Visible ASCII, what is good to read first.
fn alphabet() -> impl Iterator<Item = u8> {
    (b'a'..=b'z').chain(b'0'..=b'9').chain(b'A'..=b'Z').chain(*b"/-_.").chain(0x21..=0x7e)
}

/// The shortest text after which it holds that the one and the other match; the outer `None` where the limit came first.
fn walk(one: &NFA, two: &NFA, wanted: impl Fn(bool, bool) -> bool) -> Option<Option<Vec<u8>>> {
    let mut classes = hashbrown::HashSet::new();
    let distinct = |byte: &u8| classes.insert((one.byte_classes().get(*byte), two.byte_classes().get(*byte)));
    let alphabet: Vec<u8> = alphabet().filter(distinct).collect();
    let start = (closure(one, &[one.start_anchored()], true, false), closure(two, &[two.start_anchored()], true, false));
    let mut seen: HashMap<(Set, Set), usize> = HashMap::new();
    // The pair before, and the byte between.
    let mut came: Vec<(usize, u8)> = vec![(0, 0)];
    let mut queue = VecDeque::from([start.clone()]);
    seen.insert(start, 0);
    while let Some(pair) = queue.pop_front() {
        let at = *seen.get(&pair)?;
        let is_start = at == 0;
        if wanted(matches(one, &pair.0, is_start), matches(two, &pair.1, is_start)) {
            let mut text = Vec::new();
            let mut back = at;
            while back != 0 {
                let (before, byte) = *came.get(back)?;
                text.push(byte);
                back = before;
            }
            text.reverse();
            return Some(Some(text));
        }
        for byte in &alphabet {
            let next = (step(one, &pair.0, *byte), step(two, &pair.1, *byte));
            // From here on nothing would change any more.
            if (next.0.is_empty() && next.1.is_empty()) || seen.contains_key(&next) {
                continue;
            }
            if seen.len() >= MOST_PAIRS {
                return None;
            }
            seen.insert(next.clone(), came.len());
            came.push((at, *byte));
            queue.push_back(next);
        }
    }
    Some(None)
}

/// Where one may be without another byte.
fn closure(nfa: &NFA, from: &[StateID], at_start: bool, at_end: bool) -> Set {
    let mut seen = vec![false; nfa.states().len()];
    let mut stack = from.to_vec();
    let mut out = Vec::new();
    while let Some(id) = stack.pop() {
        match seen.get_mut(id.as_usize()) {
            Some(seen) if !*seen => *seen = true,
            _ => continue,
        }
        match nfa.state(id) {
            State::Union { alternates } => stack.extend(alternates.iter().copied()),
            State::BinaryUnion { alt1, alt2 } => stack.extend([*alt1, *alt2]),
            State::Capture { next, .. } => stack.push(*next),
            State::Look { look: Look::Start, next } if at_start => stack.push(*next),
            State::Look { look: Look::End, next } if at_end => stack.push(*next),
            State::Fail => {}
            _ => out.push(id),
        }
    }
    out.sort_unstable();
    out
}

fn step(nfa: &NFA, from: &Set, byte: u8) -> Set {
    let next = from.iter().filter_map(|id| match nfa.state(*id) {
        State::ByteRange { trans } => trans.matches_byte(byte).then_some(trans.next),
        State::Sparse(transitions) => transitions.matches_byte(byte),
        State::Dense(transitions) => transitions.matches_byte(byte),
        _ => None,
    });
    let next: Set = next.collect();
    closure(nfa, &next, false, false)
}

/// Whether the text may end here.
fn matches(nfa: &NFA, at: &Set, at_start: bool) -> bool {
    closure(nfa, at, at_start, true).iter().any(|id| matches!(nfa.state(*id), State::Match { .. }))
}

#[cfg(test)]
mod tests {
    use super::Language;

    fn of(regex: &str) -> Language {
        Language::new(regex).unwrap_or_else(|| panic!("{regex}"))
    }

    #[test]
    fn a_text_in_common_is_found_or_there_is_none() {
        let common = |one: &str, two: &str| of(one).common(&of(two)).expect("decided");
        let text = common("/api/[a-z]+/x", "/api/v1/.*|/api/v.*").expect("one");
        assert!(text.starts_with("/api/v") && text.ends_with("/x"), "{text}");
        assert_eq!(common("/[0-9]+", "/[a-z]+"), None);
        assert_eq!(common("^/a$", "/a").as_deref(), Some("/a"));
        assert_eq!(common("a*", "b*").as_deref(), Some(""));
    }

    #[test]
    fn an_expression_holds_another() {
        assert!(of("/api/.*").holds(&of("/api/[0-9]+")));
        assert!(!of("/api/[0-9]+").holds(&of("/api/.*")));
        assert!(of("/a(b|c)+").holds(&of("/ab|/acb")));
        assert!(Language::prefix("/a.").expect("small").holds(&of(r"/a\.b")));
        assert!(!Language::prefix("/a.").expect("small").holds(&of("/axb")));
        assert!(of("/.*").holds(&Language::prefix("/").expect("small")));
    }

    #[test]
    fn what_is_too_large_is_not_decided() {
        assert!(Language::new(r"\bword\b").is_none());
        assert!(Language::new("(a|b){1000}{1000}").is_none());
        let far = of(".*a.{14}");
        assert_eq!(far.common(&of(".*b.{14}")), None);
    }
}
