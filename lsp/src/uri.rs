//! Converts between paths and the client's URIs. Does not open files; see `folder`.

use std::path::{Path, PathBuf};

/// The path of a `file:` URI.
#[must_use]
pub fn path_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    // The host is empty or this machine.
    let path = rest.strip_prefix("localhost").unwrap_or(rest).split(['?', '#']).next()?;
    let path = decoded(path)?;
    let is_drive = path.as_bytes().get(2) == Some(&b':') && path.as_bytes().get(1).is_some_and(u8::is_ascii_alphabetic);
    let is_drive = is_drive && matches!(path.as_bytes().get(3), None | Some(b'/'));
    let path = if is_drive { path.strip_prefix('/')?.to_string() } else { path };
    (!path.is_empty()).then(|| PathBuf::from(path))
}

/// The `file:` URI of an absolute path.
#[must_use]
pub fn uri_of(path: &Path) -> String {
    let shown = path.to_string_lossy().replace('\\', "/");
    let root = if shown.starts_with('/') { "" } else { "/" };
    format!("file://{root}{}", encoded(&shown, b"-._~/"))
}

/// Escapes all bytes except letters, digits and some others.
#[must_use]
pub fn encoded(text: &str, plain: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || plain.contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Resolves the escapes of a URI; `None` if the result is not UTF-8.
#[must_use]
pub fn decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
        out.push((high * 16 + low) as u8);
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_strange_characters_return() {
        for path in ["/a/b.yaml", "/with space/\u{e9}#?%.yaml", "/a:b/c"] {
            let uri = uri_of(Path::new(path));
            assert_eq!(path_of(&uri).as_deref(), Some(Path::new(path)), "{uri}");
        }
        assert_eq!(path_of("file:///c%3A/a.yaml").as_deref(), Some(Path::new("c:/a.yaml")));
        assert_eq!((path_of("untitled:1"), path_of("file:///%zz")), (None, None));
    }
}
