//! Sends one request to Consul's HTTP API. The token goes into one header, and is removed from every message. Does not
//! repeat requests; see `query`.

use super::settings::{Resolved, Target, Token};
use crate::Failure;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::HOST;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// The time limit for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// The largest answer, in bytes.
const LARGEST: usize = 256 << 20;
/// The most characters of an error that are shown.
const SHOWN: usize = 300;

/// A connection's bytes.
trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) body: Vec<u8>,
    /// The index after which the next query waits.
    pub(super) index: Option<u64>,
    /// Whether the token may see only a part of the answer.
    pub(super) is_filtered: bool,
}

/// The reason for a missing answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The token does not permit the request.
    Forbidden(String),
    /// This Consul does not know the request.
    Unknown(String),
    /// Any other failure.
    Failed(String),
}

/// A client of an agent.
#[derive(Debug)]
pub(super) struct Client {
    target: Target,
    tls: Option<(ClientConfigShared, ServerName<'static>)>,
    token: Token,
}

type ClientConfigShared = Arc<ClientConfig>;

impl Client {
    /// Creates a client with these settings.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or has the wrong content.
    pub(super) fn new(settings: &Resolved) -> Result<Self, Failure> {
        let tls = if settings.is_tls {
            let name = ServerName::try_from(settings.server_name.clone());
            let name = name.map_err(|_| format!("`{}` cannot be a name in a certificate: give --consul-tls-server-name", settings.server_name))?;
            Some((Arc::new(tls(settings)?), name))
        } else {
            None
        };
        Ok(Self { target: settings.target.clone(), tls, token: settings.token.clone() })
    }

    /// Returns the agent's address for messages.
    pub(super) fn address(&self) -> String {
        match &self.target {
            Target::Tcp { host, port } => format!("{host}:{port}"),
            Target::Unix(path) => path.display().to_string(),
        }
    }

    /// Requests a path with its query, and waits at most this long.
    pub(super) async fn get(&self, path: &str, patience: Duration) -> Result<Answer, Trouble> {
        let token = self.token.read().map_err(Trouble::Failed)?;
        self.ask(path, None, token.as_deref(), patience).await
    }

    /// Sends a JSON request with a given token instead of the client's own token.
    pub(super) async fn post(&self, path: &str, question: String, token: Option<&str>, patience: Duration) -> Result<Answer, Trouble> {
        self.ask(path, Some(question), token, patience).await
    }

    async fn ask(&self, path: &str, question: Option<String>, token: Option<&str>, patience: Duration) -> Result<Answer, Trouble> {
        let asked = tokio::time::timeout(patience, self.exchange(path, question, token)).await;
        let out = asked.unwrap_or_else(|_| Err(Trouble::Failed(format!("{} does not answer within {} s", self.address(), patience.as_secs()))));
        // Consul's message may quote the token of the request.
        let clean = |text: String| token.filter(|token| text.contains(token)).map_or(text.clone(), |token| text.replace(token, "-redacted-"));
        out.map_err(|trouble| match trouble {
            Trouble::Forbidden(text) => Trouble::Forbidden(clean(text)),
            Trouble::Unknown(text) => Trouble::Unknown(clean(text)),
            Trouble::Failed(text) => Trouble::Failed(clean(text)),
        })
    }

    async fn exchange(&self, path: &str, question: Option<String>, token: Option<&str>) -> Result<Answer, Trouble> {
        let failed = |error: &dyn std::error::Error| Trouble::Failed(format!("Consul at {} cannot be reached: {}", self.address(), innermost(error)));
        let connected = tokio::time::timeout(CONNECT, self.connect()).await;
        let wire = connected
            .map_err(|_| Trouble::Failed(format!("Consul at {} cannot be reached: no connection within {} s", self.address(), CONNECT.as_secs())));
        let wire = wire?.map_err(|error| failed(&error))?;
        let mut request = if question.is_some() { Request::post(path) } else { Request::get(path) }.header(HOST, "consul");
        if let Some(token) = token {
            request = request.header("x-consul-token", token);
        }
        let request = request
            .body(Full::new(Bytes::from(question.unwrap_or_default())))
            .map_err(|_| Trouble::Failed("the token has characters that a header cannot have".into()))?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(wire)).await.map_err(|error| failed(&error))?;
        let connection = tokio::spawn(connection);
        let answer = sender.send_request(request).await.map_err(|error| failed(&error))?;
        let (parts, mut incoming) = answer.into_parts();
        let mut body = Vec::new();
        while let Some(frame) = incoming.frame().await {
            let Ok(data) = frame.map_err(|error| failed(&error))?.into_data() else { continue };
            if body.len() + data.len() > LARGEST {
                return Err(Trouble::Failed(format!("an answer of Consul is larger than {} MB", LARGEST >> 20)));
            }
            body.extend_from_slice(&data);
        }
        connection.abort();
        let header = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
        if parts.status == StatusCode::OK {
            let index = header("x-consul-index").and_then(|index| index.parse().ok());
            return Ok(Answer { body, index, is_filtered: header("x-consul-results-filtered-by-acls") == Some("true") });
        }
        Err(refused(parts.status, &body))
    }

    async fn connect(&self) -> std::io::Result<Box<dyn Wire>> {
        let wire: Box<dyn Wire> = match &self.target {
            Target::Tcp { host, port } => Box::new(TcpStream::connect((host.as_str(), *port)).await?),
            Target::Unix(path) => Box::new(UnixStream::connect(path).await?),
        };
        match &self.tls {
            None => Ok(wire),
            Some((config, name)) => Ok(Box::new(TlsConnector::from(config.clone()).connect(name.clone(), wire).await?)),
        }
    }
}

/// Interprets a refusal of Consul.
fn refused(status: StatusCode, body: &[u8]) -> Trouble {
    let text = String::from_utf8_lossy(body);
    let text: String = text.trim().chars().take(SHOWN).collect();
    match status {
        StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => Trouble::Forbidden(text),
        StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST => Trouble::Unknown(format!("Consul answers {}: {text}", status.as_u16())),
        _ => Trouble::Failed(format!("Consul answers {}: {text}", status.as_u16())),
    }
}

/// Returns the innermost error, because the user can act on it.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut source = error;
    while let Some(inner) = source.source() {
        source = inner;
    }
    source.to_string()
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()).into())
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(path)?).collect();
    all.ok().filter(|all| !all.is_empty()).ok_or_else(|| format!("{} contains no certificate in PEM", path.display()).into())
}

fn tls(settings: &Resolved) -> Result<ClientConfig, Failure> {
    if !settings.verify {
        return Err(
            "CONSUL_HTTP_SSL_VERIFY is false, but the agent's certificate is always verified: name who signed it with --consul-ca-file".into()
        );
    }
    let provider = Arc::new(ring::default_provider());
    let mut roots = RootCertStore::empty();
    match &settings.ca_file {
        Some(path) => {
            for authority in certificates(path)? {
                roots.add(authority).map_err(|error| format!("{} contains a certificate that cannot be an authority: {error}", path.display()))?;
            }
        }
        None => drop(roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs)),
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build();
    let verifier =
        verifier.map_err(|error| format!("no authority is known that could have signed the agent's certificate: {error}; give --consul-ca-file"))?;
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| format!("TLS cannot be set up: {error}"))?.with_webpki_verifier(verifier);
    let mut config = match &settings.client {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let private = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|_| format!("{} contains no private key in PEM", key.display()))?;
            let cannot = |error| format!("{} and {} do not go together: {error}", certificate.display(), key.display());
            builder.with_client_auth_cert(certificates(certificate)?, private).map_err(cannot)?
        }
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
