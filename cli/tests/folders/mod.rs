//! Tests folders, arguments and limits: which files are read.
//!
//! Does not test a whole repository; see `demo`.

use crate::{Folder, GATEWAY, json};

const MAPPING: &str =
    "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: a}\nspec: {prefix: /a/, service: a, hostname: '*', timout_ms: 1}\n";

#[test]
fn requests_objects_and_files_are_distinguished() {
    let folder = Folder::with(&[("good.yaml", GATEWAY)]);
    let cases: &[(&[&str], &str)] = &[
        (&["route", "good.yaml"], "chancery: good.yaml is a file, where the URL of a request belongs: chancery route URL good.yaml\n"),
        (
            &["route", "good.yaml", "http://a.org/"],
            "chancery: good.yaml is a file, where the URL of a request belongs: chancery route http://a.org/ good.yaml\n",
        ),
        (
            &["check", "http://a.org/"],
            "chancery: http://a.org/ is a URL, where a file or folder belongs; `chancery route URL INPUT` tries a request\n",
        ),
        (
            &["check", "Mapping/quote"],
            "chancery: Mapping/quote is the name of an object, where a file or folder belongs; `chancery explain Mapping/quote INPUT` tells about it\n",
        ),
        (&["why", "quo", "http", "good.yaml"], "chancery: there is no `quo` in the graph; did you mean `quote`?\n"),
        (&["explain", "Mapping/quot", "good.yaml"], "chancery: there is no Mapping `quot` in the input; did you mean `quote`?\n"),
    ];
    for (args, sentence) in cases {
        let run = folder.run(args);
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (2, "", *sentence), "{args:?}");
    }
    let explained = folder.run(&["explain", "Mapping/quote", "good.yaml"]);
    assert!(explained.code == 0 && explained.out.contains("Mapping quote.default merged"), "{}{}", explained.out, explained.err);
}

#[test]
fn pointers_of_several_gateways_name_gateway() {
    let policies = include_str!("../../../assets/examples/envoy-gateway/policies.yaml");
    let another = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: other, namespace: shop}\n\
                   spec: {gatewayClassName: eg, listeners: [{name: http, protocol: HTTP, port: 81}]}\n";
    let folder = Folder::with(&[("in.yaml", format!("{policies}{another}").as_str())]);
    let line = 1 + policies.lines().position(|line| line.contains("requestTimeout")).expect("the timeout");
    let target = format!("in.yaml:{line}");
    let data = json(&folder.run(&["explain", &target, "in.yaml", "--format", "json"]).out);
    let made = data["made"].as_array().expect("a list").iter().find(|made| made["value"] == "5s").expect("the timeout");
    let pointer = made["pointer"].as_str().expect("a pointer");
    // The pointer leads to the value in the output of `compile`, and back to the line.
    let compiled = json(&folder.run(&["compile", "--output", "envoy", "in.yaml"]).out);
    assert_eq!(compiled.pointer(pointer).and_then(|value| value.as_str()), Some("5s"), "{pointer}");
    let back = json(&folder.run(&["explain", pointer, "in.yaml", "--format", "json"]).out);
    assert_eq!((&back["value"], &back["origins"][0]["line"]), (&"5s".into(), &line.into()));
    // Text has the same pointers.
    let text = folder.run(&["explain", &target, "in.yaml"]).out;
    assert!(text.contains("      /shop~1eg/static_resources/"), "{text}");
    let nothing = folder.run(&["explain", "/shop~1other/static_resources/nothing", "in.yaml"]).out;
    assert!(nothing.contains("nothing is set there") && !nothing.contains("writes this value"), "{nothing}");
}

#[test]
fn named_file_is_always_read() {
    let folder = Folder::with(&[("a/package.json", "{\"name\": \"x\"}"), ("a/a.yaml", MAPPING), ("a/tsconfig.json", "{\n  // a comment\n}\n")]);
    assert_eq!(folder.run(&["check", "a"]).code, 0);
    assert_eq!(folder.run(&["check", "a/package.json"]).code, 1);
    assert_eq!(folder.run(&["check", "a"]).err, "chancery: 2 files are skipped because no controller reads them: a/package.json, a/tsconfig.json\n");
    let single = folder.run(&["check", "a", "--exclude", "package.json"]);
    assert_eq!(single.err, "chancery: 1 file is skipped because no controller reads it: a/tsconfig.json\n");
    let excluded = folder.run(&["check", "a", "--exclude", "*.json"]);
    assert_eq!((excluded.code, excluded.err.as_str()), (0, ""));
}

