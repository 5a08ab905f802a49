//! Converted Ingresses compile in Envoy Gateway, and requests get the answers of nginx.

use crate::{Conversion, Target, annotation_inventory, ingress_nginx_to_gateway, migration_proof};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, OptionValue, Options};
use chancery_base::diagnostic::Severity;
use chancery_base::executor::Sequential;
use chancery_base::resource::Inputs;
use chancery_compile::compile;
use chancery_envoy::config::EnvoyConfig;
use chancery_envoy::simulate::{Gateway, Outcome, Request};
use chancery_explain::migration::MOST_COMBINATIONS;
use chancery_nginx::simulate::{Request as Asked, Simulator, World};

mod whole;

const SERVICES: &str = "
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
endpoints: [{addresses: [10.1.0.1]}]
ports: [{port: 80}]
---
apiVersion: v1
kind: Service
metadata: {name: next, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: next-1, namespace: shop, labels: {kubernetes.io/service-name: next}}
addressType: IPv4
endpoints: [{addresses: [10.1.0.2]}]
ports: [{port: 80}]
";

fn ingress(name: &str, annotations: &str, path: &str, service: &str) -> String {
    format!(
        "---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: {name}, namespace: shop, annotations: {{{annotations}}}}}
spec:
  ingressClassName: nginx
  rules: [{{host: a.example.com, http: {{paths: [{{path: {path:?}, pathType: Prefix, backend: {{service: {{name: {service}, port: {{number: 80}}}}}}}}]}}}}]
"
    )
}

fn annotation(name: &str, value: &str) -> String {
    format!("nginx.ingress.kubernetes.io/{name}: {value:?}")
}

fn compiled(text: &str, dialect: &'static chancery_base::compilation::Dialect) -> Compilation {
    let options = Options::of(dialect).with("missing", OptionValue::Text("assume".into())).in_dialect(dialect.name);
    compile(&Inputs::one("input.yaml", text), &options, &[dialect])
}

/// Converts an input, and compiles the result.
fn converted(text: &str) -> (Compilation, Conversion, Compilation) {
    let before = compiled(&format!("{text}{SERVICES}"), &chancery_ingress_nginx::DIALECT);
    let conversion = ingress_nginx_to_gateway(&before, Target::EnvoyGateway);
    let yaml = conversion.yaml();
    let after = compiled(&format!("{yaml}{SERVICES}"), &chancery_envoy_gateway::DIALECT);
    let errors: Vec<String> =
        after.all_diagnostics().filter(|finding| finding.severity == Severity::Error).map(|finding| finding.message.clone()).collect();
    assert_eq!(errors, Vec::<String>::new(), "{yaml}");
    (before, conversion, after)
}

/// Says what both sides do with requests of one host, as `STATUS LOCATION` or `forwarded PATH`.
fn both(text: &str, requests: &[(&str, &[(&str, &str)])]) -> Vec<[String; 2]> {
    let (before, conversion, after) = converted(text);
    let nginx = before.nginxes().next().expect("nginx runs");
    let envoy = EnvoyConfig::of(after.gateways().next().unwrap_or_else(|| panic!("Envoy runs: {}", conversion.yaml())).ir);
    let (simulator, gateway) = (Simulator::new(nginx.nginx), Gateway::new(&envoy));
    let one = |(path, headers): &(&str, &[(&str, &str)])| {
        let pairs: Vec<(String, String)> = headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let asked = Asked { host: "a.example.com".into(), path: path.to_string(), headers: pairs.clone(), ..Asked::default() };
        let answer = simulator.answer(&World::default(), &[asked]).remove(0);
        let was = match &answer.seen {
            Some(seen) => format!("{} {}", answer.upstream.clone().unwrap_or_default(), seen.path),
            None => format!("{} {}", answer.status, answer.location.unwrap_or_default()),
        };
        let mut request = Request::new("GET", &format!("http://a.example.com{path}")).expect("a URL");
        // Envoy Gateway adds 10000 to small ports.
        request.port = Some(10_080);
        pairs.iter().for_each(|(name, value)| request.headers.add(name, value));
        let simulation = gateway.simulate(&request);
        let will = match simulation.outcome {
            Outcome::Forward => {
                let cluster = simulation.clusters.first().map(|share| share.name.clone()).unwrap_or_default();
                let found = envoy.clusters.iter().find(|known| known.message.name == cluster).and_then(|known| known.message.load_assignment.clone());
                let hosts: Vec<String> = found
                    .iter()
                    .flat_map(|of| &of.endpoints)
                    .flat_map(|of| &of.lb_endpoints)
                    .filter_map(chancery_envoy::simulate::endpoint_address)
                    .collect();
                let name = if hosts.iter().any(|host| host.starts_with("10.1.0.2")) { "next" } else { "web" };
                format!("shop-{name}-80 {}", simulation.upstream.map(|upstream| upstream.path).unwrap_or_default())
            }
            _ => format!("{} {}", simulation.status.unwrap_or(404), simulation.location.unwrap_or_default()),
        };
        [was, will]
    };
    requests.iter().map(one).collect()
}

fn assert_same(text: &str, requests: &[(&str, &[(&str, &str)])]) {
    for ([was, will], request) in both(text, requests).into_iter().zip(requests) {
        assert_eq!(was, will, "{request:?} of {}", converted(text).1.yaml());
    }
}

