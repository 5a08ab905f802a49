//! Compares two nginxes of ingress-nginx: servers, locations, upstreams and settings of the model, and what happens to requests.
//!
//! Does not compare resources. Does not make or simulate requests; see `migration`.

use super::fields::differences;
use super::{Answer, Change, ChangeKind, Difference, RequestChange, RequestPlace, Requests, Witness};
use crate::answers::Respondents;
use crate::migration::{MOST_COMBINATIONS, MigrationRow, SideAnswer, compare_migration};
use crate::{OriginView, Positions, Viewed};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::NginxRef;
use chancery_base::executor::Executor;
use chancery_text::Node;

/// One side of a comparison.
pub struct NginxSide<'a> {
    of: NginxRef<'a>,
    positions: &'a Positions<'a>,
    viewed: Viewed,
}

impl<'a> NginxSide<'a> {
    /// Creates the side of an nginx that was compiled from an input.
    #[must_use]
    pub fn new(of: NginxRef<'a>, positions: &'a Positions<'a>) -> Self {
        Self { of, positions, viewed: Viewed::nginx(of.nginx) }
    }

    fn origins(&self, pointer: &str) -> Vec<OriginView> {
        let made = self.viewed.map.lookup(pointer);
        let origins = made.iter().flat_map(|made| made.origins.iter().copied());
        origins.map(|origin| OriginView::of(origin, self.of.named.of, self.positions)).filter(|view| view.resource.is_some()).take(4).collect()
    }

    /// Returns the parts by kind and name, each with its place.
    fn parts(&self) -> BTreeMap<(&'static str, String), (String, Node)> {
        let mut out = BTreeMap::new();
        let list = |node: &Node, key: &str| node.get(key).and_then(Node::as_array).cloned().unwrap_or_default();
        let text = |node: &Node, key: &str| node.get(key).and_then(Node::as_str).unwrap_or_default().to_owned();
        for (at, server) in list(&self.viewed.root, "servers").into_iter().enumerate() {
            let (host, pointer) = (text(&server, "hostname"), format!("/servers/{at}"));
            for (number, location) in list(&server, "locations").into_iter().enumerate() {
                let name = format!("{host}{} ({})", text(&location, "path"), text(&location, "pathType"));
                out.insert(("location", name), (format!("{pointer}/locations/{number}"), location));
            }
            out.insert(("server", host), (pointer, without(server, "locations")));
        }
        for (at, upstream) in list(&self.viewed.root, "backends").into_iter().enumerate() {
            out.insert(("upstream", text(&upstream, "name")), (format!("/backends/{at}"), upstream));
        }
        if let Some(settings) = self.viewed.root.get("globalConfig") {
            out.insert(("settings", "nginx".to_owned()), ("/globalConfig".to_owned(), settings.clone()));
        }
        out
    }
}

fn without(mut node: Node, key: &str) -> Node {
    if let chancery_text::Value::Object(fields) = &mut node.value {
        fields.remove(key);
    }
    node
}

/// Compares the parts of two nginxes.
#[must_use]
pub fn compare_nginxes(before: &NginxSide<'_>, after: &NginxSide<'_>) -> Vec<Change> {
    let (old, new) = (before.parts(), after.parts());
    let mut out = Vec::new();
    for (key, (pointer, node)) in &old {
        let change = |change| part(change, key);
        match new.get(key) {
            None => out.push(Change { before: before.origins(pointer), ..change(ChangeKind::Removed) }),
            Some((now, other)) => {
                let from = |side: &NginxSide<'_>, pointer: &str, inner: &str, has: bool| {
                    has.then(|| side.origins(&format!("{pointer}{inner}")).into_iter().next()).flatten()
                };
                let fields: Vec<_> = differences(node, other)
                    .into_iter()
                    .map(|found| {
                        let mut field = found.change();
                        field.before_from = from(before, pointer, &found.pointers[0], found.before.is_some());
                        field.after_from = from(after, now, &found.pointers[1], found.after.is_some());
                        field
                    })
                    .collect();
                if !fields.is_empty() {
                    out.push(Change { fields, before: before.origins(pointer), after: after.origins(now), ..change(ChangeKind::Changed) });
                }
            }
        }
    }
    for (key, (pointer, _)) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
        out.push(Change { after: after.origins(pointer), ..part(ChangeKind::Added, key) });
    }
    out
}

