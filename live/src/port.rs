//! The port of one server, which may move while it is open. Does not decide when it moves; see `ports`.

use std::sync::mpsc as ack;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// A server's new listener, and the channel that reports that the old one is closed.
pub type Move = (std::net::TcpListener, ack::Sender<()>);

/// The port of a server.
#[derive(Debug)]
pub struct Port {
    pub(crate) listener: TcpListener,
    pub(crate) moves: mpsc::Receiver<Move>,
}

impl Port {
    /// A port that never moves.
    #[must_use]
    pub fn fixed(listener: TcpListener) -> Self {
        Self { listener, moves: mpsc::channel(1).1 }
    }

    /// Whether only this machine reaches it.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.listener.local_addr().is_ok_and(|address| address.ip().is_loopback())
    }

    /// Returns the listener of a server that never moves.
    #[must_use]
    pub fn into_listener(self) -> TcpListener {
        self.listener
    }

    /// Accepts the next connection, on this port or on the one that the server moves to.
    ///
    /// # Errors
    ///
    /// Too many files are open, or the connection ended at once. Later connections may succeed.
    pub async fn accept(&mut self) -> std::io::Result<TcpStream> {
        loop {
            tokio::select! {
                Some((listener, moved)) = self.moves.recv() => {
                    self.listener = TcpListener::from_std(listener)?;
                    // The sender may have stopped waiting.
                    let _ = moved.send(());
                }
                accepted = self.listener.accept() => return accepted.map(|(stream, _)| stream),
            }
        }
    }
}
