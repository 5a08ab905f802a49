//! The controller's variables: their meaning, their defaults, and the errors that keep it from starting.
//!
//! AGIC `pkg/environment/environment.go`; defaults as its Helm chart sets them.

use super::fault::{self, Fault};
use super::options::Options;
use alloc::vec::Vec;
use chancery_base::ir::appgw::Gateway;
use chancery_kubernetes::go;
use chancery_text::Str;

/// A variable that the controller reads.
#[derive(Debug)]
pub struct Variable {
    pub name: &'static str,
    pub default: &'static str,
    pub doc: &'static str,
}

const fn variable(name: &'static str, default: &'static str, doc: &'static str) -> Variable {
    Variable { name, default, doc }
}

/// The variables that affect the result.
pub static VARIABLES: &[Variable] = &[
    variable("APPGW_SUBSCRIPTION_ID", "00000000-1111-2222-3333-444444444444", "The subscription of the gateway"),
    variable("APPGW_RESOURCE_GROUP", "agic-rg", "The resource group of the gateway"),
    variable("APPGW_NAME", "agic-appgw", "The name of the gateway"),
    variable("APPGW_RESOURCE_ID", "", "The id of the gateway, instead of its name, group and subscription"),
    variable("APPGW_ENABLE_DEPLOY", "false", "Whether the controller makes the gateway"),
    variable("APPGW_SUBNET_PREFIX", "", "The subnet of a gateway that the controller makes"),
    variable("APPGW_SUBNET_ID", "", "The subnet of a gateway that the controller makes"),
    variable("APPGW_CONFIG_NAME_PREFIX", "", "What names of all parts begin with: letters, digits and `-`, at most 47"),
    variable("APPGW_ENABLE_SHARED_APPGW", "false", "Whether the gateway is shared: AzureIngressProhibitedTargets are read"),
    variable("APPGW_ENABLE_ISTIO_INTEGRATION", "false", "Whether Istio's Gateways and VirtualServices are read"),
    variable("ATTACH_WAF_POLICY_TO_LISTENER", "false", "Only written into the log"),
    variable("INGRESS_CLASS", "", "The controller's name, instead of INGRESS_CLASS_RESOURCE_CONTROLLER"),
    variable("INGRESS_CLASS_RESOURCE_ENABLED", "true", "Whether `spec.ingressClassName` counts"),
    variable("INGRESS_CLASS_RESOURCE_NAME", "azure-application-gateway", "The IngressClass"),
    variable("INGRESS_CLASS_RESOURCE_DEFAULT", "false", "Whether Ingresses without a class are its own"),
    variable("INGRESS_CLASS_RESOURCE_CONTROLLER", "azure/application-gateway", "The controller's name"),
    variable("KUBERNETES_WATCHNAMESPACE", "", "The namespaces that it watches, by comma; all unless set"),
    variable("MULTI_CLUSTER_MODE", "false", "Whether MultiClusterIngresses are read instead of Ingresses"),
    variable("RECONCILE_PERIOD_SECONDS", "", "How often the gateway is compared without an event, from 30 to 300; never unless set"),
    variable("USE_PRIVATE_IP", "false", "Whether every Ingress uses the private address"),
];

/// The values of the variables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environment {
    pub subscription: Str,
    pub resource_group: Str,
    pub gateway: Str,
    /// The prefix of all names of parts.
    pub prefix: Str,
    /// Whether the gateway is shared.
    pub shared: bool,
    /// Whether Istio's objects are read.
    pub istio: bool,
    /// The name of the controller in classes.
    pub controller: Str,
    /// Whether `spec.ingressClassName` is read.
    pub class_enabled: bool,
    /// The name of the IngressClass.
    pub class_name: Str,
    /// Whether Ingresses without a class are the controller's.
    pub class_default: bool,
    /// The watched namespaces; all if the list is empty.
    pub namespaces: Vec<Str>,
    /// Whether MultiClusterIngresses are read instead of Ingresses.
    pub multi_cluster: bool,
    /// Whether every Ingress uses the private address.
    pub private_ip: bool,
    /// Whether the gateway's document is missing, so that the parts that Ingresses name are assumed.
    pub assumes_parts: bool,
    /// Why the controller does not start.
    pub failure: Option<Fault>,
}

/// The variables with the Helm chart's defaults.
struct Variables<'a>(&'a Options);

impl<'a> Variables<'a> {
    fn text(&self, name: &str) -> &'a str {
        let default = || VARIABLES.iter().find(|known| known.name == name).map_or("", |known| known.default);
        self.0.env.get(name).map_or_else(default, Str::as_str)
    }

    /// A switch is on if it is `true`; other strings mean the program's default, which is off.
    fn switch(&self, name: &str) -> bool {
        self.text(name) == "true"
    }

    /// A truth value in any of Go's notations.
    fn bool(&self, name: &str) -> bool {
        go::parse_bool(self.text(name)).unwrap_or_default()
    }
}

