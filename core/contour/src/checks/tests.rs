//! Tests the checks for values that Contour does not know, and for settings without effect.

use crate::DIALECT;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::compilation::{Options, for_interactive_use};
use chancery_base::diagnostic::{Diagnostic, Policy, Severity};
use chancery_base::executor::Sequential;
use chancery_base::resource::Inputs;
use chancery_compile::{EmittedByGateway, compile};
use chancery_explain::check::check;

const SERVICE: &str = "
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {ports: [{name: http, port: 80}, {name: tls, port: 443, appProtocol: https}]}
";

/// The findings of an input, except those about assumptions.
fn found(text: &str) -> Vec<Diagnostic> {
    let options = for_interactive_use(Options::of(&DIALECT));
    let mut compilation = compile(&Inputs::one("contour.yaml", format!("{text}{SERVICE}")), &options, &[&crate::DIALECT]);
    check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
    compilation.all_diagnostics().filter(|finding| finding.severity != Severity::Notice).cloned().collect()
}

/// Codes and messages of an HTTPProxy's findings.
fn of_proxy(spec: &str) -> Vec<String> {
    let text = format!("apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: shop, namespace: default}}\nspec: {spec}\n");
    found(&text).iter().map(|finding| format!("{}: {}", finding.code.name, finding.message)).collect()
}

/// The same of the first route.
fn of_route(route: &str) -> Vec<String> {
    of_proxy(&format!("{{virtualhost: {{fqdn: shop.example.com}}, routes: [{route}]}}"))
}

const NOTHING: [&str; 0] = [];

#[test]
fn unknown_strategy_is_reported() {
    let strategy = |strategy: &str| of_route(&format!("{{services: [{{name: web, port: 80}}], loadBalancerPolicy: {{strategy: {strategy}}}}}"));
    assert_eq!(strategy("Foo"), ["unknown-value: Contour does not know `Foo` here, and takes endpoints in turn, as with `RoundRobin`"]);
    for known in ["RoundRobin", "WeightedLeastRequest", "Random", "Cookie", "''", "'${STRATEGY}'"] {
        assert_eq!(strategy(known), NOTHING, "{known}");
    }
}

#[test]
fn unknown_tls_version_has_fix() {
    let spec = "{virtualhost: {fqdn: shop.example.com, tls: {secretName: shop, minimumProtocolVersion: TLS1.3}}, routes: [{services: [{name: web, port: 80}]}]}";
    let found = found(&format!("apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: shop, namespace: default}}\nspec: {spec}\n"));
    let [finding] = &found[..] else { panic!("{found:?}") };
    assert_eq!(finding.message, "Contour does not know `TLS1.3` here, and takes 1.2 for the oldest version");
    let edit = finding.fix.as_ref().map(|fix| fix.edits[0].replacement.as_str());
    assert_eq!(edit, Some("\"1.3\""), "in quotes, as it would be a number");
}

#[test]
fn annotations_that_contour_cannot_read_are_said() {
    let ingress = |annotation: &str| -> Vec<String> {
        let text = format!(
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: shop, namespace: default, annotations: {{{annotation}}}}}\n\
             spec: {{defaultBackend: {{service: {{name: web, port: {{number: 80}}}}}}}}\n"
        );
        found(&text).iter().map(|finding| finding.message.to_string()).collect()
    };
    assert_eq!(ingress("ingress.kubernetes.io/force-ssl-redirect: 'yes'"), ["Contour does not know `yes` here, and does not redirect to HTTPS"]);
    assert_eq!(ingress("projectcontour.io/response-timeout: '30'"), ["Contour does not know `30` here, and takes Envoy's own timeout, 15 seconds"]);
    for known in [
        "projectcontour.io/response-timeout: infinity",
        "projectcontour.io/retry-on: 5xx, projectcontour.io/num-retries: '-1'",
        "kubernetes.io/ingress.allow-http: 'true'",
    ] {
        assert_eq!(ingress(known), NOTHING, "{known}");
    }
}

