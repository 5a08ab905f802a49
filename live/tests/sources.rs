//! Tests streams of watch events and recordings: the build matches the last events, and no recording has key material.

use chancery_core::compilation::Options;
use chancery_core::dialect::ambassador;
use chancery_live::engine::{Engine, Settings};
use chancery_live::event::{Event, Events, SourceState};
use chancery_live::sources::Source;
use chancery_live::sources::recording::Recorder;
use chancery_live::sources::replay::Replay;
use chancery_live::sources::stream::Stream;
use chancery_live::worker::build::Build;
use serde_json::{Value, json};
use std::io::Cursor;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Runs a source to its end. Returns the last build, and the states of the source.
async fn played(source: Box<dyn Source>, recorder: Option<Recorder>) -> (Arc<Build>, Vec<(SourceState, Option<String>)>) {
    let last: Arc<Mutex<Option<Arc<Build>>>> = Arc::default();
    let (kept, events) = (last.clone(), Events::default());
    let settings = Settings { options: Options::of(&ambassador::DIALECT), spacing: Duration::ZERO, recorder, events: events.clone() };
    let publish = move |build: &Arc<Build>| {
        *kept.lock().expect("a lock") = Some(build.clone());
        Ok(())
    };
    let mut engine = Engine::start(settings, vec![source], publish).expect("an engine");
    assert_eq!(engine.wait_for_end().await, None, "it ends in order");
    let begin = Instant::now();
    while engine.intake.is_pending() || last.lock().expect("a lock").is_none() {
        assert!(begin.elapsed() < Duration::from_secs(30));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    engine.stop();
    let told = events.timeline().into_iter().filter_map(|dated| match dated.event {
        Event::Source { state, detail, .. } => Some((state, detail)),
        _ => None,
    });
    let build = last.lock().expect("a lock").clone().expect("a build");
    (build, told.collect())
}

fn object(kind: &str, name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": "getambassador.io/v3alpha1", "kind": kind,
        "metadata": {"name": name, "namespace": "default", "resourceVersion": "7", "managedFields": [{"manager": "kubectl"}]},
        "spec": spec,
    })
}

fn mapping(name: &str, timeout: u32) -> Value {
    object("Mapping", name, json!({"hostname": "*", "prefix": format!("/{name}/"), "service": "quote", "timeout_ms": timeout}))
}

fn event(kind: &str, object: &Value) -> String {
    // kubectl writes several lines per event, with only white space between two events.
    serde_json::to_string_pretty(&json!({"type": kind, "object": object})).expect("JSON")
}

fn names(build: &Build) -> Vec<&str> {
    build.compilation.inputs.inputs.iter().map(|input| input.name.as_str()).collect()
}

const KEY: &str = "c2VjcmV0LWtleS1tYXRlcmlhbA==";

fn events() -> String {
    let listener =
        object("Listener", "http", json!({"port": 8080, "protocol": "HTTP", "securityModel": "XFP", "hostBinding": {"namespace": {"from": "ALL"}}}));
    let host = object("Host", "h", json!({"hostname": "*", "requestPolicy": {"insecure": {"action": "Route"}}}));
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "default"}, "data": {"token": KEY}});
    let all = [
        event("ADDED", &listener),
        event("ADDED", &host),
        event("ADDED", &secret),
        event("ADDED", &mapping("one", 1000)),
        event("ADDED", &mapping("two", 1000)),
        event("MODIFIED", &mapping("one", 2000)),
        event("BOOKMARK", &json!({"kind": "Mapping", "metadata": {"resourceVersion": "9"}})),
        event("DELETED", &mapping("two", 1000)),
        // Sent twice, as after a reconnect.
        event("MODIFIED", &mapping("one", 2000)),
    ];
    all.join("\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watch_events_are_recorded_and_replayed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("session.jsonl");
    let recorder = Recorder::new(&path).expect("a recording");
    let (build, told) = played(Box::new(Stream::new(Cursor::new(events()))), Some(recorder)).await;
    let all =
        ["Host.getambassador.io/default/h", "Listener.getambassador.io/default/http", "Mapping.getambassador.io/default/one", "Secret/default/s"];
    assert_eq!(names(&build), all);
    assert_eq!(build.errors, 0, "{:?}", build.findings());
    assert!(told.last().is_some_and(|(state, detail)| *state == SourceState::Synced && detail.is_some()), "{told:?}");
    let text = build.compilation.inputs.inputs.iter().find(|input| input.name.ends_with("/one")).map(|input| input.text.to_string());
    assert!(text.is_some_and(|text| text.contains("2000") && !text.contains("managedFields") && !text.contains("resourceVersion")));
    let recorded = std::fs::read_to_string(&path).expect("a recording");
    assert!(recorded.starts_with("{\"chancery-recording\":1}\n"), "{recorded}");
    assert!(!recorded.contains(KEY), "no key material is written down");
    let (again, _) = played(Box::new(Replay::new(path.clone(), 0.0)), None).await;
    assert_eq!((names(&again), &again.version), (names(&build), &build.version));
}

