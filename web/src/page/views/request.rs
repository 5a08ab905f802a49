//! The view of requests: the form, saved requests, and the simulated steps. Does not simulate requests; see `worker`.

use super::markdown::words;
use super::tree::open_place;
use super::{output, source};
use crate::bridge;
use crate::host::real::Real;
use crate::link::{Silence, ask};
use crate::requests::Requests;
use crate::state::App;
use chancery_web::protocol::{Doc, Hop, Question, Reason, Sent, Step, Target, Tried, Wanting, Way, WrittenRequest};
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;

/// The suggested methods.
pub const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// If there are more candidates, those that only fail by path are folded.
const MANY: usize = 8;

#[component]
pub fn RequestView(app: App) -> impl IntoView {
    let requests = app.requests;
    let answer = move || match requests.way.get() {
        None => view! { <p class="empty">"Write a URL, or paste a " <code>"curl"</code> " command, to simulate the request."</p> }.into_any(),
        Some(Err(why)) => view! { <p class="empty wrong-request">{words(&why)}</p> }.into_any(),
        Some(Ok(way)) => view! { <Answer app=app way=way /> }.into_any(),
    };
    view! {
        <Form app=app />
        <div class="scroll" tabindex="0" role="group" aria-label="Result of the request">
            <Kept app=app />
            {answer}
        </div>
    }
}

/// The method of the request.
#[component]
pub fn MethodChoice(requests: Requests) -> impl IntoView {
    let method = move || requests.form.with(|form| if form.method.is_empty() { "GET".to_string() } else { form.method.clone() });
    let methods = move || {
        let mine = method();
        let other = (!METHODS.contains(&mine.as_str())).then(|| mine.clone());
        METHODS
            .into_iter()
            .map(str::to_string)
            .chain(other)
            .map(|name| {
                let chosen = name == mine;
                view! { <option value=name.clone() selected=chosen>{name.clone()}</option> }
            })
            .collect_view()
    };
    view! {
        <select class="field method" aria-label="Method" prop:value=method on:change=move |event| requests.form.update(|form| form.method = event_target_value(&event))>{methods}</select>
    }
}

/// The parts of the request except method and URL, each with a button that removes it.
#[component]
pub fn RequestChips(requests: Requests) -> impl IntoView {
    let chip = move |label: String, remove: Callback<()>| {
        view! {
            <span class="chip request-chip"><span class="request-chip-text" title=label.clone()>{label.clone()}</span>
                <button class="quiet" aria-label=format!("Remove {label}") on:click=move |_| remove.run(())>"×"</button>
            </span>
        }
    };
    move || {
        let form = requests.form.get();
        let mut chips = Vec::new();
        for (at, (name, value)) in form.headers.iter().enumerate() {
            let remove = Callback::new(move |()| requests.change(|form| drop((at < form.headers.len()).then(|| form.headers.remove(at)))));
            chips.push(chip(format!("{name}: {value}"), remove));
        }
        let others = [
            (form.port.map(|port| format!("port {port}")), Callback::new(move |()| requests.change(|form| form.port = None))),
            (
                form.sni.as_ref().map(|name| format!("server name {}", if name.is_empty() { "none" } else { name.as_str() })),
                Callback::new(move |()| requests.change(|form| form.sni = None)),
            ),
            (form.source.as_ref().map(|source| format!("from {source}")), Callback::new(move |()| requests.change(|form| form.source = None))),
            (
                form.client_certificate.then(|| "client certificate".to_string()),
                Callback::new(move |()| requests.change(|form| form.client_certificate = false)),
            ),
            (form.http2.then(|| "HTTP/2".to_string()), Callback::new(move |()| requests.change(|form| form.http2 = false))),
        ];
        chips.extend(others.into_iter().filter_map(|(label, remove)| Some(chip(label?, remove))));
        chips
    }
}

