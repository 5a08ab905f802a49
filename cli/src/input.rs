//! Reading: files, folders, globs and standard input into texts, and the flags into options.
//!
//! What must not be here: what is in the texts.

use crate::Unusable;
use crate::args::Deployment;
use crate::output::{hold, hold_back, reason};
use crate::style::complain;
use chancery_core::compilation::{Compilation, Dialect, Gateway, Options};
use chancery_core::compile::Compiler;
use chancery_core::diagnostic::{Code, codes};
use chancery_core::dialect;
use chancery_core::envoy_config::Running;
use chancery_core::explain::{Snapshot, not_utf8, share};
use chancery_core::read::says_nothing;
use chancery_core::resource::{Input, Inputs, SourceId, nearest};
use chancery_core::simulate::SavedRequest;
use std::collections::BTreeSet;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

/// The name of standard input in messages.
pub const STDIN: &str = "<stdin>";

/// What is read at most, of all inputs together: places are counted in 32 bits.
const MOST_BYTES: usize = 2 << 30;

/// Reads and compiles.
pub fn compile(paths: &[PathBuf], deployment: &Deployment) -> Result<(Compiler, Compilation), Unusable> {
    given(paths, deployment)?.compile()
}

/// The same where an empty file counts that is named itself: a controller without resources has an answer, too.
pub fn compile_even_empty(paths: &[PathBuf], deployment: &Deployment) -> Result<(Compiler, Compilation), Unusable> {
    let named = !paths.is_empty() && paths.iter().all(|path| path.is_file());
    if !named || deployment.allow_empty {
        return compile(paths, deployment);
    }
    let given = read_all(paths, deployment)?;
    if says_nothing(&given.inputs) {
        complain("there is no resource in the input; this is what the controller makes of none");
    }
    given.compile()
}

/// What was read: texts, and how to compile them.
pub struct Given {
    pub inputs: Inputs,
    /// Of each text the places that were not UTF-8.
    pub not_utf8: Vec<Vec<(u32, usize)>>,
    pub options: Options,
    /// The only gateway to speak of.
    pub gateway: Option<String>,
    /// Requests that a snapshot brought.
    pub requests: Vec<SavedRequest>,
}

impl Given {
    /// Compiles. Bytes that are not UTF-8 become findings; only the gateway that was asked for is left, if one was.
    pub fn compile(&self) -> Result<(Compiler, Compilation), Unusable> {
        let mut compiler = Compiler::new(dialect::ALL);
        let mut compilation = compiler.compile(&self.inputs, &self.options);
        refuse_foreign_options(&self.options, &compilation)?;
        let findings = (0..).zip(&self.not_utf8).filter_map(|(at, wrong)| not_utf8(SourceId(at), wrong));
        compilation.diagnostics.splice(..0, findings.collect::<Vec<_>>());
        if let Some(id) = &self.gateway {
            choose(&mut compilation, id)?;
        }
        hold_back(&compilation);
        Ok((compiler, compilation))
    }

    /// Compiles where only one gateway can be spoken of.
    pub fn compile_one(&self) -> Result<(Compiler, Compilation), Unusable> {
        let (compiler, compilation) = self.compile()?;
        if compilation.sides.len() > 1 {
            let names: Vec<&str> = compilation.sides.iter().map(|side| side.dialect.name).collect();
            return Err(format!("the input is of several dialects ({}): say by --dialect which one is meant", names.join(", ")).into());
        }
        let ids: Vec<&str> = compilation.gateways().map(|gateway| gateway.id.as_str()).collect();
        if ids.len() > 1 {
            return Err(format!("there are several gateways ({}): say by --gateway which one is meant", some(&ids)).into());
        }
        Ok((compiler, compilation))
    }

    /// What a running Envoy tells, or a bootstrap, where that is what was given.
    pub fn running(&self) -> Result<Option<Running>, Unusable> {
        let [one] = &self.inputs.inputs[..] else { return Ok(None) };
        if !Running::is_one(&one.text) {
            return Ok(None);
        }
        let running = Running::read(&one.text).map_err(|why| format!("{} {why}", one.name))?;
        hold(vec![running.held_back.clone()]);
        Ok(Some(running))
    }

