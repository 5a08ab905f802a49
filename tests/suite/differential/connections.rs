//! Compares which filter chain a real Envoy chooses for a connection with the simulated choice.
//!
//! Each chain answers with its number. A chain that speaks TLS selects the number as the application protocol, which a TLS 1.2 handshake sends
//! in plain text; the other chains write the number. So the test decrypts nothing.
//!
//! Does not compare HTTP; see the parent module.

use super::envoy::{Envoy, local, port};
use super::{here, request};
use chancery_core::backend::envoy::v3::pb;
use chancery_core::envoy_config::EnvoyConfig;
use chancery_core::simulate::{Gateway, Request, Simulation};
use chancery_envoy_api::envoy::extensions::filters::network::direct_response::v3::Config as Say;
use pb::base::{DataSource, TransportSocket, data_source::Specifier, transport_socket::ConfigType as SocketConfig};
use pb::listener::{Filter, FilterChain, Listener, filter::ConfigType};
use pb::tls::{CommonTlsContext, DownstreamTlsContext, TlsCertificate, TlsParameters};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const CERTIFICATE: &str = include_str!("../../../core/tests/envoy/certificate.pem");
const KEY: &str = include_str!("../../../core/tests/envoy/key.pem");

/// The result of comparing connections.
#[derive(Default)]
pub struct Connections {
    inputs: usize,
    made: usize,
    taken: usize,
    differences: Vec<String>,
}

impl Connections {
    /// Prints the result, and fails if there was any difference.
    pub fn settle(&self, what: &str) {
        println!("{what}: {} connections over {} inputs, {} taken, {} differences", self.made, self.inputs, self.taken, self.differences.len());
        for difference in self.differences.iter().take(200) {
            println!("  {difference}");
        }
        assert!(self.differences.is_empty(), "{} of {} connections differ", self.differences.len(), self.made);
        assert!(self.taken > 0 || self.inputs == 0, "some connection is taken");
    }
}

/// Connects to the listeners of one input that choose between chains.
pub fn compare(program: &OsString, name: &str, bootstrap: &pb::bootstrap::Bootstrap, tally: &mut Connections) {
    let Some(rigged) = rig(bootstrap) else { return };
    let config = EnvoyConfig::of_bootstrap(rigged.clone());
    let gateway = Gateway::new(&config);
    let Some(_envoy) = Envoy::start(program, &format!("{name}-connections"), &rigged) else {
        tally.differences.push(format!("{name}: Envoy does not start"));
        return;
    };
    tally.inputs += 1;
    for listener in &config.listeners {
        for request in requests(&listener.message) {
            let said = chain(&gateway.simulate(&request));
            let speaks_tls = said.and_then(|at| listener.message.filter_chains.get(at)).is_some_and(|chain| chain.transport_socket.is_some());
            // A chain that speaks TLS does not answer a client without TLS.
            let said = said.filter(|_| !speaks_tls || request.tls);
            let got = ask(&request, listener.message.filter_chains.len());
            tally.made += 1;
            tally.taken += usize::from(got.is_some());
            if said != got {
                let (sni, alpn) = (&request.sni, &request.alpn);
                tally.differences.push(format!(
                    "{name}: {} TLS {} SNI {sni:?} ALPN {alpn:?}: we say chain {said:?}, Envoy {got:?}",
                    listener.message.name, request.tls
                ));
            }
        }
    }
}

/// Returns the number of the chain that the simulation chose.
fn chain(of: &Simulation) -> Option<usize> {
    let place = of.places.iter().find(|place| place.of == "filter_chain")?;
    place.pointer.rsplit('/').next()?.parse().ok()
}

/// Returns the protocol, or the text, that identifies a chain by its number.
fn number(at: usize) -> String {
    format!("chain-{at}.")
}

fn text(text: &str) -> Option<DataSource> {
    Some(DataSource { specifier: Some(Specifier::InlineString(text.to_string())), ..Default::default() })
}

/// Prepares the listeners that have several chains, or one chain with conditions, each at a separate port.
fn rig(bootstrap: &pb::bootstrap::Bootstrap) -> Option<pb::bootstrap::Bootstrap> {
    let resources = bootstrap.static_resources.as_ref()?;
    let has_choice = |listener: &&Listener| listener.filter_chains.iter().any(|chain| chain.filter_chain_match.is_some());
    let listeners: Vec<Listener> = resources.listeners.iter().filter(has_choice).map(rigged).collect();
    (!listeners.is_empty()).then(|| pb::bootstrap::Bootstrap {
        node: Some(pb::base::Node { id: "test".into(), cluster: "test".into(), ..Default::default() }),
        static_resources: Some(pb::bootstrap::bootstrap::StaticResources { listeners, ..Default::default() }),
        ..Default::default()
    })
}

fn rigged(of: &Listener) -> Listener {
    let chains = of.filter_chains.iter().enumerate().map(|(at, chain)| FilterChain {
        filter_chain_match: chain.filter_chain_match.clone(),
        filters: vec![Filter { name: "say".into(), config_type: Some(ConfigType::TypedConfig(pb::Any::pack(Say { response: text(&number(at)) }))) }],
        transport_socket: chain.transport_socket.as_ref().map(|_| socket(at)),
        name: number(at),
        ..Default::default()
    });
    Listener {
        name: of.name.clone(),
        address: Some(local(chancery_tests::port::free())),
        filter_chains: chains.collect(),
        listener_filters: of.listener_filters.iter().filter(|filter| filter.name.ends_with("tls_inspector")).cloned().collect(),
        ..Default::default()
    }
}

