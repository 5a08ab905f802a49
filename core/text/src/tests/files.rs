//! Tests splitting a file into documents.

use super::*;

/// The non-empty documents.
fn documents(text: &str) -> Vec<&str> {
    split(text).into_iter().filter(|chunk| !chunk.is_empty).map(|chunk| chunk.range.slice(text)).collect()
}

#[test]
fn at_lines_of_three_dashes() {
    assert_eq!(documents("a: 1\n---\nb: 2\n--- # c\nc: 3\n"), ["a: 1\n", "---\nb: 2\n", "--- # c\nc: 3\n"]);
    assert_eq!(documents("---\n---\na: 1\n---\n# only a comment\n---\n"), ["---\na: 1\n"]);
}

#[test]
fn at_lines_of_three_dots() {
    assert_eq!(documents("a: 1\n...\n# c\nb: 2\n"), ["a: 1\n...\n", "# c\nb: 2\n"]);
}

#[test]
fn directives_belong_to_the_document_after_them() {
    assert_eq!(documents("%YAML 1.1\n---\na: 1\n---\n50%: b\n"), ["%YAML 1.1\n---\na: 1\n", "---\n50%: b\n"]);
}

#[test]
fn texts_like_a_separator_do_not_split() {
    for text in ["a: 1\n ---\n", "a: |\n  ---\n  b\n", "---a: 1\n", "a: 1\n----\n"] {
        assert_eq!(documents(text), [text]);
    }
}

#[test]
fn between_json_values() {
    assert_eq!(documents("{\"a\": \"}{\"}\n{\"b\": 1}{\"c\": 2}\n"), ["{\"a\": \"}{\"}\n", "{\"b\": 1}", "{\"c\": 2}\n"]);
    assert_eq!(documents("{a: 1}\n"), ["{a: 1}\n"]);
    assert_eq!(documents("{a: [\n"), ["{a: [\n"]);
}

#[test]
fn without_gaps() {
    let text = "\u{feff}# c\n---\na: 1\n...\n\n---\n{}\n{}\n";
    let chunks = split(text);
    assert_eq!(chunks[0].range.start, 3);
    assert!(chunks.windows(2).all(|pair| pair[0].range.end == pair[1].range.start));
    assert_eq!(chunks.last().unwrap().range.end as usize, text.len());
    assert_eq!(split(""), []);
}

#[test]
fn broken_document_hides_no_other() {
    let text = "a: \"open\n---\nb: [1\n---\nc: 3\n";
    let read: Vec<_> = documents(text).into_iter().map(read).collect();
    assert!(read[0].is_broken() && read[1].is_broken());
    assert_eq!(to_json(read[2].root.as_ref().unwrap(), false), r#"{"c":3}"#);
}

#[test]
fn line_breaks_of_windows_are_line_breaks() {
    assert_eq!(documents("a: 1\r\n---\r\nb: 2\r\n"), ["a: 1\r\n", "---\r\nb: 2\r\n"]);
}
