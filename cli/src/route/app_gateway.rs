//! `chancery route` for an Application Gateway.
//!
//! Does not simulate; see `chancery_core::explain`.

use crate::Outcome;
use crate::args::Format;
use crate::output::{print, print_json};
use crate::style::{Style, plain};
use chancery_core::backend::appgw::rewrite::RewriteResult;
use chancery_core::backend::appgw::route::Ending;
use chancery_core::compilation::Compilation;
use chancery_core::explain::{AppGatewayReport, route_app_gateway};
use chancery_core::simulate::Request;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Shows how each Application Gateway handles the request.
pub fn run(compilation: &Compilation, request: &Request, format: Format, style: &Style) -> Outcome {
    let positions = compilation.positions();
    let report = |gateway| route_app_gateway(gateway, &positions, request);
    let reports: BTreeMap<_, _> = compilation.app_gateways().map(|gateway| (gateway.named.label().unwrap_or_default(), report(gateway))).collect();
    match format {
        Format::Json if reports.len() == 1 => reports.values().try_for_each(print_json)?,
        Format::Json => print_json(&reports)?,
        Format::Human => {
            let texts = reports.iter().map(|(gateway, report)| match gateway.as_str() {
                "" => human(report, request, style),
                gateway => format!("{}\n\n{}", style.heading(gateway), human(report, request, style)),
            });
            print(&texts.collect::<Vec<_>>().join("\n"))?;
        }
    }
    Ok(0)
}

fn human(report: &AppGatewayReport, request: &Request, style: &Style) -> String {
    let mut out = String::new();
    let scheme = if request.tls { "https" } else { "http" };
    let _ = writeln!(out, "{}", style.bold(plain(&format!("{} {scheme}://{}{}", request.method, request.authority, request.path))));
    for (rule, why) in &report.journey.passed {
        let _ = writeln!(out, "\n{} rule {}: {}", style.red("✗"), plain(rule), why.words());
    }
    if let Some(taken) = &report.journey.taken {
        step(&mut out, report, style, "listener", &taken.listener);
        step(&mut out, report, style, "rule", &taken.rule);
        if let Some((rule, pattern)) = &taken.path_rule {
            let _ = writeln!(out, "    path rule {} takes {}", plain(rule), plain(pattern));
        }
        if let Some(rewrites) = &taken.rewrites {
            let _ = writeln!(out, "    rewrite rule set {}", plain(rewrites));
            report.rewritten.iter().flat_map(|rewritten| &rewritten.rewrites).for_each(|rewrite| rewrite_line(&mut out, rewrite));
        }
        if let Some(policy) = &taken.policy {
            let _ = writeln!(out, "    firewall policy {} applies; what it blocks is not simulated", plain(policy));
        }
    }
    ending(&mut out, report, style);
    let _ = writeln!(
        out,
        "\n{} this follows Azure's documentation, not a real Application Gateway. The health of addresses is unknown.",
        style.yellow("note:")
    );
    out
}

fn rewrite_line(out: &mut String, rewrite: &RewriteResult) {
    let variable = rewrite.because_of.as_deref().unwrap_or_default();
    let state = match rewrite.done {
        Some(true) => "is done".to_owned(),
        Some(false) => format!("is not done, because of {variable}"),
        None => format!("may be done: {variable} is not known before there is an answer"),
    };
    let _ = writeln!(out, "      {} {}", plain(&rewrite.name), plain(&state));
    for (of, headers) in [("request", &rewrite.request_headers), ("answer", &rewrite.response_headers)] {
        for (name, value) in headers {
            let line = if value.is_empty() { format!("takes {name} from the {of}") } else { format!("sets {name} of the {of} to {value}") };
            let _ = writeln!(out, "        {}", plain(&line));
        }
    }
}

fn step(out: &mut String, report: &AppGatewayReport, style: &Style, what: &str, name: &str) {
    let span = report.origins.iter().filter(|origin| origin.of == what).find_map(|origin| origin.origin.span.as_ref());
    let place = span.map(|span| format!("  {}", style.dim(plain(&format!("{}:{}", span.file, span.line))))).unwrap_or_default();
    let _ = writeln!(out, "\n{} {what} {}{place}", style.green("→"), style.cyan(plain(name)));
}

fn ending(out: &mut String, report: &AppGatewayReport, style: &Style) {
    match &report.journey.ending {
        Ending::Forwarded { pool, addresses, is_https, port, host, path } => {
            step(out, report, style, "pool", pool);
            let scheme = if *is_https { "https" } else { "http" };
            for address in addresses {
                let _ = writeln!(out, "    {scheme}://{}:{port}{}", plain(address), plain(path));
            }
            let host = host.as_ref().map_or("the address itself".into(), |host| plain(host).into_owned());
            let _ = writeln!(out, "    host {host}");
            if let Some(probe) = &report.probe {
                let good = probe.good.iter().map(|code| code.as_str()).collect::<Vec<_>>().join(", ");
                let _ = writeln!(
                    out,
                    "    healthy while {} (host {}) answers {}: asked every {} s, unhealthy after {} failures",
                    plain(&probe.url),
                    plain(&probe.host),
                    plain(&good),
                    probe.interval,
                    probe.failures
                );
            }
        }
        Ending::Redirected { code, location } => {
            let _ = writeln!(out, "\n{} redirect {code}\n    location {}", style.green("→"), style.cyan(plain(location)));
        }
        Ending::Refused { code, why } => {
            let code = code.map_or("nothing answers".to_owned(), |code| format!("the gateway answers {code}"));
            let _ = writeln!(out, "\n{} {}\n    {}", style.yellow("→"), style.yellow(code), plain(why));
        }
    }
}
