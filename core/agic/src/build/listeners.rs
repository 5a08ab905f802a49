//! Makes listeners and ports: one listener for each requested port, address and list of hosts.
//!
//! AGIC `pkg/appgw/frontend_listeners.go` and `ingress_rules.go`. HTTP and HTTPS at one port are one listener, and the later one wins.

use super::builder::{Builder, kept, own};
use super::certificates::secret_for;
use super::draft::{ListenerConfig, RequestedListener};
use super::listeners_by_id::{self, ListenersById};
use super::memory::{KnownListener, address};
use crate::annotations as a;
use crate::brownfield;
use crate::crash::ControllerCrash;
use crate::kinds::Kind;
use crate::model::{Ingress, Path, Rule};
use crate::names::{ListenerId, MOST_HOSTS, Names, PartKind};
use crate::source::Source;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Frontend, FrontendType, HTTP, HTTPS, Listener, Part, Parts, Port, Properties, Reference};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;
use hashbrown::HashSet;

/// Returns all hosts of a rule without duplicates: its own and those of the annotation.
pub(crate) fn all_hosts(ingress: &Ingress, rule: Option<&Rule>) -> Vec<Sourced<Str>> {
    let mut hosts: Vec<Sourced<Str>> = rule.map(|rule| rule.host.clone()).into_iter().filter(|host| !host.is_empty()).collect();
    for host in ingress.annotations.items(&a::HOSTNAME_EXTENSION) {
        if !host.is_empty() && !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    hosts
}

/// Returns the effective hosts: the first five.
pub(super) fn hosts_of(ingress: &Ingress, rule: Option<&Rule>) -> Vec<Sourced<Str>> {
    let mut hosts = all_hosts(ingress, rule);
    hosts.truncate(MOST_HOSTS);
    hosts
}

fn id_of(source: &Source<'_>, ingress: &Ingress, rule: &Rule, is_https: bool) -> ListenerId {
    let chosen = ingress.annotations.number(&a::OVERRIDE_FRONTEND_PORT).value().map_or(0, |port| port.value);
    let private = source.environment.private_ip || ingress.annotations.is_true(&a::USE_PRIVATE_IP);
    let port = match chosen {
        1..65_000 => chosen,
        _ if is_https => 443,
        _ => 80,
    };
    let hosts = hosts_of(ingress, Some(rule));
    let origin = hosts.first().and_then(|host| host.origin).or(Some(rule.origin));
    let frontend = if private { FrontendType::Private } else { FrontendType::Public };
    ListenerId::new(port, hosts.into_iter().map(|host| host.value).collect(), frontend, origin)
}

/// Returns the listeners of a rule: HTTPS with a certificate, HTTP without one or for redirects. If both have the same port, HTTP wins.
pub(crate) fn of_rule(source: &Source<'_>, names: &Names, ingress: &Ingress, rule: &Rule) -> BTreeMap<ListenerId, ListenerConfig> {
    let annotations = &ingress.annotations;
    let secret = secret_for(source, ingress, &rule.host).map(|(name, origin)| Sourced::new(names.certificate(&ingress.namespace, &name), origin));
    let certificate = secret.or_else(|| annotations.some_text(&a::SSL_CERTIFICATE));
    let wants_redirect = annotations.is_true(&a::SSL_REDIRECT);
    let mut listeners = BTreeMap::new();
    let has_tls = certificate.is_some();
    if has_tls {
        let id = id_of(source, ingress, rule, true);
        let at = annotations.text(&a::SSL_REDIRECT).and_then(|text| text.origin);
        let config = ListenerConfig {
            is_https: true,
            redirect: wants_redirect.then(|| Sourced::new(names.redirect(&id), at)),
            certificate,
            profile: annotations.some_text(&a::SSL_PROFILE),
            policy: None,
            origin: rule.origin,
        };
        listeners.insert(id, config);
    }
    if wants_redirect || !has_tls {
        let config = ListenerConfig { is_https: false, certificate: None, redirect: None, profile: None, policy: None, origin: rule.origin };
        listeners.insert(id_of(source, ingress, rule, false), config);
    }
    listeners
}

/// Returns the listeners that an Ingress requests; the later of two rules for one listener wins.
pub(crate) fn of_ingress(source: &Source<'_>, names: &Names, ingress: &Ingress) -> BTreeMap<ListenerId, ListenerConfig> {
    let policy = ingress.annotations.some_text(&a::WAF_POLICY);
    let mut listeners = BTreeMap::new();
    for rule in ingress.rules.iter().filter(|rule| rule.http.is_some()) {
        // The policy applies to the listener if a path of the rule matches everything.
        let policy = policy.as_ref().filter(|_| rule.paths().iter().any(Path::is_catch_all));
        for (id, mut config) in of_rule(source, names, ingress, rule) {
            config.policy = policy.cloned();
            listeners.insert(id, config);
        }
    }
    listeners
}

/// Makes listeners and ports.
pub(super) fn make(builder: &mut Builder<'_, '_>) -> Result<(), ControllerCrash> {
    if builder.istio && istio_requests_listener(builder) {
        return Err(istio_crash());
    }
    // The last configuration of a listener wins.
    let mut all: Vec<(Arc<RequestedListener>, bool)> =
        builder.shares.iter().flat_map(|share| &share.listeners).map(|wanted| (wanted.clone(), true)).collect();
    if all.is_empty() {
        let policy = builder.shares.iter().find_map(|share| share.ingress.annotations.some_text(&a::WAF_POLICY));
        let origin = Origin::built_in();
        let config = ListenerConfig { is_https: false, certificate: None, redirect: None, profile: None, policy, origin };
        all.push((Arc::new(RequestedListener { id: Arc::new(builder.given().default_listener()), config }), true));
    }
    builder.wanted = builder.memory.orders.configs.winners(all, |wanted| &*wanted.id);
    let present: Parts<Port> = builder.properties().ports.clone().unwrap_or_default();
    // The last port of a number wins.
    let mut ports: BTreeMap<i64, Arc<Part<Port>>> = present.into_iter().map(|port| (number(&port), port)).collect();
    let mut made: Parts<Listener> = Vec::with_capacity(builder.wanted.len());
    for wanted in &builder.wanted {
        let RequestedListener { id, config } = &**wanted;
        let (frontend, port) = place_of(builder.gateway.properties.as_ref(), builder.names, id, config, &mut ports)?;
        let is = |known: &KnownListener| known.frontend == frontend.id && known.port == port.id;
        let make = || {
            let listener = Arc::new(listener(builder.names, id, config, &frontend, &port));
            KnownListener { listener, frontend: frontend.id.clone(), port: port.id.clone(), wanted: wanted.clone() }
        };
        made.push(builder.memory.listeners.or_make(address(wanted), is, make).listener.clone());
    }
    let known_by = builder.wanted.iter().map(|wanted| wanted.id.clone()).zip(made.iter().cloned()).collect();
    if let Some(existing) = builder.existing()? {
        let theirs = kept(&builder.properties().listeners, |name| existing.listeners.contains(name));
        made = brownfield::listeners(theirs, made);
    }
    let made = builder.memory.orders.listeners.sorted(made, Part::name);
    let in_use: HashSet<Str> = made.iter().filter_map(|listener| Some(listener.properties.port.as_ref()?.id.value.clone())).collect();
    let ports: Parts<Port> = ports.into_values().filter(|port| in_use.contains(&port.id)).collect();
    let is_shared = builder.targets.is_some();
    let properties = builder.properties();
    properties.ports = Some(ports);
    properties.listeners = Some(made);
    builder.found =
        if !is_shared && has_distinct_places(properties) { ListenersById::in_order(known_by) } else { ListenersById::of(identify(properties)?) };
    Ok(())
}

fn number(port: &Part<Port>) -> i64 {
    port.properties.port.map_or(0, |port| port.value)
}

/// An address and a port.
type ListenerPlace = (Arc<Part<Frontend>>, Arc<Part<Port>>);

/// Returns the address and the port of a listener; a missing port is added.
fn place_of(
    gateway: Option<&Properties>,
    names: &Names,
    id: &ListenerId,
    config: &ListenerConfig,
    ports: &mut BTreeMap<i64, Arc<Part<Port>>>,
) -> Result<ListenerPlace, ControllerCrash> {
    let without = || format!("the gateway has no {} address for its listeners", id.frontend.name().to_lowercase());
    let frontend = gateway.and_then(|properties| properties.frontend(id.frontend)).ok_or_else(|| ControllerCrash::of(without(), id.origin))?;
    let port = ports.entry(id.port).or_insert_with(|| {
        let name = names.port(id.port);
        let port = Port { port: Some(Sourced::new(id.port, Some(config.origin))), ..Port::default() };
        let part_id = names.id(PartKind::Port, &name);
        Arc::new(Part::new(name, part_id, port, config.origin))
    });
    Ok((frontend.clone(), port.clone()))
}

fn listener(names: &Names, id: &ListenerId, config: &ListenerConfig, frontend: &Part<Frontend>, port: &Part<Port>) -> Part<Listener> {
    let hosts = id.hosts.iter().map(|host| Sourced::new(host.clone(), id.origin)).collect();
    let named =
        |kind: PartKind, name: &Option<Sourced<Str>>| name.as_ref().map(|name| Reference::from(Sourced::new(names.id(kind, name), name.origin)));
    let https = config.is_https;
    let protocol = Sourced::new(Str::new_static(if https { HTTPS } else { HTTP }), config.origin);
    let listener = Listener {
        frontend: Some(frontend.reference(config.origin)),
        port: Some(port.reference(config.origin)),
        protocol: Some(protocol),
        host_names: Some(hosts),
        require_sni: own(false),
        certificate: named(PartKind::Certificate, &config.certificate).filter(|_| https),
        ssl_profile: named(PartKind::SslProfile, &config.profile).filter(|_| https),
        firewall_policy: config.policy.clone().map(Reference::from),
        ..Listener::default()
    };
    let name = names.listener(id);
    let part_id = names.id(PartKind::Listener, &name);
    Part::new(name, part_id, listener, config.origin)
}

/// Whether all ports and addresses have distinct ids, and each address one type: then a listener has one identity.
fn has_distinct_places(properties: &Properties) -> bool {
    let (mut ports, mut frontends) = (HashSet::new(), HashSet::new());
    let is_of_one_type = |frontend: &Frontend| frontend.private_ip.is_none() || frontend.public_ip.is_none();
    properties.ports.iter().flatten().all(|port| ports.insert(&port.id))
        && properties.frontends.iter().flatten().all(|frontend| frontends.insert(&frontend.id) && is_of_one_type(&frontend.properties))
}

/// Returns the listeners of the gateway with their identities, sorted by name.
fn identify(properties: &Properties) -> Result<Vec<listeners_by_id::Entry>, ControllerCrash> {
    let ports: BTreeMap<&Str, i64> = properties.ports.iter().flatten().map(|port| (&port.id, number(port))).collect();
    let frontends: BTreeMap<&Str, bool> =
        properties.frontends.iter().flatten().map(|frontend| (&frontend.id, frontend.properties.private_ip.is_some())).collect();
    let mut found = Vec::new();
    for listener in properties.listeners.iter().flatten() {
        let lacks = |field: &str| ControllerCrash::without_field(&listener.name, field, listener.origin);
        let frontend = listener.properties.frontend.as_ref().ok_or_else(|| lacks("frontendIPConfiguration"))?;
        let private = frontends.get(&frontend.id.value);
        let private = *private.ok_or_else(|| {
            ControllerCrash::of(format!("the listener `{}` is at an address that the gateway does not have", listener.name), frontend.id.origin)
        })?;
        let port = listener.properties.port.as_ref().ok_or_else(|| lacks("frontendPort"))?;
        let several = listener.properties.host_names.as_ref().filter(|hosts| !hosts.is_empty());
        let hosts: Vec<Str> = match several {
            Some(hosts) => hosts.iter().take(MOST_HOSTS).map(|host| host.value.clone()).collect(),
            None => listener.properties.host_name.iter().map(|host| host.value.clone()).filter(|host| !host.is_empty()).collect(),
        };
        let port = ports.get(&port.id.value).copied().unwrap_or_default();
        let id = ListenerId::new(port, hosts, if private { FrontendType::Private } else { FrontendType::Public }, listener.origin);
        found.push((Arc::new(id), listener.clone()));
    }
    Ok(found)
}

/// Whether a server of an Istio Gateway requests a listener: HTTP, for a host of a VirtualService.
fn istio_requests_listener(builder: &Builder<'_, '_>) -> bool {
    let cluster = builder.source.cluster;
    let services = cluster.all(Kind::IstioVirtualService).flat_map(|held| held.root().at("spec.hosts").texts());
    let known: BTreeSet<Str> = services.map(|host| host.value).collect();
    cluster.all(Kind::IstioGateway).any(|held| {
        held.root()
            .at("spec.servers")
            .items()
            .any(|server| server.at("port.protocol").str() == "HTTP" && server.field("hosts").items().any(|host| known.contains(host.str())))
    })
}

fn istio_crash() -> ControllerCrash {
    let why = "APPGW_ENABLE_ISTIO_INTEGRATION is on and Istio's Gateways and VirtualServices are there: AGIC makes listeners of them without an \
               address";
    ControllerCrash::of(why, None)
}
