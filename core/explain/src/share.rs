//! Packs a snapshot into the fragment of a link: small enough to paste, and never sent to a server.
//!
//! The fragment is `1.` and the snapshot, deflated and in URL-safe base64. The number is the version of this packing.
//!
//! Does not define what a snapshot contains; see `snapshot`.

use super::Snapshot;
use alloc::format;
use alloc::string::String;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};

/// The packing that is written.
const PACKING: &str = "1.";

/// The maximum size of an unpacked snapshot; larger ones are refused, regardless of their packed size.
const MOST_BYTES: usize = 32 << 20;

/// Some programs truncate links that are longer than this.
pub const LONG_LINK: usize = 8000;

/// The name of the fragment's part.
pub const NAME: &str = "snapshot";

#[must_use]
pub fn encode(snapshot: &Snapshot) -> String {
    const BEST: u8 = 9;
    format!("{PACKING}{}", URL_SAFE_NO_PAD.encode(compress_to_vec(snapshot.write_small().as_bytes(), BEST)))
}

/// Unpacks a snapshot.
///
/// # Errors
///
/// Why it cannot be read, as the end of a sentence that names it.
pub fn decode(text: &str) -> Result<Snapshot, String> {
    let Some(packed) = text.strip_prefix(PACKING) else {
        let newer = text.split_once('.').is_some_and(|(version, _)| version.parse::<u32>().is_ok());
        return Err(if newer { "was packed by a newer Chancery".into() } else { "contains no snapshot".into() });
    };
    let bytes = URL_SAFE_NO_PAD.decode(packed.trim_end_matches('=')).map_err(|_| "is cut off or was changed on the way")?;
    let json = decompress_to_vec_with_limit(&bytes, MOST_BYTES).map_err(|error| match error.status {
        TINFLStatus::HasMoreOutput => format!("contains more than {} MiB", MOST_BYTES >> 20),
        _ => "is cut off or was changed on the way".into(),
    })?;
    let json = String::from_utf8(json).map_err(|_| "is cut off or was changed on the way")?;
    Snapshot::read(&json)
}

/// Returns a link that opens a snapshot on a page.
#[must_use]
pub fn link(page: &str, snapshot: &Snapshot) -> String {
    let page = page.split_once('#').map_or(page, |(page, _)| page);
    format!("{page}#{NAME}={}", encode(snapshot))
}

/// Reads the snapshot of a link, or of a fragment alone; `None` if it contains none.
#[must_use]
pub fn open(link: &str) -> Option<Result<Snapshot, String>> {
    let fragment = link.split_once('#').map_or(link, |(_, fragment)| fragment);
    let packed = fragment.split('&').find_map(|part| part.strip_prefix(NAME)?.strip_prefix('='))?;
    Some(decode(packed))
}