#[component]
fn Form(app: App) -> impl IntoView {
    let requests = app.requests;
    let is_curl = |text: &str| text.trim_start().starts_with("curl ");
    let pasted = move |event: web_sys::ClipboardEvent| {
        let text = event.clipboard_data().and_then(|data| data.get_data("text").ok()).unwrap_or_default();
        if is_curl(&text) {
            event.prevent_default();
            requests.take_curl(text);
        }
    };
    let entered = move |event: KeyboardEvent| {
        let text = requests.form.with_untracked(|form| form.url.clone());
        if event.key() == "Enter" && is_curl(&text) {
            requests.take_curl(text);
        }
    };
    let keep = move |_| match requests.way.get_untracked() {
        Some(Ok(way)) => requests.keep(way.ending),
        _ => app.screen.say("There is no request to save yet"),
    };
    view! {
        <div class="bar request-bar">
            <MethodChoice requests=requests />
            <input
                class="field grow url" type="text" inputmode="url" spellcheck="false" autocomplete="off" placeholder=move || format!("{}, or a curl command", requests.hint()) aria-label="URL, or a curl command"
                prop:value=move || requests.form.with(|form| form.url.clone())
                on:input=move |event| requests.type_url(event_target_value(&event)) on:paste=pasted on:keydown=entered
            />
            <button class="quiet" aria-pressed=move || requests.wide.get().to_string() aria-expanded=move || requests.wide.get().to_string() on:click=move |_| requests.wide.update(|wide| *wide = !*wide)>"Headers, TLS"</button>
            <button class="button" title="Run it after each edit, and mark it red if the result changes" on:click=keep>"Keep as test"</button>
        </div>
        {move || requests.wide.get().then(|| view! { <Wide requests=requests /> })}
    }
}

/// Treats an empty text as missing.
fn non_empty(text: String) -> Option<String> {
    Some(text.trim().to_string()).filter(|text| !text.is_empty())
}

#[component]
fn Wide(requests: Requests) -> impl IntoView {
    let form = requests.form;
    let text = move |label: &'static str, hint: &'static str, get: fn(&WrittenRequest) -> String, set: fn(&mut WrittenRequest, Option<String>)| {
        view! {
            <label class="input">
                <span>{label}</span>
                <input class="field" type="text" spellcheck="false" autocomplete="off" placeholder=hint prop:value=move || form.with(get) on:change=move |event| form.update(|form| set(form, non_empty(event_target_value(&event)))) />
            </label>
        }
    };
    let check = move |label: &'static str, get: fn(&WrittenRequest) -> bool, set: fn(&mut WrittenRequest, bool)| {
        view! {
            <label class="check"><input type="checkbox" prop:checked=move || form.with(get) on:change=move |event| form.update(|form| set(form, event_target_checked(&event))) />{label}</label>
        }
    };
    view! {
        <div class="wide">
            <label class="input wide-headers">
                <span>"Headers, one per line"</span>
                <textarea class="field" rows="3" spellcheck="false" placeholder="x-version: 2" prop:value=move || requests.headers.get() on:input=move |event| requests.type_headers(event_target_value(&event))></textarea>
            </label>
            <div class="inputs">
                {text("Server name (SNI)", "from the URL", |form| form.sni.clone().unwrap_or_default(), |form, value| form.sni = value)}
                {text("Port", "any matching port", |form| form.port.map(|port| port.to_string()).unwrap_or_default(), |form, value| form.port = value.and_then(|value| value.parse().ok()))}
                {text("Source address", "any", |form| form.source.clone().unwrap_or_default(), |form, value| form.source = value)}
                <div class="checks">
                    {check("HTTP/2", |form| form.http2, |form, value| form.http2 = value)}
                    {check("client certificate", |form| form.client_certificate, |form, value| form.client_certificate = value)}
                </div>
            </div>
        </div>
    }
}

/// The request on one line.
fn request_line(request: &WrittenRequest) -> String {
    format!("{} {}", if request.method.is_empty() { "GET" } else { &request.method }, request.url)
}

/// Saves the requests as a file of `chancery test`.
fn export(app: App) {
    let saved = app.requests.saved.get_untracked();
    spawn_local(async move {
        match ask::<String>(Question::Tests(saved)).await {
            Ok(text) => bridge::save("requests.yaml", "application/yaml", &text),
            Err(Silence::Refused(why)) => app.screen.say(why),
            Err(Silence::Ended) => {}
        }
    });
}

