//! IRHealthChecks: active health checks of a Mapping's cluster.
//!
//! Source of the behaviour: Emissary `python/ambassador/ir/irhealthchecks.py`.

use super::Model;
use super::notices::{ControllerNotice, Identity, REFUSED_HELP};
use crate::duration;
use crate::spec;
use alloc::format;
use alloc::string::ToString as _;
use alloc::vec::Vec;
use chancery_base::diagnostic::codes;
use chancery_base::ir::{AppendAction, HeaderMutations, HeaderName, HeaderToAdd, HealthCheck, HealthChecker, InvalidHeaderName};
use chancery_base::resource::{Origin, Sourced};
use chancery_base::substitution;
use chancery_text::Str;
use core::time::Duration;

impl Model<'_> {
    /// The health checks that can be used; the others are reported.
    pub(super) fn health_checks(&mut self, checks: &Sourced<Vec<Sourced<spec::HealthCheck>>>, mapping: &Identity) -> Vec<Sourced<HealthCheck>> {
        let identity = Identity { kind: "IRHealthChecks".into(), ..Identity::internal("ir.health_checks", "IRHealthChecks", "ir.health_checks") };
        let identity = Identity { origin: mapping.origin, ..identity };
        let mut out = Vec::new();
        for check in &checks.value {
            let spec = &check.value;
            let Some(location) = &spec.health_check else { continue };
            let time = |written: &Option<Sourced<Str>>, default: u64| match written {
                Some(text) => duration::parse_go(&text.value).map(|time| Sourced::new(time, text.origin)),
                None => Some(Sourced::built_in(Duration::from_secs(default))),
            };
            let count = |written: &Option<Sourced<i64>>, default: u32| match written {
                Some(number) => u32::try_from(number.value).ok().map(|value| Sourced::new(value, number.origin)),
                None => Some(Sourced::built_in(default)),
            };
            let (Some(timeout), Some(interval)) = (time(&spec.timeout, 3), time(&spec.interval, 5)) else { continue };
            let (Some(healthy), Some(unhealthy)) = (count(&spec.healthy_threshold, 1), count(&spec.unhealthy_threshold, 2)) else { continue };
            let checker = match (&location.value.http, &location.value.grpc) {
                (Some(http), _) => self.http_checker(&http.value, &identity),
                (None, Some(grpc)) => HealthChecker::Grpc {
                    service_name: grpc.value.upstream_name.clone().unwrap_or_default(),
                    authority: grpc.value.authority.clone(),
                },
                (None, None) => continue,
            };
            let value = HealthCheck { timeout, interval, healthy_threshold: healthy, unhealthy_threshold: unhealthy, checker };
            out.push(Sourced::new(value, check.origin));
        }
        out
    }

    fn http_checker(&mut self, http: &spec::HttpHealthCheck, identity: &Identity) -> HealthChecker {
        let mut expected_statuses = Vec::new();
        for range in http.expected_statuses.iter().flat_map(|ranges| &ranges.value) {
            let number = |value: &Option<Sourced<i64>>| value.as_ref().map_or(0, |value| value.value);
            let (start, end) = (number(&range.value.min), number(&range.value.max) + 1);
            if start > end {
                let message = format!(
                    "IRHealthChecks: expected_statuses: status range start value {start} cannot be higher than the end {end} for range. Ignoring expected status for health-check"
                );
                self.notices.error(identity, ControllerNotice::new(&codes::INVALID_HEALTH_CHECK, message, range.origin));
                continue;
            }
            expected_statuses.push(Sourced::new((start, end), range.origin));
        }
        let mut add = Vec::new();
        for (name, header) in http.add_request_headers.iter().flat_map(|headers| &headers.value.0) {
            let value = header.value.value.as_ref().map_or("", |value| value.value.as_str());
            if let Some(problem) = substitution::problem(value) {
                let message = format!("Envoy cannot read the value of this header: {problem}");
                self.notices.error(identity, ControllerNotice::new(&codes::REFUSED_BY_ENVOY, message, header.origin).help(REFUSED_HELP));
                continue;
            }
            add.extend(self.header_name(name, header.origin, identity).map(|name| added_header(name, header)));
        }
        let mut remove = Vec::new();
        for name in http.remove_request_headers.iter().flat_map(|names| &names.value) {
            let header = self.header_name(&name.value, name.origin, identity);
            remove.extend(header.map(|header| Sourced::new(header, name.origin)));
        }
        HealthChecker::Http {
            http2: None,
            path: http.path.clone().unwrap_or_default(),
            host: http.hostname.clone(),
            headers: HeaderMutations { add, remove },
            expected_statuses,
        }
    }
    fn header_name(&mut self, name: &Str, origin: Option<Origin>, identity: &Identity) -> Option<HeaderName> {
        let refuse = |problem: InvalidHeaderName| {
            self.notices.error(identity, ControllerNotice::new(&codes::REFUSED_BY_ENVOY, problem.to_string(), origin).help(REFUSED_HELP));
        };
        HeaderName::new(name.clone()).map_err(refuse).ok()
    }
}

/// The IR form of an added header [default: appended].
pub fn added_header(name: HeaderName, header: &Sourced<spec::AddedHeader>) -> Sourced<HeaderToAdd> {
    let append = header.value.append.as_ref().is_none_or(|append| append.value);
    let action = if append { AppendAction::Append } else { AppendAction::Overwrite };
    let value = header.value.value.clone().unwrap_or_default();
    // With `append`, the header depends on two fields.
    let origin: Option<Origin> = if header.value.append.is_some() { header.origin.map(Origin::whole) } else { value.origin.or(header.origin) };
    Sourced::new(HeaderToAdd { name, value: value.value, action }, origin)
}
