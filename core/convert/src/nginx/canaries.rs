//! Converts canaries: conditions on headers and cookies, then weights.

use super::super::gateway::{Backend, Header, RouteMatch, Rule};
use super::Converter;
use super::host::Host;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::nginx::{Canary, Location};

impl Converter<'_> {
    /// Returns a rule for each decision on a location's canary, and the rule of the others.
    pub(super) fn canaries(&mut self, host: &Host<'_>, of: &Location, rule: Rule, main: Backend) -> Vec<Rule> {
        let found = self.nginx.upstream(&of.upstream.value).and_then(|upstream| self.nginx.upstream(&upstream.alternatives.first()?.value)).cloned();
        let with = |rule: &Rule, backends: Vec<Backend>, condition: Option<Header>, words: Option<String>| {
            let mut out = Rule { backends, ..rule.clone() };
            out.comments.extend(words);
            if let Some(condition) = condition {
                out.matches = out.matches.iter().map(|one: &RouteMatch| one.and(condition.clone())).collect();
            }
            out
        };
        let Some(upstream) = found else { return Vec::from([with(&rule, Vec::from([main]), None, None)]) };
        let Some(canary) = self.backend(host.server, of, &upstream.name.value) else {
            return Vec::from([with(&rule, Vec::from([main]), None, None)]);
        };
        let policy = &upstream.policy;
        let origin = policy.enabled.origin;
        let mut rules = Vec::new();
        let mut weighted = weights(policy, &main, &canary);
        if weighted.len() > 1 && self.is_envoy_gateway() && self.is_hashed(of) {
            // https://github.com/envoyproxy/gateway/issues/9775
            weighted.iter_mut().for_each(|backend| backend.is_apart = true);
        }
        let goes_on = !policy.cookie.is_empty() || weighted.len() > 1 || weighted.first() != Some(&main);
        if !policy.header.is_empty() {
            let name = &policy.header.value;
            let words = |value: &str| Some(format!("canary-by-header: {name}, {value}"));
            if !policy.header_value.is_empty() {
                let value = &policy.header_value.value;
                rules.push(with(&rule, Vec::from([canary.clone()]), Some(Header::exact(name, value)), words(value)));
            } else if !policy.header_pattern.is_empty() {
                let pattern = &policy.header_pattern.value;
                match super::paths::check(pattern) {
                    Ok(()) => {
                        let whole = Header::regex(name, &format!(".*(?:{pattern}).*"));
                        rules.push(with(&rule, Vec::from([canary.clone()]), Some(whole), words(pattern)));
                    }
                    Err(why) => self.note(of, policy.header_pattern.origin.or(origin), format!("`canary-by-header-pattern` is not converted: {why}")),
                }
            } else {
                rules.push(with(&rule, Vec::from([canary.clone()]), Some(Header::exact(name, "always")), words("always")));
                if goes_on {
                    rules.push(with(&rule, Vec::from([main.clone()]), Some(Header::exact(name, "never")), words("never")));
                }
            }
        }
        if !policy.cookie.is_empty() {
            let name = &policy.cookie.value;
            let words = |value: &str| Some(format!("canary-by-cookie: {name}, {value}"));
            let cookie = |value: &str| Some(Header::regex("Cookie", &format!("(?:.*; ?)?{}={value}(?:;.*)?", quoted(name))));
            rules.push(with(&rule, Vec::from([canary.clone()]), cookie("always"), words("always")));
            if weighted.len() > 1 || weighted.first() != Some(&main) {
                rules.push(with(&rule, Vec::from([main.clone()]), cookie("never"), words("never")));
            }
        }
        if self.affinity(of).is_some() && (goes_on || !policy.header.is_empty()) {
            // The controller copies the cookie to the canary, unless the canary has `affinity-canary-behavior: legacy`.
            let stays = if upstream.affinity.kind.value != "cookie" {
                "nginx decides each request anew"
            } else {
                "nginx keeps a client with its cookie on one of the two Services"
            };
            let will = match (self.is_envoy_gateway(), weighted.len() > 1) {
                (true, true) => {
                    "Envoy decides by headers and `canary-by-cookie` first, and keeps a client on the Service of its cookie's hash; its first request may reach the other Service"
                }
                (true, false) => "Envoy decides each request by its header or cookie",
                (false, _) => "the Gateway decides each request anew, and a client may change between the two Services",
            };
            self.note(of, origin, format!("`canary` with `affinity: cookie` is converted approximately: {stays}; {will}"));
        }
        let words = (policy.weight.value > 0).then(|| format!("canary-weight: {} of {}", policy.weight.value, total(policy)));
        rules.push(with(&rule, weighted, None, words));
        rules
    }
}

fn total(policy: &Canary) -> i64 {
    policy.weight_total.value.max(100)
}

/// The shares of the requests that no header or cookie decides.
fn weights(policy: &Canary, main: &Backend, canary: &Backend) -> Vec<Backend> {
    let (weight, total) = (policy.weight.value.max(0), total(policy));
    if weight <= 0 {
        return Vec::from([main.clone()]);
    }
    if weight >= total {
        return Vec::from([canary.clone()]);
    }
    Vec::from([Backend { weight: Some(total - weight), ..main.clone() }, Backend { weight: Some(weight), ..canary.clone() }])
}

fn quoted(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() && c != '_' && c != '-' {
            out.push('\\');
        }
        out.push(c);
    }
    out.to_string()
}