fn socket(at: usize) -> TransportSocket {
    let certificate = TlsCertificate { certificate_chain: text(CERTIFICATE), private_key: text(KEY), ..Default::default() };
    let context = DownstreamTlsContext {
        common_tls_context: Some(CommonTlsContext {
            tls_params: Some(TlsParameters {
                tls_maximum_protocol_version: pb::tls::tls_parameters::TlsProtocol::TlSv12 as i32,
                ..Default::default()
            }),
            tls_certificates: vec![certificate],
            alpn_protocols: vec![number(at)],
            ..Default::default()
        }),
        ..Default::default()
    };
    TransportSocket { name: "envoy.transport_sockets.tls".into(), config_type: Some(SocketConfig::TypedConfig(pb::Any::pack(context))) }
}

/// Builds connections with the names that chains match, and with near misses.
fn requests(listener: &Listener) -> Vec<Request> {
    let Some(port) = port(listener) else { return Vec::new() };
    let matches = || listener.filter_chains.iter().filter_map(|chain| chain.filter_chain_match.as_ref());
    let mut names: BTreeSet<Option<String>> = BTreeSet::from([None, Some("elsewhere.example".into())]);
    for name in matches().flat_map(|of| &of.server_names) {
        let bare = name.trim_start_matches('*').trim_start_matches('.');
        let parent = bare.split_once('.').map_or("", |(_, parent)| parent);
        let beside = [
            bare.to_string(),
            bare.to_uppercase(),
            format!("a.{bare}"),
            format!("a.b.{bare}"),
            format!("a{bare}"),
            format!("{bare}."),
            parent.to_string(),
        ];
        names.extend(beside.into_iter().filter(|name| !name.is_empty()).map(Some));
    }
    let mut offers: BTreeSet<Vec<String>> = [vec![], vec!["h2"], vec!["http/1.1"], vec!["h2", "http/1.1"], vec!["other"]]
        .map(|offer| offer.into_iter().map(ToString::to_string).collect())
        .into();
    offers.extend(matches().flat_map(|of| &of.application_protocols).map(|protocol| vec![protocol.clone()]));
    let mut out = Vec::new();
    for (name, offer) in names.iter().flat_map(|name| offers.iter().map(move |offer| (name, offer))) {
        let Some(mut made) = request("GET", name.as_deref().unwrap_or("elsewhere.example"), "/", port) else { continue };
        made.tls = true;
        made.sni.clone_from(name);
        made.alpn.clone_from(offer);
        made.destination = Some(here());
        out.push(made);
    }
    out.extend(request("GET", "elsewhere.example", "/", port));
    out
}

/// Returns the number of the chain that answers.
fn ask(request: &Request, chains: usize) -> Option<usize> {
    let mut stream = TcpStream::connect(("127.0.0.1", u16::try_from(request.port?).ok()?)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    let numbers = (0..chains).map(number);
    let first = if request.tls {
        client_hello(request.sni.as_deref(), &request.alpn.iter().cloned().chain(numbers).collect::<Vec<_>>())
    } else {
        format!("GET / HTTP/1.1\r\nhost: {}\r\n\r\n", request.authority).into_bytes()
    };
    stream.write_all(&first).ok()?;
    let mut got = Vec::new();
    let mut part = [0; 4096];
    // The number is in the first part of a handshake, or in the text.
    while !(0..chains).any(|at| contains_number(&got, at)) {
        match stream.read(&mut part) {
            Ok(read @ 1..) => got.extend_from_slice(&part[..read]),
            _ => return None,
        }
    }
    (0..chains).find(|at| contains_number(&got, *at))
}

fn contains_number(got: &[u8], at: usize) -> bool {
    let wanted = number(at);
    got.windows(wanted.len()).any(|part| part == wanted.as_bytes())
}

/// Writes a length in this many bytes, followed by the data.
fn counted(bytes: usize, of: &[u8]) -> Vec<u8> {
    let length = (of.len() as u64).to_be_bytes();
    [&length[8 - bytes..], of].concat()
}

fn extension(kind: u16, of: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes()[..], &counted(2, of)].concat()
}

/// Builds the first message of a TLS 1.2 handshake (RFC 5246, 6066, 7301).
fn client_hello(name: Option<&str>, protocols: &[String]) -> Vec<u8> {
    let server_name = name.map(|name| extension(0, &counted(2, &[&[0][..], &counted(2, name.as_bytes())].concat())));
    let groups = extension(10, &counted(2, &[0, 29, 0, 23]));
    let formats = extension(11, &counted(1, &[0]));
    let signatures = extension(13, &counted(2, &[4, 1, 8, 4, 4, 3]));
    let protocols: Vec<u8> = protocols.iter().flat_map(|protocol| counted(1, protocol.as_bytes())).collect();
    let extensions = [server_name.unwrap_or_default(), groups, formats, signatures, extension(16, &counted(2, &protocols))].concat();
    let suites = counted(2, &[0xc0, 0x2f, 0xc0, 0x30]);
    let body = [&[3, 3][..], &[7; 32], &[0], &suites, &counted(1, &[0]), &counted(2, &extensions)].concat();
    let message = [&[1][..], &counted(3, &body)].concat();
    [&[22, 3, 1][..], &counted(2, &message)].concat()
}
