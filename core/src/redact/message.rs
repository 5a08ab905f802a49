//! A message without what it quotes of a text that is hidden there.
//!
//! What must not be here: what is hidden.

use super::mark::REDACTED;
use alloc::string::String;

/// Shorter words of a message are its own.
const SHORTEST_WORD: usize = 8;

/// Marks around what is quoted.
const QUOTES: [char; 3] = ['`', '"', '\''];

/// A message about a text without what it quotes of it that is hidden there. `value` is a hidden value that the message is about: it is left out although
/// other text that is shown may say the same.
pub(super) fn without_hidden(message: &str, text: &str, shown: &str, value: Option<&str>) -> String {
    let says = |quoted: &str| quoted.bytes().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
    let has = |text: &str, part: &str| memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some();
    let is_hidden = |part: &str| says(part) && has(text, part) && !has(shown, part);
    let value = value.map(|value| value.trim_matches(QUOTES));
    let is_left_out = |quoted: &str| Some(quoted) == value || is_hidden(quoted.trim_start_matches(['*', '&', '!']));
    let (mut out, mut rest) = (String::new(), message);
    while let Some(start) = rest.find(['`', '"']) {
        let (before, quote) = (&rest[..start], &rest[start..=start]);
        let behind = &rest[start + 1..];
        let Some(end) = behind.find(quote) else { break };
        words_shown(before, &is_hidden, &mut out);
        let quoted = &behind[..end];
        out.push_str(quote);
        if is_left_out(quoted) {
            out.push_str(REDACTED)
        } else {
            words_shown(quoted, &is_hidden, &mut out)
        }
        out.push_str(quote);
        rest = &behind[end + 1..];
    }
    words_shown(rest, &is_hidden, &mut out);
    out
}

/// Adds a part of a message word by word: what is quoted may hold the mark of a quote itself, so that it ends elsewhere than it seems.
fn words_shown(part: &str, is_hidden: &impl Fn(&str) -> bool, out: &mut String) {
    for word in part.split_inclusive(char::is_whitespace) {
        let bare = word.trim_end();
        // Dots end what a message cuts off.
        let within = bare.trim_end_matches(['.', '\u{2026}', '"', '`', '\'']).trim_matches(QUOTES);
        let is_own = bare.len() < SHORTEST_WORD || !(is_hidden(bare) || is_hidden(within));
        out.push_str(if is_own { bare } else { REDACTED });
        out.push_str(&word[bare.len()..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_message_quotes_is_left_out_where_it_is_hidden() {
        let (text, shown) = ("token: hunter2\nname: abc\npin: abc", "token: *******\nname: abc\npin: ***");
        let said = |message: &str, value| without_hidden(message, text, shown, value);
        assert_eq!(said("must be an object, not the string \"hunter2\"", None), "must be an object, not the string \"<redacted>\"");
        assert_eq!(said("`token` must be an object, not `abc`", None), "`token` must be an object, not `abc`");
        assert_eq!(said("must be a number, not \"abc\"", Some("'abc'")), "must be a number, not \"<redacted>\"");
        assert_eq!(said("a quote \" alone, and `hunter2", None), "a quote \" alone, and <redacted>", "also where a quote does not end");
        assert_eq!(said("not a text `x token: hunter2...`", None), "not a text `x token: <redacted>`", "also where it is cut off");
        assert_eq!(said("hunter2 is short", None), "hunter2 is short", "short words are the message's own");
    }
}
