//! IRHTTPMapping and IRTCPMapping: one Mapping, checked and completed, with the identity of its group.
//!
//! Source of the behaviour: Emissary `python/ambassador/ir/irhttpmapping.py`, `ir/irbasemapping.py`, `ir/irtcpmapping.py`.

use super::breakers::{Breakers, named_breakers};
use super::environment::Environment;
use super::hostglob::selector_matches;
use super::key::{GroupKey, RouteWeight};
use super::notices::{ControllerNotice, Identity, text};
use super::resolver::ResolverKind;
use super::service::{self, Qualification, python_repr};
use super::{Model, spec_of};
use crate::config::{Labels, Payload, Resource};
use crate::spec::{self, Map};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Reported, codes};
use chancery_base::resource::{Origin, Rule, Sourced};
use chancery_text::Str;

/// The kind of the controller's own Mappings for probes and diagnostics.
pub const INTERNAL_MAPPING: &str = "InternalMapping";

/// A header or query parameter that is matched.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyValue {
    pub name: Str,
    /// The required value; `None`: any value.
    pub value: Option<Str>,
    /// Whether the value is a regular expression.
    pub regex: bool,
}

impl KeyValue {
    fn length(&self) -> i64 {
        let count = |text: &str| i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        let value = match self.value.as_deref() {
            None | Some("") => 1,
            Some(value) => count(value),
        };
        count(&self.name) + value + i64::from(self.regex)
    }

    /// `name-value`, with `*` for no value.
    fn key(&self) -> String {
        let value = self.value.as_deref().filter(|value| !value.is_empty()).unwrap_or("*");
        format!("{}-{value}", self.name)
    }
}

/// The requested load balancing.
#[derive(Clone, Debug, PartialEq)]
pub struct LbSettings {
    /// `round_robin`, `least_request`, `ring_hash` or `maglev`.
    pub policy: Str,
    /// The hash input.
    pub hash: Option<LbHash>,
}

/// The input of the hash that selects an endpoint.
#[derive(Clone, Debug, PartialEq)]
pub enum LbHash {
    Cookie(Box<spec::LoadBalancerCookie>),
    Header(Str),
    /// The client's address.
    SourceIp(bool),
}

impl LbSettings {
    /// The settings, if they are consistent: hashing policies need exactly one hash input, others none.
    pub fn read(from: &spec::LoadBalancer) -> Option<Self> {
        let policy = from.policy.as_ref()?.value.clone();
        let set = usize::from(from.cookie.is_some()) + usize::from(from.header.is_some()) + usize::from(from.source_ip.is_some());
        match policy.as_str() {
            "round_robin" | "least_request" if set == 0 => Some(Self { policy, hash: None }),
            "ring_hash" | "maglev" if set == 1 => {
                let hash = match (&from.cookie, &from.header, &from.source_ip) {
                    (Some(cookie), _, _) if cookie.value.name.is_some() => LbHash::Cookie(Box::new(cookie.value.clone())),
                    (None, Some(header), _) => LbHash::Header(header.value.clone()),
                    (None, None, Some(on)) => LbHash::SourceIp(on.value),
                    _ => return None,
                };
                Some(Self { policy, hash: Some(hash) })
            }
            _ => None,
        }
    }
}

/// As Python prints the reference's dictionary.
pub fn python_load_balancer(from: &spec::LoadBalancer) -> String {
    let mut parts = Vec::new();
    if let Some(policy) = &from.policy {
        parts.push(format!("'policy': {}", python_repr(&policy.value)));
    }
    if let Some(cookie) = &from.cookie {
        let mut inner = Vec::new();
        for (key, value) in [("name", &cookie.value.name), ("path", &cookie.value.path), ("ttl", &cookie.value.ttl)] {
            if let Some(value) = value {
                inner.push(format!("'{key}': {}", python_repr(&value.value)));
            }
        }
        parts.push(format!("'cookie': {{{}}}", inner.join(", ")));
    }
    if let Some(header) = &from.header {
        parts.push(format!("'header': {}", python_repr(&header.value)));
    }
    if let Some(on) = &from.source_ip {
        parts.push(format!("'source_ip': {}", if on.value { "True" } else { "False" }));
    }
    format!("{{{}}}", parts.join(", "))
}

