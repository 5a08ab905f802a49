//! Finds the files of a folder that may hold resources: a repository holds many files that no controller reads. Reads no
//! file except the lists of a kustomization; see `folder`.
//!
//! The walk leaves out hidden files, files that `.gitignore` or `.ignore` name, and the folders of package managers. It
//! follows links. A Helm chart holds templates instead of resources: the walk reports the chart, and leaves out its
//! files. Patches of a kustomization are parts of resources, so the walk leaves them out, too.

mod kustomization;
#[cfg(not(target_family = "wasm"))]
mod walk;

#[cfg(target_family = "wasm")]
pub use crate::disk::walk;
pub use kustomization::Kustomization;
pub(crate) use kustomization::{NAMES as KUSTOMIZATIONS, is_one as is_kustomization};
#[cfg(not(target_family = "wasm"))]
pub use walk::{is_dangling, walk};

use crate::disk;
use ignore::overrides::{Override, OverrideBuilder};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The endings of files that are read.
const READ: [&str; 4] = ["yaml", "yml", "json", "hcl"];
/// Why a dangling link cannot be read.
pub const LEADS_NOWHERE: &str = "it is a link that leads nowhere";
/// Why a pipe or a device is not read.
pub const NOT_REGULAR: &str = "it is not a regular file";
/// Folders in which package managers keep the files of others.
const OF_PACKAGES: [&str; 1] = ["node_modules"];

/// The file that makes a folder a Helm chart.
pub(crate) const CHART: &str = "Chart.yaml";

/// Additional patterns of files to leave out.
#[derive(Clone, Debug, Default)]
pub struct Excludes {
    /// Patterns as in a `.gitignore`, each with the folder that it is relative to.
    patterns: Vec<(PathBuf, String)>,
}

/// The result of a walk.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Files that may hold resources, folder by folder, sorted by name.
    pub files: Vec<PathBuf>,
    /// Folders that were walked.
    pub folders: Vec<PathBuf>,
    /// Folders of Helm charts that are not part of another chart.
    pub charts: Vec<PathBuf>,
    /// Kustomizations, in the order in which they were found.
    pub kustomizations: Vec<Kustomization>,
    /// Links whose target is missing, whatever their names.
    pub dangling: Vec<PathBuf>,
    /// Other unreadable paths, each with the reason.
    pub problems: Vec<(PathBuf, String)>,
    /// Paths that the walk skips without a pattern that names them, each with its type.
    pub passed_over: Vec<(PathBuf, String)>,
}

impl Excludes {
    /// Creates patterns that are relative to this folder.
    ///
    /// # Errors
    ///
    /// `.gitignore` could not contain a pattern, or the current folder is gone.
    pub fn new(folder: &Path, patterns: &[String]) -> Result<Self, String> {
        if patterns.is_empty() {
            return Ok(Self::default());
        }
        // Paths are compared with the absolute folder. A browser has no current folder, and gives absolute paths.
        let here = || std::env::current_dir().map_err(|error| format!("cannot read the current folder: {error}"));
        let folder = if folder.has_root() { folder.to_owned() } else { here()?.join(folder) };
        let all = Self { patterns: patterns.iter().map(|pattern| (folder.clone(), pattern.clone())).collect() };
        all.overrides().map(|_| all.clone())
    }

    /// Joins two sets of patterns.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.patterns.extend(other.patterns);
        self
    }

    pub(crate) fn overrides(&self) -> Result<Vec<Override>, String> {
        let one = |(folder, pattern): &(PathBuf, String)| {
            let mut builder = OverrideBuilder::new(folder);
            let built = builder.add(&format!("!{pattern}")).and_then(|builder| builder.build());
            built.map_err(|error| format!("cannot exclude `{pattern}`: {error}"))
        };
        self.patterns.iter().map(one).collect()
    }
}

/// Whether a folder's file may be read, by its name.
#[must_use]
pub fn is_read(path: &Path) -> bool {
    path.extension().is_some_and(|ending| READ.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Whether a folder is a Helm chart.
#[must_use]
pub fn is_chart(folder: &Path) -> bool {
    disk::is_file(&folder.join(CHART))
}

/// Whether patterns exclude a path, or its folder belongs to a package manager.
pub(crate) fn is_excluded(path: &Path, is_folder: bool, overrides: &[Override]) -> bool {
    let of_packages = is_folder && OF_PACKAGES.iter().any(|name| path.file_name().is_some_and(|known| known == *name));
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    of_packages || overrides.iter().any(|all| all.matched(&absolute, is_folder).is_ignore())
}

/// Whether a name starts with a point.
pub(crate) fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

impl Found {
    /// Leaves out patches of kustomizations: they are parts of resources.
    pub(crate) fn leave_out_patches(&mut self) {
        let patches: BTreeSet<PathBuf> = self.kustomizations.iter().flat_map(|of| &of.parts).map(|part| normal(part)).collect();
        self.files.retain(|file| !patches.contains(&normal(file)));
    }
}

/// Removes `.` and `..` from a path, without access to the disk.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir if out.file_name().is_some() => drop(out.pop()),
            part => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests;
