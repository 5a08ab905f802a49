//! Runs `serve` and `watch` in a program: the runtime, the signals that end it, and the thread that writes events.

use crate::event::{Dated, Events};
use crate::serve::{Applying, Servers, Writing};
use crate::sources::Source;
use crate::{Failure, engine};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

/// Shows an event. Returns false if the reader is gone.
pub type Show = Box<dyn FnMut(&Dated) -> bool + Send>;

/// Serves, until the process is stopped.
///
/// # Errors
///
/// See [`crate::serve::serve`].
pub fn serve(
    settings: engine::Settings,
    sources: Vec<Box<dyn Source>>,
    servers: &Servers,
    writing: Option<&Writing>,
    applying: Option<&Applying>,
    show: Show,
) -> Result<(), Failure> {
    let events = settings.events.clone();
    run(&events, show, async { crate::serve::serve(settings, sources, servers, writing, applying, ended()).await })
}

/// Watches until the process is stopped, or until the sources end.
///
/// # Errors
///
/// See [`crate::watch::watch`].
pub fn watch(settings: engine::Settings, sources: Vec<Box<dyn Source>>, with_requests: bool, show: Show) -> Result<(), Failure> {
    let events = settings.events.clone();
    run(&events, show, async { crate::watch::watch(settings, sources, with_requests, ended()).await })
}

/// Runs a future on a runtime with its own thread.
///
/// # Errors
///
/// The future failed, or the system gives no thread.
pub fn wait<T>(of: impl Future<Output = Result<T, String>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    Ok(runtime.block_on(of)?)
}

fn run(events: &Events, mut show: Show, work: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    let mut receiver = events.listen();
    let (done, mut finished) = tokio::sync::oneshot::channel::<()>();
    let handle = runtime.handle().clone();
    // Its own thread, so that a slow reader delays nothing else.
    let writer = std::thread::spawn(move || {
        while let Some(dated) = handle.block_on(next(&mut receiver, &mut finished)) {
            if !show(&dated) {
                std::process::exit(0);
            }
        }
    });
    let outcome = runtime.block_on(work);
    drop(done);
    // A writer that panicked has reported that itself.
    let _ = writer.join();
    // Tasks may be blocked on a disk or on standard input.
    runtime.shutdown_background();
    outcome
}

/// Returns the next event; `None` after the last.
async fn next(receiver: &mut Receiver<Dated>, finished: &mut tokio::sync::oneshot::Receiver<()>) -> Option<Dated> {
    loop {
        tokio::select! {
            biased;
            event = receiver.recv() => match event {
                Ok(dated) => return Some(dated),
                Err(RecvError::Lagged(lost)) => tracing::warn!(lost, "events are not shown: they were not read in time"),
                Err(RecvError::Closed) => return None,
            },
            // A finished receiver panics when it is polled again, and this is the last poll.
            _ = &mut *finished => return None,
        }
    }
}

/// Waits for the signals that end a process.
async fn ended() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut terminate) = signal(SignalKind::terminate()) else { return std::future::pending().await };
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
