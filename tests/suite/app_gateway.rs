//! An Application Gateway is a gateway like others: its parts have origins, lines say what they make, and requests are taken through it.

use chancery_core::backend::appgw::route::Ending;
use chancery_core::compilation::{Compilation, Options};
use chancery_core::compile::compile;
use chancery_core::dialect;
use chancery_core::explain::{Viewed, explain_line, explain_pointer, resolve, route_app_gateway};
use chancery_core::resource::SourceId;
use chancery_core::simulate::Request;
use chancery_tests::work::inputs;

const PATHS: &str = include_str!("../../assets/examples/ingress/paths.yaml");

fn compiled() -> Compilation {
    compile(&inputs([("paths.yaml", PATHS)]), &Options::default(), dialect::ALL)
}

/// The number of the first line that has this text.
fn line_of(text: &str) -> u32 {
    1 + PATHS.lines().position(|line| line.contains(text)).expect("the line") as u32
}

#[test]
fn a_line_names_what_it_makes_and_what_it_makes_names_the_line() {
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
fn parts_are_found_by_their_kind_and_name() {
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
fn a_request_is_taken_to_the_pool_of_its_path_and_names_the_lines() {
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
    assert!(pool("http://nobody.example.com/").contains("no listener"), "{}", pool("http://nobody.example.com/"));
}
