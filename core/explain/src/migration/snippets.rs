//! Collects the conditions that nginx directives test: in snippets, and in lists of the ConfigMap. Does not evaluate them; see
//! `chancery_nginx::simulate`.

use super::access::{OTHER_CLIENT, clients_of};
use super::conditions::{HostConditions, PathConditions};
use crate::sample_request::shortest;
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
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

/// Directives of `http-snippet` that change no answer by themselves.
const HARMLESS: [&str; 6] = ["log_format", "limit_req_zone", "limit_conn_zone", "proxy_cache_path", "lua_shared_dict", "upstream"];

/// Names parts of the ConfigMap that are not simulated.
pub(super) fn unread(globals: &Globals) -> Option<String> {
    let text = globals.text("http-snippet");
    let all = parse(text.as_str(), None).unwrap_or_default();
    let names: BTreeSet<&str> = all.iter().map(|directive| directive.name.as_str()).filter(|name| !HARMLESS.contains(name)).collect();
    let names: Vec<String> = names.into_iter().map(|name| alloc::format!("`{name}`")).collect();
    (!names.is_empty()).then(|| alloc::format!("`http-snippet` of the ConfigMap is not evaluated: {}", names.join(", ")))
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
                Some(pattern) => matching(pattern.trim_start_matches('*'), ""),
                None => Vec::from([item.as_str().to_owned()]),
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
            if written.starts_with('@') || directive.inner().iter().any(|inner| inner.name == "internal") {
                return;
            }
            let args: Vec<&str> = directive.args.iter().map(chancery_text::Str::as_str).collect();
            // A location inside another has its own note.
            if path == "/" {
                host.expected.insert(alloc::format!("location {}", args.join(" ")));
            }
            let samples = if directive.arg(0).starts_with('~') { matching(&written, "/") } else { Vec::from([written]) };
            for sample in &samples {
                host.path(sample);
            }
            let Some(sample) = samples.into_iter().next() else { return };
            below = sample;
        }
        "rewrite" => {
            for sample in matching(directive.arg(0), "/") {
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

/// Adds values that fulfil the condition of an `if`. Returns the path that it holds for.
fn condition(directive: &Directive, path: &str, host: &mut HostConditions) -> String {
    let words = directive.condition_words();
    host.expected.insert(alloc::format!("if ({})", words.join(" ")));
    let (variable, values) = match words.as_slice() {
        [variable] => (variable, Vec::from(["1".to_owned()])),
        [variable, operator, wanted] if operator.contains('~') => (variable, matching(wanted, "")),
        [variable, _, wanted] => (variable, Vec::from([wanted.clone()])),
        _ => return path.to_owned(),
    };
    let name = variable.trim_start_matches('$');
    if matches!(name, "request_uri" | "uri" | "document_uri") {
        let samples = match words.as_slice() {
            [_, operator, wanted] if operator.contains('~') => matching(wanted, "/"),
            _ => values,
        };
        for sample in &samples {
            let (sample, query) = sample.split_once('?').map_or((sample.as_str(), None), |(path, query)| (path, Some(query)));
            host.path(sample).whole_queries.extend(query.map(ToOwned::to_owned));
        }
        return samples.first().map_or(path, |sample| sample.split('?').next().unwrap_or_default()).to_owned();
    }
    let out = host.path(path);
    let put = |list: &mut BTreeMap<String, BTreeSet<String>>, key: String| list.entry(key).or_default().extend(values.iter().cloned());
    if let Some(header) = name.strip_prefix("http_") {
        put(&mut out.headers, header.replace('_', "-"));
    } else if name == "content_type" {
        put(&mut out.headers, "content-type".to_owned());
    } else if let Some(cookie) = name.strip_prefix("cookie_") {
        put(&mut out.cookies, cookie.to_owned());
    } else if let Some(parameter) = name.strip_prefix("arg_") {
        put(&mut out.queries, parameter.to_owned());
    } else if matches!(name, "args" | "query_string") {
        out.whole_queries.extend(values);
    } else if name == "request_method" {
        out.methods.extend(values);
    } else if name == "remote_addr" {
        values.iter().for_each(|value| client(value, out));
    }
    path.to_owned()
}

/// The most branches of an expression that are tried.
const MOST_BRANCHES: usize = 8;

/// Returns strings that match an expression, one for each branch of its first alternatives.
fn matching(pattern: &str, begin: &str) -> Vec<String> {
    // An expression matches anywhere in a text.
    let sample = |branch: &String| shortest(branch, begin).or_else(|| shortest(&alloc::format!(".*(?:{branch})"), begin));
    branches(pattern).iter().take(MOST_BRANCHES).filter_map(sample).collect()
}

/// Returns an expression for each branch of the first group with alternatives, or of the whole expression.
fn branches(pattern: &str) -> Vec<String> {
    let (mut open, mut groups): (Vec<usize>, Vec<(usize, Vec<usize>)>) = (Vec::new(), Vec::new());
    let (mut bars, mut is_class, mut is_escaped): (Vec<(usize, usize)>, bool, bool) = (Vec::new(), false, false);
    for (at, letter) in pattern.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            ']' => is_class = false,
            '[' => is_class = true,
            _ if is_class => {}
            '(' => open.push(at),
            '|' => bars.push((open.len(), at)),
            ')' => {
                let depth = open.len();
                let own: Vec<usize> = bars.iter().filter(|(of, _)| *of == depth).map(|(_, at)| *at).collect();
                bars.retain(|(of, _)| *of != depth);
                if let Some(begin) = open.pop().filter(|_| !own.is_empty()) {
                    groups.push((begin, own.into_iter().chain([at]).collect()));
                }
            }
            _ => {}
        }
    }
    let cut = |from: usize, to: usize| pattern.get(from..to).unwrap_or_default();
    let top: Vec<usize> = bars.into_iter().map(|(_, at)| at).collect();
    if !top.is_empty() {
        let ends = top.iter().copied().chain([pattern.len()]);
        let begins = core::iter::once(0).chain(top.iter().map(|at| at + 1));
        return begins.zip(ends).map(|(from, to)| cut(from, to).to_owned()).collect();
    }
    let Some((begin, ends)) = groups.first() else { return Vec::from([pattern.to_owned()]) };
    let inner = if cut(*begin, pattern.len()).starts_with("(?:") { begin + 3 } else { begin + 1 };
    let begins = core::iter::once(inner).chain(ends.iter().map(|at| at + 1));
    let rest = cut(ends.last().map_or(pattern.len(), |at| at + 1), pattern.len());
    begins.zip(ends).map(|(from, to)| alloc::format!("{}(?:{}){rest}", cut(0, *begin), cut(from, *to))).collect()
}

#[cfg(test)]
mod tests {
    use super::{branches, matching};

    #[test]
    fn each_branch_is_tried() {
        assert_eq!(branches("a(b|c[|]|\\|)d"), ["a(?:b)d", "a(?:c[|])d", "a(?:\\|)d"]);
        assert_eq!(branches("a|b(c|d)"), ["a", "b(c|d)"]);
        assert_eq!(branches("plain"), ["plain"]);
        assert_eq!(matching("(nikto|sqlmap)", ""), ["nikto", "sqlmap"]);
        assert_eq!(matching("\\.(?:sql|bak)$", "/"), ["/.sql", "/.bak"]);
    }
}
