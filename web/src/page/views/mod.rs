//! The views of the right pane, and the line below them that tells what is selected.
//!
//! What must not be here: the worker's side of any of them.

mod compare;
mod findings;
mod graph;
pub mod markdown;
mod request;
mod routes;
mod stages;
mod tree;

use crate::state::{App, View};
use chancery_web::protocol::Doc;
use leptos::prelude::*;

/// The view that is chosen.
#[component]
pub fn Views(app: App) -> impl IntoView {
    view! {
        <div class="view" id="view" role="tabpanel" aria-label=move || app.view.get().label()>
            {move || match app.view.get() {
                View::Graph => view! { <graph::GraphView app=app /> }.into_any(),
                View::Routes => view! { <routes::RoutesView app=app /> }.into_any(),
                View::Envoy => view! { <tree::TreeView app=app doc=Doc::Envoy /> }.into_any(),
                View::Ir => view! { <stages::StagesView app=app /> }.into_any(),
                View::Findings => view! { <findings::FindingsView app=app /> }.into_any(),
                View::Try => view! { <request::RequestView app=app /> }.into_any(),
                View::Compare => view! { <compare::CompareView app=app /> }.into_any(),
            }}
        </div>
    }
}

/// What is selected, and why it is what it is.
#[component]
pub fn Told(app: App) -> impl IntoView {
    let content = move || match app.thread.get() {
        None => view! {
            <p class="told-hint">"Click a line, a route or a field to follow it from YAML to Envoy and back."</p>
        }
        .into_any(),
        Some(thread) => {
            let places = thread.envoy.len();
            let sentences = thread.told.clone();
            let spans = thread.spans.clone();
            let count = (places > 0).then(|| format!("{places} {} in Envoy", if places == 1 { "place" } else { "places" }));
            view! {
                <div class="told-head">
                    <strong class="told-title" title=thread.title.replace('`', "")>{findings::words(&thread.title)}</strong>
                    {count.map(|count| view! { <button class="chip thread" on:click=move |_| app.view.set(View::Envoy)>{count}</button> })}
                    {spans
                        .into_iter()
                        .take(4)
                        .map(|span| {
                            let label = format!("{}:{}", span.file, span.line);
                            view! { <button class="chip source" on:click=move |_| app.go(&span)>{label}</button> }
                        })
                        .collect_view()}
                    <button class="quiet told-close" title="Let go (Escape)" aria-label="Let go of the selection" on:click=move |_| app.release()>"×"</button>
                </div>
                {sentences.into_iter().take(3).map(|sentence| view! { <p class="told-sentence">{findings::words(&sentence)}</p> }).collect_view()}
            }
            .into_any()
        }
    };
    view! { <section class="told" class:held=move || app.thread.with(Option::is_some) aria-live="polite" aria-label="Selection">{content}</section> }
}
