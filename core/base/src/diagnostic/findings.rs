//! Collects findings during a compile, and proves that a failure was reported.
//!
//! A function that fails for a reported reason returns `Result<T, Reported>`. Only [`Findings::report`] and its variants create a [`Reported`], so
//! nothing can be dropped without a finding.

use super::Diagnostic;
use alloc::vec::Vec;
use core::ops::Deref;
use hashbrown::HashSet;

/// Proof that a finding was reported. Only the lists of this module create it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported(());

/// Findings in the order in which they were reported.
///
/// ```
/// use chancery_base::diagnostic::{Diagnostic, Findings, Place, Reported, codes};
///
/// fn port(text: &str, findings: &mut Findings) -> Result<u16, Reported> {
///     text.parse().map_err(|_| findings.report(Diagnostic::new(&codes::INVALID_VALUE, "this is not a port", Place::Whole)))
/// }
///
/// let mut findings = Findings::default();
/// assert_eq!(port("8080", &mut findings), Ok(8080));
/// assert!(port("http", &mut findings).is_err() && findings.len() == 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings(Vec<Diagnostic>);

impl Findings {
    pub fn report(&mut self, finding: Diagnostic) -> Reported {
        self.0.push(finding);
        Reported(())
    }

    /// Whether anything was reported after the first `before` findings.
    pub fn since(&self, before: usize) -> Result<(), Reported> {
        if self.0.len() > before { Err(Reported(())) } else { Ok(()) }
    }

    pub fn append(&mut self, other: &mut Self) {
        self.0.append(&mut other.0);
    }

    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.0
    }
}

impl Deref for Findings {
    type Target = [Diagnostic];

    fn deref(&self) -> &[Diagnostic] {
        &self.0
    }
}

impl Extend<Diagnostic> for Findings {
    fn extend<T: IntoIterator<Item = Diagnostic>>(&mut self, findings: T) {
        self.0.extend(findings);
    }
}

impl FromIterator<Diagnostic> for Findings {
    fn from_iter<T: IntoIterator<Item = Diagnostic>>(findings: T) -> Self {
        Self(findings.into_iter().collect())
    }
}

impl IntoIterator for Findings {
    type Item = Diagnostic;
    type IntoIter = alloc::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Findings {
    type Item = &'a Diagnostic;
    type IntoIter = core::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// A list that keeps each finding once, however often it is reported.
#[derive(Debug, Default)]
pub struct DistinctFindings {
    findings: Findings,
    fingerprints: HashSet<u64>,
    reports: usize,
}

impl DistinctFindings {
    /// Adds a finding unless an equal one was reported before.
    pub fn report(&mut self, finding: Diagnostic) -> Reported {
        self.reports += 1;
        if self.fingerprints.insert(finding.fingerprint()) {
            self.findings.0.push(finding);
        }
        Reported(())
    }

    /// Moves all findings of another list to this one.
    pub fn append(&mut self, other: &mut Findings) {
        for finding in core::mem::take(other) {
            self.report(finding);
        }
    }

    /// The number of reports, including duplicates. If it changes during a step, the step reported something.
    pub fn reports(&self) -> usize {
        self.reports
    }

    /// Takes the findings so far. Equal findings are still not reported again.
    pub fn take(&mut self) -> Findings {
        core::mem::take(&mut self.findings)
    }
}

/// Errors that become findings later, for instance the conditions of an object's status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending<T>(Vec<T>);

impl<T> Default for Pending<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Pending<T> {
    /// Adds an error; the owner of the list reports it.
    pub fn report(&mut self, error: T) -> Reported {
        self.0.push(error);
        Reported(())
    }
}

impl<T> Deref for Pending<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<'a, T> IntoIterator for &'a Pending<T> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
