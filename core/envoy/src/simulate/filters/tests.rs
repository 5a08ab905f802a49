//! What the controllers' own filters do with requests.

use crate::config::EnvoyConfig;
use crate::simulate::{Gateway, Outcome, Request, Simulation};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{OptionValue, Options};
use chancery_base::resource::Inputs;
use chancery_compile::compile;

fn ask(dialect: &str, text: &str, request: &Request) -> Simulation {
    let options = Options::default().in_dialect(dialect);
    let compilation = compile(&Inputs::one("input.yaml", text), &options, crate::testing::ALL);
    let config = EnvoyConfig::of(compilation.gateways().next().expect("a gateway that runs").ir);
    Gateway::new(&config).simulate(request)
}

const LISTENER: &str = "
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http}
spec: {port: 8080, protocol: HTTP, securityModel: INSECURE, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: one}
spec: {hostname: example.com, requestPolicy: {insecure: {action: Route}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: open}
spec: {hostname: '*', prefix: /open/, service: shop, bypass_auth: true}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: shop}
spec: {hostname: '*', prefix: /shop/, service: shop}
---
";

fn get(url: &str) -> Request {
    Request::new("GET", url).expect("a request")
}

#[test]
fn unusable_auth_service_answers_500() {
    // Without a version the service would use a protocol that no Envoy supports.
    let auth = "apiVersion: getambassador.io/v3alpha1\nkind: AuthService\nmetadata: {name: auth}\nspec: {auth_service: auth, proto: grpc}\n";
    let text = format!("{LISTENER}{auth}");
    for (url, status) in [("http://example.com/shop/", Some(500)), ("http://example.com/none", Some(500)), ("http://other.org/", Some(500))] {
        let simulation = ask("ambassador", &text, &get(url));
        assert_eq!((simulation.outcome, simulation.status), (Outcome::DirectResponse, status), "{url}: {simulation:#?}");
        assert!(simulation.why.is_some_and(|why| why.contains("AuthService auth.default.1 is misconfigured")), "{url}");
    }
    let own = ask("ambassador", &text, &get("http://example.com/ambassador/v0/check_ready"));
    assert_eq!(own.outcome, Outcome::Forward, "the controller's own checks pass");
}

#[test]
fn decision_of_service_is_a_condition() {
    let text = format!(
        "{LISTENER}apiVersion: getambassador.io/v3alpha1\nkind: AuthService\nmetadata: {{name: auth}}\nspec: {{auth_service: auth, proto: grpc, protocol_version: v3}}\n"
    );
    let simulation = ask("ambassador", &text, &get("http://example.com/shop/"));
    let conditions: Vec<_> = simulation.conditions.iter().map(|of| (of.filter.as_str(), of.wants.as_str())).collect();
    assert_eq!(conditions, [("envoy.filters.http.ext_authz", "cluster_extauth_auth_default allows it")]);
    assert_eq!(simulation.outcome, Outcome::Forward, "as if it allowed it");
    for url in ["http://example.com/open/", "http://example.com/none", "http://other.org/"] {
        assert!(ask("ambassador", &text, &get(url)).conditions.is_empty(), "{url}: no other service is queried");
    }
}

#[test]
fn service_over_http_gets_few_headers() {
    let auth = "apiVersion: getambassador.io/v3alpha1\nkind: AuthService\nmetadata: {name: auth}\nspec: {auth_service: auth, path_prefix: /check}\n";
    let mut request = get("http://example.com/shop/");
    request.add_header("cookie", "a=b");
    request.add_header("x-tenant", "one");
    let simulation = ask("ambassador", &format!("{LISTENER}{auth}"), &request);
    let sent = simulation.conditions.first().and_then(|of| of.sent.as_deref()).unwrap_or_default();
    assert!(sent.starts_with("the service is asked for /check/shop/ with the host example.com; of the headers, the service gets only "), "{sent}");
    assert!(sent.ends_with("; of this request it does not get `x-tenant`"), "cookies are always sent: {sent}");
}