#[test]
fn words_of_retries_are_judged_one_by_one() {
    let ingress = |on: &str| {
        let text = format!(
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: shop, namespace: default, annotations: {{projectcontour.io/retry-on: \"{on}\"}}}}\n\
             spec: {{defaultBackend: {{service: {{name: web, port: {{number: 80}}}}}}}}\n"
        );
        let found = found(&text);
        found.iter().map(|of| (of.message.to_string(), of.fix.as_ref().map(|fix| fix.edits[0].replacement.to_string()))).collect::<Vec<_>>()
    };
    assert_eq!(ingress("5xx, reset"), []);
    let [(message, fix)] = &ingress("5xx,gatway-error")[..] else { panic!("one finding") };
    assert!(message.starts_with("Contour does not know `gatway-error` here"), "{message}");
    assert_eq!(fix.as_deref(), Some("\"5xx,gateway-error\""));
    let [(_, fix)] = &ingress("gateway-error,ateway-error")[..] else { panic!("one finding") };
    assert_eq!(fix.as_deref(), Some("\"gateway-error,gateway-error\""), "the word itself is replaced, not another that holds it");
}

#[test]
fn protocols_of_missing_ports_are_reported() {
    let service = |annotation: &str, app: &str| -> Vec<String> {
        let text = format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: api, namespace: default, annotations: {{projectcontour.io/upstream-protocol.h2c: \"{annotation}\"}}}}\n\
             spec: {{ports: [{{name: grpc, port: 90, targetPort: 9090, appProtocol: {app}}}]}}\n"
        );
        found(&text).iter().map(|finding| finding.message.to_string()).collect()
    };
    assert_eq!(service("grpc, 90", "http"), NOTHING);
    assert_eq!(service("9090", "http"), ["the Service has no port `9090`, so the annotation does nothing for it"]);
    assert_eq!(service("90", "h2c"), ["Contour does not know `h2c` here, and takes the port for plain HTTP"]);
    for known in ["https", "kubernetes.io/ws", "mysql"] {
        assert_eq!(service("90", known), NOTHING, "{known}");
    }
}

/// Codes, severities and help of all findings.
fn reported_findings(text: &str) -> Vec<(&'static str, Severity, String)> {
    let mut compilation = compile(&Inputs::one("contour.yaml", text), &for_interactive_use(Options::default()), &[&crate::DIALECT]);
    check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
    let all = compilation.all_diagnostics().filter(|finding| !finding.code.name.starts_with("assumed"));
    all.map(|finding| (finding.code.name, finding.severity, finding.help.clone().unwrap_or_default().to_string())).collect()
}

const GATEWAY: &str = "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: g}\n\
                       spec: {gatewayClassName: CLASS, listeners: [{name: http, protocol: HTTP, port: 80}]}\n";

#[test]
fn a_gateway_alone_is_in_order() {
    let routes = "give the rest of the configuration as well, to see what it does".to_string();
    assert_eq!(reported_findings(&GATEWAY.replace("CLASS", "example")), [("no-listener", Severity::Notice, routes)]);
}

#[test]
fn proxy_without_root_may_be_included_elsewhere() {
    let proxy =
        |name: &str, spec: &str| format!("---\napiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: {name}}}\nspec: {spec}\n");
    let routes = "routes: [{services: [{name: web, port: 80}]}]";
    let child = proxy("child", &format!("{{{routes}}}"));
    assert!(
        reported_findings(&child).iter().any(|(code, severity, _)| (*code, *severity) == ("orphaned-proxy", Severity::Warning)),
        "{:?}",
        reported_findings(&child)
    );
    assert!(reported_findings(&child).iter().all(|(_, severity, _)| *severity != Severity::Error), "{:?}", reported_findings(&child));
    let beside = format!("{child}{}", proxy("root", &format!("{{virtualhost: {{fqdn: a.example.com}}, {routes}}}")));
    assert!(
        reported_findings(&beside).iter().any(|(code, severity, _)| (*code, *severity) == ("orphaned-proxy", Severity::Error)),
        "{:?}",
        reported_findings(&beside)
    );
}

#[test]
fn a_route_without_rules_conflicts_with_nothing() {
    let route = "apiVersion: gateway.networking.k8s.io/v1\nkind: GRPCRoute\nmetadata: {name: r}\nspec: {parentRefs: [{name: g}]}\n";
    let found = reported_findings(route);
    let error = found.iter().find(|(_, severity, _)| *severity == Severity::Error);
    let (code, _, help) = error.expect("Contour refuses it");
    assert!(*code == "invalid-route" && help.contains("without `rules`"), "{found:?}");
}

#[test]
fn unread_kind_finding_lists_read_kinds() {
    let route = "apiVersion: gateway.networking.k8s.io/v1alpha2\nkind: UDPRoute\nmetadata: {name: r}\nspec: {parentRefs: [{name: g}]}\n";
    let found = reported_findings(route);
    let [(code, severity, help)] = &found[..] else { panic!("{found:?}") };
    assert_eq!((*code, *severity), ("no-effect", Severity::Warning));
    assert!(help.starts_with("of `gateway.networking.k8s.io`, Contour reads ") && help.contains("HTTPRoute"), "{help}");
}

#[test]
fn other_controllers_objects_are_not_checked() {
    let route = |rest: &str| {
        format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: r}}\nspec: {{parentRefs: [{{name: g}}], rules: [{{{rest}}}]}}\n"
        )
    };
    let mesh = route("backendRefs: [{group: consul.hashicorp.com, kind: MeshService, name: s}]");
    let left = ("no-effect", Severity::Warning, String::new());
    assert_eq!(reported_findings(&mesh), core::slice::from_ref(&left));
    let theirs = format!("{}---\n{}", GATEWAY.replace("CLASS", "consul"), route("backendRefs: [{name: s, port: 80}]"));
    assert_eq!(reported_findings(&theirs), [left.clone(), left]);
}

