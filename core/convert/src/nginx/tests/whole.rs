//! Tests conversions of settings of the whole controller, and of objects outside the input.

use super::{
    Asked, Compilation, EnvoyConfig, Inputs, MOST_COMBINATIONS, OptionValue, Options, SERVICES, Sequential, Severity, Simulator, String, Target, Vec,
    World, annotation, assert_same, both, causes, compile, compiled, converted, format, ingress, ingress_nginx_to_gateway, migration_proof,
    shared_certificate,
};
use alloc::string::ToString as _;

#[test]
fn large_bodies_are_refused_behind_a_proxy() {
    let text = ingress("web", &annotation("proxy-body-size", "1k"), "/", "web");
    let text = text.replace("spec:\n", "spec:\n  tls: [{hosts: [a.example.com], secretName: a}]\n");
    let config = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ingress-nginx-controller, namespace: ingress-nginx}\ndata: {use-forwarded-headers: 'true'}\n";
    let headers: [(&str, &str); 2] = [("x-forwarded-proto", "https"), ("content-length", "1025")];
    let [_, will] = both(&format!("{text}{config}"), &[("/b", &headers)]).remove(0);
    assert!(will.starts_with("413"), "{will}");
}

#[test]
fn hidden_headers_of_services_are_removed() {
    let config = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ingress-nginx-controller, namespace: ingress-nginx}\ndata: {hide-headers: 'X-Debug,X-Version', add-headers: ingress-nginx/add}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: add, namespace: ingress-nginx}\ndata: {X-Version: '1'}\n";
    let yaml = converted(&format!("{}{config}", ingress("web", "", "/", "web"))).1.yaml();
    assert!(yaml.contains("      remove:\n      - X-Debug\n    requestID"), "{yaml}");
}

#[test]
fn grpc_keeps_http2_next_to_a_wildcard_certificate() {
    let grpc = ingress("c", &annotation("backend-protocol", "GRPC"), "/", "next").replace("a.example.com", "c.example.com");
    let grpc = grpc.replace("spec:\n", "spec:\n  tls: [{hosts: [c.example.com], secretName: grpc}]\n");
    let found = causes(&format!("{}{grpc}", shared_certificate("")));
    assert!(!found.iter().any(|(rule, _)| *rule == "grpc-without-http2"), "{found:?}");
    let of_browsers = found.iter().find(|(rule, _)| *rule == "http-versions");
    assert!(of_browsers.is_some_and(|(_, sentence)| sentence.contains("https://a.example.com/")), "{found:?}");
}

#[test]
fn unknown_paths_behind_a_proxy_are_not_redirected() {
    let text = ingress("web", "", "/app", "web").replace("spec:\n", "spec:\n  tls: [{hosts: [a.example.com], secretName: a}]\n");
    let config = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ingress-nginx-controller, namespace: ingress-nginx}\ndata: {use-forwarded-headers: 'true'}\n";
    let ended: (&str, &[(&str, &str)]) = ("/other", &[("x-forwarded-proto", "https")]);
    assert_same(&format!("{text}{config}"), &[ended, ("/other", &[])]);
}

#[test]
fn lost_login_page_is_reported() {
    let login = [annotation("auth-url", "http://web.shop.svc.cluster.local/auth"), annotation("auth-signin", "https://login.example.com/start")];
    let found = causes(&ingress("web", &login.join(", "), "/", "web"));
    let sentence = found.iter().find(|(rule, _)| *rule == "authentication").map(|(_, sentence)| sentence.as_str()).unwrap_or_default();
    assert!(sentence.contains("was `redirect to https://login.example.com/start`, will be `that of the authentication service`"), "{found:?}");
}