const PROXY: &str = "
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {ports: [{port: 80, protocol: TCP}]}
---
apiVersion: v1
kind: Secret
metadata: {name: cert, namespace: default}
type: kubernetes.io/tls
data: {tls.crt: CERTIFICATE, tls.key: KEY}
---
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: one, namespace: default}
spec:
  virtualhost: {fqdn: one.example.com, tls: {secretName: cert}}
  routes:
    - services: [{name: web, port: 80}]
      ipAllowPolicy: [{source: Peer, cidr: 10.0.0.0/8}]
";

fn proxy() -> String {
    use base64::Engine as _;
    let encoded = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    let certificate = include_str!("../../../../tests/envoy/certificate.pem");
    let key = include_str!("../../../../tests/envoy/key.pem");
    PROXY.replace("CERTIFICATE", &encoded(certificate)).replace("KEY", &encoded(key))
}

#[test]
fn host_other_than_sni_is_misdirected() {
    let ask = |url: &str, sni: &str| {
        let mut request = get(url);
        request.sni = Some(sni.into());
        ask("contour", &proxy(), &request)
    };
    for url in ["https://other.example.com/", "https://none.org/x"] {
        let simulation = ask(url, "one.example.com");
        assert_eq!(
            (simulation.outcome, simulation.status),
            (Outcome::DirectResponse, Some(421)),
            "{url}: also if no virtual host has the name: {simulation:#?}"
        );
    }
    assert_ne!(ask("https://ONE.example.com:8443/", "one.example.com").status, Some(421));
}

#[test]
fn known_addresses_decide_policies() {
    let from = |source: Option<&str>| {
        let mut request = get("https://one.example.com/");
        request.source = source.and_then(|source| source.parse().ok());
        ask("contour", &proxy(), &request)
    };
    assert_eq!(from(Some("10.1.2.3")).outcome, Outcome::Forward);
    assert_eq!(from(Some("192.0.2.1")).status, Some(403));
    let open = from(None);
    assert_eq!((open.outcome, open.conditions.first().and_then(|of| of.otherwise)), (Outcome::Forward, Some(403)));
}

#[test]
fn grpc_clients_get_answers_with_200() {
    let mut request = get("http://example.com/none");
    request.add_header("content-type", "application/grpc");
    let simulation = ask("ambassador", LISTENER, &request);
    assert_eq!((simulation.status, simulation.grpc_status), (Some(200), Some(12)));
}

/// Simulates a request to a proxy of Consul from a client with a certificate.
fn ask_sidecar(documents: &[&str], proxy: &str, client: Option<&str>, request: &mut Request) -> Simulation {
    let options = Options::default().in_dialect("consul").with("default-policy", OptionValue::Text("deny".into()));
    let compilation = compile(&Inputs::one("input.yaml", documents.join("---\n")), &options, crate::testing::ALL);
    let gateway = compilation.gateways().find(|gateway| gateway.id.as_str() == proxy).expect("the proxy");
    request.tls = true;
    request.client_certificate = true;
    request.identity = client.map(|name| format!("spiffe://11111111-2222-3333-4444-555555555555.consul/ns/default/dc/dc1/svc/{name}"));
    Gateway::new(&EnvoyConfig::of(gateway.ir)).simulate(request)
}

const ORDERS: &str = "service: {name: orders, port: 9090, connect: {sidecar_service: {port: 21000}}}\n";
const HTTP: &str = "{Kind: proxy-defaults, Name: global, Config: {protocol: http}}\n";

fn wants(simulation: &Simulation) -> Vec<&str> {
    simulation.conditions.iter().filter(|of| of.filter.ends_with("rbac")).map(|of| of.wants.as_str()).collect()
}

