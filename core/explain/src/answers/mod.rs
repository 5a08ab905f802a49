//! Answers requests with every running gateway of a compilation, in terms that all kinds of gateways share, so that gateways of different
//! controllers can be compared.
//!
//! Does not choose requests or compare answers; see `migration`.

mod azure;
mod envoy;
mod envoy_facts;
mod nginx;
mod nginx_facts;
mod services;

pub use services::Services;

use crate::{OriginView, Positions, Viewed};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::compilation::{AppGatewayRef, Compilation, GatewayRef, NginxRef, SideRef};
use chancery_base::output_map::OutputMap;
use chancery_base::resource::{Objects, Origin};
use chancery_envoy::config::EnvoyConfig;
use chancery_envoy::emit::{Emitted, output_map};
use chancery_envoy::simulate::{Outcome, Request, percent};

/// What a gateway does with a request, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GatewayAnswer {
    pub ending: AnswerEnding,
    /// The status of a redirect or of a response that the gateway makes itself.
    pub status: Option<u32>,
    /// The target of a redirect.
    pub location: Option<String>,
    /// The Services that get the request.
    pub targets: Vec<AnswerTarget>,
    /// Everything else that can be compared.
    pub facts: BTreeMap<Aspect, Fact>,
    /// The rule that matches the request, in the gateway's terms.
    pub rule: Option<String>,
    /// Why the request ends so, if the rule alone does not explain it.
    pub why: Option<String>,
    /// Uncertain parts.
    pub notes: Vec<String>,
    /// The notes about parts that are not simulated, so that the answer may be another one.
    pub(crate) gaps: Vec<String>,
    /// The conditions and locations of snippets that the request reached, as written.
    pub(crate) reached: Vec<String>,
    /// Whether the gateway refuses the request because the client sends no certificate.
    pub wants_certificate: bool,
    /// The part that matches the request.
    pub(crate) place: Option<PartPlace>,
}

/// How a request ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerEnding {
    /// A Service gets it.
    Forwarded,
    /// The client is redirected.
    Redirected,
    /// The gateway responds itself.
    Answered,
    /// The connection fails.
    #[default]
    NotAnswered,
}

impl AnswerEnding {
    /// Returns the outcome in the terms of requests of one gateway.
    #[must_use]
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Forwarded => Outcome::Forward,
            Self::Redirected => Outcome::Redirect,
            Self::Answered => Outcome::DirectResponse,
            Self::NotAnswered => Outcome::Reset,
        }
    }
}

/// A Service that gets a share of the requests.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerTarget {
    /// `NAMESPACE/NAME:PORT`, or what the gateway calls the target. Several Services may have the same endpoints.
    pub names: BTreeSet<String>,
    /// In percent.
    pub percent: f64,
}

/// A comparable property of an answer. The order is the order of reports.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    UpstreamPath,
    UpstreamHost,
    Protocol,
    UpstreamTls,
    Authentication,
    /// Conditions for the name in the client's certificate.
    ClientName,
    AuthenticationPath,
    AuthenticationFailure,
    /// Where a client goes that the authentication service refuses.
    SignIn,
    Certificate,
    TlsVersions,
    /// Offered in the TLS handshake.
    HttpVersions,
    RequestHeader(String),
    ResponseHeader(String),
    ResponseTimeout,
    ConnectTimeout,
    Retries,
    BodySize,
    RateLimit,
    ConnectionLimit,
    Affinity,
    Mirror,
}

impl Aspect {
    /// Names it, as the subject of a sentence.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            Aspect::UpstreamPath => "path for the service".into(),
            Aspect::UpstreamHost => "`Host` for the service".into(),
            Aspect::Protocol => "protocol to the service".into(),
            Aspect::UpstreamTls => "TLS to the service".into(),
            Aspect::Authentication => "authentication".into(),
            Aspect::ClientName => "the name in the client's certificate".into(),
            Aspect::AuthenticationPath => "path for the authentication service".into(),
            Aspect::AuthenticationFailure => "a request that the authentication service does not answer".into(),
            Aspect::SignIn => "answer to a client without access".into(),
            Aspect::Certificate => "certificate".into(),
            Aspect::TlsVersions => "TLS versions".into(),
            Aspect::HttpVersions => "HTTP versions over TLS".into(),
            Aspect::RequestHeader(name) => format!("request header `{name}`"),
            Aspect::ResponseHeader(name) => format!("response header `{name}`"),
            Aspect::ResponseTimeout => "response timeout".into(),
            Aspect::ConnectTimeout => "connect timeout".into(),
            Aspect::Retries => "retries".into(),
            Aspect::BodySize => "largest request body".into(),
            Aspect::RateLimit => "rate limit".into(),
            Aspect::ConnectionLimit => "connection limit".into(),
            Aspect::Affinity => "session affinity".into(),
            Aspect::Mirror => "mirrored requests".into(),
        }
    }

    /// Whether its label is a plural.
    #[must_use]
    pub const fn is_plural(&self) -> bool {
        matches!(self, Aspect::TlsVersions | Aspect::HttpVersions | Aspect::Retries | Aspect::Mirror)
    }
}

