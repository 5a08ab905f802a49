//! Pods, as far as the gateway's probes are derived from theirs.

use super::super::cluster::AdmittedObject;
use super::service::labels;
use alloc::vec::Vec;
use chancery_base::ir::appgw::Derived;
use chancery_base::resource::{Also, ObjectId, Origin, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_text::{Str, Value};

#[derive(Clone, Debug)]
pub struct Pod {
    pub object: ObjectId,
    pub namespace: Str,
    pub name: Str,
    pub labels: Vec<(Str, Str)>,
    pub containers: Vec<Container>,
}

#[derive(Clone, Debug)]
pub struct Container {
    /// Names and numbers.
    pub ports: Vec<(Str, Sourced<i64>)>,
    /// The effective HTTP probe: readiness before liveness.
    pub probe: Option<Probe>,
}

/// An HTTP probe.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The request.
    pub get: HttpGet,
    /// Seconds between two probes.
    pub period: Sourced<i64>,
    /// How long an answer may take.
    pub timeout: Sourced<i64>,
    /// The failure threshold.
    pub failures: Sourced<i64>,
    pub origin: Origin,
}

/// The request of a probe.
#[derive(Clone, Debug)]
pub struct HttpGet {
    /// The host; empty unless set.
    pub host: Sourced<Str>,
    pub path: Sourced<Str>,
    /// The port, if one is written; 0 for a name that the container does not have.
    pub port: Option<Derived<i64>>,
    /// `HTTP` or `HTTPS`.
    pub scheme: Sourced<Str>,
}

impl Pod {
    pub fn read(held: &AdmittedObject<'_>) -> Self {
        let root = held.root();
        Self {
            object: held.object.id,
            namespace: held.namespace().clone(),
            name: held.name().clone(),
            labels: labels(root.at("metadata.labels")),
            containers: root.at("spec.containers").items().map(container).collect(),
        }
    }

    /// Whether it has all of these labels.
    pub fn has(&self, selector: &[(Str, Str)]) -> bool {
        selector.iter().all(|wanted| self.labels.contains(wanted))
    }
}

fn container(at: Cursor<'_>) -> Container {
    let number = |at: Cursor<'_>| Sourced::new(at.int().unwrap_or_default(), at.origin());
    let port = |at: Cursor<'_>| (Str::new(at.field("name").str()), number(at.field("containerPort")));
    let ports: Vec<(Str, Sourced<i64>)> = at.field("ports").items().map(port).collect();
    let probe = ["readinessProbe", "livenessProbe"].into_iter().find_map(|name| probe(at.field(name), &ports));
    Container { ports, probe }
}

fn probe(at: Cursor<'_>, ports: &[(Str, Sourced<i64>)]) -> Option<Probe> {
    let get = at.field("httpGet").some()?;
    let text = |at: Cursor<'_>| Sourced::new(Str::new(at.str()), at.origin());
    let number = |at: Cursor<'_>| Sourced::new(at.int().unwrap_or_default(), at.origin());
    let port = get.field("port");
    let named = |name: &Str| ports.iter().find(|(known, _)| known == name).map(|(_, number)| *number);
    let plain = |number| Derived::from(Sourced::new(number, port.origin()));
    let resolved = match port.node().map(|node| &node.value) {
        Some(Value::String(name)) if name.is_empty() => None,
        Some(Value::String(name)) => {
            let number = named(name);
            Some(Derived {
                also: Also(number.and_then(|number| number.origin).into_iter().collect()),
                ..plain(number.map_or(0, |number| number.value))
            })
        }
        Some(_) => port.int().map(plain),
        None => Some(plain(0)),
    };
    Some(Probe {
        get: HttpGet { host: text(get.field("host")), path: text(get.field("path")), port: resolved, scheme: text(get.field("scheme")) },
        period: number(at.field("periodSeconds")),
        timeout: number(at.field("timeoutSeconds")),
        failures: number(at.field("failureThreshold")),
        origin: at.origin(),
    })
}
