//! The outputs of the controller, by their names on the command line.

use super::options::Options;
use super::stages::Stages;
use super::{origins, pipeline, status};
use chancery_base::compilation::{Output, SideRef};
use chancery_base::ir::appgw::{Document, document};
use chancery_text::{Node, Value};
use core::any::Any;

/// All outputs.
pub const ALL: &[Output] = &[
    Output { name: "appgw", doc: "The parts of the Application Gateway, as ARM JSON", document: |of| gateway(of, Document::Parts), traced: None },
    Output {
        name: "arm",
        doc: "The complete Application Gateway that AGIC sends, as ARM JSON",
        document: |of| gateway(of, Document::Whole),
        traced: None,
    },
    Output { name: "events", doc: "The events that the controller records", document: |of| Some(stages(of)?.recorder.document()), traced: None },
    Output {
        name: "status",
        doc: "The statuses of objects that the controller writes",
        document: |of| Some(status::document(&stages(of)?.statuses)),
        traced: None,
    },
    Output {
        name: "appgw-origins",
        doc: "The origin of each value of `appgw`, by JSON pointer: the resource, its field and line, and the rule that applies it",
        document: |of| Some(origins::document(of, stages(of)?.gateway.as_ref()?)),
        traced: None,
    },
    Output {
        name: "pipeline",
        doc: "The last processing step of each object",
        document: |of| Some(pipeline::document(&super::passages(of.objects(), &Options::of(&of.side.options)), of.objects())),
        traced: None,
    },
];

fn stages(of: SideRef<'_>) -> Option<&Stages> {
    (&*of.side.stages as &dyn Any).downcast_ref()
}

/// The document of the gateway; `null` if nothing is sent.
fn gateway(of: SideRef<'_>, which: Document) -> Option<Node> {
    let gateway = stages(of)?.gateway.as_ref();
    Some(gateway.map_or(Node::synthesised(Value::Null), |gateway| document(gateway, which)))
}

/// Returns why a valid object that nothing refers to was not used.
pub fn why_idle(kind: &str) -> &'static str {
    match kind {
        "Ingress" | "MultiClusterIngress" => "no part of the gateway was made from it",
        "Node" => "only the name that Azure has for the first node is read",
        "IngressClass" => "no Ingress names it",
        "Pod" => "no Service that an Ingress uses selects it, or another pod comes before it",
        _ => "no Ingress uses it",
    }
}
