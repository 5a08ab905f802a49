//! Draws the graph: boxes and lines by tiles, and the map of a large graph. Does not handle actions; see `board`.

use super::board::{Board, LARGE, Viewport};
use super::player::dot;
use chancery_core::explain::picture::badge;
use chancery_web::protocol::{Drawing, Frame, Line, Span};
use leptos::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The side of a tile, in drawing units. The contents of a tile appear and disappear together, and nothing else changes then.
const TILE: i32 = 600;

/// If there are more lines, none is dashed.
const MOST_DASHED: usize = 400;

/// The largest number of drawn lines. More could not be distinguished.
const MOST_LINES: usize = 3_000;

const ICONS: &[(&str, &str)] = &[
    ("listener", "M2 8h5M5 5l3 3-3 3M9 3v10M12 5v6"),
    ("filter chain", "M2 8h12M5 5v6M8 4v8M11 5v6"),
    ("virtual host", "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M2 8h12M8 2c3 4 3 8 0 12M8 2c-3 4-3 8 0 12"),
    ("rule", "M3 13c0-6 10-4 10-10M10 5l3-3 2 3"),
    ("route", "M3 13c0-6 10-4 10-10M10 5l3-3 2 3"),
    ("cluster", "M8 2l5 3v6l-5 3-5-3V5zM8 8l5-3M8 8v6M8 8L3 5"),
    ("endpoint", "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v2M8 13v2M1 8h2M13 8h2"),
    ("secret", "M4 7h8v6H4zM6 7V5a2 2 0 0 1 4 0v2"),
    ("Secret", "M4 7h8v6H4zM6 7V5a2 2 0 0 1 4 0v2"),
    ("Listener", "M2 8h5M5 5l3 3-3 3M9 3v10M12 5v6"),
    ("Host", "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M2 8h12M8 2c3 4 3 8 0 12M8 2c-3 4-3 8 0 12"),
    ("Mapping", "M3 13c0-6 10-4 10-10M10 5l3-3 2 3M3 3v3"),
    ("TCPMapping", "M2 5h12M2 11h12M5 3v4M11 9v4"),
    ("HTTPProxy", "M2 8h4l4-5h4M6 8l4 5h4"),
    ("HTTPRoute", "M3 3v4a4 4 0 0 0 4 4h6M10 8l3 3-3 3"),
    ("GRPCRoute", "M3 3v4a4 4 0 0 0 4 4h6M10 8l3 3-3 3M8 3h5"),
    ("TLSRoute", "M3 3v4a4 4 0 0 0 4 4h6M9 2h4v4H9z"),
    ("TCPRoute", "M3 3v4a4 4 0 0 0 4 4h6M9 4h5"),
    ("Ingress", "M2 8h8M7 5l3 3-3 3M10 2h4v12h-4"),
    ("IngressClass", "M3 3h10v4H3zM3 9h10v4H3z"),
    ("GatewayClass", "M3 3h10v4H3zM3 9h10v4H3zM6 5h4"),
    ("Gateway", "M2 14V6l6-4 6 4v8M6 14V9h4v5"),
    ("Service", "M8 2l5 3v6l-5 3-5-3V5zM8 8l5-3M8 8v6M8 8L3 5"),
    ("EndpointSlice", "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v2M8 13v2M1 8h2M13 8h2"),
    ("Endpoints", "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v2M8 13v2M1 8h2M13 8h2"),
    ("ConfigMap", "M3 4h10M3 8h10M3 12h10M6 3v2M10 7v2M5 11v2"),
    ("TLSContext", "M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4z"),
    ("TLSCertificateDelegation", "M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4zM5 8h6"),
    ("AuthService", "M8 2a3 3 0 1 0 0 6 3 3 0 0 0 0-6M3 14c0-6 10-6 10 0"),
    ("SecurityPolicy", "M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4zM6 8l2 2 3-4"),
    ("BackendTrafficPolicy", "M2 12l4-5 3 3 5-7M10 3h4v4"),
    ("ClientTrafficPolicy", "M2 4l4 5 3-3 5 7M10 13h4V9"),
    ("RateLimitService", "M3 12a6 6 0 1 1 10 0M8 9l3-4"),
    ("Module", "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 2v3M8 11v3M2 8h3M11 8h3M4 4l2 2M10 10l2 2M12 4l-2 2M6 10l-2 2"),
    ("service-intentions", "M3 8h10M10 5l3 3-3 3M5 4v8"),
    ("service-router", "M3 13V8h10M10 5l3 3-3 3"),
    ("service-splitter", "M2 8h4l5-4M6 8l5 4M9 3h3v3M9 13h3v-3"),
    ("service-resolver", "M3 8a5 5 0 1 0 5-5M8 1v4l3-2"),
    ("service-defaults", "M3 5h10M3 11h10M6 3v4M10 9v4"),
    ("proxy-defaults", "M3 5h10M3 8h10M3 11h10M6 3v4M10 9v4"),
    ("service", "M8 2l5 3v6l-5 3-5-3V5zM8 8l5-3M8 8v6M8 8L3 5"),
];

