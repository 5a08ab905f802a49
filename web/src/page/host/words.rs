//! Short phrases that the views of live inputs share, and links into the editor.

use crate::state::App;
use chancery_web::protocol::Span;
use leptos::prelude::*;
use serde_json::Value;

/// A count with its noun, for example `1 file` or `2 files`.
pub fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// A string field; empty if it is missing.
pub fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The time of day.
pub fn time(at_ms: f64) -> String {
    let date = js_sys::Date::new(&at_ms.into());
    format!("{:02}:{:02}:{:02}", date.get_hours(), date.get_minutes(), date.get_seconds())
}

/// A place in a file. A click goes there.
pub fn place(app: App, file: &str, line: u32) -> impl IntoView + use<> {
    let span = Span { file: file.into(), line, end_line: line, ..Span::default() };
    let label = format!("{}:{line}", file.rsplit('/').next().unwrap_or(file));
    view! { <button class="chip source" title=file.to_owned() on:click=move |_| app.selection.go(&span)>{label}</button> }
}
