//! Answers the page's questions, one after the other, with the core. Only `migration` names dialects.

#[cfg(target_arch = "wasm32")]
mod app_gateway;
#[cfg(target_arch = "wasm32")]
mod common;
#[cfg(target_arch = "wasm32")]
mod compare;
#[cfg(target_arch = "wasm32")]
mod configs;
#[cfg(target_arch = "wasm32")]
mod drawing;
#[cfg(target_arch = "wasm32")]
mod lines;
#[cfg(target_arch = "wasm32")]
mod migration;
#[cfg(target_arch = "wasm32")]
mod nginx;
#[cfg(target_arch = "wasm32")]
mod option_panel;
#[cfg(target_arch = "wasm32")]
mod reach;
#[cfg(target_arch = "wasm32")]
mod request;
#[cfg(target_arch = "wasm32")]
mod routes;
#[cfg(target_arch = "wasm32")]
mod selection;
#[cfg(target_arch = "wasm32")]
mod session;
#[cfg(target_arch = "wasm32")]
mod share;
#[cfg(target_arch = "wasm32")]
mod step_nodes;
#[cfg(target_arch = "wasm32")]
mod tree;

#[cfg(target_arch = "wasm32")]
pub use session::Session;
