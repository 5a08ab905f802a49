//! Embedding in another page.
//!
//! The other page sends `{type: "chancery:load", files: [{name, text}], dialect, options}` or `{type: "chancery:set", view, theme}`. This page sends
//! `chancery:ready`, `chancery:compiled`, `chancery:size`, and `chancery:changed` with the files after the user changed them. It sends nothing else,
//! and nothing if it is not embedded. Does not define the element for other pages; see `web/npm`.

use crate::state::App;
use crate::view::View;
use chancery_web::protocol::{SourceFile, Work};
use gloo_events::EventListener;
use gloo_timers::callback::Timeout;
use js_sys::{Array, Object, Reflect};
use leptos::prelude::*;
use serde::Deserialize;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{MessageEvent, Window};

#[derive(Deserialize)]
struct HostMessage {
    #[serde(rename = "type")]
    what: String,
    #[serde(default)]
    files: Vec<SourceFile>,
    #[serde(default)]
    dialect: Option<String>,
    /// Command line options, for example `missing-secrets=assume`.
    #[serde(default)]
    options: Option<String>,
    #[serde(default)]
    view: Option<String>,
    #[serde(default)]
    theme: Option<String>,
}

/// A view has its final size this many milliseconds after a change.
const SETTLED: u32 = 100;

/// The space around scrolling content, in pixels.
const MARGIN: i32 = 16;

/// The largest height that the page asks for.
const HIGHEST: i32 = 1200;

fn send(what: &str, more: &[(&str, JsValue)]) {
    let message = Object::new();
    let _ = Reflect::set(&message, &"type".into(), &what.into());
    for (name, value) in more {
        let _ = Reflect::set(&message, &(*name).into(), value);
    }
    if let Some(page) = editor().or_else(|| window().parent().ok().flatten()) {
        let _ = page.post_message(&message, "*");
    }
}

/// The editor that shows this page. It hides the parent, and gives `globalThis.chanceryEditor` with the method `postMessage` instead.
fn editor() -> Option<Window> {
    let editor = Reflect::get(&window(), &"chanceryEditor".into()).ok()?;
    (!editor.is_undefined()).then(|| editor.unchecked_into())
}

/// Listens to the surrounding page and reports to it.
pub fn start(app: App) {
    // The files before the user changes them.
    let given = StoredValue::new(app.workspace.files.get_untracked());
    listen(app, given);
    send("chancery:ready", &[]);
    Effect::new(move |_| report_changes(app, given));
    Effect::new(move |_| {
        if app.engine.generation.get() > 0 {
            let count = |severity: &str| JsValue::from(app.engine.count(severity) as f64);
            send("chancery:compiled", &[("errors", count("error")), ("warnings", count("warning"))]);
        }
    });
    report_size(app);
}

/// Handles messages of the surrounding page.
fn listen(app: App, given: StoredValue<Vec<SourceFile>>) {
    let heard = EventListener::new(&window(), "message", move |event| {
        let Some(event) = event.dyn_ref::<MessageEvent>() else { return };
        // Only the parent page may send messages. An editor lets no other page send any.
        let parent = window().parent().ok().flatten();
        if editor().is_none() && event.source().map(JsValue::from) != parent.map(JsValue::from) {
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
    // The listener lives as long as the page.
    heard.forget();
}

/// Sends the files after the user changed them.
fn report_changes(app: App, given: StoredValue<Vec<SourceFile>>) {
    let files = app.workspace.files.get();
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
    send("chancery:changed", &[("files", list.collect::<Array>().into())]);
    given.set_value(files);
}

/// Reports the page's preferred height whenever it changes.
fn report_size(app: App) {
    let sent = StoredValue::new(0);
    Effect::new(move |_| {
        app.screen.view.track();
        if app.engine.generation.get() == 0 {
            return;
        }
        let measure = move || {
            if let Some(height) = wanted_height().filter(|height| *height != sent.get_value()) {
                sent.set_value(height);
                send("chancery:size", &[("height", height.into())]);
            }
        };
        Timeout::new(SETTLED, measure).forget();
    });
}

/// The height at which the view needs no scrolling. Drawings use any height.
fn wanted_height() -> Option<i32> {
    let scroll = document().query_selector("#view .scroll").ok().flatten()?;
    let (first, last) = (scroll.first_element_child()?, scroll.last_element_child()?);
    let content = last.get_bounding_client_rect().bottom() - first.get_bounding_client_rect().top();
    let around = window().inner_height().ok()?.as_f64()? - f64::from(scroll.client_height());
    Some(((content + around).ceil() as i32 + MARGIN).min(HIGHEST))
}
