//! What a window does with clusters, folders and Envoys, without the window.
//!
//! | module | what it holds |
//! |---|---|
//! | [`arguments`] | the command line, and the PATH |
//! | [`call`] | what a page may ask |
//! | [`desk`] | what one window follows, and who carries out what is asked |
//! | [`files`] | writing a file back |
//! | [`recent`] | what was opened before |
//!
//! What must not be here: windows, menus and dialogs (`main.rs`), and what `chancery_live` and the core do.

pub mod arguments;
pub mod call;
pub mod desk;
pub mod files;
pub mod recent;
