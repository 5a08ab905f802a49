//! Writes the filter that looks up the location of a client.

use super::HttpFilters;
use crate::model::HttpListener;
use crate::xds::client_address::trusted_hops;
use crate::xds::proto::{Setting as _, empty, extension, message};
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::Tree;

/// Fields of a rule, of the filter, and the end of the header that carries the value.
const FIELDS: [(&[&str], &str, &str); 10] = [
    (&["country"], "country", "country"),
    (&["region"], "region", "region"),
    (&["city"], "city", "city"),
    (&["asn"], "asn", "asn"),
    (&["isp"], "isp", "isp"),
    (&["anonymous", "isAnonymous"], "anon", "anon"),
    (&["anonymous", "isVPN"], "anon_vpn", "anon-vpn"),
    (&["anonymous", "isHosting"], "anon_hosting", "anon-hosting"),
    (&["anonymous", "isTor"], "anon_tor", "anon-tor"),
    (&["anonymous", "isProxy"], "anon_proxy", "anon-proxy"),
];

/// Fields that rules of a listener ask for, with the header of each.
fn needed(listener: &HttpListener) -> Vec<(&'static str, Tree)> {
    let authorizations = listener.routes.iter().filter_map(|route| route.security.as_ref()?.authorization.as_ref());
    let places: Vec<&Tree> = authorizations.flat_map(|of| &of.rules).flat_map(|rule| &rule.principal.geo).collect();
    let asked = FIELDS.iter().filter_map(|(path, field, header)| {
        let by = places.iter().find_map(|place| place.at(path).some())?;
        Some((*field, Tree::from(format!("x-eg-internal-geoip-{header}")).or_from(by.origin)))
    });
    asked.collect()
}

/// Headers that no backend sees.
pub(crate) fn headers_to_remove(listener: &HttpListener) -> impl Iterator<Item = Tree> + use<> {
    needed(listener).into_iter().map(|(_, header)| header)
}

pub(super) fn add_filter(filters: &mut HttpFilters, listener: &HttpListener) {
    let needed = needed(listener);
    let Some(maxmind) = listener.client.geoip.get("maxMind").some().filter(|_| !needed.is_empty()) else { return };
    let path = |name: &str| {
        let source = maxmind.get(name);
        let local = source.at(&["local", "path"]);
        super::proto::copied(if local.is_null() { source } else { local })
    };
    let config = message! {
        "city_db_path": path("cityDbSource"),
        "asn_db_path": path("asnDbSource"),
        "anon_db_path": path("anonymousIpDbSource"),
        "isp_db_path": path("ispDbSource"),
        "country_db_path": path("countryDbSource"),
        "common_provider_config": message! { "geo_field_keys": Tree::object(needed) },
    };
    let kind = "envoy.extensions.geoip_providers.maxmind.v3.MaxMindConfig";
    let mut filter = message! { "provider": extension("envoy.geoip_providers.maxmind", kind, config).or_from(maxmind.origin) };
    let detection = &listener.client.client_ip_detection;
    let hops = detection.at(&["xForwardedFor", "numTrustedHops"]);
    if let Some(header) = detection.get("customHeader").some() {
        filter.set("custom_header_config", message! { "header_name": header.get("name").clone() });
    } else if !hops.is_null() {
        let mut config = empty();
        config.set("xff_num_trusted_hops", trusted_hops(hops));
        filter.set("xff_config", config);
    }
    filters.add(extension("envoy.filters.http.geoip", "envoy.extensions.filters.http.geoip.v3.Geoip", filter));
}