/// Whether Emissary accepts a retry policy.
pub fn valid_retry_policy(policy: &spec::RetryPolicy) -> bool {
    matches!(
        text(policy.retry_on.as_ref()),
        "5xx" | "gateway-error" | "connect-failure" | "retriable-4xx" | "refused-stream" | "retriable-status-codes"
    )
}

/// IRHTTPMapping.
#[derive(Clone, Debug)]
pub struct HttpMapping {
    /// Who it is.
    pub identity: Identity,
    pub namespace: Str,
    /// `metadata.labels`.
    pub labels: Arc<Labels>,
    /// The written values with the Module's defaults, without ignored values.
    pub spec: spec::Mapping,
    /// The host it is for, unless that is a regular expression.
    pub host: Option<Sourced<Str>>,
    /// Headers matched, `:authority` and `:method` included.
    pub headers: Vec<Sourced<KeyValue>>,
    /// Query parameters matched.
    pub query: Vec<Sourced<KeyValue>>,
    /// Order among routes.
    pub precedence: i64,
    /// `None`: the reference's default, `/`; empty: not rewritten.
    pub rewrite: Sourced<Str>,
    /// Normalised.
    pub service: Sourced<Str>,
    /// The origin of the service's port, if another object contains it.
    pub port_from: Option<Origin>,
    /// The resolver's name.
    pub resolver: Sourced<Str>,
    /// Own or the Module's.
    pub breakers: Option<Breakers>,
    /// Own only.
    pub load_balancer: Option<Sourced<LbSettings>>,
    /// Which group it belongs to.
    pub group: GroupKey,
    /// Its order among routes.
    pub weight: RouteWeight,
}

impl HttpMapping {
    /// Completes and checks a Mapping. One that fails a check is dropped.
    pub(super) fn new(
        model: &mut Model<'_>,
        identity: Identity,
        namespace: Str,
        labels: Arc<Labels>,
        mut spec: spec::Mapping,
    ) -> Result<Self, Reported> {
        let defaults = &model.ambassador.mapping_defaults;
        if spec.add_request_headers.is_none() {
            spec.add_request_headers.clone_from(&defaults.add_request_headers);
        }
        // Rarely used fields are only written if they have a value.
        macro_rules! inherit {
            ($($field:ident from $defaults:expr),*) => {
                $(if spec.$field.is_none() && $defaults.$field.is_some() {
                    spec.$field.clone_from(&$defaults.$field);
                })*
            };
        }
        inherit!(remove_request_headers from defaults, remove_response_headers from defaults, stats_name from defaults);
        inherit!(add_response_headers from defaults, add_linkerd_headers from model.ambassador.settings);
        let (headers, host, host_problem) = match_headers(&spec);
        let query = match_query(&spec);
        add_websocket(&mut spec);

        let resolver = spec.resolver.clone().filter(|name| !name.value.is_empty()).unwrap_or_else(|| model.ambassador.resolver().by(Rule::Default));
        let written = spec.service.clone().unwrap_or_default();
        let service = model.normalize_service(&identity, &namespace, &resolver, &written);
        if spec.add_linkerd_headers.as_ref().is_some_and(|on| on.value) {
            let origin = spec.add_linkerd_headers.as_ref().and_then(|on| on.origin);
            let value = spec::AddedHeader { value: Some(Sourced::new(host_and_port(&service.value).into(), origin)), append: None };
            let headers = &mut spec.add_request_headers.get_or_insert_with(Sourced::default).value.0;
            headers.retain(|(name, _)| name != "l5d-dst-override");
            headers.push(("l5d-dst-override".into(), Sourced::new(value, origin)));
        }
        let mut rewrite = spec.rewrite.clone().unwrap_or_else(|| Sourced::built_in("/".into()));
        if let Some(regex) = &spec.regex_rewrite {
            if !rewrite.value.is_empty() && rewrite.value != "/" {
                let message = "both rewrite and regex_rewrite are set: regex_rewrite is used, rewrite ignored";
                model.notices.notice(&identity, ControllerNotice::new(&codes::MUTUALLY_EXCLUSIVE, message, rewrite.origin));
            }
            rewrite = Sourced::new(Str::default(), regex.origin);
        }
        let mut this = Self {
            precedence: spec.precedence.as_ref().map_or(0, |p| p.value),
            breakers: None,
            load_balancer: None,
            group: GroupKey::default(),
            weight: RouteWeight::default(),
            identity,
            namespace,
            labels,
            spec,
            host,
            headers,
            query,
            rewrite,
            service,
            port_from: None,
            resolver,
        };
        if let Some(problem) = host_problem {
            return Err(model.notices.error(&this.identity, problem));
        }
        this.group = this.group_key(model);
        this.weight = this.route_weight();
        this.check(model)?;
        Ok(this)
    }

