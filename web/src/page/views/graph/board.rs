//! The state of the graph view: the drawn part, the viewport, and the user's actions. Does not draw; see `canvas`.

use crate::bridge;
use crate::link::ask;
use crate::state::App;
use chancery_web::protocol::{Drawing, Frame, GraphFocus, Question, SelectionDetails, Span, Target, Way};
use gloo_events::EventListener;
use leptos::ev::{KeyboardEvent, PointerEvent, WheelEvent};
use leptos::html::Div;
use leptos::prelude::*;
use leptos::task::spawn_local;
use std::collections::{HashMap, HashSet};

/// A graph with more boxes is large: it is drawn in pauses, and only its visible part exists.
pub const LARGE: usize = 250;

/// The smallest and the largest scale. Text is 11 pixels high at the smallest scale: boxes are joined instead of drawn smaller.
const SCALES: (f64, f64) = (1.0, 3.0);

/// The height of a box with the space below it, and the number of columns of the overview.
const ROW: f64 = 72.0;
const COLUMNS: f64 = 4.0;

/// Zooming out joins boxes until this part of them remains.
const COARSER: f64 = 0.5;

/// Joining stops at this number of boxes.
const FEWEST: u32 = 8;

/// A narrower pane uses one lane from top to bottom, in pixels.
const NARROW: f64 = 480.0;

/// The margin around the drawing, in pixels.
const AROUND: f64 = 24.0;

/// The graph is laid out again when the pane's width changes by this many pixels.
const ROOM_STEP: i32 = 16;

/// The margin that centres a drawing that is smaller than the pane.
fn spare(room: f64, need: f64) -> f64 {
    ((room - need) / 2.0).clamp(AROUND, 60.0)
}

/// The start of the viewport that centres a point, without empty space that the drawing could fill.
fn within(middle: f64, room: f64, full: f64) -> f64 {
    match full + 2.0 * AROUND > room {
        true => (middle - room / 2.0).clamp(-AROUND, full + AROUND - room),
        false => -spare(room, full),
    }
}

/// The visible part of the drawing: its upper left corner in drawing units, and the scale.
#[derive(Clone, Copy, PartialEq)]
pub struct Viewport {
    pub x: f64,
    pub y: f64,
    /// Pixels per drawing unit.
    pub scale: f64,
}

/// The graph view. Copies share it.
#[derive(Clone, Copy)]
pub struct Board {
    pub app: App,
    pub drawing: RwSignal<Drawing>,
    pub focus: RwSignal<GraphFocus>,
    pub viewport: RwSignal<Viewport>,
    pub host: NodeRef<Div>,
    /// The box with the keyboard focus, by id.
    pub cursor: RwSignal<Option<String>>,
    /// The search term.
    pub wanted: RwSignal<String>,
    /// Whether it is shown as text.
    pub listed: RwSignal<bool>,
    /// Whether the user moved it. Then it stays at its place.
    pub touched: RwSignal<bool>,
    /// The size of the pane. Measured only when it may have changed: measuring during drawing would force a layout each time.
    pub room: RwSignal<(f64, f64)>,
    /// The boxes that belong to the selection.
    pub lit: Memo<Vec<String>>,
    /// The boxes on the way of the address bar's request, while nothing is selected.
    pub way: Memo<HashSet<String>>,
    /// The decisions of rules about calls on this way, by the box of the called service.
    pub decisions: Memo<HashMap<String, bool>>,
    pub is_drawing: RwSignal<bool>,
    /// Whether the legend is shown.
    pub legend: RwSignal<bool>,
    /// Whether a short pane shows search and filters.
    pub controls: RwSignal<bool>,
    /// A search inside folded boxes, and whether its result is drawn.
    sought: StoredValue<Option<(String, bool)>>,
    /// Whether boxes are joined until the whole graph fits into the pane.
    is_fitting: StoredValue<bool>,
    /// Pressed pointers with their positions. One pointer moves the graph, two zoom.
    held: StoredValue<Vec<(i32, (f64, f64))>>,
}

