//! The view of differences from another state: requests first, then resources, then Envoy's configuration. Does not find the differences; see
//! `worker`.

use super::asked::witness;
use super::markdown::words;
use super::migration::Moved;
use crate::compare::{CompareTarget, Tab, call_tabs, follow};
use crate::engine::reads_ingress_nginx;
use crate::state::App;
use crate::view::View;
use chancery_web::protocol::{Change, Comparison, Difference, FieldChange, From, NewController, RequestChange, Requests};
use leptos::prelude::*;

/// The largest number of listed changes per section.
const MOST: usize = 300;

/// The number of fields to show at first per change.
const MOST_FIELDS: usize = 12;

#[component]
pub fn CompareView(app: App) -> impl IntoView {
    let compare = app.compare;
    follow(app.compare);
    let choose = move |event| {
        let value = event_target_value(&event);
        compare.with.set(match value.as_str() {
            "opened" => CompareTarget::Opened,
            "pinned" => CompareTarget::Pinned,
            "text" => CompareTarget::Text,
            "envoy-gateway" => CompareTarget::Moved(NewController::EnvoyGateway),
            "contour" => CompareTarget::Moved(NewController::Contour),
            id => CompareTarget::Tab(id.into()),
        });
    };
    let chosen = move || match compare.with.get() {
        CompareTarget::Opened => "opened".to_string(),
        CompareTarget::Pinned => "pinned".into(),
        CompareTarget::Text => "text".into(),
        CompareTarget::Tab(id) => id,
        CompareTarget::Moved(to) => to.dialect().into(),
    };
    let moves = move || {
        let is_nginx = app.engine.compiled.with(reads_ingress_nginx);
        let option = |to: NewController| view! { <option value=to.dialect() selected=move || chosen() == to.dialect()>{format!("a move to {}", to.label())}</option> };
        is_nginx.then(|| view! { <optgroup label="Move to…">{NewController::ALL.map(option).collect_view()}</optgroup> })
    };
    let tabs = move || {
        let option =
            |tab: Tab| view! { <option value=tab.id.clone() selected=move || chosen() == tab.id>{format!("another tab: {}", tab.title)}</option> };
        compare.tabs.get().into_iter().map(option).collect_view()
    };
    let compared = move || match compare.found.get() {
        Some(Ok(found)) => view! { <Found app=app found=found /> }.into_any(),
        Some(Err(why)) => view! { <p class="empty wrong-request">{words(&why)}</p> }.into_any(),
        None => {
            let word = match compare.with.get() {
                CompareTarget::Pinned => "Nothing is pinned yet. Pin this state, then edit to see the changes here.",
                CompareTarget::Text => {
                    "Paste the response of Envoy's /config_dump, a bootstrap, a snapshot, a link, or resources. You can also drop a JSON file."
                }
                CompareTarget::Tab(_) => "That tab was closed.",
                CompareTarget::Opened | CompareTarget::Moved(_) => "",
            };
            view! { <p class="empty">{word}</p> }.into_any()
        }
    };
    let body = move || match compare.with.get() {
        CompareTarget::Moved(to) => match compare.moved.get().filter(|(of, _)| *of == to).map(|(_, moved)| moved) {
            Some(Ok(moved)) => view! { <Moved app=app moved=moved to=to /> }.into_any(),
            Some(Err(why)) => view! { <p class="empty wrong-request">{words(&why)}</p> }.into_any(),
            None => view! { <p class="empty">"Converting, and trying requests on both sides…"</p> }.into_any(),
        },
        _ => compared().into_any(),
    };
    view! {
        <div class="bar">
            <label class="bar-label" for="compare-with">"Compare with"</label>
            <select id="compare-with" class="field" on:change=choose on:focus=move |_| call_tabs(app.compare)>
                <option value="opened" selected=move || chosen() == "opened">"the opened work"</option>
                <option value="pinned" selected=move || chosen() == "pinned">"the pinned state"</option>
                {tabs}
                <option value="text" selected=move || chosen() == "text">"a config dump or other text"</option>
                {moves}
            </select>
            <button class="button" title="Keep this state for comparison" on:click=move |_| app.browser_storage.pin()>"Pin this state"</button>
        </div>
        {move || (compare.with.get() == CompareTarget::Text).then(|| view! {
            <div class="wide">
                <textarea
                    class="field dump" rows="4" spellcheck="false" aria-label="Config dump, bootstrap, snapshot, link or resources" placeholder="curl -s localhost:8001/config_dump"
                    prop:value=move || compare.text.get() on:input=move |event| compare.text.set(event_target_value(&event))
                ></textarea>
            </div>
        })}
        <div class="scroll" tabindex="0" role="group" aria-label="Differences">{body}</div>
    }
}

