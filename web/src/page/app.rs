//! The whole page: header, the two panes, status bar and keyboard shortcuts. Does not draw the views; see `views`.

use crate::editor::EditorPane;
use crate::host::Host;
use crate::host::picker::{MOST_TABS, Picker};
use crate::host::strip::Strip;
use crate::overlay::Overlays;
use crate::state::App;
use crate::status::{Arrived, Status, Stopped};
use crate::view::{Overlay, View};
use crate::views::{AddressBar, SelectionLine, Views, output};
use crate::{address, bridge, compare, embed};
use chancery_web::protocol::{Span, Target};
use gloo_events::{EventListener, EventListenerOptions};
use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::prelude::*;
use wasm_bindgen::JsCast;

/// Mounts the page into the document.
pub fn start() {
    chancery_web::fault::report_panics();
    mount_to_body(Page);
}

#[component]
fn Page() -> impl IntoView {
    let address = address::read();
    let app = App::new(&address);
    let (screen, workspace) = (app.screen, app.workspace);
    follow(app);
    let dropped = move |event: web_sys::DragEvent| {
        event.prevent_default();
        if let Some(data) = event.data_transfer() {
            crate::files::dropped(app, &data);
        }
    };
    let columns = move || format!("minmax(0, {}fr) 5px minmax(0, {}fr)", screen.split.get(), 100.0 - screen.split.get());
    view! {
        <div
            class="page" class:writing=move || screen.writing.get() class:embedded=screen.embedded.is_some() class:alone=screen.embedded == Some(true)
            class:empty-workspace=move || workspace.files.with(|files| files.iter().all(|file| file.text.is_empty()))
            on:dragover=move |event| event.prevent_default() on:drop=dropped
        >
            <Header app=app />
            <Strip app=app />
            <AddressBar app=app />
            <Arrived app=app />
            <Stopped app=app />
            <main class="panes" style:grid-template-columns=columns>
                <section class="pane pane-editor" aria-label="Editor"><EditorPane app=app /></section>
                <Splitter split=screen.split />
                <section class="pane pane-views" aria-label="Views">
                    <ViewTabs app=app />
                    <Views app=app />
                    <SelectionLine app=app />
                </section>
            </main>
            <Status app=app />
            <Overlays app=app />
        </div>
    }
}

/// Listens to events outside the page's components: the address, keys, other tabs, the surrounding page.
fn follow(app: App) {
    if app.screen.embedded.is_some() {
        embed::start(app);
    } else {
        compare::listen(app.compare);
    }
    app.screen.follow();
    app.requests.watch();
    app.requests.follow();
    app.play.follow();
    app.ledger.follow();
    let changed = move |_: &web_sys::Event| {
        if let Some(link) = address::read().shared {
            app.open(link);
        }
    };
    let typed = move |event: &web_sys::Event| {
        if let Some(event) = event.dyn_ref() {
            keys(app, event);
        }
    };
    // These listeners live as long as the page.
    EventListener::new(&window(), "hashchange", changed).forget();
    EventListener::new(&window(), "pagehide", move |_| app.browser_storage.leave()).forget();
    EventListener::new_with_options(&window(), "keydown", EventListenerOptions::enable_prevent_default(), typed).forget();
}

