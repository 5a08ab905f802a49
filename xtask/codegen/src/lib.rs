//! Writes `envoy-api/src/generated/` from Envoy's descriptor set. `cargo xtask codegen` starts it.
//!
//! Here: what turns descriptors into Rust, one step a module. Not here: anything that a compiled Chancery needs at run time.

mod closure;
mod emit;
mod output;
mod pattern;
mod reader;
mod rules;
mod rust_names;
pub mod source;

/// The list of messages that are wanted.
const ROOTS: &str = include_str!("roots.txt");

/// The list of messages that are found by name under the feature `registry` alone.
const USUAL: &str = include_str!("usual.txt");

/// Generates everything; returns whether the files on disk are fresh now. With `check`, nothing is written.
///
/// # Errors
///
/// The descriptor set cannot be read, or has something that the codegen does not know.
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