#[test]
fn passthrough_needs_tcpproxy() {
    let tls = |rest: &str| of_proxy(&format!("{{virtualhost: {{fqdn: shop.example.com, tls: {{passthrough: true}}}}, {rest}}}"));
    let expected = "unserved: no TLS connection is served: `passthrough` forwards connections to `tcpproxy`, but there is none";
    let redirected = "unserved-redirect: requests for `shop.example.com` are redirected to https://, and no listener serves it over TLS";
    assert_eq!(tls("routes: [{services: [{name: web, port: 80}]}]"), [expected, redirected]);
    assert_eq!(tls("tcpproxy: {services: [{name: web, port: 443}]}"), NOTHING);
}

#[test]
fn a_route_with_mirrors_only_answers_nobody() {
    let expected =
        "unserved: Envoy answers requests with 503: all services of the route are mirrors, which get copies of requests that another one gets";
    assert_eq!(of_route("{services: [{name: web, port: 80, mirror: true}]}"), [expected]);
    assert_eq!(of_route("{services: [{name: web, port: 80}, {name: web, port: 443, mirror: true}]}"), NOTHING);
}

#[test]
fn validation_needs_tls_however_it_is_asked_for() {
    let validation = "validation: {caSecret: ca, subjectName: web}";
    let of = |service: &str| of_route(&format!("{{services: [{{name: web, {service}, {validation}}}]}}"));
    let idle = "field-without-effect: `validation` changes nothing: Envoy does not speak TLS to the service, so that no certificate is checked";
    assert_eq!(of("port: 80"), [idle]);
    assert_eq!(of("port: 80, protocol: h2c"), [idle]);
    assert_eq!(of("port: 80, protocol: tls"), NOTHING);
    assert_eq!(of("port: 443"), NOTHING, "the Service says that the port speaks TLS");
}

