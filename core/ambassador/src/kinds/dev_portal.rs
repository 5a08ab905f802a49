//! DevPortal: the page that shows developers the documentation of services. It has no effect on Envoy.
//!
//! Emissary `pkg/api/getambassador.io/{v2,v3alpha1}/crd_devportal.go`.

use super::common::{AMBASSADOR_ID, AMBASSADOR_ID_V2, convert_ids};
use chancery_base::object;
use chancery_base::schema::{BOOLEAN, Field, INTEGER, STRING, STRING_MAP, STRINGS, Schema, array, field, one_of};
use chancery_text::Object;

const DEFAULT: Field = field("default", BOOLEAN, "Whether it is the portal at `/docs/`");
const CONTENT: Field = field(
    "content",
    object![
        field("url", STRING, "A git repository").dropped(),
        field("branch", STRING, "The branch").dropped(),
        field("dir", STRING, "The folder").dropped(),
    ],
    "Where its pages come from",
);
const DOCS: Field = field("docs", array(&DOC), "Documents in addition to the Mappings' documents").dropped();
const DOC: Schema = object![
    field("service", STRING, "The service that it documents").dropped(),
    field("url", STRING, "Where it is").dropped(),
    field("timeout_ms", INTEGER, "How long fetching it may take, in milliseconds"),
];
const SELECTOR: Field = field(
    "selector",
    object![
        field("matchNamespaces", STRINGS, "Mappings of these namespaces").dropped(),
        field("matchLabels", STRING_MAP, "Mappings with these labels").dropped(),
    ],
    "Which Mappings it documents",
);
const NAMING: Field = field("naming_scheme", one_of(&["namespace.name", "name.prefix"]), "How documents are called").dropped();
const SEARCH: Field = field(
    "search",
    object![field("enabled", BOOLEAN, "Whether there is one"), field("type", one_of(&["title-only", "all-content"]), "What it looks at").dropped(),],
    "Its search",
);
const PRESERVE: Field = field("preserve_servers", BOOLEAN, "Whether documents keep their own list of servers");

/// `spec` in v3alpha1.
pub(super) static V3ALPHA1: Schema = object![AMBASSADOR_ID, DEFAULT, CONTENT, DOCS, SELECTOR, NAMING, SEARCH, PRESERVE];

/// `spec` in v1 and v2.
pub(super) static V2: Schema = object![AMBASSADOR_ID_V2, DEFAULT, CONTENT, DOCS, SELECTOR, NAMING, SEARCH, PRESERVE];

/// v2 -> v3alpha1.
pub(super) fn convert(spec: &mut Object) {
    convert_ids(spec, "ambassador_id");
}
