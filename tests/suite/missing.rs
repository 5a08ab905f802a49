//! Checks inputs that are fragments: missing resources that they refer to are assumed once, visibly, and never in a status.

use crate::{envoy, examples};
use chancery_core::compilation::{Assumptions, Missing, OptionValue, Options, for_interactive_use};
use chancery_core::dialect;
use chancery_core::explain::{NodeKind, graph};
use chancery_core::text::to_json;
use chancery_tests::work::{Work, inputs};
use std::collections::BTreeSet;

/// The findings that report a missing resource.
const NOT_FOUND: &[&str] = &["service-not-found", "secret-not-found", "unresolved-reference", "dangling-reference"];

fn with(options: &Options, missing: &'static str) -> Options {
    options.clone().with("missing", OptionValue::Text(missing.into()))
}

pub(crate) fn compiled(text: &str, words: &str) -> Work {
    Work::new(&inputs([("input.yaml", text)]), &chancery_tests::work::options(&format!("dialect=contour {words}")).expect("options"))
}

pub(crate) const FRAGMENT: &str = "\
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: shop, namespace: shop}
spec:
  virtualhost:
    fqdn: shop.example.com
    tls: {secretName: shop-tls}
    authorization: {extensionRef: {name: auth, namespace: auth}}
  routes:
  - services:
    - {name: shop, port: 80}
    - {name: cart, port: 8080}
";

pub(crate) fn assumed(work: &Work) -> Vec<String> {
    let findings = work.findings().into_iter();
    findings.filter(|finding| finding.code.starts_with("assumed-") && finding.code != "assumed-dialect").map(|finding| finding.message).collect()
}

#[test]
fn fragment_is_served_with_notice_per_assumption() {
    let mut work = compiled(FRAGMENT, "missing=auto");
    assert_eq!(work.errors(), Vec::<String>::new());
    let told = assumed(&work);
    for name in
        ["Secret `shop-tls` (shop)", "Service `shop` (shop)", "Service `cart` (shop)", "ExtensionService `auth` (auth)", "Service `auth` (auth)"]
    {
        assert_eq!(told.iter().filter(|message| message.starts_with(&format!("the {name}"))).count(), 1, "{name}: {told:#?}");
    }
    assert_eq!(told.len(), 5, "{told:#?}");
    let envoy = work.envoy().to_string();
    for part in ["shop/cart/8080", "extension/auth/auth", "shop/shop-tls"] {
        assert!(envoy.contains(part), "{part} in {envoy}");
    }
}

/// Adds a Secret of another name, so that the input has one, and the resource that generates `shop-tls`.
fn beside_a_secret(fragment: &str, maker: &str) -> String {
    format!("{fragment}---\napiVersion: v1\nkind: Secret\nmetadata: {{name: other, namespace: shop}}\ntype: Opaque\n---\n{maker}")
}

#[test]
fn secret_from_operator_is_not_missing() {
    let host = "\
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: https, namespace: shop}
spec: {port: 8443, protocol: HTTPS, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: shop, namespace: shop}
spec: {hostname: shop.example.com, tlsSecret: {name: shop-tls}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: shop, namespace: shop}
spec: {hostname: shop.example.com, prefix: /, service: shop}
";
    let makers = [
        (
            "Certificate `shop` (shop)",
            "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: shop, namespace: shop}\nspec: {secretName: shop-tls}\n",
        ),
        ("SealedSecret `shop-tls` (shop)", "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: shop-tls, namespace: shop}\n"),
        (
            "ExternalSecret `shop-tls` (shop)",
            "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: shop-tls, namespace: shop}\n",
        ),
    ];
    for (dialect, fragment) in [("contour", FRAGMENT), ("ambassador", host)] {
        let messages = |text: &str| -> Vec<String> {
            let options = chancery_tests::work::options(&format!("dialect={dialect} missing=auto")).expect("options");
            Work::new(&inputs([("input.yaml", text)]), &options).findings().into_iter().map(|finding| finding.message).collect()
        };
        for (name, maker) in &makers {
            let messages = messages(&beside_a_secret(fragment, maker));
            let told = format!("is not in the input; {name} makes it");
            assert!(messages.iter().any(|message| message.ends_with(&told)), "{dialect} {told}: {messages:#?}");
        }
        let messages = messages(&beside_a_secret(fragment, "{}"));
        assert!(!messages.iter().any(|message| message.contains("makes it")), "{messages:#?}");
    }
}

