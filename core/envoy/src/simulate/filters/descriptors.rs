//! Computes the descriptors of a request. Rate limits count requests by descriptor.
//!
//! Follows Envoy's `source/common/router/router_ratelimit.cc`. Does not compute values from metadata, extensions or format strings; they are
//! assumed to exist.

use super::Stage;
use crate::emit::pb;
use crate::simulate::connection::contains;
use crate::simulate::matcher::{parameter, query_parameter};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use pb::base::CidrRange;
use pb::route::RateLimit;
use pb::route::rate_limit::action::{ActionSpecifier, RemoteAddressMatch};

/// An entry of a descriptor.
pub(super) struct Entry {
    pub(super) key: String,
    /// Missing if it is unknown.
    pub(super) value: Option<String>,
    /// What the value distinguishes, such as `client address`.
    pub(super) of: String,
    /// Whether requests with this entry can have different values.
    pub(super) distinguishes: bool,
}

impl Entry {
    fn new(key: &str, default_key: &str, value: Option<&str>, of: impl Into<String>) -> Self {
        let key = if key.is_empty() { default_key } else { key };
        Self { key: key.to_owned(), value: value.map(ToOwned::to_owned), of: of.into(), distinguishes: true }
    }

    /// An entry whose value the configuration sets: it is the same for every request that has the entry.
    fn fixed(key: &str, default_key: &str, value: &str, of: &str) -> Self {
        let value = Some(value).filter(|value| !value.contains('%'));
        Self { distinguishes: value.is_none(), ..Self::new(key, default_key, value, of) }
    }
}

/// Returns the descriptor that a limit makes of a request, or why it makes none: each of its actions must make an entry.
pub(super) fn descriptor(limit: &RateLimit, stage: &Stage<'_, '_>) -> Result<Vec<Entry>, String> {
    let mut entries = Vec::new();
    for action in &limit.actions {
        if let Some(of) = &action.action_specifier {
            entries.extend(entry(of, stage)?);
        }
    }
    if entries.is_empty() { Err("it has no entries".to_owned()) } else { Ok(entries) }
}

/// Returns the entry of an action. `None` if the action leaves it out.
fn entry(of: &ActionSpecifier, stage: &Stage<'_, '_>) -> Result<Option<Entry>, String> {
    let entry = match of {
        ActionSpecifier::RequestHeaders(of) => {
            let name = of.header_name.to_ascii_lowercase();
            let value = stage.prepared.start(&stage.request.method).header(&name).or_else(|| stage.header(&name));
            match value {
                None if of.skip_if_absent => return Ok(None),
                None => return Err(format!("the request has no header `{name}`")),
                Some(value) => Entry::new(&of.descriptor_key, "", Some(value), format!("value of `{name}`")),
            }
        }
        ActionSpecifier::QueryParameters(of) => {
            let name = &of.query_parameter_name;
            match parameter(&stage.prepared.path, name) {
                None if of.skip_if_absent => return Ok(None),
                None => return Err(format!("the request has no query parameter `{name}`")),
                Some(value) => Entry::new(&of.descriptor_key, "", Some(value), format!("value of the query parameter `{name}`")),
            }
        }
        ActionSpecifier::HeaderValueMatch(of) => {
            if stage.takes_headers(&of.headers) != of.expect_match.unwrap_or(true) {
                let names: Vec<&str> = of.headers.iter().map(|header| header.name.as_str()).collect();
                return Err(format!("the header `{}` does not have the value", names.join("`, `")));
            }
            Entry::fixed(&of.descriptor_key, "header_match", &of.descriptor_value, "matching header")
        }
        ActionSpecifier::QueryParameterValueMatch(of) => {
            let subject = stage.subject();
            let is_met = of.query_parameters.iter().all(|of| query_parameter(of, &subject).is_ok());
            if is_met != of.expect_match.unwrap_or(true) {
                return Err("a query parameter does not have the value".to_owned());
            }
            Entry::fixed(&of.descriptor_key, "query_match", &of.descriptor_value, "matching query parameter")
        }
        ActionSpecifier::GenericKey(of) => Entry::fixed(&of.descriptor_key, "generic_key", &of.descriptor_value, "request"),
        ActionSpecifier::RemoteAddressMatch(of) => {
            if !takes_client(of, stage) {
                return Err(match stage.prepared.client {
                    Some(client) => format!("the client address {client} is not in its range"),
                    None => "it depends on the client's address, which is unknown".to_owned(),
                });
            }
            Entry::fixed(&of.descriptor_key, "remote_address_match", &of.descriptor_value, "client address")
        }
        ActionSpecifier::RemoteAddress(_) => Entry::new("", "remote_address", None, "client address"),
        ActionSpecifier::MaskedRemoteAddress(_) => Entry::new("", "masked_remote_address", None, "client network"),
        ActionSpecifier::SourceCluster(_) => Entry::new("", "source_cluster", None, "cluster of the client"),
        ActionSpecifier::DestinationCluster(_) => Entry::new("", "destination_cluster", None, "cluster"),
        ActionSpecifier::DynamicMetadata(of) => Entry::new(&of.descriptor_key, "", None, format!("value of `{}`", of.descriptor_key)),
        ActionSpecifier::Metadata(of) => Entry::new(&of.descriptor_key, "", None, format!("value of `{}`", of.descriptor_key)),
        ActionSpecifier::Extension(of) => Entry::new(&of.name, "", None, format!("value of `{}`", of.name)),
    };
    Ok(Some(entry))
}

/// Whether the client's address is in the ranges. An unknown address is only in a range of all addresses.
fn takes_client(of: &RemoteAddressMatch, stage: &Stage<'_, '_>) -> bool {
    let Some(matcher) = &of.address_matcher else { return false };
    let is_within = |range: &pb::base::CidrRange| match stage.prepared.client {
        Some(client) => contains(range, client),
        None => range.prefix_len.unwrap_or_default() == 0,
    };
    let ranges = matcher.ranges.iter().map(|of| CidrRange { address_prefix: of.address_prefix.clone(), prefix_len: of.prefix_len });
    ranges.into_iter().any(|range| is_within(&range)) != matcher.invert_match
}
