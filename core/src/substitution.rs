//! Texts with Envoy's `%COMMANDS%`: values of headers, formats of access logs, values of rate limit descriptors.
//!
//! Source of behaviour: Envoy 1.40, `source/common/formatter` (`SubstitutionFormatParser`, and the tables of commands with what each takes).
//! What must not be here: what a command stands for.

use crate::resource::nearest;
use alloc::format;
use alloc::string::String;

/// A command of a text: `%NAME%`, `%NAME(arguments)%`, `%NAME(arguments):length%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command<'a> {
    /// All of it, without the percent signs.
    pub whole: &'a str,
    /// Its name: capitals, digits and underscores.
    pub name: &'a str,
    /// What is in the parentheses; `None` without them.
    pub arguments: Option<&'a str>,
    /// To how many characters its value is cut: digits, of which there is at least one.
    pub length: Option<&'a str>,
}

/// The command after a percent sign, and the text after the sign that ends it. `None` where Envoy sees no command.
pub fn command(text: &str) -> Option<(Command<'_>, &str)> {
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let end = text.find(|c| !is_name(c)).filter(|end| *end > 0)?;
    let (name, mut rest) = text.split_at(end);
    let mut arguments = None;
    if let Some(inside) = rest.strip_prefix('(') {
        let (within, after) = inside.split_once(')')?;
        (arguments, rest) = (Some(within), after);
    }
    let mut length = None;
    if let Some(after) = rest.strip_prefix(':') {
        let digits = after.find(|c: char| !c.is_ascii_digit()).filter(|digits| *digits > 0)?;
        let (number, after) = after.split_at(digits);
        (length, rest) = (Some(number), after);
    }
    let whole = text.get(..text.len() - rest.len())?;
    Some((Command { whole, name, arguments, length }, rest.strip_prefix('%')?))
}

/// Why Envoy refuses a text; `None` where nothing is found. Of arguments only the number of headers is looked at, and commands of extensions are passed
/// over.
///
/// ```
/// use chancery_core::substitution::problem;
///
/// assert_eq!(problem("%REQ(x-user?x-name):8%, 100%%"), None);
/// assert!(problem("100%").is_some_and(|why| why.contains("`%%`")));
/// ```
pub fn problem(text: &str) -> Option<String> {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('%') {
        if let Some(after) = after.strip_prefix('%') {
            rest = after;
            continue;
        }
        let Some((command, after)) = command(after) else {
            return Some("a `%` begins a command, and this one has no end or no name; write `%%` for a plain `%`".into());
        };
        if let Some(problem) = misuse(&command) {
            return Some(problem);
        }
        rest = after;
    }
    None
}

fn misuse(command: &Command<'_>) -> Option<String> {
    let Command { name, arguments, length, .. } = *command;
    let is_in = |names: &[&str]| names.binary_search(&name).is_ok();
    let argument = arguments.is_some_and(|arguments| !arguments.is_empty());
    if is_in(ALONE) {
        return (argument || length.is_some()).then(|| format!("`%{name}%` takes neither arguments nor a length"));
    }
    let (needs, takes_length) = match () {
        () if is_in(WITH_ARGUMENTS) => (true, true),
        () if is_in(WITH_ARGUMENTS_WITHOUT_LENGTH) => (true, false),
        () if is_in(PERHAPS_WITH_ARGUMENTS) => (false, true),
        () if is_in(PERHAPS_WITH_ARGUMENTS_WITHOUT_LENGTH) => (false, false),
        () => return unknown(name),
    };
    if needs && !argument {
        return Some(format!("`{name}` needs an argument in parentheses"));
    }
    if length.is_some() && !takes_length {
        return Some(format!("`{name}` takes no length"));
    }
    let names_headers = matches!(name, "REQ" | "RESP" | "TRAILER");
    let names = arguments.unwrap_or_default().split('?').count();
    (names_headers && names > 2).then(|| format!("`{name}` takes one header and one other, and here are {names}"))
}

