//! Joins words to a list in a sentence.

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
    fn last_item_follows_and() {
        assert_eq!(series::<&str>(&[]), "");
        assert_eq!(series(&["a"]), "a");
        assert_eq!(series(&["a", "b"]), "a and b");
        assert_eq!(series(&["a", "b", "c"]), "a, b and c");
    }
}
