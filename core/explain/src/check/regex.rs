//! Reports regular expressions that are too large for Envoy, invalid ones in verbatim configuration, and overlapping ones whose order decides.
//!
//! The dialects report invalid expressions in fields that they lower.

use super::header::REFUSED;
use super::whole::{Whole, tables, written};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Place, codes};
use chancery_base::ir::{Json, PathMatch, Regex, Route, RouteMatch, Tree};
use chancery_base::re2::{self, RegexError, engine::literal_prefix, language::Language, size};
use chancery_base::resource::Origin;
use chancery_text::Str;
use hashbrown::{HashMap, HashSet};

/// Envoy's runtime key for the largest program.
const LIMIT_KEY: &str = "re2.max_program_size.error_level";

/// At most this many expressions of a virtual host are compared with each other.
const MOST_EXPRESSIONS: usize = 32;

/// At most this many pairs are compared in total.
const MOST_PAIRS: usize = 2000;

pub(super) fn check(whole: &mut Whole<'_>) {
    sizes(whole);
    repeated_slashes(whole);
    overlaps(whole);
    let all = &whole.ir.delivery.verbatim;
    let mut known = HashMap::new();
    for tree in all.listeners.iter().chain(&all.routes).chain(&all.clusters) {
        refused(whole, tree, None, &mut known);
    }
}

/// Reports expressions in verbatim configuration that RE2 cannot parse. `above` is the origin of the nearest enclosing value that has one.
fn refused<'a>(whole: &mut Whole<'a>, tree: &'a Tree, above: Option<Origin>, known: &mut HashMap<&'a str, Result<(), RegexError>>) {
    let origin = tree.origin.or(above);
    let fields = tree.fields();
    let is_matcher = fields.iter().all(|(name, _)| matches!(name.as_str(), "regex" | "google_re2"));
    let expression = tree.get("regex");
    if is_matcher && !expression.text().is_empty() {
        let text = expression.text();
        if let Err(problem) = known.entry(text).or_insert_with(|| re2::check(text)) {
            let message = format!("Envoy rejects the regular expression `{text}`: {problem}");
            let finding = whole.finding(&codes::INVALID_REGEX, expression.origin.or(origin), message);
            whole.report(finding.help("Envoy rejects the whole resource that has it, and keeps the last good one"));
        }
        return;
    }
    fields.iter().for_each(|(_, value)| refused(whole, value, origin, known));
    tree.items().iter().for_each(|value| refused(whole, value, origin, known));
}

/// Expressions that end with `/*`: the star repeats the slash, and nothing else may follow.
fn repeated_slashes(whole: &mut Whole<'_>) {
    let mut seen: HashSet<&Str> = HashSet::new();
    for route in whole.routes.clone().iter().copied() {
        let PathMatch::Regex(Regex { regex, .. }) = &route.matcher.path.value else { continue };
        let Some(stem) = regex.trim_end_matches('$').strip_suffix("/*").filter(|_| seen.insert(regex)) else { continue };
        let stem = stem.trim_start_matches('^');
        let origin = place(whole, route);
        let example = if stem.is_empty() { "/cart".into() } else { format!("{stem}/cart") };
        let message = format!("`{stem}/*` is a regular expression here: the star repeats the slash, so `{example}` does not match");
        let finding = whole.finding(&codes::STAR_REPEATS_SLASH, origin, message);
        whole.report(finding.help(format!("write `{stem}/.*`, or the prefix `{stem}/`")));
    }
}

