//! Walks the disk. Does not decide which names are read; see `files`.

use super::{Excludes, Found, Kustomization, NOT_REGULAR, is_chart, is_excluded, is_hidden, is_kustomization, is_read};
use ignore::{DirEntry, WalkBuilder};
use std::path::{Path, PathBuf};

/// Walks a folder. An unreadable path is noted, and the walk continues.
///
/// # Errors
///
/// A pattern of `excludes` cannot be read.
pub fn walk(root: &Path, excludes: &Excludes) -> Result<Found, String> {
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
    builder.filter_entry(move |entry| (entry.depth() == 0 || !is_excluded(entry.path(), entry.path().is_dir(), &all)) && !is_inside_chart(entry));
    for entry in builder.build() {
        match entry {
            Ok(entry) => found.add(entry),
            Err(error) => {
                // The walk skips hidden and excluded paths, readable or not.
                let problem = problem(&error).filter(|(path, _)| path == root || !is_hidden(path) && !is_excluded(path, path.is_dir(), &overrides));
                match problem {
                    Some((path, _)) if is_dangling(&path) => found.dangling.push(path),
                    problem => found.problems.extend(problem),
                }
            }
        }
    }
    found.leave_out_patches();
    Ok(found)
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

impl Found {
    fn add(&mut self, entry: DirEntry) {
        let path = entry.path();
        if path.is_dir() {
            let kustomization = Kustomization::of(path);
            self.kustomizations.extend(kustomization);
            if is_chart(path) { self.charts.push(entry.into_path()) } else { self.folders.push(entry.into_path()) }
        } else if is_read(path) && !is_kustomization(path) {
            match path.is_file() {
                true => self.files.push(entry.into_path()),
                // Reading a named pipe or a device may never end.
                false => self.passed_over.push((entry.into_path(), NOT_REGULAR.into())),
            }
        }
    }
}