#[test]
fn assumed_objects_appear_in_graph_not_ledger() {
    let work = compiled(FRAGMENT, "missing=auto");
    let graph = graph(&work.compilation, &work.compilation.positions());
    let assumed: Vec<_> = graph.nodes.iter().filter(|node| node.kind == NodeKind::Missing).collect();
    assert!(assumed.len() >= 4 && assumed.iter().all(|node| node.state == Some("assumed")), "{assumed:#?}");
    let shop = assumed.iter().find(|node| node.label.contains("shop-tls")).expect("the Secret");
    assert!(graph.edges.iter().any(|edge| edge.to == shop.id), "the HTTPProxy refers to it");
    assert_eq!(work.ledger().len(), 1);
}

#[test]
fn statuses_ignore_assumed_objects() {
    let status = |words: &str| compiled(FRAGMENT, words).compilation.sides[0].answers.status_document();
    assert_eq!(status("missing=auto"), status("missing=error"));
    assert!(status("missing=auto").is_some());
}

#[test]
fn object_of_present_kind_is_missing() {
    let other = "---\napiVersion: v1\nkind: Service\nmetadata: {name: shopp, namespace: shop}\nspec: {ports: [{port: 80}]}\n";
    let text = format!("{FRAGMENT}{other}");
    let auto = compiled(&text, "missing=auto");
    assert!(!assumed(&auto).iter().any(|message| message.contains("Service `shop`")));
    assert!(auto.errors().iter().any(|error| error.contains("invalid") || error.contains("service")), "{:?}", auto.errors());
    let assume = compiled(&text, "missing=assume");
    assert!(assumed(&assume).iter().any(|message| message.contains("Service `shop`")));
    assert_eq!(assume.errors(), Vec::<String>::new());
}

#[test]
fn nothing_is_assumed_by_default() {
    assert_eq!(assumed(&compiled(FRAGMENT, "")), Vec::<String>::new());
    assert_eq!(assumed(&compiled(FRAGMENT, "missing=error")), Vec::<String>::new());
}

#[test]
fn missing_secrets_option_wins_for_secrets() {
    let told = assumed(&compiled(FRAGMENT, "missing=auto missing-secrets=error"));
    assert!(!told.is_empty() && told.iter().all(|message| !message.contains("Secret")), "{told:#?}");
    let told = assumed(&compiled(FRAGMENT, "missing-secrets=assume"));
    assert!(told.len() == 1 && told[0].contains("Secret"), "{told:#?}");
}

#[test]
fn missing_secrets_assume_disables_other_assumptions() {
    let usual = |words: &str| for_interactive_use(Options::from_words(words, dialect::ALL).expect("options"));
    let missing = |words: &str| Assumptions::of(&usual(words)).for_other_kinds();
    assert_eq!(missing(""), Missing::Auto);
    assert_eq!(missing("missing-secrets=same"), Missing::Auto);
    assert_eq!(missing("missing-secrets=assume"), Missing::Error);
    assert_eq!(missing("missing-secrets=assume missing=auto"), Missing::Auto);
}

#[test]
fn lone_route_gets_assumed_gateway_and_class() {
    let route = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: shop, namespace: shop}\nspec:\n  parentRefs: [{name: edge, namespace: infra, sectionName: https}]\n  hostnames: [shop.example.com]\n  rules:\n  - backendRefs: [{name: shop, port: 80}]\n";
    for controller in ["", " controller=gateway-provisioner"] {
        let mut work = compiled(route, &format!("missing=auto{controller}"));
        assert_eq!(work.errors(), Vec::<String>::new(), "{controller}");
        let told = assumed(&work).join("\n");
        for kind in ["Gateway `edge`", "GatewayClass `", "Secret `edge`", "Service `shop`"] {
            assert!(told.contains(kind), "{kind} in {told}");
        }
        let envoy = work.envoy().to_string();
        assert!(envoy.contains("shop.example.com"), "{controller}: {envoy}");
    }
}