#[test]
fn origins_of_deeper_hosts_are_tried() {
    let cors = [annotation("enable-cors", "true"), annotation("cors-allow-origin", "https://*.example.org")];
    let before = compiled(&format!("{}{SERVICES}", ingress("web", &cors.join(", "), "/", "web")), &chancery_ingress_nginx::DIALECT);
    let conversion = ingress_nginx_to_gateway(&before, Target::EnvoyGateway);
    let options = Options::of(&chancery_ingress_nginx::DIALECT);
    let found = migration_proof(&before, [conversion.input()], &options, &chancery_envoy_gateway::DIALECT, &[], MOST_COMBINATIONS, &Sequential);
    let rows = found.causes.iter().filter(|cause| cause.rule == "cors").flat_map(|cause| &cause.rows);
    let requests: Vec<&String> = rows.flat_map(|row| &row.requests).map(|request| &request.words).collect();
    assert!(requests.iter().any(|words| words.contains("origin: https://a.b.example.org")), "{requests:?}");
}

#[test]
fn tcp_services_become_routes() {
    let stream = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: tcp, namespace: ingress-nginx}\ndata: {'5432': 'shop/web:80:PROXY:PROXY', '6432': 'shop/absent:80'}\n";
    let text = format!("{}{stream}{SERVICES}", ingress("web", "", "/", "web"));
    let options = Options::of(&chancery_ingress_nginx::DIALECT)
        .with("controller-arg", OptionValue::List(Vec::from(["--tcp-services-configmap=ingress-nginx/tcp".into()])));
    let before = compile(&Inputs::one("input.yaml", &*text), &options, &[&chancery_ingress_nginx::DIALECT]);
    let conversion = ingress_nginx_to_gateway(&before, Target::EnvoyGateway);
    let after = compiled(&format!("{}{SERVICES}", conversion.yaml()), &chancery_envoy_gateway::DIALECT);
    let errors: Vec<&str> = after.all_diagnostics().filter(|of| of.severity == Severity::Error).map(|of| &*of.message).collect();
    assert_eq!(errors, Vec::<&str>::new(), "{}", conversion.yaml());
    let ir = after.gateways().next().expect("Envoy runs").ir;
    assert!(EnvoyConfig::of(ir).listeners.iter().any(|of| of.message.name.contains("tcp-5432")), "{}", conversion.yaml());
    let notes: Vec<&str> = conversion.notes.iter().map(|note| &*note.message).filter(|message| message.contains("service on port")).collect();
    assert!(notes.len() == 1 && notes[0].contains("port 6432 is not converted: nginx does not serve it"), "{notes:?}");
    let yaml = conversion.yaml();
    assert_eq!(yaml.matches("proxyProtocol:").count(), 2, "{yaml}");
}

/// An Ingress of `acme.example.com` whose Secret is for another host, too.
fn with_two_tls_hosts(annotations: &str, other: &str) -> Compilation {
    let text = format!(
        "---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: web, namespace: shop, annotations: {{{annotations}}}}}
spec:
  ingressClassName: nginx
  tls: [{{hosts: [acme.example.com, {other}], secretName: acme-tls}}]
  rules: [{{host: acme.example.com, http: {{paths: [{{path: /, pathType: Prefix, backend: {{service: {{name: web, port: {{number: 80}}}}}}}}]}}}}]
{SERVICES}"
    );
    compiled(&text, &chancery_ingress_nginx::DIALECT)
}

fn unused_tls_hosts(compilation: &Compilation) -> usize {
    compilation.all_diagnostics().filter(|finding| finding.message.contains("this item of `tls` has no effect")).count()
}

#[test]
fn assumed_certificate_is_for_aliases() {
    let before = with_two_tls_hosts(&annotation("server-alias", "talk.example.com"), "talk.example.com");
    let nginx = before.nginxes().next().expect("nginx runs").nginx;
    let asked = Asked { host: "talk.example.com".into(), ..Asked::default() };
    let answer = Simulator::new(nginx).answer(&World::default(), &[asked]).remove(0);
    assert_eq!((answer.status, answer.location.as_deref()), (308, Some("https://talk.example.com")));
    let shown = chancery_nginx::simulate::certificate_of(nginx, "talk.example.com").map(|certificate| certificate.secret.value.to_string());
    assert_eq!((shown.as_deref(), unused_tls_hosts(&before)), (Some("shop/acme-tls"), 0));
    assert_eq!(unused_tls_hosts(&with_two_tls_hosts("", "talk.example.com")), 1);
}