#[test]
fn prefixes_match_whole_segments() {
    let text = format!("{}{}", ingress("web", "", "/shop", "web"), ingress("next", "", "/shop/new/", "next"));
    assert_same(
        &text,
        &[("/", &[]), ("/shop", &[]), ("/shop/a", &[]), ("/shopping", &[]), ("/shop/new", &[]), ("/shop/new/", &[]), ("/shop/new/a?b", &[])],
    );
}

#[test]
fn rewrites_ignore_case_and_match_beginnings() {
    let text = format!("{}{}", ingress("web", &annotation("rewrite-target", "/$2"), "/api(/|$)(.*)", "web"), ingress("next", "", "/apiary", "next"));
    assert_same(&text, &[("/api", &[]), ("/API/v1", &[]), ("/api/v1?x=1", &[]), ("/apiary", &[]), ("/Apiary/a", &[]), ("/other", &[])]);
}

#[test]
fn limits_apply_to_both_address_families() {
    let (_, conversion, after) = converted(&ingress("web", &annotation("limit-rps", "5"), "/", "web"));
    let envoy = EnvoyConfig::of(after.gateways().next().expect("a gateway").ir);
    for source in ["192.0.2.7", "2001:db8::7"] {
        let mut request = Request::new("GET", "http://a.example.com/").expect("a URL");
        request.source = source.parse().ok();
        let found = Gateway::new(&envoy).simulate(&request);
        let is_limited = found.conditions.iter().any(|condition| condition.wants.contains("5 requests at once"));
        assert!(is_limited, "{source}: {:?}\n{}", found.conditions, conversion.yaml());
    }
    let all = causes(&ingress("web", &annotation("limit-rps", "5"), "/", "web"));
    let sentences: Vec<&String> = all.iter().filter(|(rule, _)| *rule == "rate-limit").map(|(_, sentence)| sentence).collect();
    assert!(sentences.len() == 1 && sentences[0].ends_with("will be `5 requests per second of each client address, bursts of 5`"), "{sentences:?}");
}

#[test]
fn lists_and_limits_answer_before_authentication() {
    let basic = format!("{}, {}", annotation("auth-type", "basic"), annotation("auth-secret", "users"));
    let external = annotation("auth-url", "http://auth.shop.svc.cluster.local/check");
    for authentication in [&basic, &external] {
        let all = [authentication, &annotation("allowlist-source-range", "10.0.0.0/8"), &annotation("limit-rps", "5")];
        let text = ingress("web", &all.map(String::as_str).join(", "), "/", "web");
        let secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: users, namespace: shop}\ndata: {auth: dXNlcjE6e1NIQX10RVNzQm1FL3lOWTNsYjZhMEw2dlZRRVpOcXc9, .htpasswd: dXNlcjE6e1NIQX10RVNzQm1FL3lOWTNsYjZhMEw2dlZRRVpOcXc9}\n";
        let auth = "---\napiVersion: v1\nkind: Service\nmetadata: {name: auth, namespace: shop}\nspec: {ports: [{port: 80}]}\n";
        let before = compiled(&format!("{text}{SERVICES}{secret}{auth}"), &chancery_ingress_nginx::DIALECT);
        let yaml = ingress_nginx_to_gateway(&before, Target::EnvoyGateway).yaml();
        let after = compiled(&format!("{yaml}{SERVICES}{secret}{auth}"), &chancery_envoy_gateway::DIALECT);
        let errors: Vec<&str> = after.all_diagnostics().filter(|of| of.severity == Severity::Error).map(|of| of.message.as_str()).collect();
        assert!(errors.is_empty(), "{errors:?}\n{yaml}");
        let envoy = EnvoyConfig::of(after.gateways().next().expect("a gateway").ir);
        let mut request = Request::new("GET", "http://a.example.com/").expect("a URL");
        request.source = "192.0.2.7".parse().ok();
        let outside = Gateway::new(&envoy).simulate(&request);
        assert_eq!((outside.status, outside.conditions.len()), (Some(403), 0), "{yaml}");
        request.source = "10.0.0.7".parse().ok();
        let inside = Gateway::new(&envoy).simulate(&request);
        let place = |name: &str| inside.filters.iter().position(|step| step.name.contains(name));
        let asked = place("basic_auth").or_else(|| place("ext_authz"));
        assert!(place("rbac") < asked && place("local_ratelimit") < asked && asked.is_some(), "{:?}", inside.filters);
    }
    let alone = ingress("web", &external, "/", "web");
    assert!(!converted(&alone).1.yaml().contains("EnvoyProxy"));
}

#[test]
fn canaries_follow_headers_then_cookies() {
    let canary = [annotation("canary", "true"), annotation("canary-by-header", "x-try"), annotation("canary-by-cookie", "try")].join(", ");
    let text = format!("{}{}", ingress("web", "", "/", "web"), ingress("next", &canary, "/", "next"));
    assert_same(
        &text,
        &[
            ("/", &[]),
            ("/", &[("x-try", "always")]),
            ("/", &[("x-try", "never"), ("cookie", "try=always")]),
            ("/", &[("cookie", "a=b; try=always")]),
            ("/", &[("cookie", "retry=always")]),
        ],
    );
}

