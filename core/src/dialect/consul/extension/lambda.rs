//! `builtin/aws/lambda`: a service that is a Lambda function.
//!
//! What must not be here: the filters that it adds (`xds::extensions`).

use super::argument::argument;
use crate::dialect::consul::go::Errors;
use crate::dialect::consul::validate::rule::Verdict;
use crate::ir::Tree;

pub(super) fn validate(arguments: &Tree) -> Verdict {
    let mut errors = Errors::default();
    if argument(arguments, "ARN").text().is_empty() {
        errors.add("ARN is required");
    }
    errors.result()
}
