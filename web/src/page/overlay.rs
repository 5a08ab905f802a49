//! The overlays: examples, keyboard shortcuts, the palette, and pages of finding codes.

use crate::bridge;
use crate::compare::CompareTarget;
use crate::engine::reads_ingress_nginx;
use crate::examples;
use crate::link::ask;
use crate::options::OptionsDialog;
use crate::share::Share;
use crate::state::App;
use crate::storage::{self, Session};
use crate::view::{Overlay, View};
use crate::views::{ReachSheet, markdown};
use chancery_web::languages;
use chancery_web::protocol::{Doc, Finding, Named, NewController, Part, Question, Span, Target};
use leptos::html::Input;
use leptos::prelude::*;
use leptos::task::spawn_local;

/// The keyboard shortcuts and their effects.
const KEYS: &[(&str, &str)] = &[
    ("Ctrl K", "find anything or run a command"),
    ("1 to 7", "change the view"),
    ("J, K", "next and previous finding, outside the editor"),
    ("Escape", "clear the selection, close the dialog"),
    ("Escape, Tab", "leave the editor with the keyboard"),
    ("Alt ←, Alt →", "previous and next selection"),
    ("arrows", "move in a tree: open, close, up, down"),
    ("Enter", "select the focused row"),
    ("Ctrl F", "search in the editor"),
    ("Ctrl Space", "complete"),
    ("Ctrl .", "fix the finding on this line"),
    ("E", "go to the editor"),
    ("P", "play the request on the graph, or pause"),
    ("← and →", "previous and next step while a request plays"),
    ("L", "show the legend of the graph"),
    ("T", "switch between light and dark"),
    ("?", "show the keyboard shortcuts"),
];

/// The open overlay.
#[component]
pub fn Overlays(app: App) -> impl IntoView {
    let content = move || {
        app.screen.overlay.get().map(|overlay| match overlay {
            Overlay::Gallery => view! { <Sheet app=app title="Examples".to_string()><Gallery app=app /></Sheet> }.into_any(),
            Overlay::Open => view! { <Sheet app=app title="Open".to_string()><Bring app=app /></Sheet> }.into_any(),
            Overlay::Help => view! { <Sheet app=app title="Keys".to_string()><Keys /></Sheet> }.into_any(),
            Overlay::Sessions => view! { <Sheet app=app title="Earlier sessions".to_string()><Sessions app=app /></Sheet> }.into_any(),
            Overlay::Share => view! { <Sheet app=app title="Share".to_string()><Share app=app /></Sheet> }.into_any(),
            Overlay::Options => view! { <Sheet app=app title="Options".to_string()><OptionsDialog app=app /></Sheet> }.into_any(),
            Overlay::Files => view! { <Sheet app=app title="Files".to_string()><crate::host::picker::Files app=app /></Sheet> }.into_any(),
            Overlay::Connect => {
                view! { <Sheet app=app title="Connect to a cluster".to_string()><crate::host::connect::Connect app=app /></Sheet> }.into_any()
            }
            Overlay::Link(url) => view! { <Sheet app=app title="Open this link?".to_string()><Link app=app url=url /></Sheet> }.into_any(),
            Overlay::Palette => view! { <Palette app=app /> }.into_any(),
            Overlay::Reach(reach) => {
                view! { <Sheet app=app title=format!("Why not? {}", reach.of)><ReachSheet app=app reach=*reach /></Sheet> }.into_any()
            }
            Overlay::Page { code, text } => view! { <Sheet app=app title=code>{markdown::shown(&text)}</Sheet> }.into_any(),
        })
    };
    view! {
        {content}
        <div class="toast-room" role="status" aria-live="polite">{move || app.screen.toast.get().map(|word| view! {
            <p class="toast">{word} </p>
        })}</div>
    }
}