impl Environment {
    pub fn read(options: &Options) -> Self {
        let variables = Variables(options);
        let text = |name: &str| Str::new(variables.text(name));
        let or = |name: &str, default: &'static str| match variables.text(name) {
            "" => Str::new_static(default),
            text => Str::new(text),
        };
        let mut environment = Self {
            subscription: text("APPGW_SUBSCRIPTION_ID"),
            resource_group: text("APPGW_RESOURCE_GROUP"),
            gateway: text("APPGW_NAME"),
            prefix: Str::new(Some(variables.text("APPGW_CONFIG_NAME_PREFIX")).filter(|prefix| is_prefix(prefix)).unwrap_or_default()),
            shared: variables.switch("APPGW_ENABLE_SHARED_APPGW"),
            istio: variables.switch("APPGW_ENABLE_ISTIO_INTEGRATION"),
            controller: or("INGRESS_CLASS_RESOURCE_CONTROLLER", "azure/application-gateway"),
            class_enabled: variables.switch("INGRESS_CLASS_RESOURCE_ENABLED"),
            class_name: or("INGRESS_CLASS_RESOURCE_NAME", "azure-application-gateway"),
            class_default: variables.switch("INGRESS_CLASS_RESOURCE_DEFAULT"),
            namespaces: namespaces(variables.text("KUBERNETES_WATCHNAMESPACE")),
            multi_cluster: variables.bool("MULTI_CLUSTER_MODE"),
            private_ip: variables.bool("USE_PRIVATE_IP"),
            assumes_parts: options.assumes_parts,
            failure: validate(&variables).err(),
        };
        if !variables.text("INGRESS_CLASS").is_empty() {
            environment.controller = text("INGRESS_CLASS");
        }
        if !variables.text("APPGW_RESOURCE_ID").is_empty() {
            (environment.subscription, environment.resource_group, environment.gateway) = of_resource_id(variables.text("APPGW_RESOURCE_ID"));
        }
        environment
    }

    /// Completes the variables with values from the current gateway.
    pub fn for_gateway(mut self, options: &Options, gateway: &Gateway) -> Self {
        let (subscription, group, name) = gateway.id.as_ref().map(|id| of_resource_id(id.as_str())).unwrap_or_default();
        let has = |variable: &str| options.env.contains_key(variable);
        if name.is_empty() || options.env.get("APPGW_RESOURCE_ID").is_some_and(|id| !id.is_empty()) {
            return self;
        }
        if !has("APPGW_SUBSCRIPTION_ID") {
            self.subscription = subscription;
        }
        if !has("APPGW_RESOURCE_GROUP") {
            self.resource_group = group;
        }
        if !has("APPGW_NAME") {
            self.gateway = name;
        }
        self
    }

    /// Whether it watches a namespace.
    pub fn watches(&self, namespace: &str) -> bool {
        self.namespaces.is_empty() || self.namespaces.iter().any(|watched| watched == namespace)
    }
}

fn is_prefix(text: &str) -> bool {
    text.len() <= 47 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn namespaces(text: &str) -> Vec<Str> {
    match text {
        "" => Vec::new(),
        list if list.contains(',') => list.split(',').filter(|name| !name.is_empty()).map(|name| Str::new(name.trim())).collect(),
        one => Vec::from([Str::new(one)]),
    }
}

/// Returns subscription, group and name from the id of a resource; empty if the id is too short.
pub fn of_resource_id(id: &str) -> (Str, Str, Str) {
    let steps: Vec<&str> = id.split('/').collect();
    match (steps.len() >= 9, steps.get(2), steps.get(4), steps.get(8)) {
        (true, Some(subscription), Some(group), Some(name)) => (Str::new(subscription), Str::new(group), Str::new(name)),
        _ => Default::default(),
    }
}

fn validate(variables: &Variables<'_>) -> Result<(), Fault> {
    let is_empty = |name: &str| variables.text(name).is_empty();
    if variables.switch("APPGW_ENABLE_DEPLOY") {
        if !is_empty("APPGW_RESOURCE_ID") {
            return Err(fault::resource_id_not_allowed());
        }
        if is_empty("APPGW_NAME") {
            return Err(fault::missing_name_to_deploy());
        }
        if is_empty("APPGW_SUBNET_ID") && is_empty("APPGW_SUBNET_PREFIX") {
            return Err(fault::missing_subnet());
        }
    } else if is_empty("APPGW_NAME") && is_empty("APPGW_RESOURCE_ID") {
        return Err(fault::missing_name());
    }
    match variables.text("RECONCILE_PERIOD_SECONDS") {
        "" => Ok(()),
        text => match go::atoi(text) {
            Ok(30..=300) => Ok(()),
            Ok(_) => Err(fault::reconcile_period(None)),
            Err(why) => Err(fault::reconcile_period(Some(why.into()))),
        },
    }
}

#[cfg(test)]
mod tests;
