//! `chancery diff` and `chancery drift`: what differs, in the form asked for.
//!
//! What must not be here: the comparison; that is `chancery_core::compare`.

pub mod human;
mod report;

use crate::args::{Counts, Deployment, DiffArgs, DiffFormat, DriftArgs};
use crate::output::{hold, print, print_json};
use crate::style::Style;
use crate::{Outcome, Unusable, input};
use chancery_core::backend::{OutputMap, envoy};
use chancery_core::compare::{Comparison, RequestOptions, Requests, Side, SideSource, compare, requests};
use chancery_core::compilation::Compilation;
use chancery_core::envoy_config::{EnvoyConfig, Running};
use chancery_core::explain::Positions;
use chancery_core::ir::SecretReference;
use std::path::Path;
use std::thread;

/// One side, read.
enum Loaded {
    Compiled { compilation: Box<Compilation>, map: Box<OutputMap>, config: Box<EnvoyConfig> },
    Running(Box<Running>),
}

impl Loaded {
    /// `stands_alone` where it is held against what an Envoy tells of itself, which has endpoints and certificates.
    fn compiled(given: &input::Given, stands_alone: bool) -> Result<Self, Unusable> {
        let (mut compiler, compilation) = given.compile_one()?;
        input::warn_of_unread(&compilation);
        let Some(gateway) = compilation.gateways().next() else { return Err(input::nothing_runs(&compilation)) };
        let lookup = |reference: &SecretReference| gateway.of().key_material(reference);
        let secrets = stands_alone.then_some(&lookup as envoy::Lookup<'_>);
        let options = envoy::Options { secrets, ..envoy::Options::default() };
        let map = Box::new(envoy::v3::output_map(gateway.ir, &options, compiler.emitted.of(gateway)));
        let config = Box::new(EnvoyConfig::standing_alone(gateway.ir, &options));
        Ok(Loaded::Compiled { config, map, compilation: Box::new(compilation) })
    }

    /// A file, a folder, a revision of git, a snapshot, a dump or a bootstrap.
    fn read(path: &Path, deployment: &Deployment, stands_alone: bool) -> Result<Self, Unusable> {
        if path.is_file() {
            let text = input::text(path)?;
            if Running::is_one(&text) {
                return running(path, &text);
            }
        } else if !path.exists()
            && let Some((revision, inner)) = path.to_str().filter(|text| !text.contains("://")).and_then(|text| text.split_once(':'))
        {
            return Self::compiled(&input::revision(revision, inner, deployment)?, stands_alone);
        }
        Self::compiled(&input::given(&[path.to_path_buf()], deployment)?, stands_alone)
    }

    fn positions(&self) -> Option<Positions<'_>> {
        match self {
            Loaded::Compiled { compilation, .. } => Some(compilation.positions()),
            Loaded::Running(_) => None,
        }
    }

    fn side<'a>(&'a self, positions: Option<&'a Positions<'a>>) -> Side<'a> {
        match self {
            Loaded::Compiled { compilation, map, config } => {
                let source = compilation.gateways().next().zip(positions);
                Side { config, source: source.map(|(gateway, positions)| SideSource { gateway, positions, map }) }
            }
            Loaded::Running(running) => Side { config: &running.config, source: None },
        }
    }
}

fn running(path: &Path, text: &str) -> Result<Loaded, Unusable> {
    let read = Running::read(text).map_err(|why| format!("{} {why}", path.display()))?;
    hold(vec![read.held_back.clone()]);
    Ok(Loaded::Running(Box::new(read)))
}

/// Does two things at the same time.
fn at_once<A: Send, B>(one: impl FnOnce() -> A + Send, two: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let two = two();
        (one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), two)
    })
}

/// What differs, and for which requests, where that is asked.
struct Compared {
    comparison: Comparison,
    requests: Option<Requests>,
}

fn compared(before: &Loaded, after: &Loaded, with_requests: bool) -> Compared {
    let (old, new) = (before.positions(), after.positions());
    let (old, new) = (before.side(old.as_ref()), after.side(new.as_ref()));
    let all = || with_requests.then(|| requests(&old, &new, &RequestOptions::default()));
    let (comparison, requests) = at_once(|| compare(&old, &new), all);
    Compared { comparison, requests }
}

/// Runs `diff`.
pub fn run(args: &DiffArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let is_running = |path: &Path| path.is_file() && input::text(path).is_ok_and(|text| Running::is_one(&text));
    let alone = is_running(&args.before) || is_running(&args.after);
    let (before, after) = at_once(|| Loaded::read(&args.before, deployment, alone), || Loaded::read(&args.after, deployment, alone));
    let (before, after) = (before?, after?);
    let compared = compared(&before, &after, !args.no_requests);
    show(&compared, None, args.format, style)?;
    let (comparison, requests) = (&compared.comparison, &compared.requests);
    let counts = match args.exit_code {
        None => false,
        Some(Counts::Resources) => !comparison.resources.is_empty(),
        Some(Counts::Envoy) => !comparison.envoy.is_empty(),
        Some(Counts::Requests) => requests.as_ref().map_or(!comparison.envoy.is_empty(), |requests| !requests.is_empty() || !requests.complete),
    };
    // Structures of large inputs are not taken apart.
    std::process::exit(i32::from(counts))
}

/// Runs `drift`.
pub fn drift(args: &DriftArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let source = Loaded::read(&args.source, deployment, true)?;
    let dump = running(&args.dump, &input::text(&args.dump)?)?;
    let compared = compared(&source, &dump, false);
    let Loaded::Running(running) = &dump else { return Ok(2) };
    show(&compared, Some(running), args.format, style)?;
    Ok(u8::from(args.exit_code && (!compared.comparison.is_empty() || !running.refused.is_empty())))
}

fn show(compared: &Compared, running: Option<&Running>, format: DiffFormat, style: &Style) -> Result<(), Unusable> {
    let Compared { comparison, requests } = compared;
    match format {
        DiffFormat::Human => print(&human::report(comparison, requests.as_ref(), running, style)),
        DiffFormat::Json => {
            let mut data = serde_json::to_value(comparison).map_err(|error| format!("cannot write JSON: {error}"))?;
            if let Some(requests) = requests {
                data["requests"] = serde_json::to_value(requests).map_err(|error| format!("cannot write JSON: {error}"))?;
            }
            if let Some(running) = running {
                data["running"] = crate::dump::state(running);
            }
            print_json(&data)
        }
        DiffFormat::Markdown => print(&report::markdown(comparison, requests.as_ref(), running)),
        DiffFormat::Sarif => print_json(&report::sarif(comparison, requests.as_ref())),
        DiffFormat::Github => print(&report::github(comparison, requests.as_ref())),
    }
}
