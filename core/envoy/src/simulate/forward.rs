//! Simulates the forwarding of a request: the cluster, and the request as the upstream receives it.
//!
//! Follows Envoy's `Filter::decodeHeaders` in `source/common/router/router.cc`. Does not choose the route (see `run`) or rewrite paths (see
//! `action`).

use super::action::{not_found_status, rewritten, seconds};
use super::describe::settings;
use super::filters::Scopes;
use super::headers::{Level, Values, mutate, mutate_each};
use super::manager::Prepared;
use super::run::Run;
use super::simulation::{HeaderChange, Outcome, Upstream};
use super::{Headers, Protocol};
use crate::emit::pb;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use pb::route::{Route, RouteAction, VirtualHost};

/// Returns the timeout that Envoy sends to the upstream, in milliseconds; `None` if it sends none. A trusted client may have set it.
///
/// Follows `FilterUtility::finalTimeout` and `setTimeoutHeaders` in `source/common/router/router.cc`. For a gRPC call with a deadline that the
/// route honours, Envoy sends none.
fn expected_timeout(action: &RouteAction, headers: &Headers) -> Option<u64> {
    let milliseconds = |of: &pb::Duration| {
        let whole = of.seconds.saturating_mul(1000).saturating_add(i64::from(of.nanos) / 1_000_000);
        u64::try_from(whole).unwrap_or_default()
    };
    let asked = |name: &str| headers.first(name).and_then(|value| value.parse::<u64>().ok());
    let has_stream_duration = action.max_stream_duration.is_some();
    if has_stream_duration && headers.first("grpc-timeout").is_some() {
        return None;
    }
    let of_route = if has_stream_duration { 0 } else { action.timeout.as_ref().map_or(15_000, milliseconds) };
    let all = asked("x-envoy-upstream-rq-timeout-ms").unwrap_or(of_route);
    let of_policy = action.retry_policy.as_ref().and_then(|policy| policy.per_try_timeout.as_ref()).map(milliseconds);
    let one = asked("x-envoy-upstream-rq-per-try-timeout-ms").or(of_policy).unwrap_or_default();
    // With hedging, the first try continues when a second one starts.
    let continues = action.hedge_policy.as_ref().is_some_and(|policy| policy.hedge_on_per_try_timeout);
    let is_shorter = one > 0 && !continues && (all == 0 || one < all);
    Some(if is_shorter { one } else { all }).filter(|expected| *expected > 0)
}

