//! Exporting and importing work as a link or a file. Does not define the formats; see `chancery_core::explain`.

use super::Work;
use chancery_core::simulate::SavedRequest;
use serde::{Deserialize, Serialize};

/// What to export.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sharing {
    /// Saved requests to include.
    pub requests: Vec<SavedRequest>,
    /// Whether to include key material and credentials.
    pub with_secrets: bool,
    /// The address of the page that opens the link.
    pub page: String,
}

/// Exported work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shared {
    pub link: String,
    /// Whether some programs would truncate the link.
    pub long: bool,
    /// The contents of the file.
    pub file: String,
    /// Whether it contains key material or credentials that could be left out.
    pub secret: bool,
}

/// Work that the browser may store: secrets are replaced, and requests have no credentials.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    pub work: Work,
    pub requests: Vec<SavedRequest>,
}

/// Imported work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    pub work: Work,
    pub requests: Vec<SavedRequest>,
    /// Whether the export replaced key material.
    pub redacted: bool,
}
