//! Tests changed requests in written and in random pairs of configurations.

use super::{RequestOptions, Requests, requests};
use crate::compare::Side;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_envoy::config::{EnvoyConfig, Placed};
use chancery_envoy::emit::pb;
use chancery_envoy::simulate::{Gateway, Request, Simulation};
use pb::hcm::{HttpConnectionManager, http_connection_manager::RouteSpecifier};
use pb::route::{HeaderMatcher, Route, RouteAction, RouteConfiguration, RouteMatch, VirtualHost, route::Action, route_match::PathSpecifier};

/// A reproducible random number generator.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % end
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

fn cluster(name: &str, address: &str) -> pb::cluster::Cluster {
    use pb::base::{Address, SocketAddress, address::Address as Of, socket_address::PortSpecifier};
    use pb::endpoint::{ClusterLoadAssignment, Endpoint, LbEndpoint, LocalityLbEndpoints, lb_endpoint::HostIdentifier};
    let socket = SocketAddress { address: address.to_owned(), port_specifier: Some(PortSpecifier::PortValue(80)), ..SocketAddress::default() };
    let endpoint = Endpoint { address: Some(Address { address: Some(Of::SocketAddress(socket)) }), ..Endpoint::default() };
    let endpoint = LbEndpoint { host_identifier: Some(HostIdentifier::Endpoint(endpoint)), ..LbEndpoint::default() };
    let locality = LocalityLbEndpoints { lb_endpoints: Vec::from([endpoint]), ..LocalityLbEndpoints::default() };
    let assignment = ClusterLoadAssignment { cluster_name: name.to_owned(), endpoints: Vec::from([locality]), ..ClusterLoadAssignment::default() };
    pb::cluster::Cluster { name: name.to_owned(), load_assignment: Some(assignment), ..pb::cluster::Cluster::default() }
}

fn listener(port: u32, table: RouteConfiguration) -> pb::listener::Listener {
    use pb::base::{Address, SocketAddress, address::Address as Of, socket_address::PortSpecifier};
    use pb::listener::{Filter, FilterChain, Listener, filter::ConfigType};
    let manager = HttpConnectionManager { route_specifier: Some(RouteSpecifier::RouteConfig(table)), ..HttpConnectionManager::default() };
    let filter = Filter { config_type: Some(ConfigType::TypedConfig(pb::Any::pack(manager))), ..Filter::default() };
    let socket = SocketAddress { address: "0.0.0.0".to_owned(), port_specifier: Some(PortSpecifier::PortValue(port)), ..SocketAddress::default() };
    Listener {
        address: Some(Address { address: Some(Of::SocketAddress(socket)) }),
        filter_chains: Vec::from([FilterChain { filters: Vec::from([filter]), ..FilterChain::default() }]),
        ..Listener::default()
    }
}

fn config(hosts: Vec<VirtualHost>) -> EnvoyConfig {
    let table = RouteConfiguration { virtual_hosts: hosts, ..RouteConfiguration::default() };
    EnvoyConfig {
        listeners: Placed::list([listener(8080, table)], "/static_resources/listeners"),
        clusters: Placed::list(["one", "two", "three"].map(|name| cluster(name, name)), "/static_resources/clusters").into(),
        ..EnvoyConfig::default()
    }
}

