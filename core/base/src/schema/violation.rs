//! What is wrong with a value, as data, and who checks.
//!
//! What must not be here: checking, and sentences.

use super::Memo;
use crate::diagnostic::Part;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::NodeId;

/// Who checks.
#[derive(Clone, Copy, Debug)]
pub struct Check<'m> {
    /// Whether the object is checked on its way into the cluster, by the API server and then by what converts and decodes
    /// it; otherwise by the controller's own validator alone. It matters at the few places where these two disagree
    /// ([`Schema::unserved`], [`Schema::server_only`]).
    pub server: bool,
    /// Whole numbers went through Go's untyped JSON and are called "number" in the reference's texts.
    pub whole_numbers_are_numbers: bool,
    /// The reference's texts are those of the API server's answer, `PATH: Invalid value: VALUE: SENTENCE`, instead of bare sentences.
    pub framed: bool,
    /// Expressions compiled so far.
    pub memo: &'m Memo,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is of another type.
    WrongType,
    /// A required field is not there.
    Missing,
    /// It is of the right type but not one of the allowed values.
    NotAllowed,
    /// It is too small or too large, too short or too long, has too few or too many parts.
    OutOfRange,
    /// It does not look as it must.
    Malformed,
    /// It stands there twice.
    Repeated,
    /// A rule does not hold.
    Broken,
}

/// Something wrong at one place.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The node; for a missing field, the object that lacks it.
    pub node: NodeId,
    /// Which part of the node to underline.
    pub part: Part,
    /// Where it stands, `spec.timeout_ms`.
    pub path: String,
    /// What is wrong.
    pub fault: Fault,
    /// One sentence in our words.
    pub message: String,
    /// What would help.
    pub help: Option<String>,
    /// What the text of the value should rather be, where that is certain.
    pub replacement: Option<String>,
    /// What the reference says of it, one or more sentences.
    pub reference: Vec<String>,
    /// Another one says it than who says the rest (whoever converts or decodes what the API server took, or the API server
    /// where the controller's validator sees nothing), so that it is not heard while there is something else.
    pub later: bool,
    /// The API server does not go on to rules ([`Schema::rules`]) once it found this.
    pub blocking: bool,
}

impl<'m> Check<'m> {
    /// The controller's own validator.
    pub const fn controller(memo: &'m Memo) -> Self {
        Self { server: false, whole_numbers_are_numbers: true, framed: false, memo }
    }

    /// The way into the cluster.
    pub const fn server(memo: &'m Memo) -> Self {
        Self { server: true, whole_numbers_are_numbers: true, framed: false, memo }
    }

    /// The API server itself, for whoever applies the object.
    pub const fn api_server(memo: &'m Memo) -> Self {
        Self { server: true, whole_numbers_are_numbers: false, framed: true, memo }
    }
}

impl Fault {
    /// Whether it is about the value's type.
    pub fn is_type(self) -> bool {
        self == Fault::WrongType
    }
}
