/** The options of a session's methods, for callers that no compiler checks. */
import { MEMORY_SCOPES } from '../../memory/files/memory-places.ts';
import { EFFORTS } from '../../schema/status.ts';
import type { SpawnRequest } from '../../tools/agent-desk.ts';
import {
  type ArgumentKind,
  COUNT,
  checkArgument,
  checkOptions,
  FLAG,
  FUNCTION,
  fields,
  type Kinds,
  LIST,
  NAME,
  NAMES,
  OBJECT,
  oneOf,
  SIGNAL,
  TEXT,
} from '../calls/argument-kinds.ts';
import type { CompactRequest, PromptOptions, RewindRequest, Session } from './session-type.ts';

/** Some libraries have schemas that are functions. */
const SCHEMA: ArgumentKind = {
  text: 'a Zod 4 or Standard Schema, or JSON Schema',
  accepts: (value) => OBJECT.accepts(value) || FUNCTION.accepts(value),
};
const TEXT_OR_PARTS: ArgumentKind = {
  text: 'a text, a list of parts, or null',
  accepts: (value) => value === null || TEXT.accepts(value) || LIST.accepts(value),
};
const PROMPT: Kinds<PromptOptions> = {
  ...{ signal: SIGNAL, partial: FLAG, waitForChildren: FLAG, attachments: LIST, commands: FLAG },
  ...{ schema: SCHEMA, typed: FLAG },
};
/** What is wrong with an amount or a schema, the engine says. */
const SPAWN: Kinds<SpawnRequest> = {
  ...{ prompt: TEXT, description: TEXT, subagent_type: TEXT, model: TEXT, effort: oneOf(EFFORTS) },
  ...{ run_in_background: FLAG, name: TEXT, isolation: oneOf(['worktree']), schema: SCHEMA },
  expect: fields({ files: NAMES, check: NAME, commit: FLAG }),
  ...{ budget: OBJECT, maxTurns: COUNT },
};
const REWIND: Kinds<RewindRequest> = {
  ...{ prompt: COUNT, what: oneOf(['conversation', 'files', 'both']), force: FLAG },
};
const COMPACT: Kinds<CompactRequest> = { signal: SIGNAL, instructions: TEXT, onEvent: FUNCTION };

type Checked = 'run' | 'spawn' | 'attach' | 'command' | 'undo' | 'rewind' | 'compact' | 'remember';

const OPTIONS: Readonly<Record<Checked, Readonly<Record<string, typeof TEXT>>>> = {
  run: PROMPT,
  spawn: SPAWN,
  attach: { signal: SIGNAL },
  command: { signal: SIGNAL, onOutput: FUNCTION },
  undo: { turn: COUNT, force: FLAG, redo: FLAG },
  rewind: REWIND,
  compact: COMPACT,
  remember: { scope: oneOf(MEMORY_SCOPES), signal: SIGNAL },
};

/** What comes before the options. */
const FIRST = {
  run: ['the prompt', TEXT_OR_PARTS],
  attach: ['the argument for paths', NAMES],
  command: ['the command', NAME],
  remember: ['the note', NAME],
} as const;

/** Throws a UserMistake for what `session.method(first, options)` does not understand. */
export function checkCall(method: Checked & keyof Session, options: unknown, first?: unknown): void {
  const wanted = method in FIRST ? FIRST[method as keyof typeof FIRST] : undefined; // it is one, just seen
  if (wanted !== undefined) checkArgument(`session.${method}`, wanted[0], first, wanted[1]);
  checkOptions(`session.${method}`, options, OPTIONS[method]);
}
