//! Tests the views of a small gateway, and of invalid texts.

use super::*;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, GatewayRef, Options};
use chancery_base::resource::{Input, Inputs, SourceId};
use chancery_compile::Compiler;
use chancery_envoy::config::{ByPointer, EnvoyConfig};
use chancery_envoy::simulate::Request;
use chancery_text::{Node, TextRange, to_json};

const GATEWAY: &str = "\
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: all}
spec:
  hostname: '*'
  requestPolicy: {insecure: {action: Route}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: quote}
spec:
  hostname: '*'
  prefix: /quote/
  service: quote
  timeout_ms: 4000
";

fn compile(text: &str) -> (Compiler, Compilation) {
    let mut compiler = Compiler::new(crate::testing::ALL);
    let inputs = Inputs::one("in.yaml", text);
    let compilation = compiler.compile(&inputs, &Options::default());
    (compiler, compilation)
}

fn only(compilation: &Compilation) -> GatewayRef<'_> {
    compilation.gateways().next().expect("a gateway")
}

fn line(text: &str, what: &str) -> u32 {
    1 + text.lines().position(|line| line.contains(what)).expect("the line") as u32
}

#[test]
fn positions_count_characters_and_utf16() {
    let (_, compilation) = compile("a: 1\nb: '𝄞é' # x\n");
    let positions = compilation.positions();
    let start = "a: 1\nb: '".len() as u32;
    let span = positions.span(SourceId(0), TextRange::new(start, start + 6)).expect("a place");
    assert_eq!((span.line, span.column, span.end_line, span.end_column), (2, 5, 2, 7));
    assert_eq!((span.column_utf16, span.end_column_utf16), (4, 7));
    assert_eq!((span.offset, span.end_offset), (start, start + 6));
}

#[test]
fn find_input_by_name_or_suffix() {
    let (_, mut compilation) = compile("");
    compilation.inputs.inputs[0].name = "some/where/in.yaml".into();
    let positions = compilation.positions();
    assert_eq!(positions.source("some/where/in.yaml"), Some(SourceId(0)));
    assert_eq!(positions.source("where/in.yaml"), Some(SourceId(0)));
    assert_eq!(positions.source("n.yaml"), None);
}

#[test]
fn value_has_line_in_every_view() {
    let (mut compiler, compilation) = compile(GATEWAY);
    let positions = compilation.positions();
    for (view, asked) in
        [(View::Envoy, "route:/quote/ route/timeout"), (View::Xds, "route:/quote/ route/timeout"), (View::Ir, "route:/quote/ action/forward/timeout")]
    {
        let viewed = Viewed::new(only(&compilation).ir, view, compiler.emitted.of(only(&compilation)));
        let found = resolve(&viewed.root, asked);
        assert!(!found.is_empty(), "{}", view.name());
        for pointer in found {
            let explanation = explain_pointer(only(&compilation).named(), &positions, &viewed, &pointer);
            assert_eq!(explanation.value.as_ref().map(|value| to_json(value, false)).as_deref(), Some("\"4s\""), "{pointer}");
            assert_eq!(explanation.from.as_deref(), Some(pointer.as_str()));
            let [origin] = &explanation.origins[..] else { panic!("one origin of {pointer}") };
            assert_eq!(origin.why, "set by `spec.timeout_ms` of Mapping quote.default");
            assert_eq!(origin.span.as_ref().map(|span| span.line), Some(line(GATEWAY, "timeout_ms")));
        }
    }
}

#[test]
fn line_and_value_explain_each_other() {
    let (mut compiler, compilation) = compile(GATEWAY);
    let positions = compilation.positions();
    for view in View::ALL {
        let viewed = Viewed::new(only(&compilation).ir, view, compiler.emitted.of(only(&compilation)));
        let documents = [(only(&compilation).named(), viewed)];
        let [(_, viewed)] = &documents;
        for number in 1..=GATEWAY.lines().count() as u32 {
            let report = explain_line(&compilation, &positions, &documents, SourceId(0), number, None).expect("a line");
            for made in &report.made {
                assert!(get(&viewed.root, &made.pointer).is_some() && !made.origins.is_empty(), "{} of line {number}", made.pointer);
                let back = explain_pointer(only(&compilation).named(), &positions, viewed, &made.pointer);
                assert!(made.origins.iter().all(|origin| back.origins.contains(origin)), "{} of line {number}", made.pointer);
            }
        }
        let report = explain_line(&compilation, &positions, &documents, SourceId(0), line(GATEWAY, "timeout_ms"), None).expect("a line");
        assert_eq!(report.fields, ["spec.timeout_ms"]);
        assert!(!report.made.is_empty() && !report.whole, "{}", view.name());
        assert!(explain_line(&compilation, &positions, &documents, SourceId(0), 999, None).is_none());
    }
}