/// Asks before the page opens a link from outside the window.
#[component]
fn Link(app: App, url: String) -> impl IntoView {
    let size = url.len().div_ceil(1024);
    view! {
        <p class="dialog-text">{format!("A link from outside this window contains exported work ({size} KB). Opening it compiles and shows the work; it runs nothing.")}</p>
        <div class="share-row">
            <button class="button primary" on:click=move |_| app.open(url.clone())>"Open"</button>
            <button class="button" on:click=move |_| app.screen.overlay.set(None)>"Not now"</button>
        </div>
    }
}

#[component]
fn Sheet(app: App, title: String, children: Children) -> impl IntoView {
    let label = title.clone();
    let close = NodeRef::<leptos::html::Button>::new();
    Effect::new(move |_| {
        if let Some(close) = close.get() {
            let _ = close.focus();
        }
    });
    view! {
        <div class="veil" on:click=move |_| app.screen.overlay.set(None)></div>
        <section class="sheet" role="dialog" aria-modal="true" aria-label=label>
            <header class="sheet-head"><h1>{title}</h1><button class="quiet" node_ref=close aria-label="Close" on:click=move |_| app.screen.overlay.set(None)>"×"</button></header>
            <div class="sheet-body" tabindex="0">{children()}</div>
        </section>
    }
}

#[component]
fn Gallery(app: App) -> impl IntoView {
    let card = move |example: &'static examples::Example| {
        let findings = match example.findings() {
            0 => None,
            1 => Some("one finding".to_string()),
            count => Some(format!("{count} kinds of findings")),
        };
        view! {
            <button class="card" on:click=move |_| app.load_example(example)>
                <span class="card-name">{example.name}</span>
                <span class="card-summary">{markdown::words(&example.description())}</span>
                {findings.map(|findings| view! { <span class="card-foot"><span class="card-findings">{findings}</span></span> })}
            </button>
        }
    };
    let group = move |(dialect, controller): (&'static str, &'static str)| {
        let cards = examples::ALL.iter().filter(|example| example.dialect == dialect).map(card).collect_view();
        view! { <h2 class="gallery-name">{controller}</h2> {cards} }
    };
    view! { <div class="gallery">{languages::with_controllers().map(group).collect_view()}</div> }
}

/// The ways to open files.
#[component]
fn Bring(app: App) -> impl IntoView {
    view! {
        <div class="bring">
            <div class="share-row">
                <button class="button primary" on:click=move |_| crate::files::choose(app, false)>"Choose files"</button>
                <button class="button" on:click=move |_| crate::files::choose(app, true)>"Choose a folder"</button>
            </div>
            <p class="dialog-text">"Or drop files onto the page, or paste text into the editor. The page reads:"</p>
            <ul class="bring-list">
                <li>"YAML and JSON of resources, also from " <code>"kubectl get -A -o yaml"</code> " and " <code>"helm template"</code></li>
                <li>"zip archives and folders of such files"</li>
                <li>"the configuration of an Envoy: " <code>"/config_dump"</code> " or a bootstrap, for comparison"</li>
                <li>"snapshots and links from this page"</li>
                <li>"a " <code>"curl"</code> " command, to see what happens to its request"</li>
            </ul>
            <p class="share-hint">"The dialect is detected. Nothing leaves this page."</p>
        </div>
    }
}

#[component]
fn Sessions(app: App) -> impl IntoView {
    let all = storage::sessions();
    let nothing = all.is_empty().then(|| view! { <p class="empty">"Nothing yet. When an example, a link or an empty page replaces your work, the work is kept here, in this browser."</p> });
    let card = |session: Session| {
        let when = String::from(js_sys::Date::new(&session.when.into()).to_locale_string("default", &wasm_bindgen::JsValue::UNDEFINED));
        let (title, summary) = (session.title(), session.summary());
        let open = move |_| {
            app.browser_storage.put_aside();
            app.load(session.work.clone(), session.requests.clone());
            app.screen.overlay.set(None);
        };
        view! { <button class="card" on:click=open><span class="card-name">{title}</span><span class="card-summary">{summary}</span><span class="card-foot">{when}</span></button> }
    };
    view! { <div class="gallery">{all.into_iter().map(card).collect_view()}</div> {nothing} }
}

