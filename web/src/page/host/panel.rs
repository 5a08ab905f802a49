//! The view of live inputs: sources, Envoys and events. Does not query them; see `live`.

use super::Host;
use super::envoys::RunningEnvoys;
use super::live::{Line, Live};
use super::message::{Envoy, Happened, Source};
use super::words::{counted, place, text, time};
use crate::state::App;
use chancery_web::protocol::Call;
use leptos::prelude::*;
use serde_json::Value;

/// The suggested port for serving.
const PORT: u16 = 8003;

#[component]
pub fn LiveView(app: App) -> impl IntoView {
    view! {
        <div class="scroll live-view" tabindex="0">
            <Timeline app=app />
            <Envoys app=app />
            <RunningEnvoys app=app />
            <Sources live=app.live />
        </div>
    }
}

/// The last word of a type URL.
fn short(type_url: &str) -> &str {
    type_url.rsplit('.').next().unwrap_or(type_url)
}

/// An event as a mark and a sentence.
fn describe_event(happened: &Happened) -> (&'static str, String) {
    let rest = &happened.rest;
    let detail = |detail: &str| if detail.is_empty() { String::new() } else { format!(": {detail}") };
    match happened.event.as_str() {
        "build" => build(rest),
        "source" => {
            let mark = match text(rest, "state") {
                "synced" => "match",
                "error" => "error",
                _ => "warning",
            };
            (mark, format!("{} {}{}", text(rest, "kind"), text(rest, "state"), detail(text(rest, "detail"))))
        }
        "listening" => ("match", format!("{} is served on {}", text(rest, "server"), text(rest, "address"))),
        "envoy" => ("notice", format!("Envoy {} {}", text(rest, "id"), text(rest, "state"))),
        "accepted" => {
            let after = rest.get("after_ms").and_then(Value::as_u64).unwrap_or_default();
            ("match", format!("Envoy {} accepted {} after {after} ms", text(rest, "id"), short(text(rest, "type"))))
        }
        "rejected" => (
            "error",
            format!("Envoy {} rejected {} {}: {}", text(rest, "id"), short(text(rest, "type")), text(rest, "resource"), text(rest, "message")),
        ),
        "withheld" => ("error", format!("{} {} is not sent, because {}", short(text(rest, "type")), text(rest, "resource"), text(rest, "message"))),
        "held" => ("error", format!("a change of {} is held back: one Envoy rejects it", text(rest, "gateway"))),
        "emptied" => ("error", format!("the Envoys of {} lose all their listeners", text(rest, "gateway"))),
        "planned" => ("notice", planned(rest)),
        "applied" => ("match", format!("the Application Gateway {} was changed", text(rest, "gateway"))),
        "apply-failed" => ("error", format!("the Application Gateway {} was not changed: {}", text(rest, "gateway"), text(rest, "message"))),
        "apply-held" => ("warning", format!("the Application Gateway {} is not changed: {}", text(rest, "gateway"), text(rest, "message"))),
        "unknown-node" => ("warning", format!("Envoy {} belongs to no gateway: {}", text(rest, "id"), text(rest, "detail"))),
        other => ("notice", other.to_owned()),
    }
}

/// How an Application Gateway differs from the desired state.
fn planned(rest: &Value) -> String {
    let number = |field: &str| rest.get(field).and_then(Value::as_u64).unwrap_or_default();
    let parts = number("added") + number("changed") + number("removed");
    format!("the Application Gateway {} differs from the desired state in {parts} parts", text(rest, "gateway"))
}

/// Whether it is worth an entry. The presence of a kind is shown with the sources.
fn is_news(happened: &Happened) -> bool {
    happened.event != "source"
        || matches!(text(&happened.rest, "state"), "error" | "forbidden")
        || text(&happened.rest, "kind") == text(&happened.rest, "source")
}

