//! Tests of the manager: events in, snapshots and watches out.

use super::*;
use crate::documents;
use crate::names::UpstreamId;
use crate::service;
use crate::state::{DATACENTER, State};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::resource::Inputs;
use chancery_text::Str;

/// A service whose sidecar calls another.
fn service(name: &str, port: u16, upstream: &str) -> String {
    let upstreams = if upstream.is_empty() { String::new() } else { format!("{{destination_name: {upstream}, local_bind_port: 9191}}") };
    format!("---\nservice:\n  name: {name}\n  port: {port}\n  connect: {{sidecar_service: {{proxy: {{upstreams: [{upstreams}]}}}}}}\n")
}

fn state(text: &str) -> Arc<State> {
    let (objects, findings) = documents::load(&Inputs::one("in.yaml", text));
    assert!(findings.is_empty(), "{findings:?}");
    let state = State::of(&objects, DATACENTER);
    assert!(state.diagnostics.is_empty(), "{:?}", state.diagnostics);
    Arc::new(state)
}

fn catalog(text: &str) -> Catalog {
    Catalog::new(state(text), Arc::new(BTreeMap::new()), false)
}

/// A manager with all proxies of a state, up to date.
fn managed(state: &State, data: &mut Catalog) -> Manager {
    let mut manager = Manager::default();
    let mut local = Local::default();
    local.sync(&state.served(), state, &BTreeSet::new(), &mut manager);
    manager.run(data);
    manager
}

/// A data source that replies when the test tells it to.
#[derive(Default)]
struct Scripted {
    open: BTreeMap<CorrelationId, Watch>,
    ended: Vec<Watch>,
}

impl Scripted {
    fn id(&self, of: impl Fn(&Watch) -> bool) -> Option<CorrelationId> {
        self.open.iter().find(|(_, watch)| of(watch)).map(|(id, _)| *id)
    }

    /// The open watches for instances.
    fn instances(&self) -> Vec<String> {
        self.open.values().filter(|watch| matches!(watch, Watch::Health(_))).map(ToString::to_string).collect()
    }
}

impl DataSource for Scripted {
    fn notify(&mut self, request: &Watch, id: CorrelationId, _: &mut Sender) {
        assert!(self.open.insert(id, request.clone()).is_none(), "a correlation id belongs to one watch");
    }

    fn cancel(&mut self, id: CorrelationId) {
        self.ended.extend(self.open.remove(&id));
    }
}

/// The catalog's reply to a watch.
fn answer(text: &str, watch: &Watch) -> Arc<Reply> {
    let (mut data, mut sender) = (catalog(text), Sender::new());
    data.notify(watch, CorrelationId(0), &mut sender);
    sender.pop().expect("a catalog answers at once").reply
}

#[test]
fn chained_watch_follows_its_reply() {
    let text = service("web", 80, "api");
    let known = state(&text);
    let (_, instance) = known.served().pop().expect("a sidecar");
    let (mut manager, mut data) = (Manager::default(), Scripted::default());
    let id = Str::new_static("web-sidecar-proxy");
    manager.register(&id, Arc::new(service::merged(&instance, &known.entries)));
    manager.run(&mut data);
    assert!(data.instances().is_empty(), "which instances are wanted is known with the chain: {:?}", data.open);
    let chain = data.id(|watch| matches!(watch, Watch::Chain(..))).expect("the chain is watched from the beginning");
    let watch = data.open[&chain].clone();
    // An event for another id changes nothing.
    manager.inbox.push(Event { id: CorrelationId(4711), reply: answer(&text, &watch) });
    assert!(manager.run(&mut data).is_empty());
    manager.inbox.push(Event { id: chain, reply: answer(&text, &watch) });
    assert_eq!(manager.run(&mut data), BTreeSet::from([id.clone()]));
    assert_eq!(data.instances(), ["instances of api in dc1"]);
    // A redirect: the instances of the old target are no longer watched.
    let redirected = format!("{text}---\nKind: service-resolver\nName: api\nRedirect: {{Service: other}}\n");
    manager.inbox.push(Event { id: chain, reply: answer(&redirected, &watch) });
    manager.run(&mut data);
    assert_eq!(data.instances(), ["instances of other in dc1"]);
    assert_eq!(data.ended.iter().map(ToString::to_string).collect::<Vec<_>>(), ["instances of api in dc1"]);
    // The snapshot is complete with the last reply, not before.
    let is_complete = |manager: &Manager| manager.snapshot(&id).expect("a snapshot").mail.is_complete();
    for (correlation, open) in data.open.clone().into_iter().filter(|(other, _)| *other != chain) {
        assert!(!is_complete(&manager), "{open} has no answer yet");
        manager.inbox.push(Event { id: correlation, reply: answer(&redirected, &open) });
        manager.run(&mut data);
    }
    assert!(is_complete(&manager));
    // All watches end with the proxy.
    manager.deregister(&id, &mut data);
    assert!(data.open.is_empty() && manager.watch_count() == 0, "{:?}", data.open);
}

