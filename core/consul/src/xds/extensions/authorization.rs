//! Applies `builtin/ext-authz`: a service decides whether a request may pass.

use super::input::ExtensionInput;
use super::insert::{self, Place};
use crate::extension::{address, argument};
use crate::go::Errors;
use crate::xds::context::Resources;
use crate::xds::parts::cluster::http2;
use crate::xds::parts::proto::{copied, duration, endpoint, extension, flag, list, message, non_zero, one, regex};
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::schema::duration;
use chancery_kubernetes::reason::Reason;

/// The cluster of a service at an address.
const LOCAL: &str = "local_ext_authz";

/// The service to query.
struct AuthorizationService<'a> {
    grpc: bool,
    service: &'a Tree,
    target: &'a Tree,
}

impl AuthorizationService<'_> {
    fn uri(&self) -> &str {
        argument(self.target, "URI").text()
    }

    fn timeout(&self) -> Tree {
        let text = argument(self.target, "Timeout");
        let nanos = duration::read(text.text()).ok().filter(|_| !text.text().is_empty());
        nanos.map(|nanos| duration(nanos).or_from(text.origin)).into()
    }

    fn cluster(&self, given: &ExtensionInput<'_>) -> Result<String, Reason> {
        if self.uri().is_empty() {
            return given.cluster_of(argument(self.target, "Service")).map(String::from);
        }
        Ok(LOCAL.into())
    }
}

pub(super) fn apply(given: &ExtensionInput<'_>, resources: &mut Resources) -> Result<(), Reason> {
    let config = argument(given.arguments, "Config");
    let grpc = argument(config, "GrpcService");
    let service = if grpc.is_null() { argument(config, "HttpService") } else { grpc };
    // Envoy's network filter only supports gRPC.
    if grpc.is_null() && !given.is_http() {
        return Err("an authorization service over HTTP cannot decide about connections".into());
    }
    let asked = AuthorizationService { grpc: !grpc.is_null(), service, target: argument(service, "Target") };
    if let Some(cluster) = cluster(&asked) {
        resources.clusters.retain(|other| !other.get("name").is(LOCAL));
        resources.clusters.push(cluster.or_from(service.origin));
    }
    let mut errors = Errors::default();
    let place = Place::of(argument(given.arguments, "InsertOptions"), given.is_http());
    let act = |chain: &mut Tree| {
        if given.is_http() {
            insert::http(chain, &http_filter(given, config, &asked)?, &place)
        } else {
            insert::network(chain, &network_filter(given, config, &asked)?, &place)
        }
    };
    insert::each(&mut resources.listeners, true, act, &mut errors);
    errors.result()
}

fn cluster(asked: &AuthorizationService<'_>) -> Option<Tree> {
    let (host, port) = address(asked.uri()).filter(|_| !asked.uri().is_empty())?;
    let assignment = message! {
        "cluster_name": LOCAL,
        "endpoints": one(message! { "lb_endpoints": one(endpoint(host, port)) }),
    };
    Some(message! {
        "name": LOCAL,
        "type": if host == "localhost" { "STRICT_DNS" } else { "STATIC" },
        "connect_timeout": asked.timeout(),
        "load_assignment": assignment,
        "typed_extension_protocol_options": if asked.grpc { http2() } else { Tree::NULL },
    })
}

fn grpc_service(given: &ExtensionInput<'_>, asked: &AuthorizationService<'_>) -> Result<Tree, Reason> {
    let envoy = message! {
        "cluster_name": asked.cluster(given)?,
        "authority": copied(argument(asked.service, "Authority")),
    };
    Ok(message! {
        "envoy_grpc": envoy,
        "timeout": asked.timeout(),
        "initial_metadata": headers(argument(asked.service, "InitialMetadata")),
    })
}

