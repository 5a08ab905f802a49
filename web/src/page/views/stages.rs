//! The stages before Envoy: Config, IR, or all three beside each other.
//!
//! What must not be here: a tree's rows.

use super::tree::TreeView;
use crate::state::App;
use chancery_web::protocol::Doc;
use leptos::prelude::*;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Ir,
    Config,
    All,
}

/// The view.
#[component]
pub fn StagesView(app: App) -> impl IntoView {
    let shown = RwSignal::new(Shown::Ir);
    let choice = move |what: Shown, label: &'static str| {
        view! { <button role="tab" aria-selected=move || (shown.get() == what).to_string() on:click=move |_| shown.set(what)>{label}</button> }
    };
    view! {
        <div class="bar">
            <div class="segments" role="tablist" aria-label="Stage">
                {choice(Shown::Config, "Config")} {choice(Shown::Ir, "IR")} {choice(Shown::All, "Config → IR → Envoy")}
            </div>
        </div>
        {move || match shown.get() {
            Shown::Ir => view! { <TreeView app=app doc=Doc::Ir /> }.into_any(),
            Shown::Config => view! { <TreeView app=app doc=Doc::Config /> }.into_any(),
            Shown::All => view! {
                <div class="stages">
                    {[(Doc::Config, "Config"), (Doc::Ir, "IR"), (Doc::Envoy, "Envoy")]
                        .map(|(doc, name)| view! { <section class="stage" aria-label=name><h2 class="stage-name">{name}</h2><TreeView app=app doc=doc /></section> })
                        .collect_view()}
                </div>
            }
            .into_any(),
        }}
    }
}
