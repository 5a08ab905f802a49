//! How a program asks for a part of itself that was not loaded with it (`assets/split.mjs` says what is in which).
//!
//! What must not be here: what is in a part, and how one is loaded.

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = loadPart)]
    fn load(program: &JsValue, number: u32);
}

/// Loads a part, by its number. Only what stands for the functions of a part calls it, once it is split off.
#[wasm_bindgen]
pub fn load_part(number: u32) {
    load(&wasm_bindgen::exports(), number);
}