#[test]
fn large_bodies_are_refused() {
    let text = ingress("web", &annotation("proxy-body-size", "1k"), "/", "web");
    assert_same(&text, &[("/", &[("content-length", "1024")])]);
    let [was, will] = both(&text, &[("/", &[("content-length", "1025")])]).remove(0);
    assert!(will.starts_with("413"), "{was}, {will}");
}

#[test]
fn redirects_keep_their_target() {
    let text = ingress("web", &annotation("permanent-redirect", "https://b.example.com/new"), "/old", "web");
    let [was, _] = both(&text, &[("/old/a?b=c", &[])]).remove(0);
    assert_eq!(was, "301 https://b.example.com/new");
    let yaml = converted(&text).1.yaml();
    assert!(yaml.contains("statusCode: 301") && yaml.contains("value: https://b.example.com/new"), "{yaml}");
    let forced = ingress("web", &annotation("force-ssl-redirect", "true"), "/", "web");
    assert_same(&forced, &[("/a?b=c", &[])]);
}

#[test]
fn comments_name_annotations_unless_removed() {
    let (_, mut conversion, _) = converted(&ingress("web", &annotation("rewrite-target", "/"), "/a", "web"));
    assert!(conversion.yaml().contains("  # rewrite-target: /\n"), "{}", conversion.yaml());
    conversion.remove_comments();
    assert!(!conversion.yaml().contains('#'), "{}", conversion.yaml());
}

#[test]
fn unconverted_annotations_are_reported() {
    let (_, conversion, _) = converted(&ingress("web", &annotation("proxy-cookie-path", "/a /b"), "/", "web"));
    let notes: Vec<String> = conversion.notes.iter().map(|note| note.message.clone()).collect();
    assert!(notes.iter().any(|note| note.starts_with("`proxy-cookie-path` is not converted: ")), "{notes:?}");
}

/// Returns the messages of a conversion's notes.
fn notes(annotations: &str, allows_snippets: bool) -> Vec<String> {
    let config = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ingress-nginx-controller, namespace: ingress-nginx}\ndata: {allow-snippet-annotations: 'true', annotations-risk-level: Critical}\n";
    let text = ingress("web", annotations, "/", "web") + if allows_snippets { config } else { "" };
    converted(&text).1.notes.iter().map(|note| note.message.clone()).collect()
}

#[test]
fn annotations_of_external_dns_are_named() {
    let found = notes("external-dns.alpha.kubernetes.io/target: a.example.com, external-dns.kubernetes.io/ttl: '60'", false);
    let expected = [
        "`external-dns.alpha.kubernetes.io/target` is not converted: external-dns reads it at the Gateway, with its source `gateway-httproute`",
        "`external-dns.kubernetes.io/ttl` is not converted: external-dns reads it at HTTPRoutes, with its source `gateway-httproute`",
    ];
    assert_eq!(found, expected);
}

#[test]
fn locations_in_snippets_are_named() {
    let inside = notes(&annotation("configuration-snippet", "location /metrics { return 403; }"), true);
    assert!(inside.iter().any(|note| note.contains("its location `/metrics`; the comparison does not evaluate")), "{inside:?}");
    let own = notes(&annotation("server-snippet", "location = /a { return 200; } location /b { return 403; }"), true);
    assert!(own.iter().any(|note| note.ends_with("write rules for its location `= /a` and 1 more")), "{own:?}");
}

#[test]
fn locations_inside_others_are_not_compared() {
    let config = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ingress-nginx-controller, namespace: ingress-nginx}\ndata: {allow-snippet-annotations: 'true', annotations-risk-level: Critical}\n";
    let text = ingress("web", &annotation("configuration-snippet", "location /metrics { return 403; }"), "/", "web");
    let before = compiled(&format!("{text}{config}{SERVICES}"), &chancery_ingress_nginx::DIALECT);
    let conversion = ingress_nginx_to_gateway(&before, Target::EnvoyGateway);
    let options = Options::of(&chancery_ingress_nginx::DIALECT);
    let found = migration_proof(&before, [conversion.input()], &options, &chancery_envoy_gateway::DIALECT, &[], MOST_COMBINATIONS, &Sequential);
    let notes: Vec<&String> = found.not_compared.iter().filter(|note| note.contains("the location `/metrics` inside another location")).collect();
    assert_eq!(notes.len(), 1, "{:#?}", found.not_compared);
}

/// The annotations in use, each with its fidelity.
fn inventory(annotations: &str, flags: &[&str]) -> Vec<(&'static str, &'static str)> {
    let dialect = &chancery_ingress_nginx::DIALECT;
    let flags = OptionValue::List(flags.iter().map(|flag| (*flag).into()).collect());
    let options = Options::of(dialect).with("missing", OptionValue::Text("assume".into())).with("controller-arg", flags).in_dialect(dialect.name);
    let text = format!("{}{SERVICES}", ingress("web", annotations, "/", "web"));
    let compilation = compile(&Inputs::one("input.yaml", text), &options, &[dialect]);
    let found = annotation_inventory(&compilation, Target::EnvoyGateway).expect("an Ingress");
    found.annotations.iter().map(|used| (used.name, used.fidelity.name())).collect()
}

