//! Finds strings that some expressions match and others do not, one for each combination, and so whether two expressions overlap or one contains
//! the other.
//!
//! The expressions are determinized together step by step, and every reached state shows which of them match. Within the bounds the search is
//! complete: if it finds no string, none exists (of the tried characters).
//!
//! Does not match single strings; see [`super::engine`].

use super::RegexError;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use hashbrown::HashMap;
use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::look;
use regex_automata::util::primitives::StateID;
use regex_syntax::hir::Look;

/// The set of strings that an expression matches, read character by character.
pub struct Language {
    nfa: NFA,
    sets: Vec<Set>,
    numbers: HashMap<Vec<StateID>, usize>,
    steps: HashMap<(usize, u8), usize>,
}

/// States that are reached together.
struct Set {
    states: Vec<StateID>,
    accepts: bool,
}

/// Strings by the set of expressions that match them.
#[derive(Debug, Default)]
pub struct Texts {
    /// Bit `1 << n` is set if expression `n` matches.
    pub found: BTreeMap<u64, String>,
    /// Whether the search ended within the bounds.
    pub complete: bool,
}

/// The form of tried strings.
#[derive(Clone, Copy, Debug)]
pub struct TextShape<'a> {
    /// Their prefix.
    pub begin: &'a str,
    /// The characters after the prefix, in order of preference.
    pub alphabet: &'a [u8],
    /// Whether two consecutive slashes are allowed.
    pub double_slashes: bool,
}

impl TextShape<'static> {
    /// All visible ASCII characters, the most readable first.
    pub const VISIBLE: Self = Self {
        begin: "",
        alphabet: b"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ/-_.!\"#$%&'()*+,:;<=>?@[\\]^`{|}~",
        double_slashes: true,
    };
}

/// The relation between the strings of two expressions.
#[derive(Debug)]
pub struct Relation {
    /// A string that both match, if one was found.
    pub common: Option<String>,
    /// Whether the first certainly matches everything that the second matches.
    pub first_holds: bool,
    /// Whether the second certainly matches everything that the first matches.
    pub second_holds: bool,
}

/// The maximum number of combined states for two expressions.
const MOST_STATES_OF_TWO: usize = 600;

/// Larger automata are not built: bytes.
const MOST_MEMORY: usize = 1 << 18;

impl Language {
    /// The language of an RE2 expression.
    ///
    /// # Errors
    ///
    /// RE2 rejects it, it is too large, or it uses word boundaries.
    pub fn regex(regex: &str) -> Result<Self, RegexError> {
        Self::of(&super::engine::parse(regex)?)
    }

    /// The language of an expression in the `regex` project's syntax.
    ///
    /// # Errors
    ///
    /// Like [`Self::regex`].
    pub fn plain(regex: &str) -> Result<Self, RegexError> {
        let hir = regex_syntax::ParserBuilder::new().utf8(false).build().parse(regex).map_err(|error| RegexError::Other(error.to_string()))?;
        Self::of(&hir)
    }

    /// The language of all strings with this prefix.
    ///
    /// # Errors
    ///
    /// Like [`Self::regex`].
    pub fn prefix(text: &str) -> Result<Self, RegexError> {
        Self::regex(&format!("{}\\C*", super::engine::quote(text)))
    }

    /// Relates its strings to another language's.
    pub fn relation(&mut self, other: &mut Self) -> Relation {
        let mut budget = MOST_STATES_OF_TWO;
        let mut out = texts(&mut [self, other], &TextShape::VISIBLE, &mut budget);
        let [first, second, both] = [0b01, 0b10, 0b11];
        Relation {
            first_holds: out.complete && !out.found.contains_key(&second),
            second_holds: out.complete && !out.found.contains_key(&first),
            common: out.found.remove(&both),
        }
    }

    fn of(hir: &regex_syntax::hir::Hir) -> Result<Self, RegexError> {
        let looks = hir.properties().look_set();
        if looks.iter().any(|look| !matches!(look, Look::Start | Look::End)) {
            return Err(RegexError::LooksAtBorders);
        }
        let config = NFA::config().nfa_size_limit(Some(MOST_MEMORY)).which_captures(regex_automata::nfa::thompson::WhichCaptures::None);
        let nfa = NFA::compiler().configure(config).build_from_hir(hir).map_err(|_| RegexError::TooLarge)?;
        let mut language = Self { nfa, sets: Vec::new(), numbers: HashMap::default(), steps: HashMap::default() };
        let start = language.nfa.start_anchored();
        language.set(Vec::from([start]), true);
        Ok(language)
    }

