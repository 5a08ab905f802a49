//! Exports and imports work. Does not define the formats; see `chancery_core::explain::{Snapshot, share}`.

use crate::languages::{inputs, is_detected};
use crate::protocol::{Kept, Opened, SavedRequest, Shared, Sharing, SourceFile, Work};
use chancery_core::compilation::{Compilation, Options};
use chancery_core::explain::{Snapshot, share, with_stand_ins};

/// Exports the current work.
pub fn shared(compilation: &Compilation, options: &Options, sharing: &Sharing) -> Shared {
    let snapshot = |with_secrets| Snapshot::new(compilation, options, &[], with_secrets).with_requests(&sharing.requests);
    let (without, with) = (snapshot(false), snapshot(true));
    let (hidden, shown) = (without.inputs().inputs, with.inputs().inputs);
    let secret = hidden.iter().zip(&shown).any(|(hidden, shown)| hidden.text != shown.text) || without.requests() != with.requests();
    let chosen = if sharing.with_secrets { with } else { without };
    let link = share::link(&sharing.page, &chosen);
    Shared { long: link.len() > share::LONG_LINK, link, file: chosen.write(), secret }
}

/// Files of at most this many bytes are returned with every compile, for the browser to store.
const SMALL: usize = 100_000;

/// Files without secrets.
fn hidden(files: &[SourceFile]) -> Vec<SourceFile> {
    let texts = with_stand_ins(&inputs(files)).inputs;
    texts.into_iter().map(|input| SourceFile { name: input.name.to_string(), text: input.text }).collect()
}

/// Files without secrets, if they are small.
pub fn kept_if_small(files: &[SourceFile]) -> Option<Vec<SourceFile>> {
    (files.iter().map(|file| file.text.len()).sum::<usize>() <= SMALL).then(|| hidden(files))
}

/// Work without secrets.
pub fn kept(kept: Kept) -> Kept {
    let files = hidden(&kept.work.files);
    let without = |saved: SavedRequest| SavedRequest { request: saved.request.without_credentials(), ..saved };
    Kept { work: Work { files, ..kept.work }, requests: kept.requests.into_iter().map(without).collect() }
}

/// Imports a link, its fragment or a file.
pub fn opened(text: &str) -> Result<Opened, String> {
    let snapshot = match share::open(text.trim()) {
        Some(snapshot) if !Snapshot::is_one(text) => snapshot.map_err(|why| format!("The link {why}"))?,
        _ if Snapshot::is_one(text) => Snapshot::read(text).map_err(|why| format!("The file {why}"))?,
        _ => return Err("The link contains no snapshot".into()),
    };
    let files = snapshot.inputs().inputs.into_iter().map(|input| SourceFile { name: input.name.to_string(), text: input.text });
    let options = serde_json::to_value(&snapshot.options).ok();
    let files: Vec<SourceFile> = files.collect();
    let dialect = snapshot.options.dialect.as_ref().map(ToString::to_string);
    // If detection does not find the snapshot's dialect in its files, the user chose it.
    let chosen = !is_detected(&inputs(&files), dialect.as_deref());
    Ok(Opened {
        work: Work { files, dialect, chosen, options, ..Work::default() },
        requests: snapshot.requests().to_vec(),
        redacted: snapshot.redacted,
    })
}
