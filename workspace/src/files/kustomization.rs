//! Reads the file of a kustomization: the folders that it builds on, and its files that are parts of resources. Does not
//! build it; `kustomize` does.

use super::normal;
#[cfg(not(target_family = "wasm"))]
use crate::disk;
use chancery_core::text::{Limits, Node, parse};
use std::path::{Path, PathBuf};

/// The possible names of the file.
pub(crate) const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
/// Fields that list files and folders to build on.
const BASES: [&str; 4] = ["resources", "bases", "components", "crds"];
/// Fields that list patches, settings and similar files, each as a path or as an object with a path at `path`.
const PARTS: [&str; 7] = ["patches", "patchesStrategicMerge", "patchesJson6902", "replacements", "configurations", "transformers", "generators"];

/// A kustomization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kustomization {
    pub folder: PathBuf,
    /// Whether only another kustomization builds it.
    pub is_component: bool,
    /// The files and folders of its bases that are on this machine.
    pub bases: Vec<PathBuf>,
    /// Patches and settings, which are not complete resources.
    pub parts: Vec<PathBuf>,
}

/// Whether a file is a kustomization, by its name.
pub(crate) fn is_one(path: &Path) -> bool {
    path.file_name().is_some_and(|name| NAMES.iter().any(|known| name == *known))
}

impl Kustomization {
    /// Returns the kustomization of a folder, if it has one.
    #[cfg(not(target_family = "wasm"))]
    pub(super) fn of(folder: &Path) -> Option<Self> {
        let text = NAMES.iter().find_map(|name| disk::read_to_string(&folder.join(name)).ok())?;
        Some(Self::read(folder, &text, &|path| path.exists()))
    }

    /// Reads the file of a folder's kustomization.
    pub(crate) fn read(folder: &Path, text: &str, exists: &dyn Fn(&Path) -> bool) -> Self {
        let root = parse(text, &Limits::default()).root;
        let root = root.as_ref();
        let list = |field: &str| root.and_then(|root| root.get(field)).and_then(Node::as_array).map(Vec::as_slice).unwrap_or_default().to_vec();
        let path =
            |node: &Node| node.as_str().or_else(|| node.get("path").and_then(Node::as_str)).filter(|path| !path.contains('\n')).map(PathBuf::from);
        let paths = |fields: &[&str]| -> Vec<PathBuf> {
            let all = fields.iter().flat_map(|field| list(field));
            all.filter_map(|node| path(&node)).map(|path| normal(&folder.join(path))).collect()
        };
        Self {
            folder: folder.to_owned(),
            is_component: root.and_then(|root| root.get("kind")).and_then(Node::as_str) == Some("Component"),
            bases: paths(&BASES).into_iter().filter(|path| exists(path)).collect(),
            parts: paths(&PARTS),
        }
    }

    /// Whether it builds on a folder, directly or through other kustomizations.
    #[must_use]
    pub fn builds_on(&self, folder: &Path, all: &[Kustomization]) -> bool {
        let mut waiting: Vec<&Kustomization> = vec![self];
        let mut seen: Vec<&Path> = Vec::new();
        while let Some(next) = waiting.pop() {
            if seen.contains(&next.folder.as_path()) {
                continue;
            }
            seen.push(&next.folder);
            if next.bases.iter().any(|base| *base == normal(folder)) {
                return true;
            }
            waiting.extend(all.iter().filter(|other| next.bases.contains(&normal(&other.folder))));
        }
        false
    }
}
