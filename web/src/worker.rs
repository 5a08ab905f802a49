//! The worker: holds the core, answers the page's questions, one after the other.
//!
//! There is a program for each dialect, and one for all of them (`src/bin`): who has one dialect loads no other.
//!
//! What must not be here: anything that the core could do for other hosts as well, and any dialect's name.

#[cfg(target_arch = "wasm32")]
mod app_gateway;
#[cfg(target_arch = "wasm32")]
mod common;
#[cfg(target_arch = "wasm32")]
mod compare;
#[cfg(target_arch = "wasm32")]
mod configs;
#[cfg(target_arch = "wasm32")]
mod drawing;
#[cfg(target_arch = "wasm32")]
mod lines;
#[cfg(target_arch = "wasm32")]
mod reach;
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
pub use session::Session;

/// The program of a worker that has these dialects.
#[macro_export]
macro_rules! worker {
    ($($dialect:ident),+) => {
        #[cfg(target_arch = "wasm32")]
        mod entry {
            use chancery_core::compilation::Dialect;
            use chancery_core::dialect;
            use chancery_web::worker::Session;
            use std::cell::RefCell;
            use wasm_bindgen::prelude::wasm_bindgen;

            static DIALECTS: &[&Dialect] = &[$(&dialect::$dialect::DIALECT),+];

            thread_local! {
                static SESSION: RefCell<Session> = RefCell::new(Session::new(DIALECTS));
            }

            /// Answers a question, both as JSON in bytes: a text would be copied once more on either side, and stay until the browser tidies up.
            #[wasm_bindgen]
            pub fn answer(question: Vec<u8>) -> Vec<u8> {
                SESSION.with(|session| session.borrow_mut().answer(question)).into_bytes()
            }
        }

        fn main() {
            #[cfg(target_arch = "wasm32")]
            chancery_web::fault::tell_panics();
        }
    };
}
