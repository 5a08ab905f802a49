//! Functions that JavaScript provides: the editor (CodeMirror), and reading and saving files.

use chancery_web::protocol::Span;
use gloo_file::{Blob, ObjectUrl};
use gloo_timers::callback::Timeout;
use leptos::prelude::document;
use std::cell::RefCell;
use wasm_bindgen::prelude::*;
use web_sys::HtmlAnchorElement;

#[wasm_bindgen(raw_module = "./editor.js")]
extern "C" {
    pub type Editor;

    /// Creates an editor; `calls` receives the user's actions.
    #[wasm_bindgen(constructor)]
    pub fn new(parent: &web_sys::HtmlElement, calls: &js_sys::Object, read_only: bool) -> Editor;
    #[wasm_bindgen(method)]
    fn show(this: &Editor, name: &str, text: &str);
    #[wasm_bindgen(method)]
    fn forget(this: &Editor, name: &str);
    #[wasm_bindgen(method, js_name = setFindings)]
    fn set_findings(this: &Editor, findings: &str);
    #[wasm_bindgen(method)]
    fn fix(this: &Editor, fix: &str);
    #[wasm_bindgen(method, js_name = highlight)]
    fn highlight(this: &Editor, spans: &str, scroll: bool);
    #[wasm_bindgen(method)]
    fn go(this: &Editor, line: u32, column: u32, focus: bool);
    #[wasm_bindgen(method)]
    fn find(this: &Editor);
    #[wasm_bindgen(method)]
    fn focus(this: &Editor);
    #[wasm_bindgen(method)]
    fn replace(this: &Editor, text: &str);
    #[wasm_bindgen(method)]
    fn follow(this: &Editor, text: &str);

    /// Reads dropped files. Resolves to a list: JSON with the names of read and unread files, then the bytes of each read file.
    #[wasm_bindgen(js_name = readDropped)]
    pub fn read_dropped(data: &web_sys::DataTransfer, most: f64) -> js_sys::Promise;
    /// Lets the user choose files, or a folder. Resolves like `read_dropped`.
    #[wasm_bindgen(js_name = choose)]
    pub fn choose(folder: bool, most: f64) -> js_sys::Promise;
    /// Converts an SVG to PNG and saves it as a file.
    #[wasm_bindgen(js_name = savePng)]
    pub fn save_png(name: &str, svg: &str);
    /// Formats YAML. Resolves to nothing if the text cannot be parsed.
    #[wasm_bindgen(js_name = formatted)]
    pub fn formatted(text: &str) -> js_sys::Promise;
}

thread_local! {
    static EDITOR: RefCell<Option<Editor>> = const { RefCell::new(None) };
}

/// Sets the editor for all other functions.
pub fn set_editor(editor: Editor) {
    EDITOR.with_borrow_mut(|known| *known = Some(editor));
}

fn with(act: impl FnOnce(&Editor)) {
    EDITOR.with_borrow(|editor| {
        if let Some(editor) = editor {
            act(editor);
        }
    });
}

pub fn show(name: &str, text: &str) {
    with(|editor| editor.show(name, text));
}

/// Forgets the undo history of a file.
pub fn forget(name: &str) {
    with(|editor| editor.forget(name));
}

/// Underlines findings.
pub fn set_findings(findings: &str) {
    with(|editor| editor.set_findings(findings));
}

pub fn fix(fix: &str) {
    with(|editor| editor.fix(fix));
}

/// Highlights lines.
pub fn highlight(spans: &[Span], scroll: bool) {
    let json = serde_json::to_string(spans).unwrap_or_default();
    with(|editor| editor.highlight(&json, scroll));
}

/// Moves the cursor; `focus` also focuses the editor.
pub fn go(line: u32, column: u32, focus: bool) {
    with(|editor| editor.go(line, column, focus));
}

pub fn focus() {
    with(Editor::focus);
}

/// How long a saved file's URL stays valid, in milliseconds.
const FETCHED: u32 = 10_000;

/// Saves a text as a file.
pub fn save(name: &str, sort: &str, text: &str) {
    let url = ObjectUrl::from(Blob::new_with_options(text, Some(sort)));
    let link = document().create_element("a").ok().and_then(|link| link.dyn_into::<HtmlAnchorElement>().ok());
    if let Some(link) = link {
        link.set_href(&url);
        link.set_download(name);
        link.click();
    }
    Timeout::new(FETCHED, move || drop(url)).forget();
}

/// Opens the editor's search.
pub fn find() {
    with(Editor::find);
}

/// Replaces the text as one undo step.
pub fn replace(text: &str) {
    with(|editor| editor.replace(text));
}

/// Applies a text that another program wrote. The cursor stays at its place.
pub fn follow(text: &str) {
    with(|editor| editor.follow(text));
}
