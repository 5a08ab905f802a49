//! Several things as people write them in one sentence.
//!
//! What must not be here: what the things are.

use alloc::format;
use alloc::string::String;

/// `a`, `a and b`, `a, b and c`.
pub fn series<T: AsRef<str>>(items: &[T]) -> String {
    let joined = |items: &[T]| items.iter().map(T::as_ref).collect::<alloc::vec::Vec<&str>>().join(", ");
    match items {
        [all @ .., last] if !all.is_empty() => format!("{} and {}", joined(all), last.as_ref()),
        items => joined(items),
    }
}

#[cfg(test)]
mod tests {
    use super::series;

    #[test]
    fn the_last_one_comes_after_an_and() {
        assert_eq!(series::<&str>(&[]), "");
        assert_eq!(series(&["a"]), "a");
        assert_eq!(series(&["a", "b"]), "a and b");
        assert_eq!(series(&["a", "b", "c"]), "a, b and c");
    }
}
