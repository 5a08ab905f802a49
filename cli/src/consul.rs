//! `--dialect consul`, until compilations have gateways: the one proxy that is meant as a compilation of its own.
//!
//! What must not be here: what Consul does.

use crate::Unusable;
use crate::args::{DefaultPolicy, Deployment};
use chancery_core::compile::Compilation;
use chancery_core::config::{Answers, Ledger};
use chancery_core::dialect::consul;
use chancery_core::resource::{DocumentCache, Inputs};

/// The word on the command line.
pub const NAME: &str = "consul";

/// How to compile.
pub struct Settings {
    options: consul::Options,
    proxy: Option<String>,
}

/// The settings, where the input is Consul's.
pub fn settings(deployment: &Deployment) -> Result<Option<Settings>, Unusable> {
    if deployment.dialect.as_deref() != Some(NAME) {
        return Ok(None);
    }
    let mut options = consul::Options { default_deny: deployment.default_policy == DefaultPolicy::Deny, ..Default::default() };
    for (name, path) in &deployment.peer {
        let text = crate::input::text(path.as_ref())?;
        options.peers.insert(name.as_str().into(), Inputs::one(path.as_str(), text));
    }
    Ok(Some(Settings { options, proxy: deployment.proxy.clone() }))
}

/// Compiles for the proxy that is meant.
pub fn compile(inputs: &Inputs, settings: &Settings) -> Vec<Compilation> {
    let compiled = consul::compile(inputs, &settings.options, &mut DocumentCache::default());
    let mut proxies = compiled.proxies.into_iter();
    let chosen = proxies.find(|proxy| settings.proxy.as_deref().is_none_or(|id| id == proxy.id));
    let mut documents = compiled.answers;
    let proxy = chosen.unwrap_or_default();
    documents.extend(proxy.answers);
    vec![Compilation {
        inputs: inputs.clone(),
        ledger: Ledger::new(&compiled.objects),
        objects: compiled.objects,
        ir: proxy.ir,
        answers: Answers { documents, ..Answers::default() },
        diagnostics: compiled.diagnostics,
        ..Compilation::default()
    }]
}