#[test]
fn a_request_without_a_token_has_no_claims() {
    let provider = "{Kind: jwt-provider, Name: okta, Issuer: https://okta, JSONWebKeySet: {Local: {JWKS: eyJrZXlzIjpbXX0=}}}\n";
    let intentions = "{Kind: service-intentions, Name: orders, JWT: {Providers: [{Name: okta, VerifyClaims: [{Path: [role], Value: admin}]}]}, \
                      Sources: [{Name: web, Action: allow}]}\n";
    let documents = [HTTP, provider, intentions, ORDERS];
    let ask = |client: Option<&str>, token: Option<&str>| {
        let mut request = get("https://orders:21000/");
        if let Some(token) = token {
            request.add_header("authorization", &format!("Bearer {token}"));
        }
        ask_sidecar(&documents, "orders-sidecar-proxy", client, &mut request)
    };
    for token in [None, Some("nonsense")] {
        let simulation = ask(Some("web"), token);
        let why = simulation.why.clone().unwrap_or_default();
        assert_eq!((simulation.outcome, simulation.status), (Outcome::DirectResponse, Some(403)), "{simulation:#?}");
        assert!(why.ends_with("/svc/web$ and with a token of okta whose claim role is admin only"), "{why}");
    }
    let open = ask(Some("web"), Some("eyJ9.eyJ9.sig"));
    assert_eq!(open.outcome, Outcome::Forward);
    assert!(wants(&open).iter().all(|wants| wants.contains("a token of okta whose claim role is admin")) && wants(&open).len() == 1, "{open:#?}");
    assert_eq!(ask(Some("bad"), Some("eyJ9.eyJ9.sig")).status, Some(403), "a token does not help another client");
}

#[test]
fn a_denial_names_what_is_permitted_too() {
    let intentions = "{Kind: service-intentions, Name: orders, Sources: [{Name: web, Permissions: [{Action: allow, HTTP: {PathPrefix: /, Methods: [GET, HEAD]}}]}]}\n";
    let mut request = Request::new("PUT", "https://orders:21000/").expect("a request");
    let simulation = ask_sidecar(&[HTTP, intentions, ORDERS], "orders-sidecar-proxy", Some("web"), &mut request);
    let why = simulation.why.clone().unwrap_or_default();
    assert_eq!(simulation.status, Some(403));
    assert!(why.starts_with("no policy allows it: GET, HEAD by clients with a certificate for regex "), "{why}");
    let but = "{Kind: service-intentions, Name: orders, Sources: [{Name: web, Permissions: [{Action: deny, HTTP: {PathPrefix: /, Methods: [DELETE]}}, \
               {Action: allow, HTTP: {PathPrefix: /orders}}]}]}\n";
    let mut request = Request::new("DELETE", "https://orders:21000/orders").expect("a request");
    let simulation = ask_sidecar(&[HTTP, but, ORDERS], "orders-sidecar-proxy", Some("web"), &mut request);
    let why = simulation.why.clone().unwrap_or_default();
    assert!(why.starts_with("no policy allows it: (path prefix /orders, but not DELETE) by clients with a certificate for regex "), "{why}");
    let known = ask_sidecar(&[HTTP, intentions, ORDERS], "orders-sidecar-proxy", None, &mut get("https://orders:21000/"));
    let [wants] = wants(&known)[..] else { panic!("{known:#?}") };
    assert!(wants.starts_with("its policy allows clients with a certificate for regex "), "the method is known to fit: {wants}");
}

#[test]
fn policy_text_keeps_exclusions() {
    use crate::emit::pb::rbac::{Policy, Principal, principal::Identifier, principal::Set};
    use crate::simulate::filters::policy_text::{Named, words};
    let of = |identifier| Principal { identifier: Some(identifier) };
    let named = |name: &str| {
        use crate::emit::pb::{matcher, rbac::principal::Authenticated};
        let matcher = matcher::StringMatcher { match_pattern: Some(matcher::string_matcher::MatchPattern::Exact(name.into())), ..Default::default() };
        of(Identifier::Authenticated(Authenticated { principal_name: Some(matcher) }))
    };
    let not = |principal| of(Identifier::NotId(principal));
    let all = |ids| of(Identifier::AndIds(Set { ids }));
    let any = |ids| of(Identifier::OrIds(Set { ids }));
    let simulation = |principal| {
        let policy = Policy { principals: [principal].into(), ..Policy::default() };
        words([Named { policy: &policy, is_permitted: true }].into_iter(), &[])
    };
    let anyone = || of(Identifier::Any(true));
    assert_eq!(simulation(anyone()), "any client");
    assert_eq!(simulation(all([anyone(), not(named("web").into())].into())), "any client but those with a certificate for exact web");
    assert_eq!(
        simulation(all([any([named("a"), named("b")].into()), not(named("web").into())].into())),
        "clients (with a certificate for exact a, exact b), but not with a certificate for exact web"
    );
    assert_eq!(simulation(any([named("b"), named("a")].into())), "clients with a certificate for exact a, exact b");
}
