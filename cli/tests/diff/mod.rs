//! Tests `diff` and `drift`: the reported differences between two configurations, in every format.
//!
//! Does not test how differences are found; see the core's tests.

mod migration;

use crate::{DUMP, Folder, GATEWAY, assumed, json};
use insta::assert_snapshot;
use std::io::{Read as _, Write as _};

#[test]
fn diff_reports_fields_with_lines_of_both_sides() {
    let new = GATEWAY.replace("timeout_ms: 4000", "timeout_ms: 5000");
    let folder = Folder::with(&[("old.yaml", GATEWAY), ("new.yaml", new.as_str())]);
    let run = folder.run(&["diff", "--exit-code", "old.yaml", "new.yaml"]);
    assert_eq!((run.code, run.err), (1, assumed(1)));
    assert_snapshot!("diff", run.out);
    let same = folder.run(&["diff", "--exit-code", "old.yaml", "old.yaml"]);
    assert_eq!((same.code, same.out.as_str()), (0, "Nothing differs.\n"));
    let data = json(&folder.run(&["diff", "--format", "json", "old.yaml", "new.yaml"]).out);
    assert_eq!(data["resources"][0]["fields"][0]["path"], "spec.timeout_ms");
    assert_eq!(data["resources"][0]["fields"][0]["after"], "5000");
    assert!(folder.run(&["diff", "--format", "markdown", "old.yaml", "new.yaml"]).out.contains("| | `spec.timeout_ms` | `4000` | `5000` |"));
    assert!(folder.run(&["diff", "--format", "github", "old.yaml", "new.yaml"]).out.contains("::notice file=new.yaml,line="));
    let sarif = json(&folder.run(&["diff", "--format", "sarif", "old.yaml", "new.yaml"]).out);
    assert!(sarif["runs"][0]["results"].as_array().is_some_and(|results| results.len() > 1));
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "request-changed");
    // A renamed object is not another object.
    folder.write("renamed.yaml", GATEWAY.replace("name: plain", "name: other").as_bytes());
    let renamed = folder.run(&["diff", "old.yaml", "renamed.yaml"]);
    assert!(renamed.out.contains("> Host other") && renamed.out.contains("was plain"), "{}", renamed.out);
}

#[test]
fn diff_reports_a_renamed_host_once() {
    let proxy = |host: &str, last: &str| {
        let routes =
            ["/", "/api", "/static"].map(|path| format!("  - {{conditions: [{{prefix: {path}}}], services: [{{name: {last}, port: 80}}]}}\n"));
        let kept = routes.concat().replacen(last, "web", 2);
        let service = |name: &str| format!("---\napiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{ports: [{{port: 80}}]}}\n");
        format!(
            "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: shop}}\nspec:\n  virtualhost: {{fqdn: {host}}}\n  routes:\n{kept}{}{}",
            service("web"),
            service("other")
        )
    };
    let mapping = |host: &str| {
        GATEWAY
            .replace("\"*\"\n  prefix: /quote/\n  service: quote:80", &format!("{host}\n  prefix: /quote/\n  service: quote:80"))
            .replace("example.com", host)
    };
    let folder = Folder::new();
    let files = [
        ("old.yaml", proxy("shop.org", "web")),
        ("new.yaml", proxy("store.org", "web")),
        ("edited.yaml", proxy("store.org", "other")),
        ("old-mapping.yaml", mapping("shop.org")),
        ("new-mapping.yaml", mapping("store.org")),
    ];
    files.iter().for_each(|(name, text)| folder.write(name, text.as_bytes()));
    let envoy = |old: &str, new: &str| {
        let out = folder.run(&["diff", old, new]).out;
        let lines = out.lines().skip_while(|line| !line.starts_with("What Envoy gets")).take_while(|line| !line.is_empty());
        (lines.map(str::to_owned).collect::<Vec<_>>().join("\n"), out)
    };
    let (told, out) = envoy("old.yaml", "new.yaml");
    let renamed = "  > virtual host store.org  was shop.org; its 3 routes are the same  new.yaml:5";
    assert_eq!(told, format!("What Envoy gets  1 renamed\n{renamed}"));
    // Requests for the old name, or the new name, still get another answer.
    assert!(out.contains("~ shop.org/*") && out.contains("~ store.org/*"), "{out}");
    // Other differences are reported as usual.
    let (told, _) = envoy("old.yaml", "edited.yaml");
    assert!(told.contains("was shop.org; 2 of its 3 routes are the same") && told.contains("~ route /static* in store.org"), "{told}");
    assert!(!told.contains("/api"), "{told}");
    // Ambassador's routes match their hosts themselves.
    let (told, _) = envoy("old-mapping.yaml", "new-mapping.yaml");
    assert!(told.starts_with("What Envoy gets  1 renamed\n  > virtual host store.org  was shop.org; its "), "{told}");
    let told = |format: &str| folder.run(&["diff", "--format", format, "old.yaml", "new.yaml"]).out;
    assert!(told("markdown").contains("| renamed | virtual host `store.org` (was shop.org; its 3 routes are the same) at new.yaml:5 | | |"));
    let line = "::notice file=new.yaml,line=5,endLine=5::virtual host store.org renamed (was shop.org; its 3 routes are the same)";
    assert!(told("github").lines().any(|told| told == line));
    assert!(told("sarif").contains("virtual host store.org renamed (was shop.org; its 3 routes are the same)"));
    let data = json(&told("json"));
    assert_eq!((&data["envoy"][0]["was"], &data["envoy"][0]["note"]), (&"shop.org".into(), &"its 3 routes are the same".into()));
    assert_eq!(data["envoy"].as_array().map(Vec::len), Some(1));
}

