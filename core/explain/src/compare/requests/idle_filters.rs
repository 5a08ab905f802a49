//! Finds the requests that a changed filter concerns if it does nothing by itself: those of the virtual hosts that configure it. Does not report
//! them; see `listeners`.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_envoy::emit::pb;
use chancery_envoy::simulate::{host_configures, is_idle, table_configures};
use pb::hcm::{HttpConnectionManager, HttpFilter};
use pb::route::RouteConfiguration;

/// The requests that use an idle filter on both sides.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Users {
    /// No request. If only one side configures the filter, its routes differ, and are compared themselves.
    NoRequest,
    AllRequests,
    /// The requests of these domains.
    Domains(Vec<String>),
}

/// Returns the names of filters that do nothing by themselves on either side.
pub(super) fn names(managers: [&HttpConnectionManager; 2]) -> BTreeSet<&str> {
    let filters = || managers.into_iter().flat_map(|manager| &manager.http_filters);
    let busy: BTreeSet<&str> = filters().filter(|filter| !is_idle(filter)).map(|filter| filter.name.as_str()).collect();
    filters().map(|filter| filter.name.as_str()).filter(|name| !busy.contains(name)).collect()
}

/// Returns the filter that a field of a connection manager belongs to, if it is one of these.
pub(super) fn of_field<'n>(path: &str, names: &BTreeSet<&'n str>) -> Option<&'n str> {
    let rest = path.split_once(".http_filters[")?.1;
    names.iter().copied().find(|name| rest.strip_prefix(name).is_some_and(|rest| rest == "]" || rest.starts_with("].")))
}

/// Returns a connection manager without these filters.
pub(super) fn without(manager: &HttpConnectionManager, names: &BTreeSet<&str>) -> HttpConnectionManager {
    let kept = manager.http_filters.iter().filter(|filter| !names.contains(filter.name.as_str())).cloned();
    HttpConnectionManager { http_filters: kept.collect(), ..manager.clone() }
}

/// Returns the filter with a name.
pub(super) fn named<'m>(manager: &'m HttpConnectionManager, name: &str) -> Option<&'m HttpFilter> {
    manager.http_filters.iter().find(|filter| filter.name == name)
}

/// Returns the requests that use an idle filter on both sides.
pub(super) fn users(filter: &str, tables: [&RouteConfiguration; 2]) -> Users {
    if tables.into_iter().all(|table| table_configures(table, filter)) {
        return Users::AllRequests;
    }
    let domains = tables.map(|table| -> BTreeSet<&str> {
        let is_of_all = table_configures(table, filter);
        let hosts = table.virtual_hosts.iter().filter(|host| is_of_all || host_configures(host, filter));
        hosts.flat_map(|host| &host.domains).map(String::as_str).collect()
    });
    let [before, after] = &domains;
    if before.is_empty() || after.is_empty() {
        return Users::NoRequest;
    }
    // A domain of one side may belong to a wildcard of the other one.
    Users::Domains(before.union(after).map(|domain| String::from(*domain)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pb::route::VirtualHost;

    fn table(hosts: &[(&str, &[&str])]) -> RouteConfiguration {
        let host = |(domain, filters): &(&str, &[&str])| VirtualHost {
            domains: Vec::from([String::from(*domain)]),
            typed_per_filter_config: filters.iter().map(|name| (String::from(*name), pb::Any::default())).collect(),
            ..VirtualHost::default()
        };
        RouteConfiguration { virtual_hosts: hosts.iter().map(host).collect(), ..RouteConfiguration::default() }
    }

    #[test]
    fn idle_filter_concerns_hosts_that_configure_it() {
        let (with, other) = (table(&[("a", &["f"]), ("b", &[])]), table(&[("a", &[]), ("b", &[])]));
        assert_eq!(users("f", [&with, &with]), Users::Domains(Vec::from(["a".into()])));
        assert_eq!(users("f", [&with, &other]), Users::NoRequest);
    }

    #[test]
    fn fields_belong_to_filters_by_name() {
        let names = BTreeSet::from(["ext_authz/a", "rbac"]);
        assert_eq!(of_field("http_connection_manager.http_filters[ext_authz/a].typed_config", &names), Some("ext_authz/a"));
        assert_eq!(of_field("http_connection_manager.http_filters[rbac]", &names), Some("rbac"));
        assert_eq!(of_field("http_connection_manager.http_filters[rbac/b]", &names), None);
        assert_eq!(of_field("http_connection_manager.http_filters[2].name", &names), None);
    }
}
