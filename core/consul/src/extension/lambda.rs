//! Validates `builtin/aws/lambda`: a service that is a Lambda function. Does not add filters; see `xds::extensions`.

use super::argument::argument;
use crate::go::Errors;
use crate::validate::rule::Verdict;
use alloc::format;
use chancery_base::ir::{Plain, Tree};

pub(super) fn validate(arguments: &Tree) -> Verdict {
    let mut errors = Errors::default();
    let wrong = [("ARN", "string"), ("InvocationMode", "string"), ("PayloadPassthrough", "bool")].into_iter().find(|(name, kind)| {
        let is_text = *kind == "string";
        !matches!((is_text, &argument(arguments, name).value), (_, Plain::Null) | (true, Plain::String(_)) | (false, Plain::Bool(_)))
    });
    if let Some((name, kind)) = wrong {
        return Err(format!("error decoding extension arguments: '{name}' expected type '{kind}'").into());
    }
    if argument(arguments, "ARN").text().is_empty() {
        errors.add("ARN is required");
    }
    errors.result()
}
