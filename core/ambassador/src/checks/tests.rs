//! Tests the checks for settings that Emissary accepts but does not use.

use crate::DIALECT;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::Options;
use chancery_base::diagnostic::{Diagnostic, Policy};
use chancery_base::executor::Sequential;
use chancery_base::resource::Inputs;
use chancery_compile::{EmittedByGateway, compile};
use chancery_explain::check::check;

const GATEWAY: &str = "
---
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http}
spec: {port: 8080, protocol: HTTP, securityModel: INSECURE, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: rest}
spec: {hostname: '*', prefix: /, service: rest}
";

const CODES: [&str; 4] = ["field-without-effect", "unknown-value", "unknown-field", "no-effect"];

/// The findings with these codes.
fn found(object: &str) -> Vec<Diagnostic> {
    let inputs = Inputs::one("gateway.yaml", format!("apiVersion: getambassador.io/v3alpha1\n{object}{GATEWAY}"));
    let mut compilation = compile(&inputs, &Options::of(&DIALECT), &[&crate::DIALECT]);
    check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
    compilation.all_diagnostics().filter(|finding| CODES.contains(&finding.code.name)).cloned().collect()
}

fn messages(object: &str) -> Vec<String> {
    found(object).into_iter().map(|finding| finding.message).collect()
}

fn of_mapping(fields: &str) -> Vec<String> {
    messages(&format!("kind: Mapping\nmetadata: {{name: shop}}\nspec: {{prefix: /shop/, service: shop, {fields}}}"))
}

const NOTHING: [&str; 0] = [];

#[test]
fn overridden_mapping_fields_are_reported() {
    assert_eq!(of_mapping("hostname: a.example.com, host: b.example.com"), ["`host` changes nothing: `hostname` counts instead of it"]);
    assert_eq!(of_mapping("hostname: a.example.com, host: a.example.com"), NOTHING, "both say the same");
    assert_eq!(of_mapping("host: a.example.com"), NOTHING);
    assert_eq!(of_mapping("host: '.*[.]example[.]com', host_regex: true"), NOTHING);
    assert_eq!(
        of_mapping("hostname: '*', host_regex: true"),
        ["`host_regex` changes nothing: `hostname` is no regular expression, but may begin or end with `*`"]
    );
    let redirect = ["`redirect_response_code` changes nothing: requests are forwarded, not redirected"];
    assert_eq!(of_mapping("hostname: '*', redirect_response_code: 302"), redirect);
    assert_eq!(of_mapping("hostname: '*', host_redirect: true, redirect_response_code: 302"), NOTHING);
    let forwarded = ["`timeout_ms` changes nothing: requests are redirected, not forwarded"];
    assert_eq!(of_mapping("hostname: '*', host_redirect: true, timeout_ms: 3000"), forwarded);
    assert_eq!(of_mapping("hostname: '*', envoy_override: {timeout: 3s}"), ["`envoy_override` changes nothing: Emissary does not use it any more"]);
    assert_eq!(of_mapping("hostname: '*', method_regex: true"), ["`method_regex` changes nothing: there is no `method`"]);
    assert_eq!(of_mapping("hostname: '*', dns_type: strict"), ["Emissary does not know `strict` here, and takes `strict_dns`"]);
}

fn of_module(name: &str, config: &str) -> Vec<Diagnostic> {
    found(&format!("kind: Module\nmetadata: {{name: {name}}}\nspec: {{config: {config}}}"))
}

