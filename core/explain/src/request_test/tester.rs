//! Sends the requests of tests to the gateways of a compilation, and reports the parts that they reach. Does not compare answers; see
//! [`RequestTest::mismatches`](super::RequestTest::mismatches).

use super::fields;
use crate::answers::{OpenGateways, Prepared, PreparedEnvoy, Respondents};
use crate::coverage::{AppGatewayParts, Coverage, EnvoyParts, NginxParts, PartId};
use crate::{Positions, RouteReport, TracedGateway, route_app_gateway};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::{AppGatewayRef, Compilation, GatewayRef, NamedGateway, NginxRef};
use chancery_base::output_map::OutputMap;
use chancery_compile::Compiler;
use chancery_envoy::config::EnvoyConfig;
use chancery_envoy::simulate::{self, Request, WrittenRequest};
use chancery_nginx::simulate::Simulator;
use chancery_text::Node;
use core::cell::OnceCell;

/// The running gateways of a compilation, prepared for tests.
pub struct PreparedGateways<'c> {
    compilation: &'c Compilation,
    positions: &'c Positions<'c>,
    respondents: Respondents<'c>,
}

impl<'c> PreparedGateways<'c> {
    #[must_use]
    pub fn of(compilation: &'c Compilation, positions: &'c Positions<'c>, compiler: &mut Compiler) -> Self {
        let map_of =
            |gateway: GatewayRef<'c>| chancery_envoy::emit::output_map(gateway.ir, &chancery_envoy::Options::default(), compiler.emitted.of(gateway));
        Self { compilation, positions, respondents: Respondents::with_maps(compilation, positions, map_of) }
    }
}

/// Sends requests to gateways.
pub struct Tester<'c> {
    pub(crate) positions: &'c Positions<'c>,
    /// In the order of `respondents`.
    pub(crate) gateways: Vec<TestedGateway<'c>>,
    respondents: &'c Respondents<'c>,
    open: OnceCell<OpenGateways<'c>>,
}

/// A gateway with its name and its parts.
pub(crate) struct TestedGateway<'c> {
    named: NamedGateway<'c>,
    pub(crate) kind: TestedKind<'c>,
}

pub(crate) enum TestedKind<'c> {
    Envoy { gateway: GatewayRef<'c>, config: &'c EnvoyConfig, map: &'c OutputMap, index: Box<simulate::Gateway<'c>>, parts: EnvoyParts },
    Nginx { of: NginxRef<'c>, simulator: Box<Simulator<'c>>, parts: NginxParts },
    AppGateway { of: AppGatewayRef<'c>, parts: AppGatewayParts },
}

/// The answer to the request of a test.
pub struct TestAnswer {
    /// The report, with the fields that tests compare.
    pub report: serde_json::Value,
    /// The parts that the request reached.
    pub reached: BTreeSet<PartId>,
}

impl TestAnswer {
    /// Returns how the request ends, in words.
    #[must_use]
    pub fn outcome(&self) -> String {
        self.report["outcome"].as_str().unwrap_or_default().replace('_', " ")
    }

    /// Describes the answer as the end of a sentence.
    #[must_use]
    pub fn summary(&self) -> String {
        fields::summary(&self.report)
    }
}

impl<'c> Tester<'c> {
    /// Prepares all gateways, and adds their parts to a coverage.
    #[must_use]
    pub fn new(prepared: &'c PreparedGateways<'c>, coverage: &mut Coverage) -> Self {
        let PreparedGateways { compilation, positions, respondents } = prepared;
        let mut gateways = Vec::new();
        for of in &respondents.gateways {
            let Prepared::Envoy(of) = of else { continue };
            let PreparedEnvoy { gateway, config, map } = &**of;
            let parts = EnvoyParts::of(coverage, *gateway, config, map, positions);
            let kind = TestedKind::Envoy { gateway: *gateway, config, map, index: Box::new(simulate::Gateway::new(config)), parts };
            gateways.push(TestedGateway { named: gateway.named(), kind });
        }
        for of in compilation.app_gateways() {
            let parts = AppGatewayParts::of(coverage, of, positions);
            gateways.push(TestedGateway { named: of.named, kind: TestedKind::AppGateway { of, parts } });
        }
        for of in compilation.nginxes() {
            let parts = NginxParts::of(coverage, of, positions);
            gateways.push(TestedGateway { named: of.named, kind: TestedKind::Nginx { of, simulator: Box::new(Simulator::new(of.nginx)), parts } });
        }
        Self { positions, gateways, respondents, open: OnceCell::new() }
    }

