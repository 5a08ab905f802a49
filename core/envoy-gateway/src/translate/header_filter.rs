//! Translates filters that change headers.

use super::super::model::AddHeader;
use super::super::value::text;
use super::error::RouteError;
use super::rule_filters::Filters;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::Sourced;
use chancery_base::schema::go_quoted;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// Which headers a filter changes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Request,
    Response,
}

impl Direction {
    fn name(self) -> &'static str {
        match self {
            Direction::Request => "RequestHeaderModifier",
            Direction::Response => "ResponseHeaderModifier",
        }
    }

    /// Returns why a header's name is refused.
    fn unmodifiable(self, verb: &str, name: &str) -> String {
        let quoted = go_quoted(name);
        let verb = if self == Direction::Response && verb == "add" { "set" } else { verb };
        let words = format!("The {} filter cannot {verb} the Host header or headers with a '/' or ':' character in them.", self.name());
        let advice = " To modify the Host header use the URLRewrite or the HTTPRouteFilter filter.";
        let advice = if self == Direction::Request && verb != "remove" { advice } else { "" };
        format!("Header: {quoted}. {words}{advice}")
    }
}

/// Applies a filter that changes headers. Valid changes apply even if others are refused.
pub(super) fn modify(at: Cursor<'_>, direction: Direction, out: &mut Filters<'_>) -> Result<(), RouteError> {
    if !at.exists() {
        return Ok(());
    }
    let (added, removed) = match direction {
        Direction::Request => (&mut out.add_request_headers, &mut out.remove_request_headers),
        Direction::Response => (&mut out.add_response_headers, &mut out.remove_response_headers),
    };
    let mut errors: Vec<String> = Vec::new();
    for (verb, append) in [("add", true), ("set", false)] {
        for header in at.field(verb).items() {
            add(header, (verb, append), direction, added, &mut errors);
        }
    }
    for name in at.field("remove").items() {
        let written = name.str();
        if written.is_empty() {
            errors.push(format!("{} Filter cannot remove a header with an empty name", direction.name()));
        } else if !is_modifiable(written) {
            errors.push(direction.unmodifiable("remove", written));
        } else if !removed.iter().any(|known: &Sourced<Str>| known.value.eq_ignore_ascii_case(written)) {
            removed.push(text(name));
        }
    }
    let is_empty = ["add", "set", "remove"].iter().all(|field| at.field(field).is_empty());
    if added.is_empty() && removed.is_empty() && !is_empty {
        let verbs = if direction == Direction::Request { "add/set/remove" } else { "add/remove" };
        let message = format!("{} Filter did not provide valid configuration to {verbs} any headers", direction.name());
        return Err(RouteError::refused("UnsupportedValue", message));
    }
    if errors.is_empty() { Ok(()) } else { Err(RouteError::refused("UnsupportedValue", errors.join("\n"))) }
}

fn add(header: Cursor<'_>, (verb, append): (&str, bool), direction: Direction, added: &mut Vec<AddHeader>, errors: &mut Vec<String>) {
    let (name, value) = (header.field("name"), header.field("value"));
    let written = name.str();
    if written.is_empty() {
        errors.push(format!("{} Filter cannot {verb} a header with an empty name", direction.name()));
    } else if !is_modifiable(written) {
        errors.push(direction.unmodifiable(verb, written));
    } else if !is_value(value.str()) {
        let quoted = go_quoted(written);
        errors.push(format!("Header: {quoted}. {} Filter cannot {verb} a header with an invalid value.", direction.name()));
    } else if !added.iter().any(|known| known.name.value.eq_ignore_ascii_case(written)) {
        added.push(AddHeader { name: text(name), values: Vec::from([text(value)]), append, if_absent: false });
    }
}

fn is_modifiable(name: &str) -> bool {
    !name.contains(['/', ':']) && !name.eq_ignore_ascii_case("host")
}

/// Whether a value has visible characters only, with single blanks between them.
fn is_value(value: &str) -> bool {
    let is_visible = |byte: u8| (b'!'..=b'~').contains(&byte);
    let bytes = value.as_bytes();
    let ends_well = bytes.first().is_some_and(|byte| is_visible(*byte)) && bytes.last().is_some_and(|byte| is_visible(*byte));
    let is_blank = |byte: u8| matches!(byte, b' ' | b'\t');
    ends_well && bytes.iter().all(|byte| is_visible(*byte) || is_blank(*byte)) && !bytes.windows(2).any(|two| is_blank(two[0]) && is_blank(two[1]))
}
