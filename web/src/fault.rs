//! What is said when the page or the worker itself is wrong.
//!
//! What must not be here: what a person wrote. A panic may quote it, so that only its own words are said.

use chancery_core::redact::blank_panic;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console)]
    fn error(text: &str);
}

/// Says on the browser's console where a fault is.
pub fn tell_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        let what = info.payload_as_str().map_or_else(String::new, |what| format!(" ({})", blank_panic(what)));
        error(&format!("a fault of chancery itself stopped it{place}{what}"));
    }));
}
