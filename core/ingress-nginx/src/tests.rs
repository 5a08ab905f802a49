//! Tests responses and findings of whole inputs, and compiles inputs for the other tests of this crate.

use super::memory::Memory;
use super::stages::Stages;
use super::{Options, compile};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{self, Ledger, OptionValue};
use chancery_base::diagnostic::Findings;
use chancery_base::executor::Sequential;
use chancery_base::read::{DocumentCache, ReadOptions, read};
use chancery_base::resource::{Inputs, Objects};
use chancery_nginx::simulate::{Request, Response, Simulator, World};
use chancery_text::Str;

/// The result of compiling an input.
pub(crate) struct Outcome {
    compiled: Stages,
    pub(crate) objects: Objects,
    pub(crate) findings: Findings,
}

/// Compiles YAML with flags of the controller.
pub(crate) fn run(text: &str, flags: &[&str]) -> Outcome {
    let inputs = Inputs::one("input.yaml", text);
    let (objects, mut findings) = read(&inputs, &ReadOptions::default(), &mut DocumentCache::new());
    let mut ledger = Ledger::new(&objects);
    let flags = flags.iter().map(Str::new).collect();
    let options = Options::of(&compilation::Options::default().with("controller-arg", OptionValue::List(flags)));
    let compiled = compile(&objects, &options, &Sequential, &mut Memory::default(), &mut ledger, &mut findings);
    Outcome { compiled, objects, findings }
}

impl Outcome {
    /// Returns the response to a request for a host and path.
    fn get(&self, host: &str, path: &str) -> Response {
        let request = Request { host: host.into(), path: path.into(), ..Request::default() };
        Simulator::new(&self.compiled.nginx).answer(&World::default(), &[request]).remove(0)
    }
}

const CLASS: &str = "\
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
endpoints: [{addresses: [10.1.0.7], conditions: {ready: true}}]
ports: [{port: 8080, protocol: TCP}]
---
";

fn ingress(annotations: &str, path: &str, kind: &str) -> String {
    alloc::format!(
        "{CLASS}apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: web, namespace: shop, annotations: {{{annotations}}}}}
spec:
  ingressClassName: nginx
  rules:
  - host: shop.example.com
    http: {{paths: [{{path: {path}, pathType: {kind}, backend: {{service: {{name: web, port: {{number: 80}}}}}}}}]}}
"
    )
}

#[test]
fn prefix_matches_whole_segments() {
    let of = run(&ingress("", "/a", "Prefix"), &[]);
    let statuses: Vec<u16> = ["/a", "/a/", "/a/b", "/ab", "/A"].iter().map(|path| of.get("shop.example.com", path).status).collect();
    assert_eq!(statuses, [200, 200, 200, 404, 404]);
    assert_eq!(of.get("other.example.com", "/a").status, 404);
    assert_eq!(of.get("SHOP.example.com:80", "/a").ingress.as_deref(), Some("shop/web"));
}

#[test]
fn exact_path_redirects_path_without_slash() {
    let of = run(&ingress("", "/a/", "Exact"), &[]);
    let response = of.get("shop.example.com", "/a");
    assert_eq!((response.status, response.location.as_deref()), (301, Some("http://shop.example.com/a/")));
}

#[test]
fn rewrite_target_turns_paths_into_expressions() {
    let of = run(&ingress("nginx.ingress.kubernetes.io/rewrite-target: /x/$1", "/a/(.*)", "ImplementationSpecific"), &[]);
    let path = |asked: &str| of.get("shop.example.com", asked).seen.map(|seen| seen.path);
    assert_eq!(path("/a/b"), Some("/x/b".into()));
    assert_eq!(path("/A/b/c"), Some("/x/b/c".into()));
    assert_eq!(path("/b"), None);
}

#[test]
fn denied_annotation_answers_503() {
    let of = run(&ingress("nginx.ingress.kubernetes.io/allowlist-source-range: 10.0.0.0/33", "/", "Prefix"), &[]);
    assert_eq!(of.get("shop.example.com", "/").status, 503);
}

#[test]
fn permanent_redirect_has_no_upstream() {
    let of = run(&ingress("nginx.ingress.kubernetes.io/permanent-redirect: 'https://example.net'", "/", "Prefix"), &[]);
    let response = of.get("shop.example.com", "/x");
    assert_eq!((response.status, response.location.as_deref()), (301, Some("https://example.net")));
    assert!(response.seen.is_none());
}

