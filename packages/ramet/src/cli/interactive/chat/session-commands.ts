/** Commands about the session as a whole: what fills its context, its state, a copy of it; and two prompts that people ask often. */
import { UserMistake } from '../../../schema/errors.ts';
import { VERSION } from '../../../sdk/version.ts';
import { teamText } from '../../../views/team-text.ts';
import { dollars, percent, safeLine, table, tokens, usageTokens } from '../../../views/text/format.ts';
import { exported } from '../../commands/sessions.ts';
import { type CommandIo, callFrom } from '../../io.ts';
import type { Chat } from './chat.ts';

const BAR = 20;

/** A note of the user, in memory of the repository unless it says `user:` or `local:`. */
export async function remember(
  argument: string,
  { session, options: chosen }: Chat,
  io: CommandIo,
): Promise<string> {
  const [, named, rest = ''] = /^(\w+):\s*(.*)$/.exec(argument) ?? [];
  const { addMemoryNote, MEMORY_SCOPES } = await import('../../../sdk/memory/memory-calls.ts');
  const scope = MEMORY_SCOPES.find((one) => one === named);
  const note = scope === undefined ? argument : rest;
  const options = { scope: scope ?? 'project' } as const;
  if (session === null) await (await import('../../../sdk/calls/session-defaults.ts')).refuseNotes(chosen);
  const { path, change } = await (session?.remember(note, options) ??
    addMemoryNote({ note, ...options }, callFrom(io)));
  if (change === null) return `memory has this note already: ${path}`;
  return `saved to ${path}; later sessions begin with it (ramet memory undo ${change} takes it back)`;
}

export function contextText({ session }: Chat): string {
  if (session === null) return 'there is no conversation yet';
  const { tokens: used, window, compactsAt, parts } = session.context();
  const isBounded = Number.isFinite(window);
  const whole = isBounded ? ` of ${tokens(window)} tokens (${percent(used / window)})` : ' tokens';
  const rows = parts().map(({ name, tokens: size }) => {
    const share = used === 0 ? 0 : size / used;
    return [name, `~${tokens(size)}`, percent(share), '#'.repeat(Math.round(share * BAR))];
  });
  const end = isBounded ? `compacted from ${tokens(compactsAt)} tokens on; /compact does it now` : '';
  return `${session.model}: ${tokens(used)}${whole}\n${table(rows)}${end}`;
}

export function sessionStatus(chat: Chat, io: CommandIo): string {
  const { session, tally, board } = chat;
  // After the last response something may have been taken back.
  const context = session === null ? chat.context : session.context();
  const window = context !== null && Number.isFinite(context.window) ? context.window : null;
  const done = chat.todos.filter(({ status }) => status === 'completed').length;
  return table([
    ['ramet', VERSION],
    ['session', session?.id ?? 'none yet: it begins with the first prompt'],
    ['folder', safeLine(session?.agent.cwd ?? io.cwd)],
    ['model', chat.model ?? 'the default one'],
    ['permission mode', chat.permissionMode ?? 'the default one'],
    ...(context === null
      ? []
      : [
          [
            'context',
            `${tokens(context.tokens)} tokens${window === null ? '' : ` (${percent(context.tokens / window)})`}`,
          ],
        ]),
    ['used', `${usageTokens(tally.usage)} tokens, ${dollars(tally.costUsd)}`],
    ...aheadRow(session),
    ...(board.size === 0 ? [] : [['agents at work', String(board.size)]]),
    ...(chat.todos.length === 0 ? [] : [['todo list', `${done} of ${chat.todos.length} done`]]),
  ]);
}

function aheadRow(session: Chat['session']): string[][] {
  const { tries, hits, costUsd } = session?.background?.speculation ?? { tries: 0, hits: 0, costUsd: 0 };
  return tries === 0 ? [] : [['worked ahead', `${tries} tried, ${hits} used, ${dollars(costUsd)}`]];
}

const NO_TEAM =
  'this session has no team: ramet team create NAME makes one, ramet --team NAME begins a session with one';

export function teamStatus({ session }: Chat): string {
  if (session?.team === undefined) return NO_TEAM;
  const { name, members, tasks, plans } = session.team;
  const now = { members: members(), tasks: tasks(), plans: plans() };
  return teamText({ name, session: session.id, host: process.pid, isRun: false, ...now });
}

const FORCE = /^--force(?:\s+|$)|\s+--force$/;

/** An existing file is not overwritten without `--force`, which stands before or behind the name. */
export function exportSession(argument: string, { session }: Chat, io: CommandIo): string {
  if (session === null) return 'there is nothing to export yet';
  const notes: string[] = [];
  const file = argument.replace(FORCE, '').trim();
  if (file.startsWith('-'))
    throw new UserMistake('no_option', `/export has no option ${file}: it takes a file and --force`);
  const flags = {
    format: 'markdown' as const,
    output: file === '' ? `ramet-${session.id}.md` : file,
    force: FORCE.test(argument),
  };
  exported(session.id, flags, { ...io, note: (line) => notes.push(line) });
  return notes.join('\n');
}

export const INIT_PROMPT: string = [
  'Write AGENTS.md at the root of this repository: what an agent must know to work here. Read the code, the',
  'configuration and the documents first. Say what the project is, how to build, test (also one test alone) and check it,',
  'how the code is organised where that takes several files to see, and rules that the code follows and a newcomer would',
  'break. Leave out what is obvious or listed elsewhere, and invent nothing. At most 80 lines. If AGENTS.md or CLAUDE.md',
  'exists, improve it and keep what is right.',
].join(' ');

export function reviewPrompt(what: string): string {
  const changes =
    what === '' ? 'the changes that are not committed yet (git status, git diff HEAD, and new files)' : what;
  return [
    `Review ${changes}. Change nothing.`,
    'Read the code around the changes, not only the diff. Report defects that you can show with an input or a sequence of',
    'steps: wrong results, lost data, security, races, broken error handling, missing tests for new behaviour. For each:',
    'file and line, what happens, how to fix it; the worst first. Leave out taste. If there is nothing, say so.',
  ].join(' ');
}
