//! Lowers the model to the IR: the decisions of Emissary's `V3Config`, without Envoy's messages.
//!
//! Values that the reference passes on but Envoy rejects are omitted here with an error at their place ([`Lowering::refuse`]), so Envoy always
//! accepts the result.

mod bootstrap;
mod cluster;
mod filter;
mod http;
mod listener;
mod memory;
mod ready;
mod route;
mod tls;
mod variant;

use super::model::{Group, Identity, Model, REFUSED_HELP};
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Diagnostic, DistinctFindings, Findings, Place, Reported, codes};
use chancery_base::executor::Executor;
use chancery_base::ir::{EnvoyDelivery, HeaderName, Ir, Spelling, StatusCode};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;
use core::time::Duration;

pub use bootstrap::RUNTIME_FLAGS;
pub use memory::Memory;

/// Emissary 4's choices between equivalent Envoy fields.
const SPELLING: Spelling = Spelling {
    header_append: true,
    cors_on_route: true,
    header_match_fields: true,
    http_options_on_cluster: true,
    google_re2: true,
    file_log_json_format: true,
    lua_inline_code: true,
    tcp_always_weighted: true,
    ext_authz_headers_on_service: true,
    tracer_in_bootstrap: true,
    child_span_on_router: true,
    compressor_content_type: true,
    dns_ttl_on_cluster: true,
    rbac_or_ids: true,
    ext_authz_version_of_http: false,
};

/// Lowers a finished model. Its groups of Mappings may have been removed from it, with their numbers and in route order: each of those is dropped
/// as soon as it is lowered.
pub fn lower(
    model: &Model<'_>,
    taken: Option<Vec<(u32, Arc<Group>)>>,
    executor: &dyn Executor,
    memory: Option<&mut Memory>,
    sink: &mut Findings,
) -> Ir {
    let (remembers, mut fresh) = (memory.is_some(), Memory::default());
    let memory = memory.unwrap_or(&mut fresh);
    memory.prepare(model);
    let mut lowering = Lowering { model, executor, remembers, findings: DistinctFindings::default() };
    let routes = lowering.routes(taken, memory);
    let mut listeners = lowering.listeners(&routes);
    listeners.push(Arc::new(lowering.ready_listener()));
    let clusters = lowering.clusters(memory);
    let bootstrap = lowering.bootstrap(&clusters);
    sink.append(&mut lowering.findings.take());
    let delivery = EnvoyDelivery { bootstrap, spelling: SPELLING, ..EnvoyDelivery::default() };
    Ir { listeners, clusters, delivery, ..Ir::default() }
}

/// The model, and the findings.
struct Lowering<'m, 'c> {
    model: &'m Model<'c>,
    executor: &'m dyn Executor,
    /// Whether results are cached for later compiles.
    remembers: bool,
    findings: DistinctFindings,
}

impl Lowering<'_, '_> {
    fn error(
        &mut self,
        code: &'static chancery_base::diagnostic::Code,
        message: impl Into<String>,
        on: &Identity,
        origin: Option<Origin>,
    ) -> Reported {
        self.findings.report(Diagnostic::new(code, message, Place::origin(origin.or(on.origin))).about(on.key()))
    }

    /// Something that the reference passes on and Envoy refuses.
    fn refuse(&mut self, message: impl Into<String>, on: &Identity, origin: Option<Origin>) -> Reported {
        let place = Place::origin(origin.or(on.origin));
        self.findings.report(Diagnostic::new(&codes::REFUSED_BY_ENVOY, message, place).about(on.key()).help(REFUSED_HELP))
    }

    /// Converts milliseconds to a duration; refuses negative numbers.
    fn milliseconds(&mut self, value: &Sourced<i64>, field: &str, on: &Identity) -> Result<Sourced<Duration>, Reported> {
        match super::duration::milliseconds(value.value) {
            Some(duration) => Ok(Sourced::new(duration, value.origin)),
            None => Err(self.refuse(alloc::format!("{field} must not be negative"), on, value.origin)),
        }
    }

    /// A number that Envoy holds in 32 bits without a sign; others are refused.
    fn unsigned(&mut self, value: &Sourced<i64>, field: &str, on: &Identity) -> Result<Sourced<u32>, Reported> {
        match u32::try_from(value.value) {
            Ok(number) => Ok(Sourced::new(number, value.origin)),
            Err(_) => Err(self.refuse(alloc::format!("{field} must be from 0 to 4294967295"), on, value.origin)),
        }
    }

    /// The status, if valid.
    fn status(&mut self, value: &Sourced<i64>, on: &Identity) -> Result<Sourced<StatusCode>, Reported> {
        match StatusCode::new(value.value) {
            Some(status) => Ok(Sourced::new(status, value.origin)),
            None => Err(self.refuse(alloc::format!("there is no status {}: statuses are from 100 to 599", value.value), on, value.origin)),
        }
    }

    /// The port, if valid.
    fn port(&mut self, value: &Sourced<i64>, field: &str, on: &Identity) -> Result<Sourced<u16>, Reported> {
        match u16::try_from(value.value) {
            Ok(port) => Ok(Sourced::new(port, value.origin)),
            Err(_) => Err(self.refuse(alloc::format!("{field} must be a port, from 0 to 65535"), on, value.origin)),
        }
    }

    /// The name of a header, if Envoy accepts it.
    fn header_name(&mut self, name: &Str, origin: Option<Origin>, on: &Identity) -> Result<HeaderName, Reported> {
        HeaderName::new(name.clone()).map_err(|problem| self.refuse(problem.to_string(), on, origin))
    }
}
