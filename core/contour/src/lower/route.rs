//! Lowers route tables, virtual hosts and routes (Contour `internal/envoy/v3/route.go`). Does not order routes; see `order`.

use super::filter::{CORS, EXT_AUTHZ, JWT, LOCAL_RATE_LIMIT, LUA, RATE_LIMIT, RBAC};
use super::matching::{regex, string_match};
use super::memory::Lowered;
use super::order::{Ordered, ordered};
use super::{Lowering, name, policy, timeout};
use crate::model::{self, Cluster, HeaderCondition, HeadersPolicy, MatchType, PathCondition, PathRewrite, QueryCondition, RetryPolicy, VirtualHost};
use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::ir::{
    AppendAction, DirectResponse, Forward, HashBy, HeaderMatch, HeaderMutations, HeaderName, HeaderToAdd, HostRateLimits, HostRewrite,
    InternalRedirect, Json, MirrorPolicy, PathMatch, PerFilter, QueryMatch, Redirect, RedirectCode, RedirectPath, RegexRewrite, Route, RouteAction,
    RouteConfiguration, RouteMatch, StatusCode, StringMatch, UpstreamClusters, WeightedCluster,
};
use chancery_base::resource::{Also, Origin, Rule, Sourced};
use chancery_text::Str;

impl Lowering<'_> {
    /// A table of these hosts.
    pub(super) fn table(&self, name: Str, hosts: impl IntoIterator<Item = chancery_base::ir::VirtualHost>) -> RouteConfiguration {
        let started = HeaderToAdd {
            name: const { HeaderName::fixed("x-request-start") },
            value: "t=%START_TIME(%s.%3f)%".into(),
            action: AppendAction::Append,
        };
        let mut virtual_hosts: Vec<chancery_base::ir::VirtualHost> = hosts.into_iter().collect();
        virtual_hosts.sort_by(|a, b| a.name.cmp(&b.name));
        RouteConfiguration {
            name,
            virtual_hosts,
            ignore_port_in_host: true,
            request_headers: HeaderMutations { add: vec![Sourced::built_in(started)], remove: Vec::new() },
            absent: false,
        }
    }

    pub(super) fn virtual_host(&mut self, host: &VirtualHost, secure: bool) -> chancery_base::ir::VirtualHost {
        let mut per_filter = Vec::new();
        if let Some(cors) = &host.cors {
            per_filter.push((CORS.into(), Sourced::new(policy::cors(cors), cors.origin)));
        }
        let limits = host.rate_limit.as_ref();
        if let Some(local) = limits.and_then(|limits| limits.local.as_ref()) {
            per_filter.push((LOCAL_RATE_LIMIT.into(), Sourced::new(self.local_rate_limit(local, &host.name.value), local.origin)));
        }
        if let Some(filter) = host.ip_filter.as_ref().filter(|filter| !filter.rules.is_empty()) {
            per_filter.push((RBAC.into(), policy::ip_filter(filter)));
        }
        chancery_base::ir::VirtualHost {
            name: name::virtual_host(&host.name.value),
            domains: vec![host.name.clone()],
            routes: self.routes(host, secure),
            per_filter,
            rate_limits: limits.and_then(|limits| limits.global.as_ref()).map(|limits| self.rate_limits(limits)).unwrap_or_default(),
            origins: host.origins.clone(),
            ..chancery_base::ir::VirtualHost::default()
        }
    }

    /// The routes of a host in Envoy's order. Unchanged routes keep their values.
    fn routes(&mut self, host: &VirtualHost, secure: bool) -> Arc<Vec<Arc<Route>>> {
        let name = &host.name.value;
        let before = match self.memory.host(host, secure) {
            Ok(known) => return known,
            Err(before) => before,
        };
        let mut lowered = Vec::with_capacity(host.routes.len());
        let mut made = Lowered::new(host);
        for of in ordered(host.routes.iter()) {
            let known = before.as_ref().and_then(|before| before.route(of.route));
            let (before, is_known) = (self.findings.reports(), known.is_some());
            let Some(route) = known.or_else(|| self.route(&of, name, secure).map(Arc::new)) else { continue };
            if is_known || self.findings.reports() == before {
                made.add(of.route, &route);
            }
            lowered.push(route);
        }
        let lowered = Arc::new(lowered);
        self.memory.keep_host(host, secure, made, &lowered);
        lowered
    }

    /// `None` if Envoy cannot match its conditions.
    fn route(&mut self, of: &Ordered<'_>, host: &str, secure: bool) -> Option<Route> {
        let route = &**of.route;
        let mut out = Route { matcher: self.route_match(of)?, metadata: metadata(route), origins: route.origins.clone(), ..Route::default() };
        let disabled = |origin: Option<Origin>| (EXT_AUTHZ.into(), Sourced::new(PerFilter::ExtAuthzDisabled, origin));
        if let Some(upgrade) = route.https_upgrade.as_ref().filter(|_| !secure) {
            let redirect = Redirect { https: Some(Sourced::new(true, upgrade.origin)), ..Redirect::default() };
            out.action = RouteAction::Redirect(Box::new(redirect));
            // Redirected requests need no authorization.
            out.per_filter.push(disabled(upgrade.origin));
        } else if let Some(response) = &route.direct_response {
            out.per_filter.extend(authorization(route));
            let body = Some(response.body.clone()).filter(|body| !body.value.is_empty());
            out.action = RouteAction::Respond(DirectResponse { status: self.status(response.status)?, body });
        } else if let Some(to) = &route.redirect {
            out.action = RouteAction::Redirect(Box::new(self.redirect(to)));
        } else {
            out.action = RouteAction::Forward(Arc::new(self.forward(route)));
            out.request_headers = self.mutations(route.request_headers.as_ref());
            out.response_headers = self.mutations(route.response_headers.as_ref());
            out.per_filter = self.per_filter(route, host);
        }
        Some(out)
    }

    fn forward(&mut self, route: &model::Route) -> Forward {
        let headers = route.request_headers.as_ref();
        let literal = headers.and_then(|headers| headers.host_rewrite.as_ref()).filter(|host| !host.value.is_empty());
        let by_header = headers.and_then(|headers| headers.host_rewrite_header.as_ref()).filter(|header| !header.value.is_empty());
        let by_header =
            by_header.and_then(|header| Some(Sourced::new(HostRewrite::Header(self.header_name(&header.value, header.origin)?), header.origin)));
        let host_rewrite = literal.map(|host| host.clone().map(HostRewrite::Literal));
        let global = route.rate_limit.as_ref().and_then(|limits| limits.global.as_ref());
        Forward {
            clusters: self.upstreams(route),
            timeout: timeout(&route.timeouts.response),
            idle_timeout: timeout(&route.timeouts.idle_stream),
            path_rewrite: route.rewrite.as_ref().and_then(path_rewrite),
            host_rewrite: host_rewrite.or(by_header),
            hash_policies: route
                .hash_policies
                .iter()
                .map(|of| Sourced::new(HashBy { policy: of.value.0.clone(), terminal: of.value.1 }, of.origin))
                .collect(),
            retry: route.retry.as_ref().filter(|retry| !retry.retry_on.value.is_empty()).map(retry),
            mirrors: route.mirrors.iter().map(mirror).collect(),
            rate_limits: global.map(|limits| self.rate_limits(limits)).unwrap_or_default(),
            upgrades: route.websocket.as_ref().map(|on| Sourced::new("websocket".into(), on.origin)).into_iter().collect(),
            internal_redirect: route.internal_redirect.as_ref().map(|of| Sourced::new(Box::new(internal_redirect(of)), of.origin)),
            ..Forward::default()
        }
    }

    fn upstreams(&mut self, route: &model::Route) -> UpstreamClusters {
        if let Some(one) = simple(route) {
            return UpstreamClusters::One(cluster_name(one));
        }
        let unweighted = route.clusters.iter().all(|cluster| cluster.weight.value == 0);
        let mut clusters: Vec<WeightedCluster> = Vec::new();
        for cluster in &route.clusters {
            let rewrite = cluster.request_headers.as_ref().and_then(|headers| headers.host_rewrite.clone());
            clusters.push(WeightedCluster {
                name: cluster_name(cluster),
                weight_also: Also::default(),
                weight: if unweighted { cluster.weight.map(|_| 1) } else { cluster.weight },
                request_headers: self.mutations(cluster.request_headers.as_ref()),
                response_headers: self.mutations(cluster.response_headers.as_ref()),
                host_rewrite: rewrite.filter(|host| !host.value.is_empty()),
                per_filter: policy::cookies(&route.cookies, &cluster.cookies).map(|of| (LUA.into(), of)).into_iter().collect(),
            });
        }
        clusters.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.weight.cmp(&b.weight)));
        UpstreamClusters::Weighted(clusters)
    }

    /// First the set headers, then the added ones, each sorted by name.
    fn mutations(&mut self, of: Option<&HeadersPolicy>) -> HeaderMutations {
        let Some(of) = of else { return HeaderMutations::default() };
        let mut add = Vec::new();
        for (headers, action) in [(&of.set, AppendAction::Overwrite), (&of.add, AppendAction::Append)] {
            for (name, value) in headers {
                if !is_modifiable(name) {
                    self.refuse(format!("the header `{name}` cannot be set or added"), value.origin);
                    continue;
                }
                let Some(name) = self.header_name(name, value.origin) else { continue };
                add.push(Sourced::new(HeaderToAdd { name, value: value.value.clone(), action }, value.origin));
            }
        }
        let mut remove = Vec::new();
        for name in &of.remove {
            if !is_modifiable(name) {
                self.refuse(format!("the header `{}` cannot be removed", name.value), name.origin);
                continue;
            }
            remove.extend(self.header_name(&name.value, name.origin).map(|header| Sourced::new(header, name.origin)));
        }
        HeaderMutations { add, remove }
    }

    fn route_match(&mut self, of: &Ordered<'_>) -> Option<RouteMatch> {
        let path = &of.route.conditions.path;
        let matcher = match &path.value {
            PathCondition::Prefix(prefix) => PathMatch::Prefix(prefix.clone()),
            PathCondition::Segment(prefix) => PathMatch::PathSeparatedPrefix(prefix.trim_end_matches('/').into()),
            PathCondition::Exact(path) => PathMatch::Exact(path.clone()),
            PathCondition::Regex(expression) => PathMatch::Regex(regex(format!("^{expression}").into())),
        };
        let headers = of.headers.iter().map(|header| Some(Sourced::new(self.header_match(header)?, header.origin.origin)));
        let headers = headers.collect::<Option<Vec<_>>>()?;
        Some(RouteMatch {
            path: Sourced::new(matcher, path.origin),
            path_also: of.route.conditions.path_also.clone(),
            headers,
            query: of.queries.iter().map(|query| Sourced::new(query_match(query), query.origin.origin)).collect(),
            ..RouteMatch::default()
        })
    }

    pub(super) fn header_match(&mut self, of: &HeaderCondition) -> Option<HeaderMatch> {
        Some(HeaderMatch {
            name: self.header_name(&of.name, of.origin.origin)?,
            value: string_match(of.match_type, &of.value),
            invert: of.invert,
            ignore_case: of.ignore_case && matches!(of.match_type, MatchType::Exact | MatchType::Contains),
            missing_as_empty: of.invert && of.missing_as_empty,
        })
    }

    fn per_filter(&mut self, route: &model::Route, host: &str) -> Vec<(Str, Sourced<PerFilter>)> {
        let mut out: Vec<(Str, Sourced<PerFilter>)> = Vec::new();
        if let Some(local) = route.rate_limit.as_ref().and_then(|limits| limits.local.as_ref()) {
            out.push((LOCAL_RATE_LIMIT.into(), Sourced::new(self.local_rate_limit(local, host), local.origin)));
        }
        if let Some(ignore) = &route.ignore_host_rate_limits {
            out.push((RATE_LIMIT.into(), Sourced::new(PerFilter::HostRateLimits(HostRateLimits::Ignore), ignore.origin)));
        }
        out.extend(authorization(route));
        if let Some(provider) = &route.jwt_provider {
            out.push((JWT.into(), Sourced::new(PerFilter::Jwt(provider.value.clone()), provider.origin)));
        }
        if let Some(filter) = route.ip_filter.as_ref().filter(|filter| !filter.rules.is_empty()) {
            out.push((RBAC.into(), policy::ip_filter(filter)));
        }
        out
    }

    fn redirect(&mut self, of: &Sourced<model::Redirect>) -> Redirect {
        let text = |text: &Sourced<Str>| Some(text.clone()).filter(|text| !text.value.is_empty());
        let path = |rewrite: &Sourced<PathRewrite>| {
            let path = match &rewrite.value {
                PathRewrite::Full(path) if !path.is_empty() => RedirectPath::Full(path.clone()),
                PathRewrite::Prefix(prefix) if !prefix.is_empty() => RedirectPath::Prefix(prefix.clone()),
                PathRewrite::RemovePrefixRegex(expression, also) if !expression.is_empty() => RedirectPath::Regex(slash_for(expression, also)),
                PathRewrite::Full(_) | PathRewrite::Prefix(_) | PathRewrite::RemovePrefixRegex(..) => return None,
            };
            Some(Sourced::new(path, rewrite.origin))
        };
        let code = match of.status.value {
            301 => Some(RedirectCode::MovedPermanently),
            302 => Some(RedirectCode::Found),
            303 => Some(RedirectCode::SeeOther),
            307 => Some(RedirectCode::TemporaryRedirect),
            308 => Some(RedirectCode::PermanentRedirect),
            _ => None,
        };
        Redirect {
            https: None,
            scheme: text(&of.scheme),
            port: Some(of.port).filter(|port| port.value > 0).and_then(|port| self.port(port)),
            host: text(&of.hostname),
            path: of.path.as_ref().and_then(path),
            code: code.map(|code| Sourced::new(code, of.status.origin)),
        }
    }

    /// The status, if valid.
    pub(super) fn status(&mut self, status: Sourced<u32>) -> Option<Sourced<StatusCode>> {
        let code = StatusCode::new(status.value);
        if code.is_none() {
            self.refuse(format!("there is no status {}: statuses are from 100 to 599", status.value), status.origin);
        }
        Some(Sourced::new(code?, status.origin))
    }
}

