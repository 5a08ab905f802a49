//! The whole dialect: events, statuses, the pipeline, shared gateways, and crashes of the controller.

use super::codes;
use super::environment::Environment;
use super::stages::Stages;
use super::status;
use super::{Memory, Options, compile};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{Ledger, State};
use chancery_base::diagnostic::Findings;
use chancery_base::executor::Sequential;
use chancery_base::ir::appgw::Gateway;
use chancery_base::read::{DocumentCache, ReadOptions, read};
use chancery_base::resource::{Inputs, ObjectId, Objects};
use chancery_text::{Node, Str, to_json};

/// The result of a compile.
pub(crate) struct Outcome {
    pub(crate) compiled: Stages,
    pub(crate) objects: Objects,
    pub(crate) ledger: Ledger,
    pub(crate) findings: Findings,
    options: Options,
}

impl Outcome {
    /// The gateway that is sent.
    pub(crate) fn gateway(&self) -> Gateway {
        Gateway::clone(self.compiled.gateway.as_ref().expect("a gateway is sent"))
    }

    /// An output.
    fn node(&self, name: &str) -> Node {
        match name {
            "events" => self.compiled.recorder.document(),
            "pipeline" => super::pipeline::document(&super::passages(&self.objects, &self.options), &self.objects),
            _ => super::status::document(&self.compiled.statuses),
        }
    }

    /// An output as JSON.
    pub(crate) fn answer(&self, name: &str) -> String {
        to_json(&self.node(name), false)
    }

    /// Kind, reason and message of each event.
    pub(crate) fn events(&self) -> Vec<String> {
        let node = self.node("events");
        let text = |event: &Node, key: &str| String::from(event.get(key).and_then(Node::as_str).unwrap());
        node.as_array().unwrap().iter().map(|event| format!("{} {} {}", text(event, "kind"), text(event, "reason"), text(event, "message"))).collect()
    }
}

pub(crate) fn run(text: &str, options: &Options) -> Outcome {
    let inputs = Inputs::one("input.yaml", text);
    let (objects, mut findings) = read(&inputs, &ReadOptions::default(), &mut DocumentCache::new());
    let mut ledger = Ledger::new(&objects);
    let (compiled, _) = compile(&objects, options, &Sequential, &mut Memory::default(), &mut ledger, &mut findings);
    Outcome { compiled, objects, ledger, findings, options: options.clone() }
}

pub(crate) fn env(variables: &[(&str, &str)]) -> Options {
    Options { env: variables.iter().map(|(name, value)| (Str::new(name), Str::new(value))).collect(), ..Options::default() }
}

/// The Service `web` in `shop` with an endpoint, as a target of Ingresses.
pub(crate) const WEB: &str = "---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Endpoints
metadata: {name: web, namespace: shop}
subsets: [{addresses: [{ip: 10.1.0.5}, {ip: 10.1.0.4}], ports: [{name: http, port: 8080}]}]
";

/// An Ingress of the controller's class in `shop`: annotations, and the fields of its `spec`, each on its own lines.
pub(crate) fn ingress(name: &str, annotations: &[(&str, &str)], spec: &str) -> String {
    let annotations: String = annotations.iter().map(|(name, value)| format!("    appgw.ingress.kubernetes.io/{name}: {value:?}\n")).collect();
    format!(
        "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: {name}\n  namespace: shop\n  annotations:\n    \
         kubernetes.io/ingress.class: azure/application-gateway\n{annotations}spec:\n{spec}"
    )
}

/// A rule for a host (none if empty) that sends paths of type `Prefix` to `web`.
pub(crate) fn rule(host: &str, paths: &[&str]) -> String {
    let backend = "backend: {service: {name: web, port: {number: 80}}}";
    let host = if host.is_empty() { String::new() } else { format!("host: {host:?}, ") };
    let paths: Vec<String> = paths.iter().map(|path| format!("{{path: {path:?}, pathType: Prefix, {backend}}}")).collect();
    format!("  rules: [{{{host}http: {{paths: [{}]}}}}]\n", paths.join(", "))
}

fn gateway_file(json: &str) -> Options {
    Options { existing_gateway: Some(json.into()), ..Options::default() }
}

const ID: &str =
    "/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/agic-rg/providers/Microsoft.Network/applicationGateways/agic-appgw";

