//! Sends one HTTP request, and returns its answer. It does not follow redirects, because a token would go with them.

use super::trouble::{Kind, Trouble};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::{HeaderMap, Request};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use std::time::Duration;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// The largest body that is read.
const LARGEST: usize = 64 << 20;

/// An answer.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// How long to wait before the next request.
    pub retry_after: Option<Duration>,
    /// Where the state of an operation is asked for.
    pub operation: Option<String>,
    /// Where the outcome of an operation will be.
    pub location: Option<String>,
    /// Its body.
    pub body: Vec<u8>,
}

impl Answer {
    /// Its body as JSON; null where it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// Sends requests.
#[derive(Clone, Debug)]
pub struct Transport(Client<HttpsConnector<HttpConnector>, Full<Bytes>>);

impl Transport {
    /// With the authorities that this machine trusts.
    ///
    /// # Errors
    ///
    /// It trusts none.
    pub fn new() -> Result<Self, String> {
        let connector = HttpsConnectorBuilder::new().with_native_roots();
        let connector = connector.map_err(|error| format!("the authorities that this machine trusts cannot be read: {error}"))?;
        Ok(Self(Client::builder(TokioExecutor::new()).build(connector.https_or_http().enable_http1().build())))
    }

    /// Sends a request.
    ///
    /// # Errors
    ///
    /// There is no answer, not soon, or a too large one.
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
    // A date in its place is left to the usual pace.
    let retry_after = text("retry-after").and_then(|text| text.trim().parse().ok()).map(|seconds: u64| Duration::from_secs(seconds.min(600)));
    Answer { status, retry_after, operation: text("azure-asyncoperation"), location: text("location"), body }
}

/// An error with what caused it.
fn chain(error: &dyn std::error::Error) -> String {
    let mut out = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        out = format!("{out}: {error}");
        cause = error.source();
    }
    out
}
