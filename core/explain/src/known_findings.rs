//! Identifies findings without their places, so that findings of an earlier input are recognised after lines and files changed.
//!
//! Does not create findings; see `finding`.

use crate::Finding;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};

/// Code, object, field and message.
type Identity = (&'static str, String, String, String);

fn identity(of: &Finding) -> Identity {
    let object = of.object.as_ref().or(of.resource.as_ref()).map(ToString::to_string);
    (of.code, object.unwrap_or_default(), of.path.clone().unwrap_or_default(), of.message.clone())
}

/// The findings of an earlier input, each as often as it had it.
#[derive(Clone, Debug, Default)]
pub struct KnownFindings(BTreeMap<Identity, usize>);

impl KnownFindings {
    #[must_use]
    pub fn of(findings: &[Finding]) -> Self {
        let mut known: BTreeMap<Identity, usize> = BTreeMap::new();
        findings.iter().for_each(|finding| *known.entry(identity(finding)).or_default() += 1);
        Self(known)
    }

    /// Whether the earlier input had a finding. Each of its findings is recognised once.
    pub fn is_known(&mut self, finding: &Finding) -> bool {
        match self.0.get_mut(&identity(finding)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }
}
