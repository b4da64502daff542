/**
 * The specifier of a Bash rule. `*` stands for any text; ` *` and `:*` at the end for further words, so that
 * `npm test:*` covers `npm test` and `npm test -w x` but not `npm tests`. A pattern is about one command: what joins
 * commands is taken apart before rules are asked, so a pattern that holds such a sign could never match.
 */
import type { ParsedPart } from './rule-context.ts';

export interface CommandPattern {
  /** Every command, whatever it is: `Bash(*)`. */
  everything: boolean;
  matches(command: string): boolean;
  /** Whether a command of which only the beginning is known may match. */
  mayBegin(beginning: string): boolean;
}

export function parseCommandPattern(specifier: string): ParsedPart<CommandPattern> {
  const problem = whyNever(specifier);
  if (problem !== null) return { ok: false, reason: problem };
  const open = /(?::| )\*$/.exec(specifier);
  const head = open === null ? specifier : specifier.slice(0, open.index);
  const matches = (command: string): boolean =>
    matchWildcards(head, command) || (open !== null && matchWildcards(`${head} *`, command));
  const [fixed = ''] = (open === null ? head : `${head} `).split('*');
  const mayBegin = (beginning: string): boolean =>
    fixed.trimEnd().startsWith(beginning) || `${beginning} `.startsWith(fixed) || beginning.startsWith(fixed);
  return { ok: true, value: { everything: /^:?\*$/.test(specifier), matches, mayBegin } };
}

function whyNever(specifier: string): string | null {
  const bare = specifier.replace(/'[^']*'|"[^"]*"/g, '');
  if (/:\*./.test(bare)) return 'can never match: :* may stand only at the end';
  if (/&&|\|\||[;|&\n]/.test(bare)) {
    return 'can never match: joined commands are judged one by one; write one rule for each command';
  }
  if (/[<>]/.test(bare)) {
    return 'can never match: a redirect is judged as a file that is written; write Edit(path) for it';
  }
  if (/\$\(|`/.test(bare))
    return 'can never match: a command inside another is judged by itself; write a rule for it';
  return null;
}

/** Linear: the pieces between the stars must occur in order, the first and the last at the ends. */
function matchWildcards(pattern: string, text: string): boolean {
  const pieces = pattern.split('*');
  const [first = '', ...rest] = pieces;
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let position = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, position);
    if (found === -1) return false;
    position = found + piece.length;
  }
  return text.length - last.length >= position && text.endsWith(last);
}
