//! Severities and suppressions that a user sets, and false positives that are not reported.

mod effect;
mod naming;
mod placeholders;
mod rejected;

use super::check;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{Dialect, OptionValue, Options, for_interactive_use};
use chancery_base::diagnostic::{Diagnostic, Level, Policy, Severity};
use chancery_base::executor::Sequential;
use chancery_base::resource::Inputs;
use chancery_compile::{EmittedByGateway, compile};
use chancery_text::to_json;

const GATEWAY: &str = "
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: all}
spec: {hostname: '*', requestPolicy: {insecure: {action: Route}}}
---
";

/// Returns a Mapping with an annotation whose prefix and rewrite do not fit.
fn mapping(annotation: &str) -> String {
    format!(
        "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: shop, annotations: {{chancery.dev/ignore: {annotation}}}}}\nspec: {{hostname: '*', prefix: /shop, service: shop}}\n"
    )
}

/// Codes and severities of the findings.
fn found(text: &str, policy: Policy) -> Vec<(&'static str, Severity)> {
    let inputs = Inputs::one("gateway.yaml", format!("{GATEWAY}{text}"));
    let mut compilation = compile(&inputs, &Options::default(), crate::testing::ALL);
    check(&mut compilation, &policy, &mut EmittedByGateway::default(), &Sequential);
    compilation.all_diagnostics().map(|finding| (finding.code.name, finding.severity)).collect()
}

fn decided(code: &'static str, level: Level) -> Policy {
    Policy { severities: [(code.into(), level)].into(), ..Policy::default() }
}

#[test]
fn the_user_sets_the_severity_of_a_finding() {
    assert_eq!(found(&mapping("''"), Policy::default()), [("rewrite-slashes", Severity::Notice)]);
    assert_eq!(found(&mapping("''"), decided("rewrite-slashes", Level::Error)), [("rewrite-slashes", Severity::Error)]);
    assert_eq!(found(&mapping("''"), decided("rewrite-slashes", Level::Off)), []);
}

#[test]
fn an_annotation_ignores_a_code_with_a_reason() {
    assert_eq!(found(&mapping("'rewrite-slashes: the upstream does not mind'"), Policy::default()), []);
    assert_eq!(found(&mapping("rewrite-slashes"), Policy::default()), [("suppression-without-reason", Severity::Warning)]);
    let several = "'rewrite-slashes: the upstream does not mind; open-cors: it is public'";
    assert_eq!(found(&mapping(several), Policy::default()), [("unused-suppression", Severity::Warning)]);
    assert_eq!(found(&mapping("'rewrite-slashes: fine'"), decided("rewrite-slashes", Level::Error)), [], "it is used, however bad it is");
}

#[test]
fn unused_suppression_has_a_severity() {
    let other = "'open-cors: it is public'";
    assert_eq!(found(&mapping(other), decided("unused-suppression", Level::Off)), [("rewrite-slashes", Severity::Notice)]);
}

#[test]
fn an_annotation_of_another_resource_changes_nothing() {
    let text =
        format!("{}---\n{}", mapping("'rewrite-slashes: fine'"), mapping("''").replace("name: shop", "name: store").replace("/shop,", "/store,"));
    assert_eq!(found(&text, Policy::default()), [("rewrite-slashes", Severity::Notice)]);
}

#[test]
fn without_a_time_no_certificate_has_expired() {
    let page = chancery_base::diagnostic::codes::CERTIFICATE_EXPIRED.page;
    let example = page.split("```").nth(1).and_then(|block| block.split_once('\n')).map(|(_, text)| text).unwrap_or_default();
    let codes = |policy| found(example, policy).into_iter().map(|(code, _)| code).collect::<Vec<_>>();
    assert!(!codes(Policy::default()).contains(&"certificate-expired"));
    assert!(codes(Policy { at: chancery_base::diagnostic::time::parse("2026-11-21"), ..Policy::default() }).contains(&"certificate-expired"));
    assert!(!codes(Policy { at: chancery_base::diagnostic::time::parse("2025-06-01"), ..Policy::default() }).contains(&"certificate-expired"));
}

#[test]
fn app_gateway_certificates_are_checked() {
    let example = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/examples/ingress/tls-redirect.yaml"));
    let of = |text: &str, at: &str| {
        let mut compilation = compile(&Inputs::one("a.yaml", text), &for_interactive_use(Options::default()), crate::testing::ALL);
        let policy = Policy { at: chancery_base::diagnostic::time::parse(at), ..Policy::default() };
        check(&mut compilation, &policy, &mut EmittedByGateway::default(), &Sequential);
        compilation.all_diagnostics().map(|finding| finding.code.name).collect::<Vec<_>>()
    };
    assert_eq!(of(example, "2027-06-01"), [""; 0]);
    assert_eq!(of(&example.replace("shop.example.com", "www.example.com"), "2027-06-01"), ["certificate-host-mismatch"]);
    assert_eq!(of(example, "2199-06-01"), ["certificate-expired"]);
}

/// Codes of the findings about a Mapping.
fn of_mapping(fields: &str) -> Vec<&'static str> {
    let text = format!("apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m, namespace: shop}}\nspec: {{{fields}}}\n");
    found(&text, Policy::default()).into_iter().map(|(code, _)| code).collect()
}

