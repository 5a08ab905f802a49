//! Finds reasons for nginx to refuse a whole configuration, as far as they can be detected without nginx: invalid server names, invalid regular
//! expressions, snippets with syntax errors, and snippets that repeat a directive.
//!
//! Does not find two locations with the same name; the dialect, which knows both paths, reports them. Does not know the directives of all modules.

use crate::directive::parse;
use crate::location::{enforces_regex, pattern, server_name};
use crate::repetition::{self, Other, Repetition};
use crate::simulate::pattern::is_valid;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{Nginx, Server, Settings};
use chancery_base::resource::{ObjectId, Origin, Sourced};
use chancery_text::Str;

/// A reason for a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// nginx's error in short form.
    pub why: String,
    /// The origin of the value that causes the refusal.
    pub origin: Option<Origin>,
    /// The origin of another value that contributes to it, with a description.
    pub related: Option<(Origin, String)>,
    pub fault: Fault,
}

/// What nginx refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Two locations of a server with the same path.
    SameLocation,
    /// A directive that a snippet repeats.
    Repetition(Str),
    /// A name, an expression or a snippet that nginx cannot read.
    Unreadable,
}

/// Returns all reasons.
pub fn find(nginx: &Nginx) -> Vec<Refusal> {
    let mut found = Found::default();
    for redirect in &nginx.redirects {
        if redirect.from.value.contains('*') {
            let why = format!("`from-to-www-redirect` on a wildcard makes the server name `{}`, which is not valid", redirect.from.value);
            found.add(why, redirect.from.origin);
        }
    }
    for server in &nginx.servers {
        found.names(server);
        found.locations(server);
        found.snippet("server-snippet", &server.snippet);
    }
    for key in ["http-snippet", "server-snippet", "location-snippet"] {
        found.snippet(key, &nginx.globals.text(key));
    }
    repetition::find(nginx).into_iter().for_each(|repetition| found.repetition(repetition));
    found.all
}

#[derive(Default)]
struct Found {
    all: Vec<Refusal>,
    /// Each reason is reported once.
    known: BTreeSet<(String, Option<Origin>)>,
}

impl Found {
    fn add(&mut self, why: String, origin: Option<Origin>) {
        self.add_refusal(Refusal { why, origin, related: None, fault: Fault::Unreadable });
    }

    fn add_refusal(&mut self, refusal: Refusal) {
        if self.known.insert((refusal.why.clone(), refusal.origin)) {
            self.all.push(refusal);
        }
    }

    fn repetition(&mut self, found: Repetition) {
        let Repetition { snippet, directive, origin, other } = found;
        let (why, related) = match other {
            Other::Itself => (format!("`{snippet}` has `{directive}` twice in one block"), None),
            Other::Snippet(name, at) => (format!("`{snippet}` repeats `{directive}` of `{name}`"), Some((at, "the other snippet".into()))),
            Other::Controller(at) => {
                let written = at.filter(|at| at.object() != ObjectId::BUILT_IN);
                let related = written.map(|at| (at, format!("the controller writes `{directive}` with this value")));
                (format!("`{snippet}` repeats `{directive}`, which the controller writes in the same block"), related)
            }
        };
        self.add_refusal(Refusal { why, origin: Some(origin), related, fault: Fault::Repetition(directive) });
    }

    fn names(&mut self, server: &Server) {
        let own = Sourced { value: server_name(&server.host), origin: server.host.origin };
        let aliases = server.aliases.value.iter().map(|alias| Sourced { value: alias.clone(), origin: server.aliases.origin });
        for name in core::iter::once(own).chain(aliases) {
            if let Some(regex) = name.value.strip_prefix('~').filter(|regex| is_broken(regex)) {
                self.add(format!("the server name `~{regex}` is not a valid regular expression"), name.origin);
            }
        }
    }

    fn locations(&mut self, server: &Server) {
        let is_regex = enforces_regex(&server.locations);
        for location in &server.locations {
            if is_regex && let Some(regex) = pattern(location, true).last().filter(|regex| is_broken(regex)) {
                self.add(format!("the path `{regex}` is not a valid regular expression"), location.path.origin);
            }
            self.settings(&location.settings);
        }
    }

    fn settings(&mut self, settings: &Settings) {
        self.snippet("configuration-snippet", &settings.configuration_snippet);
        self.snippet("auth-snippet", &settings.external_auth.snippet);
    }

    fn snippet(&mut self, annotation: &str, text: &Sourced<Str>) {
        if let Err(error) = parse(&text.value, text.origin) {
            self.add(format!("`{annotation}` has a syntax error: {}", error.0), text.origin);
        }
    }
}

/// Whether nginx certainly rejects an expression: the simulation cannot read it, and its groups, classes or counters are broken.
fn is_broken(regex: &str) -> bool {
    !is_valid(regex) && has_broken_structure(regex)
}

/// Whether parentheses or brackets do not match, or a counter has nothing to repeat.
fn has_broken_structure(regex: &str) -> bool {
    let (mut depth, mut in_class, mut may_repeat) = (0_usize, false, false);
    let mut chars = regex.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                if chars.next().is_none() {
                    return true;
                }
                may_repeat = true;
            }
            ']' if in_class => (in_class, may_repeat) = (false, true),
            _ if in_class => {}
            '[' => {
                in_class = true;
                chars.next_if_eq(&'^');
                chars.next_if_eq(&']');
            }
            '(' => {
                depth += 1;
                may_repeat = false;
                // The mark after a parenthesis belongs to the group.
                chars.next_if_eq(&'?');
            }
            ')' if depth == 0 => return true,
            ')' => (depth, may_repeat) = (depth - 1, true),
            '|' | '^' => may_repeat = false,
            '*' | '+' | '?' if !may_repeat => return true,
            _ => may_repeat = true,
        }
    }
    depth > 0 || in_class
}

#[cfg(test)]
mod tests {
    use super::is_broken;

    #[test]
    fn expressions_with_open_groups_are_broken() {
        for regex in ["^/foo(bar", "^/foo)", "^/[a-z", "(|*)"] {
            assert!(is_broken(regex), "{regex}");
        }
    }

    #[test]
    fn expressions_with_look_around_are_not_broken() {
        for regex in ["^/foo(?!bar)", "^/(?<=a)b", "^/[]a]+", "^/a{2,3}", "^/a{", "^/(a|b)*c", "^/a++b"] {
            assert!(!is_broken(regex), "{regex}");
        }
    }
}
