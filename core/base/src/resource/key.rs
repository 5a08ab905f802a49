//! Defines a resource's key in the cluster, without a version.

use chancery_text::Str;
use core::fmt;

/// What Kubernetes calls an object: group, kind, namespace and name. Two versions of one object have one key.
///
/// ```
/// use chancery_base::resource::ResourceKey;
///
/// let key = ResourceKey::new("getambassador.io", "Mapping", "default", "quote");
/// assert_eq!(key.to_string(), "Mapping `quote` (default)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceKey {
    /// API group, empty for the core group (`v1`).
    pub group: Str,
    /// As written, e.g. `Mapping`.
    pub kind: Str,
    /// `None` for cluster-scoped kinds.
    pub namespace: Option<Str>,
    /// `metadata.name`.
    pub name: Str,
}

impl ResourceKey {
    /// A namespaced key.
    pub fn new(group: impl Into<Str>, kind: impl Into<Str>, namespace: impl Into<Str>, name: impl Into<Str>) -> Self {
        Self { group: group.into(), kind: kind.into(), namespace: Some(namespace.into()), name: name.into() }
    }
}

impl ResourceKey {
    pub fn kind_and_group(&self) -> (Str, Str) {
        (self.group.clone(), self.kind.clone())
    }
}

impl fmt::Display for ResourceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.kind, self.name)?;
        match &self.namespace {
            Some(namespace) => write!(f, " ({namespace})"),
            None => Ok(()),
        }
    }
}

/// The candidate nearest to `word` by edit distance (with transpositions), if it is near enough for "did you mean" in messages: at most a third of
/// the word's length may differ. A prefix with a slash that both have is no part of the length.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let (own, other) = without_shared_prefix(word, candidate);
            let distance = edit_distance(own, other, (own.chars().count() / 3).max(1))?;
            Some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// Removes everything up to the last slash if both have the same text there.
fn without_shared_prefix<'a, 'b>(a: &'a str, b: &'b str) -> (&'a str, &'b str) {
    match (a.rsplit_once('/'), b.rsplit_once('/')) {
        (Some((before, a)), Some((other, b))) if before == other => (a, b),
        _ => (a, b),
    }
}

/// Optimal string alignment distance; `None` above `limit`. A difference in case counts half, rounded up.
pub fn edit_distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    use alloc::vec::Vec;
    if a.len().abs_diff(b.len()) > limit || a.len() > 256 || b.len() > 256 {
        return None;
    }
    let a: Vec<char> = a.chars().map(|c| c.to_ascii_lowercase()).collect();
    let b: Vec<char> = b.chars().map(|c| c.to_ascii_lowercase()).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = alloc::vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j - 1] + cost).min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = core::mem::replace(&mut last, row);
    }
    let distance = last[b.len()];
    (distance <= limit).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn nearest_ignores_a_shared_prefix() {
        let known = ["nginx.ingress.kubernetes.io/affinity", "nginx.ingress.kubernetes.io/limit-rate"];
        assert_eq!(nearest("nginx.ingress.kubernetes.io/rate-limit", known), None);
        assert_eq!(nearest("nginx.ingress.kubernetes.io/afinity", known), Some(known[0]));
        assert_eq!(nearest("nginx.ingres.kubernetes.io/affinity", known), Some(known[0]));
        assert_eq!(nearest("shpo/auth", ["shop/auth"]), Some("shop/auth"));
    }
}
