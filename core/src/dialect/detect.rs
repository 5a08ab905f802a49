//! Which configuration languages an input is written in, found from its text before it is read.
//!
//! What must not be here: what the languages mean.

use super::Dialect;
use alloc::vec::Vec;
use memchr::memmem;

/// The API group of each dialect's own kinds.
const AMBASSADOR: &str = "getambassador.io/";
const CONTOUR: &str = "projectcontour.io/";
/// What else Ambassador's inputs are known by: versions in annotations that have no group.
const OLD_AMBASSADOR: &str = "ambassador/v";
/// Gateway API is Contour's where nothing else says whose an input is.
const GATEWAY_API: &str = "gateway.networking.k8s.io/";

/// The dialects of an input, in the order of [`Dialect::ALL`]; at least one.
///
/// Objects of its own kinds make an input a dialect's, and so do an Ingress of its class and configuration in Ambassador's annotations; both
/// may be there. Where nothing is, Contour's annotations and Gateway API are taken for Contour's, and everything else for Ambassador's.
pub fn detect<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> Vec<Dialect> {
    let any = |says: fn(&str) -> bool| texts.clone().any(says);
    let ambassador = any(|text| begins_version(text, AMBASSADOR) || begins_version(text, OLD_AMBASSADOR) || begins_key(text, AMBASSADOR));
    let contour = any(|text| begins_version(text, CONTOUR) || is_class(text));
    match (ambassador, contour) {
        (true, true) => Vec::from([Dialect::Ambassador, Dialect::Contour]),
        (true, false) => Vec::from([Dialect::Ambassador]),
        (false, true) => Vec::from([Dialect::Contour]),
        (false, false) if any(|text| begins_key(text, CONTOUR) || begins_version(text, GATEWAY_API)) => Vec::from([Dialect::Contour]),
        (false, false) => Vec::from([Dialect::Ambassador]),
    }
}

/// Whether a group stands in an `apiVersion`.
fn begins_version(text: &str, group: &str) -> bool {
    memmem::find_iter(text.as_bytes(), group).any(|at| {
        let before = line_before(text, at);
        before.rsplit(['{', ',']).next().is_some_and(|key| key.trim_matches([' ', '"', '\'', ':', '-']) == "apiVersion")
    })
}

/// Whether a group begins a key: an annotation.
fn begins_key(text: &str, group: &str) -> bool {
    memmem::find_iter(text.as_bytes(), group).any(|at| line_before(text, at).trim_matches([' ', '-', '{', '"', '\'']).is_empty())
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
    use alloc::string::String;
    use alloc::vec::Vec;

    fn of(texts: &[&str]) -> String {
        detect(texts.iter().copied()).iter().map(|dialect| dialect.name()).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn the_dialect_is_found_from_the_kinds() {
        assert_eq!(of(&["apiVersion: getambassador.io/v3alpha1\nkind: Mapping\n"]), "ambassador");
        assert_eq!(of(&["kind: HTTPProxy\napiVersion: projectcontour.io/v1\n"]), "contour");
        assert_eq!(of(&["- apiVersion: 'gateway.networking.k8s.io/v1'\n  kind: HTTPRoute\n"]), "contour");
        assert_eq!(of(&[r#"{"kind": "HTTPProxy", "apiVersion": "projectcontour.io/v1"}"#]), "contour");
        assert_eq!(of(&["metadata:\n  annotations:\n    getambassador.io/config: |\n      ---\n"]), "ambassador");
        assert_eq!(of(&["metadata:\n  annotations:\n    projectcontour.io/websocket-routes: /ws\n"]), "contour");
    }

    #[test]
    fn an_input_may_be_of_both() {
        assert_eq!(of(&["apiVersion: projectcontour.io/v1\n", "---\napiVersion: getambassador.io/v2\n"]), "ambassador, contour");
        assert_eq!(of(&["apiVersion: getambassador.io/v2\n---\nspec: {ingressClassName: contour}\n"]), "ambassador, contour");
        assert_eq!(of(&["annotations:\n  getambassador.io/config: |\n---\napiVersion: projectcontour.io/v1\n"]), "ambassador, contour");
    }

    #[test]
    fn what_others_read_as_well_makes_no_input_of_both() {
        let mapping = "apiVersion: getambassador.io/v3alpha1\n";
        assert_eq!(of(&[mapping, "apiVersion: gateway.networking.k8s.io/v1\n"]), "ambassador");
        assert_eq!(of(&[mapping, "annotations:\n  projectcontour.io/websocket-routes: /ws\n"]), "ambassador");
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
