//! Reads watch events from standard input, as `kubectl get -w --output-watch-events -o json` writes them: one JSON value after the other.
//!
//! Text that is not JSON is read to its end as one YAML text, like the input of other commands. The stream does not mark the end of the initial
//! objects: they are complete when no event comes for a while.

use super::{Outlet, Source};
use crate::Failure;
use crate::event::SourceState;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::pin::Pin;
use std::time::Duration;
use tokio::sync::mpsc;

/// After this long without an event, the initial objects are treated as complete.
const QUIET: Duration = Duration::from_millis(300);
/// The most bytes of YAML that are read.
const LARGEST: u64 = 256 << 20;
/// The name of standard input.
pub const STDIN: &str = "<stdin>";

/// A stream of watch events.
pub struct Stream<R> {
    reader: R,
}

impl<R: Read + Send + 'static> Stream<R> {
    /// Reads events from `reader`.
    pub fn new(reader: R) -> Self {
        Self { reader }
    }
}

/// An item of the stream.
enum Item {
    Event(Box<Value>),
    Text(Vec<u8>),
    /// The stream has an error.
    Wrong(String),
}

impl<R: Read + Send + 'static> Source for Stream<R> {
    fn name(&self) -> String {
        STDIN.into()
    }

    fn run(self: Box<Self>, outlet: Outlet) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>> {
        Box::pin(async move {
            let (out, mut items) = mpsc::channel(64);
            tokio::task::spawn_blocking(move || read(self.reader, &out));
            let mut synced = false;
            loop {
                let quiet = tokio::time::sleep(if synced { Duration::from_secs(3600) } else { QUIET });
                tokio::select! {
                    item = items.recv() => match item {
                        None => break,
                        Some(Item::Text(text)) => outlet.put(STDIN, text),
                        Some(Item::Event(event)) => take(*event, &outlet),
                        Some(Item::Wrong(why)) => outlet.state(STDIN, SourceState::Error, Some(why)),
                    },
                    () = quiet => {
                        if !synced {
                            outlet.synced();
                            outlet.state(STDIN, SourceState::Synced, None);
                        }
                        synced = true;
                    }
                }
            }
            outlet.synced();
            outlet.state(STDIN, SourceState::Synced, Some("the stream has ended; its objects stay".into()));
            Ok(())
        })
    }
}

fn read(reader: impl Read, out: &mpsc::Sender<Item>) {
    let mut reader = BufReader::new(reader);
    let is_json = loop {
        match reader.fill_buf() {
            Ok([]) | Err(_) => return,
            Ok(buffer) => {
                if let Some(first) = buffer.iter().find(|byte| !byte.is_ascii_whitespace()) {
                    break *first == b'{';
                }
                let blank = buffer.len();
                reader.consume(blank);
            }
        }
    };
    if !is_json {
        let mut text = Vec::new();
        let read = reader.take(LARGEST).read_to_end(&mut text);
        // The receiver may be gone when the program ends.
        let _ = out.blocking_send(if read.is_ok() { Item::Text(text) } else { Item::Wrong("standard input cannot be read".into()) });
        return;
    }
    for value in serde_json::Deserializer::from_reader(reader).into_iter::<Value>() {
        let item = match value {
            Ok(value) => Item::Event(Box::new(value)),
            Err(error) => Item::Wrong(format!("standard input is not JSON: {error}")),
        };
        let is_wrong = matches!(item, Item::Wrong(_));
        if out.blocking_send(item).is_err() || is_wrong {
            return;
        }
    }
}

/// Handles an event, or an object without an event.
fn take(mut event: Value, outlet: &Outlet) {
    let kind = event.get("type").and_then(Value::as_str).map(str::to_owned);
    let object = match (kind.as_deref(), event.get_mut("object")) {
        (Some(_), Some(object)) => object.take(),
        _ => event,
    };
    match kind.as_deref() {
        Some("BOOKMARK") => {}
        Some("ERROR") => {
            let message = object.get("message").and_then(Value::as_str).unwrap_or("the API server reports an error");
            outlet.state(STDIN, SourceState::Error, Some(message.to_owned()));
        }
        Some("DELETED") => outlet.remove(&name_of(&object)),
        _ => match object.get("items").and_then(Value::as_array) {
            Some(items) => items.iter().for_each(|item| put(item.clone(), outlet)),
            None => put(object, outlet),
        },
    }
}

fn put(object: Value, outlet: &Outlet) {
    let name = name_of(&object);
    outlet.put_stored(&name, text_of(object));
}

/// Returns the name of the input with this object, such as `HTTPProxy.projectcontour.io/default/app`.
#[must_use]
pub fn name_of(object: &Value) -> String {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let group = text(object.get("apiVersion")).split_once('/').map(|(group, _)| format!(".{group}")).unwrap_or_default();
    let metadata = object.get("metadata");
    let (namespace, name) = (text(metadata.and_then(|of| of.get("namespace"))), text(metadata.and_then(|of| of.get("name"))));
    let namespace = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
    format!("{}{group}/{namespace}{name}", text(object.get("kind")))
}

/// Returns an object as JSON, without fields that change without a change of content, and without fields for tools.
#[must_use]
pub fn text_of(mut object: Value) -> Vec<u8> {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.shift_remove("managedFields");
        metadata.shift_remove("resourceVersion");
        let empty = metadata.get_mut("annotations").and_then(Value::as_object_mut).is_some_and(|annotations| {
            annotations.shift_remove("kubectl.kubernetes.io/last-applied-configuration");
            annotations.is_empty()
        });
        if empty {
            metadata.shift_remove("annotations");
        }
    }
    serde_json::to_vec_pretty(&object).unwrap_or_default()
}
