//! Known findings: a repository with many findings can start with the new findings only.
//!
//! A finding is identified by its message, not by its line, so that an edit above it changes nothing. Files are named relative to
//! the baseline's folder, so that `check` may run in any folder.
//!
//! Does not create findings; see `chancery_core::explain::findings`.

use crate::Unusable;
use crate::input::STDIN;
use crate::output::{Sink, reason, to_json};
use chancery_core::explain::Finding;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The version of the written format.
const VERSION: u32 = 2;

/// Known findings.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The version of the format.
    chancery_baseline: u32,
    /// The known findings.
    findings: Vec<BaselineEntry>,
}

/// A finding without its line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct BaselineEntry {
    code: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    file: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    object: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    path: String,
    message: String,
    /// The number of times that it occurs.
    count: u32,
}

/// The names of files: as given in version 1, relative to the folder of the baseline since.
enum Naming {
    AsGiven,
    From(PathBuf),
}

impl Naming {
    /// For a baseline in this file.
    fn of(baseline: &Path) -> Self {
        resolved(baseline).parent().map_or(Self::AsGiven, |folder| Self::From(folder.to_owned()))
    }

    fn name(&self, file: &str) -> String {
        match self {
            Self::From(folder) if file != STDIN => {
                let path = resolved(Path::new(file));
                pathdiff::diff_paths(&path, folder).unwrap_or(path).display().to_string()
            }
            _ => file.trim_start_matches("./").to_string(),
        }
    }
}

/// A path from the root. The file itself may be missing: what `helm` renders is named by where it would be.
fn resolved(file: &Path) -> PathBuf {
    let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    match (whole.parent().and_then(|folder| folder.canonicalize().ok()), whole.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => whole,
    }
}

impl BaselineEntry {
    fn of(finding: &Finding, naming: &Naming) -> Self {
        let object = finding.object.as_ref().or(finding.resource.as_ref());
        let file = finding.span.as_ref().map(|span| naming.name(&span.file));
        Self {
            code: finding.code.into(),
            file: file.unwrap_or_default(),
            object: object.map(ToString::to_string).unwrap_or_default(),
            path: finding.path.clone().unwrap_or_default(),
            message: finding.message.clone(),
            count: 0,
        }
    }
}

impl Baseline {
    /// Writes all findings.
    pub fn write(findings: &[Finding], file: &Path) -> Result<(), Unusable> {
        let naming = Naming::of(file);
        let mut counts: BTreeMap<BaselineEntry, u32> = BTreeMap::new();
        findings.iter().for_each(|finding| *counts.entry(BaselineEntry::of(finding, &naming)).or_default() += 1);
        let findings = counts.into_iter().map(|(known, count)| BaselineEntry { count, ..known }).collect();
        let text = to_json(&Self { chancery_baseline: VERSION, findings }, true)?;
        Sink::file(file)?.write([text.as_str(), "\n"])
    }

    /// Reads a written baseline.
    pub fn read(file: &Path) -> Result<Self, Unusable> {
        let name = file.display();
        let text = std::fs::read_to_string(file).map_err(|error| format!("cannot read {name}: {}", reason(&error)))?;
        let read: Self = serde_json::from_str(&text)
            .map_err(|error| format!("{name} contains no baseline as --write-baseline writes it: line {} column {}", error.line(), error.column()))?;
        if !(1..=VERSION).contains(&read.chancery_baseline) {
            return Err(
                format!("{name} was written in version {} of the format, and this chancery reads 1 and {VERSION}", read.chancery_baseline).into()
            );
        }
        Ok(read)
    }

    /// Removes the baseline's findings, each as often as the baseline contains it.
    pub fn remove_known(self, file: &Path, findings: &mut Vec<Finding>) {
        let naming = if self.chancery_baseline == 1 { Naming::AsGiven } else { Naming::of(file) };
        let mut left: BTreeMap<BaselineEntry, u32> =
            self.findings.into_iter().map(|known| (BaselineEntry { count: 0, ..known.clone() }, known.count)).collect();
        findings.retain(|finding| match left.get_mut(&BaselineEntry::of(finding, &naming)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        });
    }
}
