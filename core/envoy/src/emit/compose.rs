//! Puts a document together from pieces.
//!
//! It writes a message without its large lists, removes the closing brace, adds the missing members, and closes it again. Shared pieces are made
//! once and inserted by reference. On request it also writes the text, records the output map, and checks field rules.
//!
//! Does not choose the pieces; see `document`.

use super::memory::{EncodedForms, Entry, Memo, RequestedForms};
use super::verbatim_memory::VerbatimMemory;
use super::{runs, verbatim};
use crate::Layout;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::executor::{self, Executor};
use chancery_base::ir::{Plain, Tree};
use chancery_base::output_map::{Fragment, List, OutputMap, Trace};
use chancery_base::rope::Rope;
use chancery_envoy_api::describe::{Describe, Reflect, Value};
use chancery_envoy_api::json::{self, Style};
use chancery_envoy_api::rules::{self, validate};
use chancery_text::{Str, write_quoted};

/// The receiver of a document that is not kept as text.
pub(super) struct Outlet<'o> {
    /// Receives the text in parts.
    pub(super) put: &'o mut dyn FnMut(&Rope),
    pub(super) executor: &'o dyn Executor,
}

/// For a streamed document, this many shared values are in memory as text at a time.
const AT_ONCE: usize = 2048;

/// Whether a value or list is used in only one place, so that its text need not be kept.
pub(super) fn is_needed_once<T>(of: &Arc<T>) -> bool {
    Arc::strong_count(of) == 1
}

/// A document under construction.
pub(super) struct Composer<'o> {
    layout: Layout,
    /// The receiver of finished parts, if the text is streamed.
    outlet: Option<Outlet<'o>>,
    /// The text, if it is requested.
    rope: Option<Rope>,
    trace: Trace,
    lists: Vec<List>,
    /// Broken rules, if they are checked. Pointers are those of the document.
    broken: Option<Vec<rules::Violation>>,
    /// Index of the current or next element in the open list.
    index: usize,
    /// Indentation level of the open value.
    level: usize,
    /// Whether the open value already has a member.
    filled: bool,
    scratch: Vec<u8>,
}

impl<'o> Composer<'o> {
    /// Writes the text.
    pub(super) fn text(layout: Layout) -> Self {
        Self { rope: Some(Rope::new()), ..Self::silent(layout) }
    }

    /// Writes the text to an outlet: finished parts are passed on immediately.
    pub(super) fn stream(layout: Layout, outlet: Outlet<'o>) -> Self {
        Self { outlet: Some(outlet), ..Self::text(layout) }
    }

    /// Whether the text is streamed.
    pub(super) fn streams(&self) -> bool {
        self.outlet.is_some()
    }

    /// Records the output map.
    pub(super) fn map() -> Self {
        Self { trace: Trace::on(), ..Self::silent(Layout::Compact) }
    }

    /// Checks rules.
    pub(super) fn rules() -> Self {
        Self { broken: Some(Vec::new()), ..Self::silent(Layout::Compact) }
    }

    /// Checks rules and records the output map, which provides their places.
    pub(super) fn broken_rules() -> Self {
        Self { broken: Some(Vec::new()), ..Self::map() }
    }

    fn silent(layout: Layout) -> Self {
        Self {
            layout,
            outlet: None,
            rope: None,
            trace: Trace::off(),
            lists: Vec::new(),
            index: 0,
            broken: None,
            level: 0,
            filled: false,
            scratch: Vec::new(),
        }
    }

    /// Returns the text, without the parts that were streamed.
    pub(super) fn into_rope(self) -> Rope {
        self.rope.unwrap_or_default()
    }

    pub(super) fn into_map(self) -> (OutputMap, Vec<rules::Violation>) {
        (OutputMap::new(self.trace.finish(), self.lists), self.broken.unwrap_or_default())
    }

    /// Writes an object whose members `members` adds.
    pub(super) fn object(&mut self, members: impl FnOnce(&mut Self)) {
        self.open("{");
        let outer = self.nest(false, members);
        self.close('}', outer);
    }

