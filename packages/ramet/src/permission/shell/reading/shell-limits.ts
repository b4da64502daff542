/** Where the grammar and bash are known to differ, or where reading would be guessing. */
import { hasInvisible } from '../../../system/text/visible-text.ts';
import type { ShellNode } from './parse-shell.ts';

const LONGEST = 20_000;

/** Why a script is not even parsed with confidence; null when it is. */
export function unreadable(script: string): string | null {
  if (script.length > LONGEST) return 'its length';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
  if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(script)) return 'control characters';
  if (hasInvisible(script)) return 'invisible characters';
  return null;
}

/** Text inside these is content, not syntax. */
const CONTENT: ReadonlySet<string> = new Set([
  'string',
  'heredoc_body',
  'heredoc_redirect',
  'expansion',
  'regex',
]);

/** Is there text between the parts of a node that belongs to none of them? */
export function hiddenText(node: ShellNode): boolean {
  if (node.childCount === 0) return false;
  if (!CONTENT.has(node.type)) {
    let end = node.startIndex;
    for (const child of node.children) {
      if (!isBlank(node.text.slice(end - node.startIndex, child.startIndex - node.startIndex))) return true;
      end = child.endIndex;
    }
    if (!isBlank(node.text.slice(end - node.startIndex))) return true;
  }
  return node.children.some(hiddenText);
}

function isBlank(text: string): boolean {
  return /^(?:\s|\\\n)*$/.test(text);
}

const PLAIN_EXPANSION =
  /^\$\{#?\w+(?:\[(?:@|\*|\d+)\])?(?::?[-+][^`$(){}]*|%%?[^`${}]*|##?[^`${}]*|\/\/?[^`${}]*|:\d+(?::\d+)?|\^\^?|,,?)?\}$/;

/** `${x@P}` runs what x holds, `${!x}` names another variable, `${x:=y}` assigns: only plain forms are known. */
export function checkExpansion(text: string): string | null {
  return PLAIN_EXPANSION.test(text) || /^\$\{[@*#?]\}$/.test(text) ? null : `the expansion ${text}`;
}
