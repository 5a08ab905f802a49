//! Rules of Envoy's code that are not in its protos, for fields that controllers copy from a user's resource.
//!
//! Each rule was checked with Envoy 1.40. Source of behaviour: envoyproxy/envoy, `source/common/protobuf/utility.cc` (durations),
//! `source/common/router/config_impl.cc` (weights),
//! `source/common/listener_manager/filter_chain_manager_impl.cc` (server names), `source/extensions/filters/common/ext_authz/ext_authz_http_impl.cc` (paths), and BoringSSL
//! for cipher suites and groups (`ssl/ssl_cipher.cc`, `ssl/ssl_key_share.cc`). Does not check strings with `%COMMANDS%`, headers or expressions.

use crate::describe::{FieldInfo, List, MessageInfo, Reflect, Value, Visitor};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The longest duration that Envoy accepts, in seconds.
const LONGEST: i64 = 9_223_372_036;

const TLS: &str = "envoy.extensions.transport_sockets.tls.v3.TlsParameters";
const AUTHORIZATION: &str = "envoy.extensions.filters.http.ext_authz.v3.HttpService";
const CHAIN_MATCH: &str = "envoy.config.listener.v3.FilterChainMatch";
const WEIGHTED: &str = "envoy.config.route.v3.WeightedCluster";

/// Whether there are rules for scalars of a message.
pub(super) fn knows(message: &MessageInfo) -> bool {
    matches!(message.full_name, TLS | AUTHORIZATION | CHAIN_MATCH)
}

/// Returns the error of Envoy's code for a field's value, with the index of the item in a list.
pub(super) fn complaint(message: &MessageInfo, field: &FieldInfo, value: Value<'_>) -> Option<(Option<usize>, String)> {
    match (message.full_name, field.name(), value) {
        (_, _, Value::Duration(duration)) if duration.seconds < 0 || duration.nanos < 0 => Some((None, "must not be negative".into())),
        (_, _, Value::Duration(duration)) if duration.seconds > LONGEST => Some((None, format!("must be at most {LONGEST}s"))),
        (TLS, "cipher_suites", list) => item(list, |suites| {
            let bad = ciphers(suites).find(|name| !is_cipher(name))?;
            Some(format!("`{bad}` is no cipher suite of TLS 1.2 and before that it knows"))
        }),
        (TLS, "ecdh_curves", Value::List(list)) => curves(list),
        (AUTHORIZATION, "path_prefix", Value::String(prefix)) => (!prefix.starts_with('/')).then(|| (None, "must start with \"/\"".into())),
        (CHAIN_MATCH, "server_names", list) => item(list, |name| {
            let is_partial = name.contains('*') && !name.starts_with("*.");
            is_partial.then(|| format!("`{name}` is not accepted: a `*` must be the whole first label, as in `*.example.com`"))
        }),
        (WEIGHTED, "clusters", Value::List(clusters)) => {
            let weights = clusters.iter().map(|cluster| if let Value::Message(of) = cluster { weight(of) } else { 0 });
            (weights.sum::<u64>() > u64::from(u32::MAX)).then(|| (None, format!("the weights must not be more than {} together", u32::MAX)))
        }
        _ => None,
    }
}

/// Returns the first invalid string of a list.
fn item(list: Value<'_>, complaint: impl Fn(&str) -> Option<String>) -> Option<(Option<usize>, String)> {
    let Value::List(list) = list else { return None };
    let mut items = list.iter().enumerate();
    items.find_map(|(index, item)| if let Value::String(text) = item { complaint(text).map(|why| (Some(index), why)) } else { None })
}

/// Returns the first invalid curve. Envoy joins the items, so two items must not contain the same curve.
fn curves(list: List<'_>) -> Option<(Option<usize>, String)> {
    let mut seen = Vec::new();
    for (index, item) in list.iter().enumerate() {
        let Value::String(text) = item else { continue };
        if text.is_empty() && list.len() == 1 {
            return None;
        }
        for name in text.split(':') {
            let Some(group) = GROUPS.iter().position(|(curve, alias)| *curve == name || *alias == Some(name)) else {
                let known: Vec<&str> = GROUPS.iter().map(|(curve, _)| *curve).collect();
                return Some((Some(index), format!("`{name}` is no curve that it knows; these are: {}", known.join(", "))));
            };
            if seen.contains(&group) {
                return Some((Some(index), format!("`{name}` is there twice")));
            }
            seen.push(group);
        }
    }
    None
}