#[test]
fn a_wake_up_with_unchanged_content_is_dropped() {
    let text = format!("---\nKind: service-defaults\nName: api\nProtocol: http\n{}{}", service("api", 81, ""), service("web", 80, "api"));
    let before = state(&text);
    let mut data = Catalog::new(before.clone(), Arc::default(), false);
    let mut manager = managed(&before, &mut data);
    // The connection limit of a service does not affect its routing.
    let edited = text.replace("Protocol: http\n", "Protocol: http\nMaxInboundConnections: 7\n");
    data.replace(state(&edited), &mut manager.inbox);
    let counts = data.counts();
    assert!(counts.woken >= 1 && counts.woken == counts.dropped, "{counts:?}");
    assert!(manager.inbox.is_empty());
    // The same documents again send no event.
    data.replace(state(&edited), &mut manager.inbox);
    assert_eq!(data.counts(), counts);
    // A change of the chain is delivered.
    data.replace(state(&edited.replace("Protocol: http", "Protocol: grpc")), &mut manager.inbox);
    assert!(data.counts().woken > data.counts().dropped, "{:?}", data.counts());
    assert_eq!(manager.run(&mut data), BTreeSet::from([Str::new_static("web-sidecar-proxy")]));
}

#[test]
fn edit_reaches_only_affected_proxies() {
    let text = ["api", "billing", "stock"].iter().enumerate().map(|(at, name)| service(name, 90 + at as u16, "")).collect::<String>();
    let text = text + &service("web", 80, "api") + &service("shop", 81, "billing") + &service("page", 82, "api");
    let before = state(&text);
    let mut data = Catalog::new(before.clone(), Arc::default(), false);
    let mut manager = managed(&before, &mut data);
    let alike = manager.ids().count();
    assert!(manager.watch_count() < alike * 6, "proxies with equal watches share them: {}", manager.watch_count());
    let edits = [
        ("---\nKind: service-resolver\nName: api\nConnectTimeout: 9s\n", ["page-sidecar-proxy", "web-sidecar-proxy"].as_slice()),
        ("---\nKind: service-intentions\nName: stock\nSources: [{Name: web, Action: deny}]\n", &["stock-sidecar-proxy"]),
        ("---\nKind: service-resolver\nName: unused\nConnectTimeout: 9s\n", &[]),
    ];
    let mut now = text;
    for (added, concerned) in edits {
        now = format!("{now}{added}");
        data.replace(state(&now), &mut manager.inbox);
        let reached = manager.run(&mut data);
        assert_eq!(reached.iter().map(Str::as_str).collect::<Vec<_>>(), concerned, "{added}");
    }
}

/// A proxy of another node than the agent's.
const ELSEWHERE: &str = "---\nKind: consul-agent\nDatacenter: dc1\nNode: server\n---\nNode: server\nAddress: 10.0.0.1\nService:\n  Kind: \
                         connect-proxy\n  ID: own\n  Service: own\n  Port: 1\n  Proxy: {DestinationServiceName: web}\n---\nNode: client\nAddress: \
                         10.0.0.2\nService:\n  Kind: connect-proxy\n  ID: other\n  Service: other\n  Port: 2\n  Proxy: {DestinationServiceName: web}\n";

#[test]
fn agent_and_catalog_merge_defaults_at_different_times() {
    let first = state(ELSEWHERE);
    let mut data = Catalog::new(first.clone(), Arc::default(), false);
    let (mut local, mut from_catalog, mut manager) = (Local::default(), FromCatalog::default(), Manager::default());
    local.sync(&first.served(), &first, &BTreeSet::new(), &mut manager);
    assert_eq!(manager.ids().map(Str::as_str).collect::<Vec<_>>(), ["own"]);
    from_catalog.sync(&first.served(), &first, &BTreeSet::new(), &mut manager);
    assert_eq!(manager.ids().map(Str::as_str).collect::<Vec<_>>(), ["other", "own"]);
    manager.run(&mut data);
    // Both see new defaults, and neither is registered again for defaults of others.
    let mut sync = |text: &str, manager: &mut Manager| {
        let now = state(text);
        let changed = data.replace(now.clone(), &mut manager.inbox);
        let mut sources: [&mut dyn ConfigSource; 2] = [&mut local, &mut from_catalog];
        sources.iter_mut().for_each(|source| source.let_go(&now.served(), manager, &mut data));
        sources.iter_mut().for_each(|source| source.sync(&now.served(), &now, &changed, manager));
        manager.run(&mut data)
    };
    let defaults = "---\nKind: service-defaults\nName: web\nMaxInboundConnections: 5\n";
    let reached = sync(&format!("{ELSEWHERE}{defaults}"), &mut manager);
    assert_eq!(reached.len(), 2, "{reached:?}");
    for id in ["own", "other"] {
        let snapshot = manager.snapshot(&Str::new_static(id)).expect("a snapshot");
        assert_eq!(snapshot.instance.proxy.at(&["Config", "max_inbound_connections"]).int(), 5, "{id}");
    }
    let of_others = format!("{ELSEWHERE}{defaults}---\nKind: service-defaults\nName: api\nMaxInboundConnections: 6\n");
    assert!(sync(&of_others, &mut manager).is_empty());
    // A removed proxy is released, with its watches.
    let end = of_others.find("---\nNode: client").zip(of_others.find("---\nKind: service-defaults"));
    let (from, to) = end.expect("both are there");
    sync(&format!("{}{}", &of_others[..from], &of_others[to..]), &mut manager);
    assert_eq!(manager.ids().map(Str::as_str).collect::<Vec<_>>(), ["own"]);
}

