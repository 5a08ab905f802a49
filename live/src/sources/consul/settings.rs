//! Reads which Consul agent is followed: from options, and from the variables of Consul's own command line. Does not
//! connect to it; see `connect`.

use crate::Failure;
use std::path::{Path, PathBuf};

/// The default address of an agent.
const USUAL: &str = "127.0.0.1:8500";

/// The agent to follow. Each missing option falls back to an environment variable, as in Consul's own command line.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The address of the agent [default: $CONSUL_HTTP_ADDR]
    pub address: Option<String>,
    /// A file with the token [default: $CONSUL_HTTP_TOKEN_FILE, then $CONSUL_HTTP_TOKEN]
    pub token_file: Option<PathBuf>,
    /// The CA of the agent's certificate [default: $CONSUL_CACERT]
    pub ca_file: Option<PathBuf>,
    /// The certificate for the agent [default: $CONSUL_CLIENT_CERT]
    pub client_cert: Option<PathBuf>,
    /// The key of that certificate [default: $CONSUL_CLIENT_KEY]
    pub client_key: Option<PathBuf>,
    /// The name in the agent's certificate [default: $CONSUL_TLS_SERVER_NAME]
    pub server_name: Option<String>,
    /// The datacenter [default: the agent's own]
    pub datacenter: Option<String>,
}

/// The address of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A host with a port.
    Tcp {
        host: String,
        /// 8500 by default, or 8501 with TLS.
        port: u16,
    },
    /// A Unix socket.
    Unix(PathBuf),
}

/// The source of a token.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// The client has no token.
    Absent,
    /// A file, which is read again for every request.
    File(PathBuf),
    /// The token itself.
    Given(String),
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("<redacted>")
    }
}

impl Token {
    /// Returns the present token.
    pub(super) fn read(&self) -> Result<Option<String>, String> {
        match self {
            Token::Absent => Ok(None),
            Token::Given(token) => Ok(Some(token.clone())),
            Token::File(path) => {
                let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read the token file {}: {error}", path.display()))?;
                Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
            }
        }
    }
}

/// The complete settings of a connection.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) target: Target,
    pub(super) is_tls: bool,
    pub(super) token: Token,
    pub(super) ca_file: Option<PathBuf>,
    pub(super) client: Option<(PathBuf, PathBuf)>,
    pub(super) server_name: String,
    pub(super) verify: bool,
    pub(super) datacenter: Option<String>,
}

impl Settings {
    /// Adds the settings of the environment.
    pub(super) fn resolved(&self, env: impl Fn(&str) -> Option<String>) -> Result<Resolved, Failure> {
        let env = |name: &str| env(name).filter(|value| !value.is_empty());
        let path = |given: &Option<PathBuf>, name: &str| given.clone().or_else(|| env(name).map(PathBuf::from));
        let is_true = |name: &str| env(name).is_some_and(|value| matches!(value.as_str(), "1" | "t" | "T" | "true" | "TRUE" | "True"));
        let is_false = |name: &str| env(name).is_some_and(|value| matches!(value.as_str(), "0" | "f" | "F" | "false" | "FALSE" | "False"));
        let address = self.address.clone().filter(|given| !given.is_empty()).or_else(|| env("CONSUL_HTTP_ADDR")).unwrap_or_else(|| USUAL.into());
        let (target, is_https) = target(&address)?;
        let client = match (path(&self.client_cert, "CONSUL_CLIENT_CERT"), path(&self.client_key, "CONSUL_CLIENT_KEY")) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err("a client certificate for Consul needs both files: the certificate and its key".into()),
        };
        let token = match (path(&self.token_file, "CONSUL_HTTP_TOKEN_FILE"), env("CONSUL_HTTP_TOKEN")) {
            (Some(file), _) => Token::File(file),
            (None, Some(token)) => Token::Given(token),
            (None, None) => Token::Absent,
        };
        // A missing file is an error that the user should see at once.
        token.read().map_err(Failure)?;
        let host = if let Target::Tcp { host, .. } = &target { host.clone() } else { "localhost".into() };
        Ok(Resolved {
            is_tls: is_https || (is_true("CONSUL_HTTP_SSL") && !address.starts_with("http://")),
            target,
            token,
            ca_file: path(&self.ca_file, "CONSUL_CACERT"),
            client,
            server_name: self.server_name.clone().or_else(|| env("CONSUL_TLS_SERVER_NAME")).unwrap_or(host),
            verify: !is_false("CONSUL_HTTP_SSL_VERIFY"),
            datacenter: self.datacenter.clone(),
        })
    }
}

