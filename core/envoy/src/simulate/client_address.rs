//! Finds the address that Envoy uses as the client's: for authorization, rate limits, logs and headers.
//!
//! Follows Envoy's `source/common/http/conn_manager_utility.cc`, and `xff/xff.cc` and `custom_header/custom_header.cc` in
//! `source/extensions/http/original_ip_detection`. Does not change headers; see `manager`.

use super::connection::contains;
use super::request::{Headers, Request};
use super::simulation::ClientAddress;
use crate::emit::pb;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;
use pb::hcm::HttpConnectionManager;
use pb::original_ip_detection::custom_header::v3::CustomHeaderConfig;
use pb::original_ip_detection::xff::v3::XffConfig;

/// The result of the detection.
pub(super) struct Detected {
    /// The client; none if the client is the other end of the connection.
    pub(super) client: Option<IpAddr>,
    /// Where the address is from, as the rest of a sentence that begins with "it is".
    pub(super) from: String,
    /// Whether an extension appends the other end of the connection to `X-Forwarded-For`.
    pub(super) appends: bool,
    /// The status of Envoy's answer if the request must name its client and does not.
    pub(super) rejects: Option<u32>,
}

impl Detected {
    fn new(client: Option<IpAddr>, from: impl Into<String>) -> Self {
        Self { client, from: from.into(), appends: false, rejects: None }
    }

    /// The address as part of the result. Missing if neither the request nor the configuration names one.
    pub(super) fn shown(&self, request: &Request) -> Option<ClientAddress> {
        let address = self.client.or(request.source);
        let is_plain = self.client.is_none() && self.from == FROM_CONNECTION;
        (address.is_some() || !is_plain).then(|| ClientAddress { address: address.map(|address| address.to_string()), from: self.from.clone() })
    }
}

const FROM_CONNECTION: &str = "the address of the connection";

fn hops(count: usize) -> String {
    if count == 1 { "1 trusted hop".to_owned() } else { format!("{count} trusted hops") }
}

/// The addresses of `X-Forwarded-For`, the nearest proxy last.
pub(super) fn forwarded_for(headers: &Headers) -> Vec<String> {
    headers.all("x-forwarded-for").flat_map(|line| line.split(',')).map(|part| part.trim().to_owned()).collect()
}

/// Returns the address that this many hops before the end of `X-Forwarded-For` received.
fn before_end(headers: &Headers, back: usize) -> Option<IpAddr> {
    let addresses = forwarded_for(headers);
    addresses.len().checked_sub(back + 1).and_then(|at| addresses.get(at)?.parse().ok())
}

/// Returns the client of a request.
pub(super) fn detect(manager: &HttpConnectionManager, request: &Request, headers: &Headers) -> Detected {
    let trusted = manager.xff_num_trusted_hops as usize;
    if manager.use_remote_address == Some(true) {
        if trusted == 0 {
            return Detected::new(None, FROM_CONNECTION);
        }
        let client = before_end(headers, trusted - 1);
        return Detected::new(client, by_hops(client, trusted));
    }
    by_extensions(manager, request, headers).unwrap_or_else(|| {
        let client = before_end(headers, trusted);
        // Without extensions, hops and header there is nothing to explain.
        let is_plain = trusted == 0 && headers.first("x-forwarded-for").is_none();
        Detected::new(client, if is_plain { FROM_CONNECTION.to_owned() } else { by_hops(client, trusted) })
    })
}

fn by_hops(client: Option<IpAddr>, trusted: usize) -> String {
    match (client, trusted) {
        (Some(_), 0) => "the last address of X-Forwarded-For".to_owned(),
        (Some(_), _) => format!("from X-Forwarded-For, with {}", hops(trusted)),
        (None, 0) => format!("{FROM_CONNECTION}, because X-Forwarded-For names none"),
        (None, _) => format!("{FROM_CONNECTION}, because X-Forwarded-For has too few addresses for {}", hops(trusted)),
    }
}

/// Asks the extensions until one finds the address or rejects the request. Returns `None` if there are no extensions that are known.
fn by_extensions(manager: &HttpConnectionManager, request: &Request, headers: &Headers) -> Option<Detected> {
    let mut out: Option<Detected> = None;
    for config in manager.original_ip_detection_extensions.iter().filter_map(|extension| extension.typed_config.as_ref()) {
        let mut now = if let Some(xff) = config.downcast_ref::<XffConfig>() {
            Detected { appends: xff.skip_xff_append == Some(false), ..by_forwarded_for(xff, request, headers) }
        } else if let Some(custom) = config.downcast_ref::<CustomHeaderConfig>() {
            by_header(custom, headers)
        } else {
            Detected::new(None, FROM_CONNECTION)
        };
        now.appends |= out.as_ref().is_some_and(|before| before.appends);
        let ends = now.client.is_some() || now.rejects.is_some();
        out = Some(now);
        if ends {
            break;
        }
    }
    out
}

