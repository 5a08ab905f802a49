//! Evaluates trees of matchers (`xds.type.matcher.v3.Matcher`) for a request: conditions on the client's address and on headers.
//!
//! Follows Envoy's `source/common/matcher`. Does not know actions; other inputs, such as metadata, have an unknown result.

use super::Stage;
use crate::emit::pb;
use crate::simulate::connection::contains;
use crate::simulate::matcher::takes;
use alloc::borrow::ToOwned;
use core::net::IpAddr;
use pb::matcher::{HttpRequestHeaderMatchInput, RegexMatcher, StringMatcher, string_matcher::MatchPattern};
use pb::tree::matcher::matcher_list::{Predicate, predicate::MatchType, predicate::SinglePredicate, predicate::single_predicate};
use pb::tree::matcher::{MatcherType, OnMatch, on_match};
use pb::tree::string_matcher::MatchPattern as TreePattern;

/// Trees are followed to this depth.
const DEPTH: usize = 16;

/// The result of a tree.
pub(super) enum Found<'m> {
    Action(&'m pb::Any),
    Nothing,
    /// It depends on more than the request.
    Unknown,
}

/// Returns the action that a tree chooses.
pub(super) fn find<'m>(tree: &'m pb::tree::Matcher, stage: &Stage<'_, '_>) -> Found<'m> {
    within(tree, stage, DEPTH)
}

fn within<'m>(tree: &'m pb::tree::Matcher, stage: &Stage<'_, '_>, depth: usize) -> Found<'m> {
    let Some(depth) = depth.checked_sub(1) else { return Found::Unknown };
    match &tree.matcher_type {
        Some(MatcherType::MatcherList(list)) => {
            for of in &list.matchers {
                match of.predicate.as_ref().map(|predicate| holds(predicate, stage, depth)) {
                    Some(Some(true)) => {}
                    Some(Some(false)) => continue,
                    _ => return Found::Unknown,
                }
                match chosen(of.on_match.as_ref(), stage, depth) {
                    Found::Nothing => {}
                    // Envoy continues with the next condition.
                    Found::Action(_) if of.on_match.as_ref().is_some_and(|on| on.keep_matching) => {}
                    found => return found,
                }
            }
        }
        Some(MatcherType::MatcherTree(_)) => return Found::Unknown,
        None => {}
    }
    chosen(tree.on_no_match.as_deref(), stage, depth)
}

fn chosen<'m>(on: Option<&'m OnMatch>, stage: &Stage<'_, '_>, depth: usize) -> Found<'m> {
    match on.and_then(|on| on.on_match.as_ref()) {
        Some(on_match::OnMatch::Matcher(tree)) => within(tree, stage, depth),
        Some(on_match::OnMatch::Action(action)) => action.typed_config.as_ref().map_or(Found::Unknown, Found::Action),
        None => Found::Nothing,
    }
}

/// Whether a condition holds; `None` if unknown.
fn holds(of: &Predicate, stage: &Stage<'_, '_>, depth: usize) -> Option<bool> {
    let depth = depth.checked_sub(1)?;
    let each = |all: &[Predicate], decides: bool| {
        let mut out = Some(!decides);
        for one in all {
            match holds(one, stage, depth) {
                Some(held) if held == decides => return Some(decides),
                Some(_) => {}
                None => out = None,
            }
        }
        out
    };
    match of.match_type.as_ref()? {
        MatchType::SinglePredicate(single) => single_holds(single, stage),
        MatchType::OrMatcher(list) => each(&list.predicate, true),
        MatchType::AndMatcher(list) => each(&list.predicate, false),
        MatchType::NotMatcher(of) => holds(of, stage, depth).map(|held| !held),
    }
}

fn single_holds(of: &SinglePredicate, stage: &Stage<'_, '_>) -> Option<bool> {
    let input = of.input.as_ref()?.typed_config.as_ref()?;
    let address: Option<Option<IpAddr>> = if input.downcast_ref::<pb::network_input::SourceIpInput>().is_some() {
        Some(stage.prepared.client)
    } else if input.downcast_ref::<pb::network_input::DirectSourceIpInput>().is_some() {
        Some(stage.request.source)
    } else {
        None
    };
    match of.matcher.as_ref()? {
        single_predicate::Matcher::CustomMatch(of) => {
            let ranges = &of.typed_config.as_ref()?.downcast_ref::<pb::ip_matcher::Ip>()?.cidr_ranges;
            let address = address??;
            Some(ranges.iter().any(|range| contains(range, address)))
        }
        single_predicate::Matcher::ValueMatch(of) => {
            let matcher = converted(of)?;
            let header = input.downcast_ref::<HttpRequestHeaderMatchInput>()?.header_name.to_ascii_lowercase();
            let start = stage.prepared.start(&stage.request.method);
            let value = start.header(&header).or_else(|| stage.header(&header));
            Some(value.is_some_and(|value| takes(&matcher, value)))
        }
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