/// The changes of a build.
fn build(rest: &Value) -> (&'static str, String) {
    let number = |field: &str| rest.get(field).and_then(Value::as_u64).unwrap_or_default() as usize;
    let names = rest.get("resources").and_then(Value::as_object);
    let changed: Vec<String> = rest
        .get("changed")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(list, count)| {
            let named = names.and_then(|names| names.get(list)?.as_array());
            let one = named.filter(|named| named.len() == 1).and_then(|named| named.first()?.as_str());
            let list = list.trim_end_matches('s');
            one.map_or_else(|| counted(count.as_u64().unwrap_or_default() as usize, list), |one| format!("{list} {one}"))
        })
        .collect();
    let changed = if changed.is_empty() { "nothing changes for Envoy".into() } else { format!("changed: {}", changed.join(", ")) };
    let errors = number("errors");
    let mark = if errors > 0 { "error" } else { "match" };
    (mark, format!("{}, {changed}, {}", counted(number("inputs"), "input"), counted(errors, "error")))
}

/// Findings that appeared or disappeared with a build.
fn findings(app: App, rest: &Value, field: &str, word: &'static str) -> impl IntoView + use<> {
    let tells = |finding: &&Value| text(finding, "severity") != "notice";
    let all: Vec<Value> = rest.get(field).and_then(Value::as_array).into_iter().flatten().filter(tells).take(6).cloned().collect();
    all.into_iter()
        .map(|finding| {
            let line = finding.get("line").and_then(Value::as_u64).unwrap_or_default() as u32;
            let file = text(&finding, "file").to_owned();
            let mark = if word.is_empty() { text(&finding, "severity").to_owned() } else { "match".into() };
            let place = (!file.is_empty()).then(|| place(app, &file, line));
            view! { <li><span class=format!("mark {mark}") aria-hidden="true"></span><span>{word}{text(&finding, "message").to_owned()}</span> {place}</li> }
        })
        .collect_view()
}

#[component]
fn Timeline(app: App) -> impl IntoView {
    let row = move |line: Line| {
        let (mark, text) = describe_event(&line.happened);
        let is_build = line.happened.event == "build";
        let compare = line.change.map(|change| view! {
            <button class="link" title="Compare with the inputs before this change" on:click=move |_| app.live.compare_before(change)>"compare with the state before"</button>
        });
        let more = is_build.then(|| view! { <ul class="live-findings">{findings(app, &line.happened.rest, "found", "")} {findings(app, &line.happened.rest, "fixed", "no longer: ")}</ul> });
        view! {
            <li class="live-line">
                <time>{time(line.happened.at_ms)}</time>
                <span class=format!("mark {mark}") aria-hidden="true"></span>
                <div class="live-message"><span>{text}</span> {compare} {more}</div>
            </li>
        }
    };
    let news = move || {
        let mut lines = app.live.timeline.get();
        lines.retain(|line| is_news(&line.happened));
        lines
    };
    view! {
        <section aria-label="Events">
            <h2 class="live-head">"Events"</h2>
            {move || app.live.timeline.with(Vec::is_empty).then(|| view! { <p class="dialog-text">"No events yet. Each change of the inputs appears here with its effects."</p> })}
            <ul class="live-lines"><For each=news key=|line| line.number let:line>{row(line)}</For></ul>
        </section>
    }
}

#[component]
fn Sources(live: Live) -> impl IntoView {
    let row = |source: Source| {
        let mark = match source.state.as_str() {
            "synced" => "match",
            "error" => "error",
            "forbidden" => "warning",
            _ => "nothing",
        };
        view! {
            <tr><td><span class=format!("mark {mark}") aria-hidden="true"></span></td><td>{source.kind}</td><td>{source.state}</td><td class="live-muted">{source.detail.unwrap_or_default()}</td></tr>
        }
    };
    let rank = |source: &Source| ["error", "forbidden", "synced", "missing"].iter().position(|state| *state == source.state);
    let rows = move |is_missing: bool| {
        let mut all = live.sources.get();
        all.retain(|source| (source.state == "missing" && source.kind != source.source) == is_missing);
        all.sort_by_key(rank);
        let count = all.len();
        (count, all.into_iter().map(row).collect_view())
    };
    view! {
        <section aria-label="Sources">
            <h2 class="live-head">"Sources"</h2>
            <table class="live-table"><tbody>{move || rows(false).1}</tbody></table>
            {move || match rows(true) {
                (0, _) => None,
                (count, rows) => Some(view! { <details><summary>{format!("{} missing in this cluster", counted(count, "kind"))}</summary><table class="live-table"><tbody>{rows}</tbody></table></details> }),
            }}
        </section>
    }
}