/// The client in `X-Forwarded-For`. Only trusted proxies may name it.
fn by_forwarded_for(of: &XffConfig, request: &Request, headers: &Headers) -> Detected {
    let Some(trusted) = of.xff_trusted_cidrs.as_ref().map(|of| &of.cidrs).filter(|cidrs| !cidrs.is_empty()) else {
        let trusted = of.xff_num_trusted_hops as usize;
        let client = before_end(headers, trusted);
        return Detected::new(client, by_hops(client, trusted));
    };
    let is_trusted = |address: IpAddr| trusted.iter().any(|range| contains(range, address));
    match request.source {
        None => return Detected::new(None, format!("{FROM_CONNECTION}, which is unknown: only trusted addresses may send X-Forwarded-For")),
        Some(source) if !is_trusted(source) => return Detected::new(None, format!("{FROM_CONNECTION}, which no trusted range contains")),
        Some(_) => {}
    }
    let mut found = None;
    for text in forwarded_for(headers).iter().rev() {
        let Ok(address) = text.parse::<IpAddr>() else { break };
        found = Some(address);
        if !is_trusted(address) {
            break;
        }
    }
    match found {
        Some(_) => Detected::new(found, "the last address of X-Forwarded-For that no trusted range contains"),
        None => Detected::new(None, format!("{FROM_CONNECTION}, because X-Forwarded-For names none")),
    }
}

/// The client in a header that the configuration names.
fn by_header(of: &CustomHeaderConfig, headers: &Headers) -> Detected {
    let name = &of.header_name;
    let client = headers.first(&name.to_ascii_lowercase()).and_then(|value| value.trim().parse().ok());
    if client.is_some() {
        return Detected::new(client, format!("from the header {name}"));
    }
    let status = of.reject_with_status.as_ref().and_then(|status| u32::try_from(status.code).ok());
    let rejects = status.map(|code| if (400..=511).contains(&code) { code } else { 403 });
    Detected { rejects, ..Detected::new(None, format!("{FROM_CONNECTION}, because the header {name} has no address")) }
}

#[cfg(test)]
mod tests {
    use super::{Detected, detect};
    use crate::emit::pb;
    use crate::simulate::Request;
    use alloc::borrow::ToOwned;
    use alloc::vec::Vec;
    use pb::Any;
    use pb::base::{CidrRange, TypedExtensionConfig};
    use pb::hcm::HttpConnectionManager;
    use pb::kind::HttpStatus;
    use pb::original_ip_detection::custom_header::v3::CustomHeaderConfig;
    use pb::original_ip_detection::xff::v3::{XffConfig, XffTrustedCidrs};

    fn find(manager: &HttpConnectionManager, headers: &[(&str, &str)]) -> Detected {
        let mut request = Request::new("GET", "http://example.com/").expect("a request");
        request.source = Some([10, 0, 0, 1].into());
        for (name, value) in headers {
            request.add_header(name, value);
        }
        detect(manager, &request, &request.headers)
    }

    fn with_extension(config: Any) -> HttpConnectionManager {
        let extension = TypedExtensionConfig { name: "detection".to_owned(), typed_config: Some(config) };
        HttpConnectionManager { original_ip_detection_extensions: Vec::from([extension]), ..HttpConnectionManager::default() }
    }

    const FORWARDED: (&str, &str) = ("x-forwarded-for", "1.1.1.1, 2.2.2.2, 10.0.0.9");

    #[test]
    fn trusted_hops_are_counted_from_the_end() {
        let manager = |hops| HttpConnectionManager { use_remote_address: Some(true), xff_num_trusted_hops: hops, ..HttpConnectionManager::default() };
        let client = |hops| find(&manager(hops), &[FORWARDED]).client.map(|client| alloc::format!("{client}"));
        assert_eq!(client(0), None, "it is the connection's");
        assert_eq!(client(1).as_deref(), Some("10.0.0.9"));
        assert_eq!(client(3).as_deref(), Some("1.1.1.1"));
        assert_eq!(client(4), None);
        assert!(find(&manager(4), &[FORWARDED]).from.contains("too few addresses for 4 trusted hops"));
    }

    #[test]
    fn only_trusted_proxies_name_the_client() {
        let config = |prefix: &str| {
            let range = CidrRange { address_prefix: prefix.to_owned(), prefix_len: Some(8) };
            let cidrs = XffTrustedCidrs { cidrs: Vec::from([range]) };
            with_extension(Any::pack(XffConfig { xff_trusted_cidrs: Some(cidrs), ..XffConfig::default() }))
        };
        let found = find(&config("10.0.0.0"), &[FORWARDED]);
        assert_eq!(found.client, Some([2, 2, 2, 2].into()));
        let other = find(&config("192.0.0.0"), &[FORWARDED]);
        assert_eq!((other.client, other.from.as_str()), (None, "the address of the connection, which no trusted range contains"));
    }

    #[test]
    fn missing_header_is_rejected_if_configured() {
        let config = |status: Option<i32>| {
            let reject_with_status = status.map(|code| HttpStatus { code });
            with_extension(Any::pack(CustomHeaderConfig { header_name: "X-Client".to_owned(), reject_with_status, ..CustomHeaderConfig::default() }))
        };
        assert_eq!(find(&config(Some(403)), &[("x-client", "3.3.3.3")]).client, Some([3, 3, 3, 3].into()));
        assert_eq!(find(&config(Some(403)), &[]).rejects, Some(403));
        assert_eq!(find(&config(Some(200)), &[]).rejects, Some(403), "Envoy uses 403 for other statuses");
        assert_eq!(find(&config(None), &[]).rejects, None);
    }
}