#[test]
fn flags_of_deployed_controller_are_named() {
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: c, namespace: ops}\nspec: {template: {spec: {containers: [{name: c, args: [/nginx-ingress-controller, --election-id=a, --enable-ssl-passthrough]}]}}}\n";
    let ingress =
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a}\nspec: {ingressClassName: nginx, rules: [{host: a.example.com}]}\n";
    let folder = Folder::with(&[("a/deployment.yaml", deployment), ("a/a.yaml", ingress)]);
    let named = "a/deployment.yaml gives flags to ingress-nginx that change answers; pass them: --controller-arg=--enable-ssl-passthrough\n";
    let run = folder.run(&["check", "a"]);
    assert!(run.err.contains(named), "{}", run.err);
    assert!(!folder.run(&["check", "a", "--controller-arg=--enable-ssl-passthrough"]).err.contains("gives flags"));
}

#[test]
fn notices_of_assumed_objects_are_folded() {
    let path = |name: &str| format!("{{path: /{name}, pathType: Prefix, backend: {{service: {{name: {name}, port: {{number: 80}}}}}}}}");
    let paths = ["one", "two", "three", "four", "five"].map(path).join(", ");
    let ingress = format!(
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: a}}\nspec: {{ingressClassName: nginx, rules: [{{host: a.example.com, http: {{paths: [{paths}]}}}}]}}\n"
    );
    let folder = Folder::with(&[("a.yaml", &ingress)]);
    let folded = folder.run(&["check", "a.yaml", "--missing", "assume"]).out;
    assert!(folded.contains("; the same for `two`, `three` and 2 more; `--all` shows them"), "{folded}");
    assert_eq!(folded.matches("notice[assumed-object]: the Service ").count(), 1, "{folded}");
    let all = folder.run(&["check", "a.yaml", "--missing", "assume", "--all"]).out;
    assert_eq!(all.matches("notice[assumed-object]: the Service ").count(), 5, "{all}");
}

#[cfg(unix)]
#[test]
fn unreadable_file_is_an_error() {
    let folder = Folder::with(&[("a/a.yaml", MAPPING), ("b/only.json", "{}")]);
    let link = |name: &str| std::os::unix::fs::symlink("nowhere.yaml", folder.0.path().join(name)).expect("a link");
    link("a/b.yaml");
    for command in ["check", "compile", "ledger"] {
        let run = folder.run(&[command, "a"]);
        let is_told = run.err.starts_with("chancery: a/b.yaml is skipped: it is a link that leads nowhere\n");
        assert_eq!((run.code, is_told), (0, true), "{command}: {}", run.err);
    }
    assert_eq!(folder.run(&["check", "a", "--exclude", "b.yaml"]).err, "");
    let named = folder.run(&["check", "a/b.yaml"]);
    assert_eq!((named.code, named.err.as_str()), (2, "chancery: cannot read a/b.yaml: no such file or directory\n"));
    // Hidden files, such as an editor's locks, are skipped.
    std::fs::remove_file(folder.0.path().join("a/b.yaml")).expect("a link");
    link("a/.#a.yaml");
    link("a/bin");
    let run = folder.run(&["check", "a"]);
    assert_eq!((run.code, run.err.as_str()), (0, "chancery: a/bin is skipped: it is a link that leads nowhere\n"));
    let utf16 = |text: &str| [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect::<Vec<u8>>();
    std::fs::write(folder.0.path().join("a/tsconfig.json"), utf16("{}")).expect("a file");
    assert_eq!(folder.run(&["check", "a"]).code, 0, "what other programs read may be written as they like");
    std::fs::write(folder.0.path().join("b/only.yaml"), utf16(MAPPING)).expect("a file");
    let run = folder.run(&["check", "b"]);
    assert!(run.code == 2 && run.err.contains("cannot read b/only.yaml: its text is in UTF-16, and must be in UTF-8 (in PowerShell"), "{}", run.err);
}

#[cfg(unix)]
#[test]
fn file_without_permission_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with(&[("a/a.yaml", MAPPING), ("a/b.yaml", MAPPING)]);
    let path = folder.0.path().join("a/b.yaml");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).expect("permissions");
    if std::fs::read(&path).is_ok() {
        eprintln!("skipped: this user may read everything");
        return;
    }
    let run = folder.run(&["check", "a"]);
    assert_eq!((run.code, run.err.as_str()), (2, "chancery: cannot read a/b.yaml: permission denied; --exclude leaves files out\n"));
}

