//! Gives Envoys their configuration, as their management server. Does not compile; see `worker`.
//!
//! | module | what it holds |
//! |---|---|
//! | [`snapshot`] | the resources of one gateway |
//! | [`subscription`] | the resources of one type that a stream requested, and the versions that it was sent |
//! | [`stream`] | one stream: requests in, responses out, in the right order |
//! | [`clients`] | the connected Envoys, and the resources that each accepted or rejected |
//! | [`blame`] | the resources that a rejection names |
//! | [`server`] | the gRPC services |
//! | [`status`] | reports the resources of each Envoy to other tools (CSDS) |
//! | [`identity`] | the permissions of a client, by the names of its certificate |
//! | [`peer`] | the client at the other end, and whether it may have key material |
//! | [`connection`] | connections with or without TLS, and the reasons for refusals |
//! | [`tls`] | the server's certificates, which are read again when they change |
//! | `wire` | both variants of the protocol as bytes, with shared contents |
//! | [`harness`] | snapshots that a conformance test sets |
//!
//! A snapshot is everything that this module knows about a configuration.

pub mod blame;
pub mod clients;
pub mod connection;
mod encoded_list;
pub mod harness;
pub mod identity;
pub mod message;
pub mod peer;
pub mod server;
pub mod snapshot;
mod status;
pub mod stream;
pub mod subscription;
pub mod tls;
pub mod token;
mod wire;
