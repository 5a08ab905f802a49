//! Tests that no input crashes the reader or costs too much.

use super::*;
use proptest::prelude::*;

/// The first error of a document.
fn error(text: &str) -> ProblemKind {
    read(text).problems.iter().find(|problem| !problem.kind.is_warning()).map(|problem| problem.kind).unwrap()
}

#[test]
fn nesting_is_bounded() {
    let indented = |line: fn(usize) -> String| (0..2000).map(line).collect::<String>();
    let cases = [
        "[".repeat(10_000),
        "{".repeat(10_000),
        "[".repeat(10_000) + &"]".repeat(10_000),
        "{a: ".repeat(10_000),
        "- ".repeat(10_000),
        "- ".repeat(10_000) + "x",
        indented(|at| format!("{}a:\n", " ".repeat(at))),
        indented(|at| format!("{}- a:\n", " ".repeat(2 * at))),
    ];
    for text in cases {
        assert!(read(&text).problems.iter().any(|problem| problem.kind == ProblemKind::TooDeep), "{}", &text[..20]);
    }
    let deep = "[".repeat(200) + &"]".repeat(200);
    assert!(!read(&deep).is_broken());
}

#[test]
fn aliases_are_bounded() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for at in 1..10 {
        let alias = format!("*a{}, ", at - 1).repeat(9);
        bomb += &format!("a{at}: &a{at} [{alias}]\n");
    }
    assert_eq!(error(&bomb), ProblemKind::AliasBomb);
    assert!(read(&bomb).root.unwrap().get("a3").is_some());
    let merges: String = (1..40).map(|at| format!("a{at}: &a{at} {{x: *a{0}, y: *a{0}}}\n", at - 1)).collect();
    assert_eq!(error(&format!("a0: &a0 {{}}\n{merges}")), ProblemKind::AliasBomb);
}

#[test]
fn sizes_are_bounded() {
    let limits = Limits { max_bytes: 1000, max_nodes: 100, ..Limits::default() };
    let kinds = |text: &str| parse(text, &limits).problems.iter().map(|problem| problem.kind).collect::<Vec<_>>();
    assert_eq!(kinds(&"a".repeat(1001)), [ProblemKind::TooLarge]);
    assert_eq!(kinds(&"- 1\n".repeat(200)), [ProblemKind::TooLarge]);
    assert_eq!(kinds(&"- 1\n".repeat(99)), []);
}

#[test]
fn endless_repetition_ends_quickly() {
    let pieces = [
        "a: 1\n",
        "- \n",
        "-\t",
        "? ",
        ": ",
        "? a\n",
        "&a ",
        "!a ",
        "*a ",
        "\t",
        "a:\n\t- b\n",
        "a: \"x\n",
        "\"",
        "'",
        "'' ",
        "#",
        " #",
        "#\n",
        "|\n",
        ">\n ",
        "%\n",
        "---\n",
        "--- ",
        "...\n",
        "{}\n",
        "{{ x }}\n",
        "[1,\t",
        "{a, ",
        "[!!str , ",
        "- \"x\ny\"\n",
        "- 'x'# c\n",
        "a: 1\r",
        "\\",
        "a:\n-\tx\n",
        "{a: [",
        "-\n -\n",
        "<<: {a: 1}\n",
        "\u{feff}",
        "\u{a0}",
        "\0",
    ];
    for piece in pieces {
        let text = piece.repeat(20_000);
        for chunk in split(&text) {
            read(chunk.range.slice(&text));
        }
    }
}

#[test]
fn comment_after_colon_is_not_missing_value() {
    for text in ["- #- \n\n", "a: #b: \n\n", "- # -\n- #-\n", "\"a #b\":\n", "a:\n  # c:\nd: #"] {
        assert_eq!(read(text), parse_fully(text, &Limits::default()), "the readers disagree on {text:?}");
    }
}

/// Pieces of YAML in any order.
fn any_text() -> impl Strategy<Value = String> {
    let bit = prop::sample::select(alloc::vec![
        "a", "b: ", "c:", "\n", "\n", "\n  ", "\n    ", " ", "- ", "-", "#", " # x", "'", "\"", "\\", "{", "}", "[", "]", ",", "|", "|-\n", ">",
        "&a", "*a", "!!str ", "!", "?", "? ", "\t", "\r\n", "\r", "<<", "<<: ", "~", "1", "0x1", "---", "\n---\n", "\n...\n", "%", "@", "é", "😀",
        "\u{feff}", "\u{85}", "\u{2028}", "\u{a0}", "\0", "\u{7f}", "\\ud800", "{{", "}}", "A=", "A = \"", "<<A\n", "\nA\n", "${",
    ]);
    prop_oneof![prop::collection::vec(bit, 0..40).prop_map(|bits| bits.concat()), "\\PC{0,40}", "[ -~\n]{0,60}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn any_text_gives_consistent_document(text in any_text()) {
        for chunk in split(&text) {
            let text = chunk.range.slice(&text);
            let document = read(text);
            let fits = |range: TextRange| range.start <= range.end && text.get(range.start as usize..range.end as usize).is_some();
            for id in 0..document.spans.len() {
                let span = document.spans.get(NodeId(id as u32)).unwrap();
                prop_assert!(fits(span.key) && fits(span.value), "{text:?} {span:?}");
                if let Some(parent) = document.spans.get(span.parent) {
                    prop_assert!(parent.value.covers(span.whole()), "{text:?} {span:?} not in {parent:?}");
                }
            }
            for problem in &document.problems {
                prop_assert!(fits(problem.range) && problem.related.as_ref().is_none_or(|(range, _)| fits(*range)), "{text:?} {problem:?}");
            }
            let begins_comment = |at: u32| ["#", "//", "/*"].iter().any(|sign| text[at as usize..].starts_with(sign));
            prop_assert!(document.comments.iter().all(|comment| fits(comment.range) && begins_comment(comment.range.start)));
            prop_assert_eq!(document, parse_fully(text, &Limits::default()), "the readers disagree on {:?}", text);
            let lines = LineIndex::new(text);
            for offset in 0..=text.len() as u32 {
                let at = lines.position(text, offset);
                prop_assert!(lines.offset(text, at.line, at.column).is_some_and(|back| back <= offset));
            }
            for document in parse_embedded(text, TextRange::new(0, text.len() as u32), text, &Limits::default()) {
                prop_assert!(document.problems.iter().all(|problem| problem.range.end as usize <= text.len()));
            }
        }
    }
}
