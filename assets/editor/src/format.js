// Formats YAML without losing comments, and reads archives. Loaded when first needed.

import { unzip } from "fflate";
import { parseAllDocuments } from "yaml";

// Formats a text with two spaces per level. Invalid documents stay unchanged.
export function format(content) {
  const documents = parseAllDocuments(content);
  if (!Array.isArray(documents) || documents.some((document) => document.errors.length)) return null;
  const options = { indent: 2, indentSeq: false, lineWidth: 0, flowCollectionPadding: false };
  const written = documents.map((document) => document.toString(options));
  return written.map((one, at) => (at > 0 && !one.startsWith("---") ? `---\n${one}` : one)).join("");
}

// Reads the YAML and JSON files of an archive, up to `most` bytes. Returns pairs of a name and its bytes.
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
