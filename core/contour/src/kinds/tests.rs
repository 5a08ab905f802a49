//! Tests admission: refusals with messages, pruned fields, and defaults.

extern crate std;

use super::{ALL, Kind};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, OptionValue, Options};
use chancery_base::diagnostic::Severity;
use chancery_base::resource::Inputs;
use chancery_base::schema::{Others, Schema, Shape};
use chancery_compile::compile;
use chancery_text::Node;

fn compiled(text: &str, skip_validation: bool) -> Compilation {
    let inputs = Inputs::one("input.yaml", text);
    let options = Options::default().with("skip-validation", OptionValue::Flag(skip_validation));
    compile(&inputs, &options, &[&crate::DIALECT])
}

fn object(api_version: &str, kind: &str, spec: &str) -> String {
    format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: web, namespace: default}}\nspec: {spec}\n")
}

/// The API server's errors about an object.
fn errors(text: &str) -> Vec<String> {
    let compilation = compiled(text, false);
    let refused = compilation.sides.iter().flat_map(|side| &side.answers.refused);
    let errors: Vec<String> = refused.flat_map(|refused| refused.errors.iter().cloned()).collect();
    let has_error = compilation.all_diagnostics().any(|finding| finding.severity == Severity::Error);
    assert!(has_error || errors.is_empty(), "refusals are reported");
    errors
}

fn proxy(spec: &str) -> Vec<String> {
    errors(&object("projectcontour.io/v1", "HTTPProxy", spec))
}

#[test]
fn valid_objects_are_accepted() {
    assert_eq!(proxy("{virtualhost: {fqdn: www.example.com}, routes: [{services: [{name: web, port: 80}]}]}"), [""; 0]);
}

