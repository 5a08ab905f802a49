//! The line to the worker: questions out, answers in, and an end to a worker that hangs.
//!
//! What must not be here: what is asked.

use chancery_web::protocol::{Answer, Question};
use futures::channel::oneshot;
use js_sys::{Array, Reflect};
use serde::de::DeserializeOwned;
use std::cell::RefCell;
use std::collections::HashMap;
use wasm_bindgen::prelude::*;
use web_sys::{MessageEvent, Worker, WorkerOptions, WorkerType};

type Waiting = oneshot::Sender<String>;

#[derive(Default)]
struct Link {
    worker: Option<Worker>,
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

fn start() -> Option<Worker> {
    // The first one was started beside the page.
    let early = Reflect::get(&js_sys::global(), &"chanceryWorker".into()).ok().and_then(|worker| worker.dyn_into::<Worker>().ok());
    let _ = Reflect::set(&js_sys::global(), &"chanceryWorker".into(), &JsValue::UNDEFINED);
    let worker = early.or_else(|| {
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        Worker::new_with_options("./worker.js", &options).ok()
    })?;
    let heard = Closure::<dyn Fn(MessageEvent)>::new(|event: MessageEvent| {
        let pair = Array::from(&event.data());
        let (Some(number), Some(text)) = (pair.get(0).as_f64(), pair.get(1).as_string()) else { return };
        let waiting = LINK.with_borrow_mut(|link| link.waiting.remove(&(number as u32)));
        if let Some(waiting) = waiting {
            let _ = waiting.send(text);
        }
    });
    worker.set_onmessage(Some(heard.as_ref().unchecked_ref()));
    heard.forget();
    Some(worker)
}

/// Asks, and waits for the answer.
pub async fn ask<T: DeserializeOwned>(question: Question) -> Result<T, Silence> {
    let text = ask_raw(&question).await?;
    match serde_json::from_str::<Answer<T>>(&text) {
        Ok(Answer::Fine(answer)) => Ok(answer),
        Ok(Answer::Refused(why)) => Err(Silence::Refused(why)),
        Err(error) => Err(Silence::Refused(error.to_string())),
    }
}

async fn ask_raw(question: &Question) -> Result<String, Silence> {
    let json = serde_json::to_string(question).map_err(|error| Silence::Refused(error.to_string()))?;
    let (send, receive) = oneshot::channel();
    LINK.with_borrow_mut(|link| {
        link.next += 1;
        let number = link.next;
        if link.worker.is_none() {
            link.worker = start();
        }
        if let Some(worker) = &link.worker {
            link.waiting.insert(number, send);
            let _ = worker.post_message(&Array::of2(&number.into(), &json.as_str().into()));
        }
    });
    receive.await.map_err(|_| Silence::Ended)
}

/// Ends the worker: who waits is told, and the next question starts another.
pub fn end() {
    LINK.with_borrow_mut(|link| {
        if let Some(worker) = link.worker.take() {
            worker.terminate();
        }
        link.waiting.clear();
    });
}
