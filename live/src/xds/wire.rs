//! Reads and writes both variants of the protocol as gRPC bytes. Does not decide what to send; see `stream`.
//!
//! A response may be megabytes of resources that thousands of streams share. So no message is assembled: its pieces are
//! made when the connection needs them, and large contents are shared. Streams that send all resources of a set at the
//! same time share the encoded pieces, too.

use super::encoded_list::EncodedList;
use super::message::{Protocol, Request, Response};
use axum::body::Bytes;
use chancery_core::backend::envoy::v3::Encoded;
use envoy_types::pb::envoy::config::core::v3 as base;
use envoy_types::pb::envoy::service::discovery::v3 as discovery;
use envoy_types::pb::google::protobuf::{self, Any};
use futures_util::StreamExt;
use http_body_util::StreamBody;
use hyper::body::Frame;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint, key_len};
use prost::{Message, Name};
use std::sync::Arc;
use tokio::sync::mpsc::Receiver;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;
use tonic::body::Body;

/// The approximate number of bytes in a piece for a connection.
const PIECE: usize = 32 << 10;
/// The smallest size of contents that are shared instead of copied.
const SHARED: usize = 8 << 10;
/// The field number 2 has three uses: the resources in responses of both variants, the content in a `Resource`, and the
/// bytes in an `Any`.
const NESTED: u32 = 2;

/// A variant of the protocol on the wire.
pub(super) trait Wire: Send + 'static {
    const PROTOCOL: Protocol;
    type Request: Message + Default + Send + 'static;
    /// Reads a request, and the node that sends it, if it names one.
    fn read(request: Self::Request) -> (Option<base::Node>, Request);
    /// Returns a response without its resources.
    fn frame(of: &Response) -> Vec<u8>;
    /// Whether resources are in an envelope with their names and versions.
    fn is_wrapped(of: &Response) -> bool;
}

/// State of the world.
pub(super) struct Sotw;
/// Only changes.
pub(super) struct Delta;

impl Wire for Sotw {
    const PROTOCOL: Protocol = Protocol::Sotw;
    type Request = discovery::DiscoveryRequest;

    fn read(of: Self::Request) -> (Option<base::Node>, Request) {
        let error = of.error_detail.map(|status| status.message);
        let request = Request { type_url: of.type_url, nonce: of.response_nonce, error, names: of.resource_names, ..Request::default() };
        (of.node, request)
    }

    fn frame(of: &Response) -> Vec<u8> {
        let (version_info, type_url, nonce) = (of.version.clone(), of.type_url.to_string(), of.nonce.clone());
        discovery::DiscoveryResponse { version_info, type_url, nonce, ..Default::default() }.encode_to_vec()
    }

    fn is_wrapped(of: &Response) -> bool {
        // Without a time to live, resources need no envelope.
        of.ttl.is_some()
    }
}

impl Wire for Delta {
    const PROTOCOL: Protocol = Protocol::Delta;
    type Request = discovery::DeltaDiscoveryRequest;

    fn read(of: Self::Request) -> (Option<base::Node>, Request) {
        let request = Request {
            type_url: of.type_url,
            nonce: of.response_nonce,
            error: of.error_detail.map(|status| status.message),
            subscribe: of.resource_names_subscribe,
            unsubscribe: of.resource_names_unsubscribe,
            initial: of.initial_resource_versions.into_iter().collect(),
            names: Vec::new(),
        };
        (of.node, request)
    }

    fn frame(of: &Response) -> Vec<u8> {
        discovery::DeltaDiscoveryResponse {
            system_version_info: of.version.clone(),
            type_url: of.type_url.to_string(),
            removed_resources: of.removed.iter().map(|name| name.to_string()).collect(),
            nonce: of.nonce.clone(),
            ..Default::default()
        }
        .encode_to_vec()
    }

    fn is_wrapped(_: &Response) -> bool {
        true
    }
}

/// A response for sending: the bytes before its resources, and the resources.
pub(super) struct Outgoing {
    /// The prefix of gRPC, and all fields except the resources.
    head: Vec<u8>,
    of: Response,
    wrapped: bool,
    /// The resources, if many streams send the same.
    shared: Option<Arc<EncodedList>>,
}

