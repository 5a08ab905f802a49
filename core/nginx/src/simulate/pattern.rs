//! Regular expressions as nginx runs them (PCRE), without back-references and looking behind.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use regex_automata::Anchored;
use regex_automata::Input;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;

/// Groups of a match, and names of groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captures {
    /// By number; nothing for a group that took no part.
    pub groups: Vec<Option<String>>,
    /// By name.
    pub names: Vec<(String, String)>,
}

impl Captures {
    /// A group; empty if it took no part.
    pub fn group(&self, number: usize) -> &str {
        self.groups.get(number).and_then(Option::as_deref).unwrap_or_default()
    }
}

/// The most memory that an expression may take.
const MOST: usize = 1 << 20;

fn compile(pattern: &str, ignores_case: bool) -> Option<Regex> {
    let config = syntax::Config::new().case_insensitive(ignores_case).unicode(false).utf8(false);
    let limits = Regex::config().utf8_empty(false).nfa_size_limit(Some(MOST)).onepass_size_limit(Some(MOST)).dfa_size_limit(Some(MOST));
    Regex::builder().configure(limits).syntax(config).build(&translate(pattern)).ok()
}

/// The same expression in the words of the engine.
fn translate(pattern: &str) -> String {
    // PCRE: `$` also matches before a line end at the end of the text, which no path has. A brace that begins no counter is itself.
    let mut out = String::with_capacity(pattern.len());
    let chars: Vec<char> = pattern.chars().collect();
    let mut in_class = false;
    let mut at = 0;
    while let Some(c) = chars.get(at).copied() {
        match c {
            '\\' => {
                let next = chars.get(at + 1).copied();
                match next {
                    Some('Z') => out.push_str("\\z"),
                    Some('h') => out.push_str("[ \\t]"),
                    Some('/' | '"' | '\'' | '_' | '=' | '@' | ',' | ':' | ';' | '!' | '%' | '`' | ' ') => out.extend(next),
                    Some(next) => out.extend(['\\', next]),
                    None => out.push_str("\\\\"),
                }
                at += 2;
                continue;
            }
            '[' if in_class && chars.get(at + 1) != Some(&':') => out.push_str("\\["),
            '[' if !in_class => {
                in_class = true;
                out.push('[');
                // A bracket that closes at once is itself.
                if chars.get(at + 1) == Some(&'^') {
                    out.push('^');
                    at += 1;
                }
                if chars.get(at + 1) == Some(&']') {
                    out.push_str("\\]");
                    at += 1;
                }
            }
            ']' if in_class && !out.ends_with(':') => {
                in_class = false;
                out.push(']');
            }
            '&' | '~' | '-' if in_class && chars.get(at + 1) == Some(&c) => out.extend(['\\', c]),
            '{' if !in_class => {
                let rest: String = chars.iter().skip(at + 1).take_while(|c| **c != '}').collect();
                let is_counter = !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit() || c == ',') && !rest.starts_with(',');
                out.push_str(if is_counter && chars.contains(&'}') { "{" } else { "\\{" });
            }
            '}' if !in_class => {
                let is_counter = out
                    .rfind('{')
                    .is_some_and(|from| !out[..from].ends_with('\\') && out[from + 1..].chars().all(|c| c.is_ascii_digit() || c == ','));
                out.push_str(if is_counter { "}" } else { "\\}" });
            }
            c => out.push(c),
        }
        at += 1;
    }
    out
}

/// Whether nginx can use an expression, as far as this is known.
pub fn is_valid(pattern: &str) -> bool {
    compile(pattern, false).is_some() || Lookahead::read(pattern).is_some()
}

/// An expression that is not evaluated, for example because it looks behind.
#[derive(Clone, Copy, Debug)]
pub struct UnsupportedExpression;

/// Looks for an expression in a text.
///
/// # Errors
///
/// The expression is not evaluated.
pub fn find(pattern: &str, ignores_case: bool, text: &str) -> Result<Option<Captures>, UnsupportedExpression> {
    match compile(pattern, ignores_case) {
        Some(regex) => Ok(captures(&regex, text)),
        None => find_ahead(pattern, ignores_case, text),
    }
}

