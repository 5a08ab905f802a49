//! Reports new errors to a user who does not look at the window. Does not show them; see `window`.

use chancery_live::event::{Event, Events};
use std::sync::Arc;
use tokio::sync::broadcast::error::RecvError;

/// Receives a sentence about new errors.
pub type Alarm = Arc<dyn Fn(&str) + Send + Sync>;

/// Reports new errors until the events end. Skips the first build, whose errors are not new.
pub async fn follow(events: Events, alarm: Alarm) {
    let (_, mut receiver) = events.follow();
    drop(events);
    let mut is_first = true;
    loop {
        match receiver.recv().await {
            Ok(dated) => {
                let text = sentence(&dated.event);
                let is_build = matches!(dated.event, Event::Build { .. });
                if let Some(text) = text.filter(|_| !is_first) {
                    alarm(&text);
                }
                is_first &= !is_build;
            }
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

fn sentence(event: &Event) -> Option<String> {
    let Event::Build { found, .. } = event else { return None };
    let errors: Vec<_> = found.iter().filter(|finding| finding.severity == "error").collect();
    match errors[..] {
        [] => None,
        [one] => Some(one.message.clone()),
        [first, ..] => Some(format!("{} new errors. The first: {}", errors.len(), first.message)),
    }
}
