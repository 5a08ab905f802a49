//! Simulates requests to an Application Gateway according to Azure's documentation. It was not compared with a real gateway.
//!
//! The sources are "Application Gateway listener configuration", "multiple-site-hosting", "URL path-based routing", "request routing rules" and
//! "HTTP settings". Rules are tried by priority; the first rule whose listener has the address and port and accepts the host is used. Hosts may
//! contain `*` for any characters and `?` for one character. Paths of a path map are tried in order, ignoring case.
//!
//! Does not simulate the health of addresses (the report shows the probe), firewall policies (the report names them), or sessions. Rewrites are
//! simulated in [`super::rewrite`].

use super::ById;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::appgw::{
    FrontendType, Gateway, HTTPS, Listener, PATH_BASED, Part, Parts, PathMap, Pool, Properties, Reference, Rule, Settings,
};
use chancery_text::Str;
use hashbrown::HashMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The address that it is sent to.
    pub frontend: FrontendType,
    /// The port that it is sent to.
    pub port: i64,
    /// The host, without a port.
    pub host: &'a str,
    /// The path, without a query.
    pub path: &'a str,
    /// The query, without `?`.
    pub query: Option<&'a str>,
}

/// What happens to a request.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Journey {
    /// Rules that were tried before, with the reason why they do not match.
    pub passed: Vec<(Str, Passed)>,
    /// The listener and the rule; `None` if no rule matches the request.
    pub taken: Option<MatchedRule>,
    /// Path rules of the matching rule that were tried before, each with its patterns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passed_paths: Vec<(Str, Vec<Str>)>,
    /// Rules and path rules that would match the request too, but come later.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<LaterRule>,
    pub ending: Ending,
}

/// A rule or path rule that matches a request, but comes after the rule that the gateway uses.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LaterRule {
    pub rule: Str,
    /// The listener of a rule; `None` for a path rule.
    pub listener: Option<Str>,
    /// The matching host or path pattern.
    pub pattern: Str,
}

/// The matching rule.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct MatchedRule {
    pub listener: Str,
    pub rule: Str,
    /// The path rule, and its matching pattern; `None` for a basic rule or the default of a path map.
    pub path_rule: Option<(Str, Str)>,
    /// The backend settings: how addresses are connected to.
    pub settings: Option<Str>,
    /// The rewrite set.
    pub rewrites: Option<Str>,
    /// The firewall policy, by id.
    pub policy: Option<Str>,
}

/// Why a rule does not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Passed {
    /// Its listener is at another address or port.
    Place,
    /// Its listener is at this port of the other address, public or private.
    Frontend,
    /// Its listener accepts other hosts.
    Host,
    /// Its listener does not exist.
    NoListener,
}

/// How a request ends.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Ending {
    /// It is sent to one of these addresses.
    Forwarded {
        pool: Str,
        addresses: Vec<Str>,
        /// Whether the gateway uses TLS.
        is_https: bool,
        port: i64,
        /// The host header; `None` for the host of the address.
        host: Option<Str>,
        /// The path that it is sent with.
        path: Str,
    },
    /// The client is redirected.
    Redirected { code: u16, location: String },
    /// The gateway answers itself because it cannot route the request.
    Refused {
        /// The status; `None` if nothing answers.
        code: Option<u16>,
        /// The reason.
        why: String,
    },
}

/// Routes one request through a gateway. For many requests, create one [`Router`].
#[must_use]
pub fn try_request(gateway: &Gateway, asked: &Request<'_>) -> Journey {
    Router::new(gateway).take(asked)
}

/// A gateway prepared for many requests: its rules in order, each with its listener.
pub struct Router<'p> {
    properties: Option<&'p Properties>,
    rules: Vec<Entry<'p>>,
    path_maps: ById<'p, PathMap>,
    pools: ById<'p, Pool>,
    settings: ById<'p, Settings>,
    /// Rules whose listener names exactly this host, by the host in lower case.
    of_host: HashMap<String, Vec<usize>>,
    /// Rules whose listener accepts every host, or hosts by pattern.
    of_pattern: Vec<usize>,
}

/// A rule with its listener's conditions.
struct Entry<'p> {
    rule: &'p Part<Rule>,
    listener: Option<&'p Part<Listener>>,
    port: Option<i64>,
    is_public: bool,
    is_private: bool,
    /// In lower case; empty for every host.
    hosts: Vec<String>,
}

