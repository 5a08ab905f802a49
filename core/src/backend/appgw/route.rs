//! What an Application Gateway does with a request, by Azure's documentation: it was not measured, as there is no gateway to ask.
//!
//! Followed are "Application Gateway listener configuration", "multiple-site-hosting", "URL path-based routing", "request routing rules" and
//! "HTTP settings". Rules are asked in the order of their priorities; the first whose listener is at the address and port and takes the host
//! is used. Hosts may have `*` for any characters and `?` for one. Paths of a path map are asked in their order, without case.
//!
//! Not followed: health of addresses, what rewrites change (they are named), firewall policies (named too), and sessions.
//!
//! What must not be here: rendering.

use crate::ir::appgw::{FrontendType, Gateway, HTTPS, Listener, PATH_BASED, Part, PathMap, Properties, Reference, Rule, Settings};
use crate::order::Order as _;
use crate::text::Str;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The address that it comes to.
    pub frontend: FrontendType,
    /// The port that it comes to.
    pub port: i64,
    /// The host, without a port.
    pub host: &'a str,
    /// The path, without a query.
    pub path: &'a str,
    /// The query, without `?`.
    pub query: Option<&'a str>,
}

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Journey {
    /// Rules that were asked before, with why they were not used.
    pub passed: Vec<(Str, Passed)>,
    /// The listener and the rule that are used; `None` where no rule takes the request.
    pub taken: Option<Taken>,
    /// How it ends.
    pub ending: Ending,
}

/// The rule that is used.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Taken {
    /// The listener.
    pub listener: Str,
    /// The rule.
    pub rule: Str,
    /// The path rule, and its pattern that matches; `None` for a basic rule or the default of a path map.
    pub path_rule: Option<(Str, Str)>,
    /// The rewrites that it goes through.
    pub rewrites: Option<Str>,
    /// The firewall's policy, by id.
    pub policy: Option<Str>,
}

/// Why a rule is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Passed {
    /// Its listener is at another address or port.
    Place,
    /// Its listener takes other hosts.
    Host,
    /// Its listener is not there.
    NoListener,
}

/// How a request ends.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Ending {
    /// It is sent to one of these addresses.
    Forwarded {
        /// The pool.
        pool: Str,
        /// Its addresses.
        addresses: Vec<Str>,
        /// Whether TLS is spoken to them.
        is_https: bool,
        /// The port.
        port: i64,
        /// The host that it is sent with; that of the address where it is `None`.
        host: Option<Str>,
        /// The path that it is sent with.
        path: Str,
    },
    /// The client is sent elsewhere.
    Redirected {
        /// With this code.
        code: u16,
        /// To this URL.
        location: String,
    },
    /// The gateway answers itself, as it can do nothing with it.
    Refused {
        /// With this code; nothing answers at all where there is none.
        code: Option<u16>,
        /// Why.
        why: String,
    },
}

/// Takes a request through a gateway.
#[must_use]
pub fn try_request(gateway: &Gateway, asked: &Request<'_>) -> Journey {
    let empty = Properties::default();
    let properties = gateway.properties.as_ref().unwrap_or(&empty);
    let mut rules: Vec<&Part<Rule>> = properties.rules.iter().flatten().collect();
    rules.order_by(|one, other| priority(one).cmp(&priority(other)).then_with(|| one.name.cmp(&other.name)));
    let mut passed = Vec::new();
    for rule in rules {
        match listener_of(properties, rule, asked) {
            Ok(listener) => return used(properties, listener, rule, asked, passed),
            Err(why) => passed.push((rule.name.clone(), why)),
        }
    }
    let is_open = passed.iter().any(|(_, why)| *why == Passed::Host);
    let ending = match is_open {
        true => Ending::Refused { code: Some(404), why: format!("no listener at port {} takes the host `{}`", asked.port, asked.host) },
        false => Ending::Refused { code: None, why: format!("nothing listens at port {} of this address", asked.port) },
    };
    Journey { passed, taken: None, ending }
}

fn priority(rule: &Part<Rule>) -> i64 {
    rule.properties.priority.map_or(i64::MAX, |priority| priority.value)
}

