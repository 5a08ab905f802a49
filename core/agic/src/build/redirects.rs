//! Makes redirects from HTTP to HTTPS: one for each listener with TLS whose Ingress requests it.
//!
//! AGIC `pkg/appgw/redirects.go`.

use super::builder::{Builder, kept, own, word};
use super::memory::{KnownRedirect, address};
use crate::brownfield::by_name;
use crate::crash::ControllerCrash;
use crate::names::{Names, PartKind};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::appgw::{Part, Parts, Redirect};
use chancery_base::resource::Sourced;
use chancery_text::Str;

pub(super) fn make(builder: &mut Builder<'_, '_>) -> Result<(), ControllerCrash> {
    let mut made: Parts<Redirect> = Vec::new();
    let mut found = builder.found.search();
    for wanted in &builder.wanted {
        let Some(name) = &wanted.config.redirect else { continue };
        let Some(listener) = found.find(&wanted.id) else { continue };
        let target = &listener.id;
        let make = || {
            let redirect = Arc::new(redirect(builder.names, name, target));
            KnownRedirect { wanted: wanted.clone(), target: target.clone(), redirect }
        };
        made.push(builder.memory.redirects.or_make(address(wanted), |known| known.target == *target, make).redirect.clone());
    }
    let existing = builder.existing()?;
    let properties = builder.properties();
    let theirs = existing.map(|existing| kept(&properties.redirects, |name| existing.redirects.contains(name))).unwrap_or_default();
    let all = by_name(theirs, made);
    builder.redirects = all.iter().map(|redirect| redirect.id.clone()).collect();
    builder.properties().redirects = Some(all);
    Ok(())
}

fn redirect(names: &Names, name: &Sourced<Str>, target: &Str) -> Part<Redirect> {
    let redirect = Redirect {
        redirect_type: word("Permanent"),
        target_listener: Some(Sourced::new(target.clone(), name.origin).into()),
        include_path: own(true),
        include_query: own(true),
        ..Redirect::default()
    };
    Part::new(name.value.clone(), names.id(PartKind::Redirect, name), redirect, name.origin)
}