impl Board {
    pub fn new(app: App) -> Self {
        let drawing = RwSignal::new(Drawing::default());
        let lit = Memo::new(move |_| {
            let drawn = drawing.with(|drawing| drawing.frames.iter().map(|frame| frame.id.clone()).collect::<HashSet<_>>());
            app.selection.details.with(|details| details.as_ref().map(|details| boxes_of_selection(details, &drawn)).unwrap_or_default())
        });
        let focus = RwSignal::new(GraphFocus { written_only: true, ..GraphFocus::default() });
        let way = Memo::new(move |_| match app.selection.details.with(Option::is_some) {
            true => HashSet::new(),
            false => {
                let parts = focus.with(|focus| focus.envoy_parts);
                let nodes = |way: &Way| if parts { way.parts.clone() } else { way.nodes.clone() };
                app.requests.way.with(|way| way.iter().flatten().flat_map(nodes).collect())
            }
        });
        let decisions = Memo::new(move |_| {
            let of_way = |way: &Way| {
                let steps = way.then.iter().flat_map(|hop| hop.steps.first()).filter(|step| step.what == "Intention");
                steps.filter_map(|step| Some((step.node.clone()?, !step.lost))).collect::<HashMap<_, _>>()
            };
            app.requests.way.with(|way| way.iter().flatten().map(of_way).next().unwrap_or_default())
        });
        Self {
            app,
            way,
            decisions,
            drawing,
            focus,
            viewport: RwSignal::new(Viewport { x: 0.0, y: 0.0, scale: 1.0 }),
            host: NodeRef::new(),
            cursor: RwSignal::new(None),
            wanted: RwSignal::new(String::new()),
            listed: RwSignal::new(false),
            touched: RwSignal::new(false),
            room: RwSignal::new((800.0, 600.0)),
            lit,
            is_drawing: RwSignal::new(true),
            legend: RwSignal::new(false),
            controls: RwSignal::new(false),
            sought: StoredValue::new(None),
            is_fitting: StoredValue::new(false),
            held: StoredValue::new(Vec::new()),
        }
    }

    /// Follows compiles, the selection and the size of the pane.
    pub fn follow(self) {
        let Self { app, drawing, focus, host, .. } = self;
        Effect::new(move |_| {
            app.screen.split.track();
            app.screen.writing.track();
            drawing.track();
            host.track();
            request_animation_frame(move || self.measure());
        });
        // The listener ends with the view.
        StoredValue::new_local(EventListener::new(&window(), "resize", move |_| self.measure()));
        Effect::new(move |seen: Option<u32>| {
            let generation = app.engine.generation.get();
            focus.track();
            // Drawing a large graph would delay the findings of the next keystroke.
            let large = drawing.with_untracked(|drawing| drawing.folded > 0 || drawing.frames.len() > LARGE);
            match large && seen.is_some_and(|seen| seen != generation) {
                true => app.engine.in_a_pause(move || self.draw()),
                false => self.draw(),
            }
            generation
        });
        // Keeps the way of the request open, and scrolls to it when the request changes.
        Effect::new(move |before: Option<Vec<String>>| {
            let nodes = app.requests.way.with(|way| way.iter().flatten().flat_map(|way| way.nodes.iter().cloned()).collect::<Vec<_>>());
            if before.as_ref() == Some(&nodes) {
                return nodes;
            }
            let folds = drawing.with_untracked(|drawing| drawing.folded > 0);
            if folds && focus.with_untracked(|focus| focus.keep != nodes) {
                focus.update(|focus| focus.keep.clone_from(&nodes));
            } else {
                focus.update_untracked(|focus| focus.keep.clone_from(&nodes));
                request_animation_frame(move || self.show_way());
            }
            nodes
        });
        // Scrolls to the selection.
        Effect::new(move |_| {
            if let Some(id) = self.lit.with(|lit| lit.first().cloned()) {
                request_animation_frame(move || self.show(&id, false));
            }
        });
    }

    fn measure(self) {
        if let Some(host) = self.host.try_get_untracked().flatten() {
            let now = (f64::from(host.client_width()), f64::from(host.client_height()));
            if self.room.try_get_untracked() != Some(now) {
                self.room.set(now);
            }
            self.fit_room(now.0);
        }
    }

    /// Lays the graph out for this width of the pane: as one lane on a narrow page, and tighter if it does not fit.
    fn fit_room(self, width: f64) {
        let Some((full, _)) = self.extent() else { return };
        let (narrow, room) = (width < NARROW, (width - 2.0 * AROUND) as i32 / ROOM_STEP * ROOM_STEP);
        let before = self.focus.with_untracked(|focus| (focus.narrow, focus.room));
        let is_short = before.1.is_some() || full > f64::from(room);
        let now = (narrow, (!narrow && is_short).then_some(room));
        // A lane's width says nothing about columns.
        let now = if before.0 && !narrow { (false, None) } else { now };
        if now != before {
            self.focus.update(|focus| (focus.narrow, focus.room) = now);
        }
    }

