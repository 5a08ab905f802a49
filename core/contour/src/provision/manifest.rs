//! Fills in manifests: `${name}` alone is replaced by a value, and inside a string by text.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_text::{Limits, Node, NodeId, Object, Str, Value, parse, split};

/// The values by placeholder name.
pub type Values = BTreeMap<Str, Node>;

/// The filled-in documents of a manifest. A field with a null value is omitted; a nested list is merged into its parent.
pub fn fill(manifest: &str, values: &Values) -> Vec<Node> {
    documents(manifest).iter().filter_map(|document| filled(document, values)).collect()
}

/// The documents of a manifest without replacements.
pub fn documents(manifest: &str) -> Vec<Node> {
    let chunks = split(manifest).into_iter().filter(|chunk| !chunk.is_empty);
    chunks.filter_map(|chunk| parse(chunk.range.slice(manifest), &Limits::default()).root).collect()
}

fn filled(node: &Node, values: &Values) -> Option<Node> {
    let value = match &node.value {
        Value::String(text) => return filled_text(text, values),
        Value::Object(object) => {
            let fields = object.iter().filter_map(|entry| Some((entry.key.clone(), filled(&entry.value, values)?)));
            Value::Object(fields.collect::<Object>())
        }
        Value::Array(items) => {
            let mut list = Vec::new();
            for item in items {
                match filled(item, values) {
                    Some(Node { value: Value::Array(more), .. }) if item.as_str().is_some() => list.extend(more),
                    one => list.extend(one),
                }
            }
            Value::Array(list)
        }
        other => other.clone(),
    };
    Some(Node { id: NodeId::NONE, value })
}

fn filled_text(text: &str, values: &Values) -> Option<Node> {
    if let Some(name) = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) {
        return values.get(name).filter(|value| !value.is_null()).cloned();
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, behind) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(before);
        out.push_str(&values.get(name).map(shown).unwrap_or_default());
        rest = behind;
    }
    out.push_str(rest);
    Some(Node::synthesised(Value::String(out.into())))
}

fn shown(value: &Node) -> String {
    match &value.value {
        Value::Int(number) => format!("{number}"),
        Value::Float(number) => format!("{number}"),
        _ => value.as_str().unwrap_or_default().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Values, fill};
    use chancery_text::{Limits, Node, parse, to_json};

    fn value(yaml: &str) -> Node {
        parse(yaml, &Limits::default()).root.unwrap_or_else(|| Node::given(""))
    }

    #[test]
    fn places_take_values_texts_and_lists() {
        let values: Values = [("name".into(), value("edge")), ("more".into(), value("[b, c]")), ("port".into(), value("80"))].into_iter().collect();
        let filled = fill("name: contour-${name}\nport: ${port}\nlist: [a, '${more}']\nflag: --port=${port}\n", &values);
        let shown: alloc::vec::Vec<_> = filled.iter().map(|node| to_json(node, false)).collect();
        assert_eq!(shown, [r#"{"name":"contour-edge","port":80,"list":["a","b","c"],"flag":"--port=80"}"#]);
    }

    #[test]
    fn null_values_are_omitted() {
        let filled = fill("a: ${absent}\nb: 1\nc: ['${absent}']\n", &Values::new());
        assert_eq!(filled.first().map(|node| to_json(node, false)).as_deref(), Some(r#"{"b":1,"c":[]}"#));
    }
}