    /// The checks, in the reference's order; each that fails drops the Mapping.
    fn check(&mut self, model: &mut Model<'_>) -> Result<(), Reported> {
        model.valid_for_resolver(&self.identity, &self.resolver, self.spec.load_balancer.as_ref().and_then(|lb| lb.origin), &self.service)?;
        self.breakers = model.breakers_of(&self.identity, self.spec.circuit_breakers.as_ref())?;
        if let Some(policy) = &self.spec.retry_policy
            && !valid_retry_policy(&policy.value)
        {
            let origin = policy.value.retry_on.as_ref().map_or(policy.origin, |on| on.origin);
            let policy = Identity { origin: self.identity.origin, ..Identity::internal("ir.retrypolicy", "IRRetryPolicy", "ir.retrypolicy") };
            let message = "Invalid retry policy specified: <IRRetryPolicy ir.retrypolicy>";
            return Err(model.notices.error(&policy, ControllerNotice::new(&codes::INVALID_RETRY_POLICY, message, origin)));
        }
        let mut verdict = Ok(());
        if let Some(overrides) = &self.spec.error_response_overrides {
            let message = "error_response_overrides is not supported in Emissary 4 and will be ignored";
            let post = super::notices::unsupported(message, overrides.origin).help("Emissary drops the whole Mapping because of it");
            verdict = Err(model.notices.error(&self.identity, post));
        }
        if let Some(balancer) = &self.spec.load_balancer {
            match LbSettings::read(&balancer.value) {
                Some(lb) => self.load_balancer = Some(Sourced::new(lb, balancer.origin)),
                None => {
                    let message = format!("Invalid load_balancer specified: {}, invalidating mapping", python_load_balancer(&balancer.value));
                    return Err(model.notices.error(&self.identity, ControllerNotice::new(&codes::INVALID_LOAD_BALANCER, message, balancer.origin)));
                }
            }
        }
        self.exclude(model);
        if self.spec.outlier_detection.is_some() {
            let origin = self.spec.outlier_detection.as_ref().and_then(|o| o.origin);
            verdict = Err(model.notices.error(&self.identity, super::notices::unsupported("outlier_detection is not supported", origin)));
        }
        verdict
    }

    /// The first of the three ways to redirect a path wins.
    fn exclude(&mut self, model: &mut Model<'_>) {
        let mut exclude = |preferred: &str, other: &str, origin| {
            let message = format!("Cannot specify both {preferred} and {other}. Using {preferred} and ignoring {other}.");
            model.notices.error(&self.identity, ControllerNotice::new(&codes::MUTUALLY_EXCLUSIVE, message, origin));
        };
        if self.spec.path_redirect.is_some() {
            if let Some(prefix) = self.spec.prefix_redirect.take() {
                exclude("path_redirect", "prefix_redirect", prefix.origin);
            }
            if let Some(regex) = self.spec.regex_redirect.take() {
                exclude("path_redirect", "regex_redirect", regex.origin);
            }
        }
        if self.spec.prefix_redirect.is_some()
            && let Some(regex) = self.spec.regex_redirect.take()
        {
            exclude("prefix_redirect", "regex_redirect", regex.origin);
        }
    }

