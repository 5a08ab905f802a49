//! Reads the page's address: embedding, theme, view, and exported work. Does not apply it; see `state`.

use crate::view::View;
use leptos::prelude::{document, window};
use web_sys::UrlSearchParams;

/// The requests in the address.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Address {
    /// The view to show alone inside another page, or `all`.
    pub embed: Option<String>,
    /// The first view.
    pub view: Option<View>,
    /// `light` or `dark`.
    pub theme: Option<String>,
    pub read_only: bool,
    /// The name of an example.
    pub example: Option<String>,
    /// The dialect to show first.
    pub dialect: Option<String>,
    /// Whether the surrounding page will send files.
    pub awaits_files: bool,
    /// The fragment with exported work.
    pub shared: Option<String>,
}

pub fn read() -> Address {
    let location = window().location();
    let params = query().and_then(|query| UrlSearchParams::new_with_str(&query).ok());
    let get = |name: &str| params.as_ref().and_then(|params| params.get(name));
    let embed = get("embed").map(|view| if view.is_empty() { "all".into() } else { view });
    let hash = location.hash().unwrap_or_default();
    let part = UrlSearchParams::new_with_str(hash.trim_start_matches('#')).ok();
    let dialect = part.as_ref().and_then(|part| part.get("dialect"));
    let named = part.and_then(|part| part.get("view")).or_else(|| get("view")).or_else(|| embed.clone());
    Address {
        view: named.and_then(|name| View::named(&name)),
        theme: get("theme").filter(|theme| matches!(theme.as_str(), "light" | "dark")),
        dialect,
        read_only: get("readonly").is_some_and(|value| value != "false"),
        example: get("example"),
        awaits_files: get("awaits").is_some(),
        shared: Some(hash).filter(|hash| hash.contains("snapshot=")),
        embed,
    }
}

/// The query of the address. In an editor, the document has no address, and `<html data-query>` has the query.
fn query() -> Option<String> {
    let given = document().document_element().and_then(|root| root.get_attribute("data-query"));
    given.or_else(|| window().location().search().ok())
}

/// The page's address without query and fragment.
pub fn page() -> String {
    let location = window().location();
    format!("{}{}", location.origin().unwrap_or_default(), location.pathname().unwrap_or_default())
}

/// Removes the fragment from the address, because the page shows other work now.
pub fn forget_shared() {
    if window().location().hash().is_ok_and(|hash| !hash.is_empty())
        && let Ok(history) = window().history()
    {
        let search = window().location().search().unwrap_or_default();
        let _ = history.replace_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(&format!("{}{search}", page())));
    }
}
