//! A document as a tree of rows. Only the visible rows exist. Does not compute rows; see `worker`.

use crate::link::ask;
use crate::state::App;
use crate::view::View;
use chancery_web::protocol::{Doc, Form, Question, Row, Rows, SearchHit, Target};
use leptos::attr::custom::custom_attribute;
use leptos::ev::KeyboardEvent;
use leptos::html::Div;
use leptos::prelude::*;
use leptos::task::spawn_local;

/// A row's height in pixels, the same as in the style sheet.
const HEIGHT: f64 = 22.0;

/// How many rows to load before and after the visible rows.
const AROUND: u32 = 60;

/// The shown document. Copies share it.
#[derive(Clone, Copy)]
struct Shown {
    doc: Doc,
    rows: RwSignal<Rows>,
    cursor: RwSignal<Option<u32>>,
    wanted: RwSignal<String>,
    found: RwSignal<Option<SearchHit>>,
    host: NodeRef<Div>,
    /// Whether the view just opened. Then it scrolls to the selection.
    anew: StoredValue<bool>,
}

impl Shown {
    fn new(doc: Doc) -> Self {
        Self {
            doc,
            rows: RwSignal::new(Rows::default()),
            cursor: RwSignal::new(None),
            wanted: RwSignal::new(String::new()),
            found: RwSignal::new(None),
            host: NodeRef::new(),
            anew: StoredValue::new(true),
        }
    }

    fn visible_tiles(self) -> (u32, u32) {
        let Some(host) = self.host.try_get_untracked().flatten() else { return (0, 60) };
        let first = (f64::from(host.scroll_top()) / HEIGHT).max(0.0) as u32;
        (first, (f64::from(host.client_height()) / HEIGHT).ceil() as u32 + 1)
    }

    fn scroll_to(self, row: u32) {
        let Some(host) = self.host.try_get_untracked().flatten() else { return };
        let (top, height) = (f64::from(row) * HEIGHT, f64::from(host.client_height()));
        let now = f64::from(host.scroll_top());
        if top < now || top + HEIGHT > now + height {
            host.set_scroll_top((top - height / 3.0).max(0.0) as i32);
        }
    }

    fn load(self) {
        let Self { doc, rows, anew, .. } = self;
        let (first, many) = self.visible_tiles();
        let from = first.saturating_sub(AROUND);
        spawn_local(async move {
            let Ok(answer) = ask::<Rows>(Question::Rows { doc, from, count: many + 2 * AROUND }).await else { return };
            let lit = answer.lit.filter(|_| anew.try_get_value() == Some(true));
            let _ = rows.try_set(answer);
            anew.try_update_value(|anew| *anew = false);
            if let Some(row) = lit {
                request_animation_frame(move || self.scroll_to(row));
            }
        });
    }

    /// Follows compiles and the selection.
    fn follow(self, app: App) {
        let Self { doc, rows, host, .. } = self;
        Effect::new(move |_| {
            app.engine.generation.track();
            host.track();
            self.load();
        });
        // A new selection highlights other rows and scrolls to the first of them.
        Effect::new(move |_| {
            let lit = app.selection.details.with(|thread| thread.as_ref()?.rows.iter().find(|(its, _)| *its == doc).map(|(_, row)| *row));
            self.load();
            let Some(row) = lit.filter(|_| app.selection.scrolls.get_value()) else { return };
            spawn_local(async move {
                // The height must be known before scrolling.
                if let Ok(answer) = ask::<Rows>(Question::Rows { doc, from: row.saturating_sub(AROUND), count: 3 * AROUND }).await {
                    let _ = rows.try_set(answer);
                }
                request_animation_frame(move || self.scroll_to(row));
            });
        });
    }

    fn scrolled(self) {
        let (first, many) = self.visible_tiles();
        let (from, to, total) = self.rows.with_untracked(|rows| (rows.from, rows.from + rows.rows.len() as u32, rows.total));
        if first < from || (first + many > to && to < total) {
            self.load();
        }
    }

