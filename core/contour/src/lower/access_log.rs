//! Lowers access logs (Contour `internal/envoy/v3/accesslog.go`, `apis/projectcontour/v1alpha1/accesslog.go`). Does not validate formats; see
//! `settings::access_log`.

use super::{Lowering, setting, setting_origin};
use crate::settings::access_log::{DEFAULT_JSON_FIELDS, JSON_FIELDS};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::ir::{AccessLog, AccessLogFilter, AccessLogFormat, AccessLogSink, FileAccessLog, Formatter, Json};
use chancery_base::resource::Sourced;
use chancery_text::Str;

impl Lowering<'_> {
    /// The access logs of a listener; `path` is the path of its settings.
    pub(super) fn access_logs(&self, path: &str) -> Vec<Sourced<AccessLog>> {
        let level = self.at("envoy.logging.accessLogLevel");
        let failures = |status: u32| {
            let filter = AccessLogFilter::Failures { status, runtime_key: "contour.accesslog.filter.status_code".into() };
            Some(setting(filter, level))
        };
        let filter = match level.str() {
            "disabled" => return Vec::new(),
            "error" => failures(300),
            "critical" => failures(500),
            _ => None,
        };
        let at = self.at(path).field("accessLog");
        let path = at.text().map_or_else(|| Sourced::built_in(Str::new_static("/dev/stdout")), |path| setting(path.value, at));
        let origin = path.origin;
        let kind = self.at("envoy.logging.accessLogFormat");
        let file = if kind.str() == "json" {
            let fields = self.json_fields();
            let chosen = self.at("envoy.logging.accessLogJSONFields");
            // Only chosen fields are searched for commands: the defaults need no extension.
            let formatters = formatters(fields.values().map(|text| text.as_str()));
            let fields: Vec<(Str, Json)> = fields.into_iter().map(|(name, command)| (name, Json::String(command))).collect();
            let written = if chosen.exists() { chosen } else { kind };
            let formatters = formatters.into_iter().map(|of| setting(of, written)).collect();
            FileAccessLog { path, format: Some(setting(AccessLogFormat::Json(fields), written)), omit_empty: true, formatters }
        } else {
            let written = self.at("envoy.logging.accessLogFormatString");
            let format = written.text().map(|line| setting(AccessLogFormat::Text(line.value), written));
            let formatters = formatters([written.str()].into_iter()).into_iter().filter(|_| kind.str() == "envoy");
            FileAccessLog { path, format, omit_empty: false, formatters: formatters.map(|of| setting(of, written)).collect() }
        };
        let log = AccessLog { name: "envoy.access_loggers.file".into(), filter, sink: AccessLogSink::File(file) };
        vec![Sourced::new(log, origin.or_else(|| Some(setting_origin(kind))))]
    }

    /// Members and their commands: `name`, or `name=command`.
    fn json_fields(&self) -> BTreeMap<Str, Str> {
        let chosen = self.at("envoy.logging.accessLogJSONFields");
        let field = |text: &str| match text.split_once('=') {
            Some((name, command)) => (Str::new(name), Str::new(command)),
            None => {
                let known = JSON_FIELDS.iter().find(|(name, _)| *name == text);
                (Str::new(text), known.map_or_else(|| format!("%{}%", text.to_uppercase()).into(), |(_, command)| Str::new_static(command)))
            }
        };
        if chosen.exists() {
            chosen.items().map(|item| field(item.str())).collect()
        } else {
            DEFAULT_JSON_FIELDS.iter().map(|name| field(name)).collect()
        }
    }
}

/// The extensions that these formats need.
fn formatters<'t>(formats: impl Iterator<Item = &'t str>) -> Vec<Formatter> {
    let (mut metadata, mut without_query) = (false, false);
    for format in formats {
        for command in commands(format) {
            metadata |= command == "METADATA";
            without_query |= command == "REQ_WITHOUT_QUERY";
        }
    }
    let found = [(Formatter::Metadata, metadata), (Formatter::ReqWithoutQuery, without_query)];
    found.into_iter().filter(|(_, needed)| *needed).map(|(formatter, _)| formatter).collect()
}

/// The names of the commands in a format: `%NAME%` or `%NAME(arguments):length%`.
fn commands(format: &str) -> impl Iterator<Item = &str> {
    let mut rest = format;
    core::iter::from_fn(move || {
        while let Some(at) = rest.find('%') {
            rest = rest.get(at + 1..).unwrap_or_default();
            if let Some((name, after)) = command(rest) {
                rest = after;
                return Some(name);
            }
        }
        None
    })
}

/// The name of the command after a `%`, and the rest.
fn command(text: &str) -> Option<(&str, &str)> {
    let (name, mut after) = text.split_at(text.find(|c: char| !c.is_ascii_uppercase() && !c.is_ascii_digit() && c != '_')?);
    if let Some(arguments) = after.strip_prefix('(') {
        let (arguments, rest) = arguments.split_once(')')?;
        let length = rest.strip_prefix(':').map(|length| length.trim_start_matches(|c: char| c.is_ascii_digit()));
        after = length.unwrap_or(rest);
        if arguments.is_empty() {
            return None;
        }
    }
    let after = after.strip_prefix('%')?;
    (!name.is_empty()).then_some((name, after))
}

#[cfg(test)]
mod tests {
    use super::commands;
    use alloc::vec::Vec;

    #[test]
    fn commands_stand_between_percent_signs() {
        let format = "[%START_TIME(%s.%3f)%] 100%% %REQ_WITHOUT_QUERY(X-ENVOY-ORIGINAL-PATH?:PATH):10% %lower% %PROTOCOL%";
        assert_eq!(commands(format).collect::<Vec<_>>(), ["START_TIME", "REQ_WITHOUT_QUERY", "PROTOCOL"]);
    }
}
