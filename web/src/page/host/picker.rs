//! The list of files, if there are too many for tabs.

use super::live::LocalChange;
use crate::state::App;
use crate::view::Overlay;
use leptos::html::Input;
use leptos::prelude::*;
use std::collections::BTreeMap;

/// More files are shown as a list instead of tabs.
pub const MOST_TABS: usize = 8;
/// The largest number of listed files.
const MOST_LISTED: usize = 200;

/// The button that shows the current file and opens the list. Replaces the tabs.
#[component]
pub fn Picker(app: App) -> impl IntoView {
    let shown = move || {
        app.workspace.files.with(|files| files.get(app.workspace.active.get()).map(|file| app.live.short_name(&file.name)).unwrap_or_default())
    };
    let count = move || app.workspace.files.with(Vec::len);
    view! {
        <button class="button files-picker" title="All files" on:click=move |_| app.screen.lay_over(Overlay::Files)>
            <span class="files-picker-name">{shown}</span><span class="live-muted">{move || format!("1 of {}", count())}</span>
        </button>
    }
}

/// The list with a filter.
#[component]
pub fn Files(app: App) -> impl IntoView {
    let filter = RwSignal::new(String::new());
    let input = NodeRef::<Input>::new();
    Effect::new(move |_| {
        if let Some(input) = input.get() {
            let _ = input.focus();
        }
    });
    let wrong = Memo::new(move |_| {
        let mut out: BTreeMap<String, &'static str> = BTreeMap::new();
        app.engine.compiled.with(|compiled| {
            for finding in &compiled.findings {
                let Some(span) = &finding.span else { continue };
                let mark = out.entry(span.file.clone()).or_insert("notice");
                *mark = match (finding.severity.as_str(), *mark) {
                    ("error", _) | (_, "error") => "error",
                    ("warning", _) | (_, "warning") => "warning",
                    _ => "notice",
                };
            }
        });
        out
    });
    let found = move || {
        let text = filter.get().to_lowercase();
        let is_found = |name: &str| text.split_whitespace().all(|word| name.to_lowercase().contains(word));
        app.workspace.files.with(|files| {
            let all: Vec<(usize, String)> =
                files.iter().enumerate().map(|(at, file)| (at, file.name.clone())).filter(|(_, name)| is_found(name)).collect();
            (all.len(), all.into_iter().take(MOST_LISTED).collect::<Vec<_>>())
        })
    };
    let open = move |at: usize| {
        app.workspace.activate(at);
        app.screen.writing.set(true);
        app.screen.overlay.set(None);
    };
    let row = move |(at, name): (usize, String)| {
        let mark = wrong.with(|wrong| wrong.get(&name).copied()).unwrap_or("nothing");
        let standing = app.live.changed.with(|changed| changed.get(&name).copied()).map(|standing| match standing {
            LocalChange::Changed => "changed",
            LocalChange::Conflict => "conflict",
        });
        view! {
            <li><button class="files-row" class:active=app.workspace.active.get_untracked() == at on:click=move |_| open(at)>
                <span class=format!("mark {mark}") aria-hidden="true"></span><span class="files-row-name">{app.live.short_name(&name)}</span>
                {standing.map(|standing| view! { <span class="live-tag">{standing}</span> })}
            </button></li>
        }
    };
    let first = move |event: leptos::ev::KeyboardEvent| {
        if event.key() == "Enter"
            && let Some((at, _)) = found().1.first()
        {
            open(*at);
        }
    };
    view! {
        <input class="live-input files-filter" node_ref=input placeholder="Filter by kind, namespace, name" aria-label="Filter files" on:keydown=first on:input=move |event| filter.set(event_target_value(&event)) />
        <ul class="files-list">{move || found().1.into_iter().map(row).collect_view()}</ul>
        {move || { let (all, listed) = found(); (all > listed.len()).then(|| view! { <p class="dialog-text">{format!("{} of {all} are listed. Filter to find the others", listed.len())}</p> }) }}
        {move || (found().0 == 0).then(|| view! { <p class="dialog-text">"No file name matches."</p> })}
    }
}
