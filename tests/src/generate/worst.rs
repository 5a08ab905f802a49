//! Generates inputs that are large in one dimension only: a host with all routes, a chain of inclusions, one long object.
//!
//! Does not measure them; see `bench growth`.

use super::mappings;
use std::fmt::Write as _;

/// An input that grows in one dimension.
pub struct WorstCase {
    /// What grows, as a number and a noun: `20,000 routes of one host`.
    pub name: &'static str,
    /// The largest measured size; a quarter and a half of it are measured, too.
    pub most: usize,
    pub generate: fn(usize) -> String,
}

/// All worst cases.
pub const ALL: [WorstCase; 12] = [
    WorstCase { name: "20,000 routes of one host", most: 20_000, generate: one_host },
    WorstCase { name: "5,000 hosts with one route each", most: 5_000, generate: hosts },
    WorstCase { name: "10,000 regular expressions", most: 10_000, generate: expressions },
    WorstCase { name: "48 levels of inclusion with 50 routes each", most: 48, generate: inclusions },
    WorstCase { name: "2,000 listeners", most: 2_000, generate: listeners },
    WorstCase { name: "a discovery chain of 500 nodes", most: 500, generate: chain },
    WorstCase { name: "one object of 5 MB", most: 50_000, generate: one_object },
    WorstCase { name: "30,000 Secrets", most: 30_000, generate: secrets },
    WorstCase { name: "2,000 HTTPProxies with one include each", most: 2_000, generate: included },
    WorstCase { name: "2,000 Ingresses of AGIC with one host each", most: 2_000, generate: ingresses },
    WorstCase { name: "2,000 Gateways of Envoy Gateway", most: 2_000, generate: gateways },
    WorstCase { name: "2,000 service-intentions", most: 2_000, generate: intentions },
];

const LISTENER: &str = "---\napiVersion: getambassador.io/v3alpha1\nkind: Listener\nmetadata: {name: http, namespace: default}\n\
    spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}\n";

fn mapping(number: usize, spec: &str) -> String {
    format!("---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: item-{number}, namespace: default}}\nspec: {{{spec}}}\n")
}

fn one_host(count: usize) -> String {
    let route = |number| mapping(number, &format!("hostname: shop.example.com, prefix: /item/{number}/, service: item-{}", number % 100));
    LISTENER.to_owned() + &(0..count).map(route).collect::<String>()
}

fn hosts(count: usize) -> String {
    let host = |number: usize| {
        format!(
            "---\napiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {{name: shop-{number}, namespace: default}}\n\
             spec: {{hostname: shop{number}.example.com, requestPolicy: {{insecure: {{action: Route}}}}}}\n{}",
            mapping(number, &format!("hostname: shop{number}.example.com, prefix: /, service: item-{}", number % 100))
        )
    };
    LISTENER.to_owned() + &(0..count).map(host).collect::<String>()
}

fn expressions(count: usize) -> String {
    let route =
        |number| mapping(number, &format!("hostname: '*', prefix: '/item/{number}/[0-9]+(/.*)?', prefix_regex: true, rewrite: '', service: item"));
    LISTENER.to_owned() + &(0..count).map(route).collect::<String>()
}

fn inclusions(depth: usize) -> String {
    let mut text = String::from("---\napiVersion: v1\nkind: Service\nmetadata: {name: item, namespace: default}\nspec: {ports: [{port: 80}]}\n");
    for level in 0..depth {
        let _ =
            writeln!(text, "---\napiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: level-{level}, namespace: default}}\nspec:");
        if level == 0 {
            text.push_str("  virtualhost: {fqdn: shop.example.com}\n");
        }
        if level + 1 < depth {
            let _ = writeln!(text, "  includes: [{{name: level-{}, conditions: [{{prefix: /l}}]}}]", level + 1);
        }
        text.push_str("  routes:\n");
        for number in 0..50 {
            let _ = writeln!(text, "  - {{conditions: [{{prefix: /item/{number}}}], services: [{{name: item, port: 80}}]}}");
        }
    }
    text
}

fn listeners(count: usize) -> String {
    let listener = |number: usize| {
        format!(
            "---\napiVersion: getambassador.io/v3alpha1\nkind: Listener\nmetadata: {{name: http-{number}, namespace: default}}\n\
             spec: {{port: {}, protocol: HTTP, securityModel: XFP, hostBinding: {{namespace: {{from: ALL}}}}}}\n",
            10_000 + number
        )
    };
    (0..count).map(listener).collect::<String>() + &mapping(0, "hostname: '*', prefix: /, service: item")
}

