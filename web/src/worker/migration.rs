//! Converts Ingresses of ingress-nginx for another controller, and compares the answers of both sides. Does not convert or compare itself; see
//! `chancery_core::convert`.

use crate::protocol::{Migration, MigrationNote, NewController, SourceFile};
use crate::worker::common::span;
use chancery_core::compilation::{OptionValue, Options};
use chancery_core::compile::compile;
use chancery_core::convert::{Note, Target, ingress_nginx_to_gateway, migration_proof};
use chancery_core::diagnostic::Place;
use chancery_core::dialect::{contour, envoy_gateway, ingress_nginx};
use chancery_core::executor::Sequential;
use chancery_core::explain::Positions;
use chancery_core::explain::migration::MigrationDiff;
use chancery_core::resource::{Input, Inputs};

/// At most this many combinations of host and path are tried: more would keep the page waiting.
const MOST_COMBINATIONS: usize = 500;

/// Moves the Ingresses of an input to another controller. Objects that the input lacks are assumed to exist, as in `chancery convert`.
///
/// # Errors
///
/// The input has nothing to convert.
pub fn migration(inputs: &Inputs, options: &Options, to: NewController) -> Result<Migration<MigrationDiff>, String> {
    let (target, served_by) = match to {
        NewController::EnvoyGateway => (Target::EnvoyGateway, &envoy_gateway::DIALECT),
        NewController::Contour => (Target::Contour, &contour::DIALECT),
    };
    let assumed = OptionValue::Text("assume".into());
    let options = options.clone().in_dialect(ingress_nginx::DIALECT.name).with("missing", assumed);
    let compilation = compile(inputs, &options, &[&ingress_nginx::DIALECT]);
    let converted = ingress_nginx_to_gateway(&compilation, target);
    if converted.objects.is_empty() {
        return Err("The input has no Ingress of ingress-nginx to convert.".into());
    }
    let positions = compilation.positions();
    let files: Vec<SourceFile> = converted.texts().into_iter().map(|(name, text)| SourceFile { name: name.to_string(), text: text.into() }).collect();
    let texts = files.iter().map(|file| Input { name: file.name.as_str().into(), text: file.text.clone() });
    let diff = migration_proof(&compilation, texts, &options, served_by, &[], MOST_COMBINATIONS, &Sequential);
    let notes = converted.notes.iter().map(|of| note(of, &positions)).collect();
    Ok(Migration { files, notes, limits: converted.limits, diff })
}

fn note(of: &Note, positions: &Positions<'_>) -> MigrationNote {
    let at = positions.place(&Place::origin(of.origin));
    MigrationNote { message: format!("{} {}: {}", of.resource.kind, of.resource.name, of.message), span: at.as_ref().map(span) }
}
