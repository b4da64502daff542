/**
 * Which hooks of an event run. A matcher of plain names is a list: `Edit|Write`. Anything else is a regular expression
 * that may match any part of the name: `mcp__.*__write`. Empty and `*` match everything.
 */

/** Tools that hooks written for other programs know by another name. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  Agent: ['Task'],
  Edit: ['MultiEdit'],
};

export type HookMatcher = (name: string | null) => boolean;

const PLAIN = /^[\w\-,| ]*$/;

/** Null if the text is no matcher. */
export function hookMatcher(text: string): HookMatcher | null {
  const wanted = text.trim();
  if (wanted === '' || wanted === '*') return () => true;
  const matches = PLAIN.test(wanted) ? listed(wanted) : expression(wanted);
  if (matches === null) return null;
  return (name) => name === null || [name, ...(OTHER_NAMES[name] ?? [])].some(matches);
}

/** The names of a list; null for what is a regular expression or everything. */
export function matcherNames(text: string): readonly string[] | null {
  const wanted = text.trim();
  return wanted === '' || !PLAIN.test(wanted) ? null : wanted.split(/[|,]/).map((name) => name.trim());
}

/** Tools that rules are not about. */
const RULED_ELSEWHERE = ['Phase', 'Scratchpad', 'TeamPlan'];

/** Whether it stands for a tool, in words that permission rules do not have. */
export function isOtherName(name: string): boolean {
  return RULED_ELSEWHERE.includes(name) || Object.values(OTHER_NAMES).some((names) => names.includes(name));
}

function listed(text: string): (name: string) => boolean {
  const names = new Set(matcherNames(text));
  return (name) => names.has(name);
}

function expression(text: string): ((name: string) => boolean) | null {
  try {
    const pattern = new RegExp(text);
    return (name) => pattern.test(name);
  } catch {
    return null;
  }
}