#[test]
fn inventory_counts_annotations_with_the_prefix() {
    let (other, own) = ("ingress.kubernetes.io/proxy-read-timeout: '9'", annotation("proxy-send-timeout", "9"));
    let both = format!("{other}, nginx.org/proxy-connect-timeout: '9', {own}");
    let names = |annotations: &str, flags: &[&str]| inventory(annotations, flags).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(&both, &[]), ["proxy-send-timeout"]);
    assert_eq!(names(&both, &["--annotations-prefix=ingress.kubernetes.io"]), ["proxy-read-timeout"]);
}

#[test]
fn fidelity_of_passthrough_depends_on_flag() {
    let of = |flags: &[&str]| inventory(&annotation("ssl-passthrough", "true"), flags);
    assert_eq!(of(&[]), [("ssl-passthrough", "not needed")]);
    assert_eq!(of(&["--enable-ssl-passthrough"]), [("ssl-passthrough", "exact")]);
}

#[test]
fn values_that_nginx_ignores_are_reported_as_such() {
    let (_, conversion, _) = converted(&ingress("web", &annotation("proxy-read-timeout", "5s"), "/", "web"));
    let notes: Vec<String> = conversion.notes.iter().map(|note| note.message.clone()).filter(|note| note.contains("proxy-read-timeout")).collect();
    let [note] = &notes[..] else { panic!("one note is expected: {notes:?}") };
    assert!(note.starts_with("`proxy-read-timeout: 5s` is not converted: the value has the wrong form, so ingress-nginx ignores it"), "{note}");
    assert!(conversion.yaml().contains("streamIdleTimeout: 60s"), "{}", conversion.yaml());
}

#[test]
fn ingresses_of_other_classes_are_counted() {
    let of_class = |name: &str, class: &str| ingress(name, "", "/", "web").replace("ingressClassName: nginx", class);
    let text = [of_class("a", "ingressClassName: alb"), of_class("b", "ingressClassName: alb"), of_class("c", "defaultBackend: null")].concat();
    let (_, conversion, _) = converted(&(ingress("web", "", "/", "web") + &text));
    let said = "3 Ingresses that ingress-nginx does not serve are not converted: 2 of class `alb`, 1 without a class.";
    assert!(conversion.limits.iter().any(|limit| limit == said), "{:#?}", conversion.limits);
}

#[test]
fn standard_target_writes_gateway_api_only() {
    let before =
        compiled(&format!("{}{SERVICES}", ingress("web", &annotation("proxy-read-timeout", "9"), "/", "web")), &chancery_ingress_nginx::DIALECT);
    let yaml = ingress_nginx_to_gateway(&before, Target::Standard).yaml();
    assert!(yaml.contains("kind: HTTPRoute") && !yaml.contains("envoyproxy"), "{yaml}");
}

#[test]
fn contour_serves_its_target() {
    let text = format!("{}{}", ingress("web", &annotation("use-regex", "true"), "/web/[a-z]+", "web"), ingress("next", "", "/next", "next"));
    let before = compiled(&format!("{text}{SERVICES}"), &chancery_ingress_nginx::DIALECT);
    let conversion = ingress_nginx_to_gateway(&before, Target::Contour);
    let yaml = conversion.yaml();
    assert!(yaml.contains("controllerName: projectcontour.io/gateway-controller") && !yaml.contains("envoyproxy"), "{yaml}");
    assert!(!conversion.notes.iter().any(|note| note.message.contains("use-regex")), "{:?}", conversion.notes);
    let options = Options::of(&chancery_ingress_nginx::DIALECT);
    let found = migration_proof(&before, [conversion.input()], &options, &chancery_contour::DIALECT, &[], MOST_COMBINATIONS, &Sequential);
    let rules: Vec<&str> = found.causes.iter().map(|cause| cause.rule).collect();
    assert!(found.compared > 20 && !rules.iter().any(|rule| ["route", "service", "path-case", "path-boundary"].contains(rule)), "{rules:?}");
}

#[test]
fn contour_closes_protected_routes() {
    let protections = [
        annotation("allowlist-source-range", "10.0.0.0/8"),
        annotation("denylist-source-range", "10.0.0.0/8"),
        annotation("auth-url", "http://auth.example.com/check"),
        // The Secrets are not in the input.
        format!("{}, {}", annotation("auth-type", "basic"), annotation("auth-secret", "users")),
        annotation("auth-tls-secret", "default/ca"),
    ];
    for protection in protections {
        let text = format!("{}{}", ingress("web", &protection, "/web", "web"), ingress("next", "", "/", "next"));
        let before = compiled(&format!("{text}{SERVICES}"), &chancery_ingress_nginx::DIALECT);
        let conversion = ingress_nginx_to_gateway(&before, Target::Contour);
        assert!(conversion.notes.iter().any(|note| note.message.contains("so that not every client gets in")), "{protection}");
        let after = compiled(&format!("{}{SERVICES}", conversion.yaml()), &chancery_contour::DIALECT);
        let gateway = after.gateways().next().expect("a gateway");
        let config = EnvoyConfig::of(gateway.ir);
        let found = Gateway::new(&config).simulate(&Request::new("GET", "http://a.example.com/web/x").expect("a request"));
        assert_eq!((found.outcome, found.status), (Outcome::DirectResponse, Some(500)), "{protection}: {}", conversion.yaml());
    }
}

