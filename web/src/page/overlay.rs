//! What lies over the page: examples, keys, the palette, and pages of codes.
//!
//! What must not be here: the views.

use crate::editor;
use crate::examples;
use crate::share::Share;
use crate::state::{App, Overlay, View};
use crate::storage::{self, Session};
use crate::views::markdown;
use chancery_web::protocol::Span;
use leptos::html::Input;
use leptos::prelude::*;

/// The keys, and what they do.
const KEYS: &[(&str, &str)] = &[
    ("Ctrl K", "find anything, or a command"),
    ("1 to 7", "change the view"),
    ("J, K", "next and previous finding"),
    ("Escape", "let go of the selection, close what is open"),
    ("Alt ←, Alt →", "selections before and after"),
    ("arrows", "walk a tree: open, close, up, down"),
    ("Enter", "select what the cursor is on"),
    ("Ctrl F", "find in the text"),
    ("Ctrl Space", "what may be written here"),
    ("Ctrl .", "mend the finding on this line"),
    ("E", "to the editor"),
    ("T", "light or dark"),
    ("?", "these keys"),
];

/// Whatever lies over the page.
#[component]
pub fn Overlays(app: App) -> impl IntoView {
    let content = move || {
        app.overlay.get().map(|overlay| match overlay {
            Overlay::Gallery => view! { <Sheet app=app title="Examples".to_string()><Gallery app=app /></Sheet> }.into_any(),
            Overlay::Help => view! { <Sheet app=app title="Keys".to_string()><Keys /></Sheet> }.into_any(),
            Overlay::Sessions => view! { <Sheet app=app title="Work that was put aside".to_string()><Sessions app=app /></Sheet> }.into_any(),
            Overlay::Share => view! { <Sheet app=app title="Share".to_string()><Share app=app /></Sheet> }.into_any(),
            Overlay::Palette => view! { <Palette app=app /> }.into_any(),
            Overlay::Page { code, text } => view! { <Sheet app=app title=code>{markdown::shown(&text)}</Sheet> }.into_any(),
        })
    };
    view! {
        {content}
        <div class="toast-room" role="status" aria-live="polite">{move || app.toast.get().map(|word| view! {
            <p class="toast">{word} {move || app.cleared.with(Option::is_some).then(|| view! { <button class="toast-act" on:click=move |_| app.bring_back()>"Bring it back"</button> })}</p>
        })}</div>
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
        <div class="veil" on:click=move |_| app.overlay.set(None)></div>
        <section class="sheet" role="dialog" aria-modal="true" aria-label=label>
            <header class="sheet-head"><h1>{title}</h1><button class="quiet" node_ref=close aria-label="Close" on:click=move |_| app.overlay.set(None)>"×"</button></header>
            <div class="sheet-body" tabindex="0">{children()}</div>
        </section>
    }
}

#[component]
fn Gallery(app: App) -> impl IntoView {
    let cards = examples::ALL.iter().map(|example| {
        let findings = match example.findings() {
            0 => None,
            1 => Some("one finding".to_string()),
            count => Some(format!("{count} kinds of findings")),
        };
        view! {
            <button class="card" on:click=move |_| app.load_example(example)>
                <span class="card-name">{example.name}</span>
                <span class="card-told">{example.told()}</span>
                <span class="card-foot">{example.dialect} {findings.map(|findings| view! { <span class="card-findings">{findings}</span> })}</span>
            </button>
        }
    });
    view! { <div class="gallery">{cards.collect_view()}</div> }
}

#[component]
fn Sessions(app: App) -> impl IntoView {
    let all = storage::sessions();
    let nothing = all.is_empty().then(|| view! { <p class="empty">"Nothing yet. What you edit is put aside here when an example, a link or an empty page takes its place. It stays in this browser."</p> });
    let card = |session: Session| {
        let when = String::from(js_sys::Date::new(&session.when.into()).to_locale_string("default", &wasm_bindgen::JsValue::UNDEFINED));
        let (title, told) = (session.title(), session.told());
        let open = move |_| {
            app.put_aside();
            app.load(session.work.clone(), session.requests.clone());
            app.overlay.set(None);
        };
        view! { <button class="card" on:click=open><span class="card-name">{title}</span><span class="card-told">{told}</span><span class="card-foot">{when}</span></button> }
    };
    view! { <div class="gallery">{all.into_iter().map(card).collect_view()}</div> {nothing} }
}

