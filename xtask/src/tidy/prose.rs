//! Checks texts for phrases that a reader must read twice. `CONTRIBUTING.md` describes how to write instead.
//!
//! A phrase is a list of words with one space between them: `a|b` is one of these words, `!a|b` is any other word. Does not parse sentences, so
//! every phrase here is wrong in nearly all sentences.

use super::File;
use std::collections::HashMap;

/// Phrases, and what to write instead.
const PHRASES: &[(&str, &str)] = &[
    ("what must not be here", "write `Does not X; see Y`"),
    ("here is no IO|clock|network", "write `Does no IO`"),
    ("that|which|what|than there is|are|was|were", "leave it out, or write `existing`, `missing`, `available`"),
    (
        "what was|were|has|had|is|are asked|assumed|built|called|changed|compared|created|deleted|emitted|found|given|gone|held|hidden|kept|known|left|lost",
        NAME,
    ),
    (
        "what was|were|has|had|is|are made|meant|missing|needed|new|not|only|passed|read|refused|rejected|said|secret|sent|served|shown|so|somebody",
        NAME,
    ),
    ("what was|were|has|had|is|are taken|there|told|too|wanted|withheld|written", NAME),
    ("what applies|belongs|came|cannot|changed|comes|concerns|counts|decides|depends|differs|fails|fits|follows|goes|had", NAME),
    ("what holds|leads|lies|looks|needs|nobody|nothing|runs|somebody|stands|waits", NAME),
    ("what does|may not", NAME),
    ("what no one|other|controller|line", NAME),
    ("become|becomes|became|come|comes|came of", "write `the result of`, `what happens to`, `turned into`"),
    (
        "stand|stands|stood|standing in|at|there|here|where|first|last|on|behind|before|under|above|below|alone|as|inside|between|beside|for",
        "write `is in`, `appears`, `means`",
    ),
    ("as it|they stands|stand|stood|lies|lie", "write `unchanged`"),
    ("mend|mends|mended|mending|mendable", "write `fix`"),
    ("all the same", "write `anyway`, `still`"),
    ("none the less", "write `anyway`"),
    ("but for", "write `except`"),
    ("besides|nonetheless|seldom|whence|hardly", "write `also`, `anyway`, `rarely`"),
    ("for ever", "write `without a limit`"),
    ("again and again", "write `repeatedly`"),
    ("it|this|that|which|file|text|value|word|object|key|one|gateway|they is|are|was no !longer|less|more", "write `is not a`"),
    ("it|that|which|what|id|host|name|value|one|nothing|where|type is|are|was|were|be another", "write `differs`, `changed`"),
    ("is|are|was|were another than", "write `differs from`"),
    ("is|are|was|were|be alike|others", "write `is equal`, `is the same`, `differs`"),
    ("of its|their|our|your|his own", "put `its own` before the noun, or write `separate`"),
    ("Of a|an|the|its|all|each|several|every|what|those|two|many|more|members|that|this|these|one|text|texts", "begin with the subject"),
    ("of|by|from|with|to|for|under|on|into|beside|behind|below|above which|whom|whose", "write two sentences, or a plain relative clause"),
    ("somebody|nobody|whoever|everybody|anybody", "name the person or program"),
    (
        "is|are|was|were to be|do|have|get|go|listen|run|reconcile|look|show|serve|stay|take|end|read|write|mean|keep|make|hold|come",
        "write `must`, `should`, `will`",
    ),
    ("go|goes|went|going|gone on", "write `continue`"),
    ("all that|else|which", "write `everything that`, `everything else`"),
    ("altitude|altitudes|ghost|ghosts|staircase", "write `level of detail`, `assumed resource`, `trace`"),
    ("dies|died|dying|death", "write `crash`, `exit`"),
    ("certificate|certificates of an|the|its authority|authorities", CA),
    ("the authority that|which|of|alone|for", CA),
    ("which authority|authorities", CA),
    ("system's authorities", CA),
    ("texts of|that|by|are|with|in|to|and|at|from|it|as|may|must", "write `strings`, `files`, `contents`"),
    ("the|of|all|two|several|these|both texts", "write `strings`, `files`, `contents`"),
    ("find|finds|found|finding out", "write `detect`, `determine`"),
    ("in its|their|our|your|plain|other words", "write `verbatim`, or `X's message`"),
    ("in its|their|our|your|a own|few words", "write `verbatim`, or `X's message`"),
    ("who|what|which asks|asked|holds|held|gets|got|has|had|made|makes|owns|wrote|reads|writes|took|takes it|them|that|one|this", NAME),
    ("for people|programs|machines", "write `human-readable text`, or the format"),
    ("when not given", DEFAULT),
    ("when it|they is|are not given", DEFAULT),
    ("unless given", DEFAULT),
    ("unless it is given", DEFAULT),
];

const NAME: &str = "name the thing instead of `what`";
const CA: &str = "write `CA`";
const DEFAULT: &str = "write `[default: X]`";

