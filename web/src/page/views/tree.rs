//! A document as a tree of rows, of which only those in sight are there.
//!
//! What must not be here: which rows there are; the worker knows.

use crate::link::ask;
use crate::state::{App, View};
use chancery_web::protocol::{Doc, Form, Found, Question, Row, Rows, Target};
use leptos::attr::custom::custom_attribute;
use leptos::ev::KeyboardEvent;
use leptos::html::Div;
use leptos::prelude::*;
use leptos::task::spawn_local;

/// A row's height, in pixels; the style sheet says the same.
const HEIGHT: f64 = 22.0;

/// Rows that are asked for beyond those in sight, each way.
const AROUND: u32 = 60;

/// The view of a document.
#[component]
pub fn TreeView(app: App, doc: Doc) -> impl IntoView {
    let rows = RwSignal::new(Rows::default());
    let cursor = RwSignal::new(None::<u32>);
    let wanted = RwSignal::new(String::new());
    let found = RwSignal::new(None::<Found>);
    let host = NodeRef::<Div>::new();
    let in_sight = move || {
        let Some(host) = host.try_get_untracked().flatten() else { return (0, 60) };
        let first = (f64::from(host.scroll_top()) / HEIGHT).max(0.0) as u32;
        (first, (f64::from(host.client_height()) / HEIGHT).ceil() as u32 + 1)
    };
    let scroll_to = move |row: u32| {
        let Some(host) = host.try_get_untracked().flatten() else { return };
        let (top, height) = (f64::from(row) * HEIGHT, f64::from(host.client_height()));
        let now = f64::from(host.scroll_top());
        if top < now || top + HEIGHT > now + height {
            host.set_scroll_top((top - height / 3.0).max(0.0) as i32);
        }
    };
    // Whether it is shown for the first time, or anew: what is selected comes into sight then.
    let anew = StoredValue::new(true);
    let load = move || {
        let (first, many) = in_sight();
        let from = first.saturating_sub(AROUND);
        spawn_local(async move {
            let Ok(answer) = ask::<Rows>(Question::Rows { doc, from, count: many + 2 * AROUND }).await else { return };
            let lit = answer.lit.filter(|_| anew.try_get_value() == Some(true));
            let _ = rows.try_set(answer);
            anew.try_update_value(|anew| *anew = false);
            if let Some(row) = lit {
                request_animation_frame(move || scroll_to(row));
            }
        });
    };
    Effect::new(move |_| {
        app.generation.track();
        host.track();
        load();
    });
    // The selection changes which rows belong to it, and its first one comes into sight.
    Effect::new(move |_| {
        let lit = app.thread.with(|thread| thread.as_ref().and_then(|thread| thread.rows.iter().find(|(its, _)| *its == doc).map(|(_, row)| *row)));
        load();
        if let Some(row) = lit {
            spawn_local(async move {
                // Its height must be known before it can be scrolled to.
                if let Ok(answer) = ask::<Rows>(Question::Rows { doc, from: row.saturating_sub(AROUND), count: 3 * AROUND }).await {
                    let _ = rows.try_set(answer);
                }
                request_animation_frame(move || scroll_to(row));
            });
        }
    });
    let on_scroll = move |_| {
        let (first, many) = in_sight();
        let (from, to) = rows.with_untracked(|rows| (rows.from, rows.from + rows.rows.len() as u32));
        if first < from || (first + many > to && to < rows.with_untracked(|rows| rows.total)) {
            load();
        }
    };
    let change = move |question: Question| {
        spawn_local(async move {
            if ask::<Rows>(question).await.is_ok() {
                load();
            }
        });
    };
    let search = move |back: bool| {
        let (text, after) = (wanted.get_untracked(), found.with_untracked(|found| found.as_ref().and_then(|found| found.node)));
        spawn_local(async move {
            if let Ok(answer) = ask::<Found>(Question::Find { doc, text, after, back }).await {
                // Another view may be shown by now.
                if rows.try_update(|rows| rows.total = answer.total).is_none() {
                    return;
                }
                let row = answer.row;
                cursor.set(answer.node);
                found.set(Some(answer));
                load();
                if let Some(row) = row {
                    request_animation_frame(move || {
                        scroll_to(row);
                        load();
                    });
                }
            }
        });
    };
    let keys = move |event: KeyboardEvent| {
        let list = rows.get_untracked();
        let at = cursor.get_untracked().and_then(|node| list.rows.iter().position(|row| row.node == node));
        let step = |to: usize| {
            // Lines that only close something are passed over.
            let closes = |to: &usize| list.rows.get(*to).is_some_and(|row| row.sort == "close");
            let onward =
                if at.is_some_and(|at| to < at) { (0..=to).rev().find(|to| !closes(to)) } else { (to..list.rows.len()).find(|to| !closes(to)) };
            let to = onward.unwrap_or(to);
            if let Some(row) = list.rows.get(to) {
                cursor.set(Some(row.node));
                scroll_to(list.from + to as u32);
            }
        };
        let row = at.and_then(|at| list.rows.get(at));
        match (event.key().as_str(), at, row) {
            ("ArrowDown", Some(at), _) => step(at + 1),
            ("ArrowUp", Some(at), _) => step(at.saturating_sub(1)),
            ("ArrowDown" | "ArrowUp", None, _) => step(0),
            ("ArrowRight", _, Some(row)) if row.open == Some(false) => change(Question::Toggle { doc, node: row.node }),
            ("ArrowLeft", _, Some(row)) if row.open == Some(true) => change(Question::Toggle { doc, node: row.node }),
            ("ArrowLeft", Some(at), Some(row)) => {
                if let Some(parent) = list.rows.iter().take(at).rposition(|above| above.depth < row.depth) {
                    step(parent);
                }
            }
            ("Enter" | " ", _, Some(row)) => app.select(Target::Row { doc, node: row.node }),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };
    let counted = move || {
        found.get().filter(|_| wanted.with(|wanted| !wanted.is_empty())).map(|found| match found.count {
            0 => "no match".to_string(),
            1 => "1 match".into(),
            count => format!("{count} matches"),
        })
    };
    let form = move || rows.with(|rows| rows.form);
    let written = move |what: Form, label: &'static str| {
        view! { <button aria-pressed=move || (form() == what).to_string() on:click=move |_| { anew.set_value(true); change(Question::Form { doc, form: what }); }>{label}</button> }
    };
    let total = move || rows.with(|rows| f64::from(rows.total) * HEIGHT);
    let label = match doc {
        Doc::Envoy => "Envoy's configuration",
        Doc::Ir => "Intermediate representation",
        Doc::Config => "Configuration as loaded",
    };
    view! {
        <div class="bar tree-bar">
            <input
                class="field grow" type="search" placeholder="Search keys and values" aria-label=format!("Search: {label}")
                prop:value=move || wanted.get()
                on:input=move |event| { wanted.set(event_target_value(&event)); found.set(None); search(false); }
                on:keydown=move |event| if event.key() == "Enter" { search(event.shift_key()) }
            />
            <span class="count" aria-live="polite">{counted}</span>
            {move || (form() == Form::Tree).then(|| view! {
                <button class="quiet" title="Open everything" on:click=move |_| change(Question::Fold { doc, open: true })>"Open all"</button>
                <button class="quiet" title="Close everything" on:click=move |_| change(Question::Fold { doc, open: false })>"Close all"</button>
            })}
            <div class="segments" role="group" aria-label="Written as">
                {written(Form::Tree, "Tree")} {written(Form::Yaml, "YAML")} {written(Form::Json, "JSON")}
            </div>
            <button class="quiet" title="Copy all of it: as JSON, or where YAML is shown as YAML" on:click=move |_| app.copy_document(doc, form() == Form::Yaml)>"Copy"</button>
            {(doc == Doc::Envoy).then(|| view! { <button class="quiet" title="Save the bootstrap as envoy.yaml; key material is left out" on:click=move |_| app.save_bootstrap()>"Download"</button> })}
        </div>
        <div
            class="tree scroll" class:text=move || form() != Form::Tree class:threaded=move || app.thread.with(Option::is_some) node_ref=host tabindex="0" role="tree" aria-label=label
            on:scroll=on_scroll on:keydown=keys
        >
            <div class="tree-size" style:height=move || format!("{}px", total())>
                {move || {
                    let rows = rows.get();
                    let from = rows.from;
                    rows.rows
                        .into_iter()
                        .enumerate()
                        .map(|(at, row)| {
                            let top = f64::from(from + at as u32) * HEIGHT;
                            view! { <TreeRow app=app doc=doc row=row top=top cursor=cursor change=Callback::new(change) /> }
                        })
                        .collect_view()
                }}
            </div>
            {move || (rows.with(|rows| rows.total) == 0 && app.generation.get() > 0).then(|| view! {
                <p class="empty">"Nothing was made. Resources in the editor fill this; the examples show how."
                <button class="link" on:click=move |_| app.overlay.set(Some(crate::state::Overlay::Gallery))>"Open the examples"</button></p>
            })}
        </div>
    }
}

