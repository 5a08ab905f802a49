//! The results of a request in the words that all controllers share. Does not answer requests; see `chancery_explain::answers`.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::compilation::Compilation;
use chancery_envoy::simulate::{Request, host_of, percent};
use chancery_explain::Positions;
use chancery_explain::answers::{AnswerEnding, AnswerTarget, Aspect, GatewayAnswer, Respondents};

/// What happens to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is sent to Services.
    Forwarded {
        /// `NAMESPACE/NAME`, with shares if there are several.
        to: String,
        /// The new path, if it changes.
        path: Option<String>,
        /// The new host, if it changes.
        host: Option<String>,
    },
    /// The client is redirected.
    Redirected { status: u32, to: String },
    /// The gateway answers itself.
    Answered(u32),
    /// Nothing answers.
    Nothing,
    /// The controller runs no gateway.
    NotRun(String),
}

impl Answer {
    pub(crate) fn words(&self) -> String {
        match self {
            Answer::Forwarded { to, path, host } => {
                let path = path.as_ref().map(|path| format!(" as {path}")).unwrap_or_default();
                let host = host.as_ref().map(|host| format!(" with host {host}")).unwrap_or_default();
                format!("goes to {to}{path}{host}")
            }
            Answer::Redirected { status, to } => format!("is redirected ({status}) to {to}"),
            Answer::Answered(status) => format!("is answered {status}"),
            Answer::Nothing => "is not answered".to_string(),
            Answer::NotRun(why) => format!("no gateway runs: {why}"),
        }
    }

    fn of(answer: &GatewayAnswer, request: &Request) -> Self {
        match answer.ending {
            AnswerEnding::Forwarded => {
                let fact = |aspect: Aspect| answer.facts.get(&aspect).map(|fact| fact.value.clone());
                let host = host_of(&request.authority);
                Answer::Forwarded {
                    to: services(&answer.targets),
                    path: fact(Aspect::UpstreamPath).filter(|path| *path != request.path),
                    host: fact(Aspect::UpstreamHost).filter(|sent| host_of(sent) != host),
                }
            }
            AnswerEnding::Redirected => redirected(answer, request),
            AnswerEnding::Answered => Answer::Answered(answer.status.unwrap_or_default()),
            AnswerEnding::NotAnswered => Answer::Nothing,
        }
    }
}

/// The gateways of a compilation, ready for requests.
pub(crate) struct Ways<'c> {
    respondents: Respondents<'c>,
    not_run: String,
}

impl<'c> Ways<'c> {
    pub(crate) fn of(compilation: &'c Compilation, positions: &'c Positions<'c>) -> Self {
        let why = compilation.stopped().next().map(|(_, _, failure)| failure.error.to_string());
        Self { respondents: Respondents::of(compilation, positions), not_run: why.unwrap_or_else(|| "nothing is sent to it".to_string()) }
    }

    /// Returns the result of each request.
    pub(crate) fn all(&self, requests: &[Request]) -> Vec<Answer> {
        if self.respondents.is_empty() {
            return requests.iter().map(|_| Answer::NotRun(self.not_run.clone())).collect();
        }
        let open = self.respondents.open();
        requests.iter().map(|request| Answer::of(&open.answer(request), request)).collect()
    }
}

/// Names the Services without their ports, with shares if there are several.
fn services(targets: &[AnswerTarget]) -> String {
    let name = |target: &AnswerTarget| {
        let name = target.names.first().map(String::as_str).unwrap_or_default();
        name.rsplit_once(':').filter(|(service, _)| service.contains('/')).map_or(name, |(service, _)| service).to_string()
    };
    match targets {
        [one] => name(one),
        several => several.iter().map(|target| format!("{} ({}%)", name(target), percent(target.percent))).collect::<Vec<_>>().join(", "),
    }
}

/// Describes a redirect; a redirect to the same URL with TLS has its own name.
fn redirected(answer: &GatewayAnswer, request: &Request) -> Answer {
    let location = answer.location.as_deref().unwrap_or_default();
    let same = format!("https://{}{}", host_of(&request.authority), request.path);
    let to = if location == same { "https".to_string() } else { location.to_string() };
    Answer::Redirected { status: answer.status.unwrap_or_default(), to }
}
