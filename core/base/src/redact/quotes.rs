//! Messages about a text that is read for the first time, without what is hidden in it.
//!
//! What must not be here: what is hidden.

use super::message::without_hidden;
use super::veil::Veil;
use alloc::boxed::Box;
use alloc::string::String;
use chancery_text::TextRange;
use once_cell::race::OnceBox;

/// Messages about a text without what is hidden in it: what they quote is left out where only hidden text has it.
pub struct Quotes<'t> {
    text: &'t str,
    /// The text as it may be seen; nothing where all of it may.
    shown: OnceBox<Option<String>>,
}

impl<'t> Quotes<'t> {
    /// About this text, which is looked into when something is quoted.
    pub fn new(text: &'t str) -> Self {
        Self { text, shown: OnceBox::new() }
    }

    /// The message as it may be shown.
    pub fn said(&self, message: &str) -> String {
        if !message.contains(['`', '"']) {
            return message.into();
        }
        let whole = TextRange::new(0, self.text.len() as u32);
        let shown = self.shown.get_or_init(|| {
            let veil = Veil::new(self.text);
            Box::new(veil.hides(self.text, whole).then(|| veil.masked(self.text, whole)))
        });
        let Some(shown) = shown else { return message.into() };
        without_hidden(message, self.text, shown, None)
    }
}
