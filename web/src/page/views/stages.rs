//! The view of the stages before the output: Config, IR, or all of them next to each other.

use super::output;
use super::tree::TreeView;
use crate::state::App;
use crate::view::View;
use chancery_web::protocol::Doc;
use leptos::prelude::*;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Ir,
    Config,
    All,
}

/// The documents next to each other. An Application Gateway has no separate IR.
fn documents(app: App) -> Vec<(Doc, String)> {
    let name = output(app);
    let ir = (name == View::Envoy.label()).then(|| (Doc::Ir, "Intermediate".to_string()));
    let around = [Some((Doc::Config, "Config".to_string())), ir, Some((Doc::Envoy, name))];
    around.into_iter().flatten().collect()
}

#[component]
pub fn StagesView(app: App) -> impl IntoView {
    let chosen = RwSignal::new(Shown::Ir);
    let all = Memo::new(move |_| documents(app));
    let has_ir = move || all.with(|all| all.iter().any(|(doc, _)| *doc == Doc::Ir));
    let shown = move || if chosen.get() == Shown::Ir && !has_ir() { Shown::Config } else { chosen.get() };
    let choice = move |what: Shown, label: String| {
        view! { <button role="tab" aria-selected=move || (shown() == what).to_string() on:click=move |_| chosen.set(what)>{label}</button> }
    };
    let together = move || all.with(|all| all.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(" → "));
    let stage = move |(doc, name): (Doc, String)| {
        let label = name.clone();
        view! { <section class="stage" aria-label=label><h2 class="stage-name">{name}</h2><TreeView app=app doc=doc /></section> }
    };
    view! {
        <div class="bar">
            <div class="segments" role="tablist" aria-label="Stage">
                {choice(Shown::Config, "Config".into())}
                {move || has_ir().then(|| choice(Shown::Ir, "Intermediate".into()))}
                {move || choice(Shown::All, together())}
            </div>
        </div>
        {move || match shown() {
            Shown::Ir => view! { <TreeView app=app doc=Doc::Ir /> }.into_any(),
            Shown::Config => view! { <TreeView app=app doc=Doc::Config /> }.into_any(),
            Shown::All => view! { <div class="stages">{all.get().into_iter().map(stage).collect_view()}</div> }.into_any(),
        }}
    }
}
