//! Serves editors over the language server protocol: converts positions, and calls the functions of the core that the page calls too.
//!
//! Writes nothing to disk and uses no network. Runs on a machine ([`serve_stdio`]) and without one, in a browser ([`Session`]). Does not decide what a gateway does; see `chancery_core`. Does not serve agents; see
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
mod revision;
#[cfg(not(target_family = "wasm"))]
mod serve;
mod server;
mod session;
mod structure;
mod symbols;
mod text;
mod uri;
mod virtual_documents;

#[cfg(not(target_family = "wasm"))]
pub use serve::{serve, serve_stdio};
pub use session::{FILES, Session};
