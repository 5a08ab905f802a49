//! One side of a comparison after reading: gateways with the configuration of their Envoys, or a running Envoy.
//!
//! Does not compare; see `compared`.

use crate::args::Deployment;
use crate::output::hold;
use crate::style::some;
use crate::{Unusable, input};
use chancery_core::backend::{OutputMap, envoy};
use chancery_core::compare::{AppGatewaySide, NginxSide, Side, SideSource, Written};
use chancery_core::compilation::{Assumptions, Compilation, GatewayId, OptionValue};
use chancery_core::dialect::ingress::options as ingress;
use chancery_core::envoy_config::{EnvoyConfig, Running};
use chancery_core::explain::Positions;
use chancery_core::ir::SecretReference;
use chancery_core::ir::appgw::{Gateway as AppGateway, wire::Wire as _};
use chancery_core::resource::ObjectId;
use chancery_core::text::{Limits, Node, Str, parse, series};
use std::collections::BTreeSet;
use std::path::Path;

/// One side, after reading.
pub enum Loaded {
    /// From resources.
    Compiled(Box<Compiled>),
    /// From a running Envoy's answer.
    Running(Box<Running>),
    /// An Application Gateway as stored in Azure.
    Existing(Box<AppGateway>),
}

/// A gateway of one side, ready to be compared.
pub enum GatewaySide<'a> {
    /// An Envoy.
    Envoy(Side<'a>),
    /// An Application Gateway.
    AppGateway(Box<AppGatewaySide<'a>>),
    /// An nginx.
    Nginx(Box<NginxSide<'a>>),
}

/// A compiled input.
pub struct Compiled {
    given: input::LoadedInput,
    /// The whole.
    pub compilation: Compilation,
    /// Its running gateways: Envoys in the order of [`Compilation::gateways`], then Application Gateways, then nginxes; at least one.
    pub proxies: Vec<Proxy>,
}

/// One gateway.
pub struct Proxy {
    /// The name of its dialect.
    pub dialect: &'static str,
    /// Its name.
    pub id: GatewayId,
    /// The configuration of its Envoys with its origins; `None` for another kind of gateway.
    envoy: Option<(EnvoyConfig, OutputMap)>,
}

impl Compiled {
    /// Returns why the user must choose one gateway.
    pub fn several(&self, what: &str) -> Unusable {
        let names: Vec<&str> = self.proxies.iter().map(|proxy| proxy.id.as_str()).collect();
        Unusable(format!("there are several gateways ({}): choose with --gateway {what}", some(&names)))
    }
}

impl Loaded {
    /// Compiles resources. `stands_alone` if compared with a running Envoy's configuration, which contains endpoints and certificates.
    pub fn compiled(given: input::LoadedInput, stands_alone: bool) -> Result<Self, Unusable> {
        let (mut compiler, compilation) = given.compile()?;
        if compilation.objects.iter().all(|object| object.broken) && !compilation.objects.is_empty() {
            let name = compilation.inputs.inputs.first().map(|input| input.name.clone()).unwrap_or_default();
            return Err(format!("{name} has no readable resource, so everything would appear as removed; `chancery check` shows why").into());
        }
        let mut proxies = Vec::new();
        for gateway in compilation.gateways() {
            let lookup = |reference: &SecretReference| gateway.of().key_material(reference);
            let secrets = stands_alone.then_some(&lookup as envoy::Lookup<'_>);
            let options = envoy::Options { secrets, ..envoy::Options::default() };
            let map = envoy::v3::output_map(gateway.ir, &options, compiler.emitted.of(gateway));
            let config = EnvoyConfig::standing_alone(gateway.ir, &options);
            proxies.push(Proxy { dialect: gateway.side.dialect.name, id: gateway.id.clone(), envoy: Some((config, map)) });
        }
        let azure = compilation.app_gateways().map(|of| Proxy { dialect: of.named.of.dialect().name, id: of.named.id.clone(), envoy: None });
        proxies.extend(azure);
        proxies.extend(compilation.nginxes().map(|of| Proxy { dialect: of.named.of.dialect().name, id: of.named.id.clone(), envoy: None }));
        if proxies.is_empty() {
            return Err(input::nothing_runs(&compilation));
        }
        Ok(Loaded::Compiled(Box::new(Compiled { given, compilation, proxies })))
    }

    /// A file, a folder, a revision of git, a snapshot, a dump, a bootstrap or an Application Gateway.
    pub fn read(path: &Path, deployment: &Deployment, stands_alone: bool) -> Result<Self, Unusable> {
        Self::read_onto(path, deployment, stands_alone, None)
    }

    /// The same, but compiles an input onto an existing Application Gateway, unless the options name another.
    pub fn read_onto(path: &Path, deployment: &Deployment, stands_alone: bool, gateway: Option<&str>) -> Result<Self, Unusable> {
        if path.is_file() {
            let text = input::text(path)?;
            if Running::is_one(&text) {
                return running(&path.display().to_string(), &text);
            }
            if let Some(gateway) = existing(&text) {
                return Ok(Loaded::Existing(Box::new(gateway)));
            }
            if Running::begins_like_one(&text) {
                return Err(format!("{} is cut off or broken: it begins as what a running Envoy tells, and does not end so", path.display()).into());
            }
        } else if let Some((revision, inner)) = input::revision_of(path) {
            return Self::compiled(onto(input::revision(&revision, &inner, deployment)?, gateway), stands_alone);
        }
        Self::compiled(onto(input::given(&[path.to_path_buf()], deployment)?, gateway), stands_alone)
    }

    /// A source as a version of its controller handles it. `option` names the version.
    pub fn read_in_version(path: &Path, deployment: &Deployment, (option, version): (&'static str, &str)) -> Result<Self, Unusable> {
        let mut given = match input::revision_of(path) {
            Some((revision, inner)) if !path.exists() => input::revision(&revision, &inner, deployment)?,
            _ => input::given(&[path.to_path_buf()], deployment)?,
        };
        given.options.insert(option, OptionValue::Text(version.into()));
        Self::compiled(given, false)
    }

    /// Returns the compiled input, if it is a source.
    pub fn compilation(&self) -> Option<&Compilation> {
        match self {
            Loaded::Compiled(of) => Some(&of.compilation),
            Loaded::Running(_) | Loaded::Existing(_) => None,
        }
    }

    /// The kinds of its objects.
    pub fn kinds(&self) -> BTreeSet<(Str, Str)> {
        match self {
            Loaded::Compiled(of) => of.compilation.objects.kinds(),
            Loaded::Running(_) | Loaded::Existing(_) => BTreeSet::new(),
        }
    }

    /// The same, with these kinds treated as present: assumes no objects that the other side shows to be missing.
    pub fn holding(self, kinds: &BTreeSet<(Str, Str)>, stands_alone: bool) -> Result<Self, Unusable> {
        let is_alike = self.kinds() == *kinds;
        match self {
            Loaded::Compiled(of) if !is_alike && !Assumptions::of(&of.given.options).is_error() => {
                let Compiled { mut given, .. } = *of;
                given.options.held.clone_from(kinds);
                Self::compiled(given, stands_alone)
            }
            other => Ok(other),
        }
    }

    /// Returns places in its input, if any.
    pub fn positions(&self) -> Option<Positions<'_>> {
        match self {
            Loaded::Compiled(of) => Some(of.compilation.positions()),
            Loaded::Running(_) | Loaded::Existing(_) => None,
        }
    }

    /// Returns a gateway by its number.
    pub fn side<'a>(&'a self, at: usize, positions: Option<&'a Positions<'a>>) -> GatewaySide<'a> {
        match self {
            Loaded::Compiled(of) => {
                // There is at least one.
                let Some((config, map)) = &of.proxies[at].envoy else {
                    let number = of.proxies.iter().take(at).filter(|proxy| proxy.envoy.is_none()).count();
                    let gateway = of.compilation.app_gateways().nth(number).zip(positions);
                    if let Some((gateway, positions)) = gateway {
                        return GatewaySide::AppGateway(Box::new(AppGatewaySide::new(gateway, positions)));
                    }
                    let number = number - of.compilation.app_gateways().count();
                    let nginx = of.compilation.nginxes().nth(number).zip(positions);
                    let side = nginx.map(|(nginx, positions)| NginxSide::new(nginx, positions));
                    return GatewaySide::Nginx(Box::new(side.expect("each other proxy is an nginx")));
                };
                let source = of.compilation.gateways().nth(at).zip(positions);
                GatewaySide::Envoy(Side { config, source: source.map(|(gateway, positions)| SideSource { gateway, positions, map }) })
            }
            Loaded::Running(running) => GatewaySide::Envoy(Side { config: &running.config, source: None }),
            Loaded::Existing(gateway) => GatewaySide::AppGateway(Box::new(AppGatewaySide::existing(gateway))),
        }
    }

    /// Returns a side of the input, and places in it.
    pub fn written<'a>(&'a self, positions: Option<&'a Positions<'a>>) -> Option<Written<'a>> {
        Some(Written { of: self.compilation()?.sides().next()?, positions: positions? })
    }
}