#[test]
fn live_proxy_waits_for_its_certificate() {
    let live = "---\nKind: consul-agent\nDatacenter: dc1\nNode: n1\n---\nNode: n1\nAddress: 10.0.0.1\nService: {Kind: connect-proxy, ID: p, Service: p, Port: 1, \
                Proxy: {DestinationServiceName: web}}\n";
    let roots = "---\nKind: consul-roots\nName: roots\nCertificates: c\n";
    let leaf = "---\nKind: consul-leaf\nName: web\nCertPEM: c\nPrivateKeyPEM: k\n";
    let catalog = |text: &str| Catalog::new(state(text), Arc::default(), false);
    let open = |manager: &Manager| {
        let snapshot = manager.snapshot(&Str::new_static("p")).expect("a snapshot");
        snapshot.mail.open().map(ToString::to_string).collect::<Vec<_>>()
    };
    let first = state(live);
    let (mut manager, mut data, mut sources) = (Manager::default(), Mirror::new(catalog(live)), FromCatalog::default());
    sources.sync(&first.served(), &first, &BTreeSet::new(), &mut manager);
    Local::default().sync(&first.served(), &first, &BTreeSet::new(), &mut manager);
    manager.run(&mut data);
    assert_eq!(open(&manager), ["certificate of web", "certificates of the CA"]);
    data.replace(state(&format!("{live}{roots}")), &mut manager.inbox);
    assert_eq!(manager.run(&mut data).len(), 1);
    assert_eq!(open(&manager), ["certificate of web"]);
    data.replace(state(&format!("{live}{roots}{leaf}")), &mut manager.inbox);
    manager.run(&mut data);
    assert!(open(&manager).is_empty());
    // A new certificate under the same name does not change the proxy's data.
    data.replace(state(&format!("{live}{roots}{}", leaf.replace("CertPEM: c", "CertPEM: d"))), &mut manager.inbox);
    assert!(manager.run(&mut data).is_empty());
    // Inputs name the certificates that Consul issues at runtime: nothing is pending.
    let mut manager = Manager::default();
    Local::default().sync(&first.served(), &first, &BTreeSet::new(), &mut manager);
    manager.run(&mut catalog(live));
    assert!(open(&manager).is_empty());
}

#[test]
fn dependent_watches_end_with_their_cause() {
    let gateway = "---\nservice: {kind: ingress-gateway, name: igw, port: 8888}\n";
    let entry = "---\nKind: ingress-gateway\nName: igw\nListeners: [{Port: 8888, Protocol: tcp, Services: [{Name: api}]}]\n";
    let before = state(&format!("{}{gateway}{entry}", service("api", 81, "")));
    let mut data = Catalog::new(before.clone(), Arc::default(), false);
    let mut manager = managed(&before, &mut data);
    let chains = |manager: &Manager| manager.snapshot(&Str::new_static("igw")).expect("a snapshot").mail.chains().count();
    assert_eq!(chains(&manager), 1);
    data.replace(state(&format!("{}{gateway}", service("api", 81, ""))), &mut manager.inbox);
    manager.run(&mut data);
    let mail = manager.snapshot(&Str::new_static("igw")).expect("a snapshot").mail;
    assert_eq!((chains(&manager), mail.registrations().len()), (0, 0), "{:?}", mail.answer());
}

#[test]
fn listed_upstream_has_one_chain() {
    let text = format!("---\nKind: proxy-defaults\nName: global\nMode: transparent\n{}{}", service("api", 81, ""), service("web", 80, "api"));
    let known = state(&text);
    let mut data = Catalog::new(known.clone(), Arc::default(), false);
    let manager = managed(&known, &mut data);
    let snapshot = manager.snapshot(&Str::new_static("web-sidecar-proxy")).expect("a snapshot");
    let chains: Vec<&UpstreamId> = snapshot.mail.chains().map(|(id, _)| id).collect();
    assert_eq!(chains, [&UpstreamId::service(&Str::new_static("api"))]);
}
