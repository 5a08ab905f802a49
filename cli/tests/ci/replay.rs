//! Tests `chancery replay` with files.

use super::{GATEWAY, repository};
use crate::{Folder, json};
use std::io::Write as _;

fn log() -> String {
    let line = |path: &str| {
        format!(
            "[2026-11-28T10:00:00.000Z] \"GET {path} HTTP/1.1\" 200 - 0 0 0 - \"10.0.0.1\" \"curl\" \"id\" \"shop.example.com\" \"10.1.0.1:80\"\n"
        )
    };
    line("/cart/1?token=secret").repeat(3) + &line("/help/") + "broken\n"
}

#[test]
fn replay_reads_compressed_logs_alike() {
    let folder = Folder::with(&[("before.yaml", GATEWAY), ("after.yaml", &GATEWAY.replace("service: cart}", "service: other}"))]);
    folder.write("a.log", log().as_bytes());
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(log().as_bytes()).expect("it packs");
    folder.write("a.log.gz", &packed.finish().expect("it packs"));
    folder.write("a.log.zst", &ruzstd::encoding::compress_to_vec(log().as_bytes(), ruzstd::encoding::CompressionLevel::Fastest));
    let answer = |log: &str| {
        let run = folder.run(&["replay", log, "--before", "before.yaml", "--after", "after.yaml", "--format", "json", "--exit-code"]);
        assert_eq!(run.code, 1, "{}", run.err);
        assert!(!run.out.contains("secret") && !run.out.contains("10.0.0.1"), "{}", run.out);
        json(&run.out)
    };
    let plain = answer("a.log");
    assert_eq!((&plain["requests"], &plain["changed"], &plain["unreadable"]), (&4.into(), &3.into(), &1.into()));
    assert_eq!(plain["changes"][0]["differences"][0]["what"], "clusters");
    assert_eq!((answer("a.log.gz"), answer("a.log.zst")), (plain.clone(), plain));
}

#[test]
fn replay_compares_git_revision_with_folder() {
    let (folder, base) = repository();
    folder.write("gateway/shop.yaml", GATEWAY.replace("/help/", "/support/").as_bytes());
    folder.write("a.log", log().as_bytes());
    let run = folder.run(&["replay", "a.log", "--before", &format!("{base}:gateway"), "--after", "gateway"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.starts_with("75% of 4 requests are answered the same"), "{}", run.out);
    assert!(run.out.contains("after   is answered 404") && run.out.contains("No request reached"), "{}", run.out);
    assert!(run.err.contains("1 line not read, first 5"), "{}", run.err);
}

#[test]
fn replay_refuses_logs_that_it_cannot_read() {
    let folder =
        Folder::with(&[("a.yaml", GATEWAY), ("a.log", "hello\nworld\n"), ("b.log", "1.1.1.1 - - [t] \"GET / HTTP/1.1\" 200 1 \"-\" \"-\"\n")]);
    let unknown = folder.run(&["replay", "a.log", "--after", "a.yaml"]);
    assert!(unknown.code == 2 && unknown.err.contains("no known format"), "{}", unknown.err);
    let hostless = folder.run(&["replay", "b.log", "--after", "a.yaml"]);
    assert!(hostless.code == 2 && hostless.err.contains("--host"), "{}", hostless.err);
    assert_eq!(folder.run(&["replay", "b.log", "--after", "a.yaml", "--host", "shop.example.com"]).code, 0);
}

#[test]
fn replay_with_first_side_alone_is_an_error() {
    let folder = Folder::with(&[("before.yaml", GATEWAY)]);
    folder.write("a.log", log().as_bytes());
    let run = folder.run(&["replay", "a.log", "--before", "before.yaml"]);
    assert!(run.code == 2 && run.err.contains("--after <INPUT>"), "{}", run.err);
}

#[test]
fn replay_writes_one_html_file() {
    let folder = Folder::with(&[("before.yaml", GATEWAY), ("after.yaml", &GATEWAY.replace("service: cart}", "service: other}"))]);
    folder.write("a.log", log().as_bytes());
    let run = folder.run(&["replay", "a.log", "--before", "before.yaml", "--after", "after.yaml", "--format", "html"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.starts_with("<!doctype html>") && run.out.contains("25% of 4 requests are answered the same"), "{}", run.out);
    assert!(run.out.contains("Requests that change") && !run.out.contains("secret") && !run.out.contains("<script"), "{}", run.out);
}

#[test]
fn check_writes_one_html_file() {
    let folder = Folder::with(&[("a.yaml", &GATEWAY.replace("prefix: /cart/", "prefx: /cart/, prefix: /cart/"))]);
    let html = folder.run(&["check", "--format", "html", "a.yaml"]).out;
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"), "{html}");
    assert!(html.contains("unknown-field") && html.contains("a.yaml:") && !html.contains("<script"), "{html}");
    let hidden = folder.run(&["check", "--format", "html", "--at-least", "error", "a.yaml"]).out;
    assert!(hidden.contains("left out by the options of this run") && !hidden.contains("Nothing was found"), "{hidden}");
    folder.write("empty.yaml", b"# nothing\n");
    let empty = folder.run(&["check", "--format", "html", "empty.yaml"]).out;
    assert!(empty.contains("so nothing was checked") && !empty.contains("Nothing was found"), "{empty}");
}
