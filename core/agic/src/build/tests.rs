//! The parts that each step makes for small Ingresses.

use super::STEPS;
use crate::Options;
use crate::tests::{Outcome, WEB, env, ingress, rule, run};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Listener, Part, Properties};
use chancery_base::resource::Origin;

fn built(text: &str, options: &Options) -> Properties {
    run(text, options).gateway().properties.unwrap()
}

fn of(text: &str) -> Properties {
    built(&(text.to_string() + WEB), &Options::default())
}

fn listener(properties: &Properties, number: usize) -> &Part<Listener> {
    &properties.listeners.as_ref().unwrap()[number]
}

/// The value of a field that is set.
macro_rules! value {
    ($of:expr) => {
        $of.as_ref().unwrap().value
    };
}

/// A certificate and its key, made for this test.
const CERTIFICATE: &str = include_str!("testing/tls.crt");
const KEY: &str = include_str!("testing/tls.key");

fn secret(name: &str) -> String {
    let indented = |text: &str| text.lines().map(|line| format!("    {line}\n")).collect::<String>();
    format!(
        "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: {name}, namespace: shop}}\ntype: kubernetes.io/tls\nstringData:\n  tls.crt: |\n{}  tls.key: |\n{}",
        indented(CERTIFICATE),
        indented(KEY)
    )
}

#[test]
fn build_steps_are_ordered_from_leaves_to_root() {
    let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
    let place = |name: &str| names.iter().position(|step| *step == name).unwrap();
    for pair in
        ["probes", "HTTP settings", "backend pools", "listeners and ports", "redirects", "path maps", "routing rules", "priorities"].windows(2)
    {
        assert!(place(pair[0]) < place(pair[1]), "{pair:?}");
    }
}

#[test]
fn probe_uses_host_and_path_of_rule() {
    let properties = of(&ingress("web", &[], &rule("a.test", &["/api*"])));
    let probes = properties.probes.unwrap();
    let probe = probes.iter().find(|probe| probe.name == "pb-shop-web-80-web").unwrap();
    assert_eq!((value!(probe.properties.host).as_str(), value!(probe.properties.path).as_str()), ("a.test", "/api"));
    assert_eq!((value!(probe.properties.interval), value!(probe.properties.unhealthy_threshold)), (30, 3));
    // A wildcard is not a host.
    let properties = of(&ingress("web", &[], &rule("*.test", &["/"])));
    assert_eq!(value!(properties.probes.unwrap()[0].properties.host), "localhost");
}

#[test]
fn annotations_override_pods_and_pods_override_rules() {
    let pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop, labels: {app: web, v: one}}
spec: {containers: [{name: a, ports: [{containerPort: 9}]}, {name: b, ports: [{name: web, containerPort: 8080}],
  readinessProbe: {failureThreshold: 25, httpGet: {port: web, path: /ready}}}]}\n";
    let annotations = [("backend-hostname", "inner.test"), ("health-probe-interval", "7"), ("health-probe-timeout", "0")];
    let properties = of(&(ingress("web", &annotations, &rule("a.test", &["/"])) + pod));
    let probe = properties.probes.unwrap().remove(0).properties.clone();
    assert_eq!((value!(probe.host).as_str(), value!(probe.path).as_str(), value!(probe.port)), ("inner.test", "/ready", 8080));
    // Ten seconds is the API server's default for pods; zero means no timeout; twenty is the maximum.
    assert_eq!((value!(probe.interval), value!(probe.timeout), value!(probe.unhealthy_threshold)), (7, 1, 20));
}