    fn size(self) -> (f64, f64) {
        self.room.try_get_untracked().unwrap_or((800.0, 600.0))
    }

    /// Width and height of the drawing.
    fn extent(self) -> Option<(f64, f64)> {
        self.drawing.try_with_untracked(|drawing| (f64::from(drawing.width.max(1)), f64::from(drawing.height.max(1))))
    }

    /// Sets the first viewport at a legible scale. A drawing that does not fit starts at its upper left corner, or at a problem.
    fn settle(self) {
        self.measure();
        let (width, height) = self.size();
        // The user may have left the view.
        let Some((full, tall)) = self.extent() else { return };
        self.viewport.set(Viewport { x: -spare(width, full), y: -spare(height, tall), scale: 1.0 });
        let (right, bottom) = (width - spare(width, full), height - spare(height, tall));
        let is_seen = |frame: &Frame| f64::from(frame.x + frame.width) <= right && f64::from(frame.y + frame.height) <= bottom;
        let wrong = self.drawing.with_untracked(|drawing| {
            let wrong: Vec<&Frame> = drawing.frames.iter().filter(|frame| frame.errors > 0 || (frame.missing && !frame.faint)).collect();
            wrong.first().filter(|_| !wrong.iter().any(|frame| is_seen(frame))).map(|frame| frame.id.clone())
        });
        match self.lit.with_untracked(|lit| lit.first().cloned()).or(wrong) {
            Some(id) => self.show(&id, false),
            None => self.show_way(),
        }
    }

    /// Whether the whole drawing fits into the pane at the smallest scale.
    fn fits(self) -> bool {
        let (width, height) = self.size();
        self.extent().is_none_or(|(full, tall)| full + 2.0 * AROUND <= width && tall + 2.0 * AROUND <= height)
    }

    /// Shows the whole graph: joins boxes until they fit into the pane.
    pub fn fit_all(self) {
        let (_, height) = self.size();
        self.viewport.update(|viewport| viewport.scale = SCALES.0);
        if self.fits() {
            return self.settle();
        }
        let columns = if self.focus.with_untracked(|focus| focus.narrow) { 1.0 } else { COLUMNS };
        let most = (((height - 2.0 * AROUND) / ROW).floor().max(1.0) * columns * COARSER) as u32;
        self.join_to(most);
        self.is_fitting.set_value(true);
    }

    /// Joins more boxes if the user asked for the whole graph, and it does not fit yet.
    fn fit_further(self) {
        if !self.is_fitting.try_get_value().unwrap_or_default() {
            return;
        }
        let count = self.drawing.with_untracked(|drawing| drawing.frames.len());
        let most = ((count as f64 * COARSER) as u32).max(FEWEST);
        let can_join = self.focus.with_untracked(|focus| focus.most.is_none_or(|before| most < before));
        if !self.fits() && can_join {
            self.join_to(most);
            self.is_fitting.set_value(true);
        }
    }

    /// Joins boxes until at most this many remain.
    fn join_to(self, most: u32) {
        self.refocus(|focus| {
            focus.most = Some(most.max(FEWEST));
            focus.open.clear();
            focus.fold = None;
        });
    }

    /// Scrolls to a box. `closer` also makes it legible.
    pub fn show(self, id: &str, closer: bool) {
        let found = self.drawing.try_with_untracked(|drawing| drawing.frames.iter().find(|frame| frame.id == id).cloned()).flatten();
        let (Some(frame), Some((full, tall))) = (found, self.extent()) else { return };
        let (width, height) = self.size();
        self.viewport.update(|viewport| {
            if closer {
                viewport.scale = viewport.scale.max(1.0);
            }
            let (x, y) = (f64::from(frame.x), f64::from(frame.y));
            let (wide, high) = (f64::from(frame.width), f64::from(frame.height));
            let (left, top) = ((x - viewport.x) * viewport.scale, (y - viewport.y) * viewport.scale);
            if left < 0.0 || top < 0.0 || left + wide * viewport.scale > width || top + high * viewport.scale > height {
                viewport.x = within(x + wide / 2.0, width / viewport.scale, full);
                viewport.y = within(y + high / 2.0, height / viewport.scale, tall);
            }
        });
    }

