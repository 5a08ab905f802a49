//! New errors, for a person who does not look at the window.
//!
//! What must not be here: how they are shown.

use chancery_live::event::{Event, Events};
use std::sync::Arc;
use tokio::sync::broadcast::error::RecvError;

/// Takes a sentence about new errors.
pub type Alarm = Arc<dyn Fn(&str) + Send + Sync>;

/// Hands each sentence on, until the events end. The first build finds what was there before, which is not new.
pub async fn follow(events: Events, alarm: Alarm) {
    let (_, mut coming) = events.follow();
    drop(events);
    let mut is_first = true;
    loop {
        match coming.recv().await {
            Ok(dated) => {
                let said = sentence(&dated.event);
                let is_build = matches!(dated.event, Event::Build { .. });
                if let Some(said) = said.filter(|_| !is_first) {
                    alarm(&said);
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
