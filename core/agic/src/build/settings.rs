//! Makes HTTP settings: how the gateway connects to the pods behind each port of a Service.
//!
//! AGIC `pkg/appgw/backendhttpsettings.go`.

use super::backends;
use super::builder::{Builder, kept, own, word};
use super::draft::Use;
use super::share::{Notes, Share, ShareInput};
use crate::annotations::{self as a, Read};
use crate::brownfield::by_name;
use crate::crash::ControllerCrash;
use crate::events::Reason;
use crate::model::Ingress;
use crate::names::{self, PartKind};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Derived, Draining, HTTP, HTTPS, Part, Settings};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// The default drain timeout, in seconds.
const DRAIN: i64 = 30;

/// Makes all settings, and the settings of the default backend.
pub(super) fn make(builder: &mut Builder<'_, '_>) -> Result<(), ControllerCrash> {
    builder.shares.iter().for_each(|share| share.notes[0].record(&share.ingress, builder.recorder));
    let default = Arc::new(default_settings(builder));
    let all: Vec<(Arc<Part<Settings>>, bool)> =
        core::iter::once((default, true)).chain(builder.shares.iter().flat_map(|share| &share.settings).cloned()).collect();
    let made = builder.memory.orders.settings.winners(all, Part::name);
    let existing = builder.existing()?;
    let properties = builder.properties();
    let theirs = existing.map(|existing| kept(&properties.settings, |name| existing.settings.contains(name))).unwrap_or_default();
    properties.settings = Some(by_name(theirs, made));
    Ok(())
}

/// Adds the settings of an Ingress.
pub(super) fn add(given: &ShareInput<'_, '_>, share: &mut Share) {
    let mut notes = Notes::default();
    backends::note(&share.uses, &mut notes);
    for used in &mut share.uses {
        let settings = settings(given, used, &share.ingress, &mut notes);
        used.settings = settings.name.clone();
        // A default backend has no probe, so settings with a probe win over its settings of the same name.
        share.settings.push((Arc::new(settings), used.at.is_some()));
    }
    share.notes[0] = notes;
}

fn default_settings(builder: &Builder<'_, '_>) -> Part<Settings> {
    let name = builder.names.default_settings();
    let id = builder.names.id(PartKind::Settings, &name);
    let probe = builder.reference(PartKind::Probe, &builder.names.default_probe(HTTP), Origin::built_in());
    let settings = Settings {
        protocol: word(HTTP).map(Derived::from),
        port: own(80).map(Derived::from),
        probe: Some(probe),
        pick_host_name: own(false),
        affinity: word("Disabled"),
        request_timeout: own(30),
        ..Settings::default()
    };
    Part::new(name, id, settings, Origin::built_in())
}

fn settings(given: &ShareInput<'_, '_>, used: &Use, ingress: &Ingress, notes: &mut Notes) -> Part<Settings> {
    let name = given.names.settings(&used.full_name(), &used.port, used.resolved, &ingress.name);
    let id = given.names.id(PartKind::Settings, &name);
    let annotations = &ingress.annotations;
    let mut settings = Settings {
        protocol: word(HTTP).map(Derived::from),
        port: Some(used.by_port(used.resolved)),
        pick_host_name: own(false),
        affinity: word("Disabled"),
        request_timeout: own(30),
        probe: Some(given.reference(PartKind::Probe, &used.probe, used.origin)),
        path: annotations.text(&a::BACKEND_PATH_PREFIX),
        host_name: annotations.text(&a::BACKEND_HOSTNAME),
        ..Settings::default()
    };
    if let Some(enabled) =
        value_or_report(notes, ingress, &a::CONNECTION_DRAINING, annotations.flag(&a::CONNECTION_DRAINING)).filter(|flag| flag.value)
    {
        let timeout = annotations.number(&a::CONNECTION_DRAINING_TIMEOUT).value();
        let timeout = timeout.unwrap_or_else(|| Sourced::built_in(DRAIN));
        settings.draining = Some(Draining { enabled: Some(enabled), timeout: Some(timeout), ..Draining::default() });
    }
    if let Some(affinity) = value_or_report(notes, ingress, &a::COOKIE_AFFINITY, annotations.flag(&a::COOKIE_AFFINITY)).filter(|flag| flag.value) {
        settings.affinity = Some(affinity.map(|_| Str::new_static("Enabled")));
    }
    let distinct = value_or_report(notes, ingress, &a::COOKIE_AFFINITY_DISTINCT, annotations.flag(&a::COOKIE_AFFINITY_DISTINCT));
    if let Some(distinct) = distinct.filter(|flag| flag.value) {
        let hash = names::md5(used.full_name().as_bytes());
        settings.affinity_cookie = Some(distinct.map(|_| format!("appgw-affinity-{hash}").into()));
    }
    if let Some(timeout) = value_or_report(notes, ingress, &a::REQUEST_TIMEOUT, annotations.number(&a::REQUEST_TIMEOUT)) {
        settings.request_timeout = Some(timeout);
    }
    if used.resolved == 443 {
        settings.protocol = Some(used.by_port(Str::new_static(HTTPS)));
    }
    if let Some(https) = value_or_report(notes, ingress, &a::BACKEND_PROTOCOL, annotations.is_https(&a::BACKEND_PROTOCOL)) {
        settings.protocol = Some(https.map(|https| Str::new_static(if https { HTTPS } else { HTTP })).into());
    }
    if let Some(roots) = annotations.text(&a::TRUSTED_ROOTS) {
        let names = roots.trim_end_matches(',').split(',');
        settings.trusted_roots = Some(names.map(|name| given.reference(PartKind::TrustedRoot, name, roots.origin)).collect());
        let is_https = settings.protocol.as_ref().is_some_and(|protocol| protocol.as_str() == HTTPS);
        // The certificate must have the name of the request's host, or of the pod's address.
        if is_https && settings.host_name.as_ref().is_none_or(|host| host.is_empty()) {
            settings.pick_host_name = Some(Sourced::new(true, roots.origin));
        }
    }
    Part::new(name, id, settings, used.origin).with(&used.ports)
}

/// Returns the value of an annotation; an invalid value is reported.
fn value_or_report<T>(notes: &mut Notes, ingress: &Ingress, annotation: &a::Annotation, read: Read<T>) -> Option<Sourced<T>> {
    if let Read::Invalid(fault) = &read {
        let at = ingress.annotations.text(annotation).and_then(|text| text.origin);
        notes.add(Reason::InvalidAnnotation, fault.text(), at);
    }
    read.value()
}