/// A listener that a rule uses: its address and port, and its hosts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServedListener {
    pub frontend: FrontendType,
    pub port: i64,
    pub is_https: bool,
    /// Patterns of hosts; empty for every host.
    pub hosts: Vec<String>,
}

impl<'p> Router<'p> {
    #[must_use]
    pub fn new(gateway: &'p Gateway) -> Self {
        let mut router = Self {
            properties: gateway.properties.as_ref(),
            rules: Vec::new(),
            path_maps: ById::default(),
            pools: ById::default(),
            settings: ById::default(),
            of_host: HashMap::new(),
            of_pattern: Vec::new(),
        };
        let Some(properties) = router.properties else { return router };
        let listeners = ById::of(&properties.listeners);
        (router.path_maps, router.pools, router.settings) =
            (ById::of(&properties.path_maps), ById::of(&properties.pools), ById::of(&properties.settings));
        let mut rules: Vec<&Part<Rule>> = properties.rules.iter().flatten().map(|rule| &**rule).collect();
        rules.sort_by(|one, other| priority(one).cmp(&priority(other)).then_with(|| one.name.cmp(&other.name)));
        router.rules = rules.into_iter().map(|rule| Entry::of(properties, &listeners, rule)).collect();
        for (at, entry) in router.rules.iter().enumerate() {
            if entry.hosts.is_empty() || entry.hosts.iter().any(|host| host.contains(['*', '?'])) {
                router.of_pattern.push(at);
            } else {
                entry.hosts.iter().for_each(|host| router.of_host.entry(host.clone()).or_default().push(at));
            }
        }
        router
    }

    /// Returns the served listeners, one for each rule and address.
    pub fn served_listeners(&self) -> impl Iterator<Item = ServedListener> + '_ {
        self.rules.iter().flat_map(|entry| {
            let frontends = [(FrontendType::Public, entry.is_public), (FrontendType::Private, entry.is_private)];
            let is_https = entry.listener.is_some_and(Part::is_https);
            let at = entry.port.into_iter().flat_map(move |port| frontends.into_iter().filter(|(_, is_there)| *is_there).map(move |of| (port, of.0)));
            at.map(move |(port, frontend)| ServedListener { frontend, port, is_https, hosts: entry.hosts.clone() })
        })
    }

    /// Routes a request.
    #[must_use]
    pub fn take(&self, asked: &Request<'_>) -> Journey {
        let chosen = self.choose(asked);
        let host = asked.host.to_lowercase();
        let before = &self.rules[..chosen.unwrap_or(self.rules.len())];
        let passed: Vec<_> = before.iter().filter_map(|entry| Some((entry.rule.name.clone(), entry.passed(asked, &host)?))).collect();
        if let Some((entry, properties)) = chosen.map(|at| &self.rules[at]).zip(self.properties)
            && let Some(listener) = entry.listener
        {
            let mut journey = self.used(properties, listener, entry.rule, asked, passed);
            journey.later.extend(chosen.into_iter().flat_map(|at| self.later(at, asked, &host)));
            return journey;
        }
        let other = match asked.frontend {
            FrontendType::Public => "private",
            FrontendType::Private => "public",
        };
        let elsewhere = match passed.iter().any(|(_, why)| *why == Passed::Frontend) {
            true => format!("; it is served at the {other} address only"),
            false => String::new(),
        };
        let why = format!("no listener at port {} takes the host `{}`{elsewhere}", asked.port, asked.host);
        let ending = match passed.iter().any(|(_, why)| *why == Passed::Host) {
            true => Ending::Refused { code: Some(404), why },
            false => Ending::Refused { code: None, why: format!("nothing listens at port {} of this address{elsewhere}", asked.port) },
        };
        Journey { passed, taken: None, passed_paths: Vec::new(), later: Vec::new(), ending }
    }

    /// Returns the rules behind a rule that accept the request too.
    fn later<'r>(&'r self, chosen: usize, asked: &'r Request<'_>, host: &'r str) -> impl Iterator<Item = LaterRule> + 'r {
        self.rules.iter().skip(chosen + 1).filter(|entry| entry.passed(asked, host).is_none()).map(|entry| LaterRule {
            rule: entry.rule.name.clone(),
            listener: entry.listener.map(|listener| listener.name.clone()),
            pattern: entry.hosts.iter().find(|pattern| glob(pattern, host)).map_or(Str::new_static("*"), |pattern| pattern.as_str().into()),
        })
    }

    /// Returns the path patterns of the rule for a request, in their order.
    #[must_use]
    pub fn paths(&self, asked: &Request<'_>) -> Vec<Str> {
        let map = self.choose(asked).and_then(|at| self.path_maps.get(&self.rules[at].rule.properties.path_map));
        let rules = map.into_iter().flat_map(|map| map.properties.rules.iter().flatten());
        rules.flat_map(|rule| rule.properties.paths.iter().flatten()).map(|path| path.value.clone()).collect()
    }

    /// Returns the index of the rule that matches a request.
    fn choose(&self, asked: &Request<'_>) -> Option<usize> {
        let host = asked.host.to_lowercase();
        let takes = |at: &&usize| self.rules[**at].passed(asked, &host).is_none();
        let exact = self.of_host.get(&host).and_then(|all| all.iter().find(takes));
        let pattern = self.of_pattern.iter().find(takes);
        exact.into_iter().chain(pattern).min().copied()
    }
}