/// A summary, for example `2 added, 1 changed`.
fn summary(changes: &[Change]) -> String {
    let kinds = ["added", "removed", "changed", "renamed", "moved"];
    let counts = kinds.map(|kind| (changes.iter().filter(|change| change.change == kind).count(), kind));
    counts.iter().filter(|(count, _)| *count > 0).map(|(count, kind)| format!("{count} {kind}")).collect::<Vec<_>>().join(", ")
}

#[component]
fn Found(app: App, found: Comparison) -> impl IntoView {
    let Comparison { with, resources, envoy, requests, notes } = found;
    let against = if with.is_empty() { String::new() } else { format!(" Compared with {with}.") };
    let changes = requests.as_ref().map(|requests| requests.changes.len());
    let untried = requests.as_ref().is_some_and(|requests| requests.compared == 0 && !requests.limits.is_empty());
    let (good, verdict) = match (changes, resources.is_empty(), envoy.is_empty()) {
        (_, true, true) if notes.is_empty() => (true, "Nothing differs.".to_string()),
        (_, true, true) => (true, "No compared part differs.".into()),
        (_, false, true) => (true, "Resources differ, but the gateway's configuration is the same.".into()),
        (Some(0), ..) if untried => (false, "The gateway's configuration changes; no request was simulated.".into()),
        (Some(0), ..) => (true, "The gateway's configuration changes; no simulated request does.".into()),
        (Some(1), ..) => (false, "Requests change in one way.".into()),
        (Some(ways), ..) => (false, format!("Requests change in {ways} ways.")),
        (None, ..) => (false, "The gateway's configuration changes.".into()),
    };
    let (verdict, nothing) = (verdict + &against, resources.is_empty() && envoy.is_empty());
    let section = move |title: &'static str, changes: Vec<Change>| {
        (!changes.is_empty()).then(|| {
            let more = changes.len().saturating_sub(MOST);
            view! {
                <section class="group changes">
                    <h2 class="group-name">{title}" "<span class="count">{summary(&changes)}</span></h2>
                    <ul>{changes.into_iter().take(MOST).map(|change| view! { <OneChange app=app change=change /> }).collect_view()}</ul>
                    {(more > 0).then(|| view! { <p class="empty">{format!("and {more} more")}</p> })}
                </section>
            }
        })
    };
    view! {
        <p class="verdict" class:good=good role="status"><span class="verdict-mark" aria-hidden="true">{if good { "=" } else { "≠" }}</span><span>{verdict}</span></p>
        {notes.into_iter().map(|note| view! { <p class="notice-line warn way-note">{words(&note)}</p> }).collect_view()}
        {requests.filter(|_| !nothing).map(|requests| view! { <ChangedRequests app=app requests=requests /> })}
        {section("Resources", resources)}
        {section("The gateway's configuration", envoy)}
    }
}

#[component]
fn ChangedRequests(app: App, requests: Requests) -> impl IntoView {
    let Requests { changes, compared, limits } = requests;
    let tried = match compared {
        0 if !changes.is_empty() => "found by comparing settings; no request was simulated".to_string(),
        0 if limits.is_empty() => "no setting that affects them differs".to_string(),
        1 => "1 request simulated".into(),
        count => format!("{count} requests simulated"),
    };
    view! {
        <section class="group changes">
            <h2 class="group-name">"Requests"<span class="count">{tried}</span></h2>
            <ul>{changes.into_iter().take(MOST).map(|change| view! { <OneRequest app=app change=change /> }).collect_view()}</ul>
            {limits.into_iter().map(|limit| view! { <p class="notice-line way-note">{words(&limit)}</p> }).collect_view()}
        </section>
    }
}