#[test]
fn impossible_paths_are_reported() {
    let codes = |prefix: &str| of_mapping(&format!("hostname: '*', service: m, rewrite: '', prefix: '{prefix}'"));
    for path in ["m/", "https://example.com/m/", "/m?x=1", "/m#x", "/m x/", "/caf\u{e9}/", "/m/../x/", "/./m/", "/m/{id}/", "/m/{}/", "/m|n"] {
        assert_eq!(codes(path), ["impossible-path"], "{path}");
    }
    for path in ["/m/*", "/m/**/x", "/m/:id"] {
        assert_eq!(codes(path), ["literal-pattern"], "{path}");
    }
    // Emissary keeps adjacent slashes; a prefix may be continued by a dot, or after a colon.
    for path in ["", "/", "/m", "/m//x/", "/.", "/m/..", "/.well-known/", "/m%20x/", "/v1/m:undelete", "/~m/", "/m/(x)/"] {
        assert_eq!(codes(path), [""; 0], "{path}");
    }
    assert_eq!(of_mapping("hostname: '*', service: m, rewrite: '', prefix: '/m/.*', prefix_regex: true"), [""; 0]);
}

#[test]
fn impossible_hosts_and_methods_are_reported() {
    let codes = |hostname: &str| of_mapping(&format!("hostname: '{hostname}', service: m, prefix: /m/"));
    for host in ["https://example.com", "example.com/m", "example .com", "Example.com"] {
        assert_eq!(codes(host), ["impossible-host"], "{host}");
    }
    for host in ["example.com", "*.example.com", "example.com:8080", "*", "10.0.0.1", "my_host"] {
        assert_eq!(codes(host), [""; 0], "{host}");
    }
    let codes = |method: &str| of_mapping(&format!("hostname: '*', service: m, prefix: /m/, method: {method}"));
    assert_eq!(codes("get"), ["impossible-method"]);
    assert_eq!(codes("GET"), [""; 0]);
    assert_eq!(codes("'GET|POST', method_regex: true"), [""; 0]);
}

#[test]
fn rejected_listeners_and_bodies_are_reported() {
    let refused = |text: &str| found_alone(text).iter().any(|(code, _)| *code == "refused-by-envoy");
    let tcp = |host: &str| {
        let http = format!("{GATEWAY}{}---\n", mapping("''"));
        format!("{http}apiVersion: getambassador.io/v3alpha1\nkind: TCPMapping\nmetadata: {{name: t}}\nspec: {{port: 8080, service: db{host}}}\n")
    };
    assert!(refused(&tcp("")));
    let answer = |length: usize| {
        let spec = format!(
            "spec: {{virtualhost: {{fqdn: a.example.com}}, routes: [{{directResponsePolicy: {{statusCode: 200, body: {}}}}}]}}",
            "x".repeat(length)
        );
        format!("apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: p}}\n{spec}\n")
    };
    assert!(refused(&answer(4097)) && !refused(&answer(4096)));
}

#[test]
fn host_condition_met_by_one_host_is_valid() {
    let codes = |hosts: [&str; 2]| {
        let mut text = GATEWAY.replace("hostname: '*'", &format!("hostname: {}", hosts[0]));
        let other = hosts[1];
        text += &format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {{name: b}}\nspec: {{hostname: {other}, requestPolicy: {{insecure: {{action: Route}}}}}}\n---\n"
        );
        text += "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: m}\n";
        text += "spec: {hostname: '*', prefix: /m/, service: m, headers: {host: b.example.com}}\n";
        found_alone(&text).into_iter().filter(|(code, _)| *code == "contradictory-conditions").count()
    };
    assert_eq!(codes(["a.example.com", "b.example.com"]), 0);
    assert_eq!(codes(["b.example.com", "a.example.com"]), 0);
    assert_eq!(codes(["a.example.com", "c.example.com"]), 1);
}

#[test]
fn conditions_that_no_request_meets_are_reported() {
    let codes = |fields: &str| of_mapping(&format!("hostname: '*', service: m, prefix: /m/, rewrite: '', {fields}"));
    for (fields, code) in [
        ("method: 'GET|POST'", "impossible-method"),
        ("method: 'get|post', method_regex: true", "impossible-method"),
        ("headers: {x-a: '1'}, regex_headers: {x-a: '2.*'}", "contradictory-conditions"),
        ("query_parameters: {q: 'a b'}", "impossible-parameter"),
        ("cors: {origins: ['*.example.com']}", "impossible-origin"),
        ("cors: {origins: ['https://example.com/']}", "impossible-origin"),
        ("cors: {origins: ['https://example.com:443']}", "impossible-origin"),
        ("cors: {origins: ['https://Example.com']}", "impossible-origin"),
        ("host_rewrite: 'https://a.example.com'", "impossible-host"),
        ("host_rewrite: 'a.example.com/x'", "impossible-host"),
    ] {
        assert_eq!(codes(fields), [code], "{fields}");
    }
    for fields in [
        "method: 'GET|post', method_regex: true",
        "method: PROPFIND",
        "headers: {x-a: '1'}, regex_headers: {x-a: '[12].*'}",
        "query_parameters: {q: 'a%20b'}",
        "cors: {origins: ['https://a.example.com:8443', '*']}",
        "host_rewrite: 'a.example.com:80'",
    ] {
        assert_eq!(codes(fields), [""; 0], "{fields}");
    }
    let rewrite = |to: &str| of_mapping(&format!("hostname: '*', service: m, prefix: /m/, rewrite: {to}"));
    assert_eq!(rewrite("n/"), ["rewrite-slashes"]);
    assert_eq!(rewrite("/n/"), [""; 0]);
    for prefix in ["/m/[0-9]+/", "/m/\\d/"] {
        assert_eq!(of_mapping(&format!("hostname: '*', service: m, rewrite: '', prefix: '{prefix}'")), ["literal-pattern"], "{prefix}");
    }
}

