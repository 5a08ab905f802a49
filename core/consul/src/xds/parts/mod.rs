//! Shared parts of resources, from the names of clusters to whole filter chains. The resources of each kind of proxy are in `sidecar` and
//! `gateway`.

pub(crate) mod access_log;
pub(crate) mod cluster;
pub(crate) mod config;
pub(crate) mod endpoint;
pub(crate) mod escape;
pub(crate) mod filters;
pub(crate) mod jwt;
pub(crate) mod listener;
pub(crate) mod name;
pub(crate) mod proto;
pub(crate) mod rbac;
pub(crate) mod route;
pub(crate) mod tls;
