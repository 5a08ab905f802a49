//! Tests the command line's exit codes, flags and output.

mod authority;
mod ci;
mod demo;
mod diff;
mod docs;
mod folders;
mod live;
mod missing;
mod secrets;
mod verdicts;
mod watches;

use insta::assert_snapshot;
use std::process::{Command, Output, Stdio};
use std::{io::Write, path::Path};

/// A gateway with one object of each kind that the views show.
const GATEWAY: &str = include_str!("cases/gateway.yaml");

/// Returns the message on standard error if this many objects are assumed.
fn assumed(count: usize) -> String {
    let (assumptions, them) = if count == 1 { ("assumption", "it") } else { ("assumptions", "them") };
    format!("chancery: {count} {assumptions} about objects outside the input; `chancery check` lists {them}, `--missing error` assumes nothing\n")
}

struct Run {
    code: i32,
    out: String,
    err: String,
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder for the test"))
    }

    fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        for (name, text) in files {
            folder.write(name, text.as_bytes());
        }
        folder
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).expect("a folder");
        std::fs::write(path, bytes).expect("a file");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path().join(name)).expect("a file that was written")
    }

    fn run(&self, args: &[&str]) -> Run {
        self.run_with(args, &[], "")
    }

    fn run_in(&self, folder: &str, args: &[&str]) -> Run {
        self.run_from(folder, args, &[], "")
    }

    fn run_with(&self, args: &[&str], env: &[(&str, &str)], stdin: &str) -> Run {
        self.run_from(".", args, env, stdin)
    }

    fn run_from(&self, folder: &str, args: &[&str], env: &[(&str, &str)], stdin: &str) -> Run {
        let mut child = Command::new(env!("CARGO_BIN_EXE_chancery"))
            .args(args)
            .env_remove("NO_COLOR")
            .envs(env.iter().copied())
            .current_dir(self.0.path().join(folder))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        // A command without input may not read it.
        let _ = child.stdin.take().expect("a pipe").write_all(stdin.as_bytes());
        let Output { status, stdout, stderr } = child.wait_with_output().expect("it ends");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it writes UTF-8");
        Run { code: status.code().unwrap_or(-1), out: text(stdout), err: text(stderr) }
    }
}

fn gateway() -> Folder {
    Folder::with(&[("gateway.yaml", GATEWAY)])
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn check_shows_findings_with_their_lines() {
    let run = gateway().run(&["check", "gateway.yaml"]);
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    assert_snapshot!("check_human", run.out);
}

#[test]
fn check_as_json_has_what_programs_need() {
    let run = gateway().run(&["check", "--format", "json", "gateway.yaml"]);
    assert_eq!(run.code, 1);
    let found = &json(&run.out)["diagnostics"];
    let typo = found.as_array().expect("a list").iter().find(|finding| finding["code"] == "unknown-field").expect("the typo");
    assert_snapshot!("check_json_one", serde_json::to_string_pretty(typo).expect("JSON"));
}

#[test]
fn check_for_other_programs() {
    let folder = gateway();
    assert_snapshot!("check_github", folder.run(&["check", "--format", "github", "gateway.yaml"]).out);
    assert_snapshot!("check_junit", folder.run(&["check", "--format", "junit", "gateway.yaml"]).out);
    let mut log = json(&folder.run(&["check", "--format", "sarif", "gateway.yaml"]).out);
    assert_eq!(log["version"], "2.1.0");
    let rules = log["runs"][0]["tool"]["driver"]["rules"].take();
    for result in log["runs"][0]["results"].as_array_mut().expect("results") {
        // Rules are numbered in the order of the registry.
        let index = usize::try_from(result["ruleIndex"].take().as_u64().expect("an index")).expect("small");
        assert_eq!(rules[index]["id"], result["ruleId"]);
    }
    assert_snapshot!("check_sarif_results", serde_json::to_string_pretty(&log["runs"][0]["results"]).expect("JSON"));
}

#[test]
fn exit_codes_of_check() {
    let folder = Folder::with(&[
        ("clean.yaml", "apiVersion: getambassador.io/v3alpha1\nkind: KubernetesServiceResolver\nmetadata: {name: kubernetes-service}\n"),
        (
            "warning.yaml",
            "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: a}\nspec: {prefix: /a/, service: a, hostname: '*', typo: 1}\n",
        ),
        ("error.yaml", "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: a}\nspec: {prefix: /a/}\n"),
    ]);
    assert_eq!(folder.run(&["check", "clean.yaml"]).code, 0);
    assert_eq!(folder.run(&["check", "warning.yaml"]).code, 0);
    assert_eq!(folder.run(&["check", "--strict", "warning.yaml"]).code, 1);
    assert_eq!(folder.run(&["check", "error.yaml"]).code, 1);
    assert_eq!(folder.run(&["check", "--quiet", "warning.yaml"]).out, "");
    assert_eq!(folder.run(&["compile", "error.yaml"]).code, 0);
}

#[test]
fn unusable_arguments_are_explained_in_one_sentence() {
    let folder = gateway();
    folder.write("empty/readme.txt", b"");
    let cases: &[(&[&str], &str)] = &[
        (&["check", "nowhere.yaml"], "chancery: cannot read nowhere.yaml: no such file or directory\n"),
        (&["check", "*.yml"], "chancery: no file matches `*.yml`\n"),
        (&["check", "empty"], "chancery: there is no .yaml, .yml, .json or .hcl file in empty\n"),
        (
            &["check", "--dialect", "esperanto", "gateway.yaml"],
            "chancery: there is no dialect `esperanto`; this version knows ambassador, contour, envoy-gateway, ingress, ingress-nginx, consul\n",
        ),
        (&["explain", "gateway.yaml:9999", "gateway.yaml"], "chancery: gateway.yaml has no line 9999\n"),
        (&["explain", "/nothing/here", "gateway.yaml"], "chancery: nothing in the envoy output is called `/nothing/here`\n"),
        (&["codes", "unknown-feild"], "chancery: there is no code `unknown-feild`; did you mean `unknown-field`?\n"),
    ];
    for (args, sentence) in cases {
        let run = folder.run(args);
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (2, "", *sentence), "{args:?}");
    }
    assert_eq!(folder.run(&["compile", "--output", "poetry"]).code, 2);
    assert_eq!(folder.run(&["check", "--env", "novalue", "gateway.yaml"]).code, 2);
}

