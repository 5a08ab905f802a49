// @generated from the CRDs of Envoy Gateway 1.9.0 and Gateway API 1.6.1: structure, limits, defaults and rules, without their prose.

//! What objects may hold.

use super::shared::{OPERATION_2, PARAMETERS_REF_2};
use chancery_base::object;
use chancery_base::schema::{INTEGER, STRING, Schema, array, field, one_of};

pub const TYPE_18: Schema = one_of(&[
    "type.googleapis.com/envoy.config.listener.v3.Listener",
    "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
    "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
    "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
]);
pub const JSON_PATCHES_ITEM: Schema =
    object![field("name", STRING, "").required(), field("operation", OPERATION_2, "").required(), field("type", TYPE_18, "").required(),];
pub const SPEC_ENVOY_PATCH_POLICY: Schema = object![
    field("jsonPatches", array(&JSON_PATCHES_ITEM), ""),
    field("priority", INTEGER.int32(), ""),
    field("targetRef", PARAMETERS_REF_2, "").required(),
    field("type", one_of(&["JSONPatch"]), "").required(),
];
