//! Sends one HTTP request, and returns its answer. Does not follow redirects, because they would carry a token along.

use super::answer::Answer;
use super::trouble::{Kind, Trouble};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::{HeaderMap, Request};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::time::Duration;

/// The time limit for an answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// The largest body that is read, in bytes.
const LARGEST: usize = 64 << 20;

/// Sends requests.
#[derive(Clone, Debug)]
pub struct Transport(Client<HttpsConnector<HttpConnector>, Full<Bytes>>);

impl Transport {
    /// Creates a transport with the CAs that this machine trusts.
    ///
    /// # Errors
    ///
    /// The machine trusts no CA.
    pub fn new() -> Result<Self, String> {
        let connector = HttpsConnectorBuilder::new().with_native_roots();
        let connector = connector.map_err(|error| format!("the authorities that this machine trusts cannot be read: {error}"))?;
        Ok(Self(Client::builder(TokioExecutor::new()).build(connector.https_or_http().enable_http1().build())))
    }

    /// Sends a request.
    ///
    /// # Errors
    ///
    /// The answer is missing, late or too large.
    pub async fn send(&self, request: Request<Full<Bytes>>) -> Result<Answer, Trouble> {
        let host = request.uri().authority().map(ToString::to_string).unwrap_or_default();
        let failed = |why: &str| Trouble::new(Kind::Unavailable, format!("{host} does not answer: {why}"));
        let exchange = async {
            let answer = self.0.request(request).await.map_err(|error| failed(&chain(&error)))?;
            let (head, body) = answer.into_parts();
            let body = Limited::new(body, LARGEST).collect().await.map_err(|error| failed(&error.to_string()))?;
            Ok(read(head.status.as_u16(), &head.headers, body.to_bytes().to_vec()))
        };
        tokio::time::timeout(PATIENCE, exchange).await.unwrap_or_else(|_| Err(failed("not within a minute")))
    }
}

fn read(status: u16, headers: &HeaderMap, body: Vec<u8>) -> Answer {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    // If the header is a date, the usual pause applies.
    let retry_after = text("retry-after").and_then(|text| text.trim().parse().ok()).map(|seconds: u64| Duration::from_secs(seconds.min(600)));
    Answer { status, retry_after, operation: text("azure-asyncoperation"), location: text("location"), body }
}

/// Describes an error together with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut out = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        out = format!("{out}: {error}");
        cause = error.source();
    }
    out
}
