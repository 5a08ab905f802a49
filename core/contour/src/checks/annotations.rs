//! Finds annotations of Ingresses that have no effect together with the rest of the Ingress. Does not check unknown values; see `known`.
//!
//! Source of behaviour: Contour `internal/dag/ingress_processor.go`, `internal/dag/policy.go`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::SideRef;
use chancery_base::diagnostic::{Diagnostic, Place, codes};
use chancery_base::resource::{Object, nearest};
use chancery_kubernetes::known::{all_at, is_read};
use chancery_text::Node;

/// Finds annotations of Ingresses without effect.
pub fn annotations(side: SideRef<'_>) -> Vec<Diagnostic> {
    let is_ingress = |object: &&Object| *object.key.kind == *"Ingress" && is_read(side, object);
    let mut found = Vec::new();
    for object in side.objects().iter().filter(is_ingress) {
        let mut ingress = Ingress { object, found: &mut found };
        ingress.websockets();
        ingress.retries();
        ingress.timeouts();
        ingress.versions();
    }
    found
}

struct Ingress<'a> {
    object: &'a Object,
    found: &'a mut Vec<Diagnostic>,
}

impl<'a> Ingress<'a> {
    /// A non-empty Contour annotation.
    fn annotation(&self, name: &str) -> Option<(&'a Node, &'a str)> {
        let node = self.object.root.at(&["metadata", "annotations", &format!("projectcontour.io/{name}")])?;
        node.as_str().filter(|text| !text.is_empty()).map(|text| (node, text))
    }

    fn idle(&mut self, message: String, at: &Node, help: String) {
        let finding = Diagnostic::new(&codes::FIELD_WITHOUT_EFFECT, message, Place::value(self.object.id, at.id));
        self.found.push(finding.about(self.object.key.clone()).help(help));
    }

    /// Paths of WebSockets that no rule has: Contour compares them letter by letter.
    fn websockets(&mut self) {
        let Some((at, text)) = self.annotation("websocket-routes") else { return };
        let root = &self.object.root;
        let written = all_at(root, &["spec", "rules", "*", "http", "paths", "*"]);
        let mut paths: Vec<&str> = written.iter().map(|path| path.get("path").and_then(Node::as_str).unwrap_or_default()).collect();
        if root.at(&["spec", "defaultBackend"]).is_some() {
            paths.push("/");
        }
        for path in &mut paths {
            *path = if path.is_empty() { "/" } else { path };
        }
        paths.dedup();
        for route in text.split(',').map(str::trim).filter(|route| !route.is_empty() && !paths.contains(route)) {
            let message = format!("`{route}` in `websocket-routes` changes nothing: no path of the Ingress has this form");
            let help = match nearest(route, paths.iter().copied()) {
                Some(path) => format!("did you mean `{path}`?"),
                None => format!("add a path `{route}` to the rules, or name one that they have"),
            };
            self.idle(message, at, help);
        }
    }

    /// Finds retry counts without a retry condition.
    fn retries(&mut self) {
        if self.annotation("retry-on").is_some() {
            return;
        }
        for name in ["num-retries", "per-try-timeout"] {
            if let Some((at, _)) = self.annotation(name) {
                let message = format!("`{name}` changes nothing: without `retry-on` Envoy does not retry");
                self.idle(message, at, format!("add `projectcontour.io/retry-on`, for example `5xx`, or take `{name}` away"));
            }
        }
    }

    /// Two names for one timeout.
    fn timeouts(&mut self) {
        if let (Some(_), Some((at, _))) = (self.annotation("response-timeout"), self.annotation("request-timeout")) {
            let message = "`request-timeout` has no effect together with `response-timeout`: it is the older name of the same timeout";
            self.idle(message.into(), at, "take it away".into());
        }
    }

    /// Finds TLS versions of hosts whose TLS Envoy does not terminate.
    fn versions(&mut self) {
        if !all_at(&self.object.root, &["spec", "tls", "*"]).is_empty() {
            return;
        }
        for name in ["tls-minimum-protocol-version", "tls-maximum-protocol-version"] {
            if let Some((at, _)) = self.annotation(name) {
                let message = format!("`{name}` changes nothing: the Ingress has no `tls`");
                self.idle(message, at, format!("add `tls` with a Secret to the Ingress, or take `{name}` away"));
            }
        }
    }
}