#[test]
fn inputs_are_files_folders_globs_and_standard_input() {
    let part = |name: &str| {
        format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: {name}}}\nspec: {{prefix: /{name}/, service: {name}, hostname: '*'}}\n"
        )
    };
    let folder = Folder::new();
    for (file, name) in [("all/b.yaml", "b"), ("all/deep/a.yml", "a"), ("all/.git/no.yaml", "no"), ("c.yaml", "c")] {
        folder.write(file, part(name).as_bytes());
    }
    folder.write("all/notes.txt", b"not YAML");
    folder.write("all/d.json", br#"{"apiVersion": "getambassador.io/v3alpha1", "kind": "Mapping", "metadata": {"name": "d"}, "spec": {"prefix": "/d/", "service": "d", "hostname": "*"}}"#);
    let names = |run: Run| -> Vec<String> {
        assert_eq!(run.code, 0, "{}", run.err);
        json(&run.out)["ledger"]
            .as_array()
            .expect("rows")
            .iter()
            .map(|row| format!("{} {}", row["resource"]["name"].as_str().unwrap_or(""), row["file"].as_str().unwrap_or("")))
            .collect()
    };
    let ledger = |args: &[&str], stdin: &str| names(folder.run_with(&[&["ledger", "--format", "json"], args].concat(), &[], stdin));
    assert_eq!(ledger(&["all"], ""), ["b all/b.yaml", "d all/d.json", "a all/deep/a.yml"]);
    assert_eq!(ledger(&["*.yaml", "all/*.yaml"], ""), ["c c.yaml", "b all/b.yaml"]);
    assert_eq!(ledger(&["c.yaml", "./c.yaml"], ""), ["c c.yaml"]);
    assert_eq!(ledger(&["-"], &part("s")), ["s <stdin>"]);
    assert_eq!(ledger(&[], &part("s")), ["s <stdin>"]);
}