#[test]
fn resource_with_misspelled_group_is_read() {
    for version in ["gateway.getambassador.io/v3alpha1", "getambasador.io/v3alpha1"] {
        let slip = MAPPING.replace("getambassador.io/v3alpha1", version);
        let folder = Folder::with(&[("good.yaml", MAPPING), ("slip.yaml", &slip)]);
        let run = folder.run(&["check", "."]);
        assert!(run.out.contains("slip.yaml:") && !run.err.contains("skipped"), "{version}: {}{}", run.out, run.err);
    }
    let other = MAPPING.replace("getambassador.io/v3alpha1", "maps.example.com/v1");
    let folder = Folder::with(&[("good.yaml", MAPPING), ("other.yaml", &other)]);
    assert!(folder.run(&["check", "."]).err.contains("skipped"), "another program's kind of the same name");
}

#[test]
fn json_with_comments_is_reported_and_read() {
    let text = "{\n  // mine\n  \"apiVersion\": \"getambassador.io/v3alpha1\", \"kind\": \"Mapping\", \"metadata\": {\"name\": \"a\"},\n  \
                \"spec\": {\"prefix\": \"/a/\", \"service\": \"a\", \"hostname\": \"*\"}\n}\n";
    let run = Folder::with(&[("a.json", text)]).run(&["check", "."]);
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    assert!(run.out.contains("error[syntax]: JSON has no comments") && run.out.contains("a.json:2:3") && run.out.contains("Mapping a.default"));
}

#[test]
fn settings_below_current_folder_are_reported_as_unread() {
    let folder = Folder::with(&[("gw/a.yaml", MAPPING), ("gw/chancery.toml", "dialect = 'ambassador'\n")]);
    assert!(folder.run(&["check", "gw"]).err.contains("gw/chancery.toml is not read"));
    assert!(!folder.run_in("gw", &["check", "."]).err.contains("not read"));
    assert!(!folder.run(&["check", "--config", "gw/chancery.toml", "gw"]).err.contains("not read"));
}

#[test]
fn folder_of_other_files_is_refused() {
    let folder = Folder::with(&[("a/other.yaml", "a: 1\n"), ("b/kustomization.yaml", "resources: [../c]\n")]);
    for name in ["a", "b"] {
        let run = folder.run(&["check", name]);
        assert_eq!((run.code, run.err.ends_with(&format!("there is nothing that a dialect reads in {name}\n"))), (2, true), "{}", run.err);
    }
}

