//! Sends the form's request to the chosen Envoy and compares the response with the simulation. Does not send it itself; see `running`.

use super::Host;
use super::running::{Sent, name};
use crate::state::App;
use crate::view::View;
use leptos::prelude::*;

/// The section above the simulated steps. Empty if there is no window.
#[component]
pub fn Real(app: App) -> impl IntoView {
    let running = app.live.running;
    (app.live.host == Host::Window).then(move || {
        let button = move || match running.chosen.get() {
            None => view! {
                <p class="live-row live-muted">"To send this request to an Envoy, choose the Envoy in " <button class="link" on:click=move |_| app.screen.show(View::Live)>"Live"</button></p>
            }
            .into_any(),
            Some(envoy) => view! {
                <p class="live-row">
                    <button class="button" prop:disabled=move || running.waiting.get() != 0 on:click=move |_| running.send(app.requests.form.get_untracked())>{format!("Send to {}", name(&envoy))}</button>
                </p>
            }
            .into_any(),
        };
        // If the form changed, the response belongs to an earlier request.
        let answer = move || running.answer.get().filter(|sent| app.requests.form.with(|form| *form == sent.request)).map(|sent| view! { <Both sent=sent /> });
        view! { <div class="real">{button} {answer}</div> }
    })
}

#[component]
fn Both(sent: Sent) -> impl IntoView {
    let Sent { request, simulated, answer } = sent;
    let (mark, message, real) = match answer {
        Err(why) => ("error", why, None),
        Ok(answer) => {
            let mark = match answer.agrees {
                Some(true) => "match",
                Some(false) => "error",
                None => "notice",
            };
            (mark, answer.why.clone(), Some(answer))
        }
    };
    let real = real.map(|answer| {
        let header = |(name, value): (String, String)| view! { <tr><td>{name}</td><td>{value}</td></tr> };
        view! {
            <p><strong>{answer.status}</strong> <span class="live-muted">{format!(" after {} ms, from port {}", answer.took_ms, answer.port)}</span></p>
            <table class="live-table"><tbody>{answer.headers.into_iter().map(header).collect_view()}</tbody></table>
            {(!answer.body.is_empty()).then(|| view! { <pre class="real-body">{answer.body}</pre> })}
            {answer.is_cut.then(|| view! { <p class="live-muted">"The body is longer."</p> })}
        }
    });
    view! {
        <p role="status"><span class=format!("mark {mark}") aria-hidden="true"></span>" "{message}</p>
        <div class="real-sides">
            <section aria-label="Simulated"><h3 class="live-head">"Simulated"</h3><p>{format!("{} {}", if request.method.is_empty() { "GET" } else { &request.method }, request.url)}</p><p>"The request "{simulated}</p></section>
            <section aria-label="Real response"><h3 class="live-head">"Real response"</h3>{real}</section>
        </div>
    }
}
