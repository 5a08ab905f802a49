//! Finds ports for servers that a test starts.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// Below the ports that Linux gives to connections (`net.ipv4.ip_local_port_range`, 32768 by default), so that no connection uses a port before
/// its server starts.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// The number of ports returned so far.
static GIVEN: AtomicU32 = AtomicU32::new(0);

/// Returns a port of this machine that was free a moment ago. A process gets each port once before any port repeats. The first port depends on
/// the process id, so two processes rarely try the same port at the same time.
///
/// # Panics
///
/// Panics if no port is free.
#[must_use]
pub fn free() -> u16 {
    let start = std::process::id().wrapping_mul(101) % u32::from(COUNT);
    let next = || {
        let given = GIVEN.fetch_add(1, Ordering::Relaxed) % u32::from(COUNT);
        FIRST + u16::try_from((start + given) % u32::from(COUNT)).unwrap_or_default()
    };
    std::iter::repeat_with(next).take(COUNT.into()).find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).expect("a free port")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn no_port_is_given_twice() {
        let ports: BTreeSet<u16> = std::iter::repeat_with(super::free).take(300).collect();
        assert_eq!(ports.len(), 300);
    }
}
