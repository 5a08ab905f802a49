//! Compares the source, the served configuration, and the configuration of an Envoy.
//!
//! The source is the inputs without drafts. The served configuration has the drafts, and lacks resources that Envoy
//! would reject. Does not compute differences; the core does.

use crate::Failure;
use crate::worker::build::{Build, name_of};
use crate::xds::snapshot::Snapshot;
use chancery_core::backend::envoy::{self, v3};
use chancery_core::compare::{self, Side, SideSource, ThreeWay};
use chancery_core::compilation::{Compilation, GatewayRef, Options};
use chancery_core::compile::Compiler;
use chancery_core::dialect;
use chancery_core::envoy_config::{EnvoyConfig, Running};
use chancery_core::ir::SecretReference;
use chancery_core::resource::{Input, Inputs};
use chancery_workspace::threads::Threads;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The data that an Envoy is compared with.
#[derive(Clone)]
pub struct DriftSource {
    pub build: Arc<Build>,
    /// The options of the compile.
    pub options: Options,
    /// The served snapshots, by gateway.
    pub served: BTreeMap<Arc<str>, Arc<Snapshot>>,
}

/// The drift of an Envoy, and its state.
#[derive(Serialize)]
struct Drift {
    /// The gateway that the Envoy was compared with.
    gateway: String,
    envoy_version: Option<String>,
    #[serde(flatten)]
    found: ThreeWay,
    /// Sentences about uncertain results and rejected resources.
    notes: Vec<String>,
}

/// Compares the three with an Envoy's answer to `/config_dump`. `gateway` chooses one of several gateways. The answer is
/// JSON without credentials.
///
/// # Errors
///
/// One sentence: the gateway does not exist, or the text is not a dump.
pub fn three_way(of: &DriftSource, gateway: Option<&str>, dump: &str) -> Result<String, Failure> {
    let running = Running::read(dump).map_err(|why| format!("the Envoy's dump {why}"))?;
    let (name, snapshot) = chosen(&of.served, gateway)?;
    let served = Running::read(&text_of(snapshot)).map_err(|why| format!("the served configuration {why}"))?;
    let mut compiler = Compiler::new(dialect::ALL).with_executor(&Threads).without_memory().without_statuses();
    let compilation = compiler.compile(&source_of(&of.build), &of.options);
    let source = compilation.gateways().find(|known| name_of(*known) == *name);
    let source = source.ok_or_else(|| format!("the source has no running gateway {name}: the server keeps its last configuration"))?;
    let found = compared(source, &mut compiler, &compilation, &served, &running);
    let notes = found.uncompared.sentences().into_iter().chain(notes(&running)).collect();
    let drift = Drift { gateway: name.to_string(), envoy_version: running.envoy_version.clone(), found, notes };
    let text = serde_json::to_string(&drift).map_err(|error| error.to_string())?;
    let text = running.redactor.scrub(&text).into_owned();
    Ok(compilation.redactor().scrub(&text).into_owned())
}

fn compared(source: GatewayRef<'_>, compiler: &mut Compiler, compilation: &Compilation, served: &Running, running: &Running) -> ThreeWay {
    let lookup = |reference: &SecretReference| source.of().key_material(reference);
    let options = envoy::Options { secrets: Some(&lookup), ..envoy::Options::default() };
    let config = EnvoyConfig::standing_alone(source.ir, &options);
    let map = v3::output_map(source.ir, &options, compiler.emitted.of(source));
    let positions = compilation.positions();
    let side = Side { config: &config, source: Some(SideSource { gateway: source, positions: &positions, map: &map }) };
    compare::three_way(&side, served, running)
}

/// Returns the snapshot of the named gateway, or of the only gateway.
fn chosen<'s>(served: &'s BTreeMap<Arc<str>, Arc<Snapshot>>, gateway: Option<&str>) -> Result<(&'s Arc<str>, &'s Arc<Snapshot>), Failure> {
    let names = || served.keys().map(|name| &**name).collect::<Vec<_>>().join(", ");
    let only = || served.iter().next().filter(|_| served.len() == 1);
    let found = gateway.and_then(|name| served.get_key_value(name)).or_else(only);
    found.ok_or_else(|| match gateway {
        _ if served.is_empty() => "no gateway runs: there is nothing that an Envoy should have".into(),
        Some(name) => format!("there is no gateway {name}: there are {}", names()).into(),
        None => format!("there are several gateways: choose one of {}", names()).into(),
    })
}

/// Returns the dump of an Envoy that has a snapshot.
#[must_use]
pub fn text_of(snapshot: &Snapshot) -> String {
    let services = v3::Service::ALL.into_iter().filter_map(|service| Some((service, snapshot.get(&service.type_url())?)));
    let resources: Vec<_> = services.flat_map(|(service, of)| of.by_name.values().map(move |of| (service, of.version.to_string(), of))).collect();
    v3::config_dump(resources.iter().map(|(service, version, of)| (*service, version.as_str(), &***of)))
}

/// Returns the inputs of a build without drafts. If several inputs have one name, the last wins.
fn source_of(build: &Build) -> Inputs {
    let compiled = &build.compilation.inputs;
    if build.beneath.is_empty() {
        return compiled.clone();
    }
    let beneath = |input: &Input| build.beneath.iter().rfind(|of| of.name == input.name).unwrap_or(input).clone();
    let mut inputs = compiled.clone();
    inputs.inputs = inputs.inputs.iter().map(beneath).collect();
    inputs
}

fn notes(running: &Running) -> Vec<String> {
    let refused = running.refused.iter().map(|of| format!("Envoy rejected the {} {}: {}", of.kind, of.name, of.details));
    let warming = running.warming.iter().map(|(kind, name)| format!("The {kind} {name} is warming: Envoy does not work with it yet."));
    let unknown = running.unknown_types.iter().map(|name| format!("The type {name} is not known, and was not looked into."));
    let missing = running.missing.iter().map(|part| format!("The dump has no {part}: it is filtered or truncated."));
    refused.chain(warming).chain(unknown).chain(missing).collect()
}
