//! A move of Ingresses from ingress-nginx to another controller: the converted resources, and the requests that it changes.

use super::{From, SourceFile, Span};
use serde::{Deserialize, Serialize};

/// The new controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NewController {
    EnvoyGateway,
    Contour,
}

impl NewController {
    pub const ALL: [Self; 2] = [Self::EnvoyGateway, Self::Contour];

    /// The controller's usual name.
    pub fn label(self) -> &'static str {
        match self {
            Self::EnvoyGateway => "Envoy Gateway",
            Self::Contour => "Contour",
        }
    }

    /// The name of its dialect.
    pub fn dialect(self) -> &'static str {
        match self {
            Self::EnvoyGateway => "envoy-gateway",
            Self::Contour => "contour",
        }
    }
}

/// The converted resources and the differences. The page has its own type for differences, which reads the core's JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Migration<D = MigrationDiff> {
    pub files: Vec<SourceFile>,
    /// Parts that were not converted, or not exactly.
    pub notes: Vec<MigrationNote>,
    /// Differences that concern everything, in sentences.
    pub limits: Vec<String>,
    pub diff: D,
}

/// A part that was not converted, or not exactly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MigrationNote {
    pub message: String,
    pub span: Option<Span>,
}

/// Changed requests by cause, as `chancery_core::explain::migration::MigrationDiff` writes them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MigrationDiff {
    /// How many requests were tried on both sides.
    pub compared: usize,
    /// How many of them get the same answer.
    pub same: usize,
    pub causes: Vec<CauseGroup>,
    /// The parts that were not compared, in sentences.
    pub not_compared: Vec<String>,
}

/// Differences with the same cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CauseGroup {
    pub title: String,
    pub why: String,
    /// The change that removes the differences.
    pub fix: String,
    /// How many requests differ for this cause.
    pub requests: usize,
    pub rows: Vec<MigrationRow>,
}

/// Requests with the same difference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MigrationRow {
    /// The difference as a sentence about the first request.
    pub sentence: String,
    pub before: SideAnswer,
    pub after: SideAnswer,
}

/// The lines that cause the answer of one side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideAnswer {
    pub lines: Vec<From>,
}