/// A value, and its place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fact {
    pub value: String,
    pub(crate) place: Option<PartPlace>,
}

/// A place in a gateway's configuration.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PartPlace {
    /// In the document of the gateway with this number.
    Pointer(usize, String),
    Origin(Origin),
}

impl GatewayAnswer {
    /// Describes the ending: `shop/api:8080`, `308 to https://...`, `404`, `no answer`.
    #[must_use]
    pub fn words(&self) -> String {
        let status = self.status.map(|status| status.to_string()).unwrap_or_default();
        match self.ending {
            AnswerEnding::Forwarded => {
                let one = |target: &AnswerTarget| {
                    let name = target.names.first().map(String::as_str).unwrap_or("a service");
                    if self.targets.len() == 1 { name.to_string() } else { format!("{name} ({}%)", percent(target.percent)) }
                };
                let all: Vec<String> = self.targets.iter().map(one).collect();
                if all.is_empty() { "a service".into() } else { all.join(", ") }
            }
            AnswerEnding::Redirected => format!("{status} to {}", self.location.as_deref().unwrap_or_default()),
            AnswerEnding::Answered => status,
            AnswerEnding::NotAnswered => "no answer".into(),
        }
    }

    /// Whether both answers reach the same Services with the same shares.
    #[must_use]
    pub fn has_same_targets(&self, other: &Self) -> bool {
        let is_same = |a: &AnswerTarget, b: &AnswerTarget| (a.percent - b.percent).abs() < 0.005 && a.names.iter().any(|name| b.names.contains(name));
        let of = |a: &Self| a.targets.iter().filter(|target| target.percent > 0.0).cloned().collect::<Vec<_>>();
        let (own, others) = (of(self), of(other));
        own.len() == others.len() && own.iter().all(|a| others.iter().any(|b| is_same(a, b)))
    }

    /// How well the answer serves the request: the best of several gateways gets the request.
    fn rank(&self) -> u8 {
        match (self.ending, self.status, &self.rule) {
            (AnswerEnding::Forwarded | AnswerEnding::Redirected, ..) => 0,
            (AnswerEnding::Answered, _, Some(_)) => 1,
            (AnswerEnding::Answered, ..) => 2,
            (AnswerEnding::NotAnswered, ..) => 3,
        }
    }

    fn set(&mut self, aspect: Aspect, value: impl Into<String>, place: Option<PartPlace>) {
        self.facts.insert(aspect, Fact { value: value.into(), place });
    }
}

/// The running gateways of a compilation, prepared for requests.
pub struct Respondents<'c> {
    objects: &'c Objects,
    positions: &'c Positions<'c>,
    services: Services,
    pub(crate) gateways: Vec<Prepared<'c>>,
}

