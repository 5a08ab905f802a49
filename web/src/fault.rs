//! Reports a panic of the page or the worker on the browser's console. Shows only the program's own words: a panic may quote user input.

use chancery_core::redact::blank_panic;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console)]
    fn error(text: &str);
}

/// Installs a panic hook that writes the location and the redacted message to the console.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        let message = info.payload_as_str().map_or_else(String::new, |message| format!(" ({})", blank_panic(message)));
        error(&format!("Chancery stopped because of a bug{place}{message}"));
    }));
}
