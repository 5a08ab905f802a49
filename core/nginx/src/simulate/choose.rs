//! Finds the server and the location of a request.
//!
//! nginx `src/http/ngx_http_core_module.c` (`ngx_http_core_find_location`), `src/core/ngx_hash.c`.

use super::pattern::{Captures, PatternCache};
use crate::directive::Directive;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{DEFAULT_SERVER, Nginx};
use hashbrown::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerIndex {
    /// A server that redirects to or from `www.`.
    Redirect(usize),
    /// The server of a host.
    Host(usize),
}

/// Returns the names of all servers, in the order in which nginx reads them.
fn names(nginx: &Nginx) -> impl Iterator<Item = (ServerIndex, String)> {
    let redirects = nginx.redirects.iter().enumerate().map(|(at, redirect)| (ServerIndex::Redirect(at), redirect.from.value.as_str().into()));
    let hosts = nginx.servers.iter().enumerate().flat_map(|(at, server)| {
        let own = crate::location::server_name(&server.host);
        core::iter::once(own).chain(server.aliases.value.iter().cloned()).map(move |name| (ServerIndex::Host(at), String::from(name.as_str())))
    });
    redirects.chain(hosts)
}

/// The names of all servers, indexed.
pub struct ServerNames {
    /// Exact names in lower case.
    exact: HashMap<String, ServerIndex>,
    /// Names with a wildcard or a leading dot, in lower case.
    wild: Vec<(ServerIndex, String)>,
    regexes: Vec<(ServerIndex, String)>,
    default: ServerIndex,
}

impl ServerNames {
    /// Indexes the names.
    pub fn new(nginx: &Nginx) -> Self {
        let default = nginx.servers.iter().position(|server| server.host.value == DEFAULT_SERVER).unwrap_or_default();
        let mut out = Self { exact: HashMap::new(), wild: Vec::new(), regexes: Vec::new(), default: ServerIndex::Host(default) };
        for (server, name) in names(nginx) {
            if let Some(regex) = name.strip_prefix('~') {
                out.regexes.push((server, regex.into()));
                continue;
            }
            let name = name.to_ascii_lowercase();
            if name.starts_with(['*', '.']) || name.ends_with('*') {
                out.wild.push((server, name));
            } else {
                out.exact.entry(name).or_insert(server);
            }
        }
        out
    }

    /// Returns the server of a host, and the groups that its name captured. If no name matches, it is the default server.
    pub fn server(&self, host: &str, patterns: &PatternCache) -> (ServerIndex, Captures) {
        // nginx prefers an exact name, then the longest wildcard at the beginning, then a wildcard at the end.
        if let Some(server) = self.exact.get(host) {
            return (*server, Captures::default());
        }
        let mut best: Option<(usize, ServerIndex)> = None;
        for (server, name) in &self.wild {
            let rank = if let Some(rest) = name.strip_prefix('*').filter(|rest| rest.starts_with('.')) {
                (host.len() > rest.len() && host.ends_with(rest)).then_some(0x1_0000 + rest.len())
            } else if let Some(rest) = name.strip_prefix('.') {
                let is_below = host.strip_suffix(rest).is_some_and(|before| before.ends_with('.'));
                if host == rest { Some(usize::MAX) } else { is_below.then_some(0x1_0000 + rest.len()) }
            } else if let Some(rest) = name.strip_suffix('*').filter(|rest| rest.ends_with('.')) {
                (host.len() > rest.len() && host.starts_with(rest)).then_some(rest.len())
            } else {
                None
            };
            if let Some(rank) = rank
                && best.is_none_or(|(known, _)| rank > known)
            {
                best = Some((rank, *server));
            }
        }
        if let Some((_, server)) = best {
            return (server, Captures::default());
        }
        for (server, regex) in &self.regexes {
            if let Ok(Some(captures)) = patterns.find(regex, true, host) {
                return (*server, captures);
            }
        }
        (self.default, Captures::default())
    }
}

/// The result of a location look-up.
#[derive(Debug)]
pub enum Found<'d> {
    Location(&'d Directive, Captures),
    /// The path is a prefix without its final slash, so nginx redirects the client to the prefix.
    Slash(&'d Directive),
    /// No location matches.
    Nothing,
    /// The simulation cannot evaluate an expression.
    Unknown,
}

/// Whether a location is closed to external requests.
pub fn is_internal(location: &Directive) -> bool {
    location.inner().iter().any(|directive| directive.name == "internal")
}

/// Finds the location of a path in a server.
pub fn location<'d>(server: &'d [Directive], path: &str, patterns: &PatternCache) -> Found<'d> {
    let mut best: Option<(&'d Directive, bool)> = None;
    let mut slash = None;
    for directive in server.iter().filter(|directive| directive.name == "location") {
        match directive.args.first().map(chancery_text::Str::as_str) {
            Some("=") if directive.arg(1) == path => return Found::Location(directive, Captures::default()),
            Some("~" | "~*") => {}
            Some(first) if !first.starts_with('@') => {
                let (name, is_final) = if matches!(first, "=" | "^~") { (directive.arg(1), first == "^~") } else { (first, false) };
                if first != "=" && path.starts_with(name) {
                    keep(&mut best, directive, name, is_final);
                } else if name.strip_suffix('/') == Some(path) && passes_on(directive) {
                    slash = Some(directive);
                }
            }
            _ => {}
        }
    }
    let has_name = best.is_some_and(|(directive, _)| prefix_len(directive) == path.len());
    if let Some(slash) = slash.filter(|_| !has_name) {
        return Found::Slash(slash);
    }
    if let Some((directive, true)) = best {
        return Found::Location(directive, Captures::default());
    }
    for directive in server.iter().filter(|directive| directive.name == "location") {
        let ignores_case = match directive.arg(0) {
            "~" => false,
            "~*" => true,
            _ => continue,
        };
        match patterns.find(directive.arg(1), ignores_case, path) {
            Ok(Some(captures)) => return Found::Location(directive, captures),
            Ok(None) => {}
            Err(_) => return Found::Unknown,
        }
    }
    best.map_or(Found::Nothing, |(directive, _)| Found::Location(directive, Captures::default()))
}

/// Returns the name of the location in a location's block that nginx would move on to, or that could match the path.
pub fn nested(block: &[Directive], path: &str, patterns: &PatternCache) -> Option<String> {
    let is_location = |directive: &&Directive| directive.name == "location";
    let first = block.iter().find(is_location)?;
    let found = match location(block, path, patterns) {
        Found::Nothing => return None,
        Found::Unknown => first,
        Found::Slash(found) | Found::Location(found, _) => found,
    };
    Some(found.args.iter().map(chancery_text::Str::as_str).collect::<Vec<_>>().join(" "))
}

fn prefix_len(directive: &Directive) -> usize {
    if directive.arg(0) == "^~" { directive.arg(1).len() } else { directive.arg(0).len() }
}

fn keep<'d>(best: &mut Option<(&'d Directive, bool)>, directive: &'d Directive, name: &str, is_final: bool) {
    if best.is_none_or(|(known, _)| name.len() > prefix_len(known)) {
        *best = Some((directive, is_final));
    }
}

fn passes_on(location: &Directive) -> bool {
    location.inner().iter().any(|directive| matches!(directive.name.as_str(), "proxy_pass" | "fastcgi_pass" | "grpc_pass" | "uwsgi_pass"))
}
