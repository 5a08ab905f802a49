//! Renders charts and kustomizations with this machine's helm and kustomize.
//!
//! helm's output names the template of each document. These names become file names, so that findings show the template.
//!
//! Does not search for these folders; see `chancery_workspace::files`.

use crate::Unusable;
use crate::output::reason;
use chancery_workspace::files::Kustomization;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// A text that was rendered.
pub struct Rendered {
    /// Its name: its template or folder.
    pub name: String,
    /// The resources.
    pub text: String,
}

/// Renders all charts, and the kustomizations that are not a base of another. `name` returns the name of a folder.
pub fn all(charts: &[impl AsRef<Path>], kustomizations: &[Kustomization], name: &dyn Fn(&Path) -> String) -> Result<Vec<Rendered>, Unusable> {
    let mut out = Vec::new();
    let outermost = outermost(kustomizations, name)?;
    for folder in charts {
        out.extend(chart(folder.as_ref(), name)?);
    }
    for of in outermost {
        let folder = of.folder.display().to_string();
        let (program, text) = first_of(&[("kustomize", &["build", &folder]), ("kubectl", &["kustomize", &folder])], &name(&of.folder))?;
        out.push(Rendered { name: format!("{} ({program})", name(&of.folder)), text });
    }
    Ok(out)
}

/// Returns the kustomizations that are not a base. If two have the same base, the user must choose: both produce the same resources.
fn outermost<'k>(all: &'k [Kustomization], name: &dyn Fn(&Path) -> String) -> Result<Vec<&'k Kustomization>, Unusable> {
    let is_outermost = |of: &&Kustomization| !of.is_component && !all.iter().any(|other| other.builds_on(&of.folder, all));
    let found: Vec<&Kustomization> = all.iter().filter(is_outermost).collect();
    for (at, one) in found.iter().enumerate() {
        for other in found.iter().skip(at + 1) {
            if let Some(base) = all.iter().find(|base| one.builds_on(&base.folder, all) && other.builds_on(&base.folder, all)) {
                return Err(format!(
                    "{} and {} are both built on {}: name the one that is meant, or --exclude the others",
                    name(&one.folder),
                    name(&other.folder),
                    name(&base.folder)
                )
                .into());
            }
        }
    }
    Ok(found)
}

/// What renders, as names of rendered texts end.
const RENDERERS: [&str; 3] = [" (helm)", " (kustomize)", " (kubectl)"];

/// Returns the source of a rendered file: its template, chart or kustomization. Returns nothing for a file that was not rendered.
pub fn source(name: &str) -> Option<String> {
    let of = RENDERERS.iter().find_map(|end| name.strip_suffix(end))?;
    let inner = ["Chart.yaml", "kustomization.yaml", "kustomization.yml", "Kustomization"].map(|inner| Path::new(of).join(inner));
    let file = inner.into_iter().find(|file| file.is_file());
    Some(file.map_or_else(|| of.to_string(), |file| file.display().to_string()))
}

/// Renders a chart with its own values. Library charts render nothing.
fn chart(folder: &Path, name: &dyn Fn(&Path) -> String) -> Result<Vec<Rendered>, Unusable> {
    let about = std::fs::read_to_string(folder.join("Chart.yaml")).unwrap_or_default();
    let field =
        |field: &str| about.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':')).map(|value| value.trim().trim_matches(['"', '\'']));
    if field("type") == Some("library") {
        return Ok(Vec::new());
    }
    let (release, path) = (field("name").unwrap_or("release").to_string(), folder.display().to_string());
    let (_, text) = first_of(&[("helm", &["template", &release, &path, "--include-crds"])], &name(folder))?;
    Ok(by_template(&text, folder, name))
}

/// Returns the documents by template.
fn by_template(text: &str, folder: &Path, name: &dyn Fn(&Path) -> String) -> Vec<Rendered> {
    let mut order: Vec<String> = Vec::new();
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    let mut from = format!("{} (helm)", name(folder));
    for document in text.split_inclusive("\n---\n").flat_map(|part| part.strip_prefix("---\n").or(Some(part))) {
        // Helm names the template with the chart's name in front.
        let source = document.lines().find_map(|line| line.strip_prefix("# Source: ")).and_then(|source| source.trim().split_once('/'));
        if let Some((_, template)) = source {
            from = format!("{} (helm)", name(&folder.join(template)));
        }
        if !texts.contains_key(&from) {
            order.push(from.clone());
        }
        let all = texts.entry(from.clone()).or_default();
        if !all.is_empty() && !all.ends_with("---\n") {
            all.push_str("---\n");
        }
        all.push_str(document);
    }
    order.into_iter().filter_map(|name| texts.remove(&name).map(|text| Rendered { name, text })).collect()
}

/// Runs the first installed program of this list. Returns its name and its output.
fn first_of<'p>(programs: &[(&'p str, &[&str])], what: &str) -> Result<(&'p str, String), Unusable> {
    for (program, arguments) in programs {
        let run = Command::new(program).args(*arguments).stdin(Stdio::null()).output();
        let output = match run {
            Ok(output) => output,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(format!("cannot run {program}: {}", reason(&error)).into()),
        };
        if output.status.success() {
            return Ok((program, String::from_utf8_lossy(&output.stdout).into_owned()));
        }
        let why = String::from_utf8_lossy(&output.stderr);
        let why = why.lines().find(|line| !line.trim().is_empty()).unwrap_or("it does not say why").trim_start_matches("Error: ").to_string();
        return Err(format!("{program} cannot render {what}: {why}").into());
    }
    let names: Vec<&str> = programs.iter().map(|(program, _)| *program).collect();
    Err(format!("cannot render {what}: there is no {} on this machine", names.join(" and no ")).into())
}