#[test]
fn outputs_by_kind() {
    let folder = gateway();
    let envoy = folder.run(&["compile", "gateway.yaml"]);
    assert!(!envoy.out.trim_end().contains('\n'), "compact if the output is not a terminal");
    let several = json(&folder.run(&["compile", "--output", "envoy", "--output", "xds", "--output", "ir", "--output", "config", "gateway.yaml"]).out);
    assert_eq!(several["envoy"], json(&envoy.out));
    for list in ["listeners", "routes", "clusters", "endpoints", "secrets"] {
        assert!(several["xds"][list].is_array(), "{list}");
    }
    assert_eq!(several["ir"]["listeners"][0]["name"], "http");
    assert_eq!(several["config"]["mappings"]["quote"]["timeout_ms"], 4000);
    assert_eq!(folder.run(&["compile", "--output", "xds", "--output", "ir", "--out-dir", "build", "gateway.yaml"]).code, 0);
    assert_eq!(json(&folder.read("build/xds.json")), several["xds"]);
    assert_eq!(json(&folder.read("build/ir.json")), several["ir"]);
    assert_eq!(folder.run(&["compile", "--pretty", "-o", "envoy.json", "gateway.yaml"]).out, "");
    assert_eq!(json(&folder.read("envoy.json")), several["envoy"]);
    assert_eq!(json(&folder.run(&["compile", "-o", "-", "gateway.yaml"]).out), several["envoy"]);
}

#[test]
fn the_ir_reads_well() {
    let folder = gateway();
    let ir = json(&folder.run(&["compile", "--output", "ir", "gateway.yaml"]).out);
    let routes = ir["listeners"][0]["chains"][0]["filters"][0]["http"]["routes"]["virtual_hosts"][0]["routes"].as_array().expect("routes").clone();
    let quote = routes.iter().find(|route| route["matcher"]["path"]["prefix"] == "/quote/").expect("the route");
    assert_eq!(quote["action"]["forward"]["timeout"], "4s");
    let ir = json(&folder.run(&["compile", "--output", "ir", "--origins", "gateway.yaml"]).out);
    let cluster = &ir["clusters"]
        .as_array()
        .expect("clusters")
        .iter()
        .find(|cluster| cluster["name"]["value"] == "cluster_quote_80_default")
        .expect("the cluster")
        .clone();
    assert_snapshot!("ir_cluster_with_origins", serde_json::to_string_pretty(cluster).expect("JSON"));
}

#[test]
fn yaml_is_the_same_data() {
    let folder = gateway();
    let yaml = folder.run(&["compile", "--format", "yaml", "--output", "config", "gateway.yaml"]).out;
    assert_snapshot!("config_yaml", yaml);
}

#[test]
fn explain_from_output_to_line() {
    let folder = gateway();
    assert_snapshot!("explain_value", folder.run(&["explain", "cluster:cluster_quote_80_default/alt_stat_name", "gateway.yaml"]).out);
    assert_snapshot!("explain_end_of_pointer", folder.run(&["explain", "route/timeout", "gateway.yaml"]).out);
    let found =
        json(&folder.run(&["explain", "--format", "json", "--in", "ir", "/clusters/cluster_quote_80_default/connect_timeout", "gateway.yaml"]).out);
    assert_eq!(found["value"], "3s");
    assert_eq!(found["origins"][0]["rule"], "default");
    assert_eq!(found["origins"][0]["why"], "default: Emissary waits 3000 ms for a connection if `connect_timeout_ms` is not set");
}

#[test]
fn explain_from_line_to_output() {
    let folder = gateway();
    let line = 1 + GATEWAY.lines().position(|line| line.contains("service: quote:80")).expect("the line");
    let target = format!("gateway.yaml:{line}");
    assert_snapshot!("explain_line", folder.run(&["explain", &target]).out);
    let report = json(&folder.run(&["explain", "--format", "json", &format!("{target}:12"), "gateway.yaml"]).out);
    assert_eq!(report["fields"][0], "spec.service");
    assert_eq!(report["ledger"]["state"], "merged");
}

#[test]
fn the_ledger_accounts_for_everything() {
    assert_snapshot!("ledger", gateway().run(&["ledger", "gateway.yaml"]).out);
}

