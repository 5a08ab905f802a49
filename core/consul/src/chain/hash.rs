//! The digits in cluster names of a proxy that overrides chain settings.

use crate::go::fnv1;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

fn ordered(one: u64, two: u64) -> u64 {
    let mut bytes = Vec::from(one.to_le_bytes());
    bytes.extend(two.to_le_bytes());
    fnv1(&bytes)
}

/// A struct: its name, and its fields in any order.
fn object(name: &str, fields: &[(&str, u64)]) -> u64 {
    let fields = fields.iter().fold(0, |all, (name, value)| all ^ ordered(fnv1(name.as_bytes()), *value));
    fnv1(name.as_bytes()) ^ fields
}

/// Hashes the overrides; unset ones are zero.
pub(super) fn of(mesh_gateway: &str, protocol: &str, connect_timeout: i64) -> String {
    let gateway = object("MeshGatewayConfig", &[("Mode", fnv1(mesh_gateway.as_bytes()))]);
    let all = object(
        "",
        &[
            ("OverrideMeshGateway", gateway),
            ("OverrideProtocol", fnv1(protocol.as_bytes())),
            ("OverrideConnectTimeout", fnv1(&connect_timeout.to_le_bytes())),
        ],
    );
    format!("{all:x}").chars().take(8).collect()
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn digits_are_those_of_the_reference() {
        assert_eq!(of("local", "", 0), "c225dc1c");
        assert_eq!(of("remote", "", 0), "dd412229");
        assert_eq!(of("", "grpc", 0), "ef15b5b5");
        assert_eq!(of("", "", 1_234_000_000), "15938efd");
    }
}
