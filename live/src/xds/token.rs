//! Asks the sources whether the token of a stream gives access to a gateway. Does not judge certificates; see
//! `identity`.
//!
//! Consul gives an Envoy its token with its bootstrap, and the Envoy sends it with each stream. A token is not kept
//! longer than its stream, and never shown.

use std::pin::Pin;
use std::sync::Arc;

/// The header with the token of a stream.
pub const HEADER: &str = "x-consul-token";

/// The permission of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The token gives access to the gateway.
    Allowed,
    /// The token gives no access, for this reason.
    Denied(String),
    /// The permission cannot be determined now, for this reason.
    Unknown(String),
}

/// Knows the permissions of tokens.
pub trait Authorize: Send + Sync {
    /// Returns the permission of a token, or of a missing token, for a gateway.
    fn may<'a>(&'a self, token: Option<&'a str>, gateway: &'a str) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>>;
}

/// All sources that know the permissions of tokens. Clones share them.
#[derive(Clone, Default)]
pub struct Tokens(Arc<[Arc<dyn Authorize>]>);

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Tokens").field(&self.0.len()).finish()
    }
}

impl FromIterator<Arc<dyn Authorize>> for Tokens {
    fn from_iter<T: IntoIterator<Item = Arc<dyn Authorize>>>(all: T) -> Self {
        Self(all.into_iter().collect())
    }
}

impl Tokens {
    /// Whether no source checks tokens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the permission of a token for a gateway. Every source that knows the gateway must allow it.
    pub async fn may(&self, token: Option<&str>, gateway: &str) -> Verdict {
        for known in self.0.iter() {
            match known.may(token, gateway).await {
                Verdict::Allowed => {}
                other => return other,
            }
        }
        Verdict::Allowed
    }
}
