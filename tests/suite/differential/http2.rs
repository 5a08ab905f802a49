//! Sends a request over HTTP/2 with prior knowledge.
//!
//! Does not choose requests or compare answers.

use super::envoy::{Answer, Echo};
use chancery_core::simulate::Request;
use std::future::{Future, poll_fn};
use std::time::Duration;

/// Sends the request. Returns `None` if HTTP/2 cannot express it.
pub fn ask(request: &Request) -> Option<Answer> {
    let uri = http::Uri::builder().scheme("http").authority(request.authority.as_str()).path_and_query(request.path.as_str()).build().ok()?;
    let mut head = http::Request::builder().version(http::Version::HTTP_2).method(request.method.as_str()).uri(uri);
    for (name, value) in request.headers.iter() {
        head = head.header(name, value);
    }
    let head = head.body(()).ok()?;
    // If parsing changes the authority or the path, the sent request would differ from the intended one.
    let is_as_asked = head.uri().authority().is_some_and(|is| is.as_str() == request.authority)
        && head.uri().path_and_query().is_some_and(|is| is.as_str() == request.path);
    if !is_as_asked {
        return None;
    }
    let port = u16::try_from(request.port?).ok()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let closed = Answer { status: None, headers: Vec::new(), echo: None };
        tokio::time::timeout(Duration::from_secs(20), exchange(port, head)).await.ok().flatten().or(Some(closed))
    })
}

/// Sends the request, and reads the whole response. Returns `None` if the connection or stream was closed without a response.
async fn exchange(port: u16, head: http::Request<()>) -> Option<Answer> {
    let stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.ok()?;
    let (client, connection) = h2::client::handshake(stream).await.ok()?;
    alongside(connection, async {
        let (answer, _) = client.ready().await.ok()?.send_request(head, true).ok()?;
        let (head, mut body) = answer.await.ok()?.into_parts();
        let mut text = Vec::new();
        while let Some(Ok(part)) = body.data().await {
            let _ = body.flow_control().release_capacity(part.len());
            text.extend_from_slice(&part);
        }
        let headers = head.headers.iter().map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
        Some(Answer { status: Some(head.status.as_u16().into()), headers: headers.collect(), echo: Echo::read(&String::from_utf8_lossy(&text)) })
    })
    .await
}

/// Runs `of` while it keeps the connection running.
pub async fn alongside<T>(connection: impl Future, of: impl Future<Output = T>) -> T {
    let (mut connection, mut of) = (Box::pin(connection), Box::pin(of));
    let mut is_open = true;
    poll_fn(|context| {
        if is_open && connection.as_mut().poll(context).is_ready() {
            is_open = false;
        }
        of.as_mut().poll(context)
    })
    .await
}