/// Whether Envoy lets a header be changed.
fn is_modifiable(name: &str) -> bool {
    !name.is_empty() && !name.starts_with(':') && !name.eq_ignore_ascii_case("host")
}

fn cluster_name(cluster: &Cluster) -> Sourced<Str> {
    Sourced::new(name::cluster(cluster), cluster.origins.first().copied())
}

/// The only cluster of a route, if a name alone describes it.
fn simple(route: &model::Route) -> Option<&Arc<Cluster>> {
    let [one] = &route.clusters[..] else { return None };
    let says = |headers: &HeadersPolicy| !headers.set.is_empty() || !headers.remove.is_empty();
    let of_requests = |headers: &HeadersPolicy| {
        let rewrites = headers.host_rewrite.as_ref().is_some_and(|host| !host.value.is_empty());
        says(headers) || !headers.add.is_empty() || rewrites
    };
    let plain = route.cookies.is_empty()
        && one.cookies.is_empty()
        && !one.request_headers.as_ref().is_some_and(of_requests)
        && !one.response_headers.as_ref().is_some_and(says);
    plain.then_some(one)
}

fn query_match(of: &QueryCondition) -> QueryMatch {
    let value = string_match(of.match_type, &of.value);
    let ignore_case = of.ignore_case && !matches!(value, StringMatch::Present);
    QueryMatch { name: of.name.clone(), value, ignore_case }
}

