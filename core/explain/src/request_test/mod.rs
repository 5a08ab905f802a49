//! Reads tests of requests: each request, and its expected result as fields of a [`RouteReport`](super::RouteReport).
//!
//! A test file is YAML with a list `tests`. An expectation names only the fields that matter: for an object the named fields, for a list each
//! element in its order, for anything else the same value.
//!
//! Does not open files; see the CLI. [`Tester`] sends the requests.

mod fields;
mod tester;

pub use tester::{PreparedGateways, TestAnswer, Tester};
pub(crate) use tester::{TestedGateway, TestedKind};

use crate::answers::without_default_port;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::resource::nearest;
use chancery_envoy::simulate::{ClusterShare, Ending, RouteShareEnding, SavedRequest, WrittenRequest};
use chancery_text::{Limits, LineIndex, Node, Object, Spans, Str, Value, parse, to_json, to_yaml};

/// A test file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestTests {
    /// The tested inputs, as paths relative to the file, if it names them.
    pub inputs: Vec<String>,
    /// The tests, in their order.
    pub tests: Vec<RequestTest>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RequestTest {
    /// Its name; by default the request.
    pub name: String,
    /// The line of the file where it begins, from 1.
    pub line: u32,
    /// The gateway to test, if there are several.
    pub gateway: Option<String>,
    pub request: WrittenRequest,
    /// The expected fields.
    pub expect: Node,
}

/// One field that differs from its expectation.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Mismatch {
    /// The field, as `clusters[0].name`.
    pub field: String,
    /// As JSON.
    pub expected: String,
    /// As JSON; `None` if the field is missing.
    pub actual: Option<String>,
    /// If the report has no field of this name: the name that is probably meant, if a similar one exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meant: Option<String>,
}

/// Words that people write for a field, each with the field.
const USUAL_WORDS: [(&str, &str); 10] = [
    ("auth", "authentication"),
    ("backend", "services"),
    ("backends", "services"),
    ("cluster", "clusters"),
    ("code", "status"),
    ("redirect", "location"),
    ("redirect_to", "location"),
    ("response", "status"),
    ("status_code", "status"),
    ("upstream_path", "upstream: {path}"),
];

/// Fields that a report leaves out when they are empty.
const LEFT_OUT_WHERE_EMPTY: [&str; 11] =
    ["around", "at", "dialect", "findings", "grpc_status", "hosts", "more", "shares", "then", "verdict", "wanting"];

/// Fields whose keys are names of the configuration or request: a missing key means a missing policy or header.
const BY_NAME: [&str; 2] = ["policies", "upstream.headers"];

impl RequestTests {
    /// Whether a text is a test file: an object with a list `tests` that is not a resource.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        if !text.contains("tests") || text.contains("\napiVersion:") || text.starts_with("apiVersion:") {
            return false;
        }
        let root = parse(text, &Limits::default()).root;
        root.is_some_and(|root| root.get("tests").is_some_and(|tests| tests.as_array().is_some()))
    }

    /// Returns the key of a list of requests that is almost called `tests`.
    #[must_use]
    pub fn misspelt_key(text: &str) -> Option<String> {
        let root = parse(text, &Limits::default()).root?;
        let is_list_of_tests = |node: &Node| node.as_array().is_some_and(|all| all.iter().any(|test| test.get("request").is_some()));
        let key = &root.as_object()?.iter().find(|entry| is_list_of_tests(&entry.value))?.key;
        (key.as_str() != "tests").then(|| key.to_string())
    }

    /// Reads a test file.
    ///
    /// # Errors
    ///
    /// What is wrong with it, with its line.
    pub fn read(text: &str) -> Result<Self, String> {
        let document = parse(text, &Limits::default());
        let reader = Reader { lines: LineIndex::new(text), text, spans: &document.spans };
        if let Some(problem) = document.problems.iter().find(|problem| !problem.kind.is_warning()) {
            return Err(reader.at(problem.range.start, &problem.message));
        }
        let root = document.root.ok_or("it is empty")?;
        reader.only(&root, &["inputs", "tests"])?;
        let inputs = match root.get("inputs") {
            Some(inputs) => reader.list(inputs, "inputs")?.iter().map(|input| reader.text(input, "inputs")).collect::<Result<_, _>>()?,
            None => Vec::new(),
        };
        let tests = root.get("tests").ok_or("it has no list `tests`")?;
        let tests = reader.list(tests, "tests")?.iter().map(|test| reader.test(test)).collect::<Result<_, _>>()?;
        Ok(Self { inputs, tests })
    }

    /// Writes saved requests as a test file.
    #[must_use]
    pub fn write(saved: &[SavedRequest]) -> String {
        let tests = saved.iter().map(|saved| {
            let expected = &saved.expected;
            test_node(&saved.request, None, &expected.summary(), object(expectation(expected)))
        });
        to_yaml(&object([("tests", Node::synthesised(Value::Array(tests.collect())))]))
    }
}