const RESOURCE_ICON: &str = "M4 2h6l3 3v9H4zM10 2v3h3M6 8h5M6 11h5";

/// The icon of a kind.
pub fn icon(kind: &str) -> &'static str {
    ICONS.iter().find(|(known, _)| *known == kind).map_or(RESOURCE_ICON, |(_, path)| path)
}

/// The CSS class of a kind's colour.
fn hue(frame: &Frame) -> &'static str {
    match frame.kind.as_str() {
        "listener" | "filter chain" => "hue-in",
        "virtual host" => "hue-host",
        "route" => "hue-route",
        "rule" => "hue-route",
        "cluster" | "endpoint" | "Service" => "hue-out",
        "secret" => "hue-secret",
        _ => "hue-own",
    }
}

/// A tile, by column and row.
type Tile = (i32, i32);

/// The first and the last visible column and row.
type VisibleTiles = (Tile, Tile);

fn tile_of(frame: &Frame) -> Tile {
    ((frame.x + frame.width / 2).div_euclid(TILE), (frame.y + frame.height / 2).div_euclid(TILE))
}

/// Whether a tile is visible. `None` means that all tiles are.
fn is_in(tile: Tile, visible: Option<VisibleTiles>) -> bool {
    visible.is_none_or(|(first, last)| (first.0..=last.0).contains(&tile.0) && (first.1..=last.1).contains(&tile.1))
}

/// A group that is drawn and removed together. An unchanged group stays in the next drawing.
#[derive(Clone, PartialEq)]
struct Patch<T> {
    /// A hash of its contents.
    key: u64,
    /// It is visible if one of these tiles is.
    tiles: [Tile; 2],
    content: Vec<T>,
}

/// Groups the contents by tiles. `state` is additional state that every patch shows.
fn patches<T: Hash>(content: impl Iterator<Item = ([Tile; 2], T)>, state: bool) -> Vec<Patch<T>> {
    let mut by_tiles: BTreeMap<[Tile; 2], Vec<T>> = BTreeMap::new();
    for (tiles, one) in content {
        by_tiles.entry(tiles).or_default().push(one);
    }
    let patch = |(tiles, content): ([Tile; 2], Vec<T>)| {
        let mut hasher = DefaultHasher::new();
        (tiles, &content, state).hash(&mut hasher);
        Patch { key: hasher.finish(), tiles, content }
    };
    by_tiles.into_iter().map(patch).collect()
}

/// A line with the names of its ends.
#[derive(Clone, PartialEq, Hash)]
struct Drawn {
    ends: [String; 2],
    class: String,
    course: String,
    /// The meaning and the field.
    description: String,
    /// The share of requests, and its position.
    share: Option<String>,
    at: (i32, i32),
    width: String,
    /// The place of the field that refers.
    field: Option<Span>,
    /// The field or the effect, if there is room for it, and the middle of its text.
    label: Option<(String, i32, i32)>,
}

/// The widest letter of a line's label, in drawing units.
const LETTER: i32 = 7;

/// The field of a line, if it fits between the boxes and the line is straight.
fn label_of(line: &Line, from: &Frame, to: &Frame) -> Option<(String, i32, i32)> {
    if let Some(effect) = &line.effect {
        return line.effect_at.map(|(x, y)| (effect.clone(), x, y));
    }
    let field = line.label.rsplit('.').next().unwrap_or_default();
    let (left, right) = (from.x + from.width, to.x);
    let middle = |frame: &Frame| frame.y + frame.height / 2;
    let is_flat = middle(from).abs_diff(middle(to)) < 4;
    let fits = right - left >= LETTER * field.chars().count() as i32 + 24;
    (!field.is_empty() && is_flat && fits && line.share.is_none()).then(|| (field.to_string(), (left + right) / 2, middle(from) - 6))
}

