//! Lists the routes of verbatim listeners. Does not list routes that the IR has types for; see the parent module.

use super::{RouteRow, makers};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::GatewayRef;
use chancery_base::ir::{Tree, Verbatim};
use chancery_base::resource::{ObjectId, Origin};
use chancery_text::Str;

/// At most this many makers of one route are named.
const MOST_MAKERS: usize = 4;

/// Returns the routes of all such listeners, in Envoy's order.
pub(super) fn routes(gateway: GatewayRef<'_>) -> Vec<RouteRow> {
    let of = &gateway.ir.delivery.verbatim;
    let mut rows = Vec::new();
    for (at, listener) in of.listeners.iter().enumerate() {
        // In a bootstrap these listeners follow the IR's listeners.
        let pointer = format!("/static_resources/listeners/{}", gateway.ir.listeners.len() + at);
        let chains = listener.get("filter_chains").items().iter().enumerate();
        let chains = chains.map(|(at, chain)| (format!("{pointer}/filter_chains/{at}"), chain));
        let last = listener.find("default_filter_chain").map(|chain| (format!("{pointer}/default_filter_chain"), chain));
        for (pointer, chain) in chains.chain(last) {
            let place = Place { gateway, listener, chain };
            for (at, filter) in chain.get("filters").items().iter().enumerate() {
                place.filter(&format!("{pointer}/filters/{at}"), filter, of, &mut rows);
            }
        }
    }
    rows
}

/// Where a route is.
#[derive(Clone, Copy)]
struct Place<'a> {
    gateway: GatewayRef<'a>,
    listener: &'a Tree,
    chain: &'a Tree,
}

impl Place<'_> {
    fn filter(self, pointer: &str, filter: &Tree, of: &Verbatim, rows: &mut Vec<RouteRow>) {
        let config = filter.get("typed_config");
        let asked = config.at(&["rds", "route_config_name"]).text();
        let named = || of.routes.iter().find(|table| !asked.is_empty() && table.get("name").text() == asked).map(|table| &**table);
        let Some(table) = config.find("route_config").or_else(named) else {
            let upstreams = clusters(config);
            if !upstreams.is_empty() {
                let mut row =
                    RouteRow { order: 1, action: "tcp", path: "any connection".into(), summary: "forwards bytes".into(), ..self.row(pointer) };
                row.upstreams = upstreams.into_iter().map(|(name, _)| name).collect();
                row.made_by = self.made_by(filter);
                rows.push(row);
            }
            return;
        };
        for (host_at, host) in table.get("virtual_hosts").items().iter().enumerate() {
            let domains: Vec<Str> = host.get("domains").items().iter().map(Tree::str).collect();
            for (at, route) in host.get("routes").items().iter().enumerate() {
                let pointer = format!("{pointer}/typed_config/route_config/virtual_hosts/{host_at}/routes/{at}");
                let mut row = RouteRow { domains: domains.clone(), order: at as u32 + 1, ..self.row(&pointer) };
                fill(&mut row, route);
                row.made_by = self.made_by(route);
                // A route of a splitter or router has its own makers; otherwise the host made it, or the resource that caused an upstream's
                // listener.
                if row.made_by.is_empty() {
                    row.made_by = self.made_by(host);
                }
                if row.made_by.is_empty() && self.listener.get("traffic_direction").text() == "OUTBOUND" {
                    row.made_by = makers(self.listener.origin.as_slice(), self.gateway);
                }
                rows.push(row);
            }
        }
    }

    fn row(self, pointer: &str) -> RouteRow {
        let socket = self.listener.at(&["address", "socket_address"]);
        let names: Vec<&str> = self.chain.at(&["filter_chain_match", "server_names"]).items().iter().map(Tree::text).collect();
        let transport = if self.chain.find("transport_socket").is_some() { "TLS" } else { "cleartext" };
        let address = format!("{}:{}", socket.get("address").text(), socket.get("port_value").int());
        let chain = if names.is_empty() { transport.into() } else { format!("{transport}, SNI {}", names.join(", ")) };
        RouteRow::at(pointer.into(), self.listener.get("name").str(), address, chain)
    }

    fn made_by(self, of: &Tree) -> Vec<super::ResourceRef> {
        let mut origins = Vec::new();
        collect(of, &mut origins);
        makers(&origins, self.gateway)
    }
}

