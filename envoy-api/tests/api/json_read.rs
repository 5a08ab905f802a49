//! Tests of the JSON reader: it reads every field that fits, and reports the rest.

use chancery_envoy_api::envoy::admin::v3::{ConfigDump, RoutesConfigDump};
use chancery_envoy_api::envoy::config::cluster::v3::Cluster;
use chancery_envoy_api::envoy::config::core::v3::{RoutingPriority, TypedExtensionConfig};
use chancery_envoy_api::envoy::config::route::v3::{RouteAction, RouteConfiguration, RouteMatch, route_match};
use chancery_envoy_api::envoy::extensions::filters::http::buffer::v3::Buffer;
use chancery_envoy_api::json::{self, ProblemKind, Style};
use chancery_envoy_api::{Any, Duration, FieldMask, Timestamp};

fn problems<M: json::Readable>(text: &str) -> Vec<(String, ProblemKind)> {
    let read = json::from_str::<M>(text).expect("JSON");
    read.problems.into_iter().map(|p| (p.pointer, p.kind)).collect()
}

#[test]
fn both_spellings_of_a_name() {
    for text in [r#"{"max_request_bytes": 7}"#, r#"{"maxRequestBytes": "7"}"#, r#"{"maxRequestBytes": 7.0}"#, r#" { "max_request_bytes":7e0 } "#] {
        let read = json::from_str::<Buffer>(text).expect("JSON");
        assert_eq!((read.message.max_request_bytes, read.problems), (Some(7), vec![]), "{text}");
    }
}