const SNIPPETS: &str = "\
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ingress-nginx-controller, namespace: ingress-nginx}
data: {allow-snippet-annotations: 'true', annotations-risk-level: Critical
";

/// Returns the messages of a code, each with its help.
fn messages(of: &Outcome, code: &str) -> Vec<String> {
    let found = of.findings.iter().filter(|finding| finding.code.name == code);
    found.map(|finding| alloc::format!("{} ({})", finding.message, finding.help.as_deref().unwrap_or_default())).collect()
}

/// Returns nginx's refusals of a configuration with a snippet and with keys of the ConfigMap.
fn refusals(snippet: &str, keys: &str) -> Vec<String> {
    let ingress = ingress(&alloc::format!("nginx.ingress.kubernetes.io/configuration-snippet: '{snippet}'"), "/", "Prefix");
    messages(&run(&alloc::format!("{ingress}{SNIPPETS}{keys}}}\n"), &[]), "nginx-refuses")
}

#[test]
fn repeated_directive_of_snippet_is_refused() {
    let found = refusals("proxy_http_version 1.1;", "");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("`configuration-snippet` repeats `proxy_http_version`, which the controller writes"), "{found:?}");
    assert!(found[0].contains("annotation `nginx.ingress.kubernetes.io/proxy-http-version`"), "{found:?}");
    for snippet in ["gzip off; gzip on;", "proxy_cookie_path / /x;", "if ($a) { limit_rate 1k; limit_rate 2k; }", "proxy_pass http://a;"] {
        assert_eq!(refusals(snippet, "").len(), 1, "{snippet}");
    }
}

#[test]
fn accepted_snippets_are_not_refused() {
    for snippet in [
        "proxy_set_header Upgrade $http_upgrade; proxy_set_header A b;",
        "proxy_next_upstream error; add_header A b; more_set_headers \"A: b\"; rewrite /a /b break; set $a b;",
        "gzip off; if ($a) { gzip on; }",
        "proxy_hide_header A; proxy_ignore_headers X-Accel-Expires; error_page 404 /a;",
    ] {
        let found = refusals(snippet, "");
        assert!(found.is_empty(), "{snippet}: {found:?}");
    }
}

#[test]
fn snippets_of_the_config_map_repeat_directives() {
    let found = refusals("etag off;", ", location-snippet: 'etag on;'");
    assert!(
        matches!(&found[..], [one] if one.starts_with("nginx refuses the whole configuration: `location-snippet` repeats `etag` of")),
        "{found:?}"
    );
    let found = refusals("", ", http-snippet: 'keepalive_timeout 5s; sendfile off;'");
    assert!(matches!(&found[..], [one] if one.contains("`keepalive_timeout`") && one.contains("key `keep-alive`")), "{found:?}");
    let found = refusals("", ", server-snippet: 'more_set_headers \"A b'");
    assert!(matches!(&found[..], [one] if one.contains("`server-snippet` has a syntax error")), "{found:?}");
}

#[test]
fn forbidden_snippet_is_not_checked() {
    let ingress = ingress("nginx.ingress.kubernetes.io/configuration-snippet: 'proxy_http_version 1.1;'", "/", "Prefix");
    assert!(messages(&run(&ingress, &[]), "nginx-refuses").is_empty());
}

#[test]
fn old_prefix_is_reported() {
    let found = |annotations: &str, flags: &[&str]| messages(&run(&ingress(annotations, "/", "Prefix"), flags), "unknown-annotation");
    let of = found("ingress.kubernetes.io/ssl-redirect: 'false'", &[]);
    assert!(matches!(&of[..], [one] if one.ends_with("(write `nginx.ingress.kubernetes.io/ssl-redirect`)")), "{of:?}");
    let of = found("ingress.kubernetes.io/secure-backends: 'true'", &[]);
    assert!(matches!(&of[..], [one] if one.ends_with("backend-protocol: HTTPS`)")), "{of:?}");
    // Google's controller writes this annotation.
    assert!(found("ingress.kubernetes.io/url-map: k8s-um-1", &[]).is_empty());
    assert!(found("ingress.kubernetes.io/ssl-redirect: 'false'", &["--annotations-prefix=ingress.kubernetes.io"]).is_empty());
    let both = "ingress.kubernetes.io/ssl-redirect: 'false', nginx.ingress.kubernetes.io/ssl-redirect: 'false'";
    assert!(found(both, &[]).is_empty());
}

