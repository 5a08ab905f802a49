//! IRAuth: the authentication service.
//!
//! Source of the behaviour: Emissary `python/ambassador/ir/irauth.py`, `envoy/v3/v3httpfilter.py`.

use super::breakers::{Breakers, NamedBreaker};
use super::cluster::{ClusterRequest, ServiceSettings};
use super::notices::{ControllerNotice, Identity};
use super::{Map, Model};
use crate::config::Resource;
use crate::spec::{self, Decode, Decoder};
use alloc::format;
use alloc::vec::Vec;
use chancery_base::diagnostic::codes;
use chancery_base::resource::{Origin, Rule, Sourced};
use chancery_text::{NodeId, Str};

/// IRAuth.
#[derive(Clone, Debug)]
pub struct Auth {
    /// The first AuthService's.
    pub identity: Identity,
    /// The last service's settings, which win.
    pub spec: spec::AuthService,
    /// The last service's namespace, in which bare names are looked up.
    pub namespace: Str,
    /// The first service's path prefix.
    pub path_prefix: Option<Sourced<Str>>,
    /// `http` or `grpc`.
    pub proto: Sourced<Str>,
    /// Further request headers sent to the service.
    pub allowed_request_headers: Vec<Sourced<Str>>,
    /// Further headers of responses that are kept.
    pub allowed_authorization_headers: Vec<Sourced<Str>>,
    /// Linkerd gets the destination of the request in a header.
    pub add_linkerd_headers: Option<Sourced<bool>>,
    /// Key of its cluster; empty until it is added.
    pub cluster: Str,
    services: Map<Str, Service>,
}

/// One service of several that share the work.
#[derive(Clone, Debug)]
struct Service {
    service: Sourced<Str>,
    tls: Option<Sourced<Str>>,
    grpc: bool,
}

impl Auth {
    /// From the old `authentication` Module and from AuthServices; `None` without any.
    pub(super) fn set_up(model: &mut Model<'_>) -> Option<Self> {
        let mut sources: Vec<&Resource> = model.config.get_module("authentication").into_iter().collect();
        sources.extend(model.resources("auth_configs"));
        let mut auth: Option<Self> = None;
        for resource in sources {
            auth = Some(Self::load(model, resource, auth));
        }
        auth.filter(|auth| !auth.services.is_empty())
    }

    fn load(model: &mut Model<'_>, resource: &Resource, earlier: Option<Self>) -> Self {
        let rule = if resource.kind == "Module" { Rule::Module } else { Rule::Field };
        let spec = spec::AuthService::decode(&resource.spec, &mut Decoder::new(resource.object, rule)).unwrap_or_default();
        let own = Identity::of(resource);
        let here = Origin::field(resource.object, NodeId(0));
        let proto = spec.proto.clone().unwrap_or_else(|| Sourced::new("http".into(), here.by(Rule::Default)));
        let mut auth = match earlier {
            Some(mut auth) => {
                auth.conflicts(model, &spec, &own);
                auth.namespace = resource.namespace.clone();
                auth
            }
            None => Self {
                identity: own.clone(),
                spec: spec::AuthService::default(),
                namespace: resource.namespace.clone(),
                path_prefix: None,
                proto: proto.clone(),
                allowed_request_headers: Vec::new(),
                allowed_authorization_headers: Vec::new(),
                add_linkerd_headers: None,
                cluster: Str::default(),
                services: Map::default(),
            },
        };
        if auth.path_prefix.is_none() {
            auth.path_prefix.clone_from(&spec.path_prefix);
        }
        let module_linkerd = model.ambassador.settings.add_linkerd_headers.map(|on| on.by(Rule::Module));
        auth.add_linkerd_headers = match &spec.add_linkerd_headers {
            Some(on) if on.value => Some(*on),
            Some(_) => auth.add_linkerd_headers,
            None => module_linkerd,
        };
        collect_headers(&mut auth.allowed_request_headers, spec.allowed_request_headers.as_ref());
        collect_headers(&mut auth.allowed_authorization_headers, spec.allowed_authorization_headers.as_ref());
        auth.proto = proto;
        auth.spec = spec;
        auth.check(model);
        if let Some(service) = auth.spec.auth_service.clone().filter(|service| !service.value.is_empty()) {
            let entry = Service { tls: auth.spec.tls.clone(), grpc: auth.proto.value == "grpc", service };
            auth.services.insert(entry.service.value.clone(), entry);
        }
        auth
    }