    /// Folds, opens, or changes the form.
    fn change(self, question: Question) {
        spawn_local(async move {
            if ask::<Rows>(question).await.is_ok() {
                self.load();
            }
        });
    }

    fn search(self, back: bool) {
        let Self { doc, rows, cursor, wanted, found, .. } = self;
        let (text, after) = (wanted.get_untracked(), found.with_untracked(|found| found.as_ref().and_then(|found| found.node)));
        spawn_local(async move {
            let Ok(answer) = ask::<SearchHit>(Question::Find { doc, text, after, back }).await else { return };
            // The user may have left the view.
            if rows.try_update(|rows| rows.total = answer.total).is_none() {
                return;
            }
            let row = answer.row;
            cursor.set(answer.node);
            found.set(Some(answer));
            self.load();
            if let Some(row) = row {
                request_animation_frame(move || {
                    self.scroll_to(row);
                    self.load();
                });
            }
        });
    }

    /// Moves the cursor among the loaded rows. Skips rows that only close a bracket.
    fn step(self, at: Option<usize>, to: usize) {
        let list = self.rows.get_untracked();
        let closes = |to: &usize| list.rows.get(*to).is_some_and(|row| row.sort == "close");
        let onward = if at.is_some_and(|at| to < at) { (0..=to).rev().find(|to| !closes(to)) } else { (to..list.rows.len()).find(|to| !closes(to)) };
        let to = onward.unwrap_or(to);
        if let Some(row) = list.rows.get(to) {
            self.cursor.set(Some(row.node));
            self.scroll_to(list.from + to as u32);
        }
    }

    fn key(self, app: App, event: KeyboardEvent) {
        let doc = self.doc;
        let list = self.rows.get_untracked();
        let at = self.cursor.get_untracked().and_then(|node| list.rows.iter().position(|row| row.node == node));
        let row = at.and_then(|at| list.rows.get(at));
        match (event.key().as_str(), at, row) {
            ("ArrowDown", Some(at), _) => self.step(Some(at), at + 1),
            ("ArrowUp", Some(at), _) => self.step(Some(at), at.saturating_sub(1)),
            ("ArrowDown" | "ArrowUp", None, _) => self.step(None, 0),
            ("ArrowRight", _, Some(row)) if row.open == Some(false) => self.change(Question::Toggle { doc, node: row.node }),
            ("ArrowLeft", _, Some(row)) if row.open == Some(true) => self.change(Question::Toggle { doc, node: row.node }),
            ("ArrowLeft", Some(at), Some(row)) => {
                if let Some(parent) = list.rows.iter().take(at).rposition(|above| above.depth < row.depth) {
                    self.step(Some(at), parent);
                }
            }
            ("Enter" | " ", _, Some(row)) => app.selection.select(Target::Row { doc, node: row.node }),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    }

    fn form(self) -> Form {
        self.rows.with(|rows| rows.form)
    }

    /// How many rows match the search.
    fn counted(self) -> Option<String> {
        let found = self.found.get().filter(|_| self.wanted.with(|wanted| !wanted.is_empty()))?;
        Some(match found.count {
            0 => "no match".to_string(),
            1 => "1 match".into(),
            count => format!("{count} matches"),
        })
    }
}

fn label(doc: Doc) -> &'static str {
    match doc {
        Doc::Envoy => "Envoy's configuration",
        Doc::Ir => "Intermediate representation",
        Doc::Config => "Loaded configuration",
    }
}

