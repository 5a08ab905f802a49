//! Chains of small entries, checked against the rules.

use super::*;
use crate::documents;
use crate::state::State;
use alloc::string::ToString;
use chancery_base::resource::Inputs;

fn state(text: &str) -> State {
    let (objects, findings) = documents::load(&Inputs::one("input.yaml", text));
    assert!(findings.is_empty(), "{findings:?}");
    let state = State::of(&objects, "dc1");
    assert!(state.diagnostics.is_empty(), "{:?}", state.diagnostics);
    state
}

fn request(service: &str) -> Request {
    Request { service: service.into(), datacenter: "dc1".into(), ..Request::default() }
}

#[test]
fn nothing_configured_is_a_default_chain() {
    let state = state("");
    let chain = compile(&Set::of(&state.entries), &request("api")).expect("is one");
    assert!(chain.default);
    assert_eq!(chain.protocol, "tcp");
    assert_eq!(chain.start, "resolver:api.default.default.dc1");
    let target = chain.only_target().expect("is one");
    assert_eq!((target.id.as_str(), *target.connect_timeout), ("api.default.default.dc1", 5_000_000_000));
}

const HTTP: &str = "{Kind: proxy-defaults, Name: global, Config: {protocol: http}}\n---\n";

#[test]
fn splits_of_splits_multiply() {
    let text = alloc::format!(
        "{HTTP}{{Kind: service-splitter, Name: b, Splits: [{{Weight: 25, Service: c}}, {{Weight: 75, Service: d}}]}}\n---\n\
         {{Kind: service-splitter, Name: a, Splits: [{{Weight: 40, Service: b}}, {{Weight: 60}}]}}\n"
    );
    let state = state(&text);
    let chain = compile(&Set::of(&state.entries), &request("a")).expect("is one");
    let Some(NodeKind::Splitter(splits)) = chain.first().map(|node| &node.kind) else { panic!("no splitter: {chain:?}") };
    let shares: Vec<(String, f64)> = splits.iter().map(|split| (split.next.clone(), split.weight)).collect();
    let resolver = |name: &str| alloc::format!("resolver:{name}.default.default.dc1");
    assert_eq!(shares, [(resolver("c"), 10.0), (resolver("d"), 30.0), (resolver("a"), 60.0)]);
    assert_eq!(chain.nodes.len(), 4);
}

#[test]
fn tcp_proxy_skips_routers_and_has_hash() {
    let text =
        alloc::format!("{HTTP}{{Kind: service-router, Name: api, Routes: [{{Match: {{HTTP: {{PathPrefix: /x}}}}, Destination: {{Service: x}}}}]}}");
    let state = state(&text);
    let chain = compile(&Set::of(&state.entries), &Request { protocol: "tcp".into(), ..request("api") }).expect("is one");
    assert_eq!((chain.protocol.as_str(), chain.hash.len(), chain.nodes.len()), ("tcp", 8, 1));
    let chain = compile(&Set::of(&state.entries), &request("api")).expect("is one");
    assert_eq!(chain.start, "router:api.default.default");
    assert!(chain.hash.is_empty());
}

#[test]
fn redirect_drops_first_target_and_failover_excludes_itself() {
    let state = state(
        "{Kind: service-resolver, Name: b, ConnectTimeout: 7s, Failover: {'*': {Datacenters: [dc1, dc2]}}}\n---\n\
         {Kind: service-resolver, Name: a, ConnectTimeout: 1s, Redirect: {Service: b}}\n",
    );
    let chain = compile(&Set::of(&state.entries), &request("a")).expect("is one");
    let Some(NodeKind::Resolver(resolver)) = chain.first().map(|node| &node.kind) else { panic!("no resolver: {chain:?}") };
    assert_eq!(*resolver.connect_timeout, 7_000_000_000);
    assert_eq!(resolver.failover, ["b.default.default.dc2".to_string()]);
    assert!(!chain.default);
}
