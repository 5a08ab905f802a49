//! Which configuration language an input is written in, found from its text before it is read.
//!
//! What must not be here: what the languages mean.

use super::Dialect;
use memchr::memmem;

/// Versions and annotations by which Ambassador's inputs are known.
const AMBASSADOR: &[&str] = &["getambassador.io/", "ambassador/v"];
/// The same for Contour; Gateway API and Ingress classes are its own where nothing is Ambassador's.
const CONTOUR: &[&str] = &["projectcontour.io/", "gateway.networking.k8s.io/"];

/// The dialect of an input: Ambassador's where anything is of its kinds or nothing is known, Contour's where only its own kinds, Gateway API
/// or Ingresses of its class are there.
pub fn detect<'t>(texts: impl Iterator<Item = &'t str>) -> Dialect {
    let mut found = Dialect::Ambassador;
    for text in texts {
        if AMBASSADOR.iter().any(|group| is_said(text, group)) {
            return Dialect::Ambassador;
        }
        if CONTOUR.iter().any(|group| is_said(text, group)) || is_class(text) {
            found = Dialect::Contour;
        }
    }
    found
}

/// Whether a group stands in an `apiVersion`, or begins an annotation.
fn is_said(text: &str, group: &str) -> bool {
    memmem::find_iter(text.as_bytes(), group).any(|at| {
        let before = line_before(text, at);
        let name = before.trim_matches([' ', '-', '{', '"', '\'']);
        name.is_empty() || name.rsplit(['{', ',']).next().is_some_and(|key| key.trim_matches([' ', '"', '\'', ':', '-']) == "apiVersion")
    })
}

/// Whether an Ingress is of the class `contour`.
fn is_class(text: &str) -> bool {
    let names = ["ingressClassName:", "kubernetes.io/ingress.class:"];
    names.iter().any(|name| {
        memmem::find_iter(text.as_bytes(), name).any(|at| {
            let value = text.get(at + name.len()..).and_then(|rest| rest.lines().next()).unwrap_or_default();
            !line_before(text, at).contains('#') && value.trim_matches([' ', '"', '\'', '}']) == "contour"
        })
    })
}

/// What stands before a place on its line.
fn line_before(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::detect;

    fn of(texts: &[&str]) -> &'static str {
        detect(texts.iter().copied()).name()
    }

    #[test]
    fn the_dialect_is_found_from_the_kinds() {
        assert_eq!(of(&["apiVersion: getambassador.io/v3alpha1\nkind: Mapping\n"]), "ambassador");
        assert_eq!(of(&["kind: HTTPProxy\napiVersion: projectcontour.io/v1\n"]), "contour");
        assert_eq!(of(&["- apiVersion: 'gateway.networking.k8s.io/v1'\n  kind: HTTPRoute\n"]), "contour");
        assert_eq!(of(&[r#"{"kind": "HTTPProxy", "apiVersion": "projectcontour.io/v1"}"#]), "contour");
        assert_eq!(of(&["apiVersion: projectcontour.io/v1\n", "---\napiVersion: getambassador.io/v2\n"]), "ambassador");
        assert_eq!(of(&["metadata:\n  annotations:\n    getambassador.io/config: |\n      ---\n"]), "ambassador");
        assert_eq!(of(&["metadata:\n  annotations:\n    projectcontour.io/websocket-routes: /ws\n"]), "contour");
    }

    #[test]
    fn an_ingress_goes_by_its_class() {
        assert_eq!(of(&["kind: Ingress\nspec:\n  ingressClassName: contour\n"]), "contour");
        assert_eq!(of(&["annotations:\n  kubernetes.io/ingress.class: \"contour\"\n"]), "contour");
        assert_eq!(of(&["spec:\n  ingressClassName: ambassador\n"]), "ambassador");
        assert_eq!(of(&["kind: Ingress\n"]), "ambassador");
    }

    #[test]
    fn what_is_only_mentioned_does_not_count() {
        assert_eq!(of(&["# see apiVersion: projectcontour.io/v1\n", "text: about projectcontour.io/v1\n"]), "ambassador");
        assert_eq!(of(&["#  ingressClassName: contour\n", ""]), "ambassador");
    }
}
