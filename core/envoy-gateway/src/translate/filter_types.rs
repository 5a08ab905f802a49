//! Checks which types of filters a route may have. Does not translate filters; see `filters`.

use super::super::kinds::GROUP;
use alloc::format;
use alloc::string::String;
use chancery_kubernetes::cursor::Cursor;

/// Checks the type of a filter.
pub(super) fn validate(filter: Cursor<'_>, is_grpc: bool) -> Result<(), String> {
    match filter.field("type").str() {
        "RequestMirror" | "RequestHeaderModifier" | "ResponseHeaderModifier" => Ok(()),
        "URLRewrite" | "RequestRedirect" | "CORS" if !is_grpc => Ok(()),
        "ExtensionRef" => {
            let reference = filter.field("extensionRef");
            let (group, kind) = (reference.field("group").str(), reference.field("kind").str());
            match (group, kind) {
                _ if !reference.exists() => Err("extensionRef field must be specified for an extended filter".into()),
                (GROUP, "HTTPRouteFilter") => Ok(()),
                _ => Err(format!("unknown kind {group}/{kind}")),
            }
        }
        other => Err(format!("unsupported filter type {other}")),
    }
}
