//! Chooses the owner of a gateway among replicas by rendezvous hashing. Does not know which replicas serve; see `members`.
//!
//! Every replica computes the same owner from the same members, without a message. If a member leaves, only its gateways
//! move. If a member joins, it takes its share from all others.

use std::sync::Arc;

/// Returns the member with the highest hash of both names, or `None` without members.
#[must_use]
pub fn owner<'m>(members: &'m [Arc<str>], gateway: &str) -> Option<&'m Arc<str>> {
    let of_gateway = hash(gateway);
    // Of equal weights, the later name wins on every replica.
    members.iter().max_by_key(|member| (mix(hash(member) ^ of_gateway.rotate_left(32)), *member))
}

/// Hashes a string (FNV-1a). The result must never change: replicas of different versions share gateways during an upgrade.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Spreads small differences over all bits (the finalizer of SplitMix64).
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn members(count: usize) -> Vec<Arc<str>> {
        (1..=count).map(|number| Arc::from(format!("10.0.0.{number}:8003"))).collect()
    }

    fn gateways() -> Vec<String> {
        (0..3000).map(|number| format!("team-{}/web-{number}", number % 40)).collect()
    }

    #[test]
    fn removed_member_moves_only_its_gateways() {
        let before = members(5);
        for gone in 0..5 {
            let mut after = before.clone();
            let gone = after.remove(gone);
            for gateway in gateways() {
                let was = owner(&before, &gateway).expect("an owner");
                let is = owner(&after, &gateway).expect("an owner");
                assert!(is == was || *was == gone, "{gateway} moved from {was} to {is} although {gone} left");
            }
        }
    }

    #[test]
    fn members_get_similar_shares() {
        for count in [2, 3, 8] {
            let members = members(count);
            let mut shares: BTreeMap<&Arc<str>, usize> = BTreeMap::new();
            let all = gateways();
            all.iter().filter_map(|gateway| owner(&members, gateway)).for_each(|owner| *shares.entry(owner).or_default() += 1);
            let fair = all.len() / count;
            assert_eq!(shares.len(), count);
            assert!(shares.values().all(|share| share.abs_diff(fair) * 5 < fair), "{shares:?}, fair is {fair}");
        }
    }

    #[test]
    fn owner_is_the_same_in_every_version() {
        let of = |gateway: &str| owner(&members(3), gateway).map(|of| of.to_string());
        assert_eq!(of("ambassador").as_deref(), Some("10.0.0.3:8003"));
        assert_eq!(of("team-a/web").as_deref(), Some("10.0.0.2:8003"));
        assert_eq!(owner(&[], "team-a/web"), None);
    }
}
