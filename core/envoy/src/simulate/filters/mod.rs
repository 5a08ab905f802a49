//! Simulates HTTP filters in their order, before the router receives the request.
//!
//! A filter passes a request on, answers it, or queries a service. Decisions that depend only on the request are evaluated as in Envoy. Other
//! decisions (of a service, a token's signature, the number of earlier requests) become a [`Condition`], and the simulation continues as if it
//! held. Unknown filters become conditions too, so that no possible answer is ignored.
//!
//! Does not route requests that pass; see `run`.

pub(super) mod access;
mod browsers;
mod descriptors;
mod idle;
mod limits;
mod matching;
mod metadata;
mod mutations;
mod policy_text;
mod scopes;
mod script;
mod services;
#[cfg(test)]
mod tests;
mod tokens;

pub use idle::{host_configures, is_idle, table_configures};
pub(super) use mutations::header_mutations;
pub(super) use scopes::Scopes;
pub use tokens::ANY_PASSWORD;

use super::manager::Prepared;
use super::matcher::{Subject, header, parts};
use super::simulation::{Condition, Credential, FilterStep, HeaderChange};
use super::table::Patterns;
use super::{Gateway, Request};
use crate::emit::pb;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use pb::hcm::{HttpConnectionManager, HttpFilter};
use pb::http_filter as http;

/// What one filter does with a request.
pub(super) enum Verdict {
    /// It passes the request on, with an optional description.
    Passes(Option<String>),
    /// The result depends on a condition.
    Asks(Condition),
    /// The filter is not simulated. The text says what must hold.
    Unknown(String),
    /// It answers itself.
    Answers(Answer),
    /// It answers itself if a condition holds.
    AnswersIf(Condition, Answer),
    /// It does not answer, but may change the request in a way that is not simulated.
    Changes(String),
}

impl Verdict {
    const PASSES: Self = Self::Passes(None);

    fn passes(how: impl Into<String>) -> Self {
        Self::Passes(Some(how.into()))
    }

    fn answers(status: u32, why: impl Into<String>) -> Self {
        Self::Answers(Answer { status, why: why.into(), ..Answer::default() })
    }

    fn asks(filter: &HttpFilter, wants: impl Into<String>, otherwise: Option<u32>) -> Self {
        Self::Asks(Condition { filter: filter.name.clone(), wants: wants.into(), otherwise, ..Condition::default() })
    }
}

/// A response from a filter.
#[derive(Default)]
pub(super) struct Answer {
    pub(super) status: u32,
    pub(super) why: String,
    pub(super) location: Option<String>,
    pub(super) body: Option<String>,
    /// The status for gRPC clients, if it differs from the usual mapping of the HTTP status.
    pub(super) grpc_status: Option<u32>,
    /// Whether the response is sent unchanged, not in the form for gRPC clients.
    pub(super) as_it_is: bool,
    /// Headers of the response.
    pub(super) headers: Vec<HeaderChange>,
    /// The missing credential: with it, the filter would query a service.
    pub(super) lacks: Option<Credential>,
}

/// The request as filters see it.
pub(super) struct Stage<'s, 'a> {
    pub(super) gateway: &'s Gateway<'a>,
    pub(super) request: &'s Request,
    pub(super) prepared: &'s Prepared,
    pub(super) scopes: Scopes<'a>,
    /// The port of the listener.
    pub(super) port: u32,
    /// Whether a route matches the request, including the redirect of a virtual host that requires TLS.
    pub(super) is_routed: bool,
    /// The filters that the request has passed.
    before: &'s [HttpFilter],
    patterns: Patterns<'a>,
}

/// The combined result of all filters.
#[derive(Default)]
pub(super) struct Walked {
    pub(super) steps: Vec<FilterStep>,
    pub(super) conditions: Vec<Condition>,
    pub(super) notes: Vec<String>,
    pub(super) answer: Option<Answer>,
}

impl<'s, 'a> Stage<'s, 'a> {
    pub(super) fn new(gateway: &'s Gateway<'a>, request: &'s Request, prepared: &'s Prepared, scopes: Scopes<'a>, port: u32) -> Self {
        Self { gateway, request, prepared, scopes, port, is_routed: scopes.route.is_some(), before: &[], patterns: Patterns::default() }
    }