fn captures(regex: &Regex, text: &str) -> Option<Captures> {
    let mut found = regex.create_captures();
    regex.captures(Input::new(text).anchored(Anchored::No), &mut found);
    if !found.is_match() {
        return None;
    }
    let text_of = |span: regex_automata::Span| text.get(span.range()).unwrap_or_default().to_string();
    let groups: Vec<Option<String>> = found.iter().map(|span| span.map(text_of)).collect();
    let named = regex.group_info().all_names().filter_map(|(_, number, name)| Some((name?.to_string(), groups.get(number)?.clone()?)));
    let names = named.collect();
    Some(Captures { groups, names })
}

/// An expression with one lookahead, outside of groups: the part before it, the lookahead, and the rest.
struct Lookahead<'p> {
    before: &'p str,
    is_wanted: bool,
    ahead: &'p str,
    after: &'p str,
}

impl<'p> Lookahead<'p> {
    fn read(pattern: &'p str) -> Option<Self> {
        let (mut depth, mut in_class, mut from, mut skip) = (0_usize, false, None, false);
        let mut read = None;
        for (at, byte) in pattern.bytes().enumerate() {
            match byte {
                _ if skip => skip = false,
                b'\\' => skip = true,
                b']' => in_class = false,
                _ if in_class => {}
                b'[' => in_class = true,
                b'|' if depth == 0 => return None,
                b'(' => {
                    let rest = pattern.get(at..)?;
                    if depth == 0 && from.is_none() && (rest.starts_with("(?!") || rest.starts_with("(?=")) {
                        from = Some(at);
                    }
                    depth += 1;
                }
                b')' => {
                    depth = depth.checked_sub(1)?;
                    if let Some(from) = from.filter(|_| depth == 0 && read.is_none()) {
                        let is_wanted = pattern.get(from..)?.starts_with("(?=");
                        read =
                            Some(Self { before: pattern.get(..from)?, is_wanted, ahead: pattern.get(from + 3..at)?, after: pattern.get(at + 1..)? });
                    }
                }
                _ => {}
            }
        }
        read
    }
}

/// The same for an expression that looks ahead. Tries each place, the longest beginning first.
fn find_ahead(pattern: &str, ignores_case: bool, text: &str) -> Result<Option<Captures>, UnsupportedExpression> {
    let parts = Lookahead::read(pattern).ok_or(UnsupportedExpression)?;
    let part = |text: String| compile(&text, ignores_case).ok_or(UnsupportedExpression);
    let before = part(alloc::format!("(?:{})\\z", parts.before))?;
    let ahead = part(alloc::format!("\\A(?:{})", parts.ahead))?;
    let after = part(alloc::format!("\\A(?:{})", parts.after))?;
    for at in (0..=text.len()).rev() {
        let Some((left, right)) = text.split_at_checked(at) else { continue };
        if ahead.is_match(right) != parts.is_wanted {
            continue;
        }
        let Some((mut found, rest)) = captures(&before, left).zip(captures(&after, right)) else { continue };
        let whole = alloc::format!("{}{}", found.group(0), rest.group(0));
        if let Some(first) = found.groups.first_mut() {
            *first = Some(whole);
        }
        found.groups.extend(rest.groups.into_iter().skip(1));
        found.names.extend(rest.names);
        return Ok(Some(found));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::{find, is_valid};
    use alloc::string::String;

    fn groups(pattern: &str, text: &str) -> Option<alloc::vec::Vec<Option<String>>> {
        find(pattern, true, text).unwrap().map(|found| found.groups)
    }

    #[test]
    fn groups_are_numbered() {
        assert_eq!(groups("^/a/(.*)", "/A/b"), Some([Some("/A/b".into()), Some("b".into())].into()));
        assert_eq!(groups("^/a/(x)?", "/a/b"), Some([Some("/a/".into()), None].into()));
        assert_eq!(groups("^/a$", "/ab"), None);
    }

    #[test]
    fn looking_ahead() {
        assert_eq!(groups("^/(?!admin).*", "/admin/x"), None);
        assert_eq!(groups("^/(?!admin)(.*)", "/public"), Some([Some("/public".into()), Some("public".into())].into()));
        assert_eq!(groups("^/a(?=/b)", "/a/c"), None);
        assert!(find("(a|(?!b))c", false, "c").is_err());
        assert!(find("(?!b)a|c", false, "c").is_err());
        assert!(find("(a)\\1", false, "aa").is_err());
    }

    #[test]
    fn words_of_pcre() {
        assert!(is_valid("/a\\/b"));
        assert!(is_valid("/a{b"));
        assert!(!is_valid("/a(b"));
        assert!(groups("^[\\w-]+\\.html$", "a-b.html").is_some());
    }
}
