//! Describes what an Application Gateway does with a request as comparable facts. Names of parts are left out; their content is included.
//!
//! Does not choose requests; see `requests`.

use super::AppGatewaySide;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_app_gateway::route::{Ending, Journey};
use chancery_text::{Node, Value, to_json};

/// A fact: its value, and its place in the document.
pub(super) struct Fact {
    pub(super) value: String,
    /// The part that holds the value, if its name is more readable than the value. Names alone make no difference.
    pub(super) held_by: Option<String>,
    pub(super) pointer: Option<String>,
}

impl Fact {
    /// Describes the fact as the report shows it.
    pub(super) fn words(&self) -> String {
        match &self.held_by {
            Some(part) if self.value.is_empty() => part.clone(),
            Some(part) => format!("{part} at {}", self.value),
            None => self.value.clone(),
        }
    }
}

/// Facts by their label.
pub(super) type Behaviour = BTreeMap<String, Fact>;

/// Fields of settings that the report shows under another label.
const LABELLED: &[&str] = &["hostName", "path", "pickHostNameFromBackendAddress", "port", "protocol"];

/// Fields of listeners that select requests.
const SELECTORS: &[&str] = &["frontendIPConfiguration", "frontendPort", "hostName", "hostNames", "protocol", "requireServerNameIndication"];

/// The parts of a side by list and name.
pub(super) struct Facts<'a> {
    parts: BTreeMap<(&'static str, &'a str), (usize, &'a Node)>,
}

impl<'a> Facts<'a> {
    pub(super) fn of(side: &'a AppGatewaySide<'_>) -> Self {
        const LISTS: [&str; 7] = [
            "httpListeners",
            "requestRoutingRules",
            "urlPathMaps",
            "backendAddressPools",
            "backendHttpSettingsCollection",
            "probes",
            "rewriteRuleSets",
        ];
        let mut parts = BTreeMap::new();
        for list in LISTS {
            for (at, part) in side.viewed.root.at(&["properties", list]).and_then(Node::as_array).into_iter().flatten().enumerate() {
                if let Some(name) = part.get("name").and_then(Node::as_str) {
                    parts.entry((list, name)).or_insert((at, part));
                }
            }
        }
        Self { parts }
    }

    /// Returns the facts of a journey.
    pub(super) fn behaviour(&self, journey: &Journey, is_https: bool) -> Behaviour {
        let mut out = Behaviour::new();
        let rule = self.place(journey);
        let mut say = |what: &str, value: String, pointer: Option<String>| {
            out.insert(what.to_string(), Fact { value, held_by: None, pointer: pointer.or_else(|| rule.clone()) });
        };
        match &journey.ending {
            Ending::Refused { code: None, .. } => say("outcome", "is not answered".into(), None),
            Ending::Refused { code: Some(code), .. } => say("outcome", format!("is answered {code}"), None),
            Ending::Redirected { code, location } => {
                say("outcome", "is redirected".into(), None);
                say("status", code.to_string(), None);
                say("location", location.clone(), None);
            }
            Ending::Forwarded { pool, addresses, is_https, port, host, path } => {
                say("outcome", "is forwarded".into(), None);
                let mut addresses: Vec<&str> = addresses.iter().map(|address| address.as_str()).collect();
                addresses.sort();
                let scheme = if *is_https { "https" } else { "http" };
                let pointer = self.pointer("backendAddressPools", pool).map(|pool| format!("{pool}/properties/backendAddresses/0/ipAddress"));
                say("addresses", addresses.join(", "), pointer);
                say("backend", format!("{scheme}, port {port}"), None);
                say("upstream host", host.as_ref().map_or_else(|| "that of the address".to_string(), ToString::to_string), None);
                say("upstream path", path.to_string(), None);
                if let Some(fact) = out.get_mut("addresses") {
                    fact.held_by = Some(pool.to_string());
                }
            }
        }
        if let Some(taken) = &journey.taken {
            if is_https {
                self.fields("httpListeners", &taken.listener, "listener", SELECTORS, &mut out);
            }
            if let Some(rewrites) = &taken.rewrites {
                self.fields("rewriteRuleSets", rewrites, "rewrites", &[], &mut out);
            }
            if let Some(policy) = &taken.policy {
                let name = policy.rsplit('/').next().unwrap_or_default().to_string();
                out.insert("firewall policy".into(), Fact { value: name, held_by: None, pointer: rule.clone() });
            }
            if matches!(journey.ending, Ending::Forwarded { .. })
                && let Some(settings) = self.settings(journey)
            {
                self.fields("backendHttpSettingsCollection", &settings, "settings", LABELLED, &mut out);
                self.probe(&settings, &mut out);
            }
        }
        out
    }

