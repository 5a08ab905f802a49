//! `chancery route`: shows what happens to a request, as text or JSON.
//!
//! Does not simulate; see `chancery_core::explain`.

mod app_gateway;
mod nginx;

use crate::args::{Deployment, Format, RouteArgs};
use crate::output::{print, print_json};
use crate::style::{Style, count, plain};
use crate::{Outcome, Unusable, input};
use chancery_core::explain::{RequestReport, RequestVerdict, RouteReport, RunningGateway, Span, entry_gateways, overview, route_unknown};
use chancery_core::simulate::{self, HeaderChange, Protocol, Request, Simulation, WrittenRequest};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// At most this many of the tried routes are shown one by one in text.
const MOST: usize = 12;

/// Runs it.
pub fn run(args: &RouteArgs, deployment: &Deployment, style: &Style) -> Outcome {
    if let Some(file) = &args.requests {
        return nginx::replay(file, args, deployment, style);
    }
    let (request, paths) = request(args)?;
    let given = input::given(&paths, deployment)?;
    let (mut reports, mut several) = (BTreeMap::new(), false);
    match given.running()? {
        // The lines of a dump are unknown.
        Some(running) => {
            reports.insert(String::new(), route_unknown(&running.config, &request));
        }
        // Any of several gateways may get the request: each shows its result.
        None => {
            let one = given.gateway.is_some();
            let (mut compiler, mut compilation) = if one { given.compile_side()? } else { given.compile()? };
            input::warn_of_gaps(&compilation);
            given.add_findings(&mut compilation, &mut compiler);
            let positions = compilation.positions();
            let names = overview(&compilation, &positions);
            several = !one && compilation.gateways().count() > 1;
            let asked = match &given.gateway {
                Some(id) => compilation.gateways().filter(|gateway| gateway.id.as_str() == id).collect(),
                None => entry_gateways(&compilation, &request),
            };
            for gateway in asked {
                let running = RunningGateway::Envoy(gateway);
                let route = if one { RunningGateway::route_alone } else { RunningGateway::route };
                if let RequestReport::Envoy(report) = route(running, &positions, &request, &mut compiler.emitted, &names) {
                    reports.insert(gateway.label().unwrap_or_default(), *report);
                }
            }
            let others: Vec<RunningGateway<'_>> =
                RunningGateway::all(&compilation).into_iter().filter(|of| !matches!(of, RunningGateway::Envoy(_))).collect();
            if !others.is_empty() {
                let label = |of: RunningGateway<'_>| of.named().label().unwrap_or_default();
                let mut all: BTreeMap<String, RequestReport> =
                    reports.into_iter().map(|(label, report)| (label, RequestReport::Envoy(Box::new(report)))).collect();
                all.extend(others.into_iter().map(|of| (label(of), of.route(&positions, &request, &mut compiler.emitted, &names))));
                return show_all(&all, &request, args, style);
            }
            if reports.is_empty() {
                return Err(input::nothing_runs(&compilation));
            }
            input::warn_of_refused(&compilation);
        }
    }
    let render = |report: &RouteReport| RouteText { report, style, all: args.all, out: String::new() }.write(&request);
    match (args.format, reports.len()) {
        (Format::Json, 1) if !several => reports.values().try_for_each(print_json)?,
        (Format::Json, _) => print_json(&reports)?,
        (Format::Human, 1) if !several => reports.values().try_for_each(|report| print(&render(report)))?,
        (Format::Human, _) => {
            let all: Vec<String> = reports.iter().map(|(gateway, report)| format!("{}\n\n{}", style.heading(gateway), render(report))).collect();
            print(&all.join("\n"))?;
        }
    }
    Ok(0)
}

