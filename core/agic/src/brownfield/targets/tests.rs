//! What a prohibited target covers.

use super::{Target, Targets, contains};
use chancery_base::resource::Sourced;
use chancery_text::Str;

fn targets(all: &[(&str, &str)]) -> Targets {
    let text = |text: &str| Sourced::built_in(Str::new(text));
    Targets { targets: all.iter().map(|(host, path)| Target { host: text(host), path: text(path) }).collect(), objects: 1 }
}

#[test]
fn a_star_covers_what_lies_below() {
    for (path, other, covers) in [
        ("/x/*", "/x", true),
        ("/x/*", "/x/", true),
        ("/x/*", "/x/y", true),
        ("/x/*", "/x/y/z", true),
        ("/x/*", "/xy", false),
        ("/x/*", "/", false),
        ("/x", "/x", true),
        ("/x", "/x/y", false),
        ("/", "/", true),
        ("/", "/x", false),
        ("/*", "/anything", true),
        ("*", "", true),
        ("", "/x", true),
        ("/a/b/*", "/a", false),
        ("/a/b/*", "/a/c/d/e", false),
    ] {
        assert_eq!(contains(path, other), covers, "{path} {other}");
    }
}

#[test]
fn target_hosts_ignore_case_and_empty_matches_all() {
    let some = targets(&[("Shop.test", "/x/*")]);
    assert!(some.covers("shop.TEST", "/X/y").is_some());
    assert!(some.covers("other.test", "/x/y").is_none());
    assert!(some.covers("", "/x/y").is_none());
    assert!(targets(&[("", "/x/*")]).covers("any.test", "/x").is_some());
    // Of listeners that no rule has, hosts compare with case.
    assert!(some.names_host("Shop.test") && !some.names_host("shop.test") && !some.names_host(""));
}

#[test]
fn host_without_paths_is_covered_completely() {
    let all = targets(&[("shop.test", "")]);
    assert!(all.covers("shop.test", "").is_some() && all.covers("shop.test", "/any").is_some());
    assert!(!all.is_empty() && Targets::default().is_empty());
}
