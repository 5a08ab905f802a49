//! Regular expressions as nginx runs them (PCRE), as far as they mean the same without back-references and looking around.

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

/// Whether nginx can use an expression, as far as it can be told.
pub fn is_valid(pattern: &str) -> bool {
    compile(pattern, false).is_some()
}

/// Looks for an expression in a text. `Err` if the expression cannot be run.
pub fn find(pattern: &str, ignores_case: bool, text: &str) -> Result<Option<Captures>, ()> {
    let regex = compile(pattern, ignores_case).ok_or(())?;
    let mut found = regex.create_captures();
    regex.captures(Input::new(text).anchored(Anchored::No), &mut found);
    if !found.is_match() {
        return Ok(None);
    }
    let text_of = |span: regex_automata::Span| text.get(span.range()).unwrap_or_default().to_string();
    let groups: Vec<Option<String>> = found.iter().map(|span| span.map(text_of)).collect();
    let named = regex.group_info().all_names().filter_map(|(_, number, name)| Some((name?.to_string(), groups.get(number)?.clone()?)));
    let names = named.collect();
    Ok(Some(Captures { groups, names }))
}
