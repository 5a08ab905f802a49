//! Envoy's v3 API as Rust types that describe themselves.
//!
//! | module | what it holds |
//! |---|---|
//! | [`envoy`], [`xds`], [`google`], [`cel`], ... | the messages, by proto package: `envoy::config::route::v3::Route` |
//! | [`Any`] | a packed message that stays typed |
//! | [`describe`] | what a message says of itself: its fields, their rules, its values |
//! | [`json`] | proto3 JSON, written fast; read under the feature `registry` |
//! | [`rules`] | Envoy's own field rules, checked |
//! | [`deprecated`] | which deprecated fields are set |
//! | `registry` (feature) | messages by name: the usual ones, or all under `registry-all` |
//!
//! Contains the wire types and the functions that every user of them needs. Does not interpret values for a gateway, and does no IO.

#![no_std]

extern crate alloc;

pub mod any;
pub mod deprecated;
pub mod describe;
#[expect(missing_docs, reason = "generated from protos whose comments are not ours to copy")]
#[expect(
    clippy::enum_variant_names,
    clippy::large_enum_variant,
    clippy::module_inception,
    reason = "the protos decide what is named how and lies where"
)]
mod generated;
pub mod json;
pub mod pointer;
#[cfg(feature = "registry")]
pub mod registry;
pub mod rules;

pub use any::Any;
pub use prost;
pub use prost_types::{Duration, FieldMask, ListValue, Struct, Timestamp, Value, value};

pub use generated::*;
