//! `chancery convert`: converts objects of one configuration language to another.
//!
//! Does not convert; see `chancery_core::convert`.

use crate::across::rows;
use crate::args::{Conversion, ConversionTarget, ConvertArgs, Deployment};
use crate::diff::human::of_requests;
use crate::diff::migration::{accepted_changes, report_unused};
use crate::diff::migration_report::{Names, html, human};
use crate::output::{allow_secrets, message, message_lines, print, reason, shown};
use crate::style::{SHOWN_PLACES, Style, count, plain};
use crate::{Outcome, input};
use chancery_core::compilation::{Compilation, Dialect, OptionValue};
use chancery_core::convert::{
    IngressProof, Note, Target, http_proxy_to_gateway, ingress_nginx_to_gateway, ingress_proof, ingress_to_gateway, mapping_to_http_proxy,
    migration_proof, proof,
};
use chancery_core::diagnostic::Place;
use chancery_core::dialect::contour::settings::convert::convert;
use chancery_core::dialect::{self, ambassador, contour, envoy_gateway, ingress, ingress_nginx};
use chancery_core::explain::Positions;
use chancery_core::explain::migration::MOST_COMBINATIONS;
use chancery_core::resource::Input;
use chancery_workspace::threads::Threads;
use std::path::Path;

/// Runs it. Writes the objects to standard output. Reports unconverted parts and requests that would be treated differently on standard
/// error.
pub fn run(args: &ConvertArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let (from, convert): (&Dialect, fn(&Compilation) -> chancery_core::convert::Conversion) = match args.what {
        Conversion::MappingToHttpproxy => (&ambassador::DIALECT, |compilation| {
            let config = compilation.sides.first().and_then(ambassador::Stages::of).map(|stages| &stages.config);
            config.map(mapping_to_http_proxy).unwrap_or_default()
        }),
        Conversion::HttpproxyToGateway => {
            (&contour::DIALECT, |compilation| compilation.sides().next().map(http_proxy_to_gateway).unwrap_or_default())
        }
        Conversion::IngressToGateway => (&ingress::DIALECT, |compilation| ingress_to_gateway(&compilation.objects)),
        Conversion::IngressNginxToGateway => return ingress_nginx(args, deployment, style),
        Conversion::ContourConfigmap => return contour_configmap(args, deployment),
    };
    let mut given = input::given(&args.inputs.inputs, deployment)?;
    given.options = given.options.in_dialect(from.name);
    let (_, compilation) = given.compile_one()?;
    let converted = convert(&compilation);
    let positions = compilation.positions();
    if converted.objects.is_empty() {
        show_notes(&converted.notes, &positions, args.all);
        return Err(format!("there is nothing of {} to convert in this input", from.controller).into());
    }
    if args.with_secrets {
        allow_secrets();
    }
    print(&converted.yaml())?;
    show_notes(&converted.notes, &positions, args.all);
    if !args.no_proof && args.what == Conversion::IngressToGateway {
        let proof = ingress_proof(&compilation, &converted, &given.options);
        show_assumed(&proof.assumed);
        message_lines(&of_ingresses(&proof, &style.for_standard_error()));
    } else if !args.no_proof {
        let proof = proof(&compilation, &converted, &given.options);
        show_assumed(&proof.assumed);
        message_lines(&of_requests(&proof.requests, &style.for_standard_error()));
    }
    Ok(0)
}

/// Converts Ingresses of ingress-nginx. Secrets, ConfigMaps and Services that the input lacks are assumed to exist.
fn ingress_nginx(args: &ConvertArgs, deployment: &Deployment, style: &Style) -> Outcome {
    // The standard names no controller that could be compared.
    let (target, served_by): (Target, Option<&'static Dialect>) = match args.target {
        ConversionTarget::EnvoyGateway => (Target::EnvoyGateway, Some(&envoy_gateway::DIALECT)),
        ConversionTarget::Contour => (Target::Contour, Some(&contour::DIALECT)),
        ConversionTarget::Standard => (Target::Standard, None),
    };
    if let (Some(flag), None) = (args.report.as_ref().map(|_| "--report").or(args.accept.as_ref().map(|_| "--accept")), served_by) {
        return Err(format!("{flag} needs a comparison, and --target standard names no controller to compare with").into());
    }
    let accepted = accepted_changes(args.accept.as_deref())?;
    let mut given = input::given(&args.inputs.inputs, deployment)?;
    given.options = given.options.in_dialect(ingress_nginx::DIALECT.name).with("missing", OptionValue::Text("assume".into()));
    let (_, compilation) = given.compile_one()?;
    let mut converted = ingress_nginx_to_gateway(&compilation, target);
    let positions = compilation.positions();
    if converted.objects.is_empty() {
        show_notes(&converted.notes, &positions, args.all);
        return Err("there is nothing of ingress-nginx to convert in this input".into());
    }
    if args.no_comments {
        converted.remove_comments();
    }
    if args.with_secrets {
        allow_secrets();
    }
    let cannot = |path: &Path, error: &std::io::Error| format!("cannot write {}: {}", path.display(), reason(error));
    let mut files = Vec::new();
    match &args.out_dir {
        None => {
            print(&converted.yaml())?;
            files.push(converted.input());
        }
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(|error| cannot(folder, &error))?;
            for (name, text) in converted.texts() {
                let path = folder.join(name.as_str());
                std::fs::write(&path, shown(&text)).map_err(|error| cannot(&path, &error))?;
                message(&format!("wrote {}", path.display()));
                files.push(Input { name: path.display().to_string().into(), text: text.into() });
            }
        }
    }
    show_notes(&converted.notes, &positions, args.all);
    let style = style.for_standard_error();
    converted.limits.iter().for_each(|limit| message_lines(&format!("{}\n", style.dim(plain(limit)))));
    match served_by {
        _ if args.no_proof => {}
        None => message("the result was not compared with the Ingresses: --target standard names no controller"),
        Some(to) => {
            let found = migration_proof(&compilation, files, &given.options, to, &accepted, MOST_COMBINATIONS, &Threads);
            let names = Names { before: ingress_nginx::DIALECT.controller, after: to.controller };
            message_lines(&human(&found, &names, "--report FILE", &style));
            if let Some(path) = &args.report {
                std::fs::write(path, html(&found, &names)).map_err(|error| cannot(path, &error))?;
                message(&format!("wrote {}", path.display()));
            }
            report_unused(&found);
            return Ok(u8::from(args.accept.is_some() && found.open().next().is_some()));
        }
    }
    Ok(0)
}

