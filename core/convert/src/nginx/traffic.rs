//! Writes BackendTrafficPolicies: timeouts, retries, the choice of endpoints, and limits.
//!
//! The Gateway's policy holds the values of the ConfigMap. A route has its own policy if its annotations differ from them.

use super::super::build::{Fields, list, number, text};
use super::super::gateway::items;
use super::Converter;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{Affinity, HashBy, Location, Proxy, Upstream};
use chancery_nginx::location::next_upstream;
use chancery_text::Node;

/// Reads a size of nginx in bytes.
pub(super) fn bytes(written: &str) -> Option<u64> {
    let text = written.trim();
    let (digits, unit) = match text.char_indices().last() {
        Some((at, unit)) if unit.is_ascii_alphabetic() => (text.get(..at)?, unit.to_ascii_lowercase()),
        _ => (text, 'b'),
    };
    let number: u64 = digits.parse().ok()?;
    let factor = match unit {
        'b' => 1,
        'k' => 1 << 10,
        'm' => 1 << 20,
        'g' => 1 << 30,
        _ => return None,
    };
    number.checked_mul(factor)
}

impl Converter<'_> {
    /// Writes the policy of the Gateway.
    pub(super) fn gateway_traffic(&mut self) {
        let proxy = chancery_ingress_nginx::annotations::global_proxy(&self.nginx.globals);
        let load_balance = self.nginx.globals.text("load-balance");
        let mut fields = self.traffic_of(&proxy, None, &load_balance.value);
        if self.nginx.globals.flag("service-upstream").value {
            fields.comment("service-upstream: true").set("routingType", text("Service"));
        }
        self.plan.traffic = fields;
    }

    /// Returns the policy of a location, if it differs from the Gateway's.
    pub(super) fn traffic(&mut self, of: &Location) -> Option<Node> {
        if !self.is_envoy_gateway() {
            return None;
        }
        let upstream = self.nginx.upstream(&of.upstream.value).cloned();
        let settings = &of.settings;
        let own = upstream.as_ref().map(|upstream| upstream.load_balance.value.clone()).filter(|word| !word.is_empty());
        let load_balance = own.unwrap_or_else(|| self.nginx.globals.text("load-balance").value);
        let mut fields = self.traffic_of(&settings.proxy, upstream.as_deref(), &load_balance);
        if let Some(by) = upstream.as_ref().map(|upstream| &upstream.hash_by).filter(|by| !by.by.is_empty() && !is_hash_known(by)) {
            let message =
                format!("`upstream-hash-by: {}` is not converted: Envoy Gateway hashes one address, header, parameter or cookie", by.by.value);
            self.note(of, by.by.origin, message);
        }
        let limit = &settings.rate_limit;
        let mut rules = Vec::new();
        for (zone, unit, name) in [(&limit.rps, "Second", "limit-rps"), (&limit.rpm, "Minute", "limit-rpm")] {
            if zone.limit.value > 0 {
                // A rule keeps only its last range, and a range covers one family of addresses.
                rules.extend(["0.0.0.0/0", "::/0"].map(|range| limit_rule(range, zone.limit.value, unit, name)));
            }
        }
        if !rules.is_empty() {
            let (mut local, mut rate) = (Fields::new(), Fields::new());
            local.set("rules", list(rules));
            rate.set("type", text("Local")).set("local", local.node());
            fields.set("rateLimit", rate.node());
        }
        let is_general = self.nginx.globals.flag("service-upstream").value;
        if settings.service_upstream.value || is_general {
            let kind = if settings.service_upstream.value { "Service" } else { "Endpoint" };
            fields.comment(&format!("service-upstream: {}", settings.service_upstream.value)).set("routingType", text(kind));
        }
        let own = fields.node();
        (super::super::build::without_comments(&own) != super::super::build::without_comments(&self.plan.traffic.node())).then_some(own)
    }

    /// The cookie that keeps the clients of a location on one endpoint.
    pub(super) fn affinity(&self, of: &Location) -> Option<Affinity> {
        let upstream = self.nginx.upstream(&of.upstream.value)?;
        (upstream.affinity.kind.value == "cookie").then(|| upstream.affinity.clone())
    }

    /// Whether a hash chooses the endpoint of a location's requests.
    pub(super) fn is_hashed(&self, of: &Location) -> bool {
        let is_known = |upstream: &Upstream| is_hash_known(&upstream.hash_by);
        self.affinity(of).is_some() || self.nginx.upstream(&of.upstream.value).is_some_and(|upstream| is_known(upstream))
    }

    fn traffic_of(&self, proxy: &Proxy, upstream: Option<&Upstream>, load_balance: &str) -> Fields {
        let mut out = Fields::new();
        let (mut http, mut tcp, mut timeout) = (Fields::new(), Fields::new(), Fields::new());
        let idle = proxy.read_timeout.value.max(proxy.send_timeout.value);
        http.comment(&format!(
            "proxy-read-timeout: {}, proxy-send-timeout: {} (between two parts of a message)",
            proxy.read_timeout.value, proxy.send_timeout.value
        ));
        http.set("requestTimeout", text("0s")).set("streamIdleTimeout", text(&seconds(idle)));
        tcp.comment(&format!("proxy-connect-timeout: {}", proxy.connect_timeout.value));
        tcp.set("connectTimeout", text(&seconds(proxy.connect_timeout.value)));
        timeout.set("http", http.node()).set("tcp", tcp.node());
        out.set("timeout", timeout.node());
        out.set_some("retry", self.retry(proxy));
        let affinity = upstream.map(|upstream| &upstream.affinity).filter(|affinity| affinity.kind.value == "cookie");
        let hash_by = upstream.map(|upstream| &upstream.hash_by).filter(|hash| !hash.by.is_empty());
        let balancer = match (affinity, hash_by) {
            (Some(affinity), _) => {
                let cookie = &affinity.cookie;
                let name = if cookie.name.is_empty() { "INGRESSCOOKIE" } else { cookie.name.value.as_str() };
                let age = [&cookie.max_age, &cookie.expires].into_iter().find_map(|age| age.value.parse::<i64>().ok()).unwrap_or(0);
                let (mut attributes, mut inner, mut hash) = (Fields::new(), Fields::new(), Fields::new());
                for (field, value) in [("SameSite", &cookie.same_site), ("Domain", &cookie.domain)] {
                    if !value.is_empty() {
                        attributes.set(field, text(&value.value));
                    }
                }
                // nginx limits the cookie to the location; without a path, browsers would limit it to a folder.
                attributes.set("Path", text(if cookie.path.is_empty() { "/" } else { cookie.path.value.as_str() }));
                if cookie.secure.value {
                    attributes.set("Secure", text(""));
                }
                attributes.set("HttpOnly", text(""));
                inner.comment("affinity: cookie").set("name", text(name)).set("ttl", text(&seconds(age.max(0))));
                inner.set("attributes", attributes.node());
                hash.set("type", text("Cookie")).set("cookie", inner.node());
                consistent(&hash)
            }
            (None, Some(hash_by)) => hash(hash_by).unwrap_or_else(|| balancer("RoundRobin")),
            (None, None) if load_balance == "ewma" => balancer("LeastRequest"),
            (None, None) => balancer("RoundRobin"),
        };
        out.set("loadBalancer", balancer);
        let most = self.nginx.globals.number("max-worker-connections").value;
        let mut breaker = Fields::new();
        breaker.comment("max-worker-connections: nginx has no smaller limit for one service");
        breaker.set("maxConnections", number(most)).set("maxParallelRequests", number(most)).set("maxPendingRequests", number(most));
        out.set("circuitBreaker", breaker.node());
        out
    }

    /// Writes when other endpoints are tried.
    fn retry(&self, proxy: &Proxy) -> Option<Node> {
        let conditions = next_upstream(&proxy.next_upstream.value, self.nginx.globals.flag("retry-non-idempotent").value);
        let has = |word: &str| conditions.iter().any(|condition| *condition == *word);
        let tries = proxy.next_upstream_tries.value;
        if has("off") || tries == 1 || conditions.is_empty() {
            return None;
        }
        let mut triggers = Vec::new();
        if has("error") || has("timeout") {
            triggers.extend(["connect-failure", "refused-stream", "reset-before-request"]);
        }
        if (has("error") || has("timeout")) && has("non_idempotent") {
            triggers.push("reset");
        }
        let codes: Vec<i64> = conditions.iter().filter_map(|condition| condition.strip_prefix("http_")?.parse().ok()).collect();
        if !codes.is_empty() {
            triggers.push("retriable-status-codes");
        }
        if triggers.is_empty() {
            return None;
        }
        let (mut on, mut out) = (Fields::new(), Fields::new());
        on.set("triggers", items(&triggers)).set("httpStatusCodes", list(codes.into_iter().map(number).collect()));
        out.comment(&format!("proxy-next-upstream: {}, proxy-next-upstream-tries: {tries}", proxy.next_upstream.value));
        out.set("numRetries", number(if tries <= 0 { 10 } else { tries - 1 })).set("retryOn", on.node());
        Some(out.node())
    }
}