    /// Scrolls to the way of the request, unless something is selected or the user moved the graph.
    fn show_way(self) {
        let is_busy =
            self.app.selection.details.try_with_untracked(Option::is_some) != Some(false) || self.touched.try_get_untracked() != Some(false);
        let Some(nodes) = self.focus.try_with_untracked(|focus| focus.keep.clone()).filter(|_| !is_busy) else { return };
        let mut boxes = self.drawing.with_untracked(|drawing| {
            let passed = drawing.frames.iter().filter(|frame| nodes.contains(&frame.id));
            passed.map(|frame| (frame.x, frame.id.clone())).collect::<Vec<_>>()
        });
        // The last boxes decide: the service is in sight, and above all the rule.
        boxes.sort_by_key(|(x, _)| std::cmp::Reverse(*x));
        let service = boxes.first().map(|(x, _)| *x);
        let rule = boxes.iter().find(|(x, _)| Some(*x) != service).map(|(_, id)| id.clone());
        for id in boxes.first().map(|(_, id)| id.clone()).into_iter().chain(rule) {
            self.show(&id, false);
        }
    }

    fn draw(self) {
        let Some(focus) = self.focus.try_get_untracked() else { return };
        self.is_drawing.set(true);
        spawn_local(async move {
            let kept = focus.keep.clone();
            let answer = ask::<Option<Drawing>>(Question::Graph(focus)).await;
            let _ = self.is_drawing.try_set(false);
            let Ok(Some(answer)) = answer else { return };
            // The way of the request became known meanwhile.
            if answer.folded > 0 && self.focus.try_with_untracked(|focus| focus.keep != kept) == Some(true) {
                self.draw();
            }
            let first = self.drawing.try_with_untracked(|drawing| drawing.frames.is_empty()).unwrap_or(true);
            let _ = self.drawing.try_set(answer);
            if let Some((id, false)) = self.sought.try_get_value().flatten() {
                self.sought.set_value(Some((id.clone(), true)));
                self.cursor.set(Some(id.clone()));
                request_animation_frame(move || self.show(&id, true));
            } else if first || !self.touched.try_get_untracked().unwrap_or(true) {
                request_animation_frame(move || self.settle());
            }
            self.fit_further();
        });
    }

    /// Draws another part of the graph.
    pub fn refocus(self, change: impl FnOnce(&mut GraphFocus)) {
        self.touched.set(false);
        self.is_fitting.set_value(false);
        self.focus.update(change);
    }

    /// Zooms around a point of the pane. At the smallest scale, zooming out joins boxes.
    pub fn zoom(self, factor: f64, at: (f64, f64)) {
        let is_smallest = self.viewport.with_untracked(|viewport| viewport.scale <= SCALES.0);
        if is_smallest && factor < 1.0 {
            let count = self.drawing.with_untracked(|drawing| drawing.frames.len());
            let (width, height) = self.size();
            let is_larger = self.extent().is_some_and(|(full, tall)| full > width || tall > height);
            if is_larger && count > FEWEST as usize && !self.is_drawing.get_untracked() {
                self.join_to((count as f64 * COARSER) as u32);
            }
            return;
        }
        self.touched.set(true);
        self.viewport.update(|viewport| {
            let scale = (viewport.scale * factor).clamp(SCALES.0, SCALES.1);
            viewport.x += at.0 / viewport.scale - at.0 / scale;
            viewport.y += at.1 / viewport.scale - at.1 / scale;
            viewport.scale = scale;
        });
    }

    /// The middle of the pane.
    pub fn middle(self) -> (f64, f64) {
        let (width, height) = self.size();
        (width / 2.0, height / 2.0)
    }

    /// Moves the graph by pixels.
    fn pan(self, x: f64, y: f64) {
        self.touched.set(true);
        self.viewport.update(|viewport| {
            viewport.x += x / viewport.scale;
            viewport.y += y / viewport.scale;
        });
    }

