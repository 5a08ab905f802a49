//! Colours and widths.
//!
//! What must not be here: what is said.

use crate::args::Color;
use anstyle::{AnsiColor, Effects};
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{IsTerminal, Write};

/// How output looks.
#[derive(Clone)]
pub struct Style {
    /// Whether there are colours.
    pub on: bool,
    /// Columns of the terminal.
    pub width: usize,
}

impl Style {
    /// As asked for, else as the terminal and NO_COLOR say.
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

    /// The same for standard error, which has colours only where both are a terminal.
    pub fn for_standard_error(&self) -> Self {
        Self { on: self.on && std::io::stderr().is_terminal(), width: self.width }
    }

    fn paint(&self, text: impl Display, style: anstyle::Style) -> String {
        if self.on { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    /// What matters most.
    pub fn bold(&self, text: impl Display) -> String {
        self.paint(text, anstyle::Style::new().effects(Effects::BOLD))
    }

    /// What stands over the part of one of several.
    pub fn heading(&self, text: impl Display) -> String {
        self.bold(format!("== {text} =="))
    }

    /// What may be skipped.
    pub fn dim(&self, text: impl Display) -> String {
        self.paint(text, anstyle::Style::new().effects(Effects::DIMMED))
    }

    /// Something wrong.
    pub fn red(&self, text: impl Display) -> String {
        self.paint(text, AnsiColor::BrightRed.on_default().effects(Effects::BOLD))
    }

    /// Something to look at.
    pub fn yellow(&self, text: impl Display) -> String {
        self.paint(text, AnsiColor::Yellow.on_default().effects(Effects::BOLD))
    }

    /// Something good.
    pub fn green(&self, text: impl Display) -> String {
        self.paint(text, AnsiColor::BrightGreen.on_default().effects(Effects::BOLD))
    }

    /// A name or place.
    pub fn cyan(&self, text: impl Display) -> String {
        self.paint(text, AnsiColor::BrightCyan.on_default())
    }
}

/// A sentence on standard error.
pub fn complain(sentence: &str) {
    // Nobody is left to tell when this fails.
    let _ = writeln!(std::io::stderr(), "chancery: {}", crate::output::scrub(&plain(sentence)));
}

/// Text without what would steer a terminal.
pub fn plain(text: &str) -> Cow<'_, str> {
    let steers = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|c| if steers(c) { c.escape_default().to_string() } else { c.to_string() }).collect::<String>().into()
}

/// `1 error`, `2 errors`.
pub fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
