//! Evaluates trees of matchers (`xds.type.matcher.v3.Matcher`) for a request or a connection: conditions on the client's address and on headers.
//!
//! Follows Envoy's `source/common/matcher`. Does not know actions; other inputs, such as metadata, have an unknown result.

use super::Stage;
use crate::emit::pb;
use crate::simulate::connection::contains;
use crate::simulate::matcher::takes;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;
use pb::matcher::{HttpRequestHeaderMatchInput, RegexMatcher, StringMatcher, string_matcher::MatchPattern};
use pb::tree::matcher::matcher_list::{Predicate, predicate::MatchType, predicate::SinglePredicate, predicate::single_predicate};
use pb::tree::matcher::{MatcherType, OnMatch, on_match};
use pb::tree::string_matcher::MatchPattern as TreePattern;

/// Trees are followed to this depth.
const DEPTH: usize = 16;

/// What matchers see.
#[derive(Clone, Copy)]
pub(super) struct MatchInput<'s, 'a> {
    /// The address that Envoy uses as the client's.
    pub(super) client: Option<IpAddr>,
    /// The address of the connection.
    pub(super) source: Option<IpAddr>,
    /// The HTTP request, if HTTP is read.
    pub(super) stage: Option<&'s Stage<'s, 'a>>,
}

/// The result of a tree.
pub(super) enum Found<'m> {
    /// The chosen action.
    Action {
        config: &'m pb::Any,
        /// The name of the rule; `None` if no rule matches and the tree has a default.
        rule: Option<&'m str>,
    },
    Nothing,
    /// It depends on more than the request.
    Unknown,
}

/// Returns the action that a tree chooses.
pub(super) fn find<'m>(tree: &'m pb::tree::Matcher, input: MatchInput<'_, '_>) -> Found<'m> {
    match within(tree, input, DEPTH) {
        Found::Action { config, rule } => {
            let is_default = default_action(tree).is_some_and(|of| core::ptr::eq(of, config));
            Found::Action { config, rule: rule.filter(|_| !is_default) }
        }
        found => found,
    }
}

/// The action of a tree if none of its rules matches.
pub(super) fn default_action(tree: &pb::tree::Matcher) -> Option<&pb::Any> {
    match tree.on_no_match.as_ref()?.on_match.as_ref()? {
        on_match::OnMatch::Action(action) => action.typed_config.as_ref(),
        on_match::OnMatch::Matcher(_) => None,
    }
}

/// Says what a tree depends on that is unknown, as in `the client address and the claims of a token`.
pub(super) fn unknowns(tree: &pb::tree::Matcher, input: MatchInput<'_, '_>) -> String {
    let mut all = BTreeSet::new();
    visit(tree, DEPTH, &mut |single| {
        let Some(config) = single.input.as_ref().and_then(|of| of.typed_config.as_ref()) else { return };
        let unknown = match read(config) {
            Reads::Client => input.client.is_none().then_some("the client address"),
            Reads::Source => input.source.is_none().then_some("the address of the connection"),
            Reads::Header(_) => input.stage.is_none().then_some("headers"),
            Reads::Location => Some("the client's location"),
            Reads::Other => {
                Some(if config.type_name().ends_with("DynamicMetadataInput") { "the claims of a token" } else { "more than the request" })
            }
        };
        all.extend(unknown);
    });
    all.into_iter().collect::<Vec<_>>().join(" and ")
}

/// Whether a condition of a tree reads the client's address.
pub(super) fn reads_client(tree: &pb::tree::Matcher) -> bool {
    let mut any = false;
    visit(tree, DEPTH, &mut |single| {
        let config = single.input.as_ref().and_then(|of| of.typed_config.as_ref());
        any |= config.is_some_and(|config| matches!(read(config), Reads::Client));
    });
    any
}

/// The ranges of addresses where a tree chooses this kind of action, if its rules read nothing but the client's address.
pub(super) fn ranges<'m>(tree: &'m pb::tree::Matcher, is_chosen: impl Fn(&'m pb::Any) -> bool) -> Option<Vec<String>> {
    let Some(MatcherType::MatcherList(list)) = &tree.matcher_type else { return None };
    let mut out = Vec::new();
    for of in &list.matchers {
        let Some(MatchType::SinglePredicate(single)) = of.predicate.as_ref().and_then(|predicate| predicate.match_type.as_ref()) else { return None };
        let action = match of.on_match.as_ref().and_then(|on| on.on_match.as_ref()) {
            Some(on_match::OnMatch::Action(action)) => action.typed_config.as_ref()?,
            _ => return None,
        };
        let single_predicate::Matcher::CustomMatch(custom) = single.matcher.as_ref()? else { return None };
        if !matches!(read(single.input.as_ref()?.typed_config.as_ref()?), Reads::Client) || !is_chosen(action) {
            return None;
        }
        let ranges = &custom.typed_config.as_ref()?.downcast_ref::<pb::ip_matcher::Ip>()?.cidr_ranges;
        out.extend(ranges.iter().map(|range| format!("{}/{}", range.address_prefix, range.prefix_len.unwrap_or_default())));
    }
    Some(out)
}

/// Calls a function for each condition of a tree.
fn visit<'m>(tree: &'m pb::tree::Matcher, depth: usize, each: &mut impl FnMut(&'m SinglePredicate)) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let Some(MatcherType::MatcherList(list)) = &tree.matcher_type else { return };
    for of in &list.matchers {
        if let Some(predicate) = &of.predicate {
            visit_predicate(predicate, depth, each);
        }
        if let Some(on_match::OnMatch::Matcher(tree)) = of.on_match.as_ref().and_then(|on| on.on_match.as_ref()) {
            visit(tree, depth, each);
        }
    }
}

