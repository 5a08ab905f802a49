//! Simulates requests to an nginx that ingress-nginx configures.
//!
//! Runs the directives that `template` writes, and known directives of snippets. The response notes skipped directives.

mod access;
mod balance;
mod basic_user;
mod choose;
mod content;
mod exchange;
pub mod message;
mod password;
pub mod pattern;
mod phases;
mod respond;
mod rewrite;
mod scope;
mod tls;
mod upstream_index;
mod uri;

pub use message::{Answer, Credentials, Request, Response, Seen, Step, Version, World, read};
pub use tls::certificate_of;
pub use uri::host_name;

use crate::directive::Directive;
use crate::template;
use access::Counted;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{Nginx, Server};
use choose::{ServerIndex, ServerNames};
use core::cell::OnceCell;
use pattern::PatternCache;
use upstream_index::UpstreamIndex;

/// Returns the server that answers requests for a host; `None` if a redirect to or from `www.` answers them.
pub fn server_of<'n>(nginx: &'n Nginx, host: &str) -> Option<&'n Server> {
    match ServerNames::new(nginx).server(host, &PatternCache::default()).0 {
        ServerIndex::Host(at) => nginx.servers.get(at).map(|server| &**server),
        ServerIndex::Redirect(_) => None,
    }
}

/// An nginx that answers requests, one after another.
pub struct Simulator<'n> {
    nginx: &'n Nginx,
    http: Vec<Directive>,
    redirects: Vec<OnceCell<Directive>>,
    servers: Vec<OnceCell<Directive>>,
    names: ServerNames,
    patterns: PatternCache,
    upstreams: UpstreamIndex,
}

impl<'n> Simulator<'n> {
    /// Builds a simulator of a configuration.
    pub fn new(nginx: &'n Nginx) -> Self {
        Self {
            nginx,
            http: template::http(nginx),
            redirects: nginx.redirects.iter().map(|_| OnceCell::new()).collect(),
            servers: nginx.servers.iter().map(|_| OnceCell::new()).collect(),
            names: ServerNames::new(nginx),
            patterns: PatternCache::default(),
            upstreams: UpstreamIndex::new(nginx),
        }
    }

    /// The simulated configuration.
    #[must_use]
    pub fn nginx(&self) -> &'n Nginx {
        self.nginx
    }

    /// Returns the directives of a server, which are built when a request first needs them.
    fn server(&self, index: ServerIndex) -> &[Directive] {
        let found = match index {
            ServerIndex::Redirect(at) => self
                .redirects
                .get(at)
                .zip(self.nginx.redirects.get(at))
                .map(|(cell, redirect)| cell.get_or_init(|| template::redirect_server(self.nginx, redirect))),
            ServerIndex::Host(at) => {
                self.servers.get(at).zip(self.nginx.servers.get(at)).map(|(cell, server)| cell.get_or_init(|| template::server(self.nginx, server)))
            }
        };
        found.map(Directive::inner).unwrap_or_default()
    }

    /// Returns the responses to requests, in order. Limits treat them as simultaneous.
    pub fn answer(&self, world: &World, requests: &[Request]) -> Vec<Response> {
        let mut counted = Counted::default();
        let one = |request: &Request| {
            let mut statuses = Vec::new();
            let mut response = Response::default();
            for _ in 0..request.repeat.max(1) {
                response = self.one(world, request, &mut counted);
                statuses.push(response.status);
            }
            if request.repeat > 1 {
                response.statuses = statuses;
            }
            response
        };
        requests.iter().map(one).collect()
    }
}
