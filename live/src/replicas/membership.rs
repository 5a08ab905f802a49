//! Resolves the addresses of replicas about every second, and checks the replica at each of them. Does not decide which
//! replicas serve; see `members`.
//!
//! A check is a request to `/readyz` of the replica's readiness server. A replica recognises itself by its own id in the
//! answer, so it need not know its address. If the name cannot be resolved, the last addresses stay.

use super::members::{Answer, Members};
use super::{HEADER, Replicas};
use crate::Failure;
use crate::event::SourceState;
use crate::sources::{Outlet, Source};
use http_body_util::Empty;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::HOST;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::{Duration, Instant};
use tokio::net::{TcpStream, lookup_host};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The pause between two checks, and between two resolutions.
const EVERY: Duration = Duration::from_secs(1);
/// The shortest pause before a requested check.
const SHORTEST: Duration = Duration::from_millis(50);
/// How long a replica may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long the first build waits for the first resolution.
const FIRST: Duration = Duration::from_secs(3);
/// The most addresses that are checked.
const MOST: usize = 256;

/// Finds the other replicas as long as the server runs.
#[derive(Debug)]
pub struct Membership {
    replicas: Replicas,
    hosts: Vec<String>,
    ready_port: u16,
}

impl Membership {
    /// Finds replicas at these addresses (`HOST:PORT` of their xDS servers). Their readiness servers have this port.
    #[must_use]
    pub fn new(replicas: Replicas, hosts: Vec<String>, ready_port: u16) -> Self {
        Self { replicas, hosts, ready_port }
    }
}

/// Reads the addresses of `--replicas`: `HOST:PORT`.
///
/// # Errors
///
/// The text is not an address.
pub fn parse_host(text: &str) -> Result<String, String> {
    let wrong = || format!("`{text}` is not an address: write HOST:PORT of the replicas' xDS servers");
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let is_port = port.parse::<u16>().is_ok_and(|port| port > 0);
    if is_port && !host.is_empty() { Ok(text.to_owned()) } else { Err(wrong()) }
}

impl Source for Membership {
    fn name(&self) -> String {
        "replicas".into()
    }

    fn run(self: Box<Self>, outlet: Outlet) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>> {
        Box::pin(async move {
            let (resolved, addresses) = watch::channel(Ok(Vec::new()));
            tokio::join!(resolve(self.hosts.clone(), resolved), self.follow(addresses, outlet));
            Ok(())
        })
    }
}

/// The addresses of a resolution, or why there are none.
type Resolved = Result<Vec<SocketAddr>, String>;

/// Resolves all hosts about every second.
async fn resolve(hosts: Vec<String>, resolved: watch::Sender<Resolved>) {
    loop {
        let mut all = Vec::new();
        let mut failure = None;
        for host in &hosts {
            match lookup_host(host).await {
                Ok(addresses) => all.extend(addresses),
                Err(error) => failure = Some(format!("{host} cannot be resolved: {error}")),
            }
        }
        all.sort();
        all.dedup();
        all.truncate(MOST);
        let next = match failure {
            // An address less would move gateways without a reason.
            Some(failure) => Err(failure),
            None => Ok(all),
        };
        resolved.send_if_modified(|known| {
            let is_first = matches!(known, Ok(none) if none.is_empty());
            let is_changed = *known != next;
            *known = next;
            is_first || is_changed
        });
        tokio::time::sleep(EVERY).await;
    }
}

impl Membership {
    /// Checks all members about every second, or when a stream needs it.
    async fn follow(&self, mut addresses: watch::Receiver<Resolved>, outlet: Outlet) {
        // Afterwards this replica builds everything, until the name is resolved.
        let _ = tokio::time::timeout(FIRST, addresses.changed()).await;
        let mut members = Members::new(self.replicas.id());
        let mut views = self.replicas.subscribe();
        loop {
            let begin = Instant::now();
            let resolved = addresses.borrow_and_update().clone();
            if let Ok(all) = &resolved {
                members.set_addresses(all);
            }
            self.check(&mut members).await;
            let (serving, own) = members.serving();
            self.report(&outlet, resolved.err(), serving.len(), own.as_deref());
            self.replicas.note(begin, serving, own, members.statuses());
            if views.has_changed().unwrap_or_default() {
                let view = views.borrow_and_update().clone();
                let names = view.members().join(", ");
                tracing::info!(own = view.own().map(|own| &**own), "the gateways are shared between these replicas: {names}");
                // The gateways that this replica owns may have changed.
                outlet.intake.rebuild();
            }
            outlet.intake.synced(outlet.number);
            tokio::select! {
                () = tokio::time::sleep(if members.has_doubt() { SHORTEST } else { EVERY }) => {}
                () = self.replicas.0.requested.notified() => tokio::time::sleep(SHORTEST.saturating_sub(begin.elapsed())).await,
            }
        }
    }

