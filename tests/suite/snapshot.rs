//! Checks that snapshots and links return the same answers as their inputs.

use chancery_core::backend::envoy::Document;
use chancery_core::compilation::Options;
use chancery_core::envoy_config::EnvoyConfig;
use chancery_core::explain::{SNAPSHOT_VERSION, Snapshot, share};
use chancery_core::simulate::{Gateway, Outcome, SavedRequest, WrittenRequest};
use chancery_tests::work::{Work, inputs};

fn snapshot(work: &Work, with_secrets: bool) -> Snapshot {
    Snapshot::new(&work.compilation, &Options::default(), &[], with_secrets)
}

#[test]
fn every_example_replays_to_the_same_answer() {
    let mut seen = 0;
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/examples/ambassador")).expect("examples") {
        let path = entry.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let mut first = Work::new(&inputs([("input.yaml", text.as_str())]), &Options::default());
        let written = Snapshot::read(&snapshot(&first, false).write()).expect("a readable snapshot");
        let packed = share::open(&share::link("https://page.example/#old", &written)).expect("a snapshot").expect("it can be read");
        assert_eq!(packed, written);
        let mut again = Work::new(&written.inputs(), &written.options);
        assert_eq!(first.findings(), again.findings(), "{}", path.display());
        assert_eq!(first.ledger(), again.ledger(), "{}", path.display());
        assert_eq!(first.text(Document::Bootstrap), again.text(Document::Bootstrap), "{}", path.display());
        seen += 1;
    }
    assert!(seen > 5);
}

#[test]
fn snapshot_contains_keys_only_on_request() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  tls.key: |\n    -----BEGIN PRIVATE KEY-----\n    MAgCAQECAQICAQM=\n    -----END PRIVATE KEY-----\n";
    let work = Work::of(text);
    let hidden = snapshot(&work, false);
    assert!(hidden.redacted && !hidden.write().contains("MAgCAQ"));
    let stand_in = "    -----BEGIN PRIVATE KEY-----\n    MAgAAAAAAAAAAAA=\n    -----END PRIVATE KEY-----\n";
    assert!(hidden.inputs().inputs[0].text.ends_with(stand_in), "{}", hidden.inputs().inputs[0].text);
    assert_eq!(&*snapshot(&work, true).inputs().inputs[0].text, text);
}

#[test]
fn snapshot_requests_replay_with_same_results() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/examples/ambassador/play.yaml")).expect("an example");
    let work = Work::of(&text);
    let curl = "curl -H 'Authorization: Bearer s3cr3t' http://shop.example.com/cart/7";
    let request = WrittenRequest::from_curl(curl).expect("a request");
    let first = judged(&work, &SavedRequest { request: request.clone(), ..SavedRequest::default() });
    assert!(!first.holds && first.expected == "has no listener", "{first:?}");
    let saved = SavedRequest { request, expected: first.ending.expect("an ending") };
    assert_eq!(saved.expected.outcome, Outcome::Forward);
    assert_eq!(saved.expected.summary(), "goes to cluster_cart_shop_8080_shop as /7");

    let shared =
        |with_secrets| share::open(&share::link("https://page.example/", &snapshot(&work, with_secrets).with_requests(std::slice::from_ref(&saved))));
    let with = shared(true).expect("a snapshot").expect("it can be read");
    assert_eq!(with.requests(), std::slice::from_ref(&saved));
    let without = shared(false).expect("a snapshot").expect("it can be read");
    let [kept] = without.requests() else { panic!("one request") };
    assert_eq!(kept.request.headers.iter().find(|(name, _)| name == "Authorization").map(|(_, value)| value.as_str()), Some("Bearer xxxxxx"));
    let again = Work::new(&without.inputs(), &without.options);
    assert!(judged(&again, kept).holds);
    let other = Work::of(&text.replace("service: cart:8080", "service: cart:9090"));
    let verdict = judged(&other, kept);
    assert!(!verdict.holds);
    assert_eq!(verdict.now, "goes to cluster_cart_shop_9090_shop as /7");
}

fn judged(work: &Work, saved: &SavedRequest) -> chancery_core::simulate::Verdict {
    let config = EnvoyConfig::of(work.gateway().ir);
    saved.judge(&Gateway::new(&config))
}

#[test]
fn snapshot_unreadable_is_refused_with_reason() {
    let text = snapshot(&Work::of(""), false).write();
    assert!(Snapshot::is_one(&text) && !Snapshot::is_one("kind: Mapping\n") && !Snapshot::is_one("{\"kind\": \"chancery_snapshot\"}"));
    let newer = text.replace(&format!("\"chancery_snapshot\": {SNAPSHOT_VERSION}"), "\"chancery_snapshot\": 99");
    let refused = Snapshot::read(&newer).expect_err("it is newer");
    assert_eq!(
        refused,
        format!(
            "was made by Chancery {} in version 99 of the format, and this one reads up to {SNAPSHOT_VERSION}; open it with a newer Chancery",
            env!("CARGO_PKG_VERSION")
        )
    );
    assert!(Snapshot::read(&text[..text.len() / 2]).is_err_and(|why| why.starts_with("is no whole snapshot")));
    let link = share::encode(&snapshot(&Work::of("a: 1\n"), false));
    assert_eq!(share::decode(&link[..link.len() / 2]).expect_err("cut off"), "is cut off or was changed on the way");
    assert_eq!(share::decode("2.abc").expect_err("newer"), "was packed by a newer Chancery");
    assert_eq!(share::decode("").expect_err("empty"), "contains no snapshot");
    assert!(share::open("https://page.example/#other=1").is_none());
}
