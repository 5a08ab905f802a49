//! A `pattern` rule as the table of a small automaton, so that checking it needs no regex engine at run time.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use regex_automata::Anchored;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;

/// A Rust expression of type `Pattern`.
pub fn expression(pattern: &str) -> Result<String, String> {
    let dfa = dense::Builder::new()
        .configure(dense::Config::new().start_kind(StartKind::Anchored).minimize(true).accelerate(false))
        .build(&format!("^(?:{pattern})$"))
        .map_err(|e| format!("{pattern}: {e}"))?;
    let first = dfa.start_state(&start::Config::new().anchored(Anchored::Yes)).map_err(|e| format!("{pattern}: {e}"))?;

    // State 0 is the dead one.
    let mut numbers: BTreeMap<StateID, u8> = BTreeMap::new();
    let mut rows: Vec<[u8; 256]> = vec![[0; 256]];
    let mut accepts = vec![false];
    let mut todo = vec![first];
    let mut number = |id: StateID, todo: &mut Vec<StateID>| -> Result<u8, String> {
        if dfa.is_dead_state(id) {
            return Ok(0);
        }
        let next = u8::try_from(numbers.len() + 1).map_err(|_| format!("{pattern}: too many states"))?;
        Ok(*numbers.entry(id).or_insert_with(|| {
            todo.push(id);
            next
        }))
    };
    todo.clear();
    number(first, &mut todo)?;
    let mut at = 0;
    while at < todo.len() {
        let id = todo[at];
        at += 1;
        let mut row = [0; 256];
        for byte in 0..=255u8 {
            row[usize::from(byte)] = number(dfa.next_state(id, byte), &mut todo)?;
        }
        rows.push(row);
        accepts.push(dfa.is_match_state(dfa.next_eoi_state(id)));
    }

    // Bytes that every state treats alike share a class.
    let mut classes: BTreeMap<Vec<u8>, u8> = BTreeMap::new();
    let mut class_of = Vec::new();
    for byte in 0..256 {
        let column: Vec<u8> = rows.iter().map(|row| row[byte]).collect();
        let next = u8::try_from(classes.len()).map_err(|_| format!("{pattern}: too many classes"))?;
        class_of.push(*classes.entry(column).or_insert(next));
    }
    let width = classes.len();
    let mut table = vec![0u8; rows.len() * width];
    for (column, class) in &classes {
        for (state, target) in column.iter().enumerate() {
            table[state * width + usize::from(*class)] = *target;
        }
    }

    let mut out = String::new();
    write!(out, "d::Pattern {{ text: {pattern:?}, classes: &{class_of:?}, width: {width}, table: &{table:?}, accepts: &{accepts:?} }}")
        .expect("a String takes everything");
    Ok(out)
}
