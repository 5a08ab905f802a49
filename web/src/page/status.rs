//! The status bar, and the line about newly opened work.

use crate::engine::Progress;
use crate::state::App;
use crate::view::View;
use crate::views::markdown::words;
use chancery_core::text::series;
use chancery_web::languages;
use chancery_web::protocol::Compiled;
use leptos::prelude::*;

fn counted(count: usize, one: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {one}{s}")
}

/// The switch between gateways, if there are several.
#[component]
fn Gateways(app: App) -> impl IntoView {
    let choose = move |event| {
        app.workspace.gateway.set(Some(event_target_value(&event)));
        app.engine.compile();
    };
    move || {
        let (names, shown) = app.engine.compiled.with(|compiled| (compiled.gateways.clone(), compiled.gateway.clone()));
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

/// The dialects as options of a list.
fn dialect_options(app: App) -> impl IntoView {
    let option = |name: &'static str| {
        let chosen = move || app.engine.compiled.with(|compiled| compiled.dialect == name && compiled.unsupported.is_none());
        view! { <option value=name selected=chosen>{name}</option> }
    };
    languages::names().map(option).collect_view()
}

/// The detected controllers, for example `Contour`, or `Emissary and Contour`.
fn read_as(compiled: &Compiled) -> String {
    if compiled.read_as.is_empty() { compiled.dialect.clone() } else { series(&compiled.read_as) }
}

/// The line about newly opened work, with undo.
#[component]
pub fn Arrived(app: App) -> impl IntoView {
    let arrival = app.browser_storage.arrival;
    let describe = move |unread: &[String], cleared: bool| {
        if cleared {
            return "Everything was cleared.".to_string();
        }
        let read = app.engine.compiled.with(|compiled| match &compiled.unsupported {
            Some(unsupported) => unsupported.clone(),
            None => format!("Read as {}: {}.", read_as(compiled), counted(compiled.resources, "resource")),
        });
        if unread.is_empty() { read } else { format!("{read} Not read: {}.", unread.join(", ")) }
    };
    let choose = move |event| app.read_as(Some(event_target_value(&event)));
    move || {
        arrival.get().map(|of| {
            let cleared = of.cleared;
            let others = (!cleared).then(|| view! {
                <label class="arrived-as">"or read as " <select aria-label="Read as" on:change=choose>{move || dialect_options(app)}</select></label>
            });
            view! {
                <p class="arrived" role="status">
                    <span class="arrived-message">{move || words(&describe(&of.unread, cleared))}</span>
                    <button class="link" on:click=move |_| app.undo()>"Restore the previous work"</button>
                    {others}
                    <button class="quiet arrived-close" aria-label="Close this line" on:click=move |_| arrival.set(None)>"×"</button>
                </p>
            }
        })
    }
}

/// The line about a failed compile. The next edit removes it.
#[component]
pub fn Stopped(app: App) -> impl IntoView {
    let why = move || match app.engine.progress.get() {
        Progress::Lost => Some("The compiler could not be loaded. Your work is still here."),
        Progress::Ended => Some("The compile stopped without a result."),
        Progress::Idle | Progress::First | Progress::Slow => None,
    };
    move || {
        why().map(|why| {
            view! {
                <p class="arrived stopped" role="alert">
                    <span>{why}</span>
                    <button class="button" on:click=move |_| app.engine.compile()>"Try again"</button>
                </p>
            }
        })
    }
}

fn progress(app: App) -> String {
    match app.engine.progress.get() {
        Progress::Idle if app.engine.generation.get() == 0 => "compiling…".into(),
        Progress::Idle => app
            .engine
            .compiled
            .with(|compiled| format!("compiled in {}", if compiled.took < 1.0 { "under 1 ms".into() } else { format!("{:.0} ms", compiled.took) })),
        Progress::First => "loading the compiler…".into(),
        Progress::Slow => "compiling…".into(),
        Progress::Lost => "the compiler could not be loaded".into(),
        Progress::Ended => "stopped without a result".into(),
    }
}

/// The switch between dialects.
#[component]
fn Dialects(app: App) -> impl IntoView {
    let choose = move |event| app.read_as(Some(event_target_value(&event)).filter(|name| !name.is_empty()));
    let unsupported = move || app.engine.compiled.with(|compiled| compiled.unsupported.is_some());
    // Envoy's own configuration is of no dialect.
    let other = move || app.engine.compiled.with(|compiled| compiled.dialect == "envoy");
    let detect = move || match (app.workspace.chosen.get(), unsupported()) {
        _ if other() => Some(view! { <option value="" selected=true>"Envoy configuration"</option> }.into_any()),
        (true, _) => Some(view! { <option value="">"detect"</option> }.into_any()),
        (false, true) => Some(view! { <option value="" selected=true>"not supported"</option> }.into_any()),
        (false, false) => None,
    };
    let beside = move || app.engine.compiled.with(|compiled| (compiled.read_as.len() > 1).then(|| format!("of {}", read_as(compiled))));
    view! {
        <label class="status-item dialect"><span class="visually-hidden">"Dialect"</span><select aria-label="Dialect" on:change=choose>{detect}{move || dialect_options(app)}</select></label>
        {move || beside().map(|beside| view! { <span class="status-item wide-only">{beside}</span> })}
    }
}

/// The status bar.
#[component]
pub fn Status(app: App) -> impl IntoView {
    let severity = move |severity: &'static str| {
        let count = move || app.engine.count(severity);
        view! {
            <button class="status-item" class:nothing=move || count() == 0 on:click=move |_| app.screen.show(View::Findings)>
                <span class=format!("mark {severity}") aria-hidden="true"></span>{move || counted(count(), severity)}
            </button>
        }
    };
    let compiled = app.engine.compiled;
    view! {
        <footer class="status">
            <Dialects app=app/>
            <Gateways app=app/>
            <span class="status-item">{move || counted(compiled.with(|compiled| compiled.resources), "resource")}</span>
            {severity("error")} {severity("warning")}
            <span class="status-item wide-only">{move || counted(compiled.with(|compiled| compiled.routes), "route")}</span>
            <span class="status-item wide-only">{move || counted(compiled.with(|compiled| compiled.clusters), "cluster")}</span>
            <span class="status-item grow" class:wrong=move || matches!(app.engine.progress.get(), Progress::Ended | Progress::Lost) role="status">{move || progress(app)}</span>
            {move || match app.live.is_on() {
                true => view! { <span class="status-item local" title="The program around this page provides the inputs. This page compiles them and sends nothing elsewhere.">"live"</span> },
                false => view! { <span class="status-item local" title="This page compiles everything itself and sends nothing anywhere.">"local only"</span> },
            }}
        </footer>
    }
}
