//! Defines Contour's defaults under every configuration (Contour `internal/contourconfig/contourconfiguration.go`). The defaults of file and flags
//! are in `file` and `flags`.

use chancery_text::{Node, NodeId, Object, Str, Value};

/// A value that a table can hold.
#[derive(Clone, Copy, Debug)]
pub enum Plain {
    /// None.
    Nothing,
    /// A truth value.
    Bool(bool),
    /// A number.
    Int(i64),
    /// A string.
    Text(&'static str),
    /// Strings.
    Texts(&'static [&'static str]),
    /// An object with nothing in it.
    Empty,
}

impl Plain {
    /// As a node without a place in the input.
    pub fn node(self) -> Option<Node> {
        let text = |text: &'static str| Value::String(Str::new_static(text));
        Some(Node::synthesised(match self {
            Plain::Nothing => return None,
            Plain::Bool(value) => Value::Bool(value),
            Plain::Int(value) => Value::Int(value),
            Plain::Text(value) => text(value),
            Plain::Texts(values) => Value::Array(values.iter().map(|value| Node::synthesised(text(value))).collect()),
            Plain::Empty => Value::Object(Object::new()),
        }))
    }
}

/// The default ciphers of TLS 1.2 (Contour `apis/projectcontour/v1alpha1/ciphersuites.go`).
pub const CIPHERS: &[&str] = &[
    "[ECDHE-ECDSA-AES128-GCM-SHA256|ECDHE-ECDSA-CHACHA20-POLY1305]",
    "[ECDHE-RSA-AES128-GCM-SHA256|ECDHE-RSA-CHACHA20-POLY1305]",
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384",
];

const DEFAULTS: &[(&str, Plain)] = &[
    ("xdsServer.address", Plain::Text("0.0.0.0")),
    ("xdsServer.port", Plain::Int(8001)),
    ("xdsServer.tls.caFile", Plain::Text("/certs/ca.crt")),
    ("xdsServer.tls.certFile", Plain::Text("/certs/tls.crt")),
    ("xdsServer.tls.keyFile", Plain::Text("/certs/tls.key")),
    ("xdsServer.tls.insecure", Plain::Bool(false)),
    ("ingress", Plain::Empty),
    ("debug.address", Plain::Text("127.0.0.1")),
    ("debug.port", Plain::Int(6060)),
    ("health.address", Plain::Text("0.0.0.0")),
    ("health.port", Plain::Int(8000)),
    ("envoy.listener.useProxyProtocol", Plain::Bool(false)),
    ("envoy.listener.disableAllowChunkedLength", Plain::Bool(false)),
    ("envoy.listener.disableMergeSlashes", Plain::Bool(false)),
    ("envoy.listener.serverHeaderTransformation", Plain::Text("overwrite")),
    ("envoy.listener.tls.minimumProtocolVersion", Plain::Text("1.2")),
    ("envoy.listener.tls.maximumProtocolVersion", Plain::Text("1.3")),
    ("envoy.listener.tls.cipherSuites", Plain::Texts(CIPHERS)),
    ("envoy.service.name", Plain::Text("envoy")),
    ("envoy.service.namespace", Plain::Text("projectcontour")),
    ("envoy.http.address", Plain::Text("0.0.0.0")),
    ("envoy.http.port", Plain::Int(8080)),
    ("envoy.http.accessLog", Plain::Text("/dev/stdout")),
    ("envoy.https.address", Plain::Text("0.0.0.0")),
    ("envoy.https.port", Plain::Int(8443)),
    ("envoy.https.accessLog", Plain::Text("/dev/stdout")),
    ("envoy.health.address", Plain::Text("0.0.0.0")),
    ("envoy.health.port", Plain::Int(8002)),
    ("envoy.metrics.address", Plain::Text("0.0.0.0")),
    ("envoy.metrics.port", Plain::Int(8002)),
    ("envoy.logging.accessLogFormat", Plain::Text("envoy")),
    ("envoy.logging.accessLogLevel", Plain::Text("info")),
    ("envoy.defaultHTTPVersions", Plain::Texts(&["HTTP/1.1", "HTTP/2"])),
    ("envoy.timeouts", Plain::Empty),
    ("envoy.cluster.dnsLookupFamily", Plain::Text("auto")),
    ("envoy.cluster.upstreamTLS.minimumProtocolVersion", Plain::Text("1.2")),
    ("envoy.cluster.upstreamTLS.maximumProtocolVersion", Plain::Text("1.3")),
    ("envoy.cluster.upstreamTLS.cipherSuites", Plain::Texts(CIPHERS)),
    ("envoy.network.numTrustedHops", Plain::Int(0)),
    ("envoy.network.adminPort", Plain::Int(9001)),
    ("envoy.network.stripTrailingHostDot", Plain::Bool(false)),
    ("httpproxy.disablePermitInsecure", Plain::Bool(false)),
    ("enableExternalNameService", Plain::Bool(false)),
    ("policy.requestHeaders", Plain::Empty),
    ("policy.responseHeaders", Plain::Empty),
    ("policy.applyToIngress", Plain::Bool(false)),
    ("metrics.address", Plain::Text("0.0.0.0")),
    ("metrics.port", Plain::Int(8000)),
];

/// Contour's defaults, as `spec` of a ContourConfiguration.
pub fn defaults() -> Node {
    let mut root = empty();
    for (path, value) in DEFAULTS {
        if let Some(node) = value.node() {
            put(&mut root, path, node);
        }
    }
    root
}

/// An object without a place in the input.
pub fn empty() -> Node {
    Node::synthesised(Value::Object(Object::new()))
}

/// Sets a value and creates missing objects on the path.
pub fn put(root: &mut Node, path: &str, value: Node) {
    let mut at = root;
    let mut path = path;
    while let Some((first, rest)) = path.split_once('.') {
        let Value::Object(object) = &mut at.value else { return };
        if !object.contains_key(first) {
            object.insert(first, empty());
        }
        let Some(next) = object.get_mut(first) else { return };
        (at, path) = (next, rest);
    }
    if let Value::Object(object) = &mut at.value {
        object.insert(path, value);
    }
}

/// The non-null value at a path.
pub fn get<'a>(root: &'a Node, path: &str) -> Option<&'a Node> {
    path.split('.').try_fold(root, |node, key| node.get(key)).filter(|node| !node.is_null())
}

/// A value with the number of the node that it was made from.
pub fn from(node: NodeId, value: Value) -> Node {
    Node { id: node, value }
}
