//! The pages of the codes of findings: one file, which is loaded when somebody reads the first.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;

/// The page of a code of findings, in Markdown.
pub async fn page_of(code: &str) -> Option<String> {
    let answer: web_sys::Response = JsFuture::from(window().fetch_with_str("./codes.txt")).await.ok()?.dyn_into().ok()?;
    let text = JsFuture::from(answer.text().ok().filter(|_| answer.ok())?).await.ok()?.as_string()?;
    text.split('\u{c}').find_map(|page| page.strip_prefix(code)?.strip_prefix('\n')).map(ToString::to_string)
}
