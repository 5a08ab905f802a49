//! Runs `chancery watch`: reports the effect of each change of the inputs, without servers.

use crate::Failure;
use crate::engine::{Engine, Settings};
use crate::serve::Reporter;
use crate::sources::Source;
use crate::worker::build::Build;
use chancery_core::backend::envoy;
use chancery_core::backend::envoy::v3::{Emitted, output_map};
use chancery_core::compare::{AppGatewaySide, RequestOptions, Requests, Side, SideSource, app_gateway_requests, requests};
use chancery_core::compilation::GatewayRef;
use chancery_core::envoy_config::EnvoyConfig;
use std::sync::Arc;

/// The most changes of requests that one build reports.
const MOST: usize = 12;

/// Watches until `end`, or until all sources have ended. With `with_requests`, each build reports the requests whose result changed.
///
/// # Errors
///
/// A source can never be read, or a part has failed.
pub async fn watch(
    settings: Settings,
    sources: Vec<Box<dyn Source>>,
    with_requests: bool,
    end: impl Future<Output = ()> + Send,
) -> Result<(), Failure> {
    let events = settings.events.clone();
    let mut reporter = Reporter::default();
    let mut before: Option<Arc<Build>> = None;
    let publish = move |build: &Arc<Build>| {
        let mut event = reporter.event(build);
        if let (true, Some(before), crate::event::Event::Build { requests, .. }) = (with_requests, &before, &mut event) {
            *requests = changed_requests(before, build);
        }
        before = Some(build.clone());
        events.hold_back(build.compilation.redactor());
        events.publish(event);
        reporter.planned(build).into_iter().for_each(|event| events.publish(event));
        Ok(())
    };
    let mut engine = Engine::start(settings, sources, publish)?;
    tokio::pin!(end);
    let outcome = tokio::select! {
        () = &mut end => Ok(()),
        failure = engine.wait_for_end() => failure.map_or(Ok(()), Err),
    };
    // The last changes are built first.
    let waited = std::time::Instant::now();
    while engine.intake.is_pending() && waited.elapsed() < std::time::Duration::from_secs(60) && outcome.is_ok() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    engine.stop();
    outcome
}

/// Describes the requests whose result changed.
fn changed_requests(before: &Build, after: &Build) -> Vec<String> {
    let mut out = Vec::new();
    for gateway in after.gateways.iter().filter(|gateway| !gateway.changed.is_empty()) {
        let old = before.running().find(|(id, _)| *id == gateway.id);
        let new = after.running().find(|(id, _)| *id == gateway.id);
        if let (Some((_, old)), Some((_, new))) = (old, new) {
            compare(old, new, &mut out);
        }
    }
    if let (false, Some(old), Some(new)) = (after.parts.is_empty(), before.compilation.app_gateways().next(), after.compilation.app_gateways().next())
    {
        let (old_positions, new_positions) = (before.compilation.positions(), after.compilation.positions());
        let (old, new) = (AppGatewaySide::new(old, &old_positions), AppGatewaySide::new(new, &new_positions));
        words(&app_gateway_requests(&old, &new), &mut out);
    }
    out
}

fn compare(old: GatewayRef<'_>, new: GatewayRef<'_>, out: &mut Vec<String>) {
    let map = |of: GatewayRef<'_>| output_map(of.ir, &envoy::Options::default(), &mut Emitted::new());
    let (old_map, new_map) = (map(old), map(new));
    let (old_positions, new_positions) = (old.compilation.positions(), new.compilation.positions());
    let (old_config, new_config) = (EnvoyConfig::of(old.ir), EnvoyConfig::of(new.ir));
    let old = Side { config: &old_config, source: Some(SideSource { gateway: old, positions: &old_positions, map: &old_map }) };
    let new = Side { config: &new_config, source: Some(SideSource { gateway: new, positions: &new_positions, map: &new_map }) };
    words(&requests(&old, &new, &RequestOptions::default()), out);
}

/// Describes the first changes.
fn words(found: &Requests, out: &mut Vec<String>) {
    let all = found.changes.len();
    out.extend(found.changes.iter().take(MOST).map(|change| {
        let side = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".into());
        let differences = change.differences.iter().map(|of| format!("{} {} -> {}", of.what, side(&of.before), side(&of.after)));
        format!("{}: {}", change.requests, differences.collect::<Vec<_>>().join(", "))
    }));
    if all > MOST {
        out.push(format!("and {} more", all - MOST));
    }
}
