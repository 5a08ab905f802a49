//! Derives the paths that the routes of a virtual host distinguish on both sides, if a differing route may match them.
//!
//! For literal prefixes and exact paths: the literal, one more character, one more segment; they cannot distinguish more. For regular expressions:
//! a path for every way in which they and overlapping patterns can match together.
//!
//! Does not derive other conditions; see `conditions`.

use super::budget::Budget;
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::re2::RegexError;
use chancery_base::re2::engine::literal_prefix;
use chancery_base::re2::language::{Language, TextShape, texts};
use chancery_envoy::emit::pb;
use pb::route::{RouteMatch, route_match::PathSpecifier};

/// The path pattern of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pattern<'a> {
    kind: Kind,
    text: &'a str,
    /// Whether the pattern ignores case.
    any_case: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Exact,
    Prefix,
    Segments,
    Regex,
    /// Any path, or an unknown condition.
    Any,
}

/// Characters of paths, the most natural ones first.
const ALPHABET: &[u8] = b"xabcdefghijklmnopqrstuvwyz0123456789-_.~/ABCDEFGHIJKLMNOPQRSTUVWXYZ!$&'()*+,;=:@%";
/// For one pattern, at most this many overlapping patterns of each kind are considered.
const MOST_OVERLAPPING: usize = 100;
/// At most this many overlapping patterns are combined.
const MOST_TOGETHER: usize = 12;
/// At most this many paths are tried for one virtual host.
const MOST_PATHS: usize = 50_000;

impl<'a> Pattern<'a> {
    pub(super) fn of(of: &'a RouteMatch) -> Self {
        let any_case = of.case_sensitive == Some(false);
        let (kind, text) = match &of.path_specifier {
            Some(PathSpecifier::Path(path)) => (Kind::Exact, path.as_str()),
            Some(PathSpecifier::Prefix(path)) => (Kind::Prefix, path.as_str()),
            Some(PathSpecifier::PathSeparatedPrefix(path)) => (Kind::Segments, path.as_str()),
            Some(PathSpecifier::SafeRegex(regex)) => (Kind::Regex, regex.regex.as_str()),
            Some(PathSpecifier::ConnectMatcher(_) | PathSpecifier::PathMatchPolicy(_)) | None => (Kind::Any, ""),
        };
        Self { kind, text, any_case: any_case && kind != Kind::Regex }
    }

    /// Whether literals distinguish its paths only by their prefix.
    fn is_literal(&self) -> bool {
        !self.any_case && self.kind != Kind::Regex
    }