#[test]
fn requests_are_tested_against_an_application_gateway() {
    let input = include_str!("../../../assets/examples/ingress/paths.yaml");
    let test = "tests:\n- request: http://shop.example.com/api/\n  expect: {ending: {outcome: forwarded}}\n";
    let folder = Folder::with(&[("a.yaml", input), ("t.yaml", test)]);
    let run = folder.run(&["test", "t.yaml", "a.yaml"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    folder.write("t.yaml", test.replace("forwarded", "redirected").as_bytes());
    assert!(folder.run(&["test", "t.yaml", "a.yaml"]).out.contains("ending.outcome: expected \"redirected\", got \"forwarded\""));
    folder.write("t.yaml", test.replace("tests:", "test:").as_bytes());
    assert!(folder.run(&["test", "t.yaml", "a.yaml"]).err.contains("t.yaml has its requests under `test`: the list must be called `tests`"));
}

#[test]
fn exclude_pattern_with_slash_skips_kustomization() {
    let overlay = "resources: [../../base]\n";
    let files = [("base/kustomization.yaml", "resources: [m.yaml]\n"), ("base/m.yaml", MAPPING), ("overlays/dev/kustomization.yaml", overlay)];
    let folder = Folder::with(&files);
    assert!(folder.run(&["check", "."]).err.contains("overlays/dev"));
    for pattern in ["overlays/dev", "/overlays/dev", "overlays/dev/", "**/dev"] {
        assert!(!folder.run(&["check", "--exclude", pattern, "."]).err.contains("overlays/dev"), "{pattern}");
    }
}

#[cfg(unix)]
#[test]
fn line_break_in_file_name_is_escaped() {
    let folder = Folder::with(&[("a\n::error::x.yaml", MAPPING)]);
    for command in [&["check", "."][..], &["ledger", "."], &["check", "--format", "github", "."], &["check", "--format", "junit", "."]] {
        let run = folder.run(command);
        assert!(!run.out.contains("\n::error::x") && !run.err.contains("\n::error::x"), "{command:?}: {}{}", run.out, run.err);
    }
}

#[cfg(unix)]
#[test]
fn named_pipe_in_folder_is_skipped() {
    let folder = Folder::with(&[("a/a.yaml", MAPPING)]);
    let made = std::process::Command::new("mkfifo").arg(folder.0.path().join("a/b.yaml")).status().expect("mkfifo");
    assert!(made.success());
    let run = folder.run(&["check", "a"]);
    assert_eq!((run.code, run.err.as_str()), (0, "chancery: a/b.yaml is skipped: it is not a regular file\n"));
}

#[test]
fn the_size_limit_of_the_input_is_reported() {
    let folder = Folder::with(&[("a.yaml", MAPPING), ("b.yaml", GATEWAY)]);
    let run = folder.run(&["check", "--max-input", "1KB", "a.yaml", "b.yaml"]);
    assert_eq!(
        (run.code, run.err.as_str()),
        (2, "chancery: cannot read b.yaml: all inputs together may have at most 1 KiB; --max-input changes that\n")
    );
    assert_eq!(folder.run(&["check", "--max-input", "4GB", "a.yaml"]).code, 2);
    assert_eq!(folder.run(&["check", "--max-input", "1MB", "a.yaml", "b.yaml"]).code, 1);
}

#[test]
fn a_diff_against_nothing_is_refused() {
    let dump = r#"{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump"}]}"#;
    let folder = Folder::with(&[
        ("a.yaml", GATEWAY),
        ("empty.json", "{}"),
        ("cut.json", "{\"configs\": [{\"@type\": \"type.goo"),
        ("part.json", dump),
        ("none.json", "{\"configs\": []}"),
    ]);
    for (name, why) in [
        ("empty.json", "empty.json has no readable resource"),
        ("cut.json", "cut.json is cut off or broken"),
        ("part.json", "part.json"),
        ("none.json", "none.json"),
    ] {
        for args in [["diff", "a.yaml", name], ["diff", name, "a.yaml"], ["drift", "a.yaml", name]] {
            let run = folder.run(&args);
            assert_eq!((run.code, run.out.as_str()), (2, ""), "{args:?}");
            assert!(args[0] == "drift" || run.err.starts_with(&format!("chancery: {why}")), "{args:?}: {}", run.err);
        }
    }
}

#[test]
fn findings_are_filtered_and_the_worst_come_first() {
    let other = MAPPING.replace("{name: a}", "{name: b, namespace: b}").replace("service: a, ", "");
    let folder = Folder::with(&[("a.yaml", MAPPING), ("b.yaml", &other)]);
    let codes = |args: &[&str]| -> Vec<String> {
        let run = folder.run(&[&["check", "--format", "json", "a.yaml", "b.yaml"], args].concat());
        json(&run.out)["diagnostics"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|of| format!("{} {}", of["severity"].as_str().unwrap_or_default(), of["object"]["namespace"].as_str().unwrap_or("-")))
            .collect()
    };
    let all = codes(&[]);
    assert!(all.is_sorted_by_key(|line| ["error", "warning", "notice"].iter().position(|severity| line.starts_with(severity))), "{all:?}");
    assert!(codes(&["--at-least", "warning"]).iter().all(|line| !line.starts_with("notice")));
    assert!(codes(&["--namespace", "b"]).iter().all(|line| !line.ends_with(" default")), "{:?}", codes(&["--namespace", "b"]));
    let whole = folder.run(&["check", "a.yaml"]).out;
    let errors = folder.run(&["check", "--at-least", "error", "a.yaml"]).out;
    let left_out = errors.strip_prefix("All findings are left out by `--at-least` or `--namespace`: ").expect("one line");
    let counted = left_out.split(" (").next().unwrap_or_default();
    assert!(whole.contains(&format!("Found {counted} (")) && !whole.contains("left out"), "{whole}{errors}");
    let of_nothing = folder.run(&["check", "--namespace", "shop", "a.yaml", "b.yaml"]).err;
    assert!(of_nothing.contains("the input has no resource in the namespace `shop`; its resources are in b, default"), "{of_nothing}");
}

#[test]
fn known_findings_are_left_out() {
    let folder = Folder::with(&[("a.yaml", MAPPING)]);
    assert_eq!(folder.run(&["check", "--write-baseline", "known.json", "a.yaml"]).code, 0);
    let known = folder.run(&["check", "--strict", "--baseline", "known.json", "a.yaml"]);
    assert_eq!(known.code, 0, "{}{}", known.out, known.err);
    // The same finding one line lower is still known; a second finding is new.
    folder.write("a.yaml", format!("# moved\n{}", MAPPING.replace("timout_ms: 1", "timout_ms: 1, prefx: 1")).as_bytes());
    let new = folder.run(&["check", "--strict", "--baseline", "known.json", "a.yaml"]);
    assert!(new.code == 1 && new.out.contains("prefx") && !new.out.contains("no `spec.timout_ms`"), "{}", new.out);
}

#[test]
fn baseline_matches_from_every_folder_and_path_spelling() {
    let folder = Folder::with(&[("gw/a.yaml", MAPPING)]);
    assert_eq!(folder.run(&["check", "--write-baseline", "known.json", "gw"]).code, 0);
    for (from, input, baseline) in [("gw", ".", "../known.json"), ("gw", "a.yaml", "../known.json"), (".", "./gw/../gw", "known.json")] {
        let known = folder.run_in(from, &["check", "--strict", "--baseline", baseline, input]);
        assert_eq!(known.code, 0, "{from} {input}: {}{}", known.out, known.err);
    }
    folder.write("old.json", folder.read("known.json").replace("\": 2,", "\": 1,").as_bytes());
    assert_eq!(folder.run(&["check", "--strict", "--baseline", "old.json", "gw"]).code, 0, "version 1 names files as they are given");
}

/// Each of these controls a terminal, or changes the direction of the text after it.
const STEERING: [char; 6] = ['\u{1b}', '\u{9b}', '\u{202e}', '\u{2066}', '\u{7}', '\u{200f}'];

#[test]
fn nothing_that_steers_a_terminal_comes_out_raw() {
    let marks: String = STEERING.iter().filter(|c| !matches!(c, '\u{7}')).map(|c| format!("\\u{:04x}", u32::from(*c))).collect();
    let text = GATEWAY
        .replace("prefix: /quote/", &format!("prefix: \"/quote{marks}/\""))
        .replace("service: quote:80", &format!("service: \"quote{marks}:80\"\n  x{}: 1", '\u{202e}'));
    let name = format!("a\u{1b}[31m{}\u{9b}.yaml", '\u{202e}');
    let folder = Folder::new();
    folder.write(&name, text.as_bytes());
    let commands: &[&[&str]] = &[
        &["check"],
        &["check", "--format", "json"],
        &["check", "--format", "github"],
        &["check", "--format", "junit"],
        &["check", "--format", "sarif"],
        &["check", "--format", "html"],
        &["compile"],
        &["compile", "--format", "yaml"],
        &["compile", "--output", "ir"],
        &["compile", "--output", "config", "--format", "yaml"],
        &["graph"],
        &["graph", "--format", "mermaid"],
        &["graph", "--format", "svg"],
        &["graph", "--format", "json"],
        &["ledger"],
        &["route", "http://example.com/quote/"],
        &["route", "--format", "json", "http://example.com/quote/"],
        &["explain", "route/timeout"],
        &["snapshot"],
        &["check", "--color", "always"],
    ];
    for command in commands {
        let run = folder.run(&[*command, &[&name]].concat());
        assert!(run.code < 2, "{command:?}: {}", run.err);
        for (text, of) in [(&run.out, "out"), (&run.err, "err")] {
            // Requested colours are harmless.
            let text = if command.contains(&"always") { without_colours(text) } else { text.clone() };
            let found: Vec<char> = STEERING.iter().copied().filter(|c| text.contains(*c)).collect();
            assert!(found.is_empty(), "{command:?} {of}: {found:?} in {text:?}");
        }
    }
    let missing = folder.run(&["check", "\u{1b}[2Jno.yaml"]);
    assert!(!missing.err.contains('\u{1b}'), "{:?}", missing.err);
}

fn without_colours(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_string();
    let is_colour = |part: &str| {
        part.starts_with('[') && part[1..].find(|c: char| !c.is_ascii_digit() && c != ';').is_some_and(|at| part[1 + at..].starts_with('m'))
    };
    parts.fold(first, |out, part| if is_colour(part) { out + part } else { out + "\u{1b}" + part })
}