#[test]
fn the_graph_is_a_picture_too() {
    let folder = gateway();
    let run = folder.run(&["graph", "--format", "svg", "gateway.yaml"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert!(run.out.starts_with("<svg ") && run.out.ends_with("</svg>\n"));
    assert!(run.out.contains("prefers-color-scheme:dark") && !run.out.contains("check_ready"), "{}", run.out);
    assert!(folder.run(&["graph", "--format", "svg", "--all", "gateway.yaml"]).out.contains("check_ready"));
    let part = folder.run(&["graph", "--format", "json", "--from", "Listener/http", "--depth", "1", "--kind", "host", "gateway.yaml"]);
    let nodes = json(&part.out)["nodes"].as_array().expect("nodes").clone();
    assert!(!nodes.is_empty() && nodes.iter().all(|node| node["resource"]["kind"] == "Host"), "{nodes:?}");
}

#[test]
fn snapshots_and_links_give_the_same_answer() {
    let folder = gateway();
    assert_eq!(folder.run(&["--dialect", "ambassador", "snapshot", "gateway.yaml", "-o", "gateway.json"]).code, 0);
    let link = folder.run(&["snapshot", "gateway.yaml", "--link", "https://page.example/"]);
    for command in [&["check"][..], &["compile"], &["ledger"], &["graph", "--format", "svg"]] {
        let run = |input: &str| {
            let run = folder.run(&[command, &[input]].concat());
            (run.code, run.out)
        };
        let straight = run("gateway.yaml");
        assert_eq!(run("gateway.json"), straight, "{command:?}");
        assert_eq!(run(link.out.trim()), straight, "{command:?}");
    }
    assert_eq!(folder.run(&["open", link.out.trim()]).out, folder.run(&["check", "gateway.yaml"]).out);
    let both = folder.run(&["check", "gateway.json", "gateway.yaml"]);
    assert_eq!(both.err, "chancery: gateway.json is a snapshot: it contains all its inputs, and cannot be read together with others\n");
}

/// An Envoy's dump: an active listener, a rejected cluster, an unknown extension.
const DUMP: &str = r#"{"configs": [
  {"@type": "type.googleapis.com/envoy.admin.v3.BootstrapConfigDump",
   "bootstrap": {"node": {"id": "a", "user_agent_build_version": {"version": {"major_number": 1, "minor_number": 40, "patch": 2}}}}},
  {"@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump", "dynamic_listeners": [{"name": "http", "active_state": {
    "version_info": "v7",
    "listener": {"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "http",
      "address": {"socket_address": {"address": "0.0.0.0", "port_value": 8080}},
      "listener_filters": [{"name": "ours", "typed_config": {"@type": "type.googleapis.com/acme.Ours", "deep": {"value": 1}}}]}}}]},
  {"@type": "type.googleapis.com/envoy.admin.v3.ClustersConfigDump", "dynamic_warming_clusters": [{
    "cluster": {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "slow"},
    "error_state": {"version_info": "v8", "details": "no such thing"}}]}
]}"#;

