/** What is done at a prompt that begins with a slash. Each command answers with text; none knows the screen. */

import { UserMistake } from '../../../schema/errors.ts';
import { SESSION_MODES } from '../../../schema/status.ts';
import { hitRate } from '../../../schema/usage.ts';
import { sessionList } from '../../../sdk/calls/status.ts';
import { isListedModel, requireSessionMode } from '../../../sdk/options.ts';
import { findPlace } from '../../../sdk/place.ts';
import { summaryText, titleText } from '../../../views/session-rows.ts';
import { viewSession } from '../../../views/session-view.ts';
import { dollars, duration, percent, table, tokens } from '../../../views/text/format.ts';
import { fittedTable } from '../../../views/text/narrow-table.ts';
import { type CommandIo, callFrom } from '../../io.ts';
import { nearWord } from '../../near-word.ts';
import { CHAT_COMMANDS, type ChatCommandHelp, type ChatCommandName } from '../editor/command-completion.ts';
import { customCommands, isCustomCommand, loadCustomCommands } from '../editor/custom-commands.ts';
import { agentsText, cancelAgents, openAgent, stopAgents, tellAgents } from './agents/agent-commands.ts';
import type { Chat } from './chat.ts';
import { rewindTo, undoLast } from './going-back.ts';
import type { CommandAnswer, PickRequest } from './input/menus.ts';
import { MODE_STAYS } from './questions/question-desk.ts';

export interface ChatCommand {
  readonly name: string;
  readonly argument: string;
}

/** Null for a prompt: `#12 is broken` is one, as is a text of several lines with a heading; a path such as `/etc/hosts` is no command, and a skill or custom command goes to the session. */
export function parseChatCommand(line: string): ChatCommand | null {
  const note = /^#[ \t]+([^\n]*\S)$/.exec(line.trim())?.[1];
  if (note !== undefined) return { name: 'remember', argument: note };
  const [, name, argument = ''] = /^\/([a-z]+)(?:[ \t]+([^\n]*))?$/.exec(line.trim()) ?? [];
  if (name === undefined || (!isKnown(name) && isCustomCommand(name))) return null;
  return { name, argument: argument.trim() };
}

export interface CommandContext {
  readonly chat: Chat;
  /** Whether someone is asked something now. */
  readonly desk?: { readonly current: object | null } | undefined;
  readonly io: CommandIo;
  readonly signal: AbortSignal;
}

export async function runChatCommand(command: ChatCommand, context: CommandContext): Promise<CommandAnswer> {
  if (!isKnown(command.name)) {
    await loadCustomCommands(context.chat.options);
    if (isCustomCommand(command.name))
      return { text: '', prompt: `/${command.name} ${command.argument}`.trim() };
    if (command.name === EXIT_TOO) return RUN.quit('', context);
    throw new UserMistake('no_command', unknownCommand(command.name));
  }
  return RUN[command.name](command.argument, context);
}

/** What other programs call /quit. A skill or a command of that name comes first. */
const EXIT_TOO = 'exit';

export function unknownCommand(name: string): string {
  const meant = nearWord(name, Object.keys(CHAT_COMMANDS));
  const hint = meant === null ? '/help lists them' : `did you mean /${meant}?`;
  return `there is no command /${name}: ${hint}`;
}

/** Whether it is carried out at once, also while a turn runs. */
export function isInstant({ name }: ChatCommand): boolean {
  return isKnown(name) && CHAT_COMMANDS[name].instant === true;
}

function isKnown(name: string): name is ChatCommandName {
  return Object.hasOwn(CHAT_COMMANDS, name);
}

type Run = (argument: string, context: CommandContext) => CommandAnswer | Promise<CommandAnswer>;

