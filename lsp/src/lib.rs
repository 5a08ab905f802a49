//! Serves editors over the language server protocol: converts positions, and calls the functions of the core that the page calls too.
//!
//! Writes nothing to disk and uses no network. Does not decide what a gateway does; see `chancery_core`. Does not serve agents; see
//! `chancery-mcp`.

mod actions;
mod analysis;
mod client;
mod compiling;
mod completion;
mod context;
mod conversion;
mod diagnostics;
mod documents;
mod folder;
mod hierarchy;
mod hints;
mod hover;
mod lenses;
mod navigation;
mod own;
mod requests;
mod server;
mod structure;
mod symbols;
mod text;
mod uri;
mod virtual_documents;

pub use server::serve;

use lsp_server::Connection;

/// Serves one client on standard input and output. Returns the exit code.
///
/// # Errors
///
/// The client does not speak the protocol.
pub fn serve_stdio() -> Result<u8, String> {
    let (connection, _threads) = Connection::stdio();
    serve(&connection)
}
