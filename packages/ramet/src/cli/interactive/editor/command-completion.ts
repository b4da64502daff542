/** The commands that begin with a slash: their names, what they take, and what Tab makes of a beginning. */
import { SESSION_MODES } from '../../../schema/status.ts';

export interface ChatCommandHelp {
  /** As `/help` shows it. */
  readonly usage: string;
  readonly meaning: string;
  /** Words its argument can be, where they are known. */
  readonly words?: readonly string[];
  /** Done at once, also while a turn runs; the others wait until it has ended. */
  readonly instant?: true;
}

export type ChatCommandName =
  | 'help'
  | 'cost'
  | 'context'
  | 'status'
  | 'agents'
  | 'team'
  | 'open'
  | 'tell'
  | 'cancel'
  | 'stop'
  | 'continue'
  | 'compact'
  | 'model'
  | 'permissions'
  | 'resume'
  | 'undo'
  | 'rewind'
  | 'init'
  | 'review'
  | 'export'
  | 'remember'
  | 'clear'
  | 'quit';

export const CHAT_COMMANDS: Readonly<Record<ChatCommandName, ChatCommandHelp>> = {
  help: { usage: '/help', meaning: 'keys and commands', instant: true },
  cost: { usage: '/cost', meaning: 'tokens and dollars so far', instant: true },
  context: { usage: '/context', meaning: 'what fills the context window', instant: true },
  status: { usage: '/status', meaning: 'session, model, mode, folder, figures', instant: true },
  agents: { usage: '/agents', meaning: 'the agents of this session', instant: true },
  team: { usage: '/team', meaning: 'members, unread messages and tasks of the team', instant: true },
  open: { usage: '/open [agent]', meaning: "show an agent's conversation; also Ctrl-T", instant: true },
  tell: { usage: '/tell <agent> <text>', meaning: 'send a message to an agent', instant: true },
  cancel: { usage: '/cancel <agent>', meaning: 'stop an agent after a last summary', instant: true },
  stop: { usage: '/stop <agent>', meaning: 'end an agent at once', instant: true },
  continue: { usage: '/continue', meaning: 'resume what was stopped, agents included' },
  compact: { usage: '/compact [what to keep]', meaning: 'replace older messages by a summary' },
  model: {
    usage: '/model [name]',
    meaning: 'show the model, or change it',
    words: ['haiku', 'sonnet', 'opus', 'fable'],
  },
  permissions: {
    usage: '/permissions [mode]',
    meaning: 'show the permission mode, or change it',
    words: SESSION_MODES,
  },
  resume: { usage: '/resume [session]', meaning: 'list sessions, or resume one' },
  undo: {
    usage: '/undo [redo]',
    meaning: 'restore the files that the last prompt changed',
    words: ['redo', 'force'],
  },
  rewind: {
    usage: '/rewind [prompt] [what]',
    meaning: 'go back to before an earlier prompt; also Esc Esc',
  },
  init: { usage: '/init', meaning: 'let the model write AGENTS.md for this repository' },
  review: {
    usage: '/review [what]',
    meaning: 'let the model review changes, all that are not committed',
  },
  export: {
    usage: '/export [file] [--force]',
    meaning: 'write the session to a Markdown file',
    words: ['--force'],
  },
  remember: {
    usage: '/remember [scope:] <note>',
    meaning: 'save a note for later sessions; also # and the note',
    words: ['project:', 'local:', 'user:'],
    instant: true,
  },
  clear: { usage: '/clear', meaning: 'start a new session' },
  quit: { usage: '/quit', meaning: 'exit; also /exit, Ctrl-D' },
};

export interface Completion {
  readonly text: string;
  /** What it could become, when that is more than one thing. */
  readonly candidates: readonly string[];
}

/** `wordsFor` gives what an argument can be just now. */
export function completeCommand(
  text: string,
  wordsFor: (command: string) => readonly string[] = () => [],
): Completion {
  const match = /^\/(\w*)$|^\/(\w+) +(\S*)$/.exec(text);
  if (match === null) return { text, candidates: [] };
  const [, name, command = '', word = ''] = match;
  if (name !== undefined) return completed('/', name, Object.keys(CHAT_COMMANDS));
  return completed(`/${command} `, word, [...wordsOf(command), ...wordsFor(command)]);
}

function wordsOf(command: string): readonly string[] {
  const commands: Readonly<Record<string, ChatCommandHelp>> = CHAT_COMMANDS;
  return Object.hasOwn(commands, command) ? (commands[command]?.words ?? []) : [];
}

function completed(before: string, beginning: string, words: readonly string[]): Completion {
  const candidates = words.filter((word) => word.startsWith(beginning));
  const [only] = candidates;
  if (only === undefined) return { text: before + beginning, candidates };
  if (candidates.length === 1) return { text: `${before}${only} `, candidates };
  return { text: before + commonBeginning(candidates), candidates };
}

function commonBeginning(words: readonly string[]): string {
  const [first = ''] = words;
  let length = first.length;
  while (!words.every((word) => word.startsWith(first.slice(0, length)))) length--;
  return first.slice(0, length);
}