#[test]
fn edit_with_assumed_objects_equals_scratch() {
    let options = chancery_tests::work::options("dialect=contour missing=auto").expect("options");
    let mut compiler = chancery_core::compile::Compiler::new(chancery_core::dialect::ALL);
    let edits = [
        FRAGMENT.to_string(),
        FRAGMENT.replace("8080", "8081"),
        format!("# a comment\n{FRAGMENT}"),
        format!("{FRAGMENT}---\napiVersion: v1\nkind: Service\nmetadata: {{name: shop, namespace: shop}}\nspec: {{ports: [{{port: 80}}]}}\n"),
        FRAGMENT.replace("cart", "basket"),
    ];
    for text in edits {
        let inputs = inputs([("input.yaml", text.as_str())]);
        let compilation = compiler.compile(&inputs, &options);
        let view = |of: &chancery_core::compilation::Compilation| {
            let findings: Vec<String> = chancery_core::explain::findings(of, &of.positions()).iter().map(|finding| format!("{finding:?}")).collect();
            (findings, of.sides[0].answers.status_document())
        };
        let mut scratch = Work::new(&inputs, &options);
        assert_eq!(view(&compilation), view(&scratch.compilation));
        let bootstrap = chancery_core::backend::envoy::Document::Bootstrap;
        assert_eq!(chancery_tests::work::emit(&compilation, bootstrap, &mut compiler).text(), scratch.text(bootstrap));
    }
}

#[test]
fn only_absent_kinds_are_assumed() {
    let examples = examples::examples().into_iter().map(|example| (example.name, example.inputs, example.options));
    for (name, inputs, options) in examples.chain(envoy::cases()) {
        let whole = Work::new(&inputs, &with(&options, "error"));
        let auto = Work::new(&inputs, &with(&options, "auto"));
        for (whole, auto) in whole.compilation.sides.iter().zip(&auto.compilation.sides) {
            assert_eq!(whole.answers.status_document(), auto.answers.status_document(), "{name}");
        }
        let written: BTreeSet<_> = whole.compilation.objects.iter().map(|object| (object.key.group.clone(), object.key.kind.clone())).collect();
        let assumed = auto.compilation.objects.assumed();
        let wrong: Vec<String> = assumed
            .filter(|object| written.contains(&(object.key.group.clone(), object.key.kind.clone())))
            .map(|object| object.key.to_string())
            .collect();
        assert!(wrong.is_empty(), "{name}: {wrong:?}");
        let kinds = ["Service", "Secret", "ConfigMap"];
        let holds = |kind: &str| written.iter().any(|(group, held)| group.is_empty() && held == kind);
        if auto.compilation.sides.iter().any(|side| side.dialect.name == "contour") && kinds.iter().all(|kind| !holds(kind)) {
            let missing: Vec<_> = auto.findings().into_iter().filter(|finding| NOT_FOUND.contains(&finding.code)).collect();
            assert!(missing.is_empty(), "{name}: {missing:#?}");
        }
    }
}

#[test]
fn compare_does_not_assume_other_sides_objects() {
    let held: BTreeSet<_> = [("".into(), "Secret".into())].into();
    for (dialect, text) in [("contour", FRAGMENT), ("ambassador", HOST)] {
        let mut options = chancery_tests::work::options(&format!("dialect={dialect} missing=auto")).expect("options");
        let assumes = |options: &Options| assumed(&Work::new(&inputs([("input.yaml", text)]), options)).iter().any(|told| told.contains("Secret"));
        assert!(assumes(&options), "{dialect}");
        options.held.clone_from(&held);
        assert!(!assumes(&options), "{dialect}");
    }
}

const HOST: &str = "\
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: shop}
spec: {hostname: shop.example.com, tlsSecret: {name: shop-tls}}
";

pub(crate) fn messages(work: &Work) -> Vec<String> {
    work.findings().into_iter().map(|finding| finding.message).collect()
}

pub(crate) fn of(dialect: &str, text: &str, words: &str) -> Work {
    Work::new(&inputs([("input.yaml", text)]), &chancery_tests::work::options(&format!("dialect={dialect} {words}")).expect("options"))
}

