//! Reads JSON into messages, and reports the parts that do not fit.

use alloc::vec::Vec;

use super::reader::{Element, Problem, Reader};
use super::tokens::{Stop, SyntaxError};
use crate::Any;
use crate::describe::Reflect;
use crate::registry;

/// A message that was read.
#[derive(Clone, Debug)]
pub struct Read<M> {
    /// The message with the parts that fit.
    pub message: M,
    /// The parts that did not fit, in the order of the input.
    pub problems: Vec<Problem>,
}

/// A message that can be read from JSON. Every message implements it.
pub trait Readable: Element + Reflect {}

impl<M: Element + Reflect> Readable for M {}

/// Reads a message.
///
/// # Errors
///
/// The input is not JSON. JSON that does not fit the message is not an error but a [`Problem`].
///
/// ```
/// use chancery_envoy_api::envoy::config::cluster::v3::Cluster;
/// use chancery_envoy_api::json::from_str;
///
/// let read = from_str::<Cluster>(r#"{"name": "quote", "conect_timeout": "3s"}"#).expect("JSON");
/// assert_eq!(read.message.name, "quote");
/// assert_eq!(read.problems[0].pointer, "");
/// ```
pub fn from_str<M: Readable>(text: &str) -> Result<Read<M>, SyntaxError> {
    all(text, |reader| Ok(M::read(reader, None)?.unwrap_or_default()))
}

/// Reads a message whose type is in its `@type`.
///
/// # Errors
///
/// The input is not JSON.
pub fn any_from_str(text: &str) -> Result<Read<Any>, SyntaxError> {
    from_str(text)
}

/// Reads a message of the type with this full name. Returns `None` if the type is unknown.
///
/// # Errors
///
/// The input is not JSON.
pub fn named_from_str(type_name: &str, text: &str) -> Result<Option<Read<Any>>, SyntaxError> {
    let Some(entry) = registry::find(type_name) else {
        return Ok(None);
    };
    all(text, |reader| entry.read(reader)).map(Some)
}

/// Reads the whole input.
fn all<M>(text: &str, read: impl FnOnce(&mut Reader<'_>) -> Result<M, Stop>) -> Result<Read<M>, SyntaxError> {
    let mut reader = Reader::new(text);
    match read(&mut reader).and_then(|message| reader.tokens.end().map(|()| message)) {
        Ok(message) => Ok(Read { message, problems: reader.problems }),
        Err(Stop) => Err(reader.tokens.syntax_error()),
    }
}