#[test]
fn reader_accepts_values_that_envoy_accepts() {
    let text = r#"{"prefix": "/", "case_sensitive": "No", "headers": {"name": "x"}}"#;
    let read = json::from_str::<RouteMatch>(text).expect("JSON");
    assert_eq!(read.problems, []);
    assert_eq!((read.message.case_sensitive, read.message.headers.len()), (Some(false), 1));
    let wrong = [("/case_sensitive".to_owned(), ProblemKind::WrongType)];
    assert_eq!(problems::<RouteMatch>(r#"{"case_sensitive": "maybe"}"#), wrong);
    assert_eq!(problems::<RouteMatch>(r#"{"case_sensitive": 1}"#), wrong);
}

#[test]
fn null_is_absence() {
    let read = json::from_str::<RouteMatch>(r#"{"prefix": null, "path": "/", "headers": null, "case_sensitive": null}"#).expect("JSON");
    assert_eq!(read.problems, []);
    assert_eq!(read.message.path_specifier, Some(route_match::PathSpecifier::Path("/".to_owned())));
}

#[test]
fn enums_by_name_or_number() {
    for text in [r#"{"priority": "HIGH"}"#, r#"{"priority": "high"}"#, r#"{"priority": 1}"#] {
        let read = json::from_str::<RouteAction>(text).expect("JSON");
        assert_eq!((read.message.priority(), read.problems), (RoutingPriority::High, vec![]));
    }
    assert_eq!(problems::<RouteAction>(r#"{"priority": "urgent"}"#), [("/priority".to_owned(), ProblemKind::UnknownEnumValue)]);
}

#[test]
fn wrong_fields_are_reported_and_others_read() {
    let text = r#"{
        "name": "c",
        "nonsense": {"a": [1, {"b": "}"}]},
        "connect_timeout": "soon",
        "health_checks": [{"timeout": "1s"}, {"timeout": 5, "interval": "2s"}],
        "load_assignment": {"endpoints": [{"priority": "one"}]},
        "alt_stat_name": "last"
    }"#;
    let read = json::from_str::<Cluster>(text).expect("JSON");
    let found: Vec<(&str, ProblemKind)> = read.problems.iter().map(|p| (&*p.pointer, p.kind)).collect();
    assert_eq!(
        found,
        [
            ("", ProblemKind::UnknownField),
            ("/connect_timeout", ProblemKind::WrongType),
            ("/health_checks/1/timeout", ProblemKind::WrongType),
            ("/load_assignment/endpoints/0/priority", ProblemKind::WrongType),
        ]
    );
    assert_eq!(read.message.alt_stat_name, "last");
    assert_eq!(read.message.health_checks[1].interval, Some(Duration { seconds: 2, nanos: 0 }));
    assert_eq!(problems::<RouteMatch>(r#"{"prefix": "/a", "path": "/b"}"#), [("/path".to_owned(), ProblemKind::OneofTwice)]);
}

#[test]
fn text_that_is_no_json() {
    for text in ["", "{", r#"{"name""#, r#"{"name": "x",}"#, r#"{"name": 01}"#, "{} {}", "{\"name\": \"\n\"}", r#"{"name": "\q"}"#, "[1,]", "nul"] {
        assert!(json::from_str::<RouteConfiguration>(text).is_err(), "{text}");
    }
    assert!(json::from_str::<RouteConfiguration>(&"[".repeat(100_000)).is_err());
    assert!(json::from_str::<RouteConfiguration>(&r#"{"a":"#.repeat(100_000)).is_err());
}

#[test]
fn escapes() {
    let read = json::from_str::<String>(r#""a\u00e9\ud83d\ude80\/\b\u0000\ud800x""#).expect("JSON");
    assert_eq!(read.message, "aé🚀/\u{8}\0\u{fffd}x");
}

#[test]
fn well_known_types() {
    let duration = |text: &str| json::from_str::<Duration>(&format!("{text:?}")).expect("JSON").message;
    assert_eq!(duration("1.5s"), Duration { seconds: 1, nanos: 500_000_000 });
    assert_eq!(duration("-0.000000001s"), Duration { seconds: 0, nanos: -1 });
    let time = |text: &str| json::from_str::<Timestamp>(&format!("{text:?}")).expect("JSON").message;
    assert_eq!(time("2000-02-29T01:00:00.5+01:00"), Timestamp { seconds: 951_782_400, nanos: 500_000_000 });
    let mask = json::from_str::<FieldMask>(r#""a.bC,d""#).expect("JSON").message;
    assert_eq!(mask.paths, ["a.b_c", "d"]);
    assert_eq!(json::to_string(&mask), r#""a.bC,d""#);
    for (text, bytes) in [(r#""AQI=""#, &[1u8, 2][..]), (r#""AQI""#, &[1, 2]), (r#""-_8=""#, &[0xfb, 0xff]), (r#""""#, &[])] {
        assert_eq!(json::from_str::<Vec<u8>>(text).expect("JSON").message, bytes, "{text}");
    }
}

#[test]
fn an_unknown_type_stays_json() {
    let text = r#"{"name": "x", "typed_config": {"b": [1, "} \" "], "@type": "type.googleapis.com/un.known", "e": {}}}"#;
    let read = json::from_str::<TypedExtensionConfig>(text).expect("JSON");
    assert_eq!(read.problems.iter().map(|p| p.kind).collect::<Vec<_>>(), [ProblemKind::UnknownType]);
    let wanted = r#"{"name":"x","typed_config":{"b":[1,"} \" "],"@type":"type.googleapis.com/un.known","e":{}}}"#;
    assert_eq!(json::to_string(&read.message), wanted);
    let pretty = json::to_string_with(&read.message, &Style::PRETTY.indent(1));
    assert!(
        pretty.ends_with("{\n  \"b\": [\n   1,\n   \"} \\\" \"\n  ],\n  \"@type\": \"type.googleapis.com/un.known\",\n  \"e\": {}\n }\n}"),
        "{pretty}"
    );
}

#[test]
fn any_reads_types_with_special_json() {
    for text in [
        r#"{"@type":"type.googleapis.com/google.protobuf.StringValue","value":"x"}"#,
        r#"{"@type":"type.googleapis.com/google.protobuf.Struct","value":{"a":null}}"#,
        r#"{"@type":"type.googleapis.com/google.protobuf.Duration","value":"1s"}"#,
        r#"{"@type":"type.googleapis.com/google.protobuf.Empty"}"#,
    ] {
        let read = json::from_str::<Any>(text).expect("JSON");
        assert_eq!((json::to_string(&read.message), read.problems), (text.to_owned(), vec![]));
    }
}

#[test]
fn a_config_dump() {
    let read = json::from_str::<ConfigDump>(include_str!("../samples/config_dump.json")).expect("JSON");
    assert_eq!(read.problems, []);
    let routes = read.message.configs.iter().find_map(Any::downcast_ref::<RoutesConfigDump>).expect("routes");
    let config = routes.dynamic_route_configs[0].route_config.as_ref().expect("a route configuration");
    assert_eq!(config.downcast_ref::<RouteConfiguration>().expect("typed").virtual_hosts[0].routes.len(), 4);
}