#[test]
fn unknown_fields_are_refused_first() {
    assert_eq!(
        proxy("{virtualhost: {fqdn: UPPER}, routs: [], routes: [{service: []}]}"),
        [r#"strict decoding error: unknown field "spec.routes[0].service""#, r#"strict decoding error: unknown field "spec.routs""#]
    );
}

#[test]
fn without_validation_unknown_fields_go_and_defaults_come() {
    let text = object("projectcontour.io/v1", "HTTPProxy", "{virtualhost: {fqdn: UPPER}, routs: [], routes: [{retryPolicy: {}}]}");
    let compilation = compiled(&text, true);
    assert!(compilation.sides.iter().all(|side| side.answers.refused.is_empty()));
    let written = compilation.objects.iter().next().expect("an object");
    let memo = chancery_base::schema::Memo::default();
    let admission = chancery_kubernetes::admit::Admission { skip_validation: true, memo: &memo };
    let root = super::admit(Kind::HttpProxy, written, admission, &mut chancery_base::diagnostic::Findings::default()).expect("taken");
    assert!(root.at(&["spec", "routs"]).is_none());
    let retries = root.at(&["spec", "routes"]).and_then(Node::as_array).and_then(|routes| routes[0].at(&["retryPolicy", "count"]));
    assert_eq!(retries.and_then(Node::as_i64), Some(1));
}

#[test]
fn every_sort_of_fault_has_its_words() {
    assert_eq!(proxy("{virtualhost: {}}"), ["spec.virtualhost.fqdn: Required value"]);
    assert_eq!(
        proxy("{virtualhost: {fqdn: ''}}"),
        [r#"spec.virtualhost.fqdn: Invalid value: "": spec.virtualhost.fqdn in body should be at least 1 chars long"#]
    );
    assert_eq!(proxy("{routes: {}}"), [r#"spec.routes: Invalid value: "object": spec.routes in body must be of type array: "object""#]);
    assert_eq!(
        proxy("{routes: [{directResponsePolicy: {statusCode: 700}}]}"),
        ["spec.routes[0].directResponsePolicy.statusCode: Invalid value: 700: spec.routes[0].directResponsePolicy.statusCode in body should be \
          less than or equal to 599"]
    );
    assert_eq!(
        proxy("{routes: [{requestRedirectPolicy: {statusCode: 300}}]}"),
        [r#"spec.routes[0].requestRedirectPolicy.statusCode: Unsupported value: 300: supported values: "301", "302", "303", "307", "308""#]
    );
    let long = "a".repeat(318);
    let validation = format!("{{routes: [{{services: [{{name: a, port: 1, validation: {{caSecret: {long}, subjectName: b}}}}]}}]}}");
    assert_eq!(proxy(&validation), ["spec.routes[0].services[0].validation.caSecret: Too long: may not be more than 317 bytes"]);
}

#[test]
fn rules_hold_once_everything_else_does() {
    let validation = |names: &str| {
        format!("{{routes: [{{services: [{{name: a, port: 1, validation: {{caSecret: a, subjectName: b, subjectNames: {names}}}}}]}}]}}")
    };
    assert_eq!(proxy(&validation("[c]")), ["spec.routes[0].services[0].validation: Invalid value: subjectNames[0] must equal subjectName if set"]);
    assert_eq!(proxy(&validation("[b, c]")), [""; 0]);
    let both = "{virtualhost: {fqdn: a.b, jwtProviders: [{name: a}]}, routes: 1}";
    assert_eq!(proxy(both), [r#"spec.routes: Invalid value: "integer": spec.routes in body must be of type array: "integer""#]);
}

#[test]
fn gateway_api_lists_have_keys_and_defaults() {
    let route = |spec: &str| errors(&object("gateway.networking.k8s.io/v1", "HTTPRoute", spec));
    assert_eq!(route("{}"), [""; 0]);
    assert_eq!(
        route("{rules: [{matches: [{headers: [{name: a, value: b}, {name: a, value: c}]}]}]}"),
        [r#"spec.rules[0].matches[0].headers[1]: Duplicate value: {"name":"a"}"#]
    );
    assert_eq!(
        route("{rules: [{filters: [{type: CORS, cors: {allowMethods: [GET, GET], allowCredentials: false}}]}]}"),
        [
            r#"spec.rules[0].filters[0].cors.allowCredentials: Unsupported value: false: supported values: "true""#,
            r#"spec.rules[0].filters[0].cors.allowMethods[1]: Duplicate value: "GET""#
        ]
    );
    let gateway = "{gatewayClassName: a, listeners: [{name: a, port: 443, protocol: HTTPS, tls: {}}]}";
    assert_eq!(
        errors(&object("gateway.networking.k8s.io/v1", "Gateway", gateway)),
        [
            r#"spec.listeners[0].tls: Invalid value: "object": no such key: certificateRefs evaluating rule: certificateRefs or options must be specified when mode is Terminate"#
        ]
    );
}

#[test]
fn a_version_that_does_not_exist_is_refused() {
    assert_eq!(errors(&object("projectcontour.io/v2", "HTTPProxy", "{}")), [r#"no matches for kind "HTTPProxy" in version "projectcontour.io/v2""#]);
}

#[test]
fn kubernetes_own_kinds_are_decoded_strictly() {
    assert_eq!(
        errors(&object("networking.k8s.io/v1", "Ingress", "text")),
        ["json: cannot unmarshal string into Go struct field Ingress.spec of type v1.IngressSpec"]
    );
    assert_eq!(errors(&object("v1", "Service", "{port: 80}")), [r#"strict decoding error: unknown field "spec.port""#]);
}

#[test]
fn the_later_of_two_documents_counts() {
    let text = object("projectcontour.io/v1", "HTTPProxy", "{}");
    let compilation = compiled(&format!("{text}---\n{text}"), false);
    assert!(compilation.all_diagnostics().any(|finding| finding.code.name == "overwritten"));
}

#[test]
fn the_table_has_the_order_of_the_kinds() {
    for (at, (kind, definition)) in ALL.iter().enumerate() {
        assert_eq!(*kind as usize, at);
        assert_eq!(super::find(definition.group, definition.name), Some(*kind));
    }
}

fn walk(schema: &'static Schema, visit: &mut dyn FnMut(&'static Schema)) {
    visit(schema);
    match &schema.shape {
        Shape::Array { items, .. } => walk(items, visit),
        Shape::Object(members) => {
            members.fields.iter().for_each(|field| walk(&field.schema, visit));
            if let Others::Values(values) = members.others {
                walk(values, visit);
            }
        }
        _ => {}
    }
}

#[test]
fn every_expression_of_a_schema_can_be_read() {
    let mut count = 0;
    for version in ALL.iter().flat_map(|(_, kind)| kind.versions) {
        walk(version.schema, &mut |schema| {
            if let Shape::String(strings) = &schema.shape {
                assert!(strings.pattern.is_none_or(chancery_base::schema::is_pattern), "{:?}", strings.pattern);
            }
            for rule in schema.rules {
                assert!(chancery_base::schema::is_rule(rule.expression), "{}", rule.expression);
                count += 1;
            }
        });
    }
    assert!(count > 100, "{count} rules");
}
