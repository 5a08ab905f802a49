//! What the controller does with an event: it reads the gateway, tells Ingresses its address, builds, and changes the gateway.
//!
//! AGIC `ProcessEvent` and `MutateAppGateway` in `pkg/controller`. What must not be here: which events there are (`pipeline`).

use super::brownfield::Targets;
use super::build::{self, BuilderInput, Group, Share};
use super::death::{Died, WORDS};
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

/// What comes of it.
#[derive(Clone, Debug, Default)]
pub struct Processed {
    /// The gateway that is asked for; `None` where nothing is.
    pub gateway: Option<Arc<Gateway>>,
    /// What was recorded.
    pub recorder: Recorder,
    /// Statuses that change.
    pub statuses: Vec<Change>,
    /// The Ingresses that count at last.
    pub ingresses: Vec<Arc<Ingress>>,
    /// What each of them asks for, unless the controller died before.
    pub shares: Vec<Arc<Share>>,
    /// The paths of each listener, where the gateway was built.
    pub path_maps: Vec<Group>,
    /// Where the controller died.
    pub died: Option<Died>,
}

/// Processes everything that there is.
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
    if let Err(died) = change((source, names), options, gateway, memory, &mut processed) {
        processed.recorder.process(Reason::Panic, WORDS, died.at);
        processed.gateway = None;
        processed.died = Some(died);
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
) -> Result<(), Died> {
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
    // Without targets it would leave out the same again.
    let ingresses =
        if environment.shared { Prune { gateway: properties, environment, targets: &targets, recorder }.run(ingresses)? } else { ingresses };
    validate::before(source, &ingresses, recorder)?;
    let shares = memory.shares(source, names, properties, &ingresses);
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

/// The gateway does not run: it is left alone, and Ingresses lose their addresses.
fn reset(gateway: &Gateway, ingresses: Vec<Arc<Ingress>>, processed: &mut Processed) -> Result<(), Died> {
    for ingress in &ingresses {
        let id = gateway.id.as_ref().ok_or_else(|| Died::of("the gateway's ARM document has no `id`", None))?;
        let message = format!("Reset IP for Ingress {}. Application Gateway {} is in stopped state", ingress.key(), id.value);
        processed.recorder.ingress(ingress, Reason::ResetIngressStatus, message, None);
    }
    processed.statuses = status::reset(&ingresses);
    Ok(())
}
