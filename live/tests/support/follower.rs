//! Follows an API server in tests, queries the result, and writes Mappings.
//!
//! Does not serve objects; see `api`.

use chancery_core::compilation::{Dialect, Options};
use chancery_core::dialect::ambassador;
use chancery_core::resource::{Input, Inputs};
use chancery_live::engine::{Engine, Settings};
use chancery_live::event::{Events, SourceState};
use chancery_live::sources::kube::{Kube, Settings as Which};
use chancery_live::worker::build::{Build, Builder};
use chancery_live::worker::intake::Drained;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Follows a cluster.
pub struct Follower {
    pub engine: Engine,
    pub builds: watch::Receiver<Option<Arc<Build>>>,
}

impl Follower {
    pub fn start(which: Which) -> Self {
        Self::of(&ambassador::DIALECT, which)
    }

    /// Follows the kinds of a dialect.
    pub fn of(dialect: &'static Dialect, which: Which) -> Self {
        Self::with(Options::of(dialect), which)
    }

    /// Follows one dialect, and compiles with these options.
    pub fn with(options: Options, which: Which) -> Self {
        let dialect = options.dialect.as_ref().map(ToString::to_string);
        let (out, builds) = watch::channel(None);
        let settings = Settings { options, spacing: Duration::from_millis(20), recorder: None, events: Events::default() };
        let publish = move |build: &Arc<Build>| {
            out.send_replace(Some(build.clone()));
            Ok(())
        };
        let which = Which { dialect, ..which };
        let engine = Engine::start(settings, vec![Box::new(Kube::new(which))], publish).expect("an engine");
        Self { engine, builds }
    }

    /// Waits until the inputs of a kind have these names.
    pub async fn until(&mut self, what: &str, kind: &str, wanted: &[&str]) -> Arc<Build> {
        let begin = Instant::now();
        loop {
            let build = self.builds.borrow().clone();
            let names: Vec<String> = build.iter().flat_map(|build| names(build, kind)).collect();
            if let Some(build) = build.filter(|_| names == wanted) {
                return build;
            }
            let states = || self.engine.states.all();
            assert!(begin.elapsed() < Duration::from_secs(45), "{what}: {names:?} is not {wanted:?}; {:#?}", states());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until a kind is in this state.
    pub async fn state(&self, kind: &str, wanted: SourceState) -> String {
        let begin = Instant::now();
        loop {
            let all = self.engine.states.all();
            if let Some(status) = all.iter().find(|status| status.kind == kind && status.state == wanted) {
                return status.detail.clone().unwrap_or_default();
            }
            assert!(begin.elapsed() < Duration::from_secs(45), "{kind} is not {wanted:?}: {all:#?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.engine.stop();
    }
}

pub fn names(build: &Build, kind: &str) -> Vec<String> {
    let prefix = format!("{kind}/");
    build.compilation.inputs.inputs.iter().filter_map(|input| input.name.strip_prefix(&prefix).map(str::to_owned)).collect()
}

/// Returns the version of a fresh compile of the same inputs.
pub fn fresh(build: &Build) -> String {
    let inputs: Vec<Input> = build.compilation.inputs.inputs.iter().map(|of| Input { name: of.name.clone(), text: of.text.clone() }).collect();
    let options = Options::of(&ambassador::DIALECT);
    let not_utf8 = vec![Vec::new(); inputs.len()];
    Builder::new(options)
        .build(Drained { inputs: Inputs { inputs, stored: build.compilation.inputs.stored.clone() }, not_utf8, ..Drained::default() })
        .version
}

pub const GROUP: &str = "getambassador.io";
pub const MAPPING: &str = "Mapping.getambassador.io";

pub fn object(kind: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": format!("{GROUP}/v3alpha1"), "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec})
}

pub fn mapping(name: &str, timeout: u32) -> Value {
    object("Mapping", name, json!({"hostname": "*", "prefix": format!("/{name}/"), "service": "quote", "timeout_ms": timeout}))
}

/// Returns the Mappings of a build, with their specs.
pub fn known(build: &Build) -> BTreeMap<String, Value> {
    let spec = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default()["spec"].clone();
    let inputs = build.compilation.inputs.inputs.iter();
    inputs.filter_map(|input| Some((input.name.strip_prefix(&format!("{MAPPING}/"))?.to_owned(), spec(&input.text)))).collect()
}
