//! Explains what an object contributes to a request, or the first condition that keeps the request from it. Does not look for other requests; see
//! `why_not`.

use super::{Positions, RouteReport, RouteRow, Span, routes};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::GatewayRef;
use chancery_base::output_map::OutputMap;
use chancery_base::resource::{ObjectId, Origin};
use chancery_envoy::simulate::Simulation;

/// What an object does for a request, or why it does nothing.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Contribution {
    /// Whether it contributes.
    pub holds: bool,
    /// The explanation, as a sentence.
    pub summary: String,
    /// The value that the object requires.
    pub expected: Option<String>,
    /// The value of the request.
    pub actual: Option<String>,
    /// The line that contributes or decides.
    pub span: Option<Span>,
}

/// The parts of Envoy's configuration around a place, from the outside.
const PARTS: [&str; 4] = ["listener", "filter_chain", "virtual_host", "route"];

/// Returns the pointers of the parts around a place: listener, filter chain, virtual host and route, as far as it is inside them.
fn parts_around(pointer: &str) -> Vec<&str> {
    let upto = |key: &str| {
        let at = pointer.find(key)? + key.len();
        let rest = pointer.get(at..)?;
        pointer.get(..at + rest.find('/').unwrap_or(rest.len()))
    };
    let last_chain = || pointer.find("/default_filter_chain").and_then(|at| pointer.get(..at + "/default_filter_chain".len()));
    let chain = upto("/filter_chains/").or_else(last_chain);
    let all = [upto("/listeners/"), chain, upto("/virtual_hosts/"), upto("/routes/").filter(|_| pointer.contains("/virtual_hosts/"))];
    all.into_iter().map_while(|part| part).collect()
}

