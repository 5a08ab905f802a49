//! Compares an nginx with an Envoy that serves the same Ingress in another dialect.

use super::{AcceptedChange, MOST_COMBINATIONS, MigrationDiff, MigrationRow, compare_migration};
use crate::answers::Respondents;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, Dialect, OptionValue, Options, for_interactive_use};
use chancery_base::executor::Sequential;
use chancery_base::resource::Inputs;
use chancery_compile::compile;
use chancery_envoy::simulate::Request;

const NGINX: &Dialect = &chancery_ingress_nginx::DIALECT;
const CONTOUR: &Dialect = &chancery_contour::DIALECT;
const ENVOY_GATEWAY: &Dialect = &chancery_envoy_gateway::DIALECT;

const SERVICES: &str = "---
apiVersion: v1
kind: Service
metadata: {name: api, namespace: shop}
spec: {ports: [{name: http, port: 8080}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: api, namespace: shop, labels: {kubernetes.io/service-name: api}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints: [{addresses: [10.1.1.1]}]
---
apiVersion: v1
kind: Service
metadata: {name: next, namespace: shop}
spec: {ports: [{name: http, port: 8080}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: next, namespace: shop, labels: {kubernetes.io/service-name: next}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints: [{addresses: [10.1.1.2]}, {addresses: [10.1.1.3]}]
";

fn compiled(dialect: &'static Dialect, text: &str) -> Compilation {
    compile(&Inputs::one("input.yaml", format!("{text}{SERVICES}").as_str()), &for_interactive_use(Options::of(dialect)), crate::testing::ALL)
}

fn ingress(annotations: &str) -> Compilation {
    compiled(NGINX, &ingress_text(annotations))
}

fn ingress_text(annotations: &str) -> alloc::string::String {
    format!(
        "apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: api, namespace: shop, annotations: {{{annotations}}}}}
spec:
  ingressClassName: nginx
  rules: [{{host: shop.example.com, http: {{paths: [{{path: /api, pathType: Prefix, backend: {{service: {{name: api, port: {{number: 8080}}}}}}}}]}}}}]
"
    )
}

fn proxy(route: &str) -> Compilation {
    proxy_of("shop.example.com", &format!("conditions: [{{prefix: /api}}], services: [{{name: api, port: 8080}}]{route}"))
}

/// An HTTPProxy with one route.
fn proxy_of(host: &str, route: &str) -> Compilation {
    compiled(
        CONTOUR,
        &format!(
            "apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {{name: api, namespace: shop}}
spec: {{virtualhost: {{fqdn: {host}}}, routes: [{{{route}}}]}}
"
        ),
    )
}

/// A canary that gets a share of the requests.
fn canary(weight: u32) -> Compilation {
    let ingress = |name: &str, annotations: &str| {
        format!(
            "---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: {name}, namespace: shop, annotations: {{{annotations}}}}}
spec:
  ingressClassName: nginx
  rules: [{{host: shop.example.com, http: {{paths: [{{path: /api, pathType: Prefix, backend: {{service: {{name: {name}, port: {{number: 8080}}}}}}}}]}}}}]
"
        )
    };
    let annotations = format!("nginx.ingress.kubernetes.io/canary: 'true', nginx.ingress.kubernetes.io/canary-weight: '{weight}'");
    compiled(NGINX, &format!("{}{}", ingress("api", ""), ingress("next", &annotations)))
}

/// A route with weights of the same Services. Envoy Gateway makes one cluster of them.
fn weighted_route(api: u32, next: u32) -> Compilation {
    compiled(ENVOY_GATEWAY, &weighted_route_text(api, next))
}

fn weighted_route_text(api: u32, next: u32) -> alloc::string::String {
    format!(
        "apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {{name: envoy}}
spec: {{controllerName: gateway.envoyproxy.io/gatewayclass-controller}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: web, namespace: shop}}
spec: {{gatewayClassName: envoy, listeners: [{{name: http, protocol: HTTP, port: 80}}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: api, namespace: shop}}
spec:
  parentRefs: [{{name: web}}]
  hostnames: [shop.example.com]
  rules:
  - matches: [{{path: {{type: PathPrefix, value: /api}}}}]
    backendRefs: [{{name: api, port: 8080, weight: {api}}}, {{name: next, port: 8080, weight: {next}}}]
"
    )
}

fn compared(before: &Compilation, after: &Compilation, accepted: &[AcceptedChange]) -> MigrationDiff {
    let (old, new) = (before.positions(), after.positions());
    compare_migration(&Respondents::of(before, &old), &Respondents::of(after, &new), accepted, MOST_COMBINATIONS, &Sequential)
}

fn rows<'d>(of: &'d MigrationDiff, rule: &str) -> Vec<&'d MigrationRow> {
    of.causes.iter().filter(|cause| cause.rule == rule).flat_map(|cause| &cause.rows).collect()
}

#[test]
fn same_service_is_recognized_across_dialects() {
    let found = compared(&ingress(""), &proxy(""), &[]);
    assert!(rows(&found, "service").is_empty() && rows(&found, "route").is_empty(), "{found:#?}");
    assert!(found.compared > 20, "{}", found.compared);
}

#[test]
fn regular_expression_without_case_is_reported() {
    let found = compared(&ingress("nginx.ingress.kubernetes.io/use-regex: 'true'"), &proxy(""), &[]);
    let all = rows(&found, "path-case");
    let [row] = all[..] else { panic!("one row is expected: {all:#?}") };
    assert_eq!((row.before.value.as_str(), row.after.value.as_str()), ("shop/api:8080", "404"));
    assert!(
        row.sentence.starts_with("`GET http://shop.example.com/API` (upper case): was `shop/api:8080`, will be `404`, because nginx"),
        "{}",
        row.sentence
    );
    assert!(row.before.lines.iter().any(|line| line.span.is_some()), "{row:#?}");
}

#[test]
fn closed_route_is_a_lost_authentication() {
    let closed = proxy_of("shop.example.com", "conditions: [{prefix: /api}], directResponsePolicy: {statusCode: 500}");
    let found = compared(&ingress("nginx.ingress.kubernetes.io/auth-url: 'http://auth.example.com/check'"), &closed, &[]);
    assert!(!rows(&found, "authentication").is_empty() && rows(&found, "route").is_empty(), "{found:#?}");
    let found = compared(&ingress(""), &closed, &[]);
    assert!(rows(&found, "authentication").is_empty() && !rows(&found, "route").is_empty(), "{found:#?}");
}

#[test]
fn lost_protection_has_its_own_cause() {
    let denied = ingress("nginx.ingress.kubernetes.io/allowlist-source-range: 10.0.0.0/8");
    let accepted = AcceptedChange::read("accept: [{rule: client-address, reason: known}]").expect("a list");
    let found = compared(&denied, &proxy(""), &accepted);
    let all = rows(&found, "lost-protection");
    assert!(!all.is_empty() && all.iter().all(|row| row.before.value == "403" && row.accepted.is_none()), "{found:#?}");
    assert_eq!(found.causes[0].rule, "lost-protection");
    let asked = compared(&ingress("nginx.ingress.kubernetes.io/auth-url: 'http://auth.example.com/check'"), &proxy(""), &[]);
    assert!(!rows(&asked, "lost-protection").is_empty(), "{asked:#?}");
}

#[test]
fn requests_continue_past_credentials() {
    const PASSWORD: &str = "auth-type: basic, nginx.ingress.kubernetes.io/auth-secret: users";
    const CERTIFICATE: &str = "auth-tls-secret: shop/clients";
    let with = |annotations: &str, service: &str| {
        let ingress = format!(
            "---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: api, namespace: shop, annotations: {{nginx.ingress.kubernetes.io/{annotations}}}}}
spec:
  ingressClassName: nginx
  tls: [{{hosts: [shop.example.com], secretName: shop}}]
  rules: [{{host: shop.example.com, http: {{paths: [{{path: /, pathType: Prefix, backend: {{service: {{name: {service}, port: {{number: 8080}}}}}}}}]}}}}]
"
        );
        let options = Options::of(NGINX).with("missing", OptionValue::Text("assume".into()));
        compile(&Inputs::one("input.yaml", format!("{ingress}{SERVICES}").as_str()), &options, crate::testing::ALL)
    };
    for annotations in [PASSWORD, CERTIFICATE] {
        let found = compared(&with(annotations, "api"), &with(annotations, "next"), &[]);
        let all = rows(&found, "service");
        assert!(all.iter().any(|row| row.before.value == "shop/api:8080" && row.after.value == "shop/next:8080"), "{annotations}: {found:#?}");
        let lost = compared(&with(annotations, "api"), &with("enable-cors: 'false'", "api"), &[]);
        assert!(!rows(&lost, "lost-protection").is_empty(), "{annotations}: {lost:#?}");
    }
}

#[test]
fn both_ends_of_a_range_are_tried() {
    let range = |text: &str| ingress(&format!("nginx.ingress.kubernetes.io/allowlist-source-range: {text}"));
    let found = compared(&range("172.31.0.0/24"), &range("172.31.0.0/16"), &[]);
    let all = rows(&found, "lost-protection");
    assert!(all.iter().any(|row| row.sentence.contains("172.31.255.254")), "{found:#?}");
}

#[test]
fn requests_are_made_from_snippets() {
    let options = "allow-snippet-annotations: 'true', annotations-risk-level: Critical";
    let settings = |more: &str| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: ingress-nginx-controller, namespace: ingress-nginx}}\n\
             data: {{{options}{more}}}\n"
        )
    };
    let with = |annotation: &str, more: &str| {
        let ingress = format!(
            "---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: api, namespace: shop, annotations: {{{annotation}}}}}
spec:
  ingressClassName: nginx
  rules: [{{host: shop.example.com, http: {{paths: [{{path: /api, pathType: Prefix, backend: {{service: {{name: api, port: {{number: 8080}}}}}}}}]}}}}]
"
        );
        compiled(NGINX, &(settings(more) + &ingress))
    };
    let lost = |before: &Compilation, words: &str| {
        let found = compared(before, &with("", ""), &[]);
        let all = rows(&found, "lost-protection");
        assert!(all.iter().any(|row| row.sentence.contains(words)), "{words}: {found:#?}");
    };
    let snippet = |name: &str, text: &str| with(&format!("nginx.ingress.kubernetes.io/{name}: '{text}'"), "");
    lost(&snippet("server-snippet", "location ^~ /api/internal/ { deny all; return 403; }"), "/api/internal/");
    lost(&snippet("configuration-snippet", "if ($http_x_blocked = yes) { return 403; }"), "x-blocked: yes");
    lost(&with("", ", block-user-agents: Scraper"), "user-agent: Scraper");
    let redirecting = snippet("configuration-snippet", "rewrite ^/api/old/(.*)$ /api/new/$1 permanent;");
    let found = compared(&redirecting, &with("", ""), &[]);
    assert!(!rows(&found, "redirect").is_empty(), "{found:#?}");
    let scripted = snippet("configuration-snippet", "access_by_lua_block { ngx.exit(403) }");
    let found = compared(&scripted, &with("", ""), &[]);
    let all = rows(&found, "not-evaluated");
    let [row] = all[..] else { panic!("one row is expected: {found:#?}") };
    assert!(row.sentence.ends_with(": the directive `access_by_lua_block` is not evaluated"), "{}", row.sentence);
    assert!(found.open().count() > 0);
}

