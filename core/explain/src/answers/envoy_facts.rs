//! Describes routes, clusters and filter chains of an Envoy as comparable facts. Does not answer requests; see `envoy`.

use super::nginx_facts::bytes_in_words;
use super::{Aspect, PreparedEnvoy, Services, without_common_port};
use alloc::borrow::ToOwned as _;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::resource::ObjectId;
use chancery_envoy::emit::pb;
use chancery_envoy::simulate::{Gateway, endpoint_address, is_tls};
use hashbrown::HashMap;
use pb::route::{Route, RouteAction, VirtualHost, route::Action};

/// The facts of a cluster.
pub(super) struct ClusterFacts {
    /// The names of each Service behind the cluster, and its share of requests between 0 and 1. Empty if no Service is known.
    pub(super) shares: Vec<(BTreeSet<String>, f64)>,
    /// Whether it certainly has no endpoint.
    pub(super) is_empty: bool,
    pub(super) connect_timeout: String,
    pub(super) protocol: String,
    /// Whether and how Envoy verifies the service's certificate.
    pub(super) tls: Option<String>,
    /// The address of its only endpoint, without a default port.
    pub(super) host: Option<String>,
}

impl ClusterFacts {
    /// `tls`: the TLS settings of connections to its hosts. `addresses`: those of its hosts.
    pub(super) fn of(
        cluster: &pb::cluster::Cluster,
        shares: Vec<(BTreeSet<String>, f64)>,
        tls: &[Option<&pb::tls::UpstreamTlsContext>],
        addresses: &[String],
        is_empty: bool,
    ) -> Self {
        let has_tls = tls.iter().any(Option::is_some);
        let verifications: BTreeSet<String> = tls.iter().map(|context| context.map_or_else(|| "no TLS".into(), verification)).collect();
        let base = if uses_http2(cluster) { "h2" } else { "http" };
        Self {
            shares,
            is_empty,
            connect_timeout: cluster.connect_timeout.as_ref().map_or_else(|| "5s".to_owned(), seconds),
            protocol: if has_tls { format!("{base}+tls") } else { base.to_owned() },
            tls: has_tls.then(|| verifications.into_iter().collect::<Vec<_>>().join(" or ")),
            host: if let [only] = addresses { Some(without_common_port(only).to_owned()) } else { None },
        }
    }
}

/// Returns the Services behind a cluster by their share. One Service may have several localities, and a cluster several Services.
pub(super) fn service_shares<'a>(gateway: &Gateway<'a>, cluster: &'a pb::cluster::Cluster, services: &Services) -> Vec<(BTreeSet<String>, f64)> {
    let behind = |hosts: &mut dyn Iterator<Item = &pb::endpoint::LbEndpoint>| {
        let addresses: Vec<String> = hosts.filter_map(endpoint_address).collect();
        services.behind(addresses.iter().map(String::as_str))
    };
    let all = behind(&mut gateway.hosts(cluster));
    if !all.is_empty() {
        return Vec::from([(all, 1.0)]);
    }
    let mut out: Vec<(BTreeSet<String>, f64)> = Vec::new();
    let mut is_known = false;
    for locality in gateway.locality_shares(cluster) {
        let mut names = behind(&mut locality.hosts.iter().copied());
        if names.is_empty() {
            // Envoy sends requests to the Service itself, and the input lacks its address.
            names.extend(locality.services.iter().map(|[namespace, name, port]| services.at_port(&format!("{namespace}/{name}"), port)));
        }
        is_known |= !names.is_empty();
        if names.is_empty() {
            names.insert(if locality.region.is_empty() { cluster.name.clone() } else { locality.region.to_owned() });
        }
        match out.iter_mut().find(|(known, _)| *known == names) {
            Some((_, share)) => *share += locality.share,
            None => out.push((names, locality.share)),
        }
    }
    if is_known {
        return out;
    }
    services.of_cluster_name(&cluster.name).map(|name| (BTreeSet::from([name]), 1.0)).into_iter().collect()
}

