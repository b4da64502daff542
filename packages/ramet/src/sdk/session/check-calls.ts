/** The options of a session's methods, for callers that no compiler checks. */
import { MEMORY_SCOPES } from '../../memory/files/memory-places.ts';
import { EFFORTS, END_REASONS, EXECUTORS } from '../../schema/status.ts';
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
  withMethods,
} from '../calls/argument-kinds.ts';
import type {
  CompactRequest,
  ForkOptions,
  PromptContent,
  PromptOptions,
  RewindRequest,
  Session,
  SpawnOptions,
  TeamView,
} from './session-type.ts';

/** Some libraries have schemas that are functions, and most have some of a class. */
const SCHEMA: ArgumentKind = {
  text: 'a Zod 4 or Standard Schema, or JSON Schema',
  accepts: (value) => OBJECT.accepts(value) || FUNCTION.accepts(value) || isStandard(value),
};
const isStandard = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && '~standard' in value;
const TEXT_OR_PARTS: ArgumentKind = {
  text: 'a text, a list of parts, or null',
  accepts: (value) => value === null || TEXT.accepts(value) || LIST.accepts(value),
};
const TEXT_OR_PARTS_OF_WORK: ArgumentKind = { ...TEXT_OR_PARTS, accepts: () => false };
const PROMPT: Kinds<PromptOptions> = {
  ...{ signal: SIGNAL, partial: FLAG, waitForChildren: FLAG, attachments: LIST, commands: FLAG },
  ...{ schema: SCHEMA, typed: FLAG },
};
/** What is wrong with an amount or a schema, the engine says. */
const SPAWN: Kinds<SpawnOptions> = {
  ...{ prompt: TEXT, description: TEXT, subagent_type: TEXT, model: TEXT, effort: oneOf(EFFORTS) },
  ...{ run_in_background: FLAG, name: TEXT, isolation: oneOf(['worktree']), schema: SCHEMA },
  expect: fields({ files: NAMES, check: NAME, commit: FLAG }),
  ...{ budget: OBJECT, maxTurns: COUNT, executor: oneOf(EXECUTORS), planFirst: FLAG },
};
/** It shares its parent's prefix, so nothing that would change it is among them. */
const FORK: Kinds<ForkOptions> = {
  ...{ description: TEXT, name: TEXT, isolation: oneOf(['worktree']), budget: OBJECT, maxTurns: COUNT },
  ...{ schema: SCHEMA, canUseTool: FUNCTION, skipTranscript: FLAG, skipCacheWrite: FLAG },
  abortController: withMethods('an AbortController', ['abort']),
};
const REWIND: Kinds<RewindRequest> = {
  ...{ prompt: COUNT, what: oneOf(['conversation', 'files', 'both']), force: FLAG },
};
const COMPACT: Kinds<CompactRequest> = { signal: SIGNAL, instructions: TEXT, onEvent: FUNCTION };

type Checked =
  | 'run'
  | 'ask'
  | 'fork'
  | 'spawn'
  | 'attach'
  | 'command'
  | 'undo'
  | 'compact'
  | 'remember'
  | 'close';

const OPTIONS: Readonly<Record<Checked, Readonly<Record<string, typeof TEXT>>>> = {
  run: PROMPT,
  ask: { ...PROMPT, onEvent: FUNCTION },
  fork: FORK,
  spawn: SPAWN,
  attach: { signal: SIGNAL },
  command: { signal: SIGNAL, onOutput: FUNCTION },
  undo: { turn: COUNT, force: FLAG, redo: FLAG },
  compact: COMPACT,
  close: { reason: oneOf(END_REASONS) },
  remember: { scope: oneOf(MEMORY_SCOPES), signal: SIGNAL },
};

/** What comes before the options. */
const FIRST = {
  run: ['the prompt', TEXT_OR_PARTS],
  ask: ['the prompt', TEXT_OR_PARTS],
  fork: ['the prompt', NAME],
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

/** One object, which must be there; `needed` are the fields that it cannot be without. */
function checkRequest(
  call: string,
  request: unknown,
  known: Readonly<Record<string, ArgumentKind>>,
  needed: readonly string[],
): void {
  const shape = `{ ${Object.keys(known).join(', ')} }`;
  checkArgument(call, 'the argument', request, { ...OBJECT, text: `an object: ${shape}` });
  checkOptions(call, request, known);
  for (const name of needed)
    checkArgument(call, `the option ${name}`, Reflect.get(Object(request), name), known[name] ?? NAME);
}

export function checkRewind(request: unknown): void {
  checkRequest('session.rewind', request, REWIND, ['prompt', 'what']);
}

export function checkSpawn(request: unknown): void {
  checkRequest('session.spawn', request, SPAWN, ['prompt', 'description']);
}

type TeamCall = 'add' | 'send' | 'answerPlan';

const TEAM: Readonly<Record<TeamCall & keyof TeamView, Readonly<Record<string, ArgumentKind>>>> = {
  add: { name: NAME, type: NAME },
  send: { to: NAME, text: NAME },
  answerPlan: { member: NAME, approve: FLAG, feedback: TEXT },
};
const NEEDED: Readonly<Record<TeamCall, readonly string[]>> = {
  add: ['name'],
  send: ['to', 'text'],
  answerPlan: ['member', 'approve'],
};

export function checkTeamCall(method: TeamCall, request: unknown): void {
  checkRequest(`session.team.${method}`, request, TEAM[method], NEEDED[method]);
}

/** A prompt of white space would be sent, and paid for, as it is. */
export function checkPrompt(prompt: unknown, options: PromptOptions): void {
  checkCall('run', options, prompt);
  if (typeof prompt === 'string' && prompt.trim() === '' && (options.attachments ?? []).length === 0)
    checkArgument('session.run', 'the prompt', prompt, TEXT_OR_PARTS_OF_WORK);
}

/** Anything else of a prompt is checked part by part. */
export function isTextAlone(
  prompt: PromptContent | null,
  { schema, attachments = [] }: PromptOptions,
): prompt is string | null {
  return (prompt === null || typeof prompt === 'string') && schema === undefined && attachments.length === 0;
}
