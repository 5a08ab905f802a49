//! What the API server and the controller's own validation say of an object by itself.
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

/// What the API server and the controller's validation say of an object by itself.
pub(super) fn judge(object: &Object, options: &Options) -> Verdict {
    let role = role::of(&object.key.group, &object.key.kind);
    let mut verdict = Verdict { role, refused: None, spec: None, errors: Vec::new(), resource: None, findings: Findings::default() };
    let mut sink = Findings::default();
    let accepted = match role {
        Role::UnknownAmbassador => Err(sink.report(findings::unknown_ambassador_kind(object))),
        Role::Ambassador(kind) => {
            let admission = kinds::admit(kind, object, Via::ApiServer, &object.root, &mut sink);
            // What is refused is loaded too, as invalid, so that everybody who looks at the configuration sees it.
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

/// Both checks passed; each has run, so that all that is wrong is reported.
fn both(first: Result<(), Reported>, second: Result<(), Reported>) -> Result<(), Reported> {
    first.and(second)
}
