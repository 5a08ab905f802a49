//! Builds the findings about Contour's configuration.

use super::super::cluster::Cluster;
use alloc::format;
use alloc::string::String;
use chancery_base::compilation::Failure;
use chancery_base::diagnostic::{Diagnostic, Findings, Place, codes};
use chancery_base::resource::{ObjectId, Origin, Rule};
use chancery_base::schema::go_quoted;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::NodeId;

/// Contour stops with this error.
pub fn failed(sink: &mut Findings, stage: &'static str, error: String, at: Option<(ObjectId, NodeId)>) -> Failure {
    let place = match at {
        Some((object, node)) if object != ObjectId::BUILT_IN && node.is_some() => Place::value(object, node),
        _ => Place::Whole,
    };
    sink.report(Diagnostic::new(&codes::INVALID_CONFIGURATION, format!("Contour does not start: {}", error.replace('\n', "")), place));
    Failure::new(stage, error)
}

/// The ConfigMap of the file, or the file in it, does not exist.
pub fn no_file(namespace: &str, path: &str, key: &str, sink: &mut Findings) -> Failure {
    let message = format!("Contour does not start: the flag `--config-path` names `{path}`, but no ConfigMap {namespace}/contour has `{key}`");
    sink.report(Diagnostic::new(&codes::CONFIGURATION_NOT_FOUND, message, Place::Whole).help("add the ConfigMap, or leave the flag out"));
    Failure::new("flags", format!("path '{path}' does not exist"))
}

/// The ContourConfiguration does not exist, or the API server refused it.
pub fn no_configuration(cluster: &Cluster<'_>, namespace: &str, name: &str, sink: &mut Findings) -> Failure {
    let refused = cluster.refused.iter().find(|refused| {
        let key = &refused.key;
        key.kind == "ContourConfiguration" && key.name == name && key.namespace.as_deref() == Some(namespace)
    });
    let message = format!("Contour does not start: the flag `--contour-config-name` names ContourConfiguration {namespace}/{name}");
    let finding = match refused {
        Some(refused) => {
            let place = Place::value(refused.object, refused.root);
            Diagnostic::new(&codes::CONFIGURATION_NOT_FOUND, format!("{message}, which the API server refuses"), place).about(refused.key.clone())
        }
        None => {
            let finding = Diagnostic::new(&codes::CONFIGURATION_NOT_FOUND, format!("{message}, which does not exist"), Place::Whole);
            finding.help("add it, in the namespace that Contour runs in, or leave the flag out")
        }
    };
    sink.report(finding);
    let missing = format!("contourconfigurations.projectcontour.io {} not found", go_quoted(name));
    Failure::new("serve", format!("error getting contour configuration {namespace}/{name}: {missing}"))
}

/// An ExtensionService that the configuration names does not exist.
pub fn no_extension_service(reference: Cursor<'_>, namespace: &str, name: &str, sink: &mut Findings) -> Failure {
    let place = Place::origin(Some(reference.origin()).filter(|origin: &Origin| origin.rule() == Rule::Field));
    let message = format!("Contour does not start: its configuration names ExtensionService {namespace}/{name}, which does not exist");
    let help = "add it before Contour starts; Contour looks for it only then";
    sink.report(Diagnostic::new(&codes::EXTENSION_SERVICE_NOT_FOUND, message, place).help(help));
    let missing = format!("extensionservices.projectcontour.io {} not found", go_quoted(name));
    Failure::new("serve", format!("error getting extension service {namespace}/{name}: {missing}"))
}