#[test]
fn fields_that_ask_for_others_say_so() {
    let port = "field-without-effect: `healthPort` changes nothing: without `healthCheckPolicy` Envoy does not check the service's health";
    assert_eq!(of_route("{services: [{name: web, port: 80, healthPort: 443}]}"), [port]);
    assert_eq!(of_route("{services: [{name: web, port: 80, healthPort: 443}], healthCheckPolicy: {path: /}}"), NOTHING);
    let hash = "loadBalancerPolicy: {strategy: Random, requestHashPolicies: [{hashSourceIP: true}]}";
    let expected = ["field-without-effect: `requestHashPolicies` changes nothing: only the strategy `RequestHash` asks for it"];
    assert_eq!(of_route(&format!("{{services: [{{name: web, port: 80}}], {hash}}}")), expected);
    let tls = "virtualhost: {fqdn: shop.example.com, tls: {passthrough: true}}";
    let expected = ["field-without-effect: `mirror` changes nothing in `tcpproxy`: Contour reads it for routes alone"];
    assert_eq!(of_proxy(&format!("{{{tls}, tcpproxy: {{services: [{{name: web, port: 443, mirror: true}}]}}}}")), expected);
}

/// Messages and help of the findings of an Ingress with the path `/ws` and these annotations.
fn of_ingress(annotations: &str, rest: &str) -> Vec<String> {
    let text = format!(
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: shop, namespace: default, annotations: {{{annotations}}}}}\n\
         spec: {{{rest}rules: [{{http: {{paths: [{{path: /ws, pathType: Prefix, backend: {{service: {{name: web, port: {{number: 80}}}}}}}}]}}}}]}}\n"
    );
    found(&text).iter().map(|finding| format!("{}; {}", finding.message, finding.help.as_deref().unwrap_or_default())).collect()
}

#[test]
fn websocket_routes_name_paths_of_the_ingress() {
    let of = |routes: &str| of_ingress(&format!("projectcontour.io/websocket-routes: '{routes}'"), "");
    let idle = |route: &str, help: &str| format!("`{route}` in `websocket-routes` changes nothing: no path of the Ingress has this form; {help}");
    assert_eq!(of("/ws"), NOTHING);
    assert_eq!(of("/ws, /sw"), [idle("/sw", "did you mean `/ws`?")]);
    assert_eq!(of("/socket"), [idle("/socket", "add a path `/socket` to the rules, or name one that they have")]);
    let root = of_ingress("projectcontour.io/websocket-routes: /", "defaultBackend: {service: {name: web, port: {number: 80}}}, ");
    assert_eq!(root, NOTHING, "the default backend is at /");
}

#[test]
fn annotations_that_ask_for_others_say_so() {
    let of = |annotations: &str| {
        of_ingress(annotations, "")
            .into_iter()
            .map(|reported_findings| reported_findings.split("; ").next().unwrap_or_default().into())
            .collect::<Vec<String>>()
    };
    for name in ["num-retries: '3'", "per-try-timeout: 1s"] {
        let field = name.split(':').next().unwrap_or_default();
        assert_eq!(of(&format!("projectcontour.io/{name}")), [format!("`{field}` changes nothing: without `retry-on` Envoy does not retry")]);
        assert_eq!(of(&format!("projectcontour.io/retry-on: 5xx, projectcontour.io/{name}")), NOTHING);
    }
    let both = "projectcontour.io/response-timeout: 3s, projectcontour.io/request-timeout: 4s";
    assert_eq!(of(both), ["`request-timeout` has no effect together with `response-timeout`: it is the older name of the same timeout"]);
    assert_eq!(
        of("projectcontour.io/tls-minimum-protocol-version: '1.3'"),
        ["`tls-minimum-protocol-version` changes nothing: the Ingress has no `tls`"]
    );
}