    /// All states that are reachable without a character. States that wait for the end stay in the set.
    fn closure(&self, mut open: Vec<StateID>, at_start: bool, at_end: bool) -> Vec<StateID> {
        let mut known = alloc::vec![false; self.nfa.states().len()];
        let mut seen = Vec::new();
        while let Some(id) = open.pop() {
            match known.get_mut(id.as_usize()) {
                Some(known) if !*known => *known = true,
                _ => continue,
            }
            seen.push(id);
            match self.nfa.state(id) {
                State::Look { look: look::Look::Start, next } if at_start => open.push(*next),
                State::Look { look: look::Look::End, next } if at_end => open.push(*next),
                State::Union { alternates } => open.extend(alternates.iter().copied()),
                State::BinaryUnion { alt1, alt2 } => open.extend([*alt1, *alt2]),
                State::Capture { next, .. } => open.push(*next),
                _ => {}
            }
        }
        seen.sort();
        seen
    }

    /// The number of a set.
    fn set(&mut self, open: Vec<StateID>, at_start: bool) -> usize {
        let states = self.closure(open, at_start, false);
        if let Some(known) = self.numbers.get(&states).filter(|_| !at_start) {
            return *known;
        }
        let at_end = self.closure(states.clone(), at_start, true);
        let accepts = at_end.iter().any(|id| matches!(self.nfa.state(*id), State::Match { .. }));
        let number = self.sets.len();
        if !at_start {
            self.numbers.insert(states.clone(), number);
        }
        self.sets.push(Set { states, accepts });
        number
    }

    fn step(&mut self, from: usize, byte: u8) -> usize {
        if let Some(known) = self.steps.get(&(from, byte)) {
            return *known;
        }
        let mut next = Vec::new();
        for id in self.sets.get(from).map(|set| set.states.as_slice()).unwrap_or_default() {
            match self.nfa.state(*id) {
                State::ByteRange { trans } if trans.matches_byte(byte) => next.push(trans.next),
                State::Sparse(all) => next.extend(all.matches_byte(byte)),
                State::Dense(all) => next.extend(all.matches_byte(byte)),
                _ => {}
            }
        }
        let to = self.set(next, false);
        self.steps.insert((from, byte), to);
        to
    }

    fn accepts(&self, set: usize) -> bool {
        self.sets.get(set).is_some_and(|set| set.accepts)
    }
}

/// One character of each class that the expressions distinguish, the first of `alphabet`.
fn sorts(languages: &[&mut Language], alphabet: &[u8]) -> Vec<u8> {
    let mut seen = Vec::new();
    let mut out = Vec::new();
    for byte in alphabet {
        let sort: Vec<u8> = languages.iter().map(|language| language.nfa.byte_classes().get(*byte)).collect();
        // A slash separates segments, so it is always its own class.
        if *byte == b'/' || !seen.contains(&sort) {
            seen.push(sort);
            out.push(*byte);
        }
    }
    out
}

/// Finds strings of the given form: for each combination of matching languages the shortest one that is longer than the prefix, or the prefix
/// itself if there is none. Visits at most `budget` combined states, and subtracts them from it. Only the first 64 languages are used.
pub fn texts(languages: &mut [&mut Language], tried: &TextShape<'_>, budget: &mut usize) -> Texts {
    let count = languages.len().min(64);
    let languages = languages.get_mut(..count).unwrap_or_default();
    let sorts = sorts(languages, tried.alphabet);
    let mut start: Vec<usize> = alloc::vec![0; count];
    for byte in tried.begin.bytes() {
        start = languages.iter_mut().zip(start).map(|(language, at)| language.step(at, byte)).collect();
    }
    let mask = |languages: &[&mut Language], state: &[usize]| {
        languages.iter().zip(state).enumerate().filter(|(_, (language, at))| language.accepts(**at)).fold(0, |mask, (bit, _)| mask | 1_u64 << bit)
    };
    let mut out = Texts { found: BTreeMap::new(), complete: true };
    // The characters read to reach each state; a state after a slash is separate.
    let slash = tried.begin.ends_with('/');
    let first = (start, slash);
    let mut seen: HashMap<(Vec<usize>, bool), ()> = HashMap::from_iter([(first.clone(), ())]);
    let mut queue = VecDeque::from([(first.clone(), String::from(tried.begin))]);
    while let Some(((state, slash), text)) = queue.pop_front() {
        for byte in &sorts {
            if slash && *byte == b'/' && !tried.double_slashes {
                continue;
            }
            let next: Vec<usize> = languages.iter_mut().zip(&state).map(|(language, at)| language.step(*at, *byte)).collect();
            let key = (next, *byte == b'/');
            if seen.contains_key(&key) {
                continue;
            }
            if *budget == 0 {
                out.complete = false;
                break;
            }
            *budget -= 1;
            let mut text = text.clone();
            text.push(char::from(*byte));
            out.found.entry(mask(languages, &key.0)).or_insert_with(|| text.clone());
            seen.insert(key.clone(), ());
            queue.push_back((key, text));
        }
    }
    out.found.entry(mask(languages, &first.0)).or_insert_with(|| String::from(tried.begin));
    out
}

