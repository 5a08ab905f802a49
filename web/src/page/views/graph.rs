//! The graph: boxes and lines as the core places them; move, zoom, find, filter, walk along the lines.
//!
//! What must not be here: where boxes go.

mod canvas;

use crate::link::ask;
use crate::state::App;
use canvas::{Canvas, Minimap, Sight, icon};
use chancery_web::protocol::{Drawing, Frame, GraphFocus, Question, Target, Thread};
use leptos::ev::{KeyboardEvent, PointerEvent, WheelEvent};
use leptos::html::Div;
use leptos::prelude::*;
use leptos::task::spawn_local;
use std::collections::HashSet;

/// A graph of more boxes is large: it is drawn anew in a pause, and only what is in sight of it is there.
const LARGE: usize = 250;

/// The first sight of a graph is no smaller than this, unless it is so large that a survey says more.
const SMALLEST: f64 = 0.4;

/// What was looked for is shown at this scale at least.
const CLOSE: f64 = 0.8;

/// The view.
#[component]
pub fn GraphView(app: App) -> impl IntoView {
    let drawing = RwSignal::new(Drawing::default());
    let focus = RwSignal::new(GraphFocus { written_only: true, ..GraphFocus::default() });
    let sight = RwSignal::new(Sight { x: 0.0, y: 0.0, scale: 1.0 });
    let host = NodeRef::<Div>::new();
    let cursor = RwSignal::new(None::<String>);
    let wanted = RwSignal::new(String::new());
    let listed = RwSignal::new(false);
    let touched = RwSignal::new(false);
    // How large the pane is. It is measured when that may have changed: asking while it is being drawn would have it laid out each time.
    let room = RwSignal::new((800.0, 600.0));
    let measure = move || {
        if let Some(host) = host.try_get_untracked().flatten() {
            let now = (f64::from(host.client_width()), f64::from(host.client_height()));
            if room.try_get_untracked() != Some(now) {
                room.set(now);
            }
        }
    };
    let size = move || room.try_get_untracked().unwrap_or((800.0, 600.0));
    Effect::new(move |_| {
        app.split.track();
        app.writing.track();
        drawing.track();
        host.track();
        request_animation_frame(measure);
    });
    let resized = window_event_listener(leptos::ev::resize, move |_| measure());
    on_cleanup(move || resized.remove());
    let fit = move || {
        measure();
        let (width, height) = size();
        // Another view may be shown by now.
        let Some((full, tall)) = drawing.try_with_untracked(|drawing| (f64::from(drawing.width.max(1)), f64::from(drawing.height.max(1)))) else {
            return;
        };
        let scale = ((width - 48.0) / full).min((height - 48.0) / tall).clamp(0.05, 1.25);
        // What is a little too wide is made smaller until all of it is seen; what would be too small to read begins at its left.
        let legible = if scale < SMALLEST { SMALLEST } else { scale };
        let scale = if full > width * 6.0 || tall > height * 6.0 { scale } else { legible };
        let spare = |room: f64, need: f64| ((room / scale - need) / 2.0).max(24.0 / scale);
        sight.set(Sight { x: -spare(width, full).min(60.0 / scale), y: -spare(height, tall).min(40.0 / scale), scale });
    };
    let fit_all = move || {
        let (width, height) = size();
        let (full, tall) = drawing.with_untracked(|drawing| (f64::from(drawing.width.max(1)), f64::from(drawing.height.max(1))));
        let scale = ((width - 48.0) / full).min((height - 48.0) / tall).clamp(0.03, 1.25);
        sight.set(Sight { x: (full - width / scale) / 2.0, y: (tall - height / scale) / 2.0, scale });
    };
    let show = move |id: &str, closer: bool| {
        let found = drawing.with_untracked(|drawing| drawing.frames.iter().find(|frame| frame.id == id).cloned());
        if let Some(frame) = found {
            let (width, height) = size();
            sight.update(|sight| {
                if closer {
                    sight.scale = sight.scale.max(CLOSE);
                }
                let (left, top) = ((f64::from(frame.x) - sight.x) * sight.scale, (f64::from(frame.y) - sight.y) * sight.scale);
                if left < 0.0
                    || top < 0.0
                    || left + f64::from(frame.width) * sight.scale > width
                    || top + f64::from(frame.height) * sight.scale > height
                {
                    sight.x = f64::from(frame.x) + f64::from(frame.width) / 2.0 - width / sight.scale / 2.0;
                    sight.y = f64::from(frame.y) + f64::from(frame.height) / 2.0 - height / sight.scale / 2.0;
                }
            });
        }
    };
    // What was looked for in what is folded, and whether it is drawn by now.
    let sought = StoredValue::new(None::<(String, bool)>);
    let draw = move || {
        let Some(focus) = focus.try_get_untracked() else { return };
        spawn_local(async move {
            let Ok(Some(answer)) = ask::<Option<Drawing>>(Question::Graph(focus)).await else { return };
            let first = drawing.try_with_untracked(|drawing| drawing.frames.is_empty()).unwrap_or(true);
            let _ = drawing.try_set(answer);
            if let Some((id, false)) = sought.try_get_value().flatten() {
                sought.set_value(Some((id.clone(), true)));
                cursor.set(Some(id.clone()));
                request_animation_frame(move || show(&id, true));
            } else if first || !touched.try_get_untracked().unwrap_or(true) {
                request_animation_frame(fit);
            }
        });
    };
    Effect::new(move |seen: Option<u32>| {
        let generation = app.generation.get();
        focus.track();
        // A large one would keep the findings of the next keystroke waiting.
        match seen.is_some_and(|seen| seen != generation) && drawing.with_untracked(|drawing| drawing.folded > 0 || drawing.frames.len() > LARGE) {
            true => app.in_a_pause(draw),
            false => draw(),
        }
        generation
    });
    let zoom = move |factor: f64, at: (f64, f64)| {
        touched.set(true);
        sight.update(|sight| {
            let scale = (sight.scale * factor).clamp(0.03, 3.0);
            sight.x += at.0 / sight.scale - at.0 / scale;
            sight.y += at.1 / sight.scale - at.1 / scale;
            sight.scale = scale;
        });
    };
    let middle = move || {
        let (width, height) = size();
        (width / 2.0, height / 2.0)
    };
    let choose = move |frame: &Frame| {
        if frame.folded {
            return focus.update(|focus| focus.open.push(frame.id.clone()));
        }
        cursor.set(Some(frame.id.clone()));
        if let Some(span) = &frame.span {
            app.select(Target::Line { file: span.file.clone(), line: span.line });
        }
    };
    let corner = move || host.get_untracked().map(|host| host.get_bounding_client_rect()).map_or((0.0, 0.0), |rect| (rect.left(), rect.top()));
    let wheel = move |event: WheelEvent| {
        event.prevent_default();
        if event.ctrl_key() || event.meta_key() || event.delta_mode() != 0 || event.delta_y().abs() >= 80.0 {
            let (left, top) = corner();
            zoom(0.998_f64.powf(event.delta_y()), (f64::from(event.client_x()) - left, f64::from(event.client_y()) - top));
        } else {
            touched.set(true);
            sight.update(|sight| {
                sight.x += event.delta_x() / sight.scale;
                sight.y += event.delta_y() / sight.scale;
            });
        }
    };
    // Pointers that are down, and where: one moves the graph, two zoom.
    let held = StoredValue::new(Vec::<(i32, (f64, f64))>::new());
    let place = |event: &PointerEvent| (f64::from(event.client_x()), f64::from(event.client_y()));
    let up = move |event: PointerEvent| held.update_value(|held| held.retain(|(id, _)| *id != event.pointer_id()));
    let down = move |event: PointerEvent| held.update_value(|held| held.push((event.pointer_id(), place(&event))));
    let moved = move |event: PointerEvent| {
        let (id, now) = (event.pointer_id(), place(&event));
        if event.buttons() != 1 {
            return up(event);
        }
        let all = held.get_value();
        let Some((_, before)) = all.iter().find(|(its, _)| *its == id) else { return };
        touched.set(true);
        match all.iter().find(|(its, _)| *its != id) {
            Some((_, other)) => {
                let from_other = |of: (f64, f64)| (of.0 - other.0).hypot(of.1 - other.1).max(1.0);
                let (left, top) = corner();
                zoom(from_other(now) / from_other(*before), ((now.0 + other.0) / 2.0 - left, (now.1 + other.1) / 2.0 - top));
            }
            None => sight.update(|sight| {
                sight.x -= (now.0 - before.0) / sight.scale;
                sight.y -= (now.1 - before.1) / sight.scale;
            }),
        }
        held.update_value(|held| held.iter_mut().filter(|(its, _)| *its == id).for_each(|(_, at)| *at = now));
    };
    let keys = move |event: KeyboardEvent| {
        let next = drawing.with_untracked(|drawing| {
            let at = cursor.with_untracked(|cursor| cursor.as_ref().and_then(|id| drawing.frames.iter().position(|frame| frame.id == *id)));
            match (event.key().as_str(), at) {
                ("ArrowRight" | "ArrowLeft" | "ArrowUp" | "ArrowDown", None) => drawing.frames.first().cloned(),
                ("ArrowRight", Some(at)) => drawing.lines.iter().find(|line| line.from == at).and_then(|line| drawing.frames.get(line.to)).cloned(),
                ("ArrowLeft", Some(at)) => drawing.lines.iter().find(|line| line.to == at).and_then(|line| drawing.frames.get(line.from)).cloned(),
                ("ArrowDown", Some(at)) => neighbour(drawing, at, true),
                ("ArrowUp", Some(at)) => neighbour(drawing, at, false),
                _ => None,
            }
        });
        match (event.key().as_str(), next) {
            (_, Some(frame)) => {
                cursor.set(Some(frame.id.clone()));
                show(&frame.id, false);
            }
            ("Enter", None) => {
                let chosen = drawing.with_untracked(|drawing| {
                    drawing.frames.iter().find(|frame| cursor.with_untracked(|id| id.as_ref() == Some(&frame.id))).cloned()
                });
                if let Some(frame) = chosen {
                    choose(&frame);
                }
            }
            ("+" | "=", None) => zoom(1.25, middle()),
            ("-", None) => zoom(0.8, middle()),
            ("0", None) => fit_all(),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };
    let lit = Memo::new(move |_| {
        let drawn = drawing.with(|drawing| drawing.frames.iter().map(|frame| frame.id.clone()).collect::<HashSet<_>>());
        app.thread.with(|thread| thread.as_ref().map(|thread| lit(thread, &drawn)).unwrap_or_default())
    });
    let first_lit = move || lit.with(|lit| lit.first().cloned());
    // The selection comes into sight.
    Effect::new(move |_| {
        if let Some(id) = first_lit() {
            request_animation_frame(move || show(&id, false));
        }
    });
    let find = move |text: String| {
        wanted.set(text.clone());
        if text.is_empty() {
            return;
        }
        let focus_now = focus.get_untracked();
        spawn_local(async move {
            let Ok(Some(id)) = ask::<Option<String>>(Question::Seek { text: text.clone(), focus: focus_now }).await else { return };
            // More was typed meanwhile, or another view is shown.
            if wanted.try_get_untracked() != Some(text) {
                return;
            }
            if drawing.with_untracked(|drawing| drawing.frames.iter().any(|frame| frame.id == id)) {
                cursor.set(Some(id.clone()));
                show(&id, true);
            } else {
                let before = sought.get_value();
                sought.set_value(Some((id.clone(), false)));
                focus.update(|focus| {
                    focus.open.retain(|open| before.as_ref().is_none_or(|(id, _)| id != open));
                    focus.open.push(id);
                });
            }
        });
    };
    let around = move |_| {
        let id =
            cursor.get_untracked().or_else(|| app.thread.with_untracked(|thread| thread.as_ref().and_then(|thread| thread.nodes.first().cloned())));
        let focused = focus.with_untracked(|focus| !focus.from.is_empty());
        match id {
            _ if focused => focus.update(|focus| focus.from.clear()),
            Some(id) => focus.update(|focus| focus.from = vec![id]),
            None => app.say("Choose a box first"),
        }
        touched.set(false);
    };
    let save = move |_| {
        let focus = focus.get_untracked();
        spawn_local(async move {
            if let Ok(svg) = ask::<String>(Question::Picture(focus)).await {
                crate::files::save("chancery.svg", "image/svg+xml", &svg);
            }
        });
    };
    let save_png = move |_| {
        let focus = focus.get_untracked();
        spawn_local(async move {
            if let Ok(svg) = ask::<String>(Question::Picture(focus)).await {
                crate::files::save_png("chancery.png", &svg);
            }
        });
    };
    let legend = move || {
        let kinds = drawing.with(|drawing| drawing.kinds.clone());
        kinds.into_iter().map(|(kind, count)| {
            let hidden = { let kind = kind.clone(); move || focus.with(|focus| focus.without.contains(&kind)) };
            let pressed = hidden.clone();
            let toggle = { let kind = kind.clone(); move |_| focus.update(|focus| match focus.without.iter().position(|known| *known == kind) {
                Some(at) => drop(focus.without.remove(at)),
                None => focus.without.push(kind.clone()),
            }) };
            let path = icon(&kind);
            view! {
                <button class="chip legend" class:off=hidden aria-pressed=move || (!pressed()).to_string() on:click=toggle>
                    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d=path></path></svg>{kind.clone()} <span class="legend-count">{count}</span>
                </button>
            }
        }).collect_view()
    };
    view! {
        <div class="bar">
            <input class="field grow" type="search" placeholder="Find in the graph" aria-label="Find in the graph" prop:value=move || wanted.get() on:input=move |event| find(event_target_value(&event)) />
            <button class="quiet" aria-pressed=move || focus.with(|focus| focus.only_errors).to_string() on:click=move |_| { focus.update(|focus| focus.only_errors = !focus.only_errors); touched.set(false); }>"Only wrong"</button>
            <button class="quiet" aria-pressed=move || focus.with(|focus| !focus.from.is_empty()).to_string() on:click=around>"Around"</button>
            <button
                class="quiet" aria-pressed=move || drawing.with(|drawing| drawing.folded > 0).to_string() title="Join what is alike: a kind in a namespace"
                on:click=move |_| { let folded = drawing.with_untracked(|drawing| drawing.folded > 0); focus.update(|focus| { focus.fold = Some(!folded); focus.open.clear(); }); touched.set(false); }
            >"Fold"</button>
            <button class="quiet" aria-pressed=move || focus.with(|focus| !focus.written_only).to_string() title="Show what the controller adds by itself" on:click=move |_| focus.update(|focus| focus.written_only = !focus.written_only)>"Built in"</button>
            <button class="quiet" aria-pressed=move || listed.get().to_string() title="The graph as a list" on:click=move |_| listed.update(|listed| *listed = !*listed)>"As text"</button>
            <button class="quiet" title="Save as SVG" on:click=save>"SVG"</button>
            <button class="quiet" title="Save as PNG" on:click=save_png>"PNG"</button>
        </div>
        <div class="legend-bar" role="group" aria-label="Kinds">{legend}</div>
        {move || if listed.get() {
            view! { <AsText app=app drawing=drawing /> }.into_any()
        } else {
            view! {
                <div
                    class="graph" class:threaded=move || app.thread.with(Option::is_some) node_ref=host tabindex="0" role="application"
                    aria-label="Graph. Arrows walk along the lines, Enter selects, plus and minus zoom. The button As text shows the same as a list."
                    on:wheel=wheel on:pointerdown=down on:pointermove=moved on:pointerup=up on:pointercancel=up on:pointerleave=up on:keydown=keys
                >
                    <Canvas lit=lit drawing=drawing sight=sight cursor=cursor choose=Callback::new(move |frame: Frame| choose(&frame)) room=room />
                    <div class="zoom" on:pointerdown=move |event| event.stop_propagation()>
                        <button class="quiet" aria-label="Zoom in" on:click=move |_| zoom(1.25, middle())>"+"</button>
                        <button class="quiet" aria-label="Zoom out" on:click=move |_| zoom(0.8, middle())>"−"</button>
                        <button class="quiet" aria-label="Show all of it" on:click=move |_| fit_all()>"Fit"</button>
                    </div>
                    <Minimap drawing=drawing sight=sight room=room touched=touched />
                    {move || (drawing.with(|drawing| drawing.frames.is_empty()) && app.generation.get() > 0).then(|| view! {
                        <p class="empty">"There is nothing to draw. Resources in the editor, or an example, fill this."
                        <button class="link" on:click=move |_| app.overlay.set(Some(crate::state::Overlay::Gallery))>"Open the examples"</button></p>
                    })}
                </div>
            }.into_any()
        }}
    }
}

/// The boxes of a selection: of what is folded, the box that stands for it.
fn lit(thread: &Thread, drawn: &HashSet<String>) -> Vec<String> {
    let groups = thread.groups.iter();
    thread.nodes.iter().zip(groups).map(|(node, group)| if drawn.contains(node) { node } else { group }).cloned().collect()
}

/// The next box of the same column.
fn neighbour(drawing: &Drawing, at: usize, down: bool) -> Option<Frame> {
    let now = drawing.frames.get(at)?;
    let column = drawing.frames.iter().filter(|frame| (frame.x - now.x).abs() < 40 && if down { frame.y > now.y } else { frame.y < now.y });
    column.min_by_key(|frame| (frame.y - now.y).abs()).cloned()
}

/// The same as a list: every box, what it leads to, and by which field.
#[component]
fn AsText(app: App, drawing: RwSignal<Drawing>) -> impl IntoView {
    let items = move || {
        drawing.with(|drawing| {
            let item = |(at, frame): (usize, &Frame)| {
                let onward: Vec<String> = drawing
                    .lines
                    .iter()
                    .filter(|line| line.from == at)
                    .filter_map(|line| {
                        let to = drawing.frames.get(line.to)?;
                        let label = if line.label.is_empty() { String::new() } else { format!(" ({})", line.label) };
                        Some(format!("{} {}{label}", line.relation, to.title))
                    })
                    .collect();
                let span = frame.span.clone();
                let label = span.as_ref().map(|span| format!("{}:{}", span.file, span.line));
                view! {
                    <li class="as-text">
                        <strong>{frame.title.clone()}</strong> <span class="as-text-caption">{frame.caption.clone()}</span>
                        {(!frame.reason.is_empty()).then(|| view! { <span class="as-text-reason">{frame.reason.clone()}</span> })}
                        {label.map(|label| view! { <button class="chip source" on:click=move |_| if let Some(span) = &span { app.go(span) }>{label}</button> })}
                        <ul>{onward.into_iter().map(|one| view! { <li>{one}</li> }).collect_view()}</ul>
                    </li>
                }
            };
            drawing.frames.iter().enumerate().map(item).collect_view()
        })
    };
    view! { <ul class="scroll as-text-list" tabindex="0" aria-label="The graph as a list">{items}</ul> }
}
