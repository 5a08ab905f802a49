//! The views of the right pane, and the line below them that describes the selection.

mod asked;
mod compare;
mod findings;
mod graph;
pub mod markdown;
mod migration;
mod reach;
mod request;
mod routes;
mod stages;
mod tree;

pub use asked::AddressBar;
pub use reach::{ReachSheet, why_not};

use crate::state::App;
use crate::view::View;
use chancery_web::protocol::{Doc, Finding, Span};
use leptos::prelude::*;

#[component]
pub fn Views(app: App) -> impl IntoView {
    view! {
        <div class="view" id="view" role="tabpanel" aria-label=move || app.screen.view.get().label()>
            {move || match app.screen.view.get() {
                View::Graph => view! { <graph::GraphView app=app /> }.into_any(),
                View::Routes => view! { <routes::RoutesView app=app /> }.into_any(),
                View::Envoy => view! { <tree::TreeView app=app doc=Doc::Envoy /> }.into_any(),
                View::Ir => view! { <stages::StagesView app=app /> }.into_any(),
                View::Findings => view! { <findings::FindingsView app=app /> }.into_any(),
                View::Try => view! { <request::RequestView app=app /> }.into_any(),
                View::Live => view! { <crate::host::panel::LiveView app=app /> }.into_any(),
                View::Compare => view! { <compare::CompareView app=app /> }.into_any(),
            }}
        </div>
    }
}

/// The worst finding with its fix, while nothing is selected.
#[component]
fn Hint(app: App) -> impl IntoView {
    let rank = |finding: &Finding| ["error", "warning"].iter().position(|known| *known == finding.severity);
    let worst = move || {
        app.engine.compiled.with(|compiled| {
            let serious = compiled.findings.iter().filter(|finding| rank(finding).is_some());
            serious.min_by_key(|finding| (rank(finding), finding.fix.is_none())).cloned()
        })
    };
    move || match worst() {
        None => view! { <p class="selection-hint">"Click a line, a route or a field to follow it from YAML to the gateway and back."</p> }.into_any(),
        Some(finding) => {
            let message = finding.shown_message().to_string();
            let Finding { severity, span, fix, .. } = finding;
            let source = span.map(|span| source(app, span));
            let fix = fix.map(|fix| {
                let label = fix.message.clone();
                view! { <button class="chip fix" on:click=move |_| app.engine.fix(&fix)><span>{markdown::words(&label)}</span></button> }
            });
            view! {
                <p class="selection-hint selection-worst">
                    <span class=format!("mark {severity}") role="img" aria-label=severity.clone()></span><span>{markdown::words(&message)}</span> {fix} {source}
                </p>
            }
            .into_any()
        }
    }
}

/// The name of the shown gateway's document.
pub fn output(app: App) -> String {
    app.engine.compiled.with(|compiled| if compiled.output.is_empty() { View::Envoy.label().to_string() } else { compiled.output.clone() })
}

/// A place in a file. A click goes there.
fn source(app: App, span: Span) -> impl IntoView {
    let label = format!("{}:{}", span.file, span.line);
    view! { <button class="chip source" on:click=move |_| app.selection.go(&span)>{label}</button> }
}

/// The selection and its explanation.
#[component]
pub fn SelectionLine(app: App) -> impl IntoView {
    let content = move || match app.selection.details.get() {
        None => view! { <Hint app=app /> }.into_any(),
        Some(details) => {
            let places = details.envoy.len();
            let why = (!details.resources.is_empty()).then(|| {
                let ask = move |_| {
                    if let Some(target) = app.selection.target.get_untracked() {
                        why_not(app, target);
                    }
                };
                view! { <button class="chip" title="Show the nearest request, or why requests do not reach this" on:click=ask>"Why not?"</button> }
            });
            let sentences = details.facts.clone();
            let mut spans: Vec<Span> = Vec::new();
            for span in &details.spans {
                if !spans.iter().any(|known| known.file == span.file && known.line == span.line) {
                    spans.push(span.clone());
                }
            }
            let count = (places > 0).then(|| format!("{places} {} in {}", if places == 1 { "place" } else { "places" }, output(app)));
            view! {
                <div class="selection-head">
                    <strong class="selection-title" title=details.title.replace('`', "")>{markdown::words(&details.title)}</strong>
                    {count.map(|count| view! { <button class="chip places" on:click=move |_| app.screen.view.set(View::Envoy)>{count}</button> })}
                    {spans.into_iter().take(4).map(|span| source(app, span)).collect_view()}
                    {why}
                    <button class="quiet selection-close" title="Clear the selection (Escape)" aria-label="Clear the selection" on:click=move |_| app.selection.release()>"×"</button>
                </div>
                {sentences.into_iter().take(3).map(|sentence| view! { <p class="selection-sentence">{markdown::words(&sentence)}</p> }).collect_view()}
            }
            .into_any()
        }
    };
    view! { <section class="selection-panel" class:held=move || app.selection.details.with(Option::is_some) aria-live="polite" aria-label="Selection">{content}</section> }
}
