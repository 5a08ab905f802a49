//! Checks that no resource is ignored silently: every resource without effect has a finding, in all examples and every case of a corpus.

use crate::{envoy, examples};
use chancery_core::check::check;
use chancery_core::diagnostic::Policy;
use chancery_core::executor::Sequential;
use chancery_core::explain::{LedgerRow, ResourceRef, ledger_of, rows_without_effect};
use chancery_tests::work::Work;
use std::collections::BTreeSet;

/// Kinds that only have an effect when others refer to them.
const PASSIVE: &[&str] = &["Service", "Endpoints", "EndpointSlice", "Secret", "Namespace", "ConfigMap", "Pod", "ReferenceGrant"];

fn is_idle(row: &LedgerRow) -> bool {
    ["ignored", "shadowed", "invalid"].contains(&row.state)
}

fn cases() -> Vec<envoy::Case> {
    let examples = examples::examples().into_iter().map(|example| (example.name, example.inputs, example.options));
    examples.chain(envoy::cases()).collect()
}

#[test]
fn every_resource_without_effect_has_a_finding() {
    let mut silent = Vec::new();
    for (name, inputs, options) in cases() {
        let mut work = Work::new(&inputs, &options);
        check(&mut work.compilation, &Policy::default(), &mut work.compiler.emitted, &Sequential);
        let told: BTreeSet<ResourceRef> = work.findings().into_iter().filter_map(|finding| finding.resource).collect();
        // All objects of kinds that the controller does not read share one finding.
        let is_joined = |row: &LedgerRow| row.why == Some("unknown-kind") && work.findings().iter().any(|finding| finding.code == "unknown-kind");
        let rows = work.ledger().into_iter().filter(|row| is_idle(row) && !PASSIVE.contains(&&*row.resource.kind) && !row.resource.kind.is_empty());
        let rows = rows.filter(|row| !is_joined(row));
        silent.extend(rows.filter(|row| !told.contains(&row.resource)).map(|row| format!("{name}: {}", row.resource)));
    }
    assert!(silent.is_empty(), "{} resources without effect have no finding:\n{}", silent.len(), silent.join("\n"));
}

#[test]
fn idle_rows_equal_ledger_rows_without_effect() {
    for (name, inputs, options) in cases() {
        let work = Work::new(&inputs, &options);
        let positions = work.compilation.positions();
        for side in work.compilation.sides() {
            let whole: Vec<_> = ledger_of(side, &positions).into_iter().filter(is_idle).collect();
            assert_eq!(rows_without_effect(side, &positions, |_| true), whole, "{name}");
        }
    }
}