    fn group_key(&self, model: &Model<'_>) -> GroupKey {
        let mut key = String::with_capacity(96);
        key.push_str("HTTP-GET");
        key.push_str(text(self.spec.prefix.as_ref()));
        for pair in self.headers.iter().chain(&self.query) {
            key.push_str(&pair.value.name);
            key.push_str(pair.value.value.as_deref().unwrap_or(""));
        }
        if self.host.is_none() {
            for host in model.hosts.values() {
                let Some(selector) = &host.mapping_selector else { continue };
                if selector_matches(&selector.value, &self.labels, model.options.strict_label_selectors()) {
                    for (name, value) in &selector.value {
                        key.push_str(name);
                        key.push_str(&value.value);
                    }
                }
            }
        }
        if self.precedence != 0 {
            key.push_str(&format!("{}", self.precedence));
        }
        GroupKey::of(&key)
    }

    fn route_weight(&self) -> RouteWeight {
        let length = |pairs: &[Sourced<KeyValue>]| pairs.iter().map(|pair| pair.value.length()).sum();
        let prefix = text(self.spec.prefix.as_ref());
        RouteWeight {
            numbers: vec![self.precedence, i64::try_from(prefix.chars().count()).unwrap_or(i64::MAX), length(&self.headers), length(&self.query)],
            prefix: prefix.into(),
            keys: self.headers.iter().chain(&self.query).map(|pair| pair.value.key().into()).collect(),
        }
    }
}

/// `use_websocket` is the old form of `allow_upgrade: [websocket]`.
fn add_websocket(spec: &mut spec::Mapping) {
    if let Some(websocket) = spec.use_websocket {
        spec.use_websocket = None;
        let upgrades = spec.allow_upgrade.get_or_insert_with(|| Sourced::new(Vec::new(), websocket.origin));
        if !upgrades.value.iter().any(|name| name.value == "websocket") {
            upgrades.value.push(Sourced::new("websocket".into(), websocket.origin));
        }
    }
}

type Headers = (Vec<Sourced<KeyValue>>, Option<Sourced<Str>>, Option<ControllerNotice>);

/// The header matchers, the host, and the host's errors. `hostname` overrides `host`, which overrides `:authority`.
fn match_headers(spec: &spec::Mapping) -> Headers {
    let mut headers = Vec::new();
    let mut problem = None;
    let mut host: Option<(Sourced<Str>, bool)> = None;
    for (name, value) in spec.headers.iter().flat_map(|headers| headers.value.iter()) {
        if !name.eq_ignore_ascii_case(":authority") {
            headers.push(Sourced::new(KeyValue { name: name.clone(), value: Some(value.value.clone()), regex: false }, value.origin));
        } else if value.value.contains('*') {
            let message = format!(":authority exact-match '{}' contains *, which cannot match anything.", value.value);
            problem = Some(ControllerNotice::new(&codes::HOST_NEVER_MATCHES, message, value.origin));
        } else {
            host = Some((value.clone(), false));
        }
    }
    for (name, value) in spec.regex_headers.iter().flat_map(|headers| headers.value.iter()) {
        headers.push(Sourced::new(KeyValue { name: name.clone(), value: Some(value.value.clone()), regex: true }, value.origin));
    }
    if let Some(exact) = &spec.host {
        let regex = spec.host_regex.as_ref().is_some_and(|regex| regex.value);
        if !regex && exact.value.contains('*') {
            let message = format!("host exact-match {} contains *, which cannot match anything.", exact.value);
            problem = Some(ControllerNotice::new(&codes::HOST_NEVER_MATCHES, message, exact.origin).help("use `hostname`, which accepts globs"));
        }
        host = Some((exact.clone(), regex));
    }
    if let Some(glob) = &spec.hostname {
        host = Some((glob.clone(), false));
    }
    let host = host.filter(|(host, _)| !host.value.is_empty());
    if let Some((host, regex)) = &host {
        let pair = KeyValue { name: ":authority".into(), value: Some(host.value.clone()), regex: *regex };
        headers.push(Sourced::new(pair, host.origin));
    }
    if let Some(method) = &spec.method {
        let regex = spec.method_regex.as_ref().is_some_and(|regex| regex.value);
        headers.push(Sourced::new(KeyValue { name: ":method".into(), value: Some(method.value.clone()), regex }, method.origin));
    }
    headers.shrink_to_fit();
    (headers, host.filter(|(_, regex)| !regex).map(|(host, _)| host), problem)
}

