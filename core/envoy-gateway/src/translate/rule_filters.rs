//! Holds what the filters of a rule or backend do, and where they stand. Does not translate filters; see `filters`.

use super::super::context::RouteContext;
use super::super::model::{AddHeader, Cors, CredentialInjection, DestinationFilters, DirectResponse, HttpRoute, Mirror, Redirect, UrlRewrite};
use alloc::boxed::Box;
use alloc::vec::Vec;
use chancery_base::resource::Sourced;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// What the filters of a rule or backend do.
#[derive(Clone, Debug, Default)]
pub(super) struct Filters<'a> {
    pub(super) direct_response: Option<DirectResponse>,
    pub(super) redirect: Option<Redirect>,
    pub(super) credential_injection: Option<CredentialInjection>,
    pub(super) rewrite: Option<UrlRewrite>,
    pub(super) add_request_headers: Vec<AddHeader>,
    pub(super) remove_request_headers: Vec<Sourced<Str>>,
    pub(super) add_response_headers: Vec<AddHeader>,
    pub(super) remove_response_headers: Vec<Sourced<Str>>,
    pub(super) mirrors: Vec<Mirror>,
    pub(super) cors: Option<Cors>,
    /// Items of `matches` of an HTTPRouteFilter.
    pub(super) matches: Vec<Cursor<'a>>,
}

/// Where filters stand.
#[derive(Clone, Copy)]
pub(super) struct At<'r, 'a> {
    pub(super) route: &'r RouteContext<'a>,
    pub(super) parent: usize,
    pub(super) rule: usize,
    pub(super) gateway: Option<usize>,
    pub(super) is_grpc: bool,
}

impl Filters<'_> {
    /// Applies the filters to a route.
    pub(super) fn apply(&self, route: &mut HttpRoute) {
        route.redirect = self.redirect.clone().map(Box::new);
        route.direct_response = self.direct_response.clone().map(Box::new);
        route.rewrite = self.rewrite.clone().map(Box::new);
        route.credential_injection = self.credential_injection.clone().map(Box::new);
        route.add_request_headers = self.add_request_headers.clone();
        route.remove_request_headers = self.remove_request_headers.clone();
        route.add_response_headers = self.add_response_headers.clone();
        route.remove_response_headers = self.remove_response_headers.clone();
        route.mirrors = self.mirrors.clone();
        route.cors = self.cors.clone().map(Box::new);
    }

    /// Returns the filters of a backend.
    pub(super) fn of_backend(self) -> DestinationFilters {
        DestinationFilters {
            add_request_headers: self.add_request_headers,
            remove_request_headers: self.remove_request_headers,
            add_response_headers: self.add_response_headers,
            remove_response_headers: self.remove_response_headers,
            credential_injection: self.credential_injection,
            rewrite: self.rewrite,
        }
    }

    /// Answers 500, as the filter cannot be translated.
    pub(super) fn fail(&mut self, at: Cursor<'_>) {
        self.direct_response = Some(DirectResponse { status: Sourced::new(500, at.origin()), ..DirectResponse::default() });
    }
}