#[test]
fn ports_that_a_service_lacks_are_reported() {
    let codes = |service: &str, spec: &str| {
        let mut text = String::from("apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: m, namespace: shop}\n");
        text += &format!("spec: {{hostname: '*', prefix: /m/, service: '{service}'}}\n---\n");
        text += &format!("apiVersion: v1\nkind: Service\nmetadata: {{name: m, namespace: shop}}\nspec: {{{spec}}}\n");
        found(&text, Policy::default()).into_iter().map(|(code, _)| code).collect::<Vec<_>>()
    };
    assert_eq!(codes("m", "ports: [{port: 8080, targetPort: 80}]"), ["no-such-port"]);
    assert_eq!(codes("m.shop:81", "ports: [{port: 80, name: a}, {port: 8080, name: b}]"), ["no-such-port"]);
    assert_eq!(codes("m", "clusterIP: None, ports: [{port: 80, targetPort: 8080}]"), ["no-such-port"], "its name leads to the pods");
    for (service, spec) in [
        ("m", "ports: [{port: 80, targetPort: 8080}]"),
        ("m:8080", "ports: [{port: 80, name: a}, {port: 8080, name: b}]"),
        ("https://m", "ports: [{port: 443}]"),
        ("m:8080", "clusterIP: None, ports: [{port: 80, targetPort: 8080}]"),
        ("m", "clusterIP: None, ports: [{port: 8080, targetPort: http}]"),
        ("m:1", "type: ExternalName, externalName: example.com, ports: [{port: 80}]"),
        ("m.other:1", "ports: [{port: 80}]"),
    ] {
        assert!(!codes(service, spec).contains(&"no-such-port"), "{service} {spec}");
    }
}

#[test]
fn a_service_in_another_namespace_is_not_used() {
    let codes = |mapping: &str, service: &str| {
        let mut text = format!("apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m{mapping}}}\n");
        text += "spec: {hostname: '*', prefix: /m/, service: m}\n---\n";
        text += &format!("apiVersion: v1\nkind: Service\nmetadata: {{name: m{service}}}\nspec: {{ports: [{{port: 80}}]}}\n");
        found(&text, Policy::default()).into_iter().map(|(code, _)| code).collect::<Vec<_>>()
    };
    assert_eq!(codes(", namespace: shop", ", namespace: web"), ["dangling-reference"]);
    assert_eq!(codes(", namespace: shop", ", namespace: shop"), [""; 0]);
    assert_eq!(codes("", ""), [""; 0]);
}

#[test]
fn missing_secret_suggests_other_namespace() {
    let text = "apiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {name: shop, namespace: shop}\nspec: {hostname: shop.example.com, tlsSecret: {name: cert}}\n";
    let secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: cert, namespace: certs}\ntype: kubernetes.io/tls\nstringData: {tls.crt: '', tls.key: ''}\n";
    let helps = |text: String| {
        let mut compilation = compile(&Inputs::one("gateway.yaml", text), &Options::default(), crate::testing::ALL);
        check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
        let found = compilation.all_diagnostics().filter(|finding| finding.code.name == "secret-not-found");
        found.map(|finding| (finding.related.len(), finding.help.clone().unwrap_or_default())).collect::<Vec<_>>()
    };
    let [(1, help)] = &helps(format!("{text}{secret}"))[..] else { panic!("{:?}", helps(format!("{text}{secret}"))) };
    assert!(help.starts_with("one exists in the namespace certs"), "{help}");
    assert!(matches!(&helps(text.into())[..], [(0, help)] if !help.contains("certs")));
    let misspelt = secret.replace("name: cert, namespace: certs", "name: cret, namespace: shop");
    assert_eq!(helps(format!("{text}{misspelt}")), [(1, "did you mean `cret`?".into())]);
}

#[test]
fn misread_emissary_service_is_reported() {
    let helps = |service: &str| {
        let meta = "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: a}\n";
        let text = format!("{meta}spec: {{hostname: '*', prefix: /a/, service: '{service}'}}\n");
        let mut compilation = compile(&Inputs::one("gateway.yaml", text), &Options::default(), crate::testing::ALL);
        check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
        let found = compilation.all_diagnostics().filter(|finding| finding.code.name == "malformed-service");
        found.map(|finding| finding.help.clone().unwrap_or_default()).collect::<Vec<_>>()
    };
    assert_eq!(helps("https:/web"), ["write `https://web`"]);
    assert_eq!(helps("web 80"), ["write `web:80`"]);
    assert_eq!(helps("web/api"), ["write the path in `rewrite`"]);
    assert!(helps("web:http").iter().all(String::is_empty), "Emissary reports it itself");
    for service in ["web", "web.shop:80", "https://web/", "http://web:8080", "[::1]:80", "web?"] {
        assert_eq!(helps(service), [""; 0], "{service}");
    }
}

