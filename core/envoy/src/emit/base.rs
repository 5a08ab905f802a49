//! Messages that many resources share: addresses, durations, headers, matchers, config sources, plain JSON.

use super::Context;
use super::pb;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::{
    Address, AppendAction, ConfigSource, EndpointAddress, HeaderMutations, HeaderToAdd, Json, Regex, SocketProtocol, StringMatch,
};
use chancery_base::output_map::Trace;
use chancery_base::resource::Sourced;
use chancery_text::Str;
use core::time::Duration;
use pb::base::data_source::Specifier;
use pb::matcher::string_matcher::MatchPattern;

/// The version of Envoy's API.
pub(super) const V3: i32 = pb::base::ApiVersion::V3 as i32;

/// Permissions of Unix sockets.
const PIPE_MODE: u32 = 0o644;

pub(super) fn text(value: &Str) -> String {
    value.as_str().to_owned()
}

pub(super) fn duration(value: &Duration) -> pb::Duration {
    // Envoy's durations end at about 10,000 years.
    const MAX_SECONDS: u64 = 315_576_000_000;
    let seconds = value.as_secs().min(MAX_SECONDS);
    pb::Duration { seconds: i64::try_from(seconds).unwrap_or_default(), nanos: i32::try_from(value.subsec_nanos()).unwrap_or_default() }
}

pub(super) fn socket_address(of: &Address, t: &mut Trace) -> pb::base::Address {
    let mut address = t.at("socket_address", |t| {
        t.field("address", &of.address);
        t.joined("port_value", &of.port, &of.port_also);
        socket(&of.address, *of.port, of.protocol)
    });
    if let Some(pb::base::address::Address::SocketAddress(socket)) = &mut address.address {
        socket.ipv4_compat = of.ipv4_compat;
    }
    address
}

/// Converts a TCP or Unix socket address.
pub fn endpoint_address(of: &EndpointAddress) -> pb::base::Address {
    match of {
        EndpointAddress::Socket { address, port } => socket(address, *port, SocketProtocol::Tcp),
        EndpointAddress::Pipe { path } => {
            let pipe = pb::base::Pipe { path: text(path), mode: PIPE_MODE };
            pb::base::Address { address: Some(pb::base::address::Address::Pipe(pipe)) }
        }
    }
}

/// A port of an address.
pub(super) fn socket(address: &Str, port: u16, protocol: SocketProtocol) -> pb::base::Address {
    use pb::base::socket_address::{PortSpecifier, Protocol};
    pb::base::Address {
        address: Some(pb::base::address::Address::SocketAddress(pb::base::SocketAddress {
            protocol: match protocol {
                SocketProtocol::Tcp => Protocol::Tcp,
                SocketProtocol::Udp => Protocol::Udp,
            } as i32,
            address: text(address),
            port_specifier: Some(PortSpecifier::PortValue(port.into())),
            ..Default::default()
        })),
    }
}

/// Returns the source of resources that Envoy requests by name.
pub(super) fn config_source(cx: &Context<'_>) -> pb::base::ConfigSource {
    match cx.source {
        ConfigSource::Aggregated => pb::base::ConfigSource {
            resource_api_version: V3,
            config_source_specifier: Some(pb::base::config_source::ConfigSourceSpecifier::Ads(pb::base::AggregatedConfigSource {})),
            ..Default::default()
        },
        ConfigSource::Server { cluster, authority } => own_stream(cluster, Some(authority)),
    }
}

/// A source with its own stream to this management server.
pub(super) fn own_stream(server: &Str, authority: Option<&Str>) -> pb::base::ConfigSource {
    pb::base::ConfigSource {
        resource_api_version: V3,
        config_source_specifier: Some(pb::base::config_source::ConfigSourceSpecifier::ApiConfigSource(grpc_api(server, authority))),
        ..Default::default()
    }
}

pub(super) fn grpc_api(server: &Str, authority: Option<&Str>) -> pb::base::ApiConfigSource {
    pb::base::ApiConfigSource {
        api_type: pb::base::api_config_source::ApiType::Grpc as i32,
        transport_api_version: V3,
        grpc_services: [grpc_service(server, authority, None)].into(),
        ..Default::default()
    }
}

pub(super) fn grpc_service(cluster: &Str, authority: Option<&Str>, timeout: Option<pb::Duration>) -> pb::base::GrpcService {
    use pb::base::grpc_service::{EnvoyGrpc, TargetSpecifier};
    let authority = authority.map(text).unwrap_or_default();
    pb::base::GrpcService {
        timeout,
        target_specifier: Some(TargetSpecifier::EnvoyGrpc(EnvoyGrpc { cluster_name: text(cluster), authority, ..Default::default() })),
        ..Default::default()
    }
}

pub(super) fn file(path: &str) -> pb::base::DataSource {
    data_source(Specifier::Filename(path.to_owned()))
}

pub(super) fn inline(content: &str) -> pb::base::DataSource {
    data_source(Specifier::InlineString(content.to_owned()))
}

/// A string if it is valid text, else bytes.
pub(super) fn data(content: Vec<u8>) -> pb::base::DataSource {
    data_source(match String::from_utf8(content) {
        Ok(text) => Specifier::InlineString(text),
        Err(error) => Specifier::InlineBytes(error.into_bytes()),
    })
}

