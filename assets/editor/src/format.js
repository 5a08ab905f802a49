// Formatting without losing comments, and reading of archives: loaded when first needed.
//
// What must not be here: the editor.

import { unzip } from "fflate";
import { parseAllDocuments } from "yaml";

// The text with two spaces a level, documents as they stand. What cannot be read stays as it is.
export function format(content) {
  const documents = parseAllDocuments(content);
  if (!Array.isArray(documents) || documents.some((document) => document.errors.length)) return null;
  const options = { indent: 2, indentSeq: false, lineWidth: 0, flowCollectionPadding: false };
  const written = documents.map((document) => document.toString(options));
  return written.map((one, at) => (at > 0 && !one.startsWith("---") ? `---\n${one}` : one)).join("");
}

// Files of an archive that are YAML or JSON, at most `most` bytes of them: pairs of a name and its bytes.
export function archive(bytes, most) {
  return new Promise((resolve, reject) => {
    let total = 0;
    const filter = (file) => {
      if (!/\.(ya?ml|json)$/i.test(file.name) || /(^|\/)\./.test(file.name)) return false;
      total += file.originalSize;
      return total <= most;
    };
    unzip(bytes, { filter }, (error, files) => {
      if (error) reject(error);
      else resolve(Object.entries(files));
    });
  });
}