#[component]
fn Envoys(app: App) -> impl IntoView {
    let live = app.live;
    let port = RwSignal::new(PORT.to_string());
    let serve = move |_| match port.get_untracked().trim().parse() {
        Ok(port) => live.ask(Call::Serve { port }),
        Err(_) => app.screen.say("A port is a number from 0 to 65535; 0 chooses a free port"),
    };
    let switch = move || {
        let xds = live.about.with(|about| about.xds.clone());
        (live.host == Host::Window).then(|| match xds {
            None => view! {
                <p class="live-row">
                    <label>"Serve Envoys on port " <input class="live-input live-port" inputmode="numeric" prop:value=move || port.get() on:input=move |event| port.set(event_target_value(&event)) /></label>
                    <button class="button primary" on:click=serve>"Serve"</button>
                    <span class="live-muted">"Envoys on this machine receive the shown configuration, including edits."</span>
                </p>
            }
            .into_any(),
            Some(xds) => view! {
                <p class="live-row">
                    <span class="mark match" aria-hidden="true"></span><span>"Envoys are served on " <code>{xds}</code></span>
                    <button class="button" on:click=move |_| live.copy_bootstrap()>"Copy bootstrap"</button>
                    <button class="button" on:click=move |_| live.ask(Call::StopServing)>"Stop"</button>
                    <span class="live-muted">"Start one: " <code>"envoy -c envoy.json"</code></span>
                </p>
            }
            .into_any(),
        })
    };
    view! {
        <section aria-label="Envoys">
            <h2 class="live-head">"Served Envoys"</h2>
            {switch}
            {move || live.envoys.get().into_iter().map(|envoy| view! { <OneEnvoy app=app envoy=envoy /> }).collect_view()}
        </section>
    }
}

/// Some names: the first ones, and how many more there are.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let first = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{first} and {} more", names.len() - SHOWN) } else { first }
}

#[component]
fn OneEnvoy(app: App, envoy: Envoy) -> impl IntoView {
    let types = envoy.types.into_iter().map(|(kind, of)| {
        let (mark, message) = match (&of.rejected, &of.accepted) {
            (Some(rejected), _) => ("error", format!("rejected: {}", rejected.message)),
            (None, Some(accepted)) if *accepted == of.sent => ("match", "accepted".into()),
            _ => ("notice", "sent".to_owned()),
        };
        let kept = (!of.held.is_empty() && of.rejected.is_none())
            .then(|| format!("an earlier version is kept, because Envoy rejected the newest: {}", listed(&of.held)));
        let withheld = (!of.withheld.is_empty()).then(|| format!("not sent, see the findings: {}", listed(&of.withheld)));
        let lacks = [kept, withheld].into_iter().flatten();
        let lacks = lacks.map(|message| view! { <tr><td><span class="mark error" aria-hidden="true"></span></td><td></td><td>{message}</td></tr> });
        let places: Vec<_> = of.rejected.into_iter().flat_map(|of| of.resources).flat_map(|of| of.places).map(|of| place(app, &of.file, of.line)).collect();
        view! {
            <tr><td><span class=format!("mark {mark}") aria-hidden="true"></span></td><td>{short(&kind).to_owned()}</td><td>{message} {places}</td></tr>
            {lacks.collect_view()}
        }
    });
    view! {
        <div class="live-envoy">
            <p><strong>{envoy.id}</strong> <span class="live-muted">{envoy.gateway.map_or("no gateway".into(), |gateway| format!("gateway {gateway}"))} " " {envoy.agent}</span></p>
            <table class="live-table"><tbody>{types.collect_view()}</tbody></table>
        </div>
    }
}
