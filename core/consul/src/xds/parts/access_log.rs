//! Access logs.

use super::proto::{any, list, message, one};
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::{Plain, Tree};
use chancery_text::{self, Limits};

/// The default fields of a log.
const FIELDS: [(&str, &str); 24] = [
    ("start_time", "%START_TIME%"),
    ("route_name", "%ROUTE_NAME%"),
    ("method", "%REQ(:METHOD)%"),
    ("path", "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%"),
    ("protocol", "%PROTOCOL%"),
    ("response_code", "%RESPONSE_CODE%"),
    ("response_flags", "%RESPONSE_FLAGS%"),
    ("response_code_details", "%RESPONSE_CODE_DETAILS%"),
    ("connection_termination_details", "%CONNECTION_TERMINATION_DETAILS%"),
    ("bytes_received", "%BYTES_RECEIVED%"),
    ("bytes_sent", "%BYTES_SENT%"),
    ("duration", "%DURATION%"),
    ("upstream_service_time", "%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%"),
    ("x_forwarded_for", "%REQ(X-FORWARDED-FOR)%"),
    ("user_agent", "%REQ(USER-AGENT)%"),
    ("request_id", "%REQ(X-REQUEST-ID)%"),
    ("authority", "%REQ(:AUTHORITY)%"),
    ("upstream_host", "%UPSTREAM_HOST%"),
    ("upstream_cluster", "%UPSTREAM_CLUSTER%"),
    ("upstream_local_address", "%UPSTREAM_LOCAL_ADDRESS%"),
    ("downstream_local_address", "%DOWNSTREAM_LOCAL_ADDRESS%"),
    ("downstream_remote_address", "%DOWNSTREAM_REMOTE_ADDRESS%"),
    ("requested_server_name", "%REQUESTED_SERVER_NAME%"),
    ("upstream_transport_failure_reason", "%UPSTREAM_TRANSPORT_FAILURE_REASON%"),
];

/// The logs of a listener, or of its filters.
pub(crate) fn logs(config: &Tree, of_listener: bool) -> Tree {
    if !config.get("Enabled").bool() || (of_listener && config.get("DisableListenerLogs").bool()) {
        return Tree::NULL;
    }
    let Some(format) = format(config) else { return Tree::NULL };
    let (kind, path) = match config.get("Type").text() {
        "" | "stdout" => ("envoy.extensions.access_loggers.stream.v3.StdoutAccessLog", Tree::NULL),
        "stderr" => ("envoy.extensions.access_loggers.stream.v3.StderrAccessLog", Tree::NULL),
        "file" => ("envoy.extensions.access_loggers.file.v3.FileAccessLog", config.get("Path").clone()),
        _ => return Tree::NULL,
    };
    let unreached = message! { "response_flag_filter": message! { "flags": list(Vec::from([Tree::from("NR")])) } };
    let log = message! {
        "name": if of_listener { "Consul Listener Log" } else { "Consul Listener Filter Log" },
        "filter": if of_listener { unreached } else { Tree::NULL },
        "typed_config": any(kind, message! { "log_format": format, "path": path }),
    };
    one(log.or_from(config.origin))
}

fn format(config: &Tree) -> Option<Tree> {
    let (json, plain) = (config.get("JSONFormat"), config.get("TextFormat"));
    if json.text().is_empty() && !plain.text().is_empty() {
        let end = if plain.text().ends_with('\n') { "" } else { "\n" };
        let text = Tree::from(format!("{}{end}", plain.text())).or_from(plain.origin);
        return Some(message! { "text_format_source": message! { "inline_string": text } });
    }
    if json.text().is_empty() {
        return Some(message! { "json_format": Tree::object(FIELDS.map(|(name, value)| (name, Tree::from(value)))) });
    }
    let root = chancery_text::parse(json.text(), &Limits::default()).root?;
    let tree = Tree::of(&root, &|_| json.origin);
    matches!(tree.value, Plain::Object(_)).then(|| message! { "json_format": tree })
}

/// The access logs of Envoy's admin interface, with the field names of bootstraps.
pub(crate) fn admin_log(config: &Tree) -> Tree {
    let mut log = logs(config, false);
    for log in log.items_mut() {
        let Some(mut typed) = log.take("typed_config") else { continue };
        let mut format = typed.take("log_format").unwrap_or_default();
        if let Some(mut source) = format.take("text_format_source") {
            let text = source.take("inline_string").unwrap_or_default();
            format.set("textFormatSource", Tree::object([("inlineString", text)]));
        }
        if let Some(json) = format.take("json_format") {
            format.set("jsonFormat", json);
        }
        typed.set("logFormat", format);
        log.set("typedConfig", typed);
    }
    log
}
