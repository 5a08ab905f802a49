// The editor: CodeMirror with YAML. The page decides what it shows.
//
// Lines count from 1 and columns in UTF-16 units from 0, as in the protocol. Does not interpret the text.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, startCompletion } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, bracketMatching, codeFolding, foldGutter, foldKeymap, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, linter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, openSearchPanel, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, crosshairCursor, drawSelection, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, hoverTooltip, keymap, lineNumbers, rectangularSelection } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { yaml } from "./yaml.js";

// Alt with the arrow keys moves through the page's selections.
const ownKeys = defaultKeymap.filter(({ key }) => key !== "Alt-ArrowLeft" && key !== "Alt-ArrowRight");

const style = HighlightStyle.define([
  { tag: tags.propertyName, class: "tok-key" },
  { tag: tags.string, class: "tok-text" },
  { tag: tags.atom, class: "tok-atom" },
  { tag: tags.comment, class: "tok-comment" },
  { tag: tags.punctuation, class: "tok-mark" },
]);

// The highlighted lines of the selection. CSS fades the other lines.
const highlight = StateEffect.define();
const highlighted = StateField.define({
  create: () => Decoration.none,
  update(value, transaction) {
    value = value.map(transaction.changes);
    for (const effect of transaction.effects) if (effect.is(highlight)) value = effect.value;
    return value;
  },
  provide: (field) => [EditorView.decorations.from(field), EditorView.editorAttributes.from(field, (value) => (value.size ? { class: "has-selected-lines" } : {}))],
});

const place = (doc, line, column) => {
  const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return Math.min(at.from + column, at.to);
};

// The YAML document that contains a line: its first line and its text.
const documentAround = (doc, line) => {
  const begins = (at) => doc.line(at).text.startsWith("---");
  let [first, last] = [line, line];
  while (first > 1 && !begins(first)) first -= 1;
  while (last < doc.lines && !begins(last + 1)) last += 1;
  return [first, doc.sliceString(doc.line(first).from, doc.line(last).to)];
};

const text = (tag, name, content) => {
  const element = document.createElement(tag);
  element.className = name;
  element.textContent = content;
  return element;
};

