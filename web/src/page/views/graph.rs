//! The graph: boxes and lines as the core places them; move, zoom, find, filter, walk along the lines.
//!
//! What must not be here: where boxes go.

use crate::link::ask;
use crate::state::App;
use chancery_web::protocol::{Drawing, Frame, GraphFocus, Line, Question, Target, Thread};
use leptos::ev::{KeyboardEvent, PointerEvent, WheelEvent};
use leptos::html::Div;
use leptos::prelude::*;
use leptos::task::spawn_local;
use std::collections::HashSet;

/// Boxes that are drawn at once at most; beyond, only those in sight are.
const CULL_FROM: usize = 250;

/// Lines that are drawn at once at most: more could not be told apart.
const MOST_LINES: usize = 3_000;

/// The first sight of a graph is no smaller than this, unless it is so large that a survey says more.
const SMALLEST: f64 = 0.4;

/// What is seen: the upper left corner in the picture's own units, and how large a unit is.
#[derive(Clone, Copy, PartialEq)]
struct Sight {
    x: f64,
    y: f64,
    scale: f64,
}

const ICONS: &[(&str, &str)] = &[
    ("listener", "M2 8h5M5 5l3 3-3 3M9 3v10M12 5v6"),
    ("filter chain", "M2 8h12M5 5v6M8 4v8M11 5v6"),
    ("virtual host", "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M2 8h12M8 2c3 4 3 8 0 12M8 2c-3 4-3 8 0 12"),
    ("route", "M3 13c0-6 10-4 10-10M10 5l3-3 2 3"),
    ("cluster", "M8 2l5 3v6l-5 3-5-3V5zM8 8l5-3M8 8v6M8 8L3 5"),
    ("endpoint", "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v2M8 13v2M1 8h2M13 8h2"),
    ("secret", "M4 7h8v6H4zM6 7V5a2 2 0 0 1 4 0v2"),
];

const RESOURCE_ICON: &str = "M4 2h6l3 3v9H4zM10 2v3h3M6 8h5M6 11h5";

fn icon(kind: &str) -> &'static str {
    ICONS.iter().find(|(known, _)| *known == kind).map_or(RESOURCE_ICON, |(_, path)| path)
}

