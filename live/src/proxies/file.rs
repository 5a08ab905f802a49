//! Reads a file of proxies: the gateway of each proxy, and the permissions of client certificates.
//!
//! ```yaml
//! proxies:
//! - id: edge-1                # the node id of an Envoy
//!   gateway: team-a/web
//! identities:
//! - name: spiffe://example.org/ns/edge/sa/envoy   # a URI or DNS name of a certificate, or its common name; `*` is any text
//!   gateways: [team-a/web]
//!   secrets: ["team-a/*"]     # default: all Secrets of its gateways
//! ```
//!
//! The file is read again when it changes. A file that is unreadable or wrong changes nothing until it is valid. Does
//! not assign proxies; see `controllers::delivery`.

use super::ConfigSource;
use crate::Failure;
use crate::controllers::delivery::Registration;
use crate::xds::identity::{Identities, Rule};
use chancery_core::text::{Document, Limits, LineIndex, Node, Value, parse};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How often the file is checked.
const LOOK: Duration = Duration::from_secs(1);
/// The largest file that is read, in bytes.
const LARGEST: u64 = 16 << 20;

/// The content of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Proxies by their node ids.
    pub proxies: BTreeMap<String, Registration>,
    /// The permissions of identities, or `None` if the file has no such section.
    pub identities: Option<Vec<Rule>>,
}

/// Registers the proxies of a file, at the start and after each change.
#[derive(Debug)]
pub struct ProxyFile {
    path: PathBuf,
    text: String,
    source: ConfigSource,
    identities: Identities,
    look: Duration,
}

impl ProxyFile {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// The file is unreadable, or its content is wrong. The message contains the place.
    pub fn open(path: PathBuf, source: ConfigSource, identities: Identities) -> Result<Self, Failure> {
        let text = read(&path)?;
        let content = content(&path.display().to_string(), &text)?;
        let out = Self { path, text, source, identities, look: LOOK };
        out.take(&content);
        Ok(out)
    }

    fn take(&self, content: &Content) {
        // Rules change before proxies move: the new rules judge requests for a new gateway.
        self.identities.set(content.identities.clone());
        self.source.replace(&content.proxies);
        self.source.wake();
    }

    /// Follows the file as long as the process runs.
    ///
    /// # Errors
    ///
    /// None: other parts of the process have this type.
    pub async fn follow(mut self) -> Result<(), Failure> {
        loop {
            tokio::time::sleep(self.look).await;
            let path = self.path.clone();
            let Ok(outcome) = tokio::task::spawn_blocking(move || read(&path)).await else { continue };
            match outcome {
                Ok(text) if text == self.text => {}
                Ok(text) => {
                    match content(&self.path.display().to_string(), &text) {
                        Ok(content) => {
                            tracing::info!(proxies = content.proxies.len(), "the file of proxies was read again");
                            self.take(&content);
                        }
                        Err(why) => tracing::warn!("the proxies stay unchanged: {why}"),
                    }
                    self.text = text;
                }
                Err(why) if !self.text.is_empty() => {
                    tracing::warn!("the proxies stay unchanged: {why}");
                    self.text.clear();
                }
                Err(_) => {}
            }
        }
    }
}

fn read(path: &std::path::Path) -> Result<String, Failure> {
    let cannot = |why: String| Failure(format!("cannot read the file of proxies {}: {why}", path.display()));
    let size = std::fs::metadata(path).map_err(|error| cannot(error.to_string()))?.len();
    if size > LARGEST {
        return Err(cannot(format!("it has {size} bytes, and at most {LARGEST} are read")));
    }
    std::fs::read_to_string(path).map_err(|error| cannot(error.to_string()))
}

/// Parses the text of a file.
///
/// # Errors
///
/// The text is wrong. The message contains the line and column.
pub fn content(file: &str, text: &str) -> Result<Content, Failure> {
    let document = parse(text, &Limits::default());
    let reader = Reader { file, text, lines: LineIndex::new(text), document: &document };
    if let Some(problem) = document.problems.iter().find(|problem| !problem.kind.is_warning()) {
        return Err(reader.at(problem.range.start, &problem.message));
    }
    let Some(root) = &document.root else { return Ok(Content::default()) };
    reader.fields(root, &["proxies", "identities"])?;
    let mut proxies = BTreeMap::new();
    for of in reader.list(root, "proxies")? {
        reader.fields(of, &["id", "gateway"])?;
        let (id, gateway) = (reader.text(of, "id")?, reader.text(of, "gateway")?);
        let registration = Registration { gateway: Some(Arc::from(gateway)), ..Registration::default() };
        if proxies.insert(id.to_owned(), registration).is_some() {
            return Err(reader.wrong(of, &format!("the proxy `{id}` is a duplicate")));
        }
    }
    let identity = |of: &Node| {
        reader.fields(of, &["name", "gateways", "secrets"])?;
        let secrets = if of.get("secrets").is_some() { Some(reader.texts(of, "secrets")?) } else { None };
        Ok(Rule { name: reader.text(of, "name")?.to_owned(), gateways: reader.texts(of, "gateways")?, secrets })
    };
    let identities = match root.get("identities") {
        None => None,
        Some(_) => Some(reader.list(root, "identities")?.iter().map(identity).collect::<Result<Vec<_>, Failure>>()?),
    };
    Ok(Content { proxies, identities })
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    lines: LineIndex,
    document: &'a Document,
}

