//! What JavaScript does for the page: the editor (CodeMirror), and files in and out.
//!
//! What must not be here: when it is asked for.

use chancery_web::protocol::Span;
use gloo_file::{Blob, ObjectUrl};
use gloo_timers::callback::Timeout;
use leptos::prelude::document;
use std::cell::RefCell;
use wasm_bindgen::prelude::*;
use web_sys::HtmlAnchorElement;

#[wasm_bindgen(raw_module = "./editor.js")]
extern "C" {
    /// The editor.
    pub type Editor;

    /// An editor in a part of the page; `calls` hears what the person does.
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
    #[wasm_bindgen(method, js_name = setThread)]
    fn set_thread(this: &Editor, spans: &str, scroll: bool);
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

    /// Files that were dropped or chosen: a list of JSON, with their names and those of the others, and of the bytes of each.
    #[wasm_bindgen(js_name = readDropped)]
    pub fn read_dropped(data: &web_sys::DataTransfer, most: f64) -> js_sys::Promise;
    /// Lets the person choose files, or a folder; answers like `read_dropped`.
    #[wasm_bindgen(js_name = choose)]
    pub fn choose(folder: bool, most: f64) -> js_sys::Promise;
    /// Hands a picture to the person as a file, drawn again in dots.
    #[wasm_bindgen(js_name = savePng)]
    pub fn save_png(name: &str, svg: &str);
    /// A text formatted, or nothing where it cannot be read.
    #[wasm_bindgen(js_name = formatted)]
    pub fn formatted(text: &str) -> js_sys::Promise;
}

thread_local! {
    static EDITOR: RefCell<Option<Editor>> = const { RefCell::new(None) };
}

/// The editor that is talked to from now on.
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

/// Puts the cursor somewhere; `focus` where the person goes on writing there.
pub fn go(line: u32, column: u32, focus: bool) {
    with(|editor| editor.go(line, column, focus));
}

/// Goes to the text.
pub fn focus() {
    with(Editor::focus);
}

/// How long a file that is handed over can be fetched, in milliseconds.
const FETCHED: u32 = 10_000;

/// Hands a text to the person as a file.
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

/// Opens the search of the editor.
pub fn find() {
    with(Editor::find);
}

/// Replaces the text as one step that can be undone.
pub fn replace(text: &str) {
    with(|editor| editor.replace(text));
}

/// Takes over a text that somebody else wrote; the cursor stays where it is.
pub fn follow(text: &str) {
    with(|editor| editor.follow(text));
}