/// One gateway.
pub(crate) enum Prepared<'c> {
    Envoy(Box<PreparedEnvoy<'c>>),
    Nginx(NginxRef<'c>),
    Azure(AppGatewayRef<'c>, Box<Viewed>),
}

pub(crate) struct PreparedEnvoy<'c> {
    pub(crate) gateway: GatewayRef<'c>,
    pub(crate) config: EnvoyConfig,
    pub(crate) map: OutputMap,
}

impl<'c> Respondents<'c> {
    /// Prepares all running gateways.
    #[must_use]
    pub fn of(compilation: &'c Compilation, positions: &'c Positions<'c>) -> Self {
        let mut nothing = Emitted::default();
        Self::with_maps(compilation, positions, |gateway| output_map(gateway.ir, &chancery_envoy::Options::default(), &mut nothing))
    }

    /// Prepares all running gateways, with the maps that a function makes of Envoys.
    pub(crate) fn with_maps(compilation: &'c Compilation, positions: &'c Positions<'c>, mut map_of: impl FnMut(GatewayRef<'c>) -> OutputMap) -> Self {
        let envoys = compilation
            .gateways()
            .map(|gateway| Prepared::Envoy(Box::new(PreparedEnvoy { gateway, config: EnvoyConfig::of(gateway.ir), map: map_of(gateway) })));
        let azure = compilation.app_gateways().map(|of| Prepared::Azure(of, Box::new(Viewed::app_gateway(of.parts))));
        let gateways = envoys.chain(azure).chain(compilation.nginxes().map(Prepared::Nginx)).collect();
        Self { objects: &compilation.objects, positions, services: Services::of(&compilation.objects), gateways }
    }

    /// Prepares one nginx.
    #[must_use]
    pub fn of_nginx(of: NginxRef<'c>, positions: &'c Positions<'c>) -> Self {
        let objects = of.named.of.objects();
        Self { objects, positions, services: Services::of(objects), gateways: Vec::from([Prepared::Nginx(of)]) }
    }

    /// Whether no gateway runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.gateways.is_empty()
    }

    /// The number of running gateways.
    #[must_use]
    pub fn len(&self) -> usize {
        self.gateways.len()
    }

    /// The kind of the gateways, as a word in sentences.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.gateways.first() {
            Some(Prepared::Nginx(_)) => "nginx",
            Some(Prepared::Azure(..)) => "Application Gateway",
            Some(Prepared::Envoy(_)) => "Envoy",
            None => "no gateway",
        }
    }

    /// Opens the gateways for requests.
    #[must_use]
    pub fn open(&self) -> OpenGateways<'_> {
        let all = self.gateways.iter().enumerate().map(|(at, gateway)| match gateway {
            Prepared::Envoy(of) => OpenGateway::Envoy(Box::new(envoy::OpenEnvoy::new(at, of, &self.services))),
            Prepared::Nginx(of) => OpenGateway::Nginx(Box::new(nginx::OpenNginx::new(of.nginx, &self.services))),
            Prepared::Azure(of, viewed) => OpenGateway::Azure(Box::new(azure::OpenAzure::new(at, of, viewed, self.objects))),
        });
        OpenGateways { all: all.collect() }
    }

    /// Returns the aspects that the answers of these gateways contain; others are not compared.
    #[must_use]
    pub fn knows(&self, aspect: &Aspect) -> bool {
        match self.gateways.first() {
            Some(Prepared::Azure(..)) => {
                matches!(aspect, Aspect::UpstreamPath | Aspect::UpstreamHost | Aspect::Protocol | Aspect::ResponseTimeout | Aspect::Affinity)
            }
            _ => true,
        }
    }

    /// Returns the lines of a place.
    pub(crate) fn lines(&self, place: &PartPlace) -> Vec<OriginView> {
        let mut out: Vec<OriginView> = Vec::new();
        let mut add = |origin: Origin, side: SideRef<'_>| {
            let view = OriginView::of(origin, side, self.positions);
            if view.span.is_some() && out.len() < MOST_LINES && !out.iter().any(|known| known.span == view.span) {
                out.push(view);
            }
        };
        match place {
            PartPlace::Origin(origin) => {
                let side = self.gateways.iter().find_map(|of| if let Prepared::Nginx(of) = of { Some(of.named.of) } else { None });
                side.into_iter().for_each(|side| add(*origin, side));
            }
            PartPlace::Pointer(at, pointer) => match self.gateways.get(*at) {
                Some(Prepared::Envoy(of)) => {
                    let made = of.map.lookup(pointer);
                    made.iter().flat_map(|made| made.origins).for_each(|origin| add(*origin, of.gateway.of()));
                }
                Some(Prepared::Azure(of, viewed)) => {
                    let made = viewed.map.lookup(pointer);
                    made.iter().flat_map(|made| made.origins).for_each(|origin| add(*origin, of.named.of));
                }
                _ => {}
            },
        }
        out
    }
}

/// At most this many lines of one place are named.
const MOST_LINES: usize = 3;

/// Gateways that answer requests.
pub struct OpenGateways<'r> {
    all: Vec<OpenGateway<'r>>,
}

enum OpenGateway<'r> {
    Envoy(Box<envoy::OpenEnvoy<'r>>),
    Nginx(Box<nginx::OpenNginx<'r>>),
    Azure(Box<azure::OpenAzure<'r>>),
}

impl OpenGateways<'_> {
    /// Answers a request. The gateway that serves the request gets it.
    #[must_use]
    pub fn answer(&self, request: &Request) -> GatewayAnswer {
        let mut best: Option<GatewayAnswer> = None;
        for gateway in &self.all {
            let answer = gateway.answer(request);
            if answer.rank() == 0 {
                return answer;
            }
            if best.as_ref().is_none_or(|best| answer.rank() < best.rank()) {
                best = Some(answer);
            }
        }
        best.unwrap_or_else(|| GatewayAnswer { why: Some("no gateway runs".into()), ..GatewayAnswer::default() })
    }

    /// Returns the answer of the gateway with this number.
    pub(crate) fn answer_of(&self, number: usize, request: &Request) -> GatewayAnswer {
        self.all.get(number).map(|gateway| gateway.answer(request)).unwrap_or_default()
    }
}

impl OpenGateway<'_> {
    fn answer(&self, request: &Request) -> GatewayAnswer {
        match self {
            Self::Envoy(of) => of.answer(request),
            Self::Nginx(of) => of.answer(request),
            Self::Azure(of) => of.answer(request),
        }
    }
}

/// Returns a redirect's target without default ports. A URL without a path has the path `/`.
pub(crate) fn without_default_port(location: &str) -> String {
    let Some((scheme, rest)) = location.split_once("://") else { return location.into() };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let port = match scheme {
        "https" => ":443",
        "http" => ":80",
        _ => return location.into(),
    };
    let slash = if path.starts_with('/') { "" } else { "/" };
    format!("{scheme}://{}{slash}{path}", authority.strip_suffix(port).unwrap_or(authority))
}

/// Returns an address without its port, if that is the port of http or https.
fn without_common_port(address: &str) -> &str {
    address.strip_suffix(":80").or_else(|| address.strip_suffix(":443")).unwrap_or(address)
}
