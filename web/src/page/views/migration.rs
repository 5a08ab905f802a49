//! The view of a move to another controller: the requests that change, by cause, and the converted resources below them. A selected difference is
//! marked in the editor and in the converted resources. Does not convert or compare; see `worker`.

use super::compare::source_chip;
use super::markdown::words;
use crate::state::App;
use chancery_web::protocol::{CauseGroup, From, Migration, MigrationDiff, MigrationNote, MigrationRow, NewController, SourceFile, Span, Target};
use leptos::prelude::*;
use std::ops::RangeInclusive;

/// At most this many rows of a cause are listed.
const MOST_ROWS: usize = 50;

#[component]
pub fn Moved(app: App, moved: Migration, to: NewController) -> impl IntoView {
    let Migration { files, notes, limits, diff } = moved;
    let MigrationDiff { compared, same, causes, not_compared } = diff;
    let marked = RwSignal::new(Vec::<Span>::new());
    let differ = compared - same.min(compared);
    let verdict = match (compared, differ) {
        (0, _) => "No request was tried.".to_string(),
        (_, 0) => format!("All {compared} requests that were tried are treated alike by {}.", to.label()),
        _ => format!("{differ} of {compared} requests that were tried are treated differently by {}.", to.label()),
    };
    let good = compared > 0 && differ == 0;
    let all: String = files.iter().map(|file| file.text.as_ref()).collect::<Vec<_>>().join("---\n");
    let copy = move |_| app.screen.copy(&all, "The YAML");
    view! {
        <div class="move">
            <div class="move-part" tabindex="0" role="group" aria-label="Differences">
                <p class="verdict" class:good=good role="status"><span class="verdict-mark" aria-hidden="true">{if good { "=" } else { "≠" }}</span><span>{verdict}</span></p>
                {causes.into_iter().map(|cause| view! { <OneCause app=app cause=cause marked=marked /> }).collect_view()}
                {(!notes.is_empty()).then(|| view! {
                    <section class="group changes">
                        <h2 class="group-name">"Not converted, or not exactly"</h2>
                        <ul>{notes.into_iter().map(|note| view! { <OneNote app=app note=note /> }).collect_view()}</ul>
                    </section>
                })}
                <section class="group changes">
                    <h2 class="group-name">"Not compared"</h2>
                    {limits.into_iter().chain(not_compared).map(|limit| view! { <p class="notice-line way-note">{words(&limit)}</p> }).collect_view()}
                </section>
            </div>
            <section class="move-part move-result" tabindex="0" aria-label="Converted resources">
                <h2 class="group-name">{format!("Resources for {} ", to.label())}<button class="chip" on:click=copy>"Copy"</button></h2>
                <Converted files=files marked=marked />
            </section>
        </div>
    }
}

#[component]
fn OneCause(app: App, cause: CauseGroup, marked: RwSignal<Vec<Span>>) -> impl IntoView {
    let CauseGroup { title, why, fix, requests, rows } = cause;
    let count = if requests == 1 { "1 request".to_string() } else { format!("{requests} requests") };
    let more = rows.len().saturating_sub(MOST_ROWS);
    let rows = rows.into_iter().take(MOST_ROWS).map(|row| view! { <OneRow app=app row=row marked=marked /> }).collect_view();
    view! {
        <section class="group changes">
            <h2 class="group-name">{title}" "<span class="count">{count}</span></h2>
            <p class="notice-line way-note">{words(&why)}" "{words(&fix)}"."</p>
            <ul>{rows}</ul>
            {(more > 0).then(|| view! { <p class="empty">{format!("and {more} more")}</p> })}
        </section>
    }
}

fn spans(lines: Vec<From>) -> Vec<Span> {
    lines.into_iter().filter_map(|from| from.span).collect()
}

#[component]
fn OneRow(app: App, row: MigrationRow, marked: RwSignal<Vec<Span>>) -> impl IntoView {
    let MigrationRow { sentence, before, after } = row;
    let (before, after) = (spans(before.lines), StoredValue::new(spans(after.lines)));
    let first = before.first().cloned();
    let is_chosen = move || !after.with_value(Vec::is_empty) && marked.with(|marked| after.with_value(|after| after == marked));
    let choose = move |_| {
        if let Some(span) = &first {
            app.selection.select(Target::Line { file: span.file.clone(), line: span.line });
        }
        marked.set(after.get_value());
    };
    view! {
        <li class="change changed" class:lit=is_chosen>
            <div class="change-head">
                <span class="change-sign" role="img" aria-label="changed">"~"</span>
                <button class="link move-row" title="Show the lines of both sides" aria-pressed=move || is_chosen().to_string() on:click=choose>{words(&sentence)}</button>
                <span class="stair-end">{before.into_iter().take(1).map(|span| source_chip(app, span)).collect_view()}</span>
            </div>
        </li>
    }
}

#[component]
fn OneNote(app: App, note: MigrationNote) -> impl IntoView {
    view! {
        <li class="change">
            <div class="change-head">
                <span class="change-sign" aria-hidden="true">"!"</span>
                <span>{words(&note.message)}</span>
                <span class="stair-end">{note.span.map(|span| source_chip(app, span))}</span>
            </div>
        </li>
    }
}

/// The converted files, with the marked lines.
#[component]
fn Converted(files: Vec<SourceFile>, marked: RwSignal<Vec<Span>>) -> impl IntoView {
    let shown = files.into_iter().map(|file| {
        let name = file.name.clone();
        let mark = NodeRef::<leptos::html::Mark>::new();
        let parts = move || {
            let lines = marked.with(|spans| lines_of(spans, &file.name));
            let part = |(is_marked, text): (bool, String)| match is_marked {
                true => view! { <mark class="lit" node_ref=mark>{text}</mark> }.into_any(),
                false => text.into_any(),
            };
            pieces(&file.text, &lines).into_iter().map(part).collect_view()
        };
        Effect::new(move |_| {
            if let Some(mark) = mark.get() {
                let options = web_sys::ScrollIntoViewOptions::new();
                options.set_block(web_sys::ScrollLogicalPosition::Center);
                mark.scroll_into_view_with_scroll_into_view_options(&options);
            }
        });
        view! {
            <h3 class="move-file">{name}</h3>
            <pre class="move-text">{parts}</pre>
        }
    });
    shown.collect_view()
}

/// The marked lines of a file, from 1.
fn lines_of(spans: &[Span], file: &str) -> Vec<RangeInclusive<usize>> {
    spans.iter().filter(|span| span.file == file).map(|span| span.line as usize..=span.end_line as usize).collect()
}

/// A text in pieces, each marked or not.
fn pieces(text: &str, marked: &[RangeInclusive<usize>]) -> Vec<(bool, String)> {
    let mut out: Vec<(bool, String)> = Vec::new();
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let is_marked = marked.iter().any(|lines| lines.contains(&(at + 1)));
        match out.last_mut() {
            Some((last, piece)) if *last == is_marked => piece.push_str(line),
            _ => out.push((is_marked, line.into())),
        }
    }
    out
}
