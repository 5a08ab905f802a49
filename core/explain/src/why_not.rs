//! Explains why requests do not reach a rule: the nearest request that it matches, or the rule that wins, and changes that would help.
//!
//! Each request is simulated, not guessed. Does not verify the changes; the caller applies one and compiles again.

use super::app_gateway::describe_app_gateway_ending;
use super::finding::{EditView, FixView};
use super::route::{RouteReport, TracedGateway};
use super::{
    Finding, NginxReport, OriginView, Positions, ResourceRef, RouteRow, Span, app_gateway_routes, app_gateway_sample_request, findings, ledger_of,
    nginx_routes, nginx_sample_request, route_app_gateway, route_nginx, routes, sample_request,
};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::{AppGatewayRef, Compilation, GatewayRef, NginxRef, PrecedenceChange, SideRef};
use chancery_base::resource::{Object, ObjectId};
use chancery_envoy::config::{ByPointer, EnvoyConfig};
use chancery_envoy::emit::Emitted;
use chancery_envoy::simulate::{Outcome, WrittenRequest};
use chancery_text::{Str, TextRange};

/// Why requests may not reach a resource.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct WhyNot {
    pub of: String,
    /// What happened to the resource, and what is wrong with it, one sentence each.
    pub summary: Vec<String>,
    /// Its rules, each with a request.
    pub cases: Vec<Case>,
    /// Changes of the text that may help, the most likely first.
    pub fixes: Vec<FixView>,
}

/// A rule, and a request for it.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Case {
    /// How it is matched, as `prefix /cart/ of shop.example.com`.
    pub rule: String,
    /// Its place in the bootstrap.
    pub pointer: String,
    pub gateway: String,
    /// The nearest request that it matches; if none was found, the nearest that it might match.
    pub request: Option<WrittenRequest>,
    /// Whether it matches that request.
    pub reached: bool,
    /// Explanations, one sentence each.
    pub summary: Vec<String>,
    /// The resource whose rule matches the request instead.
    pub winner: Option<ResourceRef>,
    /// The place of the winner.
    pub span: Option<Span>,
}

/// At most this many rules of one resource are tried.
const MOST: usize = 12;

/// Explains why requests do not reach an object.
#[must_use]
pub fn why_not(compilation: &Compilation, side: SideRef<'_>, positions: &Positions<'_>, id: ObjectId) -> WhyNot {
    let Some(object) = side.objects().get(id) else { return WhyNot::default() };
    let of = ResourceRef::from(&object.key);
    let mut out = WhyNot { of: of.to_string(), ..WhyNot::default() };
    for gateway in side.gateways() {
        if out.cases.len() < MOST {
            cases(gateway, positions, &of, &mut out.cases);
        }
    }
    for gateway in side.app_gateways() {
        app_gateway_cases(gateway, positions, &of, &mut out.cases);
    }
    for of_nginx in side.nginxes() {
        nginx_cases(of_nginx, positions, &of, &mut out.cases);
    }
    let found: Vec<Finding> = findings(compilation, positions).into_iter().filter(|finding| is_about(finding, &of)).collect();
    if let Some(row) = ledger_of(side, positions).into_iter().find(|row| row.object == id) {
        let by = row.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
        if matches!(row.state, "ignored" | "shadowed" | "invalid") {
            out.summary.push(format!("It is {}{by}.", row.state));
        }
        out.summary.extend(row.detail.map(|detail| sentence(&detail)));
    }
    for finding in found.iter().filter(|finding| finding.severity != "notice") {
        let message = sentence(&finding.message);
        if !out.summary.contains(&message) {
            out.summary.push(message);
        }
    }
    out.fixes.extend(precedence_fix(side, positions, object, &mut out.cases));
    out.fixes.extend(found.into_iter().filter_map(|finding| finding.fix));
    out
}

/// Whether a finding is about a resource.
fn is_about(finding: &Finding, of: &ResourceRef) -> bool {
    finding.object.as_ref().or(finding.resource.as_ref()) == Some(of)
}

