//! Tests the objects that the command line assumes, and empty inputs.

use crate::Folder;

/// One HTTPProxy, whose Service and Secret are missing.
const FRAGMENT: &str = "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: shop}\nspec:\n  virtualhost: {fqdn: shop.example.com, tls: {secretName: cert}}\n  routes:\n  - services: [{name: shop, port: 80}]\n";

#[test]
fn fragments_assume_missing_objects_but_clusters_do_not() {
    let folder = Folder::with(&[("shop.yaml", FRAGMENT)]);
    let fragment = folder.run(&["check", "shop.yaml"]);
    assert_eq!(fragment.code, 0, "{}", fragment.out);
    assert_eq!(fragment.out.matches("is assumed to exist").count(), 2, "{}", fragment.out);
    let route = folder.run(&["route", "https://shop.example.com/", "shop.yaml"]);
    assert!(route.out.contains("cluster default/shop/80"), "{}", route.out);
    let whole = folder.run(&["check", "--missing", "error", "shop.yaml"]);
    assert!(whole.code == 1 && whole.out.contains("Secret not found") && !whole.out.contains("assumed"), "{}", whole.out);
}

#[test]
fn nothing_that_is_assumed_is_served() {
    let folder = Folder::with(&[("shop.yaml", FRAGMENT)]);
    for missing in ["auto", "assume"] {
        let run = folder.run(&["serve", "--missing", missing, "shop.yaml"]);
        assert!(run.code == 2 && run.err.contains("nothing may be assumed"), "{} {}", run.out, run.err);
    }
}

#[test]
fn a_removed_secret_is_not_assumed() {
    let secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: cert}\ntype: Opaque\ndata: {}\n";
    let folder = Folder::with(&[
        ("before.yaml", &format!("{FRAGMENT}{secret}")),
        ("after.yaml", FRAGMENT),
        ("other.yaml", &FRAGMENT.replace("name: shop,", "name: cart,")),
    ]);
    let run = folder.run(&["diff", "--format", "json", "before.yaml", "after.yaml"]);
    let diff: serde_json::Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{} {}", run.out, run.err));
    assert_eq!(diff["envoy"].as_array().map(Vec::len), Some(0), "neither side has a usable Secret: {diff:#}");
    let run = folder.run(&["diff", "--exit-code", "after.yaml", "other.yaml"]);
    assert_eq!(run.code, 1, "two fragments: {}", run.out);
}

#[test]
fn empty_input_is_refused_with_complete_document() {
    let folder = Folder::with(&[("empty.yaml", "# nothing\n")]);
    let run = folder.run(&["check", "--format", "json", "empty.yaml"]);
    assert_eq!((run.code, run.out.trim()), (2, "{\n  \"diagnostics\": []\n}"), "{}", run.err);
    assert!(run.err.contains("there is no resource in empty.yaml"), "{}", run.err);
    assert_eq!(folder.run(&["check", "--allow-empty", "empty.yaml"]).code, 0);
    std::fs::create_dir(folder.0.path().join("none")).expect("a folder");
    assert_eq!((folder.run(&["check", "none"]).code, folder.run(&["check", "--allow-empty", "none"]).code), (2, 0));
}

#[test]
fn route_reports_values_that_envoy_rejects() {
    let folder = Folder::with(&[(
        "shop.yaml",
        "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: shop}\n\
         spec: {hostname: shop.example.com, prefix: /, service: shop, add_request_headers: {x-share: {value: '100%'}}}\n",
    )]);
    let route = folder.run(&["route", "http://shop.example.com/", "shop.yaml"]);
    assert!(
        route.err.ends_with(
            "chancery: Envoy would reject this configuration (1 value); a running gateway keeps its previous one; `chancery check` shows it\n"
        ),
        "{}",
        route.err
    );
}

/// A Gateway with a route to a Service. The input lacks this Service, and has another one.
const SHOP: &str = "apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: web, namespace: shop}
spec: {gatewayClassName: eg, listeners: [{name: http, protocol: HTTP, port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: shop}
spec:
  parentRefs: [{name: web}]
  hostnames: [HOST]
  rules:
  - backendRefs: [{name: forgejo-http, port: 3000}]
---
apiVersion: v1
kind: Service
metadata: {name: other, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: forgejo, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: forgejo-web}]
  timeout: {http: {requestTimeout: 5s}}
";

#[test]
fn charts_may_create_missing_services_and_routes() {
    let shop = SHOP.replace("HOST", "shop.example.com");
    let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: forgejo, namespace: shop}\nspec: {interval: 1h}\n";
    let folder = Folder::with(&[("in/shop.yaml", shop.as_str()), ("in/forgejo.yaml", release), ("bare/shop.yaml", shop.as_str())]);
    let bare = folder.run(&["check", "bare"]);
    assert!(bare.code == 1 && bare.out.contains("error[route-unresolved]"), "{}", bare.out);
    let run = folder.run(&["check", "in"]);
    assert_eq!(run.code, 0, "{}", run.out);
    for missing in ["Service `forgejo-http`", "HTTPRoute `forgejo-web`"] {
        let notice = format!("the {missing} (shop) is not in the input; HelmRelease `forgejo` (shop) may create it");
        assert!(run.out.contains(&notice), "{}", run.out);
    }
    assert!(!run.out.contains("warning["), "{}", run.out);
    let whole = folder.run(&["check", "--missing", "error", "in"]);
    assert!(whole.out.contains("error[route-unresolved]") && whole.out.contains("warning[policy-without-target]"), "{}", whole.out);
    // The name of a written Service is probably meant.
    folder.write("in/shop.yaml", shop.replace("name: other", "name: forgejo-htp").as_bytes());
    assert!(folder.run(&["check", "in"]).out.contains("error[route-unresolved]"));
}

#[test]
fn unsubstituted_variables_are_reported_once() {
    let shop =
        SHOP.replace("HOST", "'${APP}.${DOMAIN}', '${DOMAIN}'").replace("name: web, namespace", "name: web, annotations: {a: '${APP}'}, namespace");
    let folder = Folder::with(&[("shop.yaml", shop.as_str())]);
    let run = folder.run(&["check", "shop.yaml"]);
    let message = "variables such as `${APP}` are not substituted, so Kubernetes refuses this value and 1 more";
    assert_eq!(run.out.matches("are not substituted").count(), 1, "{}", run.out);
    assert!(run.out.contains(message) && run.out.contains("envsubst < FILE"), "{}", run.out);
    assert!(!run.out.contains("must match"), "{}", run.out);
}
