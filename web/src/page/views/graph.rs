//! The view of the graph: search, filters, zoom and keyboard navigation. Does not lay out boxes; see `chancery_core::explain`.

mod board;
mod canvas;
mod player;
mod settings;
mod text;

use crate::state::App;
use crate::view::Overlay;
use board::Board;
use canvas::{Canvas, Minimap, icon};
use chancery_web::protocol::Frame;
use leptos::prelude::*;
use player::Player;
use settings::Settings;
use text::{AsText, plain};

#[component]
pub fn GraphView(app: App) -> impl IntoView {
    let board = Board::new(app);
    board.follow();
    let body = move || {
        if board.listed.get() {
            return view! { <AsText board=board /> }.into_any();
        }
        view! {
            <div
                class="graph" class:has-selection=move || !board.lit.with(Vec::is_empty) node_ref=board.host tabindex="0" role="application"
                aria-label="Graph. Arrows follow the lines, Enter selects, plus and minus zoom. The button List shows a list."
                on:wheel=move |event| board.wheel(&event) on:pointerdown=move |event| board.down(&event) on:pointermove=move |event| board.moved(&event)
                on:pointerup=move |event| board.up(&event) on:pointercancel=move |event| board.up(&event) on:pointerleave=move |event| board.up(&event)
                on:keydown=move |event| board.key(&event)
            >
                <Canvas board=board choose=Callback::new(move |frame: Frame| board.choose(&frame)) />
                {move || nothing(board)}
            </div>
            <p class="visually-hidden" role="status">{move || board.spoken()}</p>
        }
        .into_any()
    };
    view! {
        <Bar board=board />
        <Legend board=board />
        {body}
        <Player board=board />
        <Settings board=board />
        <Ground board=board />
    }
}

/// The icon of a button.
fn sign(path: &'static str) -> impl IntoView {
    view! { <svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d=path></path></svg> }
}

/// Search and filters.
#[component]
fn Bar(board: Board) -> impl IntoView {
    let Board { focus, drawing, wanted, .. } = board;
    let folded = move || drawing.with(|drawing| drawing.folded > 0);
    let group = move |_| {
        let folded = drawing.with_untracked(|drawing| drawing.folded > 0);
        board.refocus(|focus| {
            focus.fold = Some(!folded);
            focus.most = None;
            focus.open.clear();
        });
    };
    let problems = move || focus.with(|focus| focus.only_problems).to_string();
    let neighbours = move || focus.with(|focus| !focus.from.is_empty()).to_string();
    let built_in = move || focus.with(|focus| !focus.written_only).to_string();
    let shows_parts = move || focus.with(|focus| focus.envoy_parts);
    let level_button = move |to: bool, label: &'static str, title: &'static str| {
        view! { <button aria-pressed=move || (shows_parts() == to).to_string() title=title on:click=move |_| board.refocus(|focus| { focus.envoy_parts = to; focus.open.clear(); })>{label}</button> }
    };
    view! {
        <div class="bar graph-bar" class:open=move || board.controls.get()>
            <div class="segments" role="group" aria-label="Level of detail">
                {level_button(false, "Overview", "Your resources in the order of a request")}
                {level_button(true, "Envoy parts", "Each part of Envoy's configuration")}
            </div>
            <input class="field grow" type="search" placeholder="Find in the graph" aria-label="Find in the graph" prop:value=move || wanted.get() on:input=move |event| board.find(event_target_value(&event)) />
            <button class="quiet" aria-pressed=problems title="Show only problems, missing resources, and what refers to them" on:click=move |_| board.refocus(|focus| focus.only_problems = !focus.only_problems)>
                {sign("M8 2l6 11H2zM8 6v4M8 11.5v.5")} "Problems only"
            </button>
            <button class="quiet" aria-pressed=neighbours title="Show only the neighbours of the selected box" on:click=move |_| board.around()>
                {sign("M8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4M2 8h4M10 8h4M8 2v4M8 10v4")} "Neighbours"
            </button>
            <button class="quiet" aria-pressed=move || folded().to_string() title="Join similar boxes: by host, namespace or kind" on:click=group>
                {sign("M2 5h9v8H2zM5 5V2h9v8h-3")} "Group"
            </button>
            <button class="quiet" aria-pressed=built_in title="Show routes that the controller adds itself" on:click=move |_| board.refocus(|focus| focus.written_only = !focus.written_only)>
                {sign("M3 13V7M8 13V3M13 13V9")} "Built-in routes"
            </button>
            <button class="quiet" aria-pressed=move || board.legend.get().to_string() title="Explain icons and lines, and hide kinds (L)" on:click=move |_| board.legend.update(|open| *open = !*open)>
                {sign("M3 4h2v2H3zM3 10h2v2H3zM7 5h6M7 11h6")} "Legend"
            </button>
        </div>
    }
}