const MAPPINGS: &str = "\
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http, namespace: shop}
spec: {port: 8080, protocol: HTTP, securityModel: INSECURE, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: shop, namespace: shop}
spec: {hostname: '*', prefix: /shop/, service: 'shop.other:8080', resolver: endpoint, load_balancer: {policy: round_robin}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: cart, namespace: shop}
spec: {hostname: '*', prefix: /cart/, service: cart, resolver: balanced, load_balancer: {policy: round_robin}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: pay, namespace: shop}
spec: {hostname: '*', prefix: /pay/, service: 'https://pay', tls: upstream}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: old, namespace: shop}
spec: {hostname: '*', prefix: /old/, service: old, resolver: consul-dc1}
";

#[test]
fn mappings_get_assumed_resolvers_contexts_and_endpoints() {
    let mut work = of("ambassador", MAPPINGS, "missing=auto");
    assert_eq!(work.errors(), Vec::<String>::new());
    let told = assumed(&work);
    let names = [
        "Service `shop` (other)",
        "Service `cart` (shop)",
        "KubernetesEndpointResolver `balanced` (shop)",
        "TLSContext `upstream` (shop)",
        "ConsulResolver `consul-dc1` (shop)",
    ];
    for name in names {
        assert_eq!(told.iter().filter(|message| message.starts_with(&format!("the {name}"))).count(), 1, "{name}: {told:#?}");
    }
    assert_eq!(told.len(), names.len(), "{told:#?}");
    let envoy = work.text(chancery_core::backend::envoy::Document::Resources);
    for part in ["k8s/other/shop/8080", "k8s/shop/cart/80", "consul/dc1/old", "240."] {
        assert!(envoy.contains(part), "{part} in {envoy}");
    }
    assert!(!of("ambassador", MAPPINGS, "missing=error").errors().is_empty());
}

#[test]
fn ambassador_object_of_present_kind_is_missing() {
    let other = "---\napiVersion: getambassador.io/v3alpha1\nkind: ConsulResolver\nmetadata: {name: consul-dc2, namespace: shop}\nspec: {address: 'c:8500', datacenter: dc2}\n";
    let work = of("ambassador", &format!("{MAPPINGS}{other}"), "missing=auto");
    assert!(work.errors().iter().any(|error| error.contains("24 unknown-resolver")), "{:#?}", work.errors());
}

const MESH: &str = "\
Kind: ingress-gateway
Name: edge
Listeners:
- {Port: 8080, Protocol: http, Services: [{Name: web, Hosts: [web.example.com]}]}
---
Kind: service-router
Name: web
Routes:
- {Match: {HTTP: {PathPrefix: /admin}}, Destination: {Service: admin}}
---
Kind: service-resolver
Name: admin
DefaultSubset: v1
Subsets: {v1: {Filter: 'Service.Meta.version == v1'}, v2: {Filter: '\"blue\" in Service.Tags'}}
---
Kind: service-intentions
Name: admin
Sources: [{Name: web, Permissions: [{Action: allow, HTTP: {PathPrefix: /}}]}]
JWT: {Providers: [{Name: okta}]}
";

#[test]
fn mesh_entries_get_assumed_gateways_and_services() {
    let mut work = of("consul", MESH, "missing=auto");
    assert_eq!(work.errors(), Vec::<String>::new());
    let told = assumed(&work);
    for name in [
        "no ingress-gateway `edge`",
        "the service `web`",
        "the service `admin`",
        "no service-defaults `web`",
        "no service-defaults `admin`",
        "the jwt-provider `okta`",
    ] {
        assert_eq!(told.iter().filter(|message| message.starts_with(name)).count(), 1, "{name}: {told:#?}");
    }
    assert_eq!(told.len(), 6, "{told:#?}");
    let envoy = work.text(chancery_core::backend::envoy::Document::Resources);
    for part in ["web.example.com", "/admin", "240."] {
        assert!(envoy.contains(part), "{part} in {envoy}");
    }
    let others: Vec<String> = messages(&work).into_iter().filter(|message| !told.contains(message)).collect();
    assert!(!others.iter().any(|message| message.contains("instances") || message.contains("registered")), "{others:#?}");
    let graph = graph(&work.compilation, &work.compilation.positions());
    let assumed: Vec<_> = graph.nodes.iter().filter(|node| node.kind == NodeKind::Missing).map(|node| (&node.label, node.state)).collect();
    assert!(assumed.iter().any(|(label, _)| label.contains("admin")), "{assumed:#?}");
    assert!(assumed.iter().all(|(_, state)| *state == Some("assumed")), "{assumed:#?}");
    assert_eq!(work.ledger().len(), 4);
    assert!(!of("consul", MESH, "missing=error").errors().is_empty());
}