#[component]
fn OneRequest(app: App, change: RequestChange) -> impl IntoView {
    let asked = witness(&change);
    let RequestChange { requests, differences, before, after, .. } = change;
    let change = FieldChange {
        path: String::new(),
        before: Some(before.summary),
        after: Some(after.summary),
        before_from: None,
        after_from: after.origins.into_iter().find(|from| from.span.is_some()),
    };
    let same = change.before == change.after;
    let one = |difference: Difference| {
        let Difference { what, before, after, before_from, after_from } = difference;
        view! { <OneField app=app field=FieldChange { path: what, before, after, before_from, after_from } /> }
    };
    let source = line_of(app, change.after_from.clone());
    let attempt = move |_| {
        app.requests.fill(asked.clone());
        app.screen.show(View::Try);
    };
    view! {
        <li class="change changed">
            <div class="change-head">
                <span class="change-sign" role="img" aria-label="changed">"~"</span>
                <span class="change-name">{requests}</span>
                <span class="stair-end">{source}<button class="chip" title="Try one of these requests" on:click=attempt>"Try"</button></span>
            </div>
            <div class="change-fields">
                {(!same).then(|| view! { <OneField app=app field=change /> })}
                {differences.into_iter().take(MOST_FIELDS).map(one).collect_view()}
            </div>
        </li>
    }
}

fn line_of(app: App, from: Option<From>) -> Option<impl IntoView> {
    from.and_then(|from| from.span).map(|span| source_chip(app, span))
}

#[component]
fn OneChange(app: App, change: Change) -> impl IntoView {
    let Change { change: what, kind, name, was, note, fields, after, .. } = change;
    let sign = match what.as_str() {
        "added" => "+",
        "removed" => "−",
        "changed" => "~",
        _ => "›",
    };
    let note = note.map(|note| format!("; {note}")).unwrap_or_default();
    let was = was.map(|was| view! { <span class="change-was">{format!("{} {was}{note}", if what == "renamed" { "was" } else { "from" })}</span> });
    let source = after.into_iter().find_map(|from| from.span).map(|span| source_chip(app, span));
    let more = fields.len().saturating_sub(MOST_FIELDS);
    let open = RwSignal::new(false);
    let fields = StoredValue::new(fields);
    let rows = move || {
        let most = if open.get() { usize::MAX } else { MOST_FIELDS };
        fields.get_value().into_iter().take(most).map(|field| view! { <OneField app=app field=field /> }).collect_view()
    };
    view! {
        <li class=format!("change {what}")>
            <div class="change-head">
                <span class="change-sign" role="img" aria-label=what.clone()>{sign}</span>
                <span class="change-kind">{kind}</span> <span class="change-name">{name}</span> {was}
                <span class="stair-end">{source}</span>
            </div>
            <div class="change-fields">{rows}</div>
            {move || (more > 0 && !open.get()).then(|| view! { <button class="link stair-more" on:click=move |_| open.set(true)>{format!("{more} more fields")}</button> })}
        </li>
    }
}

pub(super) fn source_chip(app: App, span: chancery_web::protocol::Span) -> impl IntoView {
    let label = format!("{}:{}", span.file, span.line);
    view! { <button class="chip source" on:click=move |_| app.selection.go(&span)>{label}</button> }
}

#[component]
fn OneField(app: App, field: FieldChange) -> impl IntoView {
    let side = move |sign: &'static str, class: &'static str, value: Option<String>, from: Option<From>| {
        value.map(|value| {
            let source = from.and_then(|from| from.span).map(|span| source_chip(app, span));
            view! { <div class=class><span class="sent-sign">{sign}</span><code>{value}</code>{source}</div> }
        })
    };
    let FieldChange { path, before, after, after_from, .. } = field;
    view! {
        <div class="change-field">
            {(!path.is_empty()).then(|| view! { <span class="change-path">{path}</span> })}
            {side("−", "change-side removed", before, None)}
            {side("+", "change-side added", after, after_from)}
        </div>
    }
}
