//! Indexes route tables: virtual hosts by their domains, routes by the prefix of their paths.
//!
//! An index only rules out routes that cannot match; the others are evaluated exactly and in order. Does not match routes; see `matcher`.

use super::path::without_query;
use super::request::host_of;
use crate::emit::pb;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::re2::RegexError;
use chancery_base::re2::engine::{self, Regex};
use hashbrown::HashMap;
use once_cell::race::OnceBox;
use pb::route::{Route, RouteConfiguration, RouteMatch, VirtualHost};

/// A route table with its indexes.
pub struct Table<'a> {
    pub config: &'a RouteConfiguration,
    /// Its place.
    pub pointer: String,
    exact: HashMap<String, usize>,
    /// `*.example.com` without its star, by length.
    suffixes: BTreeMap<usize, HashMap<String, usize>>,
    /// `example.*` without its star, by length.
    prefixes: BTreeMap<usize, HashMap<String, usize>>,
    any: Option<usize>,
    hosts: Vec<OnceBox<Host<'a>>>,
}

/// A matching virtual host, and how it was found.
pub struct MatchedHost<'a> {
    pub index: usize,
    pub(crate) host: &'a VirtualHost,
    pub(crate) by: &'static str,
    pub(crate) domain: String,
}

impl<'a> Table<'a> {
    pub(crate) fn new(config: &'a RouteConfiguration, pointer: String) -> Self {
        let mut table = Self {
            config,
            pointer,
            exact: HashMap::default(),
            suffixes: BTreeMap::new(),
            prefixes: BTreeMap::new(),
            any: None,
            hosts: config.virtual_hosts.iter().map(|_| OnceBox::new()).collect(),
        };
        for (index, host) in config.virtual_hosts.iter().enumerate() {
            for domain in &host.domains {
                let domain = domain.to_ascii_lowercase();
                if domain == "*" {
                    table.any.get_or_insert(index);
                } else if let Some(suffix) = domain.strip_prefix('*') {
                    table.suffixes.entry(suffix.len()).or_default().entry(suffix.into()).or_insert(index);
                } else if let Some(prefix) = domain.strip_suffix('*') {
                    table.prefixes.entry(prefix.len()).or_default().entry(prefix.into()).or_insert(index);
                } else {
                    table.exact.entry(domain).or_insert(index);
                }
            }
        }
        table
    }

    /// The name for looking up a request's host.
    pub fn looked_for(&self, authority: &str) -> String {
        let host = if self.config.ignore_port_in_host_matching { host_of(authority) } else { authority };
        host.to_ascii_lowercase()
    }

    /// Returns the virtual host: by the exact name, else by the longest suffix, else by the longest prefix, else the catch-all.
    /// `RouteMatcher::findVirtualHost` in `source/common/router/config_impl.cc` of Envoy.
    pub fn host(&self, looked_for: &str) -> Option<MatchedHost<'a>> {
        let found = |index: usize, by, domain: String| Some(MatchedHost { index, host: self.config.virtual_hosts.get(index)?, by, domain });
        if let Some(index) = self.exact.get(looked_for) {
            return found(*index, "exact", looked_for.into());
        }
        // A wildcard matches at least one character.
        let longest = |map: &BTreeMap<usize, HashMap<String, usize>>, part: &dyn Fn(usize) -> Option<String>| {
            map.range(..looked_for.len()).rev().find_map(|(length, names)| {
                let part = part(*length)?;
                names.get(&part).map(|index| (*index, part))
            })
        };
        if let Some((index, suffix)) = longest(&self.suffixes, &|length| looked_for.get(looked_for.len() - length..).map(String::from)) {
            return found(index, "suffix", alloc::format!("*{suffix}"));
        }
        if let Some((index, prefix)) = longest(&self.prefixes, &|length| looked_for.get(..length).map(String::from)) {
            return found(index, "prefix", alloc::format!("{prefix}*"));
        }
        found(self.any?, "any", "*".into())
    }

    /// Returns all virtual hosts with a domain that contains a host, each with this domain, the most specific first.
    pub(crate) fn all_hosts(&self, looked_for: &str) -> Vec<(usize, String)> {
        let is_within = |domain: &str| match (domain.strip_prefix('*'), domain.strip_suffix('*')) {
            (Some(""), _) => true,
            (Some(suffix), _) => looked_for.len() > suffix.len() && looked_for.ends_with(suffix),
            (_, Some(prefix)) => looked_for.len() > prefix.len() && looked_for.starts_with(prefix),
            _ => domain == looked_for,
        };
        let domains = self.config.virtual_hosts.iter().enumerate().filter_map(|(index, host)| {
            let within = host.domains.iter().map(|domain| domain.to_ascii_lowercase()).filter(|domain| is_within(domain));
            Some((index, within.max_by_key(String::len)?))
        });
        let mut all: Vec<(usize, String)> = domains.collect();
        all.sort_by_key(|(_, domain)| core::cmp::Reverse(domain.len()));
        all
    }

    /// Returns the routes of a virtual host, indexed on first use.
    pub fn routes(&self, index: usize) -> Option<&Host<'a>> {
        let host = self.config.virtual_hosts.get(index)?;
        Some(self.hosts.get(index)?.get_or_init(|| Box::new(Host::new(&host.routes))))
    }
}

