//! `chancery watch`, `serve` and `bootstrap`: convert flags to settings, and show events in the terminal.
//!
//! Does not contain sources, builds or servers; see `chancery_live`.

pub mod ask;
mod azure;
mod human;

use crate::args::{BootstrapArgs, CollectArgs, Deployment, LiveArgs, ManifestsArgs, ServeArgs, WatchArgs};
use crate::output::{Sink, message, print, print_json, reason, shown, to_json};
use crate::style::{Style, count};
use crate::{Outcome, Unusable};
use chancery_core::compilation::{Assumptions, Dialect, Missing};
use chancery_core::dialect;
use chancery_core::explain::Snapshot;
use chancery_live::Failure;
use chancery_live::address::Address;
use chancery_live::admission::Admission;
use chancery_live::arm::apply::Allowed;
use chancery_live::arm::source::{Azure, Reader};
use chancery_live::bootstrap::Bootstrap;
use chancery_live::controllers::run::Writes;
use chancery_live::engine::Settings;
use chancery_live::event::{Dated, Events};
use chancery_live::host::{self, Show};
use chancery_live::install::{Install, OnAzure};
use chancery_live::log;
use chancery_live::serve::{Applying, Leasing, Servers, Writing};
use chancery_live::sources::Source;
use chancery_live::sources::consul::{Consul, Settings as Agent};
use chancery_live::sources::folder::{EmptyFolder, Folder, Reading};
use chancery_live::sources::kube::{Kube, Settings as Cluster};
use chancery_live::sources::recording::Recorder;
use chancery_live::sources::replay::Replay;
use chancery_live::sources::stream::Stream;
use chancery_live::xds::tls::Files;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The form on the command line.
fn unusable(failure: Failure) -> Unusable {
    Unusable(failure.0)
}

/// Runs `watch`.
pub fn watch(args: &WatchArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let (settings, sources, _) = prepare(&args.live, deployment, Reading::default())?;
    host::watch(settings, sources, !args.no_requests, show(args.format.is_json(), style)).map_err(unusable)?;
    Ok(0)
}

/// Runs `serve`.
pub fn serve(args: &ServeArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let token = match &args.admin_token_file {
        None => None,
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {}", path.display(), reason(&error)))?;
            Some(text.trim().to_owned()).filter(|text| !text.is_empty())
        }
    };
    let tls = match (&args.xds_cert, &args.xds_key) {
        (Some(certificate), Some(key)) => Some(Files { certificate: certificate.clone(), key: key.clone(), client_ca: args.xds_client_ca.clone() }),
        _ => None,
    };
    if args.with_secrets && args.snapshots == Address::Off {
        return Err("--with-secrets is about the snapshots of --snapshots, which is off".into());
    }
    let servers = Servers {
        xds: args.xds.clone(),
        diagnostics: args.diagnostics.clone(),
        snapshots: args.snapshots.clone(),
        public_snapshots: args.public_snapshots.clone(),
        ready: args.ready.clone(),
        tls,
        with_secrets: args.with_secrets,
        token,
        proxies: args.proxies.clone(),
        canary: args.canary.is_on(),
        ttl: args.xds_ttl,
        replicas: args.replicas.clone(),
        page: crate::play::page(),
        admission: admission(args)?,
    };
    if args.xds == Address::Off && !args.replicas.is_empty() {
        return Err("--replicas shares the gateways of Envoys, and --xds is off".into());
    }
    let empty = if deployment.allow_empty { EmptyFolder::Intended } else { EmptyFolder::Accident(args.empty_grace) };
    let reading = Reading { empty, state: state_folder(args.state_dir.as_deref()), ..Reading::default() };
    let (settings, sources, gateway) = prepare(&args.live, deployment, reading)?;
    let allowed = Allowed { removals: args.confirm_removals, take_over: args.take_over };
    let replica = chancery_live::serve::identity();
    let lease = args.lease.clone().map(|name| Leasing { cluster: cluster(&args.live), name, replica: replica.clone() });
    let applying = gateway.filter(|_| args.apply).map(|reader| Applying { reader, allowed, lease });
    // Contour's provisioner writes the status of each Gateway that it creates objects for.
    let writes = Writes { statuses: args.write_status || args.write_objects, objects: args.write_objects };
    let writing = (writes.statuses || writes.objects).then(|| Writing {
        cluster: cluster(&args.live),
        take_over: args.take_over,
        lease: args.lease.clone(),
        replica,
        writes,
    });
    if Assumptions::of(&settings.options).for_other_kinds() != Missing::Error {
        return Err("`serve` sends what it compiles to Envoys, so nothing may be assumed: leave --missing away, or say --missing error".into());
    }
    host::serve(settings, sources, &servers, writing.as_ref(), applying.as_ref(), show(args.format.is_json(), style)).map_err(unusable)?;
    Ok(0)
}