    fn opened(snapshot: &Snapshot, deployment: &Deployment) -> Self {
        let not_utf8 = snapshot.not_utf8().map(Vec::from).collect();
        Self {
            inputs: snapshot.inputs(),
            not_utf8,
            options: snapshot.options.clone(),
            gateway: deployment.gateway.clone(),
            requests: snapshot.requests().to_vec(),
        }
    }
}

/// An option that no controller of the input has would change nothing, which nobody means who gives it.
fn refuse_foreign_options(options: &Options, compilation: &Compilation) -> Result<(), Unusable> {
    let here: Vec<&'static Dialect> = compilation.sides.iter().map(|side| side.dialect).collect();
    let Some(name) = options.foreign_to(&here).into_iter().next().map(str::to_string) else { return Ok(()) };
    let has_it = |dialect: &&&'static Dialect| dialect.options.iter().any(|spec| spec.name == name);
    let whose: Vec<&str> = dialect::ALL.iter().filter(has_it).map(|dialect| dialect.name).collect();
    let read: Vec<&str> = here.iter().map(|dialect| dialect.name).collect();
    let hint = whose.first().map(|whose| format!("; --dialect {whose} reads it so")).unwrap_or_default();
    Err(format!("--{name} is an option of {}, and the input is read as {}'s{hint}", whose.join(", "), read.join(" and ")).into())
}

