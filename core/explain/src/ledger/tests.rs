//! Tests the ledger of objects that others look up, or that have an effect only under conditions.

use super::{LedgerRow, collect_named_parts, ledger, ledger_of, rows_without_effect};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, OptionValue, Options, State};
use chancery_base::resource::Inputs;
use chancery_compile::compile;

/// Compiles as Contour does, with nothing assumed.
fn contour(text: &str) -> Compilation {
    let options = Options::of(&chancery_contour::DIALECT).with("missing", OptionValue::Text("error".into()));
    compile(&Inputs::one("input.yaml", text), &options, crate::testing::ALL)
}

fn row(compilation: &Compilation, kind: &str, name: &str) -> LedgerRow {
    let rows = ledger(compilation, &compilation.positions());
    rows.into_iter().find(|row| row.resource.kind == kind && row.resource.name == name).expect("every object has a row")
}

fn state(text: &str, kind: &str, name: &str) -> &'static str {
    row(&contour(text), kind, name).state
}

const PROXY: &str = "\
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: web, namespace: default}
spec:
  virtualhost: {fqdn: a.test}
  routes:
  - services: [{name: web, port: 80}]
";

const SERVICE: &str = "---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {ports: [{name: http, port: 80}]}
";

#[test]
fn row_has_conditions_of_status() {
    let gateway = "---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: default}
spec: {gatewayClassName: eg, listeners: [{name: http, port: 80, protocol: HTTP}, {name: tcp, port: 80, protocol: TCP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: default}
spec: {parentRefs: [{name: gw, sectionName: http}], rules: [{backendRefs: [{name: gone, port: 80}]}]}
";
    let options = Options::of(&chancery_envoy_gateway::DIALECT).with("missing", OptionValue::Text("error".into()));
    let compilation = compile(&Inputs::one("input.yaml", gateway), &options, crate::testing::ALL);
    assert_eq!(row(&compilation, "GatewayClass", "eg").status_line().as_deref(), Some("Accepted"));
    assert_eq!(row(&compilation, "HTTPRoute", "shop").status_line().as_deref(), Some("Accepted, ResolvedRefs=False (BackendNotFound)"));
    assert_eq!(row(&contour(SERVICE), "Service", "web").status_line(), None);
}

const SLICE: &str = "---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: default, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 80}]
endpoints: [{addresses: [10.0.0.4]}]
";

#[test]
fn service_without_port_is_read_without_effect() {
    let text = String::from(PROXY) + SERVICE;
    assert_eq!(state(&text, "Service", "web"), State::EMITTED);
    let row = row(&contour(&text.replace("port: 80}]}", "port: 81}]}")), "Service", "web");
    assert_eq!((row.state, row.by.map(|by| by.name)), (State::READ, Some("web".into())));
}

#[test]
fn service_of_invalid_proxy_is_emitted() {
    let broken = PROXY.replace("{name: web, port: 80}", "{name: web, port: 80, protocol: tls, validation: {caSecret: nosuch, subjectName: a.test}}");
    let text = broken + SERVICE;
    let row = row(&contour(&text), "Service", "web");
    assert_eq!((row.state, row.into), (State::EMITTED, Vec::from(["used by HTTPProxy web.default".into()])));
}

#[test]
fn matched_object_without_references_is_emitted() {
    let namespace = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {team: b}}\n";
    let gateway = "\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: contour}
spec: {controllerName: projectcontour.io/contour}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: contour, namespace: projectcontour}
spec:
  gatewayClassName: contour
  listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {team: a}}}}}]
---
apiVersion: projectcontour.io/v1alpha1
kind: ContourConfiguration
metadata: {name: contour, namespace: projectcontour}
spec: {gateway: {gatewayRef: {namespace: projectcontour, name: contour}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: default}
spec:
  parentRefs: [{name: contour, namespace: projectcontour}]
  rules: [{backendRefs: [{name: web, port: 80}]}]
";
    let text = String::from(gateway) + SERVICE + namespace;
    let arguments = OptionValue::List(Vec::from(["--contour-config-name=contour".into()]));
    let options = Options::of(&chancery_contour::DIALECT).with("missing", OptionValue::Text("error".into())).with("controller-arg", arguments);
    let state = |text: &str| row(&compile(&Inputs::one("input.yaml", text), &options, crate::testing::ALL), "Namespace", "default").state;
    assert_eq!(state(&text), State::EMITTED);
    assert_eq!(state(&text.replace("from: Selector, selector: {matchLabels: {team: a}}", "from: All")), State::IGNORED);
}

