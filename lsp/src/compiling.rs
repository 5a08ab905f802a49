//! Compiles the folders of the workspace on a separate thread, each with a memory. Only the newest input of a folder is compiled.
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
use chancery_live::threads::Threads;
use crossbeam_channel::{Receiver, Sender};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

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

    fn compile(&mut self, job: Job) -> Analysis {
        // The compiler needs its emitted resources to drop those of removed gateways.
        let mut shared = self.emitted.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *shared, &mut self.compiler.emitted);
        let mut compilation = self.compiler.compile(&job.inputs, &job.options);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|since| i64::try_from(since.as_secs()).ok());
        let policy = Policy { at: job.options.findings.at.or(now), ..job.options.findings.clone() };
        check(&mut compilation, &policy, &mut self.compiler.emitted, &Threads);
        std::mem::swap(&mut *shared, &mut self.compiler.emitted);
        drop(shared);
        let found = findings(&compilation, &compilation.positions());
        Analysis::new(job.root, job.version, (compilation, job.options), found, job.paths, self.emitted.clone())
    }
}

/// Prepares compiles for requests, on a separate thread: only the newest, so that typing does not wait.
pub fn prepare(compiled: &Receiver<Arc<Analysis>>) {
    while let Ok(first) = compiled.recv() {
        let newest = compiled.try_iter().last().unwrap_or(first);
        newest.prepare();
    }
}

/// Compiles until the sender of jobs is gone.
pub fn run(jobs: &Receiver<Job>, done: &Sender<Done>, compiled: &Sender<Arc<Analysis>>) {
    let mut memories: BTreeMap<usize, Memory> = BTreeMap::new();
    let mut waiting: BTreeMap<usize, Job> = BTreeMap::new();
    loop {
        if waiting.is_empty() {
            match jobs.recv() {
                Ok(job) => drop(waiting.insert(job.folder, job)),
                Err(_) => return,
            }
        }
        // A newer input replaces an older one.
        waiting.extend(jobs.try_iter().map(|job| (job.folder, job)));
        let Some((folder, job)) = waiting.pop_first() else { continue };
        let analysis = memories.entry(folder).or_insert_with(Memory::new).compile(job);
        let analysis = Arc::new(analysis);
        if done.send(Done { folder, analysis: analysis.clone() }).is_err() {
            return;
        }
        if waiting.is_empty() && jobs.is_empty() {
            drop(compiled.send(analysis));
        }
    }
}