    /// Handles a click on a box: opens a group, or selects the box.
    pub fn choose(self, frame: &Frame) {
        if frame.folded {
            // The view stays in place.
            self.touched.set(true);
            return self.focus.update(|focus| focus.open.push(frame.id.clone()));
        }
        self.cursor.set(Some(frame.id.clone()));
        if let Some(span) = &frame.span {
            self.app.selection.select(Target::Line { file: span.file.clone(), line: span.line });
        }
    }

    /// Handles a click on a line: selects the field that refers, or else the box at its start.
    pub fn choose_line(self, from: &str, field: Option<&Span>) {
        if let Some(field) = field {
            self.cursor.set(None);
            return self.app.selection.select(Target::Line { file: field.file.clone(), line: field.line });
        }
        let start = self.drawing.with_untracked(|drawing| drawing.frames.iter().find(|frame| frame.id == from).cloned());
        if let Some(start) = start {
            self.choose(&start);
        }
    }

    /// Converts a position in the window to a position in the pane.
    fn inside(self, (x, y): (f64, f64)) -> (f64, f64) {
        let (left, top) = self.host.get_untracked().map(|host| host.get_bounding_client_rect()).map_or((0.0, 0.0), |rect| (rect.left(), rect.top()));
        (x - left, y - top)
    }

    /// Handles the wheel: moves the graph, or zooms with Ctrl or with a stepped wheel.
    pub fn wheel(self, event: &WheelEvent) {
        event.prevent_default();
        if event.ctrl_key() || event.meta_key() || event.delta_mode() != 0 || event.delta_y().abs() >= 80.0 {
            self.zoom(0.998_f64.powf(event.delta_y()), self.inside((f64::from(event.client_x()), f64::from(event.client_y()))));
        } else {
            self.pan(event.delta_x(), event.delta_y());
        }
    }

    /// Handles a released or lost pointer.
    pub fn up(self, event: &PointerEvent) {
        self.held.update_value(|held| held.retain(|(id, _)| *id != event.pointer_id()));
    }

    /// Handles a pressed pointer.
    pub fn down(self, event: &PointerEvent) {
        self.held.update_value(|held| held.push((event.pointer_id(), place(event))));
    }

    /// Handles a moving pointer.
    pub fn moved(self, event: &PointerEvent) {
        let (id, now) = (event.pointer_id(), place(event));
        if event.buttons() != 1 {
            return self.up(event);
        }
        let all = self.held.get_value();
        let Some((_, before)) = all.iter().find(|(its, _)| *its == id) else { return };
        match all.iter().find(|(its, _)| *its != id) {
            Some((_, other)) => {
                let from_other = |of: (f64, f64)| (of.0 - other.0).hypot(of.1 - other.1).max(1.0);
                self.zoom(from_other(now) / from_other(*before), self.inside(((now.0 + other.0) / 2.0, (now.1 + other.1) / 2.0)));
            }
            None => self.pan(before.0 - now.0, before.1 - now.1),
        }
        self.held.update_value(|held| held.iter_mut().filter(|(its, _)| *its == id).for_each(|(_, at)| *at = now));
    }

