//! Findings that are known: a repository that has many begins with those that are new.
//!
//! A finding is known by what it says, not by its line, so that an edit above it changes nothing.
//!
//! What must not be here: what a finding is.

use crate::Unusable;
use crate::output::{Sink, reason, to_json};
use chancery_core::explain::Finding;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Known findings.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The version of the format.
    chancery_baseline: u32,
    /// What is known.
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
    /// How often it is there.
    count: u32,
}

impl BaselineEntry {
    fn of(finding: &Finding) -> Self {
        let object = finding.object.as_ref().or(finding.resource.as_ref());
        let file = finding.span.as_ref().map(|span| span.file.trim_start_matches("./").to_string());
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
    /// Of all that was found.
    pub fn of(findings: &[Finding]) -> Self {
        let mut counts: BTreeMap<BaselineEntry, u32> = BTreeMap::new();
        findings.iter().for_each(|finding| *counts.entry(BaselineEntry::of(finding)).or_default() += 1);
        Self { chancery_baseline: 1, findings: counts.into_iter().map(|(known, count)| BaselineEntry { count, ..known }).collect() }
    }

    /// Writes it.
    pub fn write(&self, file: &Path) -> Result<(), Unusable> {
        let text = to_json(self, true)?;
        Sink::file(file)?.write([text.as_str(), "\n"])
    }

    /// Reads what was written.
    pub fn read(file: &Path) -> Result<Self, Unusable> {
        let name = file.display();
        let text = std::fs::read_to_string(file).map_err(|error| format!("cannot read {name}: {}", reason(&error)))?;
        let read: Self = serde_json::from_str(&text).map_err(|error| {
            format!("{name} holds no known findings as --write-baseline writes them: line {} column {}", error.line(), error.column())
        })?;
        if read.chancery_baseline != 1 {
            return Err(format!("{name} was written in version {} of the format, and this chancery reads version 1", read.chancery_baseline).into());
        }
        Ok(read)
    }

    /// Removes what is known, each as often as it is.
    pub fn remove_known(self, findings: &mut Vec<Finding>) {
        let mut left: BTreeMap<BaselineEntry, u32> =
            self.findings.into_iter().map(|known| (BaselineEntry { count: 0, ..known.clone() }, known.count)).collect();
        findings.retain(|finding| match left.get_mut(&BaselineEntry::of(finding)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        });
    }
}
