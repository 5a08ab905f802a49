//! Writes the filter that puts a credential into requests, and its secret.

use super::proto::{config_source, copied, extension, message};
use super::tls::generic_secret;
use crate::model::CredentialInjection;
use alloc::format;
use alloc::string::String;
use chancery_base::ir::Tree;

/// The name of the filter.
pub(crate) fn filter_name(of: &CredentialInjection) -> String {
    format!("envoy.filters.http.credential_injector/{}", of.name)
}

fn secret_name(of: &CredentialInjection) -> String {
    format!("credential_injector/credential/{}", of.name)
}

/// The filter.
pub(crate) fn filter(of: &CredentialInjection) -> Tree {
    let credential = message! {
        "credential": message! { "name": secret_name(of), "sds_config": config_source() }.or_from(of.credential.origin),
        "header": copied(&of.header),
    };
    let kind = "envoy.extensions.http.injected_credentials.generic.v3.Generic";
    let config = message! { "credential": extension("envoy.http.injected_credentials.generic", kind, credential), "overwrite": of.overwrite.clone() };
    extension(&filter_name(of), "envoy.extensions.filters.http.credential_injector.v3.CredentialInjector", config).or_from(of.origin)
}

/// The secret that holds the credential.
pub(crate) fn secret(of: &CredentialInjection) -> Tree {
    generic_secret(&secret_name(of), &of.credential)
}
