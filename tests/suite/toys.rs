//! Adds a small dialect, back end and output outside of the core, to show how little code each of them needs.

use chancery_core::Ir;
use chancery_core::check::check;
use chancery_core::compilation::{
    Answers, Claim, Dialect, Draft, Gateway, GatewayId, Hints, OptionKind, OptionSpec, Options, Outcome, Output, SideRef, Stages, State, Task,
};
use chancery_core::compile::{Compiler, detect};
use chancery_core::diagnostic::{Diagnostic, Place, Policy, codes};
use chancery_core::dialect;
use chancery_core::executor::Sequential;
use chancery_core::explain::{View, Viewed, explain_pointer, findings, graph, ledger, resolve};
use chancery_core::ir::{
    Cluster, FilterChain, Forward, HttpConnectionManager, Listener, NetworkFilter, PathMatch, Route, RouteAction, UpstreamClusters, VirtualHost,
};
use chancery_core::read::ReadOptions;
use chancery_core::resource::{Object, Origin, Rule, Sourced};
use chancery_core::text::{Node, Str, Value};
use chancery_tests::work::inputs;
use std::sync::Arc;

/// A dialect of one kind: a `Door` opens a port of the named gateway, and sends everything to one service.
static TOY: Dialect = Dialect {
    name: "toy",
    controller: "Doorman",
    claims: &[Claim::Version("doors.example.com/")],
    read_options: |_| ReadOptions::default(),
    kinds: Vec::new,
    listing: Vec::new,
    foreign_kinds: &[],
    reads: |key| key.group == "doors.example.com" && key.kind == "Door",
    references: |_, _| Vec::new(),
    options: &[OptionSpec {
        name: "door-prefix",
        kind: OptionKind::Text { placeholder: "PATH", default: "/" },
        doc: "Doors open below this path",
        common: true,
    }],
    defaults: &[],
    hints: Hints {
        why_idle: |_| "no door leads there",
        why_unreached: |_, _| None,
        disabled_fields: |_| Vec::new(),
        precedence_change: |_, _| None,
        route_order: |_| &[],
    },
    annotations: &[],
    outputs: &[Output { name: "doors", doc: "How many doors each gateway has", document: doors, traced: None }],
    checks: &[narrow],
    codes: &[],
    memory: || Box::new(()),
    compile: open,
    cluster_label: |_| None,
    setting_changes: |_, _| Vec::new(),
};

#[derive(Debug)]
struct Doors;

impl Stages for Doors {}

fn open(task: Task<'_>) -> Draft {
    let prefix = task.options.text("door-prefix").cloned().unwrap_or_else(|| "/".into());
    let mut gateways: Vec<(Str, Ir)> = Vec::new();
    for door in task.objects.iter().filter(|object| object.key.kind == "Door") {
        let Some(building) = door.root.at(&["spec", "building"]).and_then(Node::as_str) else {
            task.ledger.set(door.id, State::Invalid("it has no building".into()));
            continue;
        };
        task.ledger.set(door.id, State::Loaded);
        let at = match gateways.iter().position(|(name, _)| name == building) {
            Some(at) => at,
            None => {
                gateways.push((building.into(), Ir::default()));
                gateways.len() - 1
            }
        };
        let (listener, cluster) = door_of(door, &prefix);
        gateways[at].1.listeners.push(Arc::new(listener));
        gateways[at].1.clusters.push(Arc::new(cluster));
    }
    let gateway = |(name, ir): (Str, Ir)| Gateway { id: GatewayId::named("doors", &name), owner: None, outcome: Outcome::Runs(Arc::new(ir)) };
    Draft { stages: Arc::new(Doors), answers: Answers::default(), gateways: gateways.into_iter().map(gateway).collect() }
}

fn door_of(door: &Object, prefix: &Str) -> (Listener, Cluster) {
    let node = |path: &[&str]| door.root.at(path).expect("a field");
    let origin = |node: &Node| Origin::new(door.id, node.id, Rule::Field);
    let (port, service) = (node(&["spec", "port"]), node(&["spec", "service"]));
    let whole = vec![Origin::new(door.id, door.root.id, Rule::Field)];
    let name: Str = service.as_str().unwrap_or_default().into();
    let name = Sourced { value: name, origin: Some(origin(service)) };
    let forward = Forward { clusters: UpstreamClusters::One(name.clone()), ..Forward::default() };
    let mut route = Route { action: RouteAction::Forward(Arc::new(forward)), origins: whole.clone(), ..Route::default() };
    route.matcher.path = Sourced { value: PathMatch::Prefix(prefix.clone()), origin: None };
    let mut manager = HttpConnectionManager::default();
    manager.routes.virtual_hosts = vec![VirtualHost {
        name: door.key.name.clone(),
        domains: vec![Sourced { value: "*".into(), origin: None }],
        routes: Arc::new(vec![Arc::new(route)]),
        ..VirtualHost::default()
    }];
    let mut listener = Listener { origins: whole.clone(), ..Listener::default() };
    listener.name = Sourced { value: door.key.name.clone(), origin: None };
    listener.address.address = Sourced { value: "0.0.0.0".into(), origin: None };
    listener.address.port = Sourced { value: port.as_i64().and_then(|port| u16::try_from(port).ok()).expect("a port"), origin: Some(origin(port)) };
    listener.chains = vec![FilterChain { filters: vec![NetworkFilter::Http(Arc::new(manager))], origins: whole.clone(), ..FilterChain::default() }];
    (listener, Cluster { name, origins: whole, ..Cluster::default() })
}

