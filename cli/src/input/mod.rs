//! Reads files, folders, globs and standard input, and converts the flags to options.
//!
//! Does not parse the files; see the core. Does not read git revisions; see `chancery_workspace::git`.

mod reader;
mod render;

pub use chancery_workspace::git::revision_of;
pub use reader::STDIN;
pub use render::source as rendered_from;

use crate::Unusable;
use crate::args::Deployment;
use crate::output::{hold, hold_back, message};
use crate::style::{count, plain, some};
use chancery_core::check::check;
use chancery_core::compilation::{Compilation, Dialect, Gateway, Options, State};
use chancery_core::compile::Compiler;
use chancery_core::diagnostic::{Code, Diagnostic, Severity, codes};
use chancery_core::dialect;
use chancery_core::envoy_config::Running;
use chancery_core::explain::{Snapshot, Span, not_utf8, share};
use chancery_core::read::contains_no_resource;
use chancery_core::resource::{Input, Inputs, SourceId, nearest};
use chancery_core::simulate::SavedRequest;
use chancery_workspace::git;
use chancery_workspace::threads::Threads;
use reader::Reader;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn compiler() -> Compiler {
    Compiler::new(dialect::ALL).with_executor(&Threads).without_memory()
}

/// Reads and compiles, without the statuses that controllers write.
pub fn compile(paths: &[PathBuf], deployment: &Deployment) -> Result<(Compiler, Compilation), Unusable> {
    given(paths, deployment)?.compile()
}

/// The same, but accepts an empty file that is named itself: a controller without resources also has a result.
///
/// `documents_only`: only the documents of proxies are read, see [`Compiler::for_documents`].
pub fn compile_even_empty(paths: &[PathBuf], deployment: &Deployment, documents_only: bool) -> Result<(Compiler, Compilation), Unusable> {
    let named = !paths.is_empty() && paths.iter().all(|path| path.is_file());
    let compiler = compiler();
    let compiler = if documents_only { compiler.for_documents() } else { compiler };
    if !named || deployment.allow_empty {
        return given(paths, deployment)?.compile_by(compiler);
    }
    let given = read_all(paths, deployment)?;
    if contains_no_resource(&given.inputs) {
        message("the input has no resource; this is the result of an empty input");
    }
    given.compile_by(compiler)
}

/// The read files, and the compile options.
#[derive(Clone)]
pub struct LoadedInput {
    pub inputs: Inputs,
    /// The places of each file that are not UTF-8.
    pub not_utf8: Vec<Vec<(u32, usize)>>,
    /// The file of each input, if a user keeps it.
    pub paths: Vec<Option<PathBuf>>,
    pub options: Options,
    /// The only gateway to speak of.
    pub gateway: Option<String>,
    /// Requests that a snapshot brought.
    pub requests: Vec<SavedRequest>,
}

impl LoadedInput {
    /// Compiles, without statuses. Bytes that are not UTF-8 become findings. If a gateway was chosen, only this gateway remains.
    pub fn compile(&self) -> Result<(Compiler, Compilation), Unusable> {
        self.compile_by(compiler().without_statuses())
    }

    /// The same with the other gateways of the side, which may be next on a request's path.
    pub fn compile_side(&self) -> Result<(Compiler, Compilation), Unusable> {
        let (compiler, mut compilation) = self.compile_whole(compiler().without_statuses())?;
        let is_asked = |gateway: &Gateway| self.gateway.as_ref().is_none_or(|id| gateway.id.as_str() == id);
        compilation.sides.retain(|side| side.gateways.iter().any(is_asked));
        Ok((compiler, compilation))
    }

    /// The same with the statuses that controllers write.
    pub fn compile_with_statuses(&self) -> Result<(Compiler, Compilation), Unusable> {
        self.compile_by(compiler())
    }

    fn compile_by(&self, compiler: Compiler) -> Result<(Compiler, Compilation), Unusable> {
        let (compiler, mut compilation) = self.compile_whole(compiler)?;
        if let Some(id) = &self.gateway {
            choose(&mut compilation, id);
        }
        Ok((compiler, compilation))
    }

    fn compile_whole(&self, mut compiler: Compiler) -> Result<(Compiler, Compilation), Unusable> {
        let mut compilation = compiler.compile(&self.inputs, &self.options);
        refuse_foreign_options(&self.options, &compilation)?;
        let findings = (0..).zip(&self.not_utf8).filter_map(|(at, wrong)| not_utf8(SourceId(at), wrong));
        compilation.diagnostics.splice(..0, findings.collect::<Vec<_>>());
        if let Some(id) = &self.gateway {
            is_there(&compilation, id)?;
        }
        hold_back(&compilation);
        Ok((compiler, compilation))
    }

