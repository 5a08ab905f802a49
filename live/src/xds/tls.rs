//! Connections of the management server, in the clear or with TLS, and its certificates, which are read again when their files change.
//!
//! A connection that is there keeps what it was opened with. Files that are half written, or wrong, change nothing until they are right. What
//! must not be here: what is said on a connection.

use super::identity::names;
use super::peer::Peer;
use crate::{Failure, lock};
use futures_util::{Stream, StreamExt};
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use tokio_rustls::server::TlsStream;

/// How often files are looked at.
const LOOK: Duration = Duration::from_secs(1);
/// How long a client may take to begin TLS.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Handshakes that go on at a time.
const HANDSHAKES: usize = 64;

/// Where certificates are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The server's chain.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// Who signs clients; `None` where clients need no certificate.
    pub client_ca: Option<PathBuf>,
}

/// The server's certificates.
pub struct Tls {
    files: Files,
    state: Mutex<State>,
}

struct State {
    read: Vec<Vec<u8>>,
    config: Arc<ServerConfig>,
    looked: Instant,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or what it holds is not what it should hold; says which.
    pub fn new(files: Files) -> Result<Self, Failure> {
        let read = read(&files)?;
        let config = config(&files, &read)?;
        Ok(Self { files, state: Mutex::new(State { read, config, looked: Instant::now() }) })
    }

    /// What a new connection gets.
    fn current(&self) -> Arc<ServerConfig> {
        let mut state = lock(&self.state);
        if state.looked.elapsed() >= LOOK {
            state.looked = Instant::now();
            if let Ok(read) = read(&self.files)
                && read != state.read
            {
                match config(&self.files, &read) {
                    Ok(config) => {
                        tracing::info!("the certificates of the xDS server were read again");
                        (state.config, state.read) = (config, read);
                    }
                    Err(why) => tracing::warn!("the certificates of the xDS server stay as they are: {why}"),
                }
            }
        }
        state.config.clone()
    }
}

fn read(files: &Files) -> Result<Vec<Vec<u8>>, Failure> {
    let paths = [Some(&files.certificate), Some(&files.key), files.client_ca.as_ref()];
    let read = |path: &PathBuf| std::fs::read(path).map_err(|error| Failure(format!("cannot read {}: {error}", path.display())));
    paths.into_iter().flatten().map(read).collect()
}

fn certificates(path: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        _ => Err(Failure(format!("{} contains no certificate in PEM", path.display()))),
    }
}

fn config(files: &Files, read: &[Vec<u8>]) -> Result<Arc<ServerConfig>, Failure> {
    let part = |at: usize| read.get(at).map(Vec::as_slice).unwrap_or_default();
    let chain = certificates(&files.certificate, part(0))?;
    let key = PrivateKeyDer::from_pem_slice(part(1)).map_err(|_| format!("{} contains no private key in PEM", files.key.display()))?;
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS cannot be set up: {error}"))?;
    let builder = match &files.client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let mut roots = RootCertStore::empty();
            for authority in certificates(path, part(2))? {
                roots.add(authority).map_err(|error| format!("{} contains a certificate that cannot be an authority: {error}", path.display()))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.map_err(|error| format!("{}: {error}", path.display()))?)
        }
    };
    let cannot = |error| Failure(format!("{} and {} do not go together: {error}", files.certificate.display(), files.key.display()));
    let mut config = builder.with_single_cert(chain, key).map_err(cannot)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Arc::new(config))
}

/// A connection.
#[derive(Debug)]
pub enum Connection {
    /// In the clear.
    Plain(TcpStream),
    /// With TLS.
    Tls(Box<TlsStream<TcpStream>>),
}

impl Connection {
    /// Who is at the other end.
    #[must_use]
    pub fn peer(&self) -> Peer {
        match self {
            Connection::Plain(stream) => Peer { address: stream.peer_addr().ok(), ..Peer::default() },
            Connection::Tls(stream) => {
                let (stream, session) = stream.get_ref();
                let own = session.peer_certificates().and_then(<[CertificateDer<'_>]>::first);
                Peer { address: stream.peer_addr().ok(), is_known: own.is_some(), names: own.map(|own| names(own)).unwrap_or_default() }
            }
        }
    }
}

/// Takes connections. One that fails is dropped; handshakes go on side by side.
pub fn incoming(listener: TcpListener, tls: Option<Arc<Tls>>) -> impl Stream<Item = io::Result<Connection>> {
    let accepted = futures_util::stream::unfold(listener, |listener| async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => return Some((stream, listener)),
                // Too many open files, or a connection that ended while it began: others may still come.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    });
    let shake = move |stream: TcpStream| {
        let tls = tls.clone();
        async move {
            // A socket that cannot be set so works all the same.
            let _ = stream.set_nodelay(true);
            let Some(tls) = tls else { return Some(Ok(Connection::Plain(stream))) };
            let shaken = tokio::time::timeout(HANDSHAKE, TlsAcceptor::from(tls.current()).accept(stream)).await;
            shaken.ok()?.ok().map(|stream| Ok(Connection::Tls(Box::new(stream))))
        }
    };
    accepted.map(shake).buffer_unordered(HANDSHAKES).filter_map(std::future::ready)
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Connection::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Connection::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Connection::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Connection::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Connection::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Connection::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Connection::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Connection::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