#[test]
fn contour_redirects_hosts_with_certificates() {
    let text = ingress("web", "", "/", "web").replace("spec:\n", "spec:\n  tls: [{hosts: [a.example.com], secretName: a}]\n");
    let before = compiled(&format!("{text}{SERVICES}"), &chancery_ingress_nginx::DIALECT);
    let yaml = ingress_nginx_to_gateway(&before, Target::Contour).yaml();
    let after = compiled(&format!("{yaml}{SERVICES}"), &chancery_contour::DIALECT);
    let errors: Vec<&str> = after.all_diagnostics().filter(|of| of.severity == Severity::Error).map(|of| of.message.as_str()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{yaml}");
    let config = EnvoyConfig::of(after.gateways().next().expect("a gateway").ir);
    let found = Gateway::new(&config).simulate(&Request::new("GET", "http://a.example.com/x").expect("a request"));
    assert_eq!((found.outcome, found.status), (Outcome::Redirect, Some(301)), "{yaml}");
    assert_eq!(found.location.as_deref(), Some("https://a.example.com/x"));
}

#[test]
fn proof_tells_assumed_services_apart() {
    // As written, the two names had the same assumed address.
    let one = ingress("api", "", "/", "api");
    let before = compiled(&format!("{one}{}", ingress("backend", "", "/b", "backend")), &chancery_ingress_nginx::DIALECT);
    let conversion = ingress_nginx_to_gateway(&before, Target::EnvoyGateway);
    let yaml = conversion
        .yaml()
        .replace("name: api\n", "name: other\n")
        .replace("name: backend\n", "name: api\n")
        .replace("name: other\n", "name: backend\n");
    assert_ne!(yaml, conversion.yaml());
    let input = chancery_base::resource::Input { name: "swapped.yaml".into(), text: yaml.as_str().into() };
    let options = Options::of(&chancery_ingress_nginx::DIALECT);
    let found = migration_proof(&before, [input], &options, &chancery_envoy_gateway::DIALECT, &[], MOST_COMBINATIONS, &Sequential);
    assert!(found.causes.iter().any(|cause| cause.rule == "service"), "{yaml}");
}

/// Returns the causes of differences that the proof finds, with one sentence each.
fn causes(text: &str) -> Vec<(&'static str, String)> {
    let before = compiled(&format!("{text}{SERVICES}"), &chancery_ingress_nginx::DIALECT);
    let conversion = ingress_nginx_to_gateway(&before, Target::EnvoyGateway);
    let options = Options::of(&chancery_ingress_nginx::DIALECT);
    let found = migration_proof(&before, [conversion.input()], &options, &chancery_envoy_gateway::DIALECT, &[], MOST_COMBINATIONS, &Sequential);
    assert!(found.compared > 20, "{found:#?}");
    found.causes.iter().map(|cause| (cause.rule, cause.rows[0].sentence.clone())).collect()
}

#[test]
fn proof_finds_no_differences_of_exact_annotations() {
    let is_exact = |annotations: &str, rules: &[&str]| {
        let found = causes(&ingress("web", annotations, "/", "web"));
        let wrong: Vec<&(&str, String)> = found.iter().filter(|(rule, _)| rules.contains(rule)).collect();
        assert!(wrong.is_empty(), "{annotations}: {wrong:#?}");
    };
    // Only requests that forge these headers differ.
    let forwarded = causes(&ingress("web", "", "/", "web")).into_iter().find(|(rule, _)| *rule == "forwarded-headers");
    assert!(forwarded.as_ref().is_none_or(|(_, sentence)| sentence.contains("x-forwarded-for: 192.0.2.1")), "{forwarded:?}");
    is_exact("", &["body-size", "header-match", "response-timeout", "connect-timeout"]);
    is_exact(&annotation("allowlist-source-range", "10.0.0.0/8"), &["client-address", "route"]);
    is_exact(&annotation("permanent-redirect", "https://b.example.com"), &["https-redirect", "redirect", "redirect-location"]);
    is_exact(&annotation("force-ssl-redirect", "true"), &["https-redirect", "redirect"]);
    // nginx reads protocols in any case.
    for protocol in ["https", "HTTPS", "Https", "http"] {
        is_exact(&annotation("backend-protocol", protocol), &["backend-protocol", "backend-tls", "service", "status"]);
    }
    // The Service has no address in the input.
    is_exact(&annotation("service-upstream", "true"), &["service", "route", "status"]);
}

#[test]
fn proof_finds_a_lost_limit_of_addresses() {
    let before = compiled(
        &format!("{}{SERVICES}", ingress("web", &annotation("allowlist-source-range", "10.0.0.0/8"), "/web", "web")),
        &chancery_ingress_nginx::DIALECT,
    );
    let mut conversion = ingress_nginx_to_gateway(&before, Target::EnvoyGateway);
    conversion.objects.retain(|object| object.get("kind").and_then(chancery_text::Node::as_str) != Some("SecurityPolicy"));
    let options = Options::of(&chancery_ingress_nginx::DIALECT);
    let found = migration_proof(&before, [conversion.input()], &options, &chancery_envoy_gateway::DIALECT, &[], MOST_COMBINATIONS, &Sequential);
    assert!(found.causes.iter().any(|cause| cause.rule == "client-address"), "{found:#?}");
}

const AUTH: &str = "---\napiVersion: v1\nkind: Service\nmetadata: {name: auth, namespace: shop}\nspec: {ports: [{port: 80}]}\n";

/// Returns the headers of a request as the service gets them, with these headers of the client.
fn headers_to_service(text: &str, url: &str, port: u32, headers: &[(&str, &str)]) -> (Conversion, Vec<(String, String)>) {
    let before = compiled(&format!("{text}{SERVICES}{AUTH}"), &chancery_ingress_nginx::DIALECT);
    let conversion = ingress_nginx_to_gateway(&before, Target::EnvoyGateway);
    let yaml = conversion.yaml();
    let after = compiled(&format!("{yaml}{SERVICES}{AUTH}"), &chancery_envoy_gateway::DIALECT);
    let errors: Vec<&str> = after.all_diagnostics().filter(|of| of.severity == Severity::Error).map(|of| of.message.as_str()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{yaml}");
    let envoy = EnvoyConfig::of(after.gateways().next().expect("a gateway").ir);
    let mut request = Request::new("GET", url).expect("a URL");
    request.port = Some(port);
    headers.iter().for_each(|(name, value)| request.headers.add(name, value));
    let found = Gateway::new(&envoy).simulate(&request);
    let upstream = found.upstream.unwrap_or_else(|| panic!("{yaml}"));
    let mut out: Vec<(String, String)> = headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let removed = upstream.headers_removed.iter().map(|name| (name, None));
    let early = upstream.headers_by_envoy.iter().map(|change| (&change.name, change.value.clone()));
    let late = upstream.headers_added.iter().map(|change| (&change.name, change.value.clone()));
    for (name, value) in early.chain(removed).chain(late) {
        out.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        out.extend(value.map(|value| (name.to_ascii_lowercase(), value)));
    }
    (conversion, out)
}

fn has(headers: &[(String, String)], name: &str) -> bool {
    headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
}

#[test]
fn clients_cannot_send_headers_of_authentication() {
    let auth = [annotation("auth-url", "http://auth.shop.svc.cluster.local/check"), annotation("auth-response-headers", "X-User,Authorization")];
    let protected = ingress("web", &auth.join(", "), "/", "web");
    let forged = [("x-user", "root"), ("authorization", "Bearer a")];
    let (conversion, headers) = headers_to_service(&protected, "http://a.example.com/", 10_080, &forged);
    assert!(!has(&headers, "x-user") && has(&headers, "authorization"), "{headers:?}");
    let about = |conversion: &Conversion, name: &str| {
        conversion.notes.iter().any(|note| note.message.starts_with(&format!("a client can send `{name}` itself")))
    };
    assert!(!about(&conversion, "X-User") && about(&conversion, "Authorization"), "{:?}", conversion.notes);
    // Clients of another host of the listener may need a usual header, but no private one.
    let other = ingress("next", "", "/", "next").replace("a.example.com", "b.example.com");
    let (conversion, headers) = headers_to_service(&format!("{protected}{other}"), "http://a.example.com/", 10_080, &forged);
    assert!(!has(&headers, "x-user"), "{headers:?}");
    assert!(
        conversion.notes.iter().any(|note| note.message.starts_with("the listener `http` removes `X-User` of clients")),
        "{:?}",
        conversion.notes
    );
    let usual = protected.replace("X-User", "Accept-Language");
    let (conversion, headers) =
        headers_to_service(&format!("{usual}{other}"), "http://a.example.com/", 10_080, &[("accept-language", "en"), forged[1]]);
    assert!(has(&headers, "accept-language") && about(&conversion, "Accept-Language"), "{headers:?}");
    // A host with TLS has its own listener.
    let secure = protected.replace("spec:\n", "spec:\n  tls: [{hosts: [a.example.com], secretName: a}]\n");
    let (conversion, headers) = headers_to_service(&format!("{secure}{other}"), "https://a.example.com/", 10_443, &forged);
    assert!(!has(&headers, "x-user") && !about(&conversion, "X-User"), "{headers:?}");
}

#[test]
fn clients_cannot_send_headers_about_certificates() {
    let text = ingress("web", &annotation("auth-tls-secret", "shop/ca"), "/", "web");
    let secure = text.replace("spec:\n", "spec:\n  tls: [{hosts: [a.example.com], secretName: a}]\n");
    let forged = [("ssl-client-verify", "SUCCESS"), ("ssl-client-subject-dn", "CN=root"), ("x-other", "a")];
    let (_, headers) = headers_to_service(&secure, "https://a.example.com/", 10_443, &forged);
    assert!(!has(&headers, "ssl-client-verify") && !has(&headers, "ssl-client-subject-dn") && has(&headers, "x-other"), "{headers:?}");
}

#[test]
fn headers_of_nginx_replace_those_of_clients() {
    let config = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ingress-nginx-controller, namespace: ingress-nginx}\ndata: {use-forwarded-headers: 'true', proxy-set-headers: ingress-nginx/set}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: set, namespace: ingress-nginx}\ndata: {X-Cluster: blue, X-Host: $host}\n";
    let text = ingress("web", "", "/", "web") + config;
    let names = ["x-real-ip", "x-scheme", "x-forwarded-scheme", "x-cluster", "x-host"];
    let (conversion, headers) = headers_to_service(&text, "http://a.example.com/", 10_080, &names.map(|name| (name, "forged")));
    assert!(!headers.iter().any(|(_, value)| value == "forged"), "{headers:?}");
    assert!(headers.contains(&("x-scheme".into(), "http".into())) && headers.contains(&("x-cluster".into(), "blue".into())), "{headers:?}");
    assert!(conversion.notes.iter().any(|note| note.message.starts_with("`X-Host` of `proxy-set-headers` is not converted")));
}

