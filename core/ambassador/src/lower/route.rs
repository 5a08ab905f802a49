//! Lowers routes: one per member of a group, in variants for secure and insecure requests.
//!
//! Source of the behaviour: Emissary `python/ambassador/envoy/v3/v3route.py`, `v3ratelimitaction.py`.

use super::memory::{CachedGroup, Hosts};
use super::variant::{HostRoutes, Variants};
use super::{Lowering, Memory};
use crate::duration;
use crate::model::group::{Group, GroupKind, HttpGroup, Member};
use crate::model::health_check::added_header;
use crate::model::mapping::{KeyValue, LbHash};
use crate::model::{Host, HttpMapping, Identity};
use crate::spec::{self, TextOrList};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::diagnostic::{DistinctFindings, Findings, Reported, codes};
use chancery_base::executor;
use chancery_base::ir::{
    Cors, Forward, HashBy, HashPolicy, HeaderMatch, HeaderMutations, HeaderName, HostRewrite, MirrorPolicy, PathMatch, PathRewrite, PerFilter,
    QueryMatch, RateLimitAction, RateLimitDescriptor, Redirect, RedirectCode, RedirectPath, Regex, RegexRewrite, RetryPolicy, Route, RouteAction,
    RouteMatch, RuntimeFraction, StringMatch, UpstreamClusters,
};
use chancery_base::re2;
use chancery_base::resource::{Also, Origin, Rule, Sourced};
use chancery_base::substitution;
use chancery_text::Str;

/// The reference's routes, by the host that they belong to.
pub(super) struct Routes<'m> {
    /// In the order of the model.
    hosts: Vec<(&'m Host, Arc<HostRoutes>)>,
}

impl<'m> Routes<'m> {
    /// The routes of a host.
    pub fn of(&self, host: &'m Host) -> Option<&HostRoutes> {
        self.hosts.iter().find(|(known, _)| core::ptr::eq(*known, host)).map(|(_, routes)| &**routes)
    }
}

/// How many groups are lowered before the first of them may be dropped.
const AT_ONCE: usize = 4096;

/// The origins of the first members' prefixes.
fn prefixes_of(http: &HttpGroup) -> impl Iterator<Item = Origin> {
    http.mappings.iter().take(Also::MOST_OF_GROUP).filter_map(|member| member.spec.prefix.as_ref()?.origin)
}

