use super::*;
use alloc::string::String;
pub fn to_yaml(_: &Node) -> String { String::new() }
pub fn to_json(_: &Node, _pretty: bool) -> String { String::new() }
