//! Finds rules of a wider authorization that deny requests, and that the authorization of a route's own policy lets pass.

use alloc::vec::Vec;
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::go::parse_cidr;
use core::net::IpAddr;

type Range = (IpAddr, u32);

/// Returns a rule of the wider authorization that denies clients, if the own authorization lets some of them pass.
pub(super) fn lost_denial<'a>(wide: &Cursor<'a>, own: &Cursor<'_>) -> Option<Cursor<'a>> {
    wide.field("rules").items().filter(|rule| rule.field("action").str() == "Deny").find(|rule| {
        let denied = ranges(rule);
        if denied.is_empty() {
            return may_pass(own, None) && !own.field("rules").items().any(|known| known.field("action").str() == "Deny");
        }
        denied.iter().any(|range| !is_denied(own, *range) && may_pass(own, Some(*range)))
    })
}

fn ranges(rule: &Cursor<'_>) -> Vec<Range> {
    rule.at("principal.clientCIDRs").items().filter_map(|range| parse_cidr(range.str()).ok()).collect()
}

fn is_denied(own: &Cursor<'_>, range: Range) -> bool {
    let rules = own.field("rules");
    rules.items().filter(|rule| rule.field("action").str() == "Deny").flat_map(|rule| ranges(&rule)).any(|known| contains(known, range))
}

/// Whether the authorization lets a client of the range pass, or any client. Without `defaultAction`, it denies.
fn may_pass(own: &Cursor<'_>, range: Option<Range>) -> bool {
    let overlaps = |known: Range| range.is_none_or(|range| contains(known, range) || contains(range, known));
    let allows = |rule: Cursor<'_>| {
        let all = ranges(&rule);
        rule.field("action").str() == "Allow" && (all.is_empty() || all.into_iter().any(overlaps))
    };
    own.field("defaultAction").str() == "Allow" || own.field("rules").items().any(allows)
}

/// Whether the first range contains the second one.
fn contains(outer: Range, inner: Range) -> bool {
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => (u128::from(u32::from(address)) << 96, 4),
        IpAddr::V6(address) => (u128::from(address), 6),
    };
    let ((one, family), (other, other_family)) = (bits(outer.0), bits(inner.0));
    let mask = if outer.1 == 0 { 0 } else { u128::MAX << 128_u32.saturating_sub(outer.1).min(127) };
    family == other_family && outer.1 <= inner.1 && (one ^ other) & mask == 0
}

#[cfg(test)]
mod tests {
    use super::contains;
    use chancery_kubernetes::go::parse_cidr;

    #[test]
    fn contains_compares_prefixes() {
        let is_in = |outer: &str, inner: &str| contains(parse_cidr(outer).expect("a range"), parse_cidr(inner).expect("a range"));
        assert!(is_in("10.0.0.0/8", "10.1.0.0/16") && is_in("0.0.0.0/0", "192.0.2.1/32") && is_in("2001:db8::/32", "2001:db8:1::/48"));
        assert!(!is_in("10.1.0.0/16", "10.0.0.0/8") && !is_in("10.0.0.0/8", "192.0.2.0/24") && !is_in("::/0", "10.0.0.0/8"));
    }
}