#[test]
fn settings_say_how_pods_are_reached() {
    let annotations = [
        ("request-timeout", "5"),
        ("connection-draining", "true"),
        ("cookie-based-affinity", "true"),
        ("cookie-based-affinity-distinct-name", "true"),
        ("backend-protocol", "HTTPS"),
        ("backend-path-prefix", "/in"),
    ];
    let properties = of(&ingress("web", &annotations, &rule("a.test", &["/"])));
    let part = &properties.settings.unwrap()[0];
    assert_eq!(part.name, "bp-shop-web-80-8080-web");
    let settings = &part.properties;
    assert_eq!((value!(settings.port), value!(settings.request_timeout)), (8080, 5));
    assert_eq!((value!(settings.protocol).as_str(), value!(settings.affinity).as_str()), ("Https", "Enabled"));
    assert_eq!(value!(settings.affinity_cookie), "appgw-affinity-8c042be8841ca9ef9d69bea7ea6ae84c");
    assert_eq!(value!(settings.draining.as_ref().unwrap().timeout), 30);
    assert_eq!(value!(settings.path), "/in");
}

#[test]
fn invalid_annotation_is_reported_and_ignored() {
    let outcome = run(&(ingress("web", &[("request-timeout", "5s")], &rule("a.test", &["/"])) + WEB), &Options::default());
    let expected = "Ingress InvalidAnnotation Code=\"ErrorInvalidContent\" Message=\"annotation appgw.ingress.kubernetes.io/request-timeout does not \
                    contain a valid value (5s)\"";
    assert_eq!(outcome.events(), [expected]);
    let settings = outcome.gateway().properties.unwrap().settings.unwrap();
    assert_eq!(value!(settings[0].properties.request_timeout), 30);
}

#[test]
fn pool_has_all_addresses_sorted_as_strings() {
    let endpoints = "---\napiVersion: v1\nkind: Endpoints\nmetadata: {name: web, namespace: shop}
subsets: [{addresses: [{ip: 10.1.0.9}], ports: [{port: 1}]},
  {addresses: [{ip: 10.1.0.9}, {ip: 10.1.0.10}], notReadyAddresses: [{ip: 10.1.0.5}], ports: [{port: 8080}]}]\n";
    let outcome = run(&(ingress("web", &[], &rule("a.test", &["/"])) + WEB + endpoints), &Options::default());
    assert_eq!(outcome.events(), ["Ingress BackendPortTargetMatch Backend target port 8080 does not have matching endpoint port"]);
    let pool = outcome.gateway().properties.unwrap().pools.unwrap().remove(0);
    let addresses: Vec<String> = pool.properties.addresses.as_ref().unwrap().iter().map(|address| value!(address.ip).to_string()).collect();
    assert_eq!(addresses, ["10.1.0.10", "10.1.0.5", "10.1.0.9"]);
}

fn port_events(service: &str, port: &str) -> (Vec<String>, String) {
    let spec = format!("  rules: [{{http: {{paths: [{{path: /, pathType: Prefix, backend: {{service: {{name: s, port: {port}}}}}}}]}}}}]\n");
    let endpoints = "---\napiVersion: v1\nkind: Endpoints\nmetadata: {name: s, namespace: shop}\nsubsets: [{ports: [{name: a, port: 8081}, {name: a, port: 8080}]}]\n";
    let outcome: Outcome = run(&(ingress("web", &[], &spec) + service + endpoints), &Options::default());
    let events = outcome.events().into_iter().filter(|event| event.contains("PortResolutionError")).collect();
    let settings = outcome.gateway().properties.unwrap().settings.unwrap();
    (events, settings.iter().map(|part| part.name.to_string()).find(|name| name.starts_with("bp-")).unwrap_or_default())
}