#[component]
fn Header(app: App) -> impl IntoView {
    let many = Memo::new(move |_| app.workspace.files.with(|files| files.len() > MOST_TABS));
    let tabs = move || {
        let is_live = app.live.is_on();
        if many.get() {
            return view! { <Picker app=app /> }.into_any();
        }
        let files = app.workspace.files.with(|files| files.iter().map(|file| file.name.clone()).collect::<Vec<_>>());
        files
            .into_iter()
            .enumerate()
            .map(|(at, name)| {
                let choose = move |_| {
                    app.workspace.activate(at);
                    app.screen.writing.set(true);
                };
                view! {
                    <span class="file" class:active=move || app.workspace.active.get() == at>
                        <button class="file-name" aria-current=move || (app.workspace.active.get() == at).to_string() title=name.clone() on:click=choose>{app.live.short_name(&name)}</button>
                        {(!is_live).then(|| view! { <button class="file-close" aria-label=format!("Close {name}") on:click=move |_| app.close(at)>"×"</button> })}
                    </span>
                }
            })
            .collect_view()
            .into_any()
    };
    view! {
        <header class="head">
            <h1 class="brand"><span class="brand-mark" aria-hidden="true"></span>"Chancery"</h1>
            {move || (!app.live.is_on()).then(|| view! { <p class="tagline">"Paste gateway YAML, see what Envoy does"</p> })}
            <button class="button" title="Open files, a folder or pasted text" on:click=move |_| app.screen.lay_over(Overlay::Open)>"Open"</button>
            <button class="button" on:click=move |_| app.screen.lay_over(Overlay::Gallery)>"Examples"</button>
            <nav class="files" aria-label="Files">{tabs}{move || (!app.live.is_on()).then(|| view! { <button class="quiet add" title="New file" aria-label="New file" on:click=move |_| app.add_file()>"+"</button> })}</nav>
            <div class="head-end">
                <button class="button" title="Options of the controller, as flags of the command line" on:click=move |_| app.screen.lay_over(Overlay::Options)>"Options"</button>
                <button class="button" title="Find anything (Ctrl K)" on:click=move |_| app.screen.lay_over(Overlay::Palette)>"Search" <kbd>"Ctrl K"</kbd></button>
                <button class="button" title="Export as a link or a file" on:click=move |_| app.screen.lay_over(Overlay::Share)>"Share"</button>
                <button class="quiet theme" title="Switch between light and dark (T)" on:click=move |_| app.screen.turn_theme()>"Theme"</button>
                <button class="quiet help" title="Keyboard shortcuts (?)" on:click=move |_| app.screen.lay_over(Overlay::Help)>"Help"</button>
            </div>
        </header>
    }
}

