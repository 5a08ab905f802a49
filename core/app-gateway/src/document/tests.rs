//! The content of the document, and the origin of each field.

use super::{Emitted, emit, output_map, text};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::executor::Sequential;
use chancery_base::ir::appgw::{Document, Gateway, Part, Pool, Port, Properties, Sku, document};
use chancery_base::resource::{ObjectId, Origin, Sourced};
use chancery_text::{NodeId, Str, to_json};

fn origin(node: u32) -> Origin {
    Origin::field(ObjectId::from_index(0), NodeId(node))
}

fn gateway() -> Gateway {
    let port = |name: &str, node: u32, number: i64| {
        Part::new(name, "", Port { port: Some(Sourced::new(number, origin(node + 1))), ..Port::default() }, origin(node))
    };
    let properties = Properties {
        ports: Some(Vec::from([port("fp-80", 10, 80).into(), port("fp-443", 20, 443).into()])),
        pools: Some(Vec::from([Part::new("pool", "/pool", Pool::default(), origin(30)).into()])),
        sku: Some(Sku { tier: Some(Sourced::built_in(Str::new("WAF_v2"))), ..Sku::default() }),
        operational_state: Some(Sourced::built_in(Str::new("Running"))),
        ..Properties::default()
    };
    Gateway { properties: Some(properties), ..Gateway::default() }
}

#[test]
fn parts_are_sorted_and_all_lists_present() {
    let document = document(&gateway(), Document::Parts);
    let ports = document.at(&["properties", "frontendPorts"]).unwrap().as_array().unwrap();
    let names: Vec<_> = ports.iter().map(|port| port.get("name").unwrap().as_str().unwrap()).collect();
    assert_eq!(names, ["fp-443", "fp-80"]);
    assert_eq!(document.at(&["properties"]).unwrap().as_object().unwrap().len(), 13);
    assert!(document.at(&["properties", "sku"]).is_none());
}

#[test]
fn the_whole_gateway_omits_what_azure_only_reports() {
    let text = text(&gateway(), Document::Whole, false);
    assert!(text.contains("WAF_v2") && !text.contains("Running") && !text.contains("redirectConfigurations"));
}

#[test]
fn output_map_has_origin_of_each_field() {
    let map = output_map(&gateway(), Document::Parts);
    // Sorted by name, port 80 is second.
    assert_eq!(map.get("/properties/frontendPorts/1/properties/port").unwrap(), [origin(11)]);
    assert_eq!(map.lookup("/properties/frontendPorts/1/name").unwrap().origins, [origin(10)]);
    assert_eq!(map.made_by(ObjectId::from_index(0), |origin| origin.node() == NodeId(21)), ["/properties/frontendPorts/0/properties/port"]);
}

#[test]
fn cached_document_equals_fresh_document() {
    let (mut gateway, mut emitted) = (gateway(), Emitted::default());
    for port in [80, 81] {
        let ports = gateway.properties.as_mut().unwrap().ports.as_mut().unwrap();
        Arc::make_mut(&mut ports[0]).properties.port = Some(Sourced::built_in(port));
        for (which, pretty) in [(Document::Parts, false), (Document::Whole, false), (Document::Parts, true), (Document::Whole, true)] {
            let text = emit(&gateway, which, pretty, &Sequential, &mut emitted).text();
            assert_eq!(text, to_json(&document(&gateway, which), pretty));
        }
    }
}
