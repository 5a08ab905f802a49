//! Defines the protocols of a listener's stack.

/// A protocol of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Http,
    /// The PROXY protocol.
    Proxy,
    Tls,
    Tcp,
    Udp,
}