#[component]
fn TreeRow(app: App, doc: Doc, row: Row, top: f64, cursor: RwSignal<Option<u32>>, change: Callback<Question>) -> impl IntoView {
    let node = row.node;
    let is_default = row.rule.as_deref() == Some("default") && row.from.is_none();
    let holds = matches!(row.sort.as_str(), "object" | "array") && row.open.is_some();
    let class = format!(
        "row{}{}{}{}",
        if row.lit { " lit" } else { "" },
        if row.holds_lit { " holds-lit" } else { "" },
        if is_default { " default" } else { "" },
        if row.item { " item" } else { "" }
    );
    let twisty = row.open.map(|open| {
        view! {
            <button
                class="twisty" tabindex="-1" aria-label=if open { "Close" } else { "Open" }
                on:click=move |event| { event.stop_propagation(); change.run(Question::Toggle { doc, node }); }
            >{if open { "▾" } else { "▸" }}</button>
        }
    });
    let source = row.from.clone().map(|span| {
        let label = format!("{}:{}", span.file, span.line);
        view! {
            <button class="origin" tabindex="-1" title=row.why.clone().unwrap_or_default() on:click=move |event| { event.stop_propagation(); app.go(&span); }>{label}</button>
        }
    });
    let built_in = is_default.then(|| view! { <span class="origin none" title=row.why.clone().unwrap_or_default()>"default"</span> });
    let value_class = format!("value {}", if holds { "holder" } else { row.sort.as_str() });
    let key = row.key.clone();
    let is_text = row.around.is_some();
    let (lead, behind) = row.around.clone().unwrap_or_default();
    let mark = match (is_text && !key.is_empty(), row.text.is_empty()) {
        (false, _) => "",
        (true, true) => ":",
        (true, false) => ": ",
    };
    let text = match (holds, row.sort.as_str()) {
        (true, "array") => format!("[{}]", row.text),
        _ => row.text.clone(),
    };
    view! {
        <div
            class=class class:cursor=move || cursor.get() == Some(node) role="treeitem" {..custom_attribute("aria-level", (row.depth + 1).to_string())}
            aria-expanded=row.open.map(|open| open.to_string()) aria-selected=row.lit.to_string() style:top=format!("{top}px") title=row.why.clone()
            on:click=move |_| { cursor.set(Some(node)); app.select(Target::Row { doc, node }); }
        >
            {if is_text {
                view! { <code class="row-body">{lead}<span class="key">{key}</span>{mark}<span class=value_class>{text}</span>{behind}</code> }.into_any()
            } else {
                view! {
                    <span class="row-body" style=("--depth", row.depth.to_string())>
                        <span class="twisty-room">{twisty}</span>
                        <span class="key">{key}</span>
                        <span class=value_class>{text}</span>
                    </span>
                }
                .into_any()
            }}
            {source}
            {built_in}
        </div>
    }
}

/// Shows a place in the bootstrap.
pub fn open_place(app: App, pointer: String) {
    app.view.set(View::Envoy);
    app.select(Target::Place { doc: Doc::Envoy, pointer });
}
