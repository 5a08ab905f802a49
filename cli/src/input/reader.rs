//! Reads files, folders, globs and standard input.
//!
//! A file that the user names is always read. Files of a folder that no dialect reads are skipped.
//!
//! Does not choose the files of a folder; see `chancery_workspace::files`. Does not run other programs; see `render`.

use super::render;
use crate::Unusable;
use crate::args::{Deployment, MAX_INPUT};
use crate::output::{message, reason};
use crate::style::{count, some};
use chancery_core::compilation::Dialect;
use chancery_core::dialect;
use chancery_core::dialect::ingress_nginx::deployed;
use chancery_core::read::{DocumentCache, ReadOptions, read};
use chancery_core::resource::{Input, Inputs};
use chancery_workspace::files::{self, Excludes, Kustomization};
use chancery_workspace::{FolderFile, classify, settings};
use std::collections::BTreeSet;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

/// The name of standard input in messages.
pub const STDIN: &str = "<stdin>";

/// Why a file is not read. Windows PowerShell writes this encoding if output is redirected by `>`.
const UTF16: &str = "its text is in UTF-16, and must be in UTF-8 (in PowerShell: `... | Out-File -Encoding utf8 FILE`)";

/// Reads texts, one after the other.
#[derive(Default)]
pub struct Reader {
    /// The contents of the files.
    pub inputs: Inputs,
    /// The places of each file that are not UTF-8.
    pub not_utf8: Vec<Vec<(u32, usize)>>,
    /// The file of each input, if the user can edit it.
    pub paths: Vec<Option<PathBuf>>,
    /// The dialect that a person chose.
    asked: Option<&'static Dialect>,
    excludes: Excludes,
    /// Whether charts and kustomizations are rendered.
    render: bool,
    /// The file of settings in effect, resolved.
    settings: Option<PathBuf>,
    /// Whether a folder may hold nothing that is read.
    allow_empty: bool,
    /// At most this many bytes are read of all inputs together; 0 for [`MAX_INPUT`].
    max_input: u64,
    /// The folder in which the files of a revision lie, which names do not show, and the revision.
    below: Option<(PathBuf, String)>,
    seen: BTreeSet<PathBuf>,
    read_stdin: bool,
    bytes: u64,
    /// Files of folders that no dialect reads.
    passed_over: Vec<String>,
    /// Helm charts and kustomizations that were not rendered.
    not_rendered: Vec<String>,
    /// The entries of folders that are skipped because they are not files, and why.
    strange: Vec<String>,
    /// The files that could not be read, and why.
    problems: Vec<String>,
    /// The controller's flags that a person gave.
    given_flags: Vec<String>,
    /// Files that run ingress-nginx with flags that were not given.
    flags: Vec<(String, Vec<String>)>,
}

impl Reader {
    /// As the command line says.
    pub fn new(deployment: &Deployment) -> Result<Self, Unusable> {
        let options = deployment.options()?;
        let given_flags = options.list("controller-arg").iter().map(ToString::to_string).collect();
        let asked = options.dialect.and_then(|name| Dialect::named(&name, dialect::ALL));
        let excludes = deployment.excludes()?;
        let settings = deployment.settings.as_ref().ok().and_then(|settings| settings.file.as_ref()?.canonicalize().ok());
        Ok(Self {
            asked,
            excludes,
            render: deployment.render,
            settings,
            allow_empty: deployment.allow_empty,
            max_input: deployment.max_input,
            given_flags,
            ..Self::default()
        })
    }

    /// The same for files of a revision, which lie in a temporary folder.
    pub fn below(mut self, folder: &Path, revision: &str) -> Self {
        self.below = Some((folder.to_owned(), revision.to_owned()));
        self
    }

    /// Reads all of these, or standard input.
    pub fn all(&mut self, paths: &[PathBuf]) -> Result<(), Unusable> {
        if paths.is_empty() {
            if std::io::stdin().is_terminal() {
                return Err("there is no input: name files or folders, or pipe YAML in".into());
            }
            self.stdin()?;
        }
        paths.iter().try_for_each(|path| self.path(path))
    }

    /// Reads one.
    pub fn path(&mut self, path: &Path) -> Result<(), Unusable> {
        if path.as_os_str() == "-" {
            return self.stdin();
        }
        let error = match std::fs::metadata(path) {
            Ok(about) if about.is_dir() => return self.folder(path),
            Ok(_) => return self.file(path),
            Err(error) => error,
        };
        let text = path.to_str().unwrap_or_default();
        if let Some(why) = not_a_file(text) {
            return Err(why.into());
        }
        if text.contains(['*', '?', '[']) {
            return self.glob(text);
        }
        Err(format!("cannot read {}: {}", self.name(path), reason(&error)).into())
    }

