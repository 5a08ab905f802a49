//! The input and output of resource generation.

use crate::agent::Agent;
use crate::chain::Chain;
use crate::entry::Kind;
use crate::instance::Instance;
use crate::lenient::Fault;
use crate::names::UpstreamId;
use crate::proxycfg::{Mailbox, Proxy};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Origin;
use chancery_text::Str;

/// Why a proxy gets nothing at all.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub message: String,
    /// The place of the fault, if it is a single one.
    pub origin: Option<Origin>,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>, origin: Option<Origin>) -> Self {
        Self { message: message.into(), origin }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self { message: fault.message, origin: fault.origin }
    }
}

pub(crate) type Outcome = Result<Vec<Tree>, Failure>;

/// The data of a proxy.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    /// Its registration, with central configuration.
    pub(crate) instance: &'a Instance,
    /// The replies to its watches.
    pub(crate) mail: &'a Mailbox,
    pub(crate) proxy: &'a Proxy,
    /// Whether everything is denied without an intention.
    pub(crate) default_deny: bool,
    /// The live agent, if any.
    pub(crate) agent: Option<&'a Agent>,
}

impl Context<'_> {
    pub(crate) fn mesh(&self) -> &Tree {
        self.mail.entry(Kind::Mesh, &Str::new_static("mesh"))
    }

    /// The name of its certificate.
    pub(crate) fn leaf(&self) -> String {
        match self.proxy {
            Proxy::Connect(proxy) => proxy.destination.to_string(),
            Proxy::Mesh(_) => String::from("gateway-mesh"),
            _ => self.instance.service.to_string(),
        }
    }

    pub(crate) fn chain(&self, id: &UpstreamId) -> Option<&Chain> {
        self.mail.chain(id)
    }

    pub(crate) fn logs(&self) -> &Tree {
        self.instance.proxy.get("AccessLogs")
    }
}

#[derive(Clone)]
pub(crate) struct Resources {
    pub(crate) listeners: Vec<Tree>,
    pub(crate) routes: Vec<Tree>,
    pub(crate) clusters: Vec<Tree>,
    pub(crate) endpoints: Vec<Tree>,
}
