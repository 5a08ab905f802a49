//! Sends one HTTP/1.1 request on a connection, and reads its answer.

use super::reach::{Reach, Reason, Stream};
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::HOST;
use hyper::{HeaderMap, Request, StatusCode};
use hyper_util::rt::TokioIo;
use std::time::Duration;

/// The time limit for an answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// An answer.
#[derive(Debug)]
pub struct Response {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The body, or its beginning.
    pub body: Vec<u8>,
    /// Whether the body is longer.
    pub is_cut: bool,
}

/// Requests a path of an admin interface.
///
/// # Errors
///
/// One sentence: the answer is missing, late, or longer than `largest` bytes.
pub async fn get(reach: &Reach, path: &str, largest: usize) -> Result<Response, String> {
    let port = reach.admin_port();
    let (stream, reason) = reach.connect(port).await?.split();
    // Envoy's admin interface accepts any host. An interface that refuses foreign pages accepts the address.
    let request = Request::get(path).header(HOST, format!("localhost:{port}")).body(Empty::new()).map_err(|error| error.to_string())?;
    let answer = exchange(stream, reason, request, largest).await.map_err(|why| format!("no Envoy answers at {}: {why}", named(reach)))?;
    if answer.is_cut {
        return Err(format!("the answer of {} to {path} has more than {} MB, and is not read", named(reach), largest >> 20));
    }
    Ok(answer)
}

fn named(reach: &Reach) -> String {
    match reach {
        Reach::Local(_) => reach.name(),
        Reach::Pod { port, .. } => format!("{}, port {port}", reach.name()),
    }
}

/// Sends a request, and reads at most this many bytes of the answer's body.
///
/// # Errors
///
/// The reason for a missing answer, as the end of a sentence.
pub async fn exchange(stream: Box<dyn Stream>, reason: Reason, request: Request<Empty<Bytes>>, largest: usize) -> Result<Response, String> {
    match tokio::time::timeout(PATIENCE, exchanged(stream, request, largest)).await {
        Ok(Ok(response)) => Ok(response),
        // If the port-forward reports a reason, the user can act on it.
        Ok(Err(error)) => Err(reason.text().await.map_or(error, |why| why.trim().to_owned())),
        Err(_) => Err(format!("it does not answer within {} s", PATIENCE.as_secs())),
    }
}

async fn exchanged(stream: Box<dyn Stream>, request: Request<Empty<Bytes>>, largest: usize) -> Result<Response, String> {
    let text = |error: hyper::Error| {
        let mut source: &dyn std::error::Error = &error;
        while let Some(inner) = source.source() {
            source = inner;
        }
        source.to_string()
    };
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(text)?;
    let connection = tokio::spawn(connection);
    let answer = sender.send_request(request).await.map_err(text)?;
    let (parts, mut incoming) = answer.into_parts();
    let mut response = Response { status: parts.status, headers: parts.headers, body: Vec::new(), is_cut: false };
    while let Some(frame) = incoming.frame().await {
        let Ok(data) = frame.map_err(text)?.into_data() else { continue };
        let room = largest - response.body.len();
        response.body.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            response.is_cut = true;
            break;
        }
    }
    connection.abort();
    Ok(response)
}
