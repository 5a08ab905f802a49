//! Defines the reasons why an expression is rejected.

use alloc::string::String;
use core::fmt;

/// Why an expression is rejected. Prints as the end of a sentence after a colon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegexError {
    /// Too deeply nested groups.
    TooDeep,
    /// A `)` without a group.
    UnopenedGroup,
    /// A `(` without an end.
    UnclosedGroup,
    /// A repetition of nothing; holds the operator if it is one character.
    NothingToRepeat(Option<char>),
    RepeatedRepetition,
    /// A repetition of more than 1000 times.
    TooManyRepetitions,
    /// A repetition whose end is below its start; holds its text without braces.
    BackwardsRepetition(String),
    TrailingBackslash,
    /// `\1` and similar.
    Backreference,
    /// `\p{` or `\x{` without an end; holds the letter.
    UnclosedEscape(char),
    /// `\x` without two digits.
    BadHexadecimal,
    /// An escape that RE2 does not have.
    UnknownEscape(char),
    /// `(?=`, `(?!`, `(?<=` or `(?<!`.
    LookAround,
    /// A group name without an end.
    UnclosedName,
    /// A group name with invalid characters.
    BadName,
    /// Another `(?`.
    UnknownGroup,
    /// A `[` without an end.
    UnclosedClass,
    /// A character range whose end is below its start.
    BackwardsRange(char, char),
    /// It uses word or line boundaries, which the search for strings does not support.
    LooksAtBorders,
    /// The program is larger than the limit.
    TooLarge,
    /// The other parser's message.
    Other(String),
}

impl fmt::Display for RegexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::NothingToRepeat(Some(sign)) => return write!(f, "there is nothing that `{sign}` could repeat"),
            Self::BackwardsRepetition(inner) => return write!(f, "the repetition `{{{inner}}}` is backwards"),
            Self::UnclosedEscape(letter) => return write!(f, "a `\\{letter}{{` is never closed"),
            Self::UnknownEscape(letter) => return write!(f, "RE2 does not know `\\{letter}`"),
            Self::BackwardsRange(low, high) => return write!(f, "the range `{low}-{high}` is backwards"),
            Self::Other(words) => words.as_str(),
            Self::TooDeep => "it is nested too deeply",
            Self::UnopenedGroup => "there is a `)` without `(`",
            Self::UnclosedGroup => "a `(` is never closed",
            Self::NothingToRepeat(None) => "nothing to repeat before `*`",
            Self::RepeatedRepetition => "two repetitions follow each other",
            Self::TooManyRepetitions => "RE2 repeats at most 1000 times",
            Self::TrailingBackslash => "it ends with a backslash",
            Self::Backreference => "RE2 has no backreferences",
            Self::BadHexadecimal => "`\\x` needs two hexadecimal digits",
            Self::LookAround => "RE2 cannot look ahead or behind",
            Self::UnclosedName => "a group's name is never closed",
            Self::BadName => "a group's name has letters, digits and `_` only",
            Self::UnknownGroup => "RE2 does not know this kind of group",
            Self::UnclosedClass => "a `[` is never closed",
            Self::LooksAtBorders => "it looks at the borders of words or lines",
            Self::TooLarge => "its program is larger than what is run here",
        };
        f.write_str(words)
    }
}

impl core::error::Error for RegexError {}
