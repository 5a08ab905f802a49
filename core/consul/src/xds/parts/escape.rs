//! Reads messages that users write themselves, as JSON.

use crate::chain::Chain;
use crate::xds::context::Failure;
use alloc::format;
use alloc::string::{String, ToString};
use chancery_base::ir::{Plain, Tree};
use chancery_text::{self, Limits, Str};

/// Parses a message of a type. Its own type field is left out.
pub(crate) fn message(json: &Tree, kind: &str) -> Result<Tree, Failure> {
    let fail = |why: String| Failure::new(why, json.origin);
    // The reader would accept YAML too.
    serde_json::from_str::<serde::de::IgnoredAny>(json.text()).map_err(|error| fail(format!("the JSON cannot be read: {error}")))?;
    let document = chancery_text::parse(json.text(), &Limits::default());
    let root = document.root.ok_or_else(|| fail("the JSON cannot be read".into()))?;
    let mut tree = Tree::of(&root, &|_| json.origin);
    let Plain::Object(_) = &tree.value else { return Err(fail("the JSON is not a message".into())) };
    let url = tree.take("@type").map(|url| url.text().to_string()).unwrap_or_default();
    let Some((_, name)) = url.rsplit_once('/') else { return Err(fail("the message does not say its type by `@type`".into())) };
    // Version 2 of Envoy's API is no longer supported.
    if name.ends_with(".v2") || name.starts_with("envoy.api.v2.") {
        return Err(fail(format!("the type `{name}` is of an old version of Envoy's API")));
    }
    if name != kind {
        return Err(fail(format!("the message is `{name}`, and `{kind}` belongs here")));
    }
    snake(&mut tree);
    Ok(tree)
}

/// Converts field names to those of Envoy's files; users may also write them in JSON's form. Keys with dots or dashes are not fields.
fn snake(tree: &mut Tree) {
    match &mut tree.value {
        Plain::Object(fields) => {
            for (name, value) in fields.0.iter_mut() {
                let is_field =
                    name.chars().all(|letter| letter.is_ascii_alphanumeric()) && name.starts_with(|first: char| first.is_ascii_lowercase());
                if is_field && name.chars().any(|letter| letter.is_ascii_uppercase()) {
                    let mut field = String::new();
                    for letter in name.chars() {
                        if letter.is_ascii_uppercase() {
                            field.push('_');
                        }
                        field.push(letter.to_ascii_lowercase());
                    }
                    *name = Str::from(field);
                }
                snake(value);
            }
        }
        Plain::List(items) => items.iter_mut().for_each(snake),
        _ => {}
    }
}

/// The name of the cluster that a user wrote for an upstream, if it is used.
pub(crate) fn cluster_name(json: &Tree, chain: &Chain) -> Option<String> {
    if json.text().is_empty() || !chain.default {
        return None;
    }
    message(json, "envoy.config.cluster.v3.Cluster").ok().map(|tree| tree.get("name").text().to_string())
}