/// Events of different objects come in any order. Each event may come twice, or late again before the next event of its
/// object. The build must match a fresh compile of each object's last event.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doubled_and_reordered_events_change_nothing() {
    for seed in 1..=6u64 {
        let mut state = seed;
        let mut chance = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let all = ["a", "b", "c", "d", "e"];
        // The events of each object, in their order.
        let mut left: Vec<Vec<String>> = Vec::new();
        let mut last: Vec<String> = vec![events()];
        for name in all {
            let mut own = Vec::new();
            for _ in 0..chance(6) + 1 {
                let object = mapping(name, 1000 + chance(4) as u32);
                let kind = ["ADDED", "MODIFIED", "DELETED"][chance(3) as usize];
                own.push(event(kind, &object));
            }
            last.extend(own.last().cloned());
            own.reverse();
            left.push(own);
        }
        let mut told = vec![events()];
        while left.iter().any(|own| !own.is_empty()) {
            let own = &mut left[chance(all.len() as u64) as usize];
            let Some(event) = own.pop() else { continue };
            (0..=chance(3)).for_each(|_| told.push(event.clone()));
        }
        let (build, _) = played(Box::new(Stream::new(Cursor::new(told.join("\n")))), None).await;
        let (fresh, _) = played(Box::new(Stream::new(Cursor::new(last.join("\n")))), None).await;
        assert_eq!((names(&build), &build.version), (names(&fresh), &fresh.version), "seed {seed}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn full_disk_ends_only_recording() {
    let full = std::path::Path::new("/dev/full");
    if !full.exists() {
        eprintln!("*** SKIPPED: this system has no /dev/full ***");
        return;
    }
    let (whole, _) = played(Box::new(Stream::new(Cursor::new(events()))), None).await;
    let (build, told) = played(Box::new(Stream::new(Cursor::new(events()))), Some(Recorder::new(full).expect("it can be opened"))).await;
    assert_eq!((names(&build), &build.version), (names(&whole), &whole.version));
    assert!(told.iter().all(|(state, _)| *state == SourceState::Synced), "{told:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_without_events_is_yaml() {
    let text = "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: m}\nspec: {hostname: '*', prefix: /m/, service: quote}\n";
    let (build, _) = played(Box::new(Stream::new(Cursor::new(text))), None).await;
    assert_eq!(names(&build), ["<stdin>"]);
    let broken = format!("{}\n{{\"type\": \"ADDED\", \"obj", event("ADDED", &mapping("one", 1000)));
    let (build, told) = played(Box::new(Stream::new(Cursor::new(broken))), None).await;
    assert_eq!(names(&build), ["Mapping.getambassador.io/default/one"], "earlier resources stay");
    assert!(told.iter().any(|(state, detail)| *state == SourceState::Error && detail.as_ref().is_some_and(|of| of.contains("not JSON"))), "{told:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replay_reports_invalid_recording() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = async |text: &str| {
        let path = folder.path().join("r.jsonl");
        std::fs::write(&path, text).expect("a file");
        let settings = Settings { options: Options::default(), spacing: Duration::ZERO, recorder: None, events: Events::default() };
        let mut engine = Engine::start(settings, vec![Box::new(Replay::new(path, 0.0))], |_| Ok(())).expect("an engine");
        let failure = engine.wait_for_end().await.map(|failure| failure.0).unwrap_or_default();
        engine.stop();
        failure
    };
    assert!(told("kind: Mapping\n").await.ends_with("is no recording of `chancery watch --record`"));
    assert!(told("{\"chancery-recording\":99}\n").await.contains("is of version 99 of the format; this one reads up to 1"));
    assert!(told("{\"chancery-recording\":1}\n{\"put\":").await.starts_with("line 2 of the recording"));
}