impl Outgoing {
    /// Returns an error if the response does not fit into one message.
    pub(super) fn new<W: Wire>(of: Response) -> Result<Self, Status> {
        let (wrapped, frame) = (W::is_wrapped(&of), W::frame(&of));
        let whole = of.whole.as_ref().filter(|_| !of.heartbeat);
        let shared = whole.map(|whole| whole.encoded((of.is_delta, of.ttl), || EncodedList::new(pieces(of.clone(), wrapped, Vec::new()).collect())));
        let resources = match &shared {
            Some(shared) => shared.length,
            None => of.resources.iter().map(|resource| before(&of, resource, wrapped).len() + content_len(&of, resource)).sum(),
        };
        let mut head = vec![0];
        head.extend(length(&of.type_url, frame.len() + resources)?.to_be_bytes());
        head.extend(frame);
        Ok(Self { head, of, wrapped, shared })
    }

    /// Returns the bytes piece by piece. Each piece is made when it is needed, unless the pieces are shared.
    fn pieces(self) -> Box<dyn Iterator<Item = Bytes> + Send> {
        match self.shared {
            Some(shared) => {
                let count = shared.pieces.len();
                let rest = (0..count).filter_map(move |at| shared.pieces.get(at).cloned());
                Box::new(std::iter::once(Bytes::from(self.head)).chain(rest))
            }
            None => Box::new(pieces(self.of, self.wrapped, self.head)),
        }
    }
}

/// Returns the pieces of a response's resources, after `head`.
fn pieces(of: Response, wrapped: bool, head: Vec<u8>) -> impl Iterator<Item = Bytes> + Send {
    let mut small = head;
    let mut at = 0;
    let mut shared: Option<Bytes> = None;
    std::iter::from_fn(move || {
        if let Some(content) = shared.take() {
            return Some(content);
        }
        while let Some(resource) = of.resources.get(at) {
            at += 1;
            small.extend(before(&of, resource, wrapped));
            if of.heartbeat {
                continue;
            }
            if resource.value.len() >= SHARED {
                shared = Some(Bytes::from_owner(Content(resource.clone())));
                break;
            }
            small.extend(&resource.value);
            if small.len() >= PIECE {
                break;
            }
        }
        (!small.is_empty()).then(|| Bytes::from(std::mem::take(&mut small)))
    })
}

/// Returns the length of a message for gRPC. A longer message cannot be sent.
fn length(type_url: &str, bytes: usize) -> Result<u32, Status> {
    let too_long = |_| {
        Status::resource_exhausted(format!("a response with {type_url} would have {bytes} bytes, and a message of gRPC has at most {}", u32::MAX))
    };
    u32::try_from(bytes).map_err(too_long)
}

/// The content of a resource, which all streams share.
struct Content(Arc<Encoded>);

impl AsRef<[u8]> for Content {
    fn as_ref(&self) -> &[u8] {
        &self.0.value
    }
}

/// Returns the length of the content after [`before`], or 0 if the content is not sent.
fn content_len(of: &Response, resource: &Encoded) -> usize {
    if of.heartbeat { 0 } else { resource.value.len() }
}

/// Writes the key and length of a field with this many bytes.
fn open(out: &mut Vec<u8>, length: usize) {
    encode_key(NESTED, WireType::LengthDelimited, out);
    encode_varint(length as u64, out);
}

fn open_len(length: usize) -> usize {
    key_len(NESTED) + encoded_len_varint(length as u64)
}

/// Returns everything of a resource in a response except its content, which comes last.
fn before(of: &Response, resource: &Encoded, wrapped: bool) -> Vec<u8> {
    let any = Any { type_url: of.type_url.to_string(), value: Vec::new() };
    let value = resource.value.len();
    let any_len = any.encoded_len() + open_len(value) + value;
    let mut out = Vec::with_capacity(256);
    if !wrapped {
        open(&mut out, any_len);
        append(&any, &mut out);
        open(&mut out, value);
        return out;
    }
    let envelope = envelope(of, resource);
    if of.heartbeat {
        return in_plain_or_any(of, &envelope, 0, out);
    }
    let mut out = in_plain_or_any(of, &envelope, open_len(any_len) + any_len, out);
    open(&mut out, any_len);
    append(&any, &mut out);
    open(&mut out, value);
    out
}

