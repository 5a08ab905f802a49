//! Builds the statuses that Contour writes. Does not decide when they are written.

pub use chancery_kubernetes::status::{condition, list, number, object, text};

use super::cluster::Name;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::StatusOf;
use chancery_base::diagnostic::Pending;
use chancery_base::resource::Origin;
use chancery_text::{Node, Str};

/// Statuses by kind, namespace and name.
#[derive(Clone, Debug, Default)]
pub struct Statuses {
    by_object: BTreeMap<(Str, Str, Str), Node>,
    /// The statuses of HTTPProxies, sorted by name.
    proxies: Vec<StatusOf>,
}

impl Statuses {
    /// Sets a status and replaces an earlier one.
    pub fn set(&mut self, kind: &str, namespace: &str, name: &str, status: Node) {
        self.by_object.insert((Str::new(kind), Str::new(namespace), Str::new(name)), status);
    }

    /// A status to change.
    pub fn get_mut(&mut self, kind: &str, namespace: &str, name: &str) -> Option<&mut Node> {
        self.by_object.get_mut(&(Str::new(kind), Str::new(namespace), Str::new(name)))
    }

    /// Puts in the statuses of all HTTPProxies, in the order of their names.
    pub fn set_proxies(&mut self, statuses: Vec<StatusOf>) {
        self.proxies = statuses;
    }

    /// All of them.
    pub fn list(self) -> Vec<StatusOf> {
        let mut proxies = self.proxies.into_iter();
        let mut all = Vec::with_capacity(proxies.len() + self.by_object.len());
        for ((kind, namespace, name), status) in self.by_object {
            if kind > HTTP_PROXY {
                all.extend(proxies.by_ref());
            }
            all.push(StatusOf { kind, namespace, name, status: Arc::new(status) });
        }
        all.extend(proxies);
        all
    }
}

/// The kind whose statuses are set all at once.
pub const HTTP_PROXY: Str = Str::new_static("HTTPProxy");

/// A condition of HTTPProxy and ExtensionService, with detailed errors (Contour `apis/projectcontour/v1/helpers.go`).
#[derive(Clone, Debug, Default)]
pub struct DetailedCondition {
    /// Errors in the order of discovery.
    pub errors: Pending<SubCondition>,
    /// Warnings about ignored parts.
    pub warnings: Vec<SubCondition>,
}

/// One thing that is wrong.
#[derive(Clone, Debug)]
pub struct SubCondition {
    /// `RouteError`, `TLSError`...
    pub kind: &'static str,
    /// One word for it.
    pub reason: &'static str,
    /// A sentence.
    pub message: String,
    /// The place of the error in the input.
    pub origin: Origin,
    /// The cause, such as the winning rule of a conflict.
    pub because: Option<Origin>,
}

/// The longest message that Contour writes, in bytes.
const LONGEST: usize = 32760;

impl SubCondition {
    /// One thing that is wrong.
    pub fn new(kind: &'static str, reason: &'static str, mut message: String, origin: Origin) -> Self {
        if message.len() > LONGEST {
            let end = (0..=LONGEST).rev().find(|at| message.is_char_boundary(*at)).unwrap_or_default();
            message.truncate(end);
        }
        Self { kind, reason, message, origin, because: None }
    }

    fn node(&self) -> Node {
        object(alloc::vec![("message", text(&self.message)), ("reason", text(self.reason)), ("status", text("True")), ("type", text(self.kind))])
    }
}

impl DetailedCondition {
    /// Whether nothing is wrong.
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }

    /// The condition `Valid`; `message` is its text without errors.
    fn node(&self, message: &str) -> Node {
        let mut fields =
            if self.is_valid() { condition("Valid", "True", "Valid", message) } else { condition("Valid", "False", "ErrorPresent", ERRORS) };
        for (name, conditions) in [("errors", &*self.errors), ("warnings", &self.warnings)] {
            if !conditions.is_empty() {
                fields.push((name, list(conditions.iter().map(SubCondition::node).collect())));
            }
        }
        object(fields)
    }

    /// The status of an ExtensionService.
    pub fn extension_status(&self) -> Node {
        object(alloc::vec![("conditions", list(alloc::vec![self.node("Valid ExtensionService")]))])
    }

    /// Whether there are no errors and warnings.
    pub fn is_silent(&self) -> bool {
        self.errors.is_empty() && self.warnings.is_empty()
    }

    /// The status of an HTTPProxy with this load balancer.
    pub fn proxy_status(&self, balancer: &Node) -> Node {
        let orphan = self.errors.iter().find(|error| error.kind == "Orphaned");
        let (current, description) = match (self.is_valid(), orphan) {
            (true, _) => ("valid", VALID_PROXY),
            (false, Some(orphan)) => ("orphaned", orphan.message.as_str()),
            (false, None) => ("invalid", ERRORS),
        };
        object(alloc::vec![
            ("conditions", list(alloc::vec![self.node(VALID_PROXY)])),
            ("currentStatus", text(current)),
            ("description", text(description)),
            ("loadBalancer", balancer.clone()),
        ])
    }
}

const VALID_PROXY: &str = "Valid HTTPProxy";
const ERRORS: &str = "At least one error present, see Errors for details";

/// Conditions of HTTPProxies, collected along delegation: errors stay. HTTPProxies without an entry are valid.
#[derive(Clone, Debug, Default)]
pub struct ProxyConditions {
    found: BTreeMap<Name, DetailedCondition>,
}

impl ProxyConditions {
    /// Adds the result of one visit (Contour `internal/status/cache.go`, `ProxyAccessor`).
    pub fn commit(&mut self, proxy: &Name, condition: DetailedCondition) {
        match self.found.get(proxy) {
            Some(earlier) if !earlier.is_valid() && condition.is_valid() => {}
            Some(_) if condition.is_silent() => {
                self.found.remove(proxy);
            }
            None if condition.is_silent() => {}
            _ => {
                self.found.insert(proxy.clone(), condition);
            }
        }
    }

    /// The condition of an HTTPProxy.
    pub fn get(&self, proxy: &Name) -> Option<&DetailedCondition> {
        self.found.get(proxy)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &DetailedCondition)> {
        self.found.iter()
    }
}