/// Explains the contribution of an object to a request: in the first gateway on its way, and as a rule about calls in later ones. Empty if the object
/// makes nothing in the first gateway and decides no call.
#[must_use]
pub fn contributions(
    gateway: GatewayRef<'_>,
    positions: &Positions<'_>,
    map: &OutputMap,
    report: &RouteReport,
    object: ObjectId,
) -> Vec<Contribution> {
    let simulation = &report.simulation;
    let made = map.made_by(object, |_| true);
    let span = |pointer: &str| {
        let origins: Vec<Origin> = map.get(pointer).into_iter().flatten().copied().filter(|origin| origin.object() == object).collect();
        origins.into_iter().find_map(|origin| positions.origin(origin))
    };
    let mut out: Vec<Contribution> = Vec::new();
    for place in simulation.places.iter().filter(|place| PARTS.contains(&place.of.as_str()) || place.of.starts_with("cluster ")) {
        let is_inside = |pointer: &&String| pointer.strip_prefix(place.pointer.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        // A place inside another part of the way belongs to that part.
        let is_own = |pointer: &&String| {
            let around = parts_around(pointer);
            place.of.starts_with("cluster ") || around.last().is_some_and(|last| *last == place.pointer)
        };
        let inside: Vec<&String> = made.iter().filter(is_inside).filter(is_own).collect();
        let Some(first) = inside.first() else { continue };
        let has_tls = inside.iter().any(|pointer| pointer.contains("/transport_socket"));
        let summary = describe_part(&place.of, simulation, has_tls);
        out.push(Contribution { holds: true, summary, span: span(first), ..Contribution::default() });
    }
    decided_calls(report, object, &mut out);
    if out.is_empty() {
        out.extend(first_obstacle(gateway, simulation, &made).map(|(pointer, obstacle)| Contribution { span: span(&pointer), ..obstacle }));
    }
    out
}

/// Adds the calls between services on the request's way that the object decides.
fn decided_calls(report: &RouteReport, object: ObjectId, out: &mut Vec<Contribution>) {
    for hop in &report.then {
        if let Some(call) = hop.call.as_ref().filter(|call| call.object == Some(object)) {
            let summary = format!("It decides the call to `{}`: {}.", hop.gateway, call.why);
            out.push(Contribution { holds: true, summary, span: call.span.clone(), ..Contribution::default() });
        }
        decided_calls(&hop.report, object, out);
    }
}

fn describe_part(of: &str, simulation: &Simulation, has_tls: bool) -> String {
    let name = |name: &Option<String>| name.clone().unwrap_or_default();
    match of {
        "listener" => format!("It opens the listener `{}`, which receives this request.", name(&simulation.listener)),
        "filter_chain" if has_tls => "It sets TLS and the certificate of this connection.".into(),
        "filter_chain" => "It makes the filter chain that matches this connection.".into(),
        "virtual_host" => format!("It makes the virtual host `{}`, which matches the host of this request.", name(&simulation.virtual_host)),
        "route" => "It makes the route that matches this request.".into(),
        other => format!("This request goes to its cluster `{}`.", other.trim_start_matches("cluster ")),
    }
}

/// Returns the condition that keeps the request from the object's part that it comes nearest to, with the pointer of that part.
fn first_obstacle(gateway: GatewayRef<'_>, simulation: &Simulation, made: &[String]) -> Option<(String, Contribution)> {
    let taken: Vec<&str> =
        PARTS.iter().map_while(|part| simulation.places.iter().find(|place| place.of == *part)).map(|place| place.pointer.as_str()).collect();
    let agrees = |pointer: &&String| parts_around(pointer).iter().zip(&taken).take_while(|(part, taken)| part == taken).count();
    let nearest = made.iter().filter(|pointer| !parts_around(pointer).is_empty()).max_by_key(agrees);
    let Some(nearest) = nearest else {
        let cluster = made.iter().find(|pointer| pointer.contains("/clusters/"))?;
        let names: Vec<&str> = simulation.clusters.iter().map(|cluster| cluster.name.as_str()).collect();
        let actual = if names.is_empty() { None } else { Some(names.join(", ")) };
        let summary = "It makes a cluster, and the route of this request does not lead there.".into();
        return Some((cluster.clone(), Contribution { summary, actual, ..Contribution::default() }));
    };
    let around = parts_around(nearest);
    let agreed = agrees(&nearest);
    let part = around.get(agreed).or(around.last())?;
    let within = |row: &RouteRow| row.pointer.strip_prefix(*part).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let row = routes(gateway).find(within);
    let of_connection = |chain: &str| {
        let index = chain.rsplit('/').next()?.parse::<usize>().ok()?;
        simulation.connection.as_ref()?.chains.get(index)?.failed.clone()
    };
    let obstacle = match agreed {
        0 => Contribution {
            summary: "It belongs to another listener than the one that receives this request.".into(),
            expected: row.map(|row| row.address),
            actual: simulation.connection.as_ref().map(|connection| connection.address.clone()),
            ..Contribution::default()
        },
        1 => {
            let failed = of_connection(part);
            let matcher = failed.as_ref().map(|failed| format!(": `{}` differs", failed.matcher)).unwrap_or_default();
            Contribution {
                summary: format!("Its filter chain does not match this connection{matcher}."),
                expected: failed.as_ref().map(|failed| failed.expected.clone()).or_else(|| row.map(|row| row.chain)),
                actual: failed.and_then(|failed| failed.seen),
                ..Contribution::default()
            }
        }
        2 => Contribution {
            summary: "Its virtual host does not match the host of this request.".into(),
            expected: row.map(|row| row.domains.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
            actual: simulation.host.as_ref().map(|host| host.looked_for.clone()),
            ..Contribution::default()
        },
        _ => {
            let index = part.rsplit('/').next().and_then(|index| index.parse::<usize>().ok());
            let tried = simulation.tried.iter().find(|tried| Some(tried.index) == index).and_then(|tried| tried.failed.clone());
            match tried {
                Some(failed) => Contribution {
                    summary: failed.reason().unwrap_or_else(|| format!("Its route does not match this request: `{}` differs.", failed.matcher)),
                    expected: Some(failed.expected),
                    actual: failed.seen,
                    ..Contribution::default()
                },
                None => Contribution {
                    summary: "An earlier route matches this request first.".into(),
                    expected: row.map(|row| row.path),
                    actual: simulation.route.as_ref().map(|route| route.path.clone()),
                    ..Contribution::default()
                },
            }
        }
    };
    Some(((*part).into(), obstacle))
}

#[cfg(test)]
mod tests {
    use super::{Contribution, contributions};
    use crate::{route, route_through_gateways};
    use alloc::vec::Vec;
    use chancery_base::compilation::Options;
    use chancery_base::resource::Inputs;
    use chancery_compile::Compiler;
    use chancery_envoy::emit::output_map;
    use chancery_envoy::simulate::Request;

    const INPUT: &str = "\
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: web}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: shop}
spec: {hostname: shop.example.com, requestPolicy: {insecure: {action: Route}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: blog}
spec: {hostname: blog.example.com, requestPolicy: {insecure: {action: Route}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: cart}
spec: {hostname: shop.example.com, prefix: /cart/, service: cart}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: posts}
spec: {hostname: blog.example.com, prefix: /posts/, service: posts}
";

    fn of(name: &str) -> Vec<Contribution> {
        let mut compiler = Compiler::new(crate::testing::ALL);
        let compilation = compiler.compile(&Inputs::one("a.yaml", INPUT), &Options::default());
        let gateway = compilation.gateways().next().expect("a gateway");
        let positions = compilation.positions();
        let request = Request::new("GET", "http://shop.example.com/cart/7").expect("a request");
        let report = route(gateway, &positions, &request, compiler.emitted.of(gateway));
        let map = output_map(gateway.ir, &chancery_envoy::Options::default(), compiler.emitted.of(gateway));
        let id = compilation.objects.iter().find(|object| object.key.name == name).expect("an object").id;
        contributions(gateway, &positions, &map, &report, id)
    }

    #[test]
    fn object_on_the_way_says_what_it_contributes() {
        for name in ["web", "cart"] {
            let all = of(name);
            assert!(!all.is_empty() && all.iter().all(|one| one.holds), "{name}: {all:?}");
        }
        assert!(of("cart").iter().any(|one| one.summary.contains("route that matches")), "{:?}", of("cart"));
    }

    #[test]
    fn intention_names_permission_that_decides() {
        let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/examples/consul/intentions.yaml"));
        let mut compiler = Compiler::new(crate::testing::ALL);
        let compilation = compiler.compile(&Inputs::one("a.yaml", text), &Options::default());
        let gateway = compilation.gateways().find(|gateway| gateway.id.as_str().starts_with("web")).expect("the proxy of web");
        let positions = compilation.positions();
        let request = Request::new("GET", "http://localhost:9191/orders/7").expect("a request");
        let report = route_through_gateways(gateway, &positions, &request, compiler.emitted.of(gateway));
        let map = output_map(gateway.ir, &chancery_envoy::Options::default(), compiler.emitted.of(gateway));
        let id = compilation.objects.iter().find(|object| object.key.kind == "service-intentions").expect("intentions").id;
        let all = contributions(gateway, &positions, &map, &report, id);
        assert!(all.iter().any(|one| one.holds && one.summary.contains("permission 2 of intention `orders` allows it")), "{all:?}");
        assert!(all.iter().any(|one| one.span.as_ref().is_some_and(|span| span.line == 17)), "{all:?}");
    }

    #[test]
    fn object_off_path_shows_expected_and_actual_value() {
        let blog = of("posts");
        let [one] = &blog[..] else { panic!("{blog:?}") };
        assert!(!one.holds && one.expected.is_some() && one.actual.is_some(), "{one:?}");
        assert!(one.expected.as_deref().is_some_and(|expected| expected.contains("blog.example.com")), "{one:?}");
    }
}