/// Reports on standard error which Services were assumed to exist.
fn show_assumed(assumed: &[String]) {
    if !assumed.is_empty() {
        message(&format!("these Services are not in the input, and are assumed to exist: {}", assumed.join(", ")));
    }
}

/// Requests that a Gateway would treat differently.
fn of_ingresses(proof: &IngressProof, style: &Style) -> String {
    let tried = format!("{} tried", count(proof.compared, "request"));
    let mut out = match proof.differences.is_empty() {
        true => format!("{}  {}\n", style.bold("No request that was tried changes."), style.dim(tried)),
        false => {
            let rows = rows(&proof.differences, &["Application Gateway", "Contour's Gateway"], style);
            format!("{}  {}\n{rows}", style.bold("Requests that change"), style.dim(tried))
        }
    };
    proof.limits.iter().for_each(|limit| out.push_str(&format!("{}\n", style.dim(plain(limit)))));
    out
}

/// Contour's own settings. The file is Contour's example file, unless a flag names another.
fn contour_configmap(args: &ConvertArgs, deployment: &Deployment) -> Outcome {
    let mut given = input::given(&args.inputs.inputs, deployment)?;
    given.options = given.options.in_dialect(contour::DIALECT.name);
    let mut started = contour::Options::of(&given.options);
    let names_file = started.arguments.iter().any(|flag| flag.starts_with("--config-path") || flag.starts_with("-c"));
    if !names_file {
        given.options.set("controller-arg", "--config-path=/config/contour.yaml", dialect::ALL).map_err(|error| error.to_string())?;
    }
    let (_, compilation) = given.compile_one()?;
    if names_file || compilation.objects.iter().any(|object| object.key.kind == "contour.yaml") {
        started = contour::Options::of(&given.options);
    } else if started.arguments.is_empty() {
        return Err("there is no ConfigMap projectcontour/contour with `contour.yaml` in this input, and no --controller-arg".into());
    }
    let converted = convert(&compilation.objects, &started).map_err(|failure| format!("Contour does not start with this: {}", failure.error))?;
    print(&converted.text)?;
    let positions = compilation.positions();
    for left in &converted.left {
        let place = positions.place(&left.place).map(|span| format!("{}:{}: ", span.file, span.line)).unwrap_or_default();
        message(&plain(&format!("{place}{} is not part of a ContourConfiguration: {}", left.name, left.why)));
    }
    Ok(0)
}

/// Reports notes on standard error. Notes with the same text become one, unless all are wanted.
fn show_notes(notes: &[Note], positions: &Positions<'_>, all: bool) {
    let mut groups: Vec<Vec<&Note>> = Vec::new();
    for note in notes {
        match groups.iter_mut().find(|group| !all && group.iter().all(|known| known.message == note.message)) {
            Some(group) => group.push(note),
            None => groups.push(vec![note]),
        }
    }
    for group in groups {
        if let [one] = group[..] {
            message(&rendered(one, positions));
            continue;
        }
        let Some(first) = group.first() else { continue };
        let places: Vec<String> = group.iter().take(SHOWN_PLACES).map(|note| place(note, positions).unwrap_or_else(|| resource_of(note))).collect();
        let more = match group.len().saturating_sub(SHOWN_PLACES) {
            0 => String::new(),
            more => format!(" and {more} more; `--all` shows them"),
        };
        message(&first.message);
        message_lines(&plain(&format!("  at {}: {}{more}\n", count(group.len(), "place"), places.join(", "))));
    }
}

fn place(note: &Note, positions: &Positions<'_>) -> Option<String> {
    let span = positions.place(&Place::origin(note.origin))?;
    Some(format!("{}:{}", span.file, span.line))
}

fn resource_of(note: &Note) -> String {
    match &note.resource.namespace {
        Some(namespace) => format!("{} {}.{namespace}", note.resource.kind, note.resource.name),
        None => format!("{} {}", note.resource.kind, note.resource.name),
    }
}

fn rendered(note: &Note, positions: &Positions<'_>) -> String {
    let place = place(note, positions).map(|place| format!("{place}: ")).unwrap_or_default();
    plain(&format!("{place}{}: {}", resource_of(note), note.message)).into_owned()
}
