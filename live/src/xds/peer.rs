//! Describes the client at the other end of a connection, and whether it may have key material. Does not read
//! certificates; see `tls` and `identity`.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// The client at the other end.
#[derive(Clone, Debug, Default)]
pub struct Peer {
    pub address: Option<SocketAddr>,
    /// Whether it has shown a certificate that our CA signed.
    pub is_known: bool,
    /// The names of that certificate.
    pub names: Arc<[String]>,
}

impl Peer {
    /// Whether it may have key material: only on this machine, or with a certificate.
    #[must_use]
    pub fn may_have_secrets(&self) -> bool {
        self.is_known || self.address.is_some_and(|address| is_loopback(address.ip()))
    }
}

fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_material_requires_loopback_or_certificate() {
        let may = |address: &str, is_known: bool| Peer { address: address.parse().ok(), is_known, ..Peer::default() }.may_have_secrets();
        assert!(may("127.0.0.1:1", false) && may("[::1]:1", false) && may("[::ffff:127.0.0.1]:1", false));
        assert!(!may("10.0.0.1:1", false) && !may("nonsense", false));
        assert!(may("10.0.0.1:1", true));
    }
}