#[test]
fn a_dump_says_what_was_accepted_and_refused() {
    let folder = Folder::with(&[("dump.json", DUMP), ("cut.json", &DUMP[..400]), ("gateway.yaml", GATEWAY)]);
    let run = folder.run(&["dump", "read", "dump.json"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert_snapshot!("dump_read", run.out);
    let read = json(&folder.run(&["dump", "read", "--format", "json", "dump.json"]).out);
    assert_eq!(read["envoy_version"], "1.40.2");
    assert_eq!(read["refused"][0]["details"], "no such thing");
    assert_eq!(read["listeners"][0]["address"], "0.0.0.0:8080");
    for (file, why) in [("cut.json", "chancery: cut.json is truncated or broken"), ("gateway.yaml", "chancery: gateway.yaml is neither")] {
        let wrong = folder.run(&["dump", "read", file]);
        assert!(wrong.code == 2 && wrong.err.starts_with(why), "{}", wrong.err);
    }
    let drift = folder.run(&["drift", "--exit-code", "gateway.yaml", "dump.json"]);
    assert_eq!(drift.code, 1);
    assert!(drift.out.contains("- cluster cluster_quote_80_default") && drift.out.contains("refused cluster slow in version v8"), "{}", drift.out);
}

#[test]
fn a_conversion_ends_with_its_proof() {
    let folder = gateway();
    let run = folder.run(&["convert", "mapping-to-httpproxy", "gateway.yaml"]);
    assert_eq!(run.code, 0);
    assert!(run.out.contains("kind: HTTPProxy") && run.err.contains("request"), "{}", run.err);
    let without = folder.run(&["convert", "--no-proof", "mapping-to-httpproxy", "gateway.yaml"]);
    assert_eq!(without.out, run.out);
    assert!(!without.err.contains("Requests that change") && !without.err.contains("No request changes"), "{}", without.err);
}

#[test]
fn why_prints_the_way_with_its_fields() {
    let folder = gateway();
    let run = folder.run(&["why", "Listener/http", "cluster_quote_80_default", "gateway.yaml"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert_snapshot!("why", run.out);
    let wrong = folder.run(&["why", "Listener/htpt", "quote", "gateway.yaml"]);
    assert_eq!((wrong.code, wrong.err.as_str()), (2, "chancery: there is no `Listener/htpt` in the graph; did you mean `http`?\n"));
}

#[test]
fn the_graph_shows_what_is_missing() {
    let folder = gateway();
    assert_snapshot!("graph_dot", folder.run(&["graph", "--resources", "gateway.yaml"]).out);
    assert_snapshot!("graph_mermaid", folder.run(&["graph", "--resources", "--format", "mermaid", "gateway.yaml"]).out);
    let graph = json(&folder.run(&["graph", "--format", "json", "gateway.yaml"]).out);
    let ids: Vec<&str> = graph["nodes"].as_array().expect("nodes").iter().filter_map(|node| node["id"].as_str()).collect();
    for edge in graph["edges"].as_array().expect("edges") {
        assert!(ids.contains(&edge["from"].as_str().expect("from")) && ids.contains(&edge["to"].as_str().expect("to")), "{edge}");
    }
}

#[test]
fn colours_are_for_terminals() {
    let folder = gateway();
    assert!(!folder.run(&["check", "gateway.yaml"]).out.contains('\u{1b}'));
    assert!(folder.run(&["check", "--color", "always", "gateway.yaml"]).out.contains('\u{1b}'));
    assert!(!folder.run_with(&["check", "--color", "never", "gateway.yaml"], &[("NO_COLOR", "1")], "").out.contains('\u{1b}'));
}

#[test]
fn key_material_shows_only_when_asked_for() {
    let secret = "\
apiVersion: v1
kind: Secret
metadata: {name: cert}
type: kubernetes.io/tls
data:
  tls.crt: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1BPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=
  tls.key: LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1BPT0KLS0tLS1FTkQgUFJJVkFURSBLRVktLS0tLQo=
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: secure}
spec:
  hostname: example.com
  tlsSecret: {name: cert}
---
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: https}
spec: {port: 8443, protocol: HTTPS, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
";
    let folder = Folder::with(&[("tls.yaml", secret), ("broken.yaml", "apiVersion: v1\nkind: Secret\ndata:\n\ttls.key: TOPSECRET\n")]);
    for args in [
        &["compile", "tls.yaml"][..],
        &["compile", "--output", "xds", "--output", "ir", "--output", "config", "tls.yaml"],
        &["check", "tls.yaml"],
        &["check", "broken.yaml"],
        &["explain", "tls.yaml:7", "tls.yaml"],
        &["explain", "broken.yaml:4", "broken.yaml"],
        &["ledger", "tls.yaml"],
        &["graph", "--format", "json", "tls.yaml"],
    ] {
        let run = folder.run(args);
        for leak in ["LS0tLS1CRUdJTi", "PRIVATE KEY", "TOPSECRET"] {
            assert!(!run.out.contains(leak) && !run.err.contains(leak), "{args:?} shows {leak}");
        }
    }
    assert!(folder.run(&["compile", "--with-secrets", "tls.yaml"]).out.contains("PRIVATE KEY"));
}

#[test]
fn invalid_utf8_is_one_finding_per_file() {
    let folder = Folder::new();
    folder.write(
        "latin1.yaml",
        b"# caf\xe9\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: a}\nspec: {prefix: /a/, service: a, hostname: '*'}\n",
    );
    let run = folder.run(&["check", "--format", "json", "latin1.yaml"]);
    let found = &json(&run.out)["diagnostics"][0];
    assert_eq!((run.code, &found["line"], &found["column"]), (1, &1.into(), &6.into()));
    assert_eq!(found["message"], "the text is not UTF-8: byte 5 is invalid");
    assert_eq!(json(&folder.run(&["ledger", "--format", "json", "latin1.yaml"]).out)["ledger"][0]["resource"]["name"], "a");
}

#[test]
fn hostile_texts_end_with_findings() {
    let deep = format!("a: {}1{}\n", "[".repeat(10_000), "]".repeat(10_000));
    let bomb: String = (1..40).fold("a0: &a0 [x, x]\n".into(), |text, at| format!("{text}a{at}: &a{at} [*a{0}, *a{0}]\n", at - 1));
    let long = format!(
        "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: a}}\nspec: {{prefix: /a/, service: a, hostname: '*', typo: \"{}\"}}\n",
        "x".repeat(100_000)
    );
    for text in [deep.as_str(), &bomb, &long, "\u{0}\u{1}\u{2}", "---\n---\n", "\u{feff}a: 1\n", "- 1\n- 2\n", "{{ template }}\n", "\t\t\n"] {
        for args in [&["check", "-"][..], &["ledger", "-"], &["graph", "-"], &["explain", "stdin:1", "-"], &["compile", "-"]] {
            let run = gateway().run_with(args, &[], text);
            assert!([0, 1, 2].contains(&run.code) && !run.err.contains("fault"), "{args:?} {}: {}", run.code, run.err);
            assert!(run.out.len() < 200_000);
        }
    }
}

#[test]
fn registries_are_listed() {
    let folder = Folder::new();
    assert_snapshot!("kinds", folder.run(&["kinds"]).out);
    let of_contour = folder.run(&["kinds", "--dialect", "contour"]).out;
    assert!(of_contour.contains("HTTPProxy") && !of_contour.contains("Mapping"), "{of_contour}");
    let codes = json(&folder.run(&["codes", "--format", "json"]).out);
    for code in codes["codes"].as_array().expect("codes") {
        assert_eq!(folder.run(&["codes", code["code"].as_str().expect("a name")]).code, 0);
    }
}

#[cfg(not(feature = "playground"))]
#[test]
fn play_without_page_reports_how_to_get_it() {
    let run = Folder::new().run(&["play"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("`cargo xtask binary` builds one file that contains it"), "{}", run.err);
}

#[test]
fn play_serves_page_with_its_own_policy() {
    let text = |path: &str| std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a file of the repository");
    let index = text("../index.html");
    let stated =
        index.split("content=\"").find_map(|part| part.split('"').next().filter(|policy| policy.starts_with("default-src"))).expect("a policy");
    assert!(text("src/play/serve.rs").contains(&format!("\"{stated};")), "{stated}");
}

#[test]
fn help_has_examples_everywhere() {
    let folder = Folder::new();
    assert_snapshot!("help", folder.run(&["--help"]).out);
    for command in ["compile", "check", "explain", "graph", "ledger", "codes", "completions", "play"] {
        assert!(folder.run(&[command, "--help"]).out.contains("Example"), "{command}");
    }
    assert!(folder.run(&["completions", "bash"]).out.contains("chancery"));
    assert!(folder.run(&["man"]).out.contains(".TH"));
    folder.run(&["man", "--out-dir", "man"]);
    assert!(folder.read("man/chancery-explain.1").contains("chancery"));
}

/// A gateway with this many Mappings whose prefix and rewrite do not match.
fn shops(count: usize) -> String {
    let mut text = String::from(
        "apiVersion: getambassador.io/v3alpha1\nkind: Listener\nmetadata: {name: http}\nspec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}\n---\napiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {name: all}\nspec: {hostname: '*', requestPolicy: {insecure: {action: Route}}}\n",
    );
    for number in 0..count {
        text.push_str(&format!("---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: shop{number}}}\nspec: {{hostname: '*', prefix: /shop{number}, service: shop{number}}}\n"));
    }
    text
}

#[test]
fn flags_set_the_severity_of_findings() {
    let folder = Folder::with(&[("shop.yaml", &shops(1))]);
    let check = |severity: &str| folder.run(&["check", "--severity", severity, "shop.yaml"]);
    assert_eq!(folder.run(&["check", "shop.yaml"]).code, 0);
    let run = check("rewrite-slashes=error");
    assert_eq!(run.code, 1, "{}", run.out);
    assert!(run.out.contains("error[rewrite-slashes]"), "{}", run.out);
    assert!(!check("rewrite-slashes=off").out.contains("rewrite-slashes"));
    let run = check("rewrite-slash=off");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("did you mean `rewrite-slashes`?"), "{}", run.err);
}

#[test]
fn dump_as_input_supports_graph_and_route() {
    let folder = Folder::with(&[("shop.yaml", &shops(2))]);
    assert_eq!(folder.run(&["compile", "shop.yaml", "-o", "envoy.json"]).code, 0);
    let run = folder.run(&["route", "--format", "json", "http://a/shop1/x", "envoy.json"]);
    assert!(run.out.contains("cluster_shop1_default"), "{} {}", run.out, run.err);
    let run = folder.run(&["why", "listener:http", "cluster:cluster_shop1_default", "envoy.json"]);
    assert_eq!(run.code, 0, "{} {}", run.out, run.err);
    assert!(folder.run(&["graph", "--format", "mermaid", "envoy.json"]).out.contains("/shop1*"));
}

#[test]
fn graph_too_large_is_folded_with_notice() {
    let folder = Folder::with(&[("shop.yaml", &shops(40))]);
    let run = folder.run(&["graph", "--format", "mermaid", "--fold", "20", "shop.yaml"]);
    assert!(run.out.contains("40 × Mapping") && !run.out.contains("shop17"), "{}", run.out);
    assert!(run.err.contains("are joined by kind"), "{}", run.err);
    assert!(folder.run(&["graph", "--format", "mermaid", "--fold", "0", "shop.yaml"]).out.contains("shop17"));
}

/// Two dialects in one input.
const BOTH: &str = "\
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
metadata: {name: shop}
spec: {hostname: shop.example.com, prefix: /shop/, service: web}
---
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: shop}
spec:
  virtualhost: {fqdn: shop.example.com}
  routes:
  - conditions: [{prefix: /shop}]
    services: [{name: web, port: 80}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}]}