#[test]
fn contradictory_header_conditions_are_found() {
    let reported_findings = |route: &str| {
        let route = format!("{{services: [{{name: web, port: 80}}], {route}}}");
        of_proxy(&format!("{{virtualhost: {{fqdn: shop.example.com}}, routes: [{route}]}}"))
    };
    let host = |name: &str| reported_findings(&format!("conditions: [{{header: {{name: Host, exact: {name}}}}}]"));
    assert_eq!(
        host("other.example.com"),
        ["contradictory-conditions: no request takes this route: its host would have to be `other.example.com`, and the virtual host is for \
          `shop.example.com`"]
    );
    assert_eq!(host("shop.example.com"), NOTHING);
    let both = reported_findings("conditions: [{header: {name: x-a, exact: '1'}}, {header: {name: x-a, notpresent: true}}]");
    assert_eq!(both, ["contradictory-conditions: no request takes this route: its header `x-a` would have to be `1` and absent"]);
    let count = reported_findings("retryPolicy: {count: 0}");
    assert_eq!(count, ["field-without-effect: Contour treats `count: 0` as 1: Envoy retries once"]);
    assert_eq!(reported_findings("retryPolicy: {count: -1}"), NOTHING);
}

#[test]
fn disabled_setting_must_exist() {
    let host = |settings: &str, route: &str| {
        of_proxy(&format!("{{virtualhost: {{fqdn: shop.example.com{settings}}}, routes: [{{services: [{{name: web, port: 80}}], {route}}}]}}"))
    };
    let insecure = "field-without-effect: `permitInsecure` changes nothing: without `tls` of the virtual host nothing is redirected to https://";
    assert_eq!(host("", "permitInsecure: true"), [insecure]);
    assert_eq!(host("", "permitInsecure: false"), NOTHING);
    let open = "field-without-effect: `authPolicy.disabled` changes nothing: no requests of the virtual host are authorized";
    assert_eq!(host("", "authPolicy: {disabled: true}"), [open]);
    let tokens = "field-without-effect: `jwtVerificationPolicy.disabled` changes nothing: the virtual host verifies no tokens";
    assert_eq!(host("", "jwtVerificationPolicy: {disabled: true}"), [tokens]);
    let required = "field-without-effect: `jwtVerificationPolicy.require` verifies nothing: the virtual host has no `jwtProviders`, so requests pass \
                    without a token";
    assert_eq!(host("", "jwtVerificationPolicy: {require: foo}"), [required]);
    // For an included proxy, the host is elsewhere.
    assert_eq!(
        of_proxy("{routes: [{services: [{name: web, port: 80}], permitInsecure: true}]}")
            .iter()
            .filter(|reported_findings| reported_findings.contains("permitInsecure"))
            .count(),
        0
    );
}

#[test]
fn direct_response_ignores_forwarding_settings() {
    let route = |answer: &str, field: &str| of_proxy(&format!("{{virtualhost: {{fqdn: shop.example.com}}, routes: [{{{answer}, {field}}}]}}"));
    for answer in ["requestRedirectPolicy: {hostname: b.example.com}", "directResponsePolicy: {statusCode: 200}"] {
        let name = answer.split(':').next().unwrap_or_default();
        let reported_findings =
            format!("field-without-effect: `timeoutPolicy` has no effect together with `{name}`: Contour uses it for forwarded requests");
        assert_eq!(route(answer, "timeoutPolicy: {response: 5s}"), [reported_findings]);
        assert_eq!(route(answer, "enableWebsockets: false"), NOTHING);
    }
}

#[test]
fn limits_that_no_service_counts_are_reported() {
    let global = "rateLimitPolicy: {global: {descriptors: [{entries: [{remoteAddress: {}}]}]}}";
    let text = format!(
        "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: shop, namespace: default}}\n\
         spec: {{virtualhost: {{fqdn: shop.example.com, {global}}}, routes: [{{services: [{{name: web, port: 80}}], {global}}}]}}{SERVICE}"
    );
    let of = |text: &str, options: Options| -> Vec<(Severity, String)> {
        let mut compilation = compile(&Inputs::one("contour.yaml", text), &options, &[&crate::DIALECT]);
        check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
        let about = |finding: &&Diagnostic| finding.message.contains("rateLimitPolicy");
        compilation.all_diagnostics().filter(about).map(|finding| (finding.severity, finding.message.clone())).collect()
    };
    let message = "`rateLimitPolicy.global` limits nothing: Contour gives Envoy no rate limit service";
    let found = |severity: Severity| [(severity, message.to_string()), (severity, message.to_string())];
    assert_eq!(of(&text, for_interactive_use(Options::of(&DIALECT))), found(Severity::Notice), "the configuration may be elsewhere");
    assert_eq!(of(&text, Options::of(&DIALECT)), found(Severity::Warning), "this is the whole cluster");
    let service = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: contour, namespace: projectcontour}\n\
                   data: {contour.yaml: 'rateLimitService: {extensionService: default/limits, domain: d}'}\n\
                   ---\napiVersion: projectcontour.io/v1alpha1\nkind: ExtensionService\nmetadata: {name: limits, namespace: default}\n\
                   spec: {services: [{name: web, port: 80}]}\n";
    assert_eq!(of(&format!("{text}{service}"), for_interactive_use(Options::of(&DIALECT))), []);
}

