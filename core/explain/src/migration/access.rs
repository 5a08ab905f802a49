//! Collects the client addresses and headers that access rules of Envoy test. Does not evaluate the rules; see `chancery_envoy::simulate`.

use super::conditions::PathConditions;
use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeSet;
use chancery_envoy::emit::pb;
use chancery_envoy_api::envoy::r#type::matcher::v3::HttpRequestHeaderMatchInput;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use pb::http_filter::rbac::v3::Rbac;
use pb::tree::Matcher;
use pb::tree::matcher::matcher_list::Predicate;
use pb::tree::matcher::matcher_list::predicate::{MatchType, SinglePredicate, single_predicate};
use pb::tree::matcher::{MatcherType, OnMatch, on_match};
use pb::tree::string_matcher::MatchPattern;

/// A client in no range that a configuration names.
pub(super) const OTHER_CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9));

/// The most nested conditions that are looked at.
const DEPTH: usize = 16;

/// Adds the conditions of a filter's rules.
pub(super) fn of_rbac(of: &Rbac, out: &mut PathConditions) {
    let policies = of.rules.iter().flat_map(|rules| rules.policies.values());
    policies.flat_map(|policy| &policy.principals).for_each(|principal| addresses(principal, DEPTH, &mut out.clients));
    of.matcher.iter().for_each(|matcher| tree(matcher, DEPTH, out));
}

fn tree(of: &Matcher, depth: usize, out: &mut PathConditions) {
    let Some(depth) = depth.checked_sub(1) else { return };
    if let Some(MatcherType::MatcherList(list)) = &of.matcher_type {
        for field in &list.matchers {
            field.predicate.iter().for_each(|of| predicate(of, depth, out));
            field.on_match.iter().for_each(|on| nested(on, depth, out));
        }
    }
    of.on_no_match.iter().for_each(|on| nested(on, depth, out));
}

fn nested(on: &OnMatch, depth: usize, out: &mut PathConditions) {
    if let Some(on_match::OnMatch::Matcher(of)) = &on.on_match {
        tree(of, depth, out);
    }
}

fn predicate(of: &Predicate, depth: usize, out: &mut PathConditions) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match &of.match_type {
        Some(MatchType::SinglePredicate(of)) => single(of, out),
        Some(MatchType::OrMatcher(list) | MatchType::AndMatcher(list)) => list.predicate.iter().for_each(|of| predicate(of, depth, out)),
        Some(MatchType::NotMatcher(of)) => predicate(of, depth, out),
        None => {}
    }
}

fn single(of: &SinglePredicate, out: &mut PathConditions) {
    match &of.matcher {
        Some(single_predicate::Matcher::CustomMatch(of)) => {
            let ranges = of.typed_config.as_ref().and_then(|of| of.downcast_ref::<pb::ip_matcher::Ip>()).map(|of| of.cidr_ranges.as_slice());
            ranges.into_iter().flatten().for_each(|range| {
                let first = range.address_prefix.parse::<IpAddr>();
                out.clients.extend(first.iter().flat_map(|first| clients_of(*first, range.prefix_len.unwrap_or(0))));
            });
            out.clients.insert(OTHER_CLIENT);
        }
        Some(single_predicate::Matcher::ValueMatch(matcher)) => {
            let input = of.input.as_ref().and_then(|input| input.typed_config.as_ref());
            let Some(header) = input.and_then(|input| input.downcast_ref::<HttpRequestHeaderMatchInput>()) else { return };
            let name = header.header_name.to_ascii_lowercase();
            if let (false, Some(MatchPattern::Exact(text) | MatchPattern::Prefix(text) | MatchPattern::Suffix(text) | MatchPattern::Contains(text))) =
                (name.starts_with(':'), &matcher.match_pattern)
            {
                out.headers.entry(name).or_default().insert(text.to_owned());
            }
        }
        None => {}
    }
}

/// Collects clients of every range in a principal.
fn addresses(principal: &pb::rbac::Principal, depth: usize, out: &mut BTreeSet<IpAddr>) {
    use pb::rbac::principal::Identifier;
    let Some(depth) = depth.checked_sub(1) else { return };
    match &principal.identifier {
        Some(Identifier::SourceIp(range) | Identifier::RemoteIp(range) | Identifier::DirectRemoteIp(range)) => {
            let first = range.address_prefix.parse::<IpAddr>();
            out.extend(first.iter().flat_map(|first| clients_of(*first, range.prefix_len.unwrap_or(0))));
        }
        Some(Identifier::AndIds(set) | Identifier::OrIds(set)) => set.ids.iter().for_each(|of| addresses(of, depth, out)),
        Some(Identifier::NotId(of)) => addresses(of, depth, out),
        _ => {}
    }
}

/// Returns clients at both ends of a range. The first and the last address of a network are no client's.
pub(super) fn clients_of(first: IpAddr, prefix_length: u32) -> [IpAddr; 2] {
    match first {
        IpAddr::V4(address) if prefix_length < 31 => {
            let rest = u32::MAX.checked_shr(prefix_length).unwrap_or(0);
            let network = address.to_bits() & !rest;
            [network | 1, (network | rest) - 1].map(|bits| IpAddr::V4(Ipv4Addr::from_bits(bits)))
        }
        IpAddr::V6(address) if prefix_length < 127 => {
            let rest = u128::MAX.checked_shr(prefix_length).unwrap_or(0);
            let network = address.to_bits() & !rest;
            [network | 1, (network | rest) - 1].map(|bits| IpAddr::V6(Ipv6Addr::from_bits(bits)))
        }
        other => [other, other],
    }
}
