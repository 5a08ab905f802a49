//! The dialog with every option of the shown dialect. Does not define or read options; see `worker`.

use crate::link::{Silence, ask};
use crate::state::App;
use crate::views::markdown::words;
use chancery_web::protocol::{OptionField, OptionPanel, OptionSort, Question};
use leptos::prelude::*;
use leptos::task::spawn_local;

#[component]
pub fn OptionsDialog(app: App) -> impl IntoView {
    let panel = RwSignal::new(OptionPanel::default());
    Effect::new(move |_| {
        app.engine.generation.track();
        spawn_local(async move {
            if let Ok(answer) = ask::<OptionPanel>(Question::Options).await {
                let _ = panel.try_set(answer);
            }
        });
    });
    let change = Callback::new(move |(name, value): (String, String)| {
        let mut fields = panel.with_untracked(|panel| panel.fields.clone());
        fields.iter_mut().filter(|field| field.name == name).for_each(|field| field.value.clone_from(&value));
        spawn_local(async move {
            match ask::<serde_json::Value>(Question::SetOptions(fields)).await {
                Ok(options) => {
                    app.workspace.options.set(Some(options));
                    app.engine.compile();
                }
                Err(Silence::Refused(why)) => app.screen.say(why),
                Err(Silence::Ended) => {}
            }
        });
    });
    let fields = move |common: bool| {
        let all = panel.get().fields.into_iter().filter(|field| field.common == common);
        all.map(|field| view! { <Field field=field change=change /> }).collect_view()
    };
    let flags = move || panel.with(|panel| panel.flags.clone());
    let command = move || if flags().is_empty() { "chancery check FILE".to_string() } else { format!("chancery check {} FILE", flags()) };
    view! {
        <div class="options">
            <p class="dialog-text">"Options of the controller and of Chancery. They are part of a shared link."</p>
            {move || fields(true)}
            <details class="options-more"><summary>"All options"</summary>{move || fields(false)}</details>
            <p class="options-flags">"On the command line: " <code>{command}</code></p>
        </div>
    }
}

#[component]
fn Field(field: OptionField, change: Callback<(String, String)>) -> impl IntoView {
    let OptionField { name, doc, sort, placeholder, choices, value, .. } = field;
    let id = format!("option-{name}");
    let changed = {
        let name = name.clone();
        move |value: String| change.run((name.clone(), value))
    };
    let control = match sort {
        OptionSort::Flag => {
            let set = value == "true";
            view! { <input id=id.clone() type="checkbox" prop:checked=set on:change=move |event| changed(if event_target_checked(&event) { "true".into() } else { String::new() }) /> }.into_any()
        }
        OptionSort::Choice => {
            let first = choices.first().cloned().unwrap_or_default();
            let chosen = if value.is_empty() { first } else { value };
            let options = choices.into_iter().map(|word| {
                let is_chosen = word == chosen;
                view! { <option value=word.clone() selected=is_chosen>{word.clone()}</option> }
            });
            view! { <select id=id.clone() class="field" on:change=move |event| changed(event_target_value(&event))>{options.collect_view()}</select> }.into_any()
        }
        OptionSort::Text => {
            view! { <input id=id.clone() class="field" type="text" spellcheck="false" autocomplete="off" placeholder=placeholder prop:value=value on:change=move |event| changed(event_target_value(&event)) /> }.into_any()
        }
        OptionSort::Lines | OptionSort::File => {
            view! { <textarea id=id.clone() class="field" rows="2" spellcheck="false" placeholder=placeholder prop:value=value on:change=move |event| changed(event_target_value(&event))></textarea> }.into_any()
        }
    };
    view! {
        <div class="option">
            <label for=id><code>{format!("--{name}")}</code></label>
            {control}
            <p class="option-doc">{words(&doc)}</p>
        </div>
    }
}