/// What is said of a command that is not known: extensions have others, so only what is nearly known is a mistake for sure.
fn unknown(name: &str) -> Option<String> {
    let all = ALONE.iter().chain(WITH_ARGUMENTS).chain(WITH_ARGUMENTS_WITHOUT_LENGTH);
    let all = all.chain(PERHAPS_WITH_ARGUMENTS).chain(PERHAPS_WITH_ARGUMENTS_WITHOUT_LENGTH);
    nearest(name, all.copied()).map(|near| format!("Envoy has no command `{name}`; the nearest is `{near}`"))
}

const WITH_ARGUMENTS: &[&str] = &[
    "CEL",
    "COALESCE",
    "DYNAMIC_METADATA",
    "ENVIRONMENT",
    "FILTER_STATE",
    "METADATA",
    "QUERY_PARAM",
    "REQ",
    "REQUEST_HEADER",
    "RESP",
    "RESPONSE_HEADER",
    "RESPONSE_TRAILER",
    "TRAILER",
    "TYPED_CEL",
    "UPSTREAM_FILTER_STATE",
];

const WITH_ARGUMENTS_WITHOUT_LENGTH: &[&str] = &["CLUSTER_METADATA", "COMMON_DURATION", "UPSTREAM_METADATA"];

const PERHAPS_WITH_ARGUMENTS: &[&str] = &["PATH", "QUERY_PARAMS"];

const PERHAPS_WITH_ARGUMENTS_WITHOUT_LENGTH: &[&str] = &[
    "DOWNSTREAM_DIRECT_LOCAL_ADDRESS_WITHOUT_PORT",
    "DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT",
    "DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT",
    "DOWNSTREAM_PEER_CERT_V_END",
    "DOWNSTREAM_PEER_CERT_V_START",
    "DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT",
    "EMIT_TIME",
    "EMIT_TIME_LOCAL",
    "GRPC_STATUS",
    "REQUESTED_SERVER_NAME",
    "RESPONSE_CODE_DETAILS",
    "START_TIME",
    "START_TIME_LOCAL",
    "UPSTREAM_LOCAL_ADDRESS_WITHOUT_PORT",
    "UPSTREAM_PEER_CERT_V_END",
    "UPSTREAM_PEER_CERT_V_START",
    "UPSTREAM_REMOTE_ADDRESS_WITHOUT_PORT",
];

