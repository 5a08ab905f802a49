//! The dialog that explains why requests do not reach a resource: its rules with the nearest requests, the rule that wins, and a tested fix. Does not
//! find the reasons; see `worker`.

use super::markdown::words;
use super::source;
use crate::link::{Silence, ask};
use crate::state::App;
use crate::view::{Overlay, View};
use chancery_web::protocol::{Contribution, Fix, Question, Reach, ReachCase, Target, WrittenRequest};
use leptos::prelude::*;
use leptos::task::spawn_local;

/// Asks why requests do not reach a place, and shows the answer.
pub fn why_not(app: App, target: Target) {
    spawn_local(async move {
        match ask::<Option<Reach>>(Question::WhyNot { target, request: app.requests.form.get_untracked() }).await {
            Ok(Some(reach)) => app.screen.lay_over(Overlay::Reach(Box::new(reach))),
            Ok(None) => app.screen.say("No resource produces this: the controller adds it itself"),
            Err(Silence::Refused(why)) => app.screen.say(why),
            Err(Silence::Ended) => {}
        }
    });
}

#[component]
pub fn ReachSheet(app: App, reach: Reach) -> impl IntoView {
    let Reach { summary, cases, fix, request, .. } = reach;
    let reached = cases.iter().filter(|case| case.reached).count();
    let first = match (reached, cases.len()) {
        (_, 0) if request.iter().any(|part| part.holds) => "It makes no route, but this request uses it.".to_string(),
        (_, 0) => "It makes no route.".into(),
        (0, 1) => "No simulated request reaches its rule.".into(),
        (0, all) => format!("No simulated request reaches any of its {all} rules."),
        (1, 1) => "Requests reach it.".into(),
        (reached, all) if reached == all => format!("Requests reach all {all} rules."),
        (reached, all) => format!("Requests reach {reached} of {all} rules."),
    };
    let good = reached > 0 || cases.is_empty() && request.iter().any(|part| part.holds);
    view! {
        <div class="reach">
            <p class="reach-first" class:good=good>{first}</p>
            {summary.into_iter().map(|sentence| view! { <p>{words(&sentence)}</p> }).collect_view()}
            {(!request.is_empty()).then(|| view! {
                <h3 class="group-name">"For the request on the screen"</h3>
                <ul class="reach-cases">{request.into_iter().map(|part| view! { <PartRow app=app part=part /> }).collect_view()}</ul>
            })}
            {fix.map(|fix| view! { <TestedFix app=app fix=fix /> })}
            <ul class="reach-cases">{cases.into_iter().map(|case| view! { <CaseRow app=app case=case /> }).collect_view()}</ul>
        </div>
    }
}

/// What the resource does for the request, or the first condition that failed.
#[component]
fn PartRow(app: App, part: Contribution) -> impl IntoView {
    let Contribution { holds, summary, expected, actual, span } = part;
    let values = expected.map(|expected| {
        let actual = actual.map(|actual| view! { ", got " <code class="saw">{actual}</code> });
        view! { <p class="reach-fact">"expects " <code class="wanted">{expected}</code> {actual}</p> }
    });
    view! {
        <li class="reach-case" class:good=holds>
            <span class="reach-mark" role="img" aria-label=if holds { "contributes" } else { "does not contribute" }>{if holds { "✓" } else { "✗" }}</span>
            <div><p>{words(&summary)} " " {span.map(|span| source(app, span))}</p> {values}</div>
        </li>
    }
}

/// The tested edit that helps.
#[component]
fn TestedFix(app: App, fix: Fix) -> impl IntoView {
    let label = fix.message.clone();
    let apply = move |_| {
        app.screen.overlay.set(None);
        app.engine.fix(&fix);
    };
    view! { <p class="reach-fix"><button class="chip fix" on:click=apply><span>{words(&label)}</span></button> " was tested: with it, requests reach the resource."</p> }
}

#[component]
fn CaseRow(app: App, case: ReachCase) -> impl IntoView {
    let ReachCase { rule, request, reached, summary, winner, span, .. } = case;
    let attempt = request.map(|request| {
        let WrittenRequest { method, url, .. } = &request;
        let label = format!("{} {url}", if method.is_empty() { "GET" } else { method });
        let fill = move |_| {
            app.screen.overlay.set(None);
            app.requests.fill(request.clone());
            app.screen.show(View::Try);
        };
        view! { <button class="link reach-request" title="Try this request" on:click=fill>{label}</button> }
    });
    let go = span.map(|span| {
        let label = winner.map(|winner| winner.to_string()).unwrap_or_default();
        view! { <span class="reach-winner">{label} " " {source(app, span)}</span> }
    });
    view! {
        <li class="reach-case" class:good=reached>
            <span class="reach-mark" role="img" aria-label=if reached { "reached" } else { "not reached" }>{if reached { "✓" } else { "✗" }}</span>
            <div>
                <p><code>{rule}</code> " " {attempt}</p>
                {summary.into_iter().map(|sentence| view! { <p class="reach-fact">{words(&sentence)}</p> }).collect_view()}
                {go}
            </div>
        </li>
    }
}
