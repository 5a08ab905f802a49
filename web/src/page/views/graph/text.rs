//! The graph as a list: every box with its references and their fields.

use super::board::Board;
use chancery_web::protocol::{Drawing, Frame};
use leptos::prelude::*;

/// The references of a box, one sentence each.
fn onward(drawing: &Drawing, at: usize) -> Vec<String> {
    let describe = |line: &chancery_web::protocol::Line| {
        let to = drawing.frames.get(line.to)?;
        let label = if line.label.is_empty() { String::new() } else { format!(" ({})", line.label) };
        Some(format!("{} {}{label}", line.relation, to.title))
    };
    drawing.lines.iter().filter(|line| line.from == at).filter_map(describe).collect()
}

/// The list as plain text.
pub fn plain(drawing: &Drawing) -> String {
    let one = |(at, frame): (usize, &Frame)| {
        let reason = if frame.reason.is_empty() { String::new() } else { format!(" ({})", frame.reason) };
        let onward: String = onward(drawing, at).into_iter().map(|line| format!("  {line}\n")).collect();
        format!("{}: {}{reason}\n{onward}", frame.caption, frame.title)
    };
    drawing.frames.iter().enumerate().map(one).collect()
}

#[component]
pub fn AsText(board: Board) -> impl IntoView {
    let item = move |drawing: &Drawing, at: usize, frame: &Frame| {
        let span = frame.span.clone();
        let source = span.map(|span| {
            let label = format!("{}:{}", span.file, span.line);
            view! { <button class="chip source" on:click=move |_| board.app.selection.go(&span)>{label}</button> }
        });
        view! {
            <li class="as-text">
                <strong>{frame.title.clone()}</strong> " " <span class="as-text-caption">{frame.caption.clone()}</span> " "
                {(!frame.reason.is_empty()).then(|| view! { <span class="as-text-reason">{frame.reason.clone()}</span> })}
                {source}
                <ul>{onward(drawing, at).into_iter().map(|one| view! { <li>{one}</li> }).collect_view()}</ul>
            </li>
        }
    };
    let items = move || board.drawing.with(|drawing| drawing.frames.iter().enumerate().map(|(at, frame)| item(drawing, at, frame)).collect_view());
    view! {
        <div class="scroll as-text-list" tabindex="0" role="group" aria-label="The graph as a list">
            <ul>{items}</ul>
        </div>
    }
}