/// Returns the beginning of an envelope that this many bytes follow. In the state-of-the-world protocol, it is inside an
/// `Any`, like all resources there.
fn in_plain_or_any(of: &Response, envelope: &discovery::Resource, follow: usize, mut out: Vec<u8>) -> Vec<u8> {
    let length = envelope.encoded_len() + follow;
    if of.is_delta {
        open(&mut out, length);
    } else {
        let any = Any { type_url: discovery::Resource::type_url(), value: Vec::new() };
        open(&mut out, any.encoded_len() + open_len(length) + length);
        append(&any, &mut out);
        open(&mut out, length);
    }
    append(envelope, &mut out);
    out
}

/// Appends a message. A vector grows as needed.
fn append(message: &impl Message, out: &mut Vec<u8>) {
    out.extend(message.encode_to_vec());
}

/// Returns a resource's name and version, and how long it may be kept.
fn envelope(of: &Response, resource: &Encoded) -> discovery::Resource {
    discovery::Resource {
        name: resource.name.to_string(),
        version: resource.version.to_string(),
        ttl: of.ttl.map(|ttl| protobuf::Duration { seconds: ttl.as_secs().cast_signed(), nanos: ttl.subsec_nanos().cast_signed() }),
        ..Default::default()
    }
}

/// Returns the answer of a stream: pieces of messages, and a status at the end.
pub(super) fn answer(responses: Receiver<Result<Outgoing, Status>>) -> hyper::Response<Body> {
    let frames = ReceiverStream::new(responses).flat_map(|response| match response {
        Ok(response) => futures_util::stream::iter(response.pieces().map(|piece| Ok::<_, Status>(Frame::data(piece)))).boxed(),
        Err(status) => futures_util::stream::iter([Ok(trailers(&status))]).boxed(),
    });
    let mut out = hyper::Response::new(Body::new(StreamBody::new(frames)));
    out.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    out
}

