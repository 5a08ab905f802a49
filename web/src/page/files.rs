//! Files that are dropped onto the page, archives included.
//!
//! What must not be here: what is in them.

use crate::state::App;
use chancery_web::protocol::SourceFile;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

/// What is read at most at once.
const MOST_BYTES: f64 = 64e6;

#[wasm_bindgen(raw_module = "./editor.js")]
extern "C" {
    #[wasm_bindgen(js_name = readDropped)]
    fn read_dropped(data: &web_sys::DataTransfer, most: f64) -> js_sys::Promise;
    /// Hands a text to the person as a file.
    #[wasm_bindgen(js_name = save)]
    pub fn save(name: &str, sort: &str, text: &str);
    /// The same of a picture, drawn anew in dots.
    #[wasm_bindgen(js_name = savePng)]
    pub fn save_png(name: &str, svg: &str);
    #[wasm_bindgen(js_name = formatted)]
    fn formatted(text: &str) -> js_sys::Promise;
}

/// Takes what was dropped.
pub fn dropped(app: App, data: &web_sys::DataTransfer) {
    let promise = read_dropped(data, MOST_BYTES);
    spawn_local(async move {
        let read = JsFuture::from(promise).await.ok().and_then(|value| value.as_string());
        let files: Option<Vec<SourceFile>> = read.and_then(|json| serde_json::from_str(&json).ok());
        match files {
            Some(files) if !files.is_empty() => take(app, files),
            _ => app.say("There was no YAML or JSON in that"),
        }
    });
}

/// Resources come into tabs; a snapshot takes the place of everything; what a running Envoy told is compared with.
fn take(app: App, mut files: Vec<SourceFile>) {
    let holds = |file: &SourceFile, word: &str| file.name.ends_with(".json") && file.text.contains(word);
    match &mut files[..] {
        [one] if holds(one, "\"chancery_snapshot\"") => app.open(std::mem::take(&mut one.text)),
        [one] if holds(one, "\"configs\"") || holds(one, "\"static_resources\"") => {
            app.compare.text.set(std::mem::take(&mut one.text));
            app.compare.with.set(crate::compare::Against::Text);
            app.show(crate::state::View::Compare);
        }
        _ => app.add(files),
    }
}

/// Formats the file that is shown; comments stay.
pub fn format(app: App) {
    let text = app.files.with_untracked(|files| files.get(app.active.get_untracked()).map(|file| file.text.clone())).unwrap_or_default();
    let promise = formatted(&text);
    spawn_local(async move {
        match JsFuture::from(promise).await.ok().and_then(|value| value.as_string()) {
            Some(text) => crate::editor::replace(&text),
            None => app.say("It cannot be formatted while the YAML is broken"),
        }
    });
}