const RUN: Readonly<Record<ChatCommandName, Run>> = {
  help: (_, { io }) => ({ text: helpText(io.columns) }),
  cost: (_, { chat, io }) => ({ text: costText(chat, io) }),
  context: async (_, { chat }) => ({ text: (await aboutSession()).contextText(chat) }),
  status: async (_, { chat, io }) => ({ text: (await aboutSession()).sessionStatus(chat, io) }),
  init: async () => ({ text: '', prompt: (await aboutSession()).INIT_PROMPT }),
  review: async (argument) => ({ text: '', prompt: (await aboutSession()).reviewPrompt(argument) }),
  export: async (argument, { chat, io }) => ({
    text: (await aboutSession()).exportSession(argument, chat, io),
  }),
  remember: async (argument, { chat, io }) => ({
    text: await (await aboutSession()).remember(argument, chat, io),
  }),
  agents: (_, { chat, io }) => ({ text: agentsText(chat, io) }),
  team: async (_, { chat }) => ({ text: (await aboutSession()).teamStatus(chat) }),
  open: (argument, { chat, io }) => openAgent(argument, chat, io),
  tell: async (argument, { chat, io }) => ({ text: await tellAgents(argument, chat, io) }),
  cancel: (argument, { chat }) => ({ text: cancelAgents(argument, chat) }),
  stop: (argument, { chat }) => ({ text: stopAgents(argument, chat) }),
  continue: (_, { chat }) => {
    const goOn = chat.session?.isInterrupted === true || chat.openWork.length > 0;
    return { goOn, text: goOn ? '' : 'nothing was interrupted' };
  },
  compact,
  model,
  permissions,
  resume,
  undo: (argument, { chat }) => undoLast(argument, chat),
  rewind: (argument, { chat }) => rewindTo(argument, chat),
  clear: async (_, { chat }) => {
    const left = chat.session?.id;
    const { model, permissionMode } = chat;
    await chat.change(null);
    // A person who went to plan mode to be safe stays there.
    if (left !== undefined && model !== null) chat.setModel(model);
    if (permissionMode !== null && permissionMode !== 'bubble') chat.setPermissionMode(permissionMode);
    return { text: left === undefined ? 'a new session' : `a new session; /resume ${left} goes back` };
  },
  quit: () => ({ text: '', leave: true }),
};

/** Loaded with the first of these commands. */
function aboutSession(): Promise<typeof import('./session-commands.ts')> {
  return import('./session-commands.ts');
}

const KEYS: readonly (readonly [string, string])[] = [
  ['Enter', 'send; during a turn: delivered at the next step'],
  ['Alt-Enter, Ctrl-J, \\ Enter', 'a new line'],
  ['Up, Down', 'earlier prompts'],
  ['/', 'choose a command'],
  ['@', 'choose a file to attach'],
  ['!', 'run a command and share its output'],
  ['#', 'save a note for later sessions'],
  ['Ctrl-R', 'search earlier prompts'],
  ['Ctrl-G', 'write in your editor'],
  ['Shift-Tab', 'next permission mode'],
  ['Ctrl-Z', 'suspend'],
  ['Tab', 'complete a command'],
  ['Ctrl-O', 'show the last output or thought in full; again: earlier'],
  ['Ctrl-L', 'draw the screen again'],
  ['Ctrl-T', "show an agent's conversation; Esc goes back"],
  ['Ctrl-B', 'let agents continue in the background'],
  ['Esc', 'stop the turn; twice: go back to an earlier prompt'],
  ['Ctrl-C', 'stop the turn; twice: exit'],
  ['Ctrl-D', 'exit'],
];

/** One column of the screen stays free. */
function helpText(columns: number | null): string {
  const commands: readonly ChatCommandHelp[] = Object.values(CHAT_COMMANDS);
  const all = [...commands, ...customCommands()];
  const rows = [...all.map(({ usage, meaning }) => [usage, meaning]), ...KEYS];
  return fittedTable(rows, columns === null ? null : columns - 1);
}

/** One figure a line, which fits any screen; `ramet cost` has the whole table. */
function costText({ session }: Chat, io: CommandIo): string {
  if (session === null) return 'nothing was spent yet';
  using view = viewSession(session.id, findPlace(io).project);
  const { requests, retries, usage, durationMs, costUsd } = view.ledger.total;
  const models = Array.from(view.ledger.models, ([name, line]) => [name, dollars(line.costUsd)]);
  return table([
    ['requests', `${requests} (${retries} tried again)`],
    ['input', `${tokens(usage.input_tokens)} tokens`],
    ['written to the cache', `${tokens(usage.cache_creation_input_tokens)} tokens`],
    ['read from it', `${tokens(usage.cache_read_input_tokens)} tokens (${percent(hitRate(usage))})`],
    ['output', `${usage.estimated === true ? '~' : ''}${tokens(usage.output_tokens)} tokens`],
    ['time', duration(durationMs)],
    ...(models.length > 1 ? models : []),
    ['cost', dollars(costUsd)],
  ]);
}

