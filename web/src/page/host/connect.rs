//! The dialog that chooses a context of the kubeconfig and a namespace. Does not connect; see `live`.

use super::call;
use super::message::Context;
use crate::state::App;
use chancery_web::protocol::Call;
use leptos::prelude::*;
use leptos::task::spawn_local;

#[component]
pub fn Connect(app: App) -> impl IntoView {
    move || match app.live.contexts.get() {
        None => view! { <p class="dialog-text">"Reading the kubeconfig…"</p> }.into_any(),
        Some(Err(why)) => view! {
            <p class="live-problem">{why}</p>
            <p class="dialog-text">"The kubeconfig is the file that "<code>"KUBECONFIG"</code>" names, or "<code>"~/.kube/config"</code>". "
                <button class="link" on:click=move |_| app.live.find_contexts()>"Read again"</button></p>
        }
        .into_any(),
        Some(Ok(contexts)) if contexts.is_empty() => view! { <p class="live-problem">"The kubeconfig has no contexts."</p> }.into_any(),
        Some(Ok(contexts)) => view! {
            <p class="dialog-text">"Chancery only reads the cluster. This page never receives the values of Secrets."</p>
            <ul class="live-contexts">{contexts.into_iter().map(|context| view! { <Row app=app context=context /> }).collect_view()}</ul>
        }
        .into_any(),
    }
}

#[component]
fn Row(app: App, context: Context) -> impl IntoView {
    let namespace = RwSignal::new(String::new());
    let namespaces = RwSignal::new(None::<Result<Vec<String>, String>>);
    let (name, asked) = (context.name.clone(), context.name.clone());
    let connect = move |_| {
        let namespace = Some(namespace.get_untracked()).filter(|namespace| !namespace.is_empty());
        app.live.ask(Call::Connect { context: name.clone(), namespace });
        app.screen.overlay.set(None);
    };
    let look = move |_| {
        let context = asked.clone();
        spawn_local(async move { namespaces.set(Some(call(&Call::Namespaces { context }).await)) });
    };
    let default = context.namespace.clone();
    let choices = move || {
        match namespaces.get() {
        None => view! { <button class="link" on:click=look.clone()>"choose a namespace"</button> }.into_any(),
        Some(Err(why)) => view! {
            <input class="live-input" aria-label="Namespace" placeholder="namespace" on:input=move |event| namespace.set(event_target_value(&event)) />
            <span class="live-problem">{why}</span>
        }
        .into_any(),
        Some(Ok(names)) => view! {
            <select class="live-input" aria-label="Namespace" on:change=move |event| namespace.set(event_target_value(&event))>
                <option value="">"all namespaces"</option>
                {names.into_iter().map(|name| view! { <option value=name.clone()>{name.clone()}</option> }).collect_view()}
            </select>
        }
        .into_any(),
    }
    };
    view! {
        <li class="live-context">
            <div class="live-context-name">
                <strong>{context.name.clone()}</strong>
                {context.current.then(|| view! { <span class="live-tag">"current"</span> })}
                <span class="live-muted">{format!("cluster {}", context.cluster)}{default.map(|name| format!(", namespace {name}"))}</span>
                {context.problem.clone().map(|why| view! { <p class="live-problem">{why}</p> })}
            </div>
            {choices}
            <button class="button primary" on:click=connect>"Connect"</button>
        </li>
    }
}
