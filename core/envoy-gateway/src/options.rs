//! Defines the options of Envoy Gateway: its startup settings, and facts about its proxies.
//!
//! Does not read the process's environment; hosts pass all values.

use super::versions::{CHOICES, Version};
use chancery_base::compilation::{self, Assumptions, MISSING_OPTION, MISSING_SECRETS_OPTION, OptionKind, OptionSpec};
use chancery_text::Str;

/// How Envoy Gateway is started.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Options {
    /// The text of its configuration file, or of a merge patch of it.
    pub(crate) envoy_gateway: Option<Str>,
    /// The namespace that it runs in.
    pub(crate) controller_namespace: Str,
    pub(crate) dns_domain: Str,
    /// The text of a file about the proxies that run.
    pub(crate) infra: Option<Str>,
    /// The API server does not validate, but still prunes and applies defaults.
    pub(crate) skip_validation: bool,
    /// The user chose this dialect for a part of a cluster, so classes of other controllers are read as its own.
    pub(crate) reads_all_classes: bool,
    pub(crate) version: Version,
}

const VERSION: &str = "controller-version";
const FILE: &str = "envoy-gateway";
const NAMESPACE: &str = "controller-namespace";
const NAMESPACE_DEFAULT: &str = "envoy-gateway-system";
const DOMAIN: &str = "dns-domain";
const DOMAIN_DEFAULT: &str = "cluster.local";
const INFRA: &str = "infra";
const SKIP_VALIDATION: &str = "skip-validation";

/// The options that users set.
pub(crate) const SPECS: &[OptionSpec] = &[
    MISSING_OPTION,
    MISSING_SECRETS_OPTION,
    OptionSpec {
        name: VERSION,
        kind: OptionKind::Choice(CHOICES),
        doc: "Version of Envoy Gateway to behave like; `chancery diff --from-version 1.8 --to-version 1.9` compares two",
        common: true,
    },
    OptionSpec {
        name: FILE,
        kind: OptionKind::File { placeholder: "FILE" },
        doc: "Envoy Gateway's configuration file; a partial file is merged into the defaults",
        common: true,
    },
    OptionSpec {
        name: NAMESPACE,
        kind: OptionKind::Text { placeholder: "NAMESPACE", default: NAMESPACE_DEFAULT },
        doc: "Namespace of Envoy Gateway",
        common: false,
    },
    OptionSpec {
        name: DOMAIN,
        kind: OptionKind::Text { placeholder: "DOMAIN", default: DOMAIN_DEFAULT },
        doc: "DNS domain of the cluster",
        common: false,
    },
    OptionSpec {
        name: INFRA,
        kind: OptionKind::File { placeholder: "FILE" },
        doc: "Address and replicas of the running proxies: {address, hostname, availableReplicas}",
        common: false,
    },
    OptionSpec {
        name: SKIP_VALIDATION,
        kind: OptionKind::Flag,
        doc: "Skip the API server's validation; it still prunes and applies defaults",
        common: false,
    },
];

impl Options {
    /// Reads the options that are given.
    pub(crate) fn of(options: &compilation::Options) -> Self {
        let text =
            |name: &str, default: &'static str| options.text(name).filter(|given| !given.is_empty()).cloned().unwrap_or(Str::new_static(default));
        Self {
            envoy_gateway: options.text(FILE).cloned(),
            controller_namespace: text(NAMESPACE, NAMESPACE_DEFAULT),
            dns_domain: text(DOMAIN, DOMAIN_DEFAULT),
            infra: options.text(INFRA).cloned(),
            skip_validation: options.flag(SKIP_VALIDATION),
            version: Version::of(options.text(VERSION).map(Str::as_str)),
            reads_all_classes: options.dialect.is_some() && !Assumptions::of(options).is_error(),
        }
    }
}
