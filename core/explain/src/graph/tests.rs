//! The overview of examples of several dialects: boxes by column, shares and rules about calls; and the verdict that names the same services.

use crate::{Graph, Relation, RunningGateway, callers, overview};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, OptionValue, Options};
use chancery_base::resource::Inputs;
use chancery_compile::{Compiler, EmittedByGateway};
use chancery_envoy::simulate::Request;

macro_rules! example {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/examples/", $name, ".yaml"))
    };
}

fn compile(text: &str, options: &Options) -> Compilation {
    Compiler::new(crate::testing::ALL).compile(&Inputs::one("input.yaml", text), options)
}

fn story_of(text: &str, options: &Options) -> (Compilation, Graph) {
    let compilation = compile(text, options);
    let story = overview(&compilation, &compilation.positions());
    (compilation, story)
}

fn column(story: &Graph, lane: u8) -> Vec<&str> {
    let nodes = story.nodes.iter().filter(|node| node.lane == Some(lane));
    nodes.map(|node| node.label.lines().next().unwrap_or_default()).collect()
}

fn verdict(compilation: &Compilation, story: &Graph, method: &str, url: &str) -> String {
    let request = Request::new(method, url).expect("a request");
    let gateway = RunningGateway::all(compilation).into_iter().next().expect("a gateway");
    gateway.route(&compilation.positions(), &request, &mut EmittedByGateway::default(), story).verdict().sentence.clone()
}

#[test]
fn divided_cluster_shows_services_with_shares() {
    let (compilation, story) = story_of(example!("envoy-gateway/shop"), &Options::default());
    let services = column(&story, 3);
    assert!(services.contains(&"cart:8080") && services.contains(&"cart-next:8080"), "{services:?}");
    let shares: Vec<u32> = story.edges.iter().filter_map(|edge| edge.share).collect();
    assert_eq!(shares, [90, 10]);
    assert_eq!(verdict(&compilation, &story, "GET", "http://shop.example.com/cart"), "90% cart:8080, 10% cart-next:8080");
}

#[test]
fn virtual_host_of_several_routes_is_shown_itself() {
    let (_, story) = story_of(example!("envoy-gateway/shop"), &Options::default());
    assert_eq!(column(&story, 1), ["shop.example.com"]);
    // An HTTPProxy that includes others is their host.
    let (_, story) = story_of(example!("contour/teams"), &Options::default());
    assert!(column(&story, 1).iter().all(|host| host.starts_with("HTTPProxy")), "{:?}", column(&story, 1));
}

#[test]
fn nginx_has_columns_from_listener_to_service() {
    let (compilation, story) = story_of(example!("ingress-nginx/shop"), &Options::default());
    assert_eq!(column(&story, 0), ["nginx"]);
    assert!(column(&story, 1).contains(&"shop.example.com"), "{:?}", column(&story, 1));
    assert!(column(&story, 3).iter().any(|service| service.starts_with("api")), "{:?}", column(&story, 3));
    assert!(verdict(&compilation, &story, "GET", "http://shop.example.com/api").starts_with("api:8080 at "));
}

#[test]
fn intention_is_an_arrow_between_services() {
    let deny = Options::default().with("default-policy", OptionValue::Text("deny".into()));
    let (compilation, story) = story_of(example!("consul/intentions"), &deny);
    let calls: Vec<(&str, &str, Relation)> = story
        .edges
        .iter()
        .filter(|edge| edge.relation.call_effect().is_some())
        .map(|edge| (edge.from.as_str(), edge.to.as_str(), edge.relation))
        .collect();
    assert_eq!(calls, [("service/web", "service/orders", Relation::Decides)]);
    let terms: Vec<String> = story.edges.iter().flat_map(|edge| edge.terms.iter().map(ToString::to_string)).collect();
    assert_eq!(terms, ["deny DELETE /*", "allow /orders*"]);
    assert!(story.cycles.is_empty(), "an intention does not point back to its caller");
    let callers = callers(&story, &[String::from("service/orders")]);
    let [caller] = &callers[..] else { panic!("{callers:?}") };
    assert!(caller.starts_with("`web` may call it under conditions: deny DELETE /*, then allow /orders* ("), "{caller}");
    let of = |method: &str, path: &str| verdict(&compilation, &story, method, &format!("http://localhost:9191{path}"));
    assert_eq!(of("GET", "/orders/1"), "orders, by permission 2 of intention `orders`");
    assert_eq!(of("DELETE", "/orders/1"), "orders, but permission 1 of intention `orders` denies it: deny DELETE /* (403)");
}

#[test]
fn reference_belongs_to_the_rule_of_its_field() {
    let ingress = "apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop, annotations: {kubernetes.io/ingress.class: azure/application-gateway}}
spec:
  rules:
  - host: a.example.com
    http: {paths: [{path: /a, pathType: Exact, backend: {service: {name: a, port: {number: 80}}}}, {path: /b, pathType: Exact, backend: {service: {name: b, port: {number: 80}}}}]}
";
    let (_, story) = story_of(ingress, &Options::default());
    let name = |id: &str| story.nodes.iter().find(|node| node.id == *id).map(|node| node.label.lines().next().unwrap_or_default().to_string());
    let rules = story.nodes.iter().filter(|node| node.lane == Some(2));
    let onward = |id: &str| story.edges.iter().filter(|edge| edge.from == *id).filter_map(|edge| name(&edge.to)).collect::<Vec<_>>();
    let all: Vec<(String, Vec<String>)> = rules.map(|node| (name(&node.id).unwrap_or_default(), onward(&node.id))).collect();
    let expected =
        [("/a", &["Service a.shop", "defaultaddresspool"][..]), ("/b", &["Service b.shop", "defaultaddresspool"]), ("/*", &["defaultaddresspool"])];
    assert_eq!(all, expected.map(|(rule, to)| (rule.to_string(), to.iter().map(ToString::to_string).collect())));
}
