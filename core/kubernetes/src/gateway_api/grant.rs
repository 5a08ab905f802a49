//! Defines references across namespaces, and checks whether a ReferenceGrant allows them.

use crate::cursor::Cursor;

/// A reference from one namespace to an object in another.
#[derive(Clone, Copy, Debug)]
pub struct Reference<'r> {
    /// The referring kind, of Gateway API's group.
    pub from_kind: &'r str,
    /// The referring namespace.
    pub from_namespace: &'r str,
    /// The referenced kind, of the core group.
    pub to_kind: &'r str,
    /// The referenced namespace.
    pub to_namespace: &'r str,
    /// The referenced name.
    pub to_name: &'r str,
}

impl Reference<'_> {
    /// Whether a grant in `namespace` allows it.
    pub fn is_allowed_by(&self, namespace: &str, grant: Cursor<'_>) -> bool {
        let from = |at: Cursor<'_>| {
            at.field("namespace").str() == self.from_namespace && at.field("group").str() == super::GROUP && at.field("kind").str() == self.from_kind
        };
        let to = |at: Cursor<'_>| {
            let name = at.field("name").str();
            at.field("group").str().is_empty() && at.field("kind").str() == self.to_kind && (name.is_empty() || name == self.to_name)
        };
        namespace == self.to_namespace && grant.field("from").items().any(from) && grant.field("to").items().any(to)
    }
}
