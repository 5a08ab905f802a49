//! `google.protobuf.Any` that stays typed.
//!
//! Packs and unpacks messages and contains the wire format. Does not look a type up by its name; see `registry`. A program then
//! links only the messages that it names.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use prost::DecodeError;
use prost::Message;
use prost::bytes::{Buf, BufMut};
use prost::encoding::{DecodeContext, WireType, bytes, encode_key, encode_varint, encoded_len_varint, key_len, skip_field, string};

use crate::describe::{Describe, Reflect};
use crate::json;

/// The prefix before a message's full name in a type URL.
pub const TYPE_URL_PREFIX: &str = "type.googleapis.com/";

/// A message that an [`Any`] can hold. Every message implements it.
pub trait AnyMessage: Reflect + fmt::Debug + Send + Sync {
    /// For `downcast_ref`.
    fn as_any(&self) -> &dyn core::any::Any;
    /// The size on the wire.
    #[cfg(feature = "wire")]
    fn wire_len(&self) -> usize;
    /// The wire format.
    #[cfg(feature = "wire")]
    fn write_wire(&self, buf: &mut dyn BufMut);
}

impl<M: Message + Reflect + fmt::Debug + 'static> AnyMessage for M {
    fn as_any(&self) -> &dyn core::any::Any {
        self
    }

    #[cfg(feature = "wire")]
    fn wire_len(&self) -> usize {
        self.encoded_len()
    }

    #[cfg(feature = "wire")]
    fn write_wire(&self, mut buf: &mut dyn BufMut) {
        self.encode_raw(&mut buf);
    }
}

impl dyn AnyMessage + '_ {
    /// Whether the other message has the same type and the same fields. JSON contains every set field, and its writer is compiled once.
    /// A separate comparison for each type would make the page larger.
    #[must_use]
    pub fn equals(&self, other: &dyn AnyMessage) -> bool {
        core::ptr::addr_eq(self, other) || self.info().full_name == other.info().full_name && json::to_string(self) == json::to_string(other)
    }
}

/// A message whose type is known only by its URL.
///
/// A packed message keeps its Rust type. A message decoded from the wire is bytes until `registry::resolve` types it. A message
/// of an unknown type that was read from JSON stays JSON. It can be written as JSON again, but has no wire format
/// and is sent without a value. The same applies to a packed message in a program without the feature `wire`.
#[derive(Clone)]
pub struct Any(Repr);

#[derive(Clone)]
enum Repr {
    Typed(Arc<dyn AnyMessage>),
    Raw {
        type_url: String,
        value: Vec<u8>,
    },
    #[cfg_attr(not(feature = "registry"), expect(dead_code, reason = "only the reader makes it"))]
    Json {
        type_url: String,
        fields: String,
    },
}

impl Any {
    /// Packs a message.
    #[must_use]
    pub fn pack<M: AnyMessage + Describe + 'static>(message: M) -> Self {
        Self(Repr::Typed(Arc::new(message)))
    }

    /// Packs a message that is shared.
    #[must_use]
    pub fn pack_shared(message: Arc<dyn AnyMessage>) -> Self {
        Self(Repr::Typed(message))
    }

    /// Bytes of a type.
    #[must_use]
    pub fn raw(type_url: impl Into<String>, value: Vec<u8>) -> Self {
        Self(Repr::Raw { type_url: type_url.into(), value })
    }

    /// A JSON object of an unknown type. `fields` is the object's JSON, including its `@type`.
    #[cfg(feature = "registry")]
    pub(crate) fn unknown_json(type_url: String, fields: String) -> Self {
        Self(Repr::Json { type_url, fields })
    }

    /// The URL of the type, or an empty string if the Any is not set.
    #[must_use]
    pub fn type_url(&self) -> Cow<'_, str> {
        match &self.0 {
            Repr::Typed(message) => Cow::Owned(alloc::format!("{TYPE_URL_PREFIX}{}", message.info().full_name)),
            Repr::Raw { type_url, .. } | Repr::Json { type_url, .. } => Cow::Borrowed(type_url),
        }
    }

    /// The full name of the type: the part after the URL's last slash.
    #[must_use]
    pub fn type_name(&self) -> &str {
        match &self.0 {
            Repr::Typed(message) => message.info().full_name,
            Repr::Raw { type_url, .. } | Repr::Json { type_url, .. } => type_url.rsplit('/').next().unwrap_or_default(),
        }
    }

    /// Whether it holds a message of this type, in any form.
    #[must_use]
    pub fn is<M: Describe>(&self) -> bool {
        self.type_name() == M::INFO.full_name
    }

    /// The message, if it is typed.
    #[must_use]
    pub fn message(&self) -> Option<&dyn AnyMessage> {
        match &self.0 {
            Repr::Typed(message) => Some(&**message),
            Repr::Raw { .. } | Repr::Json { .. } => None,
        }
    }

    /// The message, if it is typed and of this type.
    #[must_use]
    pub fn downcast_ref<M: 'static>(&self) -> Option<&M> {
        self.message()?.as_any().downcast_ref()
    }

    /// The message, if it is of this type: a clone of what was packed, or decoded bytes.
    ///
    /// # Errors
    ///
    /// The bytes are not a message of that type.
    pub fn unpack<M: Message + Describe + Default + Clone + 'static>(&self) -> Result<Option<M>, DecodeError> {
        match &self.0 {
            Repr::Typed(message) => Ok(message.as_any().downcast_ref::<M>().cloned()),
            Repr::Raw { value, .. } if self.is::<M>() => M::decode(&value[..]).map(Some),
            Repr::Raw { .. } | Repr::Json { .. } => Ok(None),
        }
    }

    /// The bytes, if it is bytes.
    #[must_use]
    pub fn as_raw(&self) -> Option<&[u8]> {
        match &self.0 {
            Repr::Raw { value, .. } => Some(value),
            Repr::Typed(_) | Repr::Json { .. } => None,
        }
    }

    /// The JSON object, if its type is unknown.
    #[must_use]
    pub fn as_json(&self) -> Option<&str> {
        match &self.0 {
            Repr::Json { fields, .. } => Some(fields),
            Repr::Typed(_) | Repr::Raw { .. } => None,
        }
    }

    /// The wire format of the message inside.
    #[must_use]
    pub fn value(&self) -> Cow<'_, [u8]> {
        match &self.0 {
            Repr::Typed(message) => {
                let mut out = Vec::with_capacity(wire_len(&**message));
                write_wire(&**message, &mut out);
                Cow::Owned(out)
            }
            Repr::Raw { value, .. } => Cow::Borrowed(value),
            Repr::Json { .. } => Cow::Borrowed(&[]),
        }
    }

    fn value_len(&self) -> usize {
        match &self.0 {
            Repr::Typed(message) => wire_len(&**message),
            Repr::Raw { value, .. } => value.len(),
            Repr::Json { .. } => 0,
        }
    }

    fn type_url_len(&self) -> usize {
        match &self.0 {
            Repr::Typed(message) => TYPE_URL_PREFIX.len() + message.info().full_name.len(),
            Repr::Raw { type_url, .. } | Repr::Json { type_url, .. } => type_url.len(),
        }
    }
}

