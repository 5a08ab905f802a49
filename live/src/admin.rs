//! What an Envoy on this machine says of itself at its admin interface.
//!
//! What must not be here: what it means.

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::HOST;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use std::error::Error;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;
use tokio::net::TcpStream;

/// How long it may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest answer that is read, in bytes.
const LARGEST: usize = 256 << 20;

/// The text of `/config_dump`, endpoints included.
///
/// # Errors
///
/// In one sentence: the address is not of this machine, or nobody answers there as Envoy does.
pub async fn config_dump(address: &str) -> Result<String, String> {
    let at = on_this_machine(address)?;
    let asked = tokio::time::timeout(PATIENCE, get(at, "/config_dump?include_eds")).await;
    let answer = asked.map_err(|_| format!("{address} does not answer within {} s", PATIENCE.as_secs()))?;
    let (status, body) = answer.map_err(|error| format!("no Envoy answers at {address}: {error}"))?;
    let text = String::from_utf8_lossy(&body);
    if status == StatusCode::OK && text.trim_start().starts_with('{') {
        return Ok(text.into_owned());
    }
    Err(format!("what answers at {address} is no admin interface of Envoy"))
}

/// The socket of an address that only this machine has: a page must not reach others through us.
fn on_this_machine(address: &str) -> Result<SocketAddr, String> {
    let wrong = || format!("`{address}` is not an address: say HOST:PORT");
    let at = address.trim().to_socket_addrs().map_err(|_| wrong())?.next().ok_or_else(wrong)?;
    if at.ip().is_loopback() { Ok(at) } else { Err(format!("{address} is not on this machine: forward its port here first")) }
}

async fn get(at: SocketAddr, path: &str) -> Result<(StatusCode, Bytes), Box<dyn Error + Send + Sync>> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(TcpStream::connect(at).await?)).await?;
    let connection = tokio::spawn(connection);
    let request = Request::get(path).header(HOST, at.to_string()).body(Empty::<Bytes>::new())?;
    let answer = sender.send_request(request).await?;
    let status = answer.status();
    let body = Limited::new(answer.into_body(), LARGEST).collect().await?.to_bytes();
    connection.abort();
    Ok((status, body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    async fn answering(text: &'static str) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let _ = stream.read(&mut [0; 512]).await;
            stream.write_all(text.as_bytes()).await.expect("it is written");
        });
        address
    }

    #[tokio::test]
    async fn only_envoys_of_this_machine_are_asked() {
        let dump = answering("HTTP/1.0 200 OK\r\n\r\n{\"configs\":[]}").await;
        assert_eq!(config_dump(&dump).await.as_deref(), Ok("{\"configs\":[]}"));
        let chunked = answering("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"con\r\n9\r\nfigs\":[]}\r\n0\r\n\r\n").await;
        assert_eq!(config_dump(&chunked).await.as_deref(), Ok("{\"configs\":[]}"));
        let other = answering("HTTP/1.0 404 Not Found\r\n\r\nno").await;
        assert!(config_dump(&other).await.is_err_and(|why| why.contains("no admin interface")));
        for wrong in ["", "8001", "192.0.2.1:80", "nowhere"] {
            assert!(config_dump(wrong).await.is_err(), "{wrong}");
        }
    }
}