fn part(change: ChangeKind, (kind, name): &(&'static str, String)) -> Change {
    Change { change, kind: (*kind).into(), name: name.clone(), was: None, note: None, fields: Vec::new(), before: Vec::new(), after: Vec::new() }
}

/// Finds requests that two nginxes treat differently.
#[must_use]
pub fn nginx_requests(before: &NginxSide<'_>, after: &NginxSide<'_>, executor: &dyn Executor) -> Requests {
    let (old, new) = (Respondents::of_nginx(before.of, before.positions), Respondents::of_nginx(after.of, after.positions));
    let found = compare_migration(&old, &new, &[], MOST_COMBINATIONS, executor);
    let rows = || found.causes.iter().flat_map(|cause| &cause.rows);
    let changes = rows().filter_map(change_of).collect();
    let unreached = rows().filter(|row| row.requests.is_empty()).map(|row| &row.sentence);
    Requests {
        changes,
        compared: found.compared,
        complete: false,
        limits: found.not_compared.iter().chain(unreached).map(|limit| format!("Not compared: {limit}")).collect(),
    }
}

fn change_of(row: &MigrationRow) -> Option<RequestChange> {
    let first = row.requests.first()?;
    let request = first.written.read().ok()?;
    let scheme = if request.tls { "https" } else { "http" };
    let place = |words: &str| RequestPlace {
        scheme: Some(scheme.to_owned()),
        hosts: Vec::from([request.authority.clone()]),
        path: Some(words.split_once(&request.authority).map_or_else(|| request.path.clone(), |(_, path)| path.to_owned())),
        conditions: Vec::new(),
        port_before: None,
        port_after: None,
        before: None,
        after: None,
    };
    let origin = |side: &SideAnswer| side.lines.first().cloned();
    Some(RequestChange {
        requests: first.words.clone(),
        differences: Vec::from([Difference {
            what: if row.what == "answer" { "outcome".into() } else { row.what.clone() },
            before: Some(row.before.value.clone()),
            after: Some(row.after.value.clone()),
            before_from: origin(&row.before),
            after_from: origin(&row.after),
        }]),
        witness: Witness::of(&request, [None, None]),
        before: answer(&row.before),
        after: answer(&row.after),
        places: Vec::from([place(&first.words)]),
        more_places: row.more + row.requests.len().saturating_sub(1),
    })
}

fn answer(side: &SideAnswer) -> Answer {
    Answer {
        summary: format!("ends as {}", side.answer),
        outcome: side.ending.unwrap_or_default().outcome(),
        status: side.status,
        location: side.location.clone(),
        listener: None,
        virtual_host: None,
        route: None,
        clusters: Vec::new(),
        upstream_authority: None,
        upstream_path: None,
        timeout: None,
        pointer: None,
        origins: side.lines.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::{NginxSide, compare_nginxes, nginx_requests};
    use alloc::format;
    use chancery_base::compilation::{Compilation, Options, for_interactive_use};
    use chancery_base::executor::Sequential;
    use chancery_base::resource::Inputs;
    use chancery_compile::compile;

    fn compiled(annotation: &str) -> Compilation {
        let text = format!(
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: web, annotations: {{{annotation}}}}}\nspec: {{ingressClassName: nginx, rules: [{{host: a.example.com, http: {{paths: [{{path: /a, pathType: Prefix, backend: {{service: {{name: web, port: {{number: 80}}}}}}}}]}}}}]}}\n"
        );
        compile(&Inputs::one("input.yaml", text.as_str()), &for_interactive_use(Options::of(&chancery_ingress_nginx::DIALECT)), crate::testing::ALL)
    }

    #[test]
    fn changed_annotation_changes_location_and_requests() {
        let (before, after) = (compiled(""), compiled("nginx.ingress.kubernetes.io/proxy-read-timeout: '5'"));
        let (old, new) = (before.positions(), after.positions());
        let side = |of| NginxSide::new(of, &old);
        let old = side(before.nginxes().next().expect("an nginx"));
        let new = NginxSide::new(after.nginxes().next().expect("an nginx"), &new);
        let changes = compare_nginxes(&old, &new);
        assert!(changes.iter().any(|change| change.kind == "location" && change.name.starts_with("a.example.com/a")), "{changes:#?}");
        let requests = nginx_requests(&old, &new, &Sequential);
        let whats: alloc::vec::Vec<&str> = requests.changes.iter().flat_map(|change| &change.differences).map(|of| of.what.as_str()).collect();
        assert_eq!(whats, ["response timeout"]);
        assert!(nginx_requests(&old, &old, &Sequential).is_empty());
    }
}
