//! The management server, which gives Envoys their configuration.
//!
//! | module | what it holds |
//! |---|---|
//! | [`snapshot`] | what one gateway's Envoys are to have |
//! | [`subscription`] | what one stream has asked for of one type, and what it was sent |
//! | [`stream`] | one stream: requests in, responses out, in the right order |
//! | [`clients`] | who is connected, and what each accepted and rejected |
//! | [`blame`] | whom a rejection blames |
//! | [`server`] | the services of gRPC |
//! | [`status`] | what each Envoy has of it, told to other tools (CSDS) |
//! | [`identity`] | what a client may ask for by the names of its certificate |
//! | [`peer`] | who is at the other end, and whether it may have key material |
//! | [`connection`] | connections, in the clear or with TLS, and why a client is refused |
//! | [`tls`] | certificates of the server, read again when they change |
//! | `wire` | both variants as bytes: what streams share is not copied |
//! | [`harness`] | snapshots that a conformance test sets |
//!
//! Does not compile. A snapshot is everything that this module knows of a configuration.

pub mod blame;
pub mod clients;
pub mod connection;
pub mod harness;
pub mod identity;
pub mod peer;
pub mod server;
pub mod snapshot;
mod status;
pub mod stream;
pub mod subscription;
pub mod tls;
pub mod token;
mod wire;
