//! Compares two Application Gateways: their parts with their owners, and what happens to requests. Does not compare resources or route requests;
//! see `chancery_app_gateway`.

mod behaviour;
mod classes;
mod parts;
mod requests;

pub use parts::{KeptPart, compare_app_gateways, parts_of_others};
pub use requests::app_gateway_requests;

use crate::{OriginView, Positions, Viewed};
use alloc::vec::Vec;
use chancery_base::compilation::{AppGatewayRef, NamedGateway};
use chancery_base::ir::appgw::Gateway;

/// One side of a comparison.
pub struct AppGatewaySide<'a> {
    pub parts: &'a Gateway,
    /// The gateway in its compilation, and the places of its input; `None` for a gateway as Azure reports it.
    source: Option<(NamedGateway<'a>, &'a Positions<'a>)>,
    viewed: Viewed,
}

impl<'a> AppGatewaySide<'a> {
    /// Creates the side of a gateway that was compiled from an input.
    pub fn new(of: AppGatewayRef<'a>, positions: &'a Positions<'a>) -> Self {
        Self { parts: of.parts, source: Some((of.named, positions)), viewed: Viewed::app_gateway(of.parts) }
    }

    /// Creates the side of a gateway as Azure reports it.
    pub fn existing(parts: &'a Gateway) -> Self {
        Self { parts, source: None, viewed: Viewed::app_gateway(parts) }
    }

    /// Returns the origins of a place in the document of its parts.
    fn origins(&self, pointer: &str) -> Vec<OriginView> {
        let Some((named, positions)) = self.source else { return Vec::new() };
        let made = self.viewed.map.lookup(pointer);
        let origins = made.iter().flat_map(|made| made.origins.iter().copied());
        origins.map(|origin| OriginView::of(origin, named.of, positions)).filter(|view| view.resource.is_some()).take(4).collect()
    }
}

#[cfg(test)]
mod tests;
