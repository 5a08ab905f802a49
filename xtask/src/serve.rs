//! A server for the page, on loopback: files of one folder and nothing else.
//!
//! What must not be here: anything that a page could ask to be done.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::thread;
use std::time::Duration;

/// The port that is tried first.
const PORT: u16 = 8137;

/// Binds to loopback: the usual port, or any that is free.
pub fn bind() -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, PORT)).or_else(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
}

/// Serves until the process ends.
pub fn serve(listener: &TcpListener, folder: &Path) {
    for stream in listener.incoming().flatten() {
        let folder = folder.to_path_buf();
        thread::spawn(move || drop(answer(stream, &folder)));
    }
}

fn answer(mut stream: TcpStream, folder: &Path) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    io::Read::take(&mut reader, 16 << 10).read_line(&mut first)?;
    let mut words = first.split_whitespace();
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let found = file(folder, target).and_then(|path| Some((kind(&path), fs::read(path).ok()?)));
    let (status, kind, body) = match (method, found) {
        ("GET" | "HEAD", Some((kind, body))) => ("200 OK", kind, body),
        ("GET" | "HEAD", None) => ("404 Not Found", "text/plain; charset=utf-8", b"There is nothing here.\n".to_vec()),
        _ => ("405 Method Not Allowed", "text/plain; charset=utf-8", b"Only GET is answered.\n".to_vec()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    if method != "HEAD" {
        stream.write_all(&body)?;
    }
    stream.flush()
}

/// The file of an address: one below the folder.
fn file(folder: &Path, target: &str) -> Option<PathBuf> {
    let path = target.split(['?', '#']).next()?.trim_start_matches('/');
    let path = Path::new(if path.is_empty() { "index.html" } else { path });
    let below = path.components().all(|part| matches!(part, Component::Normal(_)));
    below.then(|| folder.join(path)).filter(|path| path.is_file())
}

fn kind(path: &Path) -> &'static str {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}
