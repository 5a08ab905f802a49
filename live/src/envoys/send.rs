//! Sends a request that the user tries to a listener of a real Envoy, on this machine or in a pod. Does not simulate the
//! request; the core does.
//!
//! The client does not check the listener's certificate, because the user chose the Envoy.

use super::admin::listeners;
use super::http::exchange;
use super::reach::{Reach, Stream};
use chancery_core::simulate::{Ending, Outcome, Request as Tried, WrittenRequest};
use http_body_util::Empty;
use hyper::Request;
use hyper::body::Bytes;
use hyper::header::HOST;
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{ClientConfig, DigitallySignedStruct, Error as TlsError, SignatureScheme};

/// The time limit for a handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// The most bytes of an answer's body that are read.
const MOST_BODY: usize = 64 << 10;

/// The beginnings of Envoy's 503 answers for an upstream without healthy endpoints, or an upstream that refuses the
/// connection.
const NO_UPSTREAM: [&str; 2] = ["no healthy upstream", "upstream connect error"];

/// The answer of a real Envoy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RealAnswer {
    pub port: u16,
    pub status: u16,
    /// The headers in their order.
    pub headers: Vec<(String, String)>,
    /// The beginning of the body. Bytes that are not UTF-8 are replaced.
    pub body: String,
    /// Whether the body is longer.
    pub is_cut: bool,
    /// Milliseconds until the answer, including the connection.
    pub took_ms: u64,
    /// Whether the answer matches the simulation, or `None` if that cannot be known.
    pub agrees: Option<bool>,
    /// The reason, in one sentence.
    pub why: String,
}

/// Sends the request without a body, and compares the answer with the simulated ending.
///
/// # Errors
///
/// One sentence: the request is invalid, Envoy does not listen on the port, or Envoy does not answer.
pub async fn send(reach: &Reach, request: &WrittenRequest, simulated: &Ending) -> Result<RealAnswer, String> {
    let tried = request.read()?;
    if request.client_certificate {
        return Err("a request with a client certificate is not sent: there is none here".into());
    }
    let port = port(&tried, &listeners(reach).await?)?;
    let begin = Instant::now();
    let (stream, reason) = reach.connect(port).await?.split();
    let stream = if tried.tls { with_tls(stream, tried.sni.as_deref()).await? } else { stream };
    let answer = exchange(stream, reason, made(&tried)?, MOST_BODY).await;
    let answer = answer.map_err(|why| format!("{}, port {port}, does not answer: {why}", reach.name()))?;
    let header = |(name, value): (&hyper::header::HeaderName, &hyper::header::HeaderValue)| (name.to_string(), text(value.as_bytes()));
    let mut answer = RealAnswer {
        port,
        status: answer.status.as_u16(),
        headers: answer.headers.iter().map(header).collect(),
        body: text(&answer.body),
        is_cut: answer.is_cut,
        took_ms: u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX),
        agrees: None,
        why: String::new(),
    };
    (answer.agrees, answer.why) = agreement(simulated, &answer);
    Ok(answer)
}