    /// Checks all members at the same time.
    async fn check(&self, members: &mut Members) {
        let mut checks = JoinSet::new();
        for address in members.addresses() {
            let ready = SocketAddr::new(address.ip(), self.ready_port);
            checks.spawn(async move { (address, ask(ready).await) });
        }
        while let Some(answer) = checks.join_next().await {
            if let Ok((address, answer)) = answer {
                members.note(address, answer);
            }
        }
    }

    fn report(&self, outlet: &Outlet, failure: Option<String>, serving: usize, own: Option<&str>) {
        let (state, detail) = self.state(failure, serving, own);
        outlet.state("replicas", state, Some(detail));
    }

    fn state(&self, failure: Option<String>, serving: usize, own: Option<&str>) -> (SourceState, String) {
        match (failure, own) {
            (Some(failure), None) => (SourceState::Error, format!("{failure}; this replica serves every gateway")),
            (Some(failure), Some(_)) => (SourceState::Error, format!("{failure}; the last known replicas share the gateways")),
            (None, None) => (
                SourceState::Error,
                format!(
                    "no address of {} is this replica, so it serves every gateway; --ready must listen on such an address at port {}",
                    self.hosts.join(", "),
                    self.ready_port
                ),
            ),
            (None, Some(own)) => (SourceState::Synced, format!("{own} is one of {serving} replicas that share the gateways")),
        }
    }
}

/// Requests the readiness of the replica at an address.
async fn ask(ready: SocketAddr) -> Answer {
    match tokio::time::timeout(PATIENCE, asked(ready)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(why)) => Answer::Absent(why),
        Err(_) => Answer::Silent,
    }
}

async fn asked(ready: SocketAddr) -> Result<Answer, String> {
    let stream = match TcpStream::connect(ready).await {
        Ok(stream) => stream,
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => return Err(error.to_string()),
        // There is no answer, or this machine has no more sockets.
        Err(_) => return Ok(Answer::Silent),
    };
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    let connection = tokio::spawn(connection);
    let request = Request::get("/readyz").header(HOST, ready.to_string()).header("connection", "close").body(Empty::<Bytes>::new());
    let answer = sender.send_request(request.map_err(|error| error.to_string())?).await;
    connection.abort();
    let answer = answer.map_err(|error| error.to_string())?;
    let id = answer.headers().get(HEADER).and_then(|id| id.to_str().ok());
    match id {
        Some(id) => Ok(Answer::Replica { id: id.to_owned(), is_ready: answer.status() == StatusCode::OK }),
        None => Err(format!("{ready} is not a replica of `chancery serve --replicas`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unresolved_name_says_who_serves() {
        let membership = Membership::new(Replicas::shared(), vec!["chancery:8003".into()], 8006);
        let detail = |own| membership.state(Some("chancery:8003 cannot be resolved".into()), 2, own).1;
        assert_eq!(detail(None), "chancery:8003 cannot be resolved; this replica serves every gateway");
        assert_eq!(detail(Some("10.0.0.1:8003")), "chancery:8003 cannot be resolved; the last known replicas share the gateways");
    }
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    async fn answers(with: &'static str) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let _ = stream.read(&mut [0; 1024]).await;
                let _ = stream.write_all(with.as_bytes()).await;
            }
        });
        address
    }

    #[tokio::test]
    async fn check_tells_replicas_from_other_programs() {
        let ready = answers("HTTP/1.1 200 OK\r\nchancery-replica: x\r\ncontent-length: 0\r\n\r\n").await;
        assert_eq!(ask(ready).await, Answer::Replica { id: "x".into(), is_ready: true });
        let early = answers("HTTP/1.1 503 Service Unavailable\r\nchancery-replica: x\r\ncontent-length: 0\r\n\r\n").await;
        assert_eq!(ask(early).await, Answer::Replica { id: "x".into(), is_ready: false });
        let other = answers("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
        assert!(matches!(ask(other).await, Answer::Absent(why) if why.ends_with("is not a replica of `chancery serve --replicas`")));
        let free = TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address");
        assert!(matches!(ask(free).await, Answer::Absent(_)));
        let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        assert_eq!(ask(silent.local_addr().expect("an address")).await, Answer::Silent);
    }

    #[test]
    fn hosts_need_a_port() {
        assert_eq!(parse_host("chancery.gateway.svc:8003").as_deref(), Ok("chancery.gateway.svc:8003"));
        assert_eq!(parse_host("[fd00::1]:8003").as_deref(), Ok("[fd00::1]:8003"));
        for wrong in ["chancery", ":8003", "chancery:0", "chancery:x", ""] {
            assert!(parse_host(wrong).is_err(), "{wrong}");
        }
    }
}