/// Checks the weight of one of several clusters.
fn weight(of: &dyn Reflect) -> u64 {
    struct Weight(u64);
    impl Visitor for Weight {
        fn field(&mut self, field: &'static FieldInfo, value: Value<'_>) {
            if let ("weight", Value::U32(weight)) = (field.name(), value) {
                self.0 = weight.into();
            }
        }
    }
    let mut found = Weight(0);
    of.visit(&mut found);
    found.0
}

/// The names in an expression of cipher suites: `ECDHE+AESGCM:!RSA`, `[A|B]`. Without commands such as `@STRENGTH`.
fn ciphers(expression: &str) -> impl Iterator<Item = &str> {
    let terms = expression.split([':', '[', ']', '|']).filter(|term| *term != "@STRENGTH");
    terms.flat_map(|term| term.trim_start_matches(['!', '-', '+']).split('+')).filter(|name| !name.is_empty())
}

fn is_cipher(name: &str) -> bool {
    ALIASES.contains(&name) || SUITES.iter().any(|(short, long)| *short == name || *long == name)
}

/// Each with its other name, if it has one.
const GROUPS: &[(&str, Option<&str>)] = &[
    ("X25519", Some("x25519")),
    ("P-256", Some("prime256v1")),
    ("P-384", Some("secp384r1")),
    ("P-521", Some("secp521r1")),
    ("X25519MLKEM768", None),
    ("MLKEM1024", None),
];

const ALIASES: &[&str] = &[
    "3DES", "AES", "AES128", "AES256", "AESGCM", "ALL", "CHACHA20", "DEFAULT", "ECDH", "ECDHE", "ECDSA", "EECDH", "FIPS", "HIGH", "PSK", "RSA",
    "SHA", "SHA1", "SSLv3", "TLSv1", "TLSv1.2", "aECDSA", "aPSK", "aRSA", "kECDHE", "kEECDH", "kPSK", "kRSA",
];

/// OpenSSL's name and the standard's.
const SUITES: &[(&str, &str)] = &[
    ("AES128-GCM-SHA256", "TLS_RSA_WITH_AES_128_GCM_SHA256"),
    ("AES128-SHA", "TLS_RSA_WITH_AES_128_CBC_SHA"),
    ("AES256-GCM-SHA384", "TLS_RSA_WITH_AES_256_GCM_SHA384"),
    ("AES256-SHA", "TLS_RSA_WITH_AES_256_CBC_SHA"),
    ("DES-CBC3-SHA", "TLS_RSA_WITH_3DES_EDE_CBC_SHA"),
    ("ECDHE-ECDSA-AES128-GCM-SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"),
    ("ECDHE-ECDSA-AES128-SHA", "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA"),
    ("ECDHE-ECDSA-AES128-SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256"),
    ("ECDHE-ECDSA-AES256-GCM-SHA384", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"),
    ("ECDHE-ECDSA-AES256-SHA", "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA"),
    ("ECDHE-ECDSA-CHACHA20-POLY1305", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"),
    ("ECDHE-PSK-AES128-CBC-SHA", "TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA"),
    ("ECDHE-PSK-AES256-CBC-SHA", "TLS_ECDHE_PSK_WITH_AES_256_CBC_SHA"),
    ("ECDHE-PSK-CHACHA20-POLY1305", "TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256"),
    ("ECDHE-RSA-AES128-GCM-SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
    ("ECDHE-RSA-AES128-SHA", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"),
    ("ECDHE-RSA-AES128-SHA256", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256"),
    ("ECDHE-RSA-AES256-GCM-SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"),
    ("ECDHE-RSA-AES256-SHA", "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA"),
    ("ECDHE-RSA-CHACHA20-POLY1305", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"),
    ("PSK-AES128-CBC-SHA", "TLS_PSK_WITH_AES_128_CBC_SHA"),
    ("PSK-AES256-CBC-SHA", "TLS_PSK_WITH_AES_256_CBC_SHA"),
];