/// Search, folding, and the form of the document.
#[component]
fn TreeBar(app: App, shown: Shown) -> impl IntoView {
    let Shown { doc, wanted, found, .. } = shown;
    let typed = move |event| {
        wanted.set(event_target_value(&event));
        found.set(None);
        shown.search(false);
    };
    let entered = move |event: KeyboardEvent| {
        if event.key() == "Enter" {
            shown.search(event.shift_key());
        }
    };
    let written = move |what: Form, label: &'static str| {
        let choose = move |_| {
            shown.anew.set_value(true);
            shown.change(Question::Form { doc, form: what });
        };
        view! { <button aria-pressed=move || (shown.form() == what).to_string() on:click=choose>{label}</button> }
    };
    let onward = move || {
        shown.counted().is_some().then(|| view! {
            <button class="quiet" title="Previous match (Shift Enter)" aria-label="Previous match" on:click=move |_| shown.search(true)>"↑"</button>
            <button class="quiet" title="Next match (Enter)" aria-label="Next match" on:click=move |_| shown.search(false)>"↓"</button>
        })
    };
    view! {
        <div class="bar tree-bar">
            <input
                class="field grow" type="search" placeholder="Search keys and values" aria-label=format!("Search: {}", label(doc))
                prop:value=move || wanted.get() on:input=typed on:keydown=entered
            />
            <span class="count" aria-live="polite">{move || shown.counted()}</span>
            {onward}
            {move || (shown.form() == Form::Tree).then(|| view! {
                <button class="quiet" title="Open all rows" on:click=move |_| shown.change(Question::Fold { doc, open: true })>"Open all"</button>
                <button class="quiet" title="Close all rows" on:click=move |_| shown.change(Question::Fold { doc, open: false })>"Close all"</button>
            })}
            <div class="segments" role="group" aria-label="Written as">
                {written(Form::Tree, "Tree")} {written(Form::Yaml, "YAML")} {written(Form::Json, "JSON")}
            </div>
            <button class="quiet" title="Copy the whole document, as JSON or YAML" on:click=move |_| app.copy_document(doc, shown.form() == Form::Yaml)>"Copy"</button>
            {(doc == Doc::Envoy).then(|| view! { <button class="quiet" title="Save the bootstrap as envoy.yaml, without key material" on:click=move |_| app.save_bootstrap()>"Download"</button> })}
        </div>
    }
}

#[component]
pub fn TreeView(app: App, doc: Doc) -> impl IntoView {
    let shown = Shown::new(doc);
    shown.follow(app);
    let rows = move || {
        let rows = shown.rows.get();
        let from = rows.from;
        let row = |(at, row): (usize, Row)| {
            let top = f64::from(from + at as u32) * HEIGHT;
            view! { <TreeRow app=app shown=shown row=row top=top /> }
        };
        rows.rows.into_iter().enumerate().map(row).collect_view()
    };
    let nothing = move || {
        (shown.rows.with(|rows| rows.total) == 0 && app.engine.generation.get() > 0).then(|| {
            view! {
                <p class="empty">"This document is empty. Add resources to the editor or open an example."
                <button class="link" on:click=move |_| app.screen.lay_over(crate::view::Overlay::Gallery)>"Open the examples"</button></p>
            }
        })
    };
    view! {
        <TreeBar app=app shown=shown />
        <div
            class="tree scroll" class:text=move || shown.form() != Form::Tree class:has-selection=move || app.selection.details.with(Option::is_some)
            node_ref=shown.host tabindex="0" role="tree" aria-label=label(doc)
            on:scroll=move |_| shown.scrolled() on:keydown=move |event| shown.key(app, event)
        >
            <div class="tree-size" style:height=move || format!("{}px", shown.rows.with(|rows| f64::from(rows.total) * HEIGHT))>{rows}</div>
            {nothing}
        </div>
    }
}

/// Marks the search term in a text.
fn marked(text: &str, wanted: &str) -> AnyView {
    let (low, wanted) = (text.to_lowercase(), wanted.to_lowercase());
    // If lower case changes the length, the marks would be at the wrong place.
    if wanted.is_empty() || low.len() != text.len() || !low.contains(&wanted) {
        return text.to_string().into_any();
    }
    let mut from = 0;
    let mut parts: Vec<AnyView> = Vec::new();
    for (at, hit) in low.match_indices(&wanted) {
        let (Some(before), Some(hit)) = (text.get(from..at), text.get(at..at + hit.len())) else { break };
        parts.push(view! { {before.to_string()}<mark>{hit.to_string()}</mark> }.into_any());
        from = at + hit.len();
    }
    view! { {parts} {text.get(from..).unwrap_or_default().to_string()} }.into_any()
}

