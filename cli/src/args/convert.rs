//! The arguments of `chancery convert`.
//!
//! Does not convert; see `crate::convert`.

use super::Inputs;
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;

/// `convert`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery convert mapping-to-httpproxy gateway/ > contour.yaml   Hosts and Mappings as HTTPProxies
  chancery convert httpproxy-to-gateway contour.yaml              HTTPProxies as a Gateway with HTTPRoutes
  chancery convert ingress-to-gateway ingresses/                  Ingresses on Azure as a Gateway with HTTPRoutes
  chancery convert ingress-nginx-to-gateway ingresses/ --out-dir gateway/
                                                                  Ingresses of ingress-nginx for Envoy Gateway, one file per host
  chancery convert contour-configmap configmap.yaml --controller-arg=--use-proxy-protocol
                                                                  Contour's own settings as a ContourConfiguration

Fields that cannot be converted are reported on standard error with their lines. Then Chancery compiles both sides and reports the requests
with different results. It compares the destination, the changes to the request and the timeouts. It does not compare settings that
controllers choose themselves, for listeners, connections and clusters. It cannot compare --target standard, which names no controller.")]
pub struct ConvertArgs {
    /// The conversion.
    #[arg(value_enum, value_name = "CONVERSION")]
    pub what: Conversion,
    #[command(flatten)]
    pub inputs: Inputs,
    /// With ingress-nginx-to-gateway: the controller that serves the result.
    #[arg(long, value_enum, default_value_t = ConversionTarget::EnvoyGateway)]
    pub target: ConversionTarget,
    /// With ingress-nginx-to-gateway: write no comments with the source of each part.
    #[arg(long)]
    pub no_comments: bool,
    /// With ingress-nginx-to-gateway: write one file per host into this folder.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out_dir: Option<PathBuf>,
    /// With ingress-nginx-to-gateway: write the comparison of both sides into this file, as HTML
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "no_proof")]
    pub report: Option<PathBuf>,
    /// With ingress-nginx-to-gateway: a file of known and wanted changes, each with its rule and reason. Any other change exits with 1
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "no_proof")]
    pub accept: Option<PathBuf>,
    /// Show every place of a repeated note [default: the first three]
    #[arg(long)]
    pub all: bool,
    /// Do not compare the requests of both sides
    #[arg(long)]
    pub no_proof: bool,
    /// Write credentials, such as tokens in headers, unchanged
    #[arg(long)]
    pub with_secrets: bool,
}

/// The conversions of `convert`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Conversion {
    /// Ambassador's Hosts and Mappings to Contour's HTTPProxies.
    MappingToHttpproxy,
    /// Contour's HTTPProxies to Gateway API.
    HttpproxyToGateway,
    /// Ingresses of Azure's Application Gateway to Gateway API.
    IngressToGateway,
    /// Ingresses of ingress-nginx to Gateway API.
    IngressNginxToGateway,
    /// Contour's configuration file in a ConfigMap, and its flags, to a ContourConfiguration.
    ContourConfigmap,
}

/// The controller that serves converted objects.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ConversionTarget {
    /// Envoy Gateway, with its policies.
    EnvoyGateway,
    /// Contour, with Gateway API alone.
    Contour,
    /// Any controller of Gateway API, without policies.
    Standard,
}