#[test]
fn weights_that_fall_short_lose_requests() {
    let mapping = |name: &str, prefix: &str, weight: &str| {
        let meta = format!("apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: {name}}}\n");
        format!("{meta}spec: {{hostname: '*', prefix: {prefix}, service: {name}{weight}}}\n---\n")
    };
    let found = |mappings: &[String]| found(&mappings.concat(), Policy::default());
    let (a, b) = (mapping("a", "/cart/", ", weight: 70"), mapping("b", "/cart/", ", weight: 10"));
    let lost = [("invalid-weight", Severity::Warning)];
    assert_eq!(found(&[a.clone(), b.clone()]), lost);
    assert_eq!(found(&[mapping("a", "/cart/", ", weight: 20")]), [("field-without-effect", Severity::Warning)], "a single route matches all");
    assert_eq!(found(&[a.clone(), b.clone(), mapping("c", "/cart/", "")]), [], "the one without a weight takes the rest");
    assert_eq!(found(&[a.clone(), mapping("b", "/cart/", ", weight: 30")]), []);
    assert_eq!(found(&[a.clone(), b.clone(), mapping("c", "/", "")]), [], "a shorter prefix matches the rest");
    assert_eq!(found(&[a, b, mapping("c", "/other/", "")]), lost);
}

/// Codes, severities and help of the findings in Contour's input with a Gateway and a route whose Gateway is `parent`.
fn under_a_gateway(parent: &str) -> Vec<(&'static str, Severity, String)> {
    let api = "apiVersion: gateway.networking.k8s.io/v1\nkind:";
    let text = [
        format!("{api} GatewayClass\nmetadata: {{name: eg}}\nspec: {{controllerName: projectcontour.io/gateway-controller}}\n"),
        format!(
            "{api} Gateway\nmetadata: {{name: eg, namespace: shop}}\nspec: {{gatewayClassName: eg, listeners: [{{name: http, port: 80, protocol: HTTP}}]}}\n"
        ),
        format!(
            "{api} HTTPRoute\nmetadata: {{name: shop, namespace: shop}}\nspec: {{parentRefs: [{{name: {parent}}}], rules: [{{backendRefs: [{{name: api, port: 80}}]}}]}}\n"
        ),
        "apiVersion: v1\nkind: Service\nmetadata: {name: api, namespace: shop}\nspec: {ports: [{port: 80, protocol: TCP}]}\n".into(),
    ];
    let options = Options::default().in_dialect("contour").with("missing", OptionValue::Text("auto".into()));
    let mut compilation = compile(&Inputs::one("gateway.yaml", text.join("---\n")), &options, crate::testing::ALL);
    check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
    let found = compilation.all_diagnostics().filter(|finding| finding.code.name != "assumed-object");
    found.map(|finding| (finding.code.name, finding.severity, finding.help.clone().unwrap_or_default())).collect()
}

#[test]
fn misspelt_gateway_and_its_consequence_are_reported() {
    assert_eq!(under_a_gateway("eg"), []);
    let found = under_a_gateway("egg");
    let of = |code: &str| found.iter().filter(|(name, ..)| *name == code).map(|(_, severity, help)| (*severity, help.as_str())).collect::<Vec<_>>();
    assert_eq!(of("dangling-reference"), [(Severity::Warning, "did you mean `eg`?")]);
    assert!(matches!(of("no-listener")[..], [(Severity::Warning, _)]), "{found:?}");
    assert_eq!(
        of("no-effect"),
        [(Severity::Notice, "it has an effect once Gateway eg.shop has one")],
        "a consequence of another finding is a notice"
    );
}

/// Counts findings about placeholders in a Consul service definition.
fn placeholders(token: &str) -> usize {
    let text = format!("service {{\n  name = \"web\"\n  port = 80\n  token = \"{token}\"\n  address = \"CHANGEME\"\n}}\n");
    let mut compilation = compile(&Inputs::one("web.hcl", text), &Options::default(), crate::testing::ALL);
    check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
    compilation.all_diagnostics().filter(|finding| finding.code.name == "placeholder").count()
}

#[test]
fn redacted_token_is_not_a_placeholder() {
    assert_eq!(placeholders("8c1f0e3a-90c2-4a3e-9d0a-5f1c6b2d7e4f"), 1, "the address alone is one");
}

