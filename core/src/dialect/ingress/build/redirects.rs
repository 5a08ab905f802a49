//! Redirects from HTTP to HTTPS: one for each listener with TLS whose Ingress asks for it.
//!
//! AGIC `pkg/appgw/redirects.go`.

use super::builder::{Builder, kept, own, word};
use crate::dialect::ingress::brownfield::by_name;
use crate::dialect::ingress::death::Died;
use crate::dialect::ingress::names::PartKind;
use crate::ir::appgw::{Part, Redirect};
use crate::resource::Sourced;
use alloc::vec::Vec;

/// Makes all redirects.
pub(super) fn make(builder: &mut Builder<'_, '_>) -> Result<(), Died> {
    let mut made: Vec<Part<Redirect>> = Vec::new();
    for (id, config) in &builder.configs {
        let (Some(name), Some((_, target))) = (&config.redirect, builder.found.get(id)) else { continue };
        let redirect = Redirect {
            redirect_type: word("Permanent"),
            target_listener: Some(Sourced::new(target.clone(), name.origin).into()),
            include_path: own(true),
            include_query: own(true),
            ..Redirect::default()
        };
        let part_id = builder.names.id(PartKind::Redirect, name);
        made.push(Part::new(name.value.clone(), part_id, redirect, name.origin));
    }
    let existing = builder.existing()?;
    let properties = builder.properties();
    let theirs = existing.map(|existing| kept(&properties.redirects, |name| existing.redirects.contains(name))).unwrap_or_default();
    let all = by_name(theirs, made);
    builder.redirects = all.iter().map(|redirect| (redirect.id.clone(), redirect.clone())).collect();
    builder.properties().redirects = Some(all);
    Ok(())
}
