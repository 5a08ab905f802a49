//! The connection to the worker: sends questions, receives answers, and replaces a worker that hangs or failed. Does not interpret questions.

use chancery_web::protocol::{Answer, Other, Question};
use futures::channel::oneshot;
use gloo_events::EventListener;
use js_sys::{Array, Uint8Array};
use serde::de::DeserializeOwned;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{MessageEvent, Worker};

#[wasm_bindgen(raw_module = "./bytes.js")]
extern "C" {
    /// Frees the memory of a byte array that was read.
    pub fn release(bytes: &Uint8Array);
}

#[wasm_bindgen(raw_module = "./start.js")]
extern "C" {
    /// Returns the worker that was started early, or starts another.
    #[wasm_bindgen(js_name = takeWorker)]
    fn take_worker() -> Worker;
    /// Resolves to the answers for a first visit as JSON, or to an empty string.
    #[wasm_bindgen(js_name = takeFirstAnswers)]
    fn take_first_answers() -> js_sys::Promise;
}

type Waiting = oneshot::Sender<Vec<u8>>;

/// A worker with its listeners.
struct Running {
    worker: Worker,
    _listeners: [EventListener; 2],
}

/// A question that waits for the worker.
struct Queued {
    number: u32,
    json: Uint8Array,
    is_compile: bool,
    /// Whether it can be answered before the first compile.
    needs_no_work: bool,
}

#[derive(Default)]
struct Link {
    worker: Option<Running>,
    /// Whether the worker has answered anything.
    is_ready: bool,
    /// Whether the worker has received something to compile.
    has_work: bool,
    /// Whether it could not be loaded.
    has_failed: bool,
    on_failure: Option<Rc<dyn Fn()>>,
    /// Whether the worker is answering a question. It gets the next one after its answer, so that a compile waits for at most one question.
    is_busy: bool,
    /// Questions that the worker has not received, in order. Compiles come first.
    queue: Vec<Queued>,
    /// Questions of a first visit with their answers, until the worker is ready.
    first: Vec<(serde_json::Value, String)>,
    next: u32,
    waiting: HashMap<u32, Waiting>,
}

thread_local! {
    static LINK: RefCell<Link> = RefCell::new(Link::default());
}

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Silence {
    /// The worker was ended.
    Ended,
    /// The worker refused the question, for this reason.
    Refused(String),
}

fn start() -> Running {
    let worker = take_worker();
    let on_message = EventListener::new(&worker, "message", |event| {
        let Some(event) = event.dyn_ref::<MessageEvent>() else { return };
        let pair = Array::from(&event.data());
        let (Some(number), Ok(bytes)) = (pair.get(0).as_f64(), pair.get(1).dyn_into::<Uint8Array>()) else { return };
        let answer = bytes.to_vec();
        release(&bytes);
        let waiting = LINK.with_borrow_mut(|link| {
            link.is_ready = true;
            link.first.clear();
            link.is_busy = false;
            link.post_next();
            link.waiting.remove(&(number as u32))
        });
        if let Some(waiting) = waiting {
            let _ = waiting.send(answer);
        }
    });
    let on_error = EventListener::new(&worker, "error", |_| {
        match LINK.with_borrow(|link| link.is_ready) {
            // A bug stopped it: it answers nothing more.
            true => end(),
            false => handle_worker_failure(),
        }
    });
    Running { worker, _listeners: [on_message, on_error] }
}

/// Whether the last worker could not be loaded.
pub fn has_failed() -> bool {
    LINK.with_borrow(|link| link.has_failed)
}

/// Registers a function that runs when a worker cannot be loaded.
pub fn on_failure(act: impl Fn() + 'static) {
    LINK.with_borrow_mut(|link| link.on_failure = Some(Rc::new(act)));
}

/// Ends a worker that could not be loaded and reports the failure.
fn handle_worker_failure() {
    end();
    let on_failure = LINK.with_borrow_mut(|link| {
        link.has_failed = true;
        link.on_failure.clone()
    });
    if let Some(act) = on_failure {
        act();
    }
}

/// Waits until the worker is loaded.
pub async fn loaded() {
    if !LINK.with_borrow(|link| link.is_ready && link.worker.is_some()) {
        let _ = ask::<()>(Question::Hello).await;
    }
}

