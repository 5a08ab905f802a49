//! What an Envoy on this machine says of itself at its admin interface.
//!
//! What must not be here: what it means.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How long it may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest answer that is read.
const LARGEST: u64 = 256 << 20;

/// The text of `/config_dump`, endpoints included.
///
/// # Errors
///
/// In one sentence: the address is not of this machine, or nobody answers there as Envoy does.
pub async fn config_dump(address: &str) -> Result<String, String> {
    let at = on_this_machine(address)?;
    let asked = tokio::time::timeout(PATIENCE, get(at, "/config_dump?include_eds")).await;
    let answer = asked.map_err(|_| format!("{address} does not answer within {} s", PATIENCE.as_secs()))?;
    let answer = answer.map_err(|error| format!("no Envoy answers at {address}: {error}"))?;
    let (head, body) = read(&answer).ok_or_else(|| format!("what answers at {address} does not speak HTTP"))?;
    match head.split_whitespace().nth(1) {
        Some("200") if body.trim_start().starts_with('{') => Ok(body),
        _ => Err(format!("what answers at {address} is no admin interface of Envoy")),
    }
}

/// The socket of an address that only this machine has: a page must not reach others through us.
fn on_this_machine(address: &str) -> Result<SocketAddr, String> {
    let wrong = || format!("`{address}` is not an address: say HOST:PORT");
    let at = address.trim().to_socket_addrs().map_err(|_| wrong())?.next().ok_or_else(wrong)?;
    if at.ip().is_loopback() { Ok(at) } else { Err(format!("{address} is not on this machine: forward its port here first")) }
}

async fn get(at: SocketAddr, path: &str) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(at).await?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n").as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(LARGEST).read_to_end(&mut answer).await?;
    Ok(answer)
}

/// Head and body of an answer.
fn read(answer: &[u8]) -> Option<(String, String)> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let (head, body) = (String::from_utf8_lossy(answer.get(..end)?).into_owned(), answer.get(end + 4..)?);
    let is_chunked = head.to_ascii_lowercase().contains("\r\ntransfer-encoding: chunked");
    let body = if is_chunked { unchunked(body)? } else { body.to_vec() };
    Some((head, String::from_utf8_lossy(&body).into_owned()))
}

/// A body that comes in chunks: the length of each stands before it, in hexadecimal.
fn unchunked(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    loop {
        let end = rest.windows(2).position(|two| two == b"\r\n")?;
        let length = std::str::from_utf8(rest.get(..end)?).ok()?.split(';').next()?.trim();
        let length = usize::from_str_radix(length, 16).ok()?;
        rest = rest.get(end + 2..)?;
        if length == 0 {
            return Some(out);
        }
        out.extend_from_slice(rest.get(..length)?);
        rest = rest.get(length.checked_add(2)?..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
