//! Holds what `chancery check .` reads in a folder of the workspace: settings and files. Open documents override files.
//!
//! Does not compile; see `compiling`.

use crate::client::ClientSettings;
use crate::documents::Documents;
use chancery_core::compilation::{Dialect, Options, for_interactive_use};
use chancery_core::compile::is_claimed;
use chancery_core::diagnostic::Level;
use chancery_core::dialect;
use chancery_core::resource::{Input, Inputs};
use chancery_workspace::files::{Excludes, is_chart, is_read};
use chancery_workspace::{Contents, FolderFile, Settings, classify, disk, options};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// At most this many bytes are read of a folder's files together.
const MAX_INPUT: u64 = 256 << 20;

/// A folder of the workspace, or a single file outside of all folders.
pub struct Folder {
    pub root: PathBuf,
    /// Whether only the open documents are read.
    is_single_file: bool,
    pub settings: Settings,
    /// Why `chancery.toml` or the client's settings cannot be used.
    pub problem: Option<String>,
    pub options: Options,
    excludes: Excludes,
    files: BTreeMap<PathBuf, Input>,
    /// Open documents that a dialect read before: a document that breaks while the user types stays in the input.
    claimed: BTreeSet<PathBuf>,
    pub charts: Vec<PathBuf>,
    /// Counts the changes of the input.
    pub version: u64,
}

/// The input of a compile.
pub struct Read {
    pub inputs: Inputs,
    /// The file of each input.
    pub paths: Vec<PathBuf>,
}

impl Folder {
    /// Reads a folder.
    #[must_use]
    pub fn read(root: PathBuf, client: &ClientSettings) -> Self {
        let mut folder = Self::empty(root, false);
        folder.read_settings(client);
        folder.read_files();
        folder
    }

    /// Takes a file that is in none of the folders.
    #[must_use]
    pub fn of_file(path: &Path, client: &ClientSettings) -> Self {
        let mut folder = Self::empty(path.parent().map(Path::to_owned).unwrap_or_default(), true);
        folder.read_settings(client);
        folder.claimed.insert(path.to_owned());
        folder
    }

    fn empty(root: PathBuf, is_single_file: bool) -> Self {
        Self {
            root,
            is_single_file,
            settings: Settings::default(),
            problem: None,
            options: for_interactive_use(Options::default()),
            excludes: Excludes::default(),
            files: BTreeMap::new(),
            claimed: BTreeSet::new(),
            charts: Vec::new(),
            version: 0,
        }
    }

    /// Whether a file belongs to the folder.
    #[must_use]
    pub fn contains(&self, path: &Path) -> bool {
        if self.is_single_file { self.claimed.contains(path) } else { path.starts_with(&self.root) }
    }

    /// Whether the folder is only one file.
    #[must_use]
    pub fn is_file(&self, path: &Path) -> bool {
        self.is_single_file && self.claimed.contains(path)
    }

    /// Reads `chancery.toml` and the client's settings again.
    pub fn read_settings(&mut self, client: &ClientSettings) {
        self.problem = None;
        let file = self.root.ancestors().map(|folder| folder.join(chancery_workspace::settings::FILE)).find(|file| disk::is_file(file));
        let read = Settings::find(Some(&file.map_or_else(|| "none".into(), |file| file.display().to_string())));
        self.settings = read.unwrap_or_else(|why| {
            self.problem = Some(why);
            Settings::default()
        });
        let mut settings = self.settings.clone();
        settings.exclude.extend(client.exclude.iter().cloned());
        if !client.dialect.is_empty() {
            settings.dialect = Some(client.dialect.clone());
        }
        settings.options.extend(client.options.iter().map(|(name, value)| (name.clone(), words(value))));
        for (code, level) in &client.severities {
            if let Some((code, level)) = dialect::code(code).zip(Level::named(level)) {
                settings.severities.insert(code.name, level);
            }
        }
        let options = options::of_settings(&settings).unwrap_or_else(|why| {
            self.problem.get_or_insert(why);
            Options::default()
        });
        self.options = for_interactive_use(options);
        let own = Excludes::new(&self.root, &client.exclude);
        let excludes = Excludes::new(&self.settings.folder(), &self.settings.exclude).and_then(|set| Ok(set.and(own?)));
        self.excludes = excludes.unwrap_or_else(|why| {
            self.problem.get_or_insert(why);
            Excludes::default()
        });
        self.version += 1;
    }

