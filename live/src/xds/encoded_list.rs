//! The bytes of resources that many streams send alike. Does not encode them; see `wire`.

use axum::body::Bytes;
use std::time::Duration;

/// The variant of the protocol and the time to live, which affect the bytes of resources.
pub(super) type ListForm = (bool, Option<Duration>);

/// The resources of a response as bytes, in pieces.
#[derive(Debug)]
pub(super) struct EncodedList {
    pub(super) pieces: Vec<Bytes>,
    pub(super) length: usize,
}

impl EncodedList {
    pub(super) fn new(pieces: Vec<Bytes>) -> Self {
        Self { length: pieces.iter().map(Bytes::len).sum(), pieces }
    }
}