/// Parses `HOST:PORT`, `http://HOST:PORT`, `https://HOST:PORT` or `unix:///PATH`. Returns whether the address requires
/// TLS.
fn target(address: &str) -> Result<(Target, bool), Failure> {
    let wrong = || Failure(format!("`{address}` is no address of Consul: write HOST:PORT, http://HOST:PORT, https://HOST:PORT or unix:///PATH"));
    if let Some(path) = address.strip_prefix("unix://") {
        return if path.is_empty() { Err(wrong()) } else { Ok((Target::Unix(Path::new(path).to_path_buf()), false)) };
    }
    let (is_tls, rest) = match (address.strip_prefix("https://"), address.strip_prefix("http://")) {
        (Some(rest), _) => (true, rest.trim_end_matches('/')),
        (_, Some(rest)) => (false, rest.trim_end_matches('/')),
        // In a path, a slash is part of a folder.
        _ => (false, address),
    };
    let usual = if is_tls { 8501 } else { 8500 };
    let (host, port) = match rest.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && (!host.contains(':') || host.ends_with(']')) => (host, port.parse().map_err(|_| wrong())?),
        Some(_) => return Err(wrong()),
        None => (rest, usual),
    };
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '[' | ']' | ':');
    if host.is_empty() || !host.chars().all(fits) {
        return Err(wrong());
    }
    Ok((Target::Tcp { host: host.trim_matches(['[', ']']).to_owned(), port }, is_tls))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(env: &[(&str, &str)], settings: &Settings) -> Result<Resolved, Failure> {
        settings.resolved(|name| env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn option_wins_over_environment() {
        let tcp = |host: &str, port| Target::Tcp { host: host.into(), port };
        let usual = with(&[], &Settings::default()).expect("settings");
        assert_eq!((usual.target, usual.is_tls, usual.verify), (tcp("127.0.0.1", 8500), false, true));
        let env = [("CONSUL_HTTP_ADDR", "https://consul.example"), ("CONSUL_HTTP_TOKEN", "t0ken"), ("CONSUL_HTTP_SSL_VERIFY", "false")];
        let found = with(&env, &Settings::default()).expect("settings");
        assert_eq!((&found.target, found.is_tls, found.verify), (&tcp("consul.example", 8501), true, false));
        assert!(!format!("{found:?}").contains("t0ken"), "a token is never shown");
        let given = Settings { address: Some("[::1]:18500".into()), ..Settings::default() };
        let found = with(&env, &given).expect("settings");
        assert_eq!((found.target, found.is_tls), (tcp("::1", 18500), false));
        let ssl = with(&[("CONSUL_HTTP_SSL", "true")], &Settings::default()).expect("settings");
        assert!(ssl.is_tls);
    }

    #[test]
    fn invalid_address_is_error() {
        for wrong in ["", "unix://", "gateway/", "host:port", "http://", "a b:1", "1:2:3", "user@host:1"] {
            assert!(target(wrong).is_err(), "{wrong}");
        }
        let half = Settings { client_cert: Some("a.pem".into()), ..Settings::default() };
        assert!(with(&[], &half).is_err_and(|why| why.0.contains("both files")));
        let lost = Settings { token_file: Some("/nowhere/token".into()), ..Settings::default() };
        assert!(with(&[], &lost).is_err_and(|why| why.0.contains("/nowhere/token")));
    }
}
