// YAML for the editor, line by line: colours, folding and indentation. Parsing a whole large text at each keystroke would be too slow. Does not
// validate YAML.

import { StreamLanguage, foldService, indentService } from "@codemirror/language";

const indentOf = (text) => text.search(/\S|$/);
// The column after the dashes of list items.
const contentOf = (text) => indentOf(text.replace(/^(\s*)((?:-\s+)+)/, (_, blank, dashes) => blank + " ".repeat(dashes.length)));
const isBlank = (text) => /^\s*(#|$)/.test(text);

// State: `literal` is the indentation that the lines of a block scalar exceed, or -1; `flow` counts open brackets; `quote` is the open quote; `value`
// is whether a value follows.
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
      // The contents of a list item are indented deeper than its dash, the contents of a key deeper than the key.
      state.literal = stream.start === content ? stream.string.lastIndexOf("-", content) : content;
      return "punctuation";
    }
    const quoted = stream.match(/^'(?:[^']|'')*'|^"(?:[^"\\]|\\.)*"/);
    if (!quoted && stream.match(/^["']/)) {
      state.quote = stream.current();
      stream.skipToEnd();
      return "string";
    }
    // A plain scalar ends before a colon or a comment. Inside brackets it also ends before a comma.
    if (!quoted && !stream.match(state.flow > 0 ? /^(?:[^\s,[\]{}:]|:(?![\s,\]}]|$)|\s+(?![\s#]|$)(?!:[\s,\]}]|:$))+/ : /^(?:[^\s:]|:(?!\s|$)|\s+(?![\s#]|$)(?!:\s|:$))+/)) stream.next();
    if (!state.value && stream.match(/^\s*:(?=[\s,\]}]|$)/, false)) return "propertyName";
    return /^(true|false|null|~|[-+.]?\d[\d_.eE+-]*|0x[\da-fA-F]+)$/.test(stream.current()) ? "atom" : "string";
  },
  languageData: { commentTokens: { line: "#" }, closeBrackets: { brackets: ["[", "{", "'", '"'] } },
});

// A line folds the deeper lines below it. A list may have the same indentation as its key.
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

// A new line gets the indentation of the previous line, or more if that line starts a block.
const indents = indentService.of((context, position) => {
  let line = context.state.doc.lineAt(position);
  // If a line is split, only its first part counts.
  let text = context.simulatedBreak === position ? line.text.slice(0, position - line.from) : "";
  while (isBlank(text) && line.number > 1) {
    line = context.state.doc.line(line.number - 1);
    text = line.text;
  }
  if (isBlank(text)) return 0;
  return /(:|[|>][-+0-9]*)\s*(#.*)?$/.test(text) ? contentOf(text) + context.unit : contentOf(text);
});

export const yaml = [language, folds, indents];
