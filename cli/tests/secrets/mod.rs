//! Tests that no command prints a secret of its input, and that an input without resources is refused.

use super::{Folder, Run};
use chancery_tests::leaks::{self, Leak};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Every command that reads resources. Formats are added from the command's `--help`. `LINE` becomes a line of the input, `LINK` a link
/// to a page that contains the input, and `EACH` each accepted word.
const COMMANDS: &[&[&str]] = &[
    &["check", "in.yaml"],
    &["check", "--fix", "--diff", "in.yaml"],
    &["check", "--dialect", "consul", "in.yaml"],
    &["check", "--dialect", "ingress", "in.yaml"],
    &["test", "--coverage", "requests.test.yaml", "in.yaml"],
    &["test", "--write", "in.yaml"],
    &["replay", "requests.log", "--after", "in.yaml", "--host", "shop.example.com", "--log-format", "$request_method $request_uri $status"],
    &["compile", "in.yaml"],
    &["compile", "--origins", "--output", "ir", "in.yaml"],
    &["compile", "--dialect", "ambassador", "in.yaml"],
    &["compile", "--dialect", "contour", "in.yaml"],
    &["compile", "--dialect", "consul", "in.yaml"],
    &["compile", "--dialect", "ingress", "in.yaml"],
    &["test", "requests.test.yaml", "in.yaml"],
    &["explain", "in.yaml:LINE"],
    &["explain", "--dialect", "consul", "in.yaml:LINE"],
    &["explain", "Secret/shop", "in.yaml"],
    &["explain", "/static_resources", "in.yaml"],
    &["graph", "in.yaml"],
    &["why", "Host/shop", "Mapping/shop", "in.yaml"],
    &["ledger", "in.yaml"],
    &["watches", "--dialect", "consul", "in.yaml"],
    &["route", "https://shop.example.com/", "in.yaml"],
    &["route", "http://shop.example.com/m/", "in.yaml"],
    &["snapshot", "in.yaml"],
    &["snapshot", "--link", "https://page.example/", "in.yaml"],
    &["open", "LINK"],
    &["diff", "other.yaml", "in.yaml"],
    &["diff", "in.yaml", "other.yaml"],
    &["drift", "in.yaml", "dump.json"],
    &["drift", "other.yaml", "in.yaml"],
    &["dump", "read", "in.yaml"],
    &["convert", "EACH", "in.yaml"],
    &["across", "in.yaml"],
];

/// Commands that follow files until they are stopped.
const FOLLOWERS: &[&[&str]] =
    &[&["watch", "inputs"], &["serve", "inputs", "--xds", "127.0.0.1:0", "--diagnostics", "127.0.0.1:0", "--snapshots", "off", "--ready", "off"]];

/// Commands that read no resources, or leave this to the commands above: their output contains nothing of an input.
const OTHERS: &[&str] = &[
    "config",
    "kinds",
    "codes",
    "bootstrap",
    "collect",
    "manifests",
    "envoys",
    "events",
    "play",
    "desktop",
    "lsp",
    "mcp",
    "completions",
    "man",
    "help",
];

const OTHER: &str =
    "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: o, namespace: default}\nspec: {hostname: '*', prefix: /o/, service: o}\n";

const TESTS: &str = "tests:\n- request: https://shop.example.com/\n  expect: {outcome: forward}\n";

fn all(run: &Run) -> String {
    format!("{}\n{}", run.out, run.err)
}

/// The subcommands that `--help` lists.
fn subcommands(folder: &Folder) -> Vec<String> {
    let help = folder.run(&["--help"]).out;
    let (_, listed) = help.split_once("Commands:\n").expect("a list of commands");
    let lines = listed.lines().take_while(|line| !line.is_empty());
    lines
        .filter_map(|line| line.strip_prefix("  "))
        .filter_map(|line| line.split(' ').next())
        .filter(|word| !word.is_empty())
        .map(Into::into)
        .collect()
}

/// The accepted words of a flag or an argument, as `--help` of the command lists them.
fn words_of(folder: &Folder, command: &str, flag: &str) -> Vec<String> {
    let help = folder.run(&[command, "--help"]).out;
    let is_entry = |line: &&str| line.starts_with("      --") || line.starts_with("  [") || line.starts_with("  <") || line.starts_with("  -");
    let lines = help.lines().skip_while(|line| !line.trim_start().starts_with(flag)).skip(1).take_while(|line| !is_entry(line));
    lines.filter_map(|line| Some(line.trim_start().strip_prefix("- ")?.split_once(':')?.0.to_string())).collect()
}

