//! Runs the scripts of the GitHub Action on a repository with a pull request.

use super::{GATEWAY, repository};
use crate::Folder;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const AUTH: &str = "---\napiVersion: getambassador.io/v3alpha1\nkind: AuthService\nmetadata: {name: auth}\nspec: {auth_service: auth, proto: grpc, protocol_version: v3}\n";

/// A runner's files.
struct Runner {
    folder: Folder,
    bin: PathBuf,
}

impl Runner {
    fn new(folder: Folder) -> Self {
        let bin = folder.0.path().join(".bin");
        std::fs::create_dir_all(&bin).expect("a folder");
        Self { folder, bin }
    }

    /// Runs a script of the action.
    fn step(&self, name: &str, env: &[(&str, &str)]) -> Output {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/github").join(name);
        let path = format!("{}:{}", self.bin.display(), std::env::var("PATH").unwrap_or_default());
        Command::new("bash")
            .arg(script)
            .current_dir(self.folder.0.path())
            .env("PATH", path)
            .env("CHANCERY", env!("CARGO_BIN_EXE_chancery"))
            .env("INPUTS", "gateway")
            .env("RUNNER_TEMP", &self.bin)
            .env("GITHUB_OUTPUT", self.bin.join("output"))
            .env("GITHUB_STEP_SUMMARY", self.bin.join("summary"))
            .envs(env.iter().copied())
            .output()
            .expect("bash runs")
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.bin.join(name)).unwrap_or_default()
    }
}

fn text(of: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&of.stdout), String::from_utf8_lossy(&of.stderr))
}

/// A pull request that removes the authentication, moves a route, and has a misspelt field.
fn pull_request() -> (Runner, String) {
    let (folder, _) = repository();
    folder.write("gateway/auth.yaml", AUTH.as_bytes());
    let base = folder.commit();
    folder.git(&["rm", "--quiet", "gateway/auth.yaml"]);
    folder.write("gateway/shop.yaml", GATEWAY.replace("prefix: /help/", "timout_ms: 1, prefix: /support/").as_bytes());
    folder.commit();
    (Runner::new(folder), base)
}

#[test]
fn action_check_annotates_what_pull_request_adds() {
    let (runner, base) = pull_request();
    let run = runner.step("check", &[("BASE", &base), ("STRICT", "true")]);
    assert_eq!(run.status.code(), Some(1), "{}", text(&run));
    assert!(text(&run).contains("::warning file=gateway/shop.yaml,line=19"), "{}", text(&run));
    assert!(runner.read("chancery.sarif").contains("\"unknown-field\"") && runner.read("output").contains("sarif="));
}

#[test]
fn action_comment_names_lost_protection_first() {
    let (runner, base) = pull_request();
    let run = runner.step("diff", &[("BASE", &base)]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run));
    let comment = runner.read("chancery-comment.md");
    let at = |words: &str| comment.find(words).unwrap_or_else(|| panic!("no {words:?} in\n{comment}"));
    assert!(comment.starts_with("<!-- chancery"), "{comment}");
    let order = [at("no longer need permission from the authorization service"), at("### Requests that change"), at("### Resources")];
    assert!(order.is_sorted(), "{comment}");
    assert!(runner.read("output").contains("changed=true") && runner.read("summary").contains("What this pull request changes"));
}

#[test]
fn lost_protection_of_all_paths_comes_first() {
    let policies = include_str!("../../../assets/examples/envoy-gateway/policies.yaml");
    let another = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: other, namespace: shop}\n\
                   spec: {gatewayClassName: eg, listeners: [{name: http, protocol: HTTP, port: 81}]}\n";
    let before: Vec<&str> = policies.split("---\n").filter(|document| !document.contains("name: shop-jwt")).collect();
    let (folder, _) = repository();
    folder.write("gateway/auth.yaml", AUTH.as_bytes());
    folder.write("eg/shop.yaml", format!("{}{another}", before.join("---\n")).as_bytes());
    let base = folder.commit();
    folder.git(&["rm", "--quiet", "gateway/auth.yaml"]);
    folder.write("eg/shop.yaml", format!("{policies}{another}").as_bytes());
    folder.commit();
    let runner = Runner::new(folder);
    let run = runner.step("diff", &[("BASE", &base), ("INPUTS", "gateway eg")]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run));
    let comment = runner.read("chancery-comment.md");
    let at = |words: &str| comment.find(words).unwrap_or_else(|| panic!("no {words:?} in\n{comment}"));
    let order = [
        at("### :warning: Requests that lose protection"),
        at("no longer need permission from the authorization service"),
        at("no longer need a permitted address or identity at eg/shop.yaml"),
        at("### `gateway`"),
        at("### `eg`"),
        at("### Gateway shop/eg"),
    ];
    assert!(order.is_sorted() && comment.matches(":warning:").count() == 1, "{comment}");
}

#[test]
fn action_comment_is_updated() {
    let (runner, base) = pull_request();
    runner.step("diff", &[("BASE", &base)]);
    let file = runner.bin.join("chancery-comment.md");
    let env = [("FILE", file.to_str().expect("a path")), ("PULL_REQUEST", "7"), ("GITHUB_REPOSITORY", "a/b")];
    let answer = |known: &str| {
        let script = format!("#!/bin/sh\necho \"$@\" >> {}\ncase \"$*\" in *--paginate*) echo {known} ;; esac\n", runner.bin.join("calls").display());
        std::fs::write(runner.bin.join("gh"), script).expect("a program");
        let done = Command::new("chmod").arg("+x").arg(runner.bin.join("gh")).status().expect("chmod runs");
        assert!(done.success());
        let run = runner.step("comment", &env);
        assert_eq!(run.status.code(), Some(0), "{}", text(&run));
        runner.read("calls")
    };
    assert!(answer("").contains("api --silent repos/a/b/issues/7/comments --field body=@"));
    assert!(answer("42").contains("--method PATCH repos/a/b/issues/comments/42"));
}

#[test]
fn action_tests_run_with_and_without_tests() {
    let (runner, _) = pull_request();
    let none = runner.step("test", &[]);
    assert_eq!(none.status.code(), Some(0), "{}", text(&none));
    assert!(text(&none).contains("There are no tests"), "{}", text(&none));
    let test = "inputs: [gateway]\ntests:\n- request: http://shop.example.com/cart/\n  expect: {outcome: forward}\n";
    runner.folder.write("requests.yaml", test.as_bytes());
    let named = runner.step("test", &[("TESTS", "requests.yaml")]);
    assert_eq!(named.status.code(), Some(0), "{}", text(&named));
    runner.folder.write("chancery.toml", b"tests = [\"requests.yaml\"]\n");
    let low = runner.step("test", &[("FAIL_UNDER", "100")]);
    assert_eq!(low.status.code(), Some(1), "{}", text(&low));
    assert!(runner.read("summary").contains("tests reach 1 of 2 parts"), "{}", runner.read("summary"));
}

#[test]
fn action_install_uses_given_command() {
    let (runner, _) = pull_request();
    let run = runner.step("install", &[("COMMAND", env!("CARGO_BIN_EXE_chancery")), ("VERSION", "latest")]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run));
    assert!(runner.read("output").contains("command="));
}
