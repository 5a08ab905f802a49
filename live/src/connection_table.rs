//! Bounds how many connections a server has: in total, for each address, and of clients that have sent no request yet.
//!
//! A connection above a bound closes the oldest connection that has sent no request. If there is none, the table refuses
//! the new connection. So silent clients cannot keep others out. Does not accept connections; see `http::connections`
//! and `xds::connection`.

use crate::lock;
use crate::log_limit::LogLimit;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use tokio::sync::oneshot;

/// The most connections.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub total: usize,
    pub per_address: usize,
    /// The most clients that have sent no request yet.
    pub half_open: usize,
}

/// The connections of a server. Clones share one table.
#[derive(Clone, Debug)]
pub struct ConnectionTable {
    shared: Arc<Mutex<Table>>,
    limits: Limits,
    log_limit: Arc<LogLimit>,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    /// The oldest first.
    open: BTreeMap<u64, Entry>,
    by_address: BTreeMap<IpAddr, usize>,
    half_open: usize,
}

#[derive(Debug)]
struct Entry {
    address: IpAddr,
    /// Closes the connection. `None` after the first request.
    close: Option<oneshot::Sender<()>>,
}

/// A connection's place in the table, until it is dropped.
#[derive(Debug)]
pub struct Place {
    table: ConnectionTable,
    id: u64,
}

impl ConnectionTable {
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { shared: Arc::default(), limits, log_limit: Arc::new(LogLimit::new()) }
    }

    /// Adds a connection. Returns its place, and the receiver of the signal to close it. Returns `None` if the table
    /// refuses it.
    #[must_use]
    pub fn open(&self, client: Option<SocketAddr>) -> Option<(Place, oneshot::Receiver<()>)> {
        let address = client.map_or(IpAddr::from([0, 0, 0, 0]), |client| client.ip());
        let mut table = lock(&self.shared);
        let of_address = table.by_address.get(&address).copied().unwrap_or_default();
        let is_admitted = if of_address >= self.limits.per_address {
            table.close_oldest(Some(address))
        } else if table.open.len() >= self.limits.total || table.half_open >= self.limits.half_open {
            table.close_oldest(None)
        } else {
            true
        };
        if !is_admitted {
            drop(table);
            if let Some(suppressed) = self.log_limit.allow() {
                tracing::warn!(client = %address, suppressed, "a connection is refused: {} connections are open, {of_address} of this address", self.count());
            }
            return None;
        }
        let (close, closed) = oneshot::channel();
        let id = table.next;
        table.next += 1;
        table.half_open += 1;
        table.open.insert(id, Entry { address, close: Some(close) });
        *table.by_address.entry(address).or_default() += 1;
        Some((Place { table: self.clone(), id }, closed))
    }

    /// Returns how many connections are open.
    #[must_use]
    pub fn count(&self) -> usize {
        lock(&self.shared).open.len()
    }
}

impl Table {
    /// Closes the oldest connection without a request, of one address or of all. Returns whether there was one.
    fn close_oldest(&mut self, address: Option<IpAddr>) -> bool {
        let is_closable = |entry: &Entry| entry.close.is_some() && address.is_none_or(|address| address == entry.address);
        let Some(id) = self.open.iter().find(|(_, entry)| is_closable(entry)).map(|(id, _)| *id) else { return false };
        if let Some(close) = self.remove(id).and_then(|entry| entry.close) {
            // The connection may have ended by itself.
            let _ = close.send(());
        }
        true
    }

    fn remove(&mut self, id: u64) -> Option<Entry> {
        let entry = self.open.remove(&id)?;
        self.half_open -= usize::from(entry.close.is_some());
        if let Some(count) = self.by_address.get_mut(&entry.address) {
            *count -= 1;
            if *count == 0 {
                self.by_address.remove(&entry.address);
            }
        }
        Some(entry)
    }
}

impl Place {
    /// Notes that the client has sent a request. Other connections no longer close this one.
    pub fn keep(&self) {
        let mut table = lock(&self.table.shared);
        let is_first = table.open.get_mut(&self.id).is_some_and(|entry| entry.close.take().is_some());
        table.half_open -= usize::from(is_first);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.table.shared).remove(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(last: u8) -> Option<SocketAddr> {
        Some(SocketAddr::from(([127, 0, 0, last], 1)))
    }

    #[test]
    fn full_table_closes_oldest_silent_connection() {
        let table = ConnectionTable::new(Limits { total: 3, per_address: 2, half_open: 3 });
        let (first, mut first_closed) = table.open(client(1)).expect("a place");
        let (_second, mut second_closed) = table.open(client(1)).expect("a place");
        first.keep();
        let (_third, mut third_closed) = table.open(client(1)).expect("the second gives its place");
        assert!(second_closed.try_recv().is_ok(), "it was silent");
        assert!(first_closed.try_recv() == Err(oneshot::error::TryRecvError::Closed), "it sent a request, and is kept");
        let other = table.open(client(2)).expect("a place");
        let _last = table.open(client(3)).expect("the third gives its place");
        assert!(third_closed.try_recv().is_ok());
        drop(other);
        assert_eq!(table.count(), 2);
    }

    #[test]
    fn full_table_of_busy_connections_refuses() {
        let table = ConnectionTable::new(Limits { total: 1, per_address: 1, half_open: 1 });
        let (place, _closed) = table.open(client(1)).expect("a place");
        place.keep();
        assert!(table.open(client(1)).is_none() && table.open(client(2)).is_none());
        drop(place);
        assert!(table.open(client(2)).is_some());
    }
}