const ALONE: &[&str] = &[
    "ACCESS_LOG_TYPE",
    "BYTES_RECEIVED",
    "BYTES_RETRANSMITTED",
    "BYTES_SENT",
    "CONNECTION_ID",
    "CONNECTION_TERMINATION_DETAILS",
    "CUSTOM_FLAGS",
    "DOWNSTREAM_CX_RTT",
    "DOWNSTREAM_DECOMPRESSED_HEADER_BYTES_RECEIVED",
    "DOWNSTREAM_DECOMPRESSED_HEADER_BYTES_SENT",
    "DOWNSTREAM_DETECTED_CLOSE_TYPE",
    "DOWNSTREAM_DIRECT_LOCAL_ADDRESS",
    "DOWNSTREAM_DIRECT_LOCAL_ADDRESS_ENDPOINT_ID",
    "DOWNSTREAM_DIRECT_LOCAL_PORT",
    "DOWNSTREAM_DIRECT_REMOTE_ADDRESS",
    "DOWNSTREAM_DIRECT_REMOTE_PORT",
    "DOWNSTREAM_HANDSHAKE_DURATION",
    "DOWNSTREAM_HEADER_BYTES_RECEIVED",
    "DOWNSTREAM_HEADER_BYTES_SENT",
    "DOWNSTREAM_LOCAL_ADDRESS",
    "DOWNSTREAM_LOCAL_ADDRESS_ENDPOINT_ID",
    "DOWNSTREAM_LOCAL_CLOSE_REASON",
    "DOWNSTREAM_LOCAL_DNS_SAN",
    "DOWNSTREAM_LOCAL_EMAIL_SAN",
    "DOWNSTREAM_LOCAL_IP_SAN",
    "DOWNSTREAM_LOCAL_OTHERNAME_SAN",
    "DOWNSTREAM_LOCAL_PORT",
    "DOWNSTREAM_LOCAL_SUBJECT",
    "DOWNSTREAM_LOCAL_URI_SAN",
    "DOWNSTREAM_PEER_CERT",
    "DOWNSTREAM_PEER_CHAIN_FINGERPRINTS_1",
    "DOWNSTREAM_PEER_CHAIN_FINGERPRINTS_256",
    "DOWNSTREAM_PEER_CHAIN_SERIALS",
    "DOWNSTREAM_PEER_DNS_SAN",
    "DOWNSTREAM_PEER_EMAIL_SAN",
    "DOWNSTREAM_PEER_FINGERPRINT_1",
    "DOWNSTREAM_PEER_FINGERPRINT_256",
    "DOWNSTREAM_PEER_IP_SAN",
    "DOWNSTREAM_PEER_ISSUER",
    "DOWNSTREAM_PEER_ISSUER_FINGERPRINT_256",
    "DOWNSTREAM_PEER_ISSUER_SERIAL",
    "DOWNSTREAM_PEER_OTHERNAME_SAN",
    "DOWNSTREAM_PEER_SERIAL",
    "DOWNSTREAM_PEER_SUBJECT",
    "DOWNSTREAM_PEER_URI_SAN",
    "DOWNSTREAM_REMOTE_ADDRESS",
    "DOWNSTREAM_REMOTE_PORT",
    "DOWNSTREAM_TLS_CIPHER",
    "DOWNSTREAM_TLS_GROUP",
    "DOWNSTREAM_TLS_SESSION_ID",
    "DOWNSTREAM_TLS_VERSION",
    "DOWNSTREAM_TRANSPORT_FAILURE_REASON",
    "DOWNSTREAM_WIRE_BYTES_RECEIVED",
    "DOWNSTREAM_WIRE_BYTES_SENT",
    "DURATION",
    "FILTER_CHAIN_NAME",
    "GRPC_STATUS_NUMBER",
    "HOSTNAME",
    "LISTENER_NAME",
    "LOCAL_REPLY_BODY",
    "PACKETS_RETRANSMITTED",
    "PROTOCOL",
    "REQUEST_DURATION",
    "REQUEST_HEADERS_BYTES",
    "REQUEST_TX_DURATION",
    "RESPONSE_CODE",
    "RESPONSE_DURATION",
    "RESPONSE_FLAGS",
    "RESPONSE_FLAGS_LONG",
    "RESPONSE_HEADERS_BYTES",
    "RESPONSE_TRAILERS_BYTES",
    "RESPONSE_TX_DURATION",
    "ROUNDTRIP_DURATION",
    "ROUTE_NAME",
    "ROUTE_RESOLUTION_COUNT",
    "ROUTE_RESOLUTION_TIME_US",
    "SPAN_ID",
    "STREAM_ID",
    "TLS_JA3_FINGERPRINT",
    "TLS_JA4_FINGERPRINT",
    "TRACE_ID",
    "UNIQUE_ID",
    "UPSTREAM_CLUSTER",
    "UPSTREAM_CLUSTER_RAW",
    "UPSTREAM_CONNECTION_ID",
    "UPSTREAM_CONNECTION_IDS_ATTEMPTED",
    "UPSTREAM_CONNECTION_POOL_READY_DURATION",
    "UPSTREAM_DECOMPRESSED_HEADER_BYTES_RECEIVED",
    "UPSTREAM_DECOMPRESSED_HEADER_BYTES_SENT",
    "UPSTREAM_DETECTED_CLOSE_TYPE",
    "UPSTREAM_HEADER_BYTES_RECEIVED",
    "UPSTREAM_HEADER_BYTES_SENT",
    "UPSTREAM_HOST",
    "UPSTREAM_HOSTS_ATTEMPTED",
    "UPSTREAM_HOSTS_ATTEMPTED_WITHOUT_PORT",
    "UPSTREAM_HOST_NAME",
    "UPSTREAM_HOST_NAMES_ATTEMPTED",
    "UPSTREAM_HOST_NAMES_ATTEMPTED_WITHOUT_PORT",
    "UPSTREAM_HOST_NAME_WITHOUT_PORT",
    "UPSTREAM_LOCAL_ADDRESS",
    "UPSTREAM_LOCAL_CLOSE_REASON",
    "UPSTREAM_LOCAL_DNS_SAN",
    "UPSTREAM_LOCAL_IP_SAN",
    "UPSTREAM_LOCAL_PORT",
    "UPSTREAM_LOCAL_URI_SAN",
    "UPSTREAM_PEER_CERT",
    "UPSTREAM_PEER_DNS_SAN",
    "UPSTREAM_PEER_IP_SAN",
    "UPSTREAM_PEER_ISSUER",
    "UPSTREAM_PEER_SUBJECT",
    "UPSTREAM_PEER_URI_SAN",
    "UPSTREAM_PROTOCOL",
    "UPSTREAM_REMOTE_ADDRESS",
    "UPSTREAM_REMOTE_ADDRESS_ENDPOINT_ID",
    "UPSTREAM_REMOTE_PORT",
    "UPSTREAM_REQUEST_ATTEMPT_COUNT",
    "UPSTREAM_SERVER_NAME",
    "UPSTREAM_TLS_CIPHER",
    "UPSTREAM_TLS_GROUP",
    "UPSTREAM_TLS_SESSION_ID",
    "UPSTREAM_TLS_VERSION",
    "UPSTREAM_TRANSPORT_FAILURE_REASON",
    "UPSTREAM_WIRE_BYTES_RECEIVED",
    "UPSTREAM_WIRE_BYTES_SENT",
    "VIRTUAL_CLUSTER_NAME",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        for table in [ALONE, WITH_ARGUMENTS, WITH_ARGUMENTS_WITHOUT_LENGTH, PERHAPS_WITH_ARGUMENTS, PERHAPS_WITH_ARGUMENTS_WITHOUT_LENGTH] {
            assert!(table.is_sorted(), "{table:?}");
        }
    }

    #[test]
    fn a_text_is_refused_as_envoy_refuses_it() {
        let taken = [
            "",
            "plain",
            "100%%",
            "%PROTOCOL%",
            "a %REQ(x)% b",
            "%REQ(x?y):5%",
            "%START_TIME%",
            "%START_TIME(%s.%3f)%",
            "%METADATA(ROUTE:a)%",
            "%PATH:5%",
            "%PROTOCOL()%",
            "%PER_REQUEST_STATE(a)%",
        ];
        for text in taken {
            assert_eq!(problem(text), None, "{text}");
        }
        let refused = [
            "100%",
            "a%20b",
            "% %",
            "%%%",
            "%REQ%",
            "%REQ()%",
            "%REQ(x",
            "%REQ(x)",
            "%REQ:5%",
            "%REQ(x):y%",
            "%REQ(a?b?c)%",
            "%PROTOCOL(x)%",
            "%PROTOCOL:5%",
            "%START_TIME:5%",
            "%ENVIRONMENT%",
            "%protocol%",
        ];
        for text in refused {
            assert!(problem(text).is_some(), "{text}");
        }
        let near = problem("%DOWNSTREAM_REMOTE_ADRESS%").unwrap_or_default();
        assert!(near.contains("the nearest is `DOWNSTREAM_REMOTE_ADDRESS`"), "{near}");
    }
}