impl<'m> Lowering<'m, '_> {
    /// `taken` are the groups that were removed from the model, if any.
    pub(super) fn routes(&mut self, taken: Option<Vec<(u32, Arc<Group>)>>, memory: &mut Memory) -> Routes<'m> {
        let model = self.model;
        let hosts: Vec<_> = model.hosts.values().collect();
        let mut touched = Hosts::default();
        let mut order: Vec<u32> = Vec::new();
        let mut has_changed = |number: u32, group: &Arc<Group>| {
            order.push(number);
            let Some(slot) = memory.groups.get_mut(number as usize) else { return false };
            if let Some(known) = slot {
                if known.quiet && known.group.as_ref().is_some_and(|known| Arc::ptr_eq(known, group)) {
                    known.used = true;
                    return false;
                }
                touched.extend(&known.hosts);
            }
            true
        };
        let changed: Vec<(u32, Arc<Group>)> = match taken {
            Some(taken) => taken.into_iter().filter(|(number, group)| has_changed(*number, group)).collect(),
            None => {
                model.groups.iter().filter(|(number, group)| has_changed(*number, group)).map(|(number, group)| (number, group.clone())).collect()
            }
        };
        let mut changed = changed.into_iter();
        while !changed.as_slice().is_empty() {
            let some: Vec<(u32, Arc<Group>)> = changed.by_ref().take(AT_ONCE).collect();
            let lowered = executor::map(self.executor, &some, |(_, group)| self.lowered_group(group, &hosts));
            for ((number, _), (lowered, mut findings)) in some.iter().zip(lowered) {
                self.findings.append(&mut findings);
                touched.extend(&lowered.hosts);
                memory.groups[*number as usize] = Some(lowered);
            }
        }
        for slot in &mut memory.groups {
            if let Some(gone) = slot.take_if(|known| !core::mem::take(&mut known.used)) {
                touched.extend(&gone.hosts);
            }
        }
        let Memory { groups, hosts: lists, .. } = memory;
        let anew = lists.len() != hosts.len();
        lists.resize_with(hosts.len(), Arc::default);
        for (at, list) in lists.iter_mut().enumerate().filter(|(at, _)| anew || touched.contains(*at)) {
            let known = order.iter().filter_map(|number| groups.get(*number as usize)?.as_ref());
            let routes = known.filter(|known| known.hosts.contains(at)).flat_map(|known| &known.routes).cloned().collect();
            *list = Arc::new(HostRoutes::new(routes));
        }
        Routes { hosts: hosts.into_iter().zip(lists.iter().cloned()).collect() }
    }

    /// A single group with its findings.
    fn lowered_group(&self, group: &Arc<Group>, hosts: &[&Host]) -> (CachedGroup, Findings) {
        let mut own = Lowering { findings: DistinctFindings::default(), ..*self };
        let group_to_keep = self.remembers.then(|| group.clone());
        let mut lowered = CachedGroup { group: group_to_keep, routes: Vec::new(), hosts: Hosts::default(), quiet: false, used: true };
        if let GroupKind::Http(http) = &group.kind {
            own.group_routes(group, http, &mut lowered.routes);
            let strict = self.model.options.strict_label_selectors();
            let takers = hosts.iter().enumerate().filter(|(_, host)| !lowered.routes.is_empty() && host.takes(http, strict));
            takers.for_each(|(at, _)| lowered.hosts.insert(at));
        }
        lowered.quiet = own.findings.reports() == 0;
        (lowered, own.findings.take())
    }

    fn group_routes(&mut self, group: &Group, http: &HttpGroup, out: &mut Vec<Arc<Variants>>) {
        let has_authentication = self.model.auth.is_some();
        let mut add = |route: Result<Route, Reported>| {
            let Ok(route) = route else { return };
            out.push(Arc::new(Variants::new(route, has_authentication)));
        };
        if let Some(redirect) = http.redirect.as_ref().filter(|_| http.mappings.is_empty()) {
            add(self.redirect_route(group, http, redirect));
        }
        for mapping in &http.mappings {
            add(self.forward_route(group, http, mapping));
        }
    }

    fn redirect_route(&mut self, group: &Group, http: &HttpGroup, mapping: &Member<HttpMapping>) -> Result<Route, Reported> {
        let on = &mapping.identity;
        let spec = &mapping.spec;
        let fraction = RuntimeFraction { percent: Sourced::built_in(100), percent_also: Also::default(), runtime_key: None };
        let matcher = self.matcher(http, mapping, fraction)?;
        let path = match (&spec.path_redirect, &spec.prefix_redirect, &spec.regex_redirect) {
            (Some(path), ..) if !path.value.is_empty() => Some(path.clone().map(RedirectPath::Full)),
            (_, Some(prefix), _) if !prefix.value.is_empty() => Some(prefix.clone().map(RedirectPath::Prefix)),
            (_, _, Some(regex)) => {
                let pattern = regex.value.pattern.clone().unwrap_or_default();
                let regex_value = self.regex(&Sourced::new(pattern.value, pattern.origin.or(regex.origin)), on)?;
                let pattern = Regex { max_program_size: None, ..regex_value };
                let substitution = regex.value.substitution.clone().unwrap_or_default().value;
                Some(Sourced::new(RedirectPath::Regex(RegexRewrite { pattern, pattern_also: Also::default(), substitution }), regex.origin))
            }
            _ => None,
        };
        let code = spec.redirect_response_code.as_ref().filter(|code| code.value != 0).map(|code| {
            let value = match code.value {
                302 => RedirectCode::Found,
                303 => RedirectCode::SeeOther,
                307 => RedirectCode::TemporaryRedirect,
                308 => RedirectCode::PermanentRedirect,
                _ => RedirectCode::MovedPermanently,
            };
            Sourced::new(value, code.origin)
        });
        let redirect = Redirect { host: Some(mapping.service.clone()), path, code, ..Redirect::default() };
        Ok(Route {
            matcher,
            action: RouteAction::Redirect(Box::new(redirect)),
            per_filter: vec![("envoy.filters.http.ext_authz".into(), Sourced::built_in(PerFilter::ExtAuthzDisabled))],
            origins: on.origin.into_iter().chain(group.identity.origin.filter(|origin| Some(*origin) != on.origin)).collect(),
            ..Route::default()
        })
    }

    fn forward_route(&mut self, group: &Group, http: &HttpGroup, mapping: &Member<HttpMapping>) -> Result<Route, Reported> {
        let on = &mapping.identity;
        let cluster = self.model.envoy_name(&mapping.cluster);
        // A share is a sum, and the last one is the remainder of its group.
        let weights = http.mappings.iter().take(Also::MOST_OF_GROUP).filter_map(|member| member.spec.weight.as_ref()?.origin);
        let parts = weights.chain(prefixes_of(http)).map(|origin| origin.by(Rule::Derived));
        let percent_also = if http.mappings.len() > 1 { Also(parts.collect()) } else { Also::default() };
        let runtime_key = Some(format!("routing.traffic_shift.{cluster}").into());
        let fraction = RuntimeFraction { percent: mapping.share, percent_also, runtime_key };
        let matcher = self.matcher(http, mapping, fraction)?;
        let shared = &http.shared;
        let forward = self.forward(group, http, mapping, cluster)?;
        Ok(Route {
            matcher,
            action: RouteAction::Forward(Arc::new(forward)),
            request_headers: self.headers(&shared.add_request_headers, shared.remove_request_headers.as_ref(), on),
            response_headers: self.headers(&shared.add_response_headers, shared.remove_response_headers.as_ref(), on),
            per_filter: per_filter(mapping, shared.mentions_redirect),
            origins: on.origin.into_iter().collect(),
            ..Route::default()
        })
    }

    fn matcher(&mut self, http: &HttpGroup, mapping: &HttpMapping, fraction: RuntimeFraction) -> Result<RouteMatch, Reported> {
        let on = &mapping.identity;
        let spec = &mapping.spec;
        let prefix = spec.prefix.clone().unwrap_or_default();
        let is = |flag: &Option<Sourced<bool>>| flag.as_ref().is_some_and(|flag| flag.value);
        let path = if is(&spec.prefix_regex) {
            let regex = self.regex(&prefix, on)?;
            Sourced::new(PathMatch::Regex(regex), prefix.origin)
        } else if is(&spec.prefix_exact) {
            prefix.clone().map(PathMatch::Exact)
        } else {
            prefix.clone().map(PathMatch::Prefix)
        };
        let case_sensitive = spec.case_sensitive.or(http.shared.case_sensitive);
        let mut headers = Vec::with_capacity(mapping.headers.len());
        for header in &mapping.headers {
            headers.extend(self.header_match(header, on)?);
        }
        let mut query = Vec::with_capacity(mapping.query.len());
        for parameter in if http.redirect.is_some() { &[][..] } else { &http.shared.query[..] } {
            let value = match &parameter.value.value {
                None => StringMatch::Present,
                Some(value) if parameter.value.regex => StringMatch::Regex(self.regex(&Sourced::new(value.clone(), parameter.origin), on)?),
                Some(value) => StringMatch::Exact(value.clone()),
            };
            query.push(Sourced::new(QueryMatch { name: parameter.value.name.clone(), value, ignore_case: false }, parameter.origin));
        }
        let case_sensitive = Some(case_sensitive.unwrap_or_else(|| Sourced::built_in(true)));
        // Mappings share requests because they have the same prefix; each member's prefix keeps the route unchanged.
        let path_also = if http.mappings.len() > 1 { Also(prefixes_of(http).collect()) } else { Also::default() };
        Ok(RouteMatch { path, path_also, case_sensitive, headers, query, fraction: Some(fraction), grpc: false })
    }

    /// `None`: the matcher matches everything and is not sent.
    fn header_match(&mut self, header: &Sourced<KeyValue>, on: &Identity) -> Result<Option<Sourced<HeaderMatch>>, Reported> {
        let name = self.header_name(&header.value.name, header.origin, on)?;
        let written = header.value.value.clone();
        let value = match written {
            None => StringMatch::Present,
            Some(value) if header.value.regex => StringMatch::Regex(self.regex(&Sourced::new(value, header.origin), on)?),
            Some(value) if name == HeaderName::AUTHORITY => match value.as_str() {
                "*" => return Ok(None),
                glob if glob.starts_with('*') => StringMatch::Suffix(glob[1..].into()),
                glob if glob.ends_with('*') => StringMatch::Prefix(glob[..glob.len() - 1].into()),
                _ => StringMatch::Exact(value),
            },
            Some(value) => StringMatch::Exact(value),
        };
        let matcher = HeaderMatch { name, value, invert: false, ignore_case: false, missing_as_empty: false };
        Ok(Some(Sourced::new(matcher, header.origin)))
    }

    /// A regular expression that Envoy accepts; otherwise the route is dropped, as its meaning would change.
    fn regex(&mut self, text: &Sourced<Str>, on: &Identity) -> Result<Regex, Reported> {
        if let Err(problem) = re2::check(&text.value) {
            let message = format!("Envoy refuses the regular expression `{}`: {problem}; the route is left out", text.value);
            return Err(self.error(&codes::INVALID_REGEX, message, on, text.origin));
        }
        Ok(Regex { regex: text.value.clone(), max_program_size: Some(self.model.ambassador.regex_max_size), engine: true })
    }

    fn headers(&mut self, add: &[(Str, Sourced<spec::AddedHeader>)], remove: Option<&Sourced<Vec<Sourced<Str>>>>, on: &Identity) -> HeaderMutations {
        let usable: Vec<_> = add
            .iter()
            .filter(|(name, header)| {
                let has_value = header.value.value.as_ref().is_some_and(|value| !value.value.is_empty());
                if !has_value {
                    let message = format!("the header `{name}` has no value; the controller cannot read it and is left without any configuration");
                    self.error(&codes::HEADER_WITHOUT_VALUE, message, on, header.origin);
                }
                has_value
            })
            .cloned()
            .collect();
        let mut add = Vec::with_capacity(usable.len());
        for (name, header) in &usable {
            let name = self.header_name(name, header.origin, on);
            let value = header.value.value.as_ref().map_or("", |value| value.value.as_str());
            if let Some(problem) = substitution::problem(value) {
                self.refuse(format!("Envoy cannot read the value of this header: {problem}"), on, header.origin);
                continue;
            }
            add.extend(name.map(|name| added_header(name, header)));
        }
        let mut kept = Vec::new();
        for name in remove.iter().flat_map(|names| &names.value) {
            let header = self.header_name(&name.value, name.origin, on);
            kept.extend(header.map(|header| Sourced::new(header, name.origin)));
        }
        HeaderMutations { add, remove: kept }
    }

    fn forward(&mut self, group: &Group, http: &HttpGroup, mapping: &HttpMapping, cluster: Str) -> Result<Forward, Reported> {
        let on = &mapping.identity;
        let (spec, shared, module) = (&mapping.spec, &http.shared, &self.model.ambassador);
        let timeout_ms = spec.timeout_ms.or(module.settings.cluster_request_timeout_ms);
        let timeout = self.milliseconds(&timeout_ms.unwrap_or_else(|| Sourced::built_in(3000)), "timeout_ms", on).ok();
        let idle_timeout = spec.idle_timeout_ms.as_ref().and_then(|ms| self.milliseconds(ms, "idle_timeout_ms", on).ok());
        if let Some(priority) = &shared.priority {
            self.refuse(format!("priority `{}` reaches Envoy in lower case, which it does not know", priority.value), on, priority.origin);
        }
        let path_rewrite = match &shared.regex_rewrite {
            Some(rewrite) => {
                let pattern = rewrite.value.pattern.clone().unwrap_or_default();
                let pattern = self.regex(&Sourced::new(pattern.value, pattern.origin.or(rewrite.origin)), on)?;
                let substitution = rewrite.value.substitution.clone().unwrap_or_default().value;
                Some(Sourced::new(
                    PathRewrite::Regex(Box::new(RegexRewrite { pattern, pattern_also: Also::default(), substitution })),
                    rewrite.origin,
                ))
            }
            None => Some(mapping.rewrite.clone()).filter(|rewrite| !rewrite.value.is_empty()).map(|rewrite| rewrite.map(PathRewrite::Prefix)),
        };
        let host_rewrite = match (&spec.host_rewrite, &spec.auto_host_rewrite) {
            (Some(host), auto) => {
                if let Some(auto) = auto {
                    self.refuse("host_rewrite and auto_host_rewrite exclude each other; host_rewrite is used", on, auto.origin);
                }
                Some(host.clone().map(HostRewrite::Literal))
            }
            (None, Some(auto)) => Some((*auto).map(HostRewrite::Auto)),
            (None, None) => None,
        };
        let cors = shared.cors.clone().or_else(|| self.model.ambassador.cors.clone().map(|cors| cors.by(Rule::Module)));
        let retry = shared.retry_policy.clone().or_else(|| self.model.ambassador.retry_policy.clone().map(|policy| policy.by(Rule::Module)));
        Ok(Forward {
            clusters: UpstreamClusters::One(Sourced::new(cluster, mapping.service.origin)),
            timeout,
            idle_timeout,
            priority: None,
            path_rewrite,
            host_rewrite,
            hash_policies: self.hash_policy(http, on).into_iter().map(|of| of.map(|policy| HashBy { policy, terminal: false })).collect(),
            cors: cors.map(|cors| self.cors(&cors, group).map(Box::new)),
            retry: retry.map(|policy| self.retry(&policy, on).map(Box::new)),
            mirrors: self.mirror(http).into_iter().collect(),
            rate_limits: self.rate_limits(http, on),
            upgrades: shared.allow_upgrade.clone().map(|upgrades| upgrades.value).unwrap_or_default(),
            internal_redirect: None,
        })
    }

    fn hash_policy(&mut self, http: &HttpGroup, on: &Identity) -> Option<Sourced<HashPolicy>> {
        let balancer = http.load_balancer(self.model)?.clone();
        let policy = match balancer.value.hash.clone()? {
            LbHash::Header(name) => HashPolicy::Header(self.header_name(&name, balancer.origin, on).ok()?),
            LbHash::SourceIp(on) => HashPolicy::SourceIp(on),
            LbHash::Cookie(cookie) => {
                let ttl = cookie.ttl.as_ref().and_then(|ttl| {
                    let parsed = duration::parse_proto(&ttl.value);
                    if parsed.is_none() {
                        self.refuse(format!("the cookie's ttl `{}` must be in seconds, like `300s`", ttl.value), on, ttl.origin);
                    }
                    parsed
                });
                let path = cookie.path.map(|path| path.value);
                HashPolicy::Cookie { name: cookie.name.unwrap_or_default().value, path, ttl }
            }
        };
        Some(Sourced::new(policy, balancer.origin))
    }

    fn cors(&mut self, cors: &Sourced<Box<spec::Cors>>, group: &Group) -> Sourced<Cors> {
        let joined = |field: &Option<Sourced<TextOrList>>| {
            let text = field.clone().map(|field| {
                field.map(|value| match value {
                    TextOrList::Text(text) => text,
                    TextOrList::List(items) => items.iter().map(|item| item.value.as_str()).collect::<Vec<_>>().join(", ").into(),
                })
            });
            text.filter(|text| !text.value.is_empty())
        };
        let spec = &cors.value;
        let allow_origins = match &spec.origins {
            None => Vec::new(),
            Some(origins) => match &origins.value {
                TextOrList::List(list) => list.iter().cloned().map(|origin| origin.map(StringMatch::Exact)).collect(),
                TextOrList::Text(text) => {
                    let message = "origins must be a list here: the controller takes each character of this text for an origin";
                    self.error(&codes::CORS_ORIGINS_TEXT, message, &self.model.ambassador.identity, origins.origin);
                    text.chars().map(|c| Sourced::new(StringMatch::Exact(c.to_string().into()), origins.origin)).collect()
                }
            },
        };
        let value = Cors {
            allow_origins,
            allow_methods: joined(&spec.methods),
            allow_headers: joined(&spec.headers),
            expose_headers: joined(&spec.exposed_headers),
            max_age: spec.max_age.clone().filter(|age| !age.value.is_empty()),
            allow_credentials: spec.credentials.filter(|on| on.value),
            runtime_key: Some(format!("routing.cors_enabled.{}", group.key.id()).into()),
            ..Cors::default()
        };
        Sourced::new(value, cors.origin)
    }

    fn retry(&mut self, policy: &Sourced<Box<spec::RetryPolicy>>, on: &Identity) -> Sourced<RetryPolicy> {
        let spec = &policy.value;
        let per_try_timeout = spec.per_try_timeout.as_ref().filter(|time| !time.value.is_empty()).and_then(|time| {
            let parsed = duration::parse_proto(&time.value);
            if parsed.is_none() {
                self.refuse(format!("per_try_timeout `{}` must be in seconds, like `0.25s`", time.value), on, time.origin);
            }
            parsed.map(|value| Sourced::new(value, time.origin))
        });
        let num_retries = spec.num_retries.as_ref().and_then(|number| self.unsigned(number, "num_retries", on).ok());
        let value = RetryPolicy { retry_on: spec.retry_on.clone().unwrap_or_default(), num_retries, per_try_timeout, status_codes: Vec::new() };
        Sourced::new(value, policy.origin)
    }

    fn mirror(&mut self, http: &HttpGroup) -> Option<Sourced<MirrorPolicy>> {
        let shadow = http.shadow.as_ref()?;
        let cluster = self.model.envoy_name(&shadow.cluster);
        let weight = shadow.spec.weight.unwrap_or_else(|| Sourced::built_in(100));
        let percent = self.unsigned(&weight, "weight", &shadow.identity).ok()?;
        let policy = MirrorPolicy { cluster: Sourced::new(cluster, shadow.service.origin), percent };
        Some(Sourced::new(policy, shadow.identity.origin))
    }

    fn rate_limits(&mut self, http: &HttpGroup, on: &Identity) -> Vec<Sourced<RateLimitDescriptor>> {
        let model = self.model;
        let (Some(service), Some(labels)) = (&model.rate_limit, &http.labels) else { return Vec::new() };
        let Some(groups) = labels.value.get(&service.domain.value) else { return Vec::new() };
        let mut out = Vec::new();
        for label in &groups.value {
            if label.value.0.len() > 1 {
                let message = "Label for RateLimit has multiple entries instead of just one";
                self.error(&codes::INVALID_LABEL_GROUP, message, on, label.origin);
                continue;
            }
            let Some((_, specifiers)) = label.value.0.first() else { continue };
            let mut actions = Vec::new();
            for specifier in &specifiers.value {
                actions.extend(self.rate_limit_action(specifier, on));
            }
            if !actions.is_empty() {
                out.push(Sourced::new(RateLimitDescriptor { stage: Some(0), actions }, label.origin));
            }
        }
        out
    }

    fn rate_limit_action(&mut self, specifier: &Sourced<spec::LabelSpecifier>, on: &Identity) -> Option<Sourced<RateLimitAction>> {
        let spec = &specifier.value;
        let mut found: Vec<(RateLimitAction, Option<Origin>)> = Vec::new();
        if let Some(node) = &spec.source_cluster {
            found.push((RateLimitAction::SourceCluster, node.origin));
        }
        if let Some(node) = &spec.destination_cluster {
            found.push((RateLimitAction::DestinationCluster, node.origin));
        }
        if let Some(node) = &spec.remote_address {
            found.push((RateLimitAction::RemoteAddress, node.origin));
        }
        if let Some(key) = &spec.generic_key {
            let value = key.value.value.clone().unwrap_or_default().value;
            if value.is_empty() {
                self.refuse("a generic_key needs a value", on, key.origin);
                return None;
            }
            if let Some(problem) = substitution::problem(&value) {
                self.refuse(format!("Envoy cannot read the value `{value}` of this generic_key: {problem}"), on, key.origin);
                return None;
            }
            let name = key.value.key.clone().map_or_else(|| "generic_key".into(), |name| name.value);
            found.push((RateLimitAction::GenericKey { key: name, value }, key.origin));
        }
        if let Some(header) = &spec.request_headers {
            let text = |value: &Option<Sourced<Str>>| value.clone().unwrap_or_default().value;
            let name = self.header_name(&text(&header.value.header_name), header.origin, on).ok()?;
            found.push((RateLimitAction::RequestHeader { key: text(&header.value.key), header: name }, header.origin));
        }
        if found.len() != 1 {
            let message: String = if found.is_empty() {
                "Label for RateLimit is not valid".into()
            } else {
                "a rate limit label must have exactly one of its kinds".into()
            };
            self.error(&codes::INVALID_LABEL_GROUP, message, on, specifier.origin);
            return None;
        }
        found.pop().map(|(action, origin)| Sourced::new(action, origin.or(specifier.origin)))
    }
}

fn per_filter(mapping: &HttpMapping, mentions_redirect: bool) -> Vec<(Str, Sourced<PerFilter>)> {
    let name = Str::new_static("envoy.filters.http.ext_authz");
    let spec = &mapping.spec;
    let bypass = spec.bypass_auth.as_ref().filter(|on| on.value);
    if bypass.is_some() || mentions_redirect {
        let origin = bypass.and_then(|on| on.origin).or(spec.host_redirect.as_ref().and_then(|on| on.origin));
        return vec![(name, Sourced::new(PerFilter::ExtAuthzDisabled, origin))];
    }
    match spec.auth_context_extensions.as_ref().filter(|extensions| !extensions.value.is_empty()) {
        Some(extensions) => {
            let pairs = extensions.value.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
            vec![(name, Sourced::new(PerFilter::ExtAuthzContext(pairs), extensions.origin))]
        }
        None => Vec::new(),
    }
}