#[component]
fn Keys() -> impl IntoView {
    let row = |(keys, told): &(&'static str, &'static str)| view! { <tr><th scope="row"><kbd>{*keys}</kbd></th><td>{*told}</td></tr> };
    view! { <table class="keys"><tbody>{KEYS.iter().map(row).collect_view()}</tbody></table> }
}

/// What can be chosen in the palette.
#[derive(Clone)]
struct Choice {
    label: String,
    detail: String,
    act: Callback<()>,
}

fn choices(app: App) -> Vec<Choice> {
    let mut out = Vec::new();
    let mut add = |label: String, detail: &str, act: Callback<()>| out.push(Choice { label, detail: detail.into(), act });
    for view in View::ALL {
        add(format!("Show {}", view.label()), "view", Callback::new(move |()| app.show(view)));
    }
    add("Examples".into(), "command", Callback::new(move |()| app.overlay.set(Some(Overlay::Gallery))));
    add("Light or dark".into(), "command", Callback::new(move |()| crate::app::turn_theme(app)));
    add("Work that was put aside".into(), "command", Callback::new(move |()| app.overlay.set(Some(Overlay::Sessions))));
    add("Share".into(), "command", Callback::new(move |()| app.overlay.set(Some(Overlay::Share))));
    add("Pin this state, to compare with".into(), "command", Callback::new(move |()| app.pin()));
    add("Clear everything".into(), "command", Callback::new(move |()| app.clear()));
    add("Keys".into(), "command", Callback::new(move |()| app.overlay.set(Some(Overlay::Help))));
    add("Format this file".into(), "command", Callback::new(move |()| crate::files::format(app)));
    add("Find in the text".into(), "command", Callback::new(move |()| editor::find()));
    app.compiled.with_untracked(|compiled| {
        for finding in &compiled.findings {
            if let Some(span) = finding.span.clone() {
                let detail = format!("{} at {}:{}", finding.severity, span.file, span.line);
                out.push(Choice { label: finding.message.replace('`', ""), detail, act: Callback::new(move |()| app.go(&span)) });
            }
        }
        for named in &compiled.names {
            let span = Span { file: named.file.clone(), line: named.line, end_line: named.line, column: 0, end_column: 0 };
            let detail = format!("{}:{}", named.file, named.line);
            out.push(Choice { label: named.label.clone(), detail, act: Callback::new(move |()| app.go(&span)) });
        }
    });
    for example in examples::ALL {
        out.push(Choice {
            label: format!("Example: {}", example.name),
            detail: example.dialect.into(),
            act: Callback::new(move |()| app.load_example(example)),
        });
    }
    out
}

/// Whether all letters of `wanted` come in `text`, in their order; lower is better.
fn fit(text: &str, wanted: &str) -> Option<usize> {
    let text = text.to_lowercase();
    if let Some(at) = text.find(wanted) {
        return Some(at);
    }
    let mut rest = text.chars();
    wanted.chars().all(|c| rest.any(|other| other == c)).then_some(1000 + text.len())
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
    let shown = Memo::new(move |_| {
        let wanted = wanted.get().to_lowercase();
        all.with_value(|all| {
            let mut hits: Vec<(usize, usize)> =
                all.iter().enumerate().filter_map(|(at, choice)| Some((fit(&format!("{} {}", choice.label, choice.detail), &wanted)?, at))).collect();
            hits.sort_unstable();
            hits.into_iter().take(60).map(|(_, at)| at).collect::<Vec<_>>()
        })
    });
    let run = move |which: usize| {
        let act = shown.with_untracked(|shown| shown.get(which).copied()).and_then(|at| all.with_value(|all| all.get(at).map(|choice| choice.act)));
        app.overlay.set(None);
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
    view! {
        <div class="veil" on:click=move |_| app.overlay.set(None)></div>
        <section class="sheet palette" role="dialog" aria-modal="true" aria-label="Find anything">
            <input
                class="palette-input" node_ref=input type="text" placeholder="A resource, a finding, a view, a command" aria-label="Find anything"
                role="combobox" aria-expanded="true" aria-controls="choices" aria-activedescendant=move || format!("choice-{}", at.get())
                on:input=move |event| { wanted.set(event_target_value(&event)); at.set(0); } on:keydown=keys
            />
            <ul class="choices" id="choices" role="listbox" aria-label="Results">{rows}</ul>
        </section>
    }
}
