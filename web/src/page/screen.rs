//! The visible state of the page: view, theme, overlay and a short message.

use crate::address::Address;
use crate::storage;
use crate::view::{Overlay, View};
use gloo_timers::callback::Timeout;
use leptos::prelude::*;
use leptos::task::spawn_local;

/// How long a message is shown, in milliseconds.
const WORD: u32 = 6000;

/// The visible state. Copies share it.
#[derive(Clone, Copy)]
pub struct Screen {
    pub view: RwSignal<View>,
    pub overlay: RwSignal<Option<Overlay>>,
    /// `light`, `dark`, or nothing for the system's theme.
    pub theme: RwSignal<Option<String>>,
    /// The width of the editor, in percent.
    pub split: RwSignal<f64>,
    /// Whether a narrow page shows the editor instead of a view.
    pub writing: RwSignal<bool>,
    /// A short message.
    pub toast: RwSignal<Option<String>>,
    /// Whether the page is embedded in another page, and whether it then shows only one view.
    pub embedded: Option<bool>,
    pub read_only: bool,
}

impl Screen {
    /// Applies the address and the stored settings.
    pub fn new(address: &Address) -> Self {
        let settings = storage::settings();
        let kept = settings.view.as_deref().and_then(View::named).filter(|_| address.embed.is_none());
        Self {
            view: RwSignal::new(address.view.or(kept).unwrap_or(View::Graph)),
            overlay: RwSignal::new(None),
            theme: RwSignal::new(address.theme.clone().or(settings.theme)),
            split: RwSignal::new(settings.split),
            writing: RwSignal::new(address.embed.is_none()),
            toast: RwSignal::new(None),
            embedded: address.embed.as_ref().map(|view| view != "all"),
            read_only: address.read_only,
        }
    }

    /// Stores the settings and applies the theme.
    pub fn follow(self) {
        Effect::new(move |_| {
            let settings = storage::Settings { theme: self.theme.get(), split: self.split.get(), view: Some(self.view.get().name().into()) };
            if self.embedded.is_none() {
                storage::keep_settings(&settings);
            }
        });
        Effect::new(move |_| {
            if let Some(root) = document().document_element() {
                let _ = match self.theme.get() {
                    Some(theme) => root.set_attribute("data-theme", &theme),
                    None => root.remove_attribute("data-theme"),
                };
            }
        });
    }

    pub fn show(self, view: View) {
        self.view.set(view);
        self.writing.set(false);
    }

    /// Opens an overlay.
    pub fn lay_over(self, overlay: Overlay) {
        self.overlay.set(Some(overlay));
    }

    /// Switches between the light and the dark theme.
    pub fn turn_theme(self) {
        let dark = match self.theme.get_untracked() {
            Some(theme) => theme == "dark",
            None => window().match_media("(prefers-color-scheme: dark)").ok().flatten().is_some_and(|query| query.matches()),
        };
        self.theme.set(Some(if dark { "light" } else { "dark" }.into()));
    }

    /// Shows a short message.
    pub fn say(self, word: impl Into<String>) {
        let word = word.into();
        self.toast.set(Some(word.clone()));
        let quiet = move || {
            if self.toast.get_untracked().as_ref() == Some(&word) {
                self.toast.set(None);
            }
        };
        Timeout::new(WORD, quiet).forget();
    }

    /// Copies a text to the clipboard.
    pub fn copy(self, text: &str, what: &'static str) {
        let promise = window().navigator().clipboard().write_text(text);
        spawn_local(async move {
            match wasm_bindgen_futures::JsFuture::from(promise).await {
                Ok(_) => self.say(format!("{what} is copied")),
                Err(_) => self.say("The browser refused to copy"),
            }
        });
    }
}
