//! Sources, intake and worker, running: what `watch` and `serve` have in common.
//!
//! What must not be here: who gets builds.

use crate::Failure;
use crate::event::Events;
use crate::sources::recording::Recorder;
use crate::sources::{Outlet, Source, States};
use crate::worker::build::{Build, Builder};
use crate::worker::intake::Intake;
use crate::worker::metrics::Metrics;
use chancery_core::compilation::Options;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// What runs.
pub struct Engine {
    /// Where sources put what they find.
    pub intake: Intake,
    /// What happens.
    pub events: Events,
    /// How sources are.
    pub states: States,
    /// What is counted.
    pub metrics: Metrics,
    sources: JoinSet<Result<(), Failure>>,
    worker: oneshot::Receiver<()>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// How it runs.
pub struct Settings {
    /// How inputs are compiled.
    pub options: Options,
    /// The least time between two builds.
    pub spacing: Duration,
    /// Where all that sources tell is written down.
    pub recorder: Option<Recorder>,
    /// Where events go.
    pub events: Events,
}

impl Engine {
    /// Starts. `publish` gets each build on the worker's thread; where it fails, the build is offered again.
    ///
    /// # Errors
    ///
    /// The system gives no thread.
    pub fn start(
        settings: Settings,
        sources: Vec<Box<dyn Source>>,
        mut publish: impl FnMut(&Arc<Build>) -> Result<(), String> + Send + 'static,
    ) -> Result<Self, Failure> {
        let metrics = Metrics::default();
        let intake = Intake::new(sources.len(), metrics.clone());
        intake.set_source_names(sources.iter().map(|source| source.name()).collect());
        let states = States::default();
        let mut tasks = JoinSet::new();
        for (number, source) in sources.into_iter().enumerate() {
            let outlet = Outlet {
                number,
                name: source.name(),
                intake: intake.clone(),
                events: settings.events.clone(),
                states: states.clone(),
                recorder: settings.recorder.clone(),
            };
            tasks.spawn(source.run(outlet));
        }
        let (died, worker) = oneshot::channel();
        let (work, counted) = (intake.clone(), metrics.clone());
        let mut builder = Builder::new(settings.options);
        let run = move || {
            crate::worker::run(&work, &mut builder, settings.spacing, &counted, &mut publish);
            // Large structures are not taken apart when the process ends.
            std::mem::forget(builder);
            drop(died);
        };
        // Deep inputs are compiled by functions that call themselves, within limits that the main thread's stack is made for.
        let thread = std::thread::Builder::new().name("worker".into()).stack_size(16 << 20).spawn(run);
        let thread = thread.map_err(|error| format!("cannot start the worker: {error}"))?;
        Ok(Self { intake, events: settings.events, states, metrics, sources: tasks, worker, thread: Some(thread) })
    }

    /// Waits until something dies that should live. A source that has an end may end; `None` when all have.
    pub async fn died(&mut self) -> Option<Failure> {
        loop {
            tokio::select! {
                _ = &mut self.worker => return Some("the worker has stopped".into()),
                ended = self.sources.join_next() => match ended {
                    None => return None,
                    Some(Ok(Ok(()))) => {}
                    Some(Ok(Err(failure))) => return Some(failure),
                    Some(Err(error)) => return Some(format!("a source has stopped: {error}").into()),
                }
            }
        }
    }

    /// Waits until everything that came is built, and ends.
    pub fn stop(&mut self) {
        self.intake.close();
        self.sources.abort_all();
        if let Some(thread) = self.thread.take() {
            // A worker that panicked has said so itself.
            let _ = thread.join();
        }
    }
}
