//! Writes large outputs in few calls. If the reader closes the output, the program exits quietly. All output passes through here, and
//! credentials of inputs are removed, unless the user requests them.
//!
//! Does not create content; see the commands.

pub use chancery_workspace::reason;

use crate::Unusable;
use crate::style::{plain, steers, strip_control_sequences};
use chancery_core::compilation::Compilation;
use chancery_core::redact::Redactor;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, IoSlice, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The secrets of every input, which no output may contain. One redactor removes all of them, so that it knows the files of every input.
static REDACTOR: Mutex<Option<Redactor>> = Mutex::new(None);

/// Runs a function with the redactor, unless there is nothing to redact.
fn with_redactor<T>(run: impl FnOnce(Option<&mut Redactor>) -> T) -> T {
    let mut known = REDACTOR.lock().unwrap_or_else(PoisonError::into_inner);
    run(known.as_mut().filter(|known| !known.is_empty()))
}

/// Whether reports have colours. If not, a colour sequence comes from an input.
static COLOURS: AtomicBool = AtomicBool::new(false);

/// Lets colours through.
pub fn let_colours_through(on: bool) {
    COLOURS.store(on, Ordering::Relaxed);
}

/// Escapes the control characters of a report, except colours if they are on.
fn harmless(text: &str) -> Cow<'_, str> {
    if COLOURS.load(Ordering::Relaxed) { strip_control_sequences(text) } else { plain(text) }
}

/// Removes the secrets of this compilation from all further output.
pub fn hold_back(compilation: &Compilation) {
    hold(vec![compilation.redactor()]);
}

/// The same for secrets from another source.
pub fn hold(all: Vec<Redactor>) {
    let mut known = REDACTOR.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    all.into_iter().for_each(|redactor| known.extend(redactor));
}

/// Writes everything: the user requested output with secrets.
pub fn allow_secrets() {
    *REDACTOR.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Returns a string without secrets.
pub fn scrub(text: &str) -> Cow<'_, str> {
    with_redactor(|known| known.map_or(Cow::Borrowed(text), |known| known.scrub(text)))
}

/// Returns where an incomplete output may be cut, so that no secret crosses the cut.
fn safe_cut(text: &str) -> usize {
    with_redactor(|known| known.map_or(text.len(), |known| known.cut_up_to(text, text.len().saturating_sub(known.longest()))))
}

fn nothing_is_held_back() -> bool {
    with_redactor(|known| known.is_none())
}

/// The target of output.
pub enum Sink {
    /// Standard output.
    Standard,
    /// A file.
    File(File, String),
}

/// The number of pieces that one call accepts on all systems.
const BATCH: usize = 1024;
/// The number of bytes that are searched for secrets at a time.
const WINDOW: usize = 1 << 20;

/// The file that `--out` names; `None` for standard output, which `-` means as well.
pub fn file_named(out: Option<&Path>) -> Option<&Path> {
    out.filter(|path| path.as_os_str() != "-")
}

impl Sink {
    /// A file, written again from the start.
    pub fn file(path: &Path) -> Result<Self, Unusable> {
        let file = File::create(path).map_err(|error| format!("cannot write {}: {}", path.display(), reason(&error)))?;
        Ok(Sink::File(file, path.display().to_string()))
    }

    /// Writes pieces of JSON, in which what would steer a terminal becomes an escape, or of YAML that has none of it.
    pub fn write<'p>(&mut self, pieces: impl IntoIterator<Item = &'p str>) -> Result<(), Unusable> {
        if nothing_is_held_back() {
            let mut pieces = pieces.into_iter().peekable();
            while pieces.peek().is_some() {
                let batch: Vec<Cow<'_, str>> = pieces.by_ref().take(BATCH).map(escaped_json).collect();
                self.put(batch.iter().map(|piece| &**piece))?;
            }
            return Ok(());
        }
        let mut window = Window::new(self);
        for piece in pieces {
            window.push(piece.as_bytes())?;
        }
        window.finish()
    }

    fn put_scrubbed(&mut self, text: &str) -> Result<(), Unusable> {
        let shown = scrub(text);
        if matches!(shown, Cow::Owned(_)) {
            warn_redacted_once();
        }
        self.put([&*shown])
    }

    fn put<'p>(&mut self, pieces: impl IntoIterator<Item = &'p str>) -> Result<(), Unusable> {
        let outcome = match self {
            // Past the line buffer of standard output, which would look for line ends in everything.
            Sink::Standard => write_all(&mut RawStdout::new(), pieces),
            Sink::File(file, _) => write_all(file, pieces),
        };
        outcome.or_else(|error| match (error.kind(), &self) {
            (ErrorKind::BrokenPipe, Sink::Standard) => std::process::exit(0),
            (_, Sink::Standard) => Err(Unusable(format!("cannot write to standard output: {}", reason(&error)))),
            (_, Sink::File(_, name)) => Err(Unusable(format!("cannot write {name}: {}", reason(&error)))),
        })
    }
}