#[test]
fn weights_of_canary_apply_with_affinity() {
    let canary = [annotation("canary", "true"), annotation("canary-weight", "5")].join(", ");
    let text = format!("{}{}", ingress("web", &annotation("affinity", "cookie"), "/", "web"), ingress("next", &canary, "/", "next"));
    let found = causes(&text);
    assert!(!found.iter().any(|(rule, _)| *rule == "weights"), "{found:?}");
    let notes: Vec<String> = converted(&text).1.notes.into_iter().map(|note| note.message).collect();
    assert!(notes.iter().any(|note| note.contains("nginx keeps a client with its cookie on one of the two Services")), "{notes:?}");
}

#[test]
fn paths_that_nginx_closes_are_reported() {
    let config = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: headers, namespace: shop}\ndata: {X-A: b}\n";
    for annotations in [
        // The header is not allowed.
        annotation("custom-headers", "shop/headers"),
        // Another namespace is not allowed.
        format!("{}, {}", annotation("auth-type", "basic"), annotation("auth-secret", "other/users")),
        // The ConfigMap has no namespace.
        annotation("custom-headers", "unknown"),
    ] {
        let (_, conversion, _) = converted(&(ingress("web", &annotations, "/", "web") + config));
        let notes: Vec<&str> = conversion.notes.iter().map(|note| note.message.as_str()).collect();
        assert!(notes.iter().any(|note| note.starts_with("ingress-nginx answers 503 to every request")), "{annotations}: {notes:?}");
    }
}

