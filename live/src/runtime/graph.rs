//! Draws the controllers from their declarations, and finds cycles. Does not run controllers; see `manager`.

use super::controller::Controller;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Controllers, and the kinds between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Edges from a kind, through a controller, to a kind. A controller that writes nothing has no kind at its end.
    edges: BTreeSet<(&'static str, &'static str, Option<&'static str>)>,
    managed: BTreeMap<&'static str, &'static str>,
    custom: BTreeSet<&'static str>,
}

impl Graph {
    /// Draws these controllers.
    #[must_use]
    pub fn of<'a>(controllers: impl IntoIterator<Item = &'a Controller>) -> Self {
        let mut out = Self::default();
        for controller in controllers {
            out.managed.insert(controller.name, controller.managed);
            let read = controller.watches.iter().map(|watch| watch.kind).chain([controller.managed]);
            for kind in read {
                match &controller.writes[..] {
                    [] => _ = out.edges.insert((kind, controller.name, None)),
                    writes => writes.iter().for_each(|written| _ = out.edges.insert((kind, controller.name, Some(written)))),
                }
            }
            out.custom.extend(controller.watches.iter().filter(|watch| watch.custom).map(|watch| watch.kind));
        }
        out
    }

    /// Returns a cycle, if any: a controller writes a kind that leads another controller to write the first one's input.
    /// A controller that writes its own managed kind is not a cycle.
    #[must_use]
    pub fn circle(&self) -> Option<Vec<&'static str>> {
        let next = |kind: &str| {
            let own = |controller: &str, written: &str| self.managed.get(controller).is_some_and(|managed| *managed == written);
            let edges = self.edges.iter().filter(move |(from, ..)| *from == kind);
            edges.filter_map(|(_, by, to)| to.map(|to| (*by, to))).filter(|(by, to)| !(own(by, to) && *to == kind)).collect::<Vec<_>>()
        };
        let mut done: BTreeSet<&str> = BTreeSet::new();
        for (start, ..) in &self.edges {
            // A depth-first walk with its path. A kind that appears twice on the path closes a cycle.
            let mut way: Vec<(&'static str, Vec<(&'static str, &'static str)>)> = vec![(start, next(start))];
            while let Some((_, rest)) = way.last_mut() {
                let Some((_, to)) = rest.pop() else {
                    if let Some((kind, _)) = way.pop() {
                        done.insert(kind);
                    }
                    continue;
                };
                if let Some(at) = way.iter().position(|(kind, _)| *kind == to) {
                    let mut circle: Vec<&'static str> = way.iter().skip(at).map(|(kind, _)| *kind).collect();
                    circle.push(to);
                    return Some(circle);
                }
                if !done.contains(to) {
                    way.push((to, next(to)));
                }
            }
        }
        None
    }

    /// Returns a Mermaid diagram. Kinds are boxes, controllers are round, and thick lines start at managed kinds.
    #[must_use]
    pub fn mermaid(&self) -> String {
        let name = |text: &str| text.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let mut out = String::from("flowchart LR\n");
        let kinds: BTreeSet<&str> = self.edges.iter().flat_map(|(from, _, to)| [Some(*from), *to]).flatten().collect();
        for kind in kinds {
            let (open, close) = if self.custom.contains(kind) { ("{{", "}}") } else { ("[", "]") };
            let _ = writeln!(out, "    k_{}{open}\"{kind}\"{close}", name(kind));
        }
        for controller in self.managed.keys() {
            let _ = writeln!(out, "    c_{}([\"{controller}\"])", name(controller));
        }
        let mut lines = BTreeSet::new();
        for (from, by, to) in &self.edges {
            let thick = self.managed.get(by) == Some(from);
            lines.insert(format!("    k_{} {} c_{}", name(from), if thick { "==>" } else { "-->" }, name(by)));
            if let Some(to) = to {
                lines.insert(format!("    c_{} --> k_{}", name(by), name(to)));
            }
        }
        lines.iter().for_each(|line| _ = writeln!(out, "{line}"));
        out
    }
}
