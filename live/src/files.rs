//! Finds the files of a folder that may hold resources: a repository holds many files that no controller reads. Reads no
//! file except the lists of a kustomization; see `sources::folder::reader`.
//!
//! The walk leaves out hidden files, files that `.gitignore` or `.ignore` name, and the folders of package managers. It
//! follows links. A Helm chart holds templates instead of resources: the walk reports the chart, and leaves out its
//! files. Patches of a kustomization are parts of resources, so the walk leaves them out, too.

mod kustomization;

pub use kustomization::Kustomization;

use crate::Failure;
use ignore::overrides::{Override, OverrideBuilder};
use ignore::{DirEntry, WalkBuilder};
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
    pub fn new(folder: &Path, patterns: &[String]) -> Result<Self, Failure> {
        // Paths are compared with the absolute folder.
        let here = || std::env::current_dir().map_err(|error| Failure(format!("cannot read the current folder: {error}")));
        let folder = here()?.join(folder);
        let all = Self { patterns: patterns.iter().map(|pattern| (folder.clone(), pattern.clone())).collect() };
        all.overrides().map(|_| all.clone())
    }

    /// Joins two sets of patterns.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.patterns.extend(other.patterns);
        self
    }

    fn overrides(&self) -> Result<Vec<Override>, Failure> {
        let one = |(folder, pattern): &(PathBuf, String)| {
            let mut builder = OverrideBuilder::new(folder);
            let built = builder.add(&format!("!{pattern}")).and_then(|builder| builder.build());
            built.map_err(|error| Failure(format!("cannot exclude `{pattern}`: {error}")))
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
    folder.join("Chart.yaml").is_file()
}

/// Walks a folder. An unreadable path is noted, and the walk continues.
///
/// # Errors
///
/// A pattern of `excludes` cannot be read.
pub fn walk(root: &Path, excludes: &Excludes) -> Result<Found, Failure> {
    let mut found = Found::default();
    if is_chart(root) {
        found.charts.push(root.to_owned());
        return Ok(found);
    }
    let overrides = excludes.overrides()?;
    let mut builder = WalkBuilder::new(root);
    // A folder need not be a repository for its `.gitignore` to apply. Git settings of the user do not apply.
    builder.require_git(false).git_global(false).follow_links(true).sort_by_file_path(Path::cmp);
    let all = overrides.clone();
    builder.filter_entry(move |entry| (entry.depth() == 0 || !is_excluded(entry.path(), &all)) && !is_inside_chart(entry));
    for entry in builder.build() {
        match entry {
            Ok(entry) => found.add(entry),
            Err(error) => {
                // The walk skips hidden and excluded paths, readable or not.
                let problem = problem(&error).filter(|(path, _)| path == root || !is_hidden(path) && !is_excluded(path, &overrides));
                match problem {
                    Some((path, _)) if is_dangling(&path) => found.dangling.push(path),
                    problem => found.problems.extend(problem),
                }
            }
        }
    }
    let patches: BTreeSet<PathBuf> = found.kustomizations.iter().flat_map(|of| &of.parts).map(|part| normal(part)).collect();
    found.files.retain(|file| !patches.contains(&normal(file)));
    Ok(found)
}

fn is_excluded(path: &Path, overrides: &[Override]) -> bool {
    let is_folder = path.is_dir();
    let of_packages = is_folder && OF_PACKAGES.iter().any(|name| path.file_name().is_some_and(|known| known == *name));
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    of_packages || overrides.iter().any(|all| all.matched(&absolute, is_folder).is_ignore())
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Whether a path is a link whose target is missing.
#[must_use]
pub fn is_dangling(path: &Path) -> bool {
    path.is_symlink() && std::fs::metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// Whether a path is inside a chart. The chart's own folder is not inside.
fn is_inside_chart(entry: &DirEntry) -> bool {
    entry.depth() > 0 && entry.path().parent().is_some_and(is_chart)
}

/// Returns the path and the reason of an error. A link in a circle leads to a folder that is walked anyway.
fn problem(error: &ignore::Error) -> Option<(PathBuf, String)> {
    match error {
        ignore::Error::WithPath { path, err } => {
            let why = match err.io_error() {
                Some(error) => error.to_string().split(" (os error").next().unwrap_or_default().to_lowercase(),
                None => err.to_string(),
            };
            Some((path.clone(), why))
        }
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => problem(err),
        ignore::Error::Partial(all) => all.iter().find_map(problem),
        _ => None,
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

impl Found {
    fn add(&mut self, entry: DirEntry) {
        let path = entry.path();
        if path.is_dir() {
            let kustomization = Kustomization::of(path);
            self.kustomizations.extend(kustomization);
            if is_chart(path) { self.charts.push(entry.into_path()) } else { self.folders.push(entry.into_path()) }
        } else if is_read(path) && !kustomization::is_one(path) {
            match path.is_file() {
                true => self.files.push(entry.into_path()),
                // Reading a named pipe or a device may never end.
                false => self.passed_over.push((entry.into_path(), NOT_REGULAR.into())),
            }
        }
    }
}

#[cfg(test)]
mod tests;
