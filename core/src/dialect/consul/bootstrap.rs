//! What an Envoy is started with, as `consul connect envoy -bootstrap` writes it.

use super::instance::Instance;
use crate::ir::Tree;

/// The bootstrap of a proxy.
pub(crate) fn bootstrap(_instance: &Instance) -> Tree {
    Tree::NULL
}
