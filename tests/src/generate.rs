//! Generates configurations of any size that resemble those of a platform team. The same arguments always give the same text.
//!
//! Does not measure; see `bench`.

mod mesh;
pub mod worst;

pub use mesh::mesh;

use crate::chance::Chance;
use std::fmt::Write as _;

/// The number of hosts that share the Mappings or HTTPProxies.
const HOSTS: usize = 12;

/// Generates Listeners for HTTP and HTTPS, a reference to a missing certificate, Hosts, and this many Mappings: plain ones, regexes, exact
/// paths, headers, query parameters, methods, canaries, rewrites, timeouts, retries, CORS.
pub fn mappings(count: usize, seed: u64) -> String {
    documents(count, seed).concat()
}

/// Generates the same as separate documents.
pub fn documents(count: usize, seed: u64) -> Vec<String> {
    let mut chance = Chance::new(seed ^ count as u64);
    let mut documents = Vec::with_capacity(count + HOSTS + 2);
    for (name, port, protocol) in [("http", 8080, "HTTP"), ("https", 8443, "HTTPS")] {
        documents.push(format!(
            "---\napiVersion: getambassador.io/v3alpha1\nkind: Listener\nmetadata: {{name: {name}, namespace: default}}\nspec:\n  port: {port}\n  \
             protocol: {protocol}\n  securityModel: XFP\n  hostBinding: {{namespace: {{from: ALL}}}}\n"
        ));
    }
    for host in 0..HOSTS {
        let action = ["Redirect", "Route", "Reject"][host % 3];
        documents.push(format!(
            "---\napiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {{name: shop-{host}, namespace: default}}\nspec:\n  \
             hostname: shop{host}.example.com\n  requestPolicy: {{insecure: {{action: {action}}}}}\n"
        ));
    }
    let mut before: Option<(String, usize)> = None;
    for number in 0..count {
        let mut text =
            format!("---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata:\n  name: item-{number}\n  namespace: default\nspec:\n");
        match before.take().filter(|_| chance.percent(25)) {
            Some((matcher, of)) => {
                let weight = chance.pick(&[5, 10, 25, 50]);
                let _ = writeln!(text, "{matcher}  service: item-{of}-next\n  weight: {weight}");
            }
            None => {
                let matcher = matcher(number, &mut chance);
                let scheme = if chance.percent(10) { "https://" } else { "" };
                let _ = writeln!(
                    text,
                    "{matcher}  service: {scheme}item-{}{}",
                    chance.below(count.max(2) / 2),
                    chance.pick(&["", ":8080", ".shop", ".shop:9000"])
                );
                before = Some((matcher, number));
            }
        }
        settings(&mut text, &mut chance);
        documents.push(text);
    }
    documents
}

fn matcher(number: usize, chance: &mut Chance) -> String {
    let mut text = format!("  hostname: shop{}.example.com\n", number % HOSTS);
    let _ = match chance.below(10) {
        0 => writeln!(text, "  prefix: \"/item/{number}/[0-9]+/.*\"\n  prefix_regex: true\n  rewrite: \"\""),
        1 => writeln!(text, "  prefix: /item/{number}\n  prefix_exact: true"),
        _ => writeln!(text, "  prefix: /{}/{number}/", chance.pick(&["item", "api", "v2/api", "shop"])),
    };
    if chance.percent(15) {
        let _ = writeln!(text, "  method: {}", chance.pick(&["GET", "POST", "DELETE"]));
    }
    if chance.percent(15) {
        let _ = writeln!(text, "  headers:\n    x-customer: c{}", chance.below(7));
    }
    if chance.percent(8) {
        text.push_str("  regex_headers:\n    x-version: \"v[0-9]+\"\n");
    }
    if chance.percent(8) {
        let _ = writeln!(text, "  query_parameters:\n    page: \"{}\"", chance.below(9));
    }
    if chance.percent(5) {
        let _ = writeln!(text, "  precedence: {}", 1 + chance.below(9));
    }
    text
}

fn settings(text: &mut String, chance: &mut Chance) {
    if chance.percent(20) {
        let _ = writeln!(text, "  timeout_ms: {}", chance.pick(&[1000, 5000, 20_000]));
    }
    if chance.percent(10) {
        text.push_str("  cors:\n    origins: [\"https://shop.example.com\"]\n    methods: [GET, POST]\n    max_age: \"600\"\n");
    }
    if chance.percent(15) {
        let _ = writeln!(text, "  retry_policy:\n    retry_on: 5xx\n    num_retries: {}", 1 + chance.below(4));
    }
    if chance.percent(15) {
        let _ = writeln!(text, "  add_request_headers:\n    x-from:\n      value: gateway{}\n      append: false", chance.below(5));
    }
}

