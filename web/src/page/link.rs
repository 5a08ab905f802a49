//! The line to the worker: questions out, answers in, another worker where another is needed, and an end to one that hangs.
//!
//! What must not be here: what is asked.

use chancery_web::languages;
use chancery_web::protocol::{Answer, Other, Question, Work};
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

#[wasm_bindgen(raw_module = "./parts.js")]
extern "C" {
    /// Frees the memory of bytes that have been read.
    pub fn emptied(bytes: &Uint8Array);
}

#[wasm_bindgen(raw_module = "./start.js")]
extern "C" {
    /// The worker of a dialect, or of all: the one that was started beside the page, or a new one.
    #[wasm_bindgen(js_name = take)]
    fn take_worker(dialect: &str) -> Worker;
    /// Which one was started beside the page.
    fn prepared() -> String;
    /// Answers that were made when the page was built, as JSON: of a first visit, else nothing.
    #[wasm_bindgen(js_name = first)]
    fn first_answers() -> js_sys::Promise;
}

type Waiting = oneshot::Sender<Vec<u8>>;

/// A worker, and what listens to it as long as it is kept.
struct Running {
    worker: Worker,
    _listeners: [EventListener; 2],
}

#[derive(Default)]
struct Link {
    worker: Option<Running>,
    /// Which worker it is, or is to be.
    called: &'static str,
    /// Whether it has answered anything.
    is_there: bool,
    /// Whether it has been given something to compile.
    has_work: bool,
    /// Whether it, or a part of it, could not be loaded.
    is_lost: bool,
    /// Who wants to know when that happens.
    when_lost: Option<Rc<dyn Fn()>>,
    /// What is asked about work before there is any: it is sent after that.
    held: Vec<(u32, Uint8Array)>,
    /// Questions of a first visit, each with its answer, until the worker is there.
    first: Vec<(serde_json::Value, String)>,
    next: u32,
    waiting: HashMap<u32, Waiting>,
}