#[test]
fn contour_bootstrap_has_endpoints_unless_assumed() {
    use crate::{View, Viewed};
    use chancery_text::to_json;
    let bootstrap = |compilation: &Compilation| {
        let ir = compilation.gateways().next().expect("a gateway").ir;
        to_json(&Viewed::new(ir, View::Envoy, &mut Default::default()).root, false)
    };
    let compilation = contour(&(String::from(PROXY) + SERVICE + SLICE));
    assert!(bootstrap(&compilation).contains(r#""address":"10.0.0.4""#), "the bootstrap contains them");
    assert_eq!(row(&compilation, "EndpointSlice", "web-1").state, State::EMITTED);
    let options = Options::of(&chancery_contour::DIALECT).with("missing", OptionValue::Text("auto".into()));
    let assumed = compile(&Inputs::one("input.yaml", PROXY), &options, crate::testing::ALL);
    assert!(bootstrap(&assumed).contains("eds_cluster_config"), "Contour knows the others");
}

#[test]
fn rows_without_effect_equal_whole_ledger() {
    let broken = PROXY.replace("{name: web, port: 80}", "{name: web, port: 80, protocol: tls, validation: {caSecret: nosuch, subjectName: a.test}}");
    for text in [String::from(PROXY) + SERVICE, broken + SERVICE, SERVICE.into()] {
        let compilation = contour(&text);
        let (side, positions) = (compilation.sides().next().expect("a side"), compilation.positions());
        let idle = |row: &LedgerRow| [State::IGNORED, State::SHADOWED, State::INVALID].contains(&row.state);
        let whole: Vec<LedgerRow> = ledger_of(side, &positions).into_iter().filter(idle).collect();
        assert_eq!(rows_without_effect(side, &positions, |_| true), whole, "{text}");
    }
}

#[test]
fn row_of_large_group_names_some_members() {
    let mapping = |at: usize| {
        format!(
            "---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m{at:03}}}\nspec: {{hostname: '*', prefix: /p/, service: s{at}}}\n"
        )
    };
    let listener = "apiVersion: getambassador.io/v3alpha1\nkind: Listener\nmetadata: {name: l}\n\
                    spec: {port: 8080, protocol: HTTP, securityModel: INSECURE, hostBinding: {namespace: {from: ALL}}}\n";
    let of = |members: usize| {
        let text: String = core::iter::once(listener.into()).chain((0..members).map(mapping)).collect();
        compile(&Inputs::one("input.yaml", text.as_str()), &Options::of(&chancery_ambassador::DIALECT), crate::testing::ALL)
    };
    let row_of = |members: usize| {
        let row = row(&of(members), "Mapping", "m001");
        (row.state, row.with.len(), row.with_more, row.with.first().map(|other| other.name.clone()))
    };
    assert_eq!(row_of(3), ("merged", 2, 0, Some("m000".into())));
    assert_eq!(row_of(100), ("merged", LedgerRow::MOST_NAMED, 99 - LedgerRow::MOST_NAMED, Some("m000".into())));
    // The size of the derived data must be linear in the number of members.
    let count_named_parts = |members: usize| {
        let compilation = of(members);
        let named_parts = collect_named_parts(compilation.gateways().next().expect("there is a gateway").ir);
        named_parts.iter().count()
    };
    assert!(count_named_parts(400) < count_named_parts(200) * 5 / 2, "{} and {}", count_named_parts(400), count_named_parts(200));
}

#[test]
fn mapping_without_route_has_reason() {
    let of = |text: &str| compile(&Inputs::one("input.yaml", text), &Options::of(&chancery_ambassador::DIALECT), crate::testing::ALL);
    let why = |text: &str, name: &str| row(&of(text), "Mapping", name).detail.map(String::from).unwrap_or_default();
    let mapping = |name: &str, more: &str| {
        format!(
            "---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: {name}}}\nspec: {{hostname: '*', prefix: /p/, service: {name}{more}}}\n"
        )
    };
    let listener = "---\napiVersion: getambassador.io/v3alpha1\nkind: Listener\nmetadata: {name: l}\n\
                    spec: {port: 8443, protocol: HTTPS, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}\n";
    assert_eq!(why(&mapping("m", ""), "m"), "Envoy listens on no port for requests, so no route leads there");
    let copies = mapping("copies", ", shadow: true");
    assert_eq!(why(&format!("{copies}{listener}"), "copies"), "it gets copies only, and no Mapping matches the same requests");
    let both = format!("{copies}{listener}{}", mapping("m", ""));
    assert_eq!((why(&both, "copies"), why(&both, "m")), (String::new(), String::new()));
    let made = row(&of(&both), "Listener", "l").into;
    assert!(made.iter().all(|thing| thing != "TCP proxy") && made.iter().any(|thing| thing == "listener filter tls_inspector"), "{made:?}");
}