";

fn both() -> Folder {
    Folder::with(&[("both.yaml", BOTH)])
}

#[test]
fn check_two_dialects_reports_findings_and_shared_claims() {
    let run = both().run(&["check", "both.yaml"]);
    assert_snapshot!("check_side_by_side", run.out);
}

#[test]
fn ledger_shows_both_dialects() {
    assert_snapshot!("ledger_side_by_side", both().run(&["ledger", "both.yaml"]).out);
    let rows = json(&both().run(&["ledger", "both.yaml", "--format", "json"]).out)["ledger"].clone();
    assert!(rows.as_array().expect("rows").iter().all(|row| row["dialect"].is_string()));
}

#[test]
fn compile_gives_one_answer_for_each_dialect() {
    let folder = both();
    let run = folder.run(&["compile", "both.yaml"]);
    assert_eq!(run.code, 0);
    let several = "chancery: the input is of several dialects: there is one answer for each (ambassador, contour); --dialect chooses one\n";
    assert_eq!(run.err, format!("{}{several}", assumed(1)));
    let answers = json(&run.out);
    for dialect in ["ambassador", "contour"] {
        let alone = folder.run(&["compile", "both.yaml", "--dialect", dialect]);
        assert_eq!(alone.code, 0);
        assert_eq!(answers[dialect], json(&alone.out), "{dialect}");
    }
    assert_eq!(folder.run(&["compile", "both.yaml", "--out-dir", "out"]).code, 0);
    assert_eq!(json(&folder.read("out/contour/envoy.json")), answers["contour"]);
}