#[test]
fn redirected_name_keeps_its_certificate() {
    let before = with_two_tls_hosts(&annotation("from-to-www-redirect", "true"), "www.acme.example.com");
    let yaml = ingress_nginx_to_gateway(&before, Target::EnvoyGateway).yaml();
    let listener = yaml.split("- name: ").find(|part| part.contains("hostname: www.acme.example.com") && part.contains("protocol: HTTPS"));
    assert!(listener.is_some_and(|listener| listener.contains("name: acme-tls") || listener.contains("certificateRefs")), "{yaml}");
    assert_eq!(unused_tls_hosts(&before), 0);
}

#[test]
fn general_service_upstream_applies_to_gateway() {
    let config = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ingress-nginx-controller, namespace: ingress-nginx}\n\
                  data: {service-upstream: \"true\"}\n";
    let kinds = |annotations: &str| -> Vec<String> {
        let (_, conversion, _) = converted(&format!("{config}{}", ingress("web", annotations, "/", "web")));
        let yaml = conversion.yaml();
        yaml.lines().filter_map(|line| line.trim().strip_prefix("routingType: ")).map(|kind| kind.to_string()).collect()
    };
    assert_eq!(kinds(""), ["Service"]);
    assert_eq!(kinds(&annotation("service-upstream", "false")), ["Service", "Endpoint"]);
}

#[test]
fn default_backend_has_endpoints_and_a_note() {
    let text = format!(
        "{}{SERVICES}---\napiVersion: v1\nkind: Service\nmetadata: {{name: pages, namespace: shop}}\nspec: {{ports: [{{port: 8080}}]}}\n",
        ingress("web", "", "/web", "web")
    );
    for service in ["pages", "absent"] {
        let flag = format!("--default-backend-service=shop/{service}");
        let dialect = &chancery_ingress_nginx::DIALECT;
        let options = Options::of(dialect)
            .with("missing", OptionValue::Text("assume".into()))
            .with("controller-arg", OptionValue::List(Vec::from([flag.as_str().into()])))
            .in_dialect(dialect.name);
        let before = compile(&Inputs::one("input.yaml", &*text), &options, &[dialect]);
        let nginx = before.nginxes().next().expect("nginx runs").nginx;
        let asked = Asked { host: "other.example.com".into(), ..Asked::default() };
        let answer = Simulator::new(nginx).answer(&World::default(), &[asked]).remove(0);
        assert_eq!((answer.status, answer.seen.is_some()), (200, true), "{service}");
        let conversion = ingress_nginx_to_gateway(&before, Target::EnvoyGateway);
        assert!(conversion.notes.iter().any(|note| note.message.starts_with("`--default-backend-service` is not converted")), "{service}");
        let services = chancery_explain::answers::Services::of(&before.objects);
        assert_eq!(services.at_port("shop/pages", "0"), "shop/pages:8080");
    }
}

#[test]
fn exempt_clients_differ_and_keep_the_written_name() {
    let annotations =
        [("limit-rps", "100"), ("limit-burst-multiplier", "1"), ("limit-whitelist", "10.20.0.0/16")].map(|(name, value)| annotation(name, value));
    let text = ingress("web", &annotations.join(", "), "/", "web");
    let found = causes(&text);
    assert!(found.iter().any(|(_, sentence)| sentence.contains(", except clients in 10.20.0.0/16`, will be ")), "{found:?}");
    let (_, conversion, _) = converted(&text);
    let notes: Vec<&str> = conversion.notes.iter().map(|note| note.message.as_str()).collect();
    assert!(notes.iter().any(|note| note.starts_with("`limit-whitelist` is not converted")), "{notes:?}");
}
