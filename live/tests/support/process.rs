//! Runs a real Envoy as a process, requests to it, and servers behind it.
//!
//! Does not start our own servers; see `envoy`.

use axum::Router;
use chancery_live::bootstrap::Bootstrap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinHandle;

/// The certificates that an Envoy and its server show each other.
#[derive(Clone)]
pub struct Shown {
    /// The CA of the server.
    pub authority: PathBuf,
    /// The Envoy's certificate.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// Returns the path of Envoy, or `None` if it is missing. CI must have it.
pub fn envoy() -> Option<String> {
    let named = std::env::var("CHANCERY_ENVOY").ok();
    let name = named.unwrap_or_else(|| "envoy".into());
    if Command::new(&name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        return Some(name);
    }
    assert!(std::env::var_os("CI").is_none(), "there is no Envoy, and this is CI");
    eprintln!("\n*** SKIPPED: the tests with a real Envoy, as there is none ***\n");
    None
}

/// Returns the body of a 200 answer, or `None` for any other result.
pub async fn get(port: u16, path: &str) -> Option<String> {
    request(port, path).await.ok()
}

/// Returns the body of a 200 answer, or a description of any other result.
async fn request(port: u16, path: &str) -> Result<String, String> {
    let ask = async {
        let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await?;
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.map(|_| answer)
    };
    let answer = match tokio::time::timeout(Duration::from_secs(5), ask).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => return Err(error.to_string()),
        Err(_) => return Err("no answer within five seconds".into()),
    };
    let Some((_, body)) = answer.split_once("\r\n\r\n").filter(|(head, _)| head.starts_with("HTTP/1.1 200")) else {
        return Err(format!("answer {:?}", answer.lines().next().unwrap_or_default()));
    };
    // The body is in chunks, or whole.
    Ok(body.lines().find(|line| line.starts_with('/')).unwrap_or_default().to_owned())
}

/// Starts the Envoy `edge` with a server at this address.
pub fn start_envoy(envoy: &str, folder: &Path, xds: String, delta: bool, tls: Option<&Shown>) -> Child {
    start_envoy_as("edge", envoy, folder, xds, delta, tls)
}

/// Starts an Envoy with this id.
pub fn start_envoy_as(node_id: &str, envoy: &str, folder: &Path, xds: String, delta: bool, tls: Option<&Shown>) -> Child {
    let bootstrap = Bootstrap {
        xds: xds.split(',').map(str::to_owned).collect(),
        node_id: node_id.into(),
        node_cluster: "c".into(),
        admin: "off".into(),
        delta,
        tls_ca: tls.map(|tls| tls.authority.clone()),
        tls_cert: tls.map(|tls| tls.certificate.clone()),
        tls_key: tls.map(|tls| tls.key.clone()),
    };
    let path = folder.join(".bootstrap.json");
    fs::write(&path, bootstrap.json().expect("a bootstrap").to_string()).expect("a file");
    let log = fs::File::create(folder.join(".envoy.log")).expect("a file");
    let mut command = Command::new(envoy);
    command.arg("-c").arg(&path).args(["--concurrency", "1", "-l", "warning", "--use-dynamic-base-id"]);
    command.stdout(Stdio::null()).stderr(log).spawn().expect("Envoy")
}

/// Starts a server that answers with the requested path.
pub async fn echo() -> u16 {
    let upstream = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = upstream.local_addr().expect("an address").port();
    let echo = Router::new().fallback(async |uri: axum::http::Uri| uri.path().to_owned());
    tokio::spawn(async move { axum::serve(upstream, echo).await });
    port
}

/// Sends requests one after the other until it is stopped.
pub struct Load {
    stop: Arc<AtomicBool>,
    lost: Arc<AtomicUsize>,
    asked: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Load {
    pub fn start(port: u16, path: &'static str) -> Self {
        let (stop, lost, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let shared = (stop.clone(), lost.clone(), asked.clone());
        let task = tokio::spawn(async move {
            let (stop, lost, asked) = shared;
            while !stop.load(SeqCst) {
                if let Err(why) = request(port, path).await {
                    eprintln!("request {} is lost: {why}", asked.load(SeqCst));
                    lost.fetch_add(1, SeqCst);
                }
                asked.fetch_add(1, SeqCst);
            }
        });
        Self { stop, lost, asked, task }
    }

    /// Stops the requests, and checks that none was lost.
    pub async fn none_lost(self) -> usize {
        let begin = Instant::now();
        while self.asked.load(SeqCst) <= 100 && begin.elapsed() < Duration::from_secs(60) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.stop.store(true, SeqCst);
        self.task.await.expect("the load");
        let asked = self.asked.load(SeqCst);
        assert_eq!(self.lost.load(SeqCst), 0, "of {asked} requests");
        assert!(asked > 100, "only {asked} requests");
        asked
    }
}