export class Editor {
  // `calls`: change(file, text), cursor(file, line), hover(file, line, column) -> Promise, complete(file, line, column, text) -> Promise,
  // open(code) for the page of a code, paste(text, whole) -> whether the page takes the text; `whole` where it replaces the whole file.
  constructor(parent, calls, readOnly) {
    this.calls = calls;
    this.states = new Map();
    this.current = null;
    this.quiet = false;
    this.findings = [];
    this.spans = [];
    this.readOnly = new Compartment();
    this.isReadOnly = readOnly;
    this.view = new EditorView({ parent, state: this.#state("") });
  }

  #state(content) {
    const editor = this;
    return EditorState.create({
      doc: content,
      extensions: [
        lineNumbers(),
        lintGutter(),
        foldGutter({ markerDOM: (open) => text("span", "fold-mark", open ? "▾" : "▸") }),
        highlightSpecialChars(),
        history(),
        drawSelection(),
        codeFolding({ placeholderText: "…" }),
        EditorState.allowMultipleSelections.of(true),
        EditorState.tabSize.of(2),
        indentUnit.of("  "),
        syntaxHighlighting(style),
        bracketMatching(),
        closeBrackets(),
        rectangularSelection(),
        crosshairCursor(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        highlightSelectionMatches(),
        search({ top: true }),
        yaml,
        highlighted,
        linter(null),
        autocompletion({ override: [(context) => this.#complete(context)], icons: false, activateOnTyping: true }),
        hoverTooltip((view, position) => this.#hover(view, position), { hoverTime: 250 }),
        keymap.of([...closeBracketsKeymap, ...ownKeys, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap, indentWithTab]),
        this.readOnly.of(EditorState.readOnly.of(this.isReadOnly)),
        // CodeMirror adds style rules to the page. The content policy allows only these.
        EditorView.cspNonce.of("editor"),
        EditorView.contentAttributes.of({ "aria-label": "Configuration as YAML", tabindex: "0" }),
        EditorView.domEventHandlers({
          paste(event, view) {
            const { main } = view.state.selection;
            const pasted = event.clipboardData?.getData("text/plain") ?? "";
            const whole = main.from === 0 && main.to === view.state.doc.length;
            if (!pasted || (!whole && !main.empty) || !editor.calls.paste(pasted, whole)) return false;
            event.preventDefault();
            return true;
          },
        }),
        EditorView.updateListener.of((update) => {
          if (editor.quiet) return;
          if (update.docChanged) editor.calls.change(editor.current, update.state.doc.toString());
          else if (update.selectionSet && update.transactions.some((transaction) => transaction.isUserEvent("select"))) {
            editor.calls.cursor(editor.current, update.state.doc.lineAt(update.state.selection.main.head).number);
          }
        }),
      ],
    });
  }

  // Shows a file. A file that was shown before keeps its undo history.
  show(name, content) {
    if (this.current !== null && this.states.has(this.current)) this.states.set(this.current, { state: this.view.state, scroll: this.view.scrollSnapshot() });
    let kept = this.states.get(name);
    // A different text starts at its top.
    if (!kept || kept.state.doc.toString() !== content) kept = { state: this.#state(content), scroll: EditorView.scrollIntoView(0, { y: "start" }) };
    this.states.set(name, kept);
    this.current = name;
    this.quiet = true;
    this.view.setState(kept.state);
    this.view.dispatch({ effects: kept.scroll });
    this.quiet = false;
    this.#lint();
    this.#light(false);
  }

  forget(name) {
    this.states.delete(name);
    if (this.current === name) this.current = null;
  }

  // Findings of all files, in the protocol's form.
  setFindings(findings) {
    this.findings = JSON.parse(findings);
    this.#lint();
  }

  #lint() {
    const doc = this.view.state.doc;
    const shown = this.findings.filter((finding) => finding.file === this.current);
    const diagnostics = shown.map((finding) => {
      const from = place(doc, finding.line, finding.column_utf16);
      const to = Math.max(from, place(doc, finding.end_line, finding.end_column_utf16));
      return {
        from,
        to,
        severity: finding.severity === "notice" ? "info" : finding.severity,
        message: finding.message,
        renderMessage: () => this.#card(finding),
        actions: finding.fix && !this.view.state.readOnly ? [{ name: finding.fix.message, apply: () => this.fix(JSON.stringify(finding.fix)) }] : [],
      };
    });
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics));
  }

  #card(finding) {
    const card = text("div", "finding-card", "");
    card.append(text("div", "finding-card-message", finding.message));
    if (finding.help) card.append(text("div", "finding-card-help", finding.help));
    const more = text("button", "link", finding.code);
    more.type = "button";
    more.addEventListener("mousedown", (event) => event.preventDefault());
    more.addEventListener("click", () => this.calls.open(finding.code));
    card.append(more);
    return card;
  }

  // Applies the fix of a finding in the shown file.
  fix(fix) {
    if (this.view.state.readOnly) return;
    const first = JSON.parse(fix);
    const doc = this.view.state.doc;
    const change = (edit) => ({
      from: place(doc, edit.line, edit.column_utf16),
      to: place(doc, edit.end_line, edit.end_column_utf16),
      insert: edit.replacement,
    });
    this.view.dispatch({ changes: [first, ...(first.more ?? [])].map(change), userEvent: "input.fix" });
    this.view.focus();
  }

  // Highlights lines: [{file, line, end_line}].
  highlight(spans, scroll) {
    this.spans = JSON.parse(spans);
    this.#light(scroll);
  }

  #light(scroll) {
    const doc = this.view.state.doc;
    const lines = new Set();
    for (const span of this.spans) {
      if (span.file !== this.current) continue;
      for (let line = span.line; line <= Math.min(span.end_line, doc.lines); line++) if (line >= 1) lines.add(line);
    }
    const sorted = [...lines].sort((a, b) => a - b);
    const marks = sorted.map((line) => Decoration.line({ class: "selected-line" }).range(doc.line(line).from));
    const effects = [highlight.of(Decoration.set(marks))];
    if (scroll && sorted.length) effects.push(EditorView.scrollIntoView(doc.line(sorted[0]).from, { y: "center" }));
    this.view.dispatch({ effects });
  }

  // Moves the cursor; `focus` also focuses the editor. Without the focus, the line is shown from its start: its key says more than its end.
  go(line, column, focus) {
    const { doc } = this.view.state;
    const at = place(doc, line, column);
    const shown = focus ? at : doc.lineAt(at).from;
    this.view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(shown, { y: "center" }) });
    if (focus) this.view.focus();
  }

  focus() {
    this.view.focus();
  }

  find() {
    openSearchPanel(this.view);
  }

