//! The dialog that exports the work as a link and a file. Does not create them; see `worker`.

use crate::address;
use crate::link::ask;
use crate::state::App;
use chancery_web::protocol::{Question, Shared, Sharing};
use leptos::prelude::*;
use leptos::task::spawn_local;

#[component]
pub fn Share(app: App) -> impl IntoView {
    let with_secrets = RwSignal::new(false);
    let shared = RwSignal::new(Shared::default());
    Effect::new(move |_| {
        app.engine.generation.track();
        let sharing = Sharing { requests: app.requests.saved.get(), with_secrets: with_secrets.get(), page: address::page() };
        spawn_local(async move {
            if let Ok(mut answer) = ask::<Shared>(Question::Share(sharing)).await {
                answer.link = app.engine.compiled.with_untracked(|compiled| {
                    format!("{}&view={}&dialect={}", answer.link, app.screen.view.get_untracked().name(), compiled.dialect)
                });
                shared.set(answer);
            }
        });
    });
    let link = move || shared.with(|shared| shared.link.clone());
    let long = move || {
        shared.with(|shared| shared.long).then(|| {
            let length = shared.with(|shared| shared.link.len());
            view! { <p class="notice-line warn">{format!("The link has {length} characters, and some programs truncate such links. The file is safer.")}</p> }
        })
    };
    let whole = |event: leptos::ev::FocusEvent| event_target::<web_sys::HtmlInputElement>(&event).select();
    let save = move |_| shared.with_untracked(|shared| crate::bridge::save("chancery-snapshot.json", "application/json", &shared.file));
    view! {
        <div class="share">
            <p class="dialog-text">{move || summary(app)}</p>
            {move || secrets(shared, with_secrets)}
            <div class="share-row">
                <input class="field grow share-link" type="text" readonly aria-label="Link" prop:value=link on:focus=whole />
                <button class="button primary" on:click=move |_| app.screen.copy(&shared.with_untracked(|shared| shared.link.clone()), "The link")>"Copy link"</button>
            </div>
            {long}
            <div class="share-row">
                <button class="button" on:click=save>"Download the snapshot"</button>
                <span class="share-hint">"Drop it onto this page to open it. On the command line: " <code>"chancery open LINK"</code> ", or any command with the file."</span>
            </div>
        </div>
    }
}

/// A summary of the exported work.
fn summary(app: App) -> String {
    let count = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let (files, requests) = (app.workspace.files.with(Vec::len), app.requests.saved.with(Vec::len));
    let requests = if requests > 0 { format!(" and {}", count(requests, "saved request")) } else { String::new() };
    format!("{}{requests}, the dialect and the options. The recipient sees exactly this state; no server is involved.", count(files, "file"))
}

/// The choice whether to export key material.
fn secrets(shared: RwSignal<Shared>, with_secrets: RwSignal<bool>) -> impl IntoView {
    let (secret, with) = (shared.with(|shared| shared.secret), with_secrets.get());
    let (class, word) = match (secret, with) {
        (false, _) => ("notice-line", "It contains no key material."),
        (true, false) => {
            ("notice-line good", "Key material and credentials are left out: placeholders of the same form replace the values of Secrets.")
        }
        (true, true) => ("notice-line bad", "It contains key material. Everyone with the link or the file has the keys."),
    };
    let choice = secret.then(|| {
        let change = move |event| with_secrets.set(event_target_checked(&event));
        view! { <label class="check"><input type="checkbox" prop:checked=with on:change=change />"Include the key material"</label> }
    });
    view! { <p class=class role="status">{word}</p> {choice} }
}