/// Headers and their values.
fn headers(of: &Tree) -> Tree {
    let header = |of: &Tree| message! { "key": copied(argument(of, "Key")), "value": copied(argument(of, "Value")) };
    list(of.items().iter().map(header).collect())
}

/// String matchers.
fn matchers(of: &Tree) -> Tree {
    let matcher = |of: &Tree| {
        let mut out = flagged(of);
        for (name, field) in [("Contains", "contains"), ("Exact", "exact"), ("Prefix", "prefix"), ("Suffix", "suffix")] {
            out.set(field, copied(argument(of, name)));
        }
        let pattern = argument(of, "SafeRegex");
        if !pattern.text().is_empty() {
            out.set("safe_regex", regex(pattern.clone()));
        }
        without_nulls(out)
    };
    let all: Vec<Tree> = of.items().iter().map(matcher).collect();
    if all.is_empty() {
        Tree::NULL
    } else {
        message! { "patterns": Tree::from(all) }
    }
}

fn flagged(of: &Tree) -> Tree {
    message! { "ignore_case": flag(argument(of, "IgnoreCase").flag()) }
}

fn without_nulls(of: Tree) -> Tree {
    Tree::object(of.fields().iter().filter(|(_, value)| !value.is_null()).cloned())
}

fn http_service(given: &ExtensionInput<'_>, asked: &AuthorizationService<'_>) -> Result<Tree, Reason> {
    let cluster = asked.cluster(given)?;
    let uri = if asked.uri().is_empty() { asked.uri() } else { LOCAL };
    let timeout = asked.timeout();
    let server = message! {
        "uri": if uri.is_empty() { cluster.as_str() } else { uri },
        "cluster": cluster.as_str(),
        "timeout": timeout,
    };
    let (request, response) = (argument(asked.service, "AuthorizationRequest"), argument(asked.service, "AuthorizationResponse"));
    let asks = if request.is_null() {
        Tree::NULL
    } else {
        message! {
            "allowed_headers": matchers(argument(request, "AllowedHeaders")),
            "headers_to_add": headers(argument(request, "HeadersToAdd")),
        }
    };
    let answers = if response.is_null() {
        Tree::NULL
    } else {
        message! {
            "allowed_upstream_headers": matchers(argument(response, "AllowedUpstreamHeaders")),
            "allowed_upstream_headers_to_append": matchers(argument(response, "AllowedUpstreamHeadersToAppend")),
            "allowed_client_headers": matchers(argument(response, "AllowedClientHeaders")),
            "allowed_client_headers_on_success": matchers(argument(response, "AllowedClientHeadersOnSuccess")),
            "dynamic_metadata_from_headers": matchers(argument(response, "DynamicMetadataFromHeaders")),
        }
    };
    Ok(message! {
        "server_uri": server,
        "path_prefix": copied(argument(asked.service, "PathPrefix")),
        "authorization_request": asks,
        "authorization_response": answers,
    })
}

/// The prefix of statistics.
fn stat_prefix(config: &Tree) -> &str {
    match argument(config, "StatPrefix").text() {
        "" => "response",
        prefix => prefix,
    }
}

fn http_filter(given: &ExtensionInput<'_>, config: &Tree, asked: &AuthorizationService<'_>) -> Result<Tree, Reason> {
    let mut namespaces: Vec<Tree> = argument(config, "MetadataContextNamespaces").items().to_vec();
    namespaces.push("consul".into());
    let body = argument(config, "WithRequestBody");
    let body = if body.is_null() {
        Tree::NULL
    } else {
        message! {
            "max_request_bytes": non_zero(argument(body, "MaxRequestBytes").number()),
            "allow_partial_message": flag(argument(body, "AllowPartialMessage").flag()),
            "pack_as_bytes": flag(argument(body, "PackAsBytes").flag()),
        }
    };
    let status = argument(config, "StatusOnError");
    let status = match status.int() {
        0 => Tree::NULL,
        code => message! { "code": status_name(code).or_from(status.origin) },
    };
    let mut out = message! {
        "stat_prefix": stat_prefix(config),
        "transport_api_version": "V3",
        "metadata_context_namespaces": Tree::from(namespaces),
        "failure_mode_allow": flag(given.required.map(|required| !required)),
        "with_request_body": body,
        "status_on_error": status,
        "clear_route_cache": flag(argument(config, "ClearRouteCache").flag()),
        "include_peer_certificate": flag(argument(config, "IncludePeerCertificate").flag()),
        "bootstrap_metadata_labels_key": copied(argument(config, "BootstrapMetadataLabelsKey")),
    };
    if asked.grpc {
        out.set("grpc_service", grpc_service(given, asked)?);
    } else {
        out.set("http_service", http_service(given, asked)?);
    }
    Ok(extension("envoy.filters.http.ext_authz", "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz", out))
}

