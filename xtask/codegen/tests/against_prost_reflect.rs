//! Compares our JSON and wire format with prost-reflect's, which reads the descriptors at run time.

use chancery_envoy_api::{json, registry};
use prost_reflect::prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage, ReflectMessage as _, SerializeOptions};

fn check(type_name: &str, sample: &str) {
    let bytes = xtask_codegen::source::descriptor_set().expect("the descriptor set");
    let pool = DescriptorPool::decode(&bytes[..]).expect("a descriptor set");
    let descriptor = pool.get_message_by_name(type_name).expect("a known type");
    let theirs = DynamicMessage::deserialize(descriptor, &mut serde_json::Deserializer::from_str(sample)).expect("a valid sample");

    let read = json::named_from_str(type_name, sample).expect("valid JSON").expect("a known type");
    assert_eq!(read.problems, []);
    let ours = read.message.message().expect("a typed message");

    // Both sides write JSON from the message that they read.
    let wanted = json_of(&theirs);
    for style in [json::Style::COMPACT, json::Style::PRETTY] {
        let got: serde_json::Value = serde_json::from_str(&json::to_string_with(ours, &style)).expect("JSON");
        assert_eq!(got, wanted);
    }

    // Each side reads the other side's bytes.
    let from_theirs = registry::decode(type_name, &theirs.encode_to_vec()).expect("decodable");
    let text = json::to_string_with(from_theirs.message().expect("typed"), &json::Style::COMPACT.resolver(registry::decode));
    assert_eq!(text, json::to_string(ours));
    let from_ours = DynamicMessage::decode(theirs.descriptor(), &read.message.value()[..]).expect("decodable");
    // Compare as JSON, because prost-reflect's order of map entries within an `Any` differs from run to run.
    assert_eq!(json_of(&from_ours), wanted);
}

fn json_of(message: &DynamicMessage) -> serde_json::Value {
    let mut text = Vec::new();
    let options = SerializeOptions::new().use_proto_field_name(true);
    message.serialize_with_options(&mut serde_json::Serializer::new(&mut text), &options).expect("serializable");
    serde_json::from_slice(&text).expect("JSON")
}

#[test]
fn a_bootstrap() {
    check("envoy.config.bootstrap.v3.Bootstrap", include_str!("../../../envoy-api/tests/samples/bootstrap.json"));
}

#[test]
fn a_config_dump() {
    check("envoy.admin.v3.ConfigDump", include_str!("../../../envoy-api/tests/samples/config_dump.json"));
}
