//! Tests the written forms, and the form that the controller receives.

use super::super::{ALL, Version, Via};
use super::{admitted, json};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Place, codes};
use chancery_base::schema::{Schema, Shape};

fn object(version: &str, kind: &str, spec: &str) -> String {
    format!("apiVersion: getambassador.io/{version}\nkind: {kind}\nmetadata: {{name: a, namespace: default}}\nspec: {spec}\n")
}

/// Kind, `spec` in v2, the received form.
const CONVERSIONS: &[(&str, &str, &str)] = &[
    ("Mapping", "{prefix: /, service: a}", r#"{"prefix":"/","service":"a","hostname":"*"}"#),
    ("Mapping", "{prefix: /, service: a, host: h}", r#"{"prefix":"/","service":"a","hostname":"h"}"#),
    ("Mapping", "{prefix: /, service: a, host: '.*', host_regex: true}", r#"{"prefix":"/","service":"a","host":".*","host_regex":true}"#),
    (
        "Mapping",
        "{prefix: /, service: a, tls: true}",
        r#"{"prefix":"/","service":"https://a","hostname":"*","v2ExplicitTLS":{"tls":"bool:true","serviceScheme":""}}"#,
    ),
    (
        "Mapping",
        "{prefix: /, service: 'HTTP://a', tls: true}",
        r#"{"prefix":"/","service":"https://a","hostname":"*","v2ExplicitTLS":{"tls":"bool:true","serviceScheme":"HTTP://"}}"#,
    ),
    (
        "Mapping",
        "{prefix: /, service: 'https://a', tls: false}",
        r#"{"prefix":"/","service":"https://a","hostname":"*","v2ExplicitTLS":{"tls":"bool:false"}}"#,
    ),
    ("Mapping", "{prefix: /, service: a, tls: ctx}", r#"{"prefix":"/","service":"a","tls":"ctx","hostname":"*","v2ExplicitTLS":{}}"#),
    (
        "Mapping",
        "{prefix: /, service: a, headers: {x: true, w: z, v: false}, regex_headers: {r: q}}",
        r#"{"prefix":"/","service":"a","hostname":"*","headers":{"w":"z"},"regex_headers":{"r":"q","x":".*"},"v2BoolHeaders":["x"]}"#,
    ),
    (
        "Mapping",
        "{prefix: /, service: a, cors: {origins: 'a,b', methods: GET, max_age: '1'}}",
        r#"{"prefix":"/","service":"a","cors":{"origins":["a","b"],"methods":["GET"],"max_age":"1","v2CommaSeparatedOrigins":true},"hostname":"*"}"#,
    ),
    (
        "Mapping",
        "{prefix: /, service: a, add_request_headers: {b: x, a: {value: w, append: false}, c: null}, remove_request_headers: z}",
        r#"{"prefix":"/","service":"a","add_request_headers":{"a":{"value":"w","append":false},"b":{"value":"x","v2Representation":"string"},"c":{"v2Representation":"null"}},"remove_request_headers":["z"],"hostname":"*"}"#,
    ),
    (
        "Mapping",
        "{prefix: /, service: a, labels: {d: [{g: [remote_address, w, {generic_key: k}, {h: {header: x, omit_if_not_present: true}}, null]}]}}",
        r#"{"prefix":"/","service":"a","hostname":"*","labels":{"d":[{"g":[{"remote_address":{"key":"remote_address"}},{"generic_key":{"value":"w","v2Shorthand":true}},{"generic_key":{"value":"k"}},{"request_headers":{"key":"h","header_name":"x","omit_if_not_present":true}},{"generic_key":{"value":"","v2Shorthand":true}}]}]}}"#,
    ),
    ("Mapping", "{prefix: /, service: a, ambassador_id: i, bogus: 1}", r#"{"ambassador_id":["i"],"prefix":"/","service":"a","hostname":"*"}"#),
    ("TCPMapping", "{port: 1, service: a, tls: true}", r#"{"port":1,"service":"https://a","v2ExplicitTLS":{"tls":"bool:true"}}"#),
    ("TCPMapping", "{port: 1, service: a, tls: ctx, v3StatsName: s}", r#"{"port":1,"service":"a","tls":"ctx","stats_name":"s"}"#),
    ("Host", "{hostname: h, ambassadorId: i, ambassador_id: [j]}", r#"{"ambassador_id":["j","i"],"hostname":"h"}"#),
    (
        "Host",
        "{selector: {matchLabels: {a: b}}, tls: {v3CRLSecret: c}, tlsContext: {}, requestPolicy: {}}",
        r#"{"mappingSelector":{"matchLabels":{"a":"b"}},"requestPolicy":{"insecure":{}},"tlsContext":{},"tls":{"crl_secret":"c"}}"#,
    ),
    ("TLSContext", "{hosts: [h], v3CRLSecret: c}", r#"{"hosts":["h"],"crl_secret":"c"}"#),
    (
        "AuthService",
        "{auth_service: a, tls: true, v3StatsName: s}",
        r#"{"auth_service":"https://a","stats_name":"s","v2ExplicitTLS":{"tls":"bool:true","serviceScheme":""}}"#,
    ),
    (
        "RateLimitService",
        "{service: a, v3GRPC: {use_resource_exhausted_code: true}}",
        r#"{"service":"a","grpc":{"use_resource_exhausted_code":true}}"#,
    ),
    (
        "TracingService",
        "{driver: zipkin, service: a, tag_headers: [x], config: {v3PropagationModes: [B3]}}",
        r#"{"driver":"zipkin","service":"a","custom_tags":[{"tag":"x","request_header":{"name":"x"}}],"config":{"propagation_modes":["B3"]}}"#,
    ),
    ("LogService", "{service: a, v3ProtocolVersion: v3}", r#"{"service":"a","protocol_version":"v3"}"#),
    ("Module", "{config: {b: 1, a: {d: 2.0, c: x}}}", r#"{"config":{"a":{"c":"x","d":2},"b":1}}"#),
    ("ConsulResolver", "{address: a, datacenter: d}", r#"{"address":"a","datacenter":"d"}"#),
    ("KubernetesServiceResolver", "{ambassador_id: --apiVersion-v3alpha1-only--x}", r#"{"ambassador_id":["x"]}"#),
    ("KubernetesEndpointResolver", "{}", "{}"),
    ("DevPortal", "{default: false, docs: []}", r#"{"default":false}"#),
];

#[test]
fn v1_and_v2_become_v3alpha1() {
    for (kind, spec, want) in CONVERSIONS {
        for version in ["v1", "v2"] {
            if (*kind, version) == ("Host", "v1") {
                continue;
            }
            let (admission, _) = admitted(&object(version, kind, spec), Via::ApiServer);
            assert_eq!(admission.errors, [""; 0], "{kind} {spec}");
            assert_eq!(json(&admission), *want, "{kind} {spec}");
            assert_eq!(admission.api_version, "getambassador.io/v3alpha1");
        }
    }
}

#[test]
fn v3alpha1_only_goes_through_the_structs() {
    for (kind, spec, want) in [
        (
            "Mapping",
            "{hostname: h, service: a, prefix: /, rewrite: '', weight: 0, priority: ''}",
            r#"{"prefix":"/","service":"a","rewrite":"","weight":0,"hostname":"h"}"#,
        ),
        (
            "Mapping",
            "{hostname: h, service: a, prefix: /, health_checks: [{timeout: 1m, health_check: {http: {path: /}}}]}",
            r#"{"prefix":"/","service":"a","health_checks":[{"timeout":"1m0s","health_check":{"http":{"path":"/"}}}],"hostname":"h"}"#,
        ),
        (
            "Listener",
            "{hostBinding: {}, securityModel: XFP, port: 1, protocolStack: [HTTP]}",
            r#"{"port":1,"protocolStack":["HTTP"],"securityModel":"XFP","hostBinding":{"namespace":{}}}"#,
        ),
        ("Host", "{tlsContext: {}, hostname: h}", r#"{"hostname":"h","tlsContext":{}}"#),
        ("Mapping", "{hostname: h, service: a, prefix: /, timeout_ms: null, bogus: {}}", r#"{"prefix":"/","service":"a","hostname":"h"}"#),
    ] {
        let (admission, _) = admitted(&object("v3alpha1", kind, spec), Via::ApiServer);
        assert_eq!((admission.errors.as_slice(), json(&admission).as_str()), (&[][..], want), "{kind} {spec}");
        assert!(!admission.refused);
    }
}

#[test]
fn annotations_are_unfolded_and_not_pruned_first() {
    let text = "apiVersion: ambassador/v2\nkind: Mapping\nname: m\nnamespace: m\nmetadata_labels: {a: b}\nprefix: /\nservice: a\nbogus: 1\n";
    let (admission, findings) = admitted(text, Via::Annotation);
    assert_eq!(json(&admission), r#"{"prefix":"/","service":"a","hostname":"*"}"#);
    assert_eq!(admission.errors, [""; 0]);
    let names: Vec<_> = findings.iter().map(|finding| finding.code.name).collect();
    assert_eq!(names, ["unknown-field", "deprecated-version"]);
    for (version, text) in [
        ("ambassador/v0", "unsupported GroupVersionKind \"getambassador.io/v0, Kind=Mapping\", ignoring"),
        ("ambassador", "apiVersion None/ambassador unsupported"),
        ("''", "apiVersion None/ unsupported"),
        ("example.com/v1", "apiVersion example.com/v1 unsupported"),
    ] {
        let (admission, findings) = admitted(&format!("apiVersion: {version}\nkind: Mapping\nname: m\nprefix: /\nservice: a\n"), Via::Annotation);
        assert_eq!(admission.errors, [text]);
        assert_eq!(findings.iter().map(|finding| finding.code.name).collect::<Vec<_>>(), ["unsupported-version"]);
        assert!(!admission.refused);
    }
    // A null stays one here, and an empty value is missed after the conversion.
    let (admission, _) = admitted(&object("v3alpha1", "Mapping", "{hostname: h, prefix: /, service: a, timeout_ms: null}"), Via::Annotation);
    assert_eq!(admission.errors, ["spec.timeout_ms in body must be of type integer: \"null\""]);
    let (admission, _) = admitted(&object("v3alpha1", "Mapping", "{hostname: h, prefix: '', service: a}"), Via::Annotation);
    assert_eq!(admission.errors, ["spec.prefix in body is required"]);
}

#[test]
fn findings_have_place_and_help() {
    for (text, code, message, help) in [
        (
            object("v3alpha1", "Mapping", "{hostname: h, prefix: /, service: a, timout_ms: 5}"),
            "unknown-field",
            "a Mapping has no `spec.timout_ms`; it is dropped",
            "did you mean `timeout_ms`?",
        ),
        (
            object("v2", "Mapping", "{hostname: h, prefix: /, service: a}"),
            "unknown-field",
            "a Mapping has no `spec.hostname`; it is dropped",
            "did you mean `host`?",
        ),
        (
            object("v3alpha1", "Mapping", "{hostname: h, prefix: /, service: a, cors: {origins: '*'}}"),
            "wrong-type",
            "`spec.cors.origins` must be a list of strings, not the string \"*\"",
            "v3alpha1 wants a list of origins; only v1 and v2 took one string with commas",
        ),
        (
            object("v3alpha1", "Mapping", "{prefix: /, service: a}"),
            "missing-hostname",
            "this Mapping has no `hostname`, so it belongs only to Hosts that select it by labels",
            "add `hostname: \"*\"` for every host, as v2 did by itself",
        ),
        (
            "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: a}\nspec: {hostname: h, service: a}\nprefix: /\n".into(),
            "unknown-field",
            "a Mapping has no `prefix` next to `spec`; it is dropped",
            "put it under `spec`: `spec.prefix`",
        ),
    ] {
        let (_, findings) = admitted(&text, Via::ApiServer);
        let finding = findings.iter().find(|finding| finding.code.name == code && finding.message == message);
        let finding = finding.unwrap_or_else(|| panic!("{text}\n{findings:?}"));
        assert_eq!(finding.help.as_deref(), Some(help), "{text}");
        assert!(matches!(finding.place, Place::Node { node, .. } if node.is_some()), "{text}");
        assert_eq!(finding.resource.as_ref().map(|key| key.name.as_str()), Some("a"), "{text}");
    }
}

#[test]
fn the_server_refuses_names_labels_and_versions() {
    for (text, error) in [
        (
            "apiVersion: getambassador.io/v2\nkind: Listener\nmetadata: {name: a}",
            "no matches for kind \"Listener\" in version \"getambassador.io/v2\"",
        ),
        ("apiVersion: getambassador.io/v1\nkind: Host\nmetadata: {name: a}", "no matches for kind \"Host\" in version \"getambassador.io/v1\""),
        (
            "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nspec: {prefix: /, service: a}",
            "metadata.name: Required value: name or generateName is required",
        ),
        (
            "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: n}\nspec: {prefix: /, service: a}",
            "json: cannot unmarshal bool into Go struct field ObjectMeta.name of type string",
        ),
        (
            "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: a, labels: {x: 1}}\nspec: {prefix: /, service: a}",
            "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string",
        ),
        ("apiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {name: a}", "spec in body is required"),
    ] {
        let (admission, findings) = admitted(text, Via::ApiServer);
        assert_eq!(admission.errors, [error], "{text}");
        assert!(admission.refused, "{text}");
        assert!(findings.iter().any(|finding| finding.severity == chancery_base::diagnostic::Severity::Error), "{text}");
    }
}

#[test]
fn converted_nodes_know_where_they_come_from() {
    let text = object("v2", "Mapping", "{prefix: /, service: a, tls: true, headers: {x: true}}");
    let document = chancery_text::parse(&text, &chancery_text::Limits::default());
    let root = document.root.expect("a document");
    let (admission, _) = admitted(&text, Via::ApiServer);
    let spec = admission.spec.expect("a spec");
    let id = |path: &[&str]| root.at(path).map(|node| node.id);
    assert_eq!(spec.get("service").map(|node| node.id), id(&["spec", "service"]));
    assert_eq!(spec.at(&["v2ExplicitTLS", "tls"]).map(|node| node.id), id(&["spec", "tls"]));
    assert_eq!(spec.at(&["regex_headers", "x"]).map(|node| node.id), id(&["spec", "headers", "x"]));
    assert!(!spec.get("hostname").expect("a hostname").id.is_some());
}

#[test]
fn broken_objects_are_admitted_quickly() {
    let many: String = (0..50_000).map(|at| format!("  unknown{at}: {{}}\n")).collect();
    let (admission, findings) = admitted(&object("v3alpha1", "Mapping", &format!("\n{many}")), Via::ApiServer);
    assert_eq!((admission.errors.len(), findings.len()), (1, 50_002));
    let headers: String = (0..50_000).map(|at| format!("    h{at}: true\n")).collect();
    let text = object("v2", "Mapping", &format!("\n  prefix: /\n  service: a\n  headers:\n{headers}"));
    let (admission, _) = admitted(&text, Via::ApiServer);
    let regexes = admission.spec.as_deref().and_then(|spec| spec.get("regex_headers")?.as_object().map(chancery_text::Object::len));
    assert_eq!(regexes, Some(50_000));
    for text in ["", "spec:", "spec: []", "spec: {spec: {}}", "metadata: 1", "metadata: {name: {}, labels: []}", "spec: {labels: {a: [{}, 1, null]}}"]
    {
        for kind in ALL {
            for version in ["v0", "v1", "v2", "v3alpha1"] {
                let text = format!("apiVersion: getambassador.io/{version}\nkind: {}\n{text}", kind.name);
                for via in [Via::ApiServer, Via::Annotation] {
                    admitted(&text, via);
                }
            }
        }
    }
}

#[test]
fn page_examples_produce_their_code() {
    for code in [
        &codes::UNKNOWN_FIELD,
        &codes::WRONG_TYPE,
        &codes::MISSING_FIELD,
        &codes::INVALID_VALUE,
        &codes::NULL_DROPPED,
        &codes::UNSUPPORTED_VERSION,
        &codes::DEPRECATED_VERSION,
        &codes::INVALID_NAME,
        &codes::INVALID_LABEL,
        &codes::MISSING_HOSTNAME,
    ] {
        let example = code.page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
        let (_, findings) = admitted(example, Via::ApiServer);
        assert!(findings.iter().any(|finding| finding.code == code), "{}: {findings:?}", code.name);
    }
}

#[test]
fn every_field_of_every_kind_is_described() {
    fn walk(schema: &Schema, path: &str) {
        match &schema.shape {
            Shape::Object(members) => {
                for field in members.fields {
                    let path = format!("{path}.{}", field.name);
                    assert!(field.doc.len() > 3 && !field.doc.ends_with('.') && !field.doc.contains('\n'), "{path}: {}", field.doc);
                    assert_eq!(members.position(field.name).map(|at| members.fields[at].name), Some(field.name), "{path}");
                    walk(&field.schema, &path);
                }
                if let chancery_base::schema::Others::Values(values) = members.others {
                    walk(values, path);
                }
            }
            Shape::Array { items, .. } => walk(items, path),
            Shape::OneOf(choices) | Shape::AnyOf(choices) => choices.iter().for_each(|choice| walk(choice, path)),
            _ => {}
        }
    }
    assert_eq!(ALL.len(), 14);
    for kind in ALL {
        for version in kind.versions {
            walk(kind.schema(*version).expect("a schema"), kind.name);
        }
        assert!(kind.versions.contains(&Version::V3Alpha1), "{}", kind.name);
    }
}
