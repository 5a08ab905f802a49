//! The section about running Envoys: finding them, their state, and their drift. Does not query them; see `running`.

use super::Host;
use super::message::{CertificateState, ClusterState, Drift, DriftedField, DriftedPart, FoundEnvoy, FoundEnvoys, Overview, Stats};
use super::running::{CallResult, name};
use super::words::{counted, place};
use crate::state::App;
use chancery_web::protocol::EnvoyAt;
use leptos::prelude::*;

/// The largest number of listed parts.
const MOST: usize = 200;

#[component]
pub fn RunningEnvoys(app: App) -> impl IntoView {
    let running = app.live.running;
    (app.live.host == Host::Window).then(|| {
        view! {
            <section aria-label="Running Envoys">
                <h2 class="live-head">"Running Envoys"</h2>
                <Local app=app />
                <Find app=app />
                {move || running.chosen.get().map(|envoy| view! { <Chosen app=app envoy=envoy /> })}
            </section>
        }
    })
}

/// An Envoy on this machine, by its admin address.
#[component]
fn Local(app: App) -> impl IntoView {
    let running = app.live.running;
    let address = RwSignal::new("127.0.0.1:8001".to_string());
    let look = move |_| running.choose(EnvoyAt::Local { address: address.get_untracked().trim().to_owned() });
    view! {
        <p class="live-row">
            <label>"On this machine, with its admin interface at " <input class="live-input live-address" prop:value=move || address.get() on:input=move |event| address.set(event_target_value(&event)) /></label>
            <button class="button" on:click=look>"Show"</button>
        </p>
    }
}

/// The Envoys of a cluster.
#[component]
fn Find(app: App) -> impl IntoView {
    let running = app.live.running;
    let (context, labels, port) = (RwSignal::new(String::new()), RwSignal::new(String::new()), RwSignal::new(String::new()));
    let find = move |_| {
        let port = port.get_untracked();
        match (port.trim().is_empty(), port.trim().parse()) {
            (true, _) => running.find(context.get_untracked(), labels.get_untracked(), None),
            (_, Ok(port)) => running.find(context.get_untracked(), labels.get_untracked(), Some(port)),
            _ => app.screen.say("A port is a number from 1 to 65535"),
        }
    };
    let field = move |class: &'static str, hint: &'static str, of: RwSignal<String>| {
        view! { <input class=class placeholder=hint aria-label=hint prop:value=move || of.get() on:input=move |event| of.set(event_target_value(&event)) /> }
    };
    // If the window follows a cluster, search there.
    let is_cluster = Memo::new(move |_| app.live.about.with(|about| about.kind == "cluster"));
    view! {
        <p class="live-row">
            <span>"In a cluster: "</span>
            {move || (!is_cluster.get()).then(|| field("live-input", "context (default: current)", context))}
            {field("live-input", "labels, for example app=envoy", labels)}
            {field("live-input live-admin", "admin port", port)}
            <button class="button" prop:disabled=move || running.waiting.get() != 0 on:click=find>"Find Envoys"</button>
            <span class="live-muted">"Chancery reads the admin interface through a port-forward."</span>
        </p>
        {move || running.found.get().map(|found| view! { <Found app=app found=found /> })}
    }
}

#[component]
fn Found(app: App, found: Result<FoundEnvoys, String>) -> impl IntoView {
    let running = app.live.running;
    let found = match found {
        Err(why) => return view! { <p class="live-problem">{why}</p> }.into_any(),
        Ok(found) => found,
    };
    if found.envoys.is_empty() {
        let place = found.namespace.map(|namespace| format!(" in the namespace {namespace}")).unwrap_or_default();
        let pods = if found.is_cut { "None of the first 10,000 pods" } else { "No pod" };
        let sentence = format!("{pods} of {}{place} looks like an Envoy. Enter its labels or its admin port.", found.context);
        return view! { <p class="live-muted">{sentence}</p> }.into_any();
    }
    let context = found.context.clone();
    let row = move |of: FoundEnvoy| {
        let mark = if of.ready { "match" } else { "warning" };
        let state = if of.ready { "ready" } else { "not ready" };
        let at = EnvoyAt::Pod { context: context.clone(), namespace: of.namespace.clone(), pod: of.pod.clone(), port: of.port };
        view! {
            <tr>
                <td><span class=format!("mark {mark}") title=state></span></td>
                <td>{format!("{}/{}", of.namespace, of.pod)}</td>
                <td class="live-muted">{format!("container {}, port {}", of.container, of.port)}</td>
                <td><button class="button" on:click=move |_| running.choose(at.clone())>"Inspect"</button></td>
            </tr>
        }
    };
    let more = found.count.saturating_sub(found.envoys.len());
    view! {
        <table class="live-table live-found"><tbody>{found.envoys.into_iter().map(row).collect_view()}</tbody></table>
        {(more > 0).then(|| view! { <p class="live-muted">{format!("and {more} more. Enter labels to find them")}</p> })}
        {found.is_cut.then(|| view! { <p class="live-muted">"Only the first 10,000 pods were searched. Enter labels to find others"</p> })}
    }
    .into_any()
}