fn random_route(chance: &mut Chance) -> Route {
    let path = match chance.below(8) {
        0 => PathSpecifier::Path(chance.pick(&["/a", "/a/", "/ab", "/b/c"]).to_owned()),
        1 => PathSpecifier::PathSeparatedPrefix(chance.pick(&["/a", "/b", "/a/b"]).to_owned()),
        2 | 3 => PathSpecifier::SafeRegex(pb::matcher::RegexMatcher {
            regex: chance.pick(&["/a.*", "/[ab]+", "/a/[0-9]+", "/(a|b)/c.*", "/.*b", "/a?b?", "/a*/b", "/a+/b"]).to_owned(),
            ..Default::default()
        }),
        _ => PathSpecifier::Prefix(chance.pick(&["/", "/a", "/a/", "/ab", "/a/b", "/b", "/b/", "/b/c/"]).to_owned()),
    };
    let mut headers = Vec::new();
    if chance.below(3) == 0 {
        headers.push(header(chance.pick(&[":method", "x-a", "x-b"]), chance));
    }
    if chance.below(6) == 0 {
        headers.push(header("x-a", chance));
    }
    let matcher = RouteMatch {
        path_specifier: Some(path),
        case_sensitive: (chance.below(8) == 0).then_some(false),
        headers,
        query_parameters: (chance.below(6) == 0).then(|| query(chance)).into_iter().collect(),
        ..RouteMatch::default()
    };
    let action = match chance.below(6) {
        0 => Action::Redirect(pb::route::RedirectAction { host_redirect: chance.pick(&["x.org", "y.org"]).to_owned(), ..Default::default() }.into()),
        1 => Action::DirectResponse(pb::route::DirectResponseAction { status: [404, 403][chance.below(2)], ..Default::default() }.into()),
        _ => Action::Route(
            RouteAction {
                cluster_specifier: Some(pb::route::route_action::ClusterSpecifier::Cluster(chance.pick(&["one", "two", "three"]).to_owned())),
                prefix_rewrite: chance.pick(&["", "", "/", "/x"]).to_owned(),
                timeout: (chance.below(4) == 0).then_some(pb::Duration { seconds: 3, nanos: 0 }),
                ..RouteAction::default()
            }
            .into(),
        ),
    };
    Route { r#match: Some(matcher), action: Some(action), ..Route::default() }
}

fn text(chance: &mut Chance) -> pb::matcher::StringMatcher {
    use pb::matcher::string_matcher::MatchPattern;
    let pattern = match chance.below(5) {
        0 => MatchPattern::Prefix(chance.pick(&["1", "12"]).to_owned()),
        1 => MatchPattern::Suffix(chance.pick(&["2", "3"]).to_owned()),
        2 => MatchPattern::SafeRegex(pb::matcher::RegexMatcher {
            regex: chance.pick(&["[12]+", "[12]*", ".+", "1.*3", "v[0-9]"]).to_owned(),
            ..Default::default()
        }),
        _ => MatchPattern::Exact(chance.pick(&["1", "2", "12"]).to_owned()),
    };
    pb::matcher::StringMatcher { match_pattern: Some(pattern), ignore_case: chance.below(8) == 0 }
}

fn header(name: &str, chance: &mut Chance) -> HeaderMatcher {
    use pb::matcher::string_matcher::MatchPattern;
    use pb::route::header_matcher::HeaderMatchSpecifier as Wants;
    let wants = match chance.below(5) {
        _ if name == ":method" => {
            let method = chance.pick(&["GET", "POST", "PUT"]).to_owned();
            Wants::StringMatch(pb::matcher::StringMatcher { match_pattern: Some(MatchPattern::Exact(method)), ignore_case: false })
        }
        0 => Wants::PresentMatch(chance.below(2) == 0),
        _ => Wants::StringMatch(text(chance)),
    };
    HeaderMatcher {
        name: name.to_owned(),
        invert_match: chance.below(5) == 0,
        treat_missing_header_as_empty: chance.below(6) == 0,
        header_match_specifier: Some(wants),
    }
}

fn query(chance: &mut Chance) -> pb::route::QueryParameterMatcher {
    use pb::route::query_parameter_matcher::QueryParameterMatchSpecifier as Wants;
    let wants = if chance.below(2) == 0 { Wants::PresentMatch(true) } else { Wants::StringMatch(text(chance)) };
    pb::route::QueryParameterMatcher { name: "q".to_owned(), query_parameter_match_specifier: Some(wants) }
}

fn random_hosts(chance: &mut Chance) -> Vec<VirtualHost> {
    let mut domains = Vec::from(["a.org", "*.a.org", "a.*", "*"]);
    let mut hosts = Vec::new();
    for number in 0..=chance.below(3) {
        let domain = domains.remove(chance.below(domains.len()));
        let routes = (0..chance.below(6)).map(|_| random_route(chance)).collect();
        hosts.push(VirtualHost { name: format!("{number}"), domains: Vec::from([domain.to_owned()]), routes, ..VirtualHost::default() });
    }
    hosts
}

/// Returns a copy with a few changes.
fn edited(hosts: &[VirtualHost], chance: &mut Chance) -> Vec<VirtualHost> {
    let mut hosts = hosts.to_vec();
    for _ in 0..=chance.below(2) {
        let at = chance.below(hosts.len());
        let host = &mut hosts[at];
        let count = host.routes.len();
        match chance.below(6) {
            0 => host.routes.insert(chance.below(count + 1), random_route(chance)),
            1 if count > 0 => drop(host.routes.remove(chance.below(count))),
            2 if count > 1 => host.routes.swap(chance.below(count), chance.below(count)),
            3 if count > 0 => {
                let action = random_route(chance).action;
                host.routes[chance.below(count)].action = action;
            }
            4 if count > 0 => {
                let matcher = random_route(chance).r#match;
                host.routes[chance.below(count)].r#match = matcher;
            }
            5 => return random_hosts(chance),
            _ => {}
        }
    }
    hosts
}

fn random_request(chance: &mut Chance) -> Request {
    let host = chance.pick(&["a.org", "b.a.org", "a.com", "c.net"]);
    let mut path = String::new();
    for _ in 0..=chance.below(3) {
        path.push_str(chance.pick(&["/a", "/b", "/ab", "/", "a", "b", "/c", "/1", "/A", "x"]));
    }
    let path = if path.starts_with('/') { path } else { format!("/{path}") };
    let query = chance.pick(&["", "", "?q", "?q=", "?q=1", "?q=12", "?q=v7"]);
    let mut request = Request::new(chance.pick(&["GET", "GET", "POST", "PUT"]), &format!("http://{host}{path}{query}")).expect("a request");
    request.port = Some(8080);
    for name in ["x-a", "x-b"] {
        if chance.below(2) == 0 {
            request.add_header(name, chance.pick(&["1", "2", "12", "123", "13", "v7", "x", ""]));
        }
    }
    request
}

fn compared(old: &EnvoyConfig, new: &EnvoyConfig) -> Requests {
    requests(&Side { config: old, source: None }, &Side { config: new, source: None }, &RequestOptions::default())
}

/// Returns the parts of a result that a client and an upstream observe.
fn seen(of: &Simulation) -> [Option<String>; 6] {
    let upstream = of.upstream.as_ref();
    [
        of.status.map(|status| format!("{status}")),
        of.location.clone(),
        of.clusters.first().map(|of| of.name.clone()),
        of.timeout.clone(),
        upstream.map(|of| of.path.clone()),
        upstream.map(|of| of.authority.clone()),
    ]
}

fn replay(config: &EnvoyConfig, change: &super::RequestChange) -> Simulation {
    let witness = &change.witness;
    let mut request = Request::new(&witness.method, &witness.url).expect("a witness is a request");
    witness.headers.iter().for_each(|(name, value)| request.add_header(name, value));
    request.port = Some(8080);
    Gateway::new(config).simulate(&request)
}

#[test]
fn every_changed_request_is_reported() {
    let (mut differing, mut quiet) = (0, 0);
    for seed in 0..300 {
        let mut chance = Chance(seed);
        let hosts = random_hosts(&mut chance);
        let (old, new) = (config(hosts.clone()), config(edited(&hosts, &mut chance)));
        let found = compared(&old, &new);
        assert!(found.complete, "seed {seed}: {:?}", found.limits);
        for change in &found.changes {
            let (before, after) = (replay(&old, change), replay(&new, change));
            assert_ne!(seen(&before), seen(&after), "seed {seed}: {} does not differ", change.witness.curl);
        }
        quiet += usize::from(found.is_empty());
        let [first, second] = [Gateway::new(&old), Gateway::new(&new)];
        for _ in 0..100 {
            let request = random_request(&mut chance);
            let (before, after) = (first.simulate(&request), second.simulate(&request));
            if seen(&before) == seen(&after) {
                continue;
            }
            differing += 1;
            let (before, after) = (super::difference::pointer(&before), super::difference::pointer(&after));
            let reported = found.changes.iter().flat_map(|change| &change.places).any(|place| place.before == before && place.after == after);
            assert!(
                reported,
                "seed {seed}: {} {} {:?} by {before:?} and {after:?} is not reported: {found:#?}",
                request.method, request.path, request.headers
            );
        }
    }
    assert!(differing > 1000 && quiet > 10, "the test tests something: {differing} requests differed, {quiet} pairs did not");
}

fn route(path: &str, cluster: &str, seconds: i64) -> Route {
    let action = RouteAction {
        cluster_specifier: Some(pb::route::route_action::ClusterSpecifier::Cluster(cluster.to_owned())),
        timeout: Some(pb::Duration { seconds, nanos: 0 }),
        ..RouteAction::default()
    };
    let matcher = RouteMatch { path_specifier: Some(PathSpecifier::Prefix(path.to_owned())), ..RouteMatch::default() };
    Route { r#match: Some(matcher), action: Some(Action::Route(action.into())), ..Route::default() }
}

fn host(domain: &str, routes: Vec<Route>) -> VirtualHost {
    VirtualHost { name: domain.to_owned(), domains: Vec::from([domain.to_owned()]), routes, ..VirtualHost::default() }
}

#[test]
fn equal_changes_are_reported_together() {
    let side = |seconds| {
        let routes = || Vec::from([route("/api/", "one", seconds), route("/other/", "two", 5), route("/", "one", seconds)]);
        config(Vec::from([host("a.org", routes()), host("b.org", routes())]))
    };
    let found = compared(&side(3), &side(10));
    let [change] = found.changes.as_slice() else { panic!("{found:#?}") };
    assert_eq!(change.requests, "a.org/*, other than /other/*; a.org/api/*; b.org/*, other than /other/*; and 1 more");
    let reported: Vec<_> = change.differences.iter().map(|of| (of.what.as_str(), of.before.as_deref(), of.after.as_deref())).collect();
    assert_eq!(reported, [("timeout", Some("3s"), Some("10s"))]);
    assert_eq!(change.witness.curl, "curl --connect-to ::$GATEWAY:8080 http://a.org/");
    assert!(compared(&side(3), &side(3)).is_empty());
}

#[test]
fn regex_rewrites_are_distinguished() {
    let of = |pattern: &str, substitution: &str| {
        let mut route = route("/a/", "one", 1);
        let pattern = pb::matcher::RegexMatcher { regex: pattern.to_owned(), ..Default::default() };
        let rewrite = pb::matcher::RegexMatchAndSubstitute { pattern: Some(pattern), substitution: substitution.to_owned() };
        if let Some(Action::Route(action)) = &mut route.action {
            action.regex_rewrite = Some(rewrite.into());
        }
        config(Vec::from([host("a.org", Vec::from([route]))]))
    };
    let changes = |old: [&str; 2], new: [&str; 2]| compared(&of(old[0], old[1]), &of(new[0], new[1])).changes.len();
    for (old, new) in [
        (["^/a/([0-9]+)/items", r"/i/\1"], ["^/a/([0-9]{1,3})/items", r"/i/\1"]),
        (["(?i)^/a/users", "/u"], ["^/a/users", "/u"]),
        ([r"\.php$", ""], [r"\.php", ""]),
        (["/a/", "/x/"], ["^/a/", "/x/"]),
        (["/+", "/"], ["//", "/"]),
        (["^/a/(.*)", r"/?u=\1"], ["^/a/(.*)", r"/?user=\1"]),
    ] {
        assert_eq!(changes(old, new), 1, "{old:?} {new:?}");
        assert_eq!(changes(old, old), 0, "{old:?}");
    }
}

#[test]
fn renamed_cluster_changes_no_request() {
    let side = |name: &str, address: &str| {
        let mut config = config(Vec::from([host("a.org", Vec::from([route("/", name, 3)]))]));
        config.clusters = Placed::list([cluster(name, address)], "/static_resources/clusters").into();
        config
    };
    let found = compared(&side("one", "x"), &side("two", "x"));
    assert!(found.is_empty() && found.compared > 0, "{found:#?}");
    let found = compared(&side("one", "x"), &side("one", "y"));
    let [change] = found.changes.as_slice() else { panic!("{found:#?}") };
    assert_eq!((change.differences[0].before.as_deref(), change.differences[0].after.as_deref()), (Some("x:80"), Some("y:80")));
    // Settings of the reached cluster are compared too.
    let mut slow = side("one", "x");
    slow.clusters.all_mut()[0].message.connect_timeout = Some(pb::Duration { seconds: 7, nanos: 0 });
    let found = compared(&side("one", "x"), &slow);
    assert_eq!(found.changes[0].differences[0].what, "cluster.connect_timeout");
}

#[test]
fn listener_settings_are_reported_once() {
    let side = |merge: bool| {
        let mut config = config(Vec::from([host("a.org", Vec::from([route("/", "one", 3)]))]));
        let table = config.connection_managers().next().and_then(|(_, manager)| manager.route_specifier.clone());
        let manager = HttpConnectionManager { route_specifier: table, merge_slashes: merge, ..HttpConnectionManager::default() };
        let filter = &mut config.listeners[0].message.filter_chains[0].filters[0];
        filter.config_type = Some(pb::listener::filter::ConfigType::TypedConfig(pb::Any::pack(manager)));
        config
    };
    let found = compared(&side(false), &side(true));
    let [change] = found.changes.as_slice() else { panic!("{found:#?}") };
    assert_eq!((change.requests.as_str(), change.differences[0].what.as_str()), ("all on port 8080", "http_connection_manager.merge_slashes"));
}

#[test]
fn a_removed_listener_is_reported_once() {
    let old = config(Vec::from([host("a.org", Vec::from([route("/", "one", 3)])), host("b.org", Vec::new())]));
    let new = EnvoyConfig { clusters: old.clusters.clone(), ..EnvoyConfig::default() };
    let found = compared(&old, &new);
    let [change] = found.changes.as_slice() else { panic!("{found:#?}") };
    assert_eq!((change.requests.as_str(), change.after.summary.as_str()), ("all on port 8080", "finds no listener"));
}

/// Returns a route that matches a percentage of the requests.
fn share(cluster: &str, percent: u32) -> Route {
    let mut route = route("/", cluster, 3);
    if let Some(matcher) = &mut route.r#match {
        let value = pb::kind::FractionalPercent { numerator: percent, ..Default::default() };
        matcher.runtime_fraction = Some(pb::base::RuntimeFractionalPercent { default_value: Some(value), ..Default::default() });
    }
    route
}

fn weighted(shares: &[(&str, u32)]) -> Route {
    use pb::route::weighted_cluster::ClusterWeight;
    let clusters = shares.iter().map(|(name, weight)| ClusterWeight { name: (*name).to_owned(), weight: Some(*weight), ..ClusterWeight::default() });
    let clusters = pb::route::WeightedCluster { clusters: clusters.collect(), ..Default::default() };
    let mut route = route("/", "", 3);
    if let Some(Action::Route(action)) = &mut route.action {
        action.cluster_specifier = Some(pb::route::route_action::ClusterSpecifier::WeightedClusters(clusters));
    }
    route
}

#[test]
fn shares_are_equal_in_any_notation() {
    let side = |routes: Vec<Route>| config(Vec::from([host("a.org", routes)]));
    let by_routes = side(Vec::from([share("two", 10), route("/", "one", 3)]));
    let found = compared(&by_routes, &side(Vec::from([weighted(&[("one", 90), ("two", 10)])])));
    assert!(found.is_empty() && found.compared > 0, "{found:#?}");
    let found = compared(&by_routes, &side(Vec::from([share("two", 25), route("/", "one", 3)])));
    let [change] = found.changes.as_slice() else { panic!("{found:#?}") };
    let reported: Vec<_> = change.differences.iter().map(|of| (of.what.as_str(), of.before.as_deref(), of.after.as_deref())).collect();
    assert_eq!(reported, [("clusters", Some("90% one:80, 10% two:80"), Some("75% one:80, 25% two:80"))]);
}

#[test]
fn headers_of_route_and_only_share_are_equal() {
    let header = |value: &str| {
        let header = pb::base::HeaderValue { key: "x-a".to_owned(), value: value.to_owned(), ..Default::default() };
        Vec::from([pb::base::HeaderValueOption { header: Some(header), ..Default::default() }])
    };
    let of_route = Route { request_headers_to_add: header("1"), ..route("/", "one", 3) };
    let of_share = |value: &str| {
        let mut route = weighted(&[("one", 1)]);
        if let Some(Action::Route(action)) = &mut route.action
            && let Some(pb::route::route_action::ClusterSpecifier::WeightedClusters(all)) = &mut action.cluster_specifier
        {
            all.clusters.iter_mut().for_each(|share| share.request_headers_to_add = header(value));
        }
        route
    };
    let side = |route: Route| config(Vec::from([host("a.org", Vec::from([route]))]));
    let found = compared(&side(of_route.clone()), &side(of_share("1")));
    assert!(found.is_empty() && found.compared > 0, "{found:#?}");
    let found = compared(&side(of_route), &side(of_share("2")));
    let [change] = found.changes.as_slice() else { panic!("{found:#?}") };
    let reported: Vec<_> = change.differences.iter().map(|of| (of.what.as_str(), of.before.as_deref(), of.after.as_deref())).collect();
    assert_eq!(reported, [("request header x-a", Some("1"), Some("2"))]);
    let found = compared(&side(of_share("1")), &side(Route { request_headers_to_remove: Vec::from(["X-A".to_owned()]), ..of_share("1") }));
    assert!(!found.is_empty(), "the route removes a header that its share adds");
}

#[test]
fn a_new_host_is_reported_with_its_destination() {
    let old = config(Vec::from([host("a.org", Vec::from([route("/", "one", 3)]))]));
    let gone = pb::route::DirectResponseAction { status: 404, ..Default::default() };
    let answers = Route { action: Some(Action::DirectResponse(gone.into())), ..route("/check/", "one", 3) };
    let new = config(Vec::from([host("a.org", Vec::from([route("/", "one", 3)])), host("b.org", Vec::from([answers, route("/pay/", "two", 3)]))]));
    let found = compared(&old, &new);
    let [change] = found.changes.as_slice() else { panic!("{found:#?}") };
    assert_eq!(
        (change.requests.as_str(), change.after.summary.as_str()),
        ("b.org/*, if a route matches", "goes to two:80"),
        "and not by Envoy's own answer"
    );
    assert_eq!(change.witness.url, "http://b.org/pay/");
}

#[test]
fn comparison_without_listeners_reports_a_limit() {
    let of = |address: &str| EnvoyConfig {
        listeners: Vec::new(),
        clusters: Placed::list([cluster("c", address)], "/static_resources/clusters").into(),
        ..config(Vec::new())
    };
    let found = compared(&of("10.0.0.1"), &of("10.0.0.2"));
    assert!(!found.complete && found.compared == 0, "{found:?}");
    assert_eq!(found.limits, ["Neither side has a listener for users' requests, so none could be tried."]);
    assert!(compared(&of("10.0.0.1"), &of("10.0.0.1")).complete);
}

#[test]
fn connection_failures_are_distinct_outcomes() {
    let plain = config(Vec::from([host("a.org", Vec::from([route("/", "one", 3)]))]));
    // A chain that only TLS connections match: in cleartext no chain matches.
    let mut closed = plain.clone();
    let chain = &mut closed.listeners[0].message.filter_chains[0];
    chain.filter_chain_match = Some(pb::listener::FilterChainMatch { transport_protocol: "tls".to_owned(), ..Default::default() });
    chain.filters.clear();
    let deaf = EnvoyConfig { clusters: plain.clusters.clone(), ..EnvoyConfig::default() };
    for (old, new) in [(&plain, &closed), (&closed, &deaf), (&deaf, &plain)] {
        assert!(!compared(old, new).is_empty());
        assert!(!compared(new, old).is_empty());
    }
}

#[test]
fn change_in_aggregate_member_is_reported() {
    use pb::cluster::cluster::{ClusterDiscoveryType, CustomClusterType};
    let with_failover = |config: EnvoyConfig, seconds: i64| {
        let names = ["two", "three"].map(ToOwned::to_owned).to_vec();
        let all = pb::aggregate::ClusterConfig { clusters: names };
        let kind = CustomClusterType { name: "envoy.clusters.aggregate".to_owned(), typed_config: Some(pb::Any::pack(all)) };
        let aggregate = pb::cluster::Cluster {
            name: "all".to_owned(),
            cluster_discovery_type: Some(ClusterDiscoveryType::ClusterType(kind)),
            ..pb::cluster::Cluster::default()
        };
        let last = pb::cluster::Cluster { connect_timeout: Some(pb::Duration { seconds, nanos: 0 }), ..cluster("three", "three") };
        let clusters = [cluster("two", "two"), last, aggregate];
        EnvoyConfig { clusters: Placed::list(clusters, "/static_resources/clusters").into(), ..config }
    };
    let side = |seconds| with_failover(config(Vec::from([host("*", Vec::from([route("/", "all", 1)]))])), seconds);
    assert!(compared(&side(1), &side(1)).is_empty());
    let found = compared(&side(1), &side(2));
    let what: Vec<&str> = found.changes.iter().flat_map(|change| &change.differences).map(|of| of.what.as_str()).collect();
    assert_eq!(what, ["cluster.clusters[1].connect_timeout"]);
}

#[test]
fn removed_virtual_host_keeps_its_host_name() {
    let of_host = |path: &str| {
        let mut route = route(path, "one", 3);
        if let Some(matcher) = &mut route.r#match {
            let text = pb::matcher::StringMatcher {
                match_pattern: Some(pb::matcher::string_matcher::MatchPattern::Exact("a.org".to_owned())),
                ..Default::default()
            };
            let specifier = pb::route::header_matcher::HeaderMatchSpecifier::StringMatch(text);
            matcher.headers.push(HeaderMatcher { name: ":authority".to_owned(), header_match_specifier: Some(specifier), ..Default::default() });
        }
        route
    };
    let elsewhere = Route { action: Some(Action::Redirect(pb::route::RedirectAction::default().into())), ..of_host("/") };
    let old = config(Vec::from([host("a.org", Vec::from([route("/check/", "two", 3), elsewhere]))]));
    let new = config(Vec::from([host("*", Vec::from([route("/check/", "two", 3), of_host("/")]))]));
    let found = compared(&old, &new);
    let mut reported: Vec<(&str, &str)> = found.changes.iter().map(|change| (change.requests.as_str(), change.witness.url.as_str())).collect();
    reported.sort_unstable();
    assert_eq!(reported, [("*/check/*", "http://elsewhere.invalid/check/"), ("a.org/*", "http://a.org/")], "{found:#?}");
}

