//! Views of a [`Compilation`](chancery_base::compilation::Compilation) that explain it: where things stand, what is wrong, where a value comes from,
//! what a line makes, what refers to what, and what became of every object.
//!
//! Everything here looks and nothing is computed again; it is made on demand and costs nothing when it is not asked for. All results are plain data
//! that serialises, so that the command line, the playground and the desktop show the same. Key material is in none of them.
//!
//! What must not be here: rendering for a terminal, files, and decisions about what a gateway does.
#![no_std]

extern crate alloc;

mod app_gateway;
mod asking;
mod assist;
mod certificate;
pub mod check;
pub mod compare;
mod dump;
mod finding;
mod graph;
mod headline;
pub mod layout;
mod ledger;
mod nginx;
mod onward;
mod origin;
pub mod picture;
mod pointer;
mod refused;
pub(crate) mod relation;
mod request_test;
mod route;
mod routes;
pub mod share;
mod snapshot;
mod things;
mod thread;
mod trace;
mod unserved;
mod view;
mod why_not;
mod without;
mod words;

pub use app_gateway::{
    AppGatewayReport, ProbeView, asking_app_gateway, route_app_gateway, routes_of_app_gateway, row_of_app_gateway_takes, way_of_app_gateway,
};
pub use asking::asking;
pub use assist::{Completion, Completions, Hover, completions, hover};
pub use certificate::certificate_words;
pub use chancery_base::positions::{Excerpt, Positions, Span};
pub use dump::{dump, dump_config, dump_tree, dump_with_origins};
pub use finding::{EditView, Finding, FixView, RelatedView, ResourceRef, findings, in_plain_words, not_utf8};
pub use graph::{Edge, Focus, Graph, GraphNode, NodeKind, Relation, Rule, Step, graph, graph_of, story, why};
pub use headline::{ServiceNames, headline, service_name, shares, way};
pub use ledger::{LedgerRow, ledger, ledger_of, rows_without_effect};
pub use nginx::{NginxReport, SeenView, WayStep, asking_nginx, route_nginx, routes_of_nginx};
pub use onward::{alone, entrances, follow};
pub use origin::OriginView;
pub use pointer::{describe, get, name_of, resolve};
pub use refused::refused_by_envoy;
pub use request_test::{Mismatch, RequestTest, RequestTests};
pub use route::{Hop, OriginOf, RouteReport, TracedGateway, report, route, route_unknown};
pub use routes::{RouteRow, RouteRows, count_clusters, count_routes, routes};
pub use snapshot::{Snapshot, VERSION as SNAPSHOT_VERSION, with_stand_ins};
pub use thread::Thread;
pub use trace::{Explanation, LineReport, MadeView, explain_line, explain_pointer};
pub use unserved::{HostThere, UnservedResource};
pub use view::{View, Viewed};
pub use why_not::{Case, WhyNot, why_not};
pub use without::{WithoutField, without_line};

#[cfg(test)]
mod tests;

#[cfg(test)]
mod testing {
    use chancery_base::compilation::Dialect;

    /// The dialects that tests compile.
    pub static ALL: &[&Dialect] = &[&chancery_ambassador::DIALECT, &chancery_contour::DIALECT, &chancery_agic::DIALECT, &chancery_consul::DIALECT];
}