#[test]
fn allowed_client_tries_everything() {
    const ALLOWED: &str = "nginx.ingress.kubernetes.io/allowlist-source-range: 10.0.0.0/8";
    let found = compared(&ingress(&format!("{ALLOWED}, nginx.ingress.kubernetes.io/use-regex: 'true'")), &ingress(ALLOWED), &[]);
    let all = rows(&found, "path-case");
    assert!(all.iter().any(|row| row.sentence.contains("/API from 10.0.0.1")), "{found:#?}");
    let lost = compared(&ingress(ALLOWED), &ingress(""), &[]);
    assert!(rows(&lost, "lost-protection").iter().all(|row| !row.sentence.contains("from 10.")), "{lost:#?}");
}

#[test]
fn clients_forge_headers_of_the_proxy() {
    let asking = |headers: &str| {
        let url = "nginx.ingress.kubernetes.io/auth-url: 'http://auth.example.com/check'";
        ingress(&format!("{url}, nginx.ingress.kubernetes.io/auth-response-headers: '{headers}'"))
    };
    let found = compared(&asking("X-User"), &asking(""), &[]);
    let all = rows(&found, "forged-headers");
    let [row] = all[..] else { panic!("one row is expected: {found:#?}") };
    assert_eq!((row.what.as_str(), row.before.value.as_str(), row.after.value.as_str()), ("request header `x-user`", "not sent", "forged"));
    let same = compared(&asking("X-User"), &asking("X-User"), &[]);
    assert!(rows(&same, "forged-headers").is_empty(), "{same:#?}");
}

