//! Processes token providers (Contour `internal/dag/httpproxy_processor.go`, `computeHTTPProxy`).

use super::delegation::Root;
use super::record::Record;
use super::{Processing, is_delegation};
use crate::model::{DnsCluster, Jwks, JwtProvider, PeerValidation};
use crate::source::{full_name, quoted};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::sync::Arc;
use chancery_base::diagnostic::Reported;
use chancery_base::resource::{Rule, Sourced};
use chancery_base::schema::{duration, go_quoted};
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::go;
use chancery_kubernetes::reason::Reason;
use chancery_text::Str;
use core::time::Duration;

const WRONG: &str = "JWTVerificationError";

/// The path of remote keys in messages.
const PATH: &str = "Spec.VirtualHost.JWTProviders.RemoteJWKS";

impl<'a> Processing<'a> {
    pub(super) fn jwt_providers(&mut self, root: &mut Root<'a>, listener: &Str, record: &mut Record) -> Result<(), Reported> {
        let mut names = BTreeSet::new();
        for at in root.virtual_host.field("jwtProviders").items() {
            let name = at.field("name").str();
            if !names.insert(name) {
                let message = format!("Spec.VirtualHost.JWTProviders is invalid: duplicate name {name}");
                return Err(record.error(WRONG, "DuplicateProviderName", message, at.field("name").origin()));
            }
            if at.field("default").is_true() {
                if root.default_jwt_provider.is_some() {
                    let message = "Spec.VirtualHost.JWTProviders is invalid: at most one provider can be set as the default";
                    return Err(record.error(WRONG, "MultipleDefaultProvidersSpecified", message, at.field("default").origin()));
                }
                root.default_jwt_provider = at.field("name").text();
            }
            let jwks = self.jwks(root, at, record)?;
            let text = |field: &str| Sourced::new(Str::new(at.field(field).str()), at.field(field).origin());
            let provider = JwtProvider {
                name: text("name"),
                issuer: text("issuer"),
                audiences: at.field("audiences").texts(),
                jwks,
                forward: Sourced::new(at.field("forwardJWT").is_true(), at.field("forwardJWT").origin()),
            };
            self.secure_host(listener, &root.host).jwt_providers.push(Sourced::new(provider, at.origin()));
        }
        Ok(())
    }

    fn jwks(&self, root: &Root<'_>, at: Cursor<'_>, record: &mut Record) -> Result<Jwks, Reported> {
        let name = go_quoted(at.field("name").str());
        let (remote, local) = (at.field("remoteJWKS"), at.field("localJWKS"));
        let (uri, secret) = (remote.field("uri"), local.field("secretName"));
        let prefix = "Spec.VirtualHost.JWTProviders for provider";
        match (uri.str().is_empty(), secret.str().is_empty()) {
            (false, false) => {
                let message = format!("{prefix} {name} is invalid: at most one of remoteJWKS or localJWKS may be set");
                Err(record.error(WRONG, "JWKSSourceConflict", message, local.origin()))
            }
            (true, true) => {
                let message = format!("{prefix} {name} is invalid: exactly one of remoteJWKS or localJWKS must be set");
                Err(record.error(WRONG, "JWKSSourceMissing", message, at.origin()))
            }
            (true, false) => {
                let key = local.field("key").str();
                let full = (root.proxy.namespace().clone(), Str::new(secret.str()));
                match self.source.jwks_secret(&full, key) {
                    Ok(material) => Ok(Jwks::Local(Sourced::new(material, secret.origin()), key.into())),
                    Err(error) => {
                        let message = format!("Spec.VirtualHost.JWTProviders.LocalJWKS for provider {name} is invalid: {}", error.message());
                        Err(record.error(WRONG, "LocalJWKSInvalid", message, secret.origin()))
                    }
                }
            }
            (false, true) => self.remote_jwks(root, remote, record),
        }
    }

