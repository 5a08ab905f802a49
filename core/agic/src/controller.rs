//! Processes an event: reads the gateway, writes its address into Ingresses, builds, and changes the gateway.
//!
//! AGIC `ProcessEvent` and `MutateAppGateway` in `pkg/controller`. Does not decide which events exist; see `pipeline`.

use super::brownfield::Targets;
use super::build::{self, BuilderInput, Group, Share};
use super::crash::{ControllerCrash, WORDS};
use super::events::{Reason, Recorder};
use super::model::Ingress;
use super::names::Names;
use super::options::Options;
use super::prune::Prune;
use super::source::Source;
use super::status::{self, Change};
use super::{existing, fault, validate};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::appgw::Gateway;

/// The result of an event.
#[derive(Clone, Debug, Default)]
pub struct Processed {
    /// The requested gateway; `None` if nothing is sent.
    pub gateway: Option<Arc<Gateway>>,
    /// The recorded events.
    pub recorder: Recorder,
    /// Statuses that change.
    pub statuses: Vec<Change>,
    /// The effective Ingresses.
    pub ingresses: Vec<Arc<Ingress>>,
    /// The parts that each of them requests, unless the controller crashed before.
    pub shares: Vec<Arc<Share>>,
    /// The paths of each listener, if the gateway was built.
    pub path_maps: Vec<Group>,
    /// The crash of the controller, if any.
    pub crash: Option<ControllerCrash>,
}

/// Processes all objects.
pub fn process(source: &Source<'_>, options: &Options, names: &Names, gateway: &Gateway, memory: &mut build::Memory) -> Processed {
    let mut processed = Processed::default();
    if let Some(fault) = &source.environment.failure {
        let message =
            format!("Error while initializing values from environment. Please check helm configuration for missing values: {}", fault.text());
        processed.recorder.pod(Reason::FailedValidatonError, message);
        return processed;
    }
    if let Some(error) = &options.get_error {
        let text = fault::gateway_not_fetched(&source.environment.gateway, error).text();
        processed.recorder.pod(Reason::UnableToFetchAppGw, text.as_str());
        processed.recorder.process(Reason::ProcessEvent, text, None);
        return processed;
    }
    if let Err(crash) = change((source, names), options, gateway, memory, &mut processed) {
        processed.recorder.process(Reason::Panic, WORDS, crash.at);
        processed.gateway = None;
        processed.crash = Some(crash);
    } else if let (Some(error), true) = (&options.update_error, processed.gateway.is_some()) {
        processed.recorder.pod(Reason::FailedApplyingAppGwConfig, error.as_str());
        processed.recorder.process(Reason::ProcessEvent, error.as_str(), None);
    }
    processed
}

fn change(
    (source, names): (&Source<'_>, &Names),
    options: &Options,
    gateway: &Gateway,
    memory: &mut build::Memory,
    processed: &mut Processed,
) -> Result<(), ControllerCrash> {
    existing::check(gateway)?;
    let Some(properties) = &gateway.properties else { return Ok(()) };
    let ingresses = source.ingresses();
    let recorder = &mut processed.recorder;
    if !existing::is_running(properties) {
        return reset(gateway, ingresses, processed);
    }
    let addresses = status::addresses(properties, options)?;
    let environment = source.environment;
    let nothing = Targets::default();
    let ingresses = Prune { gateway: properties, environment, targets: &nothing, recorder }.run(ingresses)?;
    processed.statuses = status::given(source, properties, &addresses, &ingresses);
    let targets = if environment.shared { Targets::read(&source.prohibited_targets()) } else { nothing };
    // Without targets the same Ingresses would be removed again.
    let ingresses =
        if environment.shared { Prune { gateway: properties, environment, targets: &targets, recorder }.run(ingresses)? } else { ingresses };
    validate::before(source, &ingresses, recorder)?;
    let shares = build::make_shares(memory, source, names, properties, &ingresses);
    (processed.ingresses, processed.shares) = (ingresses, shares);
    let given = BuilderInput {
        source,
        names,
        shares: &processed.shares,
        targets: (!targets.is_empty()).then_some(&targets),
        istio: environment.istio && source.has_istio(),
        recorder: &mut processed.recorder,
        memory,
    };
    let built = build::build(given, gateway.clone())?;
    if let Some(properties) = &built.gateway.properties {
        validate::after(properties, &mut processed.recorder);
    }
    (processed.gateway, processed.path_maps) = (Some(Arc::new(built.gateway)), built.path_maps);
    Ok(())
}

/// The gateway is stopped: it is not changed, and Ingresses lose their addresses.
fn reset(gateway: &Gateway, ingresses: Vec<Arc<Ingress>>, processed: &mut Processed) -> Result<(), ControllerCrash> {
    for ingress in &ingresses {
        let id = gateway.id.as_ref().ok_or_else(|| ControllerCrash::of("the gateway's ARM document has no `id`", None))?;
        let message = format!("Reset IP for Ingress {}. Application Gateway {} is in stopped state", ingress.key(), id.value);
        processed.recorder.ingress(ingress, Reason::ResetIngressStatus, message, None);
    }
    processed.statuses = status::reset(&ingresses);
    Ok(())
}
