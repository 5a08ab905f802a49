//! Detects the configuration languages of an input from its text, before it is read, by the claims of the dialects. Does not read objects.

use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Claim, Dialect, Options};
use chancery_base::diagnostic::{Diagnostic, Place, codes};
use chancery_base::read::{self, DocumentCache, ReadOptions};
use chancery_base::resource::{Inputs, Object, Objects, ResourceKey, installs, makes_secret, nearest};
use chancery_text::{Node, series};
use core::ops::Range;
use memchr::memmem::{self, Finder};

/// The dialects of an input, and the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detection {
    /// The detected dialects in the order of the list, each with its first matching claim.
    pub found: Vec<(&'static Dialect, Claim)>,
    /// The dialect that is assumed if the input does not identify one.
    pub assumed: Option<&'static Dialect>,
}

impl Detection {
    /// The dialects in the order of the list.
    pub fn dialects(&self) -> Vec<&'static Dialect> {
        if self.found.is_empty() { self.assumed.into_iter().collect() } else { self.found.iter().map(|(dialect, _)| *dialect).collect() }
    }
}

impl Detection {
    /// The notice if the input does not identify a controller, although controllers would treat it differently.
    pub(super) fn notice(&self, objects: &Objects, dialects: &[&'static Dialect]) -> Option<Diagnostic> {
        let (dialect, why) = match (&self.found[..], self.assumed) {
            ([(dialect, claim)], _) if claim.is_shared() => (*dialect, format!("because of {claim}")),
            ([], Some(dialect)) => (dialect, "because it comes first".into()),
            _ => return None,
        };
        // Some dialect must judge objects that no dialect reads.
        let is_read = |object: &Object| dialects.iter().any(|dialect| dialect.reads(&object.key));
        if self.found.is_empty() && objects.iter().any(|object| !object.key.kind.is_empty()) && !objects.iter().any(is_read) {
            let names: Vec<&str> = dialects.iter().map(|dialect| dialect.controller).collect();
            let message = format!("none of the requested controllers reads any of the input; the findings are for {}", dialect.controller);
            return Some(Diagnostic::new(&codes::ASSUMED_DIALECT, message, Place::Whole).help(format!("it was read for {}", names.join(", "))));
        }
        // The core group means the same to all dialects.
        let object = objects.iter().find(|object| !object.broken && !object.key.group.is_empty() && dialect.reads(&object.key))?;
        let readers: Vec<&'static Dialect> = dialects.iter().copied().filter(|other| other.reads(&object.key)).collect();
        if readers.len() < 2 {
            return None;
        }
        let controllers: Vec<&str> = readers.iter().map(|reader| reader.controller).collect();
        let both = if readers.len() == 2 { "both read" } else { "all read" };
        let message = format!("{} {both} this input, which names no controller; it is read for {}, {why}", series(&controllers), dialect.controller);
        let names: Vec<&str> = readers.iter().map(|reader| reader.name).collect();
        let help = format!("choose with `--dialect`, `dialect` in chancery.toml or the page's picker: {}", names.join(", "));
        Some(Diagnostic::new(&codes::ASSUMED_DIALECT, message, Place::Whole).help(help))
    }
}

/// Detects the dialects of an input.
///
/// A claim of one dialect selects that dialect, and an input may have several. Without such a claim, a shared claim selects the first dialect that
/// has it; without a shared claim, the first dialect of the list is assumed. The class of an Ingress outweighs its annotations.
pub fn detect(inputs: &Inputs, dialects: &[&'static Dialect]) -> Detection {
    detect_with(inputs, dialects, &mut ClaimMemory::default())
}

/// Like [`detect`], with the results of earlier compiles for the same dialects.
pub(super) fn detect_with(inputs: &Inputs, dialects: &[&'static Dialect], memory: &mut ClaimMemory) -> Detection {
    let found = recognise_with(inputs, dialects.iter().map(|dialect| dialect.claims), memory);
    let mut found: Vec<_> = found.into_iter().filter_map(|(at, claim)| Some((*dialects.get(at)?, claim))).collect();
    remove_outweighed(inputs, &mut found);
    let assumed = dialects.first().copied().filter(|_| found.is_empty());
    Detection { found, assumed }
}

/// Removes dialects that only annotations of Ingresses name, if the class of each of these Ingresses names the controller of another dialect.
fn remove_outweighed(inputs: &Inputs, found: &mut Vec<(&'static Dialect, Claim)>) {
    if found.len() < 2 {
        return;
    }
    let all: Vec<&'static Dialect> = found.iter().map(|(dialect, _)| *dialect).collect();
    found.retain(|(dialect, claim)| {
        let Claim::Annotation(prefix) = claim else { return true };
        let has_word = |text: &str, word: &str| memmem::find(text.as_bytes(), word.as_bytes()).is_some();
        let others = || dialect.claims.iter().filter(|other| !other.is_shared() && *other != claim);
        if others().any(|other| inputs.inputs.iter().any(|input| Search::new(other).is_in(&input.text))) {
            return true;
        }
        let texts = inputs.inputs.iter().filter(|input| has_word(&input.text, prefix) || has_word(&input.text, "IngressClass"));
        let (objects, _) = read::read(&Inputs::from(texts.cloned().collect::<Vec<_>>()), &ReadOptions::default(), &mut DocumentCache::new());
        let annotated = objects.iter().filter(|object| annotations(object).any(|(key, _)| key.starts_with(prefix)));
        let is_outweighed = |object: &Object| class_owner(object, &objects, &all).is_some_and(|owner| owner.name != dialect.name);
        let mut verdicts = annotated.map(is_outweighed).peekable();
        verdicts.peek().is_none() || !verdicts.all(|is_outweighed| is_outweighed)
    });
}

fn annotations(object: &Object) -> impl Iterator<Item = (&str, &str)> {
    let all = object.root.at(&["metadata", "annotations"]).and_then(Node::as_object);
    all.into_iter().flatten().filter_map(|entry| Some((&*entry.key, entry.value.as_str()?)))
}

/// Returns the dialect whose controller the class of an Ingress names, directly or by an IngressClass.
fn class_owner(ingress: &Object, objects: &Objects, dialects: &[&'static Dialect]) -> Option<&'static Dialect> {
    if *ingress.key.kind != *"Ingress" {
        return None;
    }
    let owner = |is_named: &dyn Fn(&Claim) -> bool| dialects.iter().copied().find(|dialect| dialect.claims.iter().any(is_named));
    let name = ingress.root.at(&["spec", "ingressClassName"]).and_then(Node::as_str);
    let is_class = |object: &&Object| *object.key.kind == *"IngressClass" && Some(&*object.key.name) == name;
    if let Some(class) = objects.iter().find(is_class) {
        let controller = class.root.at(&["spec", "controller"]).and_then(Node::as_str)?;
        return owner(&|claim| matches!(claim, Claim::Field("controller", start) if controller.starts_with(start)));
    }
    let class = name.or_else(|| annotations(ingress).find(|(key, _)| *key == "kubernetes.io/ingress.class").map(|(_, class)| class))?;
    owner(&|claim| matches!(claim, Claim::IngressClass(known) if *known == class))
}

/// The languages of an input, by index in the list, each with its first matching claim. Empty if the input does not identify one.
pub fn recognise(inputs: &Inputs, languages: impl Iterator<Item = &'static [Claim]>) -> Vec<(usize, Claim)> {
    recognise_with(inputs, languages, &mut ClaimMemory::default())
}

fn recognise_with(inputs: &Inputs, languages: impl Iterator<Item = &'static [Claim]>, memory: &mut ClaimMemory) -> Vec<(usize, Claim)> {
    let claims: Vec<(usize, &Claim)> = languages.enumerate().flat_map(|(at, claims)| claims.iter().map(move |claim| (at, claim))).collect();
    memory.align(inputs);
    let mut found: Vec<(usize, Claim)> = Vec::new();
    for is_shared in [false, true] {
        for (bit, (at, claim)) in claims.iter().enumerate().filter(|(_, (_, claim))| claim.is_shared() == is_shared) {
            let is_known = found.last().is_some_and(|(last, _)| last == at);
            if !is_known && memory.holds(bit, claim) {
                found.push((*at, **claim));
                // A shared mark decides only for the first language.
                if is_shared {
                    break;
                }
            }
        }
        if !found.is_empty() {
            break;
        }
    }
    found
}

/// Caches the claims that match each input. An unchanged input is not searched again; in an edited input, only the changed part is searched if the
/// claim's word was absent before.
#[derive(Default)]
pub(super) struct ClaimMemory {
    texts: Vec<Searched>,
    /// The inputs that are new in this compile.
    fresh: Vec<usize>,
    /// One bit per claim that matches no text except perhaps the new ones.
    nowhere: u64,
    /// One bit per claim that this compile searched for.
    looked: u64,
}

/// A text, with one bit per claim: searched, matching, and word absent.
struct Searched {
    text: Arc<str>,
    looked: u64,
    held: u64,
    absent: u64,
    before: Option<Edited>,
}

/// The text before an edit.
struct Edited {
    /// The claims whose words it did not contain.
    absent: u64,
    /// The changed range of the new text.
    differs: Range<usize>,
}

impl Searched {
    /// An unsearched text that replaces another one.
    fn new(text: &Arc<str>, before: Option<Self>) -> Self {
        let edited = |before: Self| Edited { absent: before.absent, differs: difference(&before.text, text) };
        Self { text: text.clone(), looked: 0, held: 0, absent: 0, before: before.filter(|before| before.absent != 0).map(edited) }
    }

    fn look(&mut self, bit: u64, search: &Search<'_>) {
        let is_absent = match self.before.as_ref().filter(|before| before.absent & bit != 0) {
            Some(before) => !search.stands_first(&self.text) && !search.has_word(reach(&self.text, &before.differs, search.rare.needle().len())),
            None => false,
        };
        let held = if is_absent { None } else { search.look(&self.text) };
        self.looked |= bit;
        match held {
            Some(true) => self.held |= bit,
            Some(false) => {}
            None => self.absent |= bit,
        }
    }
}

/// The range in which a text differs from its previous version.
fn difference(before: &str, now: &str) -> Range<usize> {
    const STEP: usize = 1024;
    let (before, now) = (before.as_bytes(), now.as_bytes());
    let same = before.chunks(STEP).zip(now.chunks(STEP)).take_while(|(a, b)| a == b).map(|(a, _)| a.len()).sum();
    let (before, rest) = (before.get(same..).unwrap_or_default(), now.get(same..).unwrap_or_default());
    let same_end: usize = before.rchunks(STEP).zip(rest.rchunks(STEP)).take_while(|(a, b)| a == b).map(|(a, _)| a.len()).sum();
    same..now.len() - same_end
}

/// A range of a text, extended by the length of a word that may overlap it.
fn reach<'t>(text: &'t str, range: &Range<usize>, length: usize) -> &'t [u8] {
    let (start, end) = (range.start.saturating_sub(length), range.end.saturating_add(length).min(text.len()));
    text.as_bytes().get(start..end).unwrap_or_default()
}

impl ClaimMemory {
    /// Keeps the results of unchanged texts when single texts were added, removed or replaced.
    fn align(&mut self, inputs: &Inputs) {
        self.nowhere &= core::mem::take(&mut self.looked);
        self.fresh.clear();
        let same = self.texts.iter().zip(&inputs.inputs).take_while(|(known, input)| Arc::ptr_eq(&known.text, &input.text)).count();
        let mut before = self.texts.split_off(same).into_iter().peekable();
        let mut texts = inputs.inputs.iter().skip(same).map(|input| &input.text).peekable();
        while let Some(text) = texts.next() {
            let is = |known: &Searched, text: &Arc<str>| Arc::ptr_eq(&known.text, text);
            let came = before.peek().is_some_and(|known| !is(known, text) && texts.peek().is_some_and(|next| is(known, next)));
            let mut known = if came { None } else { before.next() };
            if known.as_ref().is_some_and(|known| !is(known, text)) && before.peek().is_some_and(|next| is(next, text)) {
                known = before.next();
            }
            let known = match known {
                Some(known) if is(&known, text) => known,
                other => {
                    self.fresh.push(self.texts.len());
                    Searched::new(text, other)
                }
            };
            self.texts.push(known);
        }
    }

    /// Whether a claim matches any text. `bit` is its number.
    fn holds(&mut self, bit: usize, claim: &Claim) -> bool {
        let search = Search::new(claim);
        // Claims without a bit are searched each time.
        let bit = u32::try_from(bit).ok().and_then(|bit| 1_u64.checked_shl(bit)).unwrap_or_default();
        if bit == 0 {
            return self.texts.iter().any(|known| search.is_in(&known.text));
        }
        let mut holds = |known: &mut Searched| {
            if known.looked & bit == 0 {
                known.look(bit, &search);
            }
            known.held & bit != 0
        };
        let is_held = match self.nowhere & bit == 0 {
            true => self.texts.iter_mut().any(holds),
            false => self.fresh.iter().any(|at| self.texts.get_mut(*at).is_some_and(&mut holds)),
        };
        self.looked |= bit;
        self.nowhere = if is_held { self.nowhere & !bit } else { self.nowhere | bit };
        is_held
    }
}

/// Whether a file that the user did not name contains an object that one of these dialects reads, or that is certainly meant for one, or an object
/// that makes an operator create Secrets or Services. A folder also contains other programs' files, whose problems are not reported.
///
/// `asked` is the dialect that the user chose, if any. A dialect without claims accepts every file then.
pub fn is_claimed(text: &str, asked: Option<&'static Dialect>, dialects: &[&'static Dialect]) -> bool {
    if asked.is_some_and(|dialect| dialect.claims.is_empty()) {
        return true;
    }
    let known = || dialects.iter().filter(|dialect| !dialect.claims.is_empty());
    let says_enough = |claim: &&Claim| !matches!(claim, Claim::IngressClass(_));
    if known().flat_map(|dialect| dialect.claims).filter(says_enough).any(|claim| Search::new(claim).is_in(text)) {
        return true;
    }
    let read_options = asked.map_or_else(ReadOptions::default, |dialect| (dialect.read_options)(&Options::default()));
    if asked.is_none() && memmem::find(text.as_bytes(), b"kind").is_none() {
        return false;
    }
    let (objects, _) = read::read(&Inputs::one("", text), &read_options, &mut DocumentCache::new());
    let creates = |key: &ResourceKey| makes_secret(key) || installs(key);
    objects.iter().any(|object| creates(&object.key) || known().any(|dialect| dialect.reads(&object.key) || is_meant_for(dialect, &object.key)))
}

/// Whether the kind belongs to the dialect except for an error in its group: missing, misspelt, or with a prefix.
fn is_meant_for(dialect: &Dialect, key: &ResourceKey) -> bool {
    let is_near = |group: &str| {
        let is_below = || key.group.strip_suffix(group).is_some_and(|rest| rest.ends_with('.'));
        key.group.is_empty() || is_below() || nearest(&key.group, [group]).is_some()
    };
    (dialect.listing)().iter().any(|kind| kind.own && !kind.group.is_empty() && *key.kind == *kind.name && is_near(kind.group))
}

/// A claim that is searched in many texts.
struct Search<'c> {
    claim: &'c Claim,
    /// Its rarest word.
    rare: Finder<'c>,
}

impl<'c> Search<'c> {
    fn new(claim: &'c Claim) -> Self {
        let rare = match claim {
            Claim::Version(group) | Claim::SharedVersion(group) => group,
            Claim::Annotation(prefix) | Claim::SharedAnnotation(prefix) => prefix,
            Claim::IngressClass(_) => "ngress",
            Claim::Field(key, "") => key,
            // The value is written in one case.
            Claim::Field(_, value) => value,
            Claim::Keys(name, _) => name,
            // The word occurs in most texts, but rarely at the start of a line.
            Claim::Block(name) => return Self { claim, rare: Finder::new(&format!("\n{name}")).into_owned() },
        };
        Self { claim, rare: Finder::new(rare) }
    }

    /// Whether a text starts with the block's word, where no line break precedes it.
    fn stands_first(&self, text: &str) -> bool {
        let is_before = |c: char| c.is_whitespace() || matches!(c, '\u{feff}' | '{' | '"');
        matches!(self.claim, Claim::Block(name) if text.trim_start_matches(is_before).starts_with(name))
    }

    fn has_word(&self, text: &[u8]) -> bool {
        self.rare.find(text).is_some()
    }

    fn is_in(&self, text: &str) -> bool {
        self.look(text) == Some(true)
    }

    /// Whether the claim matches a text. `None` if the text does not contain its word.
    fn look(&self, text: &str) -> Option<bool> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut places = self.rare.find_iter(text.as_bytes()).peekable();
        if places.peek().is_none() && !self.stands_first(text) {
            return None;
        }
        Some(match self.claim {
            Claim::Version(_) | Claim::SharedVersion(_) => begins_version(text, places),
            Claim::Annotation(_) | Claim::SharedAnnotation(_) => begins_key(text, places),
            Claim::IngressClass(class) => is_class(text, class),
            Claim::Field(key, value) => has_field(text, key, value, places),
            Claim::Block(name) => begins_block(text, name, places),
            Claim::Keys(first, others) => places.any(|at| is_key(text, at, first)) && has_keys(text, first, others),
        })
    }
}

/// Whether HCL has a top-level block or object of this name, or JSON starts with one: nested ones are indented. The lines that end at these
/// positions are followed by the name.
fn begins_block(text: &str, name: &str, places: impl Iterator<Item = usize>) -> bool {
    let opens = |after: &str| after.trim_start().starts_with(['{', '[']);
    let json = text.trim_start().strip_prefix('{').and_then(|rest| rest.trim_start().strip_prefix('"')?.strip_prefix(name)?.strip_prefix('"'));
    if json.and_then(|rest| rest.trim_start().strip_prefix(':')).is_some_and(opens) {
        return true;
    }
    let first = text.starts_with(name).then_some(0);
    first.into_iter().chain(places.map(|end| end + 1)).any(|at| {
        let after = text.get(at + name.len()..).unwrap_or_default().trim_start_matches([' ', '\t']);
        after.starts_with('{') || after.strip_prefix('=').is_some_and(opens)
    })
}

/// Whether a key is at a position, in YAML, JSON or HCL.
fn is_key(text: &str, at: usize, key: &str) -> bool {
    let after = text.get(at + key.len()..).unwrap_or_default().trim_start_matches(['"', '\'']).trim_start_matches(' ');
    after.starts_with([':', '=', '{']) && begins_entry(before(text, at))
}

/// Whether a document has these keys at the top level, the first with a string. Nested objects have them deeper. This does not parse: the page
/// selects its worker with it and has no parser.
fn has_keys(text: &str, first: &'static str, others: &[&'static str]) -> bool {
    chancery_text::split(text).into_iter().any(|chunk| {
        let text = chunk.range.slice(text);
        let places = |key: &'static str| memmem::find_iter(text.as_bytes(), key).filter(move |at| is_key(text, *at, key));
        let says_text = |at: &usize| {
            let rest = text.get(at + first.len()..).unwrap_or_default().trim_start_matches(['"', '\'', ' ']);
            rest.strip_prefix([':', '=']).is_some_and(|value| !value.trim_start_matches(' ').starts_with(['{', '[', '|', '>', '\n']))
        };
        if others.iter().any(|key| places(key).next().is_none()) {
            return false;
        }
        let outermost = Outermost::of(text);
        let mut is_outermost = outermost.filter(text);
        places(first).any(|at| is_outermost(at) && says_text(&at)) && others.iter().all(|key| places(key).any(outermost.filter(text)))
    })
}

