//! Edits a followed folder until a file cannot be read. Envoys keep their resources, and the error has its line.

use chancery_core::compilation::Options;
use chancery_core::dialect::ambassador;
use chancery_live::engine::{Engine, Settings};
use chancery_live::event::Events;
use chancery_live::sources::folder::{Folder, Reading};
use chancery_live::worker::build::Build;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const GATEWAY: &str = "apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http, namespace: default}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: h, namespace: default}
spec: {hostname: '*', requestPolicy: {insecure: {action: Route}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: quote, namespace: default}
spec:
  hostname: '*'
  prefix: /quote/
  service: quote
";

struct Running {
    folder: tempfile::TempDir,
    last: Arc<Mutex<Option<Arc<Build>>>>,
    engine: Engine,
}

impl Running {
    fn start(text: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("base.yaml"), text).expect("a file");
        let last: Arc<Mutex<Option<Arc<Build>>>> = Arc::default();
        let kept = last.clone();
        let settings = Settings { options: Options::of(&ambassador::DIALECT), spacing: Duration::ZERO, recorder: None, events: Events::default() };
        let publish = move |build: &Arc<Build>| {
            *kept.lock().expect("a lock") = Some(build.clone());
            Ok(())
        };
        let source = Folder::new(folder.path().to_owned(), Reading::default());
        let engine = Engine::start(settings, vec![Box::new(source)], publish).expect("an engine");
        Self { folder, last, engine }
    }

    fn write(&self, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(), text).expect("a file");
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("base.yaml")
    }

    async fn until(&self, what: &str, holds: impl Fn(&Build) -> bool) -> Arc<Build> {
        let begin = Instant::now();
        loop {
            let build = self.last.lock().expect("a lock").clone();
            if let Some(build) = build.as_ref().filter(|build| holds(build)) {
                return build.clone();
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "{what}: {:?}", build.map(|build| build.findings()));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Returns the lines of the errors of unreadable files.
fn lines(build: &Build) -> Vec<u32> {
    let errors = build.findings().into_iter().filter(|finding| finding.code == "syntax" && finding.severity == "error");
    let mut lines: Vec<u32> = errors.map(|finding| finding.line).collect();
    lines.sort_unstable();
    lines
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn envoys_keep_resources_of_broken_file() {
    let mut running = Running::start(GATEWAY);
    let good = running.until("at the beginning", |build| build.errors == 0 && build.inputs == 1).await;
    let tab = GATEWAY.replace("  prefix", "\tprefix");
    let latin: Vec<u8> = GATEWAY.replace("/quote/", "/quot\u{1}/").bytes().map(|byte| if byte == 1 { 0xe9 } else { byte }).collect();
    let broken: [(&str, Vec<u8>, &[u32]); 4] = [
        ("a tab", tab.into_bytes(), &[1, 16]),
        ("binary", b"\x00\x01garbage".to_vec(), &[1]),
        ("UTF-16", [0xff, 0xfe].into_iter().chain(GATEWAY.encode_utf16().flat_map(u16::to_le_bytes)).collect(), &[1]),
        ("another encoding", latin, &[1, 16]),
    ];
    for (what, text, wanted) in broken {
        running.write(text);
        let build = running.until(what, |build| lines(build) == wanted).await;
        assert_eq!((&build.version, build.inputs, build.errors), (&good.version, 1, wanted.len()), "{what}: {:?}", build.findings());
        let told = build.findings().into_iter().any(|finding| finding.message.contains("base.yaml cannot be read: ") && finding.line == 1);
        assert!(told && build.all_findings().iter().any(|finding| finding.code == "syntax"), "{what}");
        running.write(GATEWAY);
        let build = running.until("the file is fixed", |build| lines(build).is_empty()).await;
        assert_eq!((&build.version, build.errors), (&good.version, 0), "{what}");
    }
    // A refused resource is readable: it is handled as its controller handles it.
    running.write(GATEWAY.replace("service: quote", "service: [quote]"));
    let refused = running.until("refused", |build| build.errors > 0).await;
    assert!(lines(&refused).is_empty() && refused.version != good.version, "{:?}", refused.findings());
    // A deleted file takes effect, because the user intended it.
    std::fs::remove_file(running.path()).expect("a file");
    running.until("deleted", |build| build.inputs == 0 && build.errors == 0).await;
    running.engine.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn start_serves_readable_files() {
    let mut running = Running::start(GATEWAY.replace("  prefix", "\tprefix"));
    let build = running.until("at the beginning", |build| build.inputs == 1).await;
    assert_eq!(lines(&build), [16]);
    let listeners = build.gateways.iter().flat_map(|gateway| gateway.snapshot.get("type.googleapis.com/envoy.config.listener.v3.Listener"));
    assert_eq!(listeners.map(|all| all.by_name.len()).sum::<usize>(), 1);
    running.engine.stop();
}
