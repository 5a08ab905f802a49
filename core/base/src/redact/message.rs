//! Removes quoted hidden text from messages. Does not hide text itself; see `cover`.

use alloc::string::String;

/// The replacement of a secret in messages and trees.
pub const REDACTED: &str = "<redacted>";

/// Shorter words belong to the message itself.
const SHORTEST_WORD: usize = 8;

const QUOTES: [char; 3] = ['`', '"', '\''];

/// Removes quoted text that is hidden in `text` from a message. `value` is the hidden value that the message concerns: it is removed even if
/// visible text contains the same string.
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
        push_visible_words(before, &is_hidden, &mut out);
        let quoted = &behind[..end];
        out.push_str(quote);
        if is_left_out(quoted) {
            out.push_str(REDACTED)
        } else {
            push_visible_words(quoted, &is_hidden, &mut out)
        }
        out.push_str(quote);
        rest = &behind[end + 1..];
    }
    push_visible_words(rest, &is_hidden, &mut out);
    out
}

/// Adds a part of a message word by word. Quoted text may contain quotes, so a quotation may end elsewhere than it seems. Messages escape line
/// breaks as `\n`, so a word ends there too.
fn push_visible_words(part: &str, is_hidden: &impl Fn(&str) -> bool, out: &mut String) {
    let ends_word = |c: char| c.is_whitespace() || c == '\\';
    let mut is_escape = false;
    for word in part.split_inclusive(ends_word) {
        let bare = word.trim_end_matches(ends_word);
        let own = if is_escape { escaped_len(bare) } else { 0 };
        let (escape, bare_word) = bare.split_at(own);
        // Dots end truncated text.
        let within = bare_word.trim_end_matches(['.', '\u{2026}', '"', '`', '\'']).trim_matches(QUOTES);
        let is_own = bare_word.len() < SHORTEST_WORD || !(is_hidden(bare_word) || is_hidden(within));
        out.push_str(escape);
        out.push_str(if is_own { bare_word } else { REDACTED });
        out.push_str(&word[bare.len()..]);
        is_escape = word.ends_with('\\');
    }
}

/// The length of the escape after a backslash: `n`, or `u{feff}`.
fn escaped_len(word: &str) -> usize {
    let code = word.starts_with("u{").then(|| word.find('}')).flatten();
    code.map_or_else(|| word.chars().next().map_or(0, char::len_utf8), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_hidden_text_is_removed() {
        let (text, shown) = ("token: hunter2\nname: abc\npin: abc", "token: *******\nname: abc\npin: ***");
        let said = |message: &str, value| without_hidden(message, text, shown, value);
        assert_eq!(said("must be an object, not the string \"hunter2\"", None), "must be an object, not the string \"<redacted>\"");
        assert_eq!(said("`token` must be an object, not `abc`", None), "`token` must be an object, not `abc`");
        assert_eq!(said("must be a number, not \"abc\"", Some("'abc'")), "must be a number, not \"<redacted>\"");
        assert_eq!(said("a quote \" alone, and `hunter2", None), "a quote \" alone, and <redacted>", "also where a quote does not end");
        assert_eq!(said("not a text `x token: hunter2...`", None), "not a text `x token: <redacted>`", "also where it is cut off");
        let (text, shown) = ("t: a:$1$hunter2 b", "t: ************ b");
        assert_eq!(without_hidden(r#"not "x a:$1$hunter2\nb..." "#, text, shown, None), r#"not "x <redacted>\nb..." "#, "also at the end of a line");
        assert_eq!(without_hidden(r#"not "x\na:$1$hunter2\n..." "#, text, shown, None), r#"not "x\n<redacted>\n..." "#, "and at its begin");
        assert_eq!(said("hunter2 is short", None), "hunter2 is short", "short words are the message's own");
    }
}
