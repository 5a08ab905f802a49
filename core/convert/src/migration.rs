//! Proves a conversion of Ingresses: compiles the converted objects in the target's dialect, and compares the answers of both sides.
//!
//! Does not compare answers itself; see `explain::migration`.

use super::across::is_ingress;
use super::proof::without;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, Dialect, OptionValue, Options};
use chancery_base::executor::Executor;
use chancery_base::resource::{Input, Inputs};
use chancery_compile::compile;
use chancery_explain::answers::Respondents;
use chancery_explain::migration::{AcceptedChange, MigrationDiff, compare_migration};

/// Compares the requests of Ingresses with the requests of the converted objects in another dialect, which are read from these files. Objects that
/// both sides refer to and the input lacks are assumed to exist. Tries at most `most` combinations of host and path.
#[must_use]
pub fn migration_proof(
    original: &Compilation,
    converted: impl IntoIterator<Item = Input>,
    options: &Options,
    to: &'static Dialect,
    accepted: &[AcceptedChange],
    most: usize,
    executor: &dyn Executor,
) -> MigrationDiff {
    let mut inputs = without(original, is_ingress);
    inputs.extend(converted);
    let inputs = Inputs { inputs, stored: original.inputs.stored.clone() };
    let mut options = options.clone().in_dialect(to.name).with("missing", OptionValue::Text("assume".into()));
    let foreign: Vec<String> = options.foreign_to(&[to]).into_iter().map(|name| name.to_string()).collect();
    for name in foreign {
        options.insert(name, OptionValue::Flag(false));
    }
    let converted = compile(&inputs, &options, &[to]);
    let (before, after) = (original.positions(), converted.positions());
    compare_migration(&Respondents::of(original, &before), &Respondents::of(&converted, &after), accepted, most, executor)
}