    /// Writes a message, with further members from `members`. `stand_in` completes the message for the check of its rules.
    pub(super) fn message<M: Reflect + Clone>(
        &mut self,
        emit: impl FnOnce(&mut Trace) -> M,
        stand_in: impl FnOnce(&mut M),
        members: impl FnOnce(&mut Self),
    ) {
        let message = emit(&mut self.trace);
        self.check(&message, stand_in);
        let filled = self.open_with(|out, style| json::write(out, &message, style));
        let outer = self.nest(filled, members);
        self.close('}', outer);
    }

    /// Like [`Composer::message`], for a message in an `Any`.
    pub(super) fn packed<M: chancery_envoy_api::any::AnyMessage + chancery_envoy_api::describe::Describe + Clone + 'static>(
        &mut self,
        emit: impl FnOnce(&mut Trace) -> M,
        stand_in: impl FnOnce(&mut M),
        members: impl FnOnce(&mut Self),
    ) {
        let message = emit(&mut self.trace);
        self.check(&message, stand_in);
        let filled = if self.rope.is_some() {
            let any = chancery_envoy_api::Any::pack(message);
            self.open_with(|out, style| json::write_value(out, Value::Any(&any), style))
        } else {
            false
        };
        let outer = self.nest(filled, members);
        self.close('}', outer);
    }

    /// Writes a complete message.
    pub(super) fn whole<M: Reflect + Clone>(&mut self, emit: impl FnOnce(&mut Trace) -> M) {
        let message = emit(&mut self.trace);
        self.check(&message, |_| {});
        if let Some(rope) = &mut self.rope {
            self.scratch.clear();
            json::write(&mut self.scratch, &message, &style(self.layout, self.level));
            rope.push_str(core::str::from_utf8(&self.scratch).unwrap_or_default());
        }
    }

    /// Whether broken rules are collected.
    pub(super) fn judges(&self) -> bool {
        self.broken.is_some()
    }

    /// Writes a message that is passed on verbatim, with what Envoy rejects of it.
    pub(super) fn verbatim<M: Describe>(&mut self, of: &Tree, found: &[rules::Violation], memory: &mut VerbatimMemory) {
        if let Some(broken) = &mut self.broken {
            add_broken(broken, self.trace.path(), found);
        }
        // A streamed text is written once.
        let streams = self.streams();
        if let Some(rope) = &mut self.rope {
            if streams {
                let indent = (self.layout == Layout::Pretty).then_some(self.level * 2);
                rope.append(|glue| of.write_json(glue, indent));
            } else if verbatim::may_hold_hosts::<M>() {
                write_parts(rope, of, (self.layout, self.level), memory);
            } else {
                rope.push_shared(memory.text(of, self.layout, self.level));
            }
        }
        if self.trace.is_on() {
            note(of, &mut self.trace);
        }
    }

    /// Writes a shared message as a list element, and makes it only if the cache does not have it.
    pub(super) fn shared<T, M: Reflect>(&mut self, entry: &mut Entry<T>, emit: impl Fn(&mut Trace) -> M) {
        let (layout, level) = (self.layout, self.level);
        if let Some(rope) = &mut self.rope {
            rope.push_shared(text(entry, layout, level, &mut self.scratch, &emit));
        }
        if self.trace.is_on() {
            self.add_fragment(fragment(entry, &emit));
        }
        self.check_shared(entry, &emit);
    }

    /// Reports the rules that a shared message breaks. Returns whether it breaks none.
    fn check_shared<T, M: Reflect>(&mut self, entry: &mut Entry<T>, emit: impl Fn(&mut Trace) -> M) -> bool {
        let Some(broken) = &mut self.broken else { return true };
        let is_first = entry.is_first_report();
        let found = entry.broken(|| validate(&emit(&mut Trace::off())));
        if is_first {
            add_broken(broken, self.trace.path(), found);
        }
        found.is_empty()
    }

    /// The same for the next run.
    fn check_run<T, M: Reflect>(&mut self, run: &[Arc<T>], memo: &mut Memo<T>, emit: &impl Fn(&T, &mut Trace) -> M) -> bool {
        let mut sound = true;
        for (at, of) in run.iter().enumerate() {
            let mark = self.trace.enter_item(self.index + at);
            sound &= self.check_shared(memo.entry(of), |t| emit(of, t));
            self.trace.leave(mark);
        }
        sound
    }

    /// Adds the recorded map of the current element.
    fn add_fragment(&mut self, fragment: Arc<Fragment>) {
        let list = self.trace.path().rsplit_once('/').map_or("", |(list, _)| list);
        match self.lists.last_mut() {
            Some(last) if last.pointer == list && last.first + last.elements.len() == self.index => {
                Arc::make_mut(&mut last.elements).push(fragment);
            }
            _ => self.lists.push(List { pointer: list.into(), first: self.index, elements: Arc::new([fragment].into()) }),
        }
    }

    /// Encodes many shared values on all threads of the host, in the requested forms. The results are cached: [`Composer::elements`] reads them
    /// from the cache.
    pub(super) fn prepare<'t, T, M>(
        &self,
        all: impl Iterator<Item = &'t Arc<T>>,
        memo: &mut Memo<T>,
        executor: &dyn Executor,
        emit: impl Fn(&T, &mut Trace) -> M + Sync,
    ) where
        T: Send + Sync + 't,
        M: Reflect,
    {
        if executor.threads() < 2 {
            return;
        }
        let text = self.rope.is_some() && self.layout == Layout::Compact;
        let wanted = memo.take_missing(RequestedForms { text, fragment: self.trace.is_on(), rules: self.broken.is_some() });
        if !(wanted.text || wanted.fragment || wanted.rules) {
            return;
        }
        let mut values: Vec<&Arc<T>> = all.collect();
        values.sort_by_key(|value| Arc::as_ptr(value).addr());
        values.dedup_by(|a, b| Arc::ptr_eq(a, b));
        let made = executor::map(executor, &values, |value| {
            let silent = || emit(value, &mut Trace::off());
            EncodedForms {
                text: wanted.text.then(|| written(&silent(), Layout::Compact, 0, &mut Vec::new())),
                fragment: wanted.fragment.then(|| recorded(|trace| emit(value, trace))),
                broken: wanted.rules.then(|| validate(&silent())),
            }
        });
        values.into_iter().zip(made).for_each(|(value, made)| memo.keep(value, made));
    }

    /// Writes shared elements of the open list. Long lists are processed in runs: a cached run is inserted without visiting its elements.
    pub(super) fn elements<T, M: Reflect>(&mut self, elements: &[Arc<T>], memo: &mut Memo<T>, emit: impl Fn(&T, &mut Trace) -> M) {
        if elements.len() < runs::LONG {
            return elements.iter().for_each(|of| self.element(|c| c.shared(memo.entry(of), |t| emit(of, t))));
        }
        let (layout, level) = (self.layout, self.level);
        for run in runs::cut(elements) {
            let mut made = memo.run(run, layout, level);
            let known = (made.text.is_some() || self.rope.is_none())
                && (made.fragments.is_some() || !self.trace.is_on())
                && (made.sound || self.broken.is_none());
            if self.broken.is_some() && !made.sound {
                made.sound = self.check_run(run, memo, &emit);
            }
            if self.rope.is_some() {
                let rope = made.text.get_or_insert_with(|| {
                    let mut inner = Composer { level, ..Composer::text(layout) };
                    for (index, of) in run.iter().enumerate() {
                        if index > 0 {
                            inner.next();
                        }
                        inner.shared(memo.entry(of), |t| emit(of, t));
                        inner.filled = true;
                    }
                    Arc::new(inner.into_rope())
                });
                let rope = rope.clone();
                self.next();
                if let Some(whole) = &mut self.rope {
                    whole.push_rope(rope);
                }
                self.filled = true;
            }
            if self.trace.is_on() {
                let fragments = made.fragments.get_or_insert_with(|| {
                    let fragments = run.iter().map(|of| fragment(memo.entry(of), &|t: &mut Trace| emit(of, t)));
                    Arc::new(fragments.collect())
                });
                self.lists.push(List { pointer: self.trace.path().into(), first: self.index, elements: fragments.clone() });
            }
            self.index += run.len();
            if !known {
                memo.keep_run(run, layout, level, made);
            }
        }
    }

    /// Writes elements of the open list, which is used in only one place. A streamed text passes them on immediately; the cache keeps only elements
    /// that other lists contain too.
    pub(super) fn elements_of_one_place<T, M>(&mut self, elements: &[Arc<T>], memo: &mut Memo<T>, emit: impl Fn(&T, &mut Trace) -> M + Sync)
    where
        T: Send + Sync,
        M: Reflect,
    {
        let (layout, level) = (self.layout, self.level);
        let Some(executor) = self.outlet.as_ref().map(|outlet| outlet.executor) else { return self.elements(elements, memo, emit) };
        for some in elements.chunks(AT_ONCE) {
            let texts = executor::map_with(executor, some, Vec::new, |scratch, of| {
                is_needed_once(of).then(|| written(&emit(of, &mut Trace::off()), layout, level, scratch))
            });
            for (of, text) in some.iter().zip(texts) {
                self.element(|c| match (text, &mut c.rope) {
                    (Some(text), Some(rope)) => rope.push_shared(text),
                    _ => c.shared(memo.entry(of), |t| emit(of, t)),
                });
            }
            self.pass_on();
        }
    }

    /// Passes on the text written so far, if the text is streamed.
    pub(super) fn pass_on(&mut self) {
        if let (Some(outlet), Some(rope)) = (&mut self.outlet, &mut self.rope) {
            (outlet.put)(&core::mem::take(rope));
        }
    }

    fn check<M: Reflect + Clone>(&mut self, message: &M, stand_in: impl FnOnce(&mut M)) {
        if let Some(broken) = &mut self.broken {
            let mut completed = message.clone();
            stand_in(&mut completed);
            add_broken(broken, self.trace.path(), &validate(&completed));
        }
    }

    /// Writes a member of the open object.
    pub(super) fn member(&mut self, name: &str, value: impl FnOnce(&mut Self)) {
        self.next();
        let spaced = self.layout == Layout::Pretty;
        self.glue(|glue| {
            glue.push('"');
            glue.push_str(name);
            glue.push_str(if spaced { "\": " } else { "\":" });
        });
        let mark = self.trace.enter(name);
        value(self);
        self.trace.leave(mark);
        self.filled = true;
    }

    /// Writes a list as a member. An empty list is left out, as in a message.
    pub(super) fn list<T>(&mut self, name: &str, items: impl IntoIterator<Item = T>, item: impl FnMut(&mut Self, T)) {
        let mut items = items.into_iter().peekable();
        if items.peek().is_some() {
            self.list_even_empty(name, items, item);
        }
    }

    /// Writes a list as a member.
    pub(super) fn list_even_empty<T>(&mut self, name: &str, items: impl IntoIterator<Item = T>, mut item: impl FnMut(&mut Self, T)) {
        self.list_of(name, |c| items.into_iter().for_each(|of| c.element(|c| item(c, of))));
    }

    /// Writes a list as a member; `elements` adds its elements.
    pub(super) fn list_of(&mut self, name: &str, elements: impl FnOnce(&mut Self)) {
        self.member(name, |c| {
            c.open("[");
            let around = core::mem::take(&mut c.index);
            let outer = c.nest(false, elements);
            c.close(']', outer);
            c.index = around;
        });
    }

    /// Writes an element of the open list.
    pub(super) fn element(&mut self, element: impl FnOnce(&mut Self)) {
        self.next();
        let mark = self.trace.enter_item(self.index);
        element(self);
        self.trace.leave(mark);
        self.filled = true;
        self.index += 1;
    }

    fn glue(&mut self, write: impl FnOnce(&mut String)) {
        if let Some(rope) = &mut self.rope {
            rope.append(write);
        }
    }

    fn open(&mut self, bracket: &str) {
        self.glue(|glue| glue.push_str(bracket));
    }

    /// Writes a message up to its closing brace. Returns whether it has members.
    fn open_with(&mut self, write: impl FnOnce(&mut Vec<u8>, &Style)) -> bool {
        let Some(rope) = &mut self.rope else { return false };
        self.scratch.clear();
        write(&mut self.scratch, &style(self.layout, self.level));
        let text = core::str::from_utf8(&self.scratch).unwrap_or_default();
        let open = text.strip_suffix('}').unwrap_or(text).trim_ascii_end();
        rope.push_str(open);
        open != "{"
    }

    /// Adds members one level deeper. Returns the argument for `close`.
    fn nest(&mut self, filled: bool, members: impl FnOnce(&mut Self)) -> bool {
        let outer = core::mem::replace(&mut self.filled, filled);
        self.level += 1;
        members(self);
        self.level -= 1;
        outer
    }

    fn close(&mut self, bracket: char, outer: bool) {
        if self.filled {
            self.new_line();
        }
        self.glue(|glue| glue.push(bracket));
        self.filled = outer;
    }

    /// Writes the separator before a member or an element.
    fn next(&mut self) {
        if self.filled {
            self.glue(|glue| glue.push(','));
        }
        self.new_line();
    }

    fn new_line(&mut self) {
        if self.layout == Layout::Pretty {
            let level = self.level;
            self.glue(|glue| {
                glue.push('\n');
                (0..level).for_each(|_| glue.push_str("  "));
            });
        }
    }
}