/// The chosen Envoy.
#[component]
fn Chosen(app: App, envoy: EnvoyAt) -> impl IntoView {
    let running = app.live.running;
    let filter = RwSignal::new(String::new());
    let waits = move || running.waiting.get() != 0;
    let whole = envoy.clone();
    let (waiting, wait) = (waits, waits);
    view! {
        <div class="live-envoy live-chosen">
            <p class="live-row">
                <strong>{name(&envoy)}</strong>
                <button class="button primary" prop:disabled=waiting title="Compare the source, the served configuration and this Envoy's configuration" on:click=move |_| running.compare(app.engine.compiled.with_untracked(|of| of.gateway.clone()))>"Find drift"</button>
                <button class="button" prop:disabled=wait title="Compare requests and parts with this Envoy's configuration" on:click=move |_| app.live.compare_envoy(whole.clone())>"Compare in full"</button>
                <button class="button" on:click=move |_| running.look()>"Refresh"</button>
                <button class="button" on:click=move |_| running.leave()>"Close"</button>
                <span class="live-muted" role="status">{move || waits().then_some("waiting…")}</span>
            </p>
            {move || show_result(running.overview.get(), |of| view! { <How of=of /> })}
            {move || show_result(running.drift.get(), move |of| view! { <Drifted app=app drift=of /> })}
            <form class="live-row" on:submit=move |event| { event.prevent_default(); running.ask_stats(filter.get_untracked()) }>
                <input class="live-input" placeholder="words of the name" aria-label="Filter statistics by words of their names" prop:value=move || filter.get() on:input=move |event| filter.set(event_target_value(&event)) />
                <button class="button" prop:disabled=waits>"Statistics"</button>
            </form>
            {move || show_result(running.stats.get(), |of| view! { <Statistics of=of /> })}
        </div>
    }
}

/// Shows an answer, or why it is missing.
fn show_result<T, V: IntoView + 'static>(answer: CallResult<T>, show: impl FnOnce(T) -> V) -> Option<AnyView> {
    Some(match answer? {
        Ok(of) => show(of).into_any(),
        Err(why) => view! { <p class="live-problem">{why}</p> }.into_any(),
    })
}

/// A duration, for example `3 days` or `5 hours`.
fn lasting(seconds: u64) -> String {
    match seconds {
        0..120 => counted(seconds as usize, "second"),
        120..7200 => counted((seconds / 60) as usize, "minute"),
        7200..172_800 => counted((seconds / 3600) as usize, "hour"),
        _ => counted((seconds / 86_400) as usize, "day"),
    }
}

#[component]
fn How(of: Overview) -> impl IntoView {
    let mark = if of.state == "LIVE" { "match" } else { "warning" };
    let node = if of.node.is_empty() { String::new() } else { format!(", node {}", of.node) };
    let rejected = |(kind, count): (String, u64)| view! { <p><span class="mark error" aria-hidden="true"></span>{format!(" rejected {} of {kind}", counted(count as usize, "update"))}</p> };
    let cluster = |of: ClusterState| {
        let mark = if of.endpoints == 0 {
            "nothing"
        } else if of.healthy == of.endpoints {
            "match"
        } else {
            "warning"
        };
        view! {
            <tr><td><span class=format!("mark {mark}") aria-hidden="true"></span></td><td>{of.name}</td><td>{format!("{} of {} healthy", of.healthy, of.endpoints)}</td><td class="live-muted">{format!("{}, {} failed", counted(of.requests as usize, "request"), of.errors)}</td></tr>
        }
    };
    let certificate = |of: CertificateState| {
        let (mark, message) = match of.days {
            Some(days) if days < 0 => ("error", "expired".to_owned()),
            Some(0) => ("warning", format!("expires within a day: {}", of.expires)),
            Some(days) => (if days < 14 { "warning" } else { "match" }, format!("expires in {}", counted(days as usize, "day"))),
            None => ("nothing", of.expires.clone()),
        };
        view! { <tr><td><span class=format!("mark {mark}") aria-hidden="true"></span></td><td>{of.names.join(", ")}</td><td>{message}</td><td class="live-muted">{of.kind}</td></tr> }
    };
    view! {
        <p><span class=format!("mark {mark}") aria-hidden="true"></span>{format!(" Envoy {}, {}, running for {}{node}", of.version, of.state.to_lowercase(), lasting(of.uptime))}</p>
        {of.rejected.into_iter().map(rejected).collect_view()}
        {(!of.clusters.is_empty()).then(|| view! { <details><summary>{counted(of.clusters.len(), "cluster")}</summary><table class="live-table"><tbody>{of.clusters.into_iter().map(cluster).collect_view()}</tbody></table></details> })}
        {(!of.certificates.is_empty()).then(|| view! { <details><summary>{counted(of.certificates.len(), "certificate")}</summary><table class="live-table"><tbody>{of.certificates.into_iter().map(certificate).collect_view()}</tbody></table></details> })}
    }
}

