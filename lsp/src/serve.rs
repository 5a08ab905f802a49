//! Runs the server on a machine: one thread compiles, others answer requests, and the main loop handles messages.

use crate::analysis::Analysis;
use crate::compiling::{Clock, Done, Job, Memories};
use crate::server::{Answered, Server};
use crossbeam_channel::{Receiver, Sender, select, unbounded};
use lsp_server::{Connection, Message};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

/// The threads that answer requests.
const THREADS: usize = 2;

/// The time, in seconds since 1970.
fn now() -> Option<i64> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|since| i64::try_from(since.as_secs()).ok())
}

/// Serves one client on standard input and output. Returns the exit code.
///
/// # Errors
///
/// The client does not speak the protocol.
pub fn serve_stdio() -> Result<u8, String> {
    let (connection, _threads) = Connection::stdio();
    serve(&connection)
}

/// Serves one client until it exits. Returns the exit code.
///
/// # Errors
///
/// The client does not speak the protocol.
pub fn serve(connection: &Connection) -> Result<u8, String> {
    let (id, params) = connection.initialize_start().map_err(|error| error.to_string())?;
    let (mut server, work) = Server::new(&params, connection.sender.clone());
    connection.initialize_finish(id, server.about()).map_err(|error| error.to_string())?;
    let (done_by_compiler, done) = unbounded();
    let (answer_of_thread, answers) = unbounded();
    let (compiled, compiled_before) = unbounded();
    thread::spawn(move || compile_all(&work.jobs, &done_by_compiler, &compiled, now));
    thread::spawn(move || prepare(&compiled_before));
    for _ in 0..THREADS {
        let (tasks, answer) = (work.tasks.clone(), answer_of_thread.clone());
        thread::spawn(move || tasks.iter().for_each(|task| drop(answer.send(task()))));
    }
    server.start(&params);
    run(&mut server, &connection.receiver, &done, &answers)
}

/// Handles messages, compiles and answers until the client exits.
fn run(server: &mut Server, messages: &Receiver<Message>, done: &Receiver<Done>, answers: &Receiver<Answered>) -> Result<u8, String> {
    loop {
        select! {
            recv(messages) -> message => {
                // A client that is gone needs no answer.
                let Ok(message) = message else { return Ok(u8::from(!server.is_shut_down)) };
                // Everything that already arrived comes before the next compile: a cancellation, or the next key press.
                for message in std::iter::once(message).chain(messages.try_iter()) {
                    if let Some(code) = server.message(message) {
                        return Ok(code);
                    }
                }
                server.compile();
                server.start_requests();
            }
            recv(done) -> done => {
                if let Ok(done) = done {
                    server.compiled(done);
                }
            }
            recv(answers) -> answer => {
                if let Ok((id, response)) = answer {
                    server.answered(&id, response);
                }
            }
        }
    }
}

/// Prepares compiles for requests, on a separate thread: only the newest, so that typing does not wait.
fn prepare(compiled: &Receiver<Arc<Analysis>>) {
    while let Ok(first) = compiled.recv() {
        let newest = compiled.try_iter().last().unwrap_or(first);
        newest.prepare();
    }
}

/// Compiles until the sender of jobs is gone. Only the newest input of a folder is compiled.
fn compile_all(jobs: &Receiver<Job>, done: &Sender<Done>, compiled: &Sender<Arc<Analysis>>, clock: Clock) {
    let mut memories = Memories::new(clock);
    let mut waiting: BTreeMap<usize, Job> = BTreeMap::new();
    loop {
        if waiting.is_empty() {
            match jobs.recv() {
                Ok(job) => drop(waiting.insert(job.folder, job)),
                Err(_) => return,
            }
        }
        // A newer input replaces an older one.
        waiting.extend(jobs.try_iter().map(|job| (job.folder, job)));
        let Some((_, job)) = waiting.pop_first() else { continue };
        let result = memories.compile(job);
        let analysis = result.analysis.clone();
        if done.send(result).is_err() {
            return;
        }
        if waiting.is_empty() && jobs.is_empty() {
            drop(compiled.send(analysis));
        }
    }
}
