/** Where a script of a shell is, put in where it asks for that: `$0`, `${BASH_SOURCE[0]}` and the like. */
import { dirname } from 'node:path';

interface OwnPlace {
  /** The file that holds it, and the one that was started. */
  readonly path: string;
  readonly zero: string;
}

const BEGINS = '\\$\\{(?:BASH_SOURCE(?:\\[\\d\\])?|0)';
const FOLDER = new RegExp(`${BEGINS}%\\/\\*\\}|\\$\\{0:[aA]?:?h\\}|\\$\\{\\(%\\):-%[xN]\\}:h`, 'g');
const ITSELF = /\$\{BASH_SOURCE(?:\[\d\])?(?::?-[^{}]*(?:\{[^}]*\})?)?\}|\$BASH_SOURCE\b|\$\{\(%\):-%[xN]\}/g;
const ZERO = /\$\{0(?::[aA]|:?-[^}]*)?\}|\$0/g;

/** With its own name where it asks for that. */
export function placed(text: string, { path, zero }: OwnPlace): string {
  const plain = withoutDefaults(text);
  if (!/BASH_SOURCE|\$\{?0|%[xN]\}/.test(plain)) return plain;
  const folders = plain.replace(FOLDER, (found) =>
    marked(dirname(found.includes('0') && !found.includes('BASH') ? zero : path)),
  );
  return folders.replace(ITSELF, () => marked(path)).replace(ZERO, () => marked(zero));
}

/** Signs of a path that a shell would read are letters meanwhile. */
const FIRST_MARK = 0xe000;

function marked(path: string): string {
  return path.replace(/[^\w./@+,:%-]/g, (sign) =>
    sign.length === 1 && sign.charCodeAt(0) < 128
      ? String.fromCharCode(FIRST_MARK + sign.charCodeAt(0))
      : sign,
  );
}

export function unmarked(text: string): string {
  return text.replace(/[\ue000-\ue07f]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) - FIRST_MARK));
}

const WITH_DEFAULT = '${CLAUDE_PROJECT_DIR:-';

/** It is always set. */
function withoutDefaults(text: string): string {
  const from = text.indexOf(WITH_DEFAULT);
  if (from === -1) return text;
  let depth = 1;
  let at = from + WITH_DEFAULT.length;
  for (; at < text.length && depth > 0; at++) depth += text[at] === '{' ? 1 : text[at] === '}' ? -1 : 0;
  return `${text.slice(0, from)}\${CLAUDE_PROJECT_DIR}${withoutDefaults(text.slice(at))}`;
}
