//! Validates `builtin/wasm`: a plugin in the filters. Does not add filters; see `xds::extensions`.

use super::argument::{argument, argument_at, proxy_type};
use crate::go::{self, Errors};
use crate::validate::rule::Verdict;
use alloc::format;
use chancery_base::ir::Tree;
use chancery_base::schema::duration;

const RUNTIMES: [&str; 4] = ["v8", "wamr", "wavm", "wasmtime"];

fn or<'a>(text: &'a str, default: &'a str) -> &'a str {
    if text.is_empty() { default } else { text }
}

pub(super) fn validate(arguments: &Tree) -> Verdict {
    let mut errors = Errors::default();
    let protocol = argument(arguments, "Protocol").text();
    if !matches!(protocol, "tcp" | "http") {
        errors.add(format!("unsupported Protocol {}, expected \"tcp\" or \"http\"", go::quote(protocol)));
    }
    let kind = proxy_type(arguments);
    if kind != "connect-proxy" {
        errors.add(format!("unsupported ProxyType {}, only \"connect-proxy\" is supported", go::quote(kind)));
    }
    let listener = argument(arguments, "ListenerType").text();
    if !matches!(listener, "inbound" | "outbound") {
        errors.add(format!("unsupported ListenerType {}, expected \"inbound\" or \"outbound\"", go::quote(listener)));
    }
    if let Err(why) = plugin(argument(arguments, "PluginConfig")) {
        errors.add(why);
    }
    errors.result()
}

fn plugin(plugin: &Tree) -> Verdict {
    let mut errors = Errors::default();
    let machine = argument(plugin, "VmConfig");
    let runtime = or(argument(machine, "Runtime").text(), "v8");
    if !RUNTIMES.contains(&runtime) {
        errors.add(format!("unsupported runtime {}, expected one of {RUNTIMES:?}", go::quote(runtime)));
    }
    let (local, remote) = (argument_at(machine, &["Code", "Local"]), argument_at(machine, &["Code", "Remote"]));
    let uri = argument_at(remote, &["HttpURI", "URI"]).text();
    let is_local = !argument(local, "Filename").text().is_empty();
    if is_local != uri.is_empty() {
        errors.add("VmConfig.Code must provide exactly one of Local or Remote data source");
    }
    if !uri.is_empty() {
        self::remote(remote, &mut errors);
    }
    errors.result()
}

fn remote(remote: &Tree, errors: &mut Errors) {
    let uri = argument(remote, "HttpURI");
    if argument_at(uri, &["Service", "Name"]).text().is_empty() {
        errors.add("both Service and URI are required for Remote data sources");
    }
    if argument(remote, "SHA256").text().is_empty() {
        errors.add("SHA256 checksum is required for Remote data sources");
    }
    if let Err(why) = go::Url::parse(argument(uri, "URI").text()) {
        errors.add(format!("invalid HttpURI.URI: {why}"));
    }
    let back_off = argument_at(remote, &["RetryPolicy", "RetryBackOff"]);
    for (text, field) in [
        (argument(uri, "Timeout").text(), "HttpURI.Timeout"),
        (argument(back_off, "BaseInterval").text(), "RetryBackOff.BaseInterval"),
        (argument(back_off, "MaxInterval").text(), "RetryBackOff.MaxInterval"),
    ] {
        if !text.is_empty()
            && let Err(why) = duration::read(text)
        {
            errors.add(format!("failed to parse {field} {} as a duration: {why}", go::quote(text)));
        }
    }
}