/// The saved requests and their results.
#[component]
fn Kept(app: App) -> impl IntoView {
    let requests = app.requests;
    let rows = move || {
        let verdicts = requests.verdicts.get();
        let row = |(at, saved): (usize, chancery_web::protocol::SavedRequest)| {
            let verdict = verdicts.get(at).cloned();
            let holds = verdict.as_ref().map(|verdict| verdict.holds);
            let (class, mark, word) = match holds {
                Some(true) => ("kept holds", "✓", "as expected"),
                Some(false) => ("kept fails", "✗", "not as expected"),
                None => ("kept", "·", "not run yet"),
            };
            let request = saved.request.clone();
            let label = request_line(&saved.request);
            let chosen = {
                let request = request.clone();
                move || requests.form.with(|form| *form == request)
            };
            let result = verdict.map(|verdict| match verdict.holds {
                true => view! { <span class="kept-result">{words(&verdict.now)}</span> }.into_any(),
                false => view! {
                    <span class="kept-result"><span class="kept-now">{words(&verdict.now)}</span> <span class="kept-expected">{words(&format!("expected: {}", verdict.expected))}</span></span>
                    {verdict.ending.is_some().then(|| view! { <button class="chip" title="Expect this result from now on" on:click=move |_| requests.accept(at)>"Accept"</button> })}
                }
                .into_any(),
            });
            view! {
                <li class=class class:chosen=chosen>
                    <span class="kept-mark" role="img" aria-label=word>{mark}</span>
                    <button class="kept-line" on:click=move |_| requests.fill(request.clone())>{label.clone()}</button>
                    {result}
                    <button class="quiet kept-forget" title="Remove" aria-label=format!("Remove {label}") on:click=move |_| requests.forget(at)>"×"</button>
                </li>
            }
        };
        requests.saved.get().into_iter().enumerate().map(row).collect_view()
    };
    move || {
        (!requests.saved.with(Vec::is_empty)).then(|| {
            view! {
                <section class="keeps" aria-label="Saved requests">
                    <div class="keeps-head">
                        <h2 class="group-name">{move || {
                            let (bad, all) = requests.count();
                            match (bad, all) {
                                (0, all) => format!("{all} saved, all as expected"),
                                (bad, all) => format!("{bad} of {all} saved requests fail"),
                            }
                        }}</h2>
                        <button class="quiet" title="Save as a file for `chancery test`, without credentials" on:click=move |_| export(app)>"Export as tests"</button>
                    </div>
                    <ul>{rows}</ul>
                </section>
            }
        })
    }
}

#[component]
fn Answer(app: App, way: Way) -> impl IntoView {
    let Way { headline, ending, good, gateway, steps, hosts, wanting, reasons, notes, then, .. } = way;
    let forwards = ending.outcome == chancery_web::protocol::Outcome::Forward;
    let at = gateway.map(|gateway| format!("{gateway} receives it. ")).unwrap_or_default();
    let (first, second) = if forwards { (headline, format!("{at}The request {}", ending.summary())) } else { (headline, at) };
    view! {
        <p class="verdict" class:good=good role="status"><span class="verdict-mark" aria-hidden="true">{if good { "→" } else { "✗" }}</span><span>{words(&first)}</span></p>
        {(!second.is_empty()).then(|| view! { <p class="verdict-second">{words(&second)}</p> })}
        <Real app=app />
        <Reasons app=app reasons=reasons />
        <Nearest app=app hosts=hosts wanting=wanting />
        <ol class="way">{steps.into_iter().map(|step| view! { <Stair app=app step=step /> }).collect_view()}</ol>
        {then.into_iter().map(|hop| view! { <Onward app=app hop=hop /> }).collect_view()}
        {notes.into_iter().map(|note| view! { <p class="notice-line warn way-note">{words(&note)}</p> }).collect_view()}
    }
}

/// The next gateway on the request's way.
#[component]
fn Onward(app: App, hop: Hop) -> impl IntoView {
    let Hop { gateway, result, good, steps } = hop;
    view! {
        <h2 class="group-name onward">"then " {gateway}</h2>
        <p class="verdict-second" class:bad=!good>{words(&format!("The request {result}"))}</p>
        <ol class="way">{steps.into_iter().map(|step| view! { <Stair app=app step=step /> }).collect_view()}</ol>
    }
}