    /// Whether no gateway runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.gateways.is_empty()
    }

    /// Sends a request to the gateway of this name, or to the only gateway.
    ///
    /// # Errors
    ///
    /// Which gateway is missing or ambiguous.
    pub fn ask(&self, gateway: Option<&str>, request: &Request) -> Result<TestAnswer, String> {
        let is_meant = |of: &TestedGateway<'_>| match gateway {
            Some(asked) => of.named.id.as_str() == asked || of.named.label().as_deref() == Some(asked),
            None => true,
        };
        let mut meant = self.gateways.iter().enumerate().filter(|(_, of)| is_meant(of));
        let names = || self.gateways.iter().map(TestedGateway::name).collect::<Vec<_>>().join(", ");
        match (meant.next(), meant.next(), gateway) {
            (Some((number, one)), None, _) => {
                let mut answer = one.answer(request, self.positions);
                self.add_shared_fields(number, request, &mut answer.report);
                Ok(answer)
            }
            (None, _, Some(asked)) => Err(format!("there is no gateway `{asked}`; there are {}", names())),
            (None, ..) => Err("no gateway runs".into()),
            _ => Err(format!("there are several gateways ({}): name one with `gateway`", names())),
        }
    }

    /// Whether the gateway with this number is an nginx.
    pub(crate) fn is_nginx(&self, number: usize) -> bool {
        self.gateways.get(number).is_some_and(|of| matches!(of.kind, TestedKind::Nginx { .. }))
    }

    /// Adds the fields that have the same values on each kind of gateway.
    fn add_shared_fields(&self, number: usize, request: &Request, report: &mut serde_json::Value) {
        let open = self.open.get_or_init(|| self.respondents.open());
        fields::add_shared(report, &open.answer_of(number, request));
    }

    /// Returns the expectation that an answer fulfils. The expectation of an Envoy names clusters. That of other gateways names Services, so
    /// that it also holds after a migration.
    pub(crate) fn expectation(&self, number: usize, request: &WrittenRequest, answer: &TestAnswer) -> Node {
        if self.gateways.get(number).is_some_and(|of| matches!(of.kind, TestedKind::Envoy { .. })) {
            return fields::expectation(&answer.report);
        }
        let mut report = answer.report.clone();
        if let Ok(request) = request.read() {
            self.add_shared_fields(number, &request, &mut report);
        }
        fields::shared_expectation(&report)
    }
}

impl TestedGateway<'_> {
    pub(crate) fn name(&self) -> String {
        self.named.label().unwrap_or_else(|| self.named.id.to_string())
    }

    pub(crate) fn answer(&self, request: &Request, positions: &Positions<'_>) -> TestAnswer {
        match &self.kind {
            TestedKind::Envoy { gateway, config, map, index, parts } => {
                let traced = TracedGateway { side: gateway.of(), positions, config, map };
                let report: RouteReport = traced.route_in(index, request);
                let reached = parts.reached(&report.simulation);
                TestAnswer { report: fields::of_envoy(&report, request), reached }
            }
            TestedKind::Nginx { of, simulator, parts } => {
                let response = crate::nginx::answer(simulator, request);
                let reached = parts.reached(&response);
                TestAnswer { report: fields::of_nginx(&crate::nginx::report(*of, positions, response)), reached }
            }
            TestedKind::AppGateway { of, parts } => {
                let report = route_app_gateway(*of, positions, request);
                TestAnswer { reached: parts.reached(&report), report: fields::of_app_gateway(&report) }
            }
        }
    }
}
