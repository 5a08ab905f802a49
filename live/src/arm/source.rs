//! Reads the gateway from Azure, as a source. The gateway is an option of the compile, not an input.
//!
//! The source reads the gateway at the start, and at intervals if reconciling is on. The applier also reads it, around
//! each change.

use super::client::Client;
use super::id::GatewayId;
use super::trouble::{Kind, Trouble};
use crate::Failure;
use crate::event::SourceState;
use crate::lock;
use crate::sources::{Outlet, Source};
use crate::worker::intake::Intake;
use chancery_core::compilation::{OptionValue, Options};
use chancery_core::dialect::ingress::options::{EXISTING_GATEWAY, GET_ERROR, PUBLIC_IPS};
use chancery_core::explain::with_stand_ins;
use chancery_core::resource::Inputs;
use chancery_core::text::Str;
use serde_json::Value;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The failed attempts after which the gateway is reported as unreadable (AGIC: 3).
const ATTEMPTS: u32 = 3;

/// Reads one gateway.
#[derive(Debug)]
pub struct Reader {
    pub client: Client,
    pub id: GatewayId,
    /// Public addresses by the ids of their resources. They do not change.
    addresses: Mutex<BTreeMap<String, String>>,
}

/// A gateway that was read.
#[derive(Clone, Debug, Default)]
pub struct Present {
    document: Value,
    addresses: BTreeMap<String, String>,
    /// The reason why a public address is unknown.
    problem: Option<String>,
}

impl Reader {
    /// Creates a reader of this gateway.
    #[must_use]
    pub fn new(client: Client, id: GatewayId) -> Self {
        Self { client, id, addresses: Mutex::default() }
    }

    /// Reads the gateway.
    ///
    /// # Errors
    ///
    /// The gateway cannot be read.
    pub async fn read(&self) -> Result<Present, Trouble> {
        Ok(self.with_addresses(self.client.gateway(&self.id).await?).await)
    }

    /// Adds the addresses that a document refers to.
    pub async fn with_addresses(&self, document: Value) -> Present {
        let frontends = document["properties"]["frontendIPConfigurations"].as_array().cloned().unwrap_or_default();
        let ids = frontends.iter().filter_map(|of| of["properties"]["publicIPAddress"]["id"].as_str());
        let (mut addresses, mut problem) = (BTreeMap::new(), None);
        for id in ids {
            let known = lock(&self.addresses).get(id).cloned();
            let found = match known {
                Some(known) => Ok(Some(known)),
                None => self.client.public_address(id).await,
            };
            match found {
                Ok(Some(address)) => {
                    lock(&self.addresses).insert(id.to_owned(), address.clone());
                    addresses.insert(id.to_owned(), address);
                }
                Ok(None) => problem = Some("a public address of the gateway has no number yet".to_owned()),
                Err(trouble) => problem = Some(trouble.message),
            }
        }
        Present { document, addresses, problem }
    }
}

impl Present {
    /// Returns the tag of this version of the gateway.
    #[must_use]
    pub fn etag(&self) -> Option<&str> {
        self.document["etag"].as_str()
    }

    /// Compiles inputs with this gateway from now on.
    pub fn apply_to(&self, intake: &Intake) {
        let text = |of: &dyn Fn() -> serde_json::Result<String>| of().unwrap_or_default();
        let document = text(&|| serde_json::to_string(&self.document));
        let addresses = text(&|| serde_json::to_string(&self.addresses));
        intake.set_options([(EXISTING_GATEWAY, Some(document)), (PUBLIC_IPS, Some(addresses)), (GET_ERROR, None)]);
    }

    /// Returns the problem with the gateway, if any.
    fn detail(&self) -> Option<String> {
        match self.document["properties"]["operationalState"].as_str() {
            Some("Running" | "Starting") | None => self.problem.clone(),
            Some(state) => Some(format!("the gateway is {state}: it is left alone until it runs")),
        }
    }
}

/// Returns the options for a page: of the gateway, only the parts that a page may show.
#[must_use]
pub fn shown(options: &Options) -> Options {
    let mut options = options.clone();
    if let Some(text) = options.text(EXISTING_GATEWAY) {
        let safe = with_stand_ins(&Inputs::one("gateway.json", text.as_str()));
        let text = safe.inputs.first().map(|input| Str::new(&input.text)).unwrap_or_default();
        options.insert(EXISTING_GATEWAY, OptionValue::Text(text));
    }
    options
}

/// A gateway as a source.
pub struct Azure {
    pub reader: Arc<Reader>,
    /// How often an unchanged gateway is read (`RECONCILE_PERIOD_SECONDS` of AGIC).
    pub reconcile: Option<Duration>,
}

impl Source for Azure {
    fn name(&self) -> String {
        format!("azure:{}", self.reader.id.name)
    }

    fn run(self: Box<Self>, outlet: Outlet) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>> {
        Box::pin(async move {
            let pace = *self.reader.client.pace();
            let counted = self.reader.client.metrics().clone();
            outlet.intake.metrics().add(move || counted.all());
            let (mut was_read, mut failures) = (false, 0);
            loop {
                let wait = match self.reader.read().await {
                    Ok(present) => {
                        (was_read, failures) = (true, 0);
                        present.apply_to(&outlet.intake);
                        outlet.state("ApplicationGateway", SourceState::Synced, present.detail());
                        outlet.synced();
                        self.reconcile
                    }
                    Err(trouble) => {
                        failures += 1;
                        outlet.state("ApplicationGateway", SourceState::Error, Some(trouble.message.clone()));
                        // Waiting does not fix a problem that needs the user.
                        let is_lasting = matches!(trouble.kind, Kind::Denied | Kind::Missing | Kind::Refused);
                        if is_lasting || failures >= ATTEMPTS {
                            if !was_read {
                                // An earlier answer stays.
                                outlet.intake.set_options([(GET_ERROR, Some(trouble.message.clone()))]);
                            }
                            outlet.synced();
                        }
                        Some(trouble.retry_after.unwrap_or(pace.reread))
                    }
                };
                match wait {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => std::future::pending().await,
                }
            }
        })
    }
}