    fn glob(&mut self, pattern: &str) -> Result<(), Unusable> {
        let found = glob::glob(pattern).map_err(|error| format!("`{pattern}` is not a pattern for files: {}", error.msg))?;
        let mut found: Vec<PathBuf> = found.filter_map(Result::ok).collect();
        found.sort();
        if found.is_empty() {
            return Err(format!("no file matches `{pattern}`").into());
        }
        found.iter().try_for_each(|path| if path.is_dir() { self.folder(path) } else { self.file(path) })
    }

    fn folder(&mut self, folder: &Path) -> Result<(), Unusable> {
        let found = files::walk(folder, &self.excludes)?;
        let (before, noted, is_first) = (self.inputs.inputs.len(), self.passed_over.len(), self.seen.is_empty());
        let settings = folder.join(settings::FILE);
        if self.below.is_none() && settings.is_file() && settings.canonicalize().ok() != self.settings {
            let name = self.name(&settings);
            self.strange.push(format!("{name} is not read: settings are found from the current folder upwards, or by --config"));
        }
        let problems: Vec<String> = found.problems.iter().map(|(path, why)| format!("cannot read {}: {why}", self.name(path))).collect();
        self.problems.extend(problems);
        let links = found.dangling.iter().map(|path| (path, files::LEADS_NOWHERE));
        let strange = links.chain(found.passed_over.iter().map(|(path, why)| (path, &**why)));
        let strange: Vec<String> = strange.map(|(path, why)| format!("{} is skipped: {why}", self.name(path))).collect();
        self.strange.extend(strange);
        let built: Vec<&Kustomization> = if self.render { found.kustomizations.iter().collect() } else { Vec::new() };
        for path in found.files.iter().filter(|path| !built.iter().any(|of| path.starts_with(&of.folder))) {
            self.found(path)?;
        }
        if self.render {
            for rendered in render::all(&found.charts, &found.kustomizations, &|path| self.name(path))? {
                self.text(&rendered.name, rendered.text.as_bytes(), None)?;
            }
        } else {
            let unrendered = found.charts.iter().map(|chart| format!("the Helm chart {}", self.name(chart)));
            let kustomizations = found.kustomizations.iter().map(|of| format!("the kustomization {}", self.name(&of.folder)));
            let all: Vec<String> = unrendered.chain(kustomizations).collect();
            self.not_rendered.extend(all);
        }
        let is_known = self.passed_over.len() > noted || !found.charts.is_empty() || !found.kustomizations.is_empty();
        if !self.allow_empty && self.inputs.inputs.len() == before && is_first && self.problems.is_empty() {
            let what = if is_known { "nothing that a dialect reads" } else { "no .yaml, .yml, .json or .hcl file" };
            self.report();
            let name = self.name(folder);
            let place = if name.is_empty() || name == "." { "this folder" } else { &name };
            return Err(format!("there is {what} in {place}").into());
        }
        Ok(())
    }

    /// A file found in a folder. It is read only if it holds resources of a controller.
    fn found(&mut self, path: &Path) -> Result<(), Unusable> {
        if !self.is_new(path) {
            return Ok(());
        }
        let name = self.name(path);
        let bytes = match std::fs::File::open(path) {
            Ok(file) => self.bytes(&name, file)?,
            Err(error) => {
                self.problems.push(format!("cannot read {name}: {}", reason(&error)));
                return Ok(());
            }
        };
        self.note_flags(&name, &bytes);
        let (file, len) = classify(name.clone(), bytes, self.asked);
        match file {
            FolderFile::Utf16 => self.problems.push(format!("cannot read {name}: {UTF16}")),
            FolderFile::Other(name) => {
                self.bytes -= len.min(self.bytes as usize) as u64;
                self.passed_over.push(name);
            }
            FolderFile::Resources(input, not_utf8) => self.keep(input, not_utf8, Some(path)),
        }
        Ok(())
    }

    /// A file that a person named.
    fn file(&mut self, path: &Path) -> Result<(), Unusable> {
        if !self.is_new(path) {
            return Ok(());
        }
        let name = self.name(path);
        let file = std::fs::File::open(path).map_err(|error| format!("cannot read {name}: {}", reason(&error)))?;
        self.text(&name, file, Some(path))
    }

    /// Notes the flags of a controller that a file runs, as no option holds them yet.
    fn note_flags(&mut self, name: &str, bytes: &[u8]) {
        let is_asked = self.asked.is_none_or(|asked| asked.name == dialect::ingress_nginx::DIALECT.name);
        let has_program = |text: &&str| text.contains(deployed::PROGRAM);
        let Some(text) = std::str::from_utf8(bytes).ok().filter(has_program).filter(|_| is_asked) else { return };
        let (objects, _) = read(&Inputs::one(name, text), &ReadOptions::default(), &mut DocumentCache::default());
        let mut flags = deployed::deployed_flags(&objects);
        flags.retain(|flag| !self.given_flags.iter().any(|given| given.split('=').next() == flag.split('=').next()));
        if !flags.is_empty() {
            self.flags.push((name.to_owned(), flags));
        }
    }