/// The fields of a report that an ending names.
fn expectation(expected: &Ending) -> Vec<(&'static str, Node)> {
    let number = |value: f64| Node::synthesised(Value::Float(value));
    let list = |of: Vec<Node>| Node::synthesised(Value::Array(of));
    let status = expected.status.map(|status| ("status", Node::synthesised(Value::Int(status.into()))));
    // Another gateway on the way ends the request: the report's own fields describe the first.
    if let Some(at) = &expected.at {
        let fields = [("at", value_node(at)), ("outcome", value_node(expected.outcome.name()))];
        return vec![("verdict", object(fields.into_iter().chain(status)))];
    }
    let mut expect = vec![("outcome", value_node(expected.outcome.name()))];
    expect.extend(status);
    expect.extend(expected.location.as_ref().map(|location| ("location", value_node(location))));
    if !expected.shares.is_empty() {
        let share = |share: &RouteShareEnding| {
            let clusters = share.clusters.iter().map(|name| value_node(name)).collect();
            object([("percent", number(share.percent)), ("clusters", list(clusters))])
        };
        expect.push(("shares", list(expected.shares.iter().map(share).collect())));
    } else if !expected.clusters.is_empty() {
        let cluster = |share: &ClusterShare| {
            let percent = (expected.clusters.len() > 1).then(|| ("percent", number(share.percent)));
            object([("name", value_node(&share.name))].into_iter().chain(percent))
        };
        expect.push(("clusters", list(expected.clusters.iter().map(cluster).collect())));
    }
    let upstream: Vec<(&str, Node)> = [("authority", &expected.authority), ("path", &expected.path)]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value_node(value.as_ref()?))))
        .collect();
    expect.extend((!upstream.is_empty()).then(|| ("upstream", object(upstream))));
    expect
}

/// Builds a test of a file. Its request has no credentials.
pub(crate) fn test_node(request: &WrittenRequest, gateway: Option<&str>, summary: &str, expect: Node) -> Node {
    let request = request.without_credentials();
    let method = if request.method.is_empty() { "GET" } else { &request.method };
    let name = format!("{method} {} {summary}", request.url);
    let request = serde_json::to_string(&request).ok().and_then(|text| parse(&text, &Limits::default()).root);
    let gateway = gateway.map(|gateway| ("gateway", value_node(gateway)));
    let head = [("name", value_node(&name))].into_iter().chain(gateway);
    object(head.chain([("request", request.unwrap_or_else(|| object([]))), ("expect", expect)]))
}

pub(crate) fn value_node(text: &str) -> Node {
    Node::given(text)
}

pub(crate) fn object<'n>(fields: impl IntoIterator<Item = (&'n str, Node)>) -> Node {
    Node::synthesised(Value::Object(fields.into_iter().map(|(name, value)| (Str::from(name), value)).collect::<Object>()))
}

struct Reader<'t> {
    text: &'t str,
    lines: LineIndex,
    spans: &'t Spans,
}

