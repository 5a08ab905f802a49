//! Reads the files of a git revision. Does not compare them; see `own`.

use crate::analysis::Analysis;
use crate::context::{Context, Refused};
use chancery_core::resource::Inputs;

/// A browser has no git.
///
/// # Errors
///
/// Always.
#[cfg(target_family = "wasm")]
pub fn inputs(_: &Context, analysis: &Analysis, revision: &str) -> Result<Inputs, Refused> {
    let folder = analysis.root.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    Err(format!("To compare `{folder}` with {revision}, install the program `chancery`: inside the editor, Chancery has no git").into())
}

/// The files of a revision in the folder of an analysis.
///
/// # Errors
///
/// git cannot read the revision.
#[cfg(not(target_family = "wasm"))]
pub fn inputs(context: &Context, analysis: &Analysis, revision: &str) -> Result<Inputs, Refused> {
    use chancery_workspace::Contents;
    use chancery_workspace::files::Excludes;
    use chancery_workspace::git::Checkout;
    use std::path::Path;

    /// At most this many bytes are read.
    const MAX: u64 = 256 << 20;

    if revision.starts_with('-') {
        return Err(format!("`{revision}` is not a revision").into());
    }
    let checkout = Checkout::seen_from(&analysis.root, revision, "./")?;
    let root = checkout.path();
    let excludes = Excludes::new(&root, &context.settings.exclude)?;
    let name = |path: &Path| path.strip_prefix(&root).unwrap_or(path).display().to_string();
    let contents = Contents::read(&root, &excludes, None, MAX, &name, &|_| true)?;
    Ok(Inputs { inputs: contents.files.into_iter().map(|(_, input)| input).collect(), ..Inputs::default() })
}
