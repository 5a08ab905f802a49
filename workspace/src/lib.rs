//! Reads what a repository gives to Chancery: `chancery.toml`, the files of folders, and git revisions. The command line, the language server and
//! the server for agents read the same.
//!
//! In a browser there is neither a disk nor git: the editor hands its files over; see [`disk`].
//!
//! Does not compile; see `chancery_core::compile`. Does not watch files; see `chancery_live::sources`.

pub mod disk;
pub mod files;
pub mod folder;
#[cfg(not(target_family = "wasm"))]
pub mod git;
pub mod memory;
pub mod options;
pub mod settings;
pub mod threads;

pub use folder::{Contents, FolderFile, classify};
pub use options::{Applied, apply};
pub use settings::Settings;

/// Returns the system's error without Rust's number.
#[must_use]
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}