thread_local! {
    static LINK: RefCell<Link> = RefCell::new(Link::default());
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Silence {
    /// The worker was ended.
    Ended,
    /// It said why.
    Refused(String),
}

fn start(called: &str) -> Running {
    let worker = take_worker(called);
    let heard = EventListener::new(&worker, "message", |event| {
        let Some(event) = event.dyn_ref::<MessageEvent>() else { return };
        if event.data().is_null() {
            return lose();
        }
        let pair = Array::from(&event.data());
        let (Some(number), Ok(bytes)) = (pair.get(0).as_f64(), pair.get(1).dyn_into::<Uint8Array>()) else { return };
        let answer = bytes.to_vec();
        emptied(&bytes);
        let waiting = LINK.with_borrow_mut(|link| {
            link.is_there = true;
            link.first.clear();
            link.waiting.remove(&(number as u32))
        });
        if let Some(waiting) = waiting {
            let _ = waiting.send(answer);
        }
    });
    let failed = EventListener::new(&worker, "error", |_| {
        if LINK.with_borrow(|link| !link.is_there) {
            lose();
        }
    });
    Running { worker, _listeners: [heard, failed] }
}

/// Whether the last worker, or a part of it, could not be loaded.
pub fn is_lost() -> bool {
    LINK.with_borrow(|link| link.is_lost)
}

/// Whenever a worker, or a part of it, could not be loaded, does this.
pub fn when_lost(act: impl Fn() + 'static) {
    LINK.with_borrow_mut(|link| link.when_lost = Some(Rc::new(act)));
}

/// The worker, or a part of it, could not be loaded: what it was doing is lost, and so is what it knows.
fn lose() {
    end();
    let when_lost = LINK.with_borrow_mut(|link| {
        link.is_lost = true;
        link.when_lost.clone()
    });
    if let Some(act) = when_lost {
        act();
    }
}

/// Asks for this worker from now on. Who waits for another one is notified that it has ended.
pub fn require(called: &'static str) {
    let is_other = LINK.with_borrow_mut(|link| {
        let is_other = link.worker.is_some() && link.called != called;
        link.called = called;
        is_other
    });
    if is_other {
        end();
    }
}

/// The same for work; any worker will do for what holds nothing.
pub fn require_for(work: &Work) {
    if let Some(worker) = languages::worker(&languages::needed(&languages::inputs(&work.files), work).0) {
        require(worker);
    }
}

/// Until the worker is loaded: what it is asked before waits.
pub async fn loaded() {
    if !LINK.with_borrow(|link| link.is_there && link.worker.is_some()) {
        let _ = ask::<()>(Question::Hello).await;
    }
}

/// Takes the answers of a first visit, which stand in for the worker until it is there.
pub async fn take_first() {
    let text = JsFuture::from(first_answers()).await.ok().and_then(|text| text.as_string()).unwrap_or_default();
    if let Ok(first) = serde_json::from_str(&text) {
        LINK.with_borrow_mut(|link| link.first = if link.is_there { Vec::new() } else { first });
    }
}

/// The answer to a question of a first visit, while it stands in for the worker's.
fn first_answer(question: &str) -> Option<String> {
    LINK.with_borrow(|link| {
        let question = (!link.first.is_empty()).then(|| serde_json::from_str::<serde_json::Value>(question).ok())??;
        link.first.iter().find(|(known, _)| *known == question).map(|(_, answer)| answer.clone())
    })
}

/// What stands in for the worker's answer, if anything does.
pub fn ask_first<T: DeserializeOwned>(question: &Question) -> Option<T> {
    match serde_json::from_str(&first_answer(&serde_json::to_string(question).ok()?)?) {
        Ok(Answer::Fine(answer)) => Some(answer),
        Ok(Answer::Refused(_)) | Err(_) => None,
    }
}

/// Asks, and waits for the answer.
pub async fn ask<T: DeserializeOwned>(question: Question) -> Result<T, Silence> {
    let answer = send(question)?.await.map_err(|_| Silence::Ended)?;
    // Reading bytes would be one more instance of each type's reader.
    match serde_json::from_str::<Answer<T>>(&String::from_utf8(answer).unwrap_or_default()) {
        Ok(Answer::Fine(answer)) => Ok(answer),
        Ok(Answer::Refused(why)) => Err(Silence::Refused(why)),
        Err(error) => Err(Silence::Refused(error.to_string())),
    }
}

/// About how many bytes a question takes as JSON: a list that grows by doubling takes three times as much while it does.
fn room(question: &Question) -> usize {
    let text = match question {
        Question::Compile(work) | Question::Compare(Other::Work(work)) => work.files.iter().map(|file| file.text.len()).sum(),
        _ => 0,
    };
    // Each end of a line takes a byte more.
    text + text / 16 + 256
}

/// Hands a question on to the worker. Nothing of it is kept while the worker works.
fn send(question: Question) -> Result<oneshot::Receiver<Vec<u8>>, Silence> {
    let mut json = Vec::with_capacity(room(&question));
    serde_json::to_writer(&mut json, &question).map_err(|error| Silence::Refused(error.to_string()))?;
    let json = String::from_utf8(json).unwrap_or_default();
    let (send, receive) = oneshot::channel();
    // What is compiled is asked of the worker itself.
    let is_compile = matches!(question, Question::Compile(_));
    if !is_compile && let Some(answer) = first_answer(&json) {
        let _ = send.send(answer.into_bytes());
        return Ok(receive);
    }
    LINK.with_borrow_mut(|link| {
        link.next += 1;
        let number = link.next;
        if link.worker.is_none() {
            if link.called.is_empty() {
                link.called = languages::named(&prepared()).unwrap_or(languages::ALL);
            }
            link.is_there = false;
            link.is_lost = false;
            link.has_work = false;
            link.worker = Some(start(link.called));
        }
        let bytes = Uint8Array::from(json.as_bytes());
        link.waiting.insert(number, send);
        link.has_work |= is_compile;
        if !link.has_work && !question.needs_no_work() {
            return link.held.push((number, bytes));
        }
        if let Some(Running { worker, .. }) = &link.worker {
            post(worker, number, &bytes);
            if link.has_work {
                link.held.drain(..).for_each(|(number, held)| post(worker, number, &held));
            }
        }
    });
    Ok(receive)
}

/// Posts a question. Its bytes are the worker's then.
fn post(worker: &Worker, number: u32, bytes: &Uint8Array) {
    // Who waits is notified when the worker ends.
    let _ = worker.post_message_with_transfer(&Array::of2(&number.into(), bytes), &Array::of1(&bytes.buffer()));
}

/// Ends the worker: who waits is notified, and the next question starts another.
pub fn end() {
    LINK.with_borrow_mut(|link| {
        if let Some(Running { worker, .. }) = link.worker.take() {
            worker.terminate();
        }
        link.waiting.clear();
        link.held.clear();
    });
}
