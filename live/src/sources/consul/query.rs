//! Repeats a blocking query, which waits for a changed answer. Does not send requests; see `connect`.

use super::connect::{Answer, Client, Trouble};
use std::sync::Arc;
use std::time::Duration;

/// How long Consul waits for a change. Consul adds up to a sixteenth.
const WAIT: Duration = Duration::from_secs(300);
/// The additional time limit for an answer.
const SLACK: Duration = Duration::from_secs(40);
/// The interval of queries that cannot wait.
const POLL: Duration = Duration::from_secs(15);
/// The shortest time between two answers, so that constant changes do not keep Consul busy.
const REST: Duration = Duration::from_millis(100);
/// The pauses after failures: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(8));

/// A query that repeats as long as its answers are used.
pub(super) struct Query {
    client: Arc<Client>,
    path: String,
    wait: Duration,
    index: u64,
    can_wait: bool,
    pause: Duration,
    rest: Option<Duration>,
}

impl Query {
    /// Creates a query of this path, which may have parameters.
    pub(super) fn new(client: Arc<Client>, path: String) -> Self {
        Self { client, path, wait: WAIT, index: 0, can_wait: true, pause: PAUSES.0, rest: None }
    }

    /// Limits how long Consul waits for a change.
    pub(super) fn within(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Returns the next answer: the first at once, later answers after a change or at the end of the wait. After a
    /// failure it pauses first.
    pub(super) async fn next(&mut self) -> Result<Answer, Trouble> {
        if let Some(pause) = self.rest.take() {
            tokio::time::sleep(pause).await;
        }
        let joint = if self.path.contains('?') { '&' } else { '?' };
        let path = match self.index {
            0 => self.path.clone(),
            index => format!("{}{joint}index={index}&wait={}ms", self.path, self.wait.as_millis()),
        };
        match self.client.get(&path, self.wait + SLACK).await {
            Ok(answer) => {
                self.pause = PAUSES.0;
                self.take_index(answer.index);
                self.rest = Some(if self.can_wait { REST } else { self.wait.min(POLL) });
                Ok(answer)
            }
            Err(trouble) => {
                self.rest = Some(self.pause);
                self.pause = (self.pause * 2).min(PAUSES.1);
                // The last index may belong to a cluster that has forgotten it, so the next query does not wait.
                self.index = 0;
                Err(trouble)
            }
        }
    }

    /// Sets the index of the next query. An index that decreases belongs to a restored cluster, so the next query does
    /// not wait. A query with index 0 would never wait.
    fn take_index(&mut self, index: Option<u64>) {
        self.can_wait = index.is_some();
        let index = index.unwrap_or(0);
        self.index = if index < self.index { 0 } else { index };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::consul::settings::Settings;

    #[test]
    fn query_forgets_decreasing_index() {
        let settings = Settings::default().resolved(|_| None).expect("settings");
        let mut query = Query::new(Arc::new(Client::new(&settings).expect("a client")), "/v1/x".into());
        for (answered, next) in [(Some(7), 7), (Some(9), 9), (Some(3), 0), (Some(3), 3), (None, 0), (Some(0), 0)] {
            query.take_index(answered);
            assert_eq!(query.index, next, "behind {answered:?}");
        }
    }
}
