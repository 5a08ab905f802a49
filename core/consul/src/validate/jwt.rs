//! Validates JWT providers and token requirements.

use super::rule::{Verdict, count, is_set, meta, named, refuse};
use crate::go::{self, Errors};
use alloc::format;
use base64::Engine as _;
use chancery_base::ir::Tree;

/// The default clock skew.
const CLOCK_SKEW: i64 = 30;

pub(super) fn normalise(tree: &mut Tree) {
    if tree.get("ClockSkewSeconds").int() == 0 {
        tree.set("ClockSkewSeconds", Tree::from(CLOCK_SKEW));
    }
}

/// Validates an intention's token requirements.
pub(super) fn requirement(tree: &Tree) -> Verdict {
    let mut errors = Errors::default();
    for provider in tree.get("Providers").items() {
        if provider.get("Name").text().is_empty() {
            errors.add("JWT provider name is required");
        }
    }
    errors.result()
}

pub(super) fn validate(tree: &Tree) -> Verdict {
    named(tree)?;
    meta(tree)?;
    let Some(keys) = tree.find("JSONWebKeySet") else { return Err("JSONWebKeySet is required".into()) };
    match (keys.find("Local"), keys.find("Remote")) {
        (Some(local), None) => self::local(local)?,
        (None, Some(remote)) => self::remote(remote)?,
        _ => return Err("must specify exactly one of Local or Remote JSON Web key set".into()),
    }
    let mut errors = Errors::default();
    for location in tree.get("Locations").items() {
        if let Err(why) = self::location(location) {
            errors.add(why);
        }
    }
    errors.result()?;
    match tree.find("Forwarding") {
        Some(forwarding) if !is_set(forwarding.get("HeaderName")) => Err("Header name required for forwarding config".into()),
        _ => Ok(()),
    }
}

fn local(local: &Tree) -> Verdict {
    refuse(count(local, &["Filename", "JWKS"]) != 1, || "must specify exactly one of String or filename for local keyset".into())?;
    let keys = local.get("JWKS").text();
    let readable = base64::engine::general_purpose::STANDARD.decode(keys).is_ok();
    refuse(!readable, || "JWKS must be valid base64 encoded string".into())
}

fn remote(remote: &Tree) -> Verdict {
    let uri = remote.get("URI").text();
    refuse(uri.is_empty(), || "Remote JWKS URI is required".into())?;
    go::Url::parse(uri).map_err(|why| format!("Remote JWKS URI is invalid: {why}, uri: {uri}"))?;
    let back_off = remote.at(&["RetryPolicy", "RetryPolicyBackOff"]);
    let (base, most) = (back_off.get("BaseInterval").int(), back_off.get("MaxInterval").int());
    refuse(most != 0 && base > most, || "retry policy backoff's MaxInterval should be greater or equal to BaseInterval".into())?;
    let Some(cluster) = remote.find("JWKSCluster") else { return Ok(()) };
    let kind = cluster.get("DiscoveryType").text();
    refuse(!["", "STATIC", "STRICT_DNS", "LOGICAL_DNS", "EDS", "ORIGINAL_DST"].contains(&kind), || {
        format!("unsupported jwks cluster discovery type: {}", go::quote(kind))
    })?;
    let Some(certificates) = cluster.find("TLSCertificates") else { return Ok(()) };
    let given = ["CaCertificateProviderInstance", "TrustedCA"].iter().filter(|field| certificates.find(field).is_some()).count();
    refuse(given != 1, || "must specify exactly one of: CaCertificateProviderInstance or TrustedCA for JKWS' TLSCertificates".into())?;
    let Some(authority) = certificates.find("TrustedCA") else { return Ok(()) };
    refuse(count(authority, &["Filename", "EnvironmentVariable", "InlineString", "InlineBytes"]) != 1, || {
        "must specify exactly one of: Filename, EnvironmentVariable, InlineString or InlineBytes for JWKS' TrustedCA".into()
    })
}

fn location(location: &Tree) -> Verdict {
    let places = [("Header", "header"), ("QueryParam", "query param"), ("Cookie", "cookie")];
    let mut given = places.iter().filter_map(|(field, word)| Some((location.find(field)?, word)));
    match (given.next(), given.next()) {
        (Some((place, word)), None) => refuse(!is_set(place.get("Name")), || format!("JWT location {word} name must be specified")),
        _ => Err("must set exactly one of: JWT location header, query param or cookie".into()),
    }
}
