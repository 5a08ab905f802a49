//! The editor's pane: connects the editor with the rest of the page.

use crate::bridge::{self, Editor};
use crate::files;
use crate::link;
use crate::state::App;
use chancery_web::protocol::{Question, Spot};
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

fn answer(question: Question) -> js_sys::Promise {
    future_to_promise(async move {
        let answer: serde_json::Value = link::ask(question).await.unwrap_or_default();
        Ok(serde_json::to_string(&answer).unwrap_or_else(|_| "null".into()).into())
    })
}

fn calls(app: App) -> js_sys::Object {
    let calls = js_sys::Object::new();
    let set = |name: &str, function: JsValue| {
        let _ = js_sys::Reflect::set(&calls, &name.into(), &function);
    };
    set("change", Closure::<dyn Fn(String, String)>::new(move |file: String, text: String| app.edited(&file, text)).into_js_value());
    set("cursor", Closure::<dyn Fn(String, u32)>::new(move |file, line| app.selection.cursor(file, line)).into_js_value());
    set("open", Closure::<dyn Fn(String)>::new(move |code| app.open_page(code)).into_js_value());
    set("paste", Closure::<dyn Fn(String, bool) -> bool>::new(move |text: String, whole| files::pasted(app, &text, whole)).into_js_value());
    let hover = |file, line, column| answer(Question::Hover(Spot { file, line, column }));
    set("hover", Closure::<dyn Fn(String, u32, u32) -> js_sys::Promise>::new(hover).into_js_value());
    let complete = |file, line, column, text| answer(Question::Complete { spot: Spot { file, line, column }, text });
    set("complete", Closure::<dyn Fn(String, u32, u32, String) -> js_sys::Promise>::new(complete).into_js_value());
    calls
}

#[component]
pub fn EditorPane(app: App) -> impl IntoView {
    let host = NodeRef::<Div>::new();
    Effect::new(move |_| {
        let Some(parent) = host.get() else { return };
        bridge::set_editor(Editor::new(&parent, &calls(app), app.screen.read_only));
        app.begin();
    });
    view! { <div class="editor" node_ref=host></div> }
}