    /// Adds the findings of `chancery check` to a compilation.
    pub fn add_findings(&self, compilation: &mut Compilation, compiler: &mut Compiler) {
        let executor = compiler.executor();
        check(compilation, &self.options.findings, &mut compiler.emitted, executor);
    }

    /// Compiles if the input has one gateway, or one was chosen.
    pub fn compile_one(&self) -> Result<(Compiler, Compilation), Unusable> {
        let (compiler, compilation) = self.compile()?;
        if compilation.sides.len() > 1 {
            let names: Vec<&str> = compilation.sides.iter().map(|side| side.dialect.name).collect();
            return Err(format!("the input has several dialects ({}): choose one with --dialect", names.join(", ")).into());
        }
        let ids: Vec<&str> = compilation.gateways().map(|gateway| gateway.id.as_str()).collect();
        if ids.len() > 1 {
            return Err(format!("there are several gateways ({}): choose one with --gateway", some(&ids)).into());
        }
        Ok((compiler, compilation))
    }

    /// Returns a running Envoy's configuration or a bootstrap, if the input is one.
    pub fn running(&self) -> Result<Option<Running>, Unusable> {
        let [one] = &self.inputs.inputs[..] else { return Ok(None) };
        if !Running::is_one(&one.text) {
            return Ok(None);
        }
        let running = Running::read(&one.text).map_err(|why| format!("{} {why}", one.name))?;
        hold(vec![running.redactor.clone()]);
        Ok(Some(running))
    }

    /// The read files, with the options of the command line.
    fn read(reader: Reader, deployment: &Deployment) -> Result<Self, Unusable> {
        reader.report();
        reader.refuse_gaps()?;
        let options = deployment.options()?;
        Ok(Self {
            inputs: reader.inputs,
            not_utf8: reader.not_utf8,
            paths: reader.paths,
            options,
            gateway: deployment.gateway.clone(),
            requests: Vec::new(),
        })
    }

    fn opened(snapshot: &Snapshot, deployment: &Deployment) -> Self {
        let not_utf8 = snapshot.not_utf8().map(Vec::from).collect();
        Self {
            inputs: snapshot.inputs(),
            not_utf8,
            paths: vec![None; snapshot.inputs().inputs.len()],
            options: snapshot.options.clone(),
            gateway: deployment.gateway.clone(),
            requests: snapshot.requests().to_vec(),
        }
    }
}

/// Refuses an option that no controller of the input has, because it would change nothing.
fn refuse_foreign_options(options: &Options, compilation: &Compilation) -> Result<(), Unusable> {
    let here: Vec<&'static Dialect> = compilation.sides.iter().map(|side| side.dialect).collect();
    let Some(name) = options.foreign_to(&here).into_iter().next().map(str::to_string) else { return Ok(()) };
    let has_it = |dialect: &&&'static Dialect| dialect.options.iter().any(|spec| spec.name == name);
    let whose: Vec<&str> = dialect::ALL.iter().filter(has_it).map(|dialect| dialect.name).collect();
    let read: Vec<&str> = here.iter().map(|dialect| dialect.name).collect();
    let hint = whose.first().map(|whose| format!("; --dialect {whose} reads it so")).unwrap_or_default();
    Err(format!("--{name} is an option of {}, and the input is read as {}'s{hint}", whose.join(", "), read.join(" and ")).into())
}

