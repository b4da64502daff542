/** What a user may have meant: near words, and the parser's errors as one line. */
import { editDistance } from '../system/text/close-names.ts';

const SHORT = 4;

/** At most two slips, one in a short word. */
export function nearWord(word: string, known: readonly string[]): string | null {
  const near = known
    .map((one) => ({ one, distance: editDistance(word, one) }))
    .filter(({ one, distance }) => distance <= (Math.min(one.length, word.length) < SHORT ? 1 : 2))
    .sort((a, b) => a.distance - b.distance || (a.one < b.one ? -1 : 1));
  return near[0]?.one ?? null;
}

/** Flags of other harnesses, and what to use here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  '--dangerously-skip-permissions': 'here it is --permission-mode bypassPermissions',
  '--allow-dangerously-skip-permissions': 'here it is --permission-mode bypassPermissions',
  '--system-prompt-file': 'here it is --system-prompt "$(cat FILE)"',
  '--append-system-prompt-file': 'here it is --append-system-prompt "$(cat FILE)"',
  '--forward-subagent-text': 'stream-json has the lines of all agents',
  '--include-hook-events': 'stream-json has them, as hook_response',
  '--no-session-persistence': 'a session is always recorded; ramet sessions rm removes one',
  '--debug': 'ramet logs lists what a session did',
};

const PRINTS = /^(?:-[a-zA-Z]*p|--print)$/;

/**
 * The parser's message as one line, with what to do if a prompt was taken for a flag or a command. `below` names the
 * commands below a command.
 */
export function usageError(
  text: string,
  args: readonly string[],
  below: (command: string) => readonly string[] = () => [],
): string {
  const line = text
    .replace(/^error: /, '')
    .trim()
    .replace(/\s*\n\s*/g, ' ')
    .replace(/^command-argument value '(.*)' is invalid for argument '(.*?)'\./, '"$1" does not fit <$2>.');
  const [, command = ''] = /^too many arguments for '(\w+)'/.exec(line) ?? [];
  // Of a command with a default below it, the parser names the default, which nobody has typed.
  const typed = args.includes(command) ? command : (args[0] ?? '');
  const known = below(typed);
  if (command !== '' && known.length > 0) return unknownBelow(typed, args, known);
  const [, flag = ''] = /^unknown option '(--[\w-]+)'/.exec(line) ?? [];
  if (Object.hasOwn(ELSEWHERE, flag)) return `${line}; ${ELSEWHERE[flag]}`;
  // A flag of another tool is no prompt.
  const mayBePrompt =
    /^unknown option '(?!--?[a-z][\w-]*')/i.test(line) && args.some((word) => PRINTS.test(word));
  return mayBePrompt
    ? `${line}; a prompt that begins with - goes behind --, as in ramet -p -- '- fix it'`
    : line;
}

/** The second word is another file, or the second rule of a flag that takes one word. */
const ONE_FILE =
  "operate takes one file, folder or goal in quotes, and here is more than one word; several rules go into one word, with commas: --allowedTools 'Bash(npm test),Bash(git log:*)'";

function unknownBelow(command: string, args: readonly string[], known: readonly string[]): string {
  const word = args.slice(args.indexOf(command) + 1).find((arg) => !arg.startsWith('-')) ?? '';
  const meant = nearWord(word, known);
  if (meant === null && command === 'operate') return ONE_FILE;
  const hint = meant === null ? `there are ${known.join(', ')}` : `did you mean ${meant}?`;
  return `there is no command "${command} ${word}": ${hint}`;
}
