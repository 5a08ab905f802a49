//! Standing in another page: what that page may say, and what it is told.
//!
//! The other page says `{type: "chancery:load", files: [{name, text}], dialect, options}` or `{type: "chancery:set", view, theme}`; it is told
//! `chancery:ready`, `chancery:compiled`, `chancery:size`, and `chancery:changed` with the files once somebody changes them. Nothing is ever
//! sent but that, and nothing where the page stands alone.
//!
//! What must not be here: the element that others use (`web/npm`).

use crate::state::App;
use crate::view::View;
use chancery_web::protocol::{SourceFile, Work};
use gloo_events::EventListener;
use gloo_timers::callback::Timeout;
use js_sys::{Array, Object, Reflect};
use leptos::prelude::*;
use serde::Deserialize;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::MessageEvent;

#[derive(Deserialize)]
struct HostMessage {
    #[serde(rename = "type")]
    what: String,
    #[serde(default)]
    files: Vec<SourceFile>,
    #[serde(default)]
    dialect: Option<String>,
    /// As words: `missing-secrets=assume`.
    #[serde(default)]
    options: Option<String>,
    #[serde(default)]
    view: Option<String>,
    #[serde(default)]
    theme: Option<String>,
}

/// After this many milliseconds, a view that was chosen or changed has its final size.
const SETTLED: u32 = 100;

/// Around what scrolls, in pixels.
const MARGIN: i32 = 16;

/// A page that wants more than this scrolls.
const HIGHEST: i32 = 1200;

fn tell(what: &str, more: &[(&str, JsValue)]) {
    let message = Object::new();
    let _ = Reflect::set(&message, &"type".into(), &what.into());
    for (name, value) in more {
        let _ = Reflect::set(&message, &(*name).into(), value);
    }
    if let Ok(Some(parent)) = window().parent() {
        let _ = parent.post_message(&message, "*");
    }
}

/// Listens, and reports.
pub fn start(app: App) {
    // What is there without anybody having changed it.
    let given = StoredValue::new(app.desk.files.get_untracked());
    listen(app, given);
    tell("chancery:ready", &[]);
    Effect::new(move |_| report_changes(app, given));
    Effect::new(move |_| {
        if app.engine.generation.get() > 0 {
            let count = |severity: &str| JsValue::from(app.engine.count(severity) as f64);
            tell("chancery:compiled", &[("errors", count("error")), ("warnings", count("warning"))]);
        }
    });
    report_size(app);
}

/// Does what the page around this one says.
fn listen(app: App, given: StoredValue<Vec<SourceFile>>) {
    let heard = EventListener::new(&window(), "message", move |event| {
        let Some(event) = event.dyn_ref::<MessageEvent>() else { return };
        // Only the page that holds this one.
        let parent = window().parent().ok().flatten();
        if event.source().map(JsValue::from) != parent.map(JsValue::from) {
            return;
        }
        let text = js_sys::JSON::stringify(&event.data()).ok().and_then(|text| text.as_string()).unwrap_or_default();
        let Ok(said) = serde_json::from_str::<HostMessage>(&text) else { return };
        match said.what.as_str() {
            "chancery:load" => {
                given.set_value(said.files.clone());
                let chosen = said.dialect.is_some();
                let options = said.options.map(serde_json::Value::String);
                app.load(Work { files: said.files, dialect: said.dialect, options, chosen, gateway: None }, Vec::new());
            }
            "chancery:set" => {
                if let Some(view) = said.view.and_then(|name| View::named(&name)) {
                    app.screen.view.set(view);
                }
                if said.theme.is_some() {
                    app.screen.theme.set(said.theme);
                }
            }
            _ => {}
        }
    });
    // As long as the page.
    heard.forget();
}

/// Hands the files on once somebody changed them.
fn report_changes(app: App, given: StoredValue<Vec<SourceFile>>) {
    let files = app.desk.files.get();
    if given.with_value(|given| *given == files) {
        return;
    }
    let list = files.iter().map(|file| {
        let entry = Object::new();
        for (name, text) in [("name", file.name.as_str()), ("text", &*file.text)] {
            let _ = Reflect::set(&entry, &name.into(), &text.into());
        }
        entry
    });
    tell("chancery:changed", &[("files", list.collect::<Array>().into())]);
    given.set_value(files);
}

/// Reports how high the page would like to be, whenever that changes.
fn report_size(app: App) {
    let told = StoredValue::new(0);
    Effect::new(move |_| {
        app.screen.view.track();
        if app.engine.generation.get() == 0 {
            return;
        }
        let measure = move || {
            if let Some(height) = wanted_height().filter(|height| *height != told.get_value()) {
                told.set_value(height);
                tell("chancery:size", &[("height", height.into())]);
            }
        };
        Timeout::new(SETTLED, measure).forget();
    });
}

/// How high the page would have to be for its view to need no scrolling. Drawings take what they get.
fn wanted_height() -> Option<i32> {
    let scroll = document().query_selector("#view .scroll").ok().flatten()?;
    let (first, last) = (scroll.first_element_child()?, scroll.last_element_child()?);
    let content = last.get_bounding_client_rect().bottom() - first.get_bounding_client_rect().top();
    let around = window().inner_height().ok()?.as_f64()? - f64::from(scroll.client_height());
    Some(((content + around).ceil() as i32 + MARGIN).min(HIGHEST))
}
