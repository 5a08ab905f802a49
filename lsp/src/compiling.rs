//! Compiles the folders of the workspace, each with a memory.
//!
//! Does not read files; see `folder`. Does not answer requests; see `server`.

use crate::analysis::Analysis;
use chancery_core::check::check;
use chancery_core::compilation::Options;
use chancery_core::compile::{Compiler, EmittedByGateway};
use chancery_core::diagnostic::Policy;
use chancery_core::dialect;
use chancery_core::explain::findings;
use chancery_core::resource::Inputs;
use chancery_workspace::threads::Threads;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// An input to compile.
pub struct Job {
    /// The number of the folder.
    pub folder: usize,
    pub root: PathBuf,
    pub version: u64,
    pub inputs: Inputs,
    pub paths: Vec<PathBuf>,
    pub options: Options,
}

/// The result of a job.
pub struct Done {
    pub folder: usize,
    pub analysis: Arc<Analysis>,
}

/// Returns the time in seconds since 1970, if it is known.
pub type Clock = fn() -> Option<i64>;

/// The compilers of all folders.
pub struct Memories {
    by_folder: BTreeMap<usize, Memory>,
    clock: Clock,
}

impl Memories {
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self { by_folder: BTreeMap::new(), clock }
    }

    /// Compiles an input. Reuses parts of the folder's last compile.
    pub fn compile(&mut self, job: Job) -> Done {
        let folder = job.folder;
        let memory = self.by_folder.entry(folder).or_insert_with(Memory::new);
        Done { folder, analysis: Arc::new(memory.compile(job, (self.clock)())) }
    }
}

/// A compiler with its memory.
struct Memory {
    compiler: Compiler,
    /// Also read by requests.
    emitted: Arc<Mutex<EmittedByGateway>>,
}

impl Memory {
    fn new() -> Self {
        let compiler = Compiler::new(dialect::ALL).with_executor(&Threads).without_statuses();
        Self { compiler, emitted: Arc::default() }
    }

    fn compile(&mut self, job: Job, now: Option<i64>) -> Analysis {
        // The compiler needs its emitted resources to drop those of removed gateways.
        let mut shared = self.emitted.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *shared, &mut self.compiler.emitted);
        let mut compilation = self.compiler.compile(&job.inputs, &job.options);
        let policy = Policy { at: job.options.findings.at.or(now), ..job.options.findings.clone() };
        check(&mut compilation, &policy, &mut self.compiler.emitted, &Threads);
        std::mem::swap(&mut *shared, &mut self.compiler.emitted);
        drop(shared);
        let found = findings(&compilation, &compilation.positions());
        Analysis::new(job.root, job.version, (compilation, job.options), found, job.paths, self.emitted.clone())
    }
}
