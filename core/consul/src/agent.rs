//! Data that only the agent has: its datacenter and node, the trust domain, and the default policy.
//!
//! A file need not contain it: then the data of a test agent is used. A live source writes it as a separate document of kind `consul-agent`.

use super::documents::{self, What, any_case};
use super::names::TRUST_DOMAIN;
use alloc::string::String;
use chancery_base::ir::{Plain, Tree};
use chancery_base::resource::Objects;
use chancery_text::{Node, Str};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agent {
    pub datacenter: Str,
    pub node: Str,
    /// The trust domain of its cluster; empty if it is not known yet.
    pub trust_domain: Str,
    /// Whether everything is denied without an intention.
    pub default_deny: bool,
}

impl Agent {
    /// Returns the agent of an input, if a document describes one. The last of several wins.
    pub(crate) fn of(objects: &Objects) -> Option<Self> {
        let mut found = objects.iter().filter(|object| !object.broken).filter_map(|object| Self::read(&object.root));
        found.by_ref().last()
    }

    fn read(root: &Node) -> Option<Self> {
        if documents::what(root).0 != What::Agent {
            return None;
        }
        let text = |name: &str| any_case(root, name).and_then(Node::as_str).map(Str::new).unwrap_or_default();
        let default_deny = text("DefaultPolicy") == "deny";
        Some(Self { datacenter: text("Datacenter"), node: text("Node"), trust_domain: text("TrustDomain"), default_deny })
    }

    /// Replaces the test agent's trust domain by the real one.
    pub(crate) fn name_domain(&self, of: &mut Tree) {
        if !self.trust_domain.is_empty() {
            fill(of, &self.trust_domain);
        }
    }

    /// Replaces the trust domain in a string.
    pub(crate) fn named(&self, text: &str) -> Str {
        if self.trust_domain.is_empty() { Str::new(text) } else { Str::from(text.replace(TRUST_DOMAIN, &self.trust_domain)) }
    }
}

fn fill(of: &mut Tree, domain: &str) {
    match &mut of.value {
        Plain::String(text) if text.contains(TRUST_DOMAIN) => *text = Str::from(String::from(text.as_str()).replace(TRUST_DOMAIN, domain)),
        Plain::Object(fields) => fields.0.iter_mut().for_each(|(_, value)| fill(value, domain)),
        Plain::List(items) => items.iter_mut().for_each(|item| fill(item, domain)),
        _ => {}
    }
}