/// For access logs: which object the route comes from.
fn metadata(route: &model::Route) -> Vec<(Str, Json)> {
    let (kind, namespace, name) = &route.source;
    let fields = [("io.projectcontour.kind", kind), ("io.projectcontour.namespace", namespace), ("io.projectcontour.name", name)];
    let fields: Vec<(Str, Json)> = fields
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(field, value)| (Str::new_static(field), Json::String(value.clone())))
        .collect();
    if fields.is_empty() { Vec::new() } else { vec![("envoy.access_loggers.file".into(), Json::Object(fields))] }
}

fn authorization(route: &model::Route) -> Option<(Str, Sourced<PerFilter>)> {
    if let Some(disabled) = &route.auth_disabled {
        return Some((EXT_AUTHZ.into(), Sourced::new(PerFilter::ExtAuthzDisabled, disabled.origin)));
    }
    let origin = route.auth_context.values().next()?.origin;
    let context = route.auth_context.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    Some((EXT_AUTHZ.into(), Sourced::new(PerFilter::ExtAuthzContext(context), origin)))
}

/// Replaces the match of an expression by a slash.
fn slash_for(expression: &Str, also: &Also) -> RegexRewrite {
    RegexRewrite { pattern: regex(expression.clone()), pattern_also: also.clone(), substitution: "/".into() }
}

