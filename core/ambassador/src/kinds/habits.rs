//! What is worth reporting of objects that are in order.
//!
//! What must not be here: anything that changes what is admitted.

use super::Version;
use super::report::Report;
use chancery_text::Node;

/// What is worth saying of a `spec` that is in order.
pub(super) fn inspect(report: &mut Report<'_>, version: Version, root: &Node, spec: &Node) {
    if report.kind.name == "Mapping"
        && version == Version::V3Alpha1
        && spec.get("hostname").is_none()
        && spec.get("host").is_none()
        && root.at(&["metadata", "labels"]).is_none()
    {
        report.missing_hostname(spec.id);
    }
}