/// A gateway with a public address; further properties follow a comma.
fn gateway(state: &str, more: &str) -> String {
    let lists = ["frontendPorts", "sslCertificates", "trustedRootCertificates"].map(|list| format!("\"{list}\": [],")).join("");
    format!(
        r#"{{"id": "{ID}", "properties": {{{lists} "operationalState": "{state}", "sku": {{"tier": "Standard_v2"}},
        "frontendIPConfigurations": [{{"name": "public", "id": "{ID}/frontendIPConfigurations/public",
          "properties": {{"publicIPAddress": {{"id": "/pip"}}}}}}]{more}}}}}"#
    )
}

#[test]
fn ingress_gets_gateway_address_once() {
    let text = ingress("web", &[], &rule("a.test", &["/"])) + WEB;
    assert_eq!(
        run(&text, &Options::default()).answer("status"),
        r#"[{"loadBalancer":{"ingress":[{"ip":"203.0.113.10"}]},"name":"web","namespace":"shop"}]"#
    );
    let has_it = text
        .replace("---\napiVersion: v1\nkind: Service", "status: {loadBalancer: {ingress: [{ip: 203.0.113.10}]}}\n---\napiVersion: v1\nkind: Service");
    assert_eq!(run(&has_it, &Options::default()).answer("status"), "[]");
    let private = ingress("web", &[("use-private-ip", "true")], &rule("a.test", &["/"])) + WEB;
    assert!(run(&private, &Options::default()).answer("status").contains("10.0.0.100"));
    let unknown = Options { public_ips: Some(Default::default()), ..Options::default() };
    assert_eq!(run(&text, &unknown).answer("status"), "[]");
}

#[test]
fn statuses_need_known_gateway_addresses() {
    let text = ingress("web", &[], &rule("a.test", &["/"])) + WEB;
    let written = |options: &Options| {
        let compiled = run(&text, options).compiled;
        status::written(&compiled.statuses, options, &Environment::read(options)).map(|statuses| statuses.len())
    };
    assert_eq!(written(&Options::default()), None, "the address of the answers is none");
    let of_file = gateway_file(&gateway("Running", ""));
    assert_eq!(written(&of_file), None, "the file names a public address and not its number");
    let known = Options { public_ips: Some(Default::default()), ..gateway_file(&gateway("Stopped", "")) };
    assert_eq!(written(&known), Some(0));
}

