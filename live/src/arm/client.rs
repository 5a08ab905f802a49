//! Sends the required requests of Azure Resource Manager: read and change a gateway, read a public address. Does not
//! decide about changes; see `apply`.

use super::Pace;
use super::answer::Answer;
use super::credentials::Login;
use super::id::GatewayId;
use super::metrics::Metrics;
use super::operation::{Next, Operation};
use super::transport::Transport;
use super::trouble::{Kind, Trouble};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, IF_MATCH};
use hyper::{Method, Request, Uri};
use serde_json::Value;
use std::time::{Duration, Instant};

/// The API version of gateways and addresses.
const VERSION: &str = "2023-11-01";
/// The most attempts at a request that Azure throttles or cannot answer now.
const ATTEMPTS: u32 = 4;

/// A client of Azure Resource Manager.
#[derive(Debug)]
pub struct Client {
    transport: Transport,
    login: Login,
    endpoint: String,
    pace: Pace,
    metrics: Metrics,
}

impl Client {
    /// Creates a client of an endpoint such as `https://management.azure.com`.
    ///
    /// # Errors
    ///
    /// The machine trusts no CA, or the client would send a token in clear to another machine.
    pub fn new(endpoint: &str, login: Login, pace: Pace) -> Result<Self, String> {
        check(endpoint)?;
        Ok(Self { transport: Transport::new()?, login, endpoint: endpoint.trim_end_matches('/').to_owned(), pace, metrics: Metrics::default() })
    }

    /// Sets the pauses and time limits.
    #[must_use]
    pub fn pace(&self) -> &Pace {
        &self.pace
    }

    /// Returns the counters.
    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Returns the current gateway.
    ///
    /// # Errors
    ///
    /// The gateway cannot be read.
    pub async fn gateway(&self, id: &GatewayId) -> Result<Value, Trouble> {
        let answer = self.tried(Method::GET, &self.url(&id.to_string()), None).await?;
        match answer.status {
            200 => {
                self.metrics.read();
                Ok(answer.json())
            }
            _ => Err(self.trouble(&format!("the gateway {} cannot be read", id.name), &answer)),
        }
    }

    /// Returns the address of a public address resource, if Azure has assigned one.
    ///
    /// # Errors
    ///
    /// The resource cannot be read.
    pub async fn public_address(&self, id: &str) -> Result<Option<String>, Trouble> {
        if !id.starts_with("/subscriptions/") || id.contains(['?', '#', ' ']) || id.contains("..") {
            return Err(Trouble::new(Kind::Missing, format!("`{id}` is no id of a public address")));
        }
        let answer = self.tried(Method::GET, &self.url(id), None).await?;
        match answer.status {
            200 => Ok(answer.json()["properties"]["ipAddress"].as_str().map(str::to_owned)),
            _ => Err(self.trouble("a public address of the gateway cannot be read", &answer)),
        }
    }

    /// Changes the gateway if it still has this tag, waits for the result, and reads the gateway again.
    ///
    /// # Errors
    ///
    /// Azure did not change the gateway, or the result is unknown.
    pub async fn change(&self, id: &GatewayId, document: &str, etag: Option<&str>) -> Result<Value, Trouble> {
        let url = self.url(&id.to_string());
        let answer = self.tried(Method::PUT, &url, Some((document, etag))).await?;
        let begin = Instant::now();
        let mut next = Operation::begun(&url, &answer);
        loop {
            match next {
                Next::Done => return self.gateway(id).await,
                Next::Failed(trouble) => return Err(self.scrubbed(trouble)),
                Next::Ask(operation, after) => {
                    if begin.elapsed() > self.pace.patience {
                        return Err(Trouble::new(Kind::Unavailable, "the change did not end in time, and its outcome is not known"));
                    }
                    tokio::time::sleep(after.unwrap_or(self.pace.poll)).await;
                    let answer = self.once(Method::GET, operation.url(), None).await;
                    next = operation.after(&answer);
                }
            }
        }
    }

    fn url(&self, id: &str) -> String {
        format!("{}{id}?api-version={VERSION}", self.endpoint)
    }

    /// Sends a request, and repeats it when Azure asks for a pause.
    async fn tried(&self, method: Method, url: &str, body: Option<(&str, Option<&str>)>) -> Result<Answer, Trouble> {
        let mut attempt = 1;
        loop {
            let answer = self.once(method.clone(), url, body).await;
            let wait = match &answer {
                Ok(answer) if answer.status == 401 || answer.status == 429 || matches!(answer.status, 502..=504) => answer.retry_after,
                // A change may have begun although its answer was lost. Reading the gateway shows whether it did.
                Err(trouble) if trouble.kind == Kind::Unavailable && body.is_none() => None,
                _ => return answer,
            };
            if attempt == ATTEMPTS {
                return answer;
            }
            attempt += 1;
            let again = answer.as_ref().is_ok_and(|answer| answer.status == 401);
            tokio::time::sleep(wait.unwrap_or(if again { Duration::ZERO } else { self.pace.poll })).await;
        }
    }

    async fn once(&self, method: Method, url: &str, body: Option<(&str, Option<&str>)>) -> Result<Answer, Trouble> {
        self.is_ours(url)?;
        let token = self.login.token(&self.transport).await?;
        let mut request = Request::builder().method(method).uri(url).header(AUTHORIZATION, format!("Bearer {token}"));
        let mut text = Bytes::new();
        if let Some((document, etag)) = body {
            request = request.header(CONTENT_TYPE, "application/json");
            if let Some(etag) = etag {
                request = request.header(IF_MATCH, etag);
            }
            text = Bytes::copy_from_slice(document.as_bytes());
        }
        let request = request.body(Full::from(text)).map_err(|error| Trouble::new(Kind::Refused, format!("the request cannot be made: {error}")))?;
        let answer = self.transport.send(request).await.map_err(|trouble| self.scrubbed(trouble));
        self.metrics.asked(&answer);
        let answer = answer?;
        if answer.status == 401 {
            self.login.forget();
        }
        Ok(answer)
    }

    /// Refuses URLs outside the endpoint: an answer must not send a token elsewhere.
    fn is_ours(&self, url: &str) -> Result<(), Trouble> {
        let place =
            |url: &str| url.parse::<Uri>().ok().and_then(|uri| Some((uri.scheme_str()?.to_owned(), uri.authority()?.to_string().to_lowercase())));
        if place(url).is_some_and(|of| Some(of) == place(&self.endpoint)) {
            return Ok(());
        }
        Err(Trouble::new(Kind::Refused, "an answer of Azure leads to another server, which is not asked"))
    }

    fn trouble(&self, what: &str, answer: &Answer) -> Trouble {
        self.scrubbed(Trouble::of(what, answer))
    }

    fn scrubbed(&self, trouble: Trouble) -> Trouble {
        Trouble { message: self.login.scrub(&trouble.message), ..trouble }
    }
}

/// Checks whether a client may send a token to an endpoint.
///
/// # Errors
///
/// The client would send the token in clear to another machine, or the string is not an address.
pub fn check(endpoint: &str) -> Result<(), String> {
    let uri: Uri = endpoint.parse().map_err(|error| format!("`{endpoint}` is no address: {error}"))?;
    let is_local = matches!(uri.host(), Some("localhost" | "127.0.0.1" | "[::1]"));
    match uri.scheme_str() {
        Some("https") => Ok(()),
        Some("http") if is_local => Ok(()),
        _ => Err(format!("`{endpoint}` must begin with https://: credentials are sent there")),
    }
}
