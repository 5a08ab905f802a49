//! Suggests what an unmatched request may have meant: the available hosts, and resources for its host that are not served. Does not route requests
//! (see `route`) or decide what happened to an object (see `ledger`).

use super::{Finding, OriginOf, Positions, ResourceRef, RouteReport, Span, findings, ledger_of};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::SideRef;
use chancery_base::diagnostic::{Diagnostic, Severity};
use chancery_base::resource::edit_distance;
use chancery_envoy::config::{EnvoyConfig, managers_of};
use chancery_envoy::emit::pb;
use chancery_envoy::simulate::{Outcome, Request, Simulation, bound, host_of, is_own, is_tls};
use chancery_text::{Node, Value};

/// A host that the gateway serves.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct ServedHost {
    /// The host, as `shop.example.com` or `*.example.com`.
    pub host: String,
    pub port: u32,
    pub tls: bool,
    /// Whether the gateway passes TLS on to the service without ending it.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub passthrough: bool,
}

/// A resource for the host of a request that is not served.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct UnservedResource {
    pub resource: ResourceRef,
    /// Its ledger state: `ignored`, `invalid`, `shadowed`...
    pub state: &'static str,
    /// Why, in sentences.
    pub why: Vec<String>,
    #[serde(flatten)]
    pub span: Option<Span>,
}

/// At most this many hosts are named.
const MOST_HOSTS: usize = 100;

/// Whether no route matches the request.
pub(super) fn is_unserved(of: &Simulation) -> bool {
    let is_unserved = matches!(of.outcome, Outcome::NoRoute | Outcome::NoVirtualHost | Outcome::NoFilterChain | Outcome::NoListener);
    is_unserved || of.outcome == Outcome::DirectResponse && of.route.is_none() && of.host.is_some()
}

/// Returns the served hosts, those nearest to the request's host first.
pub(super) fn served_hosts(config: &EnvoyConfig, request: &Request) -> Vec<ServedHost> {
    let wanted = host_of(&request.authority).to_ascii_lowercase();
    let mut all = BTreeSet::new();
    let tables = config.route_tables();
    for listener in config.listeners.iter().map(|of| &of.message).filter(|of| !is_own(of)) {
        let Some((_, port, false)) = bound(listener) else { continue };
        for chain in listener.filter_chains.iter().chain(&listener.default_filter_chain) {
            let ends_tls = is_tls(chain);
            let passthrough = !ends_tls && managers_of(chain).next().is_none();
            let there = |host: &str| ServedHost { host: host.to_owned(), port, tls: ends_tls || passthrough, passthrough };
            for host in managers_of(chain).filter_map(|(_, manager)| table_of(manager, &tables)).flat_map(|table| &table.virtual_hosts) {
                let asked = host.routes.iter().filter_map(asked_for);
                all.extend(host.domains.iter().map(String::as_str).chain(asked).map(there));
            }
            if managers_of(chain).next().is_none() {
                all.extend(chain.filter_chain_match.iter().flat_map(|of| &of.server_names).map(|name| there(name)));
            }
        }
    }
    let mut all: Vec<ServedHost> = all.into_iter().collect();
    let far = |of: &ServedHost| {
        let bare = of.host.trim_start_matches("*.");
        let same_end = of.host.starts_with("*.") && wanted.ends_with(bare);
        if same_end { 0 } else { edit_distance(&wanted, bare, wanted.len().max(bare.len())).unwrap_or(usize::MAX) }
    };
    all.sort_by_key(|of| (far(of), of.host == "*"));
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

/// Returns the host that a route itself requires.
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

/// Returns resources that name the request's host and are not served, with the known reasons. Resources that name its path come first; a resource
/// that is served elsewhere and names only other paths is left out.
pub(super) fn unserved_resources(side: SideRef<'_>, positions: &Positions<'_>, request: &Request) -> Vec<UnservedResource> {
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
        // For invalid objects, findings have a better message.
        let is_known = |detail: &String| why.contains(detail) || (row.state == "invalid" && !why.is_empty());
        if let Some(detail) = row.detail.as_ref().map(ToString::to_string).filter(|detail| !is_known(detail)) {
            why.insert(0, detail);
        }
        let is_served = matches!(row.state, "emitted" | "merged" | "read");
        let names_path = side.objects().get(row.object).and_then(|object| names_path(&object.root, &request.path));
        if !is_served || !why.is_empty() && names_path != Some(false) {
            out.push((names_path, UnservedResource { resource: row.resource, state: row.state, why, span: row.span }));
        }
    }
    out.sort_by_key(|(names_path, _)| match names_path {
        Some(true) => 0,
        None => 1,
        Some(false) => 2,
    });
    out.into_iter().map(|(_, resource)| resource).collect()
}

/// Keys of path matchers in resources, in any letter case.
const PATH_KEYS: [&str; 6] = ["prefix", "path", "value", "exact", "pathPrefix", "pathExact"];

