//! The language server's program for editors without the command line: answers the editor's messages. See `chancery_lsp::Session`.

#[cfg(target_arch = "wasm32")]
mod entry {
    use chancery_lsp::Session;
    use std::cell::RefCell;
    use wasm_bindgen::prelude::wasm_bindgen;

    thread_local! {
        static SESSION: RefCell<Session> = RefCell::new(Session::new(now));
    }

    /// The time, in seconds since 1970.
    fn now() -> Option<i64> {
        Some((js_sys::Date::now() / 1000.0) as i64)
    }

    /// Handles a list of messages, and returns the messages for the editor as a list. Both are JSON.
    #[wasm_bindgen]
    pub fn handle(messages: &str) -> String {
        let messages = serde_json::from_str(messages).unwrap_or_default();
        let answers = SESSION.with(|session| session.borrow_mut().handle(messages));
        serde_json::Value::from(answers).to_string()
    }
}

fn main() {
    #[cfg(target_arch = "wasm32")]
    chancery_web::fault::report_panics();
}
