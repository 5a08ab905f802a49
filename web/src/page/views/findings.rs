//! The view of findings by resource, worst first, and of inputs without an effect.

use super::markdown::words;
use super::{source, why_not};
use crate::ledger::Idle;
use crate::state::App;
use chancery_web::protocol::{Compiled, Finding, Fix, Group, LedgerRow, Span, Target};
use leptos::prelude::*;
use std::collections::HashMap;

const SEVERITIES: [&str; 3] = ["error", "warning", "notice"];

fn rank(severity: &str) -> usize {
    SEVERITIES.iter().position(|known| *known == severity).unwrap_or(SEVERITIES.len())
}

/// The number of findings to show at first. Every keystroke draws them again.
const MANY: usize = 300;

/// A finding with its other places and its consequences.
#[derive(Clone, PartialEq)]
struct Merged {
    finding: Finding,
    places: Vec<Span>,
    /// The fixes of all places, if every place has one.
    fixes: Vec<Fix>,
    consequences: Vec<Finding>,
}

/// The findings of one resource.
type Section = (String, Vec<Merged>);

/// Looks the findings of a group up.
fn merged(compiled: &Compiled, group: &Group) -> Option<Merged> {
    let get = |at: &usize| compiled.findings.get(*at);
    let finding = get(&group.first)?.clone();
    let others: Vec<&Finding> = group.others.iter().filter_map(get).collect();
    let fixes: Vec<Fix> = std::iter::once(&finding).chain(others.iter().copied()).filter_map(|finding| finding.fix.clone()).collect();
    let fixes = if fixes.len() == others.len() + 1 { fixes } else { Vec::new() };
    let places = others.iter().filter_map(|finding| finding.span.clone()).collect();
    Some(Merged { finding, places, fixes, consequences: group.consequences.iter().filter_map(get).cloned().collect() })
}

/// The first findings, and how many more there are.
fn first(mut groups: Vec<Section>, most: usize) -> (Vec<Section>, usize) {
    let all: usize = groups.iter().map(|(_, all)| all.len()).sum();
    let mut left = most;
    for (_, all) in &mut groups {
        all.truncate(left);
        left -= all.len();
    }
    groups.retain(|(_, all)| !all.is_empty());
    (groups, all.saturating_sub(most))
}

fn grouped(compiled: &Compiled, wanted: &str, only: Option<&str>) -> Vec<Section> {
    let mut groups: Vec<Section> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let wanted = wanted.to_lowercase();
    let fits = |finding: &Finding| {
        let text = format!(
            "{} {} {} {}",
            finding.shown_message(),
            finding.message,
            finding.code,
            finding.object.as_ref().map(ToString::to_string).unwrap_or_default()
        );
        only.is_none_or(|only| finding.severity == only) && (wanted.is_empty() || text.to_lowercase().contains(&wanted))
    };
    for one in compiled.groups.iter().filter_map(|group| merged(compiled, group)).filter(|one| fits(&one.finding)) {
        let finding = &one.finding;
        let of = finding.object.as_ref().or(finding.resource.as_ref());
        let name = of
            .filter(|_| one.places.is_empty())
            .map_or_else(|| finding.span.as_ref().map_or("The whole input".into(), |span| span.file.clone()), ToString::to_string);
        let name = if one.places.is_empty() { name } else { format!("{} places", one.places.len() + 1) };
        let at = *places.entry(name.clone()).or_insert(groups.len());
        match groups.get_mut(at) {
            Some((_, all)) => all.push(one),
            None => groups.push((name, vec![one])),
        }
    }
    for (_, all) in &mut groups {
        all.sort_by_key(|one| rank(&one.finding.severity));
    }
    groups.sort_by_key(|(_, all)| all.first().map_or(9, |one| rank(&one.finding.severity)));
    groups
}