#[test]
fn compile_dialect_output_is_written_for_it_alone() {
    let run = both().run(&["compile", "both.yaml", "--output", "status", "--output", "ir", "--format", "yaml"]);
    assert_eq!(run.code, 0);
    let of = |name: &str| run.out.split(&format!("{name}:\n")).nth(1).unwrap_or_default().to_string();
    assert!(!of("ambassador").split("contour:\n").next().unwrap_or_default().contains("  status:"));
    assert!(of("contour").contains("  status:"));
}

#[test]
fn a_place_explains_the_resource_it_concerns() {
    let folder = both();
    let mapping = folder.run(&["explain", "both.yaml:14"]).out;
    assert!(mapping.contains("ambassador › ") && !mapping.contains("contour › "), "{mapping}");
    assert!(mapping.contains("ambassador: Mapping") && !mapping.contains("contour: Mapping"), "{mapping}");
    let service = folder.run(&["explain", "both.yaml:27"]).out;
    assert!(service.contains("ambassador: Service") && service.contains("contour: Service"), "{service}");
    let why = folder.run(&["why", "HTTPProxy/shop", "contour/cluster:default/web/80/da39a3ee5e", "both.yaml"]);
    assert_eq!(why.code, 0, "{}", why.err);
    let dot = folder.run(&["graph", "both.yaml"]).out;
    assert!(dot.contains("Envoy of ambassador") && dot.contains("Envoy of contour"));
}

