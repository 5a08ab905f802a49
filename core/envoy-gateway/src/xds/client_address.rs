//! Writes how Envoy finds the address of a client behind proxies.

use super::proto::{Setting as _, derived, empty, extension, list, message, one};
use alloc::format;
use alloc::string::ToString as _;
use chancery_base::ir::Tree;
use chancery_kubernetes::go::parse_cidr;

/// How many proxies before this one are trusted; Envoy does not count the last of them.
pub(crate) fn trusted_hops(of: &Tree) -> Tree {
    derived((of.int() - 1).max(0), of)
}

pub(crate) fn ip_detection(of: &Tree) -> Tree {
    const NAMES: &str = "envoy.extensions.http.original_ip_detection";
    if let Some(header) = of.get("customHeader").some() {
        let closed = header.get("failClosed");
        let config = message! {
            "header_name": header.get("name").clone(),
            "reject_with_status": if closed.bool() { derived(message! { "code": "Forbidden" }, closed) } else { Tree::NULL },
            "allow_extension_to_set_address_as_trusted": true,
        };
        return one(
            extension(&format!("{NAMES}.custom_header"), &format!("{NAMES}.custom_header.v3.CustomHeaderConfig"), config).or_from(header.origin)
        );
    }
    let Some(forwarded) = of.get("xForwardedFor").some() else { return Tree::NULL };
    let skip = forwarded.get("disableXForwardedForAppend");
    let skip = if skip.is_null() { false.into() } else { skip.clone() };
    let ranges = forwarded.get("trustedCIDRs");
    let hops = forwarded.get("numTrustedHops");
    let mut config = empty();
    if !ranges.is_null() {
        let range = |of: &Tree| {
            let (address, length) = of.text().split_once('/').unwrap_or_default();
            // The reference passes the address on with its host bits.
            let address = address.parse::<core::net::IpAddr>().map(|address| address.to_string()).unwrap_or_default();
            let length = parse_cidr(of.text()).map_or_else(|_| length.parse().unwrap_or_default(), |(_, length)| length);
            message! { "address_prefix": derived(address, of), "prefix_len": derived(i64::from(length), of) }
        };
        let mut trusted = empty();
        trusted.set("cidrs", list(ranges.items().iter().map(range).collect()));
        config.set("xff_trusted_cidrs", trusted.or_from(ranges.origin));
        config.set("skip_xff_append", skip);
    } else if !hops.is_null() {
        config.set("xff_num_trusted_hops", trusted_hops(hops));
        config.set("skip_xff_append", skip);
    } else {
        // Without either the reference names the extension and gives it nothing.
        return one(message! { "name": format!("{NAMES}.xff") });
    }
    one(extension(&format!("{NAMES}.xff"), &format!("{NAMES}.xff.v3.XffConfig"), config).or_from(forwarded.origin))
}