#[test]
fn assumed_service_has_instance_per_subset() {
    let mut work = of("consul", MESH, "missing=auto");
    assert!(!messages(&work).iter().any(|message| message.contains("subset `v1`")), "{:#?}", messages(&work));
    assert!(work.text(chancery_core::backend::envoy::Document::Resources).contains("v1.admin"));
}

const SERVICE: &str =
    "service: {name: web, port: 8080, connect: {sidecar_service: {proxy: {upstreams: [{destination_name: UPSTREAM, local_bind_port: 9001}]}}}}\n";

#[test]
fn service_with_subsets_gets_assumed_sidecar() {
    let resolver = "Kind: service-resolver\nName: web\nDefaultSubset: v1\nSubsets: {v1: {Filter: Service.Meta.version == v1}, v2: {Filter: Service.Meta.version == v2}}\n";
    let intentions = "---\nKind: service-intentions\nName: web\nSources: [{Name: api, Action: deny}]\n";
    let mut work = of("consul", &format!("{resolver}{intentions}"), "missing=auto");
    let gateways: Vec<String> = work.compilation.gateways().map(|gateway| gateway.id.to_string()).collect();
    assert_eq!(gateways, ["client-sidecar-proxy", "web-sidecar-proxy"]);
    let envoy = work.text(chancery_core::backend::envoy::Document::Resources);
    assert!(envoy.contains("envoy.filters.network.rbac") || envoy.contains("envoy.filters.http.rbac"), "{envoy}");
}

#[test]
fn lone_service_gets_upstreams_but_misspelt_is_missing() {
    let alone = of("consul", &SERVICE.replace("UPSTREAM", "api"), "missing=auto");
    assert_eq!(assumed(&alone).len(), 1, "{:#?}", messages(&alone));
    let beside =
        format!("{}---\nservice: {{name: payments, port: 9090, connect: {{sidecar_service: {{}}}}}}\n", SERVICE.replace("UPSTREAM", "paymets"));
    let work = of("consul", &beside, "missing=auto");
    assert_eq!(assumed(&work), Vec::<String>::new());
}

#[test]
fn api_gateway_assumes_absent_routes_and_certificates() {
    let route = "Kind: http-route\nName: shop\nParents: [{Kind: api-gateway, Name: edge}]\nHostnames: [shop.example.com]\nRules: [{Services: [{Name: shop}]}]\n";
    let mut work = of("consul", route, "missing=auto");
    assert_eq!(work.errors(), Vec::<String>::new());
    assert!(work.text(chancery_core::backend::envoy::Document::Resources).contains("shop.example.com"), "{:#?}", messages(&work));
    let gateway = "Kind: api-gateway\nName: edge\nListeners: [{Name: https, Port: 8443, Protocol: http, TLS: {Certificates: [{Kind: inline-certificate, Name: cert}]}}]\n";
    let mut work = of("consul", &format!("{gateway}---\n{route}"), "missing=auto");
    assert_eq!(work.errors(), Vec::<String>::new());
    let told = assumed(&work);
    assert!(told.iter().any(|message| message.contains("inline-certificate `cert`")), "{told:#?}");
    assert!(work.text(chancery_core::backend::envoy::Document::Resources).contains("shop.example.com"), "{told:#?}");
}

#[test]
fn assumed_namespace_has_labels_of_gateway_selector() {
    let text = "\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  gatewayClassName: contour
  listeners:
  - {name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {team: shop}}}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: shop}
spec:
  parentRefs: [{name: edge, namespace: infra}]
  rules:
  - backendRefs: [{name: shop, port: 80}]
