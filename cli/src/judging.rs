//! Converts flags to the policy for findings.
//!
//! Does not judge findings; see `chancery_core::check`.

use chancery_core::diagnostic::{Level, Policy, time};
use chancery_core::dialect;
use chancery_core::resource::nearest;
use clap::Args;
use std::time::{SystemTime, UNIX_EPOCH};

/// The options that change the severity of findings.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Findings")]
pub struct Judging {
    /// Set the severity of a code: error, warning, notice or off; repeatable. The annotation `chancery.dev/ignore: "CODE: REASON"` suppresses a
    /// code for one resource
    #[arg(long, value_name = "CODE=LEVEL", value_parser = severity)]
    pub severity: Vec<(&'static str, Level)>,
    /// Check certificates at this time, such as 2026-11-21 or 2026-11-21T15:30:00Z [default: now]
    #[arg(long, value_name = "TIME", value_parser = at)]
    pub at: Option<i64>,
}

fn severity(text: &str) -> Result<(&'static str, Level), String> {
    let (name, level) = text.split_once('=').ok_or("write it as CODE=LEVEL")?;
    let code = dialect::code(name).ok_or_else(|| {
        let near = nearest(name, dialect::codes().map(|code| code.name)).map(|near| format!("; did you mean `{near}`?"));
        format!("there is no code `{name}`{}", near.unwrap_or_default())
    })?;
    let known: Vec<&str> = Level::ALL.iter().map(|(name, _)| *name).collect();
    let level = Level::named(level).ok_or_else(|| format!("there is no level `{level}`, but {}", known.join(", ")))?;
    Ok((code.name, level))
}

fn at(text: &str) -> Result<i64, String> {
    time::parse(text).ok_or_else(|| "write it as 2026-11-21 or 2026-11-21T15:30:00Z".into())
}

impl Judging {
    /// Applies the flags to a snapshot's policy. The time is set only if a flag or the snapshot sets it.
    pub fn decided(&self, of_snapshot: &Policy) -> Policy {
        let mut policy = of_snapshot.clone();
        policy.at = self.at.or(policy.at);
        policy.severities.extend(self.severity.iter().map(|(code, level)| ((*code).into(), *level)));
        policy
    }

    /// Returns the policy, with the current time as the default.
    pub fn policy(&self, of_snapshot: &Policy) -> Policy {
        let mut policy = self.decided(of_snapshot);
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|since| i64::try_from(since.as_secs()).ok());
        policy.at = policy.at.or_else(now);
        policy
    }
}