impl<'a> Run<'_, 'a> {
    pub(super) fn forward(
        &mut self,
        action: &'a RouteAction,
        route: &'a Route,
        prepared: &mut Prepared,
        scopes: &Scopes<'a>,
        matcher: &pb::route::RouteMatch,
    ) {
        use pb::route::route_action::ClusterSpecifier;
        self.out.outcome = Outcome::Forward;
        let mut weighted = None;
        match &action.cluster_specifier {
            Some(ClusterSpecifier::Cluster(name)) => self.share(Vec::from([(name.clone(), 100)])),
            Some(ClusterSpecifier::ClusterHeader(header)) => match prepared.headers.first(&header.to_ascii_lowercase()).map(ToOwned::to_owned) {
                Some(name) => self.share(Vec::from([(name, 100)])),
                None => {
                    return self
                        .answers(not_found_status(action), format!("the header {header} names the cluster, and the request does not have it"));
                }
            },
            Some(ClusterSpecifier::WeightedClusters(all)) => {
                self.share(all.clusters.iter().map(|of| (of.name.clone(), of.weight.unwrap_or_default())).collect());
                weighted = self.drawn(&all.clusters);
            }
            Some(ClusterSpecifier::ClusterSpecifierPlugin(name)) => {
                self.out.notes.push(format!("the cluster is chosen by {name}, an extension that is not simulated"));
            }
            Some(ClusterSpecifier::InlineClusterSpecifierPlugin(_)) => {
                self.out.notes.push("the cluster is chosen by an extension that is not simulated".to_owned());
            }
            None => {}
        }
        let missing = weighted.map(|of| of.name.clone()).or_else(|| self.out.clusters.first().map(|of| of.name.clone()));
        if let Some(missing) = missing.filter(|name| self.gateway.cluster(name).is_none()) {
            self.out.settings = settings(action, scopes.host.unwrap_or(&VirtualHost::default()), scopes);
            return self.answers(not_found_status(action), format!("there is no cluster {missing}"));
        }
        self.out.timeout = Some(action.timeout.as_ref().map_or_else(|| "15s".to_owned(), seconds));
        self.out.settings = scopes.host.map(|host| settings(action, host, scopes)).unwrap_or_default();
        let cluster_name = weighted.map(|of| of.name.clone()).or_else(|| self.out.clusters.first().map(|of| of.name.clone())).unwrap_or_default();
        self.upstream(action, route, weighted, prepared, scopes, matcher, &cluster_name);
        self.response_headers(scopes, weighted, prepared, &cluster_name);
    }

    /// Chooses the cluster by the random number, or by the higher weight.
    pub(super) fn drawn<'w>(
        &self,
        clusters: &'w [pb::route::weighted_cluster::ClusterWeight],
    ) -> Option<&'w pb::route::weighted_cluster::ClusterWeight> {
        let total: u64 = clusters.iter().map(|of| u64::from(of.weight.unwrap_or_default())).sum();
        if let (Some(seed), true) = (self.request.seed, total > 0) {
            let mut left = seed % total;
            for of in clusters {
                let weight = u64::from(of.weight.unwrap_or_default());
                if left < weight {
                    return Some(of);
                }
                left -= weight;
            }
        }
        let heaviest = clusters.iter().map(|of| of.weight.unwrap_or_default()).max()?;
        clusters.iter().find(|of| of.weight.unwrap_or_default() == heaviest)
    }

    #[expect(clippy::too_many_arguments, reason = "each is a level that has a say")]
    fn upstream(
        &mut self,
        action: &RouteAction,
        route: &'a Route,
        weighted: Option<&pb::route::weighted_cluster::ClusterWeight>,
        prepared: &mut Prepared,
        scopes: &Scopes<'a>,
        matcher: &pb::route::RouteMatch,
        cluster_name: &str,
    ) {
        let mut levels: Vec<Level<'_>> = Vec::new();
        if let Some(of) = weighted {
            levels.push(Level { name: "cluster", add: &of.request_headers_to_add, remove: &of.request_headers_to_remove });
        }
        let mut outer = Vec::from([Level { name: "route", add: &route.request_headers_to_add, remove: &route.request_headers_to_remove }]);
        outer.extend(scopes.host.map(|of| Level { name: "virtual_host", add: &of.request_headers_to_add, remove: &of.request_headers_to_remove }));
        outer.extend(scopes.table.map(|of| Level {
            name: "route_configuration",
            add: &of.request_headers_to_add,
            remove: &of.request_headers_to_remove,
        }));
        if scopes.table.is_some_and(|table| table.most_specific_header_mutations_wins) {
            outer.reverse();
        }
        levels.extend(outer);
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        let mut record = |changes: Vec<HeaderChange>| {
            for change in changes {
                if change.value.is_none() {
                    removed.push(change.name);
                } else {
                    added.push(change);
                }
            }
        };
        let mut headers = prepared.headers.clone();
        record(mutate_each(&mut headers, &prepared.by_filters[0], "filter", &self.values(prepared, &prepared.headers, cluster_name, route), false));
        prepared.headers = headers;
        for level in &levels {
            let mut headers = core::mem::take(&mut prepared.headers);
            // Values of a level do not see the headers that the level removes.
            let mut before = headers.clone();
            for name in level.remove {
                before.remove(&name.to_ascii_lowercase());
            }
            let changes = mutate(&mut headers, level, &self.values(prepared, &before, cluster_name, route), false);
            prepared.headers = headers;
            record(changes);
        }
        let by = |name: &str, value: String| HeaderChange { name: name.to_owned(), value: Some(value), action: "set", level: "envoy" };
        let mut by_envoy = prepared.by_envoy.clone();
        let authority = self.host_rewrite(action, weighted, prepared);
        if authority.is_some() {
            // Envoy does not add this header for the host rewrite of a weighted cluster.
            let of_share = weighted.is_some_and(|of| of.host_rewrite_specifier.is_some());
            if !prepared.suppresses_envoy_headers && !of_share {
                by_envoy.push(by("x-envoy-original-host", prepared.authority.clone()));
            }
            if action.append_x_forwarded_host {
                by_envoy.push(by("x-forwarded-host", prepared.authority.clone()));
            }
        }
        if let Some(expected) = expected_timeout(action, &prepared.headers).filter(|_| !prepared.suppresses_envoy_headers) {
            by_envoy.push(by("x-envoy-expected-rq-timeout-ms", expected.to_string()));
        }
        if scopes.host.is_some_and(|host| host.include_request_attempt_count) {
            by_envoy.push(by("x-envoy-attempt-count", "1".to_owned()));
        }
        let path = rewritten(matcher, action, &prepared.path, &mut self.out.notes);
        if path.is_some() && !prepared.suppresses_envoy_headers {
            by_envoy.push(by("x-envoy-original-path", prepared.path.clone()));
        }
        // Configured headers replace headers that Envoy has set.
        by_envoy.retain(|change| !added.iter().any(|own| own.action == "set" && own.name == change.name));
        // A filter or the configuration may have removed headers that the manager set.
        let of_router = |name: &str| {
            name.starts_with("x-envoy-original") || matches!(name, "x-forwarded-host" | "x-envoy-expected-rq-timeout-ms" | "x-envoy-attempt-count")
        };
        let is_removed = |name: &str| levels.iter().flat_map(|level| level.remove).any(|removed| removed.eq_ignore_ascii_case(name));
        by_envoy.retain(|change| {
            change.value.is_none()
                || prepared.headers.first(&change.name).is_some()
                || of_router(&change.name) && (change.name.starts_with("x-envoy-original") || !is_removed(&change.name))
        });
        self.out.upstream = Some(Upstream {
            method: self.request.method.clone(),
            authority: authority.unwrap_or_else(|| prepared.authority.clone()),
            path: path.unwrap_or_else(|| prepared.path.clone()),
            headers_added: added,
            headers_removed: removed,
            headers_by_envoy: by_envoy,
        });
    }

    fn values<'v>(&'v self, prepared: &'v Prepared, headers: &'v Headers, cluster: &'v str, route: &'v Route) -> Values<'v> {
        Values {
            start: prepared.start(&self.request.method),
            request: headers,
            source: prepared.client.map(|client| client.to_string()),
            server_name: self.request.sni.as_deref().filter(|_| self.request.tls),
            protocol: match self.request.protocol {
                Protocol::Http1 => "HTTP/1.1",
                Protocol::Http2 => "HTTP/2",
            },
            peer: prepared.peer,
            cluster,
            route: &route.name,
        }
    }

    fn host_rewrite(
        &mut self,
        action: &RouteAction,
        weighted: Option<&pb::route::weighted_cluster::ClusterWeight>,
        prepared: &Prepared,
    ) -> Option<String> {
        use pb::route::route_action::HostRewriteSpecifier as By;
        use pb::route::weighted_cluster::cluster_weight::HostRewriteSpecifier as OfCluster;
        if let Some(OfCluster::HostRewriteLiteral(host)) = weighted.and_then(|of| of.host_rewrite_specifier.as_ref()) {
            return Some(host.clone());
        }
        match action.host_rewrite_specifier.as_ref()? {
            By::HostRewriteLiteral(host) => Some(host.clone()).filter(|host| !host.is_empty()),
            By::HostRewriteHeader(header) => {
                prepared.headers.first(&header.to_ascii_lowercase()).map(ToOwned::to_owned).filter(|host| !host.is_empty())
            }
            By::AutoHostRewrite(true) => {
                self.out.notes.push("auto_host_rewrite sends the name of the chosen endpoint as host, if it has one".to_owned());
                let one = self.out.upstream_clusters.first().filter(|of| of.discovery.ends_with("DNS")).map(|of| &of.endpoints[..]);
                match one {
                    Some([one]) => Some(super::request::host_of(one).to_owned()),
                    _ => None,
                }
            }
            By::AutoHostRewrite(false) => None,
            _ => {
                self.out.notes.push("the host is rewritten by an expression, which is not simulated".to_owned());
                None
            }
        }
    }

    pub(super) fn response_headers(
        &mut self,
        scopes: &Scopes<'a>,
        weighted: Option<&pb::route::weighted_cluster::ClusterWeight>,
        prepared: &Prepared,
        cluster: &str,
    ) {
        let mut levels: Vec<Level<'_>> = Vec::new();
        levels.extend(weighted.map(|of| Level { name: "cluster", add: &of.response_headers_to_add, remove: &of.response_headers_to_remove }));
        levels.extend(scopes.route.map(|of| Level { name: "route", add: &of.response_headers_to_add, remove: &of.response_headers_to_remove }));
        levels.extend(scopes.host.map(|of| Level { name: "virtual_host", add: &of.response_headers_to_add, remove: &of.response_headers_to_remove }));
        levels.extend(scopes.table.map(|of| Level {
            name: "route_configuration",
            add: &of.response_headers_to_add,
            remove: &of.response_headers_to_remove,
        }));
        let none = Route::default();
        let mut response = super::Headers::default();
        let mut changes = Vec::new();
        for level in &levels {
            changes.extend(mutate(&mut response, level, &self.values(prepared, &prepared.headers, cluster, scopes.route.unwrap_or(&none)), true));
        }
        let values = self.values(prepared, &prepared.headers, cluster, scopes.route.unwrap_or(&none));
        changes.extend(mutate_each(&mut response, &prepared.by_filters[1], "filter", &values, true));
        self.out.response_headers = changes;
    }
}
