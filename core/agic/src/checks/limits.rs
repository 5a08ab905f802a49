//! Checks values that AGIC passes on and Azure does not accept: Azure then refuses the whole gateway, and no Ingress can change it.
//!
//! Source of the limits: Azure's reference of the REST API, `Application Gateways - Create Or Update`.
//!
//! Does not check values that the controller itself ignores; see `values`.

use super::Run;
use crate::codes;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Owner, Part, Probe, Settings};
use chancery_base::resource::Sourced;
use chancery_text::Str;
use core::ops::RangeInclusive;

const SECONDS_OF_A_DAY: RangeInclusive<i64> = 1..=86_400;
const SECONDS_OF_DRAINING: RangeInclusive<i64> = 1..=3_600;
const FAILED_PROBES: RangeInclusive<i64> = 1..=20;

pub(super) fn check(checked: &mut Run<'_, '_, '_>) {
    let Some(properties) = checked.processed.gateway.as_ref().and_then(|gateway| gateway.properties.as_ref()) else { return };
    let mut found = Found::default();
    properties.settings.iter().flatten().filter(|part| part.owner == Owner::Controller).for_each(|part| found.settings(part));
    properties.probes.iter().flatten().filter(|part| part.owner == Owner::Controller).for_each(|part| found.probe(part));
    // One annotation makes several parts.
    let mut reported = BTreeSet::new();
    for wrong in found.0.into_iter().filter(|wrong| reported.insert(wrong.origin)) {
        let finding = checked.finding(&codes::AZURE_REJECTS_VALUE, wrong.value, wrong.origin);
        checked.report(finding.help("until it is corrected, Azure refuses the gateway as a whole: no change of any Ingress arrives"));
    }
}

/// Messages about values, with the places of the values.
#[derive(Default)]
struct Found(Vec<Sourced<String>>);

impl Found {
    fn settings(&mut self, of: &Part<Settings>) {
        let settings = &of.properties;
        self.number("a timeout of requests", settings.request_timeout.as_ref(), &SECONDS_OF_A_DAY);
        self.number("a timeout of draining", settings.draining.as_ref().and_then(|draining| draining.timeout.as_ref()), &SECONDS_OF_DRAINING);
        self.path("a path of a backend", settings.path.as_ref());
    }

    fn probe(&mut self, of: &Part<Probe>) {
        let probe = &of.properties;
        self.number("the interval of a probe", probe.interval.as_ref(), &SECONDS_OF_A_DAY);
        self.number("the timeout of a probe", probe.timeout.as_ref(), &SECONDS_OF_A_DAY);
        self.number("the number of failed probes", probe.unhealthy_threshold.as_ref(), &FAILED_PROBES);
        self.path("the path of a probe", probe.path.as_ref());
        let codes = probe.answers.iter().flat_map(|answers| &answers.status_codes).flatten();
        for code in codes.filter(|code| !is_status(&code.value)) {
            self.add(code, format!("`{}` is neither a status nor a range of them, as in `200-399`", code.value));
        }
    }

    fn add<T>(&mut self, of: &Sourced<T>, sentence: String) {
        self.0.push(Sourced::new(sentence, of.origin));
    }

    fn number(&mut self, what: &str, of: Option<&Sourced<i64>>, accepted: &RangeInclusive<i64>) {
        let Some(of) = of.filter(|of| !accepted.contains(&of.value)) else { return };
        self.add(of, format!("Azure accepts {} to {} for {what}, and this is {}", accepted.start(), accepted.end(), of.value));
    }

    fn path(&mut self, what: &str, of: Option<&Sourced<Str>>) {
        let Some(of) = of.filter(|of| !of.value.is_empty() && !of.value.starts_with('/')) else { return };
        self.add(of, format!("Azure requires a `/` at the beginning of {what}, and this is `{}`", of.value));
    }
}

/// Whether a text is a status, or a range of them.
fn is_status(text: &str) -> bool {
    let is_one = |text: &str| text.trim().parse::<u16>().is_ok_and(|status| (100..=999).contains(&status));
    match text.split_once('-') {
        Some((from, to)) => is_one(from) && is_one(to),
        None => is_one(text),
    }
}