#[test]
fn pointer_forms_are_resolved() {
    let (mut compiler, compilation) = compile(GATEWAY);
    let viewed = Viewed::new(only(&compilation).ir, View::Envoy, compiler.emitted.of(only(&compilation)));
    let whole = |asked: &str| resolve(&viewed.root, asked);
    let [exact] = &whole("cluster:cluster_quote_default")[..] else { panic!("one cluster") };
    let field = [format!("{exact}/connect_timeout")];
    assert_eq!(whole(&field[0]), field);
    assert_eq!(whole("/static_resources/clusters/cluster_quote_default/connect_timeout"), field);
    assert_eq!(whole("static_resources.clusters[cluster_quote_default].connect_timeout"), field);
    assert_eq!(whole("cluster_quote_default/connect_timeout"), field);
    assert_eq!(whole("cluster:cluster_quote_default/connect_timeout"), field);
    assert_eq!(whole(""), [""]);
    assert_eq!(whole(&format!("{exact}/not/said")), [format!("{exact}/not/said")]);
    assert!(whole("nothing of the kind").is_empty());
    assert_eq!(describe(&viewed.root, &field[0]), ["cluster `cluster_quote_default`", "connect_timeout"]);
}

#[test]
fn ledger_has_state_for_every_object() {
    let state = |text: &str| -> Vec<String> {
        let (_, compilation) = compile(text);
        let positions = compilation.positions();
        ledger(&compilation, &positions).into_iter().map(|row| format!("{} {}", row.resource.name, row.state)).collect()
    };
    assert_eq!(state(GATEWAY), ["http emitted", "all read", "quote emitted"], "the Host says what is the default");
    assert_eq!(state(&GATEWAY.replace("Route", "Redirect"))[1], "all emitted");
    let canary = GATEWAY.replace("  timeout_ms: 4000\n", "---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: canary}\nspec: {hostname: '*', prefix: /quote/, service: new, weight: 10}\n");
    assert_eq!(state(&canary)[2..], ["quote merged", "canary merged"]);
    let twice = format!("{GATEWAY}---\n{}", GATEWAY.rsplit("---\n").next().unwrap_or_default());
    assert_eq!(state(&twice)[2..], ["quote shadowed", "quote emitted"]);
    let unused = "apiVersion: getambassador.io/v3alpha1\nkind: TLSContext\nmetadata: {name: a}\nspec: {hosts: [a]}\n---\na: [\n";
    assert!(state(unused).iter().all(|state| state.ends_with("ignored") || state.ends_with("invalid")), "{:?}", state(unused));
}

#[test]
fn graph_has_resources_envoy_and_missing_nodes() {
    let (_, compilation) = compile(GATEWAY);
    let positions = compilation.positions();
    let graph = graph(&compilation, &positions);
    let edge = |from: &str, to: &str| graph.edges.iter().find(|edge| edge.from == from && edge.to == to);
    assert!(edge("Listener/http/default", "Host/all/default").is_some_and(|edge| edge.relation == Relation::Selects));
    assert!(edge("Host/all/default", "Mapping/quote/default").is_some_and(|edge| edge.relation == Relation::Selects));
    let service = edge("Mapping/quote/default", "missing:Service/quote/default").expect("the reference");
    assert_eq!(service.at.as_ref().and_then(|at| at.path.as_deref()), Some("spec.service"));
    assert!(edge("Mapping/quote/default", "cluster:cluster_quote_default").is_some_and(|edge| edge.relation == Relation::Makes));
    assert!(edge("cluster:cluster_quote_default", "endpoint:quote:80").is_some_and(|edge| edge.relation == Relation::Forwards));
    assert!(graph.cycles.is_empty());
    let hole = graph.nodes.iter().find(|node| node.kind == NodeKind::Missing).expect("the hole");
    assert_eq!(hole.reason.as_deref(), Some("not in the input; Envoy asks DNS for it"));
    let ids: Vec<&str> = graph.nodes.iter().map(|node| node.id.as_str()).collect();
    assert!(graph.edges.iter().all(|edge| ids.contains(&edge.from.as_str()) && ids.contains(&edge.to.as_str())));
}