#[test]
fn ssl_passthrough_needs_flag_and_host() {
    let text = ingress("nginx.ingress.kubernetes.io/ssl-passthrough: 'true'", "/", "Prefix");
    let found = |text: &str, flags: &[&str]| messages(&run(text, flags), "field-without-effect");
    let of = found(&text, &[]);
    assert!(matches!(&of[..], [one] if one.contains("without the controller's flag")), "{of:?}");
    assert!(found(&text, &["--enable-ssl-passthrough"]).is_empty());
    let hostless = text.replace("- host: shop.example.com\n    http", "- http");
    assert_ne!(hostless, text);
    for flags in [&[][..], &["--enable-ssl-passthrough"]] {
        let of = found(&hostless, flags);
        assert!(matches!(&of[..], [one] if one.contains("no rule has a `host`")), "{of:?}");
    }
    assert!(found(&ingress("nginx.ingress.kubernetes.io/ssl-passthrough: 'false'", "/", "Prefix"), &[]).is_empty());
}

#[test]
fn last_ingress_sets_the_cookie() {
    let cookie = |path: &str| {
        let annotations = "nginx.ingress.kubernetes.io/affinity: cookie, nginx.ingress.kubernetes.io/session-cookie-path: ";
        ingress(&alloc::format!("{annotations}{path}"), path, "Prefix")
            .replace("name: web, namespace: shop, ann", &alloc::format!("name: a{}, namespace: shop, ann", path.len()))
    };
    let both = |first: &str, second: &str| alloc::format!("{}---\n{}", cookie(first), cookie(second).replace(CLASS, ""));
    let found = messages(&run(&both("/a", "/a/b"), &[]), "field-without-effect");
    let expected = "`session-cookie-path` has no effect: the cookie belongs to the Service shop/web, and the Ingress shop/a4 sets `/a/b`";
    assert!(matches!(&found[..], [one] if one.starts_with(expected)), "{found:?}");
    let other_service = both("/a", "/a/b").replacen("service: {name: web", "service: {name: other", 1);
    assert!(messages(&run(&other_service, &[]), "field-without-effect").is_empty());
    let same = both("/a", "/a/b").replace("cookie-path: /a/b", "cookie-path: /a");
    assert!(messages(&run(&same, &[]), "field-without-effect").is_empty());
}

#[test]
fn wrong_value_names_the_forbidden_character() {
    let found = |annotations: &str, code: &str| messages(&run(&ingress(annotations, "/", "Prefix"), &[]), code);
    let signin = "nginx.ingress.kubernetes.io/auth-url: 'https://a.example.com/auth', nginx.ingress.kubernetes.io/auth-signin: ";
    let of = found(&alloc::format!("{signin}'https://a.example.com/start?rd=https%3A%2F%2F$host$request_uri'"), "annotation-ignored");
    let help = "(`%` is not allowed: write `https://a.example.com/start?rd=https://$host$request_uri`)";
    assert!(matches!(&of[..], [one] if one.ends_with(help) && one.contains("get 401 instead of the login page")), "{of:?}");
    let of = found(&alloc::format!("{signin}'https://a.example.com/start#a'"), "annotation-ignored");
    assert!(matches!(&of[..], [one] if one.ends_with("(`#` is not allowed: it takes letters, digits and `$&,-./:=?_~`)")), "{of:?}");
    let of = found("nginx.ingress.kubernetes.io/proxy-read-timeout: 600s", "annotation-ignored");
    assert!(matches!(&of[..], [one] if one.ends_with("(it takes: whole number, in quotes)")), "{of:?}");
}

#[test]
fn unknown_variables_stay_verbatim() {
    let snippet = r#"proxy_set_header X-Start "t=${msec}"; if ($remote_port = 1) { return 403; }"#;
    let text = ingress(&alloc::format!("nginx.ingress.kubernetes.io/configuration-snippet: '{snippet}'"), "/", "Prefix");
    let response = run(&alloc::format!("{text}{SNIPPETS}}}\n"), &[]).get("shop.example.com", "/");
    let headers = response.seen.map(|seen| seen.headers).unwrap_or_default();
    assert!(headers.contains(&("x-start".into(), "t=$msec".into())), "{headers:?}");
    assert!(response.gaps.iter().any(|gap| gap.ends_with("the value of `$remote_port` is unknown")), "{:?}", response.gaps);
}
