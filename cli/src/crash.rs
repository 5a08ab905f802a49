//! Reports a bug in the program itself.
//!
//! Does not report errors of the input, which are findings.

use chancery_core::redact::blank_panic;

/// Replaces a backtrace with one plain sentence.
pub fn install() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        // The message may quote the input.
        let what = info.payload_as_str().map_or_else(|| "it did not say why".into(), blank_panic);
        crate::output::message(&format!(
            "a fault of chancery {} itself stopped it{place} ({what}); please report it, with the input if you may share it, at {}/issues",
            env!("CARGO_PKG_VERSION"),
            env!("CARGO_PKG_REPOSITORY"),
        ));
        std::process::exit(101)
    }));
}