/// Returns whether an answer matches the simulation, and why. Envoy adds a header to answers of upstreams.
fn agreement(simulated: &Ending, answer: &RealAnswer) -> (Option<bool>, String) {
    let header = |wanted: &str| answer.headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    let from_upstream = header("x-envoy-upstream-service-time").is_some();
    let status = u32::from(answer.status);
    let own = if from_upstream { "an upstream answered" } else { "Envoy answered by itself" };
    match simulated.outcome {
        Outcome::Forward if from_upstream => (Some(true), "an upstream answered, as simulated".into()),
        Outcome::Forward if status == 404 && answer.body.is_empty() => (Some(false), "Envoy has no route for it".into()),
        Outcome::Forward if status == 503 && NO_UPSTREAM.iter().any(|begin| answer.body.starts_with(begin)) => {
            (Some(true), "Envoy forwarded it, as simulated, and no upstream took it".into())
        }
        Outcome::Forward => (None, "whether an upstream answered cannot be known: its answers carry no x-envoy-upstream-service-time".into()),
        Outcome::Redirect | Outcome::DirectResponse => {
            let location = simulated.location.as_deref();
            match (simulated.status == Some(status), location.is_none() || header("location") == location) {
                _ if from_upstream => (Some(false), format!("{own}, and not Envoy")),
                (true, true) => (Some(true), format!("{own} with {status}, as simulated")),
                (true, false) => (Some(false), format!("it redirects to {}", header("location").unwrap_or("nowhere"))),
                (false, _) => (Some(false), format!("{own} with {status}")),
            }
        }
        Outcome::NoVirtualHost | Outcome::NoRoute => (Some(status == 404 && !from_upstream), format!("{own} with {status}")),
        Outcome::Reset | Outcome::NoListener | Outcome::NoFilterChain => (Some(false), format!("{own} with {status}")),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns Envoy's port for the request: the named port, or the usual port of the scheme.
fn port(tried: &Tried, listening: &[u16]) -> Result<u16, String> {
    let named = tried.port.or(tried.url_port).and_then(|port| u16::try_from(port).ok());
    let usual: &[u16] = if tried.tls { &[443, 8443] } else { &[80, 8080] };
    let fits = || listening.iter().copied().find(|port| usual.contains(port));
    let all = || listening.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
    match (named, listening) {
        (_, []) => Err("this Envoy listens on no port".into()),
        (Some(named), _) if listening.contains(&named) => Ok(named),
        (Some(named), _) if tried.port.is_some() => Err(format!("this Envoy does not listen on port {named}: it listens on {}", all())),
        (_, [only]) => Ok(*only),
        _ => fits().ok_or_else(|| format!("say the port: this Envoy listens on {}", all())),
    }
}

fn made(tried: &Tried) -> Result<Request<Empty<Bytes>>, String> {
    let wrong = |error: hyper::http::Error| format!("this request cannot be sent: {error}");
    let mut builder = Request::builder().method(tried.method.as_str()).uri(&tried.path).header(HOST, &tried.authority);
    for (name, value) in tried.headers.iter() {
        builder = builder.header(name, value);
    }
    builder.body(Empty::new()).map_err(wrong)
}

async fn with_tls(stream: Box<dyn Stream>, name: Option<&str>) -> Result<Box<dyn Stream>, String> {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
    let mut config = config.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider))).with_no_client_auth();
    config.enable_sni = name.is_some();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let name = ServerName::try_from(name.unwrap_or("localhost").to_owned()).map_err(|error| format!("the server name is wrong: {error}"))?;
    let shaken = tokio::time::timeout(HANDSHAKE, TlsConnector::from(Arc::new(config)).connect(name, stream)).await;
    let shaken = shaken.map_err(|_| format!("the TLS handshake is not done within {} s", HANDSHAKE.as_secs()))?;
    Ok(Box::new(shaken.map_err(|error| format!("the TLS handshake fails: {error}"))?))
}