/// Whether a resource names a path, as far as its text is literal. `None` if it names no path.
fn names_path(root: &Node, wanted: &str) -> Option<bool> {
    let literal = |text: &str| text.find(['*', '(', '[', '?', '{', '.', '\\', '+', '|', '$']).map_or(text.len(), |at| at);
    let fits = |text: &str| text.get(..literal(text)).is_some_and(|literal| wanted.starts_with(literal));
    strings_at(root, &PATH_KEYS).into_iter().filter(|text| text.starts_with('/')).map(fits).reduce(|one, other| one || other)
}

/// Returns the strings at these keys, in any letter case, and in lists at them, anywhere in a resource.
fn strings_at<'n>(root: &'n Node, keys: &[&str]) -> Vec<&'n str> {
    let mut found = Vec::new();
    let mut open: Vec<(&Node, bool)> = Vec::from([(root, false)]);
    while let Some((node, is_meant)) = open.pop() {
        match &node.value {
            Value::Object(members) => {
                open.extend(members.iter().map(|entry| (&entry.value, keys.iter().any(|key| key.eq_ignore_ascii_case(&entry.key)))))
            }
            Value::Array(items) => open.extend(items.iter().map(|item| (item, is_meant))),
            _ => found.extend(node.as_str().filter(|_| is_meant)),
        }
    }
    found
}

/// At most this many findings of a route are given.
const MOST_REASONS: usize = 5;

/// Returns the errors and warnings about the route of a request: those where the route was written, or, if Envoy answers with a server error, in
/// its resources. Those about the policies that count follow, invalid policies first. Without a route, those about the virtual host.
pub(super) fn reasons(report: &RouteReport, side: SideRef<'_>, positions: &Positions<'_>) -> Vec<Finding> {
    let simulation = &report.simulation;
    if simulation.route.is_none() {
        let mut all = findings_of(&report.origins, "virtual_host", true, side, positions);
        all.retain(|finding| !report.wanting.iter().any(|of| of.why.contains(&finding.message)));
        return all;
    }
    let fails = simulation.outcome == Outcome::DirectResponse && simulation.status.is_some_and(|status| status >= 500);
    let mut all = findings_of(&report.origins, "route", fails, side, positions);
    let is_of_policy = |found: &Diagnostic| {
        let resource = found.resource.as_ref().filter(|_| found.severity != Severity::Notice).map(ResourceRef::from);
        resource.is_some_and(|resource| report.policies.iter().any(|policy| policy.resource == resource))
    };
    if report.policies.is_empty() || !side.diagnostics().any(is_of_policy) {
        return all;
    }
    let of_policy = |finding: &Finding| {
        let object = finding.object.as_ref().or(finding.resource.as_ref()).filter(|_| finding.severity != "notice")?;
        report.policies.iter().find(|policy| policy.resource == *object)
    };
    let mut more: Vec<Finding> =
        findings(side.compilation, positions).into_iter().filter(|finding| of_policy(finding).is_some() && !all.contains(finding)).collect();
    more.sort_by_key(|finding| of_policy(finding).is_some_and(|policy| !policy.is_refused));
    all.extend(more);
    all.truncate(MOST_REASONS);
    all
}

/// Returns the errors and warnings about a part of a report: those where it was written, or, if it fails, in its resources.
pub(super) fn findings_of(origins: &[OriginOf], part: &str, fails: bool, side: SideRef<'_>, positions: &Positions<'_>) -> Vec<Finding> {
    let of_part = origins.iter().filter(|origin| origin.of == part && !origin.around);
    let made: Vec<(&ResourceRef, &str)> =
        of_part.filter_map(|origin| Some((origin.origin.resource.as_ref()?, origin.origin.path.as_deref().unwrap_or_default()))).collect();
    if made.is_empty() {
        return Vec::new();
    }
    let is_near = |finding: &Finding| {
        let path = finding.path.as_deref().unwrap_or_default();
        made.iter().any(|(resource, at)| finding.object.as_ref() == Some(*resource) && path.starts_with(at))
    };
    let is_of_part = |finding: &Finding| {
        finding.severity != "notice" && made.iter().any(|(resource, _)| finding.object.as_ref().or(finding.resource.as_ref()) == Some(*resource))
    };
    let mut all: Vec<Finding> = findings(side.compilation, positions).into_iter().filter(is_of_part).collect();
    if !fails || all.iter().any(is_near) {
        all.retain(is_near);
    }
    all.truncate(MOST_REASONS);
    all
}

/// Keys of hosts in resources, in any letter case.
const KEYS: [&str; 5] = ["host", "hostname", "hostnames", "hosts", "fqdn"];

/// Whether a resource names a host, literally or by a wildcard, including `*`.
fn names(root: &Node, wanted: &str) -> bool {
    let is_it = |text: &str| {
        let text = text.to_ascii_lowercase();
        // Some resources append a port, which is not part of the host.
        let text = host_of(&text);
        text == wanted || text == "*" || text.strip_prefix('*').is_some_and(|end| end.starts_with('.') && wanted.ends_with(end))
    };
    strings_at(root, &KEYS).into_iter().any(is_it)
}

