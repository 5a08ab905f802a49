//! Accepts connections of Envoys, with or without TLS.
//!
//! A client must finish the TLS handshake and begin HTTP/2 within a limited time. Otherwise it is refused, and the log says why. See `tls` for
//! certificates.

use super::identity::names;
use super::peer::Peer;
use super::tls::Tls;
use crate::connection_table::{ConnectionTable, Limits, Place};
use crate::log_limit::LogLimit;
use futures_util::{Stream, StreamExt};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::{CertificateError, Error};
use tokio_rustls::server::TlsStream;

/// How long a client may take to begin.
const PATIENCE: Duration = Duration::from_secs(10);
const LIMITS: Limits = Limits { total: 16384, per_address: 4096, half_open: 2000 };
/// The most clients that begin at the same time. It exceeds [`LIMITS`], so that every new client is checked.
const BEGINNING: usize = 2048;
/// The beginning of HTTP/2.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The answer to a browser.
const WRONG_PORT: &[u8] = b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n\
This port is for Envoys: xDS over gRPC. People and programs ask the diagnostics server.\n";

/// The transport of a connection.
#[derive(Debug)]
enum Transport {
    /// In the clear.
    Plain(TcpStream),
    /// With TLS.
    Tls(Box<TlsStream<TcpStream>>),
}

/// A connection after the beginning of HTTP/2.
#[derive(Debug)]
pub struct Connection {
    transport: Transport,
    /// How much of the preface was replayed: it was read to identify the protocol.
    replayed: usize,
    _place: Place,
}

impl Connection {
    /// Returns the client at the other end.
    #[must_use]
    pub fn peer(&self) -> Peer {
        match &self.transport {
            Transport::Plain(stream) => Peer { address: stream.peer_addr().ok(), ..Peer::default() },
            Transport::Tls(stream) => {
                let (stream, session) = stream.get_ref();
                let own = session.peer_certificates().and_then(<[CertificateDer<'_>]>::first);
                Peer { address: stream.peer_addr().ok(), is_known: own.is_some(), names: own.map(|own| names(own)).unwrap_or_default() }
            }
        }
    }
}

/// Logs that a client is refused.
fn log_refusal(limit: &LogLimit, address: Option<SocketAddr>, why: &str) {
    if let Some(suppressed) = limit.allow() {
        let client = address.map(|address| address.to_string());
        tracing::warn!(client, suppressed, "the xDS server refuses a client: {why}");
    }
}

/// Accepts connections. Clients begin concurrently, and a failed connection is dropped.
pub fn incoming(listener: TcpListener, tls: Option<Arc<Tls>>) -> impl Stream<Item = io::Result<Connection>> {
    let accepted = futures_util::stream::unfold(listener, |listener| async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => return Some((stream, listener)),
                // The cause is too many open files, or a connection that ended at its beginning. Later connections may
                // succeed.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    });
    let refusals = Arc::new(LogLimit::new());
    let table = ConnectionTable::new(LIMITS);
    let begin = move |stream: TcpStream| {
        let (tls, refusals, address) = (tls.clone(), refusals.clone(), stream.peer_addr().ok());
        let place = table.open(address);
        async move {
            let (place, closed) = place?;
            // A socket works without this option, too.
            let _ = stream.set_nodelay(true);
            let begun = tokio::select! {
                begun = tokio::time::timeout(PATIENCE, begin(stream, tls)) => begun,
                _ = closed => Ok(Err(Some("it sends nothing, and other clients need its place".into()))),
            };
            match begun.unwrap_or_else(|_| Err(Some("it connects and sends nothing, or not enough".into()))) {
                Ok(transport) => {
                    place.keep();
                    return Some(Ok(Connection { transport, replayed: 0, _place: place }));
                }
                Err(Some(why)) => log_refusal(&refusals, address, &why),
                Err(None) => {}
            }
            None
        }
    };
    accepted.map(begin).buffer_unordered(BEGINNING).filter_map(std::future::ready)
}

/// Begins a connection. The error is the reason, or `None` if the client left, such as a check whether the port is open.
async fn begin(stream: TcpStream, tls: Option<Arc<Tls>>) -> Result<Transport, Option<String>> {
    let mut transport = match tls {
        None => Transport::Plain(stream),
        Some(tls) => Transport::Tls(Box::new(TlsAcceptor::from(tls.current()).accept(stream).await.map_err(|error| refused(&error))?)),
    };
    let mut first = [0; PREFACE.len()];
    let mut length = 0;
    while length < first.len() {
        let read = transport.read(first.get_mut(length..).unwrap_or_default()).await.map_err(|_| None)?;
        length += read;
        let received = first.get(..length).unwrap_or_default();
        if read == 0 && length == 0 {
            return Err(None);
        }
        if read == 0 || !PREFACE.starts_with(received) {
            return Err(Some(describe_client(&mut transport, received).await));
        }
    }
    Ok(transport)
}

/// Describes a client that does not begin HTTP/2.
async fn describe_client(transport: &mut Transport, received: &[u8]) -> String {
    let methods = ["GET ", "HEAD ", "POST ", "PUT ", "OPTIONS ", "DELETE ", "CONNECT "];
    if matches!(transport, Transport::Plain(_)) && received.starts_with(&[22, 3]) {
        return "it speaks TLS, and this server has no certificate: give --xds-cert and --xds-key".into();
    }
    if methods.iter().any(|method| received.starts_with(method.as_bytes())) {
        // The client may have left already.
        let _ = transport.write_all(WRONG_PORT).await;
        let _ = transport.shutdown().await;
        return "it speaks HTTP/1.1, and this port is for Envoys: use the diagnostics server".into();
    }
    "it does not speak HTTP/2".into()
}

/// Describes why TLS does not begin.
fn refused(error: &io::Error) -> Option<String> {
    Some(match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(Error::InvalidMessage(_)) => "it does not speak TLS, and this server has a certificate: its bootstrap needs --tls-ca".into(),
        Some(Error::NoCertificatesPresented) => "it shows no certificate, and --xds-client-ca asks for one".into(),
        Some(Error::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. })) => "its certificate has expired".into(),
        Some(Error::InvalidCertificate(CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. })) => {
            "its certificate is not valid yet".into()
        }
        Some(Error::InvalidCertificate(CertificateError::UnknownIssuer)) => "no CA of --xds-client-ca signed its certificate".into(),
        Some(Error::AlertReceived(alert)) => format!("it ends the TLS handshake: {alert:?}; it may not trust the certificate of --xds-cert"),
        Some(Error::PeerIncompatible(why)) => format!("it supports no TLS version or cipher of this server: {why:?}"),
        // `Other` prints the name of its type.
        Some(Error::Other(other)) => format!("its certificate cannot be checked: {}", other.0),
        Some(other) => format!("the TLS handshake fails: {other}"),
        None if error.kind() == io::ErrorKind::UnexpectedEof || error.kind() == io::ErrorKind::ConnectionReset => return None,
        None => format!("the TLS handshake fails: {error}"),
    })
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let begin = PREFACE.get(this.replayed..).unwrap_or_default();
        if begin.is_empty() {
            return Pin::new(&mut this.transport).poll_read(cx, buf);
        }
        let part = begin.get(..begin.len().min(buf.remaining())).unwrap_or_default();
        buf.put_slice(part);
        this.replayed += part.len();
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().transport).poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().transport).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().transport).poll_shutdown(cx)
    }
}

impl AsyncRead for Transport {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Transport::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Transport::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Transport {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Transport::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Transport::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Transport::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Transport::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Transport::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Transport::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
