/** `/undo` and `/rewind`: files, the conversation, or both as they were before an earlier prompt. */
import { UserMistake } from '../../../schema/errors.ts';
import { localTime } from '../../../schema/local-time.ts';
import type { UndoOutcome } from '../../../sdk/calls/undo.ts';
import { noPrompt } from '../../../views/exchanges.ts';
import { commandsNote, stepLine } from '../../../views/undo-text.ts';
import type { Chat } from './chat.ts';
import type { CommandAnswer } from './input/menus.ts';

const WHAT = ['both', 'conversation', 'files'] as const;
type What = (typeof WHAT)[number];

const USAGE = 'write /rewind NUMBER conversation, files or both';
const MOST_LISTED = 200;

export async function undoLast(argument: string, chat: Chat): Promise<CommandAnswer> {
  if (!['', 'redo', 'force'].includes(argument))
    throw new UserMistake('wrong_argument', `/undo takes nothing, redo or force, not "${argument}"`);
  if (chat.session === null) return { text: 'nothing to undo yet' };
  const outcome = await chat.session
    .undo({ redo: argument === 'redo', force: argument === 'force' })
    .catch((error: unknown) => {
      if (!(error instanceof UserMistake)) throw error;
      throw new UserMistake(error.code, inWordsOfHere(error.message), { cause: error });
    });
  const { kind, turn } = outcome.plan;
  const end =
    outcome.refused !== null
      ? inWordsOfHere(outcome.refused)
      : kind === 'undo'
        ? `files are as before turn ${turn}; the conversation stays; /undo redo takes this back`
        : 'the undo is taken back';
  const note = commandsNote(outcome.plan);
  return { text: [fileLines(outcome, chat), end, ...(note === null ? [] : [note])].join('\n').trim() };
}

/** Without a number, a list of prompts; with one alone, what is to be taken back. */
export async function rewindTo(argument: string, chat: Chat): Promise<CommandAnswer> {
  if (chat.session === null) return { text: 'there is nothing to go back to yet' };
  const [number = '', what = ''] = argument.split(/\s+/);
  if (number === '') return listPrompts(chat);
  if (!/^[1-9]\d*$/.test(number))
    throw new UserMistake('wrong_argument', `"${number}" is no prompt: ${USAGE}`);
  if (what === '') return chooseWhat(number, chat);
  if (!isWhat(what)) throw new UserMistake('wrong_argument', `"${what}" cannot be taken back: ${USAGE}`);
  return takeBack(Number(number), what, chat);
}

function isWhat(text: string): text is What {
  return WHAT.some((one) => one === text);
}

function listPrompts(chat: Chat): CommandAnswer {
  const exchanges = chat.lastExchanges(MOST_LISTED).toReversed();
  if (exchanges.length === 0) return { text: 'there is nothing to go back to yet' };
  const now = Date.now();
  const items = exchanges.map(({ number, prompt, time, calls }) => ({
    id: String(number),
    label: prompt,
    detail: () => `${localTime(time, now)} · ${calls} tool call${calls === 1 ? '' : 's'}`,
  }));
  const linesOf = (id: string): string[] => [`/rewind ${id}`];
  return { text: '', pick: { title: 'back to before which prompt? Esc: none', items, linesOf } };
}

function chooseWhat(number: string, chat: Chat): CommandAnswer {
  const count = chat.lastExchanges(1)[0]?.number ?? 0;
  if (Number(number) > count) throw noPrompt(Number(number), count);
  const items = [
    { id: 'both', label: 'the conversation and the files' },
    { id: 'conversation', label: 'the conversation only' },
    { id: 'files', label: 'the files only' },
  ];
  const linesOf = (id: string): string[] => [`/rewind ${number} ${id}`];
  return { text: '', pick: { title: `take back what, from prompt ${number} on?`, items, linesOf } };
}

async function takeBack(prompt: number, what: What, chat: Chat): Promise<CommandAnswer> {
  const { session } = chat;
  if (session === null) return { text: '' };
  const outcome = await session.rewind({ prompt, what });
  chat.measure();
  const { files, notes } = outcome;
  const lines = [
    files === null ? '' : fileLines(files, chat),
    what === 'files' ? '' : `the conversation is as before prompt ${prompt}; the record keeps what followed`,
    what === 'both' && files === null ? 'no file was changed by Write or Edit since then' : '',
    ...notes,
  ];
  // What had been asked is offered again, to be changed.
  const fill = what === 'files' ? {} : { fill: outcome.prompt };
  return { text: lines.filter(Boolean).join('\n'), ...fill };
}

function fileLines({ steps, blocked, failed }: UndoOutcome, { session }: Chat): string {
  const cwd = session?.agent.cwd ?? '';
  const problems = failed.map(({ path, reason }) => `not put back  ${path}: ${reason}\n`);
  return [...[...blocked, ...steps].map((step) => stepLine(step, cwd)), ...problems].join('').trimEnd();
}

/** `ramet undo` gives the same reasons, with its options. */
function inWordsOfHere(reason: string): string {
  return reason
    .replaceAll('ramet undo --redo', '/undo redo')
    .replaceAll('ramet undo', '/undo')
    .replace('--redo takes', '/undo redo takes')
    .replace('use --force', 'write /undo force')
    .replace('--force puts', '/undo force puts')
    .replace('for --redo', 'for /undo redo');
}
