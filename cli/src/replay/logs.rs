//! Opens log files and reads their lines. One thread reads and decompresses, while another takes the lines.
//!
//! Does not read the content of lines; see `chancery_core::explain::replay`.

use crate::Unusable;
use crate::output::reason;
use chancery_core::explain::replay::{LoggedRequest, is_har, read_har};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind, Read};
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread;

/// How many bytes are read at once.
const CHUNK: usize = 1 << 20;
/// A HAR file has at most this many bytes, because it is read as a whole.
const MAX_HAR: u64 = 1 << 30;
/// Chunks that wait for the reader of lines.
const WAITING: usize = 4;

/// An open log.
pub struct Log {
    name: String,
    source: Box<dyn Read + Send>,
    /// The first bytes.
    start: Vec<u8>,
}

impl Log {
    /// Opens a file by its name: `-` is standard input, `.gz` and `.zst` are decompressed.
    pub fn open(path: &Path) -> Result<Self, Unusable> {
        let name = path.display().to_string();
        let cannot = |why: String| Unusable(format!("cannot read {name}: {why}"));
        let file: Box<dyn Read + Send> = if path.as_os_str() == "-" {
            Box::new(std::io::stdin())
        } else {
            if path.is_dir() {
                return Err(cannot("it is a folder".into()));
            }
            Box::new(File::open(path).map_err(|error| cannot(reason(&error)))?)
        };
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let mut source: Box<dyn Read + Send> = match ending {
            "gz" => Box::new(flate2::read::MultiGzDecoder::new(file)),
            "zst" | "zstd" => Box::new(Frames::new(file)),
            _ => file,
        };
        let mut start = vec![0; CHUNK];
        let length = fill(&mut source, &mut start).map_err(|error| cannot(reason(&error)))?;
        start.truncate(length);
        Ok(Self { name, source, start })
    }

    /// The first bytes.
    pub fn start(&self) -> &[u8] {
        &self.start
    }

    /// Reads the requests of a HAR file; `None` if it is not one.
    pub fn har(&mut self) -> Result<Option<Vec<LoggedRequest<'static>>>, Unusable> {
        let head = String::from_utf8_lossy(self.start.get(..self.start.len().min(4096)).unwrap_or_default());
        if !is_har(head.trim_start_matches('\u{feff}')) {
            return Ok(None);
        }
        let mut text = std::mem::take(&mut self.start);
        let most = MAX_HAR.saturating_sub(text.len() as u64);
        self.source.by_ref().take(most).read_to_end(&mut text).map_err(|error| format!("cannot read {}: {}", self.name, reason(&error)))?;
        if text.len() as u64 >= MAX_HAR {
            return Err(format!("{} is larger than {} MiB", self.name, MAX_HAR >> 20).into());
        }
        let text = String::from_utf8_lossy(&text);
        let requests = read_har(text.trim_start_matches('\u{feff}')).map_err(|why| format!("{} is {why}", self.name))?;
        Ok(Some(requests))
    }

    /// Calls `take` for every line. Invalid UTF-8 is replaced.
    pub fn lines(self, mut take: impl FnMut(&str)) -> Result<(), Unusable> {
        let Self { name, mut source, start } = self;
        let (sender, receiver) = sync_channel::<std::io::Result<Vec<u8>>>(WAITING);
        let mut rest: Vec<u8> = Vec::new();
        thread::scope(|scope| {
            scope.spawn(move || {
                if sender.send(Ok(start)).is_err() {
                    return;
                }
                loop {
                    let mut chunk = vec![0; CHUNK];
                    let read = fill(&mut source, &mut chunk);
                    let is_last = !matches!(&read, Ok(length) if *length > 0);
                    let chunk = read.map(|length| {
                        chunk.truncate(length);
                        chunk
                    });
                    if sender.send(chunk).is_err() || is_last {
                        return;
                    }
                }
            });
            for chunk in receiver {
                let chunk = chunk.map_err(|error| format!("cannot read {name}: {}", reason(&error)))?;
                let mut from = 0;
                while let Some(length) = chunk.get(from..).and_then(|rest| memchr::memchr(b'\n', rest)) {
                    let line = chunk.get(from..from + length).unwrap_or_default();
                    from += length + 1;
                    if rest.is_empty() {
                        take(&String::from_utf8_lossy(line));
                    } else {
                        rest.extend_from_slice(line);
                        take(&String::from_utf8_lossy(&rest));
                        rest.clear();
                    }
                }
                rest.extend_from_slice(chunk.get(from..).unwrap_or_default());
            }
            if !rest.is_empty() {
                take(&String::from_utf8_lossy(&rest));
            }
            Ok(())
        })
    }
}

/// Fills a buffer as far as the source has bytes. Returns their number.
fn fill(source: &mut dyn Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match source.read(rest) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // The text before a damaged end is still returned; the next call reports the error.
            Err(_) if filled > 0 => break,
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The frames of a zstd file, one after the other.
struct Frames {
    source: BufReader<Box<dyn Read + Send>>,
    decoder: FrameDecoder,
    /// Whether a frame has begun.
    is_open: bool,
}

impl Frames {
    fn new(source: Box<dyn Read + Send>) -> Self {
        Self { source: BufReader::with_capacity(CHUNK, source), decoder: FrameDecoder::new(), is_open: false }
    }

    /// Begins the next frame. Returns whether there is one.
    fn begin(&mut self) -> std::io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    std::io::copy(&mut self.source.by_ref().take(length.into()), &mut std::io::sink())?;
                }
                Err(error) => return Err(std::io::Error::other(error.to_string())),
            }
        }
        Ok(false)
    }
}

impl Read for Frames {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            if !self.is_open {
                if !self.begin()? {
                    return Ok(0);
                }
                self.is_open = true;
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let decoded = self.decoder.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1));
                decoded.map_err(|error| std::io::Error::other(error.to_string()))?;
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            self.is_open = false;
        }
    }
}