#[test]
fn ports_go_by_number_name_and_target() {
    let service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: shop}\nspec: {ports: [{name: a, port: 80, targetPort: named}, {name: b, port: 81, targetPort: 9000}, {name: u, port: 53, protocol: UDP}]}\n";
    assert_eq!(port_events(service, "{number: 81}"), (Vec::new(), "bp-shop-s-81-9000-web".into()));
    assert_eq!(port_events(service, "{name: b}").1, "bp-shop-s-b-9000-web");
    assert_eq!(port_events(service, "{number: 9000}").1, "bp-shop-s-9000-9000-web");
    // Two numbers of one name: the smaller one is used, and numbers are formatted as characters.
    let (events, name) = port_events(service, "{name: a}");
    assert_eq!(name, "bp-shop-s-a-8080-web");
    assert!(events[0].ends_with("choosing the smallest service-backend port 8080. Ports found \u{1f90},\u{1f91}.\""), "{events:?}");
    // UDP is ignored: the number itself is used.
    assert_eq!(port_events(service, "{number: 53}").1, "bp-shop-s-53-53-web");
    // If nothing has the name, the fallback is 80.
    let (events, name) = port_events(service, "{name: none}");
    assert_eq!(name, "bp-shop-s-none-80-web");
    assert!(events[0].contains("was resolved to an invalid service-backend port 65536, defaulting to port 80"));
    assert!(port_events("", "{number: 81}").0[0].ends_with("Message=\"Service not found shop/s\""));
}

#[test]
fn listeners_are_known_by_port_hosts_and_address() {
    let properties = of(&ingress("web", &[("hostname-extension", "b.test,a.test,c.test,d.test,e.test,f.test")], &rule("a.test", &["/"])));
    assert_eq!(properties.listeners.as_ref().unwrap().len(), 1);
    let hosts: Vec<_> = listener(&properties, 0).properties.host_names.iter().flatten().map(|host| host.as_str()).collect();
    assert_eq!(hosts, ["a.test", "b.test", "c.test", "d.test", "e.test"]);
    let properties = of(&ingress("web", &[("override-frontend-port", "8080"), ("use-private-ip", "true")], &rule("", &["/"])));
    assert_eq!(listener(&properties, 0).properties.frontend.as_ref().unwrap().name(), "private-ip");
    assert_eq!(properties.ports.unwrap()[0].name, "fp-8080");
    let properties = of(&ingress("web", &[("override-frontend-port", "65000")], &rule("", &["/"])));
    assert_eq!(properties.ports.unwrap()[0].name, "fp-80");
}

#[test]
fn tls_needs_a_secret_that_is_a_certificate() {
    let tls = "  tls: [{hosts: [a.test], secretName: good}, {hosts: [a.test], secretName: bad}]\n";
    let text = ingress("web", &[], &(rule("a.test", &["/"]) + tls)) + &secret("good");
    let outcome = run(&(text + WEB), &Options::default());
    assert_eq!(outcome.events(), ["Ingress SecretNotFound Unable to find the secret associated to secretId: [shop/bad]"]);
    let properties = outcome.gateway().properties.unwrap();
    let listener = &listener(&properties, 0).properties;
    assert_eq!((value!(listener.protocol).as_str(), listener.certificate.as_ref().unwrap().name()), ("Https", "cert-shop-good"));
    let certificate = &properties.certificates.unwrap()[0];
    assert_eq!(value!(certificate.properties.data), "secret:shop/good");
    // Hosts are compared as strings.
    let other = ingress("web", &[], &(rule("a.test", &["/"]) + "  tls: [{hosts: ['*.test'], secretName: good}]\n")) + &secret("good") + WEB;
    assert_eq!(value!(self::listener(&built(&other, &Options::default()), 0).properties.protocol), "Http");
}

#[test]
fn a_key_of_another_certificate_is_reported() {
    let text = ingress("web", &[], &(rule("a.test", &["/"]) + "  tls: [{secretName: good}]\n"));
    let other_key = secret("good").replace(KEY.lines().nth(1).unwrap(), "bm90IGEga2V5");
    let outcome = run(&(text + &other_key + WEB), &Options::default());
    assert!(outcome.events()[0].contains("SecretNotFound"));
}