fn text<T, M: Reflect>(entry: &mut Entry<T>, layout: Layout, level: usize, scratch: &mut Vec<u8>, emit: &impl Fn(&mut Trace) -> M) -> Arc<str> {
    entry.text(layout, level, || written(&emit(&mut Trace::off()), layout, level, scratch))
}

fn written<M: Reflect>(message: &M, layout: Layout, level: usize, scratch: &mut Vec<u8>) -> Arc<str> {
    scratch.clear();
    json::write(scratch, message, &style(layout, level));
    Arc::from(core::str::from_utf8(scratch).unwrap_or_default())
}

fn fragment<T, M: Reflect>(entry: &mut Entry<T>, emit: &impl Fn(&mut Trace) -> M) -> Arc<Fragment> {
    entry.fragment.get_or_insert_with(|| recorded(emit)).clone()
}

fn recorded<M>(emit: impl Fn(&mut Trace) -> M) -> Arc<Fragment> {
    let mut trace = Trace::on();
    emit(&mut trace);
    Arc::new(trace.finish())
}

fn style(layout: Layout, level: usize) -> Style {
    match layout {
        Layout::Compact => Style::COMPACT,
        Layout::Pretty => Style::PRETTY.level(level),
    }
}

fn add_broken(broken: &mut Vec<rules::Violation>, at: &str, found: &[rules::Violation]) {
    broken.extend(found.iter().map(|violation| rules::Violation { pointer: alloc::format!("{at}{}", violation.pointer), ..violation.clone() }));
}