/// Nodes and edges by name alone.
fn bare(nodes: &[&str], edges: &[(usize, usize)]) -> Graph {
    let node = |id: &&str| GraphNode::new(*id, NodeKind::Resource, id.to_string());
    let edge = |(from, to): &(usize, usize)| Edge {
        from: nodes[*from].into(),
        to: nodes[*to].into(),
        relation: Relation::Refers,
        label: "",
        at: None,
        terms: Box::default(),
        share: None,
        weight: None,
    };
    Graph { nodes: nodes.iter().map(node).collect(), edges: edges.iter().map(edge).collect(), cycles: Vec::new(), ..Graph::default() }
}

#[test]
fn why_prefers_the_shortest_way_along_relations() {
    let graph = bare(&["a", "b", "c", "d", "e"], &[(0, 1), (1, 2), (2, 3), (4, 0), (4, 3)]);
    let way = |from: &str, to: &str| -> Option<Vec<(&str, &str, bool)>> {
        Some(why(&graph, from, to)?.into_iter().map(|step| (step.edge.from.as_str(), step.edge.to.as_str(), step.back)).collect())
    };
    // The path through `e` is shorter, but explains less.
    assert_eq!(way("a", "d"), Some(Vec::from([("a", "b", false), ("b", "c", false), ("c", "d", false)])));
    assert_eq!(way("d", "a"), Some(Vec::from([("c", "d", true), ("b", "c", true), ("a", "b", true)])));
    assert_eq!(way("a", "e"), Some(Vec::from([("e", "a", true)])));
    assert_eq!(way("a", "a"), Some(Vec::new()));
    assert_eq!(way("a", "missing"), None);
    let apart = bare(&["a", "b"], &[]);
    assert_eq!(why(&apart, "a", "b"), None);
}

#[test]
fn focus_removes_unrelated_nodes() {
    let ids = |focus: &Focus| -> Vec<String> {
        let mut graph = bare(&["a", "b", "c", "d"], &[(0, 1), (1, 2), (3, 1)]);
        graph.nodes[2].errors = 1;
        focus.apply(&mut graph);
        assert!(graph.edges.iter().all(|edge| graph.nodes.iter().any(|node| node.id == edge.to)));
        graph.nodes.into_iter().map(|node| node.id.to_string()).collect()
    };
    assert_eq!(ids(&Focus::default()), ["a", "b", "c", "d"]);
    let from = |id: &str, depth| Focus { from: Vec::from([id.to_string()]), depth, ..Focus::default() };
    assert_eq!(ids(&from("a", None)), ["a", "b", "c"], "not the other predecessors of its targets");
    assert_eq!(ids(&from("a", Some(1))), ["a", "b"]);
    assert_eq!(ids(&Focus { only_errors: true, ..Focus::default() }), ["b", "c"]);
    assert!(ids(&Focus { kinds: Vec::from(["cluster".into()]), ..Focus::default() }).is_empty());
}

#[test]
fn picture_has_each_node_once_and_escapes() {
    let text = GATEWAY.replace("prefix: /quote/", "prefix: '/<script>&\"/'");
    let (_, compilation) = compile(&text);
    let positions = compilation.positions();
    let graph = graph(&compilation, &positions);
    let drawn = picture::picture(&graph, &picture::PictureOptions::default());
    assert_eq!(drawn.frames.len(), graph.nodes.len());
    assert!(drawn.threads.iter().all(|thread| thread.points.len() >= 2));
    // The parts that it makes already lead to the cluster.
    let drawn_edges: Vec<&Edge> = drawn.threads.iter().map(|thread| &graph.edges[thread.edge]).collect();
    assert!(!drawn_edges.iter().any(|edge| edge.relation == Relation::Makes && edge.to.starts_with("cluster:")));
    let svg = picture::svg(&drawn);
    assert_eq!(svg.matches("<rect class=\"b\"").count(), graph.nodes.len());
    assert!(!svg.contains("<script>") && svg.contains("/&lt;script&gt;&amp;&quot;/"), "{svg}");
}

