//! Finds the files of a folder that are read: a repository holds many files that no controller reads.
//!
//! Hidden files, files that `.gitignore` or `.ignore` name, and the folders of package managers are left out. Links are followed. A Helm chart
//! holds templates instead of resources: it is reported, and its files are left out. Patches of a kustomization are parts of resources, and are
//! left out, too. Reads no file except the lists of a kustomization.

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
/// Folders in which package managers keep what others wrote.
const OF_PACKAGES: [&str; 1] = ["node_modules"];

/// What is left out of folders besides.
#[derive(Clone, Debug, Default)]
pub struct Excludes {
    /// Patterns as in a `.gitignore`, each with the folder that it counts from.
    patterns: Vec<(PathBuf, String)>,
}

/// What a walk finds.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Files that may hold resources, folder by folder, each by its names.
    pub files: Vec<PathBuf>,
    /// Folders that were walked.
    pub folders: Vec<PathBuf>,
    /// Folders of Helm charts that are no part of another.
    pub charts: Vec<PathBuf>,
    /// Kustomizations, in the order in which they were found.
    pub kustomizations: Vec<Kustomization>,
    /// Links that lead nowhere, whatever their names.
    pub dangling: Vec<PathBuf>,
    /// What else could not be read: the file or folder, and why.
    pub problems: Vec<(PathBuf, String)>,
    /// What is passed over although nothing says that it should be: the path, and what it is.
    pub passed_over: Vec<(PathBuf, String)>,
}

impl Excludes {
    /// Patterns that count from this folder.
    ///
    /// # Errors
    ///
    /// A pattern is none that `.gitignore` could have, or the current folder is gone.
    pub fn new(folder: &Path, patterns: &[String]) -> Result<Self, Failure> {
        // Paths are compared with it as absolute ones.
        let here = || std::env::current_dir().map_err(|error| Failure(format!("cannot tell the current folder: {error}")));
        let folder = here()?.join(folder);
        let all = Self { patterns: patterns.iter().map(|pattern| (folder.clone(), pattern.clone())).collect() };
        all.overrides().map(|_| all.clone())
    }

    /// These and others.
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

/// Walks a folder. What cannot be read is noted, and the rest goes on.
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
    // A folder need not be a repository for its `.gitignore` to count; settings of the person who runs this do not.
    builder.require_git(false).git_global(false).follow_links(true).sort_by_file_path(Path::cmp);
    let all = overrides.clone();
    builder.filter_entry(move |entry| (entry.depth() == 0 || !is_excluded(entry.path(), &all)) && !is_inside_chart(entry));
    for entry in builder.build() {
        match entry {
            Ok(entry) => found.add(entry),
            Err(error) => {
                // What is hidden or excluded is left alone, whether it can be read or not.
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

/// Whether it is a link to something that is not there.
#[must_use]
pub fn is_dangling(path: &Path) -> bool {
    path.is_symlink() && std::fs::metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// Whether something lies in a chart; the chart's own folder does not.
fn is_inside_chart(entry: &DirEntry) -> bool {
    entry.depth() > 0 && entry.path().parent().is_some_and(is_chart)
}

/// What cannot be read. A link in a circle leads to what is read anyway.
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

/// A path without `.` and `..`, as far as its text tells.
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
