//! ExtensionService: a gRPC service that Contour's proxies call for authorization, rate limits and traces.
//!
//! Contour `apis/projectcontour/v1alpha1/extensionservice.go`; limits as in `examples/contour/01-crds.yaml`.

use super::common::{INT32, LOAD_BALANCER, TIMEOUTS, UPSTREAM_VALIDATION};
use chancery_base::object;
use chancery_base::schema::{INTEGER, STRING, Schema, array, field, one_of};

/// `spec` in v1alpha1.
pub(super) const SPEC: Schema = object![
    field("circuitBreakerPolicy", CIRCUIT_BREAKERS, "How much may be under way to it at once"),
    field("loadBalancerPolicy", LOAD_BALANCER, "How requests are spread over its endpoints"),
    field("protocol", one_of(&["http/1.1", "h2", "h2c"]), "What it speaks; `h2` unless set"),
    field("protocolVersion", one_of(&["v3"]), "The version of Envoy's API that it speaks"),
    field("services", array(&SERVICE).at_least(1), "The Services that it is").required(),
    field("timeoutPolicy", TIMEOUTS, "How long it may take"),
    field("validation", UPSTREAM_VALIDATION, "How its certificate is checked"),
];
const SERVICE: Schema = object![
    field("name", STRING, "The name of the Service").required(),
    field("port", INTEGER.between(1, 65536), "Its port").required(),
    field("weight", INT32, "Its share, compared with the others"),
];

/// The limits of a cluster.
pub(super) const CIRCUIT_BREAKERS: Schema = object![
    field("maxConnections", INT32, "The most connections"),
    field("maxPendingRequests", INT32, "The most requests that wait for a connection"),
    field("maxRequests", INT32, "The most requests under way"),
    field("maxRetries", INT32, "The most retries under way"),
    field("perHostMaxConnections", INT32, "The most connections to one endpoint"),
];
