//! Gets tokens for Azure: from a client secret (`AZURE_CLIENT_SECRET`), workload identity
//! (`AZURE_FEDERATED_TOKEN_FILE`), or the Azure CLI of this machine (`az account get-access-token`), in this order.
//!
//! No token or secret appears in any message: [`Login::scrub`] removes them from the error messages of others.

use super::transport::Transport;
use super::trouble::{Kind, Trouble};
use crate::lock;
use chancery_core::redact::Redactor;
use http_body_util::Full;
use hyper::Request;
use hyper::header::CONTENT_TYPE;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The source of tokens.
pub enum Credentials {
    /// An application with a secret.
    Secret {
        /// The tenant's id in Microsoft Entra.
        tenant: String,
        client: String,
        secret: String,
    },
    /// An account of the cluster that Azure maps to an application.
    Workload {
        tenant: String,
        client: String,
        /// The file with the account's token, which the cluster renews.
        file: PathBuf,
    },
    /// The user who has logged in with the Azure CLI.
    AzureCli,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.words())
    }
}

impl Credentials {
    /// Reads the credentials from environment variables.
    ///
    /// # Errors
    ///
    /// Some variables are set, but others that belong to them are missing.
    pub fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let given = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let needed =
            |name: &str, beside: &str| given(name).ok_or_else(|| format!("{beside} is set and {name} is not: both are needed to log in to Azure"));
        if let Some(secret) = given("AZURE_CLIENT_SECRET") {
            let of = "AZURE_CLIENT_SECRET";
            return Ok(Self::Secret { tenant: needed("AZURE_TENANT_ID", of)?, client: needed("AZURE_CLIENT_ID", of)?, secret });
        }
        if let Some(file) = given("AZURE_FEDERATED_TOKEN_FILE") {
            let of = "AZURE_FEDERATED_TOKEN_FILE";
            return Ok(Self::Workload { tenant: needed("AZURE_TENANT_ID", of)?, client: needed("AZURE_CLIENT_ID", of)?, file: file.into() });
        }
        Ok(Self::AzureCli)
    }

    /// Describes the source, for messages.
    #[must_use]
    pub fn words(&self) -> &'static str {
        match self {
            Self::Secret { .. } => "the secret of an application",
            Self::Workload { .. } => "workload identity",
            Self::AzureCli => "the Azure CLI",
        }
    }
}

/// A token, and the end of its validity.
struct Token {
    text: String,
    until: Instant,
}

/// Gets tokens, and keeps the last token.
pub struct Login {
    credentials: Credentials,
    /// The login endpoint, such as `https://login.microsoftonline.com`.
    login: String,
    /// The audience of the token, such as `https://management.azure.com`.
    audience: String,
    token: Mutex<Option<Token>>,
    /// Assertions and tokens that were used, for removal from messages.
    used: Mutex<Vec<String>>,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login").field("credentials", &self.credentials).field("login", &self.login).finish_non_exhaustive()
    }
}

/// How long before its end a token is renewed.
const EARLY: Duration = Duration::from_secs(120);
/// The assumed validity of a token whose answer names none.
const USUAL: Duration = Duration::from_secs(300);
/// The most used tokens that are removed from messages.
const MOST_USED: usize = 8;

impl Login {
    /// Creates a login with these credentials at these endpoints.
    #[must_use]
    pub fn new(credentials: Credentials, login: &str, audience: &str) -> Self {
        let bare = |text: &str| text.trim_end_matches('/').to_owned();
        Self { credentials, login: bare(login), audience: bare(audience), token: Mutex::default(), used: Mutex::default() }
    }

    /// Returns a valid token.
    ///
    /// # Errors
    ///
    /// The login gives no token.
    pub async fn token(&self, transport: &Transport) -> Result<String, Trouble> {
        if let Some(known) = lock(&self.token).as_ref().filter(|token| token.until > Instant::now() + EARLY) {
            return Ok(known.text.clone());
        }
        let got = match &self.credentials {
            Credentials::Secret { tenant, client, secret } => self.ask(transport, tenant, client, &[("client_secret", secret)]).await,
            Credentials::Workload { tenant, client, file } => {
                let assertion = std::fs::read_to_string(file)
                    .map_err(|error| Trouble::new(Kind::Denied, format!("cannot read {} for workload identity: {error}", file.display())))?;
                let assertion = assertion.trim();
                self.remember(assertion);
                let kind = ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
                self.ask(transport, tenant, client, &[kind, ("client_assertion", assertion)]).await
            }
            Credentials::AzureCli => self.ask_cli().await,
        };
        let token = got.map_err(|trouble| Trouble { message: self.scrub(&trouble.message), ..trouble })?;
        self.remember(&token.text);
        let text = token.text.clone();
        *lock(&self.token) = Some(token);
        Ok(text)
    }

    /// Forgets the last token, which Azure no longer accepts.
    pub fn forget(&self) {
        *lock(&self.token) = None;
    }

