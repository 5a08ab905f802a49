//! Reads the options that start Contour.
//!
//! Nothing is read from the process: hosts pass everything. Defaults are those of the example deployment.

use alloc::format;
use alloc::vec::Vec;
use chancery_base::compilation::{self, Assumptions, MISSING_OPTION, MISSING_SECRETS_OPTION, OptionKind, OptionSpec};
use chancery_text::Str;

/// Which of Contour's programs runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Controller {
    /// `contour serve`: the xDS server.
    #[default]
    Serve,
    /// `contour gateway-provisioner`: creates gateways for Gateways.
    GatewayProvisioner,
}

/// How Contour is started.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The program; `None` if nothing selects one.
    pub controller: Option<Controller>,
    /// The namespace that it runs in.
    pub namespace: Str,
    /// Its own flags as typed, `--root-namespaces=a,b`.
    pub arguments: Vec<Str>,
    /// The API server does not validate; it still prunes and sets defaults.
    pub skip_validation: bool,
    /// Missing objects are assumed, including Contour's configuration.
    pub assumes: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { controller: None, namespace: Str::new_static(NAMESPACE), arguments: Vec::new(), skip_validation: false, assumes: false }
    }
}

/// The default namespace of Contour.
const NAMESPACE: &str = "projectcontour";

const ARGUMENTS: &str = "controller-arg";
const CONFIGURATION: &str = "contour-config-name";
const CONFIGURATION_ALIAS: &str = "contour-config";
const OWN_NAMESPACE: &str = "contour-namespace";
const CONTROLLER: &str = "controller";
const SKIP_VALIDATION: &str = "skip-validation";
const PROVISIONER: &str = "gateway-provisioner";

/// The options that users can set.
pub const SPECS: &[OptionSpec] = &[
    MISSING_OPTION,
    MISSING_SECRETS_OPTION,
    OptionSpec {
        name: ARGUMENTS,
        kind: OptionKind::List { placeholder: "FLAG" },
        doc: "Flag of the controller itself, such as --controller-arg=--root-namespaces=teams; repeatable",
        common: false,
    },
    OptionSpec {
        name: CONFIGURATION,
        kind: OptionKind::Text { placeholder: "NAME", default: "" },
        doc: "Contour's ContourConfiguration, in Contour's namespace",
        common: false,
    },
    OptionSpec {
        name: CONFIGURATION_ALIAS,
        kind: OptionKind::Text { placeholder: "NAME", default: "" },
        doc: "The same as --contour-config-name",
        common: false,
    },
    OptionSpec {
        name: OWN_NAMESPACE,
        kind: OptionKind::Text { placeholder: "NAMESPACE", default: NAMESPACE },
        doc: "Namespace of Contour",
        common: false,
    },
    OptionSpec {
        name: CONTROLLER,
        kind: OptionKind::Choice(&[("serve", "the xDS server"), (PROVISIONER, "the program that creates a Contour for each Gateway")]),
        doc: "The program of the controller",
        common: false,
    },
    OptionSpec {
        name: SKIP_VALIDATION,
        kind: OptionKind::Flag,
        doc: "The API server does not validate; it still prunes and applies defaults",
        common: false,
    },
];

impl Options {
    /// Reads the options that start Contour.
    pub fn of(options: &compilation::Options) -> Self {
        let configuration = [CONFIGURATION, CONFIGURATION_ALIAS].into_iter().filter_map(|name| options.text(name)).find(|name| !name.is_empty());
        let configuration = configuration.map(|name| Str::from(format!("--{CONFIGURATION}={name}")));
        let named = |program: &Str| if program == PROVISIONER { Controller::GatewayProvisioner } else { Controller::Serve };
        Self {
            controller: options.text(CONTROLLER).map(named),
            assumes: Assumptions::of(options).assumes_controller(),
            namespace: options.text(OWN_NAMESPACE).cloned().unwrap_or(Self::default().namespace),
            arguments: configuration.into_iter().chain(options.list(ARGUMENTS).iter().cloned()).collect(),
            skip_validation: options.flag(SKIP_VALIDATION),
        }
    }
}
