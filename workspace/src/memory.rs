//! Files in memory, in place of a disk. Follows the same rules as the walk of a disk: hidden files, `.gitignore`, charts and kustomizations.
//!
//! Does not read what files contain, except lists of ignored files and of kustomizations; see `folder`.

use crate::files::{CHART, Excludes, Found, KUSTOMIZATIONS, Kustomization, is_excluded, is_hidden, is_kustomization, is_read};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Files that list ignored files. The last one wins.
const LISTS: [&str; 2] = [".gitignore", ".ignore"];

/// Files by absolute path.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl MemoryFiles {
    /// Creates a memory without files.
    #[must_use]
    pub const fn new() -> Self {
        Self { files: BTreeMap::new() }
    }

    /// Adds, replaces or removes a file.
    pub fn change(&mut self, path: &Path, content: Option<Vec<u8>>) {
        match content {
            Some(content) => drop(self.files.insert(path.to_owned(), content)),
            None => drop(self.files.remove(path)),
        }
    }

    /// The content of a file.
    #[must_use]
    pub fn read(&self, path: &Path) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    fn text(&self, path: &Path) -> Option<&str> {
        str::from_utf8(self.read(path)?).ok()
    }

    /// The lists of ignored files in a folder.
    fn lists(&self, folder: &Path) -> impl Iterator<Item = Gitignore> {
        LISTS.iter().filter_map(move |name| list(folder, self.text(&folder.join(name))?))
    }

    /// Finds the files below a folder that may hold resources.
    ///
    /// # Errors
    ///
    /// A pattern of `excludes` cannot be read.
    pub fn walk(&self, root: &Path, excludes: &Excludes) -> Result<Found, String> {
        let overrides = excludes.overrides()?;
        let mut found = Found::default();
        // A folder precedes its files.
        let below: Vec<&Path> = self.files.keys().map(PathBuf::as_path).filter(|path| path.starts_with(root) && *path != root).collect();
        let inner = below.iter().flat_map(|path| path.ancestors().skip(1).take_while(|folder| folder.starts_with(root)));
        let mut walked: BTreeMap<&Path, Vec<Gitignore>> = BTreeMap::new();
        for folder in inner.collect::<BTreeSet<&Path>>() {
            let above = folder.parent().and_then(|parent| walked.get(parent));
            let is_walked = folder == root
                || above.is_some_and(|lists| !is_hidden(folder) && !is_excluded(folder, true, &overrides) && !is_ignored(folder, true, lists));
            if !is_walked {
                continue;
            }
            if self.read(&folder.join(CHART)).is_some() {
                found.charts.push(folder.to_owned());
                continue;
            }
            let lists = match above {
                Some(above) => above.iter().cloned().chain(self.lists(folder)).collect(),
                // The lists of outer folders apply too.
                None => outermost_first(folder).flat_map(|outer| self.lists(outer)).collect(),
            };
            walked.insert(folder, lists);
            found.folders.push(folder.to_owned());
            let text = KUSTOMIZATIONS.iter().find_map(|name| self.text(&folder.join(name)));
            let exists = |path: &Path| self.files.keys().any(|file| file.starts_with(path));
            found.kustomizations.extend(text.map(|text| Kustomization::read(folder, text, &exists)));
        }
        let is_found = |path: &&Path| {
            let lists = path.parent().and_then(|parent| walked.get(parent));
            let is_left_out = |lists| is_hidden(path) || is_excluded(path, false, &overrides) || is_ignored(path, false, lists);
            is_read(path) && !is_kustomization(path) && lists.is_some_and(|lists| !is_left_out(lists))
        };
        found.files = below.into_iter().filter(is_found).map(Path::to_owned).collect();
        found.leave_out_patches();
        Ok(found)
    }
}

/// A folder with the folders that contain it.
fn outermost_first(folder: &Path) -> impl Iterator<Item = &Path> {
    folder.ancestors().collect::<Vec<_>>().into_iter().rev()
}

/// Reads a list of ignored files. Leaves out patterns that are not valid.
fn list(folder: &Path, text: &str) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(folder);
    for line in text.lines() {
        drop(builder.add_line(None, line));
    }
    builder.build().ok()
}

/// Whether lists ignore a path. The list of the innermost folder decides.
fn is_ignored(path: &Path, is_folder: bool, lists: &[Gitignore]) -> bool {
    lists.iter().rev().map(|list| list.matched(path, is_folder)).find(|matched| !matched.is_none()).is_some_and(|matched| matched.is_ignore())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::walk;
    use std::fs;

    /// The rules of the disk and of the memory are the same.
    #[test]
    fn memory_finds_the_files_that_the_disk_finds() {
        let files = [
            (".gitignore", "out/\n/only.yaml\n*.gen.yaml\n"),
            ("a.yaml", ""),
            ("only.yaml", ""),
            ("b.gen.yaml", ""),
            ("c.JSON", ""),
            ("notes.txt", ""),
            (".github/ci.yaml", ""),
            ("out/a.yaml", ""),
            ("deep/.gitignore", "!kept.gen.yaml\nlost.yaml\n"),
            ("deep/kept.gen.yaml", ""),
            ("deep/lost.yaml", ""),
            ("deep/only.yaml", ""),
            ("deep/out/x.yaml", ""),
            ("deep/.ignore", "!lost.yaml\n"),
            ("node_modules/x/a.yaml", ""),
            ("old/a.yaml", ""),
            ("chart/Chart.yaml", ""),
            ("chart/templates/a.yaml", ""),
            ("chart/charts/inner/Chart.yaml", ""),
            ("base/kustomization.yaml", "resources: [a.yaml, ../deep, nowhere]\npatches: [{path: patch.yaml}]\n"),
            ("base/a.yaml", ""),
            ("base/patch.yaml", ""),
            ("hidden/.a.yaml", ""),
        ];
        let folder = tempfile::Builder::new().prefix("chancery").tempdir().expect("a folder");
        let mut memory = MemoryFiles::new();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            fs::write(&path, text).expect("a file");
            memory.change(&path, Some(text.into()));
        }
        for root in [folder.path().to_owned(), folder.path().join("deep"), folder.path().join("chart")] {
            let excludes = Excludes::new(folder.path(), &["old/".into()]).expect("a pattern");
            let (disk, in_memory) = (walk(&root, &excludes).expect("a walk"), memory.walk(&root, &excludes).expect("a walk"));
            assert_eq!(in_memory.files, disk.files);
            assert_eq!(in_memory.charts, disk.charts);
            assert_eq!(in_memory.folders, disk.folders.iter().filter(|folder| folder.read_dir().is_ok()).cloned().collect::<Vec<_>>());
            assert_eq!(in_memory.kustomizations, disk.kustomizations);
        }
        memory.change(&folder.path().join("a.yaml"), None);
        assert!(memory.read(&folder.path().join("a.yaml")).is_none());
    }
}
