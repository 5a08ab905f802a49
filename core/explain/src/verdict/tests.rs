//! The sentences about requests that Envoy Gateway's policies decide.

use super::{RunningGateway, overview};
use alloc::format;
use alloc::string::String;
use chancery_base::compilation::{OptionValue, Options};
use chancery_base::resource::Inputs;
use chancery_compile::{Compiler, EmittedByGateway};
use chancery_envoy::simulate::Request;

const GATEWAY: &str = "\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: eg, namespace: shop}
spec:
  gatewayClassName: eg
  listeners:
  - {name: web, protocol: HTTP, port: 80}
  - {name: db, protocol: TCP, port: 5432}
  - {name: pass, protocol: TLS, port: 8443, tls: {mode: Passthrough}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: shop}
spec:
  parentRefs: [{name: eg, sectionName: web}]
  hostnames: [shop.example.com]
  rules: [{backendRefs: [{name: shop, port: 8080}]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: TCPRoute
metadata: {name: db, namespace: shop}
spec:
  parentRefs: [{name: eg, sectionName: db}]
  rules: [{backendRefs: [{name: db, port: 5432}]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: TLSRoute
metadata: {name: pass, namespace: shop}
spec:
  parentRefs: [{name: eg, sectionName: pass}]
  hostnames: [pass.example.com]
  rules: [{backendRefs: [{name: pass, port: 8443}]}]
";

/// A policy for an object, with fields of its `spec`.
fn policy(kind: &str, target: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: {kind}\nmetadata: {{name: one, namespace: shop}}\n\
         spec: {{targetRefs: [{{group: gateway.networking.k8s.io, {target}}}], {spec}}}\n"
    )
}

/// The sentence about a request, and whether the request is served.
fn ask(policies: &str, url: &str, edit: impl Fn(&mut Request)) -> (String, bool) {
    let inputs = Inputs::one("a.yaml", format!("{GATEWAY}{policies}"));
    let options = Options::default().with("missing", OptionValue::Text("assume".into()));
    let compilation = Compiler::new(crate::testing::ALL).compile(&inputs, &options);
    let positions = compilation.positions();
    let mut request = Request::new("GET", url).expect("a URL");
    edit(&mut request);
    let gateway = RunningGateway::Envoy(compilation.gateways().next().expect("a gateway"));
    let report = gateway.route(&positions, &request, &mut EmittedByGateway::default(), &overview(&compilation, &positions));
    (report.verdict().sentence.clone(), report.verdict().good)
}

const RANGE: &str = "authorization: {defaultAction: Deny, rules: [{action: Allow, principal: {clientCIDRs: [192.0.2.0/24]}}]}";

#[test]
fn address_decides_tcp_connection() {
    let policies = policy("SecurityPolicy", "kind: TCPRoute, name: db", RANGE);
    let from = |source: Option<[u8; 4]>| ask(&policies, "http://db.example.com:5432/", |request| request.source = source.map(Into::into));
    let (denied, is_served) = from(Some([9, 9, 9, 9]));
    assert!(denied.contains("the default denies it (client address 9.9.9.9); Envoy closes the connection") && !is_served, "{denied}");
    assert_eq!(from(Some([192, 0, 2, 7])), ("db:5432".into(), true));
    assert_eq!(from(None), ("db:5432, if the client address is in 192.0.2.0/24".into(), true));
}

#[test]
fn request_without_client_header_is_rejected() {
    let detection = "clientIPDetection: {customHeader: {name: X-Client, failClosed: true}}";
    let policies = policy("ClientTrafficPolicy", "kind: Gateway, name: eg", detection);
    let (sentence, is_served) = ask(&policies, "http://shop.example.com/", |_| {});
    assert!(sentence.starts_with("is answered 403") && sentence.contains("the header X-Client has no address") && !is_served, "{sentence}");
    assert_eq!(ask(&policies, "http://shop.example.com/", |request| request.add_header("x-client", "192.0.2.7")).0, "shop:8080");
}

#[test]
fn api_key_of_request_is_checked() {
    let keys = "apiKeyAuth: {credentialRefs: [{name: keys}], extractFrom: [{headers: [x-api-key]}]}";
    let policies = policy("SecurityPolicy", "kind: HTTPRoute, name: shop", keys);
    let (without, is_served) = ask(&policies, "http://shop.example.com/", |_| {});
    assert!(without.contains("an API key is required in the header `x-api-key`, and the request has none") && !is_served, "{without}");
    let (with, _) = ask(&policies, "http://shop.example.com/", |request| request.add_header("x-api-key", "a"));
    assert_eq!(with, "shop:8080, if its API key is one of the configured keys");
}

#[test]
fn login_ends_with_redirect() {
    let login = "oidc: {provider: {issuer: 'https://id.example.com', authorizationEndpoint: 'https://id.example.com/a', tokenEndpoint: \
                 'https://id.example.com/t'}, clientID: shop, clientSecret: {name: login}, redirectURL: 'https://shop.example.com/back'}";
    let policies = policy("SecurityPolicy", "kind: HTTPRoute, name: shop", login);
    let (sentence, _) = ask(&policies, "http://shop.example.com/back?code=1&state=2", |_| {});
    assert!(sentence.starts_with("is redirected 302 to <the URL that the client asked for before the login>"), "{sentence}");
}

#[test]
fn unknown_host_of_passthrough_needs_route() {
    let (sentence, is_served) = ask("", "https://other.example.com:8443/", |_| {});
    assert!(sentence.ends_with("port 8443 passes TLS through, and no route has this host. Add a route for it") && !is_served, "{sentence}");
}