fn data_source(specifier: Specifier) -> pb::base::DataSource {
    pb::base::DataSource { specifier: Some(specifier), ..Default::default() }
}

pub(super) fn percent(value: f64) -> pb::kind::Percent {
    pb::kind::Percent { value }
}

/// A percentage, unless the runtime key overrides it.
pub(super) fn runtime_percent(percent: u32, key: Option<&Str>) -> pb::base::RuntimeFractionalPercent {
    pb::base::RuntimeFractionalPercent {
        default_value: Some(pb::kind::FractionalPercent {
            numerator: percent,
            denominator: pb::kind::fractional_percent::DenominatorType::Hundred as i32,
        }),
        runtime_key: key.map(text).unwrap_or_default(),
    }
}

pub(super) fn regex(regex: &Regex, cx: &Context<'_>) -> pb::matcher::RegexMatcher {
    use pb::matcher::regex_matcher::{EngineType, GoogleRe2};
    let max_program_size = regex.max_program_size.as_ref().map(|size| size.value);
    pb::matcher::RegexMatcher {
        regex: text(&regex.regex),
        engine_type: (cx.spelling.google_re2 && regex.engine).then_some(EngineType::GoogleRe2(GoogleRe2 { max_program_size })),
    }
}

/// A string matcher; `None` if any value matches.
pub(super) fn string_matcher(value: &StringMatch, ignore_case: bool, cx: &Context<'_>) -> Option<pb::matcher::StringMatcher> {
    let pattern = match value {
        StringMatch::Exact(value) => MatchPattern::Exact(text(value)),
        StringMatch::Prefix(value) => MatchPattern::Prefix(text(value)),
        StringMatch::Suffix(value) => MatchPattern::Suffix(text(value)),
        StringMatch::Contains(value) => MatchPattern::Contains(text(value)),
        StringMatch::Regex(value) => MatchPattern::SafeRegex(regex(value, cx)),
        StringMatch::Present => return None,
    };
    // A regular expression defines its own case sensitivity.
    let ignore_case = ignore_case && !matches!(pattern, MatchPattern::SafeRegex(_));
    Some(pb::matcher::StringMatcher { ignore_case, match_pattern: Some(pattern) })
}

/// Headers to add, as a list under `name`, with the origin of each.
pub(super) fn headers_to_add(name: &str, headers: &HeaderMutations, cx: &Context<'_>, t: &mut Trace) -> Vec<pb::base::HeaderValueOption> {
    t.sourced_list(name, &headers.add, |header, _| header_to_add(header, cx))
}

fn header_to_add(header: &HeaderToAdd, cx: &Context<'_>) -> pb::base::HeaderValueOption {
    use pb::base::header_value_option::HeaderAppendAction;
    let mut option = pb::base::HeaderValueOption { header: Some(header_value(header.name.as_text(), &header.value)), ..Default::default() };
    if cx.spelling.header_append {
        option.append = match header.action {
            AppendAction::Append => Some(true),
            AppendAction::Overwrite => Some(false),
            AppendAction::Unsaid => None,
        };
    } else if header.action == AppendAction::Overwrite {
        option.append_action = HeaderAppendAction::OverwriteIfExistsOrAdd as i32;
    }
    option
}

pub(super) fn header_value(name: &Str, value: &Str) -> pb::base::HeaderValue {
    pb::base::HeaderValue { key: text(name), value: text(value), ..Default::default() }
}

/// Header names to remove, as a list under `name`, with the origin of each.
pub(super) fn headers_to_remove(name: &str, headers: &HeaderMutations, t: &mut Trace) -> Vec<String> {
    t.sourced_list(name, &headers.remove, |header, _| text(header.as_text()))
}

/// A list of strings under `name`, with the origin of each.
pub(super) fn strings(name: &str, values: &[Sourced<Str>], t: &mut Trace) -> Vec<String> {
    t.sourced_list(name, values, |value, _| text(value))
}

pub(super) fn json_object(fields: &[(Str, Json)]) -> pb::Struct {
    pb::Struct { fields: fields.iter().map(|(name, value)| (text(name), json_value(value))).collect() }
}

pub(super) fn json_value(value: &Json) -> pb::Value {
    use pb::value::Kind;
    let kind = match value {
        Json::Null => Kind::NullValue(0),
        Json::Bool(value) => Kind::BoolValue(*value),
        Json::Number(value) => Kind::NumberValue(*value),
        Json::String(value) => Kind::StringValue(text(value)),
        Json::Array(values) => Kind::ListValue(pb::ListValue { values: values.iter().map(json_value).collect() }),
        Json::Object(fields) => Kind::StructValue(json_object(fields)),
    };
    pb::Value { kind: Some(kind) }
}

/// Returns the value of an enum by Envoy's name. Zero is not written, so it gets no place; unknown names are left out.
pub(super) fn named<E: Into<i32>>(field: &str, name: &Sourced<Str>, find: impl Fn(&str) -> Option<E>, t: &mut Trace) -> Option<i32> {
    let number: i32 = find(name)?.into();
    if number != 0 {
        t.field(field, name);
    }
    Some(number)
}
