//! `chancery route` for an Application Gateway.
//!
//! Does not simulate; see `chancery_core::explain`.

use super::head;
use crate::style::{Style, count, plain};
use chancery_core::backend::appgw::rewrite::RewriteResult;
use chancery_core::backend::appgw::route::Ending;
use chancery_core::explain::{AppGatewayReport, Span};
use chancery_core::simulate::Request;
use std::fmt::Write;

/// Returns a report as human-readable text.
pub fn human(report: &AppGatewayReport, request: &Request, style: &Style) -> String {
    let mut out = head(request, &report.verdict, style);
    for (rule, why) in &report.journey.passed {
        let _ = writeln!(out, "\n{} rule {}: {}", style.red("✗"), plain(rule), why.words());
    }
    if let Some(taken) = &report.journey.taken {
        step(&mut out, report, style, "listener", &taken.listener);
        step(&mut out, report, style, "rule", &taken.rule);
        path_rules(&mut out, report, style);
        if let Some(rewrites) = &taken.rewrites {
            let _ = writeln!(out, "    rewrite rule set {}", plain(rewrites));
            report.rewritten.iter().flat_map(|rewritten| &rewritten.rewrites).for_each(|rewrite| rewrite_line(&mut out, rewrite));
        }
        if let Some(policy) = &taken.policy {
            let _ = writeln!(out, "    firewall policy {} applies; what it blocks is not simulated", plain(policy));
        }
    }
    for later in &report.journey.later {
        let what = later.listener.as_ref().map_or_else(|| "path rule".to_owned(), |listener| format!("listener {listener}, rule"));
        let line = format!("    {what} {} ({}) would match too, but comes later", later.rule, later.pattern);
        let _ = writeln!(out, "{}", style.dim(plain(&line)));
    }
    ending(&mut out, report, style);
    unserved(&mut out, report, style);
    if let Some(note) = report.near_path_note() {
        let _ = writeln!(out, "\n{} {}", style.yellow("note:"), plain(&note));
    }
    let _ = writeln!(
        out,
        "\n{} this follows Azure's documentation, not a real Application Gateway. The health of addresses is unknown.",
        style.yellow("note:")
    );
    out
}

/// At most this many path rules are shown one by one.
const MOST: usize = 12;

/// Shows the path rules that were tried, and the one that matches.
fn path_rules(out: &mut String, report: &AppGatewayReport, style: &Style) {
    let (passed, matched) = (&report.journey.passed_paths, report.journey.taken.as_ref().and_then(|taken| taken.path_rule.as_ref()));
    let hidden = passed.len().saturating_sub(MOST);
    if hidden > 0 {
        let _ = writeln!(out, "    {}", style.dim(format!("{} before it did not match", count(hidden, "more path rule"))));
    }
    for (rule, patterns) in passed.iter().skip(hidden) {
        let patterns: Vec<&str> = patterns.iter().map(|pattern| pattern.as_str()).collect();
        let _ = writeln!(out, "    {} path rule {}: {}", style.red("✗"), plain(rule), plain(&patterns.join(", ")));
    }
    match matched {
        Some((rule, pattern)) => {
            let place = place(report, "path_rule", style);
            let _ = writeln!(out, "    {} path rule {}: {}{place}", style.green("✓"), plain(rule), plain(pattern));
        }
        None if !passed.is_empty() => {
            let _ = writeln!(out, "    {} no path rule matches: the default of the path map applies", style.green("✓"));
        }
        None => {}
    }
}

/// Shows resources for the request's host that are not served, and findings about the rule.
fn unserved(out: &mut String, report: &AppGatewayReport, style: &Style) {
    for of in &report.wanting {
        let _ = writeln!(
            out,
            "\n{} {} is for this host; it is {}{}",
            style.yellow("!"),
            plain(&of.resource.to_string()),
            of.state,
            at(of.span.as_ref(), style)
        );
        for why in of.why.iter().take(3) {
            let _ = writeln!(out, "    {}", plain(why));
        }
    }
    for finding in &report.findings {
        let _ = writeln!(out, "\n{} {}{}", style.yellow("!"), plain(&finding.message), at(finding.span.as_ref(), style));
        if let Some(help) = &finding.help {
            let _ = writeln!(out, "    help: {}", plain(help));
        }
    }
}

/// File and line, after two blanks.
fn at(span: Option<&Span>, style: &Style) -> String {
    span.map(|span| format!("  {}", style.dim(plain(&format!("{}:{}", span.file, span.line))))).unwrap_or_default()
}

/// The place of a part, after two blanks.
fn place(report: &AppGatewayReport, what: &str, style: &Style) -> String {
    at(report.origins.iter().filter(|origin| origin.of == what).find_map(|origin| origin.origin.span.as_ref()), style)
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
    let place = place(report, what, style);
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
