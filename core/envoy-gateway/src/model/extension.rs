//! Holds what an EnvoyExtensionPolicy adds to routes.

use super::{Destination, Traffic};
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Origin;
use chancery_text::Str;

/// Features of an EnvoyExtensionPolicy.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Extensions {
    pub(crate) ext_procs: Vec<ExtProc>,
    pub(crate) wasms: Vec<Wasm>,
    pub(crate) luas: Vec<Lua>,
    pub(crate) dynamic_modules: Vec<DynamicModule>,
}

/// A service that processes requests and responses.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ExtProc {
    pub(crate) name: Str,
    pub(crate) destination: Destination,
    pub(crate) traffic: Option<Traffic>,
    pub(crate) authority: Tree,
    /// The item of `spec.extProc`.
    pub(crate) spec: Tree,
    pub(crate) origin: Option<Origin>,
}

/// A script.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lua {
    pub(crate) name: Str,
    pub(crate) code: Tree,
    /// `filterContext`
    pub(crate) context: Tree,
    pub(crate) origin: Option<Origin>,
}

/// Where the code of a Wasm module is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WasmCode {
    pub(crate) serving_url: Tree,
    pub(crate) sha256: Tree,
    pub(crate) original_url: Tree,
}

/// A Wasm module.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Wasm {
    pub(crate) name: Str,
    pub(crate) root_id: Tree,
    pub(crate) wasm_name: Tree,
    pub(crate) config: Tree,
    pub(crate) fail_open: Tree,
    pub(crate) code: Option<WasmCode>,
    pub(crate) host_keys: Vec<Tree>,
    pub(crate) origin: Option<Origin>,
}

/// A module that Envoy loads.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DynamicModule {
    pub(crate) name: Str,
    /// Its place on disk; `Tree::NULL` if it is found by its name.
    pub(crate) path: Tree,
    /// {url, sha256}
    pub(crate) remote: Tree,
    /// The item of `spec.dynamicModule`.
    pub(crate) spec: Tree,
    pub(crate) do_not_close: Tree,
    pub(crate) load_globally: Tree,
    /// The name of the registered module.
    pub(crate) module: Str,
    pub(crate) origin: Option<Origin>,
}
