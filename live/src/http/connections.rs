//! How connections of people and programs are taken: so many at a time, and each for as long as it asks for something.
//!
//! Whoever connects and says nothing, or something that is no HTTP, holds up a place for a limited time only. What must not be here: what is answered.

use crate::Failure;
use crate::ports::Port;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// Connections that a server has at a time; others wait.
const MOST: usize = 512;
/// How long a client may take to say what it asks for.
const PATIENCE: Duration = Duration::from_secs(10);
/// The pause where the system gives no connection, as too many files are open.
const PAUSE: Duration = Duration::from_millis(50);
/// The most bytes of a request's head.
const LARGEST_HEAD: usize = 64 << 10;

/// Serves, until `stop`; answers that are on their way are ended first.
///
/// # Errors
///
/// The number of connections can no longer be counted, as the program ends.
pub async fn serve(mut port: Port, router: Router, mut stop: watch::Receiver<bool>) -> Result<(), Failure> {
    let places = Arc::new(Semaphore::new(MOST));
    let open = GracefulShutdown::new();
    loop {
        let (place, accepted) = tokio::select! {
            next = next(&places, &mut port) => next?,
            // An error means that the sender is gone: stop as well.
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let Ok(stream) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // A socket that cannot be set so works all the same.
        let _ = stream.set_nodelay(true);
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(LARGEST_HEAD);
        let connection = open.watch(http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone())));
        tokio::spawn(async move {
            // A client that talks nonsense, or goes in the middle, ends its own connection only.
            let _ = connection.await;
            drop(place);
        });
    }
    open.shutdown().await;
    Ok(())
}

/// The next connection, once there is a place for it.
async fn next(places: &Arc<Semaphore>, port: &mut Port) -> Result<(OwnedSemaphorePermit, std::io::Result<TcpStream>), Failure> {
    let place = places.clone().acquire_owned().await.map_err(|error| error.to_string())?;
    Ok((place, port.accept().await))
}
