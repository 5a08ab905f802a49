//! What an input holds of secrets is in no output of any command, and an input without resources is no input.

use super::{Folder, Run};
use chancery_tests::leaks;

/// Every command that reads resources, in every format. `LINE` becomes a line of the input.
const COMMANDS: &[&[&str]] = &[
    &["check", "in.yaml"],
    &["check", "--format", "json", "in.yaml"],
    &["check", "--format", "sarif", "in.yaml"],
    &["check", "--format", "github", "in.yaml"],
    &["check", "--format", "junit", "in.yaml"],
    &["compile", "in.yaml"],
    &["compile", "--output", "xds", "in.yaml"],
    &["compile", "--output", "ir", "--origins", "in.yaml"],
    &["compile", "--output", "config", "in.yaml"],
    &["compile", "--output", "config", "--format", "yaml", "in.yaml"],
    &["explain", "in.yaml:LINE"],
    &["explain", "--format", "json", "in.yaml:LINE"],
    &["graph", "--format", "svg", "in.yaml"],
    &["graph", "--format", "json", "in.yaml"],
    &["graph", "--format", "dot", "in.yaml"],
    &["graph", "--format", "mermaid", "in.yaml"],
    &["ledger", "in.yaml"],
    &["ledger", "--format", "json", "in.yaml"],
    &["route", "https://shop.example.com/", "in.yaml"],
    &["route", "--format", "json", "http://shop.example.com/m/", "in.yaml"],
    &["snapshot", "in.yaml"],
    &["diff", "--format", "json", "other.yaml", "in.yaml"],
    &["diff", "in.yaml", "other.yaml"],
    &["drift", "in.yaml", "dump.json"],
    &["convert", "mapping-to-httpproxy", "in.yaml"],
    &["convert", "httpproxy-to-gateway", "in.yaml"],
    &["convert", "ingress-to-gateway", "in.yaml"],
    &["convert", "contour-configmap", "in.yaml"],
    &["across", "in.yaml"],
    &["across", "--format", "json", "in.yaml"],
    &["compile", "--dialect", "contour", "--output", "status", "in.yaml"],
    &["compile", "--dialect", "consul", "--output", "entries", "--output", "chain", "--output", "service", "in.yaml"],
    &["compile", "--dialect", "consul", "--output", "bootstrap", "--output", "watches", "in.yaml"],
    &["compile", "--dialect", "consul", "--output", "xds", "--format", "yaml", "in.yaml"],
    &["compile", "--dialect", "ingress", "--output", "appgw", "in.yaml"],
    &["compile", "--dialect", "ingress", "--output", "arm", "--output", "pipeline", "--output", "events", "in.yaml"],
    &["check", "--dialect", "consul", "in.yaml"],
    &["check", "--dialect", "ingress", "--format", "json", "in.yaml"],
    &["explain", "--dialect", "consul", "in.yaml:LINE"],
];

const OTHER: &str =
    "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: o, namespace: default}\nspec: {hostname: '*', prefix: /o/, service: o}\n";

fn all(run: &Run) -> String {
    format!("{}\n{}", run.out, run.err)
}

#[test]
fn values_of_secrets_are_in_no_output() {
    let mut found = Vec::new();
    let mut runs = 0_usize;
    for (number, leak) in leaks::all().iter().enumerate() {
        let folder = Folder::with(&[("in.yaml", &leak.text), ("other.yaml", OTHER), ("dump.json", "{\"static_resources\": {}}")]);
        let lines = leak.text.lines().count();
        for (at, command) in COMMANDS.iter().enumerate() {
            // Each input meets every fourth command, each command every fourth input.
            if (number + at) % 4 != 0 {
                continue;
            }
            runs += 1;
            let line = (1 + (number * 7 + at) % lines).to_string();
            let words: Vec<String> = command.iter().map(|word| word.replace("LINE", &line)).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let run = folder.run(&words);
            assert_ne!(run.code, 101, "{words:?} of {}: {}", leak.name, run.err);
            found.extend(leak.found_in(&all(&run)).map(|what| format!("{}: {words:?}: {what}", leak.name)));
        }
    }
    assert!(runs > 1000 && found.is_empty(), "{} of {runs} leak:\n{}", found.len(), found.join("\n"));
}