    /// Returns the most specific part that handled the request.
    pub(super) fn place(&self, journey: &Journey) -> Option<String> {
        let taken = journey.taken.as_ref()?;
        let rule = self.parts.get(&("requestRoutingRules", taken.rule.as_str()))?;
        let of_map =
            || {
                let map = last(rule.1.at(&["properties", "urlPathMap", "id"])?.as_str()?);
                let (at, node) = self.parts.get(&("urlPathMaps", map))?;
                let rules = node.at(&["properties", "pathRules"]).and_then(Node::as_array).into_iter().flatten();
                let named = |of: &Node| Some(of.get("name")?.as_str()? == taken.path_rule.as_ref()?.0.as_str());
                let number = rules.into_iter().position(|of| named(of) == Some(true));
                Some(number.map_or_else(
                    || format!("/properties/urlPathMaps/{at}"),
                    |rule| format!("/properties/urlPathMaps/{at}/properties/pathRules/{rule}"),
                ))
            };
        of_map().or_else(|| Some(format!("/properties/requestRoutingRules/{}", rule.0)))
    }

    fn pointer(&self, list: &'static str, name: &str) -> Option<String> {
        self.parts.get(&(list, name)).map(|(at, _)| format!("/properties/{list}/{at}"))
    }

    /// Returns the name of the settings that a request is forwarded with.
    fn settings(&self, journey: &Journey) -> Option<String> {
        let place = self.place(journey)?;
        let mut steps = place.split('/').skip(2);
        let (list, at) = (steps.next()?, steps.next()?.parse::<usize>().ok()?);
        let rule = steps.nth(2).and_then(|at| at.parse::<usize>().ok());
        let (_, node) = self.parts.iter().find(|((of, _), (number, _))| *of == list && *number == at)?.1;
        let (of, field) = match (rule, list) {
            (Some(rule), _) => (node.at(&["properties", "pathRules"])?.as_array()?.get(rule)?, "backendHttpSettings"),
            (None, "urlPathMaps") => (*node, "defaultBackendHttpSettings"),
            (None, _) => (*node, "backendHttpSettings"),
        };
        Some(last(of.at(&["properties", field, "id"])?.as_str()?).to_string())
    }

    fn probe(&self, settings: &str, out: &mut Behaviour) {
        let of = self.parts.get(&("backendHttpSettingsCollection", settings));
        let id = of.and_then(|(_, node)| node.at(&["properties", "probe", "id"])).and_then(Node::as_str);
        if let Some(id) = id {
            self.fields("probes", last(id), "probe", &[], out);
        }
    }

    /// Adds every field of a part as a fact. Readers limit the depth of documents.
    fn fields(&self, list: &'static str, name: &str, word: &str, without: &[&str], out: &mut Behaviour) {
        let Some((at, part)) = self.parts.get(&(list, name)) else { return };
        let Some(fields) = part.get("properties").and_then(Node::as_object) else { return };
        for entry in fields.iter().filter(|entry| !without.contains(&entry.key.as_str()) && entry.key != "probe") {
            let pointer = format!("/properties/{list}/{at}/properties/{}", entry.key);
            leaves(&format!("{word}.{}", entry.key), &pointer, &entry.value, out);
        }
    }
}

fn leaves(path: &str, pointer: &str, node: &Node, out: &mut Behaviour) {
    match &node.value {
        Value::Object(fields) => {
            for entry in fields {
                leaves(&format!("{path}.{}", entry.key), &format!("{pointer}/{}", entry.key), &entry.value, out);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                leaves(&format!("{path}[{at}]"), &format!("{pointer}/{at}"), item, out);
            }
        }
        Value::Null => {}
        _ => {
            // Ids of two gateways differ in the gateway's own id.
            let value =
                node.as_str().filter(|text| text.starts_with("/subscriptions/")).map_or_else(|| to_json(node, false), |id| last(id).to_string());
            out.insert(path.to_string(), Fact { value, held_by: None, pointer: Some(pointer.to_string()) });
        }
    }
}

/// Returns the last name of an id.
fn last(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or_default()
}
