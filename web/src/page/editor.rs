//! The editor's pane: the bridge to CodeMirror, and the files' tabs.
//!
//! What must not be here: what is edited.

use crate::link;
use crate::state::App;
use chancery_web::protocol::{Question, Span, Spot};
use leptos::html::Div;
use leptos::prelude::*;
use std::cell::RefCell;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

#[wasm_bindgen(raw_module = "./editor.js")]
extern "C" {
    type Editor;

    #[wasm_bindgen(constructor)]
    fn new(parent: &web_sys::HtmlElement, calls: &js_sys::Object, read_only: bool) -> Editor;
    #[wasm_bindgen(method)]
    fn show(this: &Editor, name: &str, text: &str);
    #[wasm_bindgen(method)]
    fn forget(this: &Editor, name: &str);
    #[wasm_bindgen(method, js_name = setFindings)]
    fn set_findings(this: &Editor, findings: &str);
    #[wasm_bindgen(method)]
    fn fix(this: &Editor, fix: &str);
    #[wasm_bindgen(method, js_name = setThread)]
    fn set_thread(this: &Editor, spans: &str, scroll: bool);
    #[wasm_bindgen(method)]
    fn go(this: &Editor, line: u32, column: u32);
    #[wasm_bindgen(method)]
    fn find(this: &Editor);
    #[wasm_bindgen(method)]
    fn focus(this: &Editor);
    #[wasm_bindgen(method)]
    fn replace(this: &Editor, text: &str);
}

thread_local! {
    static EDITOR: RefCell<Option<Editor>> = const { RefCell::new(None) };
}

fn with(act: impl FnOnce(&Editor)) {
    EDITOR.with_borrow(|editor| {
        if let Some(editor) = editor {
            act(editor);
        }
    });
}

/// Shows a file.
pub fn show(name: &str, text: &str) {
    with(|editor| editor.show(name, text));
}

/// Forgets the history of a file.
pub fn forget(name: &str) {
    with(|editor| editor.forget(name));
}

/// Underlines findings.
pub fn set_findings(findings: &str) {
    with(|editor| editor.set_findings(findings));
}

/// Applies a fix.
pub fn fix(fix: &str) {
    with(|editor| editor.fix(fix));
}

/// Lights lines up.
pub fn set_thread(spans: &[Span], scroll: bool) {
    let json = serde_json::to_string(spans).unwrap_or_default();
    with(|editor| editor.set_thread(&json, scroll));
}

/// Puts the cursor somewhere.
pub fn go(line: u32, column: u32) {
    with(|editor| editor.go(line, column));
}

/// Goes to the text.
pub fn focus() {
    with(Editor::focus);
}

/// Opens the search of the editor.
pub fn find() {
    with(Editor::find);
}

/// Replaces the text as one step that can be undone.
pub fn replace(text: &str) {
    with(|editor| editor.replace(text));
}

fn answer<T: serde::de::DeserializeOwned + serde::Serialize + Default + 'static>(question: Question) -> js_sys::Promise {
    future_to_promise(async move {
        let answer: T = link::ask(question).await.unwrap_or_default();
        Ok(serde_json::to_string(&answer).unwrap_or_else(|_| "null".into()).into())
    })
}

fn calls(app: App) -> js_sys::Object {
    let calls = js_sys::Object::new();
    let set = |name: &str, function: JsValue| {
        let _ = js_sys::Reflect::set(&calls, &name.into(), &function);
    };
    set("change", Closure::<dyn Fn(String, String)>::new(move |file: String, text: String| app.edited(&file, text)).into_js_value());
    set("cursor", Closure::<dyn Fn(String, u32)>::new(move |file, line| app.cursor(file, line)).into_js_value());
    set("open", Closure::<dyn Fn(String)>::new(move |code| app.open_page(code)).into_js_value());
    let hover = |file, line, column| answer::<serde_json::Value>(Question::Hover(Spot { file, line, column }));
    set("hover", Closure::<dyn Fn(String, u32, u32) -> js_sys::Promise>::new(hover).into_js_value());
    let complete = |file, line, column, text| answer::<serde_json::Value>(Question::Complete { spot: Spot { file, line, column }, text });
    set("complete", Closure::<dyn Fn(String, u32, u32, String) -> js_sys::Promise>::new(complete).into_js_value());
    calls
}

/// The editor's pane.
#[component]
pub fn EditorPane(app: App) -> impl IntoView {
    let host = NodeRef::<Div>::new();
    Effect::new(move |_| {
        let Some(parent) = host.get() else { return };
        EDITOR.with_borrow_mut(|editor| *editor = Some(Editor::new(&parent, &calls(app), app.read_only)));
        app.begin();
    });
    view! { <div class="editor" node_ref=host></div> }
}
