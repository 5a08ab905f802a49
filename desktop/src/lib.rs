//! The actions of the desktop window on clusters, folders and Envoys, without the window itself.
//!
//! `chancery_web::protocol::Call` defines the page's calls. Does not open windows, menus and dialogs; see `main.rs`.

pub mod arguments;
pub mod files;
pub mod preferences;
pub mod recent;
pub mod window_session;
