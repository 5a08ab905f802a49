//! Defines requests, the behaviour of services, and responses, and converts them from and to JSON.
//!
//! Does not answer requests; see `phases`.

use super::uri;
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::resource::Origin;
use chancery_text::{Node, Object, Str, Value};
use core::net::{IpAddr, Ipv4Addr};

/// A version of HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    Http10,
    #[default]
    Http11,
    Http2,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Whether the request uses TLS.
    pub tls: bool,
    pub method: String,
    /// The `Host` header; empty for none.
    pub host: String,
    /// The target, unchanged.
    pub path: String,
    /// Other headers.
    pub headers: Vec<(String, String)>,
    /// The address of the connection's other end.
    pub client: IpAddr,
    /// The size of the body in bytes.
    pub body: Option<u64>,
    /// The server name in the TLS handshake, if any.
    pub sni: Option<String>,
    pub version: Version,
    /// The client's certificate: `bad` for a rejected certificate, else the end of its name.
    pub certificate: Option<String>,
    /// Whether the password of basic authentication is taken to be right.
    pub has_right_password: bool,
    /// The PROXY header before the request.
    pub proxy_protocol: Option<String>,
    /// How many times the request is sent.
    pub repeat: u32,
    /// The response of services.
    pub service: Answer,
    /// The response of an authentication service.
    pub auth: Answer,
}

/// A service's response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
}

impl Default for Answer {
    fn default() -> Self {
        Self { status: 200, headers: Vec::new() }
    }
}

impl Default for Request {
    fn default() -> Self {
        Self {
            tls: false,
            method: "GET".into(),
            host: String::new(),
            path: "/".into(),
            headers: Vec::new(),
            client: DEFAULT_CLIENT,
            body: None,
            sni: None,
            version: Version::Http11,
            certificate: None,
            has_right_password: false,
            proxy_protocol: None,
            repeat: 1,
            service: Answer::default(),
            auth: Answer::default(),
        }
    }
}

/// The client of a request that names none.
pub const DEFAULT_CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 7));

/// The behaviour of services at some addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct World {
    /// Address ranges with the status that their services return, or `None` if they refuse connections.
    pub services: Vec<(IpAddr, u32, Option<u16>)>,
}

impl World {
    /// Returns the behaviour of the service at an address, or `None` if it has no special behaviour.
    pub fn behaviour(&self, address: &str) -> Option<Option<u16>> {
        let address: IpAddr = address.parse().ok()?;
        self.services.iter().find(|(network, length, _)| contains(*network, *length, address)).map(|(_, _, status)| *status)
    }
}

/// Whether an address is in a range.
pub fn contains(network: IpAddr, length: u32, address: IpAddr) -> bool {
    match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            let mask = u32::MAX.checked_shl(32 - length.min(32)).unwrap_or_default();
            u32::from(network) & mask == u32::from(address) & mask
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => {
            let mask = u128::MAX.checked_shl(128 - length.min(128)).unwrap_or_default();
            u128::from(network) & mask == u128::from(address) & mask
        }
        _ => false,
    }
}

/// Parses a range or a single address.
pub fn range(text: &str) -> Option<(IpAddr, u32)> {
    let (address, length) = text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
    let address: IpAddr = address.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let length = length.map_or(Some(most), |length| length.parse().ok().filter(|length| *length <= most))?;
    Some((address, length))
}

/// A request as a service receives it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub method: String,
    pub path: String,
    /// The `Host` header.
    pub host: String,
    pub protocol: String,
    /// Headers, sorted, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The endpoint, if it is certain.
    pub endpoint: Option<String>,
    /// The size of the body in bytes.
    pub body: u64,
    /// The server name in the TLS handshake.
    pub sni: Option<String>,
    /// Whether nginx sends a client certificate.
    pub certificate: bool,
    /// Parameters of FastCGI.
    pub fastcgi: Vec<(String, String)>,
}

/// A part of nginx that a request passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// `server`, `location` or `upstream`.
    pub what: &'static str,
    /// nginx's name for the part.
    pub name: String,
    pub origin: Option<Origin>,
}

