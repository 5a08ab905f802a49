//! The settings of the selected box: weights, timeouts and switches, which the user changes on the graph. Does not find them; see `worker`.

use super::board::Board;
use crate::state::App;
use chancery_web::protocol::{EditableSort, EditableValue};
use leptos::prelude::*;

/// Changes the text of a value. The editor keeps comments and can undo the change.
fn change(app: App, value: &EditableValue, text: &str) {
    if text.trim() == value.value {
        return;
    }
    match value.change_to(text) {
        Some(fix) => app.engine.fix(&fix),
        None => app.screen.say(format!("{} does not accept {text}", value.path)),
    }
}

/// The controls below the graph. Unchanged settings keep their controls, so that the focus stays.
#[component]
pub fn Settings(board: Board) -> impl IntoView {
    let app = board.app;
    let values = Memo::new(move |_| app.selection.details.with(|details| details.as_ref().map(|details| details.values.clone()).unwrap_or_default()));
    let control = move |value: EditableValue| {
        let label = value.path.strip_prefix("spec.").unwrap_or(&value.path).to_string();
        let (path, text) = (value.path.clone(), value.value.clone());
        let read_only = app.screen.read_only;
        match value.sort {
            EditableSort::Switch => {
                let is_on = text == "true";
                let turn = move |event| change(app, &value, if event_target_checked(&event) { "true" } else { "false" });
                view! { <label class="check setting" title=path><input type="checkbox" prop:checked=is_on disabled=read_only on:change=turn />{label}</label> }.into_any()
            }
            EditableSort::Number | EditableSort::Duration => {
                let write = move |event| change(app, &value, &event_target_value(&event));
                view! {
                    <label class="setting" title=path>{label} <input class="field setting-value" type="text" spellcheck="false" autocomplete="off" prop:value=text disabled=read_only on:change=write /></label>
                }
                .into_any()
            }
        }
    };
    let owner = move || app.selection.details.with(|details| details.as_ref().map(|details| details.title.clone()).unwrap_or_default());
    move || {
        let all = values.get();
        (!all.is_empty()).then(|| view! { <div class="settings-bar" role="group" aria-label="Settings of the selection"><strong>{owner}</strong>{all.into_iter().map(control).collect_view()}</div> })
    }
}
