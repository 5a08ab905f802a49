//! Expressions that are too large for Envoy, those in Envoy's own words that it does not read, and expressions of which only the order of the routes decides who takes a request.
//!
//! What must not be here: what RE2 refuses to read of fields that dialects lower, which they tell.

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

/// At most this many pairs are compared in all.
const MOST_PAIRS: usize = 2000;

pub(super) fn check(whole: &mut Whole<'_>) {
    sizes(whole);
    overlaps(whole);
    let all = &whole.ir.delivery.verbatim;
    let mut known = HashMap::new();
    for tree in all.listeners.iter().chain(&all.routes).chain(&all.clusters) {
        refused(whole, tree, None, &mut known);
    }
}

/// Expressions in Envoy's own words that RE2 does not read. `above` is where the nearest value around comes from that comes from anywhere.
fn refused<'a>(whole: &mut Whole<'a>, tree: &'a Tree, above: Option<Origin>, known: &mut HashMap<&'a str, Result<(), RegexError>>) {
    let origin = tree.origin.or(above);
    let fields = tree.fields();
    let is_matcher = fields.iter().all(|(name, _)| matches!(name.as_str(), "regex" | "google_re2"));
    let expression = tree.get("regex");
    if is_matcher && !expression.text().is_empty() {
        let text = expression.text();
        if let Err(problem) = known.entry(text).or_insert_with(|| re2::check(text)) {
            let message = format!("Envoy refuses the regular expression `{text}`: {problem}");
            let finding = whole.finding(&codes::INVALID_REGEX, expression.origin.or(origin), message);
            whole.report(finding.help("Envoy refuses the whole resource that has it, and keeps the last good one"));
        }
        return;
    }
    fields.iter().for_each(|(_, value)| refused(whole, value, origin, known));
    tree.items().iter().for_each(|value| refused(whole, value, origin, known));
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
        // An instruction for each byte: what is short has no large program, unless something is repeated.
        let may_be_large = regex.len() as u64 + 2 > limit || regex.contains('{');
        if !may_be_large || !seen.insert(regex) {
            continue;
        }
        let Some(size) = size::at_least(regex).filter(|size| *size > limit) else { continue };
        let origin = place(whole, route);
        let message = format!("Envoy refuses this expression: its program has at least {size} instructions, and the limit is {limit}");
        let finding = whole.finding(&codes::REGEX_TOO_LARGE, origin, message);
        whole.report(finding.help(format!("{REFUSED}; repeat less, or allow larger programs")));
    }
}

/// Where a route's path is written.
fn place(whole: &Whole<'_>, route: &Route) -> Option<Origin> {
    let is_there = |origin: &Origin| whole.object(Some(*origin)).is_some();
    route.matcher.path.origin.filter(is_there).or_else(|| written(&route.origins))
}

/// Whether only the path tells two routes apart.
fn same_but_path(one: &RouteMatch, two: &RouteMatch) -> bool {
    one.headers == two.headers && one.query == two.query && one.grpc == two.grpc && one.case_sensitive == two.case_sensitive
}

/// Whether a text may begin as both do.
fn may_meet(one: &str, two: &str) -> bool {
    one.starts_with(two) || two.starts_with(one)
}

fn overlaps(whole: &mut Whole<'_>) {
    let mut seen: HashSet<(&Str, &Str)> = HashSet::new();
    let mut hosts: HashSet<usize> = HashSet::new();
    // Made when they are needed: most expressions begin differently.
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

/// Tells of a text that both match, unless one of the two is a special case of the other.
fn overlap(whole: &mut Whole<'_>, (before, other, known): (&Route, &Str, &mut Language), (route, language): (&Route, &mut Language)) {
    let relation = known.relation(language);
    let Some(text) = relation.common else { return };
    // Where one holds the other, the special case stands before the general one, or `unreachable` tells of it.
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