#[cfg(test)]
mod tests {
    use super::{Language, Relation, TextShape, texts};
    use alloc::string::String;
    use alloc::vec::Vec;

    const TRIED: TextShape<'_> = TextShape { begin: "/", alphabet: b"abcx019-_./", double_slashes: false };

    fn found(regexes: &[&str], begin: &str) -> Vec<(u64, String)> {
        let mut languages: Vec<Language> = regexes.iter().map(|regex| Language::regex(regex).expect("an expression")).collect();
        let mut budget = 1000;
        let out = texts(&mut languages.iter_mut().collect::<Vec<_>>(), &TextShape { begin, ..TRIED }, &mut budget);
        assert!(out.complete, "{regexes:?}");
        for (mask, text) in &out.found {
            for (bit, regex) in regexes.iter().enumerate() {
                let matches = crate::re2::engine::Regex::new(regex).expect("an expression").is_full_match(text);
                assert_eq!(matches, mask & (1 << bit) != 0, "{regex} and {text}");
            }
        }
        out.found.into_iter().collect()
    }

    #[test]
    fn every_match_combination_has_a_text() {
        assert_eq!(found(&["/a.*", "/.*b"], "/").len(), 4);
        assert_eq!(found(&["/a[0-9]+"], "/").iter().map(|(mask, text)| (*mask, text.as_str())).collect::<Vec<_>>(), [(0, "/a"), (1, "/a0")]);
        // No string matches both.
        assert_eq!(found(&["/a/x", "/b/.*"], "/").len(), 3);
        // Everything that matches one matches the other.
        assert_eq!(found(&["/a/[0-9]{2}", "/a/.+"], "/").len(), 3);
        assert_eq!(found(&["^/v[0-9]$|^/b$"], "/").len(), 2);
        assert_eq!(found(&[""], "").len(), 2);
    }

    #[test]
    fn exceeded_bounds_are_reported() {
        let mut regex = Language::regex("/(a|b)*a(a|b){12}").expect("an expression");
        let mut budget = 50;
        assert!(!texts(&mut [&mut regex], &TRIED, &mut budget).complete);
        assert_eq!(budget, 0);
        assert!(Language::regex(r"/\bx").is_err());
        assert!(Language::regex("(").is_err());
    }

    fn relation(one: &str, two: &str) -> Relation {
        let [mut one, mut two] = [one, two].map(|regex| Language::regex(regex).expect("an expression"));
        one.relation(&mut two)
    }

    #[test]
    fn overlap_is_found_if_it_exists() {
        let text = relation("/api/[a-z]+/x", "/api/v1/.*|/api/v.*").common.expect("one");
        assert!(text.starts_with("/api/v") && text.ends_with("/x"), "{text}");
        assert_eq!(relation("/[0-9]+", "/[a-z]+").common, None);
        assert_eq!(relation("^/a$", "/a").common.as_deref(), Some("/a"));
        assert_eq!(relation("a*", "b*").common.as_deref(), Some(""));
        assert_eq!(relation("https://[a-z]+", "h.*//a").common.as_deref(), Some("https://a"));
    }

    #[test]
    fn containment_is_detected() {
        let holds = |one: &str, two: &str| (relation(one, two).first_holds, relation(two, one).second_holds);
        assert_eq!(holds("/api/.*", "/api/[0-9]+"), (true, true));
        assert_eq!(holds("/api/[0-9]+", "/api/.*"), (false, false));
        assert_eq!(holds("/a(b|c)+", "/ab|/acb"), (true, true));
        let mut prefix = Language::prefix("/a.").expect("small");
        assert!(prefix.relation(&mut Language::regex(r"/a\.b").expect("an expression")).first_holds);
        assert!(!prefix.relation(&mut Language::regex("/axb").expect("an expression")).first_holds);
        assert!(Language::regex("/.*").expect("an expression").relation(&mut Language::prefix("/").expect("small")).first_holds);
        // Too large to be sure.
        assert_eq!(holds(".*a.{14}", ".*a.{14}b"), (false, false));
    }
}
