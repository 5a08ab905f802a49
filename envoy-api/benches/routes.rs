//! How fast a configuration of many routes is written, checked and read. `cargo bench -p chancery-envoy-api`

use chancery_envoy_api::envoy::config::core::v3::header_value_option::HeaderAppendAction;
use chancery_envoy_api::envoy::config::core::v3::{HeaderValue, HeaderValueOption, Metadata, RuntimeFractionalPercent};
use chancery_envoy_api::envoy::config::route::v3::{
    RetryPolicy, Route, RouteAction, RouteConfiguration, RouteMatch, VirtualHost, route, route_action, route_match,
};
use chancery_envoy_api::envoy::r#type::v3::FractionalPercent;
use chancery_envoy_api::prost::Message;
use chancery_envoy_api::{Duration, Struct, Value, deprecated, json, rules, value};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// The size of a big gateway.
const ROUTES: usize = 50_000;

fn route(n: usize) -> Route {
    let origin = Value { kind: Some(value::Kind::StringValue(format!("mapping-{n}.default.1"))) };
    let stamp = Struct { fields: [("origin".to_owned(), origin)].into() };
    Route {
        r#match: Some(RouteMatch {
            path_specifier: Some(route_match::PathSpecifier::Prefix(format!("/api/v1/service-{n}/"))),
            case_sensitive: Some(true),
            runtime_fraction: Some(RuntimeFractionalPercent {
                default_value: Some(FractionalPercent { numerator: 100, denominator: 0 }),
                runtime_key: format!("routing.traffic_shift.cluster_service_{n}_default_default"),
            }),
            ..RouteMatch::default()
        }),
        metadata: Some(Box::new(Metadata { filter_metadata: [("chancery".to_owned(), stamp)].into(), ..Metadata::default() })),
        request_headers_to_add: vec![HeaderValueOption {
            header: Some(HeaderValue { key: "x-service".to_owned(), value: format!("service-{n}"), ..HeaderValue::default() }),
            append_action: HeaderAppendAction::OverwriteIfExistsOrAdd.into(),
            ..HeaderValueOption::default()
        }],
        action: Some(route::Action::Route(Box::new(RouteAction {
            cluster_specifier: Some(route_action::ClusterSpecifier::Cluster(format!("cluster_service_{n}_default_default"))),
            prefix_rewrite: "/".to_owned(),
            timeout: Some(Duration { seconds: 3, nanos: 0 }),
            retry_policy: Some(Box::new(RetryPolicy {
                retry_on: "5xx".to_owned(),
                num_retries: Some(3),
                per_try_timeout: Some(Duration { seconds: 0, nanos: 250_000_000 }),
                ..RetryPolicy::default()
            })),
            ..RouteAction::default()
        }))),
        ..Route::default()
    }
}

fn routes() -> RouteConfiguration {
    RouteConfiguration {
        name: "routes".to_owned(),
        virtual_hosts: vec![VirtualHost {
            name: "*".to_owned(),
            domains: vec!["*".to_owned()],
            routes: (0..ROUTES).map(route).collect(),
            ..VirtualHost::default()
        }],
        ..RouteConfiguration::default()
    }
}

fn write(bencher: Bencher<'_, '_>, style: &json::Style) {
    let routes = routes();
    let mut out = Vec::new();
    json::write(&mut out, &routes, style);
    bencher.counter(BytesCount::new(out.len())).bench_local(|| {
        out.clear();
        json::write(&mut out, black_box(&routes), style);
        out.len()
    });
}

#[divan::bench]
fn json_compact(bencher: Bencher<'_, '_>) {
    write(bencher, &json::Style::COMPACT);
}

#[divan::bench]
fn json_pretty(bencher: Bencher<'_, '_>) {
    write(bencher, &json::Style::PRETTY);
}

#[divan::bench]
fn json_read(bencher: Bencher<'_, '_>) {
    let text = json::to_string(&routes());
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| json::from_str::<RouteConfiguration>(black_box(&text)));
}

#[divan::bench]
fn wire_encode(bencher: Bencher<'_, '_>) {
    let routes = routes();
    bencher.counter(BytesCount::new(routes.encoded_len())).bench_local(|| black_box(&routes).encode_to_vec());
}

#[divan::bench]
fn wire_decode(bencher: Bencher<'_, '_>) {
    let bytes = routes().encode_to_vec();
    bencher.counter(BytesCount::new(bytes.len())).bench_local(|| RouteConfiguration::decode(black_box(&bytes[..])));
}

#[divan::bench]
fn validate(bencher: Bencher<'_, '_>) {
    let routes = routes();
    bencher.bench_local(|| rules::validate(black_box(&routes)));
}

#[divan::bench]
fn deprecated_fields(bencher: Bencher<'_, '_>) {
    let routes = routes();
    bencher.bench_local(|| deprecated::deprecated_fields(black_box(&routes)));
}
