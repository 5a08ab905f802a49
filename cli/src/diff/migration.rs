//! `chancery diff --from DIALECT BEFORE --to DIALECT AFTER`: compares what two controllers do with the same requests.
//!
//! Does not compare; see `chancery_core::explain::migration`. Does not write formats; see `migration_report`.

use super::compared::at_once;
use super::migration_report::{Names, github, html, human, junit, markdown, sarif};
use crate::args::{Deployment, DiffArgs, DiffFormat};
use crate::output::{message, print, print_json};
use crate::style::Style;
use crate::{Outcome, Unusable, input};
use chancery_core::compilation::{Compilation, Dialect, OptionValue};
use chancery_core::dialect;
use chancery_core::explain::answers::Respondents;
use chancery_core::explain::migration::{AcceptedChange, MOST_COMBINATIONS, MigrationDiff, compare_migration, surroundings};
use chancery_core::resource::Input;
use chancery_workspace::threads::Threads;
use std::path::{Path, PathBuf};

/// One side as the user names it.
struct Named {
    dialect: &'static Dialect,
    paths: Vec<PathBuf>,
}

/// Runs it.
pub fn run(args: &DiffArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let (before, after) = (named(&args.from, "--from", args.before.clone())?, named(&args.to, "--to", args.after.clone())?);
    let accepted = accepted_changes(args.accept.as_deref())?;
    let (old, new) = (given(&before, deployment)?, given(&after, deployment)?);
    let (first, second) = at_once(|| old.compile(), || new.compile());
    let (first, second) = (first?.1, second?.1);
    // Both sides run in the same cluster.
    let (missing_before, missing_after) = (surroundings(&first, &second), surroundings(&second, &first));
    let (first, second) = (completed(&old, first, missing_before)?, completed(&new, second, missing_after)?);
    [&first, &second].into_iter().for_each(input::warn_of_unread);
    input::warn_of_assumed(&[&first, &second]);
    for (compilation, side) in [(&first, &before), (&second, &after)] {
        if Respondents::of(compilation, &compilation.positions()).is_empty() {
            return Err(Unusable(format!("{}: {}", side.dialect.name, input::nothing_runs(compilation).0)));
        }
    }
    let (old, new) = (first.positions(), second.positions());
    let (old, new) = (Respondents::of(&first, &old), Respondents::of(&second, &new));
    let found = compare_migration(&old, &new, &accepted, MOST_COMBINATIONS, &Threads);
    let names = Names { before: before.dialect.controller, after: after.dialect.controller };
    match args.format {
        DiffFormat::Human => print(&human(&found, &names, "--format html or json", style))?,
        DiffFormat::Json => print_json(&found)?,
        DiffFormat::Markdown => print(&markdown(&found, &names))?,
        DiffFormat::Html => print(&html(&found, &names))?,
        DiffFormat::Junit => print(&junit(&found))?,
        DiffFormat::Sarif => print_json(&sarif(&found))?,
        DiffFormat::Github => print(&github(&found))?,
    }
    report_unused(&found);
    let counts = args.exit_code.is_some() || args.accept.is_some();
    Ok(u8::from(counts && found.open().next().is_some()))
}

/// Reads the list of accepted changes, if there is one.
pub fn accepted_changes(path: Option<&Path>) -> Result<Vec<AcceptedChange>, Unusable> {
    let Some(path) = path else { return Ok(Vec::new()) };
    Ok(AcceptedChange::read(&input::text(path)?).map_err(|why| format!("{}: {why}", path.display()))?)
}

/// Names accepted changes that no difference needs.
pub fn report_unused(found: &MigrationDiff) {
    for unused in &found.unused {
        message(&format!("the accepted change `{}` ({}) covers no difference: remove it", unused.rule, unused.reason));
    }
}

/// Returns the dialect and the paths of a side.
fn named(words: &[String], flag: &str, alone: Option<PathBuf>) -> Result<Named, Unusable> {
    let (name, paths) = words.split_first().ok_or_else(|| format!("{flag} is missing: name the dialect of the side, then its files"))?;
    let known = dialect::ALL.iter().find(|dialect| dialect.name == name);
    let names: Vec<&str> = dialect::ALL.iter().map(|dialect| dialect.name).collect();
    let dialect = known.ok_or_else(|| format!("there is no dialect `{name}`; this version knows {}", names.join(", ")))?;
    let paths: Vec<PathBuf> = if paths.is_empty() { alone.into_iter().collect() } else { paths.iter().map(PathBuf::from).collect() };
    if paths.is_empty() {
        return Err(format!("{flag} {name} names no file: write {flag} {name} PATH").into());
    }
    Ok(Named { dialect, paths })
}

/// Reads a side, with the options that its dialect has. Unless `--missing error` is given, objects that the input lacks are assumed to exist, as in
/// `convert`: otherwise requests to missing Services would fail on both sides, and the comparison would find nothing.
fn given(side: &Named, deployment: &Deployment) -> Result<input::LoadedInput, Unusable> {
    let mut given = input::given(&side.paths, deployment)?;
    given.options = given.options.in_dialect(side.dialect.name);
    let foreign: Vec<String> = given.options.foreign_to(&[side.dialect]).into_iter().map(str::to_string).collect();
    for name in foreign {
        // The other side has it.
        given.options.insert(name, OptionValue::Flag(false));
    }
    if given.options.text("missing").is_none_or(|how| how != "error") {
        given.options.insert("missing", OptionValue::Text("assume".into()));
    }
    Ok(given)
}

/// Compiles a side again with the cluster's objects that only the other side has.
fn completed(given: &input::LoadedInput, own: Compilation, shared: Option<Input>) -> Result<Compilation, Unusable> {
    let Some(shared) = shared else { return Ok(own) };
    let mut given = given.clone();
    given.inputs.inputs.push(shared);
    given.not_utf8.push(Vec::new());
    given.paths.push(None);
    Ok(given.compile()?.1)
}