impl Drawn {
    fn of(line: &Line, from: &Frame, to: &Frame) -> Self {
        let cycle = if line.cycle { " cycle" } else { "" };
        let lost = if to.missing && !to.faint { " lost" } else { "" };
        let label = if line.label.is_empty() { String::new() } else { format!(" ({})", line.label) };
        Self {
            ends: [from.id.clone(), to.id.clone()],
            class: format!(
                "line {}{cycle}{lost}",
                line.effect.as_ref().map_or_else(|| line.relation.replace(' ', "-"), |effect| format!("call-{effect}"))
            ),
            course: line.course.clone(),
            description: format!("{} {} {}{label}", from.title, line.relation, to.title),
            share: line.share.clone(),
            at: line.share_at,
            width: format!("{:.1}", line.width),
            field: line.span.clone(),
            label: label_of(line, from, to),
        }
    }
}

fn boxes(drawing: &Drawing) -> Vec<Patch<Frame>> {
    patches(drawing.frames.iter().map(|frame| ([tile_of(frame); 2], frame.clone())), drawing.compact)
}

fn lines(drawing: &Drawing) -> Vec<Patch<Drawn>> {
    let lines = drawing.lines.iter().filter_map(|line| {
        let (from, to) = (drawing.frames.get(line.from)?, drawing.frames.get(line.to)?);
        Some(([tile_of(from), tile_of(to)], Drawn::of(line, from, to)))
    });
    patches(lines, false)
}

/// The visible tiles of a large graph. Tiles change less often than the viewport.
fn visible_tiles(board: Board) -> Memo<Option<VisibleTiles>> {
    Memo::new(move |_| {
        let many = board.drawing.with(|drawing| drawing.frames.len() > LARGE);
        let (Viewport { x, y, scale }, (width, height)) = (board.viewport.get(), board.room.get());
        let tile = |value: f64| (value / f64::from(TILE)).floor() as i32;
        // Include a margin: boxes are assigned by their middles.
        let near = 200.0;
        many.then(|| ((tile(x - near), tile(y - near)), (tile(x + width / scale + near), tile(y + height / scale + near))))
    })
}

/// How many lines of each patch are drawn: the visible lines, up to a limit.
fn drawn_lines(lines: Memo<Vec<Patch<Drawn>>>, visible: Memo<Option<VisibleTiles>>) -> Memo<HashMap<u64, usize>> {
    Memo::new(move |_| {
        let (visible, mut left) = (visible.get(), MOST_LINES);
        let mut shown = HashMap::new();
        lines.with(|lines| {
            for patch in lines.iter().filter(|patch| patch.tiles.iter().any(|tile| is_in(*tile, visible))) {
                let some = patch.content.len().min(left);
                left -= some;
                shown.insert(patch.key, some);
            }
        });
        shown
    })
}

#[component]
fn Lines(board: Board, lit: Memo<HashSet<String>>, visible: Memo<Option<VisibleTiles>>) -> impl IntoView {
    let lines = Memo::new(move |_| board.drawing.with(lines));
    let shown = drawn_lines(lines, visible);
    let line = move |line: Drawn| {
        let [from, to] = line.ends;
        let (start, end) = (from.clone(), to.clone());
        let (called, named) = (to.clone(), to.clone());
        let (start_box, field) = (from.clone(), line.field);
        let is_lit = move || lit.with(|lit| lit.contains(&from) && lit.contains(&to));
        let is_way = move || board.way.with(|way| way.contains(&start) && way.contains(&end));
        let is_effect = line.class.contains("call-");
        // The request on the screen decides a call that depends on conditions.
        let decision = move || board.decisions.with(|decisions| decisions.get(&called).copied().filter(|_| is_effect));
        let decided = move || board.decisions.with(|decisions| decisions.get(&named).copied().filter(|_| is_effect));
        let decide = move |label: String| {
            decided().filter(|_| label == "rules").map_or(label, |is_allowed| if is_allowed { "allow".into() } else { "deny".into() })
        };
        let share = line.share.map(|share| view! { <text class="share" x=line.at.0 y=line.at.1 text-anchor="end">{share}</text> });
        // The wide line is invisible and is easy to hit with the pointer.
        view! {
            <g class="edge" class:lit=is_lit class:way=is_way class:denied=move || decision() == Some(false) on:click=move |_| board.choose_line(&start_box, field.as_ref())>
                <path class="reach" d=line.course.clone()></path>
                <path class=line.class d=line.course marker-end="url(#arrow)" stroke-width=line.width></path>
                <title>{line.description}</title>
                {line.label.map(|(label, x, y)| view! { <text class="edge-label" class:effect=is_effect x=x y=y text-anchor="middle">{move || decide(label.clone())}</text> })}
                {share}
            </g>
        }
    };
    let of_lines = move |patch: Patch<Drawn>| {
        let some = Memo::new(move |_| shown.with(|shown| shown.get(&patch.key).copied().unwrap_or_default()));
        view! { <g>{move || patch.content.iter().take(some.get()).cloned().map(line).collect_view()}</g> }
    };
    view! { <g class="lines"><For each=move || lines.get() key=|patch| patch.key children=of_lines /></g> }
}

