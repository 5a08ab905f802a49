//! What is printed in place of something secret.
//!
//! What must not be here: what is secret.

/// What is printed in place of something secret.
pub const REDACTED: &str = "<redacted>";
