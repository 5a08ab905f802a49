//! Writing: large outputs in few calls; a reader that went away ends the program quietly.
//!
//! What must not be here: what is written.

use crate::Unusable;
use std::fs::File;
use std::io::{ErrorKind, IoSlice, Write};
use std::path::Path;

/// Where output goes.
pub enum Sink {
    /// Standard output.
    Standard,
    /// A file.
    File(File, String),
}

/// As many pieces as one call takes on all systems.
const BATCH: usize = 1024;

impl Sink {
    /// A file, made anew.
    pub fn file(path: &Path) -> Result<Self, Unusable> {
        let file = File::create(path).map_err(|error| format!("cannot write {}: {}", path.display(), reason(&error)))?;
        Ok(Sink::File(file, path.display().to_string()))
    }

    /// Writes pieces.
    pub fn write<'p>(&mut self, pieces: impl IntoIterator<Item = &'p str>) -> Result<(), Unusable> {
        let outcome = match self {
            // Past the line buffer of standard output, which would look for line ends in everything.
            Sink::Standard => write_pieces(&mut RawStdout::new(), pieces),
            Sink::File(file, _) => write_pieces(file, pieces),
        };
        outcome.or_else(|error| match (error.kind(), &self) {
            (ErrorKind::BrokenPipe, Sink::Standard) => std::process::exit(0),
            (_, Sink::Standard) => Err(Unusable(format!("cannot write to standard output: {}", reason(&error)))),
            (_, Sink::File(_, name)) => Err(Unusable(format!("cannot write {name}: {}", reason(&error)))),
        })
    }
}

/// Writes a text to standard output.
pub fn print(text: &str) -> Result<(), Unusable> {
    Sink::Standard.write([text])
}

/// Writes data as JSON to standard output.
pub fn print_json(data: &impl serde::Serialize) -> Result<(), Unusable> {
    let mut text = serde_json::to_string_pretty(data).map_err(|error| format!("cannot write JSON: {error}"))?;
    text.push('\n');
    print(&text)
}

/// An error of the system without Rust's number.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

struct RawStdout {
    #[cfg(unix)]
    file: std::mem::ManuallyDrop<File>,
}

#[cfg(unix)]
impl RawStdout {
    fn new() -> Self {
        use std::os::fd::AsFd;
        // A duplicate of the descriptor, so that nothing unsafe is needed.
        let owned = std::io::stdout().as_fd().try_clone_to_owned();
        let file = owned.map_or_else(|_| File::open("/dev/null"), |owned| Ok(File::from(owned)));
        Self { file: std::mem::ManuallyDrop::new(file.unwrap_or_else(|_| std::process::exit(0))) }
    }
}

#[cfg(unix)]
impl Write for RawStdout {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }
    fn write_vectored(&mut self, bytes: &[IoSlice<'_>]) -> std::io::Result<usize> {
        self.file.write_vectored(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

#[cfg(not(unix))]
impl RawStdout {
    fn new() -> Self {
        Self {}
    }
}

#[cfg(not(unix))]
impl Write for RawStdout {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        std::io::stdout().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stdout().flush()
    }
}

fn write_pieces<'p>(out: &mut impl Write, pieces: impl IntoIterator<Item = &'p str>) -> std::io::Result<()> {
    let mut pieces = pieces.into_iter().filter(|piece| !piece.is_empty()).peekable();
    let mut batch = Vec::with_capacity(BATCH);
    while pieces.peek().is_some() {
        batch.clear();
        batch.extend(pieces.by_ref().take(BATCH).map(|piece| IoSlice::new(piece.as_bytes())));
        let mut left = &mut batch[..];
        while !left.is_empty() {
            match out.write_vectored(left) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => IoSlice::advance_slices(&mut left, written),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
    out.flush()
}