/// Takes the answers for a first visit. They replace the worker's answers until the worker is ready.
pub async fn take_first() {
    let text = JsFuture::from(take_first_answers()).await.ok().and_then(|text| text.as_string()).unwrap_or_default();
    if let Ok(first) = serde_json::from_str(&text) {
        LINK.with_borrow_mut(|link| link.first = if link.is_ready { Vec::new() } else { first });
    }
}

/// The prepared answer to a question of a first visit, while the worker is not ready.
fn first_answer(question: &str) -> Option<String> {
    LINK.with_borrow(|link| {
        let question = (!link.first.is_empty()).then(|| serde_json::from_str::<serde_json::Value>(question).ok())??;
        link.first.iter().find(|(known, _)| *known == question).map(|(_, answer)| answer.clone())
    })
}

/// Asks only the prepared answers.
pub fn ask_first<T: DeserializeOwned>(question: &Question) -> Option<T> {
    match serde_json::from_str(&first_answer(&serde_json::to_string(question).ok()?)?) {
        Ok(Answer::Fine(answer)) => Some(answer),
        Ok(Answer::Refused(_)) | Err(_) => None,
    }
}

/// Asks the worker and waits for the answer.
pub async fn ask<T: DeserializeOwned>(question: Question) -> Result<T, Silence> {
    let answer = send(question)?.await.map_err(|_| Silence::Ended)?;
    match serde_json::from_slice::<Answer<T>>(&answer) {
        Ok(Answer::Fine(answer)) => Ok(answer),
        Ok(Answer::Refused(why)) => Err(Silence::Refused(why)),
        Err(error) => Err(Silence::Refused(error.to_string())),
    }
}

/// The approximate size of a question as JSON. A buffer that grows by doubling would take up to three times as much memory.
fn estimate_size(question: &Question) -> usize {
    let text = match question {
        Question::Compile(work) | Question::Compare(Other::Work(work)) => work.files.iter().map(|file| file.text.len()).sum(),
        _ => 0,
    };
    // JSON needs one more byte for each line end.
    text + text / 16 + 256
}

/// Sends a question to the worker and keeps no copy of it.
fn send(question: Question) -> Result<oneshot::Receiver<Vec<u8>>, Silence> {
    let mut json = Vec::with_capacity(estimate_size(&question));
    serde_json::to_writer(&mut json, &question).map_err(|error| Silence::Refused(error.to_string()))?;
    let json = String::from_utf8(json).unwrap_or_default();
    let (send, receive) = oneshot::channel();
    // A compile always reaches the worker, so that the worker has the work.
    let is_compile = matches!(question, Question::Compile(_));
    if !is_compile && let Some(answer) = first_answer(&json) {
        let _ = send.send(answer.into_bytes());
        return Ok(receive);
    }
    LINK.with_borrow_mut(|link| {
        link.next += 1;
        let number = link.next;
        if link.worker.is_none() {
            link.is_ready = false;
            link.has_work = false;
            link.has_failed = false;
            link.worker = Some(start());
        }
        link.waiting.insert(number, send);
        let json = Uint8Array::from(json.as_bytes());
        link.queue.push(Queued { number, json, is_compile, needs_no_work: question.needs_no_work() });
        link.post_next();
    });
    Ok(receive)
}

impl Link {
    /// Posts the next question if the worker is free, and transfers its bytes.
    fn post_next(&mut self) {
        let Some(Running { worker, .. }) = self.worker.as_ref().filter(|_| !self.is_busy) else { return };
        let can_answer = |queued: &Queued| self.has_work || queued.needs_no_work;
        let Some(next) = self.queue.iter().position(|queued| queued.is_compile).or_else(|| self.queue.iter().position(can_answer)) else { return };
        let Queued { number, json, is_compile, .. } = self.queue.remove(next);
        self.is_busy = true;
        self.has_work |= is_compile;
        // If this fails, the asker learns of it when the worker ends.
        let _ = worker.post_message_with_transfer(&Array::of2(&number.into(), &json), &Array::of1(&json.buffer()));
    }
}

/// Ends the worker. All pending questions fail, and the next question starts another worker.
pub fn end() {
    LINK.with_borrow_mut(|link| {
        if let Some(Running { worker, .. }) = link.worker.take() {
            worker.terminate();
        }
        link.waiting.clear();
        link.queue.clear();
        link.is_busy = false;
    });
}
