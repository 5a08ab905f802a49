//! Lists the kinds that the controller reads, in one table.
//!
//! Does not interpret objects of these kinds; see `source` and `build`.

use alloc::vec::Vec;
use chancery_base::schema::{KnownKind, ListedKind};
use chancery_kubernetes::cluster::ReadKind;
use chancery_kubernetes::kind;
use chancery_kubernetes::kinds as kubernetes;

macro_rules! kinds {
    ($($name:ident $definition:expr;)*) => {
        /// A kind that the controller reads.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $($name,)*
        }

        /// All kinds, in the order of `Kind` and of listings.
        pub static ALL: &[(Kind, &kind::Kind)] = &[$((Kind::$name, $definition)),*];
    };
}

kinds! {
    Ingress &kubernetes::INGRESS;
    IngressClass &kubernetes::INGRESS_CLASS;
    Service &kubernetes::SERVICE;
    EndpointSlice &kubernetes::ENDPOINT_SLICE;
    Secret &kubernetes::SECRET;
    ConfigMap &kubernetes::CONFIG_MAP;
    Namespace &kubernetes::NAMESPACE;
}

/// Returns each kind with a known schema, in all its versions.
pub fn known() -> Vec<KnownKind> {
    let of = |kind: &'static kind::Kind| {
        kind.versions.iter().rev().filter_map(move |version| {
            let spec = &version.schema.describe(&["spec"])?.schema;
            Some(KnownKind { name: kind.name, api_version: kind.api_version(version), doc: kind.doc, spec })
        })
    };
    ALL.iter().map(|(_, definition)| *definition).flat_map(of).collect()
}

impl ReadKind for Kind {
    fn find(group: &str, name: &str) -> Option<Self> {
        ALL.iter().find(|(_, definition)| definition.group == group && definition.name == name).map(|(kind, _)| *kind)
    }

    fn definition(self) -> &'static kind::Kind {
        // The table has the order of the enum.
        ALL[self as usize].1
    }
}

/// Returns the kinds that the controller reads, for listings.
pub fn listing() -> Vec<ListedKind> {
    let listed = ALL.iter().map(|(_, definition)| ListedKind {
        name: definition.name,
        group: definition.group,
        plural: Some(definition.plural),
        versions: definition.versions.iter().map(|version| version.name).collect(),
        config_key: None,
        own: false,
        doc: definition.doc,
    });
    listed.collect()
}
