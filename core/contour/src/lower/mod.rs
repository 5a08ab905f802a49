//! Lowers Contour's graph to the IR (Contour `internal/xdscache/v3`, `internal/envoy/v3`).
//!
//! Values that the reference passes on but Envoy rejects are omitted here with an error at their place ([`Lowering::refuse`]), so Envoy always
//! accepts the result.

mod access_log;
mod admin;
mod bootstrap;
mod cluster;
mod endpoint;
mod filter;
mod http;
mod listener;
mod matching;
mod memory;
mod merged;
mod name;
mod order;
mod policy;
mod route;
mod runtime;
mod tls;

pub(super) use admin::OWN_LISTENERS;
pub use memory::Memory;

use super::model::{Graph, Timeout};
use super::settings::Settings;
use super::source::Source;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString as _;
use chancery_base::diagnostic::{Diagnostic, DistinctFindings, Findings, Place, Reported, codes};
use chancery_base::ir::{Bootstrap, Certificate, EnvoyDelivery, HeaderName, Ir, Spelling};
use chancery_base::resource::{Origin, Rule, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;
use core::cell::OnceCell;
use core::time::Duration;

/// Contour's choices between equivalent Envoy fields.
const SPELLING: Spelling = Spelling { compressor_content_type: true, ext_authz_version_of_http: true, ..Spelling::CURRENT };

/// Lowers a finished graph.
pub fn lower(graph: &Graph, source: &Source<'_>, settings: &Settings, memory: &mut Memory, sink: &mut Findings) -> Ir {
    let materials = tls::Materials::new(source);
    memory.begin();
    let mut lowering = Lowering {
        graph,
        source,
        settings,
        materials,
        slices: OnceCell::new(),
        memory,
        findings: DistinctFindings::default(),
        client_certificate: None,
    };
    let (listeners, mut beside) = lowering.listeners();
    let clusters = lowering.clusters();
    beside.certificates.extend(lowering.client_certificate.take());
    lowering.memory.end();
    sink.append(&mut lowering.findings.take());
    Ir {
        listeners,
        tables: beside.tables,
        certificates: beside.certificates,
        clusters,
        delivery: EnvoyDelivery {
            verbatim: Default::default(),
            identity: None,
            runtimes: lowering.runtimes(),
            config_source: bootstrap::config_source(),
            bootstrap: Bootstrap { tracer: lowering.tracer(), ..bootstrap::bootstrap() },
            spelling: SPELLING,
        },
    }
}

/// The graph, the inputs of lowering, and the findings.
struct Lowering<'a> {
    graph: &'a Graph,
    source: &'a Source<'a>,
    settings: &'a Settings,
    materials: tls::Materials<'a>,
    slices: OnceCell<endpoint::Slices<'a>>,
    memory: &'a mut Memory,
    findings: DistinctFindings,
    /// The certificate that clusters of routes show, if any does.
    client_certificate: Option<Sourced<Certificate>>,
}

impl<'a> Lowering<'a> {
    /// Something that the reference passes on and Envoy refuses.
    fn refuse(&mut self, message: impl Into<String>, origin: impl Into<Option<Origin>>) -> Reported {
        let help = "Envoy rejects the resource that contains it, and keeps what it had before; Chancery leaves it out";
        self.findings.report(Diagnostic::new(&codes::REFUSED_BY_ENVOY, message, Place::origin(origin.into())).help(help))
    }

    /// The name of a header, if Envoy accepts it.
    fn header_name(&mut self, name: &Str, origin: Option<Origin>) -> Option<HeaderName> {
        HeaderName::new(name.clone()).map_err(|problem| self.refuse(problem.to_string(), origin)).ok()
    }

    /// The port, if valid.
    fn port(&mut self, port: Sourced<u32>) -> Option<Sourced<u16>> {
        let Ok(number) = u16::try_from(port.value) else {
            self.refuse(format!("there is no port {}: ports end at 65535", port.value), port.origin);
            return None;
        };
        Some(Sourced::new(number, port.origin))
    }

    fn at(&self, path: &str) -> Cursor<'a> {
        self.settings.at(path)
    }

    /// A string of the settings; `None` if absent or empty.
    fn text(&self, path: &str) -> Option<Sourced<Str>> {
        Some(setting(Str::new(self.at(path).text()?.value.as_str()), self.at(path)))
    }

    /// A boolean of the settings, if set.
    fn flag(&self, path: &str) -> Option<Sourced<bool>> {
        Some(setting(self.at(path).some_bool()?, self.at(path)))
    }

    /// A number of the settings, if set.
    fn number(&self, path: &str) -> Option<Sourced<u32>> {
        Some(setting(self.at(path).u32()?.value, self.at(path)))
    }
}

/// A value from the settings. Contour's defaults keep their built-in origin.
fn setting<T>(value: T, at: Cursor<'_>) -> Sourced<T> {
    Sourced::new(value, setting_origin(at))
}

fn setting_origin(at: Cursor<'_>) -> Origin {
    let origin = at.origin();
    if origin.rule() == Rule::Default { origin } else { origin.by(Rule::Module) }
}

/// A timeout for Envoy: `None` keeps Envoy's default, zero disables it (Contour `internal/envoy/route.go`).
fn timeout(of: &Sourced<Timeout>) -> Option<Sourced<Duration>> {
    let duration = match of.value {
        Timeout::Default => return None,
        Timeout::Disabled => Duration::ZERO,
        Timeout::After(duration) => duration,
    };
    Some(Sourced::new(duration, of.origin))
}