fn match_query(spec: &spec::Mapping) -> Vec<Sourced<KeyValue>> {
    let pairs = |map: &Option<Sourced<Map<Str>>>, regex: bool| -> Vec<_> {
        let pair = |(name, value): &(Str, Sourced<Str>)| {
            Sourced::new(KeyValue { name: name.clone(), value: Some(value.value.clone()), regex }, value.origin)
        };
        map.iter().flat_map(|map| map.value.iter()).map(pair).collect()
    };
    let mut query = pairs(&spec.query_parameters, false);
    query.extend(pairs(&spec.regex_query_parameters, true));
    query
}

/// The header value for Linkerd: host and port of a service.
pub fn host_and_port(service: &str) -> String {
    let lower = service.to_ascii_lowercase();
    let (rest, https) = if lower.starts_with("https://") {
        (&service[8..], true)
    } else if lower.starts_with("http://") {
        (&service[7..], false)
    } else {
        (service, false)
    };
    let rest = rest.split_once("://").map_or(rest, |(_, rest)| rest);
    let authority = service::Authority::parse(rest).unwrap_or_default();
    let port = match authority.port_number() {
        Ok(0) | Err(_) => {
            if https {
                443
            } else {
                80
            }
        }
        Ok(port) => port,
    };
    format!("{}:{port}", authority.host.as_deref().unwrap_or("None"))
}

/// IRTCPMapping.
#[derive(Clone, Debug)]
pub struct TcpMapping {
    /// Who it is.
    pub identity: Identity,
    pub namespace: Str,
    /// The written values.
    pub spec: spec::TcpMapping,
    /// Normalised.
    pub service: Sourced<Str>,
    /// The resolver's name.
    pub resolver: Sourced<Str>,
    /// Own or the Module's.
    pub breakers: Option<Breakers>,
}