#[test]
fn name_in_the_host_header_can_be_accepted() {
    let accepted = AcceptedChange::read("accept: [{rule: route, host: 'other.example.com:80', reason: unused}]").expect("a list");
    let found = compared(&ingress(""), &proxy_of("other.example.com", "services: [{name: api, port: 8080}]"), &accepted);
    let all = rows(&found, "route");
    assert!(all.iter().any(|row| row.accepted.is_some() && row.sentence.contains("other.example.com:80/")), "{all:#?}");
    assert!(all.iter().any(|row| row.accepted.is_none()), "{all:#?}");
    assert!(found.unused.is_empty(), "{:?}", found.unused);
}

#[test]
fn timeout_is_compared_as_number() {
    let found = compared(&ingress(""), &proxy(""), &[]);
    let all = rows(&found, "response-timeout");
    let [row] = all[..] else { panic!("one row is expected: {all:#?}") };
    assert_eq!((row.before.value.as_str(), row.after.value.as_str()), ("60s", "15s"));
    let same = compared(&ingress(""), &proxy(", timeoutPolicy: {response: 60s}"), &[]);
    assert!(rows(&same, "response-timeout").is_empty(), "{same:#?}");
}

#[test]
fn accepted_change_does_not_count() {
    let accepted = AcceptedChange::read("accept: [{rule: response-timeout, reason: known}, {rule: mirror, reason: never}]").expect("a list");
    let found = compared(&ingress(""), &proxy(""), &accepted);
    assert_eq!(rows(&found, "response-timeout")[0].accepted.as_deref(), Some("known"));
    assert!(found.open().all(|row| row.what != "response timeout"));
    assert_eq!(found.unused.len(), 1, "{:?}", found.unused);
}

