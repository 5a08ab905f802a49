//! JSON as the writer writes it.

use std::collections::BTreeMap;

use chancery_envoy_api::envoy::config::bootstrap::v3::Bootstrap;
use chancery_envoy_api::envoy::config::cluster::v3::cluster::RingHashLbConfig;
use chancery_envoy_api::envoy::config::core::v3::{DataSource, HealthCheck, Node, data_source, socket_address};
use chancery_envoy_api::envoy::config::core::v3::{SocketAddress, TypedExtensionConfig};
use chancery_envoy_api::envoy::config::route::v3::{Route, RouteConfiguration, RouteMatch, VirtualHost, route_match};
use chancery_envoy_api::envoy::extensions::filters::http::buffer::v3::{Buffer, BufferPerRoute, buffer_per_route};
use chancery_envoy_api::envoy::extensions::transport_sockets::tls::v3::TlsCertificate;
use chancery_envoy_api::envoy::r#type::v3::{FractionalPercent, Percent};
use chancery_envoy_api::json::{self, Style};
use chancery_envoy_api::{Any, Duration, ListValue, Struct, Timestamp, Value, registry, value};

#[test]
fn writer_uses_snake_case_and_omits_defaults() {
    assert_eq!(json::to_string(&Buffer { max_request_bytes: Some(0) }), r#"{"max_request_bytes":0}"#);
    assert_eq!(json::to_string(&Buffer { max_request_bytes: None }), "{}");
    let address =
        SocketAddress { address: String::new(), port_specifier: Some(socket_address::PortSpecifier::PortValue(0)), ..SocketAddress::default() };
    assert_eq!(json::to_string(&address), r#"{"port_value":0}"#);
    let off = BufferPerRoute { r#override: Some(buffer_per_route::Override::Disabled(false)) };
    assert_eq!(json::to_string(&off), r#"{"disabled":false}"#);
    assert_eq!(json::to_string(&RouteMatch::default()), "{}");
}

#[test]
fn enums_are_names_and_64_bits_are_strings() {
    let percent = |denominator| json::to_string(&FractionalPercent { numerator: 1, denominator });
    assert_eq!(percent(2), r#"{"numerator":1,"denominator":"MILLION"}"#);
    assert_eq!(percent(77), r#"{"numerator":1,"denominator":77}"#);
    let ring = RingHashLbConfig { minimum_ring_size: Some(u64::MAX), ..RingHashLbConfig::default() };
    assert_eq!(json::to_string(&ring), r#"{"minimum_ring_size":"18446744073709551615"}"#);
}

#[test]
fn numbers_with_a_fraction() {
    let percent = |value| json::to_string(&Percent { value });
    assert_eq!(percent(12.5), r#"{"value":12.5}"#);
    assert_eq!(percent(100.0), r#"{"value":100}"#);
    assert_eq!(percent(1e-9), r#"{"value":1e-9}"#);
    assert_eq!(percent(f64::NAN), r#"{"value":"NaN"}"#);
    assert_eq!(percent(f64::NEG_INFINITY), r#"{"value":"-Infinity"}"#);
}

#[test]
fn strings_are_escaped() {
    let text = |s: &str| json::to_string(&s.to_owned());
    assert_eq!(text("plain"), r#""plain""#);
    assert_eq!(text("a\"b\\c\nd\te\u{1}f\u{7f}"), "\"a\\\"b\\\\c\\nd\\te\\u0001f\u{7f}\"");
    assert_eq!(text("Zürich → 東京 🚀"), "\"Zürich → 東京 🚀\"");
    // Every place within the eight bytes that are looked at together.
    for len in 0..20 {
        for special in ["\"", "\u{1f}", "\\", "é", " "] {
            let s = format!("{}{special}{}", "x".repeat(len), "\u{80}y!".repeat(5));
            let back: String = json::from_str::<String>(&text(&s)).expect("JSON").message;
            assert_eq!(back, s);
        }
    }
}

#[test]
fn durations_and_times_have_no_trailing_zeros() {
    let duration = |seconds, nanos| json::to_string(&Duration { seconds, nanos });
    assert_eq!(duration(3, 0), r#""3s""#);
    assert_eq!(duration(0, 250_000_000), r#""0.250s""#);
    assert_eq!(duration(0, 1_500), r#""0.000001500s""#);
    assert_eq!(duration(1, 2_000), r#""1.000002s""#);
    assert_eq!(duration(0, -500_000_000), r#""-0.500s""#);
    assert_eq!(duration(-2, -1), r#""-2.000000001s""#);
    let time = |seconds, nanos| json::to_string(&Timestamp { seconds, nanos });
    assert_eq!(time(0, 0), r#""1970-01-01T00:00:00Z""#);
    assert_eq!(time(951_782_400, 5_000_000), r#""2000-02-29T00:00:00.005Z""#);
    assert_eq!(time(-1, 0), r#""1969-12-31T23:59:59Z""#);
}

#[test]
fn an_any_is_inlined() {
    let config = TypedExtensionConfig { name: "b".to_owned(), typed_config: Some(Any::pack(Buffer { max_request_bytes: Some(5) })) };
    let url = "type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer";
    let wanted = format!(r#"{{"name":"b","typed_config":{{"@type":"{url}","max_request_bytes":5}}}}"#);
    assert_eq!(json::to_string(&config), wanted);

    // Bytes are typed by a resolver, and are base64 without one.
    let raw = TypedExtensionConfig { typed_config: Some(Any::raw(url, vec![10, 2, 8, 5])), ..config.clone() };
    assert_eq!(json::to_string_with(&raw, &Style::COMPACT.resolver(registry::decode)), wanted);
    assert_eq!(json::to_string(&raw), format!(r#"{{"name":"b","typed_config":{{"@type":"{url}","value":"CgIIBQ=="}}}}"#));

    // Types whose JSON is not an object are in `value`.
    let text = Any::pack("x".to_owned());
    assert_eq!(json::to_string(&text), r#"{"@type":"type.googleapis.com/google.protobuf.StringValue","value":"x"}"#);
    assert_eq!(json::to_string(&Any::default()), "{}");
}

#[test]
fn structs_are_plain_json() {
    let kinds = [
        value::Kind::NullValue(0),
        value::Kind::BoolValue(true),
        value::Kind::NumberValue(1.5),
        value::Kind::StringValue("s".to_owned()),
        value::Kind::ListValue(ListValue::default()),
        value::Kind::StructValue(Struct::default()),
    ];
    let list = ListValue { values: kinds.into_iter().map(|kind| Value { kind: Some(kind) }).collect() };
    let fields = BTreeMap::from([("all".to_owned(), Value { kind: Some(value::Kind::ListValue(list)) })]);
    let node = Node { id: "n".to_owned(), metadata: Some(Struct { fields }), ..Node::default() };
    assert_eq!(json::to_string(&node), r#"{"id":"n","metadata":{"all":[null,true,1.5,"s",[],{}]}}"#);
}

#[test]
fn a_part_fits_into_a_bigger_document() {
    let host = VirtualHost {
        name: "v".to_owned(),
        domains: vec!["*".to_owned()],
        routes: vec![Route {
            r#match: Some(RouteMatch { path_specifier: Some(route_match::PathSpecifier::Prefix("/".to_owned())), ..RouteMatch::default() }),
            ..Route::default()
        }],
        ..VirtualHost::default()
    };
    let part = json::to_string_with(&host, &Style::PRETTY.indent(4).level(2));
    let whole = RouteConfiguration { virtual_hosts: vec![host], ..RouteConfiguration::default() };
    let whole = json::to_string_with(&whole, &Style::PRETTY.indent(4));
    assert_eq!(whole, format!("{{\n    \"virtual_hosts\": [\n        {part}\n    ]\n}}"));
    assert!(part.starts_with("{\n            \"name\": \"v\",\n            \"domains\": [\n                \"*\"\n            ],"), "{part}");
}

#[test]
fn fields_are_left_out_of_their_messages() {
    let whole = Any::pack(TlsCertificate { certificate_chain: Some(DataSource::default()), ..TlsCertificate::default() });
    let tls = "envoy.extensions.transport_sockets.tls.v3.TlsCertificate";
    assert_eq!(json::to_string(&whole), format!(r#"{{"@type":"type.googleapis.com/{tls}","certificate_chain":{{}}}}"#));
    let without = Style::COMPACT.without(&[("envoy.extensions.transport_sockets.tls.v3.TlsCertificate", "certificate_chain")]);
    assert_eq!(json::to_string_with(&whole, &without), format!(r#"{{"@type":"type.googleapis.com/{tls}"}}"#));
    let of_another = Style::COMPACT.without(&[("envoy.config.core.v3.DataSource", "certificate_chain")]);
    assert_eq!(json::to_string_with(&whole, &of_another), json::to_string(&whole));
}

#[test]
fn secrets_are_kept() {
    let key = |specifier| TlsCertificate {
        certificate_chain: Some(DataSource { specifier: Some(data_source::Specifier::InlineString("cert".to_owned())), ..DataSource::default() }),
        private_key: Some(DataSource { specifier: Some(specifier), ..DataSource::default() }),
        ..TlsCertificate::default()
    };
    let wanted = |name: &str| format!(r#"{{"certificate_chain":{{"inline_string":"cert"}},"private_key":{{"{name}":"[redacted]"}}}}"#);
    let text = key(data_source::Specifier::InlineString("hush".to_owned()));
    assert_eq!(json::to_string_with(&text, &Style::COMPACT.redact()), wanted("inline_string"));
    let bytes = key(data_source::Specifier::InlineBytes(b"hush".to_vec()));
    assert_eq!(json::to_string_with(&bytes, &Style::COMPACT.redact()), wanted("inline_bytes"));
    assert!(!format!("{text:?}{:?}", Any::pack(text.clone())).contains("hush"));
    assert!(json::to_string(&text).contains("hush"));
}

#[test]
fn debug_is_json_with_a_name() {
    let check = HealthCheck { timeout: Some(Duration { seconds: 1, nanos: 0 }), ..HealthCheck::default() };
    assert_eq!(format!("{check:?}"), r#"HealthCheck {"timeout":"1s"}"#);
}

#[test]
fn a_sample_is_written_as_it_was_read() {
    let sample = include_str!("../samples/bootstrap.json");
    let read = json::from_str::<Bootstrap>(sample).expect("JSON");
    assert_eq!(read.problems, []);
    let again = json::from_str::<Bootstrap>(&json::to_string_pretty(&read.message)).expect("JSON");
    assert_eq!(again.problems, []);
    assert_eq!(again.message, read.message);
}
