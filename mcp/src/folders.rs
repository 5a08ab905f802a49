//! Reads and compiles what a tool asks for, from the folders that the server was started with and nowhere else.
//!
//! Does not write answers; see `answers`.

use chancery_core::check::check;
use chancery_core::compilation::{Compilation, OptionKind, Options, for_interactive_use};
use chancery_core::compile::Compiler;
use chancery_core::diagnostic::Policy;
use chancery_core::dialect;
use chancery_core::resource::Inputs;
use chancery_workspace::files::Excludes;
use chancery_workspace::git::Checkout;
use chancery_workspace::settings::FILE;
use chancery_workspace::threads::Threads;
use chancery_workspace::{Contents, FolderFile, Settings, classify, options};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// At most this many bytes are read for one answer.
const MAX_INPUT: u64 = 256 << 20;

/// The folders that may be read.
pub struct Folders {
    /// Without links, the first is the default.
    roots: Vec<PathBuf>,
}

/// A compiled part of the folders.
pub struct Compiled {
    pub compiler: Compiler,
    pub compilation: Compilation,
    pub options: Options,
    /// Parts that were not read, one sentence each.
    pub notes: Vec<String>,
    /// The file or folder that was read, and the root that contains it.
    path: PathBuf,
    root: PathBuf,
    settings: Settings,
}

impl Folders {
    /// # Errors
    ///
    /// A folder does not exist.
    pub fn new(folders: &[PathBuf]) -> Result<Self, String> {
        let here = [PathBuf::from(".")];
        let folders = if folders.is_empty() { &here } else { folders };
        let real = |folder: &PathBuf| {
            let real = folder.canonicalize().map_err(|error| format!("cannot read {}: {}", folder.display(), chancery_workspace::reason(&error)))?;
            if real.is_dir() { Ok(real) } else { Err(format!("{} is not a folder", folder.display())) }
        };
        Ok(Self { roots: folders.iter().map(real).collect::<Result<_, String>>()? })
    }

    /// Resolves a path within the folders.
    fn resolve(&self, path: Option<&str>) -> Result<(PathBuf, PathBuf), String> {
        let first = self.roots.first().ok_or("there is no folder")?;
        let Some(path) = path.filter(|path| !path.is_empty() && *path != ".") else { return Ok((first.clone(), first.clone())) };
        let outside = || format!("`{path}` is not in the folders of this server: {}", self.names().join(", "));
        for root in &self.roots {
            let Ok(real) = root.join(path).canonicalize() else { continue };
            if let Some(root) = self.roots.iter().find(|root| real.starts_with(root)) {
                return Ok((real, root.clone()));
            }
            return Err(outside());
        }
        Err(format!("there is no `{path}` in {}", self.names().join(", ")))
    }

    fn names(&self) -> Vec<String> {
        self.roots.iter().map(|root| root.display().to_string()).collect()
    }