/// Returns the settings of the webhook, if it has an address.
fn admission(args: &ServeArgs) -> Result<Option<Admission>, Unusable> {
    if args.admission == Address::Off {
        return Ok(None);
    }
    let (Some(certificate), Some(key)) = (&args.admission_cert, &args.admission_key) else {
        return Err("the API server only calls webhooks by https: give --admission-cert and --admission-key".into());
    };
    if let Some(unknown) = args.admission_deny.iter().find(|name| dialect::code(name).is_none()) {
        return Err(format!("--admission-deny {unknown}: there is no such code; `chancery codes` lists them").into());
    }
    let tls = Files { certificate: certificate.clone(), key: key.clone(), client_ca: None };
    Ok(Some(Admission { address: args.admission.clone(), tls, deny: args.admission_deny.clone() }))
}

/// Runs `collect`.
pub fn collect(args: &CollectArgs, deployment: &Deployment) -> Outcome {
    let options = deployment.whole_cluster_options()?;
    let cluster = Cluster {
        kubeconfig: args.kubeconfig.clone(),
        context: args.context.clone(),
        namespace: args.namespace.clone(),
        selector: None,
        dialect: options.dialect.as_ref().map(|name| name.to_string()),
    };
    let events = Events::default();
    let settings = Settings { options: options.clone(), spacing: Duration::ZERO, recorder: None, events };
    let (build, unread) = host::collect(settings, vec![Box::new(Kube::new(cluster))], args.wait).map_err(unusable)?;
    unread.iter().for_each(|kind| message(&format!("not collected: {kind}")));
    let text = Snapshot::new(&build.compilation, &options, &[], false).write();
    let objects = build.compilation.objects.iter().count();
    match &args.out {
        Some(path) if path.as_os_str() != "-" => {
            Sink::file(path)?.write([text.as_str(), "\n"])?;
            message(&format!("{} written to {}; keys and passwords are replaced by stand-ins", count(objects, "object"), path.display()));
        }
        _ => print(&(text + "\n"))?,
    }
    Ok(0)
}

/// Runs `bootstrap`.
pub fn bootstrap(args: &BootstrapArgs) -> Outcome {
    let bootstrap = Bootstrap {
        xds: args.xds.clone(),
        node_id: args.node_id.clone(),
        node_cluster: args.node_cluster.clone(),
        admin: args.admin.clone(),
        delta: args.protocol.is_delta(),
        tls_ca: args.tls_ca.clone(),
        tls_cert: args.tls_cert.clone(),
        tls_key: args.tls_key.clone(),
    };
    print_json(&bootstrap.json().map_err(unusable)?)?;
    Ok(0)
}

/// Runs `manifests`.
pub fn manifests(args: &ManifestsArgs, deployment: &Deployment) -> Outcome {
    let usual = Install::default();
    let install = Install {
        namespace: args.into.clone(),
        dialect: deployment.whole_cluster_options()?.dialect.map(|name| name.to_string()),
        only_namespace: args.namespace.clone(),
        image: args.image.clone().unwrap_or(usual.image),
        replicas: args.replicas,
        write_status: args.write_status,
        write_objects: args.write_objects,
        tls_secret: args.tls_secret.clone(),
        admission: args.admission,
        azure: args.gateway_id.as_ref().map(|gateway| OnAzure {
            gateway: gateway.to_string(),
            apply: args.apply,
            client: args.azure_client_id.clone(),
        }),
    };
    print(&install.manifests())?;
    Ok(0)
}

