//! The address bar above the panes: a request that already ran, and the effects of the last edits on requests. Does not simulate requests; see
//! `worker`.

use super::markdown::words;
use super::request::{MethodChoice, RequestChips};
use crate::link::ask;
use crate::state::App;
use crate::view::View;
use chancery_web::protocol::{Comparison, Destination, Other, Question, RequestChange, Requests, WrittenRequest};
use gloo_timers::callback::Timeout;
use leptos::prelude::*;
use leptos::task::spawn_local;

/// The largest number of effects to show.
const MOST: usize = 2;

/// How long after an edit its effects are computed, in milliseconds.
const LATER: u32 = 300;

#[component]
pub fn AddressBar(app: App) -> impl IntoView {
    let requests = app.requests;
    let typed = move |event| requests.type_url(event_target_value(&event));
    let answer = move || match requests.way.get() {
        None if requests.form.with(|form| form.url.trim().is_empty()) => view! { <span class="asked-answer">"type a URL"</span> }.into_any(),
        // The answer is pending.
        None => ().into_any(),
        Some(Err(why)) => view! { <span class="asked-answer bad">{words(&why)}</span> }.into_any(),
        Some(Ok(way)) => {
            let at = way.gateway.map(|gateway| view! { <span class="asked-at">{format!(" at {gateway}")}</span> });
            view! { <span class="asked-answer" class:good=way.good class:bad=!way.good title=way.headline.replace('`', "")>{words(&way.headline)}{at}</span> }.into_any()
        }
    };
    let add = move |_| {
        requests.wide.set(true);
        app.screen.show(View::Try);
    };
    view! {
        <section class="asked-bar" aria-label="Request">
            <Ends app=app />
            <MethodChoice requests=requests />
            <input
                class="field asked-url" type="text" inputmode="url" spellcheck="false" autocomplete="off" aria-label="Request to try"
                placeholder=move || requests.hint() prop:value=move || requests.form.with(|form| form.url.clone()) on:input=typed
            />
            <RequestChips requests=requests />
            <button class="quiet asked-add" title="Add headers, a port, a server name or a source address" on:click=add>"+ header"</button>
            <span class="asked-arrow" aria-hidden="true">"→"</span>
            <span class="asked-out" role="status">{answer}</span>
            <button class="quiet asked-steps" title="Show each step of this request" on:click=move |_| app.screen.show(View::Try)>"Steps"</button>
            <button class="quiet asked-play" title="Follow this request on the graph, step by step (P)" on:click=move |_| app.play()>"Play"</button>
        </section>
        <Consequences app=app />
    }
}

/// The gateway that receives the request, and in a mesh its destination, if there are several gateways.
#[component]
fn Ends(app: App) -> impl IntoView {
    let requests = app.requests;
    let leave = move |event| {
        app.workspace.gateway.set(Some(event_target_value(&event)));
        app.engine.compile_then(move || requests.begin_anew());
    };
    let reach = move |event| {
        let chosen = event_target_value(&event);
        let found = requests.destinations.with_untracked(|all| all.iter().find(|of| of.name == chosen).cloned());
        if let Some(found) = found {
            requests.fill(found.request);
        }
    };
    // The port, or else the host, decides which listener receives the request.
    let host = |request: &WrittenRequest| request.url.split('/').nth(2).map(str::to_string);
    let is_chosen = move |form: &WrittenRequest, of: &WrittenRequest| form.port == of.port && (form.port.is_some() || host(form) == host(of));
    let destinations = move || {
        let all = requests.destinations.get();
        (!all.is_empty()).then(|| {
            let any = requests.form.with(|form| !all.iter().any(|of| is_chosen(form, &of.request)));
            let option = |of: Destination| {
                let chosen = requests.form.with(|form| is_chosen(form, &of.request));
                view! { <option value=of.name.clone() selected=chosen>{of.name.clone()}</option> }
            };
            view! {
                <label class="asked-end">"to " <select class="field" aria-label="Destination" on:change=reach>
                    {any.then(|| view! { <option value="" selected=true>"…"</option> })} {all.into_iter().map(option).collect_view()}
                </select></label>
            }
        })
    };
    move || {
        let (names, shown) = app.engine.compiled.with(|compiled| (compiled.gateways.clone(), compiled.gateway.clone()));
        (names.len() > 1).then(|| {
            let word = move || if requests.destinations.with(Vec::is_empty) { "at " } else { "from " };
            let option = |name: String| {
                let chosen = name == shown;
                view! { <option value=name.clone() selected=chosen>{name.clone()}</option> }
            };
            view! {
                <label class="asked-end">{word} <select class="field" aria-label="Receiving gateway" on:change=leave>{names.into_iter().map(option).collect_view()}</select></label>
                {destinations}
            }
        })
    }
}