#[test]
fn idle_filter_changes_only_hosts_using_it() {
    use pb::hcm::{HttpFilter, http_filter::ConfigType};
    use pb::http_filter::rbac::v3::{Rbac, RbacPerRoute};
    let rules = || Rbac { rules: Some(pb::rbac::Rbac::default()), ..Rbac::default() };
    let side = |filter: Option<(Rbac, bool)>, of_host: Option<Rbac>| {
        let mut used = host("a.org", Vec::from([route("/", "one", 3)]));
        let of_host = of_host.map(|rbac| ("rbac".to_owned(), pb::Any::pack(RbacPerRoute { rbac: Some(rbac) })));
        used.typed_per_filter_config = of_host.into_iter().collect();
        let mut config = config(Vec::from([used, host("b.org", Vec::from([route("/", "two", 3)]))]));
        let table = config.connection_managers().next().and_then(|(_, manager)| manager.route_specifier.clone());
        let router = HttpFilter { name: "envoy.filters.http.router".to_owned(), ..HttpFilter::default() };
        let filters = filter.map(|(rbac, disabled)| HttpFilter {
            name: "rbac".to_owned(),
            config_type: Some(ConfigType::TypedConfig(pb::Any::pack(rbac))),
            disabled,
            ..HttpFilter::default()
        });
        let manager = HttpConnectionManager {
            route_specifier: table,
            http_filters: filters.into_iter().chain([router]).collect(),
            ..HttpConnectionManager::default()
        };
        let filter = &mut config.listeners[0].message.filter_chains[0].filters[0];
        filter.config_type = Some(pb::listener::filter::ConfigType::TypedConfig(pb::Any::pack(manager)));
        config
    };
    let changed = |old: &EnvoyConfig, new: &EnvoyConfig| compared(old, new).changes.into_iter().map(|of| of.requests).collect::<Vec<_>>();
    let none: [&str; 0] = [];
    for idle in [(Rbac::default(), false), (rules(), true)] {
        assert_eq!(changed(&side(None, None), &side(Some(idle.clone()), None)), none, "no route uses the filter");
        assert_eq!(changed(&side(None, Some(rules())), &side(Some(idle), Some(rules()))), ["a.org/*"]);
    }
    assert_eq!(changed(&side(None, None), &side(Some((rules(), false)), None)), ["all on port 8080"]);
}
