//! Checks that an Application Gateway works like other gateways: its parts have origins, lines list the parts that they generate, and requests
//! can be simulated.

use chancery_core::backend::appgw::route::Ending;
use chancery_core::compilation::{Compilation, Options};
use chancery_core::compile::compile;
use chancery_core::dialect;
use chancery_core::explain::{Viewed, completions, explain_line, explain_pointer, hover, resolve, route_app_gateway};
use chancery_core::resource::SourceId;
use chancery_core::simulate::Request;
use chancery_tests::work::inputs;

const PATHS: &str = include_str!("../../assets/examples/ingress/paths.yaml");

fn compiled() -> Compilation {
    compile(&inputs([("paths.yaml", PATHS)]), &Options::default(), dialect::ALL)
}

/// Returns the number of the first line that contains this text.
fn line_of(text: &str) -> u32 {
    1 + PATHS.lines().position(|line| line.contains(text)).expect("the line") as u32
}

#[test]
fn lookup_app_gateway_lists_values_and_lines() {
    let compilation = compiled();
    let positions = compilation.positions();
    let documents: Vec<_> = compilation.app_gateways().map(|gateway| (gateway.named, Viewed::app_gateway(gateway.parts))).collect();
    let line = line_of("health-probe-path");
    let report = explain_line(&compilation, &positions, &documents, SourceId(0), line, None).expect("a report");
    let paths: Vec<_> = report.made.iter().filter(|made| made.pointer.ends_with("/properties/path")).collect();
    assert!(!paths.is_empty(), "{report:#?}");
    for made in paths {
        let why = explain_pointer(documents[0].0, &positions, &documents[0].1, &made.pointer);
        assert!(why.origins.iter().any(|origin| origin.span.as_ref().is_some_and(|span| span.line == line)), "{why:#?}");
        assert!(made.place[0].starts_with("probe `"), "{:?}", made.place);
    }
}

#[test]
fn app_gateway_pointer_finds_parts_by_name() {
    let compilation = compiled();
    let gateway = compilation.app_gateways().next().expect("it runs");
    assert_eq!(gateway.named.id.as_str(), "agic-rg/agic-appgw");
    let viewed = Viewed::app_gateway(gateway.parts);
    for (kind, list) in [("pool", "backendAddressPools"), ("probe", "probes"), ("rule", "requestRoutingRules"), ("path-map", "urlPathMaps")] {
        let parts = viewed.root.at(&["properties", list]).and_then(|parts| parts.as_array()).expect("a list");
        let name = parts[0].get("name").and_then(|name| name.as_str()).expect("a name");
        assert_eq!(resolve(&viewed.root, &format!("{kind}:{name}")), [format!("/properties/{list}/0")]);
    }
}

#[test]
fn route_app_gateway_finds_pool_and_lines() {
    let compilation = compiled();
    let positions = compilation.positions();
    let gateway = compilation.app_gateways().next().expect("it runs");
    let pool = |url: &str| {
        let report = route_app_gateway(gateway, &positions, &Request::new("GET", url).expect("a request"));
        match &report.journey.ending {
            Ending::Forwarded { pool, .. } => {
                assert!(report.origins.iter().any(|origin| origin.of == "pool" && origin.origin.span.is_some()), "{report:#?}");
                pool.to_string()
            }
            Ending::Refused { why, .. } => why.clone(),
            Ending::Redirected { location, .. } => location.clone(),
        }
    };
    assert!(pool("http://shop.example.com/api/v2/x").contains("api"));
    assert!(pool("http://shop.example.com/about").contains("web"));
    assert!(pool("http://absent.example.com/").contains("no listener"), "{}", pool("http://absent.example.com/"));
}

#[test]
fn annotation_completion_shows_type_and_default() {
    const PROBE: &str = "appgw.ingress.kubernetes.io/health-probe-path";
    let at = PATHS.find(PROBE).expect("the annotation");
    let compilation = compiled();
    let about = hover(&compilation, &compilation.positions(), SourceId(0), at as u32 + 3).expect("something to say");
    assert_eq!((about.title.as_str(), about.takes.as_str()), (PROBE, "string"));
    assert!(about.doc.contains("probes") && about.default.as_deref() == Some("that of the pod's probe, else of the rule"), "{about:#?}");
    let offered = completions(&[&dialect::ingress::DIALECT], PATHS, at as u32);
    let known = dialect::ingress::annotations::ALL;
    assert_eq!(offered.items.len(), known.len());
    for (item, annotation) in offered.items.iter().zip(known) {
        assert_eq!(item.label, annotation.name);
        assert!(item.doc.starts_with(annotation.doc) && item.doc.ends_with(annotation.default) && !item.detail.is_empty(), "{item:#?}");
    }
    let text = "kind: Ingress\nmetadata:\n  annotations:\n    appgw.ingress.kubernetes.io/ssl-redirect: ";
    let values = completions(&[&dialect::ingress::DIALECT], text, text.len() as u32).items;
    assert_eq!(values.iter().map(|value| value.insert.as_str()).collect::<Vec<_>>(), ["\"true\"", "\"false\""]);
    assert!(completions(&[&dialect::contour::DIALECT], text, text.len() as u32).items.is_empty(), "another controller has no such annotation");
}

#[test]
fn route_app_gateway_applies_rewrites_and_shows_probe() {
    let text = include_str!("../../assets/examples/ingress/rewrites.yaml");
    let compilation = compile(&inputs([("rewrites.yaml", text)]), &Options::default(), dialect::ALL);
    let gateway = compilation.app_gateways().next().expect("a gateway");
    let ask = |url: &str| route_app_gateway(gateway, &compilation.positions(), &Request::new("GET", url).expect("a request"));
    let report = ask("http://shop.example.com/Shop/cart");
    let Ending::Forwarded { path, .. } = &report.journey.ending else { panic!("{report:#?}") };
    assert_eq!(path, "/cart");
    let rewritten = report.rewritten.expect("rewrites");
    let states: Vec<(&str, Option<bool>)> = rewritten.rewrites.iter().map(|of| (of.name.as_str(), of.done)).collect();
    assert_eq!(states, [("forwarded", Some(true)), ("old-paths", Some(true))]);
    assert_eq!(rewritten.rewrites[0].response_headers, [("Server".into(), String::new())], "it is taken away");
    let probe = report.probe.expect("a probe");
    assert_eq!((probe.url.as_str(), probe.host.as_str(), probe.interval, probe.failures), ("http://10.1.0.4:8080/", "shop.example.com", 30, 3));
    assert_eq!(probe.good, ["200-399"]);
    let other = ask("http://shop.example.com/other");
    let Ending::Forwarded { path, .. } = &other.journey.ending else { panic!("{other:#?}") };
    assert_eq!((path.as_str(), other.rewritten.expect("rewrites").rewrites[1].done), ("/other", Some(false)));
}
