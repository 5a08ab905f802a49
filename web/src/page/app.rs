//! The whole page: header, two panes and what is between them, status strip, keys.
//!
//! What must not be here: any view's inside.

use crate::editor::EditorPane;
use crate::overlay::Overlays;
use crate::state::{App, Overlay, Progress, View};
use crate::views::{Told, Views};
use crate::{address, compare, embed, requests, storage};
use chancery_web::protocol::SourceFile;
use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::prelude::*;
use wasm_bindgen::JsCast;

/// Puts the page into the document.
pub fn start() {
    chancery_web::fault::tell_panics();
    mount_to_body(Page);
}

/// From the system's theme to the other, and back.
pub fn turn_theme(app: App) {
    let dark = match app.theme.get_untracked() {
        Some(theme) => theme == "dark",
        None => window().match_media("(prefers-color-scheme: dark)").ok().flatten().is_some_and(|query| query.matches()),
    };
    app.theme.set(Some(if dark { "light" } else { "dark" }.into()));
}

#[component]
fn Page() -> impl IntoView {
    let address = address::read();
    let app = App::new(&address);
    let split = app.split;
    if app.embedded.is_some() {
        embed::start(app);
    }
    Effect::new(move |_| {
        let settings = storage::Settings { theme: app.theme.get(), split: split.get() };
        if app.embedded.is_none() {
            storage::keep_settings(&settings);
        }
    });
    Effect::new(move |_| {
        if let Some(root) = document().document_element() {
            let _ = match app.theme.get() {
                Some(theme) => root.set_attribute("data-theme", &theme),
                None => root.remove_attribute("data-theme"),
            };
        }
    });
    requests::watch(app);
    if app.embedded.is_none() {
        compare::listen(app);
    }
    let changed = window_event_listener_untyped("hashchange", move |_| {
        if let Some(link) = address::read().shared {
            app.open(link);
        }
    });
    on_cleanup(move || changed.remove());
    let left = window_event_listener_untyped("pagehide", move |_| app.leave());
    on_cleanup(move || left.remove());
    let handle = window_event_listener(leptos::ev::keydown, move |event| keys(app, &event));
    on_cleanup(move || handle.remove());
    let dropped = move |event: web_sys::DragEvent| {
        event.prevent_default();
        if let Some(data) = event.data_transfer() {
            crate::files::dropped(app, &data);
        }
    };
    view! {
        <div class="page" class:writing=move || app.writing.get() class:embedded=app.embedded.is_some() class:alone=app.embedded == Some(true) on:dragover=move |event| event.prevent_default() on:drop=dropped>
            <Header app=app />
            <main class="panes" style:grid-template-columns=move || format!("minmax(0, {}fr) 5px minmax(0, {}fr)", split.get(), 100.0 - split.get())>
                <section class="pane pane-editor" aria-label="Editor"><EditorPane app=app /></section>
                <Splitter split=split />
                <section class="pane pane-views" aria-label="Views">
                    <ViewTabs app=app />
                    <Views app=app />
                    <Told app=app />
                </section>
            </main>
            <Status app=app />
            <Overlays app=app />
        </div>
    }
}

#[component]
fn Header(app: App) -> impl IntoView {
    let tabs = move || {
        let files = app.files.with(|files| files.iter().map(|file| file.name.clone()).collect::<Vec<_>>());
        files
            .into_iter()
            .enumerate()
            .map(|(at, name)| {
                let choose = move |_| {
                    app.active.set(at);
                    app.writing.set(true);
                    app.show_active();
                };
                view! {
                    <span class="file" class:active=move || app.active.get() == at>
                        <button class="file-name" aria-current=move || (app.active.get() == at).to_string() on:click=choose>{name.clone()}</button>
                        <button class="file-close" aria-label=format!("Close {name}") on:click=move |_| app.close(at)>"×"</button>
                    </span>
                }
            })
            .collect_view()
    };
    let new_file = move |_| app.add(vec![SourceFile { name: "more.yaml".into(), text: String::new() }]);
    view! {
        <header class="head">
            <h1 class="brand"><span class="brand-mark" aria-hidden="true"></span>"Chancery"</h1>
            <button class="button" on:click=move |_| app.overlay.set(Some(Overlay::Gallery))>"Examples"</button>
            <nav class="files" aria-label="Files">{tabs}<button class="quiet add" title="New file" aria-label="New file" on:click=new_file>"+"</button></nav>
            <div class="head-end">
                <button class="button wide-only" title="Find anything (Ctrl K)" on:click=move |_| app.overlay.set(Some(Overlay::Palette))>"Search" <kbd>"Ctrl K"</kbd></button>
                <button class="button" title="As a link, or as a file" on:click=move |_| app.overlay.set(Some(Overlay::Share))>"Share"</button>
                <button class="quiet" title="Light or dark (T)" on:click=move |_| turn_theme(app)>"Theme"</button>
                <button class="quiet help" title="Keys (?)" on:click=move |_| app.overlay.set(Some(Overlay::Help))>"Help"</button>
            </div>
        </header>
    }
}