/// A router of one service leads to all other services; each has a resolver.
fn chain(count: usize) -> String {
    let mut text = String::from(
        "Kind: proxy-defaults\nName: global\nConfig: {protocol: http}\n---\nKind: ingress-gateway\nName: ingress\n\
         Listeners: [{Port: 8080, Protocol: http, Services: [{Name: shop, Hosts: ['*']}]}]\n---\nKind: service-router\nName: shop\nRoutes:\n",
    );
    for number in 0..count {
        let _ = writeln!(text, "- {{Match: {{HTTP: {{PathPrefix: /item/{number}/}}}}, Destination: {{Service: item-{number}}}}}");
    }
    for number in 0..count {
        let _ = write!(text, "---\nKind: service-resolver\nName: item-{number}\nConnectTimeout: 7s\n");
    }
    text
}

/// About 100 bytes for each route.
fn one_object(routes: usize) -> String {
    let mut text = String::from(
        "---\napiVersion: v1\nkind: Service\nmetadata: {name: item, namespace: default}\nspec: {ports: [{port: 80}]}\n---\n\
         apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: shop, namespace: default}\nspec:\n  \
         virtualhost: {fqdn: shop.example.com}\n  routes:\n",
    );
    for number in 0..routes {
        let _ = writeln!(
            text,
            "  - {{conditions: [{{prefix: /departments/{number:08}/items}}], services: [{{name: item, port: 80}}], permitInsecure: true}}"
        );
    }
    text
}

fn service(number: usize) -> String {
    format!("---\napiVersion: v1\nkind: Service\nmetadata: {{name: item-{number}, namespace: default}}\nspec: {{ports: [{{port: 80}}]}}\n")
}

fn included(count: usize) -> String {
    let pair = |number: usize| {
        format!(
            "---\napiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: shop-{number}, namespace: default}}\nspec:\n  \
             virtualhost: {{fqdn: shop{number}.example.com}}\n  includes: [{{name: items-{number}, conditions: [{{prefix: /items}}]}}]\n\
             ---\napiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: items-{number}, namespace: default}}\nspec:\n  \
             routes: [{{conditions: [{{prefix: /new}}], services: [{{name: item-{number}, port: 80}}]}}]\n{}",
            service(number)
        )
    };
    (0..count).map(pair).collect()
}

fn ingresses(count: usize) -> String {
    let pair = |number: usize| {
        format!(
            "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: shop-{number}, namespace: default}}\nspec:\n  \
             ingressClassName: azure-application-gateway\n  rules:\n  - host: shop{number}.example.com\n    \
             http: {{paths: [{{path: /, pathType: Prefix, backend: {{service: {{name: item-{number}, port: {{number: 80}}}}}}}}]}}\n{}",
            service(number)
        )
    };
    (0..count).map(pair).collect()
}

fn gateways(count: usize) -> String {
    let class = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: eg}\n\
        spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}\n";
    let one = |number: usize| {
        format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: shop-{number}, namespace: default}}\n\
             spec: {{gatewayClassName: eg, listeners: [{{name: http, port: 80, protocol: HTTP}}]}}\n\
             ---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: shop-{number}, namespace: default}}\nspec:\n  \
             parentRefs: [{{name: shop-{number}}}]\n  rules: [{{backendRefs: [{{name: item-{number}, port: 80}}]}}]\n{}",
            service(number)
        )
    };
    class.to_owned() + &(0..count).map(one).collect::<String>()
}

fn intentions(count: usize) -> String {
    let one = |number: usize| {
        format!(
            "---\nKind: service-intentions\nName: item-{number}\nSources: [{{Name: item-{}, Action: allow}}]\n\
             ---\nKind: service-defaults\nName: item-{number}\nProtocol: http\n",
            (number + 1) % count
        )
    };
    (0..count).map(one).collect()
}

fn secrets(count: usize) -> String {
    let secret = |number: usize| {
        format!(
            "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: secret-{number}, namespace: default}}\ntype: Opaque\ndata: {{value: aXRlbQ==}}\n"
        )
    };
    mappings(100, 7) + &(0..count).map(secret).collect::<String>()
}