    fn remote_jwks(&self, root: &Root<'_>, remote: Cursor<'_>, record: &mut Record) -> Result<Jwks, Reported> {
        let uri = remote.field("uri");
        let url = Url::parse(uri.str())
            .map_err(|why| record.error(WRONG, "RemoteJWKSURIInvalid", format!("{PATH}.URI is invalid: {why}"), uri.origin()))?;
        if !matches!(url.scheme.as_str(), "http" | "https") {
            let message = format!("{PATH}.URI has invalid scheme {}, must be http or https", go_quoted(&url.scheme));
            return Err(record.error(WRONG, "RemoteJWKSSchemeInvalid", message, uri.origin()));
        }
        let validation = self.jwks_validation(root.proxy.namespace(), remote.field("validation"), &url, record)?;
        let timeout = duration(remote.field("timeout"), "RemoteJWKSTimeoutInvalid", "Timeout", record)?;
        let timeout = timeout.unwrap_or_else(|| Sourced::new(Duration::from_secs(1), remote.field("timeout").origin()));
        let cache = duration(remote.field("cacheDuration"), "RemoteJWKSCacheDurationInvalid", "CacheDuration", record)?;
        let port = match url.port.parse::<u32>() {
            Ok(port) => port,
            Err(_) if url.scheme == "http" => 80,
            Err(_) => 443,
        };
        let family = remote.field("dnsLookupFamily");
        let dns_family = match family.str() {
            "" => self.common.dns_family.clone(),
            known @ ("auto" | "v4" | "v6" | "all") => Sourced::new(Str::new(known), family.origin()),
            other => {
                let message = format!("{PATH}.DNSLookupFamily has an invalid value {}, must be auto, all, v4 or v6", go_quoted(other));
                return Err(record.error(WRONG, "RemoteJWKSDNSLookupFamilyInvalid", message, family.origin()));
            }
        };
        let derived = |value: Str| Sourced::new(value, uri.origin()).by(Rule::Derived);
        let cluster = DnsCluster {
            address: derived(url.host),
            scheme: derived(url.scheme),
            port: Sourced::new(port, uri.origin()).by(Rule::Derived),
            dns_family,
            validation,
            upstream_tls: Some(self.common.upstream_tls.clone()),
            origins: alloc::vec![uri.origin()],
        };
        let written = Sourced::new(Str::new(uri.str()), uri.origin());
        Ok(Jwks::Remote { uri: written, timeout, cache, cluster: Arc::new(cluster) })
    }

    /// How the certificate of the server of keys is checked, if at all.
    fn jwks_validation(&self, namespace: &Str, at: Cursor<'_>, url: &Url, record: &mut Record) -> Result<Option<Sourced<PeerValidation>>, Reported> {
        let Some(at) = at.some() else { return Ok(None) };
        if url.scheme == "http" {
            let message = format!("{PATH}.UpstreamValidation must not be specified when URI scheme is http.");
            return Err(record.error(WRONG, "RemoteJWKSUpstreamValidationInvalid", message, at.origin()));
        }
        let ca = full_name(at.field("caSecret").str(), namespace);
        match self.source.upstream_validation(at, &ca, namespace) {
            Ok(found) => Ok(Some(Sourced::new(found, at.origin()))),
            Err(error) if is_delegation(&error) => {
                let what = format!("{PATH}.UpstreamValidation.CACertificate Secret {}", quoted(&ca));
                let message = format!("{what} is not configured for certificate delegation");
                Err(record.error(WRONG, "RemoteJWKSCACertificateNotDelegated", message, at.field("caSecret").origin()))
            }
            Err(error) => {
                let message = format!("{PATH}.UpstreamValidation is invalid: {}", error.message());
                Err(record.error(WRONG, "RemoteJWKSUpstreamValidationInvalid", message, at.origin()))
            }
        }
    }
}

/// A duration in the settings of remote keys, if set.
fn duration(at: Cursor<'_>, reason: &'static str, name: &str, record: &mut Record) -> Result<Option<Sourced<Duration>>, Reported> {
    match at.str() {
        "" => Ok(None),
        text => match duration::read(text) {
            Ok(nanoseconds) => Ok(Some(Sourced::new(go::as_duration(nanoseconds), at.origin()))),
            Err(why) => Err(record.error(WRONG, reason, format!("{PATH}.{name} is invalid: {why}"), at.origin())),
        },
    }
}

/// The relevant parts of a URL (Go's `net/url`).
struct Url {
    scheme: Str,
    host: Str,
    port: Str,
}

impl Url {
    fn parse(text: &str) -> Result<Self, Reason> {
        let failed = |why: &str| Err(format!("parse {}: {why}", go_quoted(text)).into());
        if text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
            return failed("net/url: invalid control character in URL");
        }
        let (scheme, rest) = match text.find(':') {
            Some(0) => return failed("missing protocol scheme"),
            Some(at) if text.starts_with(|c: char| c.is_ascii_alphabetic()) && text[..at].bytes().all(scheme_byte) => {
                (text[..at].to_ascii_lowercase(), &text[at + 1..])
            }
            Some(at) if !text[..at].contains('/') => return failed("first path segment in URL cannot contain colon"),
            _ => (Default::default(), text),
        };
        let authority = rest.strip_prefix("//").unwrap_or_default();
        let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port),
            _ => (host, ""),
        };
        if !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return failed(&format!("invalid port {} after host", go_quoted(&format!(":{port}"))));
        }
        let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        Ok(Self { scheme: scheme.into(), host: name.into(), port: port.into() })
    }
}

fn scheme_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}
