//! Runs our server in the test, with an Ambassador gateway that has one listener and one route. Queries its diagnostics.
//!
//! Does not start Envoy; see `process`.

use crate::process::get;
use chancery_core::compilation::Options;
use chancery_live::address::Address;
use chancery_live::engine::Settings;
use chancery_live::event::{Event, Events, Server};
use chancery_live::serve::{Servers, serve};
use chancery_live::sources::Source;
use chancery_live::sources::folder::{EmptyFolder, Folder, Reading};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub const HOST: &str = "apiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {name: h, namespace: default}\n\
                    spec: {hostname: '*', requestPolicy: {insecure: {action: Route}}}\n";

pub fn listener(port: u16) -> String {
    format!(
        "apiVersion: getambassador.io/v3alpha1\nkind: Listener\nmetadata:\n  name: http\n  namespace: default\nspec:\n  port: {port}\n  \
         protocol: HTTP\n  securityModel: XFP\n  hostBinding: {{namespace: {{from: ALL}}}}\n"
    )
}

pub fn mapping(upstream: u16) -> String {
    format!(
        "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: stay, namespace: default}}\n\
         spec: {{hostname: '*', prefix: /stay/, rewrite: /stay/, service: 'http://127.0.0.1:{upstream}'}}\n"
    )
}

/// An Envoy that ends with the test.
pub struct RunningEnvoy(pub Child);

impl Drop for RunningEnvoy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub struct RunningServer {
    pub events: Events,
    end: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl RunningServer {
    /// Starts a server for this folder.
    pub fn start(folder: &Path, state: Option<&Path>, xds: u16, options: Options) -> Self {
        let empty = EmptyFolder::Accident(Duration::from_secs(600));
        let reading = Reading { empty, state: state.map(Path::to_owned), ..Reading::default() };
        Self::with_source(Box::new(Folder::new(folder.to_owned(), reading)), xds, options)
    }

    /// Starts a server for this source.
    pub fn with_source(source: Box<dyn Source>, xds: u16, options: Options) -> Self {
        let events = Events::default();
        let loopback = |port: u16| Address::At(format!("127.0.0.1:{port}"));
        let servers = Servers {
            xds: loopback(xds),
            diagnostics: loopback(0),
            snapshots: Address::Off,
            public_snapshots: Address::Off,
            ready: Address::Off,
            tls: None,
            with_secrets: false,
            token: None,
            ttl: None,
            replicas: Vec::new(),
            proxies: None,
            canary: true,
            page: None,
            admission: None,
        };
        let settings = Settings { options, spacing: Duration::ZERO, recorder: None, events: events.clone() };
        let (end, ended) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            let ended = async { drop(ended.await) };
            serve(settings, vec![source], &servers, None, None, ended).await.expect("it serves");
        });
        Self { events, end, task }
    }

    pub async fn stop(self) {
        let _ = self.end.send(());
        self.task.await.expect("it ends");
    }

    /// Returns the answer of the diagnostics server, including its head.
    pub async fn ask(&self, path: &str) -> String {
        let find = || {
            self.events.timeline().into_iter().find_map(|dated| match dated.event {
                Event::Listening { server: Server::Diagnostics, address } => Some(address),
                _ => None,
            })
        };
        let address = until("it listens", async || find()).await;
        let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
        let mut stream = tokio::net::TcpStream::connect(address).await.expect("a connection");
        stream.write_all(request.as_bytes()).await.expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer");
        answer
    }

    /// Waits until no problem is reported.
    pub async fn is_well(&self) {
        until("nothing is wrong", async || self.ask("/readyz").await.ends_with("\r\n\r\nready\n").then_some(())).await;
    }

    /// Waits until `/readyz` has this status and contains this string.
    pub async fn reports(&self, status: u16, text: &str) {
        let wanted = format!("HTTP/1.1 {status}");
        let begin = Instant::now();
        loop {
            let answer = self.ask("/readyz").await;
            if answer.starts_with(&wanted) && answer.contains(text) {
                return;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "{text}: {answer}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

pub async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

pub async fn has_traffic(port: u16) {
    until("there is traffic", async || get(port, "/stay/x").await).await;
}