fn network_filter(given: &ExtensionInput<'_>, config: &Tree, asked: &AuthorizationService<'_>) -> Result<Tree, Reason> {
    let out = message! {
        "stat_prefix": stat_prefix(config),
        "grpc_service": grpc_service(given, asked)?,
        "transport_api_version": "V3",
        "failure_mode_allow": flag(given.required.map(|required| !required)),
        "include_peer_certificate": flag(argument(config, "IncludePeerCertificate").flag()),
    };
    let kind = "envoy.extensions.filters.network.ext_authz.v3.ExtAuthz";
    Ok(extension("envoy.filters.network.ext_authz", kind, out))
}

/// The name of a status in Envoy.
fn status_name(code: i64) -> Tree {
    const NAMES: &[(i64, &str)] = &[
        (100, "Continue"),
        (200, "OK"),
        (201, "Created"),
        (202, "Accepted"),
        (203, "NonAuthoritativeInformation"),
        (204, "NoContent"),
        (205, "ResetContent"),
        (206, "PartialContent"),
        (207, "MultiStatus"),
        (208, "AlreadyReported"),
        (226, "IMUsed"),
        (300, "MultipleChoices"),
        (301, "MovedPermanently"),
        (302, "Found"),
        (303, "SeeOther"),
        (304, "NotModified"),
        (305, "UseProxy"),
        (307, "TemporaryRedirect"),
        (308, "PermanentRedirect"),
        (400, "BadRequest"),
        (401, "Unauthorized"),
        (402, "PaymentRequired"),
        (403, "Forbidden"),
        (404, "NotFound"),
        (405, "MethodNotAllowed"),
        (406, "NotAcceptable"),
        (407, "ProxyAuthenticationRequired"),
        (408, "RequestTimeout"),
        (409, "Conflict"),
        (410, "Gone"),
        (411, "LengthRequired"),
        (412, "PreconditionFailed"),
        (413, "PayloadTooLarge"),
        (414, "URITooLong"),
        (415, "UnsupportedMediaType"),
        (416, "RangeNotSatisfiable"),
        (417, "ExpectationFailed"),
        (421, "MisdirectedRequest"),
        (422, "UnprocessableEntity"),
        (423, "Locked"),
        (424, "FailedDependency"),
        (426, "UpgradeRequired"),
        (428, "PreconditionRequired"),
        (429, "TooManyRequests"),
        (431, "RequestHeaderFieldsTooLarge"),
        (500, "InternalServerError"),
        (501, "NotImplemented"),
        (502, "BadGateway"),
        (503, "ServiceUnavailable"),
        (504, "GatewayTimeout"),
        (505, "HTTPVersionNotSupported"),
        (506, "VariantAlsoNegotiates"),
        (507, "InsufficientStorage"),
        (508, "LoopDetected"),
        (510, "NotExtended"),
        (511, "NetworkAuthenticationRequired"),
    ];
    NAMES.iter().find(|(number, _)| *number == code).map_or_else(|| code.into(), |(_, name)| (*name).into())
}