#[test]
fn document_of_other_type_is_reported() {
    let text = ingress("web", &[], &rule("a.test", &["/"])) + WEB;
    let found = |document: &str| -> Vec<String> {
        let outcome = run(&text, &gateway_file(document));
        let errors = outcome.findings.iter().filter(|finding| finding.severity == chancery_base::diagnostic::Severity::Error);
        errors.map(|finding| format!("{} {}", finding.code.name, finding.message)).collect()
    };
    let cut = "{\n\"properties\": {\n\"frontendPorts\": [";
    for (document, wanted) in [
        ("[]", "unreadable-gateway the gateway's document is not a JSON object"),
        (r#"{"resources": []}"#, "unreadable-gateway the gateway's document is an ARM template, not the gateway itself"),
        (
            r#"{"type": "Microsoft.Network/loadBalancers"}"#,
            "unreadable-gateway the gateway's document is that of a `Microsoft.Network/loadBalancers`, not of an Application Gateway",
        ),
        (r#"{"id": "nonsense"}"#, "unreadable-gateway the gateway's document has the id `nonsense`, which is not an Application Gateway's id"),
        (cut, "unreadable-gateway the gateway's document cannot be read: it is broken at line 3"),
    ] {
        assert_eq!(found(document), [wanted], "{document}");
    }
}

#[test]
fn document_names_gateway_unless_variable_does() {
    let text = ingress("web", &[], &rule("a.test", &["/"])) + WEB;
    let document = gateway("Running", r#", "sslProfiles": [], "urlPathMaps": [], "requestRoutingRules": [], "httpListeners": []"#)
        .replace("agic-appgw", "front")
        .replace("agic-rg", "edge");
    let listener = |outcome: &Outcome| {
        let id = outcome.gateway().properties.unwrap().listeners.unwrap()[0].id.clone();
        String::from(id.as_str().rsplit_once('/').unwrap().0)
    };
    let codes = |outcome: &Outcome| outcome.findings.iter().filter(|finding| *finding.code == codes::OTHER_GATEWAY).count();
    let meant = run(&text, &gateway_file(&document));
    let front = ID.replace("agic-appgw", "front").replace("agic-rg", "edge");
    assert_eq!((listener(&meant), codes(&meant)), (front.clone() + "/httpListeners", 0));
    let named = |name: &str, value: &str| run(&text, &Options { env: env(&[(name, value)]).env, ..gateway_file(&document) });
    let other = named("APPGW_NAME", "agic-appgw");
    let back = front.replace("front", "agic-appgw");
    assert_eq!((listener(&other), codes(&other)), (back + "/httpListeners", 1), "what no variable says is the document's");
    assert_eq!(codes(&named("APPGW_NAME", "front")), 0);
    assert_eq!(codes(&named("APPGW_RESOURCE_ID", "")), 0, "an empty one has no effect");
    let same = named("APPGW_RESOURCE_ID", &front.replace("front", "Front"));
    assert_eq!(codes(&same), 0, "ids of Azure are case-insensitive");
    assert_eq!(codes(&named("APPGW_RESOURCE_ID", "nonsense")), 1, "it is not an id");
    assert_eq!(codes(&run(&text, &env(&[("APPGW_RESOURCE_ID", "nonsense")]))), 1, "nor is it one without a document");
}

#[test]
fn stopped_gateway_is_not_changed() {
    let text = ingress("web", &[], &(rule("a.test", &["/"]) + "status: {loadBalancer: {ingress: [{ip: 1.2.3.4}]}}\n")) + WEB;
    let outcome = run(&text, &gateway_file(&gateway("Stopped", "")));
    assert_eq!(outcome.compiled.gateway, None);
    assert_eq!(outcome.answer("status"), r#"[{"loadBalancer":{},"name":"web","namespace":"shop"}]"#);
    assert_eq!(outcome.events(), [format!("Ingress ResetIngressStatus Reset IP for Ingress shop/web. Application Gateway {ID} is in stopped state")]);
}

#[test]
fn crash_reports_missing_field() {
    let text = ingress("web", &[], &rule("a.test", &["/"])) + WEB;
    // Without the list of TLS profiles it crashes before statuses.
    let outcome = run(&text, &gateway_file(&gateway("Running", "")));
    assert_eq!(outcome.events(), ["Process Panic runtime error: invalid memory address or nil pointer dereference"]);
    assert_eq!(outcome.answer("status"), "[]");
    // A backend that is not a Service crashes the builder.
    let resource = ingress("web", &[], "  defaultBackend: {resource: {kind: Bucket, name: b}}\n");
    let outcome = run(&resource, &Options::default());
    assert!(outcome.compiled.gateway.is_none() && outcome.events()[0].starts_with("Process Panic"));
    assert!(outcome.answer("status").contains("203.0.113.10"));
}

#[test]
fn errors_of_azure_become_events() {
    let text = ingress("web", &[], &rule("a.test", &["/"])) + WEB;
    let outcome = run(&text, &Options { get_error: Some("403".into()), ..Options::default() });
    assert!(outcome.compiled.gateway.is_none());
    let fault = "Code=\"ErrorFetchingAppGatewayConfig\" Message=\"unable to get specified AppGateway [agic-appgw], check AppGateway identifier\" InnerError=\"403\"";
    assert_eq!(outcome.events(), [format!("Pod UnableToFetchAppGw {fault}"), format!("Process ProcessEvent {fault}")]);
    let outcome = run(&text, &Options { update_error: Some("400".into()), ..Options::default() });
    assert!(outcome.compiled.gateway.is_some());
    assert_eq!(outcome.events(), ["Pod FailedApplyingAppGwConfig 400", "Process ProcessEvent 400"]);
}

#[test]
fn class_annotation_overrides_field() {
    let count = |text: &str, options: &Options| run(text, options).answer("status").matches("loadBalancer").count();
    let by_field = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web, namespace: shop}\nspec:\n  ingressClassName: azure-application-gateway\n";
    let class = "---\napiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: azure-application-gateway}\nspec: {controller: azure/application-gateway}\n";
    let text = format!("{by_field}{}", rule("a.test", &["/"]));
    assert_eq!(count(&(text.clone() + class), &Options::default()), 1);
    assert_eq!(count(&text, &Options::default()), 0, "the IngressClass is missing");
    assert_eq!(count(&(text.clone() + &class.replace("azure/application-gateway", "nginx")), &Options::default()), 0);
    assert_eq!(count(&(text + class), &env(&[("INGRESS_CLASS_RESOURCE_ENABLED", "false")])), 0);
    let without = by_field.replace("  ingressClassName: azure-application-gateway\n", "") + &rule("a.test", &["/"]);
    assert_eq!(count(&without, &Options::default()), 0);
    assert_eq!(count(&without, &env(&[("INGRESS_CLASS_RESOURCE_DEFAULT", "true")])), 1);
    let other = ingress("web", &[], &rule("a.test", &["/"])).replace("azure/application-gateway", "nginx");
    assert_eq!(count(&other, &env(&[("INGRESS_CLASS_RESOURCE_DEFAULT", "true")])), 0, "the annotation goes first");
}

#[test]
fn ingress_with_missing_gateway_part_is_dropped() {
    let events = |annotations: &[(&str, &str)]| run(&(ingress("web", annotations, &rule("a.test", &["/"])) + WEB), &Options::default()).events();
    let of = |reason: &str, message: &str| Vec::from([format!("Ingress {reason} {message}"), format!("Pod {reason} {message}")]);
    let lacks = |what: &str| format!("ignoring Ingress shop/web as it requires Application Gateway agic-appgw to have pre-installed {what}");
    assert_eq!(events(&[("appgw-ssl-certificate", "")]), of("NoPreInstalledSslCertificate", &lacks("ssl certificate ''")));
    assert_eq!(events(&[("appgw-ssl-profile", "p")]), of("NoPreInstalledSslProfile", &lacks("ssl profile 'p'")));
    // Each name between commas is looked up unchanged.
    assert_eq!(events(&[("appgw-trusted-root-certificate", "r, ")]).len(), 4);
    assert!(events(&[("ssl-redirect", "true")])[0].starts_with("Ingress RedirectWithNoTLS ignoring Ingress shop/web as it has an invalid spec."));
    assert_eq!(events(&[("ssl-redirect", "maybe")]), [] as [&str; 0]);
}

#[test]
fn queue_contains_objects_that_handlers_pass() {
    let kube = "---\napiVersion: v1\nkind: Service\nmetadata: {name: dns, namespace: kube-system}\nspec: {ports: [{port: 53}]}\n";
    let pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: far, labels: {app: web}}\nspec: {containers: []}\n";
    let secret =
        "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\ntype: kubernetes.io/tls\ndata: {tls.crt: YQ==, tls.key: YQ==}\n";
    let text = ingress("web", &[], &rule("a.test", &["/"])) + WEB + kube + pod + secret;
    let outcome = run(&text, &Options::default());
    let passage = |name: &str| {
        let node = outcome.node("pipeline");
        let found = node.as_array().unwrap().iter().find(|of| of.get("name").and_then(Node::as_str) == Some(name)).cloned().unwrap();
        (found.get("enqueued").and_then(Node::as_bool).unwrap(), found.get("processed").and_then(Node::as_bool).unwrap())
    };
    assert_eq!(passage("web"), (true, true));
    assert_eq!(passage("dns"), (false, false));
    // Its labels are those of the Service, in any namespace.
    assert_eq!(passage("p"), (true, true));
    assert_eq!(passage("s"), (false, false), "no Ingress names it");
    let unused = run(&(ingress("web", &[], "  defaultBackend: {service: {name: web, port: {number: 80}}}\n") + WEB), &Options::default());
    assert!(unused.answer("pipeline").contains(r#""reason":"endpoint shop/web is not used by any Ingress""#));
}

#[test]
fn prohibited_paths_are_not_made() {
    let target = "---\napiVersion: appgw.ingress.k8s.io/v1\nkind: AzureIngressProhibitedTarget\nmetadata: {name: t, namespace: shop}\nspec: {hostname: a.test, paths: [/theirs/*]}\n";
    let text = ingress("web", &[], &rule("a.test", &["/theirs/x", "/ours"])) + WEB + target;
    let paths = |options: &Options| {
        let properties = run(&text, options).gateway().properties.unwrap();
        let maps = properties.path_maps.unwrap();
        let rules = maps[0].properties.rules.clone().unwrap();
        rules.iter().map(|rule| rule.properties.paths.as_ref().unwrap()[0].value.clone()).collect::<Vec<_>>()
    };
    assert_eq!(paths(&Options::default()), ["/theirs/x*", "/ours*"]);
    assert_eq!(paths(&env(&[("APPGW_ENABLE_SHARED_APPGW", "true")])), ["/ours*"]);
}

#[test]
fn foreign_rules_keep_their_parts() {
    let id = |kind: &str, name: &str| format!("{{\"id\": \"{ID}/{kind}/{name}\"}}");
    let part = |kind: &str, name: &str, properties: &str| {
        format!("{{\"name\": \"{name}\", \"id\": \"{ID}/{kind}/{name}\", \"properties\": {{{properties}}}}}")
    };
    let listener = |name: &str, host: &str| {
        let (frontend, port) = (id("frontendIPConfigurations", "public"), id("frontendPorts", "p80"));
        let properties =
            format!("\"hostName\": \"{host}\", \"protocol\": \"Http\", \"frontendIPConfiguration\": {frontend}, \"frontendPort\": {port}");
        part("httpListeners", name, &properties)
    };
    let rule_of = |name: &str, listener: &str, pool: &str| {
        let (listener, pool, settings) = (id("httpListeners", listener), id("backendAddressPools", pool), id("backendHttpSettingsCollection", "s"));
        let properties = format!(
            "\"ruleType\": \"Basic\", \"priority\": 5, \"httpListener\": {listener}, \"backendAddressPool\": {pool}, \"backendHttpSettings\": {settings}"
        );
        part("requestRoutingRules", name, &properties)
    };
    let more = format!(
        r#", "sslProfiles": [], "urlPathMaps": [], "httpListeners": [{}, {}], "requestRoutingRules": [{}, {}],
           "backendAddressPools": [{}, {}], "backendHttpSettingsCollection": [{}]"#,
        listener("theirs", "theirs.test"),
        listener("old", "old.test"),
        rule_of("theirs", "theirs", "kept"),
        rule_of("old", "old", "gone"),
        part("backendAddressPools", "kept", ""),
        part("backendAddressPools", "gone", ""),
        part("backendHttpSettingsCollection", "s", "\"port\": 80"),
    );
    let existing =
        gateway("Running", &more).replace("\"frontendPorts\": []", &format!("\"frontendPorts\": [{}]", part("frontendPorts", "p80", "\"port\": 80")));
    let target = "---\napiVersion: appgw.ingress.k8s.io/v1\nkind: AzureIngressProhibitedTarget\nmetadata: {name: t, namespace: shop}\nspec: {hostname: theirs.test}\n";
    let text = ingress("web", &[], &rule("a.test", &["/"])) + WEB + target;
    let shared = Options { env: env(&[("APPGW_ENABLE_SHARED_APPGW", "true")]).env, ..gateway_file(&existing) };
    let properties = run(&text, &shared).gateway().properties.unwrap();
    let names = |names: Vec<Str>| names.join(" ");
    assert_eq!(names(properties.pools.unwrap().into_iter().map(|part| part.name.clone()).collect()), "kept pool-shop-web-80-bp-8080");
    assert!(properties.settings.unwrap().iter().any(|settings| settings.name == "s"));
    let rules = properties.rules.unwrap();
    assert_eq!(rules.len(), 2);
    assert!(rules.iter().any(|rule| rule.name == "theirs" && rule.properties.priority.unwrap().value == 5));
    // The port object is kept, though the controller would name it differently.
    assert_eq!(names(properties.ports.unwrap().into_iter().map(|part| part.name.clone()).collect()), "p80");
    // Without targets the gateway belongs to the controller alone.
    let alone = run(&(ingress("web", &[], &rule("a.test", &["/"])) + WEB), &shared).gateway().properties.unwrap();
    assert_eq!(alone.rules.unwrap().len(), 1);
}

#[test]
fn ledger_has_a_row_per_object() {
    let text = ingress("web", &[], &rule("a.test", &["/"])) + WEB + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n---\nfoo: bar\n";
    let outcome = run(&text, &gateway_file(&gateway("Running", ", \"sslProfiles\": []")));
    assert_eq!(outcome.ledger.undecided().count(), 0);
    assert!(matches!(outcome.ledger.get(ObjectId::from_index(3)), State::Ignored(..)));
}

#[test]
fn malformed_input_does_not_stop_compile() {
    for json in
        ["", "[]", "{", "{\"properties\": 5}", "{\"properties\": {\"frontendPorts\": [{}]}}", "null", "{\"properties\": {\"frontendPorts\": [5]}}"]
    {
        let outcome = run(&(ingress("web", &[], &rule("a.test", &["/"])) + WEB), &gateway_file(json));
        assert_eq!(outcome.compiled.gateway, None, "{json}");
    }
    let many: Vec<String> = (0..100).map(|number| format!("h{number}.test")).collect();
    let text = ingress("web", &[("hostname-extension", &many.join(","))], &rule("a.test", &["/"])) + WEB;
    let listeners = run(&text, &Options::default()).gateway().properties.unwrap().listeners.unwrap();
    assert_eq!(listeners[0].properties.host_names.as_ref().unwrap().len(), 5);
    let empty = run(&ingress("web", &[], "  {}\n"), &Options::default());
    assert!(empty.compiled.gateway.is_some());
    assert!(!empty.findings.is_empty(), "the API server refuses it");
}
