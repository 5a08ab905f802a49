//! The Application Gateway in Azure: converts flags and the environment to credentials and a gateway id.
//!
//! Does not send requests; see `chancery_live`.

use crate::Unusable;
use crate::args::AzureArgs;
use chancery_core::compilation::Options;
use chancery_core::dialect;
use chancery_core::dialect::ingress::options::{ENV, EXISTING_GATEWAY};
use chancery_live::arm::Pace;
use chancery_live::arm::client::{self, Client};
use chancery_live::arm::credentials::{Credentials, Login};
use chancery_live::arm::source::Reader;
use std::sync::Arc;
use std::time::Duration;

/// Where to log in unless said otherwise.
const LOGIN: &str = "https://login.microsoftonline.com";
/// The controller's variable with the id of the gateway.
const RESOURCE_ID: &str = "APPGW_RESOURCE_ID";

/// Returns the reader of the named gateway, if any. Inputs are compiled for this gateway.
pub fn gateway(args: &AzureArgs, options: &mut Options) -> Result<Option<Arc<Reader>>, Unusable> {
    let Some(id) = &args.gateway_id else { return Ok(None) };
    if options.text(EXISTING_GATEWAY).is_some() {
        return Err("the gateway is read from Azure by --gateway-id, or from a file by --existing-gateway: give one of them".into());
    }
    if options.map(ENV).and_then(|env| env.get(RESOURCE_ID)).is_none() {
        options.set(ENV, &format!("{RESOURCE_ID}={id}"), dialect::ALL).map_err(|error| Unusable(error.to_string()))?;
    }
    let variable = |name: &str| std::env::var(name).ok();
    let login = args.login_endpoint.clone().or_else(|| variable("AZURE_AUTHORITY_HOST")).unwrap_or_else(|| LOGIN.into());
    client::check(&login).map_err(|why| Unusable(format!("--login-endpoint: {why}")))?;
    let credentials = Credentials::of_environment(variable).map_err(Unusable)?;
    let login = Login::new(credentials, &login, &args.arm_endpoint);
    let client = Client::new(&args.arm_endpoint, login, Pace::default()).map_err(|why| Unusable(format!("--arm-endpoint: {why}")))?;
    Ok(Some(Arc::new(Reader::new(client, id.clone()))))
}

/// How often the gateway is read although nothing has changed; wrong values are reported by the compile.
pub fn reconcile(options: &Options) -> Option<Duration> {
    let seconds = options.map(ENV)?.get("RECONCILE_PERIOD_SECONDS")?.parse().ok().filter(|seconds| (30..=300).contains(seconds))?;
    Some(Duration::from_secs(seconds))
}
