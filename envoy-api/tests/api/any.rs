//! An `Any` keeps its type, and crosses the wire like every other.

use chancery_envoy_api::envoy::config::core::v3::TypedExtensionConfig;
use chancery_envoy_api::envoy::config::route::v3::Route;
use chancery_envoy_api::envoy::extensions::filters::http::buffer::v3::Buffer;
use chancery_envoy_api::prost::Message;
use chancery_envoy_api::{Any, registry};

const BUFFER: &str = "type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer";

fn buffer() -> Any {
    Any::pack(Buffer { max_request_bytes: Some(5) })
}

#[test]
fn packed_any_stays_typed() {
    let any = buffer();
    assert_eq!(any.type_url(), BUFFER);
    assert!(any.is::<Buffer>() && !any.is::<Route>());
    assert_eq!(any.downcast_ref::<Buffer>(), Some(&Buffer { max_request_bytes: Some(5) }));
    assert_eq!(any.downcast_ref::<Route>(), None);
    assert_eq!(any.unpack::<Buffer>(), Ok(Some(Buffer { max_request_bytes: Some(5) })));
}

#[test]
fn any_has_wire_format_of_protobuf() {
    let wire = TypedExtensionConfig { name: String::new(), typed_config: Some(buffer()) }.encode_to_vec();
    let plain = prost_types::Any { type_url: BUFFER.to_owned(), value: vec![10, 2, 8, 5] };
    let mut wanted = vec![18];
    plain.encode_length_delimited(&mut wanted).expect("room");
    assert_eq!(wire, wanted);

    let back = TypedExtensionConfig::decode(&wire[..]).expect("decodable").typed_config.expect("an Any");
    assert_eq!(back.as_raw(), Some(&[10, 2, 8, 5][..]));
    assert_eq!(back, buffer());
    assert_eq!(registry::resolve(&back).expect("known").downcast_ref::<Buffer>(), Some(&Buffer { max_request_bytes: Some(5) }));
    assert_eq!(back.unpack::<Buffer>(), Ok(Some(Buffer { max_request_bytes: Some(5) })));
}

#[test]
fn equality_is_of_meaning() {
    assert_eq!(buffer(), buffer());
    assert_eq!(buffer(), Any::raw(BUFFER, vec![10, 2, 8, 5]));
    assert_ne!(buffer(), Any::pack(Buffer::default()));
    assert_ne!(Any::pack(Buffer::default()), Any::pack(Route::default()));
    assert_eq!(Any::default(), Any::raw("", vec![]));
    assert_eq!(Any::default().encode_to_vec(), []);
}

#[test]
fn every_message_can_be_decoded_from_nothing() {
    for entry in registry::all() {
        let any = registry::decode(entry.info().full_name, &[]).expect("known");
        assert_eq!(any.value(), entry.empty().value(), "{}", entry.info().full_name);
        assert_eq!(any.type_name(), entry.info().full_name);
    }
}