#[test]
fn missing_host_is_reported_once() {
    let other = proxy_of("other.example.com", "services: [{name: api, port: 8080}]");
    let found = compared(&ingress(""), &other, &[]);
    assert!(!rows(&found, "route").is_empty(), "{found:#?}");
    assert!(rows(&found, "trailing-slash").is_empty(), "{found:#?}");
}

#[test]
fn default_backend_is_compared_by_port() {
    let with_default = |class: &str| {
        format!(
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: all, namespace: shop}}\n\
             spec: {{ingressClassName: {class}, defaultBackend: {{service: {{name: api, port: {{number: 8080}}}}}}}}\n"
        )
    };
    let found = compared(&compiled(NGINX, &with_default("nginx")), &compiled(CONTOUR, &with_default("contour")), &[]);
    assert!(found.compared > 0 && rows(&found, "service").is_empty(), "{found:#?}");
}

#[test]
fn shares_of_one_cluster_are_compared_by_service() {
    let same = compared(&canary(20), &weighted_route(80, 20), &[]);
    assert!(rows(&same, "service").is_empty() && rows(&same, "weights").is_empty(), "{same:#?}");
    let found = compared(&canary(20), &weighted_route(9, 1), &[]);
    assert!(rows(&found, "service").is_empty(), "{found:#?}");
    let all = rows(&found, "weights");
    let [row] = all[..] else { panic!("one row is expected: {all:#?}") };
    let (before, after) = ("shop/api:8080 (80%), shop/next:8080 (20%)", "shop/api:8080 (90%), shop/next:8080 (10%)");
    assert_eq!((row.before.value.as_str(), row.after.value.as_str()), (before, after));
}

