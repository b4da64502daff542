/**
 * A script without the bodies of here-documents that only become a file: `cat > FILE <<'E'`, the way in which models write
 * files. Such a body is no part of the script: the shell looks for nothing in it, and `cat` runs nothing of it.
 *
 * Invariants
 * 1. Bodies are cut only where it is certain that the shell stands at the beginning of a command: each line before was of
 *    plain words and whole quotes, or belongs to such a document.
 * 2. What cannot be told from its lines alone stays as it is, up to the end.
 */

const PATH = String.raw`(?!/dev/(?!null\b)|/proc/)[\w./@%+,:-]+`;
const SAME = `(?:"${PATH}"|'${PATH}'|${PATH})`;
const START = String.raw`<<(?<tabs>-?)[ \t]*(?:'(?<single>[\w.-]+)'|"(?<double>[\w.-]+)"|\\(?<escaped>\w+))`;
const BEFORE = String.raw`[ \t]*(?:(?:cd|mkdir)(?:[ \t]+-p)?[ \t]+${SAME}[ \t]*&&[ \t]*)*`;
const WRITES = String.raw`>>?[ \t]*${SAME}`;
/** Only a list may follow: behind a pipe others would read what it prints. */
const AFTER = String.raw`[ \t]*(?:&&[^|<>()\x60$"'\\#{}&]*)?`;
const SILENT = String.raw`>[ \t]*/dev/null`;
const BLANK = String.raw`[ \t]+`;
const OPTIONAL = String.raw`[ \t]*`;

/** A line that begins such a document, whole. */
const DOCUMENTS = [
  `cat${OPTIONAL}${WRITES}${BLANK}${START}`,
  `cat${OPTIONAL}${START}${BLANK}${WRITES}`,
  `tee(?:${BLANK}-a)?(?:${BLANK}${SAME})+${BLANK}${SILENT}${BLANK}${START}`,
  `tee(?:${BLANK}-a)?(?:${BLANK}${SAME})+${BLANK}${START}${BLANK}${SILENT}`,
].map((form) => new RegExp(`^${BEFORE}${form}${AFTER}$`));

/** It leaves nothing open: no quotes, document, continued line or bracket. */
const CLOSED =
  /^(?:#[^\n]*|(?:[\w@%+=:,./~ \t;&|>*?!-]|\$[A-Za-z_]\w*|'[^'\n]*'|"(?:[^"\\`$\n]|\$[A-Za-z_]\w*)*")*)$/;
/** What is printed within these may go to another program. */
const PIPED = /(?:\b(?:done|fi|esac)|[})])[^\n;]*\|(?!\|)/;
/** With one of these the names of programs may mean something else. */
const RENAMES = /\b(?:alias|function|hash|enable|shopt|unset|exec|builtin)\b|\bPATH=/;

/** Null where nothing is cut. */
export function withoutDocuments(script: string): string | null {
  if (script.includes('\0') || script.includes('\r')) return null;
  const lines = script.split('\n');
  const kept: string[] = [];
  let cut = 0;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const end = documentEnd(lines, at);
    if (end !== null) {
      kept.push(line, lines[end] ?? '');
      cut += end - at - 1;
      at = end;
    } else if (CLOSED.test(line) && !RENAMES.test(line)) kept.push(line);
    else {
      kept.push(...lines.slice(at));
      break;
    }
  }
  const rest = kept.join('\n');
  return cut === 0 || PIPED.test(rest) ? null : rest;
}

/** The line that ends the document which begins here. */
function documentEnd(lines: readonly string[], at: number): number | null {
  const line = lines[at] ?? '';
  if (RENAMES.test(line)) return null;
  const found = DOCUMENTS.map((form) => form.exec(line)).find((match) => match !== null);
  if (found === undefined) return null;
  const { tabs, single, double, escaped } = found.groups ?? {};
  const delimiter = single ?? double ?? escaped;
  const end = lines.findIndex(
    (one, index) => index > at && (tabs === '-' ? one.replace(/^\t+/, '') : one) === delimiter,
  );
  return end === -1 ? null : end;
}