    /// Whether a file lies in the folders, wherever its links lead.
    fn is_inside(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|real| self.roots.iter().any(|root| real.starts_with(root)))
    }

    /// Compiles and checks a file or folder; by default the first folder.
    ///
    /// # Errors
    ///
    /// The path is outside of the folders, or contains nothing that a dialect reads.
    pub fn compile(&self, path: Option<&str>) -> Result<Compiled, String> {
        let (path, root) = self.resolve(path)?;
        let settings = self.settings(&path, &root)?;
        let options = for_interactive_use(options::of_settings(&settings)?);
        let mut notes = Vec::new();
        let inputs = if path.is_file() { self.file(&path, &root)? } else { self.folder(&path, &root, &settings, &mut notes)? };
        if inputs.inputs.is_empty() {
            return Err(format!("nothing in `{}` is read by a supported controller", shown(&path, &root)));
        }
        let (compiler, compilation) = compiled(&inputs, &options);
        Ok(Compiled { compiler, compilation, options, notes, path, root, settings })
    }

    /// The nearest `chancery.toml` within the root.
    fn settings(&self, path: &Path, root: &Path) -> Result<Settings, String> {
        let inside = path.ancestors().take_while(|folder| folder.starts_with(root));
        let file = inside.map(|folder| folder.join(FILE)).find(|file| file.is_file() && self.is_inside(file));
        let settings = Settings::find(Some(&file.map_or_else(|| "none".into(), |file| file.display().to_string())))?;
        // An option may name a file, which must lie in the folders too.
        for (spec, _) in options::specs().into_iter().filter(|(spec, _)| matches!(spec.kind, OptionKind::File { .. } | OptionKind::Files)) {
            for value in settings.options.get(spec.name).into_iter().flatten() {
                let file = if spec.kind == OptionKind::Files { value.split_once('=').map_or(value.as_str(), |(_, file)| file) } else { value };
                if !self.is_inside(&settings.folder().join(file)) {
                    return Err(format!("{FILE} names `{file}`, which is not in the folders of this server"));
                }
            }
        }
        Ok(settings)
    }

    fn file(&self, path: &Path, root: &Path) -> Result<Inputs, String> {
        let name = shown(path, root);
        let len = std::fs::metadata(path).map_or(0, |about| about.len());
        if len > MAX_INPUT {
            return Err(format!("`{name}` is too large"));
        }
        let bytes = std::fs::read(path).map_err(|error| format!("cannot read `{name}`: {}", chancery_workspace::reason(&error)))?;
        match classify(name, bytes, None).0 {
            FolderFile::Resources(input, _) => Ok(Inputs { inputs: vec![input], ..Inputs::default() }),
            FolderFile::Other(_) => Ok(Inputs::default()),
            FolderFile::Utf16 => Err("the file is in UTF-16, and must be in UTF-8".into()),
        }
    }

    fn folder(&self, path: &Path, root: &Path, settings: &Settings, notes: &mut Vec<String>) -> Result<Inputs, String> {
        let excludes = Excludes::new(&settings.folder(), &settings.exclude)?;
        let name = |file: &Path| shown(file, root);
        let contents = Contents::read(path, &excludes, None, MAX_INPUT, &name, &|file| self.is_inside(file))?;
        notes.extend(contents.problems.iter().map(|(file, why)| format!("`{}` was not read: {why}", shown(file, root))));
        notes.extend(contents.charts.iter().map(|chart| format!("The Helm chart `{}` was not rendered", shown(chart, root))));
        Ok(Inputs { inputs: contents.files.into_iter().map(|(_, input)| input).collect(), ..Inputs::default() })
    }

    /// Compiles the same path as of a revision of git.
    ///
    /// # Errors
    ///
    /// git cannot read the revision.
    pub fn compile_revision(&self, now: &Compiled, revision: &str) -> Result<Compiled, String> {
        if revision.starts_with('-') {
            return Err(format!("`{revision}` is not a revision"));
        }
        let inside = now.path.strip_prefix(&now.root).unwrap_or(Path::new("")).display().to_string();
        let checkout = Checkout::seen_from(&now.root, revision, &format!("./{inside}"))?;
        let path = checkout.path();
        let top =
            if inside.is_empty() { path.clone() } else { path.ancestors().nth(Path::new(&inside).components().count()).unwrap_or(&path).to_owned() };
        let name = |file: &Path| shown(file, &top);
        let inputs = if path.is_file() {
            let bytes = std::fs::read(&path).map_err(|error| chancery_workspace::reason(&error))?;
            match classify(name(&path), bytes, None).0 {
                FolderFile::Resources(input, _) => vec![input],
                _ => Vec::new(),
            }
        } else {
            let excludes = Excludes::new(&top, &now.settings.exclude)?;
            let is_inside =
                |file: &Path| file.canonicalize().is_ok_and(|real| checkout.folder().canonicalize().is_ok_and(|folder| real.starts_with(folder)));
            let contents = Contents::read(&path, &excludes, None, MAX_INPUT, &name, &is_inside)?;
            contents.files.into_iter().map(|(_, input)| input).collect()
        };
        let inputs = Inputs { inputs, ..Inputs::default() };
        let (compiler, compilation) = compiled(&inputs, &now.options);
        let (path, root) = (now.path.clone(), now.root.clone());
        Ok(Compiled { compiler, compilation, options: now.options.clone(), notes: Vec::new(), path, root, settings: now.settings.clone() })
    }
}

/// A path's name in answers: relative to the root.
fn shown(path: &Path, root: &Path) -> String {
    let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
    if name.is_empty() { ".".into() } else { name }
}

fn compiled(inputs: &Inputs, options: &Options) -> (Compiler, Compilation) {
    let mut compiler = Compiler::new(dialect::ALL).with_executor(&Threads).without_memory().without_statuses();
    let mut compilation = compiler.compile(inputs, options);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|since| i64::try_from(since.as_secs()).ok());
    let policy = Policy { at: options.findings.at.or(now), ..options.findings.clone() };
    check(&mut compilation, &policy, &mut compiler.emitted, &Threads);
    (compiler, compilation)
}
