/** What a user may have meant: near words, the parser's errors as one line, and unknown variables. */
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

export function commandNames(program: { readonly commands: readonly { name(): string }[] }): string[] {
  return program.commands.map((command) => command.name()).filter((name) => !HIDDEN.includes(name));
}

const HIDDEN: readonly string[] = ['print', 'complete'];

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
    .replace(/\s*\n\s*/g, ' ');
  const [, command = ''] = /^too many arguments for '(\w+)'/.exec(line) ?? [];
  const known = below(command);
  if (known.length > 0) return unknownBelow(command, args, known);
  const mayBePrompt = /^unknown option '/.test(line) && args.some((word) => PRINTS.test(word));
  return mayBePrompt
    ? `${line}; a prompt that begins with - goes behind --, as in ramet -p -- '- fix it'`
    : line;
}

function unknownBelow(command: string, args: readonly string[], known: readonly string[]): string {
  const word = args.slice(args.indexOf(command) + 1).find((arg) => !arg.startsWith('-')) ?? '';
  const meant = nearWord(word, known);
  const hint = meant === null ? `there are ${known.join(', ')}` : `did you mean ${meant}?`;
  return `there is no command "${command} ${word}": ${hint}`;
}

/** Variables for users. */
const SETTINGS =
  'RAMET_HOME RAMET_PROVIDER RAMET_MAX_RETRIES RAMET_CONTEXT_WINDOW RAMET_CHILD_ENV RAMET_STRICT_PREFIX RAMET_MANAGED_DIR ' +
  'RAMET_MODEL_HAIKU RAMET_MODEL_SONNET RAMET_MODEL_OPUS RAMET_MODEL_FABLE';

/** What Ramet sets for programs of agents, and its tests for themselves. */
const INTERNAL =
  'RAMET_AGENT RAMET_START RAMET_TASK RAMET_WORKTREE RAMET_SLOT RAMET_PORT_BASE RAMET_CHECKOUT RAMET_CHECKOUT_STATE RAMET_REAL_GIT ' +
  'RAMET_GIT_HELPER RAMET_GIT_LOCK RAMET_GIT_PLAIN_DIFF RAMET_TRAILERS RAMET_SPOOL RAMET_TEST_SANDBOX RAMET_TEST_MANNER ' +
  'RAMET_TOKEN RAMET_SERVER_TOKEN RAMET_MEMORY_KEY_FILE';

export const KNOWN_VARIABLES: readonly string[] = [...SETTINGS.split(' '), ...INTERNAL.split(' ')];

/** One line for each RAMET_ variable that means nothing: it is most likely misspelt. */
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith('RAMET_') && !KNOWN_VARIABLES.includes(name),
  );
  if (unknown.length === 0) return [];
  return unknown.map((name) => {
    const meant = nearWord(name, SETTINGS.split(' '));
    return `the variable ${name} means nothing to Ramet${meant === null ? '' : `: did you mean ${meant}?`}`;
  });
}