impl Reader<'_> {
    fn line(&self, offset: u32) -> u32 {
        self.lines.position(self.text, offset).line + 1
    }

    fn at(&self, offset: u32, message: &str) -> String {
        format!("line {}: {message}", self.line(offset))
    }

    fn wrong(&self, node: &Node, message: &str) -> String {
        self.at(self.spans.get(node.id).map_or(0, |span| span.value.start), message)
    }

    fn only(&self, node: &Node, known: &[&str]) -> Result<(), String> {
        let object = node.as_object().ok_or_else(|| self.wrong(node, &format!("an object with {} belongs here", known.join(", "))))?;
        match object.iter().find(|entry| !known.contains(&entry.key.as_str())) {
            Some(entry) => Err(self.wrong(&entry.value, &format!("there is no field `{}` here; there are {}", entry.key, known.join(", ")))),
            None => Ok(()),
        }
    }

    fn list<'n>(&self, node: &'n Node, name: &str) -> Result<&'n [Node], String> {
        node.as_array().map(Vec::as_slice).ok_or_else(|| self.wrong(node, &format!("`{name}` is a list")))
    }

    fn text(&self, node: &Node, name: &str) -> Result<String, String> {
        match &node.value {
            Value::String(text) => Ok(text.to_string()),
            Value::Int(_) | Value::Float(_) | Value::Bool(_) => Ok(to_json(node, false)),
            _ => Err(self.wrong(node, &format!("`{name}` is a text"))),
        }
    }

    fn test(&self, node: &Node) -> Result<RequestTest, String> {
        self.only(node, &["name", "gateway", "request", "expect"])?;
        let optional = |name: &str| node.get(name).map(|node| self.text(node, name)).transpose();
        let request = node.get("request").ok_or_else(|| self.wrong(node, "the test has no `request`"))?;
        let expect = node.get("expect").ok_or_else(|| self.wrong(node, "the test has no `expect`"))?;
        if expect.as_object().is_none_or(Object::is_empty) {
            return Err(self.wrong(expect, "`expect` must name at least one field that `chancery route --format json` shows"));
        }
        let request = self.request(request)?;
        let method = if request.method.is_empty() { "GET" } else { &request.method };
        let name = optional("name")?.unwrap_or_else(|| format!("{method} {}", request.url));
        let line = self.line(self.spans.get(node.id).map_or(0, |span| span.value.start));
        Ok(RequestTest { name, line, gateway: optional("gateway")?, request, expect: expect.clone() })
    }

    fn request(&self, node: &Node) -> Result<WrittenRequest, String> {
        if let Value::String(url) = &node.value {
            return Ok(WrittenRequest { url: url.to_string(), ..WrittenRequest::default() });
        }
        if let Some(curl) = node.get("curl") {
            self.only(node, &["curl"])?;
            return WrittenRequest::from_curl(&self.text(curl, "curl")?).map_err(|why| self.wrong(curl, &why));
        }
        self.only(node, &["method", "url", "headers", "port", "sni", "source", "client_certificate", "http2"])?;
        let optional = |name: &str| node.get(name).map(|node| self.text(node, name)).transpose();
        let flag = |name: &str| match node.get(name) {
            None => Ok(false),
            Some(Node { value: Value::Bool(flag), .. }) => Ok(*flag),
            Some(other) => Err(self.wrong(other, &format!("`{name}` is true or false"))),
        };
        let port = optional("port")?.map(|port| port.parse::<u32>().map_err(|_| self.wrong(node, "`port` is a number"))).transpose()?;
        Ok(WrittenRequest {
            method: optional("method")?.unwrap_or_default(),
            url: optional("url")?.ok_or_else(|| self.wrong(node, "the request has no `url`"))?,
            headers: node.get("headers").map(|headers| self.headers(headers)).transpose()?.unwrap_or_default(),
            port,
            sni: optional("sni")?,
            source: optional("source")?,
            client_certificate: flag("client_certificate")?,
            http2: flag("http2")?,
        })
    }

    /// Reads an object by name, or a list of pairs, in which a name may occur several times.
    fn headers(&self, node: &Node) -> Result<Vec<(String, String)>, String> {
        if let Some(object) = node.as_object() {
            return object.iter().map(|entry| Ok((entry.key.to_string(), self.text(&entry.value, &entry.key)?))).collect();
        }
        let pair = |pair: &Node| match pair.as_array().map(Vec::as_slice) {
            Some([name, value]) => Ok((self.text(name, "headers")?, self.text(value, "headers")?)),
            _ => Err(self.wrong(pair, "a header is a name and a value")),
        };
        self.list(node, "headers")?.iter().map(pair).collect()
    }
}