    /// Settings in which a further AuthService differs from the ones before.
    fn conflicts(&self, model: &mut Model<'_>, spec: &spec::AuthService, on: &Identity) {
        let mut report = |field: &str, previous: &str, origin| {
            let message = format!("AuthService cannot support multiple {field} values; using {previous}");
            model.notices.error(on, ControllerNotice::new(&codes::AUTH_CONFLICT, message, origin));
        };
        if let (Some(previous), Some(new)) = (&self.path_prefix, &spec.path_prefix)
            && previous != new
        {
            report("path_prefix", &previous.value, new.origin);
        }
        if let Some(new) = &spec.timeout_ms {
            let previous = self.spec.timeout_ms.as_ref().map_or(5000, |timeout| timeout.value);
            if new.value != 0 && previous != new.value {
                report("timeout_ms", &format!("{previous}"), new.origin);
            }
        }
        if let Some(new) = &spec.proto
            && *new != self.proto
        {
            report("proto", &self.proto.value, new.origin);
        }
    }

    fn check(&self, model: &mut Model<'_>) {
        let proto = self.proto.value.as_str();
        if proto != "grpc" && proto != "http" {
            let message = format!("AuthService: proto_version {proto} is unsupported, proto must be \"grpc\" or \"http\"");
            model.notices.error(&self.identity, ControllerNotice::new(&codes::UNSUPPORTED_PROTOCOL_VERSION, message, self.proto.origin));
        }
        let version = self.spec.protocol_version.clone().unwrap_or_else(|| Sourced::new("v2".into(), None));
        if proto == "grpc" && version.value != "v3" {
            let message = format!("AuthService: protocol_version {} is unsupported, protocol_version must be \"v3\"", version.value);
            model.notices.error(&self.identity, ControllerNotice::new(&codes::UNSUPPORTED_PROTOCOL_VERSION, message, version.origin));
        }
        let allowed = self.spec.allow_request_body.as_ref().filter(|allow| allow.value);
        if let (Some(_), Some(allow)) = (&self.spec.include_body, allowed) {
            let message = "AuthService ignoring allow_request_body since include_body is present";
            model.notices.error(&self.identity, ControllerNotice::new(&codes::MUTUALLY_EXCLUSIVE, message, allow.origin));
        }
    }
}

/// Names in lower case, each once, each list sorted.
fn collect_headers(into: &mut Vec<Sourced<Str>>, from: Option<&Sourced<Vec<Sourced<Str>>>>) {
    let Some(from) = from else { return };
    let mut names = from.value.clone();
    names.sort();
    for name in names {
        let name = name.map(|name| Str::from(name.to_lowercase()));
        if !into.contains(&name) {
            into.push(name);
        }
    }
}

impl Model<'_> {
    /// Adds the authentication services' cluster; several services become its endpoints.
    pub(super) fn add_auth_cluster(&mut self) {
        let Some(mut auth) = self.auth.take() else { return };
        let own = auth.spec.circuit_breakers.as_ref().filter(|breakers| !breakers.value.is_empty()).map(unchecked_breakers);
        let breakers = own.clone().or_else(|| self.ambassador.circuit_breakers.clone().map(|breakers| breakers.by(Rule::Module)));
        let mut cluster = core::mem::take(&mut auth.cluster);
        for entry in auth.services.values() {
            let grpc = Some(Sourced::new(entry.grpc, auth.proto.origin));
            let (tls, stats) = (entry.tls.as_ref(), auth.spec.stats_name.as_ref());
            let wanted = ClusterRequest::by_service(
                &auth.identity,
                &auth.namespace,
                &entry.service,
                ServiceSettings { marker: Some("extauth"), tls, grpc, stats_name: stats, breakers: breakers.as_ref() },
            );
            if cluster.is_empty() {
                cluster = self.add_cluster(wanted);
            } else {
                self.merge_cluster(&cluster, wanted);
            }
        }
        if let Some(own) = own {
            let identity = Identity::cluster(&cluster, auth.identity.origin);
            let service = auth.services.values().next().map_or("", |entry| entry.service.value.as_str());
            let message = format!("{service}: unvalidated circuit breaker");
            let post = ControllerNotice::new(&codes::INVALID_CIRCUIT_BREAKERS, message, own.origin);
            self.notices.error(&identity, post.help("Emissary shows this error in its diagnostics, but applies them anyway"));
        }
        auth.cluster = cluster;
        self.auth = Some(auth);
    }
}

/// The reference never names the circuit breakers of an AuthService.
fn unchecked_breakers(breakers: &Sourced<Vec<Sourced<spec::CircuitBreaker>>>) -> Breakers {
    let name = |(number, breaker): (usize, &Sourced<spec::CircuitBreaker>)| {
        Sourced::new(NamedBreaker { spec: breaker.value.clone(), name: format!("cbu{number}").into() }, breaker.origin)
    };
    Sourced::new(breakers.value.iter().enumerate().map(name).collect(), breakers.origin)
}