/// Where the top-level keys of a document, or of the items of its list, are.
#[derive(Clone, Copy)]
enum Outermost {
    /// Inside this many brackets, which start here.
    Brackets { begin: usize, depth: usize },
    /// At this column, outside brackets.
    Column(usize),
}

impl Outermost {
    fn of(text: &str) -> Self {
        let is_said = |line: &&str| !line.trim().is_empty() && !line.starts_with(['#', '%']) && !line.starts_with("---");
        let line = text.split_inclusive('\n').find(is_said).unwrap_or_default();
        let begin = text.split_inclusive('\n').take_while(|line| !is_said(line)).map(str::len).sum();
        let column = line.len() - line.trim_start_matches(['-', ' ']).len();
        let rest = text.get(begin + column..).unwrap_or_default();
        if rest.starts_with(['{', '[']) {
            let is_opened = |c: &char| c.is_whitespace() || matches!(c, '{' | '[');
            let depth = rest.chars().take_while(is_opened).filter(|c| !c.is_whitespace()).count();
            return Self::Brackets { begin, depth };
        }
        Self::Column(column)
    }

    /// Whether positions are top-level. They must be passed in order.
    fn filter(self, text: &str) -> impl FnMut(usize) -> bool {
        let mut brackets = Brackets::default();
        if let Self::Brackets { begin, .. } = self {
            brackets.read = begin;
        }
        move |at| match self {
            Self::Brackets { depth, .. } => brackets.until(text, at) == depth,
            Self::Column(column) => {
                let before = before(text, at).trim_end_matches(['"', '\'']);
                let begin = before.len().checked_sub(column).and_then(|begin| before.split_at_checked(begin));
                begin.is_some_and(|(lines, indent)| ends_line(lines) && indent.chars().all(|c| matches!(c, ' ' | '-')))
            }
        }
    }
}

