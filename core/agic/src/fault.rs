//! The controller's error messages, verbatim: users search for them in its log and in events.
//!
//! AGIC `pkg/controllererrors`.

use alloc::format;
use alloc::string::String;

/// An error of the controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    code: &'static str,
    message: String,
    inner: Option<String>,
}

impl Fault {
    /// An error with a code.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), inner: None }
    }

    /// An error caused by another one.
    pub fn after(code: &'static str, message: impl Into<String>, inner: impl Into<String>) -> Self {
        Self { code, message: message.into(), inner: Some(inner.into()) }
    }

    /// The form in events.
    pub fn text(&self) -> String {
        match &self.inner {
            Some(inner) => format!("Code=\"{}\" Message=\"{}\" InnerError=\"{inner}\"", self.code, self.message),
            None => format!("Code=\"{}\" Message=\"{}\"", self.code, self.message),
        }
    }
}

pub(super) fn invalid_annotation(name: &str, value: &str) -> Fault {
    Fault::new("ErrorInvalidContent", format!("annotation {name} does not contain a valid value ({value})"))
}

pub(super) fn service_not_found(service: &str) -> Fault {
    Fault::new("ErrorServiceNotFound", format!("Service not found {service}"))
}

pub(super) fn no_port_matched(service: &str) -> Fault {
    Fault::new("ErrorUnableToResolveBackendPortFromServicePort", format!("No port matched {service}"))
}

pub(super) fn several_ports(service: &str, port: &str, smallest: i64, found: &str) -> Fault {
    let message = format!(
        "service {service} and service port {port} has more than one service-backend port binding which is not an ideal scenario, choosing the \
         smallest service-backend port {smallest}. Ports found {found}."
    );
    Fault::new("ErrorMultipleServiceBackendPortBinding", message)
}

pub(super) fn invalid_port(service: &str, port: &str, resolved: i64) -> Fault {
    let message =
        format!("service {service} and service port {port} was resolved to an invalid service-backend port {resolved}, defaulting to port 80");
    Fault::new("ErrorServiceResolvedToInvalidPort", message)
}

pub(super) fn endpoints_not_found(service: &str) -> Fault {
    Fault::new("ErrorFetchingEndpoints", format!("Endpoint not found for {service}"))
}

pub(super) fn multi_cluster_service_not_found(service: &str) -> Fault {
    Fault::new("ErrorFetchingMultiClusterService", format!("MultiCluster service not found for {service}"))
}

pub(super) fn no_defaults(path_map: &str) -> Fault {
    Fault::new("ErrorNoDefaults", format!("URL path map '{path_map}' needs either a default backend pool or default redirect"))
}

pub(super) fn either_defaults(path_map: &str) -> Fault {
    Fault::new("ErrorEitherDefaults", format!("URL path map '{path_map}' needs only one of default backend pool or default redirect"))
}

pub(super) fn path_rule_target(rule: &str, has_none: bool) -> Fault {
    let code = if has_none { "ErrorNoBackendorRedirect" } else { "ErrorEitherBackendorRedirect" };
    Fault::new(code, format!("Path Rule '{rule}' needs either a default backend pool or default redirect"))
}

pub(super) fn gateway_not_fetched(gateway: &str, error: &str) -> Fault {
    let message = format!("unable to get specified AppGateway [{gateway}], check AppGateway identifier");
    Fault::after("ErrorFetchingAppGatewayConfig", message, error)
}

pub(super) fn resource_id_not_allowed() -> Fault {
    Fault::new(
        "ErrorNotAllowedApplicationGatewayID",
        "Please provide provide APPGW_NAME (helm var name: .appgw.name) instead of APPGW_RESOURCE_ID (helm var name: \
         .appgw.applicationGatewayID). You can also provided APPGW_SUBSCRIPTION_ID and APPGW_RESOURCE_GROUP",
    )
}

pub(super) fn missing_name_to_deploy() -> Fault {
    Fault::new(
        "ErrorMissingApplicationGatewayName",
        "Missing required Environment variables: AGIC requires APPGW_NAME (helm var name: appgw.name) to deploy Application Gateway",
    )
}

pub(super) fn missing_subnet() -> Fault {
    Fault::new(
        "ErrorMissingSubnetInfo",
        "Missing required Environment variables: AGIC requires APPGW_SUBNET_PREFIX (helm var name: appgw.subnetPrefix) or APPGW_SUBNET_ID \
         (helm var name: appgw.subnetID) of an existing subnet. If subnetPrefix is specified, AGIC will look up a subnet with matching address \
         prefix in the AKS cluster vnet. If a subnet is not found, then a new subnet will be created. This will be used to deploy the \
         Application Gateway",
    )
}

pub(super) fn missing_name() -> Fault {
    Fault::new(
        "ErrorMissingApplicationGatewayNameOrApplicationGatewayID",
        "Missing required Environment variables: Provide atleast provide APPGW_NAME (helm var name: .appgw.name) or APPGW_RESOURCE_ID (helm var \
         name: .appgw.applicationGatewayID). If providing APPGW_NAME, You can also provided APPGW_SUBSCRIPTION_ID (helm var name: \
         .appgw.subscriptionId) and APPGW_RESOURCE_GROUP (helm var name: .appgw.resourceGroup)",
    )
}

pub(super) fn reconcile_period(inner: Option<String>) -> Fault {
    let message = "Please make sure that RECONCILE_PERIOD_SECONDS (helm var name: .reconcilePeriodSeconds) is an integer. Range: (30 - 300)".into();
    Fault { code: "ErrorInvalidReconcilePeriod", message, inner }
}
