//! Colours and widths.
//!
//! Does not contain messages; see the commands.

use crate::args::Color;
use anstyle::{AnsiColor, Effects};
use std::borrow::Cow;
use std::fmt::Display;
use std::io::IsTerminal;

/// How output looks.
#[derive(Clone)]
pub struct Style {
    /// Whether there are colours.
    pub on: bool,
    /// Columns of the terminal.
    pub width: usize,
}

impl Style {
    /// Uses the option, else the terminal and NO_COLOR.
    pub fn new(color: Color) -> Self {
        let on = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
                !refused && !dumb && std::io::stdout().is_terminal()
            }
        };
        let width = terminal_size::terminal_size().map_or(120, |(width, _)| usize::from(width.0)).max(40);
        Self { on, width }
    }

    /// The same for standard error, which has colours only if both are a terminal.
    pub fn for_standard_error(&self) -> Self {
        Self { on: self.on && std::io::stderr().is_terminal(), width: self.width }
    }

    fn paint(&self, text: impl Display, style: anstyle::Style) -> String {
        if self.on { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    /// The most important part.
    pub fn bold(&self, text: impl Display) -> String {
        self.paint(text, anstyle::Style::new().effects(Effects::BOLD))
    }

    /// The heading of one of several parts.
    pub fn heading(&self, text: impl Display) -> String {
        self.bold(format!("== {text} =="))
    }

    /// A part that readers may skip.
    pub fn dim(&self, text: impl Display) -> String {
        self.paint(text, anstyle::Style::new().effects(Effects::DIMMED))
    }

    /// An error.
    pub fn red(&self, text: impl Display) -> String {
        self.paint(text, AnsiColor::BrightRed.on_default().effects(Effects::BOLD))
    }

    /// A warning.
    pub fn yellow(&self, text: impl Display) -> String {
        self.paint(text, AnsiColor::Yellow.on_default().effects(Effects::BOLD))
    }

    /// A success.
    pub fn green(&self, text: impl Display) -> String {
        self.paint(text, AnsiColor::BrightGreen.on_default().effects(Effects::BOLD))
    }

    /// A name or place.
    pub fn cyan(&self, text: impl Display) -> String {
        self.paint(text, AnsiColor::BrightCyan.on_default())
    }
}

/// Whether a character controls a terminal or the order of characters: control characters, and characters that change the writing direction.
pub fn steers(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && c != '\n' && c != '\t')
}

/// Escapes an input's control characters for a terminal or a log.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    text.chars().fold(String::with_capacity(text.len() + 8), escaped).into()
}

/// Escapes a whole report, except this program's own colours.
pub fn strip_control_sequences(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(c) = rest.chars().next() {
        let taken = colour(rest).unwrap_or(c.len_utf8());
        let (head, tail) = rest.split_at(taken);
        out = if taken > 1 && c == '\u{1b}' { out + head } else { escaped(out, c) };
        rest = tail;
    }
    out.into()
}

fn escaped(mut out: String, c: char) -> String {
    if steers(c) {
        out.extend(c.escape_default());
    } else {
        out.push(c);
    }
    out
}

/// Returns the length of a colour sequence at the start of a string, if any.
fn colour(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\u{1b}[")?;
    let end = numbers.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    numbers[end..].starts_with('m').then_some(end + "\u{1b}[m".len())
}

/// Places of a repeated finding or note that are shown.
pub const SHOWN_PLACES: usize = 3;

/// `1 error`, `2 errors`.
pub fn count(number: usize, what: &str) -> String {
    let ending = if what.ends_with('s') { "es" } else { "s" };
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}{ending}") }
}

/// Lists the first of some names.
pub fn some(names: &[&str]) -> String {
    const MOST: usize = 8;
    let more = names.len().saturating_sub(MOST);
    let shown = names.iter().take(MOST).copied().collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}