impl RequestTest {
    /// Returns the fields that differ from their expectation.
    #[must_use]
    pub fn mismatches(&self, actual: &serde_json::Value) -> Vec<Mismatch> {
        let mut out = Vec::new();
        compare(&mut out, "", &self.expect, Some(actual));
        out
    }
}

fn compare(out: &mut Vec<Mismatch>, field: &str, expected: &Node, actual: Option<&serde_json::Value>) {
    let dot = if field.is_empty() { "" } else { "." };
    let parent = field;
    match (&expected.value, actual) {
        (Value::Object(fields), Some(serde_json::Value::Object(actual))) => {
            for entry in fields.iter() {
                let (name, field) = (entry.key.as_str(), format!("{field}{dot}{}", entry.key));
                let is_open = BY_NAME.contains(&parent);
                match actual.get(name) {
                    // The text of a policy may change: its presence is enough.
                    Some(serde_json::Value::String(_)) if parent == "policies" && entry.value.value == Value::Bool(true) => {}
                    None if is_open && matches!(entry.value.value, Value::Null | Value::Bool(false)) => {}
                    None if is_open => out.push(Mismatch { field, expected: to_json(&entry.value, false), actual: Some("null".into()), meant: None }),
                    // A misspelt field is missing from every report: `null` would always pass.
                    None if !LEFT_OUT_WHERE_EMPTY.contains(&name) => {
                        let known = nearest(name, actual.keys().map(String::as_str).chain(LEFT_OUT_WHERE_EMPTY));
                        let usual = || USUAL_WORDS.iter().find(|(word, _)| *word == name).map(|(_, field)| *field);
                        let meant = known.or_else(usual).map(String::from);
                        out.push(Mismatch { field, expected: to_json(&entry.value, false), actual: None, meant });
                    }
                    actual => compare(out, &field, &entry.value, actual),
                }
            }
        }
        (Value::Array(all), Some(serde_json::Value::Array(actual))) if all.len() == actual.len() => {
            all.iter().zip(actual).enumerate().for_each(|(at, (one, actual))| compare(out, &format!("{field}[{at}]"), one, Some(actual)));
        }
        // JSON readers treat a missing field and null the same.
        (Value::Null, None | Some(serde_json::Value::Null)) => {}
        (_, actual) => {
            // A URL without a path has the path `/`.
            let whole = |text: &str| without_default_port(text);
            let is_same_location = field == "location"
                && expected.as_str().zip(actual.and_then(serde_json::Value::as_str)).is_some_and(|(one, other)| whole(one) == whole(other));
            if !is_same_location && !actual.is_some_and(|actual| is_same(expected, actual)) {
                out.push(Mismatch { field: field.into(), expected: to_json(expected, false), actual: actual.map(ToString::to_string), meant: None });
            }
        }
    }
}