#[cfg(feature = "wire")]
fn wire_len(message: &dyn AnyMessage) -> usize {
    message.wire_len()
}

#[cfg(feature = "wire")]
fn write_wire(message: &dyn AnyMessage, buf: &mut dyn BufMut) {
    message.write_wire(buf);
}

#[cfg(not(feature = "wire"))]
fn wire_len(_: &dyn AnyMessage) -> usize {
    0
}

#[cfg(not(feature = "wire"))]
fn write_wire(_: &dyn AnyMessage, _: &mut dyn BufMut) {}

impl Default for Any {
    fn default() -> Self {
        Self::raw(String::new(), Vec::new())
    }
}

impl PartialEq for Any {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Repr::Typed(a), Repr::Typed(b)) => Arc::ptr_eq(a, b) || a.equals(&**b),
            (Repr::Json { fields: a, .. }, Repr::Json { fields: b, .. }) => a == b,
            (Repr::Json { .. }, _) | (_, Repr::Json { .. }) => false,
            _ => self.type_url() == other.type_url() && self.value() == other.value(),
        }
    }
}

impl fmt::Debug for Any {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Typed(message) => f.debug_tuple("Any").field(message).finish(),
            Repr::Raw { type_url, value } => f.debug_struct("Any").field("type_url", type_url).field("value", value).finish(),
            Repr::Json { fields, .. } => f.debug_tuple("Any").field(fields).finish(),
        }
    }
}

impl Message for Any {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        let (url, value) = (self.type_url_len(), self.value_len());
        if url != 0 {
            encode_key(1, WireType::LengthDelimited, buf);
            encode_varint(url as u64, buf);
            match &self.0 {
                Repr::Typed(message) => {
                    buf.put_slice(TYPE_URL_PREFIX.as_bytes());
                    buf.put_slice(message.info().full_name.as_bytes());
                }
                Repr::Raw { type_url, .. } | Repr::Json { type_url, .. } => buf.put_slice(type_url.as_bytes()),
            }
        }
        if value != 0 {
            encode_key(2, WireType::LengthDelimited, buf);
            encode_varint(value as u64, buf);
            match &self.0 {
                Repr::Typed(message) => write_wire(&**message, buf),
                Repr::Raw { value, .. } => buf.put_slice(value),
                Repr::Json { .. } => {}
            }
        }
    }

    fn merge_field(&mut self, tag: u32, wire_type: WireType, buf: &mut impl Buf, ctx: DecodeContext) -> Result<(), DecodeError> {
        if tag > 2 {
            return skip_field(wire_type, tag, buf, ctx);
        }
        if !matches!(self.0, Repr::Raw { .. }) {
            self.0 = Repr::Raw { type_url: self.type_url().into_owned(), value: self.value().into_owned() };
        }
        let Repr::Raw { type_url, value } = &mut self.0 else {
            return Ok(());
        };
        match tag {
            1 => string::merge(wire_type, type_url, buf, ctx),
            _ => bytes::merge(wire_type, value, buf, ctx),
        }
    }

    fn encoded_len(&self) -> usize {
        let delimited = |len: usize| {
            if len == 0 { 0 } else { key_len(1) + encoded_len_varint(len as u64) + len }
        };
        delimited(self.type_url_len()) + delimited(self.value_len())
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}
