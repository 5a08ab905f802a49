//! Validates a single object like the API server and the controller.
//!
//! Source of behaviour: the API server; Emissary `pkg/kates/validator.go`.

use super::super::Options;
use super::super::kinds::{self, Via};
use super::role::{self, Role};
use super::verdict::Verdict;
use super::{emit, findings};
use alloc::vec::Vec;
use chancery_base::diagnostic::{Findings, Reported, Severity};
use chancery_base::resource::Object;
use chancery_kubernetes::{ingress, metadata, secret, service};

/// Validates a single object like the API server and the controller.
pub(super) fn judge(object: &Object, options: &Options) -> Verdict {
    let role = role::of(&object.key.group, &object.key.kind);
    let mut verdict = Verdict { role, refused: None, spec: None, errors: Vec::new(), resource: None, findings: Findings::default() };
    let mut sink = Findings::default();
    let accepted = match role {
        Role::UnknownAmbassador => Err(sink.report(findings::unknown_ambassador_kind(object))),
        Role::Ambassador(kind) => {
            let admission = kinds::admit(kind, object, Via::ApiServer, &object.root, &mut sink);
            // A refused object is loaded as invalid, so that views of the configuration show it.
            verdict.resource = emit::custom(object, &admission, options, &mut sink);
            verdict.spec = admission.spec;
            verdict.errors = admission.errors;
            if admission.refused { sink.since(0) } else { Ok(()) }
        }
        Role::EdgeStack => {
            sink.report(findings::edge_stack_kind(object));
            Ok(())
        }
        Role::Foreign => {
            sink.report(findings::foreign_kind(object));
            Ok(())
        }
        // An API server has judged it.
        Role::Service | Role::Secret if object.stored => Ok(()),
        Role::Service => both(metadata::accepts(object, &mut sink), service::check(object, &mut sink)),
        Role::Secret => both(metadata::accepts(object, &mut sink), secret::check(object, &mut sink)),
        Role::Ingress => {
            if object.api_version != "networking.k8s.io/v1" {
                sink.report(findings::old_ingress(object));
            }
            if object.stored { Ok(()) } else { both(metadata::accepts(object, &mut sink), ingress::check(object, &mut sink)) }
        }
        Role::Endpoints | Role::EndpointSlice | Role::IngressClass | Role::KnativeIngress => metadata::accepts(object, &mut sink),
    };
    if accepted.is_err() {
        let error = sink.iter().find(|finding| finding.severity == Severity::Error);
        verdict.refused = Some(error.map_or_else(|| "the API server refuses it".into(), findings::summary));
    }
    verdict.findings = sink;
    verdict
}

/// Whether both checks passed. Both run, so all errors are reported.
fn both(first: Result<(), Reported>, second: Result<(), Reported>) -> Result<(), Reported> {
    first.and(second)
}
