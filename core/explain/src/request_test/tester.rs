//! Sends the requests of tests to the gateways of a compilation, and reports the parts that they reach. Does not compare answers; see
//! [`RequestTest::mismatches`](super::RequestTest::mismatches).

use super::fields;
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
use chancery_envoy::simulate::{self, Request};
use chancery_nginx::simulate::Simulator;
use chancery_text::Node;

/// The Envoys of a compilation, with the origins of their configurations.
pub struct PreparedGateways<'c> {
    compilation: &'c Compilation,
    envoys: Vec<(GatewayRef<'c>, EnvoyConfig, OutputMap)>,
}

impl<'c> PreparedGateways<'c> {
    #[must_use]
    pub fn of(compilation: &'c Compilation, compiler: &mut Compiler) -> Self {
        let mut prepare = |gateway: GatewayRef<'c>| {
            let map = chancery_envoy::emit::output_map(gateway.ir, &chancery_envoy::Options::default(), compiler.emitted.of(gateway));
            (gateway, EnvoyConfig::of(gateway.ir), map)
        };
        Self { compilation, envoys: compilation.gateways().map(&mut prepare).collect() }
    }
}

/// Sends requests to gateways.
pub struct Tester<'c> {
    pub(crate) positions: &'c Positions<'c>,
    pub(crate) gateways: Vec<TestedGateway<'c>>,
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

    /// Returns the expectation that this answer fulfils.
    #[must_use]
    pub fn expectation(&self) -> Node {
        fields::expectation(&self.report)
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
    pub fn new(prepared: &'c PreparedGateways<'c>, positions: &'c Positions<'c>, coverage: &mut Coverage) -> Self {
        let mut gateways = Vec::new();
        for (gateway, config, map) in &prepared.envoys {
            let parts = EnvoyParts::of(coverage, *gateway, config, map, positions);
            let kind = TestedKind::Envoy { gateway: *gateway, config, map, index: Box::new(simulate::Gateway::new(config)), parts };
            gateways.push(TestedGateway { named: gateway.named(), kind });
        }
        for of in prepared.compilation.app_gateways() {
            let parts = AppGatewayParts::of(coverage, of, positions);
            gateways.push(TestedGateway { named: of.named, kind: TestedKind::AppGateway { of, parts } });
        }
        for of in prepared.compilation.nginxes() {
            let parts = NginxParts::of(coverage, of, positions);
            gateways.push(TestedGateway { named: of.named, kind: TestedKind::Nginx { of, simulator: Box::new(Simulator::new(of.nginx)), parts } });
        }
        Self { positions, gateways }
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
        let is_meant = |of: &&TestedGateway<'_>| match gateway {
            Some(asked) => of.named.id.as_str() == asked || of.named.label().as_deref() == Some(asked),
            None => true,
        };
        let mut meant = self.gateways.iter().filter(is_meant);
        let names = || self.gateways.iter().map(TestedGateway::name).collect::<Vec<_>>().join(", ");
        match (meant.next(), meant.next(), gateway) {
            (Some(one), None, _) => Ok(one.answer(request, self.positions)),
            (None, _, Some(asked)) => Err(format!("there is no gateway `{asked}`; there are {}", names())),
            (None, ..) => Err("no gateway runs".into()),
            _ => Err(format!("there are several gateways ({}): name one with `gateway`", names())),
        }
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
