//! Simulates Lua filters. Scripts of controllers are recognised by their text; other scripts become a condition if they may answer. ScriptEffect not
//! interpret Lua.

use super::{Stage, Verdict};
use crate::emit::pb;
use crate::simulate::action::inline;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use pb::base::DataSource;
use pb::hcm::HttpFilter;
use pb::http_filter::lua::v3::{Lua, LuaPerRoute, lua_per_route::Override};

/// The effect of a controller's script.
#[derive(Clone, Copy)]
enum ScriptEffect {
    /// Contour: a request for another host than the server name of the handshake is answered with 421.
    AnswersMisdirected,
    /// Emissary: with an unusable AuthService, every request is answered with 500, except its own checks.
    AnswersForAuthService,
}

/// Scripts without white space and comments; `*` is any text.
const KNOWN: &[(&str, ScriptEffect)] = &[
    (
        "functionenvoy_on_request(request_handle)localheaders=request_handle:headers()localhost=string.lower(headers:get(\":authority\"))\
         localtarget=request_handle:streamInfo():requestedServerName()s,e=string.find(host,\":\",1,true)ifs~=nilthenhost=string.sub(host,1,s-1)end\
         ifhost~=targetthenrequest_handle:respond({[\":status\"]=\"421\"},*)endend",
        ScriptEffect::AnswersMisdirected,
    ),
    (
        "functionenvoy_on_request(request_handle)localpath=request_handle:headers():get(':path')ifpath=='/ambassador/v0/check_alive'or\
         path=='/ambassador/v0/check_ready'thenreturnendrequest_handle:respond({[\":status\"]=\"500\",*},*)end",
        ScriptEffect::AnswersForAuthService,
    ),
];

pub(super) fn lua(filter: &HttpFilter, of: &Lua, stage: &Stage<'_, '_>) -> Verdict {
    let per_route = stage.scopes.first::<LuaPerRoute>(&filter.name).and_then(|of| of.r#override.as_ref());
    let default = || of.default_source_code.as_ref().map(text).or_else(|| Some(Some(of.inline_code.clone())).filter(|_| !of.inline_code.is_empty()));
    let script = match per_route {
        Some(Override::Disabled(true)) => return Verdict::passes("runs no script: the route disables it"),
        Some(Override::Name(name)) => of.source_codes.get(name).map(text),
        Some(Override::SourceCode(source)) => Some(text(source)),
        Some(Override::Disabled(false)) | None => default(),
    };
    let Some(script) = script else { return Verdict::passes("runs no script for this route") };
    let Some(script) = script else {
        return Verdict::asks(filter, "a Lua script that is not known lets it pass", None);
    };
    let packed = packed(&script);
    match KNOWN.iter().find(|(pattern, _)| fits(&packed, pattern)) {
        Some((_, ScriptEffect::AnswersMisdirected)) => misdirected(stage),
        Some((_, ScriptEffect::AnswersForAuthService)) => misconfigured(&script, stage),
        None if !packed.contains("envoy_on_request") => Verdict::passes("runs a Lua script on responses"),
        None if packed.contains(":respond(") => Verdict::asks(filter, "a Lua script, which is not simulated, lets it pass", None),
        None => Verdict::Changes(format!("{} runs a Lua script, which may change the request and is not simulated", filter.name)),
    }
}

/// Returns a script that the configuration contains.
fn text(source: &DataSource) -> Option<String> {
    inline(source)
}

fn misdirected(stage: &Stage<'_, '_>) -> Verdict {
    let authority = stage.prepared.authority.to_ascii_lowercase();
    let host = authority.split(':').next().unwrap_or_default();
    let named = stage.request.sni.as_deref().filter(|_| stage.request.tls).unwrap_or_default().to_ascii_lowercase();
    if host == named {
        return Verdict::passes("answers 421 if the host of the request differs from the SNI of the TLS handshake");
    }
    let named = if named.is_empty() { "no server".to_owned() } else { named };
    Verdict::answers(421, format!("the request is for {host}, and the SNI was {named}: it is misdirected"))
}

fn misconfigured(script: &str, stage: &Stage<'_, '_>) -> Verdict {
    if matches!(stage.prepared.path.as_str(), "/ambassador/v0/check_alive" | "/ambassador/v0/check_ready") {
        return Verdict::passes("answers 500 to all but the controller's own checks");
    }
    let name = script.split_once("\"message\": \"the ").and_then(|(_, rest)| rest.split_once(" AuthService")).map(|(name, _)| name);
    let name = name.filter(|name| name.len() < 300).unwrap_or("an");
    Verdict::answers(500, format!("the AuthService {name} is misconfigured, so every request is rejected instead of passing unchecked"))
}

/// Removes white space and comments.
fn packed(script: &str) -> String {
    let lines = script.lines().map(|line| line.split_once("--").map_or(line, |(code, _)| code));
    lines.flat_map(str::chars).filter(|c| !c.is_whitespace()).collect()
}

/// Whether a text matches a pattern in which `*` is any text.
fn fits(text: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}
