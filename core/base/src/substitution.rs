//! Parses strings with Envoy's `%COMMANDS%`: header values, access log formats, rate limit descriptor values.
//!
//! Source of behaviour: Envoy 1.40, `source/common/formatter` (`SubstitutionFormatParser`, and the tables of commands with their arguments). Does
//! not evaluate commands.

use crate::resource::nearest;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A command in a string: `%NAME%`, `%NAME(arguments)%`, `%NAME(arguments):length%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command<'a> {
    /// The whole command without the percent signs.
    pub whole: &'a str,
    /// Its name: capitals, digits and underscores.
    pub name: &'a str,
    /// The text in parentheses; `None` without them.
    pub arguments: Option<&'a str>,
    /// The maximum length of its value, as at least one digit.
    pub length: Option<&'a str>,
}

/// The command after a percent sign, and the rest of the string after it. `None` if Envoy sees no command.
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

/// Why Envoy rejects a string; `None` if no problem is found. Arguments of `CEL`, operators of `COALESCE`, and commands of extensions are not
/// checked.
///
/// ```
/// use chancery_base::substitution::problem;
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
    if length.is_some_and(|length| length.parse::<u64>().is_err()) {
        return Some(format!("the length of `{name}` is too large a number"));
    }
    unfit(name, arguments.unwrap_or_default())
}

/// The problem with a command's arguments.
fn unfit(name: &str, arguments: &str) -> Option<String> {
    let parts = || arguments.split(':');
    let part = |index: usize| parts().nth(index).unwrap_or_default();
    let one_of = |text: &str, allowed: &[&str]| {
        let is_allowed = text.is_empty() || allowed.contains(&text);
        (!is_allowed).then(|| format!("`{name}` takes {}, and `{text}` is none of these", either(allowed)))
    };
    match name {
        "REQ" | "RESP" | "TRAILER" | "REQUEST_HEADER" | "RESPONSE_HEADER" | "RESPONSE_TRAILER" => {
            let names = arguments.split('?').count();
            if names > 2 {
                return Some(format!("`{name}` takes one header and one fallback, but {names} were given"));
            }
            let bad = arguments.split('?').find(|header| !header.chars().all(|c| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~:".contains(c)))?;
            Some(format!("`{bad}` is not a valid header name"))
        }
        "PATH" => one_of(part(0), &["WQ", "NQ"]).or_else(|| one_of(part(1), &["ORIG", "PATH", "ORIG_OR_PATH"])),
        "QUERY_PARAMS" => one_of(arguments, &["ORIG", "DECODED"]),
        "GRPC_STATUS" => one_of(arguments, &["CAMEL_STRING", "SNAKE_STRING", "NUMBER"]),
        "REQUESTED_SERVER_NAME" => {
            one_of(part(0), &["SNI_ONLY", "SNI_FIRST", "HOST_FIRST"]).or_else(|| one_of(part(1), &["ORIG", "HOST", "ORIG_OR_HOST"]))
        }
        "METADATA" => one_of(part(0), &["DYNAMIC", "CLUSTER", "ROUTE", "UPSTREAM_HOST", "LISTENER", "VIRTUAL_HOST", "LISTENER_FILTER_CHAIN"]),
        "COMMON_DURATION" => match parts().count() {
            2 => None,
            3 => one_of(part(2), &["ms", "us", "ns"]),
            _ => Some("`COMMON_DURATION` takes where it begins, where it ends and a precision, with colons between them".into()),
        },
        "FILTER_STATE" | "UPSTREAM_FILTER_STATE" => match (part(0), part(1), parts().count()) {
            ("", ..) => Some(format!("`{name}` needs a key first")),
            (_, "FIELD", count) => (count < 3).then(|| format!("`{name}` with `FIELD` needs the name of a field")),
            (_, kind, count) => one_of(kind, &["PLAIN", "TYPED", "FIELD"])
                .or_else(|| (count > 2).then(|| format!("`{name}` takes the name of a field only after `FIELD`"))),
        },
        "COALESCE" => (!(arguments.trim_start().starts_with('{') && arguments.contains("\"operators\"")))
            .then(|| "`COALESCE` takes a JSON object with a list of `operators`".into()),
        _ => None,
    }
}

/// Names in a sentence: `A`, `B` or `C`.
fn either(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// The problem with an unknown command. Extensions define others, so only similar names are certain mistakes.
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
    fn texts_are_rejected_like_envoy() {
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
        let fits = [
            "%PATH(NQ:ORIG)%",
            "%PATH(:PATH)%",
            "%QUERY_PARAMS(DECODED)%",
            "%GRPC_STATUS(NUMBER)%",
            "%REQUESTED_SERVER_NAME(HOST_FIRST:HOST)%",
            "%METADATA(LISTENER_FILTER_CHAIN:a:b)%",
            "%COMMON_DURATION(a:b)%",
            "%COMMON_DURATION(a:b:us)%",
            "%FILTER_STATE(a)%",
            "%FILTER_STATE(a:FIELD:x)%",
            "%REQ(:path?)%",
            "%REQ(a):18446744073709551615%",
            "%COALESCE({\"operators\":[\"PROTOCOL\"]})%",
        ];
        for text in fits {
            assert_eq!(problem(text), None, "{text}");
        }
        let misfits = [
            ("%PATH(X)%", "`PATH` takes `WQ` or `NQ`, and `X` is none of these"),
            ("%PATH(NQ:X)%", "`PATH` takes `ORIG`, `PATH` or `ORIG_OR_PATH`, and `X` is none of these"),
            ("%QUERY_PARAMS(x)%", "`QUERY_PARAMS` takes `ORIG` or `DECODED`, and `x` is none of these"),
            ("%REQ(a b)%", "`a b` is not a valid header name"),
            ("%FILTER_STATE(a:FIELD)%", "`FILTER_STATE` with `FIELD` needs the name of a field"),
            ("%FILTER_STATE(a:PLAIN:x)%", "`FILTER_STATE` takes the name of a field only after `FIELD`"),
            ("%FILTER_STATE(:PLAIN)%", "`FILTER_STATE` needs a key first"),
            ("%COMMON_DURATION(a:b:s)%", "`COMMON_DURATION` takes `ms`, `us` or `ns`, and `s` is none of these"),
            ("%REQ(a):18446744073709551616%", "the length of `REQ` is too large a number"),
            ("%COALESCE({})%", "`COALESCE` takes a JSON object with a list of `operators`"),
        ];
        for (text, why) in misfits {
            assert_eq!(problem(text).as_deref(), Some(why), "{text}");
        }
        for text in ["%GRPC_STATUS(X)%", "%REQUESTED_SERVER_NAME(X)%", "%METADATA(x:a)%", "%COMMON_DURATION(a)%"] {
            assert!(problem(text).is_some(), "{text}");
        }
        let near = problem("%DOWNSTREAM_REMOTE_ADRESS%").unwrap_or_default();
        assert!(near.contains("the nearest is `DOWNSTREAM_REMOTE_ADDRESS`"), "{near}");
    }
}
