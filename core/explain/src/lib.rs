//! Provides views that explain a [`Compilation`](chancery_base::compilation::Compilation): places in the input, findings, the origin of a value,
//! the result of a line, references between objects, and what happened to every object.
//!
//! Views are made on demand and compute nothing again. All results are plain data that can be serialised, so that the command line, the playground
//! and the desktop show the same. No result contains key material.
//!
//! Does not render for a terminal or read files; see the CLI. Does not decide what a gateway does; see `chancery_envoy::simulate`.
#![no_std]

extern crate alloc;

pub mod answers;
mod app_gateway;
mod assist;
mod assumed_address;
mod certificate;
pub mod check;
pub mod compare;
mod contribution;
pub mod coverage;
mod dump;
mod editable;
mod edits;
mod finding;
mod finding_cause;
mod finding_fold;
mod finding_group;
mod gateway_chain;
mod graph;
mod headline;
mod known_findings;
pub mod layout;
mod ledger;
mod line_removal;
mod lineage;
mod made_by_line;
mod mesh;
pub mod migration;
mod name_completion;
mod named_parts;
mod navigation;
mod nginx;
mod origin;
mod permitted_request;
pub mod picture;
mod pointer;
mod policies;
mod reach;
mod rejected;
pub(crate) mod relation;
pub mod replay;
mod request_test;
mod route;
mod route_order;
mod routes;
mod rule_text;
mod sample_request;
pub mod share;
mod snapshot;
mod snippet;
mod trace;
mod trial;
mod unmatched;
mod verdict;
mod view;
mod why_not;

pub use app_gateway::{
    AppGatewayReport, ProbeView, app_gateway_ending, app_gateway_routes, app_gateway_row_matches, app_gateway_sample_request, app_gateway_story_path,
    describe_app_gateway_ending, route_app_gateway,
};
pub use assist::{Completion, Completions, Hover, completions, hover};
pub use assumed_address::mark_assumed;
pub use certificate::describe_certificate;
pub use chancery_base::positions::{Excerpt, Positions, Span};
pub use contribution::{Contribution, contributions};
pub use dump::{dump, dump_config, dump_tree, dump_with_origins};
pub use editable::{EditableSort, EditableValue, editable_values};
pub use edits::{missing_grant, suppression};
pub use finding::{EditView, Finding, FixView, RelatedView, ResourceRef, findings, not_utf8, plain_message, without_overlaps};
pub use finding_cause::causes;
pub use finding_fold::{FindingTag, FoldedFinding, fold, tag_of};
pub use finding_group::{FindingGroup, group_findings};
pub use gateway_chain::{entry_gateways, route_in_one_gateway, route_through_gateways};
pub use graph::{Edge, Focus, Graph, GraphNode, NodeKind, Relation, Rule, ServiceShare, Step, callers, graph, graph_of, story, why};
pub use headline::{ServiceNames, parts_on_path, service_name, shares, story_path};
pub use known_findings::KnownFindings;
pub use ledger::{LedgerFinding, LedgerRow, StatusCondition, ledger, ledger_of, rows_without_effect};
pub use line_removal::{InputWithoutField, input_without_line, input_without_patch};
pub use lineage::Lineage;
pub use made_by_line::{MadeByLine, made_by_line};
pub use mesh::{MeshDestination, mesh_destinations};
pub use name_completion::complete;
pub use navigation::{NamePlace, Named, Names, PartKind};
pub use nginx::{
    CanaryView, NginxReport, RefusedView, SeenView, WayStep, describe_nginx_ending, nginx_ending, nginx_matching_rows, nginx_routes,
    nginx_sample_request, nginx_story_path, route_nginx,
};
pub use origin::OriginView;
pub use pointer::{describe, get, name_of, resolve};
pub use policies::{PolicySetting, RequestPolicy};
pub use rejected::rejected_by_envoy;
pub use request_test::{Mismatch, PreparedGateways, RequestTest, RequestTests, TestAnswer, Tester};
pub use route::{DecidedCall, Hop, OriginOf, RouteReport, TracedGateway, report, route, route_unknown};
pub use route_order::RoutePrecedence;
pub use routes::{RouteRow, RouteRows, count_clusters, count_routes, routes};
pub use sample_request::{named_host, sample_request, sample_requests, sample_requests_for_hosts};
pub use snapshot::{Snapshot, VERSION as SNAPSHOT_VERSION, with_stand_ins};
pub use snippet::object_snippets;
pub use trace::{Explanation, LineReport, MadeView, explain_line, explain_pointer};
pub use trial::{DecidingLine, Trial, sample_for_object, try_request};
pub use unmatched::{ServedHost, UnservedResource};
pub use verdict::{
    RequestReport, RequestVerdict, RunningGateway, envoy_ending, envoy_verdict, judge, overview, served_request, suggested_requests, whole_story_path,
};
pub use view::{View, Viewed};
pub use why_not::{Case, WhyNot, why_not};

#[cfg(test)]
mod tests;

#[cfg(test)]
mod testing {
    use chancery_base::compilation::Dialect;

    /// The dialects that tests compile.
    pub static ALL: &[&Dialect] = &[
        &chancery_ambassador::DIALECT,
        &chancery_contour::DIALECT,
        &chancery_agic::DIALECT,
        &chancery_ingress_nginx::DIALECT,
        &chancery_consul::DIALECT,
        &chancery_envoy_gateway::DIALECT,
    ];
}