/// The key and value of a row.
fn row_body(row: &Row, wanted: &str) -> impl IntoView + use<> {
    let holds = matches!(row.sort.as_str(), "object" | "array") && row.open.is_some();
    let value_class = format!("value {}", if holds { "holder" } else { row.sort.as_str() });
    let text = match (holds, row.sort.as_str()) {
        (true, "array") => format!("[{}]", row.text),
        _ => row.text.clone(),
    };
    let key = row.key.clone();
    let Some((lead, behind)) = row.around.clone() else {
        return view! { <span class="key">{marked(&key, wanted)}</span><span class=value_class>{marked(&text, wanted)}</span> }.into_any();
    };
    let mark = match (key.is_empty(), row.text.is_empty()) {
        (true, _) => "",
        (false, true) => ":",
        (false, false) => ": ",
    };
    view! { <code class="row-body">{lead}<span class="key">{marked(&key, wanted)}</span>{mark}<span class=value_class>{marked(&text, wanted)}</span>{behind}</code> }.into_any()
}

/// The origin of a row.
fn row_source(app: App, row: &Row) -> impl IntoView + use<> {
    let why = row.why.clone().unwrap_or_default();
    match row.from.clone() {
        Some(span) => {
            let label = format!("{}:{}", span.file, span.line);
            let go = move |event: leptos::ev::MouseEvent| {
                event.stop_propagation();
                app.selection.go(&span);
            };
            view! { <button class="origin" tabindex="-1" title=why on:click=go>{label}</button> }.into_any()
        }
        // Everything inside a default is a default too, and is also faint.
        None if is_default(row) && row.why.is_some() => view! { <span class="origin none" title=why>"default"</span> }.into_any(),
        None => ().into_any(),
    }
}

fn is_default(row: &Row) -> bool {
    row.rule.as_deref() == Some("default") && row.from.is_none()
}

#[component]
fn TreeRow(app: App, shown: Shown, row: Row, top: f64) -> impl IntoView {
    let Shown { doc, cursor, .. } = shown;
    let node = row.node;
    let mut class = "row".to_string();
    for (name, holds) in [("lit", row.lit), ("holds-lit", row.holds_lit), ("default", is_default(&row)), ("item", row.item)] {
        if holds {
            class = format!("{class} {name}");
        }
    }
    let twisty = row.open.map(|open| {
        let toggle = move |event: leptos::ev::MouseEvent| {
            event.stop_propagation();
            shown.change(Question::Toggle { doc, node });
        };
        view! { <button class="twisty" tabindex="-1" aria-label=if open { "Close" } else { "Open" } on:click=toggle>{if open { "▾" } else { "▸" }}</button> }
    });
    let select = move |_| {
        cursor.set(Some(node));
        app.selection.select(Target::Row { doc, node });
    };
    let wanted = if shown.found.with_untracked(Option::is_some) { shown.wanted.get_untracked() } else { String::new() };
    let body = row_body(&row, &wanted);
    let body = match row.around {
        Some(_) => body.into_any(),
        None => view! { <span class="row-body" style=("--depth", row.depth.to_string())><span class="twisty-room">{twisty}</span>{body}</span> }
            .into_any(),
    };
    view! {
        <div
            class=class class:cursor=move || cursor.get() == Some(node) role="treeitem" {..custom_attribute("aria-level", (row.depth + 1).to_string())}
            aria-expanded=row.open.map(|open| open.to_string()) aria-selected=row.lit.to_string() style:top=format!("{top}px") title=row.why.clone()
            on:click=select
        >
            {body}
            {row_source(app, &row)}
        </div>
    }
}

/// Shows a bootstrap pointer.
pub fn open_place(app: App, pointer: String) {
    app.screen.view.set(View::Envoy);
    app.selection.select(Target::Place { doc: Doc::Envoy, pointer });
}