/// Files with a phrase that may stay, the phrase, and the reason.
const EXCEPTIONS: &[(&str, &str, &str)] =
    &[("live/src/event.rs", "mended", "the name of a field that older servers send"), ("xtask/src/tidy/tests.rs", "nobody", "tests this rule")];

/// The file that lists the phrases.
const LIST: &str = "xtask/src/tidy/prose.rs";

/// The ends of the names of checked files.
const CHECKED: [&str; 9] = [".rs", ".md", ".js", ".mjs", ".ts", ".html", ".toml", ".yaml", ".css"];

/// The most words in the name of a function.
const MOST_WORDS: usize = 8;

/// Beginnings of function names that do not name their subject.
const RIDDLES: [&str; 6] = ["what_", "nothing_of_", "of_a_", "of_the_", "those_", "so_"];

/// Words that are not the name of an action.
const SAYING: [&str; 5] = ["told", "said", "tell", "tells", "says"];

/// A word of a phrase: some words, or all words but some.
struct Slot {
    words: Vec<&'static str>,
    is_other: bool,
}

impl Slot {
    fn read(text: &'static str) -> Self {
        let words = text.strip_prefix('!');
        Self { words: words.unwrap_or(text).split('|').collect(), is_other: words.is_some() }
    }

    /// Whether it is this word. A capital letter in the phrase requires a capital letter in the text.
    fn matches(&self, word: &str) -> bool {
        let is_one = self.words.iter().any(|known| *known == word || !known.starts_with(char::is_uppercase) && known.eq_ignore_ascii_case(word));
        is_one != self.is_other
    }
}

/// The phrases by their first word, in lower case.
struct Phrases(HashMap<String, Vec<(Vec<Slot>, &'static str)>>);

impl Phrases {
    fn new() -> Self {
        let mut all: HashMap<String, Vec<_>> = HashMap::new();
        for (phrase, instead) in PHRASES {
            let slots: Vec<Slot> = phrase.split(' ').map(Slot::read).collect();
            for first in slots[0].words.clone() {
                let slots = phrase.split(' ').map(Slot::read).collect();
                all.entry(first.to_ascii_lowercase()).or_default().push((slots, *instead));
            }
        }
        Self(all)
    }

    /// Returns the first phrase in a line, and the advice for it.
    fn find(&self, line: &str) -> Option<(String, &'static str)> {
        runs(line).find_map(|run| {
            (0..run.len()).find_map(|at| {
                let rest = &run[at..];
                let known = self.0.get(&rest[0].to_ascii_lowercase())?;
                let is_found = |slots: &[Slot]| slots.len() <= rest.len() && slots.iter().zip(rest).all(|(slot, word)| slot.matches(word));
                let (slots, instead) = known.iter().find(|(slots, _)| is_found(slots))?;
                Some((rest[..slots.len()].join(" "), *instead))
            })
        })
    }
}

/// Returns the runs of words that only single spaces separate.
fn runs(line: &str) -> impl Iterator<Item = Vec<&str>> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'');
    let parts = line.split(move |c: char| !is_word(c) && c != ' ');
    parts
        .flat_map(|part| part.split("  "))
        .map(|part| part.split(' ').filter(|word| !word.is_empty()).collect())
        .filter(|run: &Vec<&str>| !run.is_empty())
}

/// Checks all texts that people read.
pub fn check(files: &[File], found: &mut Vec<String>) {
    let phrases = Phrases::new();
    for file in files.iter().filter(|file| is_checked(file)) {
        for (number, line) in (1..).zip(file.text.lines()) {
            if let Some((phrase, instead)) = phrases.find(line)
                && !EXCEPTIONS.iter().any(|(path, known, _)| *path == file.path && known.eq_ignore_ascii_case(&phrase))
            {
                found.push(format!("{}:{number}: `{phrase}` must be read twice; {instead}", file.path));
            }
            if file.path.ends_with(".rs")
                && let Some(why) = function_name(line)
            {
                found.push(format!("{}:{number}: {why}", file.path));
            }
        }
    }
}

fn is_checked(file: &File) -> bool {
    let is_data = file.path.contains("/generated/") || file.path.starts_with("fuzz/corpus/") || file.path == LIST;
    CHECKED.iter().any(|end| file.path.ends_with(end)) && !is_data && !file.text.starts_with("// @generated")
}

/// Returns what is wrong with the name of a function that the line declares.
fn function_name(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    words.find(|word| *word == "fn")?;
    let name = words.next()?.split(['(', '<']).next()?;
    if name.split('_').count() > MOST_WORDS {
        return Some(format!("`{name}` has more than {MOST_WORDS} words; write `<unit>_<condition>_<result>`"));
    }
    if RIDDLES.iter().any(|begin| name.starts_with(begin)) || SAYING.contains(&name.split('_').next()?) {
        return Some(format!("`{name}` does not name what it does; begin with a verb or with the tested unit"));
    }
    None
}
