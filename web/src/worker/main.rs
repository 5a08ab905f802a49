//! The worker: holds the core, answers the page's questions, one after the other.
//!
//! What must not be here: anything that the core could do for other hosts as well.

#[cfg(target_arch = "wasm32")]
mod compare;
#[cfg(target_arch = "wasm32")]
mod drawing;
#[cfg(target_arch = "wasm32")]
mod lines;
#[cfg(target_arch = "wasm32")]
mod request;
#[cfg(target_arch = "wasm32")]
mod routes;
#[cfg(target_arch = "wasm32")]
mod session;
#[cfg(target_arch = "wasm32")]
mod share;
#[cfg(target_arch = "wasm32")]
mod thread;
#[cfg(target_arch = "wasm32")]
mod tree;

#[cfg(target_arch = "wasm32")]
mod entry {
    use crate::session::Session;
    use std::cell::RefCell;
    use wasm_bindgen::prelude::wasm_bindgen;

    thread_local! {
        static SESSION: RefCell<Session> = RefCell::new(Session::default());
    }

    /// Answers a question, both as JSON.
    #[wasm_bindgen]
    pub fn answer(question: &str) -> String {
        SESSION.with(|session| session.borrow_mut().answer(question))
    }
}

fn main() {
    #[cfg(target_arch = "wasm32")]
    chancery_web::fault::tell_panics();
}