    /// Returns a string without secrets and tokens.
    #[must_use]
    pub fn scrub(&self, text: &str) -> String {
        let used = lock(&self.used);
        let secret = if let Credentials::Secret { secret, .. } = &self.credentials { Some(secret.as_str()) } else { None };
        Redactor::new(used.iter().map(String::as_str).chain(secret)).scrub(text).into_owned()
    }

    fn remember(&self, used: &str) {
        let mut all = lock(&self.used);
        if !all.iter().any(|known| known == used) {
            all.push(used.to_owned());
            let over = all.len().saturating_sub(MOST_USED);
            all.drain(..over);
        }
    }

    /// Requests a token from the login.
    async fn ask(&self, transport: &Transport, tenant: &str, client: &str, proof: &[(&str, &str)]) -> Result<Token, Trouble> {
        let scope = format!("{}/.default", self.audience);
        let fields = [("grant_type", "client_credentials"), ("client_id", client), ("scope", &scope)];
        let body: Vec<String> = fields.iter().chain(proof).map(|(name, value)| format!("{name}={}", escaped(value))).collect();
        let url = format!("{}/{}/oauth2/v2.0/token", self.login, escaped(tenant));
        let request = Request::post(&url).header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(Full::from(body.join("&")));
        let request = request.map_err(|error| Trouble::new(Kind::Denied, format!("{} is no address to log in at: {error}", self.login)))?;
        let answer = transport.send(request).await?;
        if answer.status != 200 {
            let trouble = Trouble::of("cannot log in", &answer);
            // A login that does not know the client answers 400.
            return Err(if trouble.kind == Kind::Refused { Trouble { kind: Kind::Denied, ..trouble } } else { trouble });
        }
        let body = answer.json();
        let text = body["access_token"].as_str().ok_or_else(|| Trouble::new(Kind::Denied, "cannot log in: the answer has no token"))?;
        let seconds = body["expires_in"].as_u64().or_else(|| body["expires_in"].as_str()?.parse().ok());
        Ok(Token { text: text.to_owned(), until: Instant::now() + seconds.map_or(USUAL, Duration::from_secs) })
    }

    /// Requests a token from the Azure CLI.
    async fn ask_cli(&self) -> Result<Token, Trouble> {
        let denied = |why: &str| {
            let else_ = "or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET";
            Trouble::new(Kind::Denied, format!("there are no credentials for Azure: {why}; log in by `az login`, {else_}"))
        };
        let mut command = tokio::process::Command::new("az");
        command.args(["account", "get-access-token", "--output", "json", "--resource", &self.audience]).kill_on_drop(true);
        command.stdin(std::process::Stdio::null());
        let output = tokio::time::timeout(Duration::from_secs(60), command.output()).await;
        let output = output.map_err(|_| denied("`az` does not end"))?.map_err(|error| denied(&format!("`az` cannot be run ({error})")))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it fails without a word");
            return Err(denied(&format!("`az account get-access-token` says: {}", line.trim())));
        }
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let text = answer["accessToken"].as_str().ok_or_else(|| denied("`az account get-access-token` prints no token"))?;
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map(|since| since.as_secs()).unwrap_or_default();
        let left = answer["expires_on"].as_u64().map_or(USUAL, |at| Duration::from_secs(at.saturating_sub(now)));
        Ok(Token { text: text.to_owned(), until: Instant::now() + left })
    }
}

/// Escapes a value of a form.
fn escaped(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<Credentials, String> {
        Credentials::of_environment(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn credentials_follow_environment() {
        let (tenant, client) = (("AZURE_TENANT_ID", "t"), ("AZURE_CLIENT_ID", "c"));
        let secret = ("AZURE_CLIENT_SECRET", "very-secret-text");
        let words = |credentials: Result<Credentials, String>| credentials.map(|of| of.words());
        assert_eq!(words(of(&[tenant, client, secret])), Ok("the secret of an application"));
        assert_eq!(words(of(&[tenant, client, ("AZURE_FEDERATED_TOKEN_FILE", "/f")])), Ok("workload identity"));
        assert_eq!(words(of(&[tenant, client])), Ok("the Azure CLI"));
        assert!(words(of(&[client, secret])).is_err_and(|why| why.contains("AZURE_TENANT_ID") && !why.contains("very-secret")));
    }

    #[test]
    fn messages_never_contain_secrets_or_tokens() {
        let credentials =
            of(&[("AZURE_TENANT_ID", "t"), ("AZURE_CLIENT_ID", "c"), ("AZURE_CLIENT_SECRET", "very-secret-text")]).expect("credentials");
        let login = Login::new(credentials, "https://login.example.com/", "https://arm.example.com/");
        login.remember("a-token-that-was-used");
        assert!(!format!("{login:?}").contains("secret-text"));
        let shown = login.scrub("refused: very-secret-text, a-token-that-was-used");
        assert!(shown.starts_with("refused") && !shown.contains("secret-text") && !shown.contains("token-that"), "{shown}");
    }
}
