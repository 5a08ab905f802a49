//! Reports Secrets with users or keys that Envoy Gateway accepts and Envoy cannot use. Quotes nothing of a Secret.

use super::super::cluster::Admitted;
use super::super::codes;
use super::super::context::Translator;
use super::super::translate::certificates;
use super::{finding, key_place};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use chancery_base::diagnostic::{Findings, Place, codes as base_codes};
use chancery_kubernetes::cursor::Cursor;

/// Bytes of a SHA-1 hash in base64.
const HASH: usize = 28;

/// Reports users that Envoy cannot read. Envoy Gateway ignores blanks around a line when it checks them, and sends them as they are
/// (`internal/gatewayapi/securitypolicy.go`, `validateHtpasswdFormat`; Envoy `source/extensions/filters/http/basic_auth/config.cc`).
pub(super) fn broken_users(t: &Translator<'_>, policy: &Admitted<'_>, sink: &mut Findings) {
    const KEY: &str = ".htpasswd";
    let users = policy.spec().at("basicAuth.users");
    let Some(secret) = secret_of(t, policy, users) else { return };
    let value = certificates::value(secret, KEY).unwrap_or_default();
    let Some(why) = rejection(&String::from_utf8_lossy(&value)) else { return };
    let message = format!("Envoy rejects these users, and the listener with all its routes: {why}");
    let place = certificates::key_of(secret, KEY).origin.map_or_else(|| key_place(users), |origin| Place::key(origin.object(), origin.node()));
    let found = finding(&base_codes::REFUSED_BY_ENVOY, message, policy, place);
    sink.report(
        found
            .related(key_place(users), "this policy uses the Secret")
            .help("write each user on one line, without blanks around it, and end lines with LF"),
    );
}

/// Returns why Envoy cannot read a list of users.
fn rejection(text: &str) -> Option<String> {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let lines = text.split('\n').enumerate().map(|(at, line)| (at + 1, line));
    for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        if line.ends_with('\r') {
            return Some(format!("line {number} ends with CRLF"));
        }
        let Some((name, hash)) = line.split_once(':') else { return Some(format!("line {number} is blank, but not empty")) };
        if name.is_empty() {
            return Some(format!("line {number} has no user name"));
        }
        if let Some(first) = known.insert(name, number) {
            return Some(format!("line {number} has the same user as line {first}"));
        }
        if !hash.starts_with("{SHA}") || hash.len() != "{SHA}".len() + HASH {
            return Some(format!("line {number} has a blank around the user or the hash"));
        }
    }
    None
}

/// Reports API keys that no request can have: Envoy removes `Bearer ` from the header before it compares
/// (Envoy `source/extensions/filters/http/api_key_auth/api_key_auth.cc`).
pub(super) fn bearer_keys(t: &Translator<'_>, policy: &Admitted<'_>, sink: &mut Findings) {
    let spec = policy.spec().field("apiKeyAuth");
    let sources = spec.field("extractFrom");
    let is_header_only = sources.items().all(|source| !source.field("params").has_items() && !source.field("cookies").has_items());
    if !sources.has_items() || !is_header_only {
        return;
    }
    for reference in spec.field("credentialRefs").items() {
        let Some(secret) = secret_of(t, policy, reference) else { continue };
        for client in certificates::keys(secret) {
            if !certificates::value(secret, &client).is_some_and(|key| key.starts_with(b"Bearer ")) {
                continue;
            }
            let message = String::from("no request matches this key: Envoy removes the scheme Bearer from a header before it compares");
            let origin = certificates::key_of(secret, &client).origin;
            let place = origin.map_or_else(|| key_place(reference), |origin| Place::key(origin.object(), origin.node()));
            let found = finding(&codes::KEY_NEVER_MATCHES, message, policy, place);
            sink.report(found.related(key_place(reference), "this policy uses the Secret").help("store the key without this scheme"));
        }
    }
}

/// Returns the Secret that a policy refers to, if the policy may use it: others are refused.
fn secret_of<'a>(t: &Translator<'a>, policy: &Admitted<'_>, reference: Cursor<'_>) -> Option<&'a Admitted<'a>> {
    let namespace = reference.field("namespace").some_str().unwrap_or_else(|| policy.namespace());
    t.resources.secret(namespace, reference.field("name").some_str()?)
}

#[cfg(test)]
mod tests {
    use super::rejection;

    #[test]
    fn users_are_read_as_envoy_reads_them() {
        const HASH: &str = "{SHA}hmb4vBqOTbpHGTBcvBQgBYzNFkg=";
        let of = |text: &str| rejection(&text.replace("HASH", HASH)).unwrap_or_default();
        assert_eq!(of("a:HASH\nb:HASH\n\n# a comment\n"), "");
        assert_eq!(of("a:HASH\r\nb:HASH\r\n"), "line 1 ends with CRLF");
        assert_eq!(of("a:HASH\n  \n"), "line 2 is blank, but not empty");
        assert_eq!(of("a:HASH \n"), "line 1 has a blank around the user or the hash");
        assert_eq!(of("a:HASH\nb:HASH\na:HASH"), "line 3 has the same user as line 1");
        assert_eq!(of(":HASH"), "line 1 has no user name");
    }
}