#[component]
fn ViewTabs(app: App) -> impl IntoView {
    let tab = move |(at, view): (usize, View)| {
        let badge = move || {
            let count = app.compiled.with(|compiled| compiled.findings.iter().filter(|finding| finding.severity != "notice").count());
            let (bad, kept) = app.requests.count();
            match view {
                View::Findings if count > 0 => Some(view! { <span class="badge">{count}</span> }.into_any()),
                View::Try if bad > 0 => {
                    Some(view! { <span class="badge" title=format!("{bad} of {kept} kept requests do not end as expected")>{bad}</span> }.into_any())
                }
                View::Try if kept > 0 => Some(view! { <span class="badge good" title="All kept requests end as expected">{kept}</span> }.into_any()),
                _ => None,
            }
        };
        view! {
            <button
                class="tab" role="tab" id=format!("tab-{}", view.name()) aria-controls="view" aria-selected=move || (app.view.get() == view).to_string()
                title=format!("{} ({})", view.label(), at + 1) on:click=move |_| app.show(view)
            >{view.label()} {badge}</button>
        }
    };
    view! {
        <div class="tabs" role="tablist" aria-label="Views">
            <button class="tab tab-editor" role="tab" aria-selected=move || app.writing.get().to_string() on:click=move |_| app.writing.set(true)>"YAML"</button>
            {View::ALL.into_iter().enumerate().map(tab).collect_view()}
        </div>
    }
}

#[component]
fn Splitter(split: RwSignal<f64>) -> impl IntoView {
    let held = RwSignal::new(false);
    let moved = move |event: PointerEvent| {
        if held.get_untracked() {
            let width = window().inner_width().ok().and_then(|width| width.as_f64()).unwrap_or(1.0);
            split.set((f64::from(event.client_x()) / width * 100.0).clamp(15.0, 85.0));
        }
    };
    let take = move |event: PointerEvent| {
        held.set(true);
        if let Some(element) = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok()) {
            let _ = element.set_pointer_capture(event.pointer_id());
        }
    };
    let by_key = move |event: KeyboardEvent| {
        let step = match event.key().as_str() {
            "ArrowLeft" => -2.0,
            "ArrowRight" => 2.0,
            _ => return,
        };
        split.update(|split| *split = (*split + step).clamp(15.0, 85.0));
    };
    view! {
        <div
            class="splitter" role="separator" aria-orientation="vertical" aria-label="Width of the editor" tabindex="0" aria-valuenow=move || split.get().round().to_string()
            aria-valuemin="15" aria-valuemax="85" on:pointerdown=take on:pointermove=moved on:pointerup=move |_| held.set(false) on:keydown=by_key
        ></div>
    }
}

fn counted(count: usize, one: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {one}{s}")
}

/// The switch between gateways, where there are several.
#[component]
fn Gateways(app: App) -> impl IntoView {
    let choose = move |event| {
        app.gateway.set(Some(event_target_value(&event)));
        app.compile();
    };
    move || {
        let (names, shown) = app.compiled.with(|compiled| (compiled.gateways.clone(), compiled.gateway.clone()));
        (names.len() > 1).then(|| {
            let options = names.into_iter().map(|name| {
                let chosen = name == shown;
                view! { <option value=name.clone() selected=chosen>{name.clone()}</option> }
            });
            let options = options.collect_view();
            view! {
                <label class="status-item dialect">
                    <span class="visually-hidden">"Gateway"</span>
                    <select aria-label="Gateway" on:change=choose>{options}</select>
                </label>
            }
        })
    }
}

