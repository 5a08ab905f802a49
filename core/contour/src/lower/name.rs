//! Builds Contour's names of clusters, secrets and virtual hosts (Contour `internal/envoy/cluster.go`, `secret.go`).

use crate::model::{Cluster, DnsCluster, Material, Service, Timeout};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::{Also, ObjectId, Origin, Rule};
use chancery_base::schema::duration;
use chancery_text::Str;
use core::fmt::Write as _;
use core::time::Duration;
use sha1::Digest as _;

/// The length that names stay below.
const LONGEST: usize = 60;
/// The length of the hash that replaces a truncated part.
const SHORT_HASH: usize = 6;

/// `NAMESPACE/NAME/PORT/HASH`; the hash covers everything that distinguishes clusters of one Service.
pub(super) fn cluster(cluster: &Cluster) -> Str {
    let mut of = String::from(cluster.lb_policy.as_str());
    if let Some(check) = &cluster.http_health {
        let times = &check.times;
        for time in [&times.timeout, &times.interval].into_iter().filter(|time| !time.value.is_zero()) {
            of.push_str(&go_duration(time.value));
        }
        for threshold in [&times.unhealthy_threshold, &times.healthy_threshold].into_iter().filter(|threshold| threshold.value > 0) {
            let _ = write!(of, "{}", threshold.value);
        }
        of.push_str(&check.path);
    }
    if let Some(validation) = &cluster.validation {
        of.push_str(validation.ca.first().map_or("", |ca| &ca.name));
        of.push_str(validation.subject_names.first().map_or("", |name| &name.value));
    }
    of.push_str(&cluster.protocol);
    of.push_str(&cluster.sni);
    match cluster.timeouts.idle_connection.value {
        Timeout::Default => {}
        Timeout::Disabled => of.push_str(&go_duration(Duration::ZERO)),
        Timeout::After(time) => of.push_str(&go_duration(time)),
    }
    if let Some(slow) = &cluster.slow_start {
        let _ = write!(of, "{}{:.6}{}", go_duration(slow.window.value), slow.aggression.value, slow.min_weight_percent.value);
    }
    let service = &cluster.upstream;
    hashname(&[&service.namespace, &service.name, &format!("{}", service.port.port), &hash(of.as_bytes())])
}

/// The fields other than the Service reference that [`cluster`] puts into a name.
pub(super) fn cluster_also(cluster: &Cluster) -> Also {
    let whole = |origin: Option<Origin>| origin.map(Origin::whole);
    let hashed = [
        cluster.lb_policy.origin,
        whole(cluster.http_health.as_ref().and_then(|check| check.origin)),
        whole(cluster.validation.as_ref().and_then(|validation| validation.origin)),
        cluster.protocol.origin,
        cluster.sni.origin,
        cluster.timeouts.idle_connection.origin,
        whole(cluster.slow_start.as_ref().and_then(|slow| slow.origin)),
    ];
    let Also(mut origins) = assignment_also(cluster);
    origins.extend(hashed.into_iter().flatten().filter(|origin| origin.object() != ObjectId::BUILT_IN).map(|origin| origin.by(Rule::Derived)));
    Also(origins)
}

/// The fields other than the Service reference that [`assignment`] puts into a name.
pub(super) fn assignment_also(cluster: &Cluster) -> Also {
    let others = cluster.origins.get(1..).unwrap_or_default().iter().copied();
    Also(others.chain([cluster.upstream.ports]).map(|origin| origin.by(Rule::Derived)).collect())
}

/// The cluster's name in statistics.
pub(super) fn statistics(service: &Service) -> Str {
    format!("{}_{}_{}", service.namespace, service.name, service.port.port).into()
}

/// The name that Envoy uses to request a Service's endpoints.
pub(super) fn assignment(service: &Service) -> Str {
    match service.port.name.as_str() {
        "" => format!("{}/{}", service.namespace, service.name).into(),
        port => format!("{}/{}/{port}", service.namespace, service.name).into(),
    }
}

/// The name of a cluster that is found by DNS.
pub(super) fn dns_cluster(cluster: &DnsCluster) -> Str {
    format!("dnsname/{}/{}", cluster.scheme.value, cluster.address.value).into()
}

/// `NAMESPACE/NAME/HASH`, with a hash of the certificate.
pub(super) fn secret(material: &Material) -> Str {
    hashname(&[&material.namespace, &material.name, &hash(material.get("tls.crt"))])
}

/// The name of a virtual host.
pub(super) fn virtual_host(host: &str) -> Str {
    hashname(&[host])
}

/// The first ten digits of SHA-1.
fn hash(bytes: &[u8]) -> String {
    // Most clusters have no attribute that distinguishes them.
    if bytes.is_empty() { OF_NOTHING.into() } else { hex(&sha1::Sha1::digest(bytes)[..5]) }
}

/// The first ten digits of SHA-1 of nothing.
const OF_NOTHING: &str = "da39a3ee5e";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

fn go_duration(time: Duration) -> String {
    duration::format(i64::try_from(time.as_nanos()).unwrap_or(i64::MAX))
}

/// Joins the parts with slashes; if the result is too long, truncates parts from the last to the first.
fn hashname(parts: &[&str]) -> Str {
    let joined = parts.join("/");
    if joined.len() < LONGEST {
        return joined.into();
    }
    let hash = hex(&sha2::Sha256::digest(joined.as_bytes()));
    let mut parts: Vec<String> = parts.iter().map(|part| String::from(*part)).collect();
    let limit = LONGEST / parts.len().max(1);
    for at in (0..parts.len()).rev() {
        if let Some(part) = parts.get_mut(at) {
            *part = truncate(limit, part, hash.get(..SHORT_HASH).unwrap_or_default());
        }
        let joined = parts.join("/");
        if joined.len() < LONGEST {
            return joined.into();
        }
    }
    hash.get(..LONGEST).unwrap_or(&hash).into()
}

/// Cuts a text to a length, and puts a hash at its end.
fn truncate(length: usize, text: &str, suffix: &str) -> String {
    if text.len() <= length {
        return text.into();
    }
    if length <= suffix.len() {
        return suffix.get(..length).unwrap_or(suffix).into();
    }
    let mut end = length - suffix.len() - 1;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}-{suffix}", text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, OF_NOTHING, hashname, hex, truncate};
    use sha1::Digest as _;

    #[test]
    fn hash_of_empty_string_is_sha1() {
        assert_eq!(OF_NOTHING, hex(&sha1::Sha1::digest([])[..5]));
    }

    #[test]
    fn short_names_stay() {
        assert_eq!(hashname(&["default", "web", "80", "da39a3ee5e"]), "default/web/80/da39a3ee5e");
    }

    #[test]
    fn long_names_are_cut_from_the_end() {
        let name = hashname(&["a-namespace-with-a-long-name", "a-service-with-a-rather-long-name", "80", "da39a3ee5e"]);
        assert!(name.starts_with("a-namespace-with-a-long-name/a-servic-") && name.ends_with("/80/da39a3ee5e"), "{name}");
        assert_eq!(
            hashname(&["x".repeat(80).as_str(), "y".repeat(80).as_str(), &"z".repeat(80)]).len(),
            LONGEST,
            "only a hash, if nothing else fits"
        );
    }

    #[test]
    fn truncated_parts_leave_hash() {
        assert_eq!(truncate(12, "quite-a-long-text", "abcdef"), "quite-abcdef");
        assert_eq!(truncate(3, "quite-a-long-text", "abcdef"), "abc");
    }
}