    /// Returns the prefix of all paths that the pattern matches.
    fn begin(&self) -> &'a str {
        match self.kind {
            Kind::Regex => literal_prefix(self.text),
            _ if self.any_case => "",
            _ => self.text,
        }
    }

    fn may_overlap(&self, other: &Self) -> bool {
        let (a, b) = (self.begin(), other.begin());
        a.starts_with(b) || b.starts_with(a)
    }

    fn language(&self) -> Result<Language, RegexError> {
        let text = regex_syntax::escape(self.text);
        let flags = if self.any_case { "(?i)" } else { "" };
        match self.kind {
            Kind::Regex => Language::regex(self.text),
            Kind::Exact => Language::plain(&format!("{flags}{text}")),
            Kind::Prefix => Language::plain(&format!("{flags}{text}(?s-u:.)*")),
            Kind::Segments => Language::plain(&format!("{flags}{text}(?:/(?s-u:.)*)?")),
            Kind::Any => Language::plain("(?s-u:.)*"),
        }
    }

    /// Returns the usual notation: `/api/*`.
    pub(super) fn words(&self) -> String {
        let words = match self.kind {
            Kind::Exact => self.text.to_owned(),
            Kind::Prefix => format!("{}*", self.text),
            Kind::Segments => format!("{}[/*]", self.text),
            Kind::Regex => format!("~ {}", self.text),
            Kind::Any => "/*".to_owned(),
        };
        if self.any_case { format!("{words} (in any case)") } else { words }
    }

    /// Whether it matches every path.
    pub(super) fn takes_all(&self) -> bool {
        self.kind == Kind::Any || self.kind == Kind::Prefix && matches!(self.text, "" | "/") || self.kind == Kind::Segments && self.text.is_empty()
    }

    /// Returns the patterns that match some of this pattern's paths, each with whether it matches all of them. Of expressions that may overlap,
    /// only the first few are returned.
    pub(super) fn overlapping<'m, V>(&self, all: &'m BTreeMap<Pattern<'a>, V>) -> Vec<(&'m Pattern<'a>, &'m V, bool)> {
        let mut out: Vec<_> = all.get_key_value(self).map(|(pattern, of)| (pattern, of, true)).into_iter().collect();
        let literal = |kind, text| Pattern { kind, text, any_case: false };
        if self.is_literal() && self.kind != Kind::Any {
            let shorter = self.text.char_indices().map(|(at, _)| at).filter(|at| *at > 0).filter_map(|at| self.text.get(..at));
            let wider = shorter.chain([self.text]).flat_map(|text| [literal(Kind::Prefix, text), literal(Kind::Segments, text)]);
            let wider = wider.filter(|wider| wider != self && wider.takes_all_of(self)).filter_map(|wider| all.get_key_value(&wider));
            out.extend(wider.map(|(pattern, of)| (pattern, of, true)));
            for kind in [Kind::Exact, Kind::Prefix, Kind::Segments] {
                let inner = all.range(literal(kind, self.text)..).take_while(|(inner, _)| inner.kind == kind && inner.text.starts_with(self.text));
                let inner = inner.filter(|(inner, _)| *inner != self && !inner.any_case && self.takes_all_of(inner) && !inner.takes_all_of(self));
                out.extend(inner.map(|(pattern, of)| (pattern, of, false)).take(MOST_OVERLAPPING));
            }
        }
        let is_expression = |of: &Pattern<'_>| !of.is_literal() || !self.is_literal();
        let expressions = all.iter().filter(|(of, _)| *of != self && is_expression(of) && of.kind != Kind::Any && of.may_overlap_in_any_case(self));
        out.extend(expressions.take(MOST_OVERLAPPING).map(|(pattern, of)| (pattern, of, false)));
        out.extend(all.iter().filter(|(of, _)| of.kind == Kind::Any && *of != self).map(|(pattern, of)| (pattern, of, true)));
        out
    }

    /// Whether a literal matches every path that another literal matches.
    fn takes_all_of(&self, other: &Self) -> bool {
        match (self.kind, other.kind) {
            (Kind::Exact, kind) => kind == Kind::Exact && self.text == other.text,
            (Kind::Prefix, _) => other.text.starts_with(self.text),
            (Kind::Segments, kind) => match other.text.strip_prefix(self.text) {
                Some("") => kind != Kind::Prefix,
                Some(rest) => rest.starts_with('/'),
                None => false,
            },
            _ => false,
        }
    }

    fn may_overlap_in_any_case(&self, other: &Self) -> bool {
        let (a, b) = match self.any_case || other.any_case {
            true => (self.text.to_ascii_lowercase(), other.text.to_ascii_lowercase()),
            false => (self.begin().to_owned(), other.begin().to_owned()),
        };
        a.starts_with(&b) || b.starts_with(&a)
    }

    /// Returns a matching path, if one is known without a search.
    pub(super) fn example(&self) -> Option<String> {
        match self.kind {
            Kind::Any => Some("/".to_owned()),
            _ => Some(self.begin().to_owned()).filter(|path| path.starts_with('/')),
        }
    }

    /// Estimates how few paths it matches: higher is narrower.
    pub(super) fn narrowness(&self) -> (usize, bool) {
        (self.begin().len(), self.kind != Kind::Prefix)
    }
}

/// Literals in sorted order.
struct Literals<'a>(Vec<&'a str>);

impl<'a> Literals<'a> {
    fn beginning_with(&self, begin: &str) -> impl Iterator<Item = &'a str> {
        let first = self.0.partition_point(|literal| *literal < begin);
        self.0.iter().skip(first).copied().take_while(move |literal| literal.starts_with(begin)).collect::<Vec<_>>().into_iter()
    }

    /// Extends a string by a character that no literal continues with.
    fn more(&self, text: &str) -> String {
        let free = |c: &&u8| {
            let longer = format!("{text}{}", char::from(**c));
            let first = self.0.partition_point(|literal| *literal < longer.as_str());
            self.0.get(first).is_none_or(|literal| !literal.starts_with(&longer))
        };
        let c = ALPHABET.iter().filter(|c| **c != b'/').find(free).copied().unwrap_or(b'x');
        format!("{text}{}", char::from(c))
    }

    /// Adds the paths that a literal distinguishes.
    fn around(&self, literal: &str, out: &mut Vec<String>) {
        let literal = if literal.is_empty() { "/" } else { literal };
        out.push(literal.to_owned());
        out.push(self.more(literal));
        if !literal.ends_with('/') {
            let segment = format!("{literal}/");
            out.push(self.more(&segment));
            out.push(segment);
        }
    }
}

