//! Compiles with a controller's defaults after its own configuration was deleted, as Contour's design of the ContourConfiguration has it
//! (`design/configuration-crd.md`).
//!
//! A configuration that never existed is another matter: Contour does not start without it.

use chancery_core::compilation::{Compilation, OptionValue, Options, Serving};
use chancery_core::compile::Compiler;
use chancery_core::diagnostic::Severity;
use chancery_core::dialect;
use chancery_core::resource::Inputs;
use chancery_core::text::Str;
use chancery_workspace::threads::Threads;
use std::collections::BTreeSet;

/// The option that holds the controller's flags, and the flag that names its configuration.
const FLAGS: &str = "controller-arg";
const NAME: &str = "--contour-config-name";
/// Options of Chancery that name the configuration, too.
const NAMES: [&str; 2] = ["contour-config-name", "contour-config"];

/// Remembers whose configuration was read.
#[derive(Default)]
pub(super) struct Defaults {
    configured: BTreeSet<&'static str>,
    /// Compiles with the defaults, while they take effect.
    compiler: Option<Compiler>,
}

impl Defaults {
    /// Drops the memory of inputs.
    pub fn forget_inputs(&mut self) {
        self.compiler = None;
    }

    /// Returns the dialects whose configuration was deleted, and the compilation with their defaults if `compilation` lacks them.
    pub fn apply(&mut self, compilation: &Compilation, inputs: &Inputs, options: &Options) -> (BTreeSet<&'static str>, Option<Compilation>) {
        let (mut deleted, mut unnamed) = (BTreeSet::new(), BTreeSet::new());
        for side in &compilation.sides {
            let Some(state) = &side.answers.controller_state else { continue };
            if state.serving == Serving::Defaults && self.configured.contains(side.dialect.name) {
                deleted.insert(side.dialect.name);
            } else if state.configuration.is_some() {
                self.configured.insert(side.dialect.name);
            } else if state.serving == Serving::Ready && self.configured.contains(side.dialect.name) {
                // No flag names the configuration, so the controller has its defaults already.
                unnamed.insert(side.dialect.name);
            }
        }
        if deleted.is_empty() {
            self.compiler = None;
            return (unnamed, None);
        }
        let compiler = self.compiler.get_or_insert_with(|| Compiler::new(dialect::ALL).with_executor(&Threads));
        let mut with_defaults = compiler.compile(inputs, &without_name(options));
        // The missing configuration stays an error.
        let errors = compilation.all_diagnostics().filter(|finding| finding.severity == Severity::Error);
        let errors: Vec<_> = errors.filter(|error| with_defaults.all_diagnostics().all(|known| known.message != error.message)).cloned().collect();
        with_defaults.diagnostics.extend(errors);
        deleted.append(&mut unnamed);
        (deleted, Some(with_defaults))
    }
}

/// The options without those that name the configuration, and without the flag in both forms that it may have.
fn without_name(options: &Options) -> Options {
    let mut flags = Vec::new();
    let mut given = options.list(FLAGS).iter();
    while let Some(flag) = given.next() {
        match flag.strip_prefix(NAME) {
            Some("") => _ = given.next(),
            Some(rest) if rest.starts_with('=') => {}
            _ => flags.push(flag.clone()),
        }
    }
    let options = options.clone().with(FLAGS, OptionValue::List(flags));
    NAMES.into_iter().fold(options, |options, name| options.with(name, OptionValue::Text(Str::default())))
}

#[cfg(test)]
mod tests {
    use super::super::build::Builder;
    use super::super::intake::Drained;
    use super::*;
    use chancery_core::dialect::contour;
    use chancery_core::resource::Input;

    const CONFIGURATION: &str = "apiVersion: projectcontour.io/v1alpha1\nkind: ContourConfiguration\n\
                                 metadata: {name: c, namespace: projectcontour}\nspec: {envoy: {listener: {useProxyProtocol: true}}}\n";
    const PROXY: &str = "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: p, namespace: default}\n\
                         spec: {virtualhost: {fqdn: a.example.com}, routes: [{directResponsePolicy: {statusCode: 200}}]}\n";

    fn drained(texts: &[(&str, &str)]) -> Drained {
        let inputs: Vec<Input> = texts.iter().map(|(name, text)| Input { name: (*name).into(), text: (*text).into() }).collect();
        let not_utf8 = vec![Vec::new(); inputs.len()];
        Drained { inputs: Inputs::from(inputs), not_utf8, ..Drained::default() }
    }

    #[test]
    fn deleted_configuration_serves_defaults() {
        let flags = |flags: &[&str]| OptionValue::List(flags.iter().map(|flag| (*flag).into()).collect());
        let option = OptionValue::Text("c".into());
        let ways = [
            (FLAGS, flags(&["--contour-config-name=c"])),
            (FLAGS, flags(&["--contour-config-name", "c"])),
            (NAMES[0], option.clone()),
            (NAMES[1], option),
        ];
        for (name, value) in ways {
            let mut builder = Builder::new(Options::of(&contour::DIALECT).with(name, value));
            let proxy = [("proxy.yaml", PROXY)];
            let never = builder.build(drained(&proxy));
            assert!(!never.stopped.is_empty() && never.on_defaults.is_empty(), "Contour does not start without its configuration");
            let configured = builder.build(drained(&[("c.yaml", CONFIGURATION), ("proxy.yaml", PROXY)]));
            assert!(configured.stopped.is_empty(), "{:?}", configured.findings());
            let deleted = builder.build(drained(&proxy));
            assert!(deleted.stopped.is_empty() && deleted.on_defaults.contains("contour"), "{:?}", deleted.stopped);
            assert_ne!(deleted.version, configured.version, "the listeners have another protocol");
            let usual = Builder::new(Options::of(&contour::DIALECT)).build(drained(&proxy));
            assert_eq!(deleted.version, usual.version);
            assert!(deleted.errors > 0, "the missing configuration is an error");
            let again = builder.build(drained(&[("c.yaml", CONFIGURATION), ("proxy.yaml", PROXY)]));
            assert!(again.version == configured.version && again.on_defaults.is_empty());
        }
    }

    #[test]
    fn deleted_configuration_of_usual_name_is_reported() {
        let mut builder = Builder::new(Options::of(&contour::DIALECT));
        let usual = CONFIGURATION.replace("name: c,", "name: contour,");
        let configured = builder.build(drained(&[("c.yaml", &usual), ("proxy.yaml", PROXY)]));
        let deleted = builder.build(drained(&[("proxy.yaml", PROXY)]));
        assert_ne!(deleted.version, configured.version);
        assert!(configured.on_defaults.is_empty() && deleted.on_defaults.contains("contour") && deleted.stopped.is_empty());
    }
}
