//! Creates the variants of routes that listeners need for secure and insecure requests.
//!
//! Source of the behaviour: Emissary `python/ambassador/envoy/v3/v3route.py`.

use crate::model::host::InsecureAction;
use crate::model::listener::Security;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::executor::{self, Executor};
use chancery_base::ir::{HeaderMatch, HeaderName, PathMatch, PerFilter, Redirect, Route, RouteAction, StringMatch};
use chancery_base::resource::Sourced;
use once_cell::race::OnceBox;

/// Routes in order.
type Chosen = Arc<Vec<Arc<Route>>>;

/// The routes of a host in order, and the variants that listeners use; created on first use and shared.
#[derive(Default)]
pub(super) struct HostRoutes {
    routes: Vec<Arc<Variants>>,
    /// By the listener's security, and by the policy for insecure requests.
    chosen: [[OnceBox<Chosen>; 3]; 3],
}

impl HostRoutes {
    /// Routes without any variants yet.
    pub fn new(routes: Vec<Arc<Variants>>) -> Self {
        Self { routes, ..Self::default() }
    }

    /// Each route for secure and for insecure requests.
    pub fn chosen(&self, security: Security, insecure_action: InsecureAction, executor: &dyn Executor) -> &Chosen {
        let chosen = &self.chosen[security as usize][insecure_action as usize];
        chosen.get_or_init(|| {
            let routes = executor::map(executor, &self.routes, |route| route.chosen(security, insecure_action));
            let mut out = Vec::with_capacity(2 * routes.len());
            out.extend(routes.into_iter().flatten().flatten());
            Box::new(Arc::new(out))
        })
    }
}

/// A route's variants, created on first use and shared.
pub(super) struct Variants {
    route: Arc<Route>,
    has_authentication: bool,
    https: OnceBox<Arc<Route>>,
    redirect: OnceBox<Arc<Route>>,
    redirect_http: OnceBox<Arc<Route>>,
    http: OnceBox<Arc<Route>>,
    /// Whether it answers ACME challenges, which must never be redirected.
    pub acme: bool,
}

/// Which requests a variant matches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Matcher {
    /// All.
    Always,
    /// Requests with `x-forwarded-proto: https`.
    XfpHttps,
    /// Requests without it.
    XfpHttp,
}

impl Variants {
    /// The variants for secure and insecure requests that the listener uses.
    fn chosen(&self, security: Security, insecure_action: InsecureAction) -> [Option<Arc<Route>>; 2] {
        let secure = if security == Security::Secure { Matcher::Always } else { Matcher::XfpHttps };
        let insecure = if security == Security::Insecure { Matcher::Always } else { Matcher::XfpHttp };
        let insecure_action = if self.acme { InsecureAction::Route } else { insecure_action };
        let of_insecure = match insecure_action {
            _ if security == Security::Secure => None,
            InsecureAction::Reject => None,
            InsecureAction::Route => Some(self.get(insecure, false)),
            InsecureAction::Redirect => Some(self.get(insecure, true)),
        };
        [(security != Security::Insecure).then(|| self.get(secure, false)), of_insecure]
    }

    /// The variant for a matcher, redirected to https or not.
    pub fn get(&self, matcher: Matcher, redirect: bool) -> Arc<Route> {
        match (matcher, redirect) {
            (Matcher::Always, false) => self.route.clone(),
            (Matcher::XfpHttps, _) => self.https.get_or_init(|| Box::new(Arc::new(with_proto(&self.route, true)))).clone(),
            (Matcher::XfpHttp, false) => self.http.get_or_init(|| Box::new(without_proto(&self.route))).clone(),
            (Matcher::Always, true) => self.redirect.get_or_init(|| Box::new(Arc::new(self.redirected(&self.route)))).clone(),
            (Matcher::XfpHttp, true) => {
                let same = !self.route.matcher.headers.iter().any(is_proto);
                if same {
                    return self.get(Matcher::Always, true);
                }
                self.redirect_http.get_or_init(|| Box::new(Arc::new(self.redirected(&without_proto(&self.route))))).clone()
            }
        }
    }

    fn redirected(&self, route: &Route) -> Route {
        let redirect = Redirect { https: Some(Sourced::built_in(true)), ..Redirect::default() };
        let mut redirected = Route { action: RouteAction::Redirect(Box::new(redirect)), ..route.clone() };
        if self.has_authentication {
            redirected.per_filter = vec![("envoy.filters.http.ext_authz".into(), Sourced::built_in(PerFilter::ExtAuthzDisabled))];
        }
        redirected
    }
}

fn is_proto(header: &Sourced<HeaderMatch>) -> bool {
    header.value.name.eq_ignore_ascii_case("x-forwarded-proto")
}

fn with_proto(route: &Route, add: bool) -> Route {
    let mut route = route.clone();
    route.matcher.headers.retain(|header| !is_proto(header));
    if add {
        let value = StringMatch::Exact("https".into());
        let name = const { HeaderName::fixed("x-forwarded-proto") };
        let header = HeaderMatch { name, value, invert: false, ignore_case: false, missing_as_empty: false };
        route.matcher.headers.reserve_exact(1);
        route.matcher.headers.push(Sourced::built_in(header));
    }
    route
}

fn without_proto(route: &Arc<Route>) -> Arc<Route> {
    let others = route.matcher.headers.iter().filter(|header| !is_proto(header)).count();
    if others == route.matcher.headers.len() || others == 0 {
        // The reference leaves the list alone when nothing would remain of it.
        return route.clone();
    }
    Arc::new(with_proto(route, false))
}

impl Variants {
    /// A route without any variants yet.
    pub fn new(route: Route, has_authentication: bool) -> Self {
        let acme = matches!(&route.matcher.path.value, PathMatch::Prefix(prefix) if prefix == "/.well-known/acme-challenge/");
        let (https, redirect, redirect_http, http) = (OnceBox::new(), OnceBox::new(), OnceBox::new(), OnceBox::new());
        Self { route: Arc::new(route), has_authentication, https, redirect, redirect_http, http, acme }
    }
}
