/**
 * A no of a hook in words that nobody here understands: of another tool, or with a mistake. It must not pass as a yes in silence, so
 * such an answer is a failure, which a person sees, and which a guard that ended well before may not have (SEC-1).
 */

/** Fields that say no by a word, and those that say it by being true, or false. */
const BY_WORD = /^(?:permission_?)?(?:decision|behaviou?r|verdict|result|action|status|outcome|response)$/i;
const BY_TRUE = /^(?:is_?)?(?:den(?:y|ied)|block(?:ed)?|reject(?:ed)?|refused?|forbidden)$/i;
const BY_FALSE = /^(?:is_?)?(?:continue|allow(?:ed)?|approved?|ok|permit(?:ted)?|proceed)$/i;
const NO = /^(?:den(?:y|ied)|block(?:ed)?|reject(?:ed)?|refused?|forbid(?:den)?|disallow(?:ed)?|ask|no)$/i;
/** What the call is to have: no answer about it. */
const CONTENT: ReadonlySet<string> = new Set(['updatedInput', 'updatedToolOutput']);
const DEEPEST = 3;

/** The field that seems to say no; null for none. For an answer in which nothing that says so was understood. */
export function refusingField(value: unknown, depth = 0): string | null {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return null;
  for (const [name, one] of Object.entries(value)) {
    if (CONTENT.has(name)) continue;
    if (isNo(name, one)) return name;
    const inner = refusingField(one, depth + 1);
    if (inner !== null) return `${name}.${inner}`;
  }
  return null;
}

function isNo(name: string, value: unknown): boolean {
  const text = String(value);
  if (typeof value === 'string' && BY_WORD.test(name) && NO.test(value)) return true;
  return (
    (BY_TRUE.test(name) && /^(?:true|yes|1)$/i.test(text)) ||
    (BY_FALSE.test(name) && /^(?:false|no|0)$/i.test(text))
  );
}

/** The line of a text that seems to say no; null for none. */
export function refusingLine(text: string): string | null {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.find((line) => SAYS_NO.test(line) || refusingField(jsonIn(line)) !== null) ?? null;
}

/** `"deny"`, `DENIED: no curl here` */
const SAYS_NO = /^\W*(?:deny|denied|block|blocked|reject|rejected|refuse|refused|forbidden)\b(?!\w)/i;

function jsonIn(line: string): unknown {
  if (!/^[[{]/.test(line)) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
