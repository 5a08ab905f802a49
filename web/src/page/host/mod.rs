//! The host: a window with access to files, clusters and Envoys, or a server that shows its inputs. Without a host the page is the playground. Does
//! not compile; the page compiles live inputs like typed inputs.

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    None,
    /// A server, which only shows.
    Server,
    /// A window, which carries out calls.
    Window,
}

impl Host {
    /// The current host.
    pub fn find() -> Self {
        match host_kind().as_str() {
            "server" => Self::Server,
            "window" => Self::Window,
            _ => Self::None,
        }
    }
}

/// Receives messages and the state of the connection, as long as the page lives.
fn listen(heard: impl Fn(String) + 'static, state: impl Fn(String) + 'static) {
    let heard = Closure::<dyn Fn(String)>::new(heard).into_js_value();
    let state = Closure::<dyn Fn(String)>::new(state).into_js_value();
    host_listen(&heard, &state);
}

/// Calls the window.
pub async fn call<T: DeserializeOwned>(call: &Call) -> Result<T, String> {
    let text = serde_json::to_string(call).map_err(|error| error.to_string())?;
    let said = JsFuture::from(host_call(&text)).await;
    let answer = said.map_err(|why| why.as_string().unwrap_or_else(|| "the window does not respond".into()))?;
    serde_json::from_str(&answer.as_string().unwrap_or_default()).map_err(|error| error.to_string())
}
