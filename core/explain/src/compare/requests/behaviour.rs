//! Compares what happens to one request on both sides.
//!
//! Headers and policies are compared as routes configure them, not as they affect the witness: a removed header differs even if the witness does
//! not have it.
//!
//! Does not compare settings that apply to more than one route; see `frames`.

use super::difference::{End, FieldDifference, Scene, end, pointer};
use super::protection::ChangedChecks;
use super::report::describe_result;
use super::residue::residue;
use super::work::Work;
use super::{frames, reach};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_envoy::emit::pb;
use chancery_envoy::simulate::{HeaderAction, Simulation, header_action, path_words};
use pb::base::HeaderValueOption;
use pb::route::{Route, route::Action};

/// Returns the differences for a request.
pub(super) fn compare<'a>(work: &mut Work<'_, 'a>, scene: &Scene<'a>, simulations: &[Simulation; 2]) -> Vec<FieldDifference> {
    let [old, new] = simulations;
    let ends = [end(old), end(new)];
    let written = [scene.route(0, old), scene.route(1, new)];
    let checks = ChangedChecks::of(simulations);
    let mut out: Vec<FieldDifference> = checks.iter().map(|checks| checks.difference(written.each_ref().map(Option::as_ref))).collect();
    if ends[0] != ends[1] || ends[0] == End::Answered && old.status != new.status {
        let (before, after) = (work.reached_in_words(0, old), work.reached_in_words(1, new));
        let of = |simulation: &Simulation| format!("{} {}", simulation.outcome.name(), simulation.status.unwrap_or_default());
        out.push(FieldDifference {
            what: "outcome".to_owned(),
            before: Some(describe_result(old, &before)),
            after: Some(describe_result(new, &after)),
            // A virtual host that only one side has is reported as a whole; other differences by the route that was written.
            alike: Some(match scene.hosts.each_ref() {
                [Some((host, _)), None] | [None, Some((host, _))] => format!("host {} {}", scene.hosts[0].is_some(), host.name),
                _ => format!("{} {} {}", of(old), of(new), work.written_for(simulations).unwrap_or_default()),
            }),
            pointers: [pointer(old), pointer(new)],
        });
        return out;
    }
    if matches!(ends[0], End::NoListener | End::NoChain | End::Reset) {
        return out;
    }
    let routes = written.clone().map(|route| route.map(|(route, pointer)| (frames::with_headers_of_only_share(route), pointer)));
    let routes = routes.each_ref().map(|route| route.as_ref().map(|(route, pointer)| (&**route, pointer.clone())));
    let at = |side: usize, field: &str| match routes.get(side) {
        Some(Some((_, pointer))) => Some(format!("{pointer}{field}")),
        _ => simulations.get(side).and_then(pointer),
    };
    let mut say = |what: &str, fields: [&str; 2], before: Option<String>, after: Option<String>, alike: Option<String>| {
        if before != after {
            out.push(FieldDifference { what: what.to_owned(), before, after, alike, pointers: [at(0, fields[0]), at(1, fields[1])] });
        }
    };
    let rewrites = [routes[0].as_ref().map(|(route, _)| rewriting(route)), routes[1].as_ref().map(|(route, _)| rewriting(route))];
    let by_rewrite = Some(format!("{rewrites:?}"));
    let status = |of: &Simulation| of.status.map(|status| status.to_string());
    say("status", ["/redirect"; 2], status(old), status(new), None);
    say("location", ["/redirect"; 2], old.location.clone(), new.location.clone(), by_rewrite.clone());
    say("body", ["/direct_response/body"; 2], old.body.clone(), new.body.clone(), None);
    if ends[0] == End::Forwarded {
        let specifiers = [specifier(written[0].as_ref()), specifier(written[1].as_ref())];
        if work.reached_by(0, old) != work.reached_by(1, new) {
            say("clusters", specifiers, Some(work.reached_in_words(0, old)), Some(work.reached_in_words(1, new)), None);
        }
        say("timeout", ["/route/timeout"; 2], old.timeout.clone(), new.timeout.clone(), None);
        let hosts = [old, new].map(|of| of.upstream.as_ref().map(|upstream| upstream.authority.clone()));
        let as_sent = [old, new].map(|of| {
            let sent = of.seen.as_ref().map(|seen| seen.authority.as_str());
            let upstream = of.upstream.as_ref().map(|upstream| upstream.authority.as_str()).filter(|host| Some(*host) != sent);
            upstream.unwrap_or("as sent").to_owned()
        });
        let [before, after] = hosts;
        say("upstream host", ["/route/host_rewrite_literal"; 2], before, after, Some(as_sent.join(" ")));
        let [before, after] = [old, new].map(|of| of.upstream.as_ref().map(|upstream| upstream.path.clone()));
        say("upstream path", ["/route/prefix_rewrite"; 2], before, after, by_rewrite);
    }
    if let [Some((before, _)), Some((after, _))] = &routes {
        let lists = [
            ("request header", "/request_headers_to_add", [&before.request_headers_to_add, &after.request_headers_to_add]),
            ("response header", "/response_headers_to_add", [&before.response_headers_to_add, &after.response_headers_to_add]),
        ];
        for (what, field, [old, new]) in lists {
            for (name, before, after) in headers(old, new) {
                say(&format!("{what} {name}"), [field; 2], before, after, None);
            }
        }
        let lists = [
            ("removed request headers", "/request_headers_to_remove", [&before.request_headers_to_remove, &after.request_headers_to_remove]),
            ("removed response headers", "/response_headers_to_remove", [&before.response_headers_to_remove, &after.response_headers_to_remove]),
        ];
        for (what, field, [old, new]) in lists {
            let [old, new] = [old, new].map(|all| names(all).unwrap_or_else(|| "none".to_owned()));
            say(what, [field; 2], Some(old), Some(new), None);
        }
    }
    if work.options.routes_only {
        policies(simulations, &mut say);
    } else {
        compare_remaining_fields(work, simulations, &routes, checks.as_ref(), &mut out);
    }
    out
}

