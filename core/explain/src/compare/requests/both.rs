//! Defines a request as both sides receive it. Does not simulate it; see `behaviour`.

use alloc::borrow::ToOwned;
use alloc::string::String;
use chancery_envoy::simulate::{Credential, Request};

/// A request with its ports on both sides.
#[derive(Clone)]
pub(super) struct Both {
    pub(super) request: Request,
    pub(super) ports: [Option<u32>; 2],
    /// The credential that the client shows.
    pub(super) credential: Option<Credential>,
}

impl Both {
    /// Returns the same request with a credential.
    pub(super) fn showing(&self, credential: Credential) -> Self {
        let mut shown = self.clone();
        credential.add_to(&mut shown.request);
        shown.credential = Some(credential);
        shown
    }

    pub(super) fn on(&self, side: usize) -> Request {
        // Port 0 represents the missing listener of a side.
        Request { port: Some(self.ports.get(side).copied().flatten().unwrap_or(0)), ..self.request.clone() }
    }
}

/// Returns the scheme of a request's URL.
pub(super) fn scheme_of(request: &Request) -> String {
    if request.tls { "https" } else { "http" }.to_owned()
}
