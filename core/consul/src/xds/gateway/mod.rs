//! The resources of gateways, by kind. Parts that sidecars share are in `parts`.

mod address;
pub(crate) mod api;
mod cluster;
pub(crate) mod ingress;
pub(crate) mod mesh;
mod synthesis;
pub(crate) mod terminating;