/// The kinds, which can be hidden.
#[component]
fn Legend(board: Board) -> impl IntoView {
    let Board { focus, drawing, .. } = board;
    let entry = move |(kind, count): (String, usize)| {
        let shown = {
            let kind = kind.clone();
            move || focus.with(|focus| !focus.without.contains(&kind))
        };
        let hidden = {
            let shown = shown.clone();
            move || !shown()
        };
        let toggle = {
            let kind = kind.clone();
            move |_| {
                board.refocus(|focus| match focus.without.iter().position(|known| *known == kind) {
                    Some(at) => drop(focus.without.remove(at)),
                    None => focus.without.push(kind.clone()),
                })
            }
        };
        let path = icon(&kind);
        view! {
            <button class="chip legend" class:off=hidden aria-pressed=move || shown().to_string() on:click=toggle>
                <svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d=path></path></svg>{kind.clone()} <span class="legend-count">{count}</span>
            </button>
        }
    };
    let entries = move || drawing.with(|drawing| drawing.kinds.clone()).into_iter().map(entry).collect_view();
    let calls = move || {
        let any = drawing.with(|drawing| drawing.lines.iter().any(|line| line.effect.is_some()));
        let all = [("allow", "may call"), ("deny", "must not call"), ("conditions", "conditions decide each call")];
        any.then(|| all.map(|(class, label)| view! { <span class="legend-line"><span class=format!("legend-sample {class}") aria-hidden="true"></span>{label}</span> }).collect_view())
    };
    let lines = move || {
        view! {
            <span class="legend-line"><span class="legend-sample passed" aria-hidden="true"></span>"way of the request"</span>
            <span class="legend-line"><span class="legend-sample" aria-hidden="true"></span>"forwards or refers to"</span>
            <span class="legend-line"><span class="legend-sample lost" aria-hidden="true"></span>"leads to something missing"</span>
            {calls}
        }
    };
    move || board.legend.get().then(|| view! { <div class="legend-bar" role="group" aria-label="Kinds">{entries()}{lines()}</div> })
}

/// The scale and the map, below the graph, so that they cover nothing.
#[component]
fn Ground(board: Board) -> impl IntoView {
    let scale = move || format!("{:.0}%", board.viewport.get().scale * 100.0);
    let listed = board.listed;
    let copy = move |_| board.app.screen.copy(&board.drawing.with_untracked(plain), "The graph as text");
    view! {
        <div class="graph-ground">
            <button class="quiet graph-more" aria-expanded=move || board.controls.get().to_string() title="Show search and filters" on:click=move |_| board.controls.update(|open| *open = !*open)>"Controls"</button>
            <div class="zoom" hidden=move || listed.get()>
                <button class="quiet" aria-label="Zoom out" on:click=move |_| board.zoom(0.8, board.middle())>"−"</button>
                <span class="zoom-scale">{scale}</span>
                <button class="quiet" aria-label="Zoom in" on:click=move |_| board.zoom(1.25, board.middle())>"+"</button>
                <button class="quiet" title="Join boxes until the whole graph fits" on:click=move |_| board.fit_all()>"Fit"</button>
            </div>
            <button class="quiet" aria-pressed=move || listed.get().to_string() title="Show every box and its references as a list" on:click=move |_| listed.update(|listed| *listed = !*listed)>
                {sign("M5 4h9M5 8h9M5 12h9M2 4h.5M2 8h.5M2 12h.5")} "List"
            </button>
            <button class="quiet" title="Copy every box and its references" on:click=copy>
                {sign("M5 5h8v9H5zM3 11V2h8")} "Copy as text"
            </button>
            <span class="export">{sign("M8 2v8M5 7l3 3 3-3M3 13h10")} "Export"
                <button class="quiet" title="Save as SVG" on:click=move |_| board.save(false)>"SVG"</button>
                <button class="quiet" title="Save as PNG" on:click=move |_| board.save(true)>"PNG"</button>
            </span>
            {move || (!listed.get()).then(|| view! { <Minimap board=board /> })}
        </div>
    }
}

/// Why the graph is empty, once that is certain.
fn nothing(board: Board) -> Option<impl IntoView> {
    let (empty, kinds) = board.drawing.with(|drawing| (drawing.frames.is_empty(), !drawing.kinds.is_empty()));
    let (problems, left_out) = board.focus.with(|focus| (focus.only_problems, !focus.without.is_empty()));
    if !empty || board.app.engine.generation.get() == 0 || board.is_drawing.get() {
        return None;
    }
    let all = move |_| {
        board.refocus(|focus| {
            focus.only_problems = false;
            focus.without.clear();
            focus.from.clear();
        })
    };
    let examples = move |_| board.app.screen.lay_over(Overlay::Gallery);
    Some(match (kinds, problems) {
        (true, true) => view! { <p class="empty">"There are no problems, and no resource is missing. " <button class="link" on:click=all>"Show everything"</button></p> }.into_any(),
        (true, false) if left_out => view! { <p class="empty">"The legend hides every kind. " <button class="link" on:click=all>"Show everything"</button></p> }.into_any(),
        (true, false) => view! { <p class="empty">"The filters hide everything. " <button class="link" on:click=all>"Show everything"</button></p> }.into_any(),
        (false, _) => view! {
            <p class="empty">"There is nothing to draw. Add resources to the editor or open an example. "
            <button class="link" on:click=examples>"Open the examples"</button></p>
        }
        .into_any(),
    })
}