/// The class of a kind's hue.
fn hue(frame: &Frame) -> &'static str {
    match frame.kind.as_str() {
        "listener" | "filter chain" => "hue-in",
        "virtual host" => "hue-host",
        "route" => "hue-route",
        "cluster" | "endpoint" => "hue-out",
        "secret" => "hue-secret",
        _ => "hue-own",
    }
}

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
    let size =
        move || host.try_get_untracked().flatten().map_or((800.0, 600.0), |host| (f64::from(host.client_width()), f64::from(host.client_height())));
    let fit = move || {
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
    let show = move |id: &str| {
        let found = drawing.with_untracked(|drawing| drawing.frames.iter().find(|frame| frame.id == id).cloned());
        if let Some(frame) = found {
            let (width, height) = size();
            sight.update(|sight| {
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
                request_animation_frame(move || show(&id));
            } else if first || !touched.try_get_untracked().unwrap_or(true) {
                request_animation_frame(fit);
            }
        });
    };
    Effect::new(move |seen: Option<u32>| {
        let generation = app.generation.get();
        focus.track();
        // A large one would keep the findings of the next keystroke waiting.
        match seen.is_some_and(|seen| seen != generation) && drawing.with_untracked(|drawing| drawing.folded > 0 || drawing.frames.len() > CULL_FROM)
        {
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
    let wheel = move |event: WheelEvent| {
        event.prevent_default();
        if event.ctrl_key() || event.meta_key() || event.delta_mode() != 0 || event.delta_y().abs() >= 80.0 {
            zoom(0.998_f64.powf(event.delta_y()), (f64::from(event.offset_x()), f64::from(event.offset_y())));
        } else {
            touched.set(true);
            sight.update(|sight| {
                sight.x += event.delta_x() / sight.scale;
                sight.y += event.delta_y() / sight.scale;
            });
        }
    };
    let held = StoredValue::new(None::<(f64, f64)>);
    let down = move |event: PointerEvent| held.set_value(Some((f64::from(event.client_x()), f64::from(event.client_y()))));
    let moved = move |event: PointerEvent| {
        let Some((x, y)) = held.get_value().filter(|_| event.buttons() == 1) else { return };
        let (now_x, now_y) = (f64::from(event.client_x()), f64::from(event.client_y()));
        held.set_value(Some((now_x, now_y)));
        touched.set(true);
        sight.update(|sight| {
            sight.x -= (now_x - x) / sight.scale;
            sight.y -= (now_y - y) / sight.scale;
        });
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
                show(&frame.id);
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
            request_animation_frame(move || show(&id));
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
                show(&id);
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
                    on:wheel=wheel on:pointerdown=down on:pointermove=moved on:pointerup=move |_| held.set_value(None) on:keydown=keys
                >
                    <Canvas lit=lit drawing=drawing sight=sight cursor=cursor choose=Callback::new(move |frame: Frame| choose(&frame)) size=Callback::new(move |()| size()) />
                    <div class="zoom" on:pointerdown=move |event| event.stop_propagation()>
                        <button class="quiet" aria-label="Zoom in" on:click=move |_| zoom(1.25, middle())>"+"</button>
                        <button class="quiet" aria-label="Zoom out" on:click=move |_| zoom(0.8, middle())>"−"</button>
                        <button class="quiet" aria-label="Show all of it" on:click=move |_| fit_all()>"Fit"</button>
                    </div>
                    <Minimap drawing=drawing sight=sight size=Callback::new(move |()| size()) touched=touched />
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

#[component]
fn Canvas(
    lit: Memo<Vec<String>>,
    drawing: RwSignal<Drawing>,
    sight: RwSignal<Sight>,
    cursor: RwSignal<Option<String>>,
    choose: Callback<Frame>,
    size: Callback<(), (f64, f64)>,
) -> impl IntoView {
    let transform = move || {
        let Sight { x, y, scale } = sight.get();
        format!("scale({scale}) translate({} {})", -x, -y)
    };
    let lit = Memo::new(move |_| lit.with(|lit| lit.iter().cloned().collect::<HashSet<_>>()));
    // Of many boxes only those in sight are there; the tiles keep that from changing with every step of the mouse.
    let tile = Memo::new(move |_| {
        let many = drawing.with(|drawing| drawing.frames.len() > CULL_FROM);
        let Sight { x, y, scale } = sight.get();
        many.then(|| {
            let (width, height) = size.run(());
            let round = |value: f64| (value / 400.0).floor() as i32;
            (round(x) - 1, round(y) - 1, round(x + width / scale) + 1, round(y + height / scale) + 1)
        })
    });
    let inside = move |frame: &Frame| match tile.get() {
        None => true,
        Some((left, top, right, bottom)) => {
            frame.x + frame.width >= left * 400
                && frame.x <= (right + 1) * 400
                && frame.y + frame.height >= top * 400
                && frame.y <= (bottom + 1) * 400
        }
    };
    // Which drawing it is: lines are known by it and their place in it.
    let version = Memo::new(move |before: Option<&u32>| {
        drawing.track();
        before.map_or(0, |before| before.wrapping_add(1))
    });
    let lines = move || {
        let version = version.get();
        drawing.with(|drawing| {
            let seen = |line: &Line| {
                let ends = [drawing.frames.get(line.from), drawing.frames.get(line.to)];
                ends.into_iter().flatten().any(&inside)
            };
            let seen = drawing.lines.iter().enumerate().filter(|(_, line)| seen(line)).map(|(at, _)| (version, at));
            seen.take(MOST_LINES).collect::<Vec<_>>()
        })
    };
    let draw = move |(_, at): (u32, usize)| {
        drawing.with_untracked(|drawing| {
            drawing.lines.get(at).map(|line| {
                let (from, to) =
                    (drawing.frames.get(line.from).cloned().unwrap_or_default(), drawing.frames.get(line.to).cloned().unwrap_or_default());
                let class = format!(
                    "line {}{}{}",
                    line.relation.replace(' ', "-"),
                    if line.cycle { " cycle" } else { "" },
                    if to.missing && !to.faint { " lost" } else { "" }
                );
                let told = format!(
                    "{} {} {}{}",
                    from.title,
                    line.relation,
                    to.title,
                    if line.label.is_empty() { String::new() } else { format!(" ({})", line.label) }
                );
                let is_lit = move || lit.with(|lit| lit.contains(&from.id) && lit.contains(&to.id));
                view! { <path class=class class:lit=is_lit d=line.course.clone()><title>{told}</title></path> }
            })
        })
    };
    let frames = move || drawing.with(|drawing| drawing.frames.iter().filter(|frame| inside(frame)).cloned().collect::<Vec<_>>());
    let compact = move || drawing.with(|drawing| drawing.compact);
    view! {
        <svg class="canvas" aria-hidden="true">
            <g transform=transform>
                {move || drawing.with(|drawing| drawing.supporting.map(|top| view! {
                    <g><line class="rule" x1="0" x2=drawing.width y1=top - 14 y2=top - 14></line><text class="band" x="0" y=top - 20>"Supporting"</text></g>
                }))}
                <g class="lines"><For each=lines key=|line| *line children=draw /></g>
                <For each=frames key=|frame| (frame.id.clone(), frame.errors, frame.warnings, frame.title.clone(), frame.width, frame.x, frame.y) let:frame>
                    <Box frame=frame lit=lit cursor=cursor choose=choose compact=compact() />
                </For>
            </g>
        </svg>
    }
}

#[component]
fn Box(frame: Frame, lit: Memo<HashSet<String>>, cursor: RwSignal<Option<String>>, choose: Callback<Frame>, compact: bool) -> impl IntoView {
    let id = frame.id.clone();
    let is_lit = move || lit.with(|lit| lit.contains(&id));
    let id = frame.id.clone();
    let is_cursor = move || cursor.with(|cursor| cursor.as_ref() == Some(&id));
    let wrong = frame.errors > 0 || (frame.missing && !frame.faint);
    let class = format!(
        "box {}{}{}{}{}",
        hue(&frame),
        if frame.folded { " folded" } else { "" },
        if frame.missing { " missing" } else { "" },
        if frame.faint { " faint" } else { "" },
        if wrong { " wrong" } else { "" }
    );
    let badge = (frame.errors > 0 || frame.warnings > 0).then(|| {
        let (class, count) = if frame.errors > 0 { ("error", frame.errors) } else { ("warning", frame.warnings) };
        view! { <g class=format!("box-badge {class}")><circle cx=frame.width y="0" r="9"></circle><text x=frame.width y="4" text-anchor="middle">{count}</text></g> }
    });
    let reason = if frame.folded { "click to see each" } else { &frame.reason };
    let told = format!("{}: {}{}{reason}", frame.caption, frame.title, if reason.is_empty() { "" } else { " — " });
    let chosen = frame.clone();
    let (title_y, text_x) = if compact { (frame.height / 2 + 4, 30) } else { (34, 34) };
    let reason = (!frame.reason.is_empty() && !compact).then(|| view! { <text class="box-reason" x=text_x y=50>{frame.reason.clone()}</text> });
    view! {
        <g class=class class:lit=is_lit class:cursor=is_cursor transform=format!("translate({} {})", frame.x, frame.y) on:click=move |_| choose.run(chosen.clone())>
            <title>{told}</title>
            <rect class="box-frame" width=frame.width height=frame.height rx="6"></rect>
            <svg class="icon" x="9" y=if compact { (frame.height - 14) / 2 } else { 10 } width="14" height="14" viewBox="0 0 16 16"><path d=icon(&frame.kind)></path></svg>
            {(!compact).then(|| view! { <text class="box-caption" x=text_x y="18">{frame.caption.clone()}</text> })}
            <text class="box-title" x=text_x y=title_y>{frame.title.clone()}</text>
            {reason}
            {badge}
        </g>
    }
}

/// Where one is, in a large graph.
#[component]
fn Minimap(drawing: RwSignal<Drawing>, sight: RwSignal<Sight>, size: Callback<(), (f64, f64)>, touched: RwSignal<bool>) -> impl IntoView {
    let large = Memo::new(move |_| drawing.with(|drawing| drawing.frames.len() > 60));
    let dots = move || {
        drawing.with(|drawing| {
            let mut path = String::new();
            for frame in &drawing.frames {
                path.push_str(&format!("M{} {}h{}v{}h-{}z", frame.x, frame.y, frame.width, frame.height, frame.width));
            }
            path
        })
    };
    let go = move |event: leptos::ev::MouseEvent| {
        let (full, tall) = drawing.with_untracked(|drawing| (f64::from(drawing.width), f64::from(drawing.height)));
        let ratio = (180.0 / full).min(120.0 / tall);
        let (width, height) = size.run(());
        touched.set(true);
        sight.update(|sight| {
            sight.x = f64::from(event.offset_x()) / ratio - width / sight.scale / 2.0;
            sight.y = f64::from(event.offset_y()) / ratio - height / sight.scale / 2.0;
        });
    };
    move || {
        large.get().then(|| {
            let (full, tall) = drawing.with(|drawing| (drawing.width, drawing.height));
            view! {
                <svg class="minimap" viewBox=format!("0 0 {full} {tall}") preserveAspectRatio="xMinYMin meet" aria-hidden="true" on:click=go on:pointerdown=move |event| event.stop_propagation()>
                    <path class="minimap-dots" d=dots></path>
                    <rect
                        class="minimap-sight" x=move || sight.get().x y=move || sight.get().y
                        width=move || size.run(()).0 / sight.get().scale height=move || size.run(()).1 / sight.get().scale
                    ></rect>
                </svg>
            }
        })
    }
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
