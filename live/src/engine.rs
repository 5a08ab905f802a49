//! Runs sources, intake and worker: the common part of `watch` and `serve`.

use crate::Failure;
use crate::event::Events;
use crate::replicas::Replicas;
use crate::sources::recording::Recorder;
use crate::sources::{Outlet, Source, States};
use crate::worker::build::{Build, Builder};
use crate::worker::intake::Intake;
use crate::worker::metrics::Metrics;
use chancery_core::compilation::Options;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// The running parts.
pub struct Engine {
    /// Holds the inputs of sources.
    pub intake: Intake,
    /// The timeline.
    pub events: Events,
    /// The states of sources.
    pub states: States,
    /// The counters.
    pub metrics: Metrics,
    sources: JoinSet<Result<(), Failure>>,
    worker: oneshot::Receiver<()>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// How long the last build may take when the process ends.
const GRACE: Duration = Duration::from_secs(5);

/// The settings of an engine.
pub struct Settings {
    /// How inputs are compiled.
    pub options: Options,
    /// The shortest time between two builds.
    pub spacing: Duration,
    /// The recording of all changes of sources, if any.
    pub recorder: Option<Recorder>,
    /// Receives all events.
    pub events: Events,
}

impl Engine {
    /// Starts the parts. `publish` gets each build on the worker's thread. If it fails, the worker offers the build
    /// again.
    ///
    /// # Errors
    ///
    /// The system gives no thread.
    pub fn start(
        settings: Settings,
        sources: Vec<Box<dyn Source>>,
        publish: impl FnMut(&Arc<Build>) -> Result<(), String> + Send + 'static,
    ) -> Result<Self, Failure> {
        Self::start_replica(settings, sources, Replicas::default(), publish)
    }

    /// Starts the parts of a replica, which builds its own gateways only.
    ///
    /// # Errors
    ///
    /// The system gives no thread.
    pub fn start_replica(
        settings: Settings,
        sources: Vec<Box<dyn Source>>,
        replicas: Replicas,
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
        let (ended, worker) = oneshot::channel();
        let (work, counted) = (intake.clone(), metrics.clone());
        let mut builder = Builder::new(settings.options).with_replicas(replicas);
        let run = move || {
            crate::worker::run(&work, &mut builder, settings.spacing, &counted, &mut publish);
            // The process ends: freeing large structures one by one would only take time.
            std::mem::forget(builder);
            drop(ended);
        };
        // Recursion on deep inputs is bounded for a stack of the main thread's size.
        let thread = std::thread::Builder::new().name("worker".into()).stack_size(16 << 20).spawn(run);
        let thread = thread.map_err(|error| format!("cannot start the worker: {error}"))?;
        Ok(Self { intake, events: settings.events, states, metrics, sources: tasks, worker, thread: Some(thread) })
    }

    /// Waits until a part fails. Returns `None` when all sources have ended.
    pub async fn wait_for_end(&mut self) -> Option<Failure> {
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

    /// Builds the remaining changes, and stops. A build that takes longer than [`GRACE`] ends with the process.
    pub fn stop(&mut self) {
        self.intake.close();
        self.sources.abort_all();
        let end = Instant::now() + GRACE;
        while self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
        match self.thread.take() {
            Some(thread) if thread.is_finished() => {
                // A worker that panicked has reported that itself.
                let _ = thread.join();
            }
            Some(_) => tracing::warn!("the last build is not done, and ends with the process"),
            None => {}
        }
    }
}