/// Compiles an input onto an existing Application Gateway.
fn onto(mut given: input::LoadedInput, gateway: Option<&str>) -> input::LoadedInput {
    if let Some(gateway) = gateway.filter(|_| given.options.text(ingress::EXISTING_GATEWAY).is_none()) {
        given.options.insert(ingress::EXISTING_GATEWAY, OptionValue::Text(gateway.into()));
    }
    given
}

/// Returns the document of an Application Gateway, if the input contains one.
pub fn existing(text: &str) -> Option<AppGateway> {
    let is_like_one = text.trim_start().starts_with('{') && text.contains("applicationGateways");
    let root = is_like_one.then(|| parse(text, &Limits { max_nodes: u32::MAX, ..Limits::default() }).root).flatten()?;
    let is_one = root.get("id").and_then(Node::as_str).is_some_and(|id| id.contains("/applicationGateways/"));
    // In ARM's format, or in the Azure CLI's format.
    let is_one = is_one && ["properties", "frontendIPConfigurations"].iter().any(|field| root.get(field).is_some());
    is_one.then(|| AppGateway::read(&root, ObjectId::BUILT_IN)).flatten()
}

/// Returns a running Envoy's configuration.
pub fn running(name: &str, text: &str) -> Result<Loaded, Unusable> {
    let read = Running::read(text).map_err(|why| format!("{name} {why}"))?;
    hold(vec![read.redactor.clone()]);
    if read.config.is_empty() {
        return Err(format!("{name} has no listener, route or cluster, so that everything would look removed").into());
    }
    if !read.missing.is_empty() {
        let missing = series(&read.missing);
        return Err(format!("{name} is no whole dump: it has no {missing}; ask for /config_dump without `resource` and `mask`").into());
    }
    Ok(Loaded::Running(Box::new(read)))
}
