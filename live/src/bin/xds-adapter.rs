//! Adapts our xDS server for the CNCF's conformance test: sets the resources that the server serves.
//!
//! `xds-adapter --port 18000 --adapter 17000` listens twice on 127.0.0.1, without TLS. Does not serve xDS itself; see
//! `chancery_live::xds`.

use chancery_live::event::Events;
use chancery_live::proxies::Proxies;
use chancery_live::replicas::Replicas;
use chancery_live::xds::clients::Clients;
use chancery_live::xds::harness::Harness;
use chancery_live::xds::identity::Identities;
use chancery_live::xds::server::Xds;
use chancery_live::xds::token::Tokens;
use envoy_types::pb::google::protobuf::Any;
use prost::Message;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tonic::body::Body;
use tonic::codegen::{Service, http};
use tonic::server::{NamedService, UnaryService};

/// The test unsubscribes on another stream at the same time, and expects the server to be slower.
const BEFORE_CHANGES: Duration = Duration::from_millis(300);

#[derive(Clone, PartialEq, Message)]
struct SetState {
    #[prost(string, tag = "1")]
    node: String,
    #[prost(string, tag = "2")]
    version: String,
    #[prost(message, repeated, tag = "3")]
    resources: Vec<Any>,
}

#[derive(Clone, PartialEq, Message)]
struct ClearState {
    #[prost(string, tag = "1")]
    node: String,
}

#[derive(Clone, PartialEq, Message)]
struct Cleared {
    #[prost(string, tag = "1")]
    response: String,
}

#[derive(Clone, PartialEq, Message)]
struct Resource {
    #[prost(string, tag = "1")]
    node: String,
    #[prost(string, tag = "2")]
    type_url: String,
    #[prost(string, tag = "3")]
    name: String,
    #[prost(string, tag = "4")]
    version: String,
}

#[derive(Clone, PartialEq, Message)]
struct Done {
    #[prost(bool, tag = "1")]
    success: bool,
}

/// `adapter.Adapter`.
#[derive(Clone)]
struct Adapter(Arc<Harness>);

impl NamedService for Adapter {
    const NAME: &'static str = "adapter.Adapter";
}

/// One method, with the function that answers it.
struct Method<F>(F);

impl<Q, A, F, R> UnaryService<Q> for Method<F>
where
    F: FnMut(Q) -> R,
    R: Future<Output = A> + Send + 'static,
{
    type Response = A;
    type Future = Pin<Box<dyn Future<Output = Result<tonic::Response<A>, tonic::Status>> + Send>>;

    fn call(&mut self, request: tonic::Request<Q>) -> Self::Future {
        let answer = (self.0)(request.into_inner());
        Box::pin(async move { Ok(tonic::Response::new(answer.await)) })
    }
}

/// Answers a call by passing its message to `answer`.
async fn unary<Q, A, R>(request: http::Request<Body>, answer: impl FnMut(Q) -> R) -> http::Response<Body>
where
    Q: Message + Default + 'static,
    A: Message + Default + 'static,
    R: Future<Output = A> + Send + 'static,
{
    tonic::server::Grpc::new(tonic_prost::ProstCodec::<A, Q>::default()).unary(Method(answer), request).await
}

impl Service<http::Request<Body>> for Adapter {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let harness = self.0.clone();
        Box::pin(async move {
            let method = request.uri().path().rsplit('/').next().unwrap_or_default().to_owned();
            Ok(match method.as_str() {
                "SetState" => {
                    unary(request, move |of: SetState| {
                        harness.set(&of.node, &of.version, of.resources.into_iter().map(|any| (any.type_url, any.value)));
                        async { Done { success: true } }
                    })
                    .await
                }
                "ClearState" => {
                    unary(request, move |of: ClearState| {
                        harness.clear(&of.node);
                        async { Cleared { response: "cleared".into() } }
                    })
                    .await
                }
                "UpdateResource" | "AddResource" | "RemoveResource" => {
                    let removes = method == "RemoveResource";
                    unary(request, move |of: Resource| {
                        let harness = harness.clone();
                        async move {
                            tokio::time::sleep(BEFORE_CHANGES).await;
                            let success = if removes {
                                harness.remove(&of.node, &of.type_url, &of.name, &of.version)
                            } else {
                                harness.put(&of.node, &of.type_url, &of.name, &of.version)
                            };
                            Done { success }
                        }
                    })
                    .await
                }
                _ => tonic::Status::unimplemented(format!("there is no method {method}")).into_http(),
            })
        })
    }
}

/// Reads `--port` and `--adapter`.
fn ports() -> Result<(u16, u16), String> {
    let (mut port, mut adapter) = (18000, 17000);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) => (flag.to_owned(), Some(value.to_owned())),
            None => (word.clone(), words.next()),
        };
        let number = value.and_then(|value| value.parse().ok()).ok_or_else(|| format!("{flag} wants a port"))?;
        match flag.as_str() {
            "--port" => port = number,
            "--adapter" => adapter = number,
            _ => return Err(format!("there is no flag {flag}; there are --port and --adapter")),
        }
    }
    Ok((port, adapter))
}

async fn run() -> Result<(), String> {
    let (port, adapter_port) = ports()?;
    let bind = async |port: u16| TcpListener::bind(("127.0.0.1", port)).await.map_err(|error| format!("cannot listen on port {port}: {error}"));
    let (served, adapted) = (bind(port).await?, bind(adapter_port).await?);
    let proxies = Proxies::default();
    let (_stop, stopping) = watch::channel(false);
    let harness = Adapter(Arc::new(Harness::new(proxies.clone())));
    let xds = Xds {
        proxies,
        clients: Clients::new(Events::default()),
        stop: stopping,
        identities: Identities::default(),
        tokens: Tokens::default(),
        ttl: None,
        replicas: Replicas::default(),
    }
    .serve(served, None);
    let incoming = chancery_live::xds::connection::incoming(adapted, None);
    let adapter = tonic::transport::Server::builder().add_service(harness).serve_with_incoming(incoming);
    println!("xDS on 127.0.0.1:{port}, adapter on 127.0.0.1:{adapter_port}");
    tokio::select! {
        ended = xds => ended,
        ended = adapter => ended,
    }
    .map_err(|error| format!("a server has stopped: {error}"))
}

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let outcome = runtime.map_err(|error| error.to_string()).and_then(|runtime| runtime.block_on(run()));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xds-adapter: {why}");
            ExitCode::FAILURE
        }
    }
}
