//! Who may do what, as SecurityPolicies write it. Does not attach policies.

use super::super::cluster::Admitted;
use super::super::load::resources::EnvoyProxy;
use super::super::model::{Authorization, AuthorizationRule, Principal};
use super::super::names;
use super::matching::{cidr, expression};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;

/// Reads `authorization`. Rules without names are named after the policy that holds them.
pub(super) fn authorization(written: &Tree, owner: &Admitted<'_>) -> Result<Option<Authorization>, String> {
    if written.is_null() {
        return Ok(None);
    }
    let failed = |error: String| format!("unable to translate authorization rule: {error}");
    let mut rules = Vec::new();
    for (at, of) in written.get("rules").items().iter().enumerate() {
        let principal = of.get("principal");
        let client_cidrs = principal.get("clientCIDRs").items().iter().map(cidr).collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let path = of.at(&["operation", "path"]);
        if path.get("type").is("RegularExpression") {
            expression(path.get("value").text()).map_err(failed)?;
        }
        let name = match of.get("name") {
            named if !named.text().is_empty() => named.clone(),
            _ => Tree::from(format!("{}/authorization/rule/{at}", names::config(owner))).with_origin(of.origin),
        };
        rules.push(AuthorizationRule {
            name,
            action: of.get("action").clone(),
            operation: of.get("operation").clone(),
            principal: Principal {
                client_cidrs,
                jwt: principal.get("jwt").clone(),
                headers: principal.get("headers").items().to_vec(),
                geo: principal.get("clientIPGeoLocations").items().to_vec(),
            },
            cel: of.get("cel").clone(),
            origin: of.origin,
        });
    }
    let default_action = written.find("defaultAction").cloned().unwrap_or_else(|| Tree::from("Deny").with_origin(written.origin));
    Ok(Some(Authorization { rules, default_action, origin: written.origin }))
}

/// Whether rules are for clients in certain places.
pub(super) fn uses_places(authorization: Option<&Authorization>) -> bool {
    authorization.is_some_and(|authorization| authorization.rules.iter().any(|rule| !rule.principal.geo.is_empty()))
}

/// Returns the databases for the location of clients (`EnvoyProxy.spec.geoIP.provider`), if they cover the rules.
pub(super) fn places(authorization: &Authorization, proxy: Option<&EnvoyProxy>, detection: &Tree) -> Result<Tree, String> {
    const NEEDS: &str = "authorization clientIPGeoLocations requires";
    if detection.is_null() {
        return Err(format!("{NEEDS} ClientTrafficPolicy.spec.clientIPDetection to be configured"));
    }
    let modes = ["xForwardedFor", "customHeader", "directSourceIP"];
    if modes.iter().filter(|mode| !detection.get(mode).is_null()).count() != 1 {
        return Err(format!("{NEEDS} exactly one of ClientTrafficPolicy.spec.clientIPDetection.{{xForwardedFor,customHeader,directSourceIP}}"));
    }
    if !detection.at(&["xForwardedFor", "trustedCIDRs"]).items().is_empty() {
        return Err("authorization clientIPGeoLocations does not support ClientIPDetection.XForwardedFor.TrustedCIDRs".into());
    }
    let provider = proxy.map(|proxy| proxy.spec.at(&["geoIP", "provider"]).clone()).unwrap_or_default();
    if !provider.is_null() && !provider.get("type").is("MaxMind") {
        return Err(format!("unsupported geoIP provider type \"{}\"", provider.get("type").text()));
    }
    let databases = provider.get("maxMind");
    if !provider.is_null() && databases.is_null() {
        return Err("geoIP provider MaxMind is missing maxMind configuration".into());
    }
    if databases.is_null() {
        return Err(format!("{NEEDS} EnvoyProxy.spec.geoIP.provider to be configured"));
    }
    let all = authorization.rules.iter().flat_map(|rule| &rule.principal.geo);
    let is_needed = |field: &str| all.clone().any(|place| !place.get(field).is_null());
    let has = |database: &str| !databases.get(database).is_null();
    let checks: [(&str, &[&str], &str); 6] = [
        ("country", &["countryDbSource", "cityDbSource"], "countryDbSource or cityDbSource"),
        ("region", &["cityDbSource"], "cityDbSource"),
        ("city", &["cityDbSource"], "cityDbSource"),
        ("asn", &["asnDbSource"], "asnDbSource"),
        ("isp", &["ispDbSource"], "ispDbSource"),
        ("anonymous", &["anonymousIpDbSource"], "anonymousIpDbSource"),
    ];
    for (field, databases, words) in checks {
        if is_needed(field) && !databases.iter().any(|database| has(database)) {
            return Err(format!("authorization clientIPGeoLocations.{field} requires EnvoyProxy.spec.geoIP.provider.maxMind.{words}"));
        }
    }
    Ok(provider)
}