/// Accepts every certificate whose holder has its key.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> RealAnswer {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        RealAnswer { port: 80, status, headers, body: body.into(), is_cut: false, took_ms: 1, agrees: None, why: String::new() }
    }

    #[test]
    fn answer_agreement_is_true_false_or_unknown() {
        let of = |outcome, status, location: Option<&str>| Ending { outcome, status, location: location.map(str::to_owned), ..Ending::default() };
        let upstream: &[(&str, &str)] = &[("x-envoy-upstream-service-time", "3")];
        let to = |place| [("location", place)];
        for (simulated, answer, agrees) in [
            (of(Outcome::Forward, None, None), answer(500, upstream, ""), Some(true)),
            (of(Outcome::Forward, None, None), answer(404, &[], ""), Some(false)),
            (of(Outcome::Forward, None, None), answer(503, &[], "no healthy upstream"), Some(true)),
            (of(Outcome::Forward, None, None), answer(503, &[], "closed for repairs"), None),
            (of(Outcome::Forward, None, None), answer(200, &[], "hello"), None),
            (of(Outcome::Redirect, Some(301), Some("https://a/")), answer(301, &to("https://a/"), ""), Some(true)),
            (of(Outcome::Redirect, Some(301), Some("https://a/")), answer(301, &to("https://b/"), ""), Some(false)),
            (of(Outcome::DirectResponse, Some(403), None), answer(403, &[], ""), Some(true)),
            (of(Outcome::DirectResponse, Some(403), None), answer(403, upstream, ""), Some(false)),
            (of(Outcome::NoRoute, Some(404), None), answer(404, &[], ""), Some(true)),
            (of(Outcome::NoRoute, Some(404), None), answer(200, upstream, ""), Some(false)),
            (of(Outcome::NoListener, None, None), answer(200, &[], ""), Some(false)),
        ] {
            assert_eq!(agreement(&simulated, &answer).0, agrees, "{simulated:?} {answer:?}");
        }
    }

    #[test]
    fn port_is_named_or_usual_port() {
        let of = |url: &str, named| WrittenRequest { url: url.into(), port: named, ..WrittenRequest::default() }.read().expect("a request");
        assert_eq!(port(&of("http://a/", None), &[8080, 8443]), Ok(8080));
        assert_eq!(port(&of("https://a/", None), &[8080, 8443]), Ok(8443));
        assert_eq!(port(&of("http://a:9000/", None), &[8080, 9000]), Ok(9000));
        assert_eq!(port(&of("http://a/", None), &[10_000]), Ok(10_000), "there is only one");
        assert_eq!(port(&of("http://a/", Some(8443)), &[8080, 8443]), Ok(8443));
        assert!(port(&of("http://a/", Some(1)), &[8080]).is_err_and(|why| why.contains("listens on 8080")));
        assert!(port(&of("http://a/", None), &[9000, 9001]).is_err_and(|why| why.contains("say the port")));
        assert!(port(&of("http://a/", None), &[]).is_err());
    }

    #[tokio::test]
    async fn send_reaches_listener_with_request_unchanged() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let at = listener.local_addr().expect("an address");
        let (heard, mut hear) = tokio::sync::mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut asked = [0; 1024];
                let length = stream.read(&mut asked).await.unwrap_or_default();
                let asked = String::from_utf8_lossy(&asked[..length]).into_owned();
                let statuses = format!("{{\"listener_statuses\":[{{\"local_address\":{{\"socket_address\":{{\"port_value\":{}}}}}}}]}}", at.port());
                let body = if asked.starts_with("GET /listeners") { statuses } else { "hello".into() };
                let answer = format!("HTTP/1.1 200 OK\r\nx-envoy-upstream-service-time: 1\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                stream.write_all(answer.as_bytes()).await.expect("it is written");
                drop(heard.send(asked));
            }
        });
        let headers = vec![("X-Version".to_owned(), "2".to_owned())];
        let request = WrittenRequest { method: "PUT".into(), url: "http://shop.example/a?b=c".into(), headers, ..WrittenRequest::default() };
        let simulated = Ending { outcome: Outcome::Forward, ..Ending::default() };
        let got = send(&Reach::Local(at), &request, &simulated).await.expect("an answer");
        assert_eq!((got.status, got.body.as_str(), got.agrees, got.port), (200, "hello", Some(true), at.port()));
        let asked = [hear.recv().await, hear.recv().await].map(Option::unwrap_or_default);
        assert!(asked[1].starts_with("PUT /a?b=c HTTP/1.1\r\n"), "{asked:?}");
        assert!(asked[1].contains("host: shop.example\r\n") && asked[1].contains("x-version: 2\r\n"), "{asked:?}");
    }
}