fn part<'p, T>(parts: &'p Option<Vec<Part<T>>>, reference: &Option<Reference>) -> Option<&'p Part<T>> {
    let id = &reference.as_ref()?.id.value;
    parts.iter().flatten().find(|part| part.id.eq_ignore_ascii_case(id))
}

fn listener_of<'p>(properties: &'p Properties, rule: &Part<Rule>, asked: &Request<'_>) -> Result<&'p Part<Listener>, Passed> {
    let listener = part(&properties.listeners, &rule.properties.listener).ok_or(Passed::NoListener)?;
    let port = part(&properties.ports, &listener.properties.port).and_then(|port| port.properties.port);
    let frontend = part(&properties.frontends, &listener.properties.frontend).map(|frontend| &frontend.properties);
    let is_there = frontend.is_some_and(|frontend| match asked.frontend {
        FrontendType::Private => frontend.private_ip.is_some(),
        FrontendType::Public => frontend.private_ip.is_none() && frontend.public_ip.is_some(),
    });
    if !is_there || port.is_none_or(|port| port.value != asked.port) {
        return Err(Passed::Place);
    }
    let mut hosts = listener.properties.hosts().peekable();
    let takes = hosts.peek().is_none() || hosts.any(|host| glob(&host.to_lowercase(), &asked.host.to_lowercase()));
    takes.then_some(listener).ok_or(Passed::Host)
}

/// Whether a host matches, with `*` for any characters and `?` for one. In time that grows with the product of both.
pub(crate) fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == text[from] => {
                at += 1;
                from += 1;
            }
            _ => match &mut star {
                Some((place, matched)) => {
                    *matched += 1;
                    (at, from) = (*place + 1, *matched);
                }
                None => return false,
            },
        }
    }
    pattern.get(at..).is_some_and(|rest| rest.iter().all(|byte| *byte == b'*'))
}

/// What a rule, a path rule or the default of a path map leads to.
struct Target<'p> {
    pool: &'p Option<Reference>,
    settings: &'p Option<Reference>,
    redirect: &'p Option<Reference>,
    /// The part of the path that was matched.
    matched: &'p str,
}

fn used(properties: &Properties, listener: &Part<Listener>, rule: &Part<Rule>, asked: &Request<'_>, passed: Vec<(Str, Passed)>) -> Journey {
    let name = |reference: &Option<Reference>| reference.as_ref().map(|reference| Str::new(reference.name()));
    let id = |reference: &Option<Reference>| reference.as_ref().map(|reference| reference.id.value.clone());
    let of = &rule.properties;
    let mut taken = Taken {
        listener: listener.name.clone(),
        rule: rule.name.clone(),
        path_rule: None,
        rewrites: name(&of.rewrites),
        policy: id(&listener.properties.firewall_policy),
    };
    let is_path_based = of.rule_type.as_ref().is_some_and(|kind| *kind.value == *PATH_BASED);
    let basic = Target { pool: &of.pool, settings: &of.settings, redirect: &of.redirect, matched: "" };
    if !is_path_based {
        let ending = ending(properties, &basic, asked);
        return Journey { passed, taken: Some(taken), ending };
    }
    let Some(map) = part(&properties.path_maps, &of.path_map) else {
        let ending = Ending::Refused { code: Some(502), why: format!("the rule `{}` names a path map that does not exist", rule.name) };
        return Journey { passed, taken: Some(taken), ending };
    };
    let map: &PathMap = &map.properties;
    let found = map.rules.iter().flatten().find_map(|rule| {
        let paths = rule.properties.paths.iter().flatten();
        let pattern = paths.map(|pattern| &pattern.value).find(|pattern| matches(pattern, asked.path))?;
        Some((rule, pattern))
    });
    let target = match found {
        Some((rule, pattern)) => {
            let of = &rule.properties;
            taken.path_rule = Some((rule.name.clone(), pattern.clone()));
            taken.rewrites = name(&of.rewrites);
            taken.policy = id(&of.firewall_policy).or(taken.policy);
            Target { pool: &of.pool, settings: &of.settings, redirect: &of.redirect, matched: pattern.trim_end_matches('*') }
        }
        None => {
            taken.rewrites = name(&map.default_rewrites);
            Target { pool: &map.default_pool, settings: &map.default_settings, redirect: &map.default_redirect, matched: "" }
        }
    };
    let ending = ending(properties, &target, asked);
    Journey { passed, taken: Some(taken), ending }
}