#[test]
fn unknown_module_settings_get_suggestions() {
    let meant = |config: &str| -> Vec<(String, Option<String>)> {
        let fix = |finding: &Diagnostic| finding.fix.as_ref().map(|fix| fix.edits[0].replacement.clone());
        of_module("ambassador", config).iter().map(|finding| (finding.message.clone(), fix(finding))).collect()
    };
    let unknown =
        |name: &str, meant: &str| Vec::from([(format!("the Module has no setting `{name}`; Emissary does not read it"), Some(meant.into()))]);
    assert_eq!(meant("{use_remote_adress: false}"), unknown("use_remote_adress", "use_remote_address"));
    assert_eq!(meant("{useRemoteAddress: false}"), unknown("useRemoteAddress", "use_remote_address"));
    assert_eq!(meant("{use_remote_address: false, statsd: {enabled: true}, prune_unreachable_routes: true}"), []);
    assert_eq!(meant("{gzip: {windowbits: 9}}").len(), 1);
    assert_eq!(meant("{merge_slashes: 'enabled'}").len(), 1);
    assert_eq!(meant("{merge_slashes: 'yes'}"), []);
}

#[test]
fn unread_module_gets_name_suggestion() {
    let found = of_module("ambasador", "{use_remote_address: false}");
    let [finding] = &found[..] else { panic!("{found:?}") };
    assert_eq!(finding.message, "Emissary reads no Module `ambasador`: the gateway's settings are in the one that is called `ambassador`");
    assert_eq!(finding.fix.as_ref().map(|fix| fix.edits[0].replacement.as_str()), Some("ambassador"));
}

#[test]
fn moved_module_settings_name_new_place() {
    let of = |config: &str| {
        let found = of_module("ambassador", config);
        found.iter().map(|finding| (finding.code.name, finding.help.clone().unwrap_or_default())).collect::<Vec<_>>()
    };
    assert_eq!(of("{xff_num_trusted_hops: 3}"), [("field-without-effect", "write the number as `l7Depth` in the Listener".into())]);
    assert_eq!(of("{service_port: 8080, use_proxy_proto: true, x_forwarded_proto_redirect: true, debug_mode: true}").len(), 4);
    assert_eq!(of("{use_remote_address: false}"), []);
    let port = messages("kind: Host\nmetadata: {name: h}\nspec: {hostname: '*', requestPolicy: {insecure: {action: Route, additionalPort: 8081}}}");
    assert_eq!(port, ["`additionalPort` changes nothing: Emissary opens ports for Listeners alone"]);
}

#[test]
fn labels_need_a_service_that_limits_rates() {
    let labels = "hostname: '*', labels: {ambassador: [{g: [{generic_key: {value: k}}]}]}";
    assert_eq!(of_mapping(labels), ["`labels` changes nothing: they are for a RateLimitService, and the input has none"]);
    let service =
        "kind: RateLimitService\nmetadata: {name: r}\nspec: {service: limits, protocol_version: v3}\n---\napiVersion: getambassador.io/v3alpha1\n";
    assert_eq!(messages(&format!("{service}kind: Mapping\nmetadata: {{name: shop}}\nspec: {{prefix: /shop/, service: shop, {labels}}}")), NOTHING);
}

#[test]
fn auth_settings_need_auth_service() {
    let message = ["`bypass_auth` changes nothing: it is for an AuthService, and the input has none"];
    assert_eq!(of_mapping("hostname: '*', bypass_auth: true"), message);
    assert_eq!(of_mapping("hostname: '*', bypass_auth: false"), NOTHING);
    let service = "kind: AuthService\nmetadata: {name: a}\nspec: {auth_service: auth, proto: grpc, protocol_version: v3}\n---\n";
    let mapping = "kind: Mapping\nmetadata: {name: shop}\nspec: {prefix: /shop/, service: shop, hostname: '*', bypass_auth: true}";
    assert_eq!(messages(&format!("{service}apiVersion: getambassador.io/v3alpha1\n{mapping}")), NOTHING);
}

#[test]
fn single_list_value_is_not_certain_fix() {
    let fixes = |retry_on: &str| {
        let mapping = format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: shop}}\n\
             spec: {{prefix: /shop/, service: shop, hostname: '*', retry_policy: {{retry_on: '{retry_on}'}}}}{GATEWAY}"
        );
        let compilation = compile(&Inputs::one("gateway.yaml", mapping), &Options::of(&DIALECT), &[&crate::DIALECT]);
        let about = compilation.all_diagnostics().filter(|finding| finding.message.contains("retry_on"));
        about.map(|finding| finding.fix.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(fixes("5xx,connect-failure"), [false]);
    assert_eq!(fixes("connect-failur"), [true]);
    assert!(fixes("5xx").is_empty());
}