fn uses_http2(cluster: &pb::cluster::Cluster) -> bool {
    use pb::upstream_http::http_protocol_options::{UpstreamProtocolOptions, explicit_http_config::ProtocolConfig};
    let mut options =
        cluster.typed_extension_protocol_options.values().filter_map(|any| any.downcast_ref::<pb::upstream_http::HttpProtocolOptions>());
    options.any(|options| match &options.upstream_protocol_options {
        Some(UpstreamProtocolOptions::ExplicitHttpConfig(of)) => matches!(of.protocol_config, Some(ProtocolConfig::Http2ProtocolOptions(_))),
        _ => false,
    })
}

fn verification(context: &pb::tls::UpstreamTlsContext) -> String {
    use pb::tls::common_tls_context::ValidationContextType as Validation;
    let common = context.common_tls_context.as_ref();
    let is_verified = match common.and_then(|common| common.validation_context_type.as_ref()) {
        None => false,
        Some(Validation::ValidationContext(of)) => of.trusted_ca.is_some() || of.system_root_certs.is_some(),
        Some(_) => true,
    };
    match (is_verified, context.sni.as_str()) {
        (false, _) => "certificate not verified".to_owned(),
        (true, "") => "certificate verified".to_owned(),
        (true, name) => format!("certificate verified for {name}"),
    }
}

/// The facts of a filter chain with TLS.
pub(super) struct ChainFacts {
    /// `NAMESPACE/NAME` of the Secret, if known.
    pub(super) certificate: Option<String>,
    pub(super) versions: String,
    /// The versions of HTTP that the handshake offers.
    pub(super) http_versions: String,
    pub(super) requires_certificate: bool,
    /// Conditions for the name in the client's certificate, in words.
    pub(super) client_name: Option<String>,
}

impl ChainFacts {
    /// Returns the facts of a chain that speaks TLS. `secret`: the Secret of its certificate, if the record names one.
    pub(super) fn of(chain: &pb::listener::FilterChain, secret: Option<&String>) -> Option<Self> {
        if !is_tls(chain) {
            return None;
        }
        let context = match chain.transport_socket.as_ref()?.config_type.as_ref()? {
            pb::base::transport_socket::ConfigType::TypedConfig(config) => config.downcast_ref::<pb::tls::DownstreamTlsContext>()?,
        };
        let common = context.common_tls_context.as_ref();
        let named = common.and_then(|common| common.tls_certificate_sds_secret_configs.first()).and_then(|secret| {
            let mut parts = secret.name.split('/');
            Some(format!("{}/{}", parts.next()?, parts.next()?))
        });
        let params = common.and_then(|common| common.tls_params.as_ref());
        let version = |number: i32, default: i32| if number == 0 { default } else { number };
        let (least, most) = (params.map_or(0, |of| of.tls_minimum_protocol_version), params.map_or(0, |of| of.tls_maximum_protocol_version));
        let versions = (version(least, 3)..=version(most, 4)).map(|number| format!("1.{}", number - 1)).collect::<Vec<_>>().join(", ");
        let offers_http2 = common.is_some_and(|common| common.alpn_protocols.iter().any(|protocol| protocol == "h2"));
        Some(Self {
            certificate: secret.cloned().or(named),
            versions,
            http_versions: http_versions(offers_http2),
            requires_certificate: context.require_client_certificate == Some(true),
            client_name: common.and_then(client_name),
        })
    }
}

/// Names the versions of HTTP for clients with TLS.
pub(super) fn http_versions(offers_http2: bool) -> String {
    if offers_http2 { "1.1, 2".to_owned() } else { "1.1".to_owned() }
}

