//! The differences between two inputs, gateway by gateway.
//!
//! Does not read or render. Does not compare two gateways; see `chancery_core::compare`.

use super::loaded::{Compiled, GatewaySide, Loaded, Proxy};
use crate::style::{plain, some};
use crate::{Unusable, input};
use chancery_core::compare::{
    Change, EnvoyChanges, KeptPart, RequestOptions, Requests, SettingView, Uncompared, app_gateway_requests, compare_app_gateways, compare_envoy,
    compare_nginxes, compare_settings, compare_written, nginx_requests, parts_of_others, requests,
};
use chancery_core::explain::Positions;
use chancery_workspace::threads::Threads;
use std::collections::BTreeSet;
use std::thread;

/// All differences.
#[derive(Default)]
pub struct Differences {
    /// Resources; none if a side is a running Envoy.
    pub resources: Vec<Change>,
    /// Settings of the controllers.
    pub settings: Vec<SettingView>,
    /// One for each gateway of either input.
    pub gateways: Vec<GatewayDifference>,
    /// The files of either input that could not be read completely, as sentences.
    pub unread: Vec<String>,
    /// The parts of a dump or a bootstrap that do not fit Envoy's messages.
    pub misfits: Vec<String>,
    /// Whether keys or other credentials of two dumps or bootstraps differ. They are never shown.
    pub credentials_differ: bool,
}

/// The differences in one gateway.
pub struct GatewayDifference {
    /// Its name; empty if both inputs have one gateway.
    pub gateway: Option<String>,
    /// Whether it was added, removed or kept.
    pub state: GatewayState,
    /// Its type.
    pub make: Make,
    /// The configuration of its Envoys, or the parts of the Application Gateway.
    pub envoy: Vec<Change>,
    /// The omitted parts.
    pub uncompared: Uncompared,
    /// Parts of an Application Gateway that have other owners and stay unchanged.
    pub kept: Vec<KeptPart>,
    /// Requests that it treats differently, if requested.
    pub requests: Option<Requests>,
}

/// The type of a gateway.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Make {
    /// Envoys.
    Envoy,
    /// An Application Gateway.
    AppGateway,
    /// An nginx.
    Nginx,
}

impl Make {
    /// The heading of its changes.
    pub fn title(self) -> &'static str {
        match self {
            Make::Envoy => "What Envoy gets",
            Make::AppGateway => "Parts of the Application Gateway",
            Make::Nginx => "Parts of nginx",
        }
    }

    /// The noun for it in sentences.
    pub fn name(self) -> &'static str {
        match self {
            Make::Envoy => "Envoy",
            Make::AppGateway => "The Application Gateway",
            Make::Nginx => "nginx",
        }
    }
}

/// Whether a gateway was added, removed or kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum GatewayState {
    /// Both inputs have it.
    Compared,
    /// Only the second input has it.
    Added,
    /// Only the first input has it.
    Removed,
}

impl GatewayState {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            GatewayState::Compared => "compared",
            GatewayState::Added => "added",
            GatewayState::Removed => "removed",
        }
    }
}

impl GatewayDifference {
    fn new(gateway: Option<String>, state: GatewayState, make: Make) -> Self {
        Self { gateway, state, make, envoy: Vec::new(), uncompared: Uncompared::default(), kept: Vec::new(), requests: None }
    }

    fn of_envoy(gateway: Option<String>, found: EnvoyChanges) -> Self {
        let EnvoyChanges { changes: envoy, uncompared } = found;
        Self { envoy, uncompared, ..Self::new(gateway, GatewayState::Compared, Make::Envoy) }
    }

    /// Whether it is unchanged.
    pub fn is_empty(&self) -> bool {
        self.state == GatewayState::Compared && self.envoy.is_empty() && self.requests.as_ref().is_none_or(Requests::is_empty)
    }

    /// Whether a request is treated differently, or may be.
    pub fn changes_requests(&self) -> bool {
        let found = self.requests.as_ref().map_or(!self.envoy.is_empty(), |requests| !requests.is_empty() || !requests.complete);
        self.state != GatewayState::Compared || found
    }
}

impl Differences {
    /// The differences in the only gateway.
    pub fn of_envoy(found: EnvoyChanges) -> Self {
        Self { gateways: vec![GatewayDifference::of_envoy(None, found)], ..Self::default() }
    }