impl<'p> Entry<'p> {
    fn of(properties: &'p Properties, listeners: &ById<'p, Listener>, rule: &'p Part<Rule>) -> Self {
        let listener = listeners.get(&rule.properties.listener);
        let of = listener.map(|listener| &listener.properties);
        let port = of.and_then(|of| part(&properties.ports, &of.port)).and_then(|port| port.properties.port).map(|port| port.value);
        let frontend = of.and_then(|of| part(&properties.frontends, &of.frontend)).map(|frontend| &frontend.properties);
        Self {
            rule,
            listener,
            port,
            is_public: frontend.is_some_and(|of| of.private_ip.is_none() && of.public_ip.is_some()),
            is_private: frontend.is_some_and(|of| of.private_ip.is_some()),
            hosts: of.into_iter().flat_map(Listener::hosts).map(|host| host.to_lowercase()).collect(),
        }
    }

    /// Returns why the rule does not match a request for a host, which is in lower case.
    fn passed(&self, asked: &Request<'_>, host: &str) -> Option<Passed> {
        let is_there = match asked.frontend {
            FrontendType::Private => self.is_private,
            FrontendType::Public => self.is_public,
        };
        let takes_host = self.hosts.is_empty() || self.hosts.iter().any(|pattern| glob(pattern, host));
        match () {
            () if self.listener.is_none() => Some(Passed::NoListener),
            () if self.port != Some(asked.port) => Some(Passed::Place),
            () if !is_there && !takes_host => Some(Passed::Place),
            () if !is_there => Some(Passed::Frontend),
            () if takes_host => None,
            () => Some(Passed::Host),
        }
    }
}

impl Passed {
    /// The reason, as a phrase that follows the rule's name.
    pub fn words(self) -> &'static str {
        match self {
            Passed::Place => "its listener is at another address or port",
            Passed::Frontend => "its listener takes this host and port at another address of the gateway",
            Passed::Host => "its listener matches other hosts",
            Passed::NoListener => "its listener does not exist",
        }
    }
}

fn priority(rule: &Part<Rule>) -> i64 {
    rule.properties.priority.map_or(i64::MAX, |priority| priority.value)
}

fn part<'p, T>(parts: &'p Option<Parts<T>>, reference: &Option<Reference>) -> Option<&'p Part<T>> {
    let id = &reference.as_ref()?.id.value;
    parts.iter().flatten().map(|part| &**part).find(|part| part.id.eq_ignore_ascii_case(id))
}

/// Whether a host matches, with `*` for any characters and `?` for one. The time is bounded by the product of the lengths.
pub fn glob(pattern: &str, text: &str) -> bool {
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

/// The target of a rule, a path rule or the default of a path map.
struct Target<'p> {
    pool: &'p Option<Reference>,
    settings: &'p Option<Reference>,
    redirect: &'p Option<Reference>,
    /// The matched part of the path.
    matched: &'p str,
}

