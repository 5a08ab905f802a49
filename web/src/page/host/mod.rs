//! The program around the page, where there is one: a window with access to files, clusters and Envoys, or a server that shows what it serves.
//! Without one the page is the playground.
//!
//! | module | what it holds |
//! |---|---|
//! | [`message`] | what the program says, and what it is asked |
//! | [`live`] | the inputs as the program knows them, and what the person changed of them |
//! | [`history`] | the inputs as they were before each change |
//! | [`strip`] | one line: what is shown live, and how it is |
//! | [`panel`] | the view of sources, Envoys and what happened |
//! | [`running`] | Envoys that run: the one that the person looks at, and what is asked of it |
//! | [`envoys`] | how they are shown, and what drifted |
//! | [`real`] | a request that is sent for real, beside the simulation |
//! | [`connect`] | what lies over the page to choose a context |
//! | [`words`] | small texts that these share |
//! | [`picker`] | the list of files, where there are many |
//!
//! What must not be here: compiling; the page compiles live inputs as it compiles what somebody typed.

pub mod connect;
pub mod envoys;
pub mod history;
pub mod live;
pub mod message;
pub mod panel;
pub mod picker;
pub mod real;
pub mod running;
pub mod strip;
pub mod words;

use chancery_web::protocol::Call;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(raw_module = "./host.js")]
extern "C" {
    #[wasm_bindgen(js_name = kind)]
    fn host_kind() -> String;
    #[wasm_bindgen(js_name = listen)]
    fn host_listen(heard: &JsValue, state: &JsValue);
    #[wasm_bindgen(js_name = call)]
    fn host_call(call: &str) -> js_sys::Promise;
}

/// The program around the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// There is none.
    None,
    /// A server, which can be looked at.
    Server,
    /// A window, which does what it is asked.
    Window,
}

impl Host {
    /// The one that is there.
    pub fn find() -> Self {
        match host_kind().as_str() {
            "server" => Self::Server,
            "window" => Self::Window,
            _ => Self::None,
        }
    }
}

/// Hears messages, and how the line is, for as long as the page lives.
fn listen(heard: impl Fn(String) + 'static, state: impl Fn(String) + 'static) {
    let heard = Closure::<dyn Fn(String)>::new(heard).into_js_value();
    let state = Closure::<dyn Fn(String)>::new(state).into_js_value();
    host_listen(&heard, &state);
}

/// Asks the window for something.
pub async fn call<T: DeserializeOwned>(call: &Call) -> Result<T, String> {
    let text = serde_json::to_string(call).map_err(|error| error.to_string())?;
    let said = JsFuture::from(host_call(&text)).await;
    let answer = said.map_err(|why| why.as_string().unwrap_or_else(|| "the window does not answer".into()))?;
    serde_json::from_str(&answer.as_string().unwrap_or_default()).map_err(|error| error.to_string())
}