/// Generates a root HTTPProxy for each host, which includes its share of this many HTTPProxies, and their Services. Features are as frequent as
/// in the Mappings.
pub fn proxies(count: usize, seed: u64) -> Vec<String> {
    let mut chance = Chance::new(seed ^ count as u64);
    let services = count.max(2) / 2;
    let mut documents = Vec::with_capacity(count + HOSTS + services);
    for host in 0..HOSTS {
        let mut text = format!(
            "---\napiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: shop-{host}, namespace: default}}\nspec:\n  \
             virtualhost: {{fqdn: shop{host}.example.com}}\n  includes:\n"
        );
        for number in (host..count).step_by(HOSTS) {
            let _ = writeln!(text, "  - name: item-{number}");
        }
        if host < count {
            documents.push(text);
        }
    }
    for number in 0..services {
        documents.push(format!(
            "---\napiVersion: v1\nkind: Service\nmetadata: {{name: item-{number}, namespace: default}}\nspec: {{ports: [{{name: \
             http, port: 80}}, {{name: other, port: 8080}}]}}\n"
        ));
    }
    for number in 0..count {
        let mut text = format!(
            "---\napiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata:\n  name: item-{number}\n  namespace: default\nspec:\n  routes:\n"
        );
        conditions(&mut text, number, &mut chance);
        let service = chance.below(services);
        let _ = writeln!(text, "    services:\n    - name: item-{service}\n      port: {}", chance.pick(&[80, 8080]));
        if chance.percent(25) {
            let weight = chance.pick(&[5, 10, 25, 50]);
            let _ = writeln!(
                text,
                "      weight: {}\n    - name: item-{}\n      port: 80\n      weight: {weight}",
                100 - weight,
                (service + 1) % services
            );
        }
        policies(&mut text, &mut chance);
        documents.push(text);
    }
    documents
}

/// Generates an IngressClass, a reference to a missing certificate, this many Ingresses on separate or shared hosts, and their Services and
/// Endpoints: a typical configuration of one Application Gateway.
pub fn ingresses(count: usize, seed: u64) -> Vec<String> {
    let mut chance = Chance::new(seed ^ count as u64);
    let services = count.max(2) / 2;
    let mut documents = Vec::with_capacity(count + 2 * services + 1);
    documents.push(
        "---\napiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: azure-application-gateway}\nspec: {controller: \
         azure/application-gateway}\n"
            .to_owned(),
    );
    for number in 0..services {
        documents.push(format!(
            "---\napiVersion: v1\nkind: Service\nmetadata: {{name: item-{number}, namespace: default}}\nspec: {{ports: [{{name: http, port: 80, \
             targetPort: 8080}}, {{name: other, port: 9090}}]}}\n"
        ));
        let address = format!("10.{}.{}.{}", number / 62_500, number / 250 % 250, number % 250 + 1);
        documents.push(format!(
            "---\napiVersion: v1\nkind: Endpoints\nmetadata: {{name: item-{number}, namespace: default}}\nsubsets:\n- addresses: [{{ip: \
             {address}}}]\n  ports: [{{name: http, port: 8080}}, {{name: other, port: 9090}}]\n"
        ));
    }
    for number in 0..count {
        documents.push(ingress(number, services, &mut chance));
    }
    documents
}

/// Generates a Gateway of Envoy Gateway, and this many HTTPRoutes with their Services and EndpointSlices: ten routes for each host, some with a
/// header, a split or a timeout.
pub fn gateway_routes(count: usize, seed: u64) -> Vec<String> {
    let mut chance = Chance::new(seed ^ count as u64);
    let mut documents = vec![
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: eg}\n\
         spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}\n---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\n\
         metadata: {name: web, namespace: default}\nspec: {gatewayClassName: eg, listeners: [{name: http, protocol: HTTP, port: 80}]}\n"
            .to_owned(),
    ];
    for number in 0..count {
        documents.push(format!(
            "---\napiVersion: v1\nkind: Service\nmetadata: {{name: item-{number}, namespace: default}}\n\
             spec: {{clusterIP: 10.96.{}.{}, ports: [{{name: http, port: 80, targetPort: 8080}}]}}\n---\n\
             apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n\
             metadata: {{name: item-{number}-1, namespace: default, labels: {{kubernetes.io/service-name: item-{number}}}}}\n\
             addressType: IPv4\nports: [{{name: http, port: 8080, protocol: TCP}}]\n\
             endpoints: [{{addresses: [10.{}.{}.1], conditions: {{ready: true}}}}]\n",
            number / 250,
            number % 250,
            number / 250,
            number % 250
        ));
    }
    for number in 0..count {
        let mut text = format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: item-{number}, namespace: default}}\nspec:\n  \
             parentRefs: [{{name: web}}]\n  hostnames: [shop{}.example.com]\n  rules:\n",
            number / 10
        );
        let header = if chance.percent(30) { ", headers: [{name: x-customer, value: c1}]" } else { "" };
        let split = if chance.percent(25) { format!(", {{name: item-{}, port: 80, weight: 10}}", (number + 1) % count) } else { String::new() };
        let timeout = if chance.percent(20) { "    timeouts: {request: 5s}\n" } else { "" };
        let _ = write!(
            text,
            "  - matches: [{{path: {{type: PathPrefix, value: /item/{number}}}{header}}}]\n    \
             backendRefs: [{{name: item-{number}, port: 80, weight: 90}}{split}]\n{timeout}"
        );
        documents.push(text);
    }
    documents
}