#[component]
fn Boxes(board: Board, lit: Memo<HashSet<String>>, visible: Memo<Option<VisibleTiles>>, choose: Callback<Frame>) -> impl IntoView {
    let boxes = Memo::new(move |_| board.drawing.with(boxes));
    let of_boxes = move |patch: Patch<Frame>| {
        let compact = board.drawing.with_untracked(|drawing| drawing.compact);
        let is_seen = Memo::new(move |_| is_in(patch.tiles[0], visible.get()));
        let draw = move |frame: Frame| view! { <Box frame=frame lit=lit board=board choose=choose compact=compact /> };
        view! { <g>{move || is_seen.get().then(|| patch.content.iter().cloned().map(draw).collect_view())}</g> }
    };
    view! { <For each=move || boxes.get() key=|patch| patch.key children=of_boxes /> }
}

/// The line above the supporting resources.
fn band(drawing: &Drawing) -> Option<impl IntoView + use<>> {
    let width = drawing.width;
    drawing.supporting.map(|top| {
        view! { <g><line class="rule" x1="0" x2=width y1=top - 14 y2=top - 14></line><text class="band" x="0" y=top - 20>"Supporting"</text></g> }
    })
}

/// Boxes and lines.
#[component]
pub fn Canvas(board: Board, choose: Callback<Frame>) -> impl IntoView {
    let Board { drawing, viewport, .. } = board;
    // Moving the graph moves a painted layer. Only another scale paints it again.
    let moved = move || {
        let Viewport { x, y, scale } = viewport.get();
        format!("translate({}px, {}px)", (-x * scale).round(), (-y * scale).round())
    };
    let scale = Memo::new(move |_| viewport.get().scale);
    let extent = move |side: fn(&Drawing) -> i32| drawing.with(|drawing| (f64::from(side(drawing)) * scale.get()).ceil().to_string());
    let lit = Memo::new(move |_| board.lit.with(|lit| lit.iter().cloned().collect::<HashSet<_>>()));
    let visible = visible_tiles(board);
    // Painting dashes takes longer than everything else.
    let is_plain = Memo::new(move |_| drawing.with(|drawing| drawing.lines.len() > MOST_DASHED));
    view! {
        <svg
            class="canvas" class:plain=is_plain aria-hidden="true"
            width=move || extent(|drawing| drawing.width) height=move || extent(|drawing| drawing.height) style:transform=moved
        >
            <defs>
                <marker id="arrow" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">
                    <path class="arrow" d="M0 .8L8 4 0 7.2z"></path>
                </marker>
            </defs>
            <g transform=move || format!("scale({})", scale.get())>
                <Lines board=board lit=lit visible=visible />
                {move || drawing.with(band)}
                <Boxes board=board lit=lit visible=visible choose=choose />
                <Dot board=board />
            </g>
        </svg>
    }
}

/// The dot of the player. It stays in the document, so that it glides from box to box.
#[component]
fn Dot(board: Board) -> impl IntoView {
    let place =
        Memo::new(move |before: Option<&Option<(i32, i32)>>| dot(board).or_else(|| before.copied().flatten().filter(|_| board.app.play.is_open())));
    let moved = move || place.get().map(|(x, y)| format!("translate({x}px, {y}px)")).unwrap_or_default();
    view! { <circle class="dot" class:off=move || place.get().is_none() r="7" style:transform=moved></circle> }
}

