//! The present state compared with another: work of a page, or what a person pasted.
//!
//! What must not be here: the comparison; that is `chancery_core::compare`.

use crate::session::{DIALECTS, inputs, options};
use chancery_core::backend::{OutputMap, envoy};
use chancery_core::compare::{Change, RequestOptions, Requests, Side, SideSource, compare, requests};
use chancery_core::compilation::Compilation;
use chancery_core::compile::Compiler;
use chancery_core::envoy_config::{EnvoyConfig, Running};
use chancery_core::explain::{Snapshot, share};
use chancery_core::redact::HeldBack;
use chancery_core::resource::{Input, Inputs};
use chancery_web::protocol::{Comparison, Other};

/// What differs, as the core tells it.
pub type Changes = Comparison<Vec<Change>, Option<Requests>>;

/// The other side, read once.
pub struct Loaded {
    /// What it was made from.
    of: Other,
    state: State,
    /// In a few words.
    called: String,
    /// What no answer may have.
    held_back: HeldBack,
}

enum State {
    Compiled { compilation: Box<Compilation>, map: OutputMap, config: EnvoyConfig },
    Running(Running),
}

impl Loaded {
    /// Reads it.
    pub fn new(of: Other) -> Result<Self, String> {
        let compiled = |inputs: &Inputs, options| {
            let mut compiler = Compiler::new(DIALECTS);
            let compilation = compiler.compile(inputs, options);
            let (mut config, mut map) = (EnvoyConfig::default(), OutputMap::default());
            if let Some(gateway) = compilation.gateways().next() {
                config = EnvoyConfig::of(gateway.ir);
                map = envoy::v3::output_map(gateway.ir, &envoy::Options::default(), compiler.emitted.of(gateway));
            }
            State::Compiled { config, map, compilation: compilation.into() }
        };
        let (state, called) = match &of {
            Other::Work(work) => (compiled(&inputs(&work.files), &options(work)?), String::new()),
            Other::Text(text) => {
                let snapshot = match share::open(text.trim()).filter(|_| !text.trim().contains('\n')) {
                    Some(snapshot) => Some(snapshot.map_err(|why| format!("The link {why}."))?),
                    None if Snapshot::is_one(text) => Some(Snapshot::read(text).map_err(|why| format!("The text {why}."))?),
                    None => None,
                };
                if let Some(snapshot) = snapshot {
                    (compiled(&snapshot.inputs(), &snapshot.options), "the snapshot".into())
                } else if Running::is_one(text) {
                    let running = Running::read(text).map_err(|why| format!("The text {why}."))?;
                    let version = running.envoy_version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
                    (State::Running(running), format!("the running Envoy{version}"))
                } else {
                    let input = Input { name: "pasted.yaml".into(), text: text.as_str().into() };
                    let state = compiled(&Inputs { inputs: [input].into() }, &Default::default());
                    if matches!(&state, State::Compiled { compilation, .. } if compilation.objects.iter().all(|object| object.key.kind.is_empty())) {
                        return Err(
                            "The text holds no resource, and is neither an answer of /config_dump, nor a bootstrap, a snapshot or a link.".into()
                        );
                    }
                    (state, "the pasted resources".into())
                }
            }
        };
        let held_back = match &state {
            State::Compiled { compilation, .. } => compilation.held_back(),
            State::Running(running) => running.held_back.clone(),
        };
        Ok(Self { of, state, called, held_back })
    }

    /// What no answer may have.
    pub fn held_back(&self) -> &HeldBack {
        &self.held_back
    }

    /// Whether it was made from this.
    pub fn is(&self, of: &Other) -> bool {
        self.of == *of
    }

    /// How the present state differs from it.
    pub fn compare(&self, now: &SideSource<'_>, config: &EnvoyConfig) -> Changes {
        let now = Side { config, source: Some(SideSource { gateway: now.gateway, positions: now.positions, map: now.map }) };
        let (found, changed) = match &self.state {
            State::Compiled { compilation, map, config } => {
                let positions = compilation.positions();
                let source = compilation.gateways().next().map(|gateway| SideSource { gateway, positions: &positions, map });
                let before = Side { config, source };
                (compare(&before, &now), Some(requests(&before, &now, &RequestOptions::default())))
            }
            // What it has of its own, as listeners of administration, would be told of as lost.
            State::Running(running) => (compare(&Side { config: &running.config, source: None }, &now), None),
        };
        Comparison { with: self.called.clone(), resources: found.resources, envoy: found.envoy, requests: changed, notes: self.notes() }
    }

    fn notes(&self) -> Vec<String> {
        let State::Running(running) = &self.state else { return Vec::new() };
        let refused = running.refused.iter().map(|refused| format!("Envoy refused the {} {}: {}", refused.kind, refused.name, refused.details));
        let warming = running.warming.iter().map(|(kind, name)| format!("The {kind} {name} is warming: Envoy does not work with it yet."));
        let unknown = running.unknown_types.iter().map(|name| format!("The type {name} is not known, and was not looked into."));
        let without = (!running.has_endpoints).then(|| "Endpoints are not in the dump: /config_dump?include_eds adds them.".to_string());
        refused.chain(warming).chain(unknown).chain(without).collect()
    }
}