#[test]
fn annotated_objects_are_assumed() {
    let all = [
        annotation("custom-headers", "shop/headers"),
        annotation("auth-url", "http://auth.shop.svc.cluster.local/"),
        annotation("auth-proxy-set-headers", "shop/auth"),
        annotation("default-backend", "errors"),
    ];
    let (before, conversion, _) = converted(&ingress("web", &all.join(", "), "/", "web"));
    let notes: Vec<&str> = conversion.notes.iter().map(|note| note.message.as_str()).collect();
    assert!(!notes.iter().any(|note| note.contains("503")), "{notes:?}");
    assert!(notes.iter().any(|note| note.starts_with("`custom-headers` is not converted: its ConfigMap is empty")), "{notes:?}");
    let assumed: Vec<String> = before.objects.all().filter(|object| object.assumed).map(|object| object.key.to_string()).collect();
    for name in ["headers", "auth", "errors"] {
        assert!(assumed.iter().any(|key| key.contains(name)), "{name}: {assumed:?}");
    }
}

#[test]
fn unconverted_annotations_all_have_notes() {
    // Values of all forms; the first that the annotation accepts is used.
    const VALUES: &[&str] = &[
        "a",
        "true",
        "false",
        "off",
        "1",
        "5",
        "503",
        "GET",
        "10.0.0.0/8",
        "shop/a",
        "a.example.com",
        "http://a.example.com/x",
        "$host",
        "cookie",
        "CN=a",
        "1k",
        "X-A",
        "round_robin",
        "/a",
        "return 403;",
        "error timeout",
        "HTTPS",
        "https",
        "basic",
        "auth-file",
        "Lax",
        "on",
        "default",
        "a b",
        "sticky",
        "persistent",
        "TLSv1.2",
        "any",
    ];
    let config = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ingress-nginx-controller, namespace: ingress-nginx}\ndata: {allow-snippet-annotations: 'true', annotations-risk-level: Critical}\n";
    // A note names the annotation, or is at its line.
    let is_named = |name: &str, value: &str| {
        let (before, conversion, _) = converted(&(ingress("web", &annotation(name, value), "/", "web") + config));
        let key = format!("nginx.ingress.kubernetes.io/{name}");
        let node = |object: &chancery_base::resource::Object| object.root.at(&["metadata", "annotations", &key]).map(|node| node.id);
        let places: Vec<_> = before.objects.all().filter_map(|object| Some((object.id, node(object)?))).collect();
        conversion.notes.iter().any(|note| {
            let is_there = note.origin.is_some_and(|origin| places.contains(&(origin.object(), origin.node())));
            (is_there || note.message.contains(&format!("`{name}"))) && !note.message.contains("has the wrong form")
        })
    };
    let lossy = super::VERDICTS.iter().filter(|of| matches!(of.envoy_gateway, super::Fidelity::Approximate | super::Fidelity::Impossible));
    let silent: Vec<&str> = lossy.map(|of| of.name).filter(|name| !VALUES.iter().any(|value| is_named(name, value))).collect();
    assert_eq!(silent, Vec::<&str>::new());
    assert!(notes(&annotation("auth-tls-verify-depth", "1"), false).iter().any(|note| note.starts_with("`auth-tls-verify-depth` is not converted")));
}