#[component]
fn Keys() -> impl IntoView {
    let row = |(keys, effect): &(&'static str, &'static str)| view! { <tr><th scope="row"><kbd>{*keys}</kbd></th><td>{*effect}</td></tr> };
    view! { <table class="keys"><tbody>{KEYS.iter().map(row).collect_view()}</tbody></table> }
}

/// An entry of the palette.
#[derive(Clone)]
struct Choice {
    label: String,
    detail: String,
    act: Callback<()>,
}

/// The commands.
fn commands(app: App) -> Vec<Choice> {
    let command = |label: &str, act: Callback<()>| Choice { label: label.into(), detail: "command".into(), act };
    let sheet = |label: &str, overlay: Overlay| command(label, Callback::new(move |()| app.screen.lay_over(overlay.clone())));
    let moves = NewController::ALL.map(|to| {
        let show = move |()| {
            app.compare.with.set(CompareTarget::Moved(to));
            app.screen.show(View::Compare);
        };
        command(&format!("Move from ingress-nginx to {}", to.label()), Callback::new(show))
    });
    let mut all = vec![
        sheet("Open files or a folder", Overlay::Open),
        sheet("Examples", Overlay::Gallery),
        command("Switch between light and dark", Callback::new(move |()| app.screen.turn_theme())),
        sheet("Earlier sessions", Overlay::Sessions),
        sheet("Share", Overlay::Share),
        sheet("Options", Overlay::Options),
        command("Pin this state for comparison", Callback::new(move |()| app.browser_storage.pin())),
        command("Clear everything", Callback::new(move |()| app.clear())),
        sheet("Keys", Overlay::Help),
        command("Format this file", Callback::new(move |()| crate::files::format(app))),
        command("Search in the editor", Callback::new(move |()| bridge::find())),
    ];
    if app.engine.compiled.with_untracked(reads_ingress_nginx) {
        all.extend(moves);
    }
    all
}

/// Findings, resources and examples, by name.
fn found(app: App) -> Vec<Choice> {
    let finding = |finding: &Finding| {
        let span = finding.span.clone()?;
        let detail = format!("{} at {}:{}", finding.severity, span.file, span.line);
        Some(Choice { label: finding.shown_message().replace('`', ""), detail, act: Callback::new(move |()| app.selection.go(&span)) })
    };
    let named = |named: &Named| {
        let span = Span { file: named.file.clone(), line: named.line, end_line: named.line, column: 0, end_column: 0 };
        let detail = format!("{}:{}", named.file, named.line);
        Choice { label: named.label.clone(), detail, act: Callback::new(move |()| app.selection.go(&span)) }
    };
    app.engine.compiled.with_untracked(|compiled| {
        let names = compiled.names.iter().map(named);
        names.chain(compiled.findings.iter().filter_map(finding)).collect()
    })
}

/// A route or a cluster. Choosing it shows its place in Envoy's configuration.
fn part(app: App, part: Part) -> Choice {
    let Part { sort, label, detail, pointer } = part;
    let act = Callback::new(move |()| {
        app.screen.show(if sort == "route" { View::Routes } else { View::Envoy });
        app.selection.select(Target::Place { doc: Doc::Envoy, pointer: pointer.clone() });
    });
    Choice { label, detail, act }
}

fn choices(app: App) -> Vec<Choice> {
    let show =
        |view: View| Choice { label: format!("Show {}", view.label()), detail: "view".into(), act: Callback::new(move |()| app.screen.show(view)) };
    let example = |example: &'static examples::Example| Choice {
        label: format!("Example: {}", example.name),
        detail: example.dialect.into(),
        act: Callback::new(move |()| app.load_example(example)),
    };
    let mut out = found(app);
    out.extend(View::ALL.map(show));
    out.extend(commands(app));
    out.extend(examples::ALL.iter().map(example));
    out
}