#[test]
fn a_redirect_leads_from_http_to_https() {
    let tls = "  tls: [{secretName: good}]\n";
    let text = ingress("web", &[("ssl-redirect", "true")], &(rule("a.test", &["/", "/x"]) + tls)) + &secret("good");
    let properties = of(&text);
    let redirects = properties.redirects.as_ref().unwrap();
    assert_eq!(redirects.len(), 1);
    assert_eq!(redirects[0].name, "sslr-fl-6ac8d530e2abb570ca3409b3cb1b2b4c");
    assert_eq!(redirects[0].properties.target_listener.as_ref().unwrap().name(), "fl-6ac8d530e2abb570ca3409b3cb1b2b4c");
    let maps = properties.path_maps.unwrap();
    let http = maps.iter().find(|map| map.name == "url-6b74f3b66599e9355b732178f415178c").unwrap();
    assert!(http.properties.default_redirect.is_some() && http.properties.default_pool.is_none());
    assert!(http.properties.rules.as_ref().unwrap()[0].properties.redirect.is_some());
    let https = maps.iter().find(|map| map.name == "url-6ac8d530e2abb570ca3409b3cb1b2b4c").unwrap();
    assert!(https.properties.default_redirect.is_none() && https.properties.default_pool.is_some());
    // It is looked up at 443, so another port has none.
    let text = ingress("web", &[("ssl-redirect", "true"), ("override-frontend-port", "8443")], &(rule("a.test", &["/"]) + tls)) + &secret("good");
    let properties = of(&text);
    assert_eq!(properties.listeners.as_ref().unwrap().len(), 1);
    assert_eq!(value!(listener(&properties, 0).properties.protocol), "Http", "both are at one port, and the later counts");
}

#[test]
fn first_path_and_last_default_win() {
    let two = |first: &str, second: &str| {
        let at = |path: &str, number: u32| {
            format!(
                "  rules: [{{host: a.test, http: {{paths: [{{path: {path}, pathType: Prefix, backend: {{service: {{name: web, port: {{number: {number}}}}}}}}}]}}}}]\n"
            )
        };
        of(&(ingress("z", &[], &at(second, 80)) + &ingress("a", &[], &at(first, 8080))))
    };
    let paths = two("/x", "/x").path_maps.unwrap().remove(0).properties.rules.clone().unwrap();
    assert_eq!(paths.len(), 1);
    assert_eq!(paths[0].name, "pr-shop-a-rule-0-path-0");
    let rules = two("/", "/").rules.unwrap();
    assert_eq!(rules[0].properties.settings.as_ref().unwrap().name(), "bp-shop-web-80-8080-z");
}

#[test]
fn prefixes_gain_and_exact_paths_lose_star() {
    let path = |path: &str, kind: &str| {
        let spec = format!(
            "  rules: [{{http: {{paths: [{{path: {path:?}, pathType: {kind}, backend: {{service: {{name: web, port: {{number: 80}}}}}}}}]}}}}]\n"
        );
        let maps = of(&ingress("web", &[], &spec)).path_maps.unwrap();
        maps.first().map(|map| map.properties.rules.as_ref().unwrap()[0].properties.paths.as_ref().unwrap()[0].value.to_string())
    };
    assert_eq!(path("/a", "Prefix").unwrap(), "/a*");
    assert_eq!(path("/a/*", "Prefix").unwrap(), "/a/*");
    assert_eq!(path("/a**", "Exact").unwrap(), "/a*");
    assert_eq!(path("/a", "ImplementationSpecific").unwrap(), "/a");
    // These match everything: the rule is a basic one.
    assert_eq!((path("/", "Exact"), path("/*", "Prefix")), (None, None));
}

