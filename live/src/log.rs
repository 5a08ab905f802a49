//! Logs to standard error: one line for each problem that may need attention.
//!
//! [Events](crate::event) describe inputs and Envoys; the log describes the program itself. Every line passes the filter of events, so that
//! credentials of the inputs stay out.

use crate::Failure;
use crate::event::Events;
use std::io::Write;
use tracing::level_filters::LevelFilter;
use tracing::{Level, Metadata};
use tracing_subscriber::filter::{EnvFilter, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

/// The format of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Human-readable text.
    Text,
    /// One JSON object per line.
    Json,
}

/// The logged levels: one level, or levels by the part of the program, such as `info,chancery_live::xds=debug`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels(String);

impl std::str::FromStr for Levels {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |part: &str| format!("`{part}` is no level: write error, warn, info, debug, trace or off, or PART=LEVEL, with commas between");
        for part in text.split(',') {
            let level = part.rsplit_once('=').map_or(part, |(_, level)| level);
            let is_level = !level.trim().is_empty() && level.trim().parse::<LevelFilter>().is_ok();
            is_level.then_some(()).ok_or_else(|| wrong(part))?;
        }
        EnvFilter::try_new(text).map_err(|_| wrong(text))?;
        Ok(Self(text.to_owned()))
    }
}

/// Logs to standard error from now on.
///
/// # Errors
///
/// This process has another logger.
pub fn start(format: Format, levels: &Levels, events: &Events) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(&levels.0).map_err(|error| error.to_string())?;
    let writer = Scrubbing { events: events.clone(), to: std::io::stderr };
    let lines = fmt::layer().with_writer(writer).with_ansi(false);
    let lines = match format {
        Format::Text => lines.boxed(),
        Format::Json => lines.json().flatten_event(true).boxed(),
    };
    let all = tracing_subscriber::registry().with(lines.with_filter(filter_fn(is_ours_or_plain))).with(filter);
    all.try_init().map_err(|error| format!("cannot log: {error}").into())
}

/// Details of other crates may contain verbatim requests with tokens and bodies, so only `info` and above pass. The
/// client of API servers logs nothing: its failures are states of the source, and its errors may contain the output of a
/// credentials program.
fn is_ours_or_plain(of: &Metadata<'_>) -> bool {
    of.target().starts_with("chancery") || (*of.level() <= Level::INFO && !of.target().starts_with("kube_"))
}

/// Removes credentials from lines.
#[derive(Clone)]
struct Scrubbing<M> {
    events: Events,
    to: M,
}

impl<'a, W: Write, M: Fn() -> W> MakeWriter<'a> for Scrubbing<M> {
    type Writer = Line<W>;

    fn make_writer(&'a self) -> Line<W> {
        Line { events: self.events.clone(), to: (self.to)() }
    }
}

/// Writes one whole line at a time.
struct Line<W> {
    events: Events,
    to: W,
}

impl<W: Write> Write for Line<W> {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        self.to.write_all(self.events.scrubbed(&text).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chancery_core::redact::Redactor;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("a lock").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// Returns the output of `log`.
    fn written(events: &Events, log: impl FnOnce()) -> String {
        let kept = Kept::default();
        let to = kept.clone();
        let lines = fmt::layer().json().flatten_event(true).with_writer(Scrubbing { events: events.clone(), to: move || to.clone() });
        let subscriber = tracing_subscriber::registry().with(lines.with_filter(filter_fn(is_ours_or_plain)));
        tracing::subscriber::with_default(subscriber, log);
        String::from_utf8(kept.0.lock().expect("a lock").clone()).expect("text")
    }

    #[test]
    fn log_line_is_json_without_credentials() {
        let events = Events::default();
        events.hold_back(Redactor::new(["token-of-the-\"shop\""]));
        let text = written(&events, || tracing::warn!(object = "Host a", "the server says token-of-the-\"shop\""));
        let line: serde_json::Value = serde_json::from_str(text.trim()).expect("JSON");
        assert_eq!((&line["level"], &line["object"]), (&"WARN".into(), &"Host a".into()));
        assert!(line["message"].as_str().is_some_and(|message| message.starts_with("the server says")) && !text.contains("shop"), "{text}");
    }

    #[test]
    fn log_omits_details_of_other_crates() {
        let text = written(&Events::default(), || {
            tracing::debug!(target: "hyper", "Authorization: Bearer x");
            tracing::info!(target: "hyper", "connected");
            tracing::error!(target: "kube_client::client::builder", "a plugin wrote: Bearer x");
            tracing::debug!(target: "chancery_live::xds", "ours");
        });
        assert!(!text.contains("Bearer") && text.contains("connected") && text.contains("ours"), "{text}");
    }

    #[test]
    fn wrong_level_is_error() {
        assert!("info".parse::<Levels>().is_ok() && "warn,chancery_live::xds=debug".parse::<Levels>().is_ok());
        for wrong in ["loud", "", "a=b=c", "info,"] {
            let why = wrong.parse::<Levels>().err().unwrap_or_default();
            assert!(why.contains("is no level"), "{wrong}: {why}");
        }
    }
}