/// Why the route returns an error.
#[component]
fn Reasons(app: App, reasons: Vec<Reason>) -> impl IntoView {
    let reason = move |of: Reason| {
        view! {
            <li class="wanting">
                <span class=format!("state {}", of.severity)>{of.severity.clone()}</span> " " {words(&of.message)} " "
                {of.span.map(|span| source(app, span))}
            </li>
        }
    };
    (!reasons.is_empty()).then(|| view! { <ul>{reasons.into_iter().map(reason).collect_view()}</ul> })
}

/// If no route matches: resources for the host that are not served, and the served hosts.
#[component]
fn Nearest(app: App, hosts: Vec<String>, wanting: Vec<Wanting>) -> impl IntoView {
    let wanted = move |of: Wanting| {
        view! {
            <li class="wanting">
                <span class=format!("state {}", of.state)>{of.state.clone()}</span> <strong>{of.resource}</strong> " is for this host. "
                {of.why.iter().map(|why| words(&format!("{why} "))).collect_view()}
                {of.span.map(|span| source(app, span))}
            </li>
        }
    };
    let host = move |url: String| {
        let ask = {
            let url = url.clone();
            move |_| app.requests.type_url(url.clone())
        };
        view! { <button class="chip" title="Try a request for this host" on:click=ask>{url}</button> }
    };
    let served = (!hosts.is_empty()).then(|| view! { <p class="nearest">"Served hosts: " {hosts.into_iter().map(host).collect_view()}</p> });
    let wanting = (!wanting.is_empty()).then(|| view! { <ul>{wanting.into_iter().map(wanted).collect_view()}</ul> });
    view! { {wanting} {served} }
}

/// Whether a bootstrap pointer belongs to the selection.
fn is_lit(app: App, pointer: Option<&String>) -> bool {
    pointer.is_some_and(|pointer| app.selection.has_place(|place| place == pointer))
}

fn select(app: App, pointer: Option<String>) {
    if let Some(pointer) = pointer {
        app.selection.select(Target::Place { doc: Doc::Envoy, pointer });
    }
}

#[component]
fn Stair(app: App, step: Step) -> impl IntoView {
    let Step { what, name, lost, pointer, spans, facts, tried, sent, settings, .. } = step;
    let lit = {
        let pointer = pointer.clone();
        move || is_lit(app, pointer.as_ref())
    };
    let step_pointer = pointer.clone();
    let title = match pointer.clone() {
        Some(pointer) => {
            let at = pointer.clone();
            view! {
                <button class="stair-name" on:click=move |_| select(app, Some(at.clone()))>{if name.is_empty() { "—".to_string() } else { name }}</button>
                <span class="stair-end">
                    {spans.into_iter().map(|span| source(app, span)).collect_view()}
                    <button class="quiet" title="Show in the gateway's configuration" on:click=move |_| open_place(app, pointer.clone())>{output(app)}</button>
                </span>
            }
            .into_any()
        }
        None => view! {
            <span class="stair-name plain">{name}</span>
            <span class="stair-end">{spans.into_iter().map(|span| source(app, span)).collect_view()}</span>
        }
        .into_any(),
    };
    // A setting is a field of the step's part; a route has its settings below its action.
    let holder = step_pointer.map(|pointer| if pointer.contains("/routes/") { format!("{pointer}/route") } else { pointer });
    let setting = move |(name, value): (String, String)| {
        let is_field = holder.is_some() && name.bytes().all(|of| of.is_ascii_lowercase() || matches!(of, b'_' | b'.'));
        let place = holder.as_ref().filter(|_| is_field).map(|holder| format!("{holder}/{}", name.replace('.', "/")));
        let value = match place {
            Some(pointer) => {
                let show = move |_| app.selection.select(Target::Place { doc: Doc::Envoy, pointer: pointer.clone() });
                view! { <button class="link" title="Show where this value comes from" on:click=show>{value}</button> }.into_any()
            }
            None => value.into_any(),
        };
        view! { <div><dt>{name}</dt><dd>{value}</dd></div> }
    };
    view! {
        <li class="stair" class:lost=lost class:lit=lit>
            <div class="stair-head"><span class="stair-what">{what}</span>{title}</div>
            {(!tried.is_empty()).then(|| view! { <Losers app=app tried=tried /> })}
            {facts.into_iter().map(|sentence| view! { <p class="stair-fact">{words(&sentence)}</p> }).collect_view()}
            {(!sent.is_empty()).then(|| view! { <div class="sent">{sent.into_iter().map(sent_line).collect_view()}</div> })}
            {(!settings.is_empty()).then(|| view! {
                <dl class="settings">{settings.into_iter().map(setting).collect_view()}</dl>
            })}
        </li>
    }
}

