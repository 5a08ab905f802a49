//! The certificates of the management server, which are read again when their files change.
//!
//! Open connections keep the certificate that they began with. Files that are half written, or wrong, change nothing until they are right.

use crate::event::{Events, SourceState};
use crate::sources::States;
use crate::{Failure, lock};
use k8s_openapi::jiff::Timestamp;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use x509_parser::prelude::{FromDer, X509Certificate};

/// How often files are checked.
const LOOK: Duration = Duration::from_secs(1);
/// How long before its expiry a certificate is reported.
const SOON: i64 = 7 * 24 * 3600;
/// The name of certificates in the states of sources.
const STATE: (&str, &str) = ("xds", "certificates");

/// The files of certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The server's certificate chain.
    pub certificate: PathBuf,
    pub key: PathBuf,
    /// The CA of clients; `None` if clients need no certificate.
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
    /// The error of the present files, if any.
    wrong: Option<String>,
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
    /// A file cannot be read, or has the wrong content. The message names it.
    pub fn new(files: Files) -> Result<Self, Failure> {
        let read = read(&files)?;
        let config = config(&files, &read)?;
        Ok(Self { files, state: Mutex::new(State { read, config, looked: Instant::now(), wrong: None }) })
    }

    /// Returns the configuration for a new connection.
    pub(super) fn current(&self) -> Arc<ServerConfig> {
        let mut state = lock(&self.state);
        if state.looked.elapsed() >= LOOK {
            state.looked = Instant::now();
            match read(&self.files).and_then(|read| Ok((read != state.read).then_some((config(&self.files, &read)?, read)))) {
                Ok(None) => state.wrong = None,
                Ok(Some(new)) => {
                    tracing::info!("the certificates of the xDS server were read again");
                    (state.config, state.read) = new;
                    state.wrong = None;
                }
                Err(why) => {
                    if state.wrong.as_ref() != Some(&why.0) {
                        tracing::warn!("the certificates of the xDS server stay unchanged: {why}");
                    }
                    state.wrong = Some(why.0);
                }
            }
        }
        state.config.clone()
    }

    /// Returns the problem of the certificates in use, now or soon, at this time in seconds since 1970.
    fn trouble(&self, now: i64) -> Option<(SourceState, String)> {
        let state = lock(&self.state);
        if let Some(wrong) = &state.wrong {
            return Some((SourceState::Error, format!("{wrong}; the certificates from before are used")));
        }
        let of = [(Some(&self.files.certificate), state.read.first()), (self.files.client_ca.as_ref(), state.read.get(2))];
        let (end, path) = of.into_iter().filter_map(|(path, pem)| Some((end(pem?)?, path?))).min()?;
        let (path, at) = (path.display(), Timestamp::from_second(end).map(|at| at.to_string()).unwrap_or_default());
        if end <= now {
            Some((SourceState::Error, format!("a certificate in {path} has expired at {at}: replace the file, it is read again")))
        } else if end - now <= SOON {
            Some((SourceState::Synced, format!("a certificate in {path} expires at {at}")))
        } else {
            None
        }
    }

    /// Checks the files and the expiry of certificates, and sets the state, as long as the process runs.
    pub async fn watch(self: Arc<Self>, states: States, events: Events) {
        let mut noted: Option<String> = None;
        loop {
            self.current();
            let trouble = self.trouble(Timestamp::now().as_second());
            let detail = trouble.as_ref().map(|(_, detail)| detail.clone());
            if detail != noted {
                let (state, detail) = trouble.map_or((SourceState::Synced, None), |(state, detail)| (state, Some(detail)));
                if let Some(detail) = &detail {
                    tracing::warn!("{detail}");
                }
                states.note(&events, STATE.0, STATE.1, state, detail);
            }
            noted = detail;
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// Returns when the first certificate of a file expires, in seconds since 1970.
fn end(pem: &[u8]) -> Option<i64> {
    let all = CertificateDer::pem_slice_iter(pem).filter_map(Result::ok);
    all.filter_map(|der| Some(X509Certificate::from_der(&der).ok()?.1.validity().not_after.timestamp())).min()
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
