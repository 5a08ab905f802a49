//! Expressions that are too large for Envoy, and expressions of which only the order of the routes decides who takes a request.
//!
//! What must not be here: what RE2 refuses to read, which dialects tell.

use super::whole::{Whole, tables, written};
use crate::diagnostic::{Place, codes};
use crate::ir::{Json, PathMatch, Regex, Route, RouteMatch};
use crate::re2::{language::Language, size};
use crate::resource::Origin;
use crate::text::Str;
use alloc::format;
use alloc::vec::Vec;
use hashbrown::HashSet;

/// Envoy's runtime key for the largest program.
const LIMIT_KEY: &str = "re2.max_program_size.error_level";

/// Of a virtual host so many expressions are held against each other.
const MOST_EXPRESSIONS: usize = 32;

/// So many pairs are looked at in all.
const MOST_PAIRS: usize = 2000;

pub(super) fn check(whole: &mut Whole<'_>) {
    sizes(whole);
    overlaps(whole);
}

fn sizes(whole: &mut Whole<'_>) {
    let ir = &whole.compilation.ir;
    let values = ir.bootstrap.runtime.iter().chain(&ir.runtimes).flat_map(|layer| &layer.values).filter(|(key, _)| *key == *LIMIT_KEY);
    let limits = values.filter_map(|(_, value)| match value.value {
        Json::Number(number) if number >= 0.0 => Some(number as u64),
        _ => None,
    });
    let limit = limits.reduce(|_, upper| upper);
    let mut seen: HashSet<&Str> = HashSet::new();
    for route in whole.routes.clone() {
        let PathMatch::Regex(Regex { regex, max_program_size, .. }) = &route.matcher.path.value else { continue };
        let Some(limit) = max_program_size.as_ref().map(|size| u64::from(size.value)).or(limit) else { continue };
        // An instruction for each byte: what is short has no large program, unless something is repeated.
        let may_be_large = regex.len() as u64 + 2 > limit || regex.contains('{');
        if !may_be_large || !seen.insert(regex) {
            continue;
        }
        let Some(size) = size::at_least(regex).filter(|size| *size > limit) else { continue };
        let origin = place(whole, route);
        let message = format!("Envoy refuses this expression: its program has at least {size} instructions, and {limit} are allowed");
        let finding = whole.finding(&codes::REGEX_TOO_LARGE, origin, message);
        whole.tell(finding.help("repeat less, or allow larger programs"));
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

fn overlaps(whole: &mut Whole<'_>) {
    let compilation = whole.compilation;
    let mut seen: HashSet<(&Str, &Str)> = HashSet::new();
    let mut left = MOST_PAIRS;
    for host in tables(compilation).flat_map(|table| &table.virtual_hosts) {
        let mut languages: Vec<(&Route, &Str, Language)> = Vec::new();
        for route in host.routes.iter() {
            let PathMatch::Regex(Regex { regex, .. }) = &route.matcher.path.value else { continue };
            if languages.len() == MOST_EXPRESSIONS {
                break;
            }
            let Some(language) = Language::new(regex) else { continue };
            for (earlier, other, known) in &languages {
                let apart = *other == regex || !same_but_path(&earlier.matcher, &route.matcher);
                if apart || left == 0 || !seen.insert((other, regex)) {
                    continue;
                }
                left -= 1;
                let Some(Some(text)) = known.common(&language) else { continue };
                // Where one holds the other, the special case stands before the general one, or `unreachable` tells of it.
                if known.holds(&language) || language.holds(known) {
                    continue;
                }
                let (first, second) = (place(whole, earlier), place(whole, route));
                let same = whole.object(first).map(|object| object.id) == whole.object(second).map(|object| object.id);
                if whole.object(second).is_none() || same {
                    continue;
                }
                let message = format!("`{text}` matches this expression and `{other}` too, which stands before it and takes the request");
                let finding = whole.finding(&codes::OVERLAPPING_REGEXES, second, message);
                whole.tell(finding.related(Place::origin(first), "this one comes first"));
            }
            languages.push((route, regex, language));
        }
    }
}