/// Every command in every format.
fn in_every_format(folder: &Folder) -> Vec<Vec<String>> {
    let mut runs = Vec::new();
    for command in COMMANDS {
        let words: Vec<String> = command.iter().map(|word| (*word).into()).collect();
        let mut of_command = match command.contains(&"EACH") {
            false => vec![words],
            true => {
                let each = words_of(folder, command[0], "<");
                assert!(!each.is_empty(), "{command:?} says no words");
                each.iter().map(|word| words.iter().map(|old| if old == "EACH" { word.clone() } else { old.clone() }).collect()).collect()
            }
        };
        for flag in ["--output", "--format"] {
            let with = words_of(folder, command[0], &format!("{flag} <"));
            if command.contains(&flag) || with.is_empty() {
                continue;
            }
            let add = |words: &Vec<String>, word: &String| words.iter().cloned().chain([flag.into(), word.clone()]).collect();
            of_command = of_command.iter().flat_map(|words| with.iter().map(move |word| add(words, word))).collect();
        }
        runs.extend(of_command);
    }
    runs
}

#[test]
fn secrets_tests_cover_every_command() {
    let folder = Folder::new();
    let listed = subcommands(&folder);
    assert!(listed.len() > 20, "{listed:?}");
    let known = |name: &String| OTHERS.contains(&name.as_str()) || COMMANDS.iter().chain(FOLLOWERS).any(|words| words[0] == name);
    let unknown: Vec<&String> = listed.iter().filter(|name| !known(name)).collect();
    assert!(unknown.is_empty(), "no list has the commands {unknown:?}: do they read resources?");
    let reads = |name: &&&str| folder.run(&[name, "--help"]).out.lines().any(|line| line.starts_with("Usage:") && line.contains("INPUT"));
    let wrong: Vec<&&str> = OTHERS.iter().filter(reads).collect();
    assert!(wrong.is_empty(), "these commands read resources: {wrong:?}");
    let formats = in_every_format(&folder);
    for (command, format) in [("check", "sarif"), ("compile", "status"), ("graph", "svg"), ("diff", "markdown"), ("convert", "contour-configmap")] {
        assert!(formats.iter().any(|words| words[0] == command && words.iter().any(|word| word == format)), "{command} in {format} is not tried");
    }
}

/// Set `CHANCERY_LEAK_EVERY` to 1 to run every command with every input.
#[test]
fn values_of_secrets_are_in_no_output() {
    let every = std::env::var("CHANCERY_LEAK_EVERY").ok().and_then(|every| every.parse().ok()).unwrap_or(EVERY);
    let commands = in_every_format(&Folder::new());
    let leaks: Vec<(usize, Leak)> = leaks::all().into_iter().enumerate().collect();
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let parts = leaks.chunks(leaks.len().div_ceil(threads));
    let results: Vec<(usize, Vec<String>)> = std::thread::scope(|scope| {
        let running: Vec<_> = parts.map(|part| scope.spawn(|| run_commands(part, &commands, every))).collect();
        running.into_iter().map(|part| part.join().expect("a thread without panic")).collect()
    });
    let runs: usize = results.iter().map(|(runs, _)| runs).sum();
    let found: Vec<String> = results.into_iter().flat_map(|(_, found)| found).collect();
    assert!(runs > 1000 && found.is_empty(), "{} of {runs} leak:\n{}", found.len(), found.join("\n"));
}

/// Runs commands with inputs. Returns how many ran, and the secrets that they printed.
fn run_commands(leaks: &[(usize, Leak)], commands: &[Vec<String>], every: usize) -> (usize, Vec<String>) {
    let (mut runs, mut found) = (0, Vec::new());
    for (number, leak) in leaks {
        let folder = Folder::with(&[
            ("in.yaml", leak.text.as_str()),
            ("other.yaml", OTHER),
            ("dump.json", "{\"static_resources\": {}}"),
            ("requests.test.yaml", TESTS),
            ("requests.log", "GET / 200\n"),
        ]);
        let lines = leak.text.lines().count();
        for (at, command) in commands.iter().enumerate() {
            // Each input runs with some commands, each command with some inputs.
            if (number + at) % every != 0 {
                continue;
            }
            runs += 1;
            let line = (1 + (number * 7 + at) % lines).to_string();
            let link =
                || folder.run(&["snapshot", "--with-secrets", "--allow-empty", "--link", "https://page.example/", "in.yaml"]).out.trim().to_string();
            let words: Vec<String> = command.iter().map(|word| if word == "LINK" { link() } else { word.replace("LINE", &line) }).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let run = folder.run(&words);
            assert_ne!(run.code, 101, "{words:?} of {}: {}", leak.name, run.err);
            found.extend(leak.found_in(&all(&run)).map(|what| format!("{}: {command:?}: {what}", leak.name)));
        }
    }
    (runs, found)
}

