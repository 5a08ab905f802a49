//! Lists the outputs that the command line can print, and formats each as a document.
//!
//! Does not compute the results; see `build` and `admission`.

use super::admission::{Verdict, Webhook};
use super::cluster::{self, Cluster};
use super::config_map;
use super::options::Options;
use super::source::{self, Source, Unhandled};
use super::stages::{Stages, in_input_order};
use alloc::vec::Vec;
use chancery_base::compilation::{Ledger, Output, SideRef};
use chancery_base::diagnostic::Findings;
use chancery_base::executor::Sequential;
use chancery_base::resource::{Objects, Origin};
use chancery_kubernetes::status::{list, object, text};
use chancery_nginx::conf;
use chancery_text::{Node, Value};
use core::any::Any;

pub const ALL: &[Output] = &[
    Output {
        name: "model",
        doc: "Servers, locations and upstreams, as the controller holds them before it writes nginx.conf",
        document: |of| Some(stages(of)?.nginx.tree().node()),
        traced: Some(|of| Some(stages(of)?.nginx.tree())),
    },
    Output {
        name: "admission",
        doc: "Whether the admission webhook accepts each Ingress after all older ones, and whether the controller serves it",
        document: |of| Some(list(verdicts(of).iter().map(verdict_node).collect())),
        traced: None,
    },
    Output {
        name: "errors",
        doc: "The controller's log lines about Ingresses and its ConfigMap",
        document: |of| Some(errors(of, stages(of)?)),
        traced: None,
    },
    Output {
        name: "conf",
        doc: "The server blocks of nginx.conf, each line with its source as a comment",
        document: |of| Some(text(&conf::text(&stages(of)?.nginx, &of.compilation.positions()))),
        traced: None,
    },
];

pub(super) fn stages(of: SideRef<'_>) -> Option<&Stages> {
    (&*of.side.stages as &dyn Any).downcast_ref()
}

/// Returns the webhook's answer for each Ingress of a side, in the order of the input.
pub fn verdicts(of: SideRef<'_>) -> Vec<Verdict> {
    webhook_verdicts(of.objects(), &Options::of(&of.side.options))
}

/// Returns the webhook's answer for each Ingress, in the order of the input.
pub fn webhook_verdicts(objects: &Objects, options: &Options) -> Vec<Verdict> {
    let cluster = Cluster::apply(objects, &Sequential, &mut cluster::Memory::default(), &mut Ledger::new(objects), &mut Findings::default());
    let read = config_map::read(&cluster, options);
    let source = Source::new(objects, &cluster, options, &read.globals, &mut source::Memory::default());
    let webhook = Webhook { cluster: &cluster, options, read: &read, source: &source };
    in_input_order(webhook.verdicts(), objects)
}

fn flag(value: bool) -> Node {
    Node::synthesised(Value::Bool(value))
}

fn verdict_node(verdict: &Verdict) -> Node {
    let mut fields =
        alloc::vec![("ingress", text(&verdict.ingress)), ("accepted", flag(verdict.refusal.is_none())), ("handled", flag(verdict.handled)),];
    if let Some(refusal) = &verdict.refusal {
        fields.push(("message", text(refusal)));
    }
    if !verdict.warnings.is_empty() {
        fields.push(("warnings", list(verdict.warnings.iter().map(|warning| text(warning)).collect())));
    }
    object(fields)
}

/// Lists the controller's messages: Ingresses that it does not serve, groups without effect, merges, and keys of the ConfigMap.
fn errors(of: SideRef<'_>, stages: &Stages) -> Node {
    let key = |origin: Option<Origin>| {
        let object = origin.and_then(|origin| of.objects().get(origin.object()))?;
        Some(alloc::format!("{}/{}", object.key.namespace.as_deref().unwrap_or_default(), object.key.name))
    };
    let row = |of: Option<alloc::string::String>, message: &str| {
        let mut fields = Vec::new();
        if let Some(of) = of {
            fields.push(("object", text(&of)));
        }
        fields.push(("message", text(message)));
        object(fields)
    };
    let mut rows = Vec::new();
    for (ingress, why) in &stages.source.unhandled {
        match why {
            Unhandled::Class(message) => rows.push(row(Some(ingress.key().into()), message)),
            Unhandled::Dropped(dropped) => rows.push(row(Some(ingress.key().into()), &dropped.message)),
            Unhandled::Namespace => {}
        }
    }
    for counted in &stages.source.counted {
        let found = &counted.errors;
        let denials = found.denials.iter().map(|(_, reason)| reason.as_str());
        let faults = found.faults.iter().map(|(_, fault)| fault.text());
        rows.extend(denials.chain(faults).map(|message| row(Some(counted.ingress.key().into()), message)));
    }
    rows.extend(stages.notices.iter().map(|notice| row(key(notice.origin), &notice.message)));
    rows.extend(stages.unused.iter().filter_map(|unused| Some(row(key(unused.origin), unused.fault.as_deref()?))));
    list(rows)
}

/// Returns why a valid object without references generates nothing.
pub fn why_idle(kind: &str) -> &'static str {
    match kind {
        "Ingress" => "it generates nothing",
        "IngressClass" => "no Ingress of this controller names it",
        "ConfigMap" => "it is not the controller's ConfigMap, and no Ingress names it",
        "Namespace" => "no flag selects namespaces",
        _ => "no Ingress in effect uses it",
    }
}
