//! Builds the document of an nginx: its servers with their locations, as directives. Does not print nginx.conf; see `chancery_nginx::conf`.

use crate::Viewed;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::OutputMap;
use chancery_base::ir::nginx::{Location, Nginx, Server};
use chancery_base::output_map::Trace;
use chancery_nginx::directive::{Directive, quoted};
use chancery_nginx::template;
use chancery_text::{Node, Object, Str, Value};

impl Viewed {
    /// Creates the document of an nginx. A server is at `/servers/N`, its locations at `/servers/N/locations/M`.
    #[must_use]
    pub fn nginx(nginx: &Nginx) -> Self {
        let mut trace = Trace::on();
        let http = trace.at("http", |t| lines(&template::http(nginx), t));
        let servers = trace.at("servers", |t| {
            let one = |(at, server): (usize, &Arc<Server>)| t.item(at, |t| server_node(nginx, server, t));
            nginx.servers.iter().enumerate().map(one).collect::<Vec<_>>()
        });
        let root = object([("http", http), ("servers", list(servers))]);
        Self { name: "nginx", root, map: OutputMap::new(trace.finish(), Vec::new()) }
    }
}

fn object<'n>(fields: impl IntoIterator<Item = (&'n str, Node)>) -> Node {
    Node::synthesised(Value::Object(fields.into_iter().map(|(name, value)| (Str::from(name), value)).collect::<Object>()))
}

fn list(items: Vec<Node>) -> Node {
    Node::synthesised(Value::Array(items))
}

/// The directive as one line, without its block.
fn line(of: &Directive) -> Node {
    let args: String = of.args.iter().map(|arg| format!(" {}", quoted(arg))).collect();
    Node::given(&format!("{}{args}", of.name))
}

/// Directives, each as a line, or as an object if it has a block.
fn lines(all: &[Directive], t: &mut Trace) -> Node {
    let one = |(at, of): (usize, &Directive)| {
        t.item(at, |t| {
            t.here(of.origin);
            match &of.block {
                None => line(of),
                Some(block) => object([("block", line(of)), ("directives", t.at("directives", |t| lines(block, t)))]),
            }
        })
    };
    list(all.iter().enumerate().map(one).collect())
}

fn server_node(nginx: &Nginx, server: &Server, t: &mut Trace) -> Node {
    let whole = template::server(nginx, server);
    t.here(whole.origin);
    let locations = template::locations(nginx, server);
    let is_own = |of: &Directive| !locations.iter().flatten().any(|location| location == of);
    let own: Vec<Directive> = whole.inner().iter().filter(|of| is_own(of)).cloned().collect();
    let directives = t.at("directives", |t| lines(&own, t));
    let locations = t.at("locations", |t| {
        let one = |(at, (location, written)): (usize, (&Location, &Vec<Directive>))| {
            t.item(at, |t| {
                t.here(location.path.origin);
                object([("location", Node::given(&location.path.value)), ("directives", t.at("directives", |t| lines(written, t)))])
            })
        };
        list(server.locations.iter().zip(&locations).enumerate().map(one).collect())
    });
    object([("server", Node::given(&server.host.value)), ("directives", directives), ("locations", locations)])
}