impl Router<'_> {
    fn used(
        &self,
        properties: &Properties,
        listener: &Part<Listener>,
        rule: &Part<Rule>,
        asked: &Request<'_>,
        passed: Vec<(Str, Passed)>,
    ) -> Journey {
        let name = |reference: &Option<Reference>| reference.as_ref().map(|reference| Str::new(reference.name()));
        let id = |reference: &Option<Reference>| reference.as_ref().map(|reference| reference.id.value.clone());
        let of = &rule.properties;
        let mut taken = MatchedRule {
            listener: listener.name.clone(),
            rule: rule.name.clone(),
            path_rule: None,
            settings: name(&of.settings),
            rewrites: name(&of.rewrites),
            policy: id(&listener.properties.firewall_policy),
        };
        let is_path_based = of.rule_type.as_ref().is_some_and(|kind| *kind.value == *PATH_BASED);
        let basic = Target { pool: &of.pool, settings: &of.settings, redirect: &of.redirect, matched: "" };
        if !is_path_based {
            let ending = self.ending(properties, &basic, asked);
            return Journey { passed, taken: Some(taken), passed_paths: Vec::new(), later: Vec::new(), ending };
        }
        let Some(map) = self.path_maps.get(&of.path_map) else {
            let ending = Ending::Refused { code: Some(502), why: format!("the rule `{}` names a path map that does not exist", rule.name) };
            return Journey { passed, taken: Some(taken), passed_paths: Vec::new(), later: Vec::new(), ending };
        };
        let map: &PathMap = &map.properties;
        let mut found = None;
        let (mut passed_paths, mut later) = (Vec::new(), Vec::new());
        for rule in map.rules.iter().flatten() {
            let mut paths = rule.properties.paths.iter().flatten().map(|pattern| &pattern.value);
            match paths.clone().find(|pattern| matches(pattern, asked.path)) {
                Some(pattern) if found.is_none() => found = Some((rule, pattern)),
                Some(pattern) => later.push(LaterRule { rule: rule.name.clone(), listener: None, pattern: pattern.clone() }),
                None if found.is_none() => passed_paths.push((rule.name.clone(), paths.by_ref().cloned().collect())),
                None => {}
            }
        }
        let target = match found {
            Some((rule, pattern)) => {
                let of = &rule.properties;
                taken.path_rule = Some((rule.name.clone(), pattern.clone()));
                taken.rewrites = name(&of.rewrites);
                taken.settings = name(&of.settings);
                taken.policy = id(&of.firewall_policy).or(taken.policy);
                Target { pool: &of.pool, settings: &of.settings, redirect: &of.redirect, matched: pattern.trim_end_matches('*') }
            }
            None => {
                taken.rewrites = name(&map.default_rewrites);
                taken.settings = name(&map.default_settings);
                Target { pool: &map.default_pool, settings: &map.default_settings, redirect: &map.default_redirect, matched: "" }
            }
        };
        let ending = self.ending(properties, &target, asked);
        Journey { passed, taken: Some(taken), passed_paths, later, ending }
    }

    fn ending(&self, properties: &Properties, target: &Target<'_>, asked: &Request<'_>) -> Ending {
        if target.redirect.is_some() {
            return Self::redirected(properties, target, asked);
        }
        let Some(pool) = self.pools.get(target.pool) else {
            return Ending::Refused { code: Some(502), why: "its pool does not exist".to_string() };
        };
        let Some(settings) = self.settings.get(target.settings) else {
            return Ending::Refused { code: Some(502), why: "its settings do not exist".to_string() };
        };
        let addresses = pool.properties.addresses.iter().flatten();
        let addresses: Vec<Str> =
            addresses.filter_map(|address| address.ip.as_ref().or(address.fqdn.as_ref())).map(|text| text.value.clone()).collect();
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
            port: of.port.as_ref().map_or(80, |port| port.value),
            host: host.or_else(|| (!picks).then(|| Str::new(asked.host))),
            path: overridden(of, target.matched, asked.path),
        }
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
}

/// Whether a path matches, ignoring case; a star at the end matches anything.
pub fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, path) = (pattern.to_lowercase(), path.to_lowercase());
    match pattern.strip_suffix('*') {
        Some(beginning) => path.starts_with(beginning),
        None => path == pattern,
    }
}

/// Applies the path override of settings: the matched part is replaced, or the whole path if nothing was matched.
fn overridden(settings: &Settings, matched: &str, path: &str) -> Str {
    let Some(prefix) = settings.path.as_ref().filter(|prefix| !prefix.is_empty()) else { return Str::new(path) };
    let rest = path.get(matched.len()..).unwrap_or_default();
    format!("{}/{}", prefix.trim_end_matches('/'), rest.trim_start_matches('/')).into()
}

#[cfg(test)]
mod tests;