/// The credentials that nginx checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credentials {
    Password,
    /// Credentials for the authentication service.
    Service,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// The parts that the request passed, in order.
    pub way: Vec<Step>,
    /// The notes about parts that are not simulated, so that nginx may respond otherwise.
    pub gaps: Vec<String>,
    /// The conditions of `if` that were fulfilled, as written.
    pub fulfilled: Vec<String>,
    /// The status; 0 without a response.
    pub status: u16,
    /// The `Location` header.
    pub location: Option<String>,
    /// The upstream that responded, or would have responded.
    pub upstream: Option<String>,
    /// The canary that other such requests go to by chance, its weight, and the sum of the weights.
    pub canary: Option<(String, i64, i64)>,
    /// `NAMESPACE/NAME` of the Ingress.
    pub ingress: Option<String>,
    /// The path of the Ingress.
    pub location_path: Option<String>,
    /// The request as the service received it.
    pub seen: Option<Seen>,
    /// Other requests to services: authentication, copies, failed attempts.
    pub others: Vec<Seen>,
    /// Headers, sorted, with names in lower case.
    pub headers: Vec<(String, Vec<String>)>,
    /// The name of the certificate that the client receives.
    pub certificate: Option<String>,
    /// The statuses of all repetitions.
    pub statuses: Vec<u16>,
    /// The credentials that the request needed, if any.
    pub needed: Option<Credentials>,
    /// The reason for a missing response.
    pub error: Option<String>,
    /// The reason for nginx to respond itself, if the parts that the request passed do not explain it.
    pub why: Option<String>,
    /// Skipped parts that could change the response.
    pub notes: Vec<String>,
}

fn string(node: &Node, key: &str) -> Option<String> {
    node.get(key).and_then(Node::as_str).map(ToOwned::to_owned)
}

fn pairs(node: Option<&Node>) -> Vec<(String, String)> {
    let entries = node.and_then(Node::as_object).into_iter().flatten();
    entries.filter_map(|entry| Some((entry.key.to_string(), entry.value.as_str()?.to_string()))).collect()
}