#[test]
fn secrets_are_masked_in_excerpts() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  tls.key: U0VDUkVU\n---\nkind: Secret\nstringData:\n\tkey: SECRET\n";
    let (_, compilation) = compile(text);
    let positions = compilation.positions();
    let shown = positions.masked(SourceId(0), TextRange::new(0, text.len() as u32));
    assert_eq!(shown.len(), text.len());
    assert!(!shown.contains("U0VDUkVU") && !shown.contains("SECRET"), "{shown}");
    assert!(shown.contains("name: s") && shown.contains("tls.key:"), "{shown}");
}

#[test]
fn bytes_that_are_not_utf8_are_reported() {
    let (input, wrong) = Input::from_bytes("x", Vec::from(*b"a\xffb\xc3"));
    assert_eq!((input.text.to_string().as_str(), &wrong[..]), ("a\u{fffd}b\u{fffd}", &[(1, 1), (5, 3)][..]));
    let finding = not_utf8(SourceId(0), &wrong).expect("a finding");
    assert_eq!(finding.message, "the text is not UTF-8: byte 1 is invalid, and so is another byte");
}

#[test]
fn fold_keeps_rare_and_wrong_nodes() {
    let ids: Vec<String> = (0..50).map(|number| alloc::format!("Mapping/m{number}/default")).collect();
    let mut names: Vec<&str> = ids.iter().map(String::as_str).collect();
    names.push("Host/all/default");
    let edges: Vec<(usize, usize)> = (0..50).map(|from| (from, 50)).collect();
    let large = || {
        let mut graph = bare(&names, &edges);
        for node in &mut graph.nodes {
            let kind = node.id.split('/').next().unwrap_or_default();
            node.resource = Some(super::ResourceRef { kind: kind.into(), name: node.id.as_str().into(), namespace: Some("default".into()) }.into());
        }
        graph.nodes[7].errors = 1;
        graph
    };
    let mut graph = large();
    assert_eq!(graph.fold(51, &[]), 0, "it is small enough");
    assert_eq!(graph.fold(50, &[]), 49);
    let seen: Vec<(&str, Option<u32>)> = graph.nodes.iter().map(|node| (node.id.as_str(), node.folded)).collect();
    assert_eq!(seen, [("folded:Mapping/default", Some(49)), ("Mapping/m7/default", None), ("Host/all/default", None)]);
    let edges: Vec<(&str, &str)> = graph.edges.iter().map(|edge| (edge.from.as_str(), edge.to.as_str())).collect();
    assert_eq!(edges, [("folded:Mapping/default", "Host/all/default"), ("Mapping/m7/default", "Host/all/default")]);
    let mut graph = large();
    assert_eq!(graph.fold(50, &["Mapping/m9/default".into()]), 48, "an open node stays apart");
    assert!(graph.nodes.iter().any(|node| node.id == "Mapping/m9/default"));
    assert_eq!(large().fold(50, &["folded:Mapping/default".into()]), 0, "an open group stays apart");
}

#[test]
fn fold_joins_created_objects_in_small_graphs() {
    let mut graph = bare(&["Gateway/shop", "a", "b", "c", "d", "e"], &[(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)]);
    for node in graph.nodes.iter_mut().skip(1) {
        node.kind = super::NodeKind::Created;
        node.resource = Some(super::ResourceRef { kind: "Service".into(), name: node.id.as_str().into(), namespace: Some("shop".into()) }.into());
        node.gateway = Some(if node.id == "e" { "shop/other".into() } else { "shop/web".into() });
    }
    assert_eq!(graph.fold(50, &[]), 4);
    let seen: Vec<(&str, &str)> = graph.nodes.iter().map(|node| (node.id.as_str(), node.label.as_str())).collect();
    assert_eq!(seen, [("Gateway/shop", "Gateway/shop"), ("folded:created/shop/web", "4 \u{d7} created object\nshop/web"), ("e", "e")]);
}

