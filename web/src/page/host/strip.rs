//! The line below the header: the followed inputs, their state, and actions. Does not show details; see `panel`.

use super::Host;
use super::live::{Live, LocalChange};
use super::words::{counted, text, time};
use crate::state::App;
use crate::view::{Overlay, View};
use chancery_web::protocol::Call;
use leptos::prelude::*;

/// The state: good, uncertain or bad, and in words.
fn state(live: Live) -> (&'static str, String) {
    let silence = live.silence.get();
    if !silence.is_empty() {
        return ("error", silence);
    }
    live.sources.with(|sources| {
        let of = |state: &str| sources.iter().filter(|source| source.state == state).count();
        let first = |state: &str| sources.iter().find(|source| source.state == state);
        let describe = |source: &super::message::Source| source.detail.clone().unwrap_or_else(|| format!("{} cannot be read", source.kind));
        match (first("error"), first("forbidden"), of("synced")) {
            (Some(error), ..) => ("error", describe(error) + &since(live, error)),
            (None, Some(_), _) => ("warning", format!("permission is missing for {}", counted(of("forbidden"), "kind"))),
            (None, None, 0) if sources.iter().any(|source| source.state == "missing" && source.kind == source.source) => {
                ("error", sources.iter().find_map(|source| source.detail.clone()).unwrap_or_else(|| "it does not exist".into()))
            }
            (None, None, 0) => ("notice", "reading".into()),
            (None, None, _) => ("match", "up to date".into()),
        }
    })
}

/// How long a source has been in its state, and whether it is retried.
fn since(live: Live, source: &super::message::Source) -> String {
    let is_its = |line: &&super::live::Line| {
        let rest = &line.happened.rest;
        line.happened.event == "source" && text(rest, "kind") == source.kind && text(rest, "state") == source.state
    };
    live.timeline.with(|lines| lines.iter().find(is_its).map(|line| format!(", since {}; retrying", time(line.happened.at_ms)))).unwrap_or_default()
}

#[component]
pub fn Strip(app: App) -> impl IntoView {
    let live = app.live;
    let content = move || {
        let about = live.about.get();
        match (live.host, about.kind.as_str()) {
            (Host::None, _) => ().into_any(),
            (Host::Window, "") => view! { <Choices app=app /> }.into_any(),
            (Host::Server, "") => {
                view! { <p class="live-strip"><span class="mark notice" aria-hidden="true"></span>{move || live.silence.get()}</p> }.into_any()
            }
            _ => view! { <Followed app=app /> }.into_any(),
        }
    };
    view! { {content} }
}

/// The choices while nothing is followed.
#[component]
fn Choices(app: App) -> impl IntoView {
    let recent = move || {
        let paths = app.live.about.with(|about| about.recent.clone());
        let one = |path: String| {
            let (label, its) = (short(&path), path.clone());
            view! { <button class="link live-recent" title=path on:click=move |_| app.live.ask(Call::Reopen { path: its.clone() })>{label}</button> }
        };
        (!paths.is_empty()).then(|| view! { <span class="live-muted">"Recent:"</span> {paths.into_iter().take(4).map(one).collect_view()} })
    };
    view! {
        <div class="live-strip" role="region" aria-label="Live inputs">
            <button class="button primary" on:click=move |_| app.live.ask(Call::Choose { folder: true })>"Open a folder"</button>
            <button class="button" on:click=move |_| app.live.ask(Call::Choose { folder: false })>"Open a file"</button>
            <button class="button" on:click=move |_| app.live.choose_context()>"Connect to a cluster"</button>
            {recent}
            <span class="live-muted live-silence" role="status">{move || app.live.silence.get()}</span>
        </div>
    }
}

/// The last parts of a path.
fn short(path: &str) -> String {
    let parts: Vec<&str> = path.rsplit('/').take(2).collect();
    parts.into_iter().rev().collect::<Vec<_>>().join("/")
}

/// The followed inputs.
#[component]
fn Followed(app: App) -> impl IntoView {
    let live = app.live;
    let about = live.about;
    let tone = Memo::new(move |_| state(live));
    let frozen = move || match live.frozen.get() {
        None => "Freeze".to_string(),
        Some(names) if names.is_empty() => "Resume".into(),
        Some(names) => format!("Resume ({} changed)", counted(names.len(), "input")),
    };
    let kind = move || {
        about.with(|about| match about.kind.as_str() {
            "cluster" => "Cluster",
            "folder" => "Folder",
            _ => "Server",
        })
    };
    view! {
        <div class="live-strip" class:live-frozen=move || live.frozen.with(Option::is_some) role="region" aria-label="Live inputs">
            <span class="live-kind">{kind}</span>
            <strong class="live-title" title=move || about.with(|about| about.title.clone())>{move || about.with(|about| about.title.clone())}</strong>
            <button class="live-state" title="Show sources, Envoys and events" on:click=move |_| app.screen.show(View::Live)>
                <span class=move || format!("mark {}", tone.get().0) aria-hidden="true"></span>
                <span role="status">{move || if live.frozen.with(Option::is_some) { "frozen".to_string() } else { tone.get().1 }}</span>
            </button>
            <Edits app=app />
            <span class="live-end">
                {move || about.with(|about| about.xds.clone()).map(|xds| view! {
                    <button class="live-state" on:click=move |_| app.screen.show(View::Live)>
                        <span class="mark match" aria-hidden="true"></span>{format!("serves {} on {xds}", counted(live.envoys.with(Vec::len), "Envoy"))}
                    </button>
                })}
                <button class="button" title="Stop applying changes for now" on:click=move |_| live.freeze()>{frozen}</button>
                {(live.host == Host::Window).then(|| view! {
                    <button class="button" title="Follow another context or namespace" on:click=move |_| app.live.choose_context()>"Connect"</button>
                    <button class="button" title="Stop following" on:click=move |_| live.ask(Call::Close)>"Close"</button>
                })}
            </span>
        </div>
    }
}

/// The user's changes to the shown file and to other files.
#[component]
fn Edits(app: App) -> impl IntoView {
    let live = app.live;
    let shown =
        Memo::new(move |_| app.workspace.files.with(|files| files.get(app.workspace.active.get()).map(|file| file.name.clone()).unwrap_or_default()));
    move || {
        let name = shown.get();
        let standing = live.changed.with(|changed| changed.get(&name).copied());
        let others = live.changed.with(|changed| changed.keys().filter(|known| **known != name).count());
        let can_save = live.about.with(|about| about.kind == "folder") && live.host == Host::Window;
        let (save, theirs, mine) = (name.clone(), name.clone(), name.clone());
        let act = standing.map(|standing| match standing {
            LocalChange::Changed => view! {
                <span class="live-edit">"You changed this file"</span>
                {can_save.then(|| view! { <button class="button primary" title="Ctrl S" on:click=move |_| live.save(save.clone())>"Save"</button> })}
                <button class="link" on:click=move |_| live.take_theirs(&theirs)>"Undo all"</button>
            }
            .into_any(),
            LocalChange::Conflict => view! {
                <span class="live-edit live-conflict">"You and another program changed this file"</span>
                <button class="button" on:click=move |_| live.keep_mine(&mine)>"Keep mine"</button>
                <button class="button" on:click=move |_| live.take_theirs(&theirs)>"Take theirs"</button>
            }
            .into_any(),
        });
        view! { {act} {(others > 0).then(|| view! { <button class="link" on:click=move |_| app.screen.lay_over(Overlay::Files)>{format!("{} changed", counted(others, "other file"))}</button> })} }
    }
}
