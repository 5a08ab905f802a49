//! The certificates that clients send in simulated requests, so that all simulations know them by the same names.

use alloc::format;
use alloc::string::String;

/// The end of the name in a certificate that gateways accept.
pub const ACCEPTED: &str = "good";

/// The CA that signed it.
pub const ISSUER: &str = "CN=Test CA";

/// Returns the subject of a certificate, by the end of its name.
#[must_use]
pub fn subject(name: &str) -> String {
    format!("CN=client-{name}")
}