    /// The omitted parts of all gateways.
    pub fn uncompared(&self) -> Uncompared {
        let mut all = Uncompared::default();
        self.gateways.iter().for_each(|of| all.add(of.uncompared.clone()));
        all
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.settings.is_empty() && self.is_same_for_envoy()
    }

    /// The limits of every answer, as sentences: unreadable parts, and parts that cannot be compared.
    pub fn limits(&self) -> Vec<String> {
        let unread = (!self.unread.is_empty()).then(|| "A part of the input cannot be read: its effect is unknown.".to_string());
        let uncompared = self.uncompared().sentences().into_iter().map(|sentence| plain(&sentence).into_owned());
        let names: Vec<&str> = self.misfits.iter().map(String::as_str).collect();
        let misfits = (!names.is_empty()).then(|| format!("Not compared: fields that are not in Envoy's messages ({}).", plain(&some(&names))));
        let has_certificates = self.gateways.iter().any(|of| of.make == Make::AppGateway) && self.resources.iter().any(|of| of.kind == "Secret");
        let certificates = has_certificates.then(|| "Not compared: the content of the Application Gateway's certificates.".to_string());
        let credentials = self.credentials_differ.then(|| "Keys or other credentials differ, and are not shown.".to_string());
        unread.into_iter().chain(credentials).chain(misfits).chain(certificates).chain(uncompared).collect()
    }

    /// Returns the message if nothing differs: this sentence, if everything was compared.
    pub fn nothing(&self, sentence: &'static str) -> &'static str {
        if self.limits().is_empty() { sentence } else { "Nothing that was compared differs." }
    }

    /// Returns the message if all gateways have the same configuration as before, if everything was compared.
    pub fn same(&self) -> String {
        match self.limits().is_empty() {
            true => format!("{} gets the same.", self.gateways.first().map_or("Envoy", |of| of.make.name())),
            false => "Nothing that was compared differs at the gateway.".into(),
        }
    }

    /// Whether every Envoy gets the same configuration as before.
    pub fn is_same_for_envoy(&self) -> bool {
        self.gateways.iter().all(GatewayDifference::is_empty)
    }

    /// Returns the gateway, if there is only one and it needs no name.
    pub fn only(&self) -> Option<&GatewayDifference> {
        match &self.gateways[..] {
            [only] if only.gateway.is_none() => Some(only),
            _ => None,
        }
    }
}

/// Compares two inputs. If each has one gateway, compares these two; else compares gateways of the same controller and id.
pub fn compare(before: &Loaded, after: &Loaded, with_requests: bool) -> Result<Differences, Unusable> {
    let (old_positions, new_positions) = (before.positions(), after.positions());
    let (old, new) = (Sided { of: before, positions: old_positions.as_ref() }, Sided { of: after, positions: new_positions.as_ref() });
    let running = [before, after].into_iter().filter_map(|of| if let Loaded::Running(of) = of { Some(of) } else { None });
    let misfits = running.flat_map(|of| of.misfits.iter().cloned()).collect();
    let mut out = Differences { unread: unread(&[before, after]), misfits, ..Differences::default() };
    if let (Loaded::Running(before), Loaded::Running(after)) = (before, after) {
        out.credentials_differ = before.redactor != after.redactor;
    }
    if let (Loaded::Compiled(before), Loaded::Compiled(after)) = (before, after) {
        out.settings = settings(before, after);
    }
    if let (Some(old), Some(new)) = (old.of.written(old.positions), new.of.written(new.positions)) {
        out.resources = compare_written(&old, &new);
    }
    out.gateways = match pairs(before, after)? {
        Pairs::One => vec![pair(None, &old.side(0), &new.side(0), with_requests)?],
        Pairs::ById(all) => {
            let one = |(name, at)| match at {
                (Some(before), Some(after)) => pair(Some(name), &old.side(before), &new.side(after), with_requests),
                (before, _) => {
                    let state = if before.is_some() { GatewayState::Removed } else { GatewayState::Added };
                    Ok(GatewayDifference::new(Some(name), state, Make::Envoy))
                }
            };
            all.into_iter().map(one).collect::<Result<_, Unusable>>()?
        }
    };
    Ok(out)
}

/// Returns the inputs that could not be read completely, each once.
pub fn unread(all: &[&Loaded]) -> Vec<String> {
    let unread: BTreeSet<String> = all.iter().filter_map(|of| of.compilation()).flat_map(input::unread).collect();
    unread.into_iter().collect()
}

/// A side with known places.
struct Sided<'a> {
    of: &'a Loaded,
    positions: Option<&'a Positions<'a>>,
}