#[test]
fn lost_protection_names_line_that_replaces_it() {
    let after = include_str!("../../../assets/examples/envoy-gateway/policies.yaml");
    let before: Vec<&str> = after.split("---\n").filter(|document| !document.contains("name: shop-jwt")).collect();
    let folder = Folder::with(&[("before.yaml", before.join("---\n").as_str()), ("after.yaml", after)]);
    let out = folder.run(&["diff", "--format", "markdown", "before.yaml", "after.yaml"]).out;
    let line = 1 + after.lines().position(|line| line.starts_with("  jwt:")).expect("the policy");
    let lost: Vec<&str> = out.lines().filter(|line| line.contains("no longer")).collect();
    // The filter chain's own list of filters protects nothing: routes turn its filters on.
    assert_eq!(lost.len(), 1, "{out}");
    assert!(lost[0].ends_with(&format!("no longer need a permitted address or identity at after.yaml:{line}")), "{}", lost[0]);
    assert!(out.contains("| `goes to shop/shop:8080 at 10.244.0.9:8080"), "{out}");
    assert!(out.contains("| protection | `a permitted address or identity` | `a valid token` |"), "{out}");
}

#[test]
fn diff_reports_equal_changes_of_many_resources_once() {
    let services = |kind: &str| {
        let one =
            |at: usize| format!("---\napiVersion: v1\nkind: Service\nmetadata: {{name: s{at}}}\nspec: {{type: {kind}, ports: [{{port: 80}}]}}\n");
        (0..9).map(one).collect::<String>()
    };
    let folder = Folder::with(&[("old.yaml", &services("ClusterIP")), ("new.yaml", &services("NodePort"))]);
    let out = folder.run(&["diff", "old.yaml", "new.yaml"]).out;
    assert_eq!(out.matches("spec.type").count(), 1, "{out}");
    assert!(out.contains("and so do 8 more of kind Service: s1.default, s2.default, s3.default, s4.default, ..."), "{out}");
    let data = json(&folder.run(&["diff", "--format", "json", "old.yaml", "new.yaml"]).out);
    assert_eq!(data["resources"].as_array().map(Vec::len), Some(9), "programs get each");
}

