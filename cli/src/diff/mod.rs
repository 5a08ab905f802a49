//! `chancery diff` and `chancery drift`: write differences in the requested format.
//!
//! Does not compare; see `chancery_core::compare`.

mod compared;
mod envoy;
pub mod human;
mod live;
mod loaded;
pub mod migration;
pub mod migration_report;
mod report;
mod versions;
mod without;

pub use without::{Without, effect_of_patch, without};

use crate::args::{Counts, Deployment, DiffArgs, DiffFormat, DriftArgs};
use crate::output::{message, print, print_json};
use crate::style::{Style, count};
use crate::{Outcome, Unusable, input};
use chancery_core::diagnostic::Severity;
use chancery_core::envoy_config::Running;
use chancery_core::text::series;
use chancery_workspace::git::working_path;
use compared::{Differences, GatewayDifference, GatewayState, Make, at_once, compare};
use loaded::{Loaded, running};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Runs `diff`.
pub fn run(args: &DiffArgs, deployment: &Deployment, style: &Style) -> Outcome {
    if !args.from.is_empty() || !args.to.is_empty() {
        return migration::run(args, deployment, style);
    }
    if let (Some(from), Some(to)) = (&args.from_version, &args.to_version) {
        return versions::run(args, (from, to), deployment, style);
    }
    let before = args.before.as_ref().ok_or("name a first input")?;
    let after = match &args.after {
        Some(after) => after.clone(),
        None => after_of(before)?,
    };
    let is_running = |path: &Path| path.is_file() && input::text(path).is_ok_and(|text| Running::is_one(&text));
    let alone = is_running(before) || is_running(&after);
    let existing = if before.is_file() { input::text(before).ok().filter(|text| loaded::existing(text).is_some()) } else { None };
    let read_after = || Loaded::read_onto(&after, deployment, alone, existing.as_deref());
    let (before, after) = at_once(|| Loaded::read(before, deployment, alone), read_after);
    let (before, after) = (before?, after?);
    let kinds: BTreeSet<_> = before.kinds().into_iter().chain(after.kinds()).collect();
    // The second input no longer has these kinds: references to them are missing, not assumed.
    let gone: Vec<String> = kinds.difference(&after.kinds()).map(|(_, kind)| kind.to_string()).collect();
    let (before, after) = (before.holding(&kinds, alone)?, after.holding(&kinds, alone)?);
    warn_of_gaps(&[&before, &after]);
    warn_of_errors(&before, &after, &gone);
    finish(&before, &after, args, style)
}

/// Compares two sides, writes the differences and exits.
fn finish(before: &Loaded, after: &Loaded, args: &DiffArgs, style: &Style) -> Outcome {
    let differences = compare(before, after, !args.no_requests)?;
    show(&differences, None, args.format, style)?;
    let counts = match args.exit_code {
        None => false,
        Some(Counts::Resources) => !differences.resources.is_empty(),
        Some(Counts::Envoy) => !differences.is_same_for_envoy(),
        Some(Counts::Requests) => differences.gateways.iter().any(GatewayDifference::changes_requests),
    };
    let may_differ = args.exit_code.is_some() && (!differences.unread.is_empty() || differences.credentials_differ);
    // Exit without freeing the structures of large inputs.
    std::process::exit(i32::from(counts || may_differ))
}

/// Reports on standard error the unreadable and the assumed parts of both inputs.
fn warn_of_gaps(all: &[&Loaded]) {
    let compiled: Vec<_> = all.iter().filter_map(|of| of.compilation()).collect();
    compiled.iter().for_each(|of| input::warn_of_unread(of));
    input::warn_of_assumed(&compiled);
}

/// Reports on standard error that the second input has new errors: a refused object does not replace the stored object.
fn warn_of_errors(before: &Loaded, after: &Loaded, gone: &[String]) {
    let errors = |of: &Loaded| of.compilation().map_or(0, |of| of.all_diagnostics().filter(|finding| finding.severity == Severity::Error).count());
    let (before, after) = (errors(before), errors(after));
    if after > before {
        let more = if before == 0 { count(after, "error") } else { count(after - before, "more error") };
        let (why, check) = match gone.is_empty() {
            true => (String::new(), "chancery check"),
            false => (format!(" (the first has {}, and the second has none)", series(gone)), "chancery check --missing error"),
        };
        message(&format!("the second input has {more}{why}; look at it with `{check}`. If a cluster refuses a resource, it keeps the previous one"));
    }
}

