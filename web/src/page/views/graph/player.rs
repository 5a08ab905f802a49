//! The controls of the player, and the place of its dot. Does not decide what a step says; see `play`.

use super::board::Board;
use crate::views::markdown::words;
use chancery_web::protocol::Drawing;
use leptos::prelude::*;

/// The place of the dot: the left edge of the step's box. A step without a box stays at the box before it.
pub fn dot(board: Board) -> Option<(i32, i32)> {
    let play = board.app.play;
    let at = play.at.get()?;
    let place = |drawing: &Drawing, id: &str| drawing.frames.iter().find(|frame| frame.id == id).map(|frame| (frame.x, frame.y + frame.height / 2));
    play.stops.with(|stops| {
        let mut ids = stops.iter().take(at + 1).rev().filter_map(|stop| stop.step.node.as_deref());
        board.drawing.with(|drawing| ids.find_map(|id| place(drawing, id)))
    })
}

/// The controls, while a request is played.
#[component]
pub fn Player(board: Board) -> impl IntoView {
    let play = board.app.play;
    let is_open = Memo::new(move |_| play.is_open());
    // Scrolls to the box of the step.
    Effect::new(move |_| {
        if let Some(id) = play.stop().and_then(|stop| stop.step.node) {
            request_animation_frame(move || board.show(&id, false));
        }
    });
    let name = move || {
        play.stop().map(|stop| {
            let at = stop.gateway.as_ref().map(|gateway| format!("{gateway}: ")).unwrap_or_default();
            format!("{at}{} {}", stop.step.what, stop.step.name).trim_end().to_string()
        })
    };
    let sentence = move || play.stop().map(|stop| words(&stop.sentence()));
    let count = move || format!("{} of {}", play.at.get().map_or(0, |at| at + 1), play.stops.with(Vec::len));
    let is_lost = move || play.stop().is_some_and(|stop| stop.step.lost);
    let run = move || if play.runs.get() { "Pause" } else { "Play" };
    move || {
        is_open.get().then(|| {
            view! {
                <div class="player" role="group" aria-label="Steps of the request">
                    <button class="quiet" title="Previous step (←)" aria-label="Previous step" on:click=move |_| play.step(false)>"‹"</button>
                    <button class="quiet player-run" on:click=move |_| play.toggle()>{run}</button>
                    <button class="quiet" title="Next step (→)" aria-label="Next step" on:click=move |_| play.step(true)>"›"</button>
                    <span class="player-count">{count}</span>
                    <p class="player-sentence" class:lost=is_lost role="status"><strong>{name}</strong> " " {sentence}</p>
                    <button class="quiet" title="Close the player (Escape)" aria-label="Close the player" on:click=move |_| play.close()>"×"</button>
                </div>
            }
        })
    }
}