/// One change, for example `/cart/*: timeout 3s → 10s`.
fn describe_change(change: &RequestChange) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".into());
    let what = match change.differences.first() {
        Some(difference) => format!("{} {} → {}", difference.what, value(&difference.before), value(&difference.after)),
        None => format!("{} → {}", change.before.summary, change.after.summary),
    };
    let more = change.differences.len().saturating_sub(1);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}: {what}{more}", change.requests)
}

/// An example request for the change.
pub fn witness(change: &RequestChange) -> WrittenRequest {
    let witness = &change.witness;
    WrittenRequest {
        method: witness.method.clone(),
        url: witness.url.clone(),
        headers: witness.headers.clone(),
        port: witness.port_after,
        // TLS without a server name must not use the URL's host.
        sni: witness.sni.clone().or(witness.tls.then(String::new)),
        source: witness.source.clone(),
        client_certificate: witness.client_certificate,
        http2: false,
    }
}

/// The effects of the edits on requests, compared with the pinned state or the opened work.
#[component]
fn Consequences(app: App) -> impl IntoView {
    let found = RwSignal::new(None::<Requests>);
    Effect::new(move |_| {
        if app.engine.generation.get() == 0 {
            return;
        }
        let other = app.compare.pinned.get().unwrap_or_else(|| app.workspace.opened.get());
        if other.files == app.workspace.files.get_untracked() {
            return found.set(None);
        }
        let compare = move || {
            spawn_local(async move {
                let answer = ask::<Comparison>(Question::Compare(Other::Work(other))).await;
                let _ = found.try_set(answer.ok().and_then(|comparison| comparison.requests));
            });
        };
        // What is stored and drawn in the same pause comes first.
        let later = move || {
            Timeout::new(LATER, move || app.engine.in_a_pause(compare)).forget();
        };
        app.engine.in_a_pause(later);
    });
    let item = move |change: RequestChange| {
        let label = describe_change(&change);
        let attempt = move |_| {
            app.requests.fill(witness(&change));
            app.screen.show(View::Try);
        };
        view! { <button class="link consequence" on:click=attempt>{words(&label)}</button> }
    };
    let suggest = move |request: WrittenRequest| {
        let path = request.url.split_once("://").map_or(request.url.as_str(), |(_, rest)| rest).to_string();
        // In Consul, the port of the connection chooses the proxy.
        let path = request.port.iter().fold(path, |path, port| format!("{path}, port {port}"));
        let label = if request.method.is_empty() || request.method == "GET" { path } else { format!("{} {path}", request.method) };
        view! { <button class="chip" title="Try this request" on:click=move |_| app.requests.fill(request.clone())>{label}</button> }
    };
    let suggested = move || {
        let others = app.requests.suggested.get().into_iter().skip(1).map(suggest).collect::<Vec<_>>();
        let label = if others.is_empty() { "Edit the YAML to see which requests change." } else { "Try: " };
        view! { <p class="consequences" role="region" aria-label="Requests to try"><span>{label}</span>{others}</p> }
    };
    // The line always has the same height, so that nothing below it moves.
    move || match found.get() {
        None => suggested().into_any(),
        Some(Requests { changes, compared, limits }) => {
            let (count, since) = (changes.len(), if app.compare.pinned.with(Option::is_some) { "the pinned state" } else { "it was opened" });
            let tried = if compared == 1 { "1 request".to_string() } else { format!("{compared} requests") };
            let rest = match count.saturating_sub(MOST) {
                _ if count == 0 && compared == 0 && !limits.is_empty() => format!("No request was simulated. {}", limits.join(" ")),
                _ if count == 0 => format!("No request changes since {since}: {tried} simulated."),
                0 => format!("; {tried} simulated since {since}"),
                more => format!("; and {more} more of {tried} simulated"),
            };
            let all = (count > 0).then(|| view! { <button class="quiet" on:click=move |_| app.screen.show(View::Compare)>"Compare"</button> });
            view! { <p class="consequences" role="status">{changes.into_iter().take(MOST).map(item).collect_view()}<span class="consequences-rest">{rest}</span>{all}</p> }.into_any()
        }
    }
}
