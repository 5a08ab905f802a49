//! One side of a comparison, read: what gateways send to their Envoys, or what a running Envoy has.
//!
//! What must not be here: comparing.

use crate::args::Deployment;
use crate::output::hold;
use crate::style::some;
use crate::{Unusable, input};
use chancery_core::backend::{OutputMap, envoy};
use chancery_core::compare::{Side, SideSource};
use chancery_core::compilation::{Assumptions, Compilation, GatewayId};
use chancery_core::envoy_config::{EnvoyConfig, Running};
use chancery_core::explain::Positions;
use chancery_core::ir::SecretReference;
use chancery_core::text::Str;
use std::collections::BTreeSet;
use std::path::Path;

/// One side, read.
pub enum Loaded {
    /// From resources.
    Compiled(Box<Compiled>),
    /// From what a running Envoy tells.
    Running(Box<Running>),
}

/// What was compiled.
pub struct Compiled {
    given: input::Given,
    /// The whole.
    pub compilation: Compilation,
    /// Its gateways that run, in the order of [`Compilation::gateways`]; at least one.
    pub proxies: Vec<Proxy>,
}

/// What one gateway sends to its Envoys.
pub struct Proxy {
    /// The name of its dialect.
    pub dialect: &'static str,
    /// Its name.
    pub id: GatewayId,
    /// What its Envoys get.
    config: EnvoyConfig,
    /// What made it.
    map: OutputMap,
}

impl Compiled {
    /// Why one gateway must be chosen.
    pub fn several(&self, what: &str) -> Unusable {
        let names: Vec<&str> = self.proxies.iter().map(|proxy| proxy.id.as_str()).collect();
        Unusable(format!("there are several gateways ({}): say by --gateway {what}", some(&names)))
    }
}

impl Loaded {
    /// `stands_alone` where it is compared with what an Envoy tells of itself, which has endpoints and certificates.
    fn compiled(given: input::Given, stands_alone: bool) -> Result<Self, Unusable> {
        let (mut compiler, compilation) = given.compile()?;
        if compilation.objects.iter().all(|object| object.broken) && !compilation.objects.is_empty() {
            let name = compilation.inputs.inputs.first().map(|input| input.name.clone()).unwrap_or_default();
            return Err(format!(
                "there is no resource in {name} that could be read, so that everything would look removed; `chancery check` tells why"
            )
            .into());
        }
        let mut proxies = Vec::new();
        for gateway in compilation.gateways() {
            let lookup = |reference: &SecretReference| gateway.of().key_material(reference);
            let secrets = stands_alone.then_some(&lookup as envoy::Lookup<'_>);
            let options = envoy::Options { secrets, ..envoy::Options::default() };
            let map = envoy::v3::output_map(gateway.ir, &options, compiler.emitted.of(gateway));
            let config = EnvoyConfig::standing_alone(gateway.ir, &options);
            proxies.push(Proxy { dialect: gateway.side.dialect.name, id: gateway.id.clone(), config, map });
        }
        if proxies.is_empty() {
            return Err(input::nothing_runs(&compilation));
        }
        Ok(Loaded::Compiled(Box::new(Compiled { given, compilation, proxies })))
    }

    /// A file, a folder, a revision of git, a snapshot, a dump or a bootstrap.
    pub fn read(path: &Path, deployment: &Deployment, stands_alone: bool) -> Result<Self, Unusable> {
        if path.is_file() {
            let text = input::text(path)?;
            if Running::is_one(&text) {
                return running(&path.display().to_string(), &text);
            }
            if Running::begins_like_one(&text) {
                return Err(format!("{} is cut off or broken: it begins as what a running Envoy tells, and does not end so", path.display()).into());
            }
        } else if let Some((revision, inner)) = input::revision_of(path) {
            return Self::compiled(input::revision(&revision, &inner, deployment)?, stands_alone);
        }
        Self::compiled(input::given(&[path.to_path_buf()], deployment)?, stands_alone)
    }

    /// What was compiled, where it is a source.
    pub fn compilation(&self) -> Option<&Compilation> {
        match self {
            Loaded::Compiled(of) => Some(&of.compilation),
            Loaded::Running(_) => None,
        }
    }

    /// The kinds of which it holds an object.
    pub fn kinds(&self) -> BTreeSet<(Str, Str)> {
        match self {
            Loaded::Compiled(of) => of.compilation.objects.kinds(),
            Loaded::Running(_) => BTreeSet::new(),
        }
    }

    /// The same where these kinds count as held: nothing is assumed to be there that the other side shows to be missing.
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

    /// Places in its input, where it has one.
    pub fn positions(&self) -> Option<Positions<'_>> {
        match self {
            Loaded::Compiled(of) => Some(of.compilation.positions()),
            Loaded::Running(_) => None,
        }
    }

    /// A gateway of it, by its number.
    pub fn side<'a>(&'a self, at: usize, positions: Option<&'a Positions<'a>>) -> Side<'a> {
        match self {
            Loaded::Compiled(of) => {
                // There is at least one.
                let proxy = &of.proxies[at];
                let source = of.compilation.gateways().nth(at).zip(positions);
                Side { config: &proxy.config, source: source.map(|(gateway, positions)| SideSource { gateway, positions, map: &proxy.map }) }
            }
            Loaded::Running(running) => Side { config: &running.config, source: None },
        }
    }
}

/// What a running Envoy tells.
pub fn running(name: &str, text: &str) -> Result<Loaded, Unusable> {
    let read = Running::read(text).map_err(|why| format!("{name} {why}"))?;
    hold(vec![read.held_back.clone()]);
    if read.config.is_empty() {
        return Err(format!("{name} has no listener, route or cluster, so that everything would look removed").into());
    }
    if !read.missing.is_empty() {
        let missing = read.missing.join(" and ");
        return Err(format!("{name} is no whole dump: it has no {missing}; ask for /config_dump without `resource` and `mask`").into());
    }
    Ok(Loaded::Running(Box::new(read)))
}