/// A check that only this dialect has.
fn narrow(side: SideRef<'_>) -> Vec<Diagnostic> {
    let narrow = side.objects().iter().filter(|object| object.root.at(&["spec", "width"]).and_then(Node::as_i64).is_some_and(|width| width < 60));
    narrow.map(|object| Diagnostic::new(&codes::UNSERVED, "the door is too narrow", Place::value(object.id, object.root.id))).collect()
}

/// An output that only this dialect has.
fn doors(side: SideRef<'_>) -> Option<Node> {
    let counts = side.gateways().map(|gateway| (Str::from(gateway.id.as_str()), Node::synthesised(Value::Int(gateway.ir.listeners.len() as i64))));
    Some(Node::synthesised(Value::Object(counts.collect())))
}

/// A back end: prints a gateway as a human-readable list.
fn printed(ir: &Ir) -> Vec<String> {
    let mut out = Vec::new();
    for listener in &ir.listeners {
        for filter in listener.chains.iter().flat_map(|chain| &chain.filters) {
            let NetworkFilter::Http(manager) = filter else { continue };
            for route in manager.routes.virtual_hosts.iter().flat_map(|host| host.routes.iter()) {
                let RouteAction::Forward(forward) = &route.action else { continue };
                let UpstreamClusters::One(name) = &forward.clusters else { continue };
                out.push(format!("port {} leads to {}", listener.address.port.value, name.value));
            }
        }
    }
    out
}

const TEXT: &str = "\
apiVersion: doors.example.com/v1
kind: Door
metadata: {name: front, namespace: default}
spec: {building: north, port: 8001, service: hall}
---
apiVersion: doors.example.com/v1
kind: Door
metadata: {name: back, namespace: default}
spec: {building: south, port: 8002, service: yard, width: 50}
---
apiVersion: doors.example.com/v1
kind: Door
metadata: {name: side, namespace: default}
spec: {port: 8003, service: nowhere}
";

fn dialects() -> Vec<&'static Dialect> {
    let mut all = dialect::ALL.to_vec();
    all.push(&TOY);
    all
}

#[test]
fn dialect_needs_only_its_descriptor() {
    let inputs = inputs([("doors.yaml", TEXT)]);
    let found = detect(&inputs, &dialects());
    assert_eq!(found.found, [(&TOY, Claim::Version("doors.example.com/"))]);
    let mut compiler = Compiler::new(&dialects());
    let mut compilation = compiler.compile(&inputs, &Options::default());
    assert_eq!(compilation.gateways().map(|gateway| gateway.id.to_string()).collect::<Vec<_>>(), ["doors/north", "doors/south"]);
    check(&mut compilation, &Policy::default(), &mut compiler.emitted, &Sequential);
    let positions = compilation.positions();
    let found = findings(&compilation, &positions);
    assert!(found.iter().any(|finding| finding.message == "the door is too narrow" && finding.span.as_ref().is_some_and(|span| span.line == 8)));
    let states: Vec<_> = ledger(&compilation, &positions).into_iter().map(|row| format!("{} {}", row.resource.name, row.state)).collect();
    assert_eq!(states, ["front emitted", "back emitted", "side invalid"]);
    let graph = graph(&compilation, &positions);
    assert!(graph.nodes.iter().any(|node| node.id == "doors/south/listener:back" && node.gateway.as_deref() == Some("doors/south")));
    let south = compilation.gateways().nth(1).expect("the second");
    let viewed = Viewed::new(south.ir, View::Envoy, compiler.emitted.of(south));
    let pointer = resolve(&viewed.root, "port_value").into_iter().find(|pointer| pointer.contains("listeners")).expect("the port");
    let why = explain_pointer(south.named(), &positions, &viewed, &pointer);
    assert_eq!(why.origins[0].span.as_ref().map(|span| span.line), Some(9), "each field leads to its line: {pointer}");
}

#[test]
fn dialect_options_are_read_from_descriptor() {
    let options = Options::from_words("dialect=toy door-prefix=/in", &dialects()).expect("options");
    let compilation = Compiler::new(&dialects()).compile(&inputs([("doors.yaml", TEXT)]), &options);
    let north = compilation.gateways().next().expect("a gateway");
    let NetworkFilter::Http(manager) = &north.ir.listeners[0].chains[0].filters[0] else { panic!("HTTP") };
    assert_eq!(manager.routes.virtual_hosts[0].routes[0].matcher.path.value, PathMatch::Prefix("/in".into()));
    let unknown = Options::from_words("door-prefx=/in", &dialects()).expect_err("there is no such option");
    assert_eq!(unknown.to_string(), "there is no option `door-prefx`; did you mean `door-prefix`?");
}

#[test]
fn output_needs_only_its_descriptor_line() {
    let compilation = Compiler::new(&[&TOY]).compile(&inputs([("doors.yaml", TEXT)]), &Options::default());
    let side = compilation.sides().next().expect("a side");
    let output = side.dialect().output("doors").expect("the output");
    assert_eq!(chancery_core::text::to_json(&(output.document)(side).expect("a document"), false), r#"{"doors/north":1,"doors/south":1}"#);
}

#[test]
fn back_end_needs_only_the_ir() {
    let compilation = Compiler::new(&dialects()).compile(&inputs([("doors.yaml", TEXT)]), &Options::default());
    let lists: Vec<_> = compilation.gateways().map(|gateway| printed(gateway.ir)).collect();
    assert_eq!(lists, [["port 8001 leads to hall"], ["port 8002 leads to yard"]]);
}