";
    let work = of("contour", text, "controller=gateway-provisioner missing=auto");
    assert_eq!(work.errors(), Vec::<String>::new());
    let told = assumed(&work);
    assert_eq!(told.iter().filter(|message| message.starts_with("the Namespace `shop`")).count(), 1, "{told:#?}");
    let other = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: other}}\n";
    let work = of("contour", &format!("{text}{other}"), "controller=gateway-provisioner missing=auto");
    assert!(!work.errors().is_empty(), "a written namespace has the labels that are written: {:#?}", messages(&work));
}

#[test]
fn ingress_secret_is_assumed_in_annotated_namespace() {
    let ingress = "\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: shop
  namespace: shop
  annotations: {kubernetes.io/ingress.class: contour, projectcontour.io/tls-cert-namespace: certs}
spec:
  tls: [{hosts: [shop.example.com], secretName: shop-tls}]
  rules:
  - host: shop.example.com
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: shop, port: {number: 80}}}}]}
";
    let work = of("contour", ingress, "missing=auto");
    let told = assumed(&work);
    assert!(told.iter().any(|message| message.starts_with("the Secret `shop-tls` (certs)")), "{told:#?}");
    let positions = work.compilation.positions();
    let viewed = chancery_core::explain::Viewed::new(
        work.gateway().ir,
        chancery_core::explain::View::Envoy,
        &mut chancery_core::backend::envoy::v3::Emitted::new(),
    );
    let line = 6;
    let report = chancery_core::explain::explain_line(
        &work.compilation,
        &positions,
        &[(work.gateway().named(), viewed)],
        chancery_core::resource::SourceId(0),
        line,
        None,
    );
    let report = serde_json::to_string(&report).expect("JSON");
    assert!(report.contains("tls_certificate_sds_secret_configs"), "the annotation decides the name of the certificate: {report}");
}

const GATEWAY: &str = "\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: contour}
spec: {controllerName: projectcontour.io/gateway-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  gatewayClassName: contour
  listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: shop}
spec:
  parentRefs: [{name: edge, namespace: infra}]
  hostnames: [shop.example.com]
  rules: [{backendRefs: [{name: shop, port: 80}]}]
";

/// Returns whether the route's host is served, and the assumed parts of Contour's configuration.
fn served(text: &str, words: &str) -> (bool, Vec<String>) {
    let mut work = compiled(text, words);
    let told = assumed(&work).into_iter().filter(|message| message.contains("of Contour")).collect();
    let documents = work.compilation.gateways().count();
    (documents > 0 && work.envoy().to_string().contains("shop.example.com"), told)
}

