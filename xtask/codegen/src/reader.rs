//! Generates the JSON reader's match from described fields to fields of the struct.

use std::fmt::Write as _;

use crate::rust_names::RustField;

/// The arm that reads one field.
pub fn arm(code: &mut String, at: usize, rust: &RustField) {
    let ident = &rust.ident;
    match (&rust.variant, rust.boxed) {
        (None, false) => writeln!(code, "{at} => r::slot(&mut self.{ident}, r, f),"),
        (None, true) => writeln!(code, "{at} => r::boxed(&mut self.{ident}, r, f),"),
        (Some(variant), false) => writeln!(code, "{at} => r::member(r, f, |x| self.{ident} = Some(super::{variant}(x))),"),
        (Some(variant), true) => writeln!(code, "{at} => r::member(r, f, |x| self.{ident} = Some(super::{variant}(r::new_box(x)))),"),
    }
    .expect("a String takes everything");
}

/// The implementation for one message.
pub fn implementation(path: &str, reader: &str, arms: &str) -> String {
    let (f, body) = if arms.is_empty() { ("_", "{ let _ = at; Ok(()) }".to_owned()) } else { ("f", format!("match at {{ {arms} _ => Ok(()) }}")) };
    format!(
        "    #[cfg(feature = \"registry\")]
        impl r::ReadFields for {path} {{
            fn read_field(&mut self, at: usize, {reader}: &mut r::Reader<'_>, {f}: &'static d::FieldInfo) -> r::Result {{ {body} }}
        }}
"
    )
}