/// The bracket depth of a position. Brackets in quotes are ignored.
#[derive(Default)]
struct Brackets {
    read: usize,
    depth: usize,
    quote: Option<u8>,
    is_escaped: bool,
    /// The last non-space character: a quotation mark within a word opens nothing.
    last: u8,
}

impl Brackets {
    fn until(&mut self, text: &str, at: usize) -> usize {
        for byte in text.as_bytes().get(self.read..at).unwrap_or_default() {
            match (self.quote, byte) {
                _ if self.is_escaped => self.is_escaped = false,
                (Some(b'"'), b'\\') => self.is_escaped = true,
                (Some(open), byte) if open == *byte => self.quote = None,
                (Some(_), _) => {}
                (None, b'"' | b'\'') if matches!(self.last, 0 | b'{' | b'[' | b',' | b':' | b'=') => self.quote = Some(*byte),
                (None, b'{' | b'[') => self.depth += 1,
                (None, b'}' | b']') => self.depth = self.depth.saturating_sub(1),
                (None, _) => {}
            }
            if !byte.is_ascii_whitespace() {
                self.last = *byte;
            }
        }
        self.read = self.read.max(at);
        self.depth
    }
}

/// Whether a text is HCL with a labelled block, as other programs use for resources or jobs: Consul has none.
fn has_labelled_block(text: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    text.lines().any(|line| {
        let rest = line.trim_start_matches(is_name);
        rest.len() < line.len() && rest.starts_with(' ') && rest.trim_start().starts_with('"') && rest.trim_end().ends_with('{')
    })
}