/// The settings, the sources of inputs, and the Application Gateway to compare them with.
type Prepared = (Settings, Vec<Box<dyn Source>>, Option<Arc<Reader>>);

/// The folder of the last good files: `named` or the user's folder for state, unless it is `off`.
fn state_folder(named: Option<&Path>) -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    match named {
        Some(named) => Some(named.to_owned()).filter(|named| named.as_os_str() != "off"),
        None => {
            let base = variable("XDG_STATE_HOME").filter(|base| base.is_absolute());
            let base = base.or_else(|| variable("HOME").filter(|home| home.is_absolute()).map(|home| home.join(".local/state")));
            base.map(|base| base.join("chancery"))
        }
    }
}

fn prepare(args: &LiveArgs, deployment: &Deployment, reading: Reading) -> Result<Prepared, Unusable> {
    let mut sources: Vec<Box<dyn Source>> = Vec::new();
    let mut options = deployment.whole_cluster_options()?;
    let asked = options.dialect.as_ref().and_then(|name| Dialect::named(name, dialect::ALL));
    let reading = Reading { excludes: deployment.excludes()?, asked, ..reading };
    for path in &args.paths {
        if path.as_os_str() == "-" {
            sources.push(Box::new(Stream::new(std::io::stdin())));
        } else {
            sources.push(Box::new(Folder::new(path.clone(), reading.clone())));
        }
    }
    if args.kube {
        sources.push(Box::new(Kube::new(Cluster { dialect: options.dialect.as_ref().map(|name| name.to_string()), ..cluster(args) })));
    }
    if let Some(address) = &args.consul {
        sources.push(Box::new(Consul::new(consul(args, address))));
    }
    if let Some(path) = &args.replay {
        sources.push(Box::new(Replay::new(path.clone(), args.speed)));
    }
    if sources.is_empty() {
        return Err("there is nothing to watch: name files or folders, give --kube for a cluster, --consul for a Consul agent, or `-` for watch events on standard input".into());
    }
    let gateway = azure::gateway(&args.azure, &mut options)?;
    if let Some(reader) = &gateway {
        sources.push(Box::new(Azure { reader: reader.clone(), reconcile: azure::reconcile(&options) }));
    }
    let recorder = args.record.as_deref().map(Recorder::new).transpose().map_err(unusable)?;
    let events = Events::default();
    log::start(args.log_format.into(), &args.log_level, &events).map_err(unusable)?;
    let settings = Settings { options, spacing: args.spacing, recorder, events };
    Ok((settings, sources, gateway))
}

/// Returns the Consul agent that the flags name.
fn consul(args: &LiveArgs, address: &str) -> Agent {
    Agent {
        address: Some(address.to_owned()).filter(|address| !address.is_empty()),
        token_file: args.consul_token_file.clone(),
        ca_file: args.consul_ca_file.clone(),
        client_cert: args.consul_client_cert.clone(),
        client_key: args.consul_client_key.clone(),
        server_name: args.consul_tls_server_name.clone(),
        datacenter: args.consul_datacenter.clone(),
    }
}

/// Returns the cluster that the flags name.
fn cluster(args: &LiveArgs) -> Cluster {
    Cluster {
        kubeconfig: args.kubeconfig.clone(),
        context: args.context.clone(),
        namespace: args.namespace.clone(),
        selector: args.selector.clone(),
        dialect: None,
    }
}

/// Writes events to standard output, until the reader closes it.
fn show(json: bool, style: &Style) -> Show {
    let style = style.clone();
    Box::new(move |dated: &Dated| {
        let text = if json { to_json(&dated.event, false).unwrap_or_default() } else { human::event(dated, &style) };
        let text = shown(&text);
        let mut out = std::io::stdout().lock();
        text.is_empty() || (writeln!(out, "{text}").is_ok() && out.flush().is_ok())
    })
}
