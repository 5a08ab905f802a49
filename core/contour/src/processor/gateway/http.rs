//! Processes HTTPRoutes.

use super::context::{Attachment, GatewayListener};
use crate::model::{RouteTimeouts, Timeout};
use crate::processor::policy;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::Sourced;
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::reason::Reason;
use chancery_text::Str;

impl<'a> Attachment<'_, 'a> {
    /// Adds an HTTPRoute's routes to hosts of a listener.
    pub(super) fn http(&mut self, listener: &GatewayListener<'a>, hosts: &[Sourced<Str>]) {
        let rules = self.route.spec().field("rules");
        let mut dropped = Vec::new();
        for (index, rule) in rules.items().enumerate() {
            let matches = self.http_matches(rule);
            let timeouts = match timeouts(rule.field("timeouts")) {
                Ok(timeouts) => timeouts,
                Err(why) => {
                    self.unsupported(why, rule.field("timeouts").origin());
                    continue;
                }
            };
            let filters = self.rule_filters(rule);
            let backends = if filters.redirect.is_some() {
                None
            } else {
                match self.backends(rule, listener) {
                    None => continue,
                    found => found,
                }
            };
            let routes = self.routes(rule, index, matches, filters, &timeouts, backends.as_ref());
            if let Err(winner) = self.add(listener, hosts, &routes) {
                dropped.push((rule.origin(), winner));
            }
        }
        self.report_dropped(&dropped, rules);
    }
}

/// The timeouts of a rule. As Contour does not try again here, that for a backend is that for the whole.
fn timeouts(at: Cursor<'_>) -> Result<RouteTimeouts, Reason> {
    let read = |field: &str, name: &str| {
        let Some(written) = at.field(field).some() else { return Ok(None) };
        let timeout = policy::timeout(written.str()).map_err(|why| format!("invalid HTTPRoute.Spec.Rules.Timeouts.{name}: {why}"))?;
        // Zero disables the timeout in Gateway API.
        let timeout = if timeout == Timeout::Default { Timeout::Disabled } else { timeout };
        Ok::<_, String>(Some(Sourced::new(timeout, written.origin())))
    };
    let request = read("request", "Request")?;
    let backend = read("backendRequest", "BackendRequest")?;
    if let (Some(Timeout::After(request)), Some(Timeout::After(backend))) = (request.map(|at| at.value), backend.map(|at| at.value))
        && backend > request
    {
        let rule = "must be less than/equal to HTTPRoute.Spec.Rules.Timeouts.Request when both are specified";
        return Err(format!("HTTPRoute.Spec.Rules.Timeouts.BackendRequest {rule}").into());
    }
    Ok(RouteTimeouts { response: backend.or(request).unwrap_or_default(), idle_stream: Sourced::default() })
}
