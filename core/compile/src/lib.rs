//! Compiles text to gateways, with a memory.
//!
//! A [`Compiler`] keeps the results of earlier compiles; a compile from scratch has an empty memory, so the result is the same either way. The host
//! lists the dialects; those of the input are detected ([`detect`]), and each gets its own side, since each has its own controller. The sides share
//! the cluster, and possibly hosts and ports.
#![no_std]

extern crate alloc;

mod assume;
mod conflict;
mod detect;
mod envoy_input;
#[cfg(test)]
mod tests;
mod unsupported;

pub use detect::{Detection, detect, is_claimed, recognise};
pub use envoy_input::{ENVOY, is_envoy_config};
pub use unsupported::{UnsupportedInput, unsupported_input};

use detect::{ClaimMemory, detect_with};

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use chancery_base::compilation::{Answers, Compilation, Dialect, Draft, GatewayId, GatewayRef, Ledger, Options, Purpose, Side, Task, as_written};
use chancery_base::diagnostic::{Diagnostic, Findings, codes};
use chancery_base::executor::{Executor, Sequential};
use chancery_base::read::{self, DocumentCache, ReadOptions};
use chancery_base::resource::{Inputs, Objects, ResourceKey};
use chancery_envoy::emit::Emitted;
use core::any::Any;

/// Compiles, and remembers.
///
/// ```
/// use chancery_base::compilation::Options;
/// use chancery_compile::Compiler;
/// use chancery_base::resource::Inputs;
///
/// let mut compiler = Compiler::new(&[&chancery_ambassador::DIALECT]);
/// for timeout in [3000, 4000] {
///     let text = format!("\
/// apiVersion: getambassador.io/v3alpha1
/// kind: Mapping
/// metadata: {{name: quote}}
/// spec: {{hostname: \"*\", prefix: /quote/, service: quote, timeout_ms: {timeout}}}
/// ");
///     let compilation = compiler.compile(&Inputs::one("quote.yaml", text.as_str()), &Options::default());
///     assert_eq!(compilation.sides.len(), 1);
/// }
/// ```
pub struct Compiler {
    dialects: Vec<&'static Dialect>,
    executor: &'static dyn Executor,
    /// Whether it compiles more than once.
    remembers: bool,
    documents_only: bool,
    statuses: bool,
    documents: DocumentCache,
    claims: ClaimMemory,
    /// By dialect name and set of objects.
    memories: BTreeMap<(&'static str, ObjectSet), Box<dyn Any + Send>>,
    /// Emitted resources, for back ends.
    pub emitted: EmittedByGateway,
}

/// The objects that a dialect receives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ObjectSet {
    /// All objects, including assumed ones.
    WithAssumed,
    /// Only the input's objects.
    AsWritten,
}

/// The resources emitted for each gateway, so that unchanged ones are not emitted again.
#[derive(Default)]
pub struct EmittedByGateway {
    gateways: BTreeMap<(&'static str, GatewayId), Emitted>,
}

impl EmittedByGateway {
    /// The emitted resources of a gateway.
    pub fn of(&mut self, gateway: GatewayRef<'_>) -> &mut Emitted {
        self.gateways.entry((gateway.side.dialect.name, gateway.id.clone())).or_default()
    }