/// Annotations of ingress-nginx that are common, each with a value.
const NGINX_ANNOTATIONS: [&str; 8] = [
    "proxy-read-timeout: '120'",
    "proxy-body-size: 10m",
    "enable-cors: 'true'",
    "whitelist-source-range: 10.0.0.0/8",
    "ssl-redirect: 'false'",
    "proxy-connect-timeout: '10'",
    "backend-protocol: HTTP",
    "custom-headers: default/headers",
];

/// Generates an IngressClass, and this many Ingresses of ingress-nginx with their Services: two Ingresses for each host, all with TLS, half of them
/// with an annotation.
pub fn nginx_ingresses(count: usize, seed: u64) -> Vec<String> {
    let mut chance = Chance::new(seed ^ count as u64);
    let class = "---\napiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: nginx}\nspec: {controller: k8s.io/ingress-nginx}\n";
    let mut documents = vec![class.to_owned()];
    for number in 0..count {
        let host = format!("shop{}.example.com", number / 2);
        let path = if number % 2 == 0 { "/".to_owned() } else { format!("/api{}", number % 7) };
        let name = chance.pick(&NGINX_ANNOTATIONS);
        let annotation = if chance.percent(50) { String::new() } else { format!(", annotations: {{nginx.ingress.kubernetes.io/{name}}}") };
        documents.push(format!(
            "---\napiVersion: v1\nkind: Service\nmetadata: {{name: item-{number}, namespace: default}}\nspec: {{ports: [{{port: 80}}]}}\n\
             ---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: item-{number}, namespace: default{annotation}}}\nspec:\n  \
             ingressClassName: nginx\n  tls: [{{hosts: [{host}], secretName: shop}}]\n  rules:\n  - host: {host}\n    http:\n      paths:\n      \
             - {{path: {path}, pathType: Prefix, backend: {{service: {{name: item-{number}, port: {{number: 80}}}}}}}}\n"
        ));
    }
    documents
}

fn ingress(number: usize, services: usize, chance: &mut Chance) -> String {
    const PREFIX: &str = "appgw.ingress.kubernetes.io";
    let mut text = format!(
        "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: item-{number}\n  namespace: default\n  annotations:\n    \
         kubernetes.io/ingress.class: azure/application-gateway\n"
    );
    for (percent, line) in [
        (20, "request-timeout: \"20\""),
        (10, "cookie-based-affinity: \"true\""),
        (10, "connection-draining: \"true\""),
        (15, "health-probe-path: /healthz"),
        (10, "backend-path-prefix: /"),
    ] {
        if chance.percent(percent) {
            let _ = writeln!(text, "    {PREFIX}/{line}");
        }
    }
    // Most Ingresses have a separate host, some share one.
    let host = if chance.percent(20) { format!("shop{}.example.com", number % HOSTS) } else { format!("item{number}.example.com") };
    let _ = writeln!(text, "spec:\n  rules:\n  - host: {host}\n    http:\n      paths:");
    for at in 0..=chance.below(2) {
        let root = chance.pick(&["item", "api", "v2/api", "shop"]);
        let _ = writeln!(
            text,
            "      - path: /{root}/{number}/{at}/\n        pathType: {}\n        backend: {{service: {{name: item-{}, port: {{number: {}}}}}}}",
            chance.pick(&["Prefix", "Prefix", "Exact"]),
            chance.below(services),
            chance.pick(&[80, 9090])
        );
    }
    text
}

fn conditions(text: &mut String, number: usize, chance: &mut Chance) {
    let _ = match chance.below(10) {
        0 => writeln!(text, "  - conditions:\n    - regex: \"/item/{number}/[0-9]+/.*\""),
        1 => writeln!(text, "  - conditions:\n    - exact: /item/{number}"),
        _ => writeln!(text, "  - conditions:\n    - prefix: /{}/{number}/", chance.pick(&["item", "api", "v2/api", "shop"])),
    };
    if chance.percent(15) {
        let _ = writeln!(text, "    - header: {{name: \":method\", exact: {}}}", chance.pick(&["GET", "POST", "DELETE"]));
    }
    if chance.percent(15) {
        let _ = writeln!(text, "    - header: {{name: x-customer, exact: c{}}}", chance.below(7));
    }
    if chance.percent(8) {
        text.push_str("    - header: {name: x-version, regex: \"v[0-9]+\"}\n");
    }
    if chance.percent(8) {
        let _ = writeln!(text, "    - queryParameter: {{name: page, exact: \"{}\"}}", chance.below(9));
    }
}

fn policies(text: &mut String, chance: &mut Chance) {
    if chance.percent(20) {
        let _ = writeln!(text, "    timeoutPolicy:\n      response: {}", chance.pick(&["1s", "5s", "20s"]));
    }
    if chance.percent(15) {
        let _ = writeln!(text, "    retryPolicy:\n      count: {}", 1 + chance.below(4));
    }
    if chance.percent(15) {
        let _ = writeln!(text, "    requestHeadersPolicy:\n      set:\n      - name: x-from\n        value: gateway{}", chance.below(5));
    }
}
