//! The routes in the page's form: joins routes that differ only in http and https, names Services instead of clusters, and numbers routes within the
//! user's own rules. Does not list the routes; see `chancery_core::explain`.

use crate::protocol::{RouteFilter, RouteList, Which, WrittenRequest};
use crate::worker::configs::Configs;
use chancery_core::compilation::{Compilation, GatewayId, NamedGateway, SideRef};
use chancery_core::explain::{
    Graph, RouteRow, RouteRows, ServiceNames, app_gateway_routes, app_gateway_row_matches, nginx_matching_rows, nginx_routes, routes,
};
use chancery_core::simulate::Gateway;
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// The condition that distinguishes the http route from the https route.
const TRANSPORT: &str = "x-forwarded-proto is";

/// The largest number of listed routes.
const MOST: usize = 400;

/// A row of the page with its gateway.
#[derive(Serialize)]
pub struct Listed {
    #[serde(flatten)]
    row: RouteRow,
    /// The display name of its gateway, if there are several gateways.
    of: Option<String>,
    /// Its gateway, if it is not the shown gateway.
    gateway: Option<Which>,
}

/// Finds the routes of all gateways.
pub struct Finder<'a> {
    pub compilation: &'a Compilation,
    pub configs: &'a mut Configs,
    /// The indexes of the shown side and of its shown gateway.
    pub shown: (usize, usize),
    /// Names clusters as the user does.
    pub overview: &'a Graph,
}

/// The request that a filter describes: an optional host, and a path.
pub fn request_of(filter: &RouteFilter) -> Option<(Option<&str>, &str)> {
    let text = filter.text.trim();
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let slash = rest.find('/').filter(|_| !filter.as_words && !text.contains(char::is_whitespace))?;
    let (host, path) = rest.split_at(slash);
    Some((Some(host).filter(|host| !host.is_empty()), path))
}

/// The requests that a filter may mean: the URL as it is typed, or over http and https.
pub fn requests_of(filter: &RouteFilter) -> Vec<WrittenRequest> {
    if request_of(filter).is_none_or(|(host, _)| host.is_none()) {
        return Vec::new();
    }
    let text = filter.text.trim();
    let urls = if text.contains("://") { vec![text.to_string()] } else { vec![format!("http://{text}"), format!("https://{text}")] };
    urls.into_iter().map(|url| WrittenRequest { url, ..WrittenRequest::default() }).collect()
}

/// Whether a row contains these lower-case words.
fn contains_words(row: &RouteRow, words: &str) -> bool {
    let texts = [&row.path, &row.summary].into_iter().chain(&row.conditions).map(String::as_str);
    let texts = texts.chain(row.domains.iter().map(|domain| domain.as_str()));
    let text = texts.map(String::from).chain(row.made_by.iter().map(ToString::to_string)).collect::<Vec<_>>().join(" ");
    text.to_lowercase().contains(words)
}

/// The names of a gateway, if it is not the shown gateway.
fn which(side: SideRef<'_>, id: &GatewayId, is_other: bool) -> Option<Which> {
    is_other.then(|| Which { dialect: side.dialect().name.into(), id: id.to_string() })
}

impl Finder<'_> {
    /// Finds the routes that match a filter, in the order of the gateways.
    pub fn find(self, filter: &RouteFilter) -> RouteList<Listed> {
        let request = request_of(filter);
        let words = filter.text.trim().to_lowercase();
        let names = &ServiceNames::of(self.overview);
        let asked = request.map(|(host, path)| format!("{}{path}", host.unwrap_or_default()));
        let mut found = RouteList { request: asked, ..RouteList::default() };
        for (side_at, side) in self.compilation.sides().enumerate() {
            for (at, gateway) in side.side.gateways.iter().enumerate() {
                let id = &gateway.id;
                let of = NamedGateway { of: side, id }.label();
                let which = which(side, id, self.shown != (side_at, at));
                // The pointers of the rows whose path matches the request. Ignores other conditions.
                let mut taking: HashSet<String> = HashSet::new();
                let rows: Box<dyn Iterator<Item = RouteRow>> = match side.gateways().find(|of| of.id == id) {
                    Some(gateway) => {
                        if let Some((host, path)) = request {
                            taking.extend(Gateway::new(&self.configs.of(gateway.ir)).routes_for(host, path));
                        }
                        Box::new(Rules::new(routes(gateway), names))
                    }
                    None if side.nginxes().any(|of| of.named.id == id) => {
                        let of = side.nginxes().find(|of| of.named.id == id);
                        let rows = of.map(nginx_routes).unwrap_or_default();
                        if let (Some((host, path)), Some(of)) = (request, of) {
                            taking.extend(nginx_matching_rows(of, &rows, host, path));
                        }
                        Box::new(rows.into_iter().map(|row| RouteRow { summary: nginx_summary(&row, names), ..row }))
                    }
                    None => {
                        let rows = side.app_gateways().find(|of| of.named.id == id).map(app_gateway_routes).unwrap_or_default();
                        if let Some((host, path)) = request {
                            taking.extend(rows.iter().filter(|row| app_gateway_row_matches(row, host, path)).map(|row| row.pointer.clone()));
                        }
                        Box::new(in_words(rows, names))
                    }
                };
                for row in rows {
                    let is_built_in = row.made_by.is_empty();
                    found.all += 1;
                    found.built_in += usize::from(is_built_in);
                    let fits = if request.is_some() { taking.contains(&row.pointer) } else { words.is_empty() || contains_words(&row, &words) };
                    match fits && (filter.built_in || !is_built_in) {
                        true if found.rows.len() < MOST => found.rows.push(Listed { row, of: of.clone(), gateway: which.clone() }),
                        true => found.more += 1,
                        false => {}
                    }
                }
            }
        }
        found
    }
}

