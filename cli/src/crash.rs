//! What is said when the program itself is wrong.
//!
//! What must not be here: errors of the input, which are findings.

/// Puts one plain sentence in place of a backtrace.
pub fn install() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        let what = info.payload_as_str().unwrap_or("it did not say why");
        crate::style::complain(&format!(
            "a fault of chancery {} itself stopped it{place} ({what}); please report it, with the input if you may share it, at {}/issues",
            env!("CARGO_PKG_VERSION"),
            env!("CARGO_PKG_REPOSITORY"),
        ));
        std::process::exit(101)
    }));
}
