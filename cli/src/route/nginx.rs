//! `chancery route` for nginx under ingress-nginx.
//!
//! Does not simulate; see `chancery_core::explain` and the simulation of the back end.

use super::head;
use crate::args::{Deployment, Format, RouteArgs};
use crate::output::{message, print, reason};
use crate::style::{Style, plain};
use crate::{Outcome, Unusable, input};
use chancery_core::backend::nginx::simulate::{Simulator, read};
use chancery_core::explain::NginxReport;
use chancery_core::simulate::Request;
use chancery_core::text::{Limits, Node, Value, parse, to_json};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Answers the requests of a file, one after another.
pub fn replay(file: &Path, args: &RouteArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let text = std::fs::read_to_string(file).map_err(|error| format!("cannot read {}: {}", file.display(), reason(&error)))?;
    let root = parse(&text, &Limits::default()).root.ok_or_else(|| format!("{} is empty", file.display()))?;
    let (requests, world) = read(&root).map_err(|why| format!("{}: {why}", file.display()))?;
    let mut paths = args.inputs.inputs.clone();
    paths.splice(..0, args.url.iter().map(PathBuf::from));
    let given = input::given(&paths, deployment)?;
    let (_, compilation) = given.compile()?;
    input::warn_of_gaps(&compilation);
    let Some(of) = compilation.nginxes().next() else {
        return Err(Unusable("--requests is for ingress-nginx, and no nginx follows from the input".into()));
    };
    if let Some(refused) = &of.nginx.refused {
        message(&format!("nginx refuses this configuration, and the previous one answers: {}", refused.value));
    }
    let answers = Simulator::new(of.nginx).answer(&world, &requests);
    match args.format {
        Format::Json => {
            let all = Node::synthesised(Value::Array(answers.iter().map(|answer| answer.node()).collect()));
            print(&format!("{}\n", to_json(&all, true)))?;
        }
        Format::Human => {
            let mut out = String::new();
            for (request, answer) in requests.iter().zip(&answers) {
                let scheme = if request.tls { "https" } else { "http" };
                let line = format!("{} {scheme}://{}{}", request.method, request.host, request.path);
                let to = answer.location.clone().or_else(|| answer.upstream.clone()).or_else(|| answer.error.clone()).unwrap_or_default();
                let _ = writeln!(out, "{} {}  {}", style.bold(plain(&line)), answer.status, style.cyan(plain(&to)));
            }
            print(&out)?;
        }
    }
    let mut said: Vec<&String> = Vec::new();
    for note in answers.iter().flat_map(|answer| &answer.notes) {
        if !said.contains(&note) {
            said.push(note);
            message(note);
        }
    }
    Ok(0)
}

/// Returns a report as human-readable text.
pub fn human(report: &NginxReport, request: &Request, style: &Style) -> String {
    let mut out = head(request, &report.verdict, style);
    if let Some(refused) = &report.refused {
        if let Some(span) = refused.origin.as_ref().and_then(|origin| origin.span.as_ref()) {
            let _ = writeln!(out, "  {}", style.dim(plain(&format!("at {}:{}", span.file, span.line))));
        }
        let _ = writeln!(out, "\nWithout that, nginx would do this:");
    }
    for step in &report.way {
        let place = report.origins.iter().find(|origin| origin.of == step.what && origin.pointer == step.name);
        let span = place.and_then(|origin| origin.origin.span.as_ref());
        let place = span.map(|span| format!("  {}", style.dim(plain(&format!("{}:{}", span.file, span.line))))).unwrap_or_default();
        let _ = writeln!(out, "\n{} {} {}{place}", style.green("→"), step.what, style.cyan(plain(&step.name)));
    }
    if let Some(seen) = &report.seen {
        let endpoint = seen.endpoint.as_ref().map(|endpoint| format!(" at {endpoint}")).unwrap_or_default();
        let _ = writeln!(out, "    {}", plain(&format!("{} {} ({}){endpoint}, host {}", seen.method, seen.path, seen.protocol, seen.host)));
    }
    for other in &report.others {
        let _ = writeln!(out, "    {}", plain(&format!("also {} {}, host {}", other.method, other.path, other.host)));
    }
    match (&report.error, &report.location) {
        (Some(error), _) => {
            let _ = writeln!(out, "\n{} {}", style.red("✗"), plain(error));
        }
        (None, Some(location)) => {
            let _ = writeln!(out, "\n{} redirect {}\n    location {}", style.green("→"), report.status, style.cyan(plain(location)));
        }
        (None, None) if report.seen.is_some() => {}
        (None, None) => {
            let _ = writeln!(out, "\n{} nginx answers {}", style.yellow("→"), report.status);
        }
    }
    for (name, values) in &report.headers {
        let _ = writeln!(out, "    {}", style.dim(plain(&format!("{name}: {}", values.join(", ")))));
    }
    for note in &report.notes {
        let _ = writeln!(out, "\n{} {}", style.yellow("note:"), plain(note));
    }
    out
}
