//! Work that is handed on, and opened again.
//!
//! What must not be here: how it is packed.

use super::Work;
use chancery_core::simulate::SavedRequest;
use serde::{Deserialize, Serialize};

/// What is to be handed on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sharing {
    /// Requests that go with it.
    pub requests: Vec<SavedRequest>,
    /// With key material and credentials.
    pub with_secrets: bool,
    /// The page that opens the link.
    pub page: String,
}

/// Work as it is handed on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shared {
    /// The link.
    pub link: String,
    /// Whether some programs would cut the link off.
    pub long: bool,
    /// The same as a file.
    pub file: String,
    /// Whether it holds key material or credentials that can be left out.
    pub secret: bool,
}

/// Work as a browser may keep it: stand-ins are in the place of what may be secret, and credentials of requests are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The files and how to compile them.
    pub work: Work,
    /// The requests.
    pub requests: Vec<SavedRequest>,
}

/// Work that was handed on, opened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// The files and how to compile them.
    pub work: Work,
    /// The requests.
    pub requests: Vec<SavedRequest>,
    /// Whether key material was replaced by stand-ins.
    pub redacted: bool,
}
