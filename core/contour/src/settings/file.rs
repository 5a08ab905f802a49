//! Reads the configuration file, `contour.yaml` in a ConfigMap, like Contour's YAML decoder: strictly by its types (Contour
//! `pkg/config/parameters.go`, `Parse`; gopkg.in/yaml.v3). Does not validate values; see `validate`.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::resource::Object;
use chancery_text::{self, LineIndex, Node, NodeId, ProblemKind, Segment, Str, Value};

/// A type that a value of the file has.
#[derive(Clone, Copy)]
enum Shape {
    Bool,
    /// Lowest, highest, name in Go.
    Int(i64, i64, &'static str),
    Float,
    /// Name in Go.
    Text(&'static str),
    /// The item type, and the name in Go.
    List(&'static Shape, &'static str),
    /// From text to text.
    Map,
    Struct(&'static Struct),
}

/// A Go struct: its name and fields. A field has its name in the file, its name in a ContourConfiguration if the subtree is copied verbatim, and
/// its type.
struct Struct(&'static str, &'static [(&'static str, &'static str, Shape)]);

const TEXT: Shape = Shape::Text("string");
const TEXTS: Shape = Shape::List(&TEXT, "[]string");
const INT: Shape = Shape::Int(i64::MIN, i64::MAX, "int");
const INT32: Shape = Shape::Int(i32::MIN as i64, i32::MAX as i64, "int32");
const UINT32: Shape = Shape::Int(0, u32::MAX as i64, "uint32");

const NAMESPACED_NAME: Shape = Shape::Struct(&Struct("config.NamespacedName", &[("name", "name", TEXT), ("namespace", "namespace", TEXT)]));

const TLS_FIELDS: [(&str, &str, Shape); 4] = [
    ("minimum-protocol-version", "minimumProtocolVersion", TEXT),
    ("maximum-protocol-version", "maximumProtocolVersion", TEXT),
    ("cipher-suites", "cipherSuites", Shape::List(&TEXT, "config.TLSCiphers")),
    ("ecdh-curves", "ecdhCurves", Shape::List(&TEXT, "config.ECDHCurvesList")),
];

const TLS: Shape = Shape::Struct(&Struct(
    "config.TLSParameters",
    &[
        TLS_FIELDS[0],
        TLS_FIELDS[1],
        TLS_FIELDS[2],
        TLS_FIELDS[3],
        ("fallback-certificate", "fallbackCertificate", NAMESPACED_NAME),
        ("envoy-client-certificate", "clientCertificate", NAMESPACED_NAME),
        ("fingerprint", "fingerprint", Shape::Struct(&Struct("config.TLSFingerprint", &[("ja3", "ja3", Shape::Bool), ("ja4", "ja4", Shape::Bool)]))),
    ],
));

const TIMEOUTS: Shape = Shape::Struct(&Struct(
    "config.TimeoutParameters",
    &[
        ("request-timeout", "requestTimeout", TEXT),
        ("connection-idle-timeout", "connectionIdleTimeout", TEXT),
        ("stream-idle-timeout", "streamIdleTimeout", TEXT),
        ("max-connection-duration", "maxConnectionDuration", TEXT),
        ("delayed-close-timeout", "delayedCloseTimeout", TEXT),
        ("connection-shutdown-grace-period", "connectionShutdownGracePeriod", TEXT),
        ("connect-timeout", "connectTimeout", TEXT),
    ],
));

const HEADERS: Shape = Shape::Struct(&Struct("config.HeadersPolicy", &[("set", "set", Shape::Map), ("remove", "remove", TEXTS)]));

const POLICY: Shape = Shape::Struct(&Struct(
    "config.PolicyParameters",
    &[
        ("request-headers", "requestHeaders", HEADERS),
        ("response-headers", "responseHeaders", HEADERS),
        ("applyToIngress", "applyToIngress", Shape::Bool),
    ],
));

const CLUSTER: Shape = Shape::Struct(&Struct(
    "config.ClusterParameters",
    &[
        ("dns-lookup-family", "dnsLookupFamily", Shape::Text("config.ClusterDNSFamilyType")),
        ("max-requests-per-connection", "maxRequestsPerConnection", UINT32),
        ("per-connection-buffer-limit-bytes", "per-connection-buffer-limit-bytes", UINT32),
        (
            "circuit-breakers",
            "circuitBreakers",
            Shape::Struct(&Struct(
                "v1alpha1.CircuitBreakers",
                &[
                    ("max-connections", "maxConnections", UINT32),
                    ("max-pending-requests", "maxPendingRequests", UINT32),
                    ("max-requests", "maxRequests", UINT32),
                    ("max-retries", "maxRetries", UINT32),
                    ("per-host-max-connections", "perHostMaxConnections", UINT32),
                ],
            )),
        ),
        ("upstream-tls", "upstreamTLS", Shape::Struct(&Struct("config.ProtocolParameters", &TLS_FIELDS))),
    ],
));

const LISTENER: Shape = Shape::Struct(&Struct(
    "config.ListenerParameters",
    &[
        ("connection-balancer", "connectionBalancer", TEXT),
        ("max-requests-per-connection", "maxRequestsPerConnection", UINT32),
        ("per-connection-buffer-limit-bytes", "per-connection-buffer-limit-bytes", UINT32),
        (
            "socket-options",
            "socketOptions",
            Shape::Struct(&Struct("config.SocketOptions", &[("tos", "tos", INT32), ("traffic-class", "trafficClass", INT32)])),
        ),
        ("max-requests-per-io-cycle", "maxRequestsPerIOCycle", UINT32),
        ("http2-max-concurrent-streams", "httpMaxConcurrentStreams", UINT32),
        ("max-connections-per-listener", "maxConnectionsPerListener", UINT32),
        ("max-connections-to-accept-per-socket-event", "maxConnectionsToAcceptPerSocketEvent", UINT32),
    ],
));

const HEADER_MATCH: Shape = Shape::Struct(&Struct(
    "v1.HeaderMatchCondition",
    &[
        ("name", "name", TEXT),
        ("present", "present", Shape::Bool),
        ("notpresent", "notpresent", Shape::Bool),
        ("contains", "contains", TEXT),
        ("notcontains", "notcontains", TEXT),
        ("ignorecase", "ignoreCase", Shape::Bool),
        ("exact", "exact", TEXT),
        ("notexact", "notexact", TEXT),
        ("regex", "regex", TEXT),
        ("treatmissingasempty", "treatMissingAsEmpty", Shape::Bool),
    ],
));

const DESCRIPTOR_ENTRY: Shape = Shape::Struct(&Struct(
    "v1.RateLimitDescriptorEntry",
    &[
        ("genericKey", "genericKey", Shape::Struct(&Struct("v1.GenericKeyDescriptor", &[("key", "key", TEXT), ("value", "value", TEXT)]))),
        (
            "requestHeader",
            "requestHeader",
            Shape::Struct(&Struct("v1.RequestHeaderDescriptor", &[("headerName", "headerName", TEXT), ("descriptorKey", "descriptorKey", TEXT)])),
        ),
        (
            "requestHeaderValueMatch",
            "requestHeaderValueMatch",
            Shape::Struct(&Struct(
                "v1.RequestHeaderValueMatchDescriptor",
                &[
                    ("headers", "headers", Shape::List(&HEADER_MATCH, "[]v1.HeaderMatchCondition")),
                    ("expectMatch", "expectMatch", Shape::Bool),
                    ("value", "value", TEXT),
                ],
            )),
        ),
        ("remoteAddress", "remoteAddress", Shape::Struct(&Struct("v1.RemoteAddressDescriptor", &[]))),
    ],
));

const DESCRIPTOR: Shape =
    Shape::Struct(&Struct("v1.RateLimitDescriptor", &[("entries", "entries", Shape::List(&DESCRIPTOR_ENTRY, "[]v1.RateLimitDescriptorEntry"))]));

const RATE_LIMIT: Shape = Shape::Struct(&Struct(
    "config.RateLimitService",
    &[
        ("extensionService", "extensionService", TEXT),
        ("domain", "domain", TEXT),
        ("failOpen", "failOpen", Shape::Bool),
        ("enableXRateLimitHeaders", "enableXRateLimitHeaders", Shape::Bool),
        ("enableResourceExhaustedCode", "enableResourceExhaustedCode", Shape::Bool),
        (
            "defaultGlobalRateLimitPolicy",
            "defaultGlobalRateLimitPolicy",
            Shape::Struct(&Struct(
                "v1.GlobalRateLimitPolicy",
                &[("disabled", "disabled", Shape::Bool), ("descriptors", "descriptors", Shape::List(&DESCRIPTOR, "[]v1.RateLimitDescriptor"))],
            )),
        ),
    ],
));

const ALLOWED_HEADER: Shape = Shape::Struct(&Struct(
    "v1.HTTPAuthorizationServerAllowedHeaders",
    &[
        ("exact", "exact", TEXT),
        ("prefix", "prefix", TEXT),
        ("suffix", "suffix", TEXT),
        ("contains", "contains", TEXT),
        ("ignorecase", "ignoreCase", Shape::Bool),
    ],
));

const ALLOWED_HEADERS: Shape = Shape::List(&ALLOWED_HEADER, "[]v1.HTTPAuthorizationServerAllowedHeaders");

const EXT_AUTH: Shape = Shape::Struct(&Struct(
    "config.GlobalExternalAuthorization",
    &[
        ("extensionService", "extensionService", TEXT),
        ("serviceType", "serviceType", Shape::Text("v1.AuthorizationServiceType")),
        (
            "httpSettings",
            "httpSettings",
            Shape::Struct(&Struct(
                "v1.HTTPAuthorizationServerSettings",
                &[
                    ("pathprefix", "pathPrefix", TEXT),
                    ("allowedauthorizationheaders", "allowedAuthorizationHeaders", ALLOWED_HEADERS),
                    ("allowedupstreamheaders", "allowedUpstreamHeaders", ALLOWED_HEADERS),
                ],
            )),
        ),
        (
            "authPolicy",
            "authPolicy",
            Shape::Struct(&Struct("config.GlobalAuthorizationPolicy", &[("disabled", "disabled", Shape::Bool), ("context", "context", Shape::Map)])),
        ),
        ("responseTimeout", "responseTimeout", TEXT),
        ("failOpen", "failOpen", Shape::Bool),
        (
            "withRequestBody",
            "withRequestBody",
            Shape::Struct(&Struct(
                "config.GlobalAuthorizationServerBufferSettings",
                &[
                    ("maxRequestBytes", "maxRequestBytes", UINT32),
                    ("allowPartialMessage", "allowPartialMessage", Shape::Bool),
                    ("packAsBytes", "packAsBytes", Shape::Bool),
                ],
            )),
        ),
    ],
));

const METRICS_SERVER: Shape = Shape::Struct(&Struct(
    "config.MetricsServerParameters",
    &[
        ("address", "address", TEXT),
        ("port", "port", INT),
        ("server-certificate-path", "certFile", TEXT),
        ("server-key-path", "keyFile", TEXT),
        ("ca-certificate-path", "caFile", TEXT),
    ],
));

const CUSTOM_TAG: Shape = Shape::Struct(&Struct(
    "config.CustomTag",
    &[("tagName", "tagName", TEXT), ("literal", "literal", TEXT), ("requestHeaderName", "requestHeaderName", TEXT)],
));

const TRACING: Shape = Shape::Struct(&Struct(
    "config.Tracing",
    &[
        ("includePodDetail", "includePodDetail", Shape::Bool),
        ("serviceName", "serviceName", TEXT),
        ("overallSampling", "overallSampling", TEXT),
        ("clientSampling", "clientSampling", TEXT),
        ("randomSampling", "randomSampling", TEXT),
        ("maxPathTagLength", "maxPathTagLength", UINT32),
        ("customTags", "customTags", Shape::List(&CUSTOM_TAG, "[]config.CustomTag")),
        ("extensionService", "extensionService", TEXT),
    ],
));

const PARAMETERS: Struct = Struct(
    "config.Parameters",
    &[
        ("debug", "debug", Shape::Bool),
        ("incluster", "incluster", Shape::Bool),
        ("kubeconfig", "kubeconfig", TEXT),
        ("kubernetesClientQPS", "kubernetesClientQPS", Shape::Float),
        ("kubernetesClientBurst", "kubernetesClientBurst", INT),
        ("server", "server", Shape::Struct(&Struct("config.ServerParameters", &[]))),
        ("gateway", "gateway", Shape::Struct(&Struct("config.GatewayParameters", &[("gatewayRef", "gatewayRef", NAMESPACED_NAME)]))),
        ("ingress-status-address", "ingress-status-address", TEXT),
        ("accesslog-format", "accesslog-format", Shape::Text("config.AccessLogType")),
        ("accesslog-format-string", "accesslog-format-string", TEXT),
        ("json-fields", "json-fields", Shape::List(&TEXT, "config.AccessLogFields")),
        ("accesslog-level", "accesslog-level", Shape::Text("config.AccessLogLevel")),
        ("tls", "tls", TLS),
        ("disablePermitInsecure", "disablePermitInsecure", Shape::Bool),
        ("disableAllowChunkedLength", "disableAllowChunkedLength", Shape::Bool),
        ("disableMergeSlashes", "disableMergeSlashes", Shape::Bool),
        (
            "compression",
            "compression",
            Shape::Struct(&Struct("config.CompressionParameters", &[("algorithm", "algorithm", Shape::Text("config.CompressionAlgorithm"))])),
        ),
        ("serverHeaderTransformation", "serverHeaderTransformation", Shape::Text("config.ServerHeaderTransformationType")),
        ("enableExternalNameService", "enableExternalNameService", Shape::Bool),
        ("timeouts", "timeouts", TIMEOUTS),
        ("policy", "policy", POLICY),
        ("envoy-service-namespace", "envoy-service-namespace", TEXT),
        ("envoy-service-name", "envoy-service-name", TEXT),
        ("default-http-versions", "default-http-versions", Shape::List(&Shape::Text("config.HTTPVersionType"), "[]config.HTTPVersionType")),
        ("cluster", "cluster", CLUSTER),
        (
            "network",
            "network",
            Shape::Struct(&Struct(
                "config.NetworkParameters",
                &[
                    ("num-trusted-hops", "numTrustedHops", UINT32),
                    ("admin-port", "adminPort", INT),
                    ("strip-trailing-host-dot", "stripTrailingHostDot", Shape::Bool),
                ],
            )),
        ),
        ("listener", "listener", LISTENER),
        ("rateLimitService", "rateLimitService", RATE_LIMIT),
        ("globalExtAuth", "globalExtAuth", EXT_AUTH),
        (
            "metrics",
            "metrics",
            Shape::Struct(&Struct("config.MetricsParameters", &[("contour", "contour", METRICS_SERVER), ("envoy", "envoy", METRICS_SERVER)])),
        ),
        ("tracing", "tracing", TRACING),
        ("featureFlags", "featureFlags", TEXTS),
        (
            "omEnforcedHealthListener",
            "omEnforcedHealthListener",
            Shape::Struct(&Struct("config.OMEnforcedHealthListenerConfig", &[("address", "address", TEXT), ("port", "port", INT)])),
        ),
        ("runtime-settings", "runtime-settings", Shape::Map),
    ],
);

/// The decoder's error, and its first node; `None` if no node is known.
pub struct Refusal {
    /// Its words.
    pub error: String,
    /// Where.
    pub node: Option<NodeId>,
}

/// Reads a file: `text` is its content, `file` the object that was read from it.
pub fn read(text: &str, file: Option<&Object>) -> Result<Node, Refusal> {
    let nothing = || super::defaults::empty();
    let Some(file) = file else { return Ok(nothing()) };
    if let Some((line, message)) = chancery_text::syntax_error(text) {
        let at = if line == 0 { String::new() } else { format!("line {line}: ") };
        return Err(Refusal { error: format!("failed to parse configuration: yaml: {at}{message}"), node: None });
    }
    // Node numbers are the same in a standalone and in an embedded text, but lines are those of the file.
    let alone = chancery_text::parse(text, &chancery_text::Limits::default());
    let mut decoder = Decoder { text, alone: &alone, lines: LineIndex::new(text), errors: Vec::new() };
    let root = match &file.root.value {
        Value::Null => nothing(),
        _ => decoder.value(&file.root, Shape::Struct(&PARAMETERS)).unwrap_or_else(nothing),
    };
    decoder.duplicates(&file.root);
    match decoder.errors.first() {
        None => Ok(root),
        Some((node, _)) => {
            let lines: Vec<&str> = decoder.errors.iter().map(|(_, error)| error.as_str()).collect();
            let error = format!("failed to parse configuration: yaml: unmarshal errors:\n  {}", lines.join("\n  "));
            Err(Refusal { error, node: Some(*node) })
        }
    }
}

struct Decoder<'a> {
    text: &'a str,
    alone: &'a chancery_text::Document,
    lines: LineIndex,
    errors: Vec<(NodeId, String)>,
}

impl Decoder<'_> {
    fn line_at(&self, offset: u32) -> u32 {
        self.lines.position(self.text, offset).line + 1
    }

    fn line(&self, node: &Node, of_key: bool) -> u32 {
        let span = self.alone.spans.get(node.id);
        span.map_or(1, |span| self.line_at(if of_key && !span.key.is_empty() { span.key.start } else { span.value.start }))
    }

    /// A scalar as written, without quotes.
    fn written(&self, node: &Node) -> Str {
        match &node.value {
            Value::String(text) => text.clone(),
            _ => Str::new(self.alone.spans.get(node.id).map_or("", |span| span.value.slice(self.text))),
        }
    }

    fn refuse(&mut self, node: &Node, into: &str) {
        let (tag, is_scalar) = match &node.value {
            Value::Null => ("!!null", true),
            Value::Bool(_) => ("!!bool", true),
            Value::Int(_) => ("!!int", true),
            Value::Float(_) => ("!!float", true),
            Value::String(_) => ("!!str", true),
            Value::Array(_) => ("!!seq", false),
            Value::Object(_) => ("!!map", false),
        };
        let written = self.written(node);
        let shown = match (is_scalar, written.get(..7)) {
            (false, _) => String::new(),
            (true, Some(start)) if written.len() > 10 => format!(" `{start}...`"),
            (true, _) => format!(" `{written}`"),
        };
        let error = format!("line {}: cannot unmarshal {tag}{shown} into {into}", self.line(node, false));
        self.errors.push((node.id, error));
    }

    /// The value according to its type; `None` for null and for other types.
    fn value(&mut self, node: &Node, shape: Shape) -> Option<Node> {
        if node.is_null() {
            return None;
        }
        let value = match (shape, &node.value) {
            (Shape::Bool, Value::Bool(value)) => Value::Bool(*value),
            (Shape::Bool, Value::String(text)) => match &**text {
                "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Value::Bool(true),
                "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Value::Bool(false),
                _ => return self.misfit(node, "bool"),
            },
            (Shape::Bool, _) => return self.misfit(node, "bool"),
            (Shape::Int(low, high, name), _) => match node.as_f64().map(|float| node.as_i64().unwrap_or(float as i64)) {
                Some(value) if (low..=high).contains(&value) => Value::Int(value),
                _ => return self.misfit(node, name),
            },
            (Shape::Float, Value::Int(_) | Value::Float(_)) => node.value.clone(),
            (Shape::Float, _) => return self.misfit(node, "float32"),
            (Shape::Text(name), Value::Array(_) | Value::Object(_)) => return self.misfit(node, name),
            (Shape::Text(_), _) => Value::String(self.written(node)),
            (Shape::List(of, _), Value::Array(items)) => Value::Array(items.iter().filter_map(|item| self.item(item, *of)).collect()),
            (Shape::List(_, name), _) => return self.misfit(node, name),
            (Shape::Map, Value::Object(object)) => {
                Value::Object(object.iter().filter_map(|entry| Some((entry.key.clone(), self.item(&entry.value, TEXT)?))).collect())
            }
            (Shape::Map, _) => return self.misfit(node, "map[string]string"),
            (Shape::Struct(Struct(name, fields)), Value::Object(object)) => {
                let mut read = chancery_text::Object::new();
                for entry in object {
                    match fields.iter().find(|(field, ..)| *field == entry.key) {
                        Some((_, renamed, shape)) => {
                            if let Some(value) = self.value(&entry.value, *shape) {
                                read.insert(*renamed, value);
                            }
                        }
                        None => {
                            let error = format!("line {}: field {} not found in type {name}", self.line(&entry.value, true), entry.key);
                            self.errors.push((entry.value.id, error));
                        }
                    }
                }
                Value::Object(read)
            }
            (Shape::Struct(Struct(name, _)), _) => return self.misfit(node, name),
        };
        Some(Node { id: node.id, value })
    }

    fn misfit(&mut self, node: &Node, into: &str) -> Option<Node> {
        self.refuse(node, into);
        None
    }

    /// An item of a list or map: null is the type's zero value.
    fn item(&mut self, node: &Node, shape: Shape) -> Option<Node> {
        match (node.is_null(), shape) {
            (true, Shape::Text(_)) => Some(Node { id: node.id, value: Value::String(Str::default()) }),
            (true, _) => Some(Node { id: node.id, value: Value::Object(chancery_text::Object::new()) }),
            (false, _) => self.value(node, shape),
        }
    }

    /// Finds duplicate keys.
    fn duplicates(&mut self, root: &Node) {
        for problem in self.alone.problems.iter().filter(|problem| problem.kind == ProblemKind::DuplicateKey) {
            let Some(node) = self.alone.spans.deepest_at(problem.range.start) else { continue };
            let holder = self.alone.spans.get(node).map_or(root.id, |span| span.parent);
            let mut shape = Shape::Struct(&PARAMETERS);
            for segment in self.alone.spans.path(root, holder).segments {
                shape = match (shape, &segment) {
                    (Shape::Struct(Struct(_, fields)), Segment::Key(key)) => match fields.iter().find(|(field, ..)| field == key) {
                        Some((.., shape)) => *shape,
                        None => break,
                    },
                    (Shape::List(of, _), Segment::Index(_)) => *of,
                    _ => break,
                };
            }
            let (line, key) = (self.line_at(problem.range.start), problem.range.slice(self.text).trim_matches(['"', '\'']).to_string());
            let error = match shape {
                Shape::Struct(Struct(name, _)) => format!("line {line}: field {key} already set in type {name}"),
                _ => format!("line {line}: mapping key {} already defined", chancery_base::schema::go_quoted(&key)),
            };
            self.errors.push((node, error));
        }
    }
}