fn path_rewrite(of: &Sourced<PathRewrite>) -> Option<Sourced<chancery_base::ir::PathRewrite>> {
    let rewrite = match &of.value {
        PathRewrite::Prefix(prefix) if !prefix.is_empty() => chancery_base::ir::PathRewrite::Prefix(prefix.clone()),
        PathRewrite::Full(path) if !path.is_empty() => chancery_base::ir::PathRewrite::Regex(Box::new(RegexRewrite {
            pattern: regex("^/.*$".into()),
            pattern_also: Also::default(),
            substitution: path.clone(),
        })),
        PathRewrite::RemovePrefixRegex(expression, also) if !expression.is_empty() => {
            chancery_base::ir::PathRewrite::Regex(Box::new(slash_for(expression, also)))
        }
        PathRewrite::Full(_) | PathRewrite::Prefix(_) | PathRewrite::RemovePrefixRegex(..) => return None,
    };
    Some(Sourced::new(rewrite, of.origin))
}

fn retry(of: &Sourced<RetryPolicy>) -> Sourced<Box<chancery_base::ir::RetryPolicy>> {
    let lowered = chancery_base::ir::RetryPolicy {
        retry_on: of.retry_on.clone(),
        num_retries: Some(of.num_retries),
        per_try_timeout: timeout(&of.per_try),
        status_codes: of.status_codes.clone(),
    };
    Sourced::new(Box::new(lowered), of.origin)
}

fn mirror(of: &model::Mirror) -> Sourced<MirrorPolicy> {
    let percent = of.weight.map(|weight| u32::try_from(weight).unwrap_or_default());
    let cluster = cluster_name(&of.cluster);
    let origin = cluster.origin.map(|origin| origin.by(Rule::Derived));
    Sourced::new(MirrorPolicy { cluster, percent }, origin)
}

fn internal_redirect(of: &model::InternalRedirect) -> InternalRedirect {
    let schemes = |is: bool| Some(Sourced::new(true, of.cross_scheme.origin)).filter(|_| is);
    InternalRedirect {
        max: Some(of.max).filter(|max| max.value > 0),
        codes: of.codes.clone(),
        cross_scheme: schemes(matches!(of.cross_scheme.value.as_str(), "Always" | "SafeOnly")),
        only_safe_schemes: schemes(of.cross_scheme.value == "SafeOnly"),
        not_to_previous_routes: Some(of.deny_repeated_route).filter(|deny| deny.value),
    }
}