#[component]
fn Box(frame: Frame, lit: Memo<HashSet<String>>, board: Board, choose: Callback<Frame>, compact: bool) -> impl IntoView {
    let id = frame.id.clone();
    let is_lit = move || lit.with(|lit| lit.contains(&id));
    let id = frame.id.clone();
    let is_cursor = move || board.cursor.with(|cursor| cursor.as_ref() == Some(&id));
    let id = frame.id.clone();
    let is_way = move || board.way.with(|way| way.contains(&id));
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
        let (count, half) = badge(count);
        view! { <g class=format!("box-badge {class}")><rect x=frame.width - half - 1 y="-9" width=2 * half + 2 height="18" rx="9"></rect><text x=frame.width y="4" text-anchor="middle">{count}</text></g> }
    });
    let tip = if frame.folded { format!("{}: {}", frame.tip, "click to see each") } else { frame.tip.clone() };
    let chosen = frame.clone();
    let (title_y, text_x) = if compact { (frame.height / 2 + 4, 30) } else { (34, 34) };
    let third = if frame.reason.is_empty() { ("box-note", &frame.note) } else { ("box-reason", &frame.reason) };
    let third = (!third.1.is_empty() && !compact).then(|| view! { <text class=third.0 x=text_x y=50>{third.1.clone()}</text> });
    view! {
        <g class=class class:lit=is_lit class:way=is_way class:cursor=is_cursor transform=format!("translate({} {})", frame.x, frame.y) on:click=move |_| choose.run(chosen.clone())>
            <title>{tip}</title>
            <rect class="box-frame" width=frame.width height=frame.height rx="6"></rect>
            <svg class="icon" x="9" y=if compact { (frame.height - 14) / 2 } else { 10 } width="14" height="14" viewBox="0 0 16 16"><path d=icon(&frame.kind)></path></svg>
            {(!compact).then(|| view! { <text class="box-caption" x=text_x y="18">{frame.caption.clone()}</text> })}
            <text class="box-title" x=text_x y=title_y>{frame.title.clone()}</text>
            {third}
            {badge}
        </g>
    }
}

/// The size of the map, in pixels.
const MAP: (f64, f64) = (220.0, 56.0);

/// The map: the viewport within a graph that is larger than the pane.
#[component]
pub fn Minimap(board: Board) -> impl IntoView {
    let Board { drawing, viewport, room, touched, .. } = board;
    let extent = move || drawing.with(|drawing| (f64::from(drawing.width.max(1)), f64::from(drawing.height.max(1))));
    let large = Memo::new(move |_| {
        let ((full, tall), (width, height), scale) = (extent(), room.get(), viewport.get().scale);
        full * scale > width || tall * scale > height
    });
    let dots = move || {
        let dot = |frame: &Frame| format!("M{} {}h{}v{}h-{}z", frame.x, frame.y, frame.width, frame.height, frame.width);
        drawing.with(|drawing| drawing.frames.iter().map(dot).collect::<String>())
    };
    let go = move |event: leptos::ev::MouseEvent| {
        let ((full, tall), (width, height)) = (untrack(extent), room.get_untracked());
        let ratio = (MAP.0 / full).min(MAP.1 / tall);
        touched.set(true);
        viewport.update(|viewport| {
            viewport.x = f64::from(event.offset_x()) / ratio - width / viewport.scale / 2.0;
            viewport.y = f64::from(event.offset_y()) / ratio - height / viewport.scale / 2.0;
        });
    };
    move || {
        large.get().then(|| {
            let (full, tall) = extent();
            view! {
                <svg class="minimap" width=MAP.0 height=MAP.1 viewBox=format!("0 0 {full} {tall}") preserveAspectRatio="xMinYMin meet" aria-hidden="true" on:click=go>
                    <path class="minimap-dots" d=dots></path>
                    <rect
                        class="minimap-viewport" x=move || viewport.get().x y=move || viewport.get().y
                        width=move || room.get().0 / viewport.get().scale height=move || room.get().1 / viewport.get().scale
                    ></rect>
                </svg>
            }
        })
    }
}
