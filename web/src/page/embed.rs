//! Standing in another page: what that page may say, and what it is told.
//!
//! The other page says `{type: "chancery:load", files: [{name, text}], dialect}`; it is told `chancery:ready`, `chancery:compiled` and
//! `chancery:size`. Nothing is ever sent but that, and nothing where the page stands alone.
//!
//! What must not be here: the element that others use (`web/npm`).

use crate::state::App;
use chancery_web::protocol::SourceFile;
use js_sys::{Object, Reflect};
use leptos::prelude::*;
use serde::Deserialize;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::MessageEvent;

#[derive(Deserialize)]
struct Said {
    #[serde(rename = "type")]
    what: String,
    #[serde(default)]
    files: Vec<SourceFile>,
    #[serde(default)]
    dialect: Option<String>,
    #[serde(default)]
    view: Option<String>,
    #[serde(default)]
    theme: Option<String>,
}

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

/// Listens, and tells.
pub fn start(app: App) {
    let heard = window_event_listener_untyped("message", move |event| {
        let Some(event) = event.dyn_ref::<MessageEvent>() else { return };
        // Only the page that holds this one.
        let parent = window().parent().ok().flatten();
        if event.source().map(JsValue::from) != parent.map(JsValue::from) {
            return;
        }
        let text = js_sys::JSON::stringify(&event.data()).ok().and_then(|text| text.as_string()).unwrap_or_default();
        let Ok(said) = serde_json::from_str::<Said>(&text) else { return };
        match said.what.as_str() {
            "chancery:load" => {
                app.dialect.set(said.dialect);
                app.load(said.files);
            }
            "chancery:set" => {
                if let Some(view) = said.view.and_then(|name| crate::state::View::ALL.into_iter().find(|view| view.name() == name)) {
                    app.view.set(view);
                }
                if said.theme.is_some() {
                    app.theme.set(said.theme);
                }
            }
            _ => {}
        }
    });
    on_cleanup(move || heard.remove());
    tell("chancery:ready", &[]);
    Effect::new(move |_| {
        if app.generation.get() == 0 {
            return;
        }
        let count =
            |severity: &str| app.compiled.with(|compiled| compiled.findings.iter().filter(|finding| finding.severity == severity).count()) as f64;
        tell("chancery:compiled", &[("errors", count("error").into()), ("warnings", count("warning").into())]);
        request_animation_frame(|| {
            let height = document().query_selector(".measure").ok().flatten().map_or(0, |element| element.scroll_height());
            if height > 0 {
                tell("chancery:size", &[("height", height.into())]);
            }
        });
    });
}