/// Each input runs with one of this many commands.
const EVERY: usize = 23;

/// Returns the output of a command that does not exit, until it has printed the result of the files.
fn followed(folder: &Folder, command: &[&str], format: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_chancery"))
        .args(command)
        .args(["--format", format])
        .current_dir(folder.0.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let (out, mut err) = (child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
    let (send, lines) = channel();
    let reader = std::thread::spawn(move || BufReader::new(out).lines().map_while(Result::ok).for_each(|line| drop(send.send(line))));
    let said = std::thread::spawn(move || {
        let mut text = String::new();
        err.read_to_string(&mut text).map(|_| text).unwrap_or_default()
    });
    let mut printed = String::new();
    // The first build may take some time; its output arrives at once.
    let mut wait = Duration::from_secs(120);
    while let Ok(line) = lines.recv_timeout(wait) {
        printed.push_str(&line);
        printed.push('\n');
        if line.contains(" inputs in ") || line.contains("\"build\"") {
            wait = Duration::from_secs(2);
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    let _ = reader.join();
    printed + &said.join().unwrap_or_default()
}

#[test]
fn followers_never_print_secret_values() {
    let leaks = leaks::all();
    let folder = Folder::new();
    leaks.iter().enumerate().for_each(|(at, leak)| folder.write(&format!("inputs/{at}.yaml"), leak.text.as_bytes()));
    for command in FOLLOWERS {
        for format in words_of(&folder, command[0], "--format <") {
            let printed = followed(&folder, command, &format);
            assert!(printed.contains("inputs"), "{command:?} {format} has read the files: {printed}");
            // Each input numbers its marks from one, so many inputs contain the same mark.
            let found = leaks.iter().find_map(|leak| leak.found_in(&printed));
            assert_eq!(found, None, "{command:?} {format}");
        }
    }
}

/// A running Envoy with inline keys, users and tokens.
const DUMP: &str = r#"{"static_resources": {
  "listeners": [{"name": "l", "address": {"socket_address": {"address": "0.0.0.0", "port_value": 8443}}, "filter_chains": [{
    "transport_socket": {"name": "envoy.transport_sockets.tls", "typed_config": {
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
      "common_tls_context": {"tls_certificates": [{"private_key": {"inline_string": "-----BEGIN PRIVATE KEY-----\nhushhush1\n-----END PRIVATE KEY-----"}, "password": {"inline_string": "hushhush2"}}]}}}}]}],
  "secrets": [{"name": "s", "generic_secret": {"secret": {"inline_string": "hushhush3"}}}],
  "clusters": [{"name": "c", "type": "STATIC", "load_assignment": {"cluster_name": "c"}, "health_checks": [{
    "http_health_check": {"path": "/", "request_headers_to_add": [{"header": {"key": "Authorization", "value": "Bearer hushhush4"}}]}}]}]}}"#;

#[test]
fn dump_keys_are_in_no_output() {
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
fn word_of_name_is_hidden_only_as_setting() {
    let output = |document: &str| {
        let service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: warehouse-api, namespace: default}\nspec: {ports: [{port: 80}]}\n";
        let text = format!("{}{service}---\n{document}", OTHER.replace("service: o", "service: warehouse-api"));
        let folder = Folder::with(&[("in.yaml", text.as_str())]);
        all(&folder.run(&["compile", "--output", "config", "in.yaml"]))
    };
    let data = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {ACCESS_KEY: warehouse}\n";
    assert!(output(data).contains("warehouse-api"), "no output copies the value");
    let setting = OTHER.replace("service: o", "service: other, add_request_headers: {x-token: {value: warehouse}}").replace("name: o", "name: p");
    assert!(!output(&setting).contains("warehouse"), "the configuration has the value");
}

#[test]
fn redaction_keeps_file_names_of_places() {
    let text = OTHER.replace("service: o", "service: operator/operator, add_request_headers: {x-token: {value: operator}}");
    let folder = Folder::with(&[("operator/in.yaml", text.as_str())]);
    let run = folder.run(&["check", "operator"]);
    let place = run.out.lines().find_map(|line| line.trim_start().strip_prefix("--> ")).expect("a place").to_owned();
    assert!(place.starts_with("operator/in.yaml:"), "{}", run.out);
    let explained = folder.run(&["explain", &place, "operator"]);
    assert_eq!(explained.code, 0, "{}", all(&explained));
    assert!(!explained.out.contains("operator/operator"), "the value itself stays hidden: {}", explained.out);
}

#[test]
fn input_without_resources_is_refused_unless_allowed() {
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