/// Describes the names that certificates of clients may have; `None` if all may.
fn client_name(common: &pb::tls::CommonTlsContext) -> Option<String> {
    use pb::tls::common_tls_context::ValidationContextType as Validation;
    let validation = match common.validation_context_type.as_ref()? {
        Validation::ValidationContext(of) => of,
        Validation::CombinedValidationContext(of) => of.default_validation_context.as_ref()?,
        _ => return None,
    };
    let hashes = validation.verify_certificate_hash.len() + validation.verify_certificate_spki.len();
    match (validation.match_typed_subject_alt_names.len(), hashes) {
        (0, 0) => None,
        (0, _) => Some("only listed certificates".to_owned()),
        _ => Some("a subject alternative name must match".to_owned()),
    }
}

/// Returns the Secret of each filter chain's certificate, by the chain's place. Reads the whole record once.
pub(super) fn chain_secrets(of: &PreparedEnvoy<'_>) -> HashMap<String, String> {
    let objects = of.gateway.of().objects();
    let mut out = HashMap::new();
    for made in of.map.iter() {
        let Some((chain, _)) = made.pointer.split_once("/transport_socket") else { continue };
        let keys = made.origins.iter().filter(|origin| origin.object() != ObjectId::BUILT_IN).filter_map(|origin| objects.get(origin.object()));
        if let Some(secret) = keys.map(|object| &object.key).find(|key| key.kind == "Secret" && key.group.is_empty())
            && !out.contains_key(chain)
        {
            let namespace = secret.namespace.as_deref().filter(|of| !of.is_empty()).unwrap_or("default");
            out.insert(chain.to_owned(), format!("{namespace}/{}", secret.name));
        }
    }
    out
}

/// Returns the facts of a route, each with the place in the route.
pub(super) fn route_facts(route: &Route, host: &VirtualHost) -> Vec<(Aspect, String, &'static str)> {
    let Some(Action::Route(action)) = &route.action else { return Vec::new() };
    let mut out = Vec::from([(Aspect::ResponseTimeout, response_timeout(action), "/route/timeout")]);
    let retry = action.retry_policy.as_ref().or(host.retry_policy.as_ref());
    out.push((Aspect::Retries, retry.map_or_else(|| "none".to_owned(), |retry| retries(retry)), "/route/retry_policy"));
    let mut body = None;
    for config in [&route.typed_per_filter_config, &host.typed_per_filter_config].into_iter().flat_map(BTreeMap::values) {
        filter_facts(config, &mut out, &mut body);
    }
    out.push((Aspect::BodySize, body.unwrap_or_else(|| "no limit".to_owned()), "/typed_per_filter_config"));
    if !action.rate_limits.is_empty() && !out.iter().any(|(aspect, ..)| *aspect == Aspect::RateLimit) {
        out.push((Aspect::RateLimit, "by a rate limit service".to_owned(), "/route/rate_limits"));
    }
    if !out.iter().any(|(aspect, ..)| *aspect == Aspect::Affinity)
        && let Some(words) = action.hash_policy.iter().find_map(hash_policy)
    {
        out.push((Aspect::Affinity, words, "/route/hash_policy"));
    }
    out
}