#[test]
fn diff_compares_gateway_by_gateway() {
    let folder = both();
    assert_eq!(folder.run(&["diff", "both.yaml", "both.yaml"]).out, "Nothing differs.\n");
    let text = folder.read("both.yaml");
    folder.write("slower.yaml", text.replace("prefix: /", "prefix: /other").as_bytes());
    let run = folder.run(&["diff", "--exit-code", "both.yaml", "slower.yaml"]);
    assert_snapshot!("diff_side_by_side", format!("{}\n{}", run.code, run.out));
    let data = json(&folder.run(&["diff", "--format", "json", "both.yaml", "slower.yaml"]).out);
    let gateways = data["gateways"].as_object().expect("gateways by name");
    assert!(gateways.values().all(|of| of["state"] == "compared" && of["envoy"].is_array()), "{gateways:?}");
    // A dialect that only one input contains.
    let alone = text.split("---").filter(|part| !part.contains("projectcontour.io")).collect::<Vec<_>>().join("---");
    folder.write("alone.yaml", alone.as_bytes());
    let run = folder.run(&["diff", "--exit-code", "both.yaml", "alone.yaml"]);
    assert!(run.code == 1 && run.out.contains("this gateway is gone"), "{}{}", run.out, run.err);
    assert!(folder.run(&["diff", "--format", "github", "alone.yaml", "both.yaml"]).out.contains("gateway contour"));
    assert!(folder.run(&["diff", "--format", "markdown", "both.yaml", "slower.yaml"]).out.contains("## Gateway "));
}

#[test]
fn diff_contour_configuration_names_required_restart() {
    let version = |port: u32, timeout: &str| {
        format!(
            "apiVersion: projectcontour.io/v1alpha1\nkind: ContourConfiguration\nmetadata: {{name: contour, namespace: projectcontour}}\nspec:\n  \
             xdsServer: {{port: {port}}}\n  envoy: {{timeouts: {{requestTimeout: {timeout}}}}}\n"
        )
    };
    let folder = Folder::with(&[("old.yaml", &version(8001, "1s")), ("new.yaml", &version(8002, "2s"))]);
    let run = folder.run(&["diff", "old.yaml", "new.yaml", "--controller-arg=--contour-config-name=contour"]);
    assert!(run.out.contains("xdsServer.port restarts the process"), "{}", run.out);
    assert!(run.out.contains("envoy.timeouts.requestTimeout takes effect without a restart"), "{}", run.out);
    let life = json(&folder.run(&["compile", "new.yaml", "--output", "life", "--controller-arg=--contour-config-name=contour"]).out);
    assert_eq!((life["serving"].as_str(), life["contourConfiguration"]["name"].as_str()), (Some("ready"), Some("contour")));
}

#[test]
fn graph_shows_objects_of_provisioner_with_owner() {
    let gateway = "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: contour}\nspec: {controllerName: \
                   projectcontour.io/gateway-controller}\n---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: edge, \
                   namespace: default}\nspec: {gatewayClassName: contour, listeners: [{name: http, protocol: HTTP, port: 80}]}\n";
    let folder = Folder::with(&[("gateway.yaml", gateway)]);
    let graph = json(&folder.run(&["graph", "--format", "json", "--controller=gateway-provisioner", "gateway.yaml"]).out);
    let nodes = graph["nodes"].as_array().expect("nodes");
    assert!(nodes.iter().any(|node| node["id"] == "DaemonSet/envoy-edge/default" && node["kind"] == "created"));
    let edges = graph["edges"].as_array().expect("edges");
    let owns = edges.iter().filter(|edge| edge["relation"] == "owns" && edge["from"] == "Gateway/edge/default");
    assert_eq!(owns.count(), nodes.iter().filter(|node| node["kind"] == "created").count());
}

#[test]
fn an_option_that_changes_nothing_is_refused() {
    let run = gateway().run(&["check", "--controller-arg=--root-namespaces=a", "gateway.yaml"]);
    let expected =
        "chancery: --controller-arg is an option of contour, ingress-nginx, and the input is read as ambassador's; --dialect contour reads it so\n";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (2, "", expected));
}

#[test]
fn an_input_without_an_envoy_names_its_outputs() {
    let ingress = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: web\n  annotations:\n    kubernetes.io/ingress.class: azure/application-gateway\n    appgw.ingress.kubernetes.io/cookie-based-affinity: 'true'\nspec: {defaultBackend: {service: {name: web, port: {number: 80}}}}\n";
    let folder = Folder::with(&[("ingress.yaml", ingress)]);
    let run = folder.run(&["compile", "--dialect", "ingress", "--output", "envoy", "ingress.yaml"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert!(run.err.contains("`chancery compile --output` writes appgw"), "{}", run.err);
    // The default output is the gateway's configuration.
    let parts = json(&folder.run(&["compile", "--dialect", "ingress", "ingress.yaml"]).out);
    assert!(parts["properties"]["backendAddressPools"].is_array(), "{parts}");
    // Its own annotation is not another controller's.
    assert!(!folder.run(&["check", "--dialect", "ingress", "ingress.yaml"]).out.contains("foreign-annotation"));
}