#[test]
fn cluster_type_must_fit_its_address() {
    let refused = |cluster: &str| -> Vec<String> {
        let text = format!(
            "{{Kind: jwt-provider, Name: okta, Issuer: 'https://id.example.com', JSONWebKeySet: {{Remote: {{URI: 'https://jwks.example.com/keys', \
             {cluster}}}}}}}\n---\n{{Kind: service-intentions, Name: web, JWT: {{Providers: [{{Name: okta}}]}}, \
             Sources: [{{Name: api, Action: allow}}]}}\n---\n{{Kind: service-defaults, Name: web, Protocol: http}}\n---\n\
             service: {{name: web, port: 8080, connect: {{sidecar_service: {{}}}}}}\n"
        );
        let mut compilation = compile(&Inputs::one("mesh.yaml", text.as_str()), &Options::default(), crate::testing::ALL);
        check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
        let refused = compilation.all_diagnostics().filter(|finding| finding.code.name == "refused-by-envoy");
        refused.map(|finding| finding.message.clone()).collect()
    };
    let is_static = "Envoy rejects the cluster `jwks_cluster_okta`: its type is STATIC, and `jwks.example.com` is no IP address";
    assert_eq!(refused(""), [is_static]);
    assert_eq!(refused("JWKSCluster: {DiscoveryType: STATIC}"), [is_static]);
    let eds = "Envoy rejects the cluster `jwks_cluster_okta`: its type is EDS, and it does not say where endpoints come from";
    assert_eq!(refused("JWKSCluster: {DiscoveryType: EDS}"), [eds]);
    let original = "Envoy rejects the cluster `jwks_cluster_okta`: its type is ORIGINAL_DST, and its load balancing is not CLUSTER_PROVIDED";
    assert_eq!(refused("JWKSCluster: {DiscoveryType: ORIGINAL_DST}"), [original]);
    assert_eq!(refused("JWKSCluster: {DiscoveryType: STRICT_DNS}"), [""; 0]);
}

#[test]
fn only_services_without_endpoints_get_assumed_ones() {
    let service =
        |name: &str| format!("---\napiVersion: v1\nkind: Service\nmetadata: {{name: {name}, namespace: shop}}\nspec: {{ports: [{{port: 80}}]}}\n");
    let slice = "---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: a-x7, namespace: shop, labels: {kubernetes.io/service-name: a}}\n\
                 addressType: IPv4\nports: [{port: 8080}]\nendpoints: [{addresses: [10.0.0.1]}]\n";
    let proxy = "---\napiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: shop, namespace: shop}\nspec:\n  virtualhost: {fqdn: shop.example.com}\n  \
                 routes:\n  - services: [{name: a, port: 80}, {name: b, port: 80}, {name: c, port: 80}]\n";
    let assumed = |text: String| -> Vec<String> {
        let options = Options::default().in_dialect("contour").with("missing", OptionValue::Text("assume".into()));
        let compilation = compile(&Inputs::one("shop.yaml", text.as_str()), &options, crate::testing::ALL);
        let made = compilation.objects.assumed().map(|object| object.key.name.as_str().into());
        let reported = compilation.all_diagnostics().filter(|finding| finding.code.name == "assumed-object").map(|finding| finding.message.clone());
        made.chain(reported).collect()
    };
    let services = service("a") + &service("b");
    assert_eq!(
        assumed(format!("{services}{}{slice}{proxy}", service("c"))),
        ["b", "c", "b", "c", "2 Services have no endpoints in the input; each is assumed to have one"]
    );
    let found = assumed(format!("{services}{slice}{}", proxy.replace(", {name: c, port: 80}", "")));
    assert_eq!(found, ["b", "b", "the Service `b` has no endpoints in the input; it is assumed to have one"]);
}

#[test]
fn unknown_kind_suggests_nearest_kind() {
    let object = |version: &str, kind: &str| format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: x}}\n");
    let reported = |dialect: &'static Dialect, text: &str| -> Vec<(Severity, String)> {
        let mut compilation = compile(&Inputs::one("a.yaml", text), &Options::of(dialect), crate::testing::ALL);
        check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
        let of_kind = compilation.all_diagnostics().filter(|finding| finding.code.name == "unknown-kind");
        of_kind.map(|finding| (finding.severity, finding.help.as_deref().unwrap_or_default().into())).collect()
    };
    for dialect in [&chancery_ambassador::DIALECT, &chancery_contour::DIALECT, &chancery_agic::DIALECT, &chancery_ingress_nginx::DIALECT] {
        assert_eq!(reported(dialect, &object("v1", "Secrets")), [(Severity::Error, "did you mean Secret?".into())], "{}", dialect.name);
        assert_eq!(reported(dialect, &object("networking.k8s.io/v1", "Ingres")), [(Severity::Warning, "did you mean Ingress?".into())]);
        let other = reported(dialect, &object("networking.k8s.io/v1", "TomorrowsKind"));
        assert!(other.iter().all(|(severity, _)| *severity != Severity::Error), "it may be a kind of a later version: {other:?}");
    }
    assert_eq!(
        reported(&chancery_contour::DIALECT, &object("projectcontour.io/v1", "HTTPProxi")),
        [(Severity::Error, "did you mean HTTPProxy?".into())]
    );
    assert_eq!(reported(&chancery_ambassador::DIALECT, &object("getambassador.io/v2", "Maping")).len(), 1, "the stage has reported it");
}

/// Returns Contour's statuses of an input, compiled with default assumptions, by kind.
fn status_of(text: &str, kind: &str) -> Option<String> {
    let options = for_interactive_use(Options::of(&chancery_contour::DIALECT));
    let found = compile(&Inputs::one("input.yaml", text), &options, crate::testing::ALL);
    let statuses = found.sides().next().expect("there is a side").side.answers.statuses.clone().unwrap_or_default();
    statuses.iter().find(|status| status.kind == kind).map(|status| to_json(&status.status, false))
}

#[test]
fn statuses_include_assumed_objects() {
    let example = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/examples/contour/gateway.yaml"));
    assert!(status_of(example, "Gateway").is_some_and(|status| status.contains("Valid Gateway")));
    let without: Vec<&str> = example.split("---").filter(|document| !document.contains("kind: ContourConfiguration")).collect();
    assert!(status_of(&without.join("---"), "HTTPRoute").is_some(), "the only Gateway is Contour's");
}