#[test]
fn labels_of_unused_domain_are_reported() {
    let of = |domain: &str, labels: &str| {
        messages(&format!(
            "kind: RateLimitService\nmetadata: {{name: r}}\nspec: {{service: limits, protocol_version: v3{domain}}}\n---\n\
             apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: shop}}\n\
             spec: {{prefix: /shop/, service: shop, hostname: '*', labels: {{{labels}: [{{g: [{{generic_key: {{value: k}}}}]}}]}}}}"
        ))
    };
    assert_eq!(
        of(", domain: shop", "ambassador"),
        ["`labels.ambassador` changes nothing: Envoy asks the RateLimitService about the domain `shop` alone"]
    );
    assert_eq!(of(", domain: shop", "shop"), NOTHING);
    assert_eq!(of("", "ambassador"), NOTHING, "the default domain");
}

#[test]
fn keepalive_time_has_one_name() {
    let message = ["`keepalive.idle_time` changes nothing: Emissary does not read it"];
    assert_eq!(of_mapping("hostname: '*', keepalive: {idle_time: 10, probes: 3}"), message);
    assert_eq!(of_mapping("hostname: '*', keepalive: {probes: 3}"), NOTHING);
    let of = |config: &str| of_module("ambassador", config).into_iter().map(|finding| finding.message).collect::<Vec<_>>();
    assert_eq!(of("{keepalive: {idle_time: 10}}"), message);
    assert_eq!(of("{keepalive: {time: 10}}"), NOTHING);
}

#[test]
fn tls_listener_without_certificate_is_reported() {
    const SECRET: &str = "
---
apiVersion: v1
kind: Secret
metadata: {name: cert}
type: kubernetes.io/tls
data: {tls.crt: YQ==, tls.key: YQ==}
";
    let of = |listener: &str, host: &str| {
        let text = format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: Listener\nmetadata: {{name: https}}\n\
             spec: {{port: 8443, {listener}, securityModel: XFP, hostBinding: {{namespace: {{from: ALL}}}}}}\n---\n\
             apiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {{name: h}}\nspec: {{hostname: '*'{host}}}{GATEWAY}{SECRET}"
        );
        let mut compilation = compile(&Inputs::one("gateway.yaml", text), &Options::of(&DIALECT), &[&crate::DIALECT]);
        check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
        compilation.all_diagnostics().filter(|finding| finding.code.name == "missing-certificate").count()
    };
    for listener in ["protocol: HTTPS", "protocol: HTTPSPROXY", "protocolStack: [TLS, HTTP, TCP]"] {
        assert_eq!(of(listener, ""), 1, "{listener}");
    }
    for listener in ["protocol: HTTP", "protocolStack: [HTTP, TCP]"] {
        assert_eq!(of(listener, ""), 0, "{listener}");
    }
    assert_eq!(of("protocol: HTTPS", ", tlsSecret: {name: cert}"), 0);
}

/// The message and help about a Mapping that no Host selects.
fn untaken(host: &str, mapping: &str) -> Vec<(String, String)> {
    let host = format!(
        "apiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {{name: h}}\nspec: {{requestPolicy: {{insecure: {{action: Route}}}}, {host}}}"
    );
    let mapping =
        format!("---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m}}\nspec: {{prefix: /m/, service: m, {mapping}}}");
    let inputs = Inputs::one("gateway.yaml", format!("{host}\n{mapping}{GATEWAY}"));
    let mut compilation = compile(&inputs, &Options::of(&DIALECT), &[&crate::DIALECT]);
    check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
    let about = |finding: &&Diagnostic| finding.code.name == "unserved" && finding.resource.as_ref().is_some_and(|key| *key.name == *"m");
    compilation.all_diagnostics().filter(about).map(|finding| (finding.message.clone(), finding.help.clone().unwrap_or_default())).collect()
}