#[test]
fn free_priorities_follow_name_order() {
    let priorities = |text: &str| {
        let rules = of(text).rules.unwrap();
        rules.iter().map(|rule| value!(rule.properties.priority)).collect::<Vec<_>>()
    };
    let (one, two) = (rule("a.test", &["/"]), rule("b.test", &["/"]));
    assert_eq!(priorities(&(ingress("a", &[], &one) + &ingress("b", &[], &two))), [19_000, 19_005]);
    assert_eq!(priorities(&ingress("a", &[], &rule("", &["/"]))), [19_500]);
    let mut taken = priorities(&(ingress("a", &[("rule-priority", "19000")], &one) + &ingress("b", &[], &two)));
    taken.sort_unstable();
    assert_eq!(taken, [19_000, 19_005]);
    assert_eq!(priorities(&ingress("a", &[("rule-priority", "20001")], &one)), [19_000]);
    // The last Ingress of a listener wins, even without the annotation.
    assert_eq!(priorities(&(ingress("a", &[("rule-priority", "7")], &one) + &ingress("b", &[], &one))), [19_000]);
}

#[test]
fn a_default_backend_alone_takes_the_default_settings() {
    let properties = of(&ingress("web", &[], "  defaultBackend: {service: {name: web, port: {number: 80}}}\n"));
    let rule = &properties.rules.as_ref().unwrap()[0].properties;
    assert_eq!(rule.pool.as_ref().unwrap().name(), "pool-shop-web-80-bp-8080");
    assert_eq!(rule.settings.as_ref().unwrap().name(), "defaulthttpsetting");
    assert!(properties.pools.unwrap().iter().all(|pool| pool.name != "defaultaddresspool"), "nothing refers to it");
}

#[test]
fn no_ingresses_give_listener_with_empty_pool() {
    let properties = built("", &Options::default());
    assert_eq!(properties.listeners.as_ref().unwrap().len(), 1);
    assert_eq!(properties.rules.unwrap()[0].properties.pool.as_ref().unwrap().name(), "defaultaddresspool");
    let private = built("", &env(&[("USE_PRIVATE_IP", "true")]));
    assert_eq!(listener(&private, 0).properties.frontend.as_ref().unwrap().name(), "private-ip");
}

#[test]
fn rewrites_come_from_objects_or_are_named() {
    let rewrite = "---\napiVersion: appgw.ingress.azure.io/v1beta1\nkind: AzureApplicationGatewayRewrite\nmetadata: {name: r, namespace: shop}
spec: {rewriteRules: [{name: one, ruleSequence: 5, actions: {requestHeaderConfigurations: [{actionType: delete, headerName: X, headerValue: v}]}}]}\n";
    let text = |annotations: &[(&str, &str)]| of(&(ingress("web", annotations, &rule("a.test", &["/"])) + rewrite));
    let properties = text(&[("rewrite-rule-set-custom-resource", "r")]);
    assert_eq!(properties.rules.as_ref().unwrap()[0].properties.rewrites.as_ref().unwrap().name(), "crd-shop-r");
    let set = &properties.rewrites.unwrap()[0];
    let header = &set.properties.rules.as_ref().unwrap()[0].actions.as_ref().unwrap().request_headers.as_ref().unwrap()[0];
    assert_eq!(value!(header.value), "v", "the type of an action is not read");
    let both = text(&[("rewrite-rule-set-custom-resource", "r"), ("rewrite-rule-set", "theirs")]);
    assert!(both.rules.unwrap()[0].properties.rewrites.is_none());
    assert_eq!(both.rewrites.unwrap().len(), 1, "the set is made anyway");
    let named = text(&[("rewrite-rule-set", "theirs")]);
    assert_eq!(named.rules.unwrap()[0].properties.rewrites.as_ref().unwrap().name(), "theirs");
    assert_eq!(named.rewrites.unwrap().len(), 0);
}