#[test]
fn assumed_objects_cause_no_error() {
    let errors = |dialect: &'static Dialect, text: &str| {
        let mut found = compile(&Inputs::one("input.yaml", text), &for_interactive_use(Options::of(dialect)), crate::testing::ALL);
        check(&mut found, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
        found.all_diagnostics().filter(|finding| finding.severity == Severity::Error).map(|finding| finding.message.clone()).collect::<Vec<_>>()
    };
    let gateway = "\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: contour}
spec: {controllerName: projectcontour.io/gateway-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: web, namespace: projectcontour}
spec:
  gatewayClassName: contour
  listeners:
  - {name: one, protocol: HTTPS, port: 443, hostname: a.test, tls: {certificateRefs: [{name: c, namespace: other}]}}
  - {name: two, protocol: HTTPS, port: 443, hostname: b.test, tls: {certificateRefs: [{name: d, namespace: other}]}}
";
    assert_eq!(errors(&chancery_contour::DIALECT, gateway), Vec::<String>::new());
    let host = "\
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: h, namespace: default}
spec: {hostname: a.test, tlsSecret: {name: s}, tlsContext: {name: ctx}}
";
    assert_eq!(errors(&chancery_ambassador::DIALECT, host), Vec::<String>::new());
}

/// Findings of these codes in a Mapping, with the suggested fix.
fn of_text(service: &str) -> Vec<(&'static str, Option<String>)> {
    let mapping = format!(
        "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: shop}}\nspec: {{hostname: '*', prefix: /shop/, service: {service}}}\n"
    );
    let mut compilation = compile(&Inputs::one("gateway.yaml", format!("{GATEWAY}{mapping}")), &Options::default(), crate::testing::ALL);
    check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
    let is_asked = |code: &str| ["placeholder", "suspicious-text"].contains(&code);
    let replacement = |finding: &chancery_base::diagnostic::Diagnostic| finding.fix.as_ref().map(|fix| fix.edits[0].replacement.clone());
    compilation.all_diagnostics().filter(|finding| is_asked(finding.code.name)).map(|finding| (finding.code.name, replacement(finding))).collect()
}

#[test]
fn shell_variable_is_a_placeholder() {
    for left in ["'$SERVICE:80'", "'${SERVICE}'", "'{{ service }}'", "'$SHOP_HOST'"] {
        assert_eq!(of_text(left), [("placeholder", None)], "{left}");
    }
    for meant in ["shop", "shop-$", "'$'"] {
        assert_eq!(of_text(meant), [], "{meant}");
    }
}

#[test]
fn typographic_quotes_are_reported() {
    assert_eq!(of_text("\u{201c}shop\u{201d}"), [("suspicious-text", Some("\"shop\"".into()))]);
    assert_eq!(of_text("\u{2018}shop\u{2019}"), [("suspicious-text", Some("\"shop\"".into()))]);
    assert_eq!(of_text("\u{201c}shop in town\u{201d}"), [("suspicious-text", Some("\"shop in town\"".into()))]);
    assert_eq!(of_text("shop\u{2019}s"), []);
    assert_eq!(of_text("\u{201c}shop\u{201d} or \u{201c}store\u{201d}"), []);
}

#[test]
fn unread_annotation_is_reported_once() {
    let ingress = "---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, annotations: {nginx.ingress.kubernetes.io/rewrite-target: /, appgw.ingress.kubernetes.io/ssl-redirect: 'true'}}
spec: {ingressClassName: contour, defaultBackend: {service: {name: web, port: {number: 80}}}}
";
    let proxy = "---\napiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: web}\nspec: {virtualhost: {fqdn: a.example.com}}\n";
    let mapping = mapping("''");
    let mut compilation = compile(&Inputs::one("all.yaml", format!("{GATEWAY}{mapping}{ingress}{proxy}")), &Options::default(), crate::testing::ALL);
    check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
    let said: Vec<&str> =
        compilation.all_diagnostics().filter(|finding| finding.code.name == "foreign-annotation").map(|finding| &*finding.message).collect();
    assert!(compilation.sides().count() > 1);
    let nginx = said.iter().filter(|message| message.contains("nginx")).count();
    let appgw = said.iter().filter(|message| message.contains("appgw")).count();
    let reads = |name: &str| compilation.sides().any(|side| side.dialect().name == name);
    assert_eq!((nginx, appgw), (usize::from(!reads("ingress-nginx")), usize::from(!reads("ingress"))), "{said:?}");
}

#[test]
fn unusable_secret_is_not_reported_as_missing() {
    let help = |secret: &str| -> Vec<Option<String>> {
        let host = "---\napiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {name: shop}\nspec: {hostname: a.example.com, tlsSecret: {name: shop}}\n";
        let text = format!("{GATEWAY}{}{host}---\napiVersion: v1\nkind: Secret\nmetadata: {{name: shop}}\n{secret}\n", mapping("''"));
        let mut compilation = compile(&Inputs::one("gateway.yaml", text), &Options::default(), crate::testing::ALL);
        check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
        compilation.all_diagnostics().filter(|finding| finding.code.name == "secret-not-found").map(|finding| finding.help.clone()).collect()
    };
    let lacks = "the Secret exists, but a certificate needs its keys `tls.crt` and `tls.key`";
    assert_eq!(help("data: {tls.crt: YQ==}"), [Some(lacks.into())]);
    assert_eq!(help("data: {other: YQ==}"), [Some(lacks.into())]);
    let refused = "the Secret exists, but Kubernetes refuses it: see its findings";
    assert_eq!(help("type: kubernetes.io/tls\ndata: {tls.crt: YQ==}"), [Some(refused.into())]);
}

