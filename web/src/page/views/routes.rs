//! The view of the routes of all gateways, in the order in which each gateway tries them. Does not match requests; see `worker`.

use super::markdown::words;
use super::tree::open_place;
use super::{output, why_not};
use crate::link::ask;
use crate::state::App;
use crate::view::View;
use chancery_web::protocol::{Doc, Question, RouteFilter, RouteList, RouteRow, RouteVerdict, Target};
use leptos::prelude::*;
use leptos::task::spawn_local;

/// Routes under one heading.
type Section = (String, String, Vec<RouteRow>);

fn sections(rows: &[RouteRow]) -> Vec<Section> {
    let mut out = Vec::<Section>::new();
    for row in rows {
        let of = row.of.as_ref().map(|of| format!("{of} · ")).unwrap_or_default();
        let outer = format!("{of}{} · {}", row.listener, row.address);
        let inner = [row.domains.join(", "), row.chain.clone()].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" · ");
        match out.last_mut() {
            Some((known, host, all)) if *known == outer && *host == inner => all.push(row.clone()),
            _ => out.push((outer, inner, vec![row.clone()])),
        }
    }
    out
}

/// The filter and the matching routes. Copies share them.
#[derive(Clone, Copy)]
struct Filter {
    wanted: RwSignal<RouteFilter>,
    found: RwSignal<RouteList>,
    /// Whether a question is pending.
    asks: StoredValue<bool>,
}

impl Filter {
    fn new(app: App) -> Self {
        let filter = Self { wanted: RwSignal::default(), found: RwSignal::default(), asks: StoredValue::new(false) };
        Effect::new(move |_| {
            app.engine.generation.track();
            filter.wanted.track();
            if filter.asks.get_value() {
                return;
            }
            filter.asks.set_value(true);
            spawn_local(async move {
                filter.ask(app).await;
                let _ = filter.asks.try_set_value(false);
            });
        });
        filter
    }

    /// Asks until the answer fits the current filter. Skips letters that the user typed meanwhile.
    async fn ask(self, app: App) {
        let now = || Some((app.engine.generation.try_get_untracked()?, self.wanted.try_get_untracked()?));
        while let Some(asked) = now() {
            let Ok(found) = ask::<RouteList>(Question::Routes(asked.1.clone())).await else { return };
            if now().is_none_or(|now| now == asked) {
                let _ = self.found.try_set(found);
                return;
            }
        }
    }

    fn write(self, text: String) {
        self.wanted.update(|wanted| (wanted.text, wanted.as_words) = (text, false));
    }

    /// Why the list is empty.
    fn nothing(self, app: App) -> &'static str {
        let RouteList { all, built_in, .. } = self.found.get();
        match all {
            _ if app.engine.generation.get() == 0 => "The first compile is running.",
            0 => "Envoy has no route: no resource in the editor produces one.",
            _ if built_in == all && self.wanted.with(|wanted| wanted.text.is_empty()) => {
                "Envoy only has routes that the controller adds itself. The button above shows them."
            }
            _ => "No route matches the filter.",
        }
    }
}

#[component]
pub fn RoutesView(app: App) -> impl IntoView {
    let filter = Filter::new(app);
    let body = move || {
        let RouteList { rows, more, .. } = filter.found.get();
        if rows.is_empty() {
            return view! { <p class="empty">{filter.nothing(app)}</p> }.into_any();
        }
        let more = (more > 0).then(|| view! { <p class="empty">{format!("{more} more routes. Filter to find them.")}</p> });
        view! { <div>{tables(app, sections(&rows))} {more}</div> }.into_any()
    };
    let built_in = move || {
        let count = filter.found.with(|found| found.built_in);
        let toggle = move |_| filter.wanted.update(|wanted| wanted.built_in = !wanted.built_in);
        (count > 0).then(|| view! {
            <button class="quiet" aria-pressed=move || filter.wanted.with(|wanted| wanted.built_in).to_string() title="Show routes that the controller adds itself" on:click=toggle>{format!("{count} built in")}</button>
        })
    };
    let asked = move || {
        let verdict = filter.found.with(|found| found.verdict.clone()).map(|RouteVerdict { url, sentence, good }| {
            let fill = {
                let url = url.clone();
                move |_| {
                    app.requests.type_url(url.clone());
                    app.screen.show(View::Try);
                }
            };
            view! {
                <p class="asked"><button class="link" title="Show each step of this request" on:click=fill>{url}</button> " → "
                <span class="asked-answer" class:good=good class:bad=!good>{words(&sentence)}</span></p>
            }
        });
        let asked = filter.found.with(|found| found.request.clone()).map(|asked| {
            view! {
                <p class="asked">"The routes whose path matches " <code>{asked}</code> "; for each host, the first whose other conditions match handles it. "
                <button class="link" on:click=move |_| filter.wanted.update(|wanted| wanted.as_words = true)>"Search as text"</button></p>
            }
        });
        view! { {verdict} {asked} }
    };
    view! {
        <div class="bar">
            <input
                class="field grow" type="search" placeholder="A request, for example shop.example.com/cart/1, or a word" aria-label="Filter routes"
                prop:value=move || filter.wanted.with(|wanted| wanted.text.clone()) on:input=move |event| filter.write(event_target_value(&event))
            />
            {built_in}
        </div>
        {asked}
        <div class="scroll" class:has-selection=move || app.selection.details.with(Option::is_some) tabindex="0" role="group" aria-label="Routes">{body}</div>
    }
}

/// A table for each virtual host, grouped by listener.
fn tables(app: App, sections: Vec<Section>) -> impl IntoView {
    let mut last = String::new();
    let table = |(listener, host, rows): Section| {
        let heading = (listener != last).then(|| listener.clone());
        last = listener;
        view! {
            {heading.map(|heading| view! { <h2 class="group-name">{heading}</h2> })}
            <h3 class="host-name">{host}</h3>
            <table class="routes">
                <thead><tr><th class="order">"#"</th><th>"Match"</th><th>"Action"</th><th>"Policies"</th><th>"Produced by"</th></tr></thead>
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
                && app.selection.details.with(|details| {
                    details.as_ref().is_some_and(|details| {
                        details
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
        view! { <button class="quiet" title="Try a request that it matches" on:click=move |event| {
            event.stop_propagation();
            let pointer = pointer.clone();
            app.in_gateway(gateway.get_value(), move || app.requests.attempt(pointer));
        }>"Try"</button> }
    });
    let why = row.shadowed_by.is_some().then(|| {
        let pointer = pointer.clone();
        view! { <button class="quiet" title="Explain why requests do not reach it" on:click=move |event| {
            event.stop_propagation();
            let target = Target::Place { doc: Doc::Envoy, pointer: pointer.clone() };
            app.in_gateway(gateway.get_value(), move || why_not(app, target));
        }>"Why not?"</button> }
    });
    let shadow = row.shadowed_by.map(|by| {
        let by = if by > 0 { format!("route {by}") } else { "a built-in route".into() };
        view! { <span class="shadow-note">{format!("never reached: {by} matches all its requests")}</span> }
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
            <td class="action">{row.summary.clone()}</td>
            <td class="policies">{row.policies.iter().map(|policy| view! { <span class="policy">{policy.clone()}</span> }).collect_view()}</td>
            <td class="made-by">
                {if made_by.is_empty() { "built in".to_string() } else { made_by.join(", ") }}
                <span class="acts">
                    {attempt} {why}
                    <button class="quiet" title="Show in the gateway's configuration" on:click=show>{output(app)}</button>
                </span>
            </td>
        </tr>
    }
}