#[component]
fn ViewTabs(app: App) -> impl IntoView {
    let tab = move |(at, view): (usize, View)| {
        let badge = move || {
            let count = app.engine.compiled.with(|compiled| compiled.findings.iter().filter(|finding| finding.severity != "notice").count());
            let (bad, kept) = app.requests.count();
            match view {
                View::Findings => {
                    let idle = app.ledger.idle().count;
                    let findings = (count > 0).then(|| view! { <span class="badge" title="Errors and warnings">{count}</span> });
                    let idle =
                        (idle > 0).then(|| view! { <span class="badge idle-count" title="Inputs without an effect">{format!("{idle} idle")}</span> });
                    Some(view! { {findings} " " {idle} }.into_any())
                }
                View::Try if bad > 0 => {
                    Some(view! { <span class="badge" title=format!("{bad} of {kept} saved requests fail")>{bad}</span> }.into_any())
                }
                View::Try if kept > 0 => Some(view! { <span class="badge good" title="All saved requests pass">{kept}</span> }.into_any()),
                _ => None,
            }
        };
        let label = move || if view == View::Envoy { output(app) } else { view.label().into() };
        view! {
            <button
                class="tab" role="tab" id=format!("tab-{}", view.name()) aria-controls="view" aria-selected=move || (app.screen.view.get() == view).to_string()
                title=move || format!("{} ({})", label(), at + 1) on:click=move |_| app.screen.show(view)
            >{label} {badge}</button>
        }
    };
    // On a phone the tabs are wider than the page.
    Effect::new(move |_| {
        let id = if app.screen.writing.get() { "tab-editor".into() } else { format!("tab-{}", app.screen.view.get().name()) };
        if let Some(tab) = document().get_element_by_id(&id) {
            let options = web_sys::ScrollIntoViewOptions::new();
            options.set_block(web_sys::ScrollLogicalPosition::Nearest);
            options.set_inline(web_sys::ScrollLogicalPosition::Center);
            tab.scroll_into_view_with_scroll_into_view_options(&options);
        }
    });
    view! {
        <div class="tabs" role="tablist" aria-label="Views">
            <button class="tab tab-editor" id="tab-editor" role="tab" aria-selected=move || app.screen.writing.get().to_string() on:click=move |_| app.screen.writing.set(true)>"YAML"</button>
            {View::ALL.into_iter().chain((app.live.host != Host::None).then_some(View::Live)).enumerate().map(tab).collect_view()}
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

fn in_text(event: &KeyboardEvent) -> bool {
    let target = event.target().and_then(|target| target.dyn_into::<web_sys::HtmlElement>().ok());
    target.is_some_and(|target| matches!(target.tag_name().as_str(), "INPUT" | "TEXTAREA" | "SELECT") || target.is_content_editable())
}

/// Applies the fix of a finding on the selected line.
fn fix_selected_line(app: App) {
    let line = app.selection.target.get_untracked();
    let here = |span: &Span| matches!(&line, Some(Target::Line { file, line }) if *file == span.file && *line == span.line);
    let fix = app.engine.compiled.with_untracked(|compiled| {
        let found = compiled.findings.iter().find(|finding| finding.fix.is_some() && finding.span.as_ref().is_some_and(here));
        found.and_then(|finding| finding.fix.clone())
    });
    match fix {
        Some(fix) => app.engine.fix(&fix),
        None => app.screen.say("No finding on this line has a fix"),
    }
}

/// Handles shortcuts that work everywhere. `None` means that a letter shortcut may still apply; `Some` returns whether the key was handled.
fn command_key(app: App, event: &KeyboardEvent) -> Option<bool> {
    let command = event.ctrl_key() || event.meta_key();
    match event.key().as_str() {
        "k" if command => app.screen.lay_over(Overlay::Palette),
        "Escape" if app.screen.overlay.with_untracked(Option::is_some) => app.screen.overlay.set(None),
        "Escape" if app.play.at.with_untracked(Option::is_some) => app.play.close(),
        "Escape" if app.selection.details.with_untracked(Option::is_some) => {
            app.selection.release();
            return Some(false);
        }
        "ArrowLeft" if event.alt_key() => app.selection.walk(true),
        "ArrowRight" if event.alt_key() => app.selection.walk(false),
        "." if command => fix_selected_line(app),
        "s" if command && app.live.is_on_untracked() => app.live.save_shown(),
        _ if command || event.alt_key() => return Some(false),
        _ => return None,
    }
    Some(true)
}

/// Handles shortcuts of one letter, which do not work in text fields.
fn letter_key(app: App, key: &str) -> bool {
    match key {
        "?" => app.screen.lay_over(Overlay::Help),
        "j" => app.selection.step(true),
        "k" => app.selection.step(false),
        "t" => app.screen.turn_theme(),
        "p" if app.play.at.with_untracked(Option::is_some) => app.play.toggle(),
        "p" => app.play(),
        "ArrowRight" if app.play.at.with_untracked(Option::is_some) => app.play.step(true),
        "ArrowLeft" if app.play.at.with_untracked(Option::is_some) => app.play.step(false),
        "e" => {
            app.screen.writing.set(true);
            bridge::focus();
        }
        "8" if app.live.host != Host::None => app.screen.show(View::Live),
        digit => match digit.parse::<usize>().ok().and_then(|digit| View::ALL.get(digit.checked_sub(1)?).copied()) {
            Some(view) => app.screen.show(view),
            None => return false,
        },
    }
    true
}

fn keys(app: App, event: &KeyboardEvent) {
    let done = match command_key(app, event) {
        Some(done) => done,
        None if in_text(event) || app.screen.overlay.with_untracked(Option::is_some) => return,
        None => letter_key(app, &event.key()),
    };
    if done {
        event.prevent_default();
    }
}