    /// Drops gateways that no longer exist.
    fn drop_removed_gateways(&mut self, compilation: &Compilation) {
        let is_there = |(dialect, id): &(&'static str, GatewayId)| {
            compilation.sides.iter().any(|side| side.dialect.name == *dialect && side.gateways.iter().any(|gateway| gateway.id == *id))
        };
        self.gateways.retain(|key, _| is_there(key));
    }
}

impl Compiler {
    /// A compiler with an empty memory for these dialects.
    pub fn new(dialects: &[&'static Dialect]) -> Self {
        Self {
            dialects: dialects.to_vec(),
            executor: &Sequential,
            remembers: true,
            documents_only: false,
            statuses: true,
            documents: DocumentCache::new(),
            claims: ClaimMemory::default(),
            memories: BTreeMap::new(),
            emitted: EmittedByGateway::default(),
        }
    }

    /// Uses the host's threads. The result is the same.
    #[must_use]
    pub fn with_executor(self, executor: &'static dyn Executor) -> Self {
        Self { executor, ..self }
    }

    /// Keeps nothing for a next compile. The result is the same.
    ///
    /// For hosts that compile once. [`Compiler::emitted`] is still kept.
    #[must_use]
    pub fn without_memory(self) -> Self {
        Self { remembers: false, ..self }
    }

    /// Uses even less memory: the host only needs the proxies' documents, so data for views (objects with trees and places, the loaded
    /// configuration) may be dropped during the compile. The documents are the same; views show less or nothing.
    ///
    /// Objects are kept if some are assumed to exist or the input has several dialects, since they are needed again.
    #[must_use]
    pub fn for_documents(self) -> Self {
        Self { documents_only: true, remembers: false, ..self }
    }

    /// Skips the statuses that controllers write. With assumed objects, a controller must run again for its statuses, since it writes them without
    /// the assumed objects. Everything else is the same.
    #[must_use]
    pub fn without_statuses(self) -> Self {
        Self { statuses: false, ..self }
    }

    /// The executor for parallel work.
    pub fn executor(&self) -> &'static dyn Executor {
        self.executor
    }

    pub fn dialects(&self) -> &[&'static Dialect] {
        &self.dialects
    }

    /// Compiles for the chosen dialect, or for each dialect of the input in the order of the list; there is at least one side, unless there are no
    /// dialects. A conflict between two controllers is reported once, on the later side if the input contains both origins.
    pub fn compile(&mut self, inputs: &Inputs, options: &Options) -> Compilation {
        let asked = options.dialect.as_ref().and_then(|name| Dialect::named(name, &self.dialects));
        let detection = if asked.is_none() { detect_with(inputs, &self.dialects, &mut self.claims) } else { Detection::default() };
        let dialects = asked.map_or_else(|| detection.dialects(), |asked| Vec::from([asked]));
        // Without a chosen or detected dialect, the input may be of another program.
        let (readable, unsupported) = match asked.is_none() && detection.found.is_empty() {
            true => unsupported::without_unsupported(inputs, &self.dialects),
            false => (inputs.clone(), Vec::new()),
        };
        let reading = dialects.iter().map(|dialect| (dialect.read_options)(options)).reduce(ReadOptions::join).unwrap_or_default();
        let (mut objects, found) = read::read_with(&readable, &reading, &mut self.documents, self.executor);
        let mut diagnostics = unsupported;
        diagnostics.extend(found.into_vec());
        diagnostics.extend(assume::assume(&mut objects, &dialects, options, &reading, &mut self.documents));
        diagnostics.extend(detection.notice(&objects, &self.dialects));
        if !self.remembers {
            (self.documents, self.claims) = (DocumentCache::new(), ClaimMemory::default());
        }
        let sides = dialects.iter().map(|dialect| self.side(&mut objects, &diagnostics, options, dialect, dialects.len() == 1)).collect();
        if !self.remembers {
            self.memories.clear();
        }
        let mut compilation = Compilation { inputs: inputs.clone(), objects, diagnostics, sides };
        between_sides(&mut compilation);
        self.emitted.drop_removed_gateways(&compilation);
        compilation
    }

