//! Holds changes of requests and responses: headers, redirects, rewrites and credentials.

use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

/// A header that is set or added.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AddHeader {
    pub(crate) name: Sourced<Str>,
    pub(crate) values: Vec<Sourced<Str>>,
    /// Added to values that are there, instead of replacing them.
    pub(crate) append: bool,
    pub(crate) if_absent: bool,
}

/// A redirect. `Tree::NULL` keeps that part of the request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Redirect {
    pub(crate) scheme: Tree,
    pub(crate) hostname: Tree,
    pub(crate) path: PathModifier,
    pub(crate) port: Tree,
    pub(crate) status: Tree,
    pub(crate) origin: Option<Origin>,
}

/// A new path. At most one of the fields is set.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PathModifier {
    pub(crate) full: Tree,
    pub(crate) prefix: Tree,
    /// Pattern and substitution.
    pub(crate) regex: Option<(Tree, Tree)>,
}

/// A new host. At most one of the fields is set.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HostModifier {
    pub(crate) name: Tree,
    /// The header whose value becomes the host.
    pub(crate) header: Tree,
    /// The host of the chosen backend.
    pub(crate) backend: Tree,
    /// Pattern and substitution, by the path.
    pub(crate) path_regex: Option<(Tree, Tree)>,
}

/// New path and host.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UrlRewrite {
    pub(crate) path: PathModifier,
    pub(crate) host: HostModifier,
    pub(crate) append_x_forwarded_host: Tree,
    pub(crate) origin: Option<Origin>,
}

/// A credential that Envoy puts into requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CredentialInjection {
    pub(crate) name: Str,
    pub(crate) header: Tree,
    pub(crate) overwrite: Tree,
    /// `secret:NS/NAME/credential`
    pub(crate) credential: Tree,
    pub(crate) origin: Option<Origin>,
}
