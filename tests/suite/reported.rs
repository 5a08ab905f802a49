//! Checks the description of a change by `diff`: which requests it names, where they go, and which requests it excludes.
//!
//! Does not check that `diff` finds every change; see `honest`.

use crate::missing;
use chancery_core::backend::envoy::{self, v3};
use chancery_core::compare::{RequestChange, RequestOptions, RequestPlace, Requests, Side, SideSource, compare_envoy, requests};
use chancery_core::envoy_config::EnvoyConfig;

const SHOP: &str = "\
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: shop}
spec: {hostname: shop.example.com, requestPolicy: {insecure: {action: Route}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: web}
spec: {hostname: shop.example.com, prefix: /, service: web}
";

/// Returns a TLS listener, a host, and a route for the whole host or for a wildcard that matches it.
fn pay(host: &str, condition: &str) -> String {
    format!(
        "---
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {{name: https}}
spec: {{port: 8443, protocol: HTTPS, securityModel: XFP, hostBinding: {{namespace: {{from: ALL}}}}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {{name: pay}}
spec: {{hostname: {host}, tlsSecret: {{name: pay-tls}}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {{name: pay}}
spec: {{hostname: pay.example.com, prefix: /pay/, service: pay{condition}}}
"
    )
}

/// Compares two inputs, with missing resources assumed.
fn compared_texts<T>(dialect: &str, texts: [&str; 2], compare: impl Fn(&Side<'_>, &Side<'_>) -> T) -> T {
    let [before, after] = texts.map(|text| missing::of(dialect, text, "missing=auto"));
    let gateways = [&before, &after].map(|work| work.compilation.gateways().next().expect("a gateway"));
    let configs = gateways.map(|gateway| EnvoyConfig::of(gateway.ir));
    let maps = gateways.map(|gateway| v3::output_map(gateway.ir, &envoy::Options::default(), &mut v3::Emitted::default()));
    let positions = [before.compilation.positions(), after.compilation.positions()];
    let side =
        |at: usize| Side { config: &configs[at], source: Some(SideSource { gateway: gateways[at], positions: &positions[at], map: &maps[at] }) };
    compare(&side(0), &side(1))
}

/// Returns the requests that change between two inputs.
fn requests_of(dialect: &str, texts: [&str; 2]) -> Requests {
    compared_texts(dialect, texts, |before, after| requests(before, after, &RequestOptions::default()))
}

#[test]
fn diff_replaced_key_reports_without_showing() {
    let secret = |key: &str| {
        let host = pay("pay.example.com", "");
        format!(
            "{SHOP}{host}---\napiVersion: v1\nkind: Secret\nmetadata: {{name: pay-tls}}\ntype: kubernetes.io/tls\nstringData: {{tls.crt: public, tls.key: {key}}}\n"
        )
    };
    let texts = ["hunter2", "hunter3"].map(secret);
    let found = compared_texts("ambassador", [&texts[0], &texts[1]], compare_envoy).changes;
    let [change] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((change.kind.as_str(), change.name.as_str()), ("secret", "default/pay-tls"));
    assert!(change.fields.iter().map(|field| field.path.as_str()).eq(["tls.key"]) && !change.before.is_empty(), "{change:#?}");
    assert!(!format!("{found:?}").contains("hunter"));
    assert!(compared_texts("ambassador", [&texts[0], &texts[0]], compare_envoy).changes.is_empty());
    let requests = requests_of("ambassador", [&texts[0], &texts[1]]);
    assert!(!requests.complete && requests.limits.iter().any(|limit| limit.starts_with("Certificates or keys differ")), "{requests:#?}");
    assert!(requests_of("ambassador", [&texts[0], &texts[0]]).complete);
}

#[test]
fn diff_new_listener_names_written_resource() {
    for (host, condition) in [("pay.example.com", ""), ("'*.example.com'", ""), ("pay.example.com", ", headers: {x-tenant: a}")] {
        let found = requests_of("ambassador", [SHOP, &format!("{SHOP}{}", pay(host, condition))]);
        let first = &found.changes[0];
        assert!(first.requests.starts_with("https://pay.example.com/pay/*"), "{host}: {first:#?}");
        assert_eq!((first.before.summary.as_str(), first.after.summary.as_str()), ("finds no listener", "goes to pay:80"));
        assert_eq!(first.witness.sni.as_deref(), Some("pay.example.com"), "a client names the host that it asks for");
        // The controller's own additions come last.
        let built_in = found.changes.iter().position(|change| change.after.summary.contains("8877"));
        assert!(built_in.is_none_or(|at| at >= found.changes.len() - 2), "{:#?}", found.changes);
    }
}

#[test]
fn diff_similar_changes_lists_all_destinations() {
    let proxy = |tls: &str| {
        format!(
            "\
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {{name: shop, namespace: default}}
spec:
  virtualhost: {{fqdn: shop.example.com{tls}}}
  routes:
  - conditions: [{{prefix: /}}]
    services: [{{name: shop, port: 80}}]
  - conditions: [{{prefix: /cart}}]
    services: [{{name: cart, port: 80}}]
"
        )
    };
    let [plain, encrypted] = [proxy(""), proxy(", tls: {secretName: cert}")];
    for (texts, side) in [([plain.as_str(), encrypted.as_str()], 1), ([encrypted.as_str(), plain.as_str()], 0)] {
        let found = requests_of("contour", texts);
        let words = |change: &RequestChange| {
            let outcome = change.differences.iter().find(|of| of.what == "outcome").expect("the outcome");
            [&outcome.before, &outcome.after].map(|words| words.clone().expect("words"))
        };
        let https = found.changes.iter().find(|change| change.requests.starts_with("https://")).expect("a change of https");
        assert_eq!(https.places.len(), 2, "{https:#?}");
        for service in ["default/shop", "default/cart"] {
            assert!(words(https)[side].contains(service), "{https:#?}");
            let reported = found.changes.iter().filter(|change| words(change)[side].contains(service)).count();
            assert_eq!(reported, 1, "a route is reported once: {:#?}", found.changes);
        }
        for change in &found.changes {
            let all: Vec<String> = change.places.iter().map(RequestPlace::words).collect();
            let whole = all.iter().filter(|words| words.starts_with("all https")).collect::<Vec<_>>();
            assert!(whole.iter().all(|words| words.ends_with("other than above")), "{all:?}");
        }
    }
}

#[test]
fn diff_describes_requests_excluded_by_sibling_route() {
    let [before, after] =
        ["", ", method: POST"].map(|more| SHOP.replace("prefix: /,", "prefix: /cart/,").replace("service: web", &format!("service: web{more}")));
    for sides in [[&before, &after], [&after, &before]] {
        let found = requests_of("ambassador", sides.map(String::as_str));
        let change = found.changes.iter().find(|change| change.requests.contains("/cart/*")).expect("a change");
        assert!(change.requests.contains("/cart/*, other than method POST"), "{change:#?}");
    }
}

#[test]
fn diff_scheme_appears_in_url_not_header() {
    let found = requests_of("ambassador", [SHOP, &SHOP.replace("service: web", "service: other")]);
    assert!(!found.changes.is_empty());
    for change in &found.changes {
        assert!(!change.requests.contains("x-forwarded-proto"), "{change:#?}");
    }
}

/// Returns an HTTPProxy with these routes and these extra fields.
fn proxy(virtualhost: &str, routes: &[&str]) -> String {
    let routes: String = routes.iter().map(|route| format!("  - {route}\n")).collect();
    format!(
        "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: a}}\nspec:\n  virtualhost: {{fqdn: a.example.com{virtualhost}}}\n  routes:\n{routes}"
    )
}

#[test]
fn diff_behind_token_filter_uses_token() {
    for provider in [
        "{name: idp, default: true, remoteJWKS: {uri: 'https://idp.example.com/jwks'}}",
        "{name: idp, default: true, forwardJWT: true, remoteJWKS: {uri: 'https://idp.example.com/jwks'}}",
    ] {
        let side = |service: &str| {
            let host = format!(", tls: {{secretName: t}}, jwtProviders: [{provider}]");
            proxy(&host, &[&format!("{{services: [{{name: {service}, port: 80}}]}}")])
        };
        let found = requests_of("contour", [&side("web"), &side("api")]);
        let change = found.changes.iter().find(|change| change.requests.contains("with a valid token")).unwrap_or_else(|| panic!("{found:#?}"));
        let clusters = change.differences.iter().find(|of| of.what == "clusters").expect("other clusters");
        assert!(clusters.before.as_deref().is_some_and(|of| of.contains("web")) && clusters.after.as_deref().is_some_and(|of| of.contains("api")));
        assert!(change.witness.curl.contains("authorization: Bearer $TOKEN"), "{}", change.witness.curl);
        assert!(requests_of("contour", [&side("web"), &side("web")]).is_empty());
    }
}

#[test]
fn diff_excludes_requests_of_narrower_routes() {
    let side = |path: &str| {
        let api = format!("{{conditions: [{{prefix: {path}}}], services: [{{name: api, port: 80}}]}}");
        proxy("", &[&api, "{services: [{name: web, port: 80}]}"])
    };
    let found = requests_of("contour", [&side("/api"), &side("/api/")]);
    let [change] = &found.changes[..] else { panic!("{found:#?}") };
    assert_eq!(change.requests, "a.example.com/api*, other than /api/*");
    assert!(!change.witness.url.contains("/api/"), "{}", change.witness.url);
}

#[test]
fn diff_change_of_one_scheme_names_scheme() {
    let side = |permits: bool| proxy(", tls: {secretName: t}", &[&format!("{{permitInsecure: {permits}, services: [{{name: web, port: 80}}]}}")]);
    let found = requests_of("contour", [&side(true), &side(false)]);
    let [change] = &found.changes[..] else { panic!("{found:#?}") };
    assert_eq!(change.requests, "http://a.example.com/*");
    let other = side(true).replace("name: web", "name: api");
    let found = requests_of("contour", [&side(true), &other]);
    let [change] = &found.changes[..] else { panic!("{found:#?}") };
    assert_eq!(change.requests, "a.example.com/*", "both schemes change alike");
}