fn filter_facts(config: &pb::Any, out: &mut Vec<(Aspect, String, &'static str)>, body: &mut Option<String>) {
    use pb::http_filter::buffer::v3::{BufferPerRoute, buffer_per_route::Override};
    use pb::http_filter::local_ratelimit::v3::LocalRateLimit;
    use pb::http_filter::stateful_session::v3::{StatefulSessionPerRoute, stateful_session_per_route::Override as Session};
    const PLACE: &str = "/typed_per_filter_config";
    if let Some(config) = config.downcast_ref::<pb::route::FilterConfig>().filter(|of| !of.disabled).and_then(|of| of.config.as_ref()) {
        filter_facts(config, out, body);
    } else if let Some(of) = config.downcast_ref::<BufferPerRoute>() {
        if let (Some(Override::Buffer(buffer)), None) = (&of.r#override, &body) {
            *body = buffer.max_request_bytes.map(|bytes| bytes_in_words(bytes.into()));
        }
    } else if let Some(of) = config.downcast_ref::<LocalRateLimit>() {
        let shared = of.token_bucket.as_ref().map(rate).map(|(rate, bursts)| format!("{rate} of all clients together, {bursts}"));
        let each = descriptor_limits(of);
        out.extend(each.or(shared).map(|words| (Aspect::RateLimit, words, PLACE)));
    } else if let Some(of) = config.downcast_ref::<StatefulSessionPerRoute>()
        && let Some(Session::StatefulSession(session)) = &of.r#override
    {
        let typed = session.session_state.as_ref().and_then(|state| state.typed_config.as_ref());
        let cookie = typed.and_then(|typed| {
            typed.downcast_ref::<chancery_envoy_api::envoy::extensions::http::stateful_session::cookie::v3::CookieBasedSessionState>()
        });
        let name = cookie.and_then(|of| of.cookie.as_ref()).map(|cookie| format!("cookie {}", cookie.name));
        out.push((Aspect::Affinity, name.unwrap_or_else(|| "by a header".to_owned()), PLACE));
    }
}

/// Describes a bucket: its rate, and its bursts.
fn rate(bucket: &pb::kind::TokenBucket) -> (String, String) {
    let unit = match bucket.fill_interval.as_ref().map(seconds).unwrap_or_default().as_str() {
        "1s" => "second".to_owned(),
        "60s" => "minute".to_owned(),
        "3600s" => "hour".to_owned(),
        other => other.to_owned(),
    };
    (format!("{} requests per {unit}", bucket.tokens_per_fill.unwrap_or(1)), format!("bursts of {}", bucket.max_tokens))
}

/// The ranges of all clients.
const ALL_RANGES: [&str; 2] = ["0.0.0.0/0", "::/0"];

/// Describes the limits of descriptors, in their order. Equal limits for several ranges of clients are one limit.
fn descriptor_limits(of: &pb::http_filter::local_ratelimit::v3::LocalRateLimit) -> Option<String> {
    /// The rate and bursts, whether each address has its own bucket, and the ranges of clients; none for all clients.
    type Limit = ((String, String), bool, BTreeSet<String>);
    let mut limits: Vec<Limit> = Vec::new();
    for descriptor in &of.descriptors {
        let Some(bucket) = descriptor.token_bucket.as_ref() else { continue };
        let of_address = descriptor.entries.iter().filter(|entry| entry.key.replace('-', "_").ends_with("remote_address"));
        let (ranges, each): (Vec<_>, Vec<_>) = of_address.partition(|entry| !entry.value.is_empty());
        let (rate, is_each, range) = (rate(bucket), !each.is_empty(), ranges.first().map(|entry| entry.value.clone()));
        // A bucket without a range covers all clients.
        let known = limits.iter_mut().find(|(known, known_each, ranges)| *known == rate && *known_each == is_each && !ranges.is_empty());
        match (known, range) {
            (Some((.., ranges)), Some(range)) => drop(ranges.insert(range)),
            (_, range) => limits.push((rate, is_each, range.into_iter().collect())),
        }
    }
    let words = |((rate, bursts), is_each, ranges): &Limit| {
        let is_all = ranges.is_empty() || ALL_RANGES.iter().all(|range| ranges.contains(*range));
        let within = if is_all { String::new() } else { format!(" in {}", ranges.iter().map(String::as_str).collect::<Vec<_>>().join(" and ")) };
        let whose = if *is_each { format!("of each client address{within}") } else { "with the same descriptor".to_owned() };
        format!("{rate} {whose}, {bursts}")
    };
    (!limits.is_empty()).then(|| limits.iter().map(words).collect::<Vec<_>>().join("; "))
}

/// Returns the limit for the whole response, or for pauses in it if the whole has no limit.
fn response_timeout(action: &RouteAction) -> String {
    match (action.timeout.as_ref().map(seconds), action.idle_timeout.as_ref().map(seconds)) {
        (None, _) => "15s".to_owned(),
        (Some(none), Some(idle)) if none == "0s" => idle,
        (Some(none), None) if none == "0s" => "no limit".to_owned(),
        (Some(timeout), _) => timeout,
    }
}

/// Describes retries: how many, and after what.
fn retries(of: &pb::route::RetryPolicy) -> String {
    let words: BTreeSet<&str> = of.retry_on.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
    let count = of.num_retries.unwrap_or(1);
    if words.is_empty() || count == 0 {
        return "none".to_owned();
    }
    let mut after: BTreeSet<String> = BTreeSet::new();
    for word in &words {
        match *word {
            "connect-failure" | "refused-stream" | "reset" | "reset-before-request" | "http3-post-connect-failure" => {
                after.insert("connection errors".to_owned());
            }
            "5xx" => after.extend(["connection errors".to_owned(), "5xx".to_owned()]),
            "gateway-error" => after.extend(["502".to_owned(), "503".to_owned(), "504".to_owned()]),
            "retriable-status-codes" => after.extend(of.retriable_status_codes.iter().map(ToString::to_string)),
            other => {
                after.insert(other.to_owned());
            }
        }
    }
    let is_timeout = of.per_try_timeout.is_some() && ["5xx", "gateway-error", "reset"].iter().any(|word| words.contains(word));
    if is_timeout {
        after.insert("timeouts".to_owned());
    }
    format!("up to {count}, after {}", after.into_iter().collect::<Vec<_>>().join(", "))
}

fn hash_policy(policy: &pb::route::route_action::HashPolicy) -> Option<String> {
    use pb::route::route_action::hash_policy::PolicySpecifier as By;
    Some(match policy.policy_specifier.as_ref()? {
        By::Cookie(of) => format!("cookie {}", of.name),
        By::Header(of) => format!("by $http_{}", of.header_name.to_ascii_lowercase().replace('-', "_")),
        By::ConnectionProperties(_) => "by $remote_addr".to_owned(),
        By::QueryParameter(of) => format!("by $arg_{}", of.name),
        By::FilterState(_) => return None,
    })
}

/// Returns the clusters that get copies of the route's requests.
pub(super) fn mirrors(route: &Route) -> Vec<&str> {
    let Some(Action::Route(action)) = &route.action else { return Vec::new() };
    action.request_mirror_policies.iter().map(|mirror| mirror.cluster.as_str()).filter(|cluster| !cluster.is_empty()).collect()
}

/// Returns the CORS headers of a response to a request from this origin.
pub(super) fn cors_headers(route: &Route, host: &VirtualHost, origin: Option<&str>) -> Vec<(String, String)> {
    use pb::http_filter::cors::v3::CorsPolicy;
    let Some(origin) = origin.filter(|origin| !origin.is_empty()) else { return Vec::new() };
    let policies: Vec<&CorsPolicy> = [&route.typed_per_filter_config, &host.typed_per_filter_config]
        .into_iter()
        .flat_map(BTreeMap::values)
        .filter_map(|config| config.downcast_ref::<CorsPolicy>())
        .collect();
    let origins = policies.iter().map(|of| &of.allow_origin_string_match).find(|all| !all.is_empty());
    if !origins
        .into_iter()
        .flatten()
        .any(|matcher| chancery_envoy::simulate::string_matches(matcher, "*") || chancery_envoy::simulate::string_matches(matcher, origin))
    {
        return Vec::new();
    }
    let mut out = Vec::from([("access-control-allow-origin".to_owned(), origin.to_owned())]);
    if policies.iter().find_map(|of| of.allow_credentials) == Some(true) {
        out.push(("access-control-allow-credentials".to_owned(), "true".to_owned()));
    }
    let exposed = policies.iter().map(|of| of.expose_headers.as_str()).find(|text| !text.is_empty());
    out.extend(exposed.map(|text| ("access-control-expose-headers".to_owned(), text.to_owned())));
    out
}

/// Formats a duration in seconds.
fn seconds(of: &pb::Duration) -> String {
    if of.nanos == 0 {
        return format!("{}s", of.seconds);
    }
    let text = format!("{}.{:03}", of.seconds, of.nanos / 1_000_000);
    format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
}