impl Reader<'_> {
    fn at(&self, offset: u32, what: &str) -> Failure {
        let at = self.lines.position(self.text, offset);
        Failure(format!("{}:{}:{}: {what}", self.file, at.line + 1, at.column + 1))
    }

    fn wrong(&self, node: &Node, what: &str) -> Failure {
        self.at(self.document.spans.get(node.id).map_or(0, |span| span.whole().start), what)
    }

    fn fields(&self, node: &Node, known: &[&str]) -> Result<(), Failure> {
        let Value::Object(object) = &node.value else {
            return Err(self.wrong(node, &format!("this must be an object with {}, not {}", known.join(", "), node.value.kind_name())));
        };
        match object.iter().find(|entry| !known.contains(&entry.key.as_str())) {
            Some(entry) => Err(self.wrong(&entry.value, &format!("there is no field `{}` here: there are {}", entry.key, known.join(", ")))),
            None => Ok(()),
        }
    }

    fn list<'n>(&self, node: &'n Node, field: &str) -> Result<&'n [Node], Failure> {
        match node.get(field) {
            None => Ok(&[]),
            Some(Node { value: Value::Array(items), .. }) => Ok(items),
            Some(other) => Err(self.wrong(other, &format!("`{field}` must be a list"))),
        }
    }

    fn text<'n>(&self, node: &'n Node, field: &str) -> Result<&'n str, Failure> {
        let value = node.get(field).ok_or_else(|| self.wrong(node, &format!("`{field}` is missing here")))?;
        value.as_str().filter(|text| !text.is_empty()).ok_or_else(|| self.wrong(value, &format!("`{field}` must be a text that is not empty")))
    }

    fn texts(&self, node: &Node, field: &str) -> Result<Vec<String>, Failure> {
        let one = |of: &Node| of.as_str().map(str::to_owned).ok_or_else(|| self.wrong(of, &format!("`{field}` must hold texts")));
        self.list(node, field)?.iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxies::Proxies;

    #[test]
    fn file_parses_proxies_and_identities() {
        let text =
            "proxies:\n- {id: a, gateway: one}\nidentities:\n- name: 'spiffe://x/*'\n  gateways: [one]\n- {name: b, gateways: [two], secrets: [s]}\n";
        let content = content("f.yaml", text).expect("a file");
        assert_eq!(content.proxies["a"].gateway.as_deref(), Some("one"));
        let rules = content.identities.expect("identities");
        assert_eq!((rules[0].secrets.is_none(), rules[1].secrets.as_deref()), (true, Some(&["s".to_owned()][..])));
        assert_eq!(super::content("f.yaml", "").expect("an empty file"), Content::default());
    }

    #[test]
    fn wrong_file_reports_line_and_column() {
        for (text, why) in [
            ("proxies: {}", "f.yaml:1:1: `proxies` must be a list"),
            ("proxies:\n- {id: a, gatway: one}", "f.yaml:2:11: there is no field `gatway` here: there are id, gateway"),
            ("proxies:\n- {id: a}", "f.yaml:2:3: `gateway` is missing here"),
            ("proxies:\n- {id: 3, gateway: b}", "f.yaml:2:4: `id` must be a text that is not empty"),
            ("proxies:\n- {id: a, gateway: b}\n- {id: a, gateway: c}", "f.yaml:3:3: the proxy `a` is a duplicate"),
            ("- a", "f.yaml:1:1: this must be an object with proxies, identities, not array"),
            ("proxies: [", "f.yaml:1:"),
            ("identities:\n- {name: a, gateways: [1]}", "f.yaml:2:24: `gateways` must hold texts"),
        ] {
            let failure = content("f.yaml", text).err().map(|failure| failure.0).unwrap_or_default();
            assert!(failure.starts_with(why), "{text}: {failure}");
        }
    }

    #[tokio::test]
    async fn followed_file_that_is_wrong_changes_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("proxies.yaml");
        let write = |text: &str| std::fs::write(&path, text).expect("a file");
        write("proxies: [{id: a, gateway: one}]");
        let (proxies, identities) = (Proxies::default(), Identities::default());
        let source = proxies.of_file();
        let mut file = ProxyFile::open(path.clone(), source, identities).expect("a file");
        file.look = Duration::from_millis(10);
        let known = || proxies.wanted.of_source(0).into_iter().map(|(id, of)| format!("{id}={}", of.gateway.unwrap_or_default())).collect::<Vec<_>>();
        assert_eq!(known(), ["a=one"]);
        let task = tokio::spawn(file.follow());
        let until = async |wanted: &[&str]| {
            for _ in 0..1000 {
                if known() == wanted {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            panic!("{:?} is not {wanted:?}", known());
        };
        write("proxies: [{id: a, gateway: two}, {id: b, gateway: one}]\nidentities: []");
        until(&["a=two", "b=one"]).await;
        write("proxies: [");
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(known(), ["a=two", "b=one"]);
        std::fs::remove_file(&path).expect("a file");
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(known(), ["a=two", "b=one"], "a file that is lost is no mass deletion");
        write("proxies: [{id: b, gateway: one}]");
        until(&["b=one"]).await;
        task.abort();
    }
}
