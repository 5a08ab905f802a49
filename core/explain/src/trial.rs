//! Tries a request in all gateways of an input, whatever they are, and finds a request for an object. Does not simulate; see `route`,
//! `app_gateway` and `nginx`.

use super::{
    OriginOf, Positions, app_gateway_ending, describe_app_gateway_ending, entry_gateways, route_app_gateway, route_nginx, route_through_gateways,
    why_not,
};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::Compilation;
use chancery_base::positions::Span;
use chancery_base::resource::ObjectId;
use chancery_compile::EmittedByGateway;
use chancery_envoy::simulate::{Ending, Outcome, WrittenRequest};

/// What one gateway does with a request.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Trial {
    /// The gateway, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<String>,
    /// The end of a sentence: `goes to cluster_shop as /v2/`.
    pub result: String,
    /// Whether it reaches an upstream or a redirect.
    pub good: bool,
    /// The end in the terms of request tests; `None` for nginx.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    /// The lines that decide it: each with the part that they made.
    pub lines: Vec<DecidingLine>,
    /// Uncertain parts of the result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A line that decides what happens to a request.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct DecidingLine {
    /// The part that it made: `listener`, `virtual_host`, `route`, `cluster NAME`.
    pub of: String,
    #[serde(flatten)]
    pub span: Span,
}

/// Tries a request in each gateway that may receive it first.
///
/// # Errors
///
/// Why the request is invalid.
pub fn try_request(
    compilation: &Compilation,
    positions: &Positions<'_>,
    written: &WrittenRequest,
    emitted: &mut EmittedByGateway,
) -> Result<Vec<Trial>, String> {
    let request = written.read()?;
    let mut out = Vec::new();
    for gateway in entry_gateways(compilation, &request) {
        let report = route_through_gateways(gateway, positions, &request, emitted.of(gateway));
        let ending = Ending::of(&report.simulation);
        let good = matches!(ending.outcome, Outcome::Forward | Outcome::Redirect);
        let mut result = ending.summary();
        for hop in &report.then {
            result.push_str(&format!(", then {} at {}", Ending::of(&hop.report.simulation).summary(), hop.gateway));
        }
        let notes = report.simulation.notes.iter().map(ToString::to_string).collect();
        out.push(Trial { gateway: gateway.label(), result, good, ending: Some(ending), lines: lines(&report.origins), notes });
    }
    for gateway in compilation.app_gateways() {
        let report = route_app_gateway(gateway, positions, &request);
        let ending = app_gateway_ending(&report.journey);
        let good = matches!(ending.outcome, Outcome::Forward | Outcome::Redirect);
        let result = describe_app_gateway_ending(&report.journey);
        out.push(Trial { gateway: gateway.named.label(), result, good, ending: Some(ending), lines: lines(&report.origins), notes: Vec::new() });
    }
    for gateway in compilation.nginxes() {
        let report = route_nginx(gateway, positions, &request);
        let good = report.error.is_none() && (report.upstream.is_some() || report.location.is_some()) && report.status < 400;
        let result = match (&report.error, &report.location, &report.upstream) {
            (Some(error), ..) => format!("fails: {error}"),
            (None, Some(location), _) => format!("is redirected {} to {location}", report.status),
            (None, None, Some(upstream)) => format!("goes to {upstream}"),
            (None, None, None) => format!("is answered {} by nginx itself", report.status),
        };
        out.push(Trial { gateway: gateway.named.label(), result, good, ending: None, lines: lines(&report.origins), notes: report.notes });
    }
    Ok(out)
}

/// Returns the lines of the parts that a request passes, each once. Routes that did not match are left out.
fn lines(origins: &[OriginOf]) -> Vec<DecidingLine> {
    let mut out: Vec<DecidingLine> = Vec::new();
    for origin in origins.iter().filter(|origin| !origin.of.starts_with("tried ") && !origin.of.starts_with("shadowed ")) {
        let Some(span) = &origin.origin.span else { continue };
        if !out.iter().any(|known| known.span.source == span.source && known.span.line == span.line && known.of == origin.of) {
            out.push(DecidingLine { of: origin.of.clone(), span: span.clone() });
        }
    }
    out
}

/// Returns a request that reaches a rule of an object, or else one that a rule matches, and whether it reaches the rule.
#[must_use]
pub fn sample_for_object(compilation: &Compilation, positions: &Positions<'_>, object: ObjectId) -> Option<(WrittenRequest, bool)> {
    let mut best: Option<(WrittenRequest, bool)> = None;
    for side in compilation.sides() {
        for case in why_not(compilation, side, positions, object).cases {
            let Some(request) = case.request else { continue };
            if case.reached {
                return Some((request, true));
            }
            best.get_or_insert((request, false));
        }
    }
    best
}
