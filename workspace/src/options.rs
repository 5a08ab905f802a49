//! Applies the options of `chancery.toml` to a compile. Does not read the file; see `settings`.

use crate::settings::Settings;
use crate::{disk, reason};
use chancery_core::compilation::{Dialect, OptionKind, OptionSpec, Options};
use chancery_core::dialect;
use std::path::Path;

/// What `chancery.toml` decides for a compile.
pub type Applied = Result<Options, String>;

/// Returns the options of all dialects, each once, with the dialects that have it.
#[must_use]
pub fn specs() -> Vec<(&'static OptionSpec, Vec<&'static Dialect>)> {
    let mut all: Vec<(&'static OptionSpec, Vec<&'static Dialect>)> = Vec::new();
    for dialect in dialect::ALL {
        for spec in dialect.options {
            match all.iter_mut().find(|(known, _)| known.name == spec.name) {
                Some((_, dialects)) => dialects.push(dialect),
                None => all.push((spec, vec![dialect])),
            }
        }
    }
    all
}

/// Adds the severities and options of the settings, except options that the user typed.
///
/// # Errors
///
/// An option is unknown, or a named file cannot be read.
pub fn apply(options: &mut Options, settings: &Settings, is_typed: &dyn Fn(&str) -> bool) -> Result<(), String> {
    for (name, values) in &settings.options {
        let spec = specs().into_iter().map(|(spec, _)| spec).find(|spec| spec.name == name);
        match spec {
            Some(spec) if !is_typed(spec.name) => set(options, spec, values, &settings.folder()),
            Some(_) => Ok(()),
            None => options.set(name, "", dialect::ALL).map_err(|error| error.to_string()),
        }
        .map_err(|why| format!("{}: {why}", settings.name()))?;
    }
    Ok(())
}

/// Returns the options of a compile that has no typed options.
///
/// # Errors
///
/// A dialect or an option is unknown, or a named file cannot be read.
pub fn of_settings(settings: &Settings) -> Applied {
    let mut options = Options::default();
    if let Some(name) = &settings.dialect {
        options.choose(name, dialect::ALL).map_err(|error| error.to_string())?;
    }
    options.findings.severities.extend(settings.severities.iter().map(|(code, level)| ((*code).into(), *level)));
    apply(&mut options, settings, &|_| false)?;
    Ok(options)
}

/// Sets an option; paths are relative to this folder.
///
/// # Errors
///
/// A value is invalid, or a named file cannot be read.
pub fn set(options: &mut Options, spec: &OptionSpec, values: &[String], folder: &Path) -> Result<(), String> {
    let read = |path: &str| {
        let path = folder.join(path);
        disk::read_to_string(&path).map_err(|error| format!("cannot read {}: {}", path.display(), reason(&error)))
    };
    for value in values {
        let value = match (spec.kind, value.split_once('=')) {
            (OptionKind::Files, Some((key, path))) => format!("{key}={}", read(path)?),
            (OptionKind::File { .. }, _) => read(value)?,
            _ => value.clone(),
        };
        options.set(spec.name, &value, dialect::ALL).map_err(|error| error.to_string())?;
    }
    Ok(())
}