/// Shows the results of gateways of several kinds.
fn show_all(reports: &BTreeMap<String, RequestReport>, request: &Request, args: &RouteArgs, style: &Style) -> Outcome {
    let human = |report: &RequestReport| match report {
        RequestReport::AppGateway(report) => app_gateway::human(report, request, style),
        RequestReport::Nginx(report) => nginx::human(report, request, style),
        RequestReport::Envoy(report) => RouteText { report, style, all: args.all, out: String::new() }.write(request),
    };
    match args.format {
        Format::Json if reports.len() == 1 => reports.values().try_for_each(print_json)?,
        Format::Json => print_json(reports)?,
        Format::Human => {
            let told = reports.iter().map(|(gateway, report)| match gateway.as_str() {
                "" => human(report),
                gateway => format!("{}\n\n{}", style.heading(gateway), human(report)),
            });
            print(&told.collect::<Vec<_>>().join("\n"))?;
        }
    }
    Ok(0)
}

/// The request and its verdict, as the first lines of a report.
fn head(request: &Request, verdict: &RequestVerdict, style: &Style) -> String {
    let scheme = if request.tls { "https" } else { "http" };
    let line = format!("{} {scheme}://{}{}", request.method, request.authority, request.path);
    let mut out = format!("{}\n", style.bold(plain(&line)));
    if !verdict.is_empty() {
        let mark = if verdict.good { style.green("✓") } else { style.yellow("✗") };
        let _ = writeln!(out, "{mark} {}", plain(&verdict.sentence));
    }
    out
}

/// Returns why the first argument is not a URL, if it is a file.
fn is_a_file(url: &str, inputs: &[PathBuf]) -> Option<String> {
    let path = Path::new(url);
    let named_like_one = path.extension().is_some_and(|ending| ["yaml", "yml", "json", "hcl"].iter().any(|known| ending == *known));
    if url.contains("://") || !(named_like_one || path.exists()) {
        return None;
    }
    let meant = inputs.iter().filter_map(|input| input.to_str()).find(|input| input.contains("://") && !input.contains('#')).unwrap_or("URL");
    let what = if path.is_dir() { "folder" } else { "file" };
    Some(format!("{url} is a {what}, where the URL of a request belongs: chancery route {meant} {url}"))
}

/// The request, and what to read.
fn request(args: &RouteArgs) -> Result<(Request, Vec<PathBuf>), Unusable> {
    let mut paths = args.inputs.inputs.clone();
    if let Some(why) = args.url.as_ref().filter(|_| args.curl.is_none()).and_then(|url| is_a_file(url, &paths)) {
        return Err(why.into());
    }
    let mut request = match (&args.curl, &args.url) {
        (Some(command), first) => {
            paths.splice(..0, first.iter().map(PathBuf::from));
            Request::from_curl(command)?
        }
        (None, Some(url)) => {
            let (method, url) = WrittenRequest::split_method(url).unwrap_or((&args.method, url));
            let mut request = Request::new(method, url)?;
            for (name, value) in &args.headers {
                request.add_header(name, value);
            }
            request
        }
        (None, None) => return Err("there is no request: give a URL, or --curl with a command".into()),
    };
    if args.tls && !request.tls {
        request.tls = true;
        request.sni = Some(request.authority.rsplit_once(':').map_or(request.authority.as_str(), |(host, _)| host).to_ascii_lowercase());
    }
    request.port = args.port.map(u32::from).or(request.port);
    request.sni = args.sni.clone().or(request.sni).filter(|name| !name.is_empty());
    request.alpn.clone_from(&args.alpn);
    request.client_certificate |= args.client_cert;
    request.source = args.source.or(request.source);
    request.destination = args.destination;
    request.seed = args.seed;
    if args.http2 {
        request.protocol = Protocol::Http2;
    }
    Ok((request, paths))
}

struct RouteText<'a> {
    report: &'a RouteReport,
    style: &'a Style,
    all: bool,
    out: String,
}