#[component]
fn Status(app: App) -> impl IntoView {
    let severity = move |severity: &'static str| {
        let count = move || app.compiled.with(|compiled| compiled.findings.iter().filter(|finding| finding.severity == severity).count());
        view! {
            <button class="status-item" class:nothing=move || count() == 0 on:click=move |_| app.show(View::Findings)>
                <span class=format!("mark {severity}") aria-hidden="true"></span>{move || counted(count(), severity)}
            </button>
        }
    };
    let dialects = move || {
        app.compiled
            .with(|compiled| compiled.dialects.clone())
            .into_iter()
            .map(|name| {
                let chosen = {
                    let name = name.clone();
                    move || app.compiled.with(|compiled| compiled.dialect == name)
                };
                view! { <option value=name.clone() selected=chosen>{name.clone()}</option> }
            })
            .collect_view()
    };
    let choose = move |event| {
        app.dialect.set(Some(event_target_value(&event)));
        app.compile();
    };
    let told = move || match app.work.get() {
        Progress::Idle if app.generation.get() == 0 => "compiling…".into(),
        Progress::Idle => app
            .compiled
            .with(|compiled| format!("compiled in {}", if compiled.took < 1.0 { "under 1 ms".into() } else { format!("{:.0} ms", compiled.took) })),
        Progress::Slow => "compiling…".into(),
        Progress::Ended => "ended after 10 s without an answer; the next edit tries again".into(),
    };
    view! {
        <footer class="status">
            <label class="status-item dialect"><span class="visually-hidden">"Dialect"</span><select aria-label="Dialect" on:change=choose>{dialects}</select></label>
            <Gateways app=app/>
            <span class="status-item">{move || counted(app.compiled.with(|compiled| compiled.resources), "resource")}</span>
            {severity("error")} {severity("warning")}
            <span class="status-item wide-only">{move || counted(app.compiled.with(|compiled| compiled.routes), "route")}</span>
            <span class="status-item wide-only">{move || counted(app.compiled.with(|compiled| compiled.clusters), "cluster")}</span>
            <span class="status-item grow" class:wrong=move || app.work.get() == Progress::Ended role="status">{told}</span>
            <span class="status-item local" title="Everything is worked out in this page; nothing is sent anywhere.">"local only"</span>
        </footer>
    }
}

fn in_text(event: &KeyboardEvent) -> bool {
    let target = event.target().and_then(|target| target.dyn_into::<web_sys::HtmlElement>().ok());
    target.is_some_and(|target| matches!(target.tag_name().as_str(), "INPUT" | "TEXTAREA" | "SELECT") || target.is_content_editable())
}

fn keys(app: App, event: &KeyboardEvent) {
    let (key, command) = (event.key(), event.ctrl_key() || event.meta_key());
    let mut done = true;
    match key.as_str() {
        "k" if command => app.overlay.set(Some(Overlay::Palette)),
        "Escape" if app.overlay.with_untracked(Option::is_some) => app.overlay.set(None),
        "Escape" if app.thread.with_untracked(Option::is_some) => {
            app.release();
            done = false;
        }
        "ArrowLeft" if event.alt_key() => app.walk(true),
        "ArrowRight" if event.alt_key() => app.walk(false),
        "." if command => {
            let line = app.target.get_untracked();
            let fix = app.compiled.with_untracked(|compiled| {
                let here = |span: &chancery_web::protocol::Span| matches!(&line, Some(chancery_web::protocol::Target::Line { file, line }) if *file == span.file && *line == span.line);
                compiled.findings.iter().find(|finding| finding.fix.is_some() && finding.span.as_ref().is_some_and(here)).and_then(|finding| finding.fix.clone())
            });
            match fix {
                Some(fix) => app.fix(&fix),
                None => app.say("No finding on this line can be mended by itself"),
            }
        }
        _ if command || event.alt_key() || in_text(event) || app.overlay.with_untracked(Option::is_some) => return,
        "?" => app.overlay.set(Some(Overlay::Help)),
        "j" => app.step(true),
        "k" => app.step(false),
        "t" => turn_theme(app),
        "e" => {
            app.writing.set(true);
            crate::editor::focus();
        }
        digit => match digit.parse::<usize>().ok().and_then(|digit| View::ALL.get(digit.checked_sub(1)?).copied()) {
            Some(view) => app.show(view),
            None => done = false,
        },
    }
    if done {
        event.prevent_default();
    }
}