/// A running Envoy with keys, users and tokens in place.
const DUMP: &str = r#"{"static_resources": {
  "listeners": [{"name": "l", "address": {"socket_address": {"address": "0.0.0.0", "port_value": 8443}}, "filter_chains": [{
    "transport_socket": {"name": "envoy.transport_sockets.tls", "typed_config": {
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
      "common_tls_context": {"tls_certificates": [{"private_key": {"inline_string": "-----BEGIN PRIVATE KEY-----\nhushhush1\n-----END PRIVATE KEY-----"}, "password": {"inline_string": "hushhush2"}}]}}}}]}],
  "secrets": [{"name": "s", "generic_secret": {"secret": {"inline_string": "hushhush3"}}}],
  "clusters": [{"name": "c", "type": "STATIC", "load_assignment": {"cluster_name": "c"}, "health_checks": [{
    "http_health_check": {"path": "/", "request_headers_to_add": [{"header": {"key": "Authorization", "value": "Bearer hushhush4"}}]}}]}]}}"#;

#[test]
fn keys_that_a_running_envoy_shows_are_in_no_output() {
    let folder = Folder::with(&[("dump.json", DUMP), ("cut.json", &DUMP[..DUMP.len() - 40]), ("in.yaml", OTHER)]);
    let commands: &[&[&str]] = &[
        &["dump", "read", "dump.json"],
        &["dump", "read", "--format", "json", "dump.json"],
        &["dump", "read", "cut.json"],
        &["drift", "in.yaml", "dump.json"],
        &["drift", "--format", "json", "in.yaml", "dump.json"],
        &["diff", "--format", "json", "dump.json", "in.yaml"],
        &["diff", "--format", "markdown", "in.yaml", "dump.json"],
        &["route", "https://shop.example.com/", "dump.json"],
        &["graph", "--format", "json", "dump.json"],
        &["check", "dump.json"],
        &["check", "cut.json"],
    ];
    for words in commands {
        let run = folder.run(words);
        assert!(!all(&run).contains("hushhush"), "{words:?}: {}", all(&run));
    }
}

#[test]
fn credentials_are_written_where_a_person_wants_them() {
    let text = OTHER.replace("service: o", "service: o, add_request_headers: {Authorization: {value: Bearer abcdefgh1234}}");
    let folder = Folder::with(&[(
        "in.yaml",
        &format!(
            "{text}---\napiVersion: getambassador.io/v3alpha1\nkind: Listener\nmetadata: {{name: l, namespace: default}}\nspec: {{port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {{namespace: {{from: ALL}}}}}}\n---\napiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {{name: h, namespace: default}}\nspec: {{hostname: '*', requestPolicy: {{insecure: {{action: Route}}}}}}\n"
        ),
    )]);
    let without = folder.run(&["compile", "in.yaml"]);
    assert!(without.out.contains("-redacted-") && !without.out.contains("abcdefgh1234"), "{}", without.out);
    assert!(without.err.contains("--with-secrets"), "{}", without.err);
    assert!(folder.run(&["compile", "--with-secrets", "in.yaml"]).out.contains("Bearer abcdefgh1234"));
    assert!(folder.run(&["snapshot", "--with-secrets", "in.yaml"]).out.contains("Bearer abcdefgh1234"));
}

#[test]
fn an_input_without_resources_is_an_error_unless_it_is_meant() {
    let folder = Folder::with(&[("empty.yaml", ""), ("comments.yaml", "# nothing\n---\n"), ("list.yaml", "apiVersion: v1\nkind: List\nitems: []\n")]);
    let piped = folder.run_with(&["check", "-"], &[], "");
    assert_eq!((piped.code, piped.out.as_str()), (2, ""));
    assert!(piped.err.contains("there is no resource on standard input"), "{}", piped.err);
    for file in ["empty.yaml", "comments.yaml", "list.yaml"] {
        for command in ["check", "graph", "ledger", "snapshot"] {
            let run = folder.run(&[command, file]);
            assert_eq!(run.code, 2, "{command} {file}: {}", run.err);
            assert!(run.err.contains(&format!("there is no resource in {file}")), "{}", run.err);
            assert_eq!(folder.run(&[command, "--allow-empty", file]).code, 0, "{command} {file}");
        }
    }
    assert_eq!(folder.run_with(&["compile", "-"], &[], "").code, 2);
    let named = folder.run(&["compile", "--dialect", "ambassador", "empty.yaml"]);
    assert!(named.code == 0 && named.err.contains("no resource"), "{}", named.err);
}