fn sent_line(sent: Sent) -> impl IntoView {
    let class = match sent.sign.as_str() {
        "+" => "sent-line added",
        "-" => "sent-line removed",
        _ => "sent-line",
    };
    let sign = if sent.sign == "-" {
        "−"
    } else if sent.sign == "+" {
        "+"
    } else {
        " "
    };
    view! { <div class=class><span class="sent-sign">{sign}</span><span>{sent.line}</span><span class="sent-by">{sent.by}</span></div> }
}

/// The candidates before the match, and why they did not match.
#[component]
fn Losers(app: App, tried: Vec<Tried>) -> impl IntoView {
    // Routes without a number are built in, where routes have numbers.
    let has_numbers = tried.iter().any(|tried| tried.number > 0);
    let folds_far = tried.len() > MANY;
    let is_built_in = move |tried: &Tried| has_numbers && tried.number == 0;
    let is_folded = move |tried: &Tried| !tried.taken && (is_built_in(tried) || folds_far && tried.far);
    let built_in = tried.iter().filter(|tried| !tried.taken && is_built_in(tried)).count();
    let far = tried.iter().filter(|tried| is_folded(tried) && !is_built_in(tried)).count();
    let routes = |count: usize, what: &str| if count == 1 { format!("1 {what}route") } else { format!("{count} {what}routes") };
    let folded = match (built_in, far) {
        (_, 0) => format!("{} did not match", routes(built_in, "built-in ")),
        (0, _) => format!("{} whose path does not match", routes(far, "more ")),
        _ => format!("{}, and {} whose path does not match", routes(built_in, "built-in "), routes(far, "more ")),
    };
    let open = RwSignal::new(built_in + far == 0);
    let tried = StoredValue::new(tried);
    let rows = move || {
        let open = open.get();
        tried.get_value().into_iter().filter(|tried| open || !is_folded(tried)).map(|tried| view! { <Loser app=app tried=tried /> }).collect_view()
    };
    view! {
        {move || (!open.get()).then(|| view! {
            <button class="link stair-more" on:click=move |_| open.set(true)>{folded.clone()}</button>
        })}
        <ul class="tried-list">{rows}</ul>
    }
}

#[component]
fn Loser(app: App, tried: Tried) -> impl IntoView {
    let Tried { number, name, taken, matcher, expected, seen, pointer, span, .. } = tried;
    let number = (number > 0).then(|| view! { <span class="tried-number" title="Its number in Routes">{number}</span> });
    let lit = {
        let pointer = pointer.clone();
        move || is_lit(app, pointer.as_ref())
    };
    let why = (!taken).then(|| {
        // A condition that does not look at the request has a full sentence.
        let sentence = if matcher.is_empty() { expected.clone() } else { String::new() };
        let wants = (!matcher.is_empty()).then(|| view! { <span>{matcher}</span> " expects " <code class="wanted">{expected}</code> ", " });
        let saw = match seen {
            _ if !sentence.is_empty() => sentence.into_any(),
            Some(seen) => view! { "got " <code class="saw">{seen}</code> }.into_any(),
            None => view! { "there is no value" }.into_any(),
        };
        view! { <span class="tried-why">{wants}{saw}</span> }
    });
    let click = {
        let pointer = pointer.clone();
        move |_| select(app, pointer.clone())
    };
    let title = match &pointer {
        Some(_) => view! { <button class="tried-name" on:click=click>{name}</button> }.into_any(),
        None => view! { <span class="tried-name">{name}</span> }.into_any(),
    };
    view! {
        <li class="tried" class:taken=taken class:lit=lit>
            <span class="tried-mark" role="img" aria-label=if taken { "matched" } else { "not matched" }>{if taken { "✓" } else { "✗" }}</span>
            {number} {title} {why}
            {span.map(|span| source(app, span))}
        </li>
    }
}