fn visit_predicate<'m>(of: &'m Predicate, depth: usize, each: &mut impl FnMut(&'m SinglePredicate)) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match &of.match_type {
        Some(MatchType::SinglePredicate(single)) => each(single),
        Some(MatchType::OrMatcher(list) | MatchType::AndMatcher(list)) => list.predicate.iter().for_each(|of| visit_predicate(of, depth, each)),
        Some(MatchType::NotMatcher(of)) => visit_predicate(of, depth, each),
        None => {}
    }
}

/// The prefix of the headers that Envoy Gateway uses for locations (`internal/xds/translator/authorization.go`).
const LOCATION_HEADERS: &str = "x-eg-internal-geoip";

/// What a condition reads.
#[derive(Clone, Copy)]
enum Reads<'m> {
    Client,
    Source,
    Header(&'m str),
    /// Headers in which Envoy's geoip filter stores the client's location.
    Location,
    Other,
}

fn read(input: &pb::Any) -> Reads<'_> {
    if input.downcast_ref::<pb::network_input::SourceIpInput>().is_some() {
        Reads::Client
    } else if input.downcast_ref::<pb::network_input::DirectSourceIpInput>().is_some() {
        Reads::Source
    } else if let Some(of) = input.downcast_ref::<HttpRequestHeaderMatchInput>() {
        if of.header_name.starts_with(LOCATION_HEADERS) { Reads::Location } else { Reads::Header(&of.header_name) }
    } else {
        Reads::Other
    }
}

fn within<'m>(tree: &'m pb::tree::Matcher, input: MatchInput<'_, '_>, depth: usize) -> Found<'m> {
    let Some(depth) = depth.checked_sub(1) else { return Found::Unknown };
    match &tree.matcher_type {
        Some(MatcherType::MatcherList(list)) => {
            for of in &list.matchers {
                match of.predicate.as_ref().map(|predicate| holds(predicate, input, depth)) {
                    Some(Some(true)) => {}
                    Some(Some(false)) => continue,
                    _ => return Found::Unknown,
                }
                match chosen(of.on_match.as_ref(), input, depth) {
                    Found::Nothing => {}
                    // Envoy continues with the next condition.
                    Found::Action { .. } if of.on_match.as_ref().is_some_and(|on| on.keep_matching) => {}
                    found => return found,
                }
            }
        }
        Some(MatcherType::MatcherTree(_)) => return Found::Unknown,
        None => {}
    }
    chosen(tree.on_no_match.as_deref(), input, depth)
}

fn chosen<'m>(on: Option<&'m OnMatch>, input: MatchInput<'_, '_>, depth: usize) -> Found<'m> {
    match on.and_then(|on| on.on_match.as_ref()) {
        Some(on_match::OnMatch::Matcher(tree)) => within(tree, input, depth),
        Some(on_match::OnMatch::Action(action)) => match &action.typed_config {
            Some(config) => Found::Action { config, rule: Some(&action.name) },
            None => Found::Unknown,
        },
        None => Found::Nothing,
    }
}

/// Whether a condition holds; `None` if unknown.
fn holds(of: &Predicate, input: MatchInput<'_, '_>, depth: usize) -> Option<bool> {
    let depth = depth.checked_sub(1)?;
    let each = |all: &[Predicate], decides: bool| {
        let mut out = Some(!decides);
        for one in all {
            match holds(one, input, depth) {
                Some(held) if held == decides => return Some(decides),
                Some(_) => {}
                None => out = None,
            }
        }
        out
    };
    match of.match_type.as_ref()? {
        MatchType::SinglePredicate(single) => single_holds(single, input),
        MatchType::OrMatcher(list) => each(&list.predicate, true),
        MatchType::AndMatcher(list) => each(&list.predicate, false),
        MatchType::NotMatcher(of) => holds(of, input, depth).map(|held| !held),
    }
}

fn single_holds(of: &SinglePredicate, input: MatchInput<'_, '_>) -> Option<bool> {
    let reads = read(of.input.as_ref()?.typed_config.as_ref()?);
    match (of.matcher.as_ref()?, reads) {
        (single_predicate::Matcher::CustomMatch(of), Reads::Client | Reads::Source) => {
            let ranges = &of.typed_config.as_ref()?.downcast_ref::<pb::ip_matcher::Ip>()?.cidr_ranges;
            let address = if matches!(reads, Reads::Client) { input.client } else { input.source }?;
            Some(ranges.iter().any(|range| contains(range, address)))
        }
        (single_predicate::Matcher::ValueMatch(of), Reads::Header(name)) => {
            let (matcher, stage, name) = (converted(of)?, input.stage?, name.to_ascii_lowercase());
            let start = stage.prepared.start(&stage.request.method);
            let value = start.header(&name).or_else(|| stage.header(&name));
            Some(value.is_some_and(|value| takes(&matcher, value)))
        }
        _ => None,
    }
}

/// Converts a matcher of strings to Envoy's own type.
fn converted(of: &pb::tree::StringMatcher) -> Option<StringMatcher> {
    let pattern = match of.match_pattern.as_ref()? {
        TreePattern::Exact(text) => MatchPattern::Exact(text.clone()),
        TreePattern::Prefix(text) => MatchPattern::Prefix(text.clone()),
        TreePattern::Suffix(text) => MatchPattern::Suffix(text.clone()),
        TreePattern::Contains(text) => MatchPattern::Contains(text.clone()),
        TreePattern::SafeRegex(regex) => MatchPattern::SafeRegex(RegexMatcher { regex: regex.regex.to_owned(), ..RegexMatcher::default() }),
        TreePattern::Custom(_) => return None,
    };
    Some(StringMatcher { match_pattern: Some(pattern), ignore_case: of.ignore_case })
}
