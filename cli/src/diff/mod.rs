//! `chancery diff` and `chancery drift`: what differs, in the form asked for.
//!
//! What must not be here: the comparison; that is `chancery_core::explain::compare`.

mod human;
mod report;

use crate::args::{Deployment, DiffArgs, DiffFormat, DriftArgs};
use crate::output::{print, print_json};
use crate::style::Style;
use crate::{Outcome, Unusable, input};
use chancery_core::backend::{OutputMap, envoy};
use chancery_core::compile::Compilation;
use chancery_core::explain::compare::{Comparison, Side, SideSource, compare};
use chancery_core::explain::{EnvoyConfig, Positions, Running};
use std::path::Path;

/// One side, read.
enum Loaded {
    Compiled { compilation: Box<Compilation>, map: Box<OutputMap>, config: Box<EnvoyConfig> },
    Running(Box<Running>),
}

impl Loaded {
    fn compiled(given: &input::Given) -> Self {
        let (mut compiler, compilation) = given.compile();
        let map = envoy::v3::output_map(&compilation.ir, &envoy::Options::default(), &mut compiler.emitted);
        Loaded::Compiled { config: Box::new(EnvoyConfig::of(&compilation)), map: Box::new(map), compilation: Box::new(compilation) }
    }

    /// A file, a folder, a revision of git, a snapshot, a dump or a bootstrap.
    fn read(path: &Path, deployment: &Deployment) -> Result<Self, Unusable> {
        if path.is_file() {
            let text = input::text(path)?;
            if Running::is_one(&text) {
                return running(path, &text);
            }
        } else if !path.exists()
            && let Some((revision, inner)) = path.to_str().filter(|text| !text.contains("://")).and_then(|text| text.split_once(':'))
        {
            return Ok(Self::compiled(&input::revision(revision, inner, deployment)?));
        }
        Ok(Self::compiled(&input::given(&[path.to_path_buf()], deployment)?))
    }

    fn positions(&self) -> Option<Positions<'_>> {
        match self {
            Loaded::Compiled { compilation, .. } => Some(Positions::new(&compilation.inputs, &compilation.objects)),
            Loaded::Running(_) => None,
        }
    }

    fn side<'a>(&'a self, positions: Option<&'a Positions<'a>>) -> Side<'a> {
        match self {
            Loaded::Compiled { compilation, map, config } => {
                Side { config, source: positions.map(|positions| SideSource { compilation, positions, map }) }
            }
            Loaded::Running(running) => Side { config: &running.config, source: None },
        }
    }
}

fn running(path: &Path, text: &str) -> Result<Loaded, Unusable> {
    let read = Running::read(text).map_err(|why| format!("{} {why}", path.display()))?;
    Ok(Loaded::Running(Box::new(read)))
}

fn compared(before: &Loaded, after: &Loaded) -> Comparison {
    let (old, new) = (before.positions(), after.positions());
    compare(&before.side(old.as_ref()), &after.side(new.as_ref()))
}

/// Runs `diff`.
pub fn run(args: &DiffArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let (before, after) = (Loaded::read(&args.before, deployment)?, Loaded::read(&args.after, deployment)?);
    let comparison = compared(&before, &after);
    show(&comparison, None, args.format, style)?;
    // Structures of large inputs are not taken apart.
    std::process::exit(i32::from(args.exit_code && !comparison.envoy.is_empty()))
}

/// Runs `drift`.
pub fn drift(args: &DriftArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let source = Loaded::read(&args.source, deployment)?;
    let dump = running(&args.dump, &input::text(&args.dump)?)?;
    let comparison = compared(&source, &dump);
    let Loaded::Running(running) = &dump else { return Ok(2) };
    show(&comparison, Some(running), args.format, style)?;
    Ok(u8::from(args.exit_code && (!comparison.is_empty() || !running.refused.is_empty())))
}

fn show(comparison: &Comparison, running: Option<&Running>, format: DiffFormat, style: &Style) -> Result<(), Unusable> {
    match format {
        DiffFormat::Human => print(&human::report(comparison, running, style)),
        DiffFormat::Json => {
            let mut data = serde_json::to_value(comparison).map_err(|error| format!("cannot write JSON: {error}"))?;
            if let Some(running) = running {
                data["running"] = crate::dump::state(running);
            }
            print_json(&data)
        }
        DiffFormat::Markdown => print(&report::markdown(comparison, running)),
        DiffFormat::Sarif => print_json(&report::sarif(comparison)),
        DiffFormat::Github => print(&report::github(comparison)),
    }
}