#[test]
fn tags_name_the_cluster() {
    let node = |provider: &str| {
        let text = format!("---\napiVersion: v1\nkind: Node\nmetadata: {{name: node-1}}\nspec: {{providerID: {provider:?}}}\n");
        run(&text, &Options::default()).gateway().tags
    };
    let tags = node("azure:///subscriptions/s/resourceGroups/mc_team_prod_westeurope/providers/Microsoft.Compute/virtualMachines/vm");
    let id = "/subscriptions/s/resourcegroups/team/providers/Microsoft.ContainerService/managedClusters/prod";
    assert_eq!(tags.get("ingress-for-aks-cluster-id").map(|tag| tag.as_str()), Some(id));
    assert!(
        !node("azure:///subscriptions/s/resourceGroups/nodes/providers/Microsoft.Compute/virtualMachines/vm")
            .contains_key("ingress-for-aks-cluster-id")
    );
    assert!(!node("aws:///x").contains_key("ingress-for-aks-cluster-id"));
}

#[test]
fn every_part_has_an_origin() {
    let outcome = run(&(ingress("web", &[("request-timeout", "5")], &rule("a.test", &["/", "/x"])) + WEB), &Options::default());
    let properties = outcome.gateway().properties.unwrap();
    let settings = &properties.settings.unwrap()[0];
    let origin = settings.properties.request_timeout.unwrap().origin.unwrap();
    let object = outcome.objects.get(origin.object()).unwrap();
    assert_eq!(object.path(origin.node()).to_string(), "metadata.annotations[\"appgw.ingress.kubernetes.io/request-timeout\"]");
    let maps = properties.path_maps.unwrap();
    let rule = &maps[0].properties.rules.as_ref().unwrap()[0];
    assert_eq!(object.path(rule.origin.unwrap().node()).to_string(), "spec.rules[0].http.paths[1]");
}

#[test]
fn derived_port_names_service_and_address_ports() {
    let lines = |text: &str| {
        let outcome = run(text, &Options::default());
        let settings = outcome.gateway().properties.unwrap().settings.unwrap();
        let web = settings.iter().find(|settings| settings.name.contains("web")).unwrap();
        let port = web.properties.port.clone().unwrap();
        let line = |origin: &Origin| {
            let object = outcome.objects.get(origin.object()).unwrap();
            let at = object.value_range(origin.node()).unwrap().start as usize;
            text[..at].lines().count()
        };
        let all: Vec<Vec<usize>> = [&port.also, &web.also].iter().map(|also| also.0.iter().map(line).collect()).collect();
        (port.value, web.origin.unwrap().is_whole(), all)
    };
    let text = ingress("web", &[], &rule("a.test", &["/"])) + WEB;
    let at = |what: &str| text.lines().position(|line| line.contains(what)).unwrap() + 1;
    let (service, endpoints) = (at("targetPort: 8080"), at("subsets:"));
    assert_eq!(lines(&text), (8080, true, Vec::from([Vec::from([service]), Vec::from([service])])));
    let named = text.replace("targetPort: 8080", "targetPort: http");
    assert_eq!(lines(&named), (8080, true, Vec::from([Vec::from([service, endpoints]), Vec::from([service, endpoints])])));
}

#[test]
fn probe_of_named_port_names_its_container() {
    let pod = "---
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: shop, labels: {app: web}}
spec:
  containers:
  - ports:
    - {name: http, containerPort: 8080}
    - {name: health, containerPort: 9090}
    readinessProbe: {httpGet: {port: health, path: /ready}}
";
    let text = ingress("web", &[], &rule("a.test", &["/"])) + WEB + pod;
    let outcome = run(&text, &Options::default());
    let probes = outcome.gateway().properties.unwrap().probes.unwrap();
    let probe = probes.iter().find(|probe| probe.name.contains("web")).unwrap();
    assert!(probe.also.0.iter().all(|origin| origin.is_whole()) && probe.also.0.len() == 1, "its name is derived from the backend");
    let port = probe.properties.port.clone().unwrap();
    let origin = port.also.0.first().expect("the container's line");
    let range = outcome.objects.get(origin.object()).unwrap().value_range(origin.node()).unwrap();
    assert_eq!((port.value, &text[range.start as usize..range.end as usize]), (9090, "9090"));
}