#[test]
fn fold_separates_rules_and_their_resources() {
    let ids: Vec<String> = (0..60).map(|number| alloc::format!("p{number}")).collect();
    let names: Vec<&str> = ids.iter().map(String::as_str).collect();
    let edges: Vec<(usize, usize)> = (0..30).map(|from| (from, from + 30)).collect();
    let mut graph = bare(&names, &edges);
    for (at, node) in graph.nodes.iter_mut().enumerate() {
        node.resource = Some(super::ResourceRef { kind: "HTTPProxy".into(), name: node.id.as_str().into(), namespace: Some("shop".into()) }.into());
        node.kind = if at < 30 { super::NodeKind::Resource } else { super::NodeKind::Route };
    }
    assert_eq!(graph.fold(50, &[]), 60);
    let seen: Vec<(&str, &str)> = graph.nodes.iter().map(|node| (node.id.as_str(), node.label.as_str())).collect();
    let (proxies, rules) = ("folded:HTTPProxy/shop", "folded:route:HTTPProxy/shop");
    assert_eq!(seen, [(proxies, "30 \u{d7} HTTPProxy\nshop"), (rules, "30 \u{d7} rule\nHTTPProxy \u{b7} shop")]);
    let edges: Vec<(&str, &str)> = graph.edges.iter().map(|edge| (edge.from.as_str(), edge.to.as_str())).collect();
    assert_eq!(edges, [(proxies, rules)]);
}

#[test]
fn contour_config_has_stored_defaults() {
    let text = "\
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: refused, namespace: a}
spec: {virtualhost: {fqdn: 7}}
---
apiVersion: v1
kind: Service
metadata: {name: quote, namespace: a}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: a}
stringData: {password: hunter2}
";
    let inputs = Inputs::one("in.yaml", text);
    let compilation = Compiler::new(&[&chancery_contour::DIALECT]).compile(&inputs, &Options::default());
    let (tree, map) = dump_config(compilation.sides().next().expect("a side"));
    let json = to_json(&tree, false);
    assert!(!json.contains("refused") && !json.contains("hunter2"), "{json}");
    assert_eq!(tree.at(&["Service", "a/quote", "spec", "ports"]).and_then(Node::as_array).map(Vec::len), Some(1), "{json}");
    assert!(json.contains(r#""protocol":"TCP""#), "defaults are in: {json}");
    assert!(map.get("/Service/a~1quote/spec/ports/0/port").is_some());
    assert!(map.get("/Service/a~1quote/spec/ports/0/protocol").is_none(), "it is a default");
}

const SHOP: &str = "\
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: cart}
spec: {hostname: '*', prefix: /cart/, service: 'cart:8080'}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: cart-next}
spec: {hostname: '*', prefix: /cart/, service: 'cart-next:8080', weight: 10}
---
";

fn shop() -> String {
    format!("{SHOP}{GATEWAY}")
}

#[test]
fn story_shows_one_rule_with_shares() {
    let (_, compilation) = compile(&shop());
    let story = story(&graph(&compilation, &compilation.positions()), false);
    let title = |node: &GraphNode| node.label.lines().next().unwrap_or_default().to_string();
    let lane = |lane: u8| story.nodes.iter().filter(|node| node.lane == Some(lane)).map(title).collect::<Vec<_>>();
    assert_eq!(lane(0), ["Listener http.default"]);
    assert_eq!(lane(1), ["Host all.default"]);
    assert_eq!(lane(2), ["/quote/*", "/cart/*"]);
    assert_eq!(lane(3).len(), 3, "{:?}", lane(3));
    let cart = story.nodes.iter().find(|node| title(node) == "/cart/*").expect("the rule");
    let shares: Vec<u32> = story.edges.iter().filter(|edge| edge.from == cart.id).filter_map(|edge| edge.share).collect();
    assert_eq!(shares.iter().sum::<u32>(), 100, "{shares:?}");
    assert!(shares.contains(&10) && shares.contains(&90), "{shares:?}");
    let weights: Vec<_> = story.edges.iter().filter_map(|edge| Some((edge.share?, edge.weight.as_deref()))).collect();
    assert!(weights.contains(&(10, Some("spec.weight"))) && weights.contains(&(90, None)), "{weights:?}");
    for maker in ["Mapping/cart/default", "Mapping/cart-next/default"] {
        assert!(cart.stands_for.iter().any(|id| id == maker), "{:?}", cart.stands_for);
        assert!(story.nodes.iter().all(|node| node.id != maker), "{maker} is shown as its rule");
    }
    assert!(story.edges.iter().all(|edge| [&edge.from, &edge.to].iter().all(|id| story.nodes.iter().any(|node| node.id == **id))));
}