    /// The result of a dialect's controller. What it writes into the cluster ignores assumed objects.
    fn side(&mut self, objects: &mut Objects, found: &[Diagnostic], options: &Options, dialect: &'static Dialect, alone: bool) -> Side {
        let documents_only = self.documents_only && alone && objects.assumed().next().is_none();
        let purpose = if documents_only { Purpose::Documents } else { Purpose::All };
        let mut side = self.side_of(objects, found, options, dialect, ObjectSet::WithAssumed, purpose);
        // A dialect may assume parts of its controller too.
        if objects.assumed().next().is_some() || side.diagnostics.iter().any(|finding| *finding.code == codes::ASSUMED_OBJECT) {
            side.diagnostics.retain(|finding| !finding.place.object().is_some_and(|object| objects.is_assumed(object)));
            if self.documents_only {
                side.answers = Answers::default();
            } else if self.statuses && side.answers.statuses.is_some() || side.answers.created.is_some() {
                let written = &mut objects.written();
                side.answers = self.side_of(written, found, &as_written(options), dialect, ObjectSet::AsWritten, Purpose::Answers).answers;
            }
        }
        if !self.statuses {
            side.answers.statuses = None;
        }
        side
    }

    fn side_of(
        &mut self,
        objects: &mut Objects,
        found: &[Diagnostic],
        options: &Options,
        dialect: &'static Dialect,
        given: ObjectSet,
        purpose: Purpose,
    ) -> Side {
        let memory = self.memories.entry((dialect.name, given)).or_insert_with(dialect.memory);
        // Stages may use and extend the earlier findings.
        let mut diagnostics: Findings = found.iter().cloned().collect();
        let mut ledger = Ledger::new(objects);
        let (executor, remembers) = (self.executor, self.remembers);
        let task = Task { objects, options, executor, memory: &mut **memory, remembers, purpose, ledger: &mut ledger, sink: &mut diagnostics };
        let Draft { stages, answers, gateways } = (dialect.compile)(task);
        let diagnostics = diagnostics.into_iter().skip(found.len()).collect();
        Side { dialect, options: options.clone(), stages, ledger, answers, gateways, diagnostics }
    }
}

/// Adds findings that need several sides.
fn between_sides(compilation: &mut Compilation) {
    let dialects: Vec<&'static Dialect> = compilation.sides.iter().map(|side| side.dialect).collect();
    for at in 0..dialects.len() {
        // Another controller may read what this one does not.
        let is_read = |key: &ResourceKey| dialects.iter().enumerate().any(|(other, dialect)| other != at && dialect.reads(key));
        if let Some(side) = compilation.sides.get_mut(at) {
            side.diagnostics.retain(|finding| *finding.code != codes::UNKNOWN_KIND || !finding.resource.as_ref().is_some_and(is_read));
        }
        for earlier in 0..at {
            let found = conflict::between(compilation, earlier, at);
            for (side, finding) in found {
                compilation.sides.get_mut(side).into_iter().for_each(|side| side.diagnostics.push(finding.clone()));
            }
        }
    }
}

/// Compiles without a memory.
///
/// ```
/// use chancery_compile::compile;
/// use chancery_base::compilation::Options;
/// use chancery_base::resource::Inputs;
///
/// let inputs = Inputs::one("listener.yaml", "\
/// apiVersion: getambassador.io/v3alpha1
/// kind: Listener
/// metadata: {name: http}
/// spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
/// ");
/// let compilation = compile(&inputs, &Options::default(), &[&chancery_ambassador::DIALECT]);
/// let gateway = compilation.gateways().next().expect("Emissary runs one gateway");
/// assert_eq!(gateway.side.dialect.name, "ambassador");
/// assert!(gateway.ir.listeners.iter().any(|listener| listener.address.port.value == 8080));
/// ```
pub fn compile(inputs: &Inputs, options: &Options, dialects: &[&'static Dialect]) -> Compilation {
    Compiler::new(dialects).without_memory().compile(inputs, options)
}

#[cfg(test)]
mod testing {
    use chancery_base::compilation::Dialect;

    pub static ALL: &[&Dialect] = &[&chancery_ambassador::DIALECT, &chancery_contour::DIALECT, &chancery_agic::DIALECT, &chancery_consul::DIALECT];
}