/// Collects one origin of each object in a value.
fn collect(of: &Tree, found: &mut Vec<Origin>) {
    let is_new =
        |origin: &Origin, found: &[Origin]| origin.object() != ObjectId::BUILT_IN && !found.iter().any(|known| known.object() == origin.object());
    if found.len() >= MOST_MAKERS {
        return;
    }
    found.extend(of.origin.filter(|origin| is_new(origin, found)));
    of.fields().iter().for_each(|(_, value)| collect(value, found));
    of.items().iter().for_each(|value| collect(value, found));
}

/// Returns the clusters that a value sends to, each with its weight.
fn clusters(of: &Tree) -> Vec<(Str, i64)> {
    match of.find("cluster") {
        Some(name) => Vec::from([(name.str(), 1)]),
        None => of.at(&["weighted_clusters", "clusters"]).items().iter().map(|one| (one.get("name").str(), one.get("weight").int())).collect(),
    }
}

fn fill(row: &mut RouteRow, route: &Tree) {
    let matcher = route.get("match");
    let text = |key: &str| matcher.find(key).map(Tree::text);
    row.path = match (text("prefix"), text("path_separated_prefix"), text("path")) {
        (Some(path), ..) => format!("prefix {path}"),
        (_, Some(path), _) => format!("segments {path}"),
        (.., Some(path)) => format!("exactly {path}"),
        _ => format!("regex {}", matcher.at(&["safe_regex", "regex"]).text()),
    };
    row.conditions = conditions(matcher);
    let action = route.get("route");
    let all = clusters(action);
    row.summary = match &all[..] {
        [(name, _)] => format!("to {name}"),
        all => super::by_weight(all.iter().map(|(name, weight)| (name.as_str(), *weight))),
    };
    row.upstreams = all.into_iter().map(|(name, _)| name).collect();
    policies(&mut row.policies, action);
    if let Some(redirect) = route.find("redirect") {
        row.action = "redirect";
        row.summary = format!(
            "redirects to {}",
            if redirect.get("host_redirect").text().is_empty() { "the same host" } else { redirect.get("host_redirect").text() }
        );
    } else if let Some(answer) = route.find("direct_response") {
        row.action = "respond";
        row.summary = format!("answers {}", answer.get("status").int());
    }
}

/// Describes the condition of a string matcher, after the matched name.
fn words(of: &Tree) -> String {
    let invert = of.get("invert_match").value == chancery_base::ir::Plain::Bool(true);
    let not = if invert { "not " } else { "" };
    let of = of.find("string_match").unwrap_or(of);
    // Header matchers use other field names for the same conditions.
    let find = |key: &str| of.find(key).or_else(|| of.find(&format!("{key}_match")));
    let kinds = [("exact", "is"), ("prefix", "starts with"), ("suffix", "ends with"), ("contains", "contains")];
    if let Some((words, text)) = kinds.iter().find_map(|(key, words)| Some((words, find(key)?.text()))) {
        return format!("{not}{words} {text}");
    }
    match find("safe_regex") {
        Some(regex) => format!("{not}matches {}", regex.get("regex").text()),
        None => (if invert { "is absent" } else { "is there" }).to_string(),
    }
}

fn conditions(matcher: &Tree) -> Vec<String> {
    let named = |key: &str, mark: &str| {
        let all = matcher.get(key).items().iter();
        all.map(|of| format!("{mark}{} {}", of.get("name").text(), words(of))).collect::<Vec<_>>()
    };
    let mut out = named("headers", "");
    out.extend(named("query_parameters", "?"));
    if matcher.find("grpc").is_some() {
        out.push("gRPC only".into());
    }
    out
}

fn policies(out: &mut Vec<String>, action: &Tree) {
    match action.get("timeout").text() {
        "" => {}
        "0s" => out.push("no timeout".into()),
        timeout => out.push(format!("timeout {timeout}")),
    }
    if let Some(path) = action.find("prefix_rewrite") {
        out.push(format!("path becomes {}", path.text()));
    }
    if let Some(retry) = action.find("retry_policy") {
        let times = retry.find("num_retries").map_or(1, Tree::int);
        out.push(format!("retries {times}x on {}", retry.get("retry_on").text()));
    }
    if !action.get("hash_policy").items().is_empty() {
        out.push("sticky".into());
    }
}
