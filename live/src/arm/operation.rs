//! Follows a long-running operation, as a state machine: it receives answers, and returns the next request and its time.
//! Does not wait or send; see `client`.
//!
//! ARM answers a change in one of three ways. With `Azure-AsyncOperation`, it gives a URL for the state of the
//! operation. With 202 and `Location`, that URL answers 202 until the operation is done. Otherwise it returns the
//! resource, whose `provisioningState` is the state.

use super::answer::Answer;
use super::trouble::{Kind, Trouble, words};
use serde_json::Value;
use std::time::Duration;

/// The most failed answers in a row while an operation is under way.
const MOST_FAILURES: u32 = 5;

/// The sign that an operation is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CompletionSign {
    /// The `status` of the answer.
    Status,
    /// The status code is no longer 202.
    Code,
    /// The `provisioningState` of the resource.
    Resource,
}

/// An operation that is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    url: String,
    by: CompletionSign,
    failures: u32,
}

/// The next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// The operation is done.
    Done,
    /// Request the operation's URL after this pause, or after the usual pause.
    Ask(Operation, Option<Duration>),
    /// The operation failed.
    Failed(Trouble),
}

impl Operation {
    /// Returns the URL to request.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Interprets the answer to a change of the resource at `url`.
    #[must_use]
    pub fn begun(url: &str, answer: &Answer) -> Next {
        if !(200..300).contains(&answer.status) {
            return Next::Failed(Trouble::of("the gateway is not changed", answer));
        }
        let at = |url: &str, by: CompletionSign| Next::Ask(Self { url: url.to_owned(), by, failures: 0 }, answer.retry_after);
        match (&answer.operation, &answer.location) {
            (Some(operation), _) => at(operation, CompletionSign::Status),
            (None, Some(location)) if answer.status == 202 => at(location, CompletionSign::Code),
            _ => match state(&answer.json()) {
                State::Succeeded => Next::Done,
                State::UnderWay => at(url, CompletionSign::Resource),
                State::Failed(why) => Next::Failed(Trouble::new(Kind::Refused, format!("the gateway is not changed: {why}"))),
            },
        }
    }

    /// Interprets the answer about the operation.
    #[must_use]
    pub fn after(mut self, answer: &Result<Answer, Trouble>) -> Next {
        let answer = match answer {
            Ok(answer) if (200..300).contains(&answer.status) => answer,
            Ok(answer) => return self.failed(Trouble::of("the outcome of the change is not known", answer)),
            Err(trouble) => return self.failed(trouble.clone()),
        };
        self.failures = 0;
        let body = answer.json();
        let state = match self.by {
            CompletionSign::Code if answer.status == 202 => State::UnderWay,
            CompletionSign::Code => State::Succeeded,
            CompletionSign::Status => of_word(body["status"].as_str().unwrap_or_default(), &body),
            CompletionSign::Resource => state(&body),
        };
        match state {
            State::Succeeded => Next::Done,
            State::UnderWay => Next::Ask(self, answer.retry_after),
            State::Failed(why) => Next::Failed(Trouble::new(Kind::Refused, format!("the change failed: {why}"))),
        }
    }

    /// Notes a failed request, which does not affect the operation itself.
    fn failed(mut self, trouble: Trouble) -> Next {
        self.failures += 1;
        // An expired token is renewed.
        let may_mend = matches!(trouble.kind, Kind::Throttled | Kind::Unavailable | Kind::Denied);
        if may_mend && self.failures < MOST_FAILURES { Next::Ask(self, trouble.retry_after) } else { Next::Failed(trouble) }
    }
}

enum State {
    Succeeded,
    UnderWay,
    Failed(String),
}

/// Returns the state of a resource.
fn state(resource: &Value) -> State {
    match resource["properties"]["provisioningState"].as_str() {
        None => State::Succeeded,
        Some(word) => of_word(word, resource),
    }
}

