//! Tests `chancery watches`.

use crate::Folder;

#[test]
fn watches_show_parents_and_missing_answers() {
    let folder = Folder::new();
    let registrations = "\
service: {name: web, port: 80}
---
service: {name: web-sidecar-proxy, kind: connect-proxy, port: 20000, proxy: {destination_service_name: web, upstreams: [{destination_name: orders, datacenter: far, local_bind_port: 9000}]}}
";
    folder.write("mesh.yaml", registrations.as_bytes());
    let shown = folder.run(&["watches", "mesh.yaml", "--proxy", "web-sidecar-proxy", "--format", "json"]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    let data: serde_json::Value = serde_json::from_str(&shown.out).expect("JSON");
    let proxy = &data["proxies"][0];
    assert_eq!((proxy["proxy"].as_str(), proxy["complete"].as_bool()), (Some("web-sidecar-proxy"), Some(false)), "{data:#}");
    let missing: Vec<&serde_json::Value> = proxy["watches"].as_array().expect("a list").iter().filter(|watch| watch["complete"] == false).collect();
    assert!(missing.iter().any(|watch| watch["because"].is_string() && watch["brings"] == "no path to the datacenter"), "{missing:#?}");

    let human = folder.run(&["watches", "mesh.yaml", "--proxy", "web-sidecar-proxy"]);
    assert!(human.out.contains("no result") && human.out.contains("no path to the datacenter  (missing)"), "{}", human.out);

    let misspelt = folder.run(&["watches", "mesh.yaml", "--proxy", "web-sidcar-proxy"]);
    assert!(misspelt.code == 2 && misspelt.err.contains("web-sidecar-proxy"), "{}: {}", misspelt.code, misspelt.err);

    let elsewhere = folder.run(&["watches", "-"]);
    assert_eq!(elsewhere.code, 2, "{}", elsewhere.out);
}
