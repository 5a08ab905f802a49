//! What may have been meant where nothing takes a request: the hosts that there are, and what asked for this one and is not served.
//!
//! What must not be here: how requests are routed, and what became of an object.

use super::{Positions, ResourceRef, Span, findings, ledger_of};
use crate::backend::envoy::v3::pb;
use crate::compilation::SideRef;
use crate::envoy_config::{EnvoyConfig, managers_of};
use crate::order::Order as _;
use crate::resource::edit_distance;
use crate::simulate::{Outcome, Request, Simulation, bound, host_of, is_own, is_tls};
use crate::text::{Node, Value};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A host that requests are taken for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct HostThere {
    /// The host, as `shop.example.com` or `*.example.com`.
    pub host: String,
    /// The port that it is taken at.
    pub port: u32,
    /// Whether over TLS.
    pub tls: bool,
}

/// A resource that wants the host of a request, and is not served.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Wanting {
    /// The resource.
    pub resource: ResourceRef,
    /// What became of it: `ignored`, `invalid`, `shadowed`...
    pub state: &'static str,
    /// Why, in sentences.
    pub why: Vec<String>,
    /// Where it stands.
    #[serde(flatten)]
    pub span: Option<Span>,
}

/// So many hosts are told.
const MOST_HOSTS: usize = 100;

/// Whether no route takes it.
pub(super) fn is_unserved(of: &Simulation) -> bool {
    let by_nobody = matches!(of.outcome, Outcome::NoRoute | Outcome::NoVirtualHost | Outcome::NoFilterChain | Outcome::NoListener);
    by_nobody || of.outcome == Outcome::DirectResponse && of.route.is_none()
}

/// The hosts that there are, those nearest to the request's first.
pub(super) fn hosts(config: &EnvoyConfig, request: &Request) -> Vec<HostThere> {
    let wanted = host_of(&request.authority).to_ascii_lowercase();
    let mut all = BTreeSet::new();
    let tables = config.route_tables();
    for listener in config.listeners.iter().map(|of| &of.message).filter(|of| !is_own(of)) {
        let Some((_, port, false)) = bound(listener) else { continue };
        for chain in listener.filter_chains.iter().chain(&listener.default_filter_chain) {
            let tls = is_tls(chain);
            let there = |host: &str| HostThere { host: host.to_owned(), port, tls };
            for host in managers_of(chain).filter_map(|(_, manager)| table_of(manager, &tables)).flat_map(|table| &table.virtual_hosts) {
                let asked = host.routes.iter().filter_map(asked_for);
                all.extend(host.domains.iter().map(String::as_str).chain(asked).map(there));
            }
            if managers_of(chain).next().is_none() {
                all.extend(chain.filter_chain_match.iter().flat_map(|of| &of.server_names).map(|name| there(name)));
            }
        }
    }
    let mut all: Vec<HostThere> = all.into_iter().collect();
    let far = |of: &HostThere| {
        let bare = of.host.trim_start_matches("*.");
        let same_end = of.host.starts_with("*.") && wanted.ends_with(bare);
        if same_end { 0 } else { edit_distance(&wanted, bare, wanted.len().max(bare.len())).unwrap_or(usize::MAX) }
    };
    all.order_by_key(|of| (far(of), of.host == "*"));
    all.truncate(MOST_HOSTS);
    all
}

fn table_of<'t>(
    manager: &'t pb::hcm::HttpConnectionManager,
    all: &[(String, &'t pb::route::RouteConfiguration)],
) -> Option<&'t pb::route::RouteConfiguration> {
    use pb::hcm::http_connection_manager::RouteSpecifier;
    match manager.route_specifier.as_ref()? {
        RouteSpecifier::RouteConfig(table) => Some(table),
        RouteSpecifier::Rds(rds) => all.iter().map(|(_, table)| *table).find(|table| table.name == rds.route_config_name),
        RouteSpecifier::ScopedRoutes(_) => None,
    }
}

/// The host that a route asks for by itself.
fn asked_for(route: &pb::route::Route) -> Option<&str> {
    use pb::matcher::string_matcher::MatchPattern;
    use pb::route::header_matcher::HeaderMatchSpecifier;
    let headers = route.r#match.as_ref()?.headers.iter().filter(|of| of.name == ":authority" || of.name.eq_ignore_ascii_case("host"));
    headers.into_iter().find_map(|of| match &of.header_match_specifier {
        Some(HeaderMatchSpecifier::StringMatch(of)) => match &of.match_pattern {
            Some(MatchPattern::Exact(name)) => Some(name.as_str()),
            _ => None,
        },
        _ => None,
    })
}

/// Resources that name the host of a request and are not served, with what is known of why.
pub(super) fn wanting(side: SideRef<'_>, positions: &Positions<'_>, request: &Request) -> Vec<Wanting> {
    let wanted = host_of(&request.authority).to_ascii_lowercase();
    let naming: Vec<_> = side.objects().iter().filter(|object| names(&object.root, &wanted)).map(|object| object.id).collect();
    if naming.is_empty() {
        return Vec::new();
    }
    let found = findings(side.compilation, positions);
    let mut out = Vec::new();
    for row in ledger_of(side, positions).into_iter().filter(|row| naming.contains(&row.object)) {
        let of_it = found
            .iter()
            .filter(|finding| finding.object.as_ref().or(finding.resource.as_ref()) == Some(&row.resource) && finding.severity != "notice");
        let mut why: Vec<String> = of_it.map(|finding| finding.message.clone()).collect();
        if let Some(detail) = row.detail.as_ref().map(ToString::to_string).filter(|detail| !why.contains(detail)) {
            why.insert(0, detail);
        }
        let is_served = matches!(row.state, "emitted" | "merged");
        if !is_served || !why.is_empty() {
            out.push(Wanting { resource: row.resource, state: row.state, why, span: row.span });
        }
    }
    out
}

/// Keys under which resources say for which hosts they are.
const KEYS: [&str; 5] = ["host", "hostname", "hostnames", "hosts", "fqdn"];

/// Whether a resource names a host, itself or by a wildcard.
fn names(root: &Node, wanted: &str) -> bool {
    let is_it = |text: &str| {
        let text = text.to_ascii_lowercase();
        text == wanted || text.strip_prefix('*').is_some_and(|end| end.starts_with('.') && wanted.ends_with(end))
    };
    let mut open: Vec<(&Node, bool)> = Vec::from([(root, false)]);
    while let Some((node, is_host)) = open.pop() {
        match &node.value {
            Value::Object(members) => open.extend(members.iter().map(|entry| (&entry.value, KEYS.contains(&entry.key.as_str())))),
            Value::Array(items) => open.extend(items.iter().map(|item| (item, is_host))),
            _ if is_host && node.as_str().is_some_and(is_it) => return true,
            _ => {}
        }
    }
    false
}