fn trailers(status: &Status) -> Frame<Bytes> {
    let mut map = hyper::HeaderMap::new();
    if status.add_header(&mut map).is_err() {
        // A header cannot contain the message.
        map.insert("grpc-status", HeaderValue::from(i32::from(status.code())));
    }
    Frame::trailers(map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xds::snapshot::Resources;
    use chancery_core::backend::envoy::v3::Fingerprint;
    use std::time::Duration;

    fn response(is_delta: bool, ttl: Option<Duration>, heartbeat: bool) -> Response {
        let resource = |name: &str, size: usize| {
            let value = vec![7; size];
            Arc::new(Encoded { name: name.into(), version: Fingerprint::of(&[&value]), value })
        };
        // Empty, small, many, and large enough to be shared.
        let sizes = [0, 1, 127, 128, 300, SHARED - 1, SHARED, 5 * PIECE, 3];
        let resources = (0..).zip(sizes).map(|(at, size)| resource(&format!("resource-{at}"), size)).collect();
        let (type_url, nonce, version) = ("type.googleapis.com/x".into(), "n".into(), "v".into());
        Response { type_url, nonce, version, resources, removed: vec!["gone".into()], ttl, heartbeat, is_delta, whole: None }
    }

    fn message(of: Response, is_delta: bool) -> Vec<u8> {
        let outgoing = if is_delta { Outgoing::new::<Delta>(of) } else { Outgoing::new::<Sotw>(of) }.expect("a message");
        let bytes: Vec<u8> = outgoing.pieces().flatten().collect();
        let (prefix, message) = bytes.split_at(5);
        assert_eq!(prefix, [&[0][..], &u32::try_from(message.len()).expect("a length").to_be_bytes()].concat());
        message.to_vec()
    }

    #[test]
    fn pieces_equal_delta_message() {
        for (ttl, heartbeat) in [(None, false), (Some(Duration::from_millis(1500)), false), (Some(Duration::from_secs(1)), true)] {
            let of = response(true, ttl, heartbeat);
            let read = discovery::DeltaDiscoveryResponse::decode(&message(of.clone(), true)[..]).expect("a message");
            assert_eq!((read.nonce.as_str(), read.system_version_info.as_str(), &*read.removed_resources), ("n", "v", &["gone".to_owned()][..]));
            assert_eq!(read.resources.len(), of.resources.len());
            for (read, of_it) in read.resources.iter().zip(of.resources.iter()) {
                assert_eq!((read.name.as_str(), &read.version), (of_it.name.as_str(), &of_it.version.to_string()));
                assert_eq!(read.ttl.is_some(), ttl.is_some());
                let content = read.resource.as_ref().map(|any| (&*any.type_url, &any.value));
                assert_eq!(content, (!heartbeat).then_some(("type.googleapis.com/x", &of_it.value)));
            }
        }
    }

    #[test]
    fn pieces_equal_state_of_the_world_message() {
        let of = response(false, None, false);
        let read = discovery::DiscoveryResponse::decode(&message(of.clone(), false)[..]).expect("a message");
        assert_eq!((read.nonce.as_str(), read.version_info.as_str(), &*read.type_url), ("n", "v", "type.googleapis.com/x"));
        assert!(read.resources.iter().zip(of.resources.iter()).all(|(read, of)| read.value == of.value && read.type_url == "type.googleapis.com/x"));
        for heartbeat in [false, true] {
            let of = response(false, Some(Duration::from_secs(2)), heartbeat);
            let read = discovery::DiscoveryResponse::decode(&message(of.clone(), false)[..]).expect("a message");
            for (read, of) in read.resources.iter().zip(of.resources.iter()) {
                let read = discovery::Resource::decode(&read.value[..]).expect("an envelope");
                assert_eq!((read.name.as_str(), read.ttl.map(|ttl| ttl.seconds)), (of.name.as_str(), Some(2)));
                assert_eq!(read.resource.map(|any| any.value), (!heartbeat).then(|| of.value.clone()));
            }
        }
    }

    #[test]
    fn oversized_message_is_refused_with_reason() {
        assert_eq!(length("t", 4_294_967_295).ok(), Some(u32::MAX));
        let refused = length("t", 4_294_967_296).expect_err("it is too long");
        assert_eq!(refused.message(), "a response with t would have 4294967296 bytes, and a message of gRPC has at most 4294967295");
    }

    #[test]
    fn large_contents_are_shared_and_pieces_are_bounded() {
        let of = response(true, None, false);
        let (large, address) = (of.resources[7].clone(), of.resources[7].value.as_ptr());
        let pieces: Vec<Bytes> = Outgoing::new::<Delta>(of).expect("a message").pieces().collect();
        assert!(pieces.iter().any(|piece| piece.as_ptr() == address && piece.len() == large.value.len()), "it is the same memory");
        assert!(pieces.iter().filter(|piece| piece.as_ptr() != address).all(|piece| piece.len() <= PIECE + SHARED + 512));
    }

    #[test]
    fn streams_share_bytes_of_whole_list() {
        let of = response(true, None, false);
        let set = Arc::new(Resources::new(of.resources.iter().cloned()));
        let resources = set.whole_list(&of.resources).expect("it is the whole list");
        let whole = Response { resources, whole: Some(set.clone()), ..of.clone() };
        let [one, other] = [whole.clone(), whole].map(|of| Outgoing::new::<Delta>(of).expect("a message"));
        let [one, other] = [one, other].map(|of| of.pieces().collect::<Vec<Bytes>>());
        assert!(one.iter().zip(&other).skip(1).all(|(one, other)| one.as_ptr() == other.as_ptr()), "only the head is made twice");
        let alone: Vec<Bytes> = Outgoing::new::<Delta>(of.clone()).expect("a message").pieces().collect();
        assert_eq!(one.concat(), alone.concat());
        assert!(set.whole_list(&of.resources[1..]).is_none());
    }
}