fn sizes(whole: &mut Whole<'_>) {
    let ir = whole.ir;
    let values =
        ir.delivery.bootstrap.runtime.iter().chain(&ir.delivery.runtimes).flat_map(|layer| &layer.values).filter(|(key, _)| *key == *LIMIT_KEY);
    let limits = values.filter_map(|(_, value)| match value.value {
        Json::Number(number) if number >= 0.0 => Some(number as u64),
        _ => None,
    });
    let limit = limits.reduce(|_, upper| upper);
    let mut seen: HashSet<&Str> = HashSet::new();
    for route in whole.routes.clone().iter().copied() {
        let PathMatch::Regex(Regex { regex, max_program_size, .. }) = &route.matcher.path.value else { continue };
        let Some(limit) = max_program_size.as_ref().map(|size| u64::from(size.value)).or(limit) else { continue };
        // A program has about one instruction per byte, so a short expression is small unless it repeats.
        let may_be_large = regex.len() as u64 + 2 > limit || regex.contains('{');
        if !may_be_large || !seen.insert(regex) {
            continue;
        }
        let Some(size) = size::at_least(regex).filter(|size| *size > limit) else { continue };
        let origin = place(whole, route);
        let message = format!("Envoy rejects this expression: its program has at least {size} instructions, and the limit is {limit}");
        let finding = whole.finding(&codes::REGEX_TOO_LARGE, origin, message);
        whole.report(finding.help(format!("{REFUSED}; repeat less, or allow larger programs")));
    }
}

/// Returns the place of a route's path.
fn place(whole: &Whole<'_>, route: &Route) -> Option<Origin> {
    let is_there = |origin: &Origin| whole.object(Some(*origin)).is_some();
    route.matcher.path.origin.filter(is_there).or_else(|| written(&route.origins))
}

/// Whether two routes differ only in their path.
fn same_but_path(one: &RouteMatch, two: &RouteMatch) -> bool {
    one.headers == two.headers && one.query == two.query && one.grpc == two.grpc && one.case_sensitive == two.case_sensitive
}

/// Whether a string may begin with both prefixes.
fn may_meet(one: &str, two: &str) -> bool {
    one.starts_with(two) || two.starts_with(one)
}

fn overlaps(whole: &mut Whole<'_>) {
    let mut seen: HashSet<(&Str, &Str)> = HashSet::new();
    let mut hosts: HashSet<usize> = HashSet::new();
    // Built on demand: most expressions have different prefixes.
    let mut languages: HashMap<&Str, Result<Language, RegexError>> = HashMap::new();
    let mut left = MOST_PAIRS;
    for host in tables(whole.ir).flat_map(|table| &table.virtual_hosts).filter(|host| hosts.insert(Arc::as_ptr(&host.routes).addr())) {
        let mut earlier: Vec<(&Route, &Str, &str)> = Vec::new();
        for route in host.routes.iter() {
            let PathMatch::Regex(Regex { regex, .. }) = &route.matcher.path.value else { continue };
            if earlier.len() == MOST_EXPRESSIONS {
                break;
            }
            let begin = literal_prefix(regex);
            for (before, other, begins) in &earlier {
                let apart = *other == regex || !may_meet(begin, begins) || !same_but_path(&before.matcher, &route.matcher);
                if apart || left == 0 || !seen.insert((other, regex)) {
                    continue;
                }
                left -= 1;
                for regex in [*other, regex] {
                    languages.entry(regex).or_insert_with(|| Language::regex(regex));
                }
                if let [Some(Ok(known)), Some(Ok(language))] = languages.get_disjoint_mut([*other, regex]) {
                    overlap(whole, (before, other, known), (route, language));
                }
            }
            earlier.push((route, regex, begin));
        }
    }
}

/// Reports a string that both expressions match, unless one expression is a special case of the other.
fn overlap(whole: &mut Whole<'_>, (before, other, known): (&Route, &Str, &mut Language), (route, language): (&Route, &mut Language)) {
    let relation = known.relation(language);
    let Some(text) = relation.common else { return };
    // A special case is either before the general one, or `unreachable` reports it.
    if relation.first_holds || relation.second_holds {
        return;
    }
    let (first, second) = (place(whole, before), place(whole, route));
    let same = whole.object(first).map(|object| object.id) == whole.object(second).map(|object| object.id);
    if whole.object(second).is_some() && !same {
        let message = format!("`{text}` matches this expression, but `{other}` comes first and takes the request");
        let finding = whole.finding(&codes::OVERLAPPING_REGEXES, second, message);
        whole.report(finding.related(Place::origin(first), "this one comes first"));
    }
}
