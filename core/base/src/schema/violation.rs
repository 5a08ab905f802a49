//! Defines violations and the validator that finds them. Does not check or phrase them; see `check` and `wording`.

use super::Memo;
use crate::diagnostic::Part;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_text::NodeId;

/// The validator that checks an object.
#[derive(Clone, Copy, Debug)]
pub struct Check<'m> {
    /// Whether the object is checked on its way into the cluster: by the API server and then by the programs that convert and decode it. Otherwise
    /// only the controller's own validator checks it. They differ at a few places ([`Schema::unserved`], [`Schema::server_only`]).
    pub server: bool,
    /// Whole numbers passed through Go's untyped JSON, so the reference's messages call them "number".
    pub whole_numbers_are_numbers: bool,
    /// The reference's messages have the API server's form, `PATH: Invalid value: VALUE: SENTENCE`, instead of bare sentences.
    pub framed: bool,
    /// Compiled expressions.
    pub memo: &'m Memo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The value has another type.
    WrongType,
    /// A required field is missing.
    Missing,
    /// The type is right, but the value is not one of the allowed ones.
    NotAllowed,
    /// The value is too small, large, short or long, or has too few or too many parts.
    OutOfRange,
    /// The value has the wrong form.
    Malformed,
    /// The value is repeated.
    Repeated,
    /// A rule is violated.
    Broken,
}

/// A violation at one place.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The node; for a missing field, the object that lacks it.
    pub node: NodeId,
    /// Which part of the node to underline.
    pub part: Part,
    /// The path, such as `spec.timeout_ms`.
    pub path: String,
    pub fault: Fault,
    /// Our message in one sentence.
    pub message: String,
    /// Advice.
    pub help: Option<String>,
    /// The correct text of the value, if it is certain.
    pub replacement: Option<String>,
    /// The reference's messages, one or more sentences.
    pub reference: Vec<String>,
    /// Another program than the main validator reports this: a converter or decoder after the API server, or the API server in place of the
    /// controller's validator. It is reported only if there is no other violation.
    pub later: bool,
    /// The API server does not check rules ([`Schema::rules`]) after this violation.
    pub blocking: bool,
}

impl<'m> Check<'m> {
    /// The controller's own validator.
    pub const fn controller(memo: &'m Memo) -> Self {
        Self { server: false, whole_numbers_are_numbers: true, framed: false, memo }
    }

    /// The API server and everything behind it.
    pub const fn server(memo: &'m Memo) -> Self {
        Self { server: true, whole_numbers_are_numbers: true, framed: false, memo }
    }

    /// The API server alone, as the user who applies the object sees it.
    pub const fn api_server(memo: &'m Memo) -> Self {
        Self { server: true, whole_numbers_are_numbers: false, framed: true, memo }
    }
}

impl Fault {
    /// Whether the violation concerns the value's type.
    pub fn is_type(self) -> bool {
        self == Fault::WrongType
    }
}
