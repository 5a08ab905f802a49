//! The state of a translation, which `translate` and `policy` share: Gateways, listeners and routes, scopes of policies, the index of
//! their settings, and the policies in force.

mod backend_policies;
mod in_force;
mod index;
mod route_kind;
mod route_memory;
mod scope;
mod translator;

pub(crate) use backend_policies::BackendPolicy;
pub(crate) use in_force::{ADDRESSING, InForce, ListenerName};
pub(crate) use index::Index;
pub(crate) use route_kind::RouteKind;
pub(crate) use route_memory::{RouteMemory, Translated};
pub(crate) use scope::{Level, Scope};
pub(crate) use translator::{
    BackendClusterKey, FrontendValidation, GatewayContext, Listener, ListenerId, ListenerSetContext, ListenerStatus, RouteContext, RouteParent,
    RouteSpan, Translator,
};