#[component]
pub fn FindingsView(app: App) -> impl IntoView {
    let wanted = RwSignal::new(String::new());
    // The severity that is shown alone.
    let only = RwSignal::new(None::<&'static str>);
    let everything = RwSignal::new(false);
    let groups = Memo::new(move |_| {
        let found = app.engine.compiled.with(|compiled| wanted.with(|wanted| grouped(compiled, wanted, only.get())));
        first(found, if everything.get() { usize::MAX } else { MANY })
    });
    let filters = SEVERITIES.map(|severity| {
        let count = move || app.engine.compiled.with(|compiled| compiled.findings.iter().filter(|finding| finding.severity == severity).count());
        let is_chosen = move || only.get() == Some(severity);
        let toggle = move |_| only.update(|only| *only = (*only != Some(severity)).then_some(severity));
        view! {
            <button class=format!("chip filter {severity}") aria-pressed=move || is_chosen().to_string() title=format!("Show only findings of severity {severity}") on:click=toggle>
                <span class=format!("mark {severity}") aria-hidden="true"></span>
                {move || format!("{} {severity}{}", count(), if count() == 1 { "" } else { "s" })}
            </button>
        }
    });
    let nothing = move || {
        let any = app.engine.compiled.with(|compiled| !compiled.findings.is_empty());
        let word = if any { "No finding matches the filter." } else { "No findings." };
        groups.with(|(groups, _)| groups.is_empty()).then(|| view! { <p class="empty">{word}</p> })
    };
    view! {
        <div class="bar">
            {filters.collect_view()}
            <input
                class="field grow" type="search" placeholder="Filter findings" aria-label="Filter findings"
                prop:value=move || wanted.get() on:input=move |event| wanted.set(event_target_value(&event))
            />
        </div>
        <div class="scroll" tabindex="0" role="group" aria-label="Findings">
            {nothing}
            {move || groups.get().0.into_iter().map(|(name, all)| view! { <GroupCard app=app name=name all=all /> }).collect_view()}
            {move || {
                let more = groups.with(|(_, more)| *more);
                (more > 0).then(|| view! { <p class="empty">{format!("{more} more. ")}<button class="link" on:click=move |_| everything.set(true)>"Show all"</button></p> })
            }}
            <IdleList app=app />
        </div>
    }
}

#[component]
fn GroupCard(app: App, name: String, all: Vec<Merged>) -> impl IntoView {
    view! {
        <section class="group">
            <h2 class="group-name">{name}</h2>
            {all.into_iter().map(|one| view! { <Card app=app one=one /> }).collect_view()}
        </section>
    }
}

#[component]
fn Card(app: App, one: Merged) -> impl IntoView {
    let Merged { finding, places, fixes, consequences } = one;
    let Finding { code, severity, message, span, help, fix, related, plain, .. } = finding;
    let selected = {
        let span = span.clone();
        move || {
            app.selection.details.with(|details| {
                details.as_ref().is_some_and(|details| {
                    details.spans.iter().any(|its| span.as_ref().is_some_and(|span| its.file == span.file && its.line == span.line))
                })
            })
        }
    };
    let source = span.map(|span| {
        let label = format!("{}:{}", span.file, span.line);
        view! { <button class="chip source" on:click=move |_| app.selection.go(&span)>{label}</button> }
    });
    let related = related.into_iter().filter_map(|related| {
        let span = related.span?;
        let label = format!("{}:{}", span.file, span.line);
        Some(view! { <p class="related">{words(&related.message)} " " <button class="chip source" on:click=move |_| app.selection.go(&span)>{label}</button></p> })
    });
    let page = code.clone();
    view! {
        <article class=format!("finding {severity}") class:selected=selected>
            <span class=format!("mark {severity}") role="img" aria-label=severity.clone()></span>
            <div class="finding-body">
                <p class="finding-message">{words(plain.as_ref().unwrap_or(&message))}</p>
                {plain.is_some().then(|| view! {
                    <details class="finding-original"><summary>"The controller's message"</summary><p>{message.clone()}</p></details>
                })}
                {help.map(|help| view! { <p class="finding-help">{words(&help)}</p> })}
                {related.collect_view()}
                <div class="finding-foot">
                    {source}
                    {(!places.is_empty()).then(|| view! { <Places app=app places=places /> })}
                    {(fixes.len() > 1).then(|| {
                        let label = format!("Fix all {}", fixes.len());
                        view! { <button class="chip fix" on:click=move |_| app.engine.fix_all(fixes.clone())><span>{label}</span></button> }
                    })}
                    {fix.map(|fix| {
                        let label = fix.message.clone();
                        view! { <button class="chip fix" on:click=move |_| app.engine.fix(&fix)><span>{words(&label)}</span></button> }
                    })}
                    <button class="link" on:click=move |_| app.open_page(page.clone())>{code}</button>
                </div>
                {(!consequences.is_empty()).then(|| view! { <Consequences app=app findings=consequences /> })}
            </div>
        </article>
    }
}

/// Findings that refer to the place of an error, in an expandable list.
#[component]
fn Consequences(app: App, findings: Vec<Finding>) -> impl IntoView {
    let count = findings.len();
    let summary = if count == 1 { "1 more finding refers to this place".to_string() } else { format!("{count} more findings refer to this place") };
    let row = move |finding: Finding| {
        let message = finding.shown_message().to_string();
        view! {
            <li class="consequence-row">
                <span class=format!("mark {}", finding.severity) role="img" aria-label=finding.severity.clone()></span>
                <span>{words(&message)}</span> {finding.span.map(|span| source(app, span))}
            </li>
        }
    };
    view! { <details class="finding-original"><summary>{summary}</summary><ul>{findings.into_iter().map(row).collect_view()}</ul></details> }
}

/// The other places of a finding, in an expandable list.
#[component]
fn Places(app: App, places: Vec<Span>) -> impl IntoView {
    let open = RwSignal::new(false);
    let count = places.len() + 1;
    let place = move |span: Span| {
        let label = format!("{}:{}", span.file, span.line);
        view! { <button class="chip source" on:click=move |_| app.selection.go(&span)>{label}</button> }
    };
    move || match open.get() {
        true => places.clone().into_iter().map(place).collect_view().into_any(),
        false => view! { <button class="chip" on:click=move |_| open.set(true)>{format!("{count} places")}</button> }.into_any(),
    }
}

/// The resources without an effect.
#[component]
fn IdleList(app: App) -> impl IntoView {
    move || {
        let Idle { rows, count, total } = app.ledger.idle();
        if total == 0 {
            return ().into_any();
        }
        let title = match count {
            0 if total == 1 => "The resource has an effect".into(),
            0 => format!("All {total} resources have an effect"),
            1 => format!("1 of {total} resources has no effect"),
            count => format!("{count} of {total} resources have no effect"),
        };
        view! {
            <section class="group idle">
                <h2 class="group-name">{title}</h2>
                <ul class="idle-list">{rows.into_iter().take(500).map(|row| view! { <IdleRow app=app row=row /> }).collect_view()}</ul>
            </section>
        }
        .into_any()
    }
}

#[component]
fn IdleRow(app: App, row: LedgerRow) -> impl IntoView {
    let said = match (&row.by, &row.detail, &row.why) {
        (Some(by), ..) => format!("by {by}"),
        (_, Some(detail), _) => detail.clone(),
        (.., Some(why)) => why.replace('-', " "),
        _ => String::new(),
    };
    let said = row.dialect.iter().map(|dialect| format!("{dialect}: {said}")).next().unwrap_or(said);
    let acts = row.span.clone().map(|span| {
        let target = Target::Line { file: span.file.clone(), line: span.line };
        view! {
            <button class="chip" title="Explain why requests do not reach it" on:click=move |_| why_not(app, target.clone())>"Why not?"</button>
            {source(app, span)}
        }
    });
    view! {
        <li class="idle-row">
            <span class=format!("state {}", row.state)>{row.state.clone()}</span>
            <span class="idle-name">{row.resource.to_string()}</span>
            <span class="idle-why">{words(&said)}</span>
            {acts}
        </li>
    }
}