impl<'a> Sided<'a> {
    fn side(&self, at: usize) -> GatewaySide<'a> {
        self.of.side(at, self.positions)
    }
}

fn pair(gateway: Option<String>, old: &GatewaySide<'_>, new: &GatewaySide<'_>, with_requests: bool) -> Result<GatewayDifference, Unusable> {
    match (old, new) {
        (GatewaySide::Envoy(old), GatewaySide::Envoy(new)) => {
            let all = || with_requests.then(|| requests(old, new, &RequestOptions::default()));
            let (found, requests) = at_once(|| compare_envoy(old, new), all);
            Ok(GatewayDifference { requests, ..GatewayDifference::of_envoy(gateway, found) })
        }
        (GatewaySide::AppGateway(old), GatewaySide::AppGateway(new)) => {
            let all = || with_requests.then(|| app_gateway_requests(old, new));
            let (envoy, requests) = at_once(|| compare_app_gateways(old, new), all);
            let kept = parts_of_others(old, new);
            Ok(GatewayDifference { envoy, kept, requests, ..GatewayDifference::new(gateway, GatewayState::Compared, Make::AppGateway) })
        }
        (GatewaySide::Nginx(old), GatewaySide::Nginx(new)) => {
            let envoy = compare_nginxes(old, new);
            let requests = with_requests.then(|| nginx_requests(old, new, &Threads));
            Ok(GatewayDifference { envoy, requests, ..GatewayDifference::new(gateway, GatewayState::Compared, Make::Nginx) })
        }
        _ => Err("the two sides run different kinds of gateways: `chancery diff --from DIALECT BEFORE --to DIALECT AFTER` compares what both do with requests".into()),
    }
}

/// The gateways to compare with each other.
enum Pairs {
    /// The only one of each input.
    One,
    /// Gateways with the same name: the name and their numbers.
    ById(Vec<(String, Numbers)>),
}

/// The number of a gateway in each input that has it.
type Numbers = (Option<usize>, Option<usize>);

fn pairs(before: &Loaded, after: &Loaded) -> Result<Pairs, Unusable> {
    let (Loaded::Compiled(old), Loaded::Compiled(new)) = (before, after) else {
        // An Envoy does not report its gateway.
        for of in [before, after] {
            if let Loaded::Compiled(of) = of
                && of.proxies.len() > 1
            {
                return Err(of.several("which of them the running Envoy is"));
            }
        }
        return Ok(Pairs::One);
    };
    if old.proxies.len() == 1 && new.proxies.len() == 1 {
        return Ok(Pairs::One);
    }
    let is_of = |dialect: &'static str| move |of: &&Proxy| of.dialect == dialect;
    // Named as in other commands: by dialect, id, or both.
    let name = |of: &Proxy| {
        let several_dialects = [old, new].iter().flat_map(|side| &side.proxies).any(|other| other.dialect != of.dialect);
        let several = [old, new].iter().any(|side| side.proxies.iter().filter(is_of(of.dialect)).count() > 1);
        match (several_dialects, several) {
            (true, false) => of.dialect.to_string(),
            (true, true) => format!("{} {}", of.dialect, of.id),
            (false, _) => of.id.to_string(),
        }
    };
    let place = |all: &[Proxy], of: &Proxy| all.iter().position(|other| other.dialect == of.dialect && other.id == of.id);
    let kept = old.proxies.iter().enumerate().map(|(at, of)| (name(of), (Some(at), place(&new.proxies, of))));
    let added = new.proxies.iter().enumerate().filter(|(_, of)| place(&old.proxies, of).is_none());
    Ok(Pairs::ById(kept.chain(added.map(|(at, of)| (name(of), (None, Some(at))))).collect()))
}

fn settings(before: &Compiled, after: &Compiled) -> Vec<SettingView> {
    let sides = before.compilation.sides.iter().filter_map(|old| Some((old, after.compilation.sides.iter().find(|new| new.dialect == old.dialect)?)));
    sides.flat_map(|(old, new)| compare_settings(old, new)).collect()
}

/// Runs two functions at the same time.
pub fn at_once<A: Send, B>(one: impl FnOnce() -> A + Send, two: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let two = two();
        (one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), two)
    })
}