/// Returns the name of the field that selects the target.
fn specifier(route: Option<&(&Route, String)>) -> &'static str {
    use pb::route::route_action::ClusterSpecifier;
    match route.map(|(route, _)| &route.action) {
        Some(Some(Action::Route(action))) => match action.cluster_specifier {
            Some(ClusterSpecifier::WeightedClusters(_)) => "/route/weighted_clusters",
            _ => "/route/cluster",
        },
        _ => "",
    }
}

/// Describes how a route rewrites paths, in a form that all its requests share.
fn rewriting(route: &Route) -> String {
    let matched = route.r#match.as_ref().map(path_words).unwrap_or_default();
    let how = match &route.action {
        Some(Action::Route(action)) => {
            let regex = action.regex_rewrite.as_ref().map(|of| (of.pattern.as_ref().map(|of| of.regex.as_str()), of.substitution.as_str()));
            format!("{} {regex:?}", action.prefix_rewrite)
        }
        Some(Action::Redirect(redirect)) => format!("{redirect:?}"),
        _ => String::new(),
    };
    format!("{matched} {how}")
}

fn names(of: &[String]) -> Option<String> {
    let mut all: Vec<String> = of.iter().map(|name| name.to_ascii_lowercase()).collect();
    all.sort();
    all.dedup();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Returns headers that differ, with their old and new operations.
fn headers(old: &[HeaderValueOption], new: &[HeaderValueOption]) -> Vec<(String, Option<String>, Option<String>)> {
    let words = |all: &[HeaderValueOption], name: &str| {
        let all = all.iter().filter(|of| of.header.as_ref().is_some_and(|header| header.key.eq_ignore_ascii_case(name)));
        let all = all.map(|of| {
            let value = of.header.as_ref().map(|header| match header.value.is_empty() {
                true => String::from_utf8_lossy(&header.raw_value).into_owned(),
                false => header.value.clone(),
            });
            let how = match header_action(of) {
                HeaderAction::AppendIfExistsOrAdd => "",
                HeaderAction::AddIfAbsent => " (if absent)",
                HeaderAction::OverwriteIfExistsOrAdd => " (overwrites)",
                HeaderAction::OverwriteIfExists => " (overwrites if present)",
            };
            format!("{}{how}", value.unwrap_or_default())
        });
        let all: Vec<String> = all.collect();
        (!all.is_empty()).then(|| all.join(", "))
    };
    let mut all: Vec<String> = old.iter().chain(new).filter_map(|of| of.header.as_ref()).map(|header| header.key.to_ascii_lowercase()).collect();
    all.sort();
    all.dedup();
    all.into_iter().map(|name| (words(old, &name), words(new, &name), name)).map(|(before, after, name)| (name, before, after)).collect()
}

/// Compares the policies of routes.
fn policies(simulations: &[Simulation; 2], say: &mut impl FnMut(&str, [&str; 2], Option<String>, Option<String>, Option<String>)) {
    let [old, new] = simulations;
    for (name, field) in [("retry_policy", "/route/retry_policy"), ("hash_policy", "/route/hash_policy"), ("cors", "/typed_per_filter_config")] {
        let words = |of: &Simulation| {
            let all: Vec<&str> = of.settings.iter().filter(|setting| setting.name == name).map(|setting| setting.value.as_str()).collect();
            (!all.is_empty()).then(|| all.join(", "))
        };
        say(name, [field; 2], words(old), words(new), None);
    }
    let tls = |of: &Simulation| of.upstream_clusters.iter().any(|cluster| cluster.tls.is_some()).then(|| "TLS".to_owned());
    say("connection to the upstream", ["/route/cluster"; 2], tls(old).or(Some("plain text".into())), tls(new).or(Some("plain text".into())), None);
}

/// Compares all other fields of the routes, and of the clusters that they reach.
fn compare_remaining_fields(
    work: &mut Work<'_, '_>,
    simulations: &[Simulation; 2],
    routes: &[Option<(&Route, String)>; 2],
    checks: Option<&ChangedChecks>,
    out: &mut Vec<FieldDifference>,
) {
    if let [Some((before, old)), Some((after, new))] = routes {
        let same = |a: &str, b: &str| work.same_cluster(a, b);
        let [before, after] = [before, after].map(|route| {
            let mut bare = frames::route(route);
            checks.iter().for_each(|checks| checks.strip(&mut bare));
            bare
        });
        for of in residue(&before, &after, &[], &same) {
            let pointers = [Some(format!("{old}{}", of.pointers[0])), Some(format!("{new}{}", of.pointers[1]))];
            out.push(FieldDifference { what: of.path, before: of.before, after: of.after, alike: None, pointers });
        }
    }
    let [mut before, mut after] = [0, 1].map(|side| {
        let names: Vec<String> = simulations.get(side).iter().flat_map(|of| &of.clusters).map(|of| of.name.clone()).collect();
        names.into_iter().map(|name| (work.reach(side, &name), name)).collect::<Vec<_>>()
    });
    before.sort();
    after.sort();
    let [old, new] = work.gateways;
    for ((reached, first), (other, second)) in before.iter().zip(&after) {
        if reached != other {
            continue;
        }
        for (of, pointers) in reach::settings([old, new], [first, second]) {
            let met = FieldDifference { what: of.path, before: of.before, after: of.after, alike: None, pointers: pointers.map(Some) };
            if !out.contains(&met) {
                out.push(met);
            }
        }
    }
}
