// YAML for the editor, line by line: colours, folds and indents. Reading all of a large text anew at each keystroke would keep a person waiting.
//
// What must not be here: whether the text is right.

import { StreamLanguage, foldService, indentService } from "@codemirror/language";

const indentOf = (text) => text.search(/\S|$/);
// Where what follows the dashes of lists begins.
const contentOf = (text) => indentOf(text.replace(/^(\s*)((?:-\s+)+)/, (_, blank, dashes) => blank + " ".repeat(dashes.length)));
const isBlank = (text) => /^\s*(#|$)/.test(text);

// State: `literal` is the indent that lines of a block scalar exceed, or -1; `flow` counts open brackets; `quote` is the quote that is open;
// `value` is whether a value stands here.
const language = StreamLanguage.define({
  name: "yaml",
  startState: () => ({ literal: -1, flow: 0, quote: "", value: false }),
  copyState: (state) => ({ ...state }),
  token(stream, state) {
    if (stream.sol()) {
      state.value = false;
      const blank = stream.match(/^\s*$/, false);
      if (state.literal >= 0 && (blank || stream.indentation() > state.literal)) {
        stream.skipToEnd();
        return "string";
      }
      state.literal = -1;
      if (!state.quote && stream.match(/^(---|\.\.\.)(?=\s|$)/)) {
        state.flow = 0;
        return "punctuation";
      }
    }
    if (state.quote) {
      const closed = stream.match(state.quote === "'" ? /^(?:[^']|'')*'(?!')/ : /^(?:[^"\\]|\\.)*"/);
      if (closed) state.quote = "";
      else stream.skipToEnd();
      return "string";
    }
    if (stream.eatSpace()) return null;
    const bare = stream.column() === 0 || /\s/.test(stream.string.charAt(stream.pos - 1));
    if (bare && stream.peek() === "#") {
      stream.skipToEnd();
      return "comment";
    }
    if (stream.match(/^[[{]/)) {
      state.flow += 1;
      state.value = false;
      return "punctuation";
    }
    if (state.flow > 0 && stream.match(/^[\]},]/)) {
      if (stream.current() !== ",") state.flow -= 1;
      state.value = false;
      return "punctuation";
    }
    if (!state.value && stream.match(/^[-?](?=\s|$)/)) return "punctuation";
    if (stream.match(/^:(?=[\s,\]}]|$)/)) {
      state.value = true;
      return "punctuation";
    }
    if (stream.match(/^[&*!][^\s,[\]{}]*/)) return "atom";
    if (state.flow === 0 && stream.match(/^[|>][-+0-9]*(?=\s*(#|$))/)) {
      const content = contentOf(stream.string);
      // What a list holds stands deeper than its dash, what a key holds deeper than the key.
      state.literal = stream.start === content ? stream.string.lastIndexOf("-", content) : content;
      return "punctuation";
    }
    const quoted = stream.match(/^'(?:[^']|'')*'|^"(?:[^"\\]|\\.)*"/);
    if (!quoted && stream.match(/^["']/)) {
      state.quote = stream.current();
      stream.skipToEnd();
      return "string";
    }
    // What is plain ends before a colon or a comment, and between brackets before a comma.
    if (!quoted && !stream.match(state.flow > 0 ? /^(?:[^\s,[\]{}:]|:(?![\s,\]}]|$)|\s+(?![\s#]|$)(?!:[\s,\]}]|:$))+/ : /^(?:[^\s:]|:(?!\s|$)|\s+(?![\s#]|$)(?!:\s|:$))+/)) stream.next();
    if (!state.value && stream.match(/^\s*:(?=[\s,\]}]|$)/, false)) return "propertyName";
    return /^(true|false|null|~|[-+.]?\d[\d_.eE+-]*|0x[\da-fA-F]+)$/.test(stream.current()) ? "atom" : "string";
  },
  languageData: { commentTokens: { line: "#" }, closeBrackets: { brackets: ["[", "{", "'", '"'] } },
});

// A line folds what stands deeper below it; a list may stand where the key stands that holds it.
const folds = foldService.of((state, from) => {
  const { doc } = state;
  const line = doc.lineAt(from);
  if (isBlank(line.text) || line.number === doc.lines) return null;
  const [indent, holds] = [contentOf(line.text), /:\s*(#.*)?$/.test(line.text)];
  let [at, end] = [line.to, line.to];
  for (const text of doc.iterLines(line.number + 1)) {
    at += 1 + text.length;
    const its = indentOf(text);
    if (its === text.length || (its <= indent && isBlank(text))) continue;
    if (its < indent || (its === indent && !(holds && /^\s*-\s/.test(text)))) break;
    end = at;
  }
  return end > line.to ? { from: line.to, to: end } : null;
});

// A new line begins below the one before, and deeper where that holds something.
const indents = indentService.of((context, position) => {
  let line = context.state.doc.lineAt(position);
  // The line that is split counts up to where it is.
  let text = context.simulatedBreak === position ? line.text.slice(0, position - line.from) : "";
  while (isBlank(text) && line.number > 1) {
    line = context.state.doc.line(line.number - 1);
    text = line.text;
  }
  if (isBlank(text)) return 0;
  return /(:|[|>][-+0-9]*)\s*(#.*)?$/.test(text) ? contentOf(text) + context.unit : contentOf(text);
});

export const yaml = [language, folds, indents];
