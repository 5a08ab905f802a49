//! The worker's program: holds a session and answers the page's questions. Does not work out answers; see `chancery_web::worker`.

#[cfg(target_arch = "wasm32")]
mod entry {
    use chancery_core::dialect;
    use chancery_web::worker::Session;
    use std::cell::RefCell;
    use wasm_bindgen::prelude::wasm_bindgen;

    thread_local! {
        static SESSION: RefCell<Session> = RefCell::new(Session::new(dialect::ALL));
    }

    /// Answers a question. Both are JSON as bytes: a string would be copied again on both sides and would stay until the next garbage collection.
    #[wasm_bindgen]
    pub fn answer(question: Vec<u8>) -> Vec<u8> {
        SESSION.with(|session| session.borrow_mut().answer(question)).into_bytes()
    }
}

fn main() {
    #[cfg(target_arch = "wasm32")]
    chancery_web::fault::report_panics();
}