/// Routes of a virtual host with their index.
pub struct Host<'a> {
    pub(crate) routes: &'a [Route],
    /// Routes for one path.
    exact: HashMap<&'a str, Vec<usize>>,
    /// Routes by the prefix of all their paths.
    prefixes: HashMap<&'a str, Vec<usize>>,
    lengths: BTreeSet<usize>,
    pub(crate) patterns: Patterns<'a>,
}

impl<'a> Host<'a> {
    fn new(routes: &'a [Route]) -> Self {
        let mut host =
            Self { routes, exact: HashMap::default(), prefixes: HashMap::default(), lengths: BTreeSet::new(), patterns: Patterns::default() };
        for (index, route) in routes.iter().enumerate() {
            let Some(of) = &route.r#match else { continue };
            host.patterns.learn(of);
            match key(of) {
                Key::Path(path) => host.exact.entry(path).or_default().push(index),
                Key::Prefix(prefix) => {
                    host.prefixes.entry(prefix).or_default().push(index);
                    host.lengths.insert(prefix.len());
                }
            }
        }
        host
    }

    /// Returns the routes that could match a path, in their order.
    pub fn candidates(&self, path: &str) -> Vec<usize> {
        let path = without_query(path);
        let mut out: Vec<usize> = self.exact.get(path).into_iter().flatten().copied().collect();
        for length in self.lengths.range(..=path.len()) {
            out.extend(path.get(..*length).and_then(|prefix| self.prefixes.get(prefix)).into_iter().flatten());
        }
        out.sort();
        out
    }
}

/// The path that a route matches, or the prefix of all its paths.
enum Key<'a> {
    Path(&'a str),
    Prefix(&'a str),
}

fn key(of: &RouteMatch) -> Key<'_> {
    use pb::route::route_match::PathSpecifier;
    let any_case = of.case_sensitive == Some(false);
    match &of.path_specifier {
        Some(PathSpecifier::Path(path)) if !any_case => Key::Path(path),
        Some(PathSpecifier::Prefix(prefix) | PathSpecifier::PathSeparatedPrefix(prefix)) if !any_case => Key::Prefix(prefix),
        Some(PathSpecifier::SafeRegex(regex)) => Key::Prefix(engine::literal_prefix(&regex.regex)),
        _ => Key::Prefix(""),
    }
}

/// Regular expressions, each compiled on first use.
#[derive(Default)]
pub(crate) struct Patterns<'a>(HashMap<&'a str, OnceBox<Result<Regex, RegexError>>>);

impl<'a> Patterns<'a> {
    fn learn(&mut self, of: &'a RouteMatch) {
        use pb::route::{header_matcher::HeaderMatchSpecifier, query_parameter_matcher::QueryParameterMatchSpecifier, route_match::PathSpecifier};
        if let Some(PathSpecifier::SafeRegex(regex)) = &of.path_specifier {
            self.0.entry(&regex.regex).or_default();
        }
        for header in &of.headers {
            match &header.header_match_specifier {
                Some(HeaderMatchSpecifier::SafeRegexMatch(regex)) => drop(self.0.entry(&regex.regex).or_default()),
                Some(HeaderMatchSpecifier::StringMatch(matcher)) => self.learn_string(matcher),
                _ => {}
            }
        }
        for parameter in &of.query_parameters {
            if let Some(QueryParameterMatchSpecifier::StringMatch(matcher)) = &parameter.query_parameter_match_specifier {
                self.learn_string(matcher);
            }
        }
        of.cookies.iter().filter_map(|cookie| cookie.string_match.as_ref()).for_each(|matcher| self.learn_string(matcher));
    }

    fn learn_string(&mut self, matcher: &'a pb::matcher::StringMatcher) {
        if let Some(pb::matcher::string_matcher::MatchPattern::SafeRegex(regex)) = &matcher.match_pattern {
            self.0.entry(&regex.regex).or_default();
        }
    }

    /// Whether an expression matches the whole text; the error explains why that is unknown.
    pub(crate) fn is_full_match(&self, regex: &str, text: &str) -> Result<bool, RegexError> {
        let compiled = |known: &Result<Regex, RegexError>| known.as_ref().map(|regex| regex.is_full_match(text)).map_err(Clone::clone);
        match self.0.get(regex) {
            Some(known) => compiled(known.get_or_init(|| Box::new(Regex::new(regex)))),
            None => compiled(&Regex::new(regex)),
        }
    }
}