fn answer(node: Option<&Node>) -> Answer {
    let status = node.and_then(|node| node.get("status")).and_then(Node::as_i64).and_then(|status| u16::try_from(status).ok());
    Answer { status: status.unwrap_or(200), headers: pairs(node.and_then(|node| node.get("headers"))) }
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    ///
    /// The problem with it.
    pub fn read(node: &Node) -> Result<Self, String> {
        if node.as_object().is_none() {
            return Err("a request must be an object".into());
        }
        let scheme = string(node, "scheme").unwrap_or_else(|| "http".into());
        if !matches!(scheme.as_str(), "http" | "https") {
            return Err(alloc::format!("`scheme` is http or https, not `{scheme}`"));
        }
        let host = string(node, "host").unwrap_or_default();
        let client = match string(node, "client") {
            Some(text) => text.parse().map_err(|_| alloc::format!("`client` is not an address: {text}"))?,
            None => DEFAULT_CLIENT,
        };
        let sni = match string(node, "sni").as_deref() {
            Some("-") => None,
            Some(name) => Some(name.to_string()),
            None => uri::host_name(&host).filter(|name| !name.is_empty()),
        };
        let version = match string(node, "proto").as_deref() {
            None | Some("http" | "http/1.1") => Version::Http11,
            Some("http/1.0") => Version::Http10,
            Some("h2") => Version::Http2,
            Some(other) => return Err(alloc::format!("`proto` is http/1.0, http/1.1 or h2, not `{other}`")),
        };
        let count = |key: &str| node.get(key).and_then(Node::as_i64).and_then(|count| u64::try_from(count).ok());
        let body = count("body_len").or_else(|| string(node, "body").map(|body| body.len() as u64));
        Ok(Self {
            tls: scheme == "https",
            method: string(node, "method").unwrap_or_else(|| "GET".into()),
            host,
            path: string(node, "path").unwrap_or_else(|| "/".into()),
            headers: pairs(node.get("headers")),
            client,
            body,
            sni,
            version,
            certificate: string(node, "client_cert"),
            has_right_password: false,
            proxy_protocol: string(node, "proxy_protocol"),
            repeat: count("repeat").map_or(1, |count| count.clamp(1, 1000) as u32),
            service: answer(node.get("service")),
            auth: answer(node.get("auth")),
        })
    }

    /// Returns a header, ignoring the case of its name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// Reads requests and the assumed behaviour of services: a list of requests, or an object with `requests` and `services`.
///
/// # Errors
///
/// The problem with them.
pub fn read(root: &Node) -> Result<(Vec<Request>, World), String> {
    let list = root.as_array().or_else(|| root.get("requests").and_then(Node::as_array)).ok_or("there is no list of requests")?;
    let requests: Result<Vec<Request>, String> = list.iter().map(Request::read).collect();
    let mut world = World::default();
    for service in root.get("services").and_then(Node::as_array).into_iter().flatten() {
        let address = string(service, "address").unwrap_or_default();
        let (network, length) = range(&address).ok_or_else(|| alloc::format!("`address` is not an address or a range: {address}"))?;
        let refuses = service.get("refuses").and_then(Node::as_bool).unwrap_or_default();
        let status = service.get("status").and_then(Node::as_i64).and_then(|status| u16::try_from(status).ok());
        world.services.push((network, length, if refuses { None } else { Some(status.unwrap_or(200)) }));
    }
    Ok((requests?, world))
}

fn text(value: &str) -> Node {
    Node::synthesised(Value::String(Str::new(value)))
}

fn number(value: u64) -> Node {
    Node::synthesised(Value::Int(i64::try_from(value).unwrap_or(i64::MAX)))
}

fn object(fields: impl IntoIterator<Item = (Str, Node)>) -> Node {
    let mut object = Object::new();
    for (key, value) in fields {
        object.insert(key, value);
    }
    Node::synthesised(Value::Object(object))
}

fn plain_pairs(pairs: &[(String, String)]) -> Node {
    object(pairs.iter().map(|(name, value)| (Str::new(name), text(value))))
}

impl Seen {
    /// Converts to JSON.
    pub fn node(&self) -> Node {
        let mut fields = Vec::from([
            ("method", text(&self.method)),
            ("path", text(&self.path)),
            ("host", text(&self.host)),
            ("proto", text(&self.protocol)),
            ("headers", plain_pairs(&self.headers)),
        ]);
        if let Some(endpoint) = &self.endpoint {
            fields.push(("endpoint", text(endpoint)));
        }
        if self.body > 0 {
            fields.push(("body_len", number(self.body)));
        }
        if let Some(sni) = &self.sni {
            fields.push(("tls_sni", text(sni)));
        }
        if self.certificate {
            fields.push(("tls_client_cert", Node::synthesised(Value::Bool(true))));
        }
        if !self.fastcgi.is_empty() {
            fields.push(("fcgi_params", plain_pairs(&self.fastcgi)));
        }
        object(fields.into_iter().map(|(key, value)| (Str::new_static(key), value)))
    }
}

impl Response {
    /// Converts to JSON.
    pub fn node(&self) -> Node {
        let mut fields = Vec::from([("status", number(self.status.into()))]);
        let mut add = |key: &'static str, value: &Option<String>| fields.extend(value.as_ref().map(|value| (key, text(value))));
        add("location", &self.location);
        add("upstream", &self.upstream);
        add("ingress", &self.ingress);
        add("location_path", &self.location_path);
        add("served_cert", &self.certificate);
        add("error", &self.error);
        fields.extend(self.seen.as_ref().map(|seen| ("seen", seen.node())));
        let list = |items: Vec<Node>| Node::synthesised(Value::Array(items));
        if !self.others.is_empty() {
            fields.push(("other_upstream_requests", list(self.others.iter().map(Seen::node).collect())));
        }
        if !self.headers.is_empty() {
            let of = |(name, values): &(String, Vec<String>)| (Str::new(name), list(values.iter().map(|value| text(value)).collect()));
            fields.push(("headers", object(self.headers.iter().map(of))));
        }
        if !self.statuses.is_empty() {
            fields.push(("statuses", list(self.statuses.iter().map(|status| number((*status).into())).collect())));
        }
        object(fields.into_iter().map(|(key, value)| (Str::new_static(key), value)))
    }
}