/// Whether a key, ignoring case, has a value with this prefix, in YAML, JSON or HCL.
fn has_field(text: &str, key: &str, value: &str, mut places: impl Iterator<Item = usize>) -> bool {
    let found = places.any(|at| {
        if value.is_empty() {
            return is_key(text, at, key);
        }
        let before = before(text, at);
        let written = before.trim_end_matches([' ', '"', '\'', ':', '=']);
        let parts = written.len().checked_sub(key.len()).and_then(|at| written.split_at_checked(at)).filter(|_| written.len() < before.len());
        parts.is_some_and(|(rest, name)| {
            let is_whole = rest.is_empty() || rest.ends_with(['{', ',', ' ', '\t', '"', '\'', '\n']);
            name.eq_ignore_ascii_case(key) && is_whole && begins_entry(rest)
        })
    });
    found && !has_labelled_block(text)
}

/// Whether a group at these positions is in an `apiVersion`.
fn begins_version(text: &str, mut places: impl Iterator<Item = usize>) -> bool {
    const AROUND: [char; 5] = [' ', '"', '\'', ':', '-'];
    places.any(|at| {
        let rest = before(text, at).trim_end_matches(AROUND).strip_suffix("apiVersion").map(|rest| rest.trim_end_matches(AROUND));
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(['{', ',', '\n']))
    })
}

