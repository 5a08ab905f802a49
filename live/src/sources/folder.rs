//! Follows files and folders, and their changes. Does not interpret files, and does not choose a folder's files; see
//! `files`.
//!
//! The notifications of the system (notify) only report *that* something changed. Then the reader lists the folder again
//! and reads every file whose size or time differs. So the result does not depend on how an editor writes a file, how a
//! mounted ConfigMap exchanges its link, or whether notifications come twice, late or never. The folder is also read at
//! intervals, because some file systems send no notifications.
//!
//! A broken file, an emptied folder or a missing folder is treated as an accident: its last content stays. See
//! [`reader`].

mod last_good;
mod reader;
mod walk;

use super::{Outlet, Source};
use crate::Failure;
use chancery_core::compilation::Dialect;
use chancery_workspace::files::Excludes;
use last_good::LastGood;
use reader::Reader;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;
use tokio::sync::mpsc;

/// How often a folder is read without a notification.
const INTERVAL: Duration = Duration::from_secs(5);

/// A file, or a folder with everything below it.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    reading: Reading,
}

/// Which files of a folder are read, and how.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Files that are left out.
    pub excludes: Excludes,
    /// The dialect that the user chose, if any.
    pub asked: Option<&'static Dialect>,
    /// Whether an editor gets broken texts. Otherwise the last readable version stays.
    pub with_broken: bool,
    /// How an empty folder is interpreted.
    pub empty: EmptyFolder,
    /// The state folder, which keeps the last good text of each file across restarts.
    pub state: Option<PathBuf>,
}

/// How a folder without resources is interpreted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EmptyFolder {
    /// It is intended: there are no resources.
    #[default]
    Intended,
    /// At the start it has not been read yet. While it is followed, its last content stays for this long.
    Accident(Duration),
}

impl Folder {
    /// Follows this file or folder. It need not exist yet.
    #[must_use]
    pub fn new(path: PathBuf, reading: Reading) -> Self {
        Self { path, reading }
    }
}

impl Source for Folder {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn run(self: Box<Self>, outlet: Outlet) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>> {
        Box::pin(async move {
            let (notify, mut changes) = mpsc::channel::<()>(1);
            let last_good = self.reading.state.as_deref().map(|state| LastGood::open(state, &self.path));
            let mut reader = Reader::new(self.path, self.reading, outlet, last_good);
            let on_event = move |event: notify::Result<notify::Event>| {
                // Reading causes access events. The channel holds one notification, which is enough.
                if !event.is_ok_and(|event| event.kind.is_access()) {
                    let _ = notify.try_send(());
                }
            };
            match notify::recommended_watcher(on_event) {
                Ok(watcher) => reader.set_watcher(watcher),
                Err(error) => {
                    tracing::warn!(
                        every_s = INTERVAL.as_secs(),
                        "the system sends no notifications of changes, so files are read at intervals: {error}"
                    );
                }
            }
            loop {
                let done = tokio::task::spawn_blocking(move || {
                    reader.read();
                    reader
                });
                reader = done.await.map_err(|error| format!("reading the folder failed: {error}"))?;
                tokio::select! {
                    notified = changes.recv() => if notified.is_none() { tokio::time::sleep(INTERVAL).await },
                    () = tokio::time::sleep(reader.next_look().min(INTERVAL)) => {}
                }
            }
        })
    }
}

#[cfg(test)]
mod tests;