#[cfg(test)]
mod tests {
    use crate::{RouteReport, route};
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;
    use chancery_base::compilation::Options;
    use chancery_base::resource::Inputs;
    use chancery_compile::Compiler;
    use chancery_envoy::simulate::{Outcome, Request};

    const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: default}\nspec: {ports: [{port: 80, protocol: TCP}]}\n";

    fn proxy(name: &str, host: &str) -> String {
        let spec = format!("spec: {{virtualhost: {{fqdn: {host}}}, routes: [{{services: [{{name: web, port: 80}}]}}]}}");
        format!("---\napiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: {name}, namespace: default}}\n{spec}\n")
    }

    fn ask(text: &str, url: &str) -> RouteReport {
        let mut compiler = Compiler::new(crate::testing::ALL);
        let dialect = if text.contains("getambassador.io") { "ambassador" } else { "contour" };
        let compilation = compiler.compile(&Inputs::one("input.yaml", text), &Options::default().in_dialect(dialect));
        let gateway = compilation.gateways().next().expect("a gateway that runs");
        let request = Request::new("GET", url).expect("a request");
        route(gateway, &compilation.positions(), &request, compiler.emitted.of(gateway))
    }

    #[test]
    fn unserved_host_lists_resource_and_nearest_hosts() {
        let text = [
            SERVICE,
            &proxy("shop", "shop.example.com"),
            &proxy("other", "www.other.org"),
            &proxy("one", "pay.example.com"),
            &proxy("two", "pay.example.com"),
        ];
        let report = ask(&text.concat(), "http://pay.example.com/");
        assert_eq!(report.simulation.outcome, Outcome::NoVirtualHost);
        let hosts: Vec<&str> = report.hosts.iter().map(|of| of.host.as_str()).collect();
        assert_eq!(hosts, ["shop.example.com", "www.other.org"]);
        let wanting: Vec<_> = report.wanting.iter().map(|of| (of.resource.name.as_str(), of.state, of.why.is_empty())).collect();
        assert_eq!(wanting, [("one", "invalid", false), ("two", "invalid", false)]);
        let served = ask(&text.concat(), "http://shop.example.com/");
        assert!(served.hosts.is_empty() && served.wanting.is_empty(), "nothing is missed");
    }

    #[test]
    fn unserved_resources_are_sorted_and_filtered_by_path() {
        let mapping = |name: &str, hostname: &str, rest: &str| {
            format!(
                "---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: {name}}}\nspec: {{hostname: '{hostname}', {rest}}}\n"
            )
        };
        let head = "\
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: shop}
spec: {hostname: shop.example.com, requestPolicy: {insecure: {action: Route}}}
";
        let text = [
            head,
            &mapping("one", "shop.example.com", "prefix: /w/, service: a, weight: 70"),
            &mapping("two", "shop.example.com", "prefix: /w/, service: b, weight: 70"),
            &mapping("broken", "shop.example.com", "prefix: '/g/(?!x).*', prefix_regex: true, service: g"),
            &mapping("port", "shop.example.com:8080", "prefix: /f/, service: f"),
        ];
        let wanting = |url: &str| ask(&text.concat(), url).wanting.into_iter().map(|of| of.resource.name).collect::<Vec<_>>();
        assert_eq!(wanting("http://shop.example.com/f/x"), ["port", "broken"], "a resource with the path comes first");
        assert_eq!(wanting("http://shop.example.com/g/x"), ["broken", "port"], "a resource with the path comes first");
    }

    #[test]
    fn error_response_has_reasons() {
        let spec = "spec: {virtualhost: {fqdn: a.example.com}, routes: [{conditions: [{prefix: /api}], services: [{name: wob, port: 80}]}, {services: [{name: web, port: 80}]}]}";
        let text = format!("{SERVICE}---\napiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: shop, namespace: default}}\n{spec}\n");
        let report = ask(&text, "http://a.example.com/api");
        let reasons: Vec<_> = report.findings.iter().map(|finding| (finding.code, finding.path.as_deref())).collect();
        assert_eq!((report.simulation.status, &reasons[..]), (Some(503), &[("unresolved-service", Some("spec.routes[0].services[0].name"))][..]));
        assert_eq!(report.simulation.filters.last().and_then(|step| step.does.as_deref()), Some("answers with the direct response of the route"));
        assert_eq!(ask(&text, "http://a.example.com/other").findings, []);
    }

    #[test]
    fn builtin_listeners_need_explicit_port() {
        let report = ask(SERVICE, "http://shop.example.com/ready");
        assert_eq!(report.simulation.outcome, Outcome::NoListener);
        assert_eq!(ask(SERVICE, "http://shop.example.com:8002/ready").simulation.listener.as_deref(), Some("stats-health"));
    }
}