#[test]
fn why_no_host_takes_a_mapping_is_said() {
    let other = untaken("hostname: a.example.com", "hostname: b.example.com");
    let message = "no Host has the hostname `b.example.com`, so no request reaches this Mapping";
    assert_eq!(other, [(message.into(), "did you mean the hostname `a.example.com`?".into())]);
    let far = untaken("hostname: a.example.com", "hostname: shop.org");
    let message = "no Host has the hostname `shop.org`, so no request reaches this Mapping";
    assert_eq!(far, [(message.into(), "the existing Hosts have the hostname `a.example.com`".into())]);
    let chosen = untaken("hostname: '*', mappingSelector: {matchLabels: {host: h}}", "hostname: '*'");
    let message = "Host `h` has this Mapping's hostname, but only accepts Mappings with the labels of its selector, so no request reaches it";
    assert_eq!(chosen, [(message.into(), "give the Mapping these labels, or remove `mappingSelector` from the Host".into())]);
    let redirect = untaken("hostname: '*', mappingSelector: {matchLabels: {host: h}}", "hostname: '*', host_redirect: true");
    let ignored = "Host `h` selects Mappings by labels, and Emissary ignores the labels of a Mapping with `host_redirect`, so no request reaches it";
    assert_eq!(redirect, [(ignored.into(), "remove `mappingSelector` from the Host: the hostname of the Mapping is enough".into())]);
    assert_eq!(untaken("hostname: '*'", "hostname: b.example.com"), []);
    // The Host with the Mapping's labels is meant, even if another Host comes first.
    let other = "hostname: a.example.com, mappingSelector: {matchLabels: {type: api}}}\n---\napiVersion: getambassador.io/v3alpha1\nkind: Host\n\
                 metadata: {name: front}\nspec: {requestPolicy: {insecure: {action: Route}}, hostname: front.example.com, mappingSelector: \
                 {matchLabels: {type: front}}";
    let labelled = untaken(other, "hostname: '*', host_redirect: true}\nmetadata: {name: m, labels: {type: front}");
    let ignored = ignored.replace("`h`", "`front`");
    let help = "remove `mappingSelector` from the Host, and write `hostname: front.example.com` in the Mapping";
    assert_eq!(labelled, [(ignored, help.into())]);
    // The Host with the more specific hostname receives the requests.
    let narrower = |labels: &str| {
        let host = "hostname: '*'}\n---\napiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {name: narrow}\n\
                    spec: {requestPolicy: {insecure: {action: Route}}, hostname: '*.example.com'";
        untaken(&format!("{host}{labels}"), "hostname: b.example.com").into_iter().map(|(message, _)| message).collect::<Vec<_>>()
    };
    assert_eq!(narrower(""), [""; 0]);
    assert_eq!(narrower(", mappingSelector: {matchLabels: {host: h}}"), [message.replace("`h`", "`narrow`")]);
}

#[test]
fn mappings_for_different_hosts_do_not_share_requests() {
    let conflicts = |first: &str, second: &str| {
        let host = |name: &str| {
            format!(
                "apiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {{name: {name}}}\nspec: {{hostname: {name}.example.com, \
                 mappingSelector: {{matchLabels: {{host: {name}}}}}, requestPolicy: {{insecure: {{action: Route}}}}}}\n---\n"
            )
        };
        let mapping = |name: &str, label: &str| {
            format!(
                "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: {name}, labels: {{host: {label}}}}}\n\
                 spec: {{prefix: /api/, service: {name}}}\n---\n"
            )
        };
        let text = host("one") + &host("two") + &mapping("a", first) + &mapping("b", second) + GATEWAY;
        let mut compilation = compile(&Inputs::one("gateway.yaml", text), &Options::of(&DIALECT), &[&crate::DIALECT]);
        check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
        compilation.all_diagnostics().filter(|finding| finding.code.name == "route-conflict").count()
    };
    assert_eq!((conflicts("one", "two"), conflicts("one", "one")), (0, 1));
}
