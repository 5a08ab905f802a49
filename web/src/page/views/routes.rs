//! The routes of all gateways, in the order in which each tries them.
//!
//! What must not be here: which route takes a request.

use super::tree::open_place;
use super::{output, why_not};
use crate::link::ask;
use crate::state::App;
use chancery_web::protocol::{Doc, Question, RouteRow, Target, key_of_route};
use leptos::prelude::*;
use leptos::task::spawn_local;
use std::collections::HashSet;

/// Rows that are drawn at most; a filter finds the others.
const MOST: usize = 400;

/// Routes under one heading.
type Section = (String, String, Vec<RouteRow>);

/// Which routes are looked for.
#[derive(Clone, PartialEq)]
enum RouteFilter {
    /// Those that have this in their words.
    Words(String),
    /// Those that take a path: by where they stand.
    Taking(HashSet<String>),
}

/// A host, if there is one, and a path, as people write them; nothing for what is no request.
fn request_of(text: &str) -> Option<(Option<String>, String)> {
    let text = text.trim();
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let (host, _) = rest.split_once('/').filter(|_| !text.contains(char::is_whitespace))?;
    Some((Some(host.to_string()).filter(|host| !host.is_empty()), rest[host.len()..].to_string()))
}

fn sections(rows: &[RouteRow], wanted: &RouteFilter, built_in: bool) -> (Vec<Section>, usize) {
    let has = |row: &RouteRow, words: &str| {
        let text = format!(
            "{} {} {} {} {}",
            row.path,
            row.told,
            row.domains.join(" "),
            row.conditions.join(" "),
            row.made_by.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        );
        text.to_lowercase().contains(&words.to_lowercase())
    };
    let fits = |row: &&RouteRow| {
        let fits = match wanted {
            RouteFilter::Words(words) => words.is_empty() || has(row, words),
            RouteFilter::Taking(places) => places.contains(&key_of_route(row.gateway.as_ref(), &row.pointer)),
        };
        fits && (built_in || !row.made_by.is_empty())
    };
    let (mut out, mut hidden) = (Vec::<Section>::new(), 0);
    for (at, row) in rows.iter().filter(fits).enumerate() {
        if at >= MOST {
            hidden += 1;
            continue;
        }
        let of = row.of.as_ref().map(|of| format!("{of} · ")).unwrap_or_default();
        let outer = format!("{of}{} · {}", row.listener, row.address);
        let inner = [row.domains.join(", "), row.chain.clone()].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" · ");
        match out.last_mut() {
            Some((known, host, all)) if *known == outer && *host == inner => all.push(row.clone()),
            _ => out.push((outer, inner, vec![row.clone()])),
        }
    }
    (out, hidden)
}

/// The routes that are shown, and the filter. Copies are the same.
#[derive(Clone, Copy)]
struct Filter {
    rows: RwSignal<Vec<RouteRow>>,
    text: RwSignal<String>,
    /// Whether what looks like a request is to be found as text.
    as_words: RwSignal<bool>,
    wanted: RwSignal<RouteFilter>,
    built_in: RwSignal<bool>,
    request: Memo<Option<(Option<String>, String)>>,
}

impl Filter {
    fn new(app: App) -> Self {
        let (text, as_words) = (RwSignal::new(String::new()), RwSignal::new(false));
        let filter = Self {
            rows: RwSignal::new(Vec::new()),
            text,
            as_words,
            wanted: RwSignal::new(RouteFilter::Words(String::new())),
            built_in: RwSignal::new(false),
            request: Memo::new(move |_| text.with(|text| request_of(text)).filter(|_| !as_words.get())),
        };
        filter.follow(app);
        filter
    }

    /// Follows compiles, and asks which routes take a request that is typed.
    fn follow(self, app: App) {
        let Self { rows, text, wanted, request, .. } = self;
        Effect::new(move |_| {
            app.engine.generation.track();
            spawn_local(async move {
                if let Ok(answer) = ask::<Vec<RouteRow>>(Question::Routes).await {
                    let _ = rows.try_set(answer);
                }
            });
        });
        Effect::new(move |_| {
            app.engine.generation.track();
            let asked = request.get();
            let Some((host, path)) = asked.clone() else { return wanted.set(RouteFilter::Words(text.get())) };
            spawn_local(async move {
                if let Ok(places) = ask::<HashSet<String>>(Question::RoutesFor { host, path }).await
                    && request.try_get_untracked() == Some(asked)
                {
                    wanted.set(RouteFilter::Taking(places));
                }
            });
        });
    }

    fn type_text(self, text: String) {
        self.text.set(text);
        self.as_words.set(false);
    }

    /// How many routes the controller adds by itself.
    fn built_in_count(self) -> usize {
        self.rows.with(|rows| rows.iter().filter(|row| row.made_by.is_empty()).count())
    }

    /// Why there is nothing to show.
    fn nothing(self, app: App) -> &'static str {
        match (self.rows.with(Vec::is_empty), self.built_in_count() > 0) {
            _ if app.engine.generation.get() == 0 => "The first compile is under way.",
            (true, _) => "Envoy has no route: nothing in the editor makes one.",
            (false, true) if self.text.with(String::is_empty) => {
                "Envoy has only routes that the controller adds by itself. The button above shows them."
            }
            (false, _) => "No route fits the filter.",
        }
    }
}

