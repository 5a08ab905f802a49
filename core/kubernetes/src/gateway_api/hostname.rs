//! Computes a route's hosts at a listener: the intersection of both hostname lists.

use crate::cursor::Cursor;
use crate::reason::Reason;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;
use chancery_base::resource::{Rule, Sourced};
use chancery_base::schema::{go_quoted, names};
use chancery_text::Str;
use core::net::IpAddr;

/// Checks a host name or wildcard.
pub fn check(hostname: &str) -> Result<(), Reason> {
    let invalid = |why: &str| Err(format!("invalid hostname {}: {why}", go_quoted(hostname)).into());
    if hostname.parse::<IpAddr>().is_ok() {
        return invalid("must be a DNS name, not an IP address");
    }
    let faults = if hostname.contains('*') { names::wildcard_subdomain(hostname) } else { names::subdomain(hostname) };
    if faults.is_empty() { Ok(()) } else { invalid(&format!("[{}]", faults.join(" "))) }
}

/// The hosts of a route at a listener, and the errors in the route's hostnames; `*` if neither names a host.
///
/// `others` are the hostnames of the Gateway's other listeners: a host goes to the most specific listener.
pub fn intersection(hostnames: Cursor<'_>, listener: &Sourced<Str>, others: &[Str]) -> (Vec<Sourced<Str>>, Vec<Sourced<Reason>>) {
    if hostnames.is_empty() {
        let everything = || listener.clone().map(|_| Str::new_static("*"));
        return (alloc::vec![if listener.value.is_empty() { everything() } else { listener.clone() }], Vec::new());
    }
    let (mut hosts, mut faults, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    for hostname in hostnames.texts() {
        if let Err(fault) = check(&hostname.value) {
            faults.push(Sourced::new(fault, hostname.origin));
            continue;
        }
        let name = hostname.value.as_str();
        let belongs_elsewhere =
            || others.iter().any(|other| other == name || (other.starts_with('*') && covers(other, name) && other.len() > listener.value.len()));
        let host = if listener.value.is_empty() {
            (!belongs_elsewhere()).then_some(hostname)
        } else if listener.value == name {
            Some(hostname)
        } else if listener.value.starts_with('*') {
            (covers(&listener.value, name) && !belongs_elsewhere()).then_some(hostname)
        } else {
            covers(name, &listener.value).then(|| listener.clone().by(Rule::Listener))
        };
        hosts.extend(host.filter(|host| seen.insert(host.value.clone())));
    }
    (hosts, faults)
}

/// Whether a wildcard matches a host: the star replaces at least one label.
fn covers(wildcard: &str, hostname: &str) -> bool {
    wildcard.strip_prefix('*').is_some_and(|end| hostname.strip_suffix(end).is_some_and(|start| !start.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::{check, intersection};
    use crate::cursor::Cursor;
    use crate::status::{list, text};
    use alloc::string::String;
    use alloc::vec::Vec;
    use chancery_base::resource::{ObjectId, Sourced};
    use chancery_text::Str;

    fn hosts(hostnames: &[&str], listener: &str, others: &[&str]) -> Vec<String> {
        let node = list(hostnames.iter().map(|name| text(name)).collect());
        let others: Vec<Str> = others.iter().map(Str::new).collect();
        let (hosts, _) = intersection(Cursor::new(ObjectId::BUILT_IN, &node), &Sourced::built_in(Str::new(listener)), &others);
        hosts.iter().map(|host| host.value.as_str().into()).collect()
    }

    #[test]
    fn route_without_hostnames_inherits_listener_hosts() {
        assert_eq!(hosts(&[], "www.example.com", &[]), ["www.example.com"]);
        assert_eq!(hosts(&[], "", &[]), ["*"]);
    }

    #[test]
    fn wildcards_meet_names_from_either_side() {
        assert_eq!(hosts(&["www.example.com", "example.com", "a.b.example.com"], "*.example.com", &[]), ["www.example.com", "a.b.example.com"]);
        assert_eq!(hosts(&["*.example.com"], "www.example.com", &[]), ["www.example.com"]);
        assert_eq!(hosts(&["*.example.com"], "*.com", &[]), ["*.example.com"]);
        assert_eq!(hosts(&["www.example.org"], "*.example.com", &[]), [""; 0]);
    }

    #[test]
    fn host_goes_to_most_specific_listener() {
        assert_eq!(hosts(&["www.example.com"], "", &["www.example.com"]), [""; 0]);
        assert_eq!(hosts(&["www.example.com"], "*.com", &["*.example.com"]), [""; 0]);
        assert_eq!(hosts(&["www.example.com"], "*.example.com", &["*.com"]), ["www.example.com"]);
    }

    #[test]
    fn addresses_and_inner_stars_are_no_hostnames() {
        assert_eq!(check("192.0.2.1"), Err("invalid hostname \"192.0.2.1\": must be a DNS name, not an IP address".into()));
        assert!(check("*.*.example.com").is_err_and(|why| why.as_str().contains("must start with '*.'")));
        assert_eq!(check("*.example.com"), Ok(()));
    }
}