impl Model<'_> {
    /// MappingFactory.load_all: creates all Mappings, then groups them. Resources that were removed from the configuration are dropped on the way.
    pub(super) fn load_mappings(&mut self, taken: Option<Vec<Arc<Resource>>>) {
        let environment = Environment::of(self);
        let mut groups = core::mem::take(&mut self.groups);
        groups.begin(environment);
        let dropped = taken.as_ref().map(|_| Arc::<Resource>::default());
        match taken {
            Some(mappings) => groups.load(&mappings.iter().collect::<Vec<_>>()),
            None => groups.load(&self.shared_resources("mappings").collect::<Vec<_>>()),
        }
        for at in 0..groups.loaded.len() {
            let Some(loaded) = groups.loaded.get_mut(at).filter(|loaded| !loaded.quiet) else { continue };
            let before = self.notices.reports();
            let resource = &loaded.resource;
            let own = (Identity::of(resource), resource.namespace.clone(), resource.labels.clone());
            let mut spec: spec::Mapping = spec_of(resource);
            // An Ingress contains the parts of the address separately: name and port.
            if resource.rule == Rule::Conversion {
                spec.service = spec.service.map(Sourced::whole);
            }
            let port_from = if let Payload::Port(origin) = resource.payload { Some(origin) } else { None };
            let mapping = HttpMapping::new(self, own.0, own.1, own.2, spec).ok().map(|mapping| Arc::new(HttpMapping { port_from, ..mapping }));
            loaded.quiet = self.notices.reports() == before;
            let last = core::mem::replace(&mut loaded.group, u32::MAX);
            loaded.mapping.clone_from(&mapping);
            dropped.iter().for_each(|nothing| loaded.resource = nothing.clone());
            groups.touch(last);
            if let Some(mapping) = mapping {
                let number = groups.enter(&mapping.group);
                groups.loaded[at].group = number;
            }
        }
        self.groups = groups;
        self.fill_groups();
    }

    /// MappingFactory.load_all, TCPMappings.
    pub(super) fn load_tcp_mappings(&mut self) {
        let mut live = Vec::new();
        for resource in self.resources("tcpmappings") {
            live.extend(self.tcp_mapping(resource));
        }
        for mapping in live {
            self.add_tcp_mapping(mapping);
        }
    }

    fn tcp_mapping(&mut self, resource: &Resource) -> Result<TcpMapping, Reported> {
        let spec: spec::TcpMapping = spec_of(resource);
        let identity = Identity::of(resource);
        let resolver = spec.resolver.clone().filter(|name| !name.value.is_empty()).unwrap_or_else(|| self.ambassador.resolver().by(Rule::Default));
        let service = self.normalize_service(&identity, &resource.namespace, &resolver, &spec.service.clone().unwrap_or_default());
        self.valid_for_resolver(&identity, &resolver, None, &service)?;
        let breakers = self.breakers_of(&identity, spec.circuit_breakers.as_ref())?;
        Ok(TcpMapping { identity, namespace: resource.namespace.clone(), spec, service, resolver, breakers })
    }

    fn normalize_service(&mut self, identity: &Identity, namespace: &str, resolver: &Sourced<Str>, written: &Sourced<Str>) -> Sourced<Str> {
        let kubernetes = self.resolvers.get(&resolver.value).is_none_or(|resolver| resolver.kind != ResolverKind::Consul);
        let own = self.ambassador.settings.use_ambassador_namespace_for_service_resolution.as_ref().is_some_and(|on| on.value);
        let rule = Qualification { namespace, ambassador_namespace: &self.options.ambassador_namespace, qualify: kubernetes && !own };
        let normal = service::normalize(&written.value, &rule);
        if let Some(problem) = normal.problem {
            let message = format!("{}: Malformed service {}: {problem}", identity.rkey, python_repr(&written.value));
            self.notices.overall(ControllerNotice::new(&codes::MALFORMED_SERVICE, message, written.origin.or(identity.origin)));
        }
        Sourced::new(normal.service, written.origin)
    }

    fn valid_for_resolver(
        &mut self,
        identity: &Identity,
        name: &Sourced<Str>,
        balancer: Option<Origin>,
        service: &Sourced<Str>,
    ) -> Result<(), Reported> {
        let Some(resolver) = self.resolvers.get(&name.value) else {
            let message = format!("resolver {} is unknown!", name.value);
            return Err(self.notices.error(identity, ControllerNotice::new(&codes::UNKNOWN_RESOLVER, message, name.origin)));
        };
        match resolver.kind {
            ResolverKind::KubernetesService if balancer.is_some() => {
                let message = "No load_balancer setting is allowed with the KubernetesServiceResolver";
                let post = ControllerNotice::new(&codes::INVALID_LOAD_BALANCER, message, balancer)
                    .help("set `resolver: endpoint` to balance over a Service's endpoints");
                Err(self.notices.error(identity, post))
            }
            ResolverKind::Consul => {
                if service.value.contains(':') {
                    let message = "The Consul resolver does not allow overriding service port; ignoring requested port";
                    self.notices.notice(identity, ControllerNotice::new(&codes::IGNORED_PORT, message, service.origin));
                }
                if service.value.contains('.') {
                    let message = "The Consul resolver does not allow dots in service names";
                    return Err(self.notices.error(identity, ControllerNotice::new(&codes::MALFORMED_SERVICE, message, service.origin)));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A resource's circuit breakers, or the Module's.
    fn breakers_of(&mut self, identity: &Identity, own: Option<&Sourced<Vec<Sourced<spec::CircuitBreaker>>>>) -> Result<Option<Breakers>, Reported> {
        let Some(own) = own else { return Ok(self.ambassador.circuit_breakers.clone().map(|breakers| breakers.by(Rule::Module))) };
        match named_breakers(&own.value) {
            Some(named) => Ok(Some(Sourced::new(named, own.origin))),
            None => {
                let message = "Invalid circuit_breakers specified: priority must be default or high, invalidating mapping";
                Err(self.notices.error(identity, ControllerNotice::new(&codes::INVALID_CIRCUIT_BREAKERS, message, own.origin)))
            }
        }
    }
}