/// The view.
#[component]
pub fn RoutesView(app: App) -> impl IntoView {
    let filter = Filter::new(app);
    let shown = Memo::new(move |_| filter.rows.with(|rows| filter.wanted.with(|wanted| sections(rows, wanted, filter.built_in.get()))));
    let body = move || {
        let (sections, hidden) = shown.get();
        if sections.is_empty() {
            return view! { <p class="empty">{filter.nothing(app)}</p> }.into_any();
        }
        let more = (hidden > 0).then(|| view! { <p class="empty">{format!("{hidden} more routes: type into the filter to find them.")}</p> });
        view! { <div>{tables(app, sections)} {more}</div> }.into_any()
    };
    let built_in = move || {
        let count = filter.built_in_count();
        let toggle = move |_| filter.built_in.update(|shown| *shown = !*shown);
        (count > 0).then(|| view! {
            <button class="quiet" aria-pressed=move || filter.built_in.get().to_string() title="Routes that the controller adds by itself" on:click=toggle>{format!("{count} built in")}</button>
        })
    };
    let asked = move || {
        filter.request.get().map(|(host, path)| {
            let asked = format!("{}{path}", host.unwrap_or_default());
            view! {
                <p class="asked">"The routes whose path takes " <code>{asked}</code> "; the first of a host whose other conditions hold gets it. "
                <button class="link" on:click=move |_| filter.as_words.set(true)>"Find it as text"</button></p>
            }
        })
    };
    view! {
        <div class="bar">
            <input
                class="field grow" type="search" placeholder="A request, as shop.example.com/cart/1, or a word" aria-label="Filter routes"
                prop:value=move || filter.text.get() on:input=move |event| filter.type_text(event_target_value(&event))
            />
            {built_in}
        </div>
        {asked}
        <div class="scroll" class:threaded=move || app.selection.thread.with(Option::is_some) tabindex="0" aria-label="Routes">{body}</div>
    }
}

/// A table for each virtual host, under the names of listeners.
fn tables(app: App, sections: Vec<Section>) -> impl IntoView {
    let mut last = String::new();
    let table = |(listener, host, rows): Section| {
        let heading = (listener != last).then(|| listener.clone());
        last = listener;
        view! {
            {heading.map(|heading| view! { <h2 class="group-name">{heading}</h2> })}
            <h3 class="host-name">{host}</h3>
            <table class="routes">
                <thead><tr><th class="order">"#"</th><th>"Match"</th><th>"Action"</th><th>"Policies"</th><th>"Made by"</th></tr></thead>
                <tbody>{rows.into_iter().map(|row| view! { <RouteLine app=app row=row /> }).collect_view()}</tbody>
            </table>
        }
    };
    sections.into_iter().map(table).collect_view()
}

#[component]
fn RouteLine(app: App, row: RouteRow) -> impl IntoView {
    let pointer = row.pointer.clone();
    let lit = {
        let pointer = pointer.clone();
        let shown = row.gateway.is_none();
        move || {
            shown
                && app.selection.thread.with(|thread| {
                    thread.as_ref().is_some_and(|thread| {
                        thread
                            .envoy
                            .iter()
                            .any(|place| place.starts_with(&pointer) && !place[pointer.len()..].starts_with(|c: char| c.is_ascii_digit()))
                    })
                })
        }
    };
    let made_by: Vec<String> = row.made_by.iter().map(ToString::to_string).collect();
    let gateway = StoredValue::new(row.gateway.clone());
    let select = {
        let pointer = pointer.clone();
        move || {
            let target = Target::Place { doc: Doc::Envoy, pointer: pointer.clone() };
            app.in_gateway(gateway.get_value(), move || app.selection.select(target));
        }
    };
    let by_key = select.clone();
    let attempt = (row.action != "tcp").then(|| {
        let pointer = pointer.clone();
        view! { <button class="quiet" title="Try a request that it takes" on:click=move |event| {
            event.stop_propagation();
            let pointer = pointer.clone();
            app.in_gateway(gateway.get_value(), move || app.requests.attempt(pointer));
        }>"Try"</button> }
    });
    let why = row.shadowed_by.is_some().then(|| {
        let pointer = pointer.clone();
        view! { <button class="quiet" title="What takes its requests, and what would help" on:click=move |event| {
            event.stop_propagation();
            let target = Target::Place { doc: Doc::Envoy, pointer: pointer.clone() };
            app.in_gateway(gateway.get_value(), move || why_not(app, target));
        }>"Why not?"</button> }
    });
    let shadow = row.shadowed_by.map(|by| {
        let by = if by > 0 { format!("route {by}") } else { "a built-in route".into() };
        view! { <span class="shadow-note">{format!("never reached: {by} takes all its requests")}</span> }
    });
    let show = move |event: leptos::ev::MouseEvent| {
        event.stop_propagation();
        let pointer = pointer.clone();
        app.in_gateway(gateway.get_value(), move || open_place(app, pointer));
    };
    view! {
        <tr
            class=format!("route {}", row.action) class:shadowed=row.shadowed_by.is_some() class:lit=lit tabindex="0"
            on:click=move |_| select() on:keydown=move |event| if event.key() == "Enter" { by_key() }
        >
            <td class="order">{(row.order > 0).then_some(row.order)}</td>
            <td class="match">
                <span class="path">{row.path.clone()}</span>
                {row.conditions.iter().map(|condition| view! { <span class="condition">{condition.clone()}</span> }).collect_view()}
                {shadow}
            </td>
            <td class="action">{row.told.clone()}</td>
            <td class="policies">{row.policies.iter().map(|policy| view! { <span class="policy">{policy.clone()}</span> }).collect_view()}</td>
            <td class="made-by">
                {if made_by.is_empty() { "built in".to_string() } else { made_by.join(", ") }}
                <span class="acts">
                    {attempt} {why}
                    <button class="quiet" title="Show it in the gateway's configuration" on:click=show>{output(app)}</button>
                </span>
            </td>
        </tr>
    }
}