/// The default second side of a revision: the same path in the working folder.
fn after_of(before: &Path) -> Result<PathBuf, Unusable> {
    let Some((revision, path)) = input::revision_of(before) else {
        return Err(format!("there is nothing to compare {} with: name a second input, or a revision of git alone", before.display()).into());
    };
    Ok(working_path(&revision, &path)?)
}

/// Runs `drift`.
pub fn drift(args: &DriftArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let source = Loaded::read(&args.source, deployment, true)?;
    if source.compilation().is_some_and(|of| of.nginxes().next().is_some() && of.gateways().next().is_none()) {
        return Err("drift reads running Envoys, and this source runs nginx: compare two inputs with `chancery diff`".into());
    }
    if args.live {
        return live::drift(args, &source, style);
    }
    let dump = match (&args.dump, envoy::asked(args)) {
        (Some(path), _) => running(&path.display().to_string(), &input::text(path)?)?,
        (None, Some(asked)) => running(&asked.name(), &asked.dump()?)?,
        (None, None) => return Err("name a dump, an Envoy or a pod".into()),
    };
    warn_of_gaps(&[&source]);
    let differences = compare(&source, &dump, false)?;
    let Loaded::Running(running) = &dump else { return Ok(2) };
    show(&differences, Some(running), args.format, style)?;
    let differs = !differences.is_empty() || !running.refused.is_empty() || !differences.unread.is_empty();
    Ok(u8::from(args.exit_code && differs))
}

fn show(differences: &Differences, running: Option<&Running>, format: DiffFormat, style: &Style) -> Result<(), Unusable> {
    match format {
        DiffFormat::Human => print(&human::report(differences, running, style)),
        DiffFormat::Json => print_json(&data(differences, running)?),
        DiffFormat::Markdown => print(&report::markdown(differences, running)),
        DiffFormat::Sarif => print_json(&report::sarif(differences)),
        DiffFormat::Github => print(&report::github(differences)),
        DiffFormat::Html => print(&report::html(differences, running)),
        DiffFormat::Junit => print(&report::junit(differences)),
    }
}

/// Returns data. If there is one gateway, its parts are next to the resources; else there is an object by gateway.
fn data(differences: &Differences, running: Option<&Running>) -> Result<Value, Unusable> {
    let mut data = json!({ "resources": differences.resources });
    if !differences.unread.is_empty() {
        data["unread"] = json!(differences.unread);
    }
    if differences.credentials_differ {
        data["credentials_differ"] = json!(true);
    }
    let uncompared = differences.uncompared();
    if !uncompared.is_empty() {
        data["uncompared"] = json!(uncompared);
    }
    if let Some(only) = differences.only() {
        parts(&mut data, only);
        data["settings"] = json!(differences.settings);
        if let Some(requests) = &only.requests {
            data["requests"] = value(requests)?;
        }
    } else {
        data["settings"] = json!(differences.settings);
        let mut gateways = Map::new();
        for of in &differences.gateways {
            let mut gateway = json!({ "state": of.state.name() });
            if of.state == GatewayState::Compared {
                parts(&mut gateway, of);
            }
            if let Some(requests) = &of.requests {
                gateway["requests"] = value(requests)?;
            }
            gateways.insert(of.gateway.clone().unwrap_or_default(), gateway);
        }
        data["gateways"] = gateways.into();
    }
    if let Some(running) = running {
        data["running"] = crate::dump::state(running);
    }
    Ok(data)
}

/// Returns the differences in the parts of a gateway: `envoy` for an Envoy, `parts` for an nginx, `parts` and `kept` for an Application Gateway.
fn parts(data: &mut Value, of: &GatewayDifference) {
    match of.make {
        Make::Envoy => data["envoy"] = json!(of.envoy),
        Make::Nginx => data["parts"] = json!(of.envoy),
        Make::AppGateway => {
            data["parts"] = json!(of.envoy);
            data["kept"] = json!(of.kept);
        }
    }
}

fn value(data: &impl serde::Serialize) -> Result<Value, Unusable> {
    serde_json::to_value(data).map_err(|error| format!("cannot write JSON: {error}").into())
}