    fn is_new(&mut self, path: &Path) -> bool {
        path.canonicalize().map_or(true, |real| self.seen.insert(real))
    }

    fn stdin(&mut self) -> Result<(), Unusable> {
        if std::mem::replace(&mut self.read_stdin, true) {
            return Ok(());
        }
        self.text(STDIN, std::io::stdin(), None)
    }

    fn text(&mut self, name: &str, from: impl Read, path: Option<&Path>) -> Result<(), Unusable> {
        let bytes = self.bytes(name, from)?;
        if Input::text_of_utf16(&bytes).is_some() {
            return Err(format!("cannot read {name}: {UTF16}").into());
        }
        self.note_flags(name, &bytes);
        let (input, not_utf8) = Input::from_bytes(name, bytes);
        self.keep(input, not_utf8, path);
        Ok(())
    }

    fn keep(&mut self, input: Input, not_utf8: Vec<(u32, usize)>, path: Option<&Path>) {
        self.not_utf8.push(not_utf8);
        self.inputs.inputs.push(input);
        self.paths.push(path.filter(|_| self.below.is_none()).map(Path::to_owned));
    }

    fn bytes(&mut self, name: &str, from: impl Read) -> Result<Vec<u8>, Unusable> {
        let max = if self.max_input == 0 { MAX_INPUT } else { self.max_input };
        let left = max.saturating_sub(self.bytes);
        let mut bytes = Vec::new();
        from.take(left + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot read {name}: {}", reason(&error)))?;
        if bytes.len() as u64 > left {
            return Err(format!("cannot read {name}: all inputs together may have at most {}; --max-input changes that", size(max)).into());
        }
        self.bytes += bytes.len() as u64;
        Ok(bytes)
    }

    /// Returns a path's name in messages. Escapes line breaks: a CI could run the text after a line break as a command.
    fn name(&self, path: &Path) -> String {
        let name = match &self.below {
            Some((folder, revision)) => match path.strip_prefix(folder) {
                Ok(inner) if inner.as_os_str().is_empty() => format!("{revision}:."),
                Ok(inner) => inner.display().to_string(),
                Err(_) => path.display().to_string(),
            },
            None => path.strip_prefix("./").unwrap_or(path).display().to_string(),
        };
        let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        if name.contains(breaks) {
            name.chars().map(|c| if breaks(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
        } else {
            name
        }
    }

    /// Refuses a folder with unreadable files, because the answer would be incomplete. Accepts a revision: its working folder has the same gaps.
    pub fn refuse_gaps(&self) -> Result<(), Unusable> {
        if self.problems.is_empty() || self.below.is_some() {
            return Ok(());
        }
        let problems: Vec<&str> = self.problems.iter().map(String::as_str).collect();
        Err(format!("{}; --exclude leaves files out", some(&problems)).into())
    }

    /// Reports on standard error the files that were not read, one line per reason.
    pub fn report(&self) {
        if self.below.is_some() {
            self.problems.iter().for_each(|problem| message(problem));
        }
        self.strange.iter().for_each(|strange| message(strange));
        // The working folder reports the same for a revision.
        if self.below.is_some() {
            return;
        }
        let list = |all: &[String]| some(&all.iter().map(String::as_str).collect::<Vec<_>>());
        if !self.passed_over.is_empty() {
            let files = count(self.passed_over.len(), "file");
            let (verb, them) = if self.passed_over.len() == 1 { ("is", "it") } else { ("are", "them") };
            message(&format!("{files} {verb} skipped because no controller reads {them}: {}", list(&self.passed_over)));
        }
        for (name, flags) in &self.flags {
            let options: Vec<String> = flags.iter().map(|flag| format!("--controller-arg={flag}")).collect();
            message(&format!("{name} gives flags to ingress-nginx that change answers; pass them: {}", options.join(" ")));
        }
        if !self.not_rendered.is_empty() {
            message(&format!("not rendered: {}; --render has helm and kustomize render them", list(&self.not_rendered)));
        }
    }
}

/// Returns why an argument is not a file.
fn not_a_file(text: &str) -> Option<String> {
    if text.contains("://") {
        return Some(format!("{text} is a URL, where a file or folder belongs; `chancery route URL INPUT` tries a request"));
    }
    let (kind, name) = text.split_once('/')?;
    let is_kind = dialect::ALL.iter().any(|dialect| (dialect.listing)().iter().any(|known| known.name == kind));
    is_kind.then(|| format!("{text} is the name of an object, where a file or folder belongs; `chancery explain {kind}/{name} INPUT` tells about it"))
}

/// Formats a number of bytes as human-readable text.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..0x400 => format!("{bytes} bytes"),
        0x400..0x10_0000 => format!("{} KiB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{} GiB", bytes >> 30),
    }
}
