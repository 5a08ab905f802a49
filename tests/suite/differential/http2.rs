//! A request over HTTP/2 with prior knowledge.
//!
//! What must not be here: what is asked, and what is expected.

use super::envoy::{Answer, Echo};
use chancery_core::simulate::Request;
use std::future::{Future, poll_fn};
use std::time::Duration;

/// Sends it. `None` where it cannot be written as a request of HTTP/2.
pub fn ask(request: &Request) -> Option<Answer> {
    let uri = http::Uri::builder().scheme("http").authority(request.authority.as_str()).path_and_query(request.path.as_str()).build().ok()?;
    let mut head = http::Request::builder().version(http::Version::HTTP_2).method(request.method.as_str()).uri(uri);
    for (name, value) in request.headers.iter() {
        head = head.header(name, value);
    }
    let head = head.body(()).ok()?;
    // What parsing makes another text of is not what should be asked.
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

/// Sends it, and reads all that comes back. `None` where the connection or the stream was closed without an answer.
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

/// What `of` comes to, while the connection is kept going.
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
