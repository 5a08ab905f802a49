//! `chancery convert`: objects of one configuration language as objects of another.
//!
//! What must not be here: what becomes of what; that is `chancery_core::convert`.

use crate::args::{Conversion, ConvertArgs, Deployment};
use crate::output::print;
use crate::style::{complain, plain};
use crate::{Outcome, input};
use chancery_core::convert::{Note, http_proxy_to_gateway, mapping_to_http_proxy};
use chancery_core::diagnostic::Place;
use chancery_core::dialect::Dialect;
use chancery_core::explain::Positions;

/// Runs it: the objects to standard output, what could not be carried over to standard error.
pub fn run(args: &ConvertArgs, deployment: &Deployment) -> Outcome {
    let from = match args.what {
        Conversion::MappingToHttpproxy => Dialect::Ambassador,
        Conversion::HttpproxyToGateway => Dialect::Contour,
    };
    let mut given = input::given(&args.inputs.inputs, deployment)?;
    given.options.dialect = Some(from);
    let (_, compilation) = given.compile();
    let converted = match args.what {
        Conversion::MappingToHttpproxy => mapping_to_http_proxy(&compilation.config),
        Conversion::HttpproxyToGateway => http_proxy_to_gateway(&compilation.objects),
    };
    if converted.objects.is_empty() {
        return Err(format!("there is nothing of {} to convert in this input", from.controller()).into());
    }
    print(&converted.yaml())?;
    let positions = Positions::new(&compilation.inputs, &compilation.objects);
    for note in &converted.notes {
        complain(&told(note, &positions));
    }
    Ok(0)
}

fn told(note: &Note, positions: &Positions<'_>) -> String {
    let span = positions.place(&Place::origin(note.origin));
    let place = span.map(|span| format!("{}:{}: ", span.file, span.line)).unwrap_or_default();
    let name = match &note.resource.namespace {
        Some(namespace) => format!("{} {}.{namespace}", note.resource.kind, note.resource.name),
        None => format!("{} {}", note.resource.kind, note.resource.name),
    };
    plain(&format!("{place}{name}: {}", note.message)).into_owned()
}
