//! The containers of a pod, as far as the gateway's probes are derived from them.

use chancery_base::object;
use chancery_base::schema::{INT_OR_STRING, INTEGER, Literal, OPEN_OBJECT, STRING, Schema, array, field};

const INT32: Schema = INTEGER.int32();

/// `spec`; unread fields are accepted.
pub(super) const POD_SPEC: Schema = object![field("containers", array(&CONTAINER), "Its containers")].open();
const CONTAINER: Schema = object![
    field("livenessProbe", PROBE, "Whether it lives"),
    field("name", STRING, "Its name"),
    field("ports", array(&PORT), "Its ports"),
    field("readinessProbe", PROBE, "Whether it is ready"),
]
.open();
const PORT: Schema = object![
    field("containerPort", INT32, "The port"),
    field("hostIP", STRING, "The node's address for it"),
    field("hostPort", INT32, "The node's port for it"),
    field("name", STRING, "Its name"),
    field("protocol", STRING.default(Literal::Str("TCP")), "`TCP`, `UDP` or `SCTP`"),
];
const PROBE: Schema = object![
    field("exec", OPEN_OBJECT, "A command that tells"),
    field("failureThreshold", INT32.default(Literal::Int(3)), "The number of failures until the pod is unhealthy"),
    field("grpc", OPEN_OBJECT, "A gRPC service that tells"),
    field("httpGet", HTTP_GET, "A request that tells"),
    field("initialDelaySeconds", INT32, "How long to wait first"),
    field("periodSeconds", INT32.default(Literal::Int(10)), "Seconds between two questions"),
    field("successThreshold", INT32.default(Literal::Int(1)), "The number of successes until the pod is healthy"),
    field("tcpSocket", OPEN_OBJECT, "A connection that tells"),
    field("terminationGracePeriodSeconds", INTEGER, "How long it may take to end"),
    field("timeoutSeconds", INT32.default(Literal::Int(1)), "How long an answer may take, in seconds"),
];
const HTTP_GET: Schema = object![
    field("host", STRING, "The host"),
    field("httpHeaders", array(&OPEN_OBJECT), "Headers, which the gateway does not send"),
    field("path", STRING.default(Literal::Str("/")), "The path"),
    field("port", INT_OR_STRING, "The port, by number or name"),
    field("scheme", STRING.default(Literal::Str("HTTP")), "`HTTP` or `HTTPS`"),
];