    /// Reads all files again.
    pub fn read_files(&mut self) {
        self.version += 1;
        if self.is_single_file {
            return;
        }
        let name = |path: &Path| self.name(path);
        match Contents::read(&self.root, &self.excludes, self.asked(), MAX_INPUT, &name, &|_| true) {
            Ok(contents) => {
                self.files = contents.files.into_iter().collect();
                self.charts = contents.charts;
            }
            Err(why) => self.problem = Some(why),
        }
    }

    /// Reads one changed file again. Returns whether the input may differ.
    pub fn read_file(&mut self, path: &Path) -> bool {
        if self.is_single_file || !is_read(path) && !self.files.contains_key(path) {
            return false;
        }
        // Other files of the folder may decide whether a new file is read: `.gitignore`, a kustomization, a chart.
        if !self.files.contains_key(path) && disk::is_file(path) {
            self.read_files();
            return true;
        }
        let Ok(bytes) = disk::read(path) else { return self.files.remove(path).is_some_and(|_| self.changed()) };
        match classify(self.name(path), bytes, self.asked()).0 {
            FolderFile::Resources(input, _) => {
                let is_same = self.files.get(path).is_some_and(|known| known.text == input.text);
                self.files.insert(path.to_owned(), input);
                !is_same && self.changed()
            }
            _ => self.files.remove(path).is_some_and(|_| self.changed()),
        }
    }

    fn changed(&mut self) -> bool {
        self.version += 1;
        true
    }

    fn asked(&self) -> Option<&'static Dialect> {
        self.options.dialect.as_ref().and_then(|name| Dialect::named(name, dialect::ALL))
    }

    /// A file's name in messages, as `chancery check .` writes it.
    #[must_use]
    pub fn name(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }

    /// Whether a file is a template of a Helm chart.
    #[must_use]
    pub fn is_template(&self, path: &Path) -> bool {
        let in_chart = |folder: &Path| folder.starts_with(&self.root) && is_chart(folder);
        !self.is_single_file && path.ancestors().skip(1).any(in_chart)
    }

    /// Collects the input: files, and open documents instead of their files.
    pub fn collect(&mut self, documents: &Documents) -> Read {
        let mut all = self.files.clone();
        for document in documents.iter() {
            let Some(path) = document.path.as_ref().filter(|path| self.contains(path) && is_read(path)) else { continue };
            let is_known = all.contains_key(path) || self.claimed.contains(path);
            if self.is_template(path) || !is_known && !is_claimed(&document.text, self.asked(), dialect::ALL) {
                continue;
            }
            self.claimed.insert(path.clone());
            all.insert(path.clone(), Input { name: self.name(path).into(), text: document.text.clone() });
        }
        let (paths, inputs): (Vec<PathBuf>, Vec<Input>) = all.into_iter().unzip();
        Read { inputs: Inputs { inputs, ..Inputs::default() }, paths }
    }

    /// Forgets that a document was open.
    pub fn close(&mut self, path: &Path) {
        if !self.is_single_file {
            self.claimed.remove(path);
        }
        self.version += 1;
    }
}

/// An option's values, one by one, as a user would type them.
fn words(value: &serde_json::Value) -> Vec<String> {
    let scalar = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), String::from);
    match value {
        serde_json::Value::Array(all) => all.iter().map(scalar).collect(),
        serde_json::Value::Object(all) => all.iter().map(|(key, value)| format!("{key}={}", scalar(value))).collect(),
        value => vec![scalar(value)],
    }
}