impl RouteText<'_> {
    fn write(mut self, request: &Request) -> String {
        self.out = head(request, &self.report.verdict, self.style);
        self.connection();
        self.host();
        self.tried();
        self.end();
        self.unserved(request);
        self.upstream();
        self.policies();
        self.settings_and_filters();
        self.findings();
        self.notes();
        self.then();
        self.out
    }

    /// The gateways that get the request next.
    fn then(&mut self) {
        for hop in &self.report.then {
            let mut teller = RouteText { report: &hop.report, style: self.style, all: self.all, out: String::new() };
            if let Some(call) = &hop.call {
                let mark = if call.is_allowed { self.style.green("✓") } else { self.style.red("✗") };
                let place = self.place(call.span.as_ref());
                let _ = writeln!(teller.out, "\n{mark} {}{place}", plain(&call.why));
            }
            let share = if hop.gets_all() { String::new() } else { format!(" (gets {}%)", simulate::percent(hop.percent)) };
            let _ = writeln!(self.out, "\n{}{share}\n{}", self.style.heading(&hop.gateway), teller.steps());
        }
    }

    /// Shows the result of the request in this gateway.
    fn steps(mut self) -> String {
        self.connection();
        self.host();
        self.tried();
        self.end();
        self.upstream();
        self.policies();
        self.settings_and_filters();
        self.findings();
        self.notes();
        self.out
    }

    fn notes(&mut self) {
        for note in &self.report.simulation.notes {
            let _ = writeln!(self.out, "\n{} {}", self.style.yellow("note:"), plain(note));
        }
    }

    /// Shows a step of the path: its type, its name, its origin.
    fn step(&mut self, what: &str, name: &str, of: &str) {
        let origin = self.origin(of);
        let name = if name.is_empty() { String::new() } else { format!(" {}", self.style.cyan(plain(name))) };
        let _ = writeln!(self.out, "\n{} {what}{name}{origin}", self.style.green("→"));
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "    {}", plain(text));
    }

    fn dim(&mut self, text: &str) {
        let _ = writeln!(self.out, "    {}", self.style.dim(plain(text)));
    }

    /// File and line of something, after two blanks.
    fn origin(&self, of: &str) -> String {
        let spans = self.report.origins.iter().filter(|origin| origin.of == of).filter_map(|origin| origin.origin.span.as_ref());
        let mut places: Vec<String> = Vec::new();
        for span in spans {
            let place = format!("{}:{}", span.file, span.line);
            if !places.contains(&place) {
                places.push(place);
            }
        }
        let more = if places.len() > 2 { format!(" and {}", count(places.len() - 2, "more line")) } else { String::new() };
        places.truncate(2);
        if places.is_empty() { String::new() } else { format!("  {}", self.style.dim(plain(&format!("{}{more}", places.join(", "))))) }
    }

    /// File and line, after two blanks.
    fn place(&self, span: Option<&Span>) -> String {
        span.map(|span| format!("  {}", self.style.dim(plain(&format!("{}:{}", span.file, span.line))))).unwrap_or_default()
    }

    fn has_origin(&self, of: &str) -> bool {
        self.report.origins.iter().any(|origin| origin.of == of)
    }

    fn connection(&mut self) {
        let simulation = &self.report.simulation;
        let Some(connection) = &simulation.connection else { return };
        let name = simulation.listener.clone().unwrap_or_default();
        self.step("listener", &name, "listener");
        let why = connection.why.as_ref().map(|why| format!(" ({why}; --port chooses another)")).unwrap_or_default();
        self.dim(&format!("bound to {}{why}", connection.address));
        let Some(chain) = &simulation.filter_chain else {
            return self.chains(connection);
        };
        self.step("filter chain", chain, "filter_chain");
        for setting in &connection.settings {
            self.dim(&format!("{} {}", setting.name, setting.value));
        }
        self.chains(connection);
    }

    fn chains(&mut self, connection: &simulate::Connection) {
        if connection.chains.len() < 2 && connection.chains.iter().all(|chain| chain.failed.is_none()) {
            return;
        }
        for chain in connection.chains.iter().filter(|chain| self.all || !chain.matched) {
            let Some(failed) = &chain.failed else { continue };
            let line = format!("{} {}: {}", self.style.red("✗"), plain(&chain.name), self.failed(failed));
            let _ = writeln!(self.out, "    {line}");
        }
    }

    fn failed(&self, failed: &simulate::Failed) -> String {
        if let Some(reason) = failed.reason() {
            return plain(&reason).into_owned();
        }
        let seen = failed.seen.as_ref().map_or_else(|| "there is none".to_owned(), |seen| format!("saw {}", self.style.yellow(plain(seen))));
        format!("{} wants {}, {seen}", plain(&failed.matcher), self.style.cyan(plain(&failed.expected)))
    }

    fn host(&mut self) {
        let simulation = &self.report.simulation;
        if let Some(seen) = &simulation.seen {
            if let Some(client) = &seen.client_address {
                self.dim(&client.words());
            }
            for change in &seen.changes {
                self.dim(change);
            }
        }
        let Some(host) = &simulation.host else { return };
        match (&simulation.virtual_host, &host.domain) {
            (Some(name), Some(domain)) => {
                self.step("virtual host", name, "virtual_host");
                let how = match host.by {
                    Some("exact") => format!("has the domain {domain}"),
                    Some("any") if host.of == 1 => "takes every host; there is no other virtual host".to_owned(),
                    Some("any") => format!("takes every host; none of {} is for {}", count(host.of, "virtual host"), host.looked_for),
                    _ => format!("{} is in {domain}", host.looked_for),
                };
                self.dim(&how);
            }
            _ => {
                self.step("no virtual host", "", "");
                self.line(&match host.of {
                    0 => "the listener has no virtual host".to_owned(),
                    1 => format!("the only virtual host is not for {}", host.looked_for),
                    several => format!("none of {} is for {}", count(several, "virtual host"), host.looked_for),
                });
            }
        }
    }

    fn tried(&mut self) {
        let simulation = &self.report.simulation;
        // The last tried route matches, unless none does.
        let (last, before) = match simulation.tried.split_last() {
            None => return,
            Some((last, before)) if last.failed.is_none() => (Some(last), before),
            Some(_) => (None, simulation.tried.as_slice()),
        };
        let of = simulation.host.as_ref().map_or(0, |host| host.routes);
        let _ = writeln!(self.out, "\n{} {}", self.style.green("→"), plain(&format!("routes: {} of {of} tried", simulation.tried.len())));
        // A route that fails only by its path is the normal case, and the least useful.
        let near = |tried: &&simulate::TriedRoute| {
            tried.failed.as_ref().is_none_or(|failed| {
                let is_path = matches!(failed.matcher.as_str(), "prefix" | "path" | "path_separated_prefix");
                let differs_by_slash = failed.seen.as_ref().is_some_and(|seen| seen.trim_end_matches('/') == failed.expected.trim_end_matches('/'));
                !is_path || differs_by_slash
            })
        };
        let shown: Vec<&simulate::TriedRoute> = if self.all || before.len() <= MOST {
            before.iter().collect()
        } else {
            let mut shown: Vec<&simulate::TriedRoute> = before.iter().filter(near).rev().take(MOST).collect();
            shown.reverse();
            shown
        };
        if shown.len() < before.len() {
            let hidden = before.len() - shown.len();
            let hidden = count(hidden, if shown.is_empty() { "route" } else { "more route" });
            let before = if last.is_some() { " before it" } else { "" };
            self.dim(&format!("{hidden}{before} did not match; -v shows them"));
        }
        self.all_tried(&shown);
        if let Some(last) = last {
            self.one_tried(last, 0);
        }
        let shadowed = &simulation.shadowed;
        if !shadowed.is_empty() {
            let most = if self.all { usize::MAX } else { 5 };
            let more = if shadowed.len() > most { format!("; {} of them:", most) } else { ":".to_owned() };
            self.dim(&format!("after it, {} would also match{more}", count(shadowed.len(), "route")));
            for other in shadowed.iter().take(most) {
                let because = self.report.why_later(other.index).map(|because| format!(": {because}")).unwrap_or_default();
                let origin = self.origin(&format!("shadowed {}", other.index));
                let line = self.style.dim(plain(&format!("{} {}{because}", other.index, other.path))).to_string();
                let _ = writeln!(self.out, "      {line}{origin}");
            }
        }
        for share in &simulation.shares {
            let number = share.route.as_ref().map(|route| route.index);
            let of = number.into_iter().flat_map(|number| [format!("tried {number}"), format!("shadowed {number}")]).find(|of| self.has_origin(of));
            let place = of.map(|of| self.origin(&of)).unwrap_or_default();
            let _ = writeln!(self.out, "    {}{place}", plain(&share.words()));
        }
    }

    /// Shows built-in routes on one line, and likewise routes that differ only in their scheme.
    fn all_tried(&mut self, shown: &[&simulate::TriedRoute]) {
        if self.all {
            shown.iter().for_each(|tried| self.one_tried(tried, 0));
            return;
        }
        let is_built_in = |tried: &simulate::TriedRoute| {
            let of = format!("tried {}", tried.index);
            let mut known = self.report.origins.iter().filter(|origin| origin.of == of).peekable();
            known.peek().is_some() && known.all(|origin| origin.around)
        };
        let (built_in, own): (Vec<&simulate::TriedRoute>, Vec<&simulate::TriedRoute>) =
            shown.iter().partition(|tried| tried.failed.is_some() && is_built_in(tried));
        if let Some(first) = built_in.first() {
            let more = if built_in.len() > 1 { " and others" } else { "" };
            self.dim(&format!("{}, {}{more}, did not match; -v shows them", count(built_in.len(), "built-in route"), first.path));
        }
        let mut rest = own.into_iter().peekable();
        while let Some(tried) = rest.next() {
            let is_twin = |other: &&simulate::TriedRoute| other.path == tried.path && other.failed == tried.failed;
            let mut twins = 0;
            while rest.next_if(|other| is_twin(other)).is_some() {
                twins += 1;
            }
            self.one_tried(tried, twins);
        }
    }

    fn one_tried(&mut self, tried: &simulate::TriedRoute, twins: usize) {
        let twins = if twins > 0 { self.style.dim(format!(" (and {} alike)", count(twins, "route"))).to_string() } else { String::new() };
        let name = if tried.name.is_empty() { String::new() } else { format!(" {}", tried.name) };
        let head = plain(&format!("{}{name} {}", tried.index, tried.path)).into_owned();
        let origin = self.origin(&format!("tried {}", tried.index));
        let line = match &tried.failed {
            // The route's line already showed a path matcher.
            Some(failed) if tried.path == format!("{} {}", failed.matcher, failed.expected) => {
                let seen = self.style.yellow(plain(failed.seen.as_deref().unwrap_or_default()));
                format!("{} {head}, saw {seen}{twins}{origin}", self.style.red("✗"))
            }
            Some(failed) => format!("{} {head}: {}{twins}{origin}", self.style.red("✗"), self.failed(failed)),
            None => format!("{} {}{origin}", self.style.green("✓"), self.style.bold(head)),
        };
        let _ = writeln!(self.out, "    {line}");
    }

    fn end(&mut self) {
        let simulation = &self.report.simulation;
        let status = simulation.status.map(|status| status.to_string()).unwrap_or_default();
        let status = simulation.grpc_status.map_or_else(|| status.clone(), |grpc| format!("{status}, grpc-status {grpc}"));
        let what = match simulation.outcome {
            simulate::Outcome::Forward => "forward".to_owned(),
            simulate::Outcome::Redirect => format!("redirect {status}"),
            simulate::Outcome::DirectResponse => format!("Envoy answers {status}"),
            simulate::Outcome::Reset => "the connection is closed".to_owned(),
            simulate::Outcome::NoListener => "no listener".to_owned(),
            simulate::Outcome::NoFilterChain => "no filter chain".to_owned(),
            simulate::Outcome::NoVirtualHost | simulate::Outcome::NoRoute => format!("no route: Envoy answers {status}"),
        };
        let good = matches!(simulation.outcome, simulate::Outcome::Forward | simulate::Outcome::Redirect);
        let what = if good { self.style.bold(what) } else { self.style.yellow(what) };
        let origin = if good { self.origin("route") } else { self.origin(if self.has_origin("filter") { "filter" } else { "route" }) };
        for condition in &simulation.conditions {
            let otherwise = condition.otherwise.map(|status| format!("  (otherwise {status})")).unwrap_or_default();
            let _ = writeln!(self.out, "\n{} if {}{}", self.style.yellow("?"), plain(&condition.wants), self.style.dim(otherwise));
            if let Some(sent) = &condition.sent {
                self.dim(sent);
            }
        }
        let _ = writeln!(self.out, "\n{} {what}{origin}", self.style.green("→"));
        if let Some(why) = &simulation.why {
            self.line(why);
        }
        if let Some(location) = &simulation.location {
            let _ = writeln!(self.out, "    location {}", self.style.cyan(plain(location)));
        }
        if let Some(body) = &simulation.body {
            self.line(&format!("body {body:?}"));
        }
    }

    /// Shows findings about the objects that decide the answer.
    fn findings(&mut self) {
        for finding in &self.report.findings {
            let place = self.place(finding.span.as_ref());
            let _ = writeln!(self.out, "\n{} {}{place}", self.style.yellow("!"), plain(&finding.message));
            finding.help.iter().for_each(|help| self.line(&format!("help: {help}")));
        }
    }

    /// Shows why no object serves the request, and similar hosts if no route matches it.
    fn unserved(&mut self, request: &Request) {
        let report = self.report;
        for of in &report.wanting {
            let place = self.place(of.span.as_ref());
            let state = if of.state == "emitted" { "in Envoy's configuration" } else { of.state };
            let wants = format!("{} is for this host; it is {state}", of.resource);
            let _ = writeln!(self.out, "\n{} {}{place}", self.style.yellow("!"), plain(&wants));
            of.why.iter().take(3).for_each(|why| self.line(why));
        }
        for (at, wider) in report.simulation.wider.iter().enumerate() {
            let origin = self.origin(&format!("wider {at}"));
            let _ = writeln!(self.out, "\n{} {}{origin}", self.style.yellow("!"), plain(&wider.words()));
        }
        if report.hosts.is_empty() {
            return;
        }
        let _ = writeln!(self.out, "\n{} available hosts", self.style.green("→"));
        let most = if self.all { report.hosts.len() } else { 8 };
        for of in report.hosts.iter().take(most) {
            let scheme = match (of.tls, of.passthrough) {
                (_, true) => "TLS passthrough",
                (true, _) => "over TLS",
                (false, _) => "in cleartext",
            };
            let here = if of.tls == request.tls && !of.passthrough { String::new() } else { self.style.yellow(format!("  {scheme}")).to_string() };
            let _ = writeln!(self.out, "    {} {}{here}", plain(&of.host), self.style.dim(format!("on port {}", of.port)));
        }
        if report.hosts.len() > most {
            self.dim(&format!("and {}; -v shows them", count(report.hosts.len() - most, "more host")));
        }
    }

    fn upstream(&mut self) {
        let simulation: &Simulation = &self.report.simulation;
        let Some(upstream) = &simulation.upstream else { return self.clusters() };
        let request = format!("{} {}", upstream.method, upstream.path);
        let _ = writeln!(self.out, "    {}", self.style.cyan(plain(&request)));
        let _ = writeln!(self.out, "    {}", self.style.cyan(plain(&format!("host: {}", upstream.authority))));
        self.changes(&upstream.headers_added);
        for name in &upstream.headers_removed {
            let _ = writeln!(self.out, "    {} {}", self.style.red("-"), plain(name));
        }
        self.changes(&upstream.headers_by_envoy);
        self.clusters();
    }

    fn changes(&mut self, changes: &[HeaderChange]) {
        for change in changes {
            let text = match &change.value {
                Some(value) => format!("{}: {value}", change.name),
                None => change.name.clone(),
            };
            let sign = if change.action == "remove" { self.style.red("-") } else { self.style.green("+") };
            let _ = writeln!(self.out, "    {sign} {}  {}", plain(&text), self.style.dim(format!("({})", change.level.replace('_', " "))));
        }
    }

    fn clusters(&mut self) {
        let simulation = &self.report.simulation;
        for share in &simulation.clusters {
            let what =
                if simulation.clusters.len() > 1 { format!("cluster, {:.4}%", share.percent).replace(".0000%", "%") } else { "cluster".to_owned() };
            self.step(&what, &share.name, &format!("cluster {}", share.name));
            let Some(view) = simulation.upstream_clusters.iter().find(|view| view.name == share.name) else { continue };
            if !view.known {
                self.line("there is no such cluster");
                continue;
            }
            let most = view.endpoints.iter().take(4).cloned().collect::<Vec<_>>().join(", ");
            let more = if view.endpoints.len() > 4 { format!(" and {} more", view.endpoints.len() - 4) } else { String::new() };
            let endpoints = if most.is_empty() { "no endpoints known".to_owned() } else { format!("{most}{more}") };
            self.line(&format!("{} {}, {endpoints}", view.discovery, view.load_balancing));
            if let Some(tls) = &view.tls {
                self.line(&format!("TLS: {tls}"));
            }
            for limit in &view.circuit_breakers {
                self.dim(&format!("circuit breakers {limit}"));
            }
            for setting in &view.settings {
                self.dim(&format!("{} {}", setting.name, setting.value));
            }
        }
    }

    /// The policies that count for the request, each with the policies that it replaces.
    fn policies(&mut self) {
        let policies = &self.report.policies;
        if policies.is_empty() {
            return;
        }
        self.step("policies", "", "");
        for policy in policies {
            let place = self.place(policy.settings.first().and_then(|setting| setting.span.as_ref()));
            let name = self.style.cyan(plain(&format!("{} {}", policy.resource.kind, policy.resource.name)));
            let summary = policy.summary();
            let summary = if policy.is_refused { self.style.yellow(plain(&summary)) } else { plain(&summary).into_owned() };
            let _ = writeln!(self.out, "    {name} {summary}{place}");
            for (sentence, span) in policy.replacements() {
                let place = self.place(span);
                let _ = writeln!(self.out, "        {}{place}", self.style.dim(plain(&sentence)));
            }
        }
    }

    fn settings_and_filters(&mut self) {
        let simulation = &self.report.simulation;
        let mut rows: Vec<(String, String)> = Vec::new();
        rows.extend(
            simulation.timeout.iter().map(|timeout| ("timeout".to_owned(), if timeout == "0s" { "none".to_owned() } else { timeout.clone() })),
        );
        rows.extend(simulation.settings.iter().map(|setting| (setting.name.clone(), setting.value.clone())));
        if !rows.is_empty() {
            self.step("with", "", "");
            for (name, value) in rows {
                let _ = writeln!(self.out, "    {} {}", self.style.dim(plain(&name)), plain(&value));
            }
        }
        if simulation.filters.len() > 1 {
            self.step("HTTP filters", "", "");
            for filter in &simulation.filters {
                let does = filter.does.as_ref().map(|does| format!("  {}", self.style.dim(plain(does)))).unwrap_or_default();
                let name = plain(&filter.name).into_owned();
                let line =
                    if filter.enabled { format!("{name}{does}") } else { format!("{} {}", self.style.dim(name), self.style.yellow("disabled")) };
                let _ = writeln!(self.out, "    {line}");
            }
        }
        if !simulation.response_headers.is_empty() {
            self.step("response headers", "", "");
            let changes = simulation.response_headers.clone();
            self.changes(&changes);
        }
    }
}
