//! Converts an origin to plain data: the field, its resource, its place, and the rule that applies it. Does not know places in outputs; see
//! `trace`.

use super::{Positions, ResourceRef, Span, rule_text};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::SideRef;
use chancery_base::resource::{Origin, Rule};
use chancery_text::{Node, to_json};

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct OriginView {
    /// The rule that derives the value from the field.
    pub rule: Rule,
    /// The rule as a phrase.
    pub why: String,
    /// The resource; `None` for values that the controller has built in.
    pub resource: Option<ResourceRef>,
    /// Its field, as `spec.timeout_ms`; `None` for the whole resource.
    pub path: Option<String>,
    #[serde(flatten)]
    pub span: Option<Span>,
}

/// At most this many fields are named for a computed value.
const MOST_LEAVES: usize = 64;

impl OriginView {
    /// Describes an origin, as a side sees it.
    pub fn of(origin: Origin, side: SideRef<'_>, positions: &Positions<'_>) -> Self {
        let object = side.objects().get(origin.object());
        let path = object.map(|object| object.path(origin.node()).to_string()).filter(|path| !path.is_empty());
        let resource = object.map(|object| ResourceRef::from(&object.key));
        let what = resource.as_ref().map(|resource| match &path {
            Some(path) => format!("`{path}` of {resource}"),
            None => resource.to_string(),
        });
        let why = rule_text::rule(origin.rule(), what.as_deref(), side.dialect());
        Self { rule: origin.rule(), why, resource, path, span: positions.origin(origin) }
    }

    /// Describes the origins of a place, with known defaults.
    pub(super) fn at(pointer: &str, value: Option<&Node>, origins: &[Origin], side: SideRef<'_>, positions: &Positions<'_>) -> Vec<Self> {
        let known = || {
            let small = value.filter(|value| value.as_array().is_none() && value.as_object().is_none_or(|object| object.len() == 1))?;
            rule_text::known_default(pointer, &to_json(small, false), side.dialect())
        };
        let view = |origin: &Origin| {
            let mut view = Self::of(*origin, side, positions);
            if matches!(view.rule, Rule::Default | Rule::Module)
                && view.resource.is_none()
                && let Some(known) = known()
            {
                view.why = known;
            }
            view
        };
        let mut views: Vec<Self> = Vec::new();
        for origin in origins {
            views.push(view(origin));
            if origin.is_whole()
                && let Some(object) = side.objects().get(origin.object())
            {
                let leaves = object.leaves(origin.node()).into_iter().take(MOST_LEAVES);
                views.extend(leaves.map(|leaf| Self::of(Origin::new(origin.object(), leaf, origin.rule()), side, positions)));
            }
        }
        views
    }
}