#[test]
fn answers_say_which_files_could_not_be_read() {
    let folder = Folder::with(&[("gateway.yaml", GATEWAY), ("broken.yaml", &format!("{GATEWAY}---\nkind: Mapping\nspec: [1\n"))]);
    let line = GATEWAY.lines().count() + 3;
    let why = format!("chancery: broken.yaml cannot be read from line {line} on; `chancery check broken.yaml` shows why\n");
    // The picture itself shows the assumed objects.
    let commands: [(&[&str], String); 3] = [
        (&["diff", "broken.yaml", "gateway.yaml"], assumed(1)),
        (&["route", "http://a.org/", "broken.yaml", "gateway.yaml"], assumed(1)),
        (&["graph", "broken.yaml", "gateway.yaml"], String::new()),
    ];
    for (command, assumed) in commands {
        assert_eq!(folder.run(command).err, format!("{why}{assumed}"), "{command:?}");
    }
    // Unread parts may differ.
    let same = folder.run(&["diff", "--exit-code", "broken.yaml", "broken.yaml"]);
    assert_eq!(
        (same.code, same.out.as_str()),
        (1, "Nothing that was compared differs.\nA part of the input cannot be read: its effect is unknown.\n")
    );
    let data = json(&folder.run(&["diff", "--format", "json", "broken.yaml", "gateway.yaml"]).out);
    assert_eq!(data["unread"].as_array().map(Vec::len), Some(1));
}

#[test]
fn diff_reports_requests_that_are_treated_differently() {
    let slower = GATEWAY.replace("timeout_ms: 4000", "timeout_ms: 5000");
    let docs = GATEWAY.replace("  name: plain", "  name: plain\n  labels: {team: web}");
    let folder = Folder::with(&[("old.yaml", GATEWAY), ("new.yaml", slower.as_str()), ("docs.yaml", docs.as_str())]);
    let data = json(&folder.run(&["diff", "--format", "json", "old.yaml", "new.yaml"]).out);
    let requests = &data["requests"];
    assert_eq!((&requests["complete"], &requests["limits"]), (&serde_json::json!(true), &serde_json::json!([])));
    let change = &requests["changes"][0];
    assert_eq!(change["requests"], "example.com/quote/*");
    assert_eq!((change["differences"][0]["what"].as_str(), change["differences"][0]["before"].as_str()), (Some("timeout"), Some("4s")));
    assert_eq!(change["differences"][0]["after_from"]["path"], "spec.timeout_ms");
    assert_eq!(change["witness"]["url"], "http://example.com/quote/");
    let markdown = folder.run(&["diff", "--format", "markdown", "old.yaml", "new.yaml"]).out;
    assert!(markdown.starts_with("### Requests that change: in 1 way\n") && markdown.contains("| timeout | `4s` | `5s` |"), "{markdown}");
    let github = folder.run(&["diff", "--format", "github", "old.yaml", "new.yaml"]).out;
    assert!(github.starts_with("::warning file=new.yaml,line=") && github.contains("timeout from 4s to 5s"), "{github}");
    // A label changes a resource, but not a request.
    for (of, code) in [("--exit-code", 0), ("--exit-code=requests", 0), ("--exit-code=envoy", 0), ("--exit-code=resources", 1)] {
        assert_eq!(folder.run(&["diff", of, "old.yaml", "docs.yaml"]).code, code, "{of}");
    }
    assert!(!folder.run(&["diff", "--no-requests", "old.yaml", "new.yaml"]).out.contains("Requests"));
}

/// An admin interface that answers everything with this string. Returns its address.
fn admin_interface(text: &'static str) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}", text.len());
        }
    });
    address
}

#[test]
fn drift_asks_an_envoy_at_its_admin_address() {
    let folder = Folder::with(&[("dump.json", DUMP), ("gateway.yaml", GATEWAY)]);
    let (of_file, asked) =
        (folder.run(&["drift", "gateway.yaml", "dump.json"]), folder.run(&["drift", "gateway.yaml", "--envoy", &admin_interface(DUMP)]));
    assert_eq!((asked.code, asked.out), (0, of_file.out));
    for (arguments, why) in [
        (["--envoy", &admin_interface("hello")], "is no admin interface of Envoy"),
        (["--envoy", "127.0.0.1:1"], "nothing answers at 127.0.0.1:1"),
        (["--pod", "shop/envoy:x"], "`x` is no port"),
    ] {
        let wrong = folder.run(&[&["drift", "gateway.yaml"], &arguments[..]].concat());
        assert!(wrong.code == 2 && wrong.err.contains(why), "{arguments:?}: {}", wrong.err);
    }
}