/// Writes a message that is passed on verbatim; virtual hosts, and parts without any, from the memory.
fn write_parts(rope: &mut Rope, of: &Tree, (layout, level): (Layout, usize), memory: &mut VerbatimMemory) {
    if verbatim::is_virtual_host(of) || !has_virtual_hosts(of) {
        return rope.push_shared(memory.text(of, layout, level));
    }
    let (open, close, parts): (_, _, Vec<(Option<&Str>, &Tree)>) = match &of.value {
        Plain::Object(fields) => ('{', '}', fields.0.iter().map(|(key, value)| (Some(key), value)).collect()),
        _ => ('[', ']', of.items().iter().map(|item| (None, item)).collect()),
    };
    let line = |glue: &mut String, level: usize| {
        if layout == Layout::Pretty {
            glue.push('\n');
            (0..level).for_each(|_| glue.push_str("  "));
        }
    };
    rope.append(|glue| glue.push(open));
    for (at, (key, value)) in parts.into_iter().enumerate() {
        rope.append(|glue| {
            glue.push_str(if at > 0 { "," } else { "" });
            line(glue, level + 1);
            if let Some(key) = key {
                write_quoted(glue, key);
                glue.push_str(if layout == Layout::Pretty { ": " } else { ":" });
            }
        });
        write_parts(rope, value, (layout, level + 1), memory);
    }
    rope.append(|glue| {
        line(glue, level);
        glue.push(close);
    });
}

/// Whether a value is or contains a list of virtual hosts.
fn has_virtual_hosts(of: &Tree) -> bool {
    match &of.value {
        Plain::Object(fields) => fields.0.iter().any(|(_, value)| has_virtual_hosts(value)),
        Plain::List(items) => items.first().is_some_and(verbatim::is_virtual_host) || items.iter().any(has_virtual_hosts),
        _ => false,
    }
}

/// Records the origins of a value's parts.
fn note(of: &Tree, trace: &mut Trace) {
    trace.here(of.origin);
    match &of.value {
        Plain::Selected(by) => trace.here(by.origin),
        Plain::List(items) => items.iter().enumerate().for_each(|(at, item)| trace.item(at, |t| note(item, t))),
        Plain::Object(fields) => fields.0.iter().for_each(|(name, value)| trace.at(name, |t| note(value, t))),
        _ => {}
    }
}