  // Replaces the whole text as one undo step.
  replace(content) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: content } });
  }

  // Applies a text that another program wrote. Replaces only the changed part, so that cursor and scroll position stay. Reports no change.
  follow(content) {
    const now = this.view.state.doc.toString();
    const most = Math.min(now.length, content.length);
    let [start, end] = [0, 0];
    while (start < most && now[start] === content[start]) start += 1;
    while (end < most - start && now[now.length - 1 - end] === content[content.length - 1 - end]) end += 1;
    this.quiet = true;
    this.view.dispatch({ changes: { from: start, to: now.length - end, insert: content.slice(start, content.length - end) } });
    this.quiet = false;
  }

  async #hover(view, position) {
    const line = view.state.doc.lineAt(position);
    const hover = JSON.parse(await this.calls.hover(this.current, line.number, position - line.from));
    if (!hover) return null;
    const { found, makes } = hover;
    const doc = view.state.doc;
    return {
      pos: place(doc, found.line, found.column_utf16),
      end: place(doc, found.end_line, found.end_column_utf16),
      above: true,
      create: () => {
        const dom = text("div", "hover-card", "");
        const head = text("div", "hover-card-head", "");
        head.append(text("b", "", found.title), text("span", "hover-card-takes", found.takes));
        dom.append(head);
        if (found.doc) dom.append(text("div", "", found.doc));
        if (found.values.length) dom.append(text("div", "hover-card-values", `One of: ${found.values.join(", ")}`));
        if (found.default !== null) dom.append(text("div", "hover-card-values", `Default: ${found.default}`));
        if (makes.length) {
          const list = text("div", "hover-card-makes", "Makes in Envoy:");
          for (const made of makes) list.append(text("code", "", made));
          dom.append(list);
        }
        return { dom };
      },
    };
  }

  async #complete(context) {
    const line = context.state.doc.lineAt(context.pos);
    const typed = context.matchBefore(/[\w./-]*/);
    if (!context.explicit && (!typed || typed.from === typed.to)) return null;
    const [first, document] = documentAround(context.state.doc, line.number);
    const found = JSON.parse(await this.calls.complete(this.current, line.number - first + 1, context.pos - line.from, document));
    if (!found?.items?.length) return null;
    return {
      from: line.from + found.from,
      options: found.items.map((item) => ({
        label: item.label,
        detail: item.detail,
        info: item.doc ? () => text("div", "", item.doc) : undefined,
        type: item.sort,
        apply: (view, completion, from, to) => {
          view.dispatch({ changes: { from, to, insert: item.insert }, selection: { anchor: from + item.insert.length }, userEvent: "input.complete" });
          if (item.sort === "field" && item.insert.endsWith(": ")) startCompletion(view);
        },
      })),
      validFor: /^[\w./-]*$/,
    };
  }
}

// Reads YAML and JSON files, also from archives. Returns JSON with `names` and `unread` (names with reasons), then the bytes of each file. `listed`
// contains pairs of a file and its path.
async function readAll(listed, most) {
  const [names, all, unread] = [[], [], []];
  const take = (name, bytes) => {
    names.push(name);
    all.push(bytes);
  };
  let left = most;
  for (const [file, path] of listed) {
    try {
      if (file.size > left) unread.push(`${path} (too large)`);
      else if (/\.zip$/i.test(path)) {
        const { archive } = await import("./format.js");
        for (const [name, bytes] of await archive(new Uint8Array(await file.arrayBuffer()), left)) take(name, bytes);
      } else if (/\.(ya?ml|json|har|txt)$/i.test(path) || !/\.\w+$/.test(path)) {
        left -= file.size;
        const bytes = new Uint8Array(await file.arrayBuffer());
        if (bytes.includes(0)) unread.push(`${path} (not text)`);
        else take(path, bytes);
      } else unread.push(`${path} (neither YAML nor JSON)`);
    } catch {
      unread.push(`${path} (the browser cannot read it)`);
    }
  }
  return [JSON.stringify({ names, unread }), ...all];
}

// Reads dropped files and folders.
export async function readDropped(data, most) {
  const listed = [];
  const walk = async (entry, path) => {
    if (entry.isFile) return listed.push([await new Promise((resolve, reject) => entry.file(resolve, reject)), path]);
    const reader = entry.createReader();
    for (;;) {
      const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (!entries.length) return undefined;
      for (const inner of entries) if (!inner.name.startsWith(".")) await walk(inner, `${path}/${inner.name}`);
    }
  };
  const entries = [...data.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const files = [...data.files];
  if (entries.length) for (const entry of entries) await walk(entry, entry.name);
  else for (const file of files) listed.push([file, file.name]);
  return readAll(listed, most);
}

// Lets the user choose files, or a folder.
export function choose(folder, most) {
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = true;
  input.webkitdirectory = folder;
  return new Promise((done) => {
    input.addEventListener("change", () => {
      const listed = [...input.files].map((file) => [file, file.webkitRelativePath || file.name]);
      done(readAll(listed.filter(([, path]) => !path.split("/").some((part) => part.startsWith("."))), most));
    });
    input.addEventListener("cancel", () => done([]));
    input.click();
  });
}

// Formats a text. Returns nothing if the text cannot be parsed.
export async function formatted(content) {
  const { format } = await import("./format.js");
  return format(content);
}

// Saves a file.
const hand = (name, blob) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};

export function savePng(name, svg) {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    const scale = Math.min(2, 16_000 / Math.max(image.width, image.height, 1));
    canvas.width = image.width * scale;
    canvas.height = image.height * scale;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => blob && hand(name, blob));
  };
  image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
}