#[test]
fn any_condition_tells_which_credentials_were_needed() {
    let prefix = "nginx.ingress.kubernetes.io";
    let any = format!("{prefix}/satisfy: any, {prefix}/allowlist-source-range: 10.0.0.0/8, {prefix}/auth-type: basic, {prefix}/auth-secret: users");
    let secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: users, namespace: shop}\ndata: {auth: dXNlcjE6e1NIQX10RVNzQm1FL3lOWTNsYjZhMEw2dlZRRVpOcXc9}\n";
    let compilation = compiled(NGINX, &format!("{}{secret}", ingress_text(&any)));
    let positions = compilation.positions();
    let respondents = Respondents::of(&compilation, &positions);
    let open = respondents.open();
    let authentication = |source: &str, password: bool| {
        let mut request = chancery_envoy::simulate::Request::new("GET", "http://shop.example.com/api").expect("a request");
        request.source = source.parse().ok();
        if password {
            request.headers.add("authorization", &format!("Basic {}", chancery_envoy::simulate::ANY_PASSWORD));
        }
        let answer = open.answer(&request);
        (answer.words(), answer.facts.get(&crate::answers::Aspect::Authentication).map(|fact| fact.value.clone()))
    };
    assert_eq!(authentication("10.0.0.7", false), ("shop/api:8080".into(), None));
    assert_eq!(authentication("192.0.2.7", false), ("401".into(), None));
    assert_eq!(authentication("192.0.2.7", true), ("shop/api:8080".into(), Some("basic authentication".into())));
}

#[test]
fn only_trusted_proxies_name_the_client() {
    let policies = "---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: ClientTrafficPolicy
metadata: {name: web, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: web}]
  clientIPDetection: {xForwardedFor: {trustedCIDRs: [10.0.0.0/8]}}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: web, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: web}]
  authorization: {defaultAction: Deny, rules: [{action: Allow, principal: {clientCIDRs: [192.168.0.0/16]}}]}
";
    let text = format!("{}{policies}", weighted_route_text(80, 20));
    let compilation = compiled(ENVOY_GATEWAY, &text);
    let positions = compilation.positions();
    let side = Respondents::of(&compilation, &positions);
    let status = |peer: &str, forwarded: &str| {
        let mut request = Request::new("GET", "http://shop.example.com/api").expect("a request");
        request.source = Some(peer.parse().expect("an address"));
        request.add_header("x-forwarded-for", forwarded);
        side.open().answer(&request).status
    };
    assert_eq!(status("10.0.0.1", "192.168.1.1"), None, "a proxy names an allowed client");
    assert_eq!(status("10.0.0.1", "192.168.1.1, 203.0.113.9, 10.0.0.2"), Some(403), "the last address that is not a proxy's is the client");
    assert_eq!(status("203.0.113.9", "192.168.1.1"), Some(403), "a client names another");
    assert_eq!(status("192.168.1.1", "203.0.113.9"), None, "the connection decides");
}
