//! Asks the sources whether the token of a stream gives access to a gateway.
//!
//! Consul gives an Envoy its token with its bootstrap, and the Envoy sends it with each stream. A token is not kept longer than its stream, and
//! never shown. See `identity` for certificates.

use std::pin::Pin;
use std::sync::Arc;

/// The header in which a stream shows its token.
pub const HEADER: &str = "x-consul-token";

/// What is known of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may ask for the gateway.
    Allowed,
    /// It may not, and why.
    Denied(String),
    /// It cannot be found out now, and why not.
    Unknown(String),
}

/// Something that knows what tokens may do.
pub trait Authorize: Send + Sync {
    /// Whether a token, or none, may ask for a gateway.
    fn may<'a>(&'a self, token: Option<&'a str>, gateway: &'a str) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>>;
}

/// All that know what tokens may do. Clones are the same.
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
    /// Whether nobody looks at tokens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is known of a token for a gateway: everyone who knows something of the gateway must allow it.
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