/// Checks that a gateway of this id exists.
fn is_there(compilation: &Compilation, id: &str) -> Result<(), Unusable> {
    let ids: Vec<&str> = compilation.sides.iter().flat_map(|side| &side.gateways).map(|gateway| gateway.id.as_str()).collect();
    if ids.contains(&id) {
        return Ok(());
    }
    let near = nearest(id, ids.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
    let known = || if ids.is_empty() { "; there is none at all".into() } else { format!("; there are {}", some(&ids)) };
    Err(format!("there is no gateway `{id}`{}", near.unwrap_or_else(known)).into())
}

/// Leaves only the gateway of this id.
fn choose(compilation: &mut Compilation, id: &str) {
    let is_asked = |gateway: &Gateway| gateway.id.as_str() == id;
    compilation.sides.retain(|side| side.gateways.iter().any(is_asked));
    for side in &mut compilation.sides {
        // The chosen gateway lacks nothing if another gateway runs for an object.
        for owner in side.gateways.iter().filter(|gateway| !is_asked(gateway)).filter_map(|gateway| gateway.owner) {
            side.ledger.set(owner, State::Loaded);
        }
        side.gateways.retain(is_asked);
    }
}

/// Returns why there is no gateway.
pub fn nothing_runs(compilation: &Compilation) -> Unusable {
    let stopped = compilation.stopped().map(|(side, id, failure)| {
        let which = if side.gateways.len() > 1 { format!(" for {id}") } else { String::new() };
        format!("{} does not start{which}: {}", side.dialect.controller, failure.error)
    });
    let stopped: Vec<String> = stopped.collect();
    let outputs: Vec<&str> = compilation.sides.iter().flat_map(|side| side.dialect.outputs).map(|output| output.name).collect();
    // The first error explains it best, or the first warning if there is no error.
    let first = |severity| compilation.all_diagnostics().find(|finding| finding.severity == severity);
    let wrong = first(Severity::Error).or_else(|| first(Severity::Warning)).map(|finding| plain(&finding.message).into_owned());
    let why = match (stopped.is_empty(), wrong, outputs.is_empty()) {
        (false, ..) => stopped.join("; "),
        (true, Some(wrong), _) => format!("{wrong}; `chancery check` shows all findings"),
        (true, None, true) => "nothing in it asks for one".into(),
        (true, None, false) => format!("nothing in it asks for one; `chancery compile --output` writes {}", outputs.join(", ")),
    };
    Unusable(format!("no gateway follows from the input: {why}"))
}

/// Says on standard error what [`gaps`] finds.
pub fn warn_of_gaps(of: &Compilation) {
    gaps(of).iter().for_each(|gap| message(gap));
}

/// Returns the unreadable inputs and the assumed objects: a fragment is not complete.
pub fn gaps(of: &Compilation) -> Vec<String> {
    unread(of).into_iter().chain(assumed(&[of])).collect()
}

/// How many notices about assumed objects there are.
fn assumption_count(of: &Compilation) -> usize {
    let is_assumed = |finding: &&Diagnostic| [&codes::ASSUMED_SECRET, &codes::ASSUMED_OBJECT].contains(&finding.code);
    of.all_diagnostics().filter(is_assumed).count()
}

/// Reports on standard error that statuses ignore the assumed objects, if there are any.
pub fn warn_of_statuses(of: &Compilation) {
    if assumption_count(of) > 0 {
        message("the statuses are those of a cluster without the assumed objects; `chancery check` lists the assumed objects");
    }
}

/// Reports on standard error the objects that the answer assumes. If there are several inputs, reports the input with the most.
pub fn warn_of_assumed(all: &[&Compilation]) {
    assumed(all).iter().for_each(|assumed| message(assumed));
}

/// Reports on standard error the inputs that could not be read: the answer ignores their content.
pub fn warn_of_unread(of: &Compilation) {
    unread(of).iter().for_each(|unread| message(unread));
}

/// Reports on standard error that Envoy rejects a part of the simulated configuration: a running gateway keeps its old configuration.
pub fn warn_of_refused(compilation: &Compilation) {
    const REFUSED: [&Code; 4] = [&codes::REFUSED_BY_ENVOY, &codes::PROTECTED_HEADER, &codes::REGEX_TOO_LARGE, &codes::INVALID_REGEX];
    let refused = compilation.all_diagnostics().filter(|finding| finding.severity == Severity::Error && REFUSED.contains(&finding.code)).count();
    if refused > 0 {
        let (all, them) = (count(refused, "value"), if refused == 1 { "it" } else { "them" });
        message(&format!("Envoy would reject this configuration ({all}); a running gateway keeps its previous one; `chancery check` shows {them}"));
    }
}

fn assumed(all: &[&Compilation]) -> Option<String> {
    let assumed = all.iter().map(|of| assumption_count(of)).max().filter(|assumed| *assumed > 0)?;
    let (all, them) = (count(assumed, "assumption"), if assumed == 1 { "it" } else { "them" });
    Some(format!("{all} about objects outside the input; `chancery check` lists {them}, `--missing error` assumes nothing"))
}

/// Returns a sentence for each input that could not be read to its end, or that has an object without a name or kind.
pub fn unread(of: &Compilation) -> Vec<String> {
    const UNREAD: [&Code; 6] = [&codes::SYNTAX, &codes::TEMPLATE, &codes::ALIAS_BOMB, &codes::TOO_LARGE, &codes::NOT_JSON, &codes::INCOMPLETE_OBJECT];
    let positions = of.positions();
    let nothing_is_read = of.objects.iter().all(|object| object.broken);
    let unread = of.all_diagnostics().filter(|finding| UNREAD.contains(&finding.code));
    let mut named = BTreeSet::new();
    let mut unread: Vec<(&Code, Span)> = unread.filter_map(|finding| Some((finding.code, positions.place(&finding.place)?))).collect();
    // The rest of a file matters more than one object.
    unread.sort_by_key(|(code, _)| **code == codes::INCOMPLETE_OBJECT);
    let first_of_file = unread.into_iter().filter(|(_, span)| named.insert(span.file.to_string()));
    let sentence = |(code, span): (&Code, Span)| match (nothing_is_read, *code == codes::INCOMPLETE_OBJECT) {
        (true, _) => format!("{0} cannot be read; `chancery check {0}` shows why", span.file),
        (false, true) => format!("{0} has an incomplete object at line {1}, which is left out; `chancery check {0}` shows why", span.file, span.line),
        (false, false) => format!("{0} cannot be read from line {1} on; `chancery check {0}` shows why", span.file, span.line),
    };
    first_of_file.map(sentence).collect()
}

/// Reads everything. A snapshot, or a link with a snapshot, contains its own options. An input without resources is an error, unless the user
/// allows it.
pub fn given(paths: &[PathBuf], deployment: &Deployment) -> Result<LoadedInput, Unusable> {
    match given_even_empty(paths, deployment)? {
        (given, None) => Ok(given),
        (_, Some(why)) => Err(why),
    }
}

/// The same, with the reason to refuse an input without resources. Machine-readable outputs are complete even then.
pub fn given_even_empty(paths: &[PathBuf], deployment: &Deployment) -> Result<(LoadedInput, Option<Unusable>), Unusable> {
    let given = read_all(paths, deployment)?;
    let is_empty = !deployment.allow_empty && contains_no_resource(&given.inputs);
    let names: Vec<&str> = given.inputs.inputs.iter().map(|input| input.name.as_str()).collect();
    let why = is_empty.then(|| Unusable(nothing_in(&names)));
    Ok((given, why))
}

fn read_all(paths: &[PathBuf], deployment: &Deployment) -> Result<LoadedInput, Unusable> {
    if let [one] = paths
        && let Some(link) = one.to_str().filter(|text| text.contains("://") && text.contains('#'))
    {
        let snapshot = share::open(link).ok_or("there is no snapshot in the link")?;
        return Ok(LoadedInput::opened(&snapshot.map_err(|why| format!("the link {why}"))?, deployment));
    }
    let mut reader = Reader::new(deployment)?;
    reader.all(paths)?;
    let inputs = &reader.inputs;
    let snapshots: Vec<&Input> = inputs.inputs.iter().filter(|input| Snapshot::is_one(&input.text)).collect();
    match (&snapshots[..], inputs.inputs.len()) {
        ([], _) => LoadedInput::read(reader, deployment),
        ([one], 1) => {
            let snapshot = Snapshot::read(&one.text).map_err(|why| format!("{} {why}", one.name))?;
            Ok(LoadedInput::opened(&snapshot, deployment))
        }
        ([one, ..], _) => Err(format!("{} is a snapshot: it contains all its inputs, and cannot be read together with others", one.name).into()),
    }
}

/// Returns why an input without resources is refused.
fn nothing_in(names: &[&str]) -> String {
    let place = match names {
        [STDIN] => "on standard input".into(),
        [one] => format!("in {one}"),
        names => format!("in any of {} files", names.len()),
    };
    format!("there is no resource {place}: the program that writes it may have failed; --allow-empty accepts it")
}

/// Reads a file, or the files of a folder, from a git revision.
pub fn revision(revision: &str, path: &str, deployment: &Deployment) -> Result<LoadedInput, Unusable> {
    let checkout = git::Checkout::of(revision, path)?;
    let mut reader = Reader::new(deployment)?.below(checkout.folder(), revision);
    reader.path(&checkout.path())?;
    LoadedInput::read(reader, deployment)
}

/// Reads several paths from a git revision; paths that the revision does not have are left out. Returns nothing if it has none of them.
pub fn at_revision(revision: &str, paths: &[PathBuf], deployment: &Deployment) -> Result<Option<LoadedInput>, Unusable> {
    git::verify(revision)?;
    let here = [PathBuf::from(".")];
    let mut checkouts = Vec::new();
    for path in if paths.is_empty() { &here[..] } else { paths } {
        let text = path.to_str().ok_or("a path is not UTF-8")?;
        let relative = if path.is_absolute() { git::from_current_folder(path)? } else { format!("./{text}") };
        checkouts.extend(git::Checkout::if_there(revision, &relative)?);
    }
    let Some(first) = checkouts.first() else { return Ok(None) };
    let mut reader = Reader::new(deployment)?;
    for checkout in &checkouts {
        reader = reader.below(checkout.folder(), revision);
        reader.path(&checkout.path())?;
    }
    let reader = reader.below(first.folder(), revision);
    if reader.inputs.inputs.is_empty() { Ok(None) } else { LoadedInput::read(reader, deployment).map(Some) }
}

/// The text of one file, or of standard input.
pub fn text(path: &Path) -> Result<String, Unusable> {
    let mut reader = Reader::default();
    reader.path(path)?;
    Ok(reader.inputs.inputs.first().map(|input| input.text.to_string()).unwrap_or_default())
}