    /// The request as matchers see it.
    fn subject(&self) -> Subject<'_> {
        Subject {
            start: self.prepared.start(&self.request.method),
            headers: &self.prepared.headers,
            tls: self.request.tls,
            client_certificate: self.request.client_certificate,
            ignore_path_parameters: false,
            seed: self.request.seed,
            runtime: &self.gateway.config.runtime,
            patterns: &self.patterns,
        }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.prepared.headers.first(name)
    }

    /// Whether all header matchers accept the request.
    fn takes_headers(&self, all: &[pb::route::HeaderMatcher]) -> bool {
        let subject = self.subject();
        all.iter().all(|of| header(of, &subject).is_ok())
    }

    /// Returns whether a fraction means all requests, none, or some percent. Without a fraction, `unset` decides.
    fn share(&self, of: Option<&pb::base::RuntimeFractionalPercent>, unset: bool) -> Share {
        let Some(of) = of else { return if unset { Share::All } else { Share::None } };
        let (numerator, denominator) = parts(of, &self.gateway.config.runtime);
        Share::of(numerator, denominator)
    }

    /// Returns the route's forwarding action.
    fn forwards(&self) -> Option<&'a pb::route::RouteAction> {
        match &self.scopes.route?.action {
            Some(pb::route::route::Action::Route(action)) => Some(action),
            _ => None,
        }
    }

    /// Describes what the router does with the request.
    fn by_router(&self) -> &'static str {
        use pb::route::route::Action;
        match self.scopes.route.and_then(|route| route.action.as_ref()) {
            Some(Action::Redirect(_)) => "answers with the redirect of the route",
            Some(Action::DirectResponse(_)) => "answers with the direct response of the route",
            Some(_) => "sends the request to the upstream",
            None if self.is_routed => "answers with a redirect to https",
            None => "answers 404: no route matches the request",
        }
    }
}

/// A fraction of all requests.
#[derive(Clone, Copy, PartialEq)]
enum Share {
    None,
    Some(f64),
    All,
}

impl Share {
    fn of(numerator: u64, denominator: u64) -> Self {
        match numerator {
            0 => Self::None,
            _ if numerator >= denominator => Self::All,
            _ => Self::Some(numerator as f64 * 100.0 / denominator as f64),
        }
    }
}

/// Sends a request through the filters, as far as it gets.
pub(super) fn walk<'s>(manager: &'s HttpConnectionManager, stage: &mut Stage<'s, '_>) -> Walked {
    let mut out = Walked::default();
    for (at, filter) in manager.http_filters.iter().enumerate() {
        stage.before = manager.http_filters.get(..at).unwrap_or_default();
        let enabled = !stage.scopes.is_disabled(filter);
        let mut step = FilterStep { name: filter.name.clone(), enabled, ..FilterStep::default() };
        step.verdict = if !enabled {
            "disabled"
        } else if out.answer.is_some() {
            step.does = Some("does not see the request: it is already answered".to_owned());
            "not_reached"
        } else {
            let (verdict, does) = effect_of(filter, verdict(filter, stage), &mut out);
            step.does = does;
            verdict
        };
        out.steps.push(step);
    }
    out
}

/// Records a verdict. Returns its word, and what the filter does.
fn effect_of(filter: &HttpFilter, verdict: Verdict, out: &mut Walked) -> (&'static str, Option<String>) {
    match verdict {
        Verdict::Passes(does) => ("passes", does),
        Verdict::Asks(condition) => {
            let does = format!("lets the request pass if {}", condition.wants);
            out.conditions.push(condition);
            ("asks", Some(does))
        }
        Verdict::Unknown(wants) => {
            out.conditions.push(Condition { filter: filter.name.clone(), wants, ..Condition::default() });
            ("asks", Some("is not simulated; it may answer the request itself".to_owned()))
        }
        Verdict::AnswersIf(condition, answer) => {
            out.conditions.push(condition);
            effect_of(filter, Verdict::Answers(answer), out)
        }
        Verdict::Answers(answer) => {
            let does = format!("answers {}: {}", answer.status, answer.why);
            out.answer = Some(answer);
            ("answers", Some(does))
        }
        Verdict::Changes(does) => {
            out.notes.push(does.clone());
            ("passes", Some(does))
        }
    }
}

