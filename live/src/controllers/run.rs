//! Runs the controllers against an API server: carries out their plans one step after the other, and reports failures. Does not plan; see
//! `Manager`.

use super::lease::{EVERY, Leading};
use super::objects::ObjectChanges;
use super::provisioner::{self, CREATED, WantedObjects};
use super::statuses::{self, BUILD, Clock, REJECTED, WantedStatuses};
use super::writer::{MANAGER, Writer};
use crate::Failure;
use crate::runtime::{Action, Change, Id, Manager};
use crate::worker::build::Build;
use crate::xds::clients::Rejected;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::watch;

/// Writes the results of builds as long as the process runs. Without the Lease it only watches, so that it can continue at once with it.
///
/// # Errors
///
/// The controllers form a cycle, or two manage one kind.
pub async fn run(
    mut builds: watch::Receiver<Option<Arc<Build>>>,
    mut rejected: watch::Receiver<Rejected>,
    mut writer: Writer,
    mut leading: Option<Leading>,
    writes: Writes,
) -> Result<(), Failure> {
    let clock: Clock = Arc::new(|| k8s_openapi::jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    let (wanted, created) = (WantedStatuses::default(), WantedObjects::default());
    let mut controllers = if writes.statuses { statuses::controllers(&wanted, &clock) } else { Vec::new() };
    if writes.objects {
        controllers.push(provisioner::controller(&created));
        // The first build decides about objects of an earlier process.
        created.found(written_before(&mut writer).await);
    }
    let mut manager = Manager::new(controllers)?;
    let mut seen = ObjectChanges::default();
    loop {
        let due = manager.next_due().unwrap_or_else(|| Instant::now() + std::time::Duration::from_secs(3600));
        tokio::select! {
            changed = builds.changed() => {
                if changed.is_err() {
                    return Ok(());
                }
                let build = builds.borrow_and_update().clone();
                if let Some(build) = build {
                    if writes.objects {
                        created.update(&build).iter().for_each(|id| manager.event(Change::Custom(CREATED, provisioner::build_event(id))));
                    }
                    take(&mut manager, &mut seen, &wanted, build).await?;
                }
            }
            Ok(()) = rejected.changed() => {
                let rejected = rejected.borrow_and_update().clone();
                wanted.reject(&rejected).iter().for_each(|id| manager.event(Change::Custom(REJECTED, statuses::build_event(id))));
            }
            () = changed(leading.as_mut()) => {}
            () = tokio::time::sleep_until(due.into()) => {}
        }
        while leading.as_ref().is_none_or(Leading::holds)
            && let Some(planned) = manager.plan(Instant::now())
        {
            let outcome = match &planned.outcome {
                Ok(actions) => carry_out(&mut writer, actions).await,
                Err(why) => Err(why.clone()),
            };
            let why = outcome.as_ref().err().cloned();
            if let (Some(pause), Some(why)) = (manager.carried_out(&planned, outcome, Instant::now()), why) {
                let retry_ms = pause.as_millis() as u64;
                tracing::warn!(controller = planned.name, object = %planned.id, retry_ms, "cannot be written: {why}");
            }
        }
    }
}

/// Waits until the Lease has another holder. Never returns without a Lease.
pub async fn changed(leading: Option<&mut Leading>) {
    match leading {
        Some(leading) => leading.changed().await,
        None => std::future::pending().await,
    }
}

/// Selects the kinds of writes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Writes {
    /// Writes statuses.
    pub statuses: bool,
    /// Writes the objects that Gateways need.
    pub objects: bool,
}

/// Finds the objects of an earlier process, by Gateway. Repeats the request until the server answers, because unknown
/// objects would never be deleted.
async fn written_before(writer: &mut Writer) -> BTreeMap<Id, BTreeSet<Id>> {
    let mut out: BTreeMap<Id, BTreeSet<Id>> = BTreeMap::new();
    for kind in provisioner::KINDS {
        let found = loop {
            match writer.labelled(kind, provisioner::LABEL, MANAGER).await {
                Ok(found) => break found,
                Err(why) => {
                    tracing::warn!("what an earlier process wrote cannot be found: {why}");
                    tokio::time::sleep(EVERY).await;
                }
            }
        };
        for (gateway, object) in found.iter().filter_map(|object| provisioner::owner_of(kind, object)) {
            out.entry(gateway).or_default().insert(object);
        }
    }
    out
}

/// Reads the statuses of a build, which takes as long as a compile for a large one.
async fn take(manager: &mut Manager, seen: &mut ObjectChanges, wanted: &WantedStatuses, build: Arc<Build>) -> Result<(), Failure> {
    let of = build.clone();
    let read = tokio::task::spawn_blocking(move || statuses::of_build(&of));
    let statuses = read.await.map_err(|error| format!("reading statuses failed: {error}"))?;
    let inputs = &build.compilation.inputs.inputs;
    let (changed, gone) = seen.update(inputs);
    // Statuses come before objects, so that a reconciler finds the wanted status.
    let with_new_status = wanted.update(statuses);
    changed.into_iter().for_each(|object| manager.event(Change::Put(object)));
    gone.into_iter().for_each(|id| manager.event(Change::Gone(id)));
    with_new_status.iter().for_each(|id| manager.event(Change::Custom(BUILD, statuses::build_event(id))));
    Ok(())
}

async fn carry_out(writer: &mut Writer, actions: &[Action]) -> Result<(), String> {
    for action in actions {
        match action {
            Action::Status(id, status) => writer.status(id, status).await?,
            Action::Apply(object) => writer.apply(object).await?,
            Action::Finalizers(id, uid, finalizers) => writer.finalizers(id, uid, finalizers).await?,
            Action::Write(id, value) => writer.write(id, value).await?,
            Action::Delete(id) => writer.delete(id).await?,
        }
    }
    Ok(())
}