/// Whether two values are equal; numbers are equal in any notation.
fn is_same(expected: &Node, actual: &serde_json::Value) -> bool {
    match (&expected.value, actual) {
        (Value::Int(_) | Value::Float(_), serde_json::Value::Number(number)) => {
            let written = to_json(expected, false);
            written == number.to_string() || written.parse::<f64>().ok() == number.as_f64()
        }
        (Value::String(text), serde_json::Value::String(actual)) => text.as_str() == actual,
        (Value::Bool(flag), serde_json::Value::Bool(actual)) => flag == actual,
        (Value::Null, serde_json::Value::Null) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chancery_envoy::simulate::Outcome;

    const FILE: &str = "\
inputs: [../gateway]
tests:
- name: the cart
  request: {url: http://shop.example.com/cart, headers: {x-version: 2}}
  expect:
    outcome: forward
    clusters: [{name: cart}]
- request: http://shop.example.com/
  gateway: default/a
  expect: {status: 404, location: null}
- request: {curl: curl http://a/}
  expect: {outcome: forward}
";

    #[test]
    fn tests_are_read_with_their_lines() {
        let read = RequestTests::read(FILE).expect("tests");
        assert!(RequestTests::is_one(FILE));
        assert_eq!(read.inputs, ["../gateway"]);
        let heads: Vec<(&str, u32)> = read.tests.iter().map(|test| (test.name.as_str(), test.line)).collect();
        assert_eq!(heads, [("the cart", 3), ("GET http://shop.example.com/", 8), ("GET http://a/", 11)]);
        assert_eq!(read.tests[0].request.headers, [("x-version".to_string(), "2".to_string())]);
    }

    #[test]
    fn errors_are_reported_with_their_line() {
        let wrong = |text: &str| RequestTests::read(text).expect_err("it is wrong");
        assert_eq!(wrong("tests:\n- request: http://a/\n"), "line 2: the test has no `expect`");
        assert_eq!(
            wrong("tests:\n- request: http://a/\n  expect: {}\n"),
            "line 3: `expect` must name at least one field that `chancery route --format json` shows"
        );
        assert_eq!(wrong("tests:\n- requests: x\n"), "line 2: there is no field `requests` here; there are name, gateway, request, expect");
        assert_eq!(RequestTests::misspelt_key("test:\n- request: http://a/\n").as_deref(), Some("test"));
        assert!(!RequestTests::is_one("apiVersion: v1\ntests: []\n") && !RequestTests::is_one("a: 1\n"));
    }

    #[test]
    fn only_named_fields_are_compared() {
        let read = RequestTests::read(FILE).expect("tests");
        let actual =
            serde_json::json!({ "outcome": "forward", "clusters": [{ "name": "cart", "percent": 100.0 }], "status": null, "location": null });
        assert_eq!(read.tests[0].mismatches(&actual), []);
        let mismatches = read.tests[1].mismatches(&actual);
        assert_eq!(mismatches, [Mismatch { field: "status".into(), expected: "404".into(), actual: Some("null".into()), meant: None }]);
        let other = serde_json::json!({ "outcome": "forward", "clusters": [{ "name": "shop" }] });
        assert_eq!(read.tests[0].mismatches(&other)[0].field, "clusters[0].name");
    }

    #[test]
    fn unknown_field_is_always_a_mismatch() {
        let actual = serde_json::json!({ "outcome": "forward", "upstream": { "path": "/" } });
        let mismatches = |expect: &str| {
            let text = format!("tests:\n- {{request: 'http://a/', expect: {expect}}}\n");
            RequestTests::read(&text).expect("tests").tests[0].mismatches(&actual)
        };
        let found = mismatches("{upstreem: null, upstream: {paht: /}, outcome: forward, shares: null}");
        let found: Vec<_> = found.iter().map(|of| (of.field.as_str(), of.actual.as_deref(), of.meant.as_deref())).collect();
        assert_eq!(found, [("upstreem", None, Some("upstream")), ("upstream.paht", None, Some("path"))]);
    }

    #[test]
    fn saved_requests_are_read_as_tests() {
        let expected = Ending {
            outcome: Outcome::Forward,
            clusters: vec![ClusterShare { name: "cart".into(), weight: 100, percent: 100.0 }],
            path: Some("/".into()),
            ..Ending::default()
        };
        let request =
            WrittenRequest { url: "http://me:pw@a/cart".into(), headers: vec![("cookie".into(), "id=7".into())], ..WrittenRequest::default() };
        let text = RequestTests::write(&[SavedRequest { request, expected }]);
        let read = RequestTests::read(&text).expect("tests");
        assert!(!text.contains("pw") && !text.contains("id=7"), "{text}");
        let actual = serde_json::json!({ "outcome": "forward", "clusters": [{ "name": "cart" }], "upstream": { "path": "/", "headers": [] } });
        assert_eq!(read.tests[0].mismatches(&actual), []);
    }
}