/// A limit for each client address in a range.
fn limit_rule(range: &str, most: i64, unit: &str, name: &str) -> Node {
    let (mut source, mut selector, mut limit, mut rule) = (Fields::new(), Fields::new(), Fields::new(), Fields::new());
    source.set("type", text("Distinct")).set("value", text(range));
    selector.set("sourceCIDR", source.node());
    limit.set("requests", number(most)).set("unit", text(unit));
    rule.comment(&format!("{name}: {most}"));
    rule.set("clientSelectors", list(Vec::from([selector.node()]))).set("limit", limit.node());
    rule.node()
}

/// Writes a duration of whole seconds.
pub(super) fn seconds(count: i64) -> alloc::string::String {
    // The API accepts five digits.
    if count > 99_999 { format!("{}h", count / 3600) } else { format!("{count}s") }
}

fn balancer(kind: &str) -> Node {
    let mut out = Fields::new();
    out.set("type", text(kind));
    out.node()
}

fn consistent(hash: &Fields) -> Node {
    let mut out = Fields::new();
    out.set("type", text("ConsistentHash")).set("consistentHash", hash.node());
    out.node()
}

/// The choice of endpoints by a variable.
fn hash(by: &HashBy) -> Option<Node> {
    let written = by.by.value.as_str();
    let name = written.strip_prefix('$')?.trim_matches(['{', '}']);
    let mut out = Fields::new();
    out.comment(&format!("upstream-hash-by: {written}"));
    let named = |name: &str| {
        let mut one = Fields::new();
        one.set("name", text(name));
        list(Vec::from([one.node()]))
    };
    match name {
        "remote_addr" | "binary_remote_addr" => drop(out.set("type", text("SourceIP"))),
        "host" | "http_host" => drop(out.set("type", text("Headers")).set("headers", named(":authority"))),
        name => match (name.strip_prefix("http_"), name.strip_prefix("arg_"), name.strip_prefix("cookie_")) {
            (Some(header), ..) => drop(out.set("type", text("Headers")).set("headers", named(&header.replace('_', "-")))),
            (_, Some(parameter), _) => drop(out.set("type", text("QueryParams")).set("queryParams", named(parameter))),
            (.., Some(cookie)) => {
                let mut inner = Fields::new();
                inner.set("name", text(cookie));
                out.set("type", text("Cookie")).set("cookie", inner.node());
            }
            _ => return None,
        },
    }
    Some(consistent(&out))
}

/// Whether `upstream-hash-by` names one value of the request that Envoy can use.
fn is_hash_known(by: &HashBy) -> bool {
    hash(by).is_some()
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn bytes_with_units_are_read() {
        assert_eq!([bytes("1m"), bytes("8K"), bytes("0"), bytes("2g"), bytes("x")], [Some(1 << 20), Some(8 << 10), Some(0), Some(2 << 30), None]);
    }
}