#[test]
fn object_rejected_by_other_dialect_is_not_idle() {
    let ingress = "---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
  annotations:
    kubernetes.io/ingress.class: azure/application-gateway
    appgw.ingress.kubernetes.io/ssl-redirect: 'true'
spec: {rules: [{http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
---
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: web}
spec: {virtualhost: {fqdn: a.example.com}, routes: [{services: [{name: web, port: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}]}
";
    let mut compilation = compile(&Inputs::one("all.yaml", ingress), &Options::default(), crate::testing::ALL);
    check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
    let about_ingress = |code: &str| {
        let is_it = |finding: &&chancery_base::diagnostic::Diagnostic| {
            finding.code.name == code && finding.resource.as_ref().is_some_and(|key| key.kind == "Ingress")
        };
        compilation.all_diagnostics().filter(is_it).count()
    };
    assert_eq!((about_ingress("redirect-without-tls"), about_ingress("no-effect")), (1, 0));
}

#[test]
fn dns_suffix_is_not_a_namespace() {
    let service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: shop, namespace: default}\nspec: {ports: [{port: 80}]}\n";
    let of = |host: &str| found(&format!("{}{service}", mapping("''").replace("service: shop", &format!("service: {host}"))), Policy::default());
    let dangling = ("dangling-reference", Severity::Warning);
    assert!(!of("shop.org").contains(&dangling), "{:?}", of("shop.org"));
    assert!(of("shop.defualt").contains(&dangling), "{:?}", of("shop.defualt"));
}

#[test]
fn certificate_for_external_hosts_is_valid() {
    let context = "---\napiVersion: getambassador.io/v3alpha1\nkind: TLSContext\nmetadata: {name: t}\nspec: {hosts: [a.example.com], secret: a}\n";
    let options = for_interactive_use(Options::default().in_dialect("ambassador"));
    let mut compilation = compile(&Inputs::one("tls.yaml", context), &options, crate::testing::ALL);
    check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
    let codes: Vec<_> = compilation.all_diagnostics().map(|finding| (finding.code.name, finding.severity)).collect();
    assert!(codes.contains(&("no-hosts", Severity::Warning)) && codes.iter().all(|(_, severity)| *severity != Severity::Error), "{codes:?}");
    let whole = options.with("missing", OptionValue::Text("error".into()));
    let errors = compile(&Inputs::one("tls.yaml", context), &whole, crate::testing::ALL);
    let says = |finding: &Diagnostic| finding.code.name == "no-hosts" && finding.severity == Severity::Error;
    assert!(errors.all_diagnostics().any(says), "Emissary reports it for a whole cluster");
}

#[test]
fn unknown_class_is_reported_only_if_similar() {
    let of = |class: &str| {
        let text = format!(
            "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: p}}\nspec: {{virtualhost: {{fqdn: a.example.com}}, routes: [{{services: [{{name: web, port: 80}}]}}]}}\n---\n\
             apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: i}}\nspec: {{ingressClassName: {class}, defaultBackend: {{service: {{name: web, port: {{number: 80}}}}}}}}\n"
        );
        let mut compilation = compile(&Inputs::one("i.yaml", text), &for_interactive_use(Options::default()), crate::testing::ALL);
        check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
        compilation.all_diagnostics().filter(|finding| finding.code.name == "dangling-reference").map(|finding| finding.severity).collect::<Vec<_>>()
    };
    assert_eq!(of("haproxy"), [Severity::Notice]);
    assert_eq!(of("contuor"), [Severity::Warning]);
}

/// Codes and severities of the findings in a single input, compiled with default assumptions.
fn found_alone(text: &str) -> Vec<(&'static str, Severity)> {
    let mut compilation = compile(&Inputs::one("alone.yaml", text), &for_interactive_use(Options::default()), crate::testing::ALL);
    check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
    compilation.all_diagnostics().map(|finding| (finding.code.name, finding.severity)).collect()
}

#[test]
fn only_foreign_ingress_is_a_warning() {
    let ingress = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i}\nspec: {ingressClassName: haproxy, defaultBackend: {service: {name: web, port: {number: 80}}}}\n";
    let severity = |text: &str| found_alone(text).into_iter().find(|(code, _)| *code == "class-not-ours").map(|(_, severity)| severity);
    assert_eq!(severity(ingress), Some(Severity::Warning));
    assert_eq!(severity(&format!("{ingress}---{GATEWAY}{}", mapping("''"))), Some(Severity::Notice));
}

#[test]
fn https_redirect_needs_a_tls_listener() {
    let of = |model: &str, action: &str| {
        let text = GATEWAY.replace("XFP", model).replace("Route", action);
        found_alone(&format!("{text}{}", mapping("''"))).iter().any(|(code, _)| *code == "unserved-redirect")
    };
    assert!(of("INSECURE", "Redirect"));
    assert!(!of("INSECURE", "Route"));
    assert!(of("XFP", "Redirect"), "Envoy overwrites the client's X-Forwarded-Proto");
    assert!(!of("XFP, l7Depth: 1", "Redirect"), "what is in front of the gateway may end TLS");
    let rejects = GATEWAY.replace("Route", "Reject");
    let wants_tls = |text: &str| found_alone(&format!("{text}{}", mapping("''"))).iter().any(|(code, _)| *code == "unserved-host");
    assert!(wants_tls(&rejects) && !wants_tls(&rejects.replace("XFP", "XFP, l7Depth: 1")) && !wants_tls(GATEWAY));
    let over_tls = |model: &str| {
        let https = GATEWAY.replacen("XFP", model, 1).replace("protocol: HTTP,", "protocol: HTTPS,");
        let text = format!("{}{}", https.replace("Route", "Redirect").replace("requestPolicy", "tlsSecret: {name: t}, requestPolicy"), mapping("''"));
        found_alone(&text).iter().any(|(code, _)| *code == "redirect-loop")
    };
    assert!(over_tls("INSECURE") && !over_tls("SECURE") && !over_tls("XFP"));
    let proxy = |tls: &str, rest: &str| {
        let spec = format!("spec: {{virtualhost: {{fqdn: a.example.com{tls}}}, {rest}}}");
        found_alone(&format!("apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: p}}\n{spec}\n"))
    };
    let redirect = "routes: [{requestRedirectPolicy: {scheme: https}}]";
    assert!(proxy("", redirect).contains(&("unserved-redirect", Severity::Warning)));
    assert!(!proxy("", &redirect.replace("https", "https, hostname: b.example.com")).contains(&("unserved-redirect", Severity::Warning)));
    let passed = "tcpproxy: {services: [{name: web, port: 443}]}";
    assert!(!proxy(", tls: {passthrough: true}", passed).contains(&("unserved-redirect", Severity::Warning)));
}

#[test]
fn only_cleartext_route_without_redirect_is_reported() {
    let routes =
        "routes: [{conditions: [{prefix: /ws}], permitInsecure: true, services: [{name: web, port: 80}]}, {services: [{name: web, port: 80}]}]";
    let spec = format!("spec: {{virtualhost: {{fqdn: a.example.com, tls: {{secretName: t}}}}, {routes}}}");
    let text = format!("apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: p}}\n{spec}\n");
    let mut compilation = compile(&Inputs::one("p.yaml", text.clone()), &for_interactive_use(Options::default()), crate::testing::ALL);
    check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
    let of_code = compilation.all_diagnostics().filter(|finding| finding.code.name == "missing-redirect");
    let messages: Vec<&str> = of_code.map(|finding| finding.message.as_str()).collect();
    assert_eq!(
        messages,
        ["`a.example.com` is served over TLS, but this route does not redirect its requests from http:// to https://, as other routes do"]
    );
}

#[test]
fn cleartext_route_without_required_auth_is_reported() {
    let host = "virtualhost: {fqdn: a.example.com, tls: {secretName: t}, authorization: {extensionRef: {name: auth}}, \
                jwtProviders: [{name: p, default: true, issuer: i, remoteJWKS: {uri: \"https://j.example.com/k\"}}]}";
    let extension =
        "apiVersion: projectcontour.io/v1alpha1\nkind: ExtensionService\nmetadata: {name: auth}\nspec: {services: [{name: s, port: 1}]}\n";
    let reported = |route: &str| {
        let spec = format!("spec: {{{host}, routes: [{{services: [{{name: web, port: 80}}]{route}}}]}}");
        let text = format!("apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: p}}\n{spec}\n---\n{extension}");
        let mut compilation = compile(&Inputs::one("p.yaml", text), &for_interactive_use(Options::default()), crate::testing::ALL);
        check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
        let of_code = compilation.all_diagnostics().filter(|finding| finding.code.name == "unprotected-cleartext");
        of_code.map(|finding| finding.message.clone()).collect::<Vec<_>>()
    };
    let asked = |what: &str| [format!("{what} asked for only over TLS: this route forwards requests for http://a.example.com without asking")];
    assert_eq!(reported(""), [""; 0], "it redirects");
    assert_eq!(reported(", permitInsecure: true"), asked("authorization and a valid token are"));
    let open = ", permitInsecure: true, authPolicy: {disabled: true}";
    assert_eq!(reported(open), asked("a valid token is"));
    assert_eq!(reported(&format!("{open}, jwtVerificationPolicy: {{disabled: true}}")), [""; 0], "it is open over TLS too");
}

#[test]
fn only_unread_input_is_a_warning() {
    let foreign = "apiVersion: traefik.io/v1alpha1\nkind: IngressRoute\nmetadata: {name: i}\nspec: {}\n";
    assert_eq!(found_alone(foreign), [("unsupported-input", Severity::Error)]);
    let beside = found_alone(&format!("{foreign}---{GATEWAY}{}", mapping("''")));
    assert!(beside.contains(&("unknown-kind", Severity::Notice)) && !beside.iter().any(|(code, _)| *code == "assumed-dialect"), "{beside:?}");
    let old = found_alone("apiVersion: contour.heptio.com/v1beta1\nkind: IngressRoute\nmetadata: {name: i}\nspec: {}\n");
    assert_eq!(old, [("removed-version", Severity::Warning)], "it is Contour's");
}