/// Whether a text at these positions starts an annotation's key, on its own line or in braces.
fn begins_key(text: &str, mut places: impl Iterator<Item = usize>) -> bool {
    let is_in_braces = |at: usize| {
        let key = text.get(at..).unwrap_or_default().trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '-' | '_'));
        let before = before(text, at).trim_end_matches(['"', '\'']).trim_end_matches(' ');
        before.ends_with(['{', ',']) && key.trim_start_matches(['"', '\'']).starts_with(':')
    };
    places.any(|at| ends_line(before(text, at).trim_end_matches([' ', '-', '{', '"', '\''])) || is_in_braces(at))
}

/// Whether an Ingress has a class.
fn is_class(text: &str, class: &str) -> bool {
    let names = ["ingressClassName:", "kubernetes.io/ingress.class:"];
    names.iter().any(|name| {
        let mut places = memmem::find_iter(text.as_bytes(), name).peekable();
        core::iter::from_fn(|| {
            // The value of the last one on a line ends the line.
            let mut at = places.next()?;
            let end = text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |length| at + length);
            while let Some(next) = places.next_if(|next| *next < end) {
                at = next;
            }
            Some((before(text, at).rsplit('\n').next().unwrap_or_default(), text.get(at + name.len()..end).unwrap_or_default()))
        })
        .any(|(before, value)| {
            !before.contains('#') && value.split([',', '}']).next().is_some_and(|value| value.trim_matches([' ', '"', '\'', '\r']) == class)
        })
    })
}

/// The text before a position. Callers search back as little as possible, since one line may be the whole text.
fn before(text: &str, at: usize) -> &str {
    text.get(..at).unwrap_or_default()
}

/// Whether a text ends where an object's or list's entry starts.
fn begins_entry(text: &str) -> bool {
    let rest = text.trim_end_matches([' ', '\t', '-', '"', '\'']);
    rest.is_empty() || rest.ends_with(['{', ',', '[', '\n'])
}

/// Whether a text ends where a line starts.
fn ends_line(text: &str) -> bool {
    text.is_empty() || text.ends_with('\n')
}