#[test]
fn story_path_ends_at_matching_rule() {
    let text = "\
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: shop, namespace: a}
spec:
  virtualhost: {fqdn: shop.example.com}
  routes:
  - {conditions: [{prefix: /}, {header: {name: x-canary, exact: one}}], services: [{name: one, port: 80}]}
  - {conditions: [{prefix: /}, {header: {name: x-canary, exact: two}}], services: [{name: two, port: 80}]}
  - {conditions: [{prefix: /}], services: [{name: all, port: 80}]}
";
    let (mut compiler, compilation) = compile(text);
    let story = story(&graph(&compilation, &compilation.positions()), false);
    let gateway = only(&compilation);
    let config = EnvoyConfig::of(gateway.ir);
    let parts = ByPointer::of(&config);
    let mut lit = |header: Option<&str>| {
        let mut request = Request::new("GET", "http://shop.example.com/").expect("a URL");
        header.into_iter().for_each(|value| request.add_header("x-canary", value));
        let report = route(gateway, &compilation.positions(), &request, compiler.emitted.of(gateway));
        let rules = story.nodes.iter().filter(|node| node.lane == Some(2) && story_path(&report, &parts, &story).iter().any(|id| *id == node.id));
        rules.filter_map(|node| Some(node.rule.as_ref()?.conditions.join(", "))).collect::<Vec<_>>()
    };
    assert_eq!(lit(None), [""]);
    assert_eq!(lit(Some("one")), ["x-canary one"]);
    assert_eq!(lit(Some("two")), ["x-canary two"]);
}

