//! Creates Envoy's bootstrap (Contour `internal/envoy/v3/bootstrap.go`, as `contour bootstrap` writes it in the examples' deployment).

use super::admin::{ADMIN_CLUSTER, ADMIN_SOCKET};
use alloc::sync::Arc;
use alloc::vec;
use chancery_base::ir::{Admin, Bootstrap, Cluster, ClusterDiscovery, ConfigSource, Endpoint, EndpointAddress, XdsCluster};
use chancery_base::resource::Sourced;
use chancery_text::Str;
use core::time::Duration;

/// Contour's name in Envoy's configuration.
const CONTOUR: &str = "contour";

/// Envoy requests each resource from Contour on a separate stream.
pub(super) fn config_source() -> ConfigSource {
    ConfigSource::Server { cluster: Str::new_static(CONTOUR), authority: Str::new_static(CONTOUR) }
}

/// As `contour bootstrap` writes it.
pub(super) fn bootstrap() -> Bootstrap {
    let socket = EndpointAddress::Pipe { path: Str::new_static(ADMIN_SOCKET) };
    let endpoint = Sourced::built_in(Endpoint::from(socket.clone()));
    let admin = Cluster {
        name: Sourced::built_in(Str::new_static(ADMIN_CLUSTER)),
        alt_stat_name: Some(Sourced::built_in("projectcontour_envoy-admin_9001".into())),
        discovery: ClusterDiscovery::Static { assignment_name: Str::new_static(ADMIN_CLUSTER), endpoints: vec![endpoint] },
        connect_timeout: Sourced::built_in(Duration::from_millis(250)),
        ..Cluster::default()
    };
    Bootstrap {
        node_cluster: Str::new_static(CONTOUR),
        node_id: Str::new_static("envoy"),
        admin: Some(Admin { address: Sourced::built_in(socket), access_log_path: Str::new_static("/dev/null") }),
        xds_cluster: Some(XdsCluster {
            name: Str::new_static(CONTOUR),
            assignment_name: Str::new_static(CONTOUR),
            address: EndpointAddress::socket(CONTOUR, 8001),
            connect_timeout: Duration::from_secs(5),
        }),
        clusters: vec![Arc::new(admin)],
        ..Bootstrap::default()
    }
}
