//! Decides which gateways and Secrets a client may read, by the names of its certificate.
//!
//! The names are its URI and DNS names, and its common name. If a file of proxies has rules, nothing else is allowed.
//! Without rules, a certificate that names a gateway gives access to that gateway only: by a whole name, or by the last
//! step of a SPIFFE id. A certificate that names no gateway gives access to all, because its CA vouches for it. Does not
//! validate certificates; see `tls`.

use super::peer::Peer;
use super::snapshot::{Resources, Snapshot};
use crate::lock;
use chancery_core::backend::envoy::v3::Service;
use std::sync::{Arc, Mutex};
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::prelude::{FromDer, X509Certificate};

/// The permissions of an identity. In a name, `*` matches any string.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// A name of a certificate.
    pub name: String,
    /// Gateways.
    pub gateways: Vec<String>,
    /// Secrets; `None` for all of its gateways.
    pub secrets: Option<Vec<String>>,
}

/// The present rules. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Identities(Arc<Mutex<Option<Arc<[Rule]>>>>);

impl Identities {
    /// Sets the rules. With `None`, only the names of gateways matter.
    pub fn set(&self, rules: Option<Vec<Rule>>) {
        *lock(&self.0) = rules.map(Arc::from);
    }

    /// Whether there are rules.
    #[must_use]
    pub fn has_rules(&self) -> bool {
        lock(&self.0).is_some()
    }

    /// Returns the permissions of a peer for a gateway.
    #[must_use]
    pub fn grant<'n>(&self, peer: &Peer, gateway: &str, mut gateways: impl Iterator<Item = &'n str>) -> Grant {
        if !peer.is_known {
            // Without TLS, or without client certificates, there is no identity.
            return Grant::All;
        }
        let Some(rules) = lock(&self.0).clone() else {
            let names_one = gateways.any(|name| peer.names.iter().any(|of| is_gateway(of, name)));
            let names_it = peer.names.iter().any(|of| is_gateway(of, gateway));
            return if names_it || !names_one { Grant::All } else { Grant::Nothing };
        };
        let is_meant = |rule: &&Rule| peer.names.iter().any(|name| matches(&rule.name, name));
        let fitting: Vec<&Rule> = rules.iter().filter(is_meant).filter(|rule| rule.gateways.iter().any(|of| matches(of, gateway))).collect();
        if fitting.is_empty() {
            Grant::Nothing
        } else if fitting.iter().any(|rule| rule.secrets.is_none()) {
            Grant::All
        } else {
            Grant::Secrets(fitting.iter().flat_map(|rule| rule.secrets.iter().flatten().cloned()).collect())
        }
    }
}

/// The permissions of a client for a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grant {
    /// All of it.
    All,
    /// All of it, but only Secrets with these names.
    Secrets(Vec<String>),
    /// Nothing.
    Nothing,
}

impl Grant {
    /// Whether a Secret of this name may be requested.
    #[must_use]
    pub fn has_secret(&self, name: &str) -> bool {
        match self {
            Grant::All => true,
            Grant::Secrets(patterns) => patterns.iter().any(|pattern| matches(pattern, name)),
            Grant::Nothing => false,
        }
    }

    /// Returns the permitted part of a snapshot.
    #[must_use]
    pub fn of(&self, snapshot: &Arc<Snapshot>) -> Arc<Snapshot> {
        let url = Service::Secrets.type_url();
        let (Grant::Secrets(_), Some(all)) = (self, snapshot.get(&url)) else { return snapshot.clone() };
        let mut out = Snapshot::clone(snapshot);
        let granted = all.by_name.iter().filter(|(name, _)| self.has_secret(name)).map(|(_, of)| of.clone());
        out.set(url, Arc::new(Resources::new(granted)));
        Arc::new(out)
    }
}

/// Whether a name of a certificate names a gateway.
fn is_gateway(name: &str, gateway: &str) -> bool {
    let last = name.strip_prefix("spiffe://").and_then(|path| path.rsplit('/').next());
    name == gateway || last == Some(gateway)
}

/// Whether a string matches a pattern, in which `*` matches any string.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    true
}

/// Returns the names of a certificate. A certificate that cannot be read has none.
#[must_use]
pub fn names(certificate: &[u8]) -> Arc<[String]> {
    let Ok((_, certificate)) = X509Certificate::from_der(certificate) else { return Arc::default() };
    let mut out: Vec<String> = Vec::new();
    for extension in certificate.extensions() {
        if let ParsedExtension::SubjectAlternativeName(names) = extension.parsed_extension() {
            out.extend(names.general_names.iter().filter_map(|name| match name {
                GeneralName::URI(text) | GeneralName::DNSName(text) => Some((*text).to_owned()),
                _ => None,
            }));
        }
    }
    out.extend(certificate.subject().iter_common_name().filter_map(|name| name.as_str().ok()).map(str::to_owned));
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(names: &[&str]) -> Peer {
        Peer { address: None, is_known: true, names: names.iter().map(|name| (*name).to_owned()).collect() }
    }

    #[test]
    fn pattern_matches_any_string_at_stars() {
        for (pattern, text, fits) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*", "", true),
            ("*b", "ab", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a*a", "a", false),
            ("", "", true),
            ("", "a", false),
            ("**", "x", true),
        ] {
            assert_eq!(matches(pattern, text), fits, "{pattern} {text}");
        }
    }

    #[test]
    fn certificate_without_rules_gets_its_named_gateway() {
        let identities = Identities::default();
        let gateways = ["one", "team/two"];
        let grant = |names: &[&str], gateway: &str| identities.grant(&peer(names), gateway, gateways.into_iter());
        assert_eq!(grant(&["one"], "one"), Grant::All);
        assert_eq!(grant(&["one"], "team/two"), Grant::Nothing);
        assert_eq!(grant(&["spiffe://x/ns/edge/one"], "team/two"), Grant::Nothing);
        assert_eq!(grant(&["envoy.example.com"], "team/two"), Grant::All, "it names no gateway");
        let plain = Peer { is_known: false, ..peer(&["one"]) };
        assert_eq!(identities.grant(&plain, "team/two", gateways.into_iter()), Grant::All, "there is no certificate");
    }

    #[test]
    fn rules_allow_nothing_else() {
        let identities = Identities::default();
        let rule = |name: &str, gateway: &str, secrets: Option<&str>| Rule {
            name: name.into(),
            gateways: vec![gateway.into()],
            secrets: secrets.map(|name| vec![name.into()]),
        };
        identities.set(Some(vec![rule("spiffe://x/*", "one", Some("one/*")), rule("admin", "*", None)]));
        let grant = |names: &[&str], gateway: &str| identities.grant(&peer(names), gateway, std::iter::empty());
        assert_eq!(grant(&["other"], "one"), Grant::Nothing);
        assert_eq!(grant(&["spiffe://x/y"], "two"), Grant::Nothing);
        assert_eq!(grant(&["admin"], "two"), Grant::All);
        let some = grant(&["spiffe://x/y"], "one");
        assert!(some.has_secret("one/a") && !some.has_secret("two/a"));
        assert_eq!(grant(&["spiffe://x/y", "admin"], "one"), Grant::All, "the widest counts");
    }
}