#[test]
fn lone_gateway_without_configuration_belongs_to_contour() {
    let (is_served, told) = served(GATEWAY, "missing=auto");
    assert!(is_served && told.len() == 1 && told[0].contains("Gateway `edge` (infra)"), "{told:#?}");
    assert_eq!(served(GATEWAY, ""), (false, vec![]));
    let foreign = GATEWAY.replace("projectcontour.io/gateway-controller", "istio.io/gateway-controller");
    assert_eq!(served(&foreign, "missing=auto"), (false, vec![]), "another controller's class");
    // Statuses come from the Contour whose configuration is assumed.
    let status = |words: &str| to_json(&compiled(GATEWAY, words).compilation.sides[0].answers.status_document().expect("statuses"), false);
    assert!(status("missing=auto").contains(r#""kind":"Gateway","name":"edge""#));
    assert_eq!(status("missing=error"), "[]");
}

#[test]
fn several_gateways_belong_to_the_provisioner() {
    let two = format!("{GATEWAY}---\n{}", GATEWAY.split("---\n").nth(1).unwrap_or_default().replace("name: edge", "name: inner"));
    let work = compiled(&two, "missing=auto");
    assert_eq!(work.compilation.gateways().count(), 2);
    assert!(assumed(&work).iter().any(|message| message.contains("the Gateway provisioner")), "{:#?}", assumed(&work));
    let proxy = format!("{two}---\n{FRAGMENT}");
    assert_eq!(compiled(&proxy, "missing=auto").compilation.gateways().count(), 1, "one Contour serves the HTTPProxy");
    assert_eq!(compiled(&two, "missing=auto controller=serve").compilation.gateways().count(), 1);
}

#[test]
fn only_configuration_of_input_belongs_to_contour() {
    let configuration = |gateway: &str| {
        format!(
            "{GATEWAY}---\napiVersion: projectcontour.io/v1alpha1\nkind: ContourConfiguration\nmetadata: {{name: own, namespace: projectcontour}}\nspec:\n  gateway:\n    gatewayRef: {{name: {gateway}, namespace: infra}}\n"
        )
    };
    let (is_served, told) = served(&configuration("edge"), "missing=auto");
    assert!(is_served && told.len() == 1 && told[0].contains("`--contour-config-name=own` is assumed"), "{told:#?}");
    assert!(!served(&configuration("other"), "missing=auto").0, "it names another Gateway");
    assert!(!served(&configuration("edge"), "").0);
    let file = format!(
        "{GATEWAY}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: contour, namespace: projectcontour}}\ndata:\n  contour.yaml: |\n    gateway:\n      gatewayRef: {{name: edge, namespace: infra}}\n"
    );
    let (is_served, told) = served(&file, "missing=auto");
    assert!(is_served && told.len() == 1 && told[0].contains("`--config-path=/config/contour.yaml` is assumed"), "{told:#?}");
}

#[test]
fn unreferenced_certificate_is_not_assumed() {
    let bare = "\
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http, namespace: shop}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: a, namespace: shop}
spec: {prefix: /a/, hostname: '*', service: b}
";
    let redirects = |words: &str| of("ambassador", bare, words).envoy().to_string().contains("https_redirect");
    for words in ["missing=auto", "missing=assume", "missing=error"] {
        assert!(!redirects(words), "{words}: Emissary has no certificate for hosts that no Host names");
    }
    assert!(redirects("missing-secrets=assume"), "of a whole cluster without its Secrets it may be one that is left out");
}

const LISTENER_SET: &str = "\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: g, namespace: eg}
spec:
  gatewayClassName: eg
  allowedListeners: {namespaces: {from: Same}}
  listeners: [{name: http, port: 80, protocol: HTTP}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: more, namespace: eg}
spec:
  parentRef: {name: g}
  listeners:
  - {name: a, hostname: a.example.com, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: certificate, namespace: shop}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: ReferenceGrant
metadata: {name: certificates, namespace: shop}
spec:
  from: [{group: gateway.networking.k8s.io, kind: ListenerSet, namespace: eg}]
  to: [{group: '', kind: Secret}]
";

#[test]
fn listener_sets_get_assumed_certificates() {
    let work = of("envoy-gateway", LISTENER_SET, "missing=assume");
    assert_eq!(work.errors(), Vec::<String>::new());
    let told = assumed(&work);
    assert!(told.iter().any(|message| message.starts_with("the Secret `certificate` (shop)")), "{told:#?}");
    assert!(!of("envoy-gateway", LISTENER_SET, "missing=error").errors().is_empty());
}

const PROTECTED: &str = "\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
  namespace: shop
  annotations:
    nginx.ingress.kubernetes.io/auth-type: basic
    nginx.ingress.kubernetes.io/auth-secret: users
    nginx.ingress.kubernetes.io/auth-tls-secret: shop/clients
    nginx.ingress.kubernetes.io/auth-url: http://auth.shop.svc.cluster.local:4180/check
spec:
  ingressClassName: nginx
  rules:
  - host: shop.example.com
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
";

#[test]
fn annotations_of_nginx_get_assumed_objects() {
    let work = of("ingress-nginx", PROTECTED, "missing=assume");
    assert_eq!(work.errors(), Vec::<String>::new());
    let told = assumed(&work);
    for name in ["Secret `users` (shop)", "Secret `clients` (shop)", "Service `auth` (shop)"] {
        assert_eq!(told.iter().filter(|message| message.starts_with(&format!("the {name}"))).count(), 1, "{name}: {told:#?}");
    }
    assert_eq!(assumed(&of("ingress-nginx", PROTECTED, "missing=error")), Vec::<String>::new());
}