#[test]
fn prefix_replacement_needs_whole_prefix() {
    let included = |replacement: &str| {
        let child = format!(
            "---\napiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: child, namespace: default}}\n\
             spec: {{routes: [{{conditions: [{{prefix: /v1}}], services: [{{name: web, port: 80}}], \
             pathRewritePolicy: {{replacePrefix: [{replacement}]}}}}]}}"
        );
        let root = "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: root, namespace: default}\n\
                    spec: {virtualhost: {fqdn: shop.example.com}, includes: [{name: child, conditions: [{prefix: /api}]}]}\n";
        found(&format!("{root}{child}")).iter().map(|finding| finding.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(included("{prefix: /v1, replacement: /}"), ["the prefix `/v1` is not replaced: the whole prefix of the route is `/api/v1`"]);
    assert_eq!(included("{prefix: /api/v1, replacement: /}"), NOTHING);
    assert_eq!(included("{replacement: /}"), NOTHING, "it replaces any prefix");
    assert_eq!(included("{prefix: /api/v1, replacement: /}, {replacement: /other}"), NOTHING);
}

#[test]
fn other_replacement_failures_are_not_reported() {
    let route = "{conditions: [{prefix: /a}], services: [{name: web, port: 80}], requestRedirectPolicy: {hostname: b.example.com}, \
                 pathRewritePolicy: {replacePrefix: [{prefix: /a, replacement: /b}]}}";
    assert!(of_route(route).iter().all(|reported_findings| !reported_findings.contains("is not replaced")), "{:?}", of_route(route));
}

#[test]
fn including_route_replaces_included_routes() {
    let child = |routes: &str| {
        format!(
            "---\napiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: blog, namespace: default}}\nspec: {{routes: [{routes}]}}\n"
        )
    };
    let root = |prefix: &str, own: &str| {
        format!(
            "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: shop, namespace: default}}\nspec: {{virtualhost: {{fqdn: \
             shop.example.com}}, includes: [{{name: blog, conditions: [{{prefix: {prefix}}}]}}], routes: [{{conditions: [{{prefix: {own}}}], \
             services: [{{name: web, port: 80}}]}}]}}\n"
        )
    };
    let route = "{services: [{name: web, port: 80}]}";
    let news = "{conditions: [{prefix: /news}], services: [{name: web, port: 80}]}";
    let conflicts = |text: String| {
        let all = found(&text).into_iter().filter(|finding| finding.code.name == "route-conflict");
        all.map(|finding| (finding.message.clone(), finding.related.iter().map(|related| related.message.to_string()).collect::<Vec<_>>()))
            .collect::<Vec<_>>()
    };
    let [(message, related)] = &conflicts(format!("{}{}", root("/", "/"), child(route)))[..] else { panic!("one route is replaced") };
    assert_eq!(message, "HTTPProxy `shop` (default) has a route with the same conditions, and takes all requests of this one for `shop.example.com`");
    assert_eq!(related, &["this route wins", "no request reaches a route of this include"]);
    let [(_, related)] = &conflicts(format!("{}{}", root("/app", "/app"), child(&format!("{route}, {news}"))))[..] else { panic!("one of two") };
    assert_eq!(related, &["this route wins", "this include adds the route"]);
    assert_eq!(conflicts(format!("{}{}", root("/blog", "/"), child(route))), []);
}
