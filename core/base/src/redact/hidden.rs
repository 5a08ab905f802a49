//! A place in a text that does not leave.
//!
//! What must not be here: finding it.

use super::stand_in::Form;
use chancery_text::TextRange;

/// A hidden place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hidden {
    pub(super) range: TextRange,
    pub(super) form: Form,
}
