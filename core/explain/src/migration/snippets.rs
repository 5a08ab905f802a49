//! Collects the conditions that nginx directives test: in snippets, and in lists of the ConfigMap. Does not evaluate them; see
//! `chancery_nginx::simulate`.

use super::access::{OTHER_CLIENT, clients_of};
use super::conditions::{HostConditions, PathConditions};
use crate::sample_request::shortest;
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use chancery_base::ir::nginx::{Globals, Nginx, Server};
use chancery_nginx::directive::{Directive, parse};
use chancery_nginx::simulate::message::range;
use core::net::IpAddr;

/// Adds the conditions of a server's snippets, and of the lists that block clients of all servers.
pub(super) fn collect(nginx: &Nginx, server: &Server, host: &mut HostConditions) {
    for text in [server.snippet.value.as_str(), nginx.globals.text("server-snippet").as_str()] {
        directives(text, "/", host);
    }
    for location in &server.locations {
        let path = location.path.value.as_str();
        directives(&location.settings.configuration_snippet.value, path, host);
    }
    directives(nginx.globals.text("location-snippet").as_str(), "/", host);
    // A snippet's own paths have the address lists of the server.
    let clients: BTreeSet<IpAddr> = host.paths.values().flat_map(|path| path.clients.iter().copied()).collect();
    if !server.snippet.is_empty() {
        host.paths.values_mut().for_each(|path| path.clients.extend(clients.iter().copied()));
    }
    let blocked = blocked(&nginx.globals);
    host.paths.values_mut().for_each(|path| path.merge(&blocked));
}

/// The most entries of a list that are tried: they apply to every path.
const MOST_BLOCKED: usize = 2;

/// The conditions of the lists that block clients.
fn blocked(globals: &Globals) -> PathConditions {
    let mut out = PathConditions::default();
    for text in globals.list("block-cidrs").value.iter().take(MOST_BLOCKED) {
        client(text, &mut out);
    }
    for (list, header) in [("block-user-agents", "user-agent"), ("block-referers", "referer")] {
        for item in globals.list(list).value.iter().take(MOST_BLOCKED) {
            let value = match item.strip_prefix('~') {
                Some(pattern) => shortest(pattern.trim_start_matches('*'), ""),
                None => Some(item.as_str().to_owned()),
            };
            out.headers.entry(header.to_owned()).or_default().extend(value);
        }
    }
    out
}

fn directives(text: &str, path: &str, host: &mut HostConditions) {
    if let Ok(all) = parse(text, None) {
        all.iter().for_each(|directive| add(directive, path, host));
    }
}

/// Adds the conditions of a directive and of its block. nginx limits the depth of blocks, and so does the parser.
fn add(directive: &Directive, path: &str, host: &mut HostConditions) {
    let mut below = path.to_owned();
    match directive.name.as_str() {
        "location" => {
            let written = directive.args.last().map(ToString::to_string).unwrap_or_default();
            let sample = if directive.arg(0).starts_with('~') { shortest(&written, "/") } else { Some(written) };
            let Some(sample) = sample.filter(|sample| !sample.starts_with('@')) else { return };
            host.path(&sample);
            below = sample;
        }
        "rewrite" => {
            if let Some(sample) = shortest(directive.arg(0), "/").filter(|sample| sample.starts_with('/')) {
                host.path(&sample);
            }
        }
        "proxy_set_header" | "more_set_input_headers" | "more_clear_input_headers" => {
            let name = directive.arg(0).split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
            let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
            if is_plain && !matches!(name.as_str(), "" | "host" | "connection" | "upgrade" | "authorization" | "cookie") {
                host.path(path).owned_headers.insert(name);
            }
        }
        "deny" | "allow" => client(directive.arg(0), host.path(path)),
        "if" => below = condition(directive, path, host),
        _ => {}
    }
    directive.inner().iter().for_each(|inner| add(inner, &below, host));
}

fn client(text: &str, out: &mut PathConditions) {
    if let Some((first, length)) = range(text) {
        out.clients.extend(clients_of(first, length));
        out.clients.insert(OTHER_CLIENT);
    }
}

/// Adds a value that fulfils the condition of an `if`. Returns the path that it holds for.
fn condition(directive: &Directive, path: &str, host: &mut HostConditions) -> String {
    let words = directive.condition_words();
    let [variable, operator, wanted] = words.as_slice() else { return path.to_owned() };
    let is_expression = operator.contains('~');
    let value = |begin: &str| if is_expression { shortest(wanted, begin) } else { Some(wanted.clone()) };
    let name = variable.trim_start_matches('$');
    if matches!(name, "request_uri" | "uri" | "document_uri") {
        let Some(sample) = value("/") else { return path.to_owned() };
        host.path(&sample);
        return sample;
    }
    let out = host.path(path);
    let put = |list: &mut BTreeMap<String, BTreeSet<String>>, key: String| list.entry(key).or_default().extend(value(""));
    if let Some(header) = name.strip_prefix("http_") {
        put(&mut out.headers, header.replace('_', "-"));
    } else if let Some(cookie) = name.strip_prefix("cookie_") {
        put(&mut out.cookies, cookie.to_owned());
    } else if let Some(parameter) = name.strip_prefix("arg_") {
        put(&mut out.queries, parameter.to_owned());
    } else if name == "request_method" {
        out.methods.extend(value(""));
    } else if name == "remote_addr" && !is_expression {
        client(wanted, out);
    }
    path.to_owned()
}