    /// Handles keys: arrows follow the lines, Enter selects, plus and minus zoom.
    pub fn key(self, event: &KeyboardEvent) {
        let key = event.key();
        if self.app.play.is_open() {
            // The page's shortcuts step through the request.
            return;
        }
        match (key.as_str(), self.next(&key)) {
            (_, Some(frame)) => {
                self.cursor.set(Some(frame.id.clone()));
                self.show(&frame.id, true);
            }
            ("Enter", None) => {
                if let Some(frame) = self.at_cursor() {
                    self.choose(&frame);
                }
            }
            ("+" | "=", None) => self.zoom(1.25, self.middle()),
            ("-", None) => self.zoom(0.8, self.middle()),
            ("0", None) => self.fit_all(),
            ("l", None) => self.legend.update(|open| *open = !*open),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    }

    fn at_cursor(self) -> Option<Frame> {
        let id = self.cursor.get()?;
        self.drawing.with(|drawing| drawing.frames.iter().find(|frame| frame.id == id).cloned())
    }

    /// The focused box in words.
    pub fn spoken(self) -> String {
        let Some(frame) = self.at_cursor() else { return String::new() };
        let onward = self.drawing.with(|drawing| {
            let at = drawing.frames.iter().position(|of| of.id == frame.id);
            let ends = drawing.lines.iter().filter(|line| Some(line.from) == at).filter_map(|line| drawing.frames.get(line.to));
            ends.map(|to| to.title.clone()).collect::<Vec<_>>().join(", ")
        });
        let onward = if onward.is_empty() { String::new() } else { format!("; refers to {onward}") };
        format!("{}: {}{}{onward}", frame.caption, frame.title, if frame.reason.is_empty() { String::new() } else { format!(", {}", frame.reason) })
    }

    /// The box that an arrow key leads to.
    fn next(self, key: &str) -> Option<Frame> {
        self.drawing.with_untracked(|drawing| {
            let at = self.cursor.with_untracked(|cursor| drawing.frames.iter().position(|frame| Some(&frame.id) == cursor.as_ref()));
            let ahead = |at: usize| drawing.lines.iter().find(|line| line.from == at).map(|line| line.to);
            let behind = |at: usize| drawing.lines.iter().find(|line| line.to == at).map(|line| line.from);
            match (key, at) {
                ("ArrowRight" | "ArrowLeft" | "ArrowUp" | "ArrowDown", None) => drawing.frames.first().cloned(),
                ("ArrowRight", Some(at)) => drawing.frames.get(ahead(at)?).cloned(),
                ("ArrowLeft", Some(at)) => drawing.frames.get(behind(at)?).cloned(),
                ("ArrowDown", Some(at)) => neighbour(drawing, at, true),
                ("ArrowUp", Some(at)) => neighbour(drawing, at, false),
                _ => None,
            }
        })
    }

    /// Finds a box by part of its name, and opens the box that contains it.
    pub fn find(self, text: String) {
        self.wanted.set(text.clone());
        if text.is_empty() {
            return;
        }
        let focus = self.focus.get_untracked();
        spawn_local(async move {
            let Ok(Some(id)) = ask::<Option<String>>(Question::Seek { text: text.clone(), focus }).await else { return };
            // The user typed more, or left the view.
            if self.wanted.try_get_untracked() != Some(text) {
                return;
            }
            if self.drawing.with_untracked(|drawing| drawing.frames.iter().any(|frame| frame.id == id)) {
                self.cursor.set(Some(id.clone()));
                self.show(&id, true);
                return;
            }
            let before = self.sought.get_value();
            self.sought.set_value(Some((id.clone(), false)));
            self.focus.update(|focus| {
                focus.open.retain(|open| before.as_ref().is_none_or(|(id, _)| id != open));
                focus.open.push(id);
            });
        });
    }

    /// Shows only the surroundings of the selected box, or everything again.
    pub fn around(self) {
        let chosen = self.cursor.get_untracked().or_else(|| self.lit.with_untracked(|lit| lit.first().cloned()));
        let focused = self.focus.with_untracked(|focus| !focus.from.is_empty());
        match chosen {
            _ if focused => self.refocus(|focus| focus.from.clear()),
            Some(id) => self.refocus(|focus| focus.from = vec![id]),
            None => self.app.screen.say("Select a box first to show its neighbours"),
        }
    }

    /// Saves the drawing as a file.
    pub fn save(self, png: bool) {
        let focus = self.focus.get_untracked();
        spawn_local(async move {
            match ask::<String>(Question::Picture(focus)).await {
                Ok(svg) if png => bridge::save_png("chancery.png", &svg),
                Ok(svg) => bridge::save("chancery.svg", "image/svg+xml", &svg),
                Err(_) => {}
            }
        });
    }
}

fn place(event: &PointerEvent) -> (f64, f64) {
    (f64::from(event.client_x()), f64::from(event.client_y()))
}

/// The boxes of a selection. For a folded box, the box that represents it.
fn boxes_of_selection(details: &SelectionDetails, drawn: &HashSet<String>) -> Vec<String> {
    let groups = details.groups.iter();
    let mut lit: Vec<String> =
        details.nodes.iter().zip(groups).map(|(node, group)| if drawn.contains(node) { node } else { group }).cloned().collect();
    lit.retain(|id| drawn.contains(id));
    lit.dedup();
    lit
}

/// The next box of the same column.
fn neighbour(drawing: &Drawing, at: usize, down: bool) -> Option<Frame> {
    let now = drawing.frames.get(at)?;
    let column = drawing.frames.iter().filter(|frame| (frame.x - now.x).abs() < 40 && if down { frame.y > now.y } else { frame.y < now.y });
    column.min_by_key(|frame| (frame.y - now.y).abs()).cloned()
}