async function compact(instructions: string, { chat, signal }: CommandContext): Promise<CommandAnswer> {
  if (chat.session === null) return { text: 'there is nothing to compact yet' };
  const outcome = await chat.session.compact({ signal, ...(instructions && { instructions }) });
  chat.count(outcome);
  if (!outcome.compacted) return { text: `not compacted: ${outcome.reason}` };
  const { tokensBefore, tokensAfter } = outcome;
  return { text: `compacted: ${tokens(tokensBefore)} tokens are now about ${tokens(tokensAfter)}` };
}

const MODEL_WORDS: readonly string[] = CHAT_COMMANDS.model.words ?? [];
const MODELS = MODEL_WORDS.join(', ');

function model(argument: string, { chat }: CommandContext): CommandAnswer {
  if (argument === '')
    return {
      text: `the model is ${chat.model ?? 'the default of the settings'}; /model ${MODELS} or an id changes it`,
    };
  chat.setModel(argument);
  const isKnown = MODEL_WORDS.includes(argument) || isListedModel(argument);
  const note = isKnown ? '' : '; Ramet does not know it: check the name, and expect no costs for it';
  return { text: `the model is now ${chat.model}${note}` };
}

function permissions(argument: string, { chat, desk }: Pick<CommandContext, 'chat' | 'desk'>): CommandAnswer {
  const modes = SESSION_MODES.join(', ');
  if (argument === '') {
    return {
      text: `the permission mode is ${chat.permissionMode ?? 'that of the settings'}; there are ${modes}`,
    };
  }
  const mode = requireSessionMode(argument);
  if ((desk?.current ?? null) !== null) throw new UserMistake('question_open', MODE_STAYS);
  chat.setPermissionMode(mode);
  return { text: `the permission mode is ${argument}` };
}

async function resume(argument: string, { chat, io }: CommandContext): Promise<CommandAnswer> {
  if (argument !== '') {
    await chat.change(argument);
    return { text: `resumed session ${chat.session?.id}`, isResumed: true };
  }
  const sessions = sessionList(callFrom(io)).filter(({ session }) => session !== chat.session?.id);
  if (sessions.length === 0) return { text: 'there is no other session of this directory yet' };
  const now = Date.now();
  const { summaryOf } = await import('../../../sdk/calls/sessions.ts');
  const items = sessions.map((entry) => {
    let detail: string | null = null;
    return {
      id: entry.session,
      label: titleText(entry.title),
      detail(): string {
        detail ??= `${entry.live ? 'in use · ' : ''}${summaryText(summaryOf(entry, callFrom(io)), now)}`;
        return detail;
      },
    };
  });
  const linesOf = (id: string): string[] => [`/resume ${id}`];
  return { text: '', pick: { title: 'resume which session? type to search, Esc: none', items, linesOf } };
}

const MOST_LISTED = 10;

/** A list to choose from where nothing can be chosen: the next command names it. */
export function pickText({ items, linesOf }: PickRequest): string {
  const rows = items
    .slice(0, MOST_LISTED)
    .map(({ id, label, detail }) => [linesOf?.(id).join(' ') ?? id, detail?.() ?? '', label]);
  return table(rows);
}

const CARRY_OUT = 'The plan is good. Carry it out.';

const STEP = /^\s*(?:[-*+\u2022]|\d+[.)]|#{1,6}|step \d+)\s*\S/gim;

/** An answer with steps: what follows a plain answer to a plain question is the next question. */
export function isPlan(answer: string): boolean {
  return (answer.match(STEP)?.length ?? 0) >= 2;
}

/** What follows a plan. */
export const PLAN_CHOICE: PickRequest = {
  title: 'here is the plan: go?',
  items: [
    { id: 'go', label: 'go: carry it out, and ask before changes' },
    { id: 'edit', label: 'go, and accept all edits' },
    { id: 'change', label: 'change: write what should be different' },
    { id: 'no', label: 'no: stay in plan mode' },
  ],
  linesOf: (id) =>
    id === 'go'
      ? ['/permissions default', CARRY_OUT]
      : id === 'edit'
        ? ['/permissions acceptEdits', CARRY_OUT]
        : [],
  isQuestion: true,
};
