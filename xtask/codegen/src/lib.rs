//! Writes `envoy-api/src/generated/` from Envoy's descriptor set. `cargo xtask codegen` starts it.
//!
//! Converts descriptors to Rust; each module is one step. Does not contain code that a compiled Chancery needs at run time.

mod closure;
mod emit;
mod output;
mod pattern;
mod reader;
mod rules;
mod rust_names;
pub mod source;

/// The list of requested messages.
const ROOTS: &str = include_str!("roots.txt");

/// The list of messages that the feature `registry` alone finds by name.
const USUAL: &str = include_str!("usual.txt");

/// Generates everything. Returns whether the files on disk are now fresh. With `check`, writes nothing.
///
/// # Errors
///
/// The descriptor set cannot be read, or contains something that the codegen does not support.
pub fn run(check: bool) -> Result<bool, String> {
    let bytes = source::descriptor_set()?;
    let closure = closure::close(&bytes, ROOTS, USUAL)?;
    for missing in &closure.missing {
        eprintln!("codegen: warning: no message {missing} in the descriptor set");
    }
    let modules = rust_names::build(&closure)?;
    let files = emit::files(&closure, &modules)?;
    output::write(files, check)
}