/// Returns paths for the patterns of both sides. `differ` holds the patterns of differing routes.
pub(super) fn paths(all: &BTreeSet<Pattern<'_>>, differ: &BTreeSet<Pattern<'_>>, budget: &mut Budget) -> Vec<String> {
    let literals: BTreeSet<&str> = all.iter().filter(|of| of.is_literal()).map(|of| of.text).collect();
    let literals = Literals(literals.into_iter().collect());
    let mut out = Vec::new();
    let mut done: BTreeSet<&str> = BTreeSet::new();
    for pattern in differ.iter().filter(|of| of.is_literal()) {
        literals.around(pattern.text, &mut out);
        if pattern.kind != Kind::Exact {
            let inner = literals.beginning_with(pattern.text).filter(|inner| done.insert(inner));
            inner.for_each(|inner| literals.around(inner, &mut out));
        }
    }
    // A pattern that ignores case may forward the path in its original case.
    for pattern in differ.iter().filter(|of| of.any_case) {
        let upper = pattern.text.to_ascii_uppercase();
        out.push(format!("{upper}{}", if pattern.kind == Kind::Segments { "/x" } else { "x" }));
        out.push(upper);
    }
    let expressions: Vec<&Pattern<'_>> = all.iter().filter(|of| !of.is_literal()).collect();
    let differing: Vec<&Pattern<'_>> = differ.iter().collect();
    for pattern in &expressions {
        if differ.contains(*pattern) || differing.iter().any(|of| of.may_overlap(pattern)) {
            let near = differing.iter().copied().chain(expressions.iter().copied()).chain(all.iter().filter(|of| of.begin().len() > 1));
            add_joint_matches(pattern, near.filter(|of| of.may_overlap(pattern)), budget, &mut out);
        }
        if out.len() > MOST_PATHS {
            break;
        }
    }
    let mut seen = BTreeSet::new();
    out.retain(|path| path.starts_with('/') && seen.insert(path.clone()));
    if out.len() > MOST_PATHS {
        budget.cut(format!("If more than {MOST_PATHS} paths of a virtual host may differ, only {MOST_PATHS} were tried."));
        out.truncate(MOST_PATHS);
    }
    out
}

/// Adds paths for every way in which an expression and overlapping patterns match together.
fn add_joint_matches<'p>(pattern: &Pattern<'_>, near: impl Iterator<Item = &'p Pattern<'p>>, budget: &mut Budget, out: &mut Vec<String>) {
    let mut patterns = Vec::from([*pattern]);
    for of in near {
        if patterns.contains(of) {
            continue;
        }
        if patterns.len() > MOST_TOGETHER {
            budget.cut("If many regular expressions and paths overlap, not every combination was tried.");
            break;
        }
        patterns.push(*of);
    }
    let mut languages = Vec::new();
    for of in &patterns {
        match of.language() {
            Ok(language) => languages.push(language),
            Err(why) => budget.cut(format!("The regular expression {} was not analysed: {why}.", of.text)),
        }
    }
    let found = joint_matches(pattern.begin(), &mut languages, budget);
    out.extend(found.into_iter().filter(|(mask, _)| *mask != 0).map(|(_, text)| text));
}

/// Returns paths that regular expression rewrites distinguish: each pattern has the expressions that rewrite its paths.
pub(super) fn rewritten(all: &BTreeMap<Pattern<'_>, BTreeSet<&str>>, budget: &mut Budget) -> Vec<String> {
    let mut out = Vec::new();
    for (pattern, expressions) in all {
        let within = expressions.iter().map(|expression| Language::regex(&format!("(?s:.*)(?:{expression})(?s:.*)")));
        let mut languages = Vec::new();
        for language in core::iter::once(pattern.language()).chain(within) {
            match language {
                Ok(language) => languages.push(language),
                Err(why) => budget.cut(format!("A rewrite of {} was not analysed: {why}.", pattern.words())),
            }
        }
        if languages.len() > expressions.len() {
            let taken = joint_matches(pattern.begin(), &mut languages, budget);
            let taken: Vec<String> = taken.into_iter().filter(|(mask, _)| mask & 1 == 1).map(|(_, path)| path).collect();
            // One of two expressions may be replaced more often than the other.
            if let Some(first) = taken.first() {
                out.extend(expressions.iter().filter_map(|expression| example(expression)).map(|part| format!("{first}{}", part.repeat(3))));
            }
            out.extend(taken);
        }
    }
    out
}

/// Returns a string that an expression matches.
fn example(expression: &str) -> Option<String> {
    let mut language = Language::regex(expression).ok()?;
    let mut states = MOST_STATES_TOGETHER;
    let found = texts(&mut [&mut language], &TextShape { begin: "", alphabet: ALPHABET, double_slashes: true }, &mut states);
    found.found.get(&1).cloned()
}

/// Returns a path for every way in which languages can match together, by the mask of the matching languages.
fn joint_matches(begin: &str, languages: &mut [Language], budget: &mut Budget) -> BTreeMap<u64, String> {
    let begin = if begin.starts_with('/') { begin } else { "/" };
    let mut found: BTreeMap<u64, String> = BTreeMap::new();
    // Listeners may merge slashes, so double slashes are used only if nothing else matches.
    for double_slashes in [false, true] {
        let mut states = budget.states.min(MOST_STATES_TOGETHER);
        let before = states;
        let tried = TextShape { begin, alphabet: ALPHABET, double_slashes };
        let more = texts(&mut languages.iter_mut().collect::<Vec<_>>(), &tried, &mut states);
        budget.states -= before - states;
        for (mask, text) in more.found {
            found.entry(mask).or_insert(text);
        }
        if !more.complete {
            budget.cut("If regular expressions are large together, not every match was tried.");
            break;
        }
    }
    found
}

/// At most this many combined states are visited for one group of regular expressions.
const MOST_STATES_TOGETHER: usize = 4_000;