#[component]
fn Statistics(of: Stats) -> impl IntoView {
    let more = of.count.saturating_sub(of.stats.len());
    let row = |(name, value): (String, u64)| view! { <tr><td class="live-number">{value}</td><td>{name}</td></tr> };
    view! {
        <table class="live-table live-stats"><tbody>{of.stats.into_iter().map(row).collect_view()}</tbody></table>
        {(of.count == 0).then(|| view! { <p class="live-muted">"No matching statistic is above zero."</p> })}
        {(more > 0).then(|| view! { <p class="live-muted">{format!("and {more} more. Enter more words")}</p> })}
    }
}

#[component]
fn Drifted(app: App, drift: Drift) -> impl IntoView {
    let (mark, message) = match drift.parts.len() {
        0 if !drift.notes.is_empty() => ("warning", "No compared part differs.".to_owned()),
        0 => ("match", "No drift: the source, the served configuration and this Envoy's configuration are equal.".to_owned()),
        count => (
            "error",
            format!(
                "{} between the source, the served configuration and this Envoy's configuration.",
                if count == 1 { "1 part differs".into() } else { format!("{count} parts differ") }
            ),
        ),
    };
    let more = drift.parts.len().saturating_sub(MOST);
    let table = (!drift.parts.is_empty()).then(|| {
        view! {
            <table class="live-table live-drift">
                <thead><tr><th>"Part"</th><th>"Source"</th><th>"Served"</th><th>"Envoy"</th></tr></thead>
                {drift.parts.into_iter().take(MOST).map(|part| view! { <Part app=app part=part /> }).collect_view()}
            </table>
        }
    });
    view! {
        <p role="status"><span class=format!("mark {mark}") aria-hidden="true"></span>" "{message} <span class="live-muted">{format!(" Gateway {}.", drift.gateway)}</span></p>
        {drift.notes.into_iter().map(|note| view! { <p><span class="mark warning" aria-hidden="true"></span>" "{note}</p> }).collect_view()}
        {table}
        {(more > 0).then(|| view! { <p class="live-muted">{format!("and {more} more")}</p> })}
    }
}

#[component]
fn Part(app: App, part: DriftedPart) -> impl IntoView {
    let has = |has: bool| view! { <td class:live-other=!has>{if has { "present" } else { "missing" }}</td> };
    let places = part.origins.into_iter().filter_map(|of| of.span).take(3).map(|span| place(app, &span.file, span.line)).collect_view();
    let value = |of: Option<String>, other: bool| view! { <td class:live-other=other><code>{of.unwrap_or_else(|| "–".into())}</code></td> };
    let field = move |of: DriftedField| {
        let (served, envoy) = (of.served != of.source, of.envoy != of.served);
        view! { <tr><td class="live-field"><code>{of.path}</code></td>{value(of.source, false)}{value(of.served, served)}{value(of.envoy, envoy)}</tr> }
    };
    let fields = if part.in_source && part.in_served && part.in_envoy { part.fields } else { Vec::new() };
    view! {
        <tbody>
            <tr class="live-part"><td>{format!("{} ", part.kind)}<strong>{part.name}</strong>" "{places}</td>{has(part.in_source)}{has(part.in_served)}{has(part.in_envoy)}</tr>
            {fields.into_iter().map(field).collect_view()}
        </tbody>
    }
}