fn of_word(word: &str, body: &Value) -> State {
    match word {
        "Succeeded" => State::Succeeded,
        "Failed" | "Canceled" | "Cancelled" => State::Failed(words(body).unwrap_or_else(|| format!("Azure says `{word}` and no reason"))),
        _ => State::UnderWay,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answer(status: u16, body: &Value) -> Answer {
        Answer { status, body: body.to_string().into_bytes(), ..Answer::default() }
    }

    fn asked(next: Next) -> Operation {
        match next {
            Next::Ask(operation, _) => operation,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn operation_with_status_is_polled_until_end() {
        let begun = Answer {
            operation: Some("https://arm/op".into()),
            location: Some("https://arm/result".into()),
            retry_after: Some(Duration::from_secs(3)),
            ..answer(201, &json!({"properties": {"provisioningState": "Succeeded"}}))
        };
        let Next::Ask(operation, after) = Operation::begun("https://arm/gw", &begun) else { panic!("it is under way") };
        assert_eq!((operation.url(), after), ("https://arm/op", Some(Duration::from_secs(3))));
        let operation = asked(operation.after(&Ok(answer(200, &json!({"status": "InProgress"})))));
        assert_eq!(operation.clone().after(&Ok(answer(200, &json!({"status": "Succeeded"})))), Next::Done);
        let failed = json!({"status": "Failed", "error": {"code": "Bad", "message": "no such pool", "details": [{"message": "fl-1"}]}});
        let Next::Failed(trouble) = operation.after(&Ok(answer(200, &failed))) else { panic!("it failed") };
        assert_eq!((trouble.kind, trouble.message.as_str()), (Kind::Refused, "the change failed: Bad: no such pool (fl-1)"));
    }

    #[test]
    fn operation_with_location_ends_after_202() {
        let begun = Answer { location: Some("https://arm/result".into()), ..answer(202, &json!({})) };
        let operation = asked(Operation::begun("https://arm/gw", &begun));
        let operation = asked(operation.after(&Ok(answer(202, &json!({})))));
        assert_eq!(operation.after(&Ok(answer(204, &json!({})))), Next::Done);
    }

    #[test]
    fn operation_without_headers_follows_provisioning_state() {
        let state = |word: &str| answer(200, &json!({"properties": {"provisioningState": word}}));
        assert_eq!(Operation::begun("https://arm/gw", &state("Succeeded")), Next::Done);
        let operation = asked(Operation::begun("https://arm/gw", &state("Updating")));
        assert_eq!(operation.url(), "https://arm/gw");
        assert_eq!(operation.clone().after(&Ok(state("Succeeded"))), Next::Done);
        assert!(matches!(operation.after(&Ok(state("Canceled"))), Next::Failed(_)));
    }

    #[test]
    fn failed_poll_does_not_end_operation() {
        let begun = Answer { operation: Some("https://arm/op".into()), ..answer(201, &json!({})) };
        let mut operation = asked(Operation::begun("https://arm/gw", &begun));
        let throttled = Answer { retry_after: Some(Duration::from_secs(7)), ..answer(429, &json!({})) };
        let Next::Ask(_, after) = operation.clone().after(&Ok(throttled)) else { panic!("it is asked for again") };
        assert_eq!(after, Some(Duration::from_secs(7)));
        for _ in 1..MOST_FAILURES {
            operation = asked(operation.after(&Err(Trouble::new(Kind::Unavailable, "cut"))));
        }
        assert!(matches!(operation.clone().after(&Ok(answer(503, &json!({})))), Next::Failed(_)), "it stops in the end");
        let operation = asked(operation.after(&Ok(answer(200, &json!({"status": "InProgress"})))));
        assert!(matches!(operation.clone().after(&Ok(answer(404, &json!({})))), Next::Failed(_)), "it does not come back");
        asked(operation.after(&Ok(answer(500, &json!({})))));
    }

    #[test]
    fn refused_change_starts_no_operation() {
        for (status, kind) in [(400, Kind::Refused), (403, Kind::Denied), (409, Kind::Busy), (412, Kind::Changed), (429, Kind::Throttled)] {
            let body = json!({"error": {"code": "X", "message": "why"}});
            let Next::Failed(trouble) = Operation::begun("https://arm/gw", &answer(status, &body)) else { panic!("{status}") };
            assert_eq!(trouble.kind, kind);
            assert!(trouble.message.ends_with("X: why"), "{trouble}");
        }
    }
}