/// Turns a message into a sentence.
fn sentence(of: &str) -> String {
    let of = of.trim();
    let mut letters = of.chars();
    let first: String = letters.next().map(|letter| letter.to_uppercase().collect()).unwrap_or_default();
    let end = if of.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// Returns the rules that a resource makes in a gateway, each with a request.
fn cases(gateway: GatewayRef<'_>, positions: &Positions<'_>, of: &ResourceRef, out: &mut Vec<Case>) {
    let rows: Vec<RouteRow> = routes(gateway).collect();
    let own: Vec<&RouteRow> = rows.iter().filter(|row| row.action != "tcp" && row.made_by.contains(of)).collect();
    if own.is_empty() {
        return;
    }
    let (config, emitted) = (EnvoyConfig::of(gateway.ir), &mut Emitted::default());
    let map = chancery_envoy::emit::output_map(gateway.ir, &chancery_envoy::Options::default(), emitted);
    let ground = TracedGateway { side: gateway.of(), positions, config: &config, map: &map };
    let parts = ByPointer::of(&config);
    for row in own {
        let rule = name_of(row);
        let known = out.iter().position(|case| case.rule == rule);
        if known.is_some_and(|at| out.get(at).is_some_and(|case| case.reached)) || (known.is_none() && out.len() >= MOST) {
            continue;
        }
        let case = case(&ground, &rows, row, &parts, gateway.id.as_str());
        match known.and_then(|at| out.get_mut(at)) {
            // The same rule at another port or for the other scheme: one reached rule is enough.
            Some(known) if case.reached => *known = case,
            Some(_) => {}
            None => out.push(case),
        }
    }
}

/// Returns the rules that a resource makes in an Application Gateway, each with a request.
fn app_gateway_cases(of: AppGatewayRef<'_>, positions: &Positions<'_>, resource: &ResourceRef, out: &mut Vec<Case>) {
    let rows = app_gateway_routes(of);
    for row in rows.iter().filter(|row| row.made_by.contains(resource)).take(MOST) {
        let mut case = Case { rule: name_of(row), pointer: row.pointer.clone(), gateway: of.named.id.to_string(), ..Case::default() };
        let Some(written) = app_gateway_sample_request(&rows, Some(&row.pointer)) else { continue };
        let Ok(request) = written.read() else { continue };
        let journey = route_app_gateway(of, positions, &request).journey;
        let pattern = |path: &str| path.strip_prefix("path ").map(ToString::to_string);
        let taken = journey.taken.as_ref().map(|taken| (taken.listener.clone(), taken.path_rule.as_ref().map(|(_, pattern)| pattern.to_string())));
        let is_taken = |row: &RouteRow| taken == Some((row.listener.clone(), pattern(&row.path)));
        case.reached = is_taken(row);
        case.request = Some(written);
        match rows.iter().find(|row| is_taken(row)) {
            _ if case.reached => case.summary.push("It matches this request.".into()),
            Some(winner) => {
                let whose = winner.made_by.first().map_or_else(|| "a rule of the controller itself".into(), ToString::to_string);
                case.summary.push(format!("{whose} matches it first: `{}`.", name_of(winner)));
                case.winner = winner.made_by.first().cloned();
            }
            None => case.summary.push(format!("No rule matches it: the request {}.", describe_app_gateway_ending(&journey))),
        }
        if !out.iter().any(|known| known.rule == case.rule) {
            out.push(case);
        }
    }
}

/// Returns the rules that a resource makes in an nginx, each with a request.
fn nginx_cases(of: NginxRef<'_>, positions: &Positions<'_>, resource: &ResourceRef, out: &mut Vec<Case>) {
    let rows = nginx_routes(of);
    for row in rows.iter().filter(|row| row.made_by.contains(resource)).take(MOST) {
        let mut case = Case { rule: name_of(row), pointer: row.pointer.clone(), gateway: of.named.id.to_string(), ..Case::default() };
        let written = nginx_sample_request(&rows, Some(&row.pointer));
        match written.as_ref().and_then(|written| written.read().ok()) {
            Some(request) => {
                nginx_case(&mut case, row, &rows, &route_nginx(of, positions, &request));
                case.request = written;
            }
            None => case.summary.push("No request was tried: its regular expression is not evaluated.".into()),
        }
        if !out.iter().any(|known| known.rule == case.rule) {
            out.push(case);
        }
    }
}

/// Explains which location of nginx matched the request of a row.
fn nginx_case(case: &mut Case, row: &RouteRow, rows: &[RouteRow], report: &NginxReport) {
    let server = |row: &RouteRow| row.pointer.split("/locations/").next().unwrap_or_default().to_string();
    let is_named = |of: &ResourceRef, ingress: &str| {
        ingress.split_once('/').is_some_and(|(namespace, name)| of.name == name && of.namespace.as_deref().unwrap_or("default") == namespace)
    };
    let is_own = |ingress: &str| row.made_by.iter().any(|of| is_named(of, ingress));
    let path = |row: &RouteRow| row.path.split_once(' ').map(|(_, path)| path.to_string());
    let matched = |row: &RouteRow| report.location_path.is_some() && path(row) == report.location_path;
    case.reached = report.ingress.as_deref().is_some_and(is_own) && (report.location_path.is_none() || matched(row));
    let winner = rows.iter().find(|other| server(other) == server(row) && matched(other));
    case.summary.push(match (&report.ingress, case.reached) {
        (_, true) => "It matches this request.".into(),
        (Some(ingress), false) => match winner {
            Some(winner) => format!("The Ingress {ingress} matches it first: `{}`.", name_of(winner)),
            None => format!("The Ingress {ingress} matches it first."),
        },
        (None, false) => format!("No location of an Ingress matches it: nginx answers {}.", report.status),
    });
    if !case.reached {
        case.winner = winner.and_then(|winner| winner.made_by.first().cloned());
    }
}

/// Names a rule by its path, its host and its other conditions.
fn name_of(row: &RouteRow) -> String {
    let hosts: Vec<&str> = row.domains.iter().map(Str::as_str).filter(|domain| *domain != "*").collect();
    let of = if hosts.is_empty() { String::new() } else { format!(" of {}", hosts.join(", ")) };
    let own = row.conditions.iter().filter(|condition| !condition.starts_with("x-forwarded-proto") && !condition.starts_with(":authority"));
    let own: Vec<&str> = own.map(String::as_str).collect();
    let with = if own.is_empty() { String::new() } else { format!(" where {}", own.join(", ")) };
    format!("{}{of}{with}", row.path)
}

fn case(ground: &TracedGateway<'_>, rows: &[RouteRow], row: &RouteRow, parts: &ByPointer<'_>, gateway: &str) -> Case {
    let mut case = Case { rule: name_of(row), pointer: row.pointer.clone(), gateway: gateway.into(), ..Case::default() };
    let Some(first) = sample_request(&|| Box::new(rows.iter().cloned()), Some(&row.pointer), parts) else {
        case.summary.push("It matches no HTTP request.".into());
        return case;
    };
    let mut lost = None;
    for written in nearby(&first) {
        let Ok(request) = written.read() else { continue };
        let report = ground.route(&request);
        if route_matches(&report, row) {
            case.summary.push("It matches this request.".into());
            return Case { request: Some(written), reached: true, ..case };
        }
        lost.get_or_insert((written, report));
    }
    if let Some((written, report)) = lost {
        case.request = Some(written);
        explain_loss(&mut case, &report, row, rows);
    }
    case
}

/// Returns a request, and others that differ from it in the end of the path or in the method.
fn nearby(first: &WrittenRequest) -> Vec<WrittenRequest> {
    let slash = if first.url.ends_with('/') { "" } else { "/" };
    let plain = !first.url.contains('?');
    let ends = [format!("{slash}1"), "1".into(), format!("{slash}a/b")];
    let longer = ends.iter().filter(|_| plain).map(|end| WrittenRequest { url: format!("{}{end}", first.url), ..first.clone() });
    let methods = ["POST", "PUT", "DELETE", "PATCH"].into_iter().filter(|_| first.method == "GET");
    let methods = methods.map(|method| WrittenRequest { method: method.into(), ..first.clone() });
    core::iter::once(first.clone()).chain(longer).chain(methods).collect()
}

/// Whether a route matches the request, possibly only a share of such requests.
fn route_matches(report: &RouteReport, row: &RouteRow) -> bool {
    let is_it = |pointer: &str| pointer == row.pointer;
    let host = report.simulation.places.iter().find(|place| place.of == "virtual_host").map(|place| place.pointer.as_str());
    let by_share = report.simulation.tried.iter().any(|tried| {
        let shares = tried.failed.as_ref().is_some_and(|failed| failed.matcher == "runtime_fraction");
        shares && host.is_some_and(|host| is_it(&format!("{host}/routes/{}", tried.index)))
    });
    by_share || report.simulation.places.iter().any(|place| place.of == "route" && is_it(&place.pointer))
}

/// Explains which route matched instead, and why this one did not.
fn explain_loss(case: &mut Case, report: &RouteReport, row: &RouteRow, rows: &[RouteRow]) {
    let simulation = &report.simulation;
    let winner = simulation.places.iter().find(|place| place.of == "route").map(|place| place.pointer.clone());
    let host = row.pointer.rsplit_once("/routes/").map_or("", |(host, _)| host);
    let tried = simulation.tried.iter().find(|tried| row.pointer == format!("{host}/routes/{}", tried.index));
    if let Some(failed) = tried.and_then(|tried| tried.failed.as_ref()) {
        let seen = failed.seen.as_ref().map_or_else(|| "there is none".into(), |seen| format!("saw `{seen}`"));
        case.summary.push(match failed.reason() {
            Some(reason) => format!("Its route does not match the request: {reason}."),
            None => format!("{} wants `{}`, {seen}.", failed.matcher, failed.expected),
        });
    }
    let Some(winner) = winner else {
        case.summary.push(match simulation.outcome {
            Outcome::NoListener => "No listener accepts the connection.".into(),
            Outcome::NoFilterChain => "No filter chain of the listener matches the connection.".into(),
            Outcome::Reset => "Envoy closes the connection.".into(),
            _ => "No rule matches such a request.".into(),
        });
        return;
    };
    let origin: Option<&OriginView> =
        report.origins.iter().filter(|origin| origin.of == "route").map(|origin| &origin.origin).find(|origin| origin.resource.is_some());
    let taken = rows.iter().find(|row| row.pointer == winner);
    let rule = taken.map(name_of).unwrap_or_default();
    let whose = origin.and_then(|origin| origin.resource.as_ref()).map_or_else(|| "a rule of the controller itself".into(), ToString::to_string);
    let before = taken.is_some_and(|taken| taken.order < row.order && winner.starts_with(host));
    case.summary.push(match before {
        true => format!("{whose} matches it first: `{rule}` comes before this rule."),
        false => format!("{whose} matches it: `{rule}`."),
    });
    if row.shadowed_by.is_some() {
        case.summary.push("It matches all requests of this rule.".into());
    }
    case.winner = origin.and_then(|origin| origin.resource.clone());
    case.span = origin.and_then(|origin| origin.span.clone());
}

/// Returns the change that puts an object before the winner, if the dialect knows one, and adds why the winner comes first.
fn precedence_fix(side: SideRef<'_>, positions: &Positions<'_>, object: &Object, cases: &mut [Case]) -> Option<FixView> {
    let lost = cases.iter_mut().find(|case| !case.reached && case.winner.is_some())?;
    let winner = side.objects().iter().find(|other| lost.winner.as_ref() == Some(&ResourceRef::from(&other.key)) && other.id != object.id)?;
    let PrecedenceChange { why, field, value } = (side.dialect().hints.precedence_change)(object, winner)?;
    lost.summary.push(why);
    set(positions, object, field, &value)
}

/// Sets a field of `spec`.
fn set(positions: &Positions<'_>, object: &Object, field: &str, value: &str) -> Option<FixView> {
    let spec = object.root.get("spec")?;
    let source = object.source.source;
    let message = format!("set `{field}: {value}`");
    if let Some(node) = spec.get(field) {
        let span = positions.span(source, object.value_range(node.id)?)?;
        return Some(FixView { message, first: EditView { replacement: value.into(), span }, more: Vec::new() });
    }
    let first = spec.as_object()?.iter().next()?;
    let at = object.key_range(first.value.id)?.start;
    let whole = object.value_range(spec.id)?;
    let span = positions.span(source, TextRange::empty(at))?;
    let is_flow = whole.slice(positions.text(source)).starts_with('{');
    let end = if is_flow { ", ".into() } else { format!("\n{}", " ".repeat(span.column_utf16 as usize)) };
    Some(FixView { message, first: EditView { replacement: format!("{field}: {value}{end}"), span }, more: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::{WhyNot, why_not};
    use alloc::format;
    use alloc::string::String;
    use chancery_base::compilation::Options;
    use chancery_base::resource::Inputs;
    use chancery_compile::Compiler;

    const REST: &str = "\
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http, namespace: default}
spec: {port: 8080, protocol: HTTP, securityModel: INSECURE, hostBinding: {namespace: {from: ALL}}}
";

    fn mapping(name: &str, spec: &str) -> String {
        format!("---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: {name}, namespace: default}}\nspec:\n{spec}")
    }

    fn ask(text: &str, name: &str) -> WhyNot {
        let mut compiler = Compiler::new(crate::testing::ALL);
        let compilation = compiler.compile(&Inputs::one("input.yaml", text), &Options::default().in_dialect("ambassador"));
        let side = compilation.sides().next().expect("a side");
        let object = side.objects().iter().find(|object| object.key.name == name).expect("an object of this name").id;
        why_not(&compilation, side, &compilation.positions(), object)
    }

    fn fixed_text(text: &str, why: &WhyNot) -> String {
        let fix = why.fixes.first().expect("a fix");
        fix.apply(text).expect("a change of this text")
    }

    #[test]
    fn shadowed_mapping_names_winner_and_precedence_fix() {
        let everything = mapping("everything", "  hostname: '*'\n  prefix: /\n  service: all\n  precedence: 10\n");
        let text = format!("{REST}{everything}{}", mapping("quote", "  hostname: '*'\n  prefix: /quote/\n  service: quote\n"));
        let why = ask(&text, "quote");
        let [case] = &why.cases[..] else { panic!("{:?}", why.cases) };
        assert!(!case.reached);
        assert_eq!(case.winner.as_ref().map(|winner| winner.name.as_str()), Some("everything"));
        assert!(case.summary.iter().any(|told| told.contains("`precedence: 10`")), "{:?}", case.summary);
        let fixed_text = fixed_text(&text, &why);
        assert!(fixed_text.contains("\n  precedence: 11\n  hostname: '*'\n  prefix: /quote/"), "{fixed_text}");
        assert!(ask(&fixed_text, "quote").cases[0].reached, "the change helps");
    }

    #[test]
    fn mapping_behind_narrower_ones_has_nearest_request() {
        let own = mapping("all", "  hostname: '*'\n  prefix: /cart\n  service: all\n");
        let text =
            format!("{REST}{own}{}", mapping("one", "  hostname: '*'\n  prefix: /cart\n  prefix_exact: true\n  precedence: 1\n  service: one\n"));
        let why = ask(&text, "all");
        let request = why.cases[0].request.as_ref().map(|request| request.url.as_str());
        assert_eq!((request, why.cases[0].reached), (Some("http://example.com/cart/1"), true));
    }

    #[test]
    fn resource_without_rule_reports_its_state() {
        let text = format!("{REST}{}", mapping("broken", "  hostname: '*'\n  prefix: /a/\n"));
        let why = ask(&text, "broken");
        assert!(why.cases.is_empty() && !why.summary.is_empty(), "{why:?}");
    }
}