/// How well a text matches a search; lower is better. Matches at the start of a word rank first, then inside a word, then word by word.
fn match_rank(text: &str, wanted: &str) -> Option<usize> {
    let text = text.to_lowercase();
    match text.find(wanted) {
        Some(0) => return Some(0),
        Some(at) if !text[..at].ends_with(char::is_alphanumeric) => return Some(at),
        Some(at) => return Some(500 + at),
        None => {}
    }
    let words = || wanted.split_whitespace();
    (words().count() > 1 && words().all(|word| text.contains(word))).then_some(1000 + text.len())
}

/// The largest number of listed entries.
const MOST: usize = 60;

/// The indexes of the matching entries, best first, and whether routes and clusters are loaded.
fn hits(app: App, all: StoredValue<Vec<Choice>>, wanted: RwSignal<String>) -> (RwSignal<bool>, Memo<Vec<usize>>) {
    let asked = RwSignal::new(false);
    spawn_local(async move {
        if let Ok(parts) = ask::<Vec<Part>>(Question::Parts).await {
            all.try_update_value(|all| all.extend(parts.into_iter().map(|of| part(app, of))));
            let _ = asked.try_set(true);
        }
    });
    let shown = Memo::new(move |_| {
        asked.track();
        let wanted = wanted.get().trim().to_lowercase();
        let rank = |(at, choice): (usize, &Choice)| Some((match_rank(&format!("{} {}", choice.label, choice.detail), &wanted)?, at));
        let mut hits: Vec<(usize, usize)> = all.with_value(|all| all.iter().enumerate().filter_map(rank).collect());
        hits.sort();
        hits.into_iter().take(MOST).map(|(_, at)| at).collect::<Vec<_>>()
    });
    (asked, shown)
}

#[component]
fn Palette(app: App) -> impl IntoView {
    let all = StoredValue::new(choices(app));
    let wanted = RwSignal::new(String::new());
    let at = RwSignal::new(0_usize);
    let input = NodeRef::<Input>::new();
    Effect::new(move |_| {
        if let Some(input) = input.get() {
            let _ = input.focus();
        }
    });
    let (asked, shown) = hits(app, all, wanted);
    let run = move |which: usize| {
        let act = shown.with_untracked(|shown| shown.get(which).copied()).and_then(|at| all.with_value(|all| all.get(at).map(|choice| choice.act)));
        app.screen.overlay.set(None);
        if let Some(act) = act {
            act.run(());
        }
    };
    let keys = move |event: leptos::ev::KeyboardEvent| {
        let count = shown.with_untracked(Vec::len).max(1);
        match event.key().as_str() {
            "ArrowDown" => at.update(|at| *at = (*at + 1) % count),
            "ArrowUp" => at.update(|at| *at = (*at + count - 1) % count),
            "Enter" => run(at.get_untracked()),
            _ => return,
        }
        event.prevent_default();
    };
    let rows = move || {
        shown.get().into_iter().enumerate().filter_map(|(row, index)| {
            let choice = all.with_value(|all| all.get(index).cloned())?;
            Some(view! {
                <li id=format!("choice-{row}") role="option" class="choice" aria-selected=move || (at.get() == row).to_string() on:click=move |_| run(row) on:mousemove=move |_| at.set(row)>
                    <span class="choice-label">{choice.label}</span><span class="choice-detail">{choice.detail}</span>
                </li>
            })
        }).collect_view()
    };
    let nothing = move || {
        (shown.with(Vec::is_empty) && asked.get())
            .then(|| view! { <p class="empty">"No resource, route, cluster, finding, view, example or command matches."</p> })
    };
    view! {
        <div class="redaction_map" on:click=move |_| app.screen.overlay.set(None)></div>
        <section class="sheet palette" role="dialog" aria-modal="true" aria-label="Find anything">
            <input
                class="palette-input" node_ref=input type="text" placeholder="A resource, route, cluster, finding, view or command" aria-label="Find anything"
                role="combobox" aria-expanded="true" aria-controls="choices" aria-activedescendant=move || format!("choice-{}", at.get())
                on:input=move |event| { wanted.set(event_target_value(&event)); at.set(0); } on:keydown=keys
            />
            <ul class="choices" id="choices" role="listbox" aria-label="Results">{rows}</ul>
            {nothing}
        </section>
    }
}
