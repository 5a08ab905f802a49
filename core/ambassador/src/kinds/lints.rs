//! Finds questionable settings in valid objects. Does not change admission.

use super::Version;
use super::report::Report;
use chancery_text::Node;

/// Reports questionable settings of a valid `spec`.
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
