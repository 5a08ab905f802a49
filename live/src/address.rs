//! Reads the address at which a server listens: `HOST:PORT`, or `off`. Does not accept connections; see `ports`.

use crate::Failure;
use std::net::SocketAddr;
use std::str::FromStr;
use tokio::net::TcpListener;

/// The address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// The server does not listen.
    Off,
    /// The server listens at this address. Port 0 is any free port.
    At(String),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Address::Off);
        }
        let (host, port) = text.rsplit_once(':').ok_or("write HOST:PORT, or `off`")?;
        if host.is_empty() {
            return Err("the host is missing: write 127.0.0.1:PORT, or 0.0.0.0:PORT for all addresses".into());
        }
        port.parse::<u16>().map_err(|_| format!("`{port}` is not a port: say a number from 0 to 65535"))?;
        Ok(Address::At(text.into()))
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Off => f.write_str("off"),
            Address::At(at) => f.write_str(at),
        }
    }
}

impl Address {
    /// Listens at the address. Returns `None` for `off`.
    ///
    /// # Errors
    ///
    /// The port is taken, or the address does not belong to this machine.
    pub async fn bind(&self, flag: &str) -> Result<Option<(TcpListener, SocketAddr)>, Failure> {
        let Address::At(at) = self else { return Ok(None) };
        let cannot = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::AddrInUse => format!("{at} is in use by another program: choose another port by {flag}, or {flag} off"),
            std::io::ErrorKind::PermissionDenied => format!("this user may not listen on {at}: choose a port from 1024 on by {flag}"),
            _ => format!("cannot listen on {at} ({flag}): {error}"),
        };
        let listener = TcpListener::bind(at).await.map_err(cannot)?;
        let local = listener.local_addr().map_err(cannot)?;
        Ok(Some((listener, local)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_parses_host_port_and_off() {
        assert_eq!("off".parse(), Ok(Address::Off));
        assert_eq!("127.0.0.1:0".parse(), Ok(Address::At("127.0.0.1:0".into())));
        assert_eq!("[::1]:8003".parse(), Ok(Address::At("[::1]:8003".into())));
        for wrong in ["8003", ":8003", "a:b", "a:70000", ""] {
            assert!(wrong.parse::<Address>().is_err(), "{wrong}");
        }
    }
}
