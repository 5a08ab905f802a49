//! A server for the page, on loopback: only serves files by name.
//!
//! Has no dependencies, so that `cargo xtask play` can use this file too.
//!
//! Does not load the files; see `play` and `cargo xtask play`. Runs no actions for a page.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The port that is tried first.
pub const PORT: u16 = 8137;

/// The permissions of the page, in addition to its own policy: pages of other origins may not embed it.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'nonce-editor'; img-src 'self' blob: data:; font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-src 'self'; frame-ancestors 'self'";

/// The longest request that is read.
const LONGEST: u64 = 16 << 10;

/// The suffix of files that are compressed by brotli.
pub const PACKED: &str = ".br";

/// A file by its path below the root, without the first slash.
pub type Files = dyn Fn(&str) -> Option<Cow<'static, [u8]>> + Send + Sync;

/// Binds to loopback: the port named, or the usual one, or any that is free.
///
/// # Errors
///
/// The port named is not free, or none is.
pub fn bind(port: Option<u16>) -> io::Result<TcpListener> {
    let at = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    port.map_or_else(|| at(PORT).or_else(|_| at(0)), at)
}

/// Serves until the process ends.
pub fn serve(listener: &TcpListener, files: Arc<Files>) {
    for stream in listener.incoming().flatten() {
        let files = Arc::clone(&files);
        thread::spawn(move || drop(answer(stream, &*files)));
    }
}

/// A request, as far as it matters here.
#[derive(Default)]
struct Request {
    method: String,
    target: String,
    /// Whether the `Host` is this machine.
    local: bool,
    /// Whether the browser accepts brotli.
    brotli: bool,
    /// The version in the browser's cache.
    known: String,
}

fn read(stream: &TcpStream) -> io::Result<Request> {
    let mut lines = BufReader::new(stream.try_clone()?).take(LONGEST).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let mut words = first.split_whitespace().map(str::to_string);
    let mut request = Request { method: words.next().unwrap_or_default(), target: words.next().unwrap_or_default(), ..Request::default() };
    for line in lines {
        let line = line?;
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        match name.to_ascii_lowercase().as_str() {
            "host" => request.local |= is_loopback(value.trim()),
            "accept-encoding" => request.brotli |= value.split(',').any(|one| one.split(';').next().is_some_and(|one| one.trim() == "br")),
            "if-none-match" => request.known = value.trim().to_string(),
            _ => {}
        }
    }
    Ok(request)
}

fn answer(mut stream: TcpStream, files: &Files) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let request = read(&stream)?;
    let path = path(&request.target);
    let text = "text/plain; charset=utf-8";
    let packed = || files(&format!("{path}{PACKED}")).filter(|_| request.brotli);
    let mut about = String::new();
    let (status, kind, body) = match (request.local, request.method.as_str()) {
        // Another name that resolves to this address belongs to another site's page.
        (false, _) => ("421 Misdirected Request", text, Cow::Borrowed(&b"This is served to this machine only.\n"[..])),
        (true, "GET" | "HEAD") => match packed().map(|body| (body, "Content-Encoding: br\r\n")).or_else(|| Some((files(path)?, ""))) {
            Some((body, encoding)) => {
                let version = version(&body);
                about = format!("{encoding}ETag: {version}\r\nVary: Accept-Encoding\r\n");
                match request.known == version {
                    true => ("304 Not Modified", kind(path), Cow::Borrowed(&b""[..])),
                    false => ("200 OK", kind(path), body),
                }
            }
            None => ("404 Not Found", text, Cow::Borrowed(&b"There is nothing here.\n"[..])),
        },
        _ => ("405 Method Not Allowed", text, Cow::Borrowed(&b"Only GET is answered.\n"[..])),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{about}Content-Security-Policy: {POLICY}\r\nCache-Control: no-cache\r\n\
         X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    if request.method != "HEAD" {
        stream.write_all(&body)?;
    }
    stream.flush()
}

/// The version of a file: a hash of its content, which the browser compares with its cache.
fn version(body: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}

/// Whether a `Host` names this machine.
fn is_loopback(host: &str) -> bool {
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit())).map_or(host, |(name, _)| name);
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}

/// Returns the path of a URL as a file name.
fn path(target: &str) -> &str {
    match target.split(['?', '#']).next().unwrap_or_default().trim_start_matches('/') {
        "" => "index.html",
        path => path,
    }
}

fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "txt" => "text/plain; charset=utf-8",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    }
}
