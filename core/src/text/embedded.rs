use super::*;
use alloc::vec::Vec;
pub fn parse_embedded(_outer_text: &str, _scalar: TextRange, _content: &str, _limits: &Limits) -> Vec<Document> { Vec::new() }
