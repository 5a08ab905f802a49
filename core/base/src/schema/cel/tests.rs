//! Tests the results of rules.

use super::Program;
use crate::schema::patterns::Patterns;
use chancery_text::{Limits, parse};

/// The result as a word: `true`, `false`, or the error.
fn evaluate(rule: &'static str, yaml: &str) -> alloc::string::String {
    let node = parse(yaml, &Limits::default()).root.expect("a document");
    let program = Program::new(rule).unwrap_or_else(|| panic!("{rule} parses"));
    match program.is_true(&node, &Patterns::default()) {
        Ok(answer) => alloc::format!("{answer}"),
        Err(why) => why.into_owned(),
    }
}

#[test]
fn has_guards_missing_fields() {
    assert_eq!(evaluate("has(self.a) ? self.a == 'x' : true", "{a: x}"), "true");
    assert_eq!(evaluate("has(self.a) ? self.a == 'x' : true", "{a: y}"), "false");
    assert_eq!(evaluate("has(self.a) ? self.a == 'x' : true", "{b: y}"), "true");
    assert_eq!(evaluate("self.a == 'x'", "{b: y}"), "no such key: a");
    assert_eq!(evaluate("has(self.__namespace__) && self.__namespace__ == \"nn\"", "{namespace: nn}"), "true");
    assert_eq!(evaluate("self.a.b", "{a: 1}"), "no such overload");
    assert_eq!(evaluate("self[0] == 1 && self[1] == 2", "[1, 2]"), "true");
    assert_eq!(evaluate("self[2] == 1", "[1, 2]"), "index out of bounds: 2");
}

#[test]
fn one_deciding_side_is_enough() {
    assert_eq!(evaluate("self.missing == 1 || self.a == 1", "{a: 1}"), "true");
    assert_eq!(evaluate("self.missing == 1 && self.a == 2", "{a: 1}"), "false");
    assert_eq!(evaluate("self.missing == 1 && self.a == 1", "{a: 1}"), "no such key: missing");
    assert_eq!(evaluate("!(self.a == 2)", "{a: 1}"), "true");
}

#[test]
fn list_macros_visit_items() {
    assert_eq!(evaluate("self.all(x, x > 0)", "[1, 2]"), "true");
    assert_eq!(evaluate("self.all(x, x > 1)", "[1, 2]"), "false");
    assert_eq!(evaluate("self.all(x, has(x.a) && x.a == 1)", "[]"), "true");
    assert_eq!(evaluate("self.exists(x, x.a == 1)", "[{b: 1}, {a: 1}]"), "true");
    assert_eq!(evaluate("self.exists_one(x, x == 1)", "[1, 1]"), "false");
    assert_eq!(evaluate("self.exists_one(x, x.a == 1)", "[{b: 1}, {a: 1}]"), "no such key: a");
    assert_eq!(evaluate("self.filter(x, x > 1).size() == 1", "[1, 2]"), "true");
    assert_eq!(evaluate("self.map(x, x * 2) == [2, 4]", "[1, 2]"), "true");
    assert_eq!(evaluate("self.all(x, self.exists_one(y, x == y))", "[1, 2, 1]"), "false");
    assert_eq!(evaluate("self.all(k, k.startsWith('a'))", "{ab: 1, ac: 2}"), "true");
    assert_eq!(evaluate("'*' in self && self.size() > 1", "['*', GET]"), "true");
    assert_eq!(evaluate("self in ['TCP', 'UDP']", "HTTP"), "false");
}

#[test]
fn strings_and_durations_have_functions() {
    assert_eq!(evaluate(r#"self.matches(r"""^[a-z]+\.x$""")"#, "ab.x"), "true");
    assert_eq!(evaluate("self.contains('//') || self.endsWith('/..')", "a/.."), "true");
    assert_eq!(evaluate("self.split(\"/\")[0].size() < 3", "abc/d"), "false");
    assert_eq!(evaluate("size(self) == 2", "äö"), "true");
    assert_eq!(evaluate("duration(self.a) > duration(self.b)", "{a: 1m, b: 59s}"), "true");
    assert_eq!(evaluate("isIP(self)", "'::1'"), "true");
    assert_eq!(evaluate("isIP(self)", "1.2.3"), "false");
    assert_eq!(evaluate(r"self == 'it\'s'", "it's"), "true");
    assert_eq!(evaluate("self.size() > 0 ? 1 + 2 * 3 == 7 : 7 / 2 == 3", "''"), "true");
}

#[test]
fn long_running_rule_is_stopped() {
    let long: alloc::string::String = alloc::format!("[{}]", "1, ".repeat(2000));
    assert_eq!(evaluate("self.all(x, self.all(y, x == y))", &long), "operation cancelled: actual cost limit exceeded");
}

#[test]
fn invalid_rule_is_not_parsed() {
    for text in ["", "self.", "a ? b", "has(self)", "self.unknown()", "'open", "1 +", "self.all(x)", "((((", "a = b"] {
        assert!(Program::new(text).is_none(), "{text}");
    }
}