#[test]
fn narrow_picture_is_one_lane_without_overlaps() {
    let (_, compilation) = compile(&shop());
    let story = story(&graph(&compilation, &compilation.positions()), true);
    let picture = picture::picture(&story, &picture::PictureOptions { narrow: true, ..Default::default() });
    assert!(picture.width <= 390 - 48, "{}", picture.width);
    let mut rows: Vec<(i32, i32)> = picture.frames.iter().map(|frame| (frame.y, frame.y + frame.height)).collect();
    rows.sort_unstable();
    assert!(rows.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{rows:?}");
    assert!(picture.threads.iter().all(|thread| thread.points.len() == 3));
}

#[test]
fn picture_fits_width_with_closer_columns() {
    let (_, compilation) = compile(&shop());
    let story = story(&graph(&compilation, &compilation.positions()), true);
    let drawn = |room| picture::picture(&story, &picture::PictureOptions { room, ..Default::default() });
    let wide = drawn(None);
    assert_eq!(drawn(Some(wide.width)), wide, "a fitting picture does not change");
    let closer = drawn(Some(wide.width - 20));
    assert!(closer.width <= wide.width - 20, "{} of {}", closer.width, wide.width);
    let titles = |of: &picture::Picture| of.frames.iter().map(|frame| frame.title.clone()).collect::<Vec<_>>();
    assert_eq!(titles(&closer), titles(&wide));
    assert_eq!(titles(&drawn(Some(1))), titles(&wide), "a picture that cannot fit is not cut");
}

/// A picture without boxes whose lines have the share 90 and this weight.
fn picture_of_shares(lines: &[(i32, i32)], weight: Option<&str>) -> picture::Picture {
    let line = |(from, to): &(i32, i32)| picture::EdgePath {
        from: 0,
        to: 1,
        edge: 0,
        relation: Relation::Forwards,
        label: String::new(),
        share: Some(90),
        weight: weight.map(Into::into),
        cycle: false,
        points: Vec::from([layout::Point { x: 0, y: *from }, layout::Point { x: 90, y: *to }]),
    };
    picture::Picture { threads: lines.iter().map(line).collect(), ..Default::default() }
}

#[test]
fn share_is_written_next_to_line() {
    let at = |from: i32, to: i32| picture::share_labels(&picture_of_shares(&[(from, to)], None))[0].clone().expect("a place").at.y;
    assert!(at(0, 50) > 50, "the line comes from above");
    assert!(at(90, 50) < 50, "the line comes from below");
}

#[test]
fn shares_of_one_box_do_not_overlap() {
    let places: Vec<_> = picture::share_labels(&picture_of_shares(&[(0, 50), (0, 50)], None)).into_iter().flatten().map(|of| of.at).collect();
    assert_eq!(places.len(), 2);
    assert!((places[0].y - places[1].y).abs() >= 14, "{places:?}");
}

#[test]
fn share_names_weight_if_there_is_room() {
    let text = |weight| picture::share_labels(&picture_of_shares(&[(0, 50)], Some(weight)))[0].clone().expect("a place").text;
    assert_eq!(text("spec.weight"), "weight 90%");
    assert_eq!(text("spec.weight-of-a-long-name"), "90%");
}

#[test]
fn input_without_line_lacks_one_field() {
    const TEXT: &str = "\
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: a, namespace: default} # a comment
spec:
  hostname: '*'
  prefix: /a/
  docs: {path: /docs,
    timeout_ms: 3}
  host_redirect: |
    one

    two
  methods: [GET, POST]
  add_request_headers:
  - name: x
    value: y
  - name: z
  - last
  service: web:80";
    let without = |line: u32| {
        let compilation = compile(TEXT).1;
        super::input_without_line(&compilation, SourceId(0), line).map(|found| (found.field, found.text))
    };
    let expected = [
        (3, "metadata", "metadata: {name: a, namespace: default} # a comment\n"),
        (5, "spec.hostname", "  hostname: '*'\n"),
        (7, "spec.docs", "  docs: {path: /docs,\n    timeout_ms: 3}\n"),
        (8, "spec.docs.timeout_ms", ",\n    timeout_ms: 3"),
        (9, "spec.host_redirect", "  host_redirect: |\n    one\n\n    two\n"),
        (13, "spec.methods", "  methods: [GET, POST]\n"),
        (15, "spec.add_request_headers[0]", "  - name: x\n    value: y\n"),
        (16, "spec.add_request_headers[0].value", "    value: y\n"),
        (18, "spec.add_request_headers[2]", "  - last\n"),
        (19, "spec.service", "  service: web:80"),
    ];
    for (line, field, gone) in expected {
        assert_eq!(without(line), Some((field.into(), TEXT.replacen(gone, "", 1))), "line {line}");
    }
    for line in [10, 12, 99] {
        assert_eq!(without(line), None, "nothing begins on line {line}");
    }
}

#[test]
fn input_without_patch_lacks_one_patch() {
    const POLICY: &str = "\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyPatchPolicy
metadata: {name: a, namespace: default}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: eg}
  type: JSONPatch
  jsonPatches:
";
    const FIRST: &str = "  - type: first\n    operation:\n      op: remove\n      path: /a\n";
    const SECOND: &str = "  - type: second\n    operation: {op: remove, path: /b}\n";
    let both = [POLICY, FIRST, SECOND].concat();
    let without = |text: &str, line: u32| {
        let mut compiler = Compiler::new(&[&chancery_envoy_gateway::DIALECT]);
        let compilation = compiler.compile(&Inputs::one("a.yaml", text), &Options::default());
        super::input_without_patch(&compilation, SourceId(0), line).map(|found| (found.field, found.text))
    };
    let head = POLICY.trim_end().strip_suffix("jsonPatches:").expect("a list").trim_end_matches(' ');
    for line in 8..12 {
        assert_eq!(without(&both, line), Some(("spec.jsonPatches[0]".into(), [POLICY, SECOND].concat())), "line {line}");
    }
    for line in [12, 13] {
        assert_eq!(without(&both, line), Some(("spec.jsonPatches[1]".into(), [POLICY, FIRST].concat())), "line {line}");
    }
    for line in [3, 6, 7] {
        assert_eq!(without(&both, line), Some(("spec.jsonPatches".into(), head.into())), "line {line}");
    }
    assert_eq!(without(&[POLICY, FIRST].concat(), 8), Some(("spec.jsonPatches".into(), head.into())), "the only patch");
}
