//! Reads what a repository gives to Chancery: `chancery.toml`, the files of folders, and git revisions. The command line, the language server and
//! the server for agents read the same.
//!
//! Does not compile; see `chancery_core::compile`. Does not choose the files of a folder; see `chancery_live::files`.

pub mod folder;
pub mod git;
pub mod options;
pub mod settings;

pub use folder::{Contents, FolderFile, classify};
pub use options::{Applied, apply};
pub use settings::Settings;

/// Returns the system's error without Rust's number.
#[must_use]
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}