/// Leaves only the gateway of this id.
fn choose(compilation: &mut Compilation, id: &str) -> Result<(), Unusable> {
    let is_asked = |gateway: &Gateway| gateway.id.as_str() == id;
    if !compilation.sides.iter().any(|side| side.gateways.iter().any(is_asked)) {
        let ids: Vec<&str> = compilation.sides.iter().flat_map(|side| &side.gateways).map(|gateway| gateway.id.as_str()).collect();
        let near = nearest(id, ids.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
        let known = || if ids.is_empty() { "; there is none at all".into() } else { format!("; there are {}", some(&ids)) };
        return Err(format!("there is no gateway `{id}`{}", near.unwrap_or_else(known)).into());
    }
    compilation.sides.retain(|side| side.gateways.iter().any(is_asked));
    compilation.sides.iter_mut().for_each(|side| side.gateways.retain(is_asked));
    Ok(())
}

/// Why there is no gateway to speak of.
pub fn nothing_runs(compilation: &Compilation) -> Unusable {
    let stopped = compilation.stopped().map(|(side, id, failure)| {
        let which = if side.gateways.len() > 1 { format!(" for {id}") } else { String::new() };
        format!("{} does not start{which}: {}", side.dialect.controller, failure.error)
    });
    let stopped: Vec<String> = stopped.collect();
    let outputs: Vec<&str> = compilation.sides.iter().flat_map(|side| side.dialect.outputs).map(|output| output.name).collect();
    let why = match (stopped.is_empty(), outputs.is_empty()) {
        (false, _) => stopped.join("; "),
        (true, true) => "no proxy follows from the input".into(),
        (true, false) => format!("no proxy follows from the input; `chancery compile --output` writes {}", outputs.join(", ")),
    };
    Unusable(format!("there is no Envoy to speak of: {why}"))
}

/// The first of some names.
fn some(names: &[&str]) -> String {
    const MOST: usize = 8;
    let more = names.len().saturating_sub(MOST);
    let shown = names.iter().take(MOST).copied().collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// Says on standard error where texts could not be read: what is told of the rest does not count what stands there.
pub fn warn_of_unread(of: &Compilation) {
    const UNREAD: [&Code; 6] = [&codes::SYNTAX, &codes::TEMPLATE, &codes::ALIAS_BOMB, &codes::TOO_LARGE, &codes::NOT_JSON, &codes::INCOMPLETE_OBJECT];
    let positions = of.positions();
    let unread = of.all_diagnostics().filter(|finding| UNREAD.contains(&finding.code));
    let mut told = BTreeSet::new();
    for span in unread.filter_map(|finding| positions.place(&finding.place)) {
        if told.insert(span.file.to_string()) {
            complain(&format!("not all of {0} could be read, from line {1} on; `chancery check {0}` tells why", span.file, span.line));
        }
    }
}

/// Reads everything. A snapshot, or a link that holds one, brings its own options. An input without resources is an error, unless a person
/// says that it is meant.
pub fn given(paths: &[PathBuf], deployment: &Deployment) -> Result<Given, Unusable> {
    let given = read_all(paths, deployment)?;
    if !deployment.allow_empty && says_nothing(&given.inputs) {
        let names: Vec<&str> = given.inputs.inputs.iter().map(|input| input.name.as_str()).collect();
        return Err(nothing_in(&names).into());
    }
    Ok(given)
}

fn read_all(paths: &[PathBuf], deployment: &Deployment) -> Result<Given, Unusable> {
    if let [one] = paths
        && let Some(link) = one.to_str().filter(|text| text.contains("://") && text.contains('#'))
    {
        let snapshot = share::open(link).ok_or("there is no snapshot in the link")?;
        return Ok(Given::opened(&snapshot.map_err(|why| format!("the link {why}"))?, deployment));
    }
    let Reader { inputs, not_utf8, .. } = read(paths)?;
    let snapshots: Vec<&Input> = inputs.inputs.iter().filter(|input| Snapshot::is_one(&input.text)).collect();
    match (&snapshots[..], inputs.inputs.len()) {
        ([], _) => Ok(Given { inputs, not_utf8, options: deployment.options()?, gateway: deployment.gateway.clone(), requests: Vec::new() }),
        ([one], 1) => {
            let snapshot = Snapshot::read(&one.text).map_err(|why| format!("{} {why}", one.name))?;
            Ok(Given::opened(&snapshot, deployment))
        }
        ([one, ..], _) => Err(format!("{} is a snapshot: it holds all its inputs, and cannot be read together with others", one.name).into()),
    }
}

/// Why an input without resources is not taken.
fn nothing_in(names: &[&str]) -> String {
    let place = match names {
        [STDIN] => "on standard input".into(),
        [one] => format!("in {one}"),
        names => format!("in any of {} files", names.len()),
    };
    format!("there is no resource {place}: did what should write it fail? --allow-empty takes it as it is")
}

/// Reads what a revision of git holds at a path: a file, or the YAML and JSON files of a folder.
pub fn revision(revision: &str, path: &str, deployment: &Deployment) -> Result<Given, Unusable> {
    let git = |arguments: &[&str]| {
        let run = std::process::Command::new("git").args(arguments).output();
        let output = run.map_err(|error| format!("cannot run git: {}", reason(&error)))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let why = String::from_utf8_lossy(&output.stderr);
        Err(Unusable(format!(
            "git cannot read {revision}:{path}: {}",
            why.lines().next().unwrap_or("it does not say why").trim_start_matches("fatal: ")
        )))
    };
    let path = if path.is_empty() { "." } else { path };
    let listed = git(&["ls-tree", "-r", "-z", "--name-only", revision, "--", path])?;
    let listed = String::from_utf8_lossy(&listed);
    let names: Vec<&str> = listed.split('\0').filter(|name| !name.is_empty()).collect();
    let one = names.len() == 1 && names.first().is_some_and(|name| Path::new(name) == Path::new(path));
    let mut reader = Reader::default();
    for name in names.into_iter().filter(|name| one || is_read(Path::new(name))) {
        let bytes = git(&["show", &format!("{revision}:./{name}")])?;
        reader.text(name, bytes.as_slice())?;
    }
    if reader.inputs.inputs.is_empty() {
        return Err(format!("there is no .yaml, .yml or .json file in {revision}:{path}").into());
    }
    Ok(Given {
        inputs: reader.inputs,
        not_utf8: reader.not_utf8,
        options: deployment.options()?,
        gateway: deployment.gateway.clone(),
        requests: Vec::new(),
    })
}

/// The text of one file, or of standard input.
pub fn text(path: &Path) -> Result<String, Unusable> {
    let Reader { inputs, .. } = read(&[path.to_path_buf()])?;
    Ok(inputs.inputs.first().map(|input| input.text.to_string()).unwrap_or_default())
}

/// Whether a folder's file is read.
fn is_read(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ["yaml", "yml", "json"].iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

fn read(paths: &[PathBuf]) -> Result<Reader, Unusable> {
    let mut reader = Reader::default();
    if paths.is_empty() {
        if std::io::stdin().is_terminal() {
            return Err("there is no input: name files or folders, or pipe YAML in".into());
        }
        reader.stdin()?;
    }
    for path in paths {
        reader.path(path)?;
    }
    Ok(reader)
}

#[derive(Default)]
struct Reader {
    inputs: Inputs,
    not_utf8: Vec<Vec<(u32, usize)>>,
    seen: BTreeSet<PathBuf>,
    stdin: bool,
    /// How many files were named, those included that were named before.
    files: usize,
    bytes: usize,
}

impl Reader {
    fn path(&mut self, path: &Path) -> Result<(), Unusable> {
        if path.as_os_str() == "-" {
            return self.stdin();
        }
        match std::fs::metadata(path) {
            Ok(about) if about.is_dir() => self.folder(path),
            Ok(_) => self.file(path),
            Err(error) => {
                let pattern = path.to_str().filter(|text| text.contains(['*', '?', '[']));
                match pattern {
                    Some(pattern) => self.glob(pattern),
                    None => Err(format!("cannot read {}: {}", path.display(), reason(&error)).into()),
                }
            }
        }
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
        let before = self.files;
        self.walk(folder)?;
        if self.files == before {
            return Err(format!("there is no .yaml, .yml or .json file in {}", folder.display()).into());
        }
        Ok(())
    }

    /// Folders that begin with a dot are left alone, and so are those that were seen: links may lead in circles.
    fn walk(&mut self, folder: &Path) -> Result<(), Unusable> {
        let cannot = |error: &std::io::Error| Unusable(format!("cannot read the folder {}: {}", folder.display(), reason(error)));
        if let Ok(real) = folder.canonicalize()
            && !self.seen.insert(real)
        {
            return Ok(());
        }
        let entries: Result<Vec<PathBuf>, _> = std::fs::read_dir(folder).map_err(|error| cannot(&error))?.map(|entry| Ok(entry?.path())).collect();
        let mut entries = entries.map_err(|error: std::io::Error| cannot(&error))?;
        entries.sort();
        for path in entries {
            let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if path.is_dir() {
                if !hidden {
                    self.walk(&path)?;
                }
            } else if is_read(&path) {
                self.file(&path)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<(), Unusable> {
        self.files += 1;
        if let Ok(real) = path.canonicalize()
            && !self.seen.insert(real)
        {
            return Ok(());
        }
        let name = path.display().to_string();
        let cannot = |error: std::io::Error| Unusable(format!("cannot read {name}: {}", reason(&error)));
        let file = std::fs::File::open(path).map_err(cannot)?;
        self.text(&name, file)
    }

    fn stdin(&mut self) -> Result<(), Unusable> {
        if std::mem::replace(&mut self.stdin, true) {
            return Ok(());
        }
        self.text(STDIN, std::io::stdin())
    }

    fn text(&mut self, name: &str, from: impl Read) -> Result<(), Unusable> {
        let most = MOST_BYTES - self.bytes;
        let mut bytes = Vec::new();
        from.take(most as u64 + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot read {name}: {}", reason(&error)))?;
        if bytes.len() > most {
            return Err(format!("cannot read {name}: all inputs together may have 2 GiB at most").into());
        }
        self.bytes += bytes.len();
        let (input, wrong) = Input::from_bytes(name, bytes);
        self.not_utf8.push(wrong);
        self.inputs.inputs.push(input);
        Ok(())
    }
}