#[test]
fn directives_of_snippets_are_named() {
    let found = notes(&annotation("configuration-snippet", "more_set_headers 'X: secret'; if ($host) { return 403; }"), true);
    let expected = "`configuration-snippet` is not converted: `more_set_headers`, `if`, `return` of nginx have no counterpart; write filters for headers, redirects and rewrites";
    assert!(found.iter().any(|note| note == expected), "{found:?}");
}

#[test]
fn settings_are_reported_with_remedies() {
    let of = |key: &str, value: &str| {
        let config = format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: ingress-nginx-controller, namespace: ingress-nginx}}\ndata: {{{key}: {value:?}}}\n"
        );
        converted(&(ingress("web", "", "/", "web") + &config)).1.notes.iter().map(|note| note.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(of("limit-req-status-code", "429"), Vec::<String>::new());
    assert_eq!(of("limit-req-status-code", "420"), ["`limit-req-status-code` of the ConfigMap is not converted: Envoy answers 429"]);
    assert!(of("block-cidrs", "192.0.2.0/24")[0].ends_with("write `authorization` with `clientCIDRs` in a SecurityPolicy for the Gateway"));
}

#[test]
fn default_certificate_serves_hosts_without_secret() {
    let text = ingress("web", "", "/", "web").replace("spec:\n", "spec:\n  tls: [{hosts: [a.example.com]}]\n");
    let dialect = &chancery_ingress_nginx::DIALECT;
    let flags = OptionValue::List(Vec::from(["--default-ssl-certificate=ops/wildcard".into()]));
    let options = Options::of(dialect).with("missing", OptionValue::Text("assume".into())).with("controller-arg", flags).in_dialect(dialect.name);
    let before = compile(&Inputs::one("input.yaml", format!("{text}{SERVICES}")), &options, &[dialect]);
    let conversion = ingress_nginx_to_gateway(&before, Target::EnvoyGateway);
    let yaml = conversion.yaml();
    assert!(yaml.contains("- name: https\n") && yaml.contains("- name: wildcard\n        namespace: ops\n"), "{yaml}");
    assert!(yaml.contains("kind: ReferenceGrant") && !conversion.limits.iter().any(|limit| limit.contains("generated certificate")), "{yaml}");
    let found = migration_proof(&before, [conversion.input()], &options, &chancery_envoy_gateway::DIALECT, &[], MOST_COMBINATIONS, &Sequential);
    let rows: Vec<&String> = found.causes.iter().filter(|cause| cause.rule == "tls").flat_map(|cause| &cause.rows).map(|row| &row.sentence).collect();
    assert!(!rows.iter().any(|row| row.contains("a.example.com")), "{rows:#?}");
}

#[test]
fn clients_cannot_send_headers_of_snippets() {
    let config = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ingress-nginx-controller, namespace: ingress-nginx}\ndata: {allow-snippet-annotations: 'true', annotations-risk-level: Critical}\n";
    let snippet = "proxy_set_header X-Role $role; proxy_set_header X-Zone blue; proxy_set_header X-Own $http_x_own;";
    let text = ingress("web", &annotation("configuration-snippet", snippet), "/", "web") + config;
    let forged = ["x-role", "x-zone", "x-own"].map(|name| (name, "forged"));
    let (_, headers) = headers_to_service(&text, "http://a.example.com/", 10_080, &forged);
    let value = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    assert_eq!((value("x-role"), value("x-zone"), value("x-own")), (None, Some("blue"), Some("forged")), "{headers:?}");
}

/// Two hosts with the same certificate.
fn shared_certificate(annotations: &str) -> String {
    let secure = |name: &str, annotations: &str| {
        let spec = format!("spec:\n  tls: [{{hosts: [{name}.example.com], secretName: wildcard}}]\n");
        ingress(name, annotations, "/", "web").replace("spec:\n", &spec).replace("host: a.example.com", &format!("host: {name}.example.com"))
    };
    format!("{}{}", secure("a", ""), secure("b", annotations))
}

#[test]
fn hosts_of_one_certificate_keep_http2() {
    let found = causes(&shared_certificate(""));
    assert!(!found.iter().any(|(rule, _)| *rule == "http-versions"), "{found:?}");
    let yaml = converted(&shared_certificate("")).1.yaml();
    assert_eq!(yaml.matches("protocol: HTTPS").count(), 1, "{yaml}");
}

#[test]
fn host_with_client_certificates_shares_no_listener() {
    let text = shared_certificate(&annotation("auth-tls-secret", "shop/ca"));
    let yaml = converted(&text).1.yaml();
    assert!(yaml.matches("protocol: HTTPS").count() == 2 && !yaml.contains("\"*.example.com\""), "{yaml}");
    let found = causes(&text);
    assert!(found.iter().any(|(rule, sentence)| *rule == "http-versions" && sentence.contains("were `1.1, 2`, will be `1.1`")), "{found:?}");
}