/// Filters that never answer a request before the upstream does, with their description.
const HARMLESS: &[(&str, &str)] = &[
    ("envoy.extensions.filters.http.compressor.v3.Compressor", "compresses responses"),
    ("envoy.extensions.filters.http.bandwidth_limit.v3.BandwidthLimit", "limits the bandwidth of bodies"),
    ("envoy.extensions.filters.http.custom_response.v3.CustomResponse", "replaces responses that match its rules"),
    ("envoy.extensions.filters.http.decompressor.v3.Decompressor", "decompresses requests and responses"),
    ("envoy.extensions.filters.http.geoip.v3.Geoip", "finds the location of the client's address"),
    ("envoy.extensions.filters.http.grpc_web.v3.GrpcWeb", "translates gRPC-Web to gRPC"),
    ("envoy.extensions.filters.http.grpc_http1_bridge.v3.Config", "translates gRPC over HTTP/1.1"),
    ("envoy.extensions.filters.http.grpc_stats.v3.FilterConfig", "counts gRPC messages"),
    ("envoy.extensions.filters.http.header_mutation.v3.HeaderMutation", "changes headers"),
    ("envoy.extensions.filters.http.header_to_metadata.v3.Config", "keeps headers as metadata"),
    ("envoy.extensions.filters.http.set_metadata.v3.Config", "sets metadata"),
    ("envoy.extensions.filters.http.set_filter_state.v3.Config", "sets filter state"),
    ("envoy.extensions.filters.http.stateful_session.v3.StatefulSession", "keeps sessions at their upstream"),
    ("envoy.extensions.filters.http.ip_tagging.v3.IPTagging", "tags requests by address"),
    ("envoy.extensions.filters.http.alternate_protocols_cache.v3.FilterConfig", "records the protocols of upstreams"),
    ("envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec", "connects to the upstream"),
    ("envoy.extensions.filters.http.original_src.v3.OriginalSrc", "connects to the upstream from the client's address"),
    ("envoy.extensions.filters.http.tap.v3.Tap", "records requests"),
];

fn verdict(filter: &HttpFilter, stage: &Stage<'_, '_>) -> Verdict {
    let Some(pb::hcm::http_filter::ConfigType::TypedConfig(config)) = &filter.config_type else {
        return match filter.name.as_str() {
            "envoy.filters.http.router" | "router" => Verdict::passes(stage.by_router()),
            name => Verdict::asks(filter, format!("the filter {name}, whose configuration is not known, lets it pass"), None),
        };
    };
    if config.type_name() == "envoy.extensions.filters.http.router.v3.Router" {
        return Verdict::passes(stage.by_router());
    }
    if let Some((_, does)) = HARMLESS.iter().find(|(name, _)| *name == config.type_name()) {
        return Verdict::passes(*does);
    }
    macro_rules! first_of {
        ($($message:ty => $does:path,)*) => {
            $(if let Some(of) = config.downcast_ref::<$message>() {
                return $does(filter, of, stage);
            })*
        };
    }
    first_of! {
        http::lua::v3::Lua => script::lua,
        http::cors::v3::Cors => browsers::cors,
        http::csrf::v3::CsrfPolicy => browsers::csrf,
        http::health_check::v3::HealthCheck => access::health_check,
        http::rbac::v3::Rbac => access::rbac,
        http::ext_authz::v3::ExtAuthz => access::ext_authz,
        http::jwt_authn::v3::JwtAuthentication => tokens::jwt,
        http::basic_auth::v3::BasicAuth => tokens::basic,
        http::api_key_auth::v3::ApiKeyAuth => tokens::api_key,
        http::oauth2::v3::OAuth2 => tokens::oauth2,
        http::local_ratelimit::v3::LocalRateLimit => limits::local,
        http::ratelimit::v3::RateLimit => limits::by_service,
        http::buffer::v3::Buffer => limits::buffer,
        http::fault::v3::HttpFault => limits::fault,
    }
    Verdict::Unknown(format!("the filter {}, which is not simulated, lets it pass", filter.name))
}
