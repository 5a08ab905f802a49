//! Models circuit breakers, and their part of a cluster's name.
//!
//! Source of the behaviour: Emissary `python/ambassador/ir/irbasemapping.py`, `ir/ircluster.py`.

use crate::spec;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::Sourced;
use chancery_text::Str;

/// Circuit breakers with their parts of a cluster's name.
pub type Breakers = Sourced<Vec<Sourced<NamedBreaker>>>;

/// Circuit breaker thresholds and their part of a cluster's name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedBreaker {
    /// The written values.
    pub spec: spec::CircuitBreaker,
    /// E.g. `cbdc10r20`.
    pub name: Str,
}

/// Circuit breakers with names; `None` if a priority is invalid.
pub fn named_breakers(breakers: &[Sourced<spec::CircuitBreaker>]) -> Option<Vec<Sourced<NamedBreaker>>> {
    breakers
        .iter()
        .map(|breaker| {
            let spec = &breaker.value;
            let mut name = String::from("cb");
            match &spec.priority {
                None => name.push('n'),
                Some(priority) if priority.value.eq_ignore_ascii_case("default") => name.push('d'),
                Some(priority) if priority.value.eq_ignore_ascii_case("high") => name.push('h'),
                Some(_) => return None,
            }
            let fields = [('c', &spec.max_connections), ('p', &spec.max_pending_requests), ('r', &spec.max_requests), ('t', &spec.max_retries)];
            for (letter, value) in fields {
                if let Some(value) = value {
                    name.push_str(&format!("{letter}{}", value.value));
                }
            }
            Some(Sourced::new(NamedBreaker { spec: spec.clone(), name: name.into() }, breaker.origin))
        })
        .collect()
}
