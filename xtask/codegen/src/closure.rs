//! Finds the requested messages and every type that their fields refer to, as a minimal descriptor set.

use std::collections::{BTreeMap, BTreeSet};

use prost::Message as _;
use prost_reflect::{DescriptorPool, EnumDescriptor, Kind, MessageDescriptor};
use prost_types::{DescriptorProto, EnumDescriptorProto, FieldOptions, FileDescriptorSet};

/// The result of `close`.
pub struct Closure {
    /// All descriptors, options and their extensions included.
    pub pool: DescriptorPool,
    /// The requested part, without options, comments, services and extensions.
    pub set: FileDescriptorSet,
    /// Messages to describe, without map entries and `google.protobuf`, by full name.
    pub messages: BTreeMap<String, MessageDescriptor>,
    /// Enums to describe, by full name.
    pub enums: BTreeMap<String, EnumDescriptor>,
    /// The full names of the messages in the smaller registry.
    pub usual: BTreeSet<String>,
    /// Lines of the lists that match no message.
    pub missing: Vec<String>,
}

/// Follows every field from the roots. `usual` lists the messages of the smaller registry.
pub fn close(bytes: &[u8], roots: &str, usual: &str) -> Result<Closure, String> {
    let pool = DescriptorPool::decode(bytes).map_err(|e| e.to_string())?;
    let (mut todo, mut missing) = listed(&pool, roots);
    let (usual, unknown) = listed(&pool, usual);
    missing.extend(unknown);
    let usual = usual.into_iter().map(|message| message.full_name().to_owned()).collect();

    let (mut messages, mut enums) = (BTreeMap::new(), BTreeMap::new());
    while let Some(message) = todo.pop() {
        if messages.contains_key(message.full_name()) {
            continue;
        }
        todo.extend(message.parent_message());
        for field in message.fields() {
            match field.kind() {
                Kind::Message(m) => todo.push(m),
                Kind::Enum(e) => {
                    todo.extend(e.parent_message());
                    enums.insert(e.full_name().to_owned(), e);
                }
                _ => {}
            }
        }
        messages.insert(message.full_name().to_owned(), message);
    }

    let names: BTreeSet<String> = messages.keys().chain(enums.keys()).cloned().collect();
    let set = prune(bytes, &names)?;
    messages.retain(|name, m| !m.is_map_entry() && !name.starts_with("google.protobuf."));
    enums.retain(|name, _| !name.starts_with("google.protobuf."));
    Ok(Closure { pool, set, messages, enums, usual, missing })
}

/// Returns the messages that a list names, and its lines that match no message.
fn listed(pool: &DescriptorPool, list: &str) -> (Vec<MessageDescriptor>, Vec<String>) {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for line in list.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let before = found.len();
        match line.strip_suffix(".*") {
            Some(package) => {
                found.extend(pool.all_messages().filter(|m| m.parent_message().is_none() && m.package_name() == package));
            }
            None => found.extend(pool.get_message_by_name(line)),
        }
        if found.len() == before {
            missing.push(line.to_owned());
        }
    }
    (found, missing)
}

/// Keeps the named messages and enums of a descriptor set, and nothing that generated code does not need.
fn prune(bytes: &[u8], names: &BTreeSet<String>) -> Result<FileDescriptorSet, String> {
    let mut set = FileDescriptorSet::decode(bytes).map_err(|e| e.to_string())?;
    let mut kept = BTreeSet::new();
    for file in &mut set.file {
        let package = file.package().to_owned();
        prune_messages(&package, &mut file.message_type, names);
        prune_enums(&package, &mut file.enum_type, names);
        file.service.clear();
        file.extension.clear();
        file.options = None;
        file.source_code_info = None;
        if !file.message_type.is_empty() || !file.enum_type.is_empty() {
            kept.insert(file.name().to_owned());
        }
    }
    set.file.retain(|file| kept.contains(file.name()));
    for file in &mut set.file {
        file.dependency.retain(|d| kept.contains(d));
        file.public_dependency.clear();
        file.weak_dependency.clear();
    }
    set.file.sort_by(|a, b| a.name().cmp(b.name()));
    Ok(set)
}

fn prune_messages(scope: &str, messages: &mut Vec<DescriptorProto>, names: &BTreeSet<String>) {
    messages.retain(|m| names.contains(&format!("{scope}.{}", m.name())));
    for message in messages {
        let scope = format!("{scope}.{}", message.name());
        prune_messages(&scope, &mut message.nested_type, names);
        prune_enums(&scope, &mut message.enum_type, names);
        message.extension.clear();
        if let Some(options) = &mut message.options {
            options.deprecated = None;
        }
        for field in &mut message.field {
            let packed = field.options.as_ref().and_then(|o| o.packed);
            field.options = packed.map(|p| FieldOptions { packed: Some(p), ..FieldOptions::default() });
        }
    }
}

fn prune_enums(scope: &str, enums: &mut Vec<EnumDescriptorProto>, names: &BTreeSet<String>) {
    enums.retain(|e| names.contains(&format!("{scope}.{}", e.name())));
    for e in enums {
        e.options = None;
        for value in &mut e.value {
            value.options = None;
        }
    }
}
