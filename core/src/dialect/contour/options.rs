//! What changes the answer and is not in the YAML: how Contour is started.
//!
//! Nothing here is read from the process: hosts pass everything in. Defaults are those of the real deployment.

use crate::compilation::{self, Assumptions, MISSING_OPTION, MISSING_SECRETS_OPTION, Missing, OptionKind, OptionSpec};
use crate::text::Str;
use alloc::vec::Vec;

/// Which of Contour's programs runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Controller {
    /// `contour serve`: the xDS server.
    #[default]
    Serve,
    /// `contour gateway-provisioner`: makes gateways from Gateways.
    GatewayProvisioner,
}

/// How Contour is started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The program; `None` where nothing says which.
    pub controller: Option<Controller>,
    /// Its own flags as typed, `--root-namespaces=a,b`.
    pub arguments: Vec<Str>,
    /// The API server's validation is off; it prunes and defaults all the same.
    pub skip_validation: bool,
    /// What the input does not hold is assumed, the configuration of Contour too.
    pub assumes: bool,
}

/// The namespace that Contour runs in.
pub const NAMESPACE: &str = "projectcontour";

const ARGUMENTS: &str = "controller-arg";
const CONTROLLER: &str = "controller";
const SKIP_VALIDATION: &str = "skip-validation";
const PROVISIONER: &str = "gateway-provisioner";

/// The options by which people say so.
pub const SPECS: &[OptionSpec] = &[
    MISSING_OPTION,
    MISSING_SECRETS_OPTION,
    OptionSpec {
        name: ARGUMENTS,
        kind: OptionKind::List { placeholder: "FLAG" },
        doc: "Flag of the controller itself, such as --controller-arg=--root-namespaces=teams; may be given several times",
        common: false,
    },
    OptionSpec {
        name: CONTROLLER,
        kind: OptionKind::Choice(&[("serve", "The xDS server"), (PROVISIONER, "What makes gateways from Gateways")]),
        doc: "Which of the controller's programs runs",
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
    /// How Contour is started, by the options that are given.
    pub fn of(options: &compilation::Options) -> Self {
        let named = |program: &Str| if program == PROVISIONER { Controller::GatewayProvisioner } else { Controller::Serve };
        Self {
            controller: options.text(CONTROLLER).map(named),
            assumes: Assumptions::of(options).of_others() != Missing::Error,
            arguments: options.list(ARGUMENTS).to_vec(),
            skip_validation: options.flag(SKIP_VALIDATION),
        }
    }
}