/// Whether a path matches, without case; a star at the end stands for anything.
pub(crate) fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, path) = (pattern.to_lowercase(), path.to_lowercase());
    match pattern.strip_suffix('*') {
        Some(beginning) => path.starts_with(beginning),
        None => path == pattern,
    }
}

fn ending(properties: &Properties, target: &Target<'_>, asked: &Request<'_>) -> Ending {
    if target.redirect.is_some() {
        return redirected(properties, target, asked);
    }
    let Some(pool) = part(&properties.pools, target.pool) else {
        return Ending::Refused { code: Some(502), why: "its pool does not exist".to_string() };
    };
    let Some(settings) = part(&properties.settings, target.settings) else {
        return Ending::Refused { code: Some(502), why: "its settings do not exist".to_string() };
    };
    let addresses = pool.properties.addresses.iter().flatten();
    let addresses: Vec<Str> = addresses.filter_map(|address| address.ip.as_ref().or(address.fqdn.as_ref())).map(|text| text.value.clone()).collect();
    if addresses.is_empty() {
        return Ending::Refused { code: Some(502), why: format!("the pool `{}` has no addresses", pool.name) };
    }
    let of: &Settings = &settings.properties;
    let picks = of.pick_host_name.is_some_and(|picks| picks.value);
    let host = of.host_name.as_ref().filter(|host| !host.is_empty()).map(|host| host.value.clone());
    Ending::Forwarded {
        pool: pool.name.clone(),
        addresses,
        is_https: of.protocol.as_ref().is_some_and(|protocol| *protocol.value == *HTTPS),
        port: of.port.map_or(80, |port| port.value),
        host: host.or_else(|| (!picks).then(|| Str::new(asked.host))),
        path: overridden(of, target.matched, asked.path),
    }
}

/// The path that settings make of a path: what was matched is replaced, all of it where nothing was.
fn overridden(settings: &Settings, matched: &str, path: &str) -> Str {
    let Some(prefix) = settings.path.as_ref().filter(|prefix| !prefix.is_empty()) else { return Str::new(path) };
    let rest = path.get(matched.len()..).unwrap_or_default();
    format!("{}/{}", prefix.trim_end_matches('/'), rest.trim_start_matches('/')).into()
}

fn redirected(properties: &Properties, target: &Target<'_>, asked: &Request<'_>) -> Ending {
    let Some(redirect) = part(&properties.redirects, target.redirect) else {
        return Ending::Refused { code: Some(502), why: "its redirect does not exist".to_string() };
    };
    let of = &redirect.properties;
    let code = match of.redirect_type.as_ref().map(|kind| kind.value.as_str()) {
        Some("Found") => 302,
        Some("SeeOther") => 303,
        Some("Temporary") => 307,
        _ => 301,
    };
    let base = match (&of.target_url, part(&properties.listeners, &of.target_listener)) {
        (Some(url), _) => url.trim_end_matches('/').to_string(),
        (None, Some(listener)) => {
            let port = part(&properties.ports, &listener.properties.port).and_then(|port| port.properties.port).map_or(443, |port| port.value);
            let is_https = listener.properties.protocol.as_ref().is_some_and(|protocol| *protocol.value == *HTTPS);
            let (scheme, usual) = if is_https { ("https", 443) } else { ("http", 80) };
            let port = if port == usual { String::new() } else { format!(":{port}") };
            format!("{scheme}://{}{port}", asked.host)
        }
        (None, None) => return Ending::Refused { code: Some(502), why: "its redirect has no target".to_string() },
    };
    let path = if of.include_path.is_some_and(|keeps| keeps.value) { asked.path } else { "" };
    let query = asked.query.filter(|_| of.include_query.is_some_and(|keeps| keeps.value)).map(|query| format!("?{query}"));
    Ending::Redirected { code, location: format!("{base}{path}{}", query.unwrap_or_default()) }
}

#[cfg(test)]
mod tests;
