//! Looks messages up by name, so that a message from elsewhere can be typed.
//!
//! Contains the lookup. Does not contain the table, which the codegen writes. A program without lookups turns off the feature `registry`
//! and links only the messages that it names. A program that reads only controllers' messages turns off `registry-all`.

use alloc::string::String;

#[cfg(feature = "wire")]
use prost::DecodeError;
use prost::Message;

use crate::Any;
use crate::any::AnyMessage;
use crate::describe::{Describe, MessageInfo};
use crate::generated::registry::TABLE;
use crate::json::fields::Stop;
use crate::json::reader::{Element, Reader};

/// A message type that can be decoded and read.
pub struct Entry {
    name: &'static str,
    info: &'static MessageInfo,
    #[cfg(feature = "wire")]
    decode: fn(&[u8]) -> Result<Any, DecodeError>,
    read: fn(&mut Reader<'_>) -> Result<Any, Stop>,
    empty: fn() -> Any,
}

impl Entry {
    pub(crate) const fn new<M: Message + AnyMessage + Describe + Element + 'static>(name: &'static str) -> Self {
        Self {
            name,
            info: M::INFO,
            #[cfg(feature = "wire")]
            decode: |bytes| M::decode(bytes).map(Any::pack),
            read: |reader| Ok(Any::pack(M::read(reader, None)?.unwrap_or_default())),
            empty: || Any::pack(M::default()),
        }
    }

    /// The type's table.
    #[must_use]
    pub fn info(&self) -> &'static MessageInfo {
        self.info
    }

    /// A message without anything set.
    #[must_use]
    pub fn empty(&self) -> Any {
        (self.empty)()
    }

    /// Whether JSON writes it as an object of its fields.
    pub(crate) fn is_message(&self) -> bool {
        !self.name.starts_with("google.protobuf.") || self.name == "google.protobuf.Empty"
    }

    pub(crate) fn read(&self, reader: &mut Reader<'_>) -> Result<Any, Stop> {
        (self.read)(reader)
    }
}

/// `google.protobuf`'s own, which are not generated.
static WELL_KNOWN: &[Entry] = &[
    Entry::new::<()>("google.protobuf.Empty"),
    Entry::new::<String>("google.protobuf.StringValue"),
    Entry::new::<prost_types::Struct>("google.protobuf.Struct"),
    Entry::new::<prost_types::Value>("google.protobuf.Value"),
    Entry::new::<prost_types::ListValue>("google.protobuf.ListValue"),
    Entry::new::<prost_types::Duration>("google.protobuf.Duration"),
    Entry::new::<prost_types::Timestamp>("google.protobuf.Timestamp"),
    Entry::new::<bool>("google.protobuf.BoolValue"),
    Entry::new::<i32>("google.protobuf.Int32Value"),
    Entry::new::<i64>("google.protobuf.Int64Value"),
    Entry::new::<u32>("google.protobuf.UInt32Value"),
    Entry::new::<u64>("google.protobuf.UInt64Value"),
    Entry::new::<f32>("google.protobuf.FloatValue"),
    Entry::new::<f64>("google.protobuf.DoubleValue"),
    Entry::new::<alloc::vec::Vec<u8>>("google.protobuf.BytesValue"),
    Entry::new::<Any>("google.protobuf.Any"),
];

/// Returns the type with a full name.
#[must_use]
pub fn find(type_name: &str) -> Option<&'static Entry> {
    match TABLE.binary_search_by(|entry| entry.name.cmp(type_name)) {
        Ok(at) => TABLE.get(at),
        Err(_) => WELL_KNOWN.iter().find(|entry| entry.name == type_name),
    }
}

/// All types, by name.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    TABLE.iter().chain(WELL_KNOWN)
}

/// Decodes bytes into a typed `Any`. Returns `None` if the type is unknown or the bytes do not fit it. It is a
/// [`Resolver`](crate::json::Resolver).
#[cfg(feature = "wire")]
#[must_use]
pub fn decode(type_name: &str, value: &[u8]) -> Option<Any> {
    (find(type_name)?.decode)(value).ok()
}

/// Returns the same message, typed if possible.
#[cfg(feature = "wire")]
#[must_use]
pub fn resolve(any: &Any) -> Option<Any> {
    match any.as_raw() {
        Some(bytes) => decode(any.type_name(), bytes),
        None => any.message().is_some().then(|| any.clone()),
    }
}