/// Writes JSON piece by piece, and searches it for secrets before it is written. No piece ends within a character.
struct Window<'s> {
    sink: &'s mut Sink,
    waiting: Vec<u8>,
    /// Why nothing more can be written.
    failed: Option<Unusable>,
}

impl<'s> Window<'s> {
    fn new(sink: &'s mut Sink) -> Self {
        Self { sink, waiting: Vec::new(), failed: None }
    }

    fn push(&mut self, piece: &[u8]) -> Result<(), Unusable> {
        self.waiting.extend_from_slice(piece);
        if self.waiting.len() <= WINDOW {
            return Ok(());
        }
        let text = self.taken()?;
        // A secret may cross the end of a piece.
        let (whole, rest) = text.split_at(safe_cut(&text));
        self.sink.put_scrubbed(whole)?;
        self.waiting.extend_from_slice(rest.as_bytes());
        Ok(())
    }

    /// Returns the pending output with escapes. Earlier escapes stay unchanged.
    fn taken(&mut self) -> Result<String, Unusable> {
        let text = String::from_utf8(std::mem::take(&mut self.waiting)).map_err(|error| format!("cannot write JSON: {error}"))?;
        Ok(match escaped_json(&text) {
            Cow::Owned(escaped) => escaped,
            Cow::Borrowed(_) => text,
        })
    }

    fn finish(mut self) -> Result<(), Unusable> {
        let text = self.taken()?;
        self.sink.put_scrubbed(&text)
    }
}

impl Write for Window<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.push(bytes).map_err(|failed| {
            self.failed = Some(failed);
            std::io::Error::other("nothing more can be written")
        })?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Reports on standard error that something was omitted.
fn warn_redacted_once() {
    static SAID: std::sync::Once = std::sync::Once::new();
    SAID.call_once(|| message("credentials of the input are written as `-redacted-`; `compile` and `convert` put them in with --with-secrets"));
}

/// A sentence on standard error.
pub fn message(sentence: &str) {
    message_lines(&format!("chancery: {}\n", plain(sentence)));
}

/// Writes lines to standard error. Escapes control characters, except colours.
pub fn message_lines(text: &str) {
    // There is no way to report it when this fails.
    let _ = std::io::stderr().write_all(scrub(&harmless(text)).as_bytes());
}

/// Writes a report, or a format other than JSON, to standard output. Escapes control characters, except colours.
pub fn print(text: &str) -> Result<(), Unusable> {
    Sink::Standard.put_scrubbed(&harmless(text))
}

/// Writes the output of another writer to standard output, like [`print`].
pub fn shown(text: &str) -> String {
    scrub(&harmless(text)).into_owned()
}

/// Writes data as JSON to standard output while it is serialised.
pub fn print_json(data: &impl serde::Serialize) -> Result<(), Unusable> {
    let mut sink = Sink::Standard;
    let mut window = Window::new(&mut sink);
    if let Err(error) = serde_json::to_writer_pretty(&mut window, data) {
        return Err(window.failed.take().unwrap_or_else(|| format!("cannot write JSON: {error}").into()));
    }
    window.push(b"\n")?;
    window.finish()
}

/// Data as JSON, in which characters that steer a terminal are escapes.
pub fn to_json(data: &impl serde::Serialize, pretty: bool) -> Result<String, Unusable> {
    let text = if pretty { serde_json::to_string_pretty(data) } else { serde_json::to_string(data) };
    let text = text.map_err(|error| format!("cannot write JSON: {error}"))?;
    Ok(escaped_json(&text).into_owned())
}

/// JSON in which characters that steer a terminal are escapes. They can stand only in strings.
pub fn escaped_json(text: &str) -> Cow<'_, str> {
    // Below U+0080, JSON escapes them all but one.
    if text.is_ascii() && !text.contains('\u{7f}') || !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if steers(c) {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out.into()
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

fn write_all<'p>(out: &mut impl Write, pieces: impl IntoIterator<Item = &'p str>) -> std::io::Result<()> {
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