/// The effect of a location, with the Service instead of the upstream.
fn nginx_summary(row: &RouteRow, names: &ServiceNames<'_>) -> String {
    match row.upstreams.first().map(|upstream| (names.name(upstream), upstream)) {
        Some((service, upstream)) if service != upstream.as_str() => format!("to {service}, at {}", row.summary),
        _ => row.summary.clone(),
    }
}

/// The rows of an Application Gateway. Names pools by their Services, and listeners by protocol and port because their names are hashes.
fn in_words<'n>(rows: Vec<RouteRow>, names: &'n ServiceNames<'_>) -> impl Iterator<Item = RouteRow> + 'n {
    rows.into_iter().map(|row| {
        let service = row.upstreams.first().map(|pool| (names.name(pool), pool));
        let summary = match service {
            Some((service, pool)) if service != pool.as_str() => format!("to {service}, at {}", row.summary),
            _ => row.summary,
        };
        let port = row.address.trim_start_matches(':');
        RouteRow { summary, listener: row.chain.to_uppercase().into(), address: format!("port {port}"), chain: String::new(), ..row }
    })
}

/// The rules of an Envoy. An http route and an https route with the same conditions are one rule.
struct Rules<'n, 's> {
    rows: RouteRows<'n>,
    /// The last rule. The next route may belong to it.
    last: Option<RouteRow>,
    /// By virtual host: the number of the last rule, and the number of each route.
    numbers: HashMap<String, (u32, HashMap<u32, u32>)>,
    names: &'n ServiceNames<'s>,
}

impl<'n, 's> Rules<'n, 's> {
    fn new(rows: RouteRows<'n>, names: &'n ServiceNames<'s>) -> Self {
        Self { rows, last: None, numbers: HashMap::new(), names }
    }
}

/// The number of each route among the rules of its virtual host, by pointer. Built-in routes have the number 0.
pub fn numbers(rows: RouteRows<'_>, names: &ServiceNames<'_>) -> HashMap<String, u32> {
    let mut rules = Rules::new(rows, names);
    while rules.next().is_some() {}
    let of_host = |(host, (_, orders)): (String, (u32, HashMap<u32, u32>))| {
        orders.into_iter().map(move |(order, number)| (format!("{host}/routes/{}", order.saturating_sub(1)), number))
    };
    rules.numbers.into_iter().flat_map(of_host).collect()
}

impl Iterator for Rules<'_, '_> {
    type Item = RouteRow;

    fn next(&mut self) -> Option<RouteRow> {
        loop {
            let Some(mut row) = self.rows.next() else { return self.last.take() };
            // The heading names the host.
            let hosts: Vec<String> = row.domains.iter().map(|domain| format!(":authority is {domain}")).collect();
            row.conditions.retain(|condition| !hosts.contains(condition));
            let host = row.pointer.rsplit_once("/routes/").map_or(row.pointer.as_str(), |(host, _)| host);
            let is_beside = |before: &&mut RouteRow| before.pointer.strip_prefix(host).is_some_and(|rest| rest.starts_with("/routes/"));
            let (last, known) = self.numbers.entry(host.into()).or_default();
            if let Some(before) = self.last.as_mut().filter(is_beside).filter(|before| are_twins(before, &row)) {
                before.conditions.retain(|condition| !condition.starts_with(TRANSPORT));
                known.insert(row.order, before.order);
                continue;
            }
            let number = if row.made_by.is_empty() { 0 } else { *last + 1 };
            *last = (*last).max(number);
            known.insert(row.order, number);
            let shadowed_by = row.shadowed_by.map(|by| known.get(&by).copied().unwrap_or_default());
            let mut row = RouteRow { order: number, shadowed_by, ..row };
            row.summary = by_service(&row, self.names);
            if let Some(done) = self.last.replace(row) {
                return Some(done);
            }
        }
    }
}

/// The effect of a route, with Services instead of clusters.
fn by_service(row: &RouteRow, names: &ServiceNames<'_>) -> String {
    let clusters: HashSet<&str> = row.upstreams.iter().map(|cluster| cluster.as_str()).collect();
    let parts = row.summary.split(", ").map(|part| match part.rsplit_once(' ') {
        Some((before, cluster)) if clusters.contains(cluster) => format!("{before} {}", names.name(cluster)),
        _ => part.to_string(),
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// Whether two routes are one rule, for https and for http.
fn are_twins(first: &RouteRow, second: &RouteRow) -> bool {
    let others = |row: &RouteRow| row.conditions.iter().filter(|condition| !condition.starts_with(TRANSPORT)).cloned().collect::<Vec<_>>();
    let differ = first.conditions != second.conditions;
    differ
        && others(first) == others(second)
        && first.path == second.path
        && first.action == second.action
        && first.upstreams == second.upstreams
        && first.policies == second.policies
        && first.made_by == second.made_by
}
