//! Lists the parts that a comparison leaves out, because one side does not report them.
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The parts that were left out of a comparison, by name.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Uncompared {
    /// Certificates that the source only names and the running Envoy has inline, such as certificates from Consul.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub certificates: Vec<String>,
    /// Clusters whose endpoints one side does not report.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<String>,
}

impl Uncompared {
    /// Whether everything was compared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.certificates.is_empty() && self.endpoints.is_empty()
    }

    /// Adds the parts that another comparison left out.
    pub fn add(&mut self, other: Self) {
        for (all, more) in [(&mut self.certificates, other.certificates), (&mut self.endpoints, other.endpoints)] {
            all.extend(more);
            all.sort();
            all.dedup();
        }
    }

    /// Describes the parts in sentences.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let certificates = named(&self.certificates).map(|names| format!("Not compared: certificates that the source only names ({names})."));
        let endpoints = named(&self.endpoints).map(|names| {
            format!("Not compared: endpoints of clusters that are missing on one side ({names}); `/config_dump?include_eds` contains them.")
        });
        certificates.into_iter().chain(endpoints).collect()
    }
}

/// Lists names for a sentence, and shortens a long list.
fn named(all: &[String]) -> Option<String> {
    const MOST: usize = 5;
    let names = all.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
    match all.len().checked_sub(MOST) {
        None | Some(0) => (!all.is_empty()).then_some(names),
        Some(more) => Some(format!("{names} and {more} more")),
    }
}
