//! Serves coding agents over the Model Context Protocol: `check`, `explain`, `route`, `diff`, `ledger`, `graph` and `code` as tools, and the guides
//! as resources.
//!
//! Reads only the folders that it was started with, writes nothing, and shows no secrets. Does not serve editors; see `chancery-lsp`.

mod answers;
mod folders;
mod guides;
mod server;

use rmcp::ServiceExt;
use std::path::PathBuf;

/// Serves one client on standard input and output, until it closes them.
///
/// # Errors
///
/// A folder does not exist, or the client does not speak the protocol.
pub fn serve_stdio(folders: &[PathBuf]) -> Result<(), String> {
    let folders = folders::Folders::new(folders)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let serving = server::Server::new(folders).serve(rmcp::transport::stdio()).await.map_err(|error| error.to_string())?;
        serving.waiting().await.map(|_| ()).map_err(|error| error.to_string())
    })
}
