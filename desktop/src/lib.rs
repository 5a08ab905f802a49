//! What a window does with clusters, folders and Envoys, without the window.
//!
//! | module | what it holds |
//! |---|---|
//! | [`arguments`] | the command line, and the PATH |
//! | [`desk`] | what one window follows, and who carries out what is asked |
//! | [`files`] | writing a file back |
//! | [`preferences`] | what the person chose for the window |
//! | [`recent`] | what was opened before |
//!
//! What a page may ask is `chancery_web::protocol::Call`. What must not be here: windows, menus and dialogs (`main.rs`), and what
//! `chancery_live` and the core do.

pub mod arguments;
pub mod desk;
pub mod files;
pub mod preferences;
pub mod recent;
