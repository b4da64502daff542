import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import {
  type Cast,
  call,
  eventsOf,
  type FamilySession,
  lastTexts,
  startAgents,
  startFamily,
} from '../../../test/fixtures/family.ts';
import { witnessPath } from '../../journal/integrity.ts';
import { statusBoardOf } from '../../journal/projections/status.ts';
import { repairSession } from '../../journal/repair-session.ts';
import { MAY_HAVE_RUN, NOT_RUN, RECORD_LOST_ITS_END } from '../agent/notices.ts';

const never = () => new Promise<never>(() => {});
const append = call('Bash', { command: 'echo one >> one.txt' });

/** A session whose journal ends with the response number `response`: what came after it was lost, and its witness remains. */
async function cutAfter(response: number, cast: Cast, requests: number): Promise<FamilySession> {
  const stop = new AbortController();
  const family = await startFamily({ cast });
  const running = family.run('Go.', { signal: stop.signal });
  while (family.emulator.requests.length < requests) await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort('SIGINT');
  await running;
  await family.session[Symbol.asyncDispose]();
  cutJournal(family.home, response);
  return family;
}

function journalIn(home: string): string {
  return globSync(join(home, 'projects/*/*.sqlite')).find((file) => !file.endsWith('index.sqlite')) ?? '';
}

function cutJournal(home: string, response: number): void {
  using db = new DatabaseSync(journalIn(home));
  const [last] = db
    .prepare("SELECT seq FROM events WHERE type = 'response.completed' ORDER BY seq LIMIT 1 OFFSET ?")
    .all(response - 1);
  db.prepare('DELETE FROM events WHERE seq > ?').run(Number(last?.seq));
}

describe('LOG-1: a call whose start was in the lost end of the journal', () => {
  test('is not made again, and its agent is told', async () => {
    const family = await cutAfter(1, { 'Go.': [append, never] }, 2);
    const again = await family.reopen({ 'Go.': () => ({ text: 'Checked.' }) });
    await again.run(null);
    expect(readFileSync(join(again.cwd, 'one.txt'), 'utf8')).toBe('one\n');
    expect(lastTexts(again.requestsOf('Go.').at(-1))).toEqual([MAY_HAVE_RUN, RECORD_LOST_ITS_END]);
  });

  test('is not made again by a later resume, when the first one was killed before it answered', async () => {
    const family = await cutAfter(1, { 'Go.': [append, never] }, 2);
    const first = await family.reopen();
    const again = await first.reopen({ 'Go.': () => ({ text: 'Checked.' }) });
    await again.run(null);
    expect(readFileSync(join(again.cwd, 'one.txt'), 'utf8')).toBe('one\n');
    expect(lastTexts(again.requestsOf('Go.').at(-1))).toEqual([MAY_HAVE_RUN, RECORD_LOST_ITS_END]);
  });

  test('of a child is not made again either', async () => {
    const family = await cutAfter(2, { 'Go.': [startAgents(['child'])], child: [append, never] }, 3);
    const again = await family.reopen({
      'Go.': () => ({ text: 'Heard.' }),
      child: () => ({ text: 'Scope: checked.' }),
    });
    await again.run(null);
    expect(readFileSync(join(again.cwd, 'one.txt'), 'utf8')).toBe('one\n');
    expect(lastTexts(again.requestsOf('child').at(-1))).toEqual([MAY_HAVE_RUN, RECORD_LOST_ITS_END]);
  });

  test('that started an agent starts no second one', async () => {
    const family = await cutAfter(1, { 'Go.': [startAgents(['child'])], child: [append, never] }, 3);
    const again = await family.reopen({ 'Go.': () => ({ text: 'Checked.' }), child: [append, never] });
    await again.run(null);
    expect(readFileSync(join(again.cwd, 'one.txt'), 'utf8')).toBe('one\n');
    expect(lastTexts(again.requestsOf('Go.').at(-1))[0]).toBe(MAY_HAVE_RUN);
    expect(eventsOf(again.recordedOf(2), 'agent.started')).toEqual([]);
  });

  test('is closed as one that may have run when there is another prompt', async () => {
    const family = await cutAfter(1, { 'Go.': [append, never] }, 2);
    const again = await family.reopen({ 'Go.': () => ({ text: 'Else.' }), Else: () => ({ text: 'Else.' }) });
    await again.run('Else?');
    const said = JSON.stringify(again.emulator.requests.at(-1)?.request?.messages);
    expect(said).toContain(MAY_HAVE_RUN);
    expect(said).not.toContain(NOT_RUN.interrupted);
  });

  test('is made again where it only reads', async () => {
    const look = call('Read', { file_path: 'seen.txt' });
    const family = await cutAfter(1, { 'Go.': [look, never] }, 2);
    writeFileSync(join(family.cwd, 'seen.txt'), 'as it is now\n');
    const again = await family.reopen({ 'Go.': () => ({ text: 'Read.' }) });
    await again.run(null);
    expect(lastTexts(again.requestsOf('Go.').at(-1))[0]).toContain('as it is now');
  });
});

describe('LOG-1: a repaired session', () => {
  /** Stopped while its child works, then damaged and repaired. */
  async function repaired(
    damage: (file: string) => void,
    input: Record<string, unknown> = {},
  ): Promise<FamilySession> {
    const stop = new AbortController();
    const main = [startAgents(['child'], input), () => ({ text: 'I wait.' })];
    const family = await startFamily({ cast: { 'Go.': main, child: [append, never] } });
    const running = family.run('Go.', { signal: stop.signal });
    while (family.emulator.requests.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    const file = journalIn(family.home);
    const copy = await copyOfKilled(family, file);
    stop.abort('SIGINT');
    await running;
    await family.session[Symbol.asyncDispose]();
    writeFileSync(file, copy);
    damage(file);
    const session = basename(file, '.sqlite');
    expect(repairSession({ project: dirname(file), session }).lostEvents).toHaveLength(1);
    return family;
  }

  test('tells every agent, and does not repeat a call that may have begun', async () => {
    const family = await repaired((file) => damageFirst(file, 'tool.started', 'Bash'));
    const again = await family.reopen({
      'Go.': () => ({ text: 'Heard.' }),
      child: () => ({ text: 'Scope: checked.' }),
    });
    await again.run(null);
    expect(readFileSync(join(again.cwd, 'one.txt'), 'utf8')).toBe('one\n');
    for (const agent of ['Go.', 'child'])
      expect(JSON.stringify(again.requestsOf(agent).at(-1))).toContain(RECORD_LOST_ITS_END);
  });

  test('resumes the agents of a main agent that lost its conversation', async () => {
    const family = await repaired((file) => damageFirst(file, 'message.appended', 'prompt'));
    const again = await family.reopen({
      'Once more.': () => ({ text: 'Heard.' }),
      child: () => ({ text: 'Scope: done.' }),
    });
    await again.run('Once more.');
    expect(again.requestsOf('child').length).toBeGreaterThan(0);
    expect(eventsOf(again.recordedOf(2), 'agent.ended').at(-1)).toMatchObject({ status: 'done' });
  });

  test('is refused without a prompt where its main agent lost its conversation, and its agents stay resumable', async () => {
    const family = await repaired((file) => damageFirst(file, 'message.appended', 'prompt'));
    const refused = await family.reopen();
    const command = `ramet -p --resume ${refused.session.id} "PROMPT"`;
    await expect(refused.run(null)).rejects.toMatchObject({
      code: 'conversation_lost',
      message: `the conversation of the main agent is lost: give it a prompt with: ${command}`,
    });
    const again = await refused.reopen({
      'Once more.': () => ({ text: 'Heard.' }),
      child: () => ({ text: 'Scope: done.' }),
    });
    expect(eventsOf(again.recordedOf(2), 'agent.ended')).toEqual([]);
    await again.run('Once more.');
    expect(eventsOf(again.recordedOf(2), 'agent.ended')).toMatchObject([{ status: 'done' }]);
  });

  test('gives an agent up whose conversation is lost, once, and says so', async () => {
    const family = await repaired((file) => damageFirst(file, 'message.appended', 'prompt', 2));
    const message = /^the conversation of agent \S+\.2 is lost: check what is done/;
    const again = await family.reopen({ 'Go.': () => ({ text: 'Heard.' }) });
    const first = await again.run(null);
    expect(first.result).toMatchObject({ status: 'failed', cause: 'conversation_lost', text: 'Heard.' });
    expect(first.result.message).toMatch(message);
    const told = JSON.stringify(again.requestsOf('Go.').at(-1)?.request?.messages.at(-1));
    expect(told).toContain('failed: conversation_lost: its conversation is lost: start another agent');
    expect(told).not.toContain('SendMessage');
    const ends = () => eventsOf(again.recordedOf(2), 'agent.ended');
    expect(ends()).toMatchObject([{ status: 'failed', cause: 'conversation_lost' }]);

    const send = call('SendMessage', { to: `${again.session.id}.2`, message: 'Finish.' });
    const later = await again.reopen({ 'Go.': [], 'And?': [send, { text: 'I see.' }] });
    expect((await later.run('And?')).result).toMatchObject({ status: 'done', text: 'I see.' });
    expect(lastTexts(later.requestsOf('And?').at(-1))[0]).toContain(
      'cannot be resumed: its conversation is lost',
    );
    expect(ends()).toHaveLength(1);
  });

  test('tells the parent of one in the background that it is given up, and offers no way on', async () => {
    const family = await repaired((file) => damageFirst(file, 'message.appended', 'prompt', 2), {
      run_in_background: true,
    });
    const again = await family.reopen({ 'Go.': () => ({ text: 'Heard.' }) });
    const { result } = await again.run(null);
    expect(result).toMatchObject({ status: 'failed', cause: 'conversation_lost' });
    const news = eventsOf(again.recordedOf(1), 'message.received').filter(
      ({ kind }) => kind === 'notification',
    );
    expect(news.filter(({ from }) => from === `${again.session.id}.2`)).toHaveLength(1);
    const said = JSON.stringify(again.requestsOf('Go.').at(-1)?.request?.messages);
    expect(said).toContain('<status>failed: conversation_lost: ');
    expect(said).not.toContain('SendMessage continues it');
  });

  test('gives an agent up whose start is lost, once, tells its parent, and gives its number to no other', async () => {
    const family = await repaired((file) => damageFirst(file, 'agent.started', '', 2));
    const again = await family.reopen({ 'Go.': () => ({ text: 'Heard.' }) });
    const lost = `${again.session.id}.2`;
    const { result } = await again.run(null);
    expect(result).toMatchObject({ status: 'failed', cause: 'conversation_lost', text: 'Heard.' });
    expect(result.message).toContain(`the conversation of agent ${lost} is lost`);
    const said = JSON.stringify(again.requestsOf('Go.').at(-1)?.request?.messages);
    expect(said).toContain('<status>failed: conversation_lost: ');
    const board = statusBoardOf(
      again.recordedOf(2).map((event, seq) => ({ seq, time: 0, agent: lost, event })),
    );
    expect(board.agents.get(lost)).toMatchObject({ status: 'failed', cause: 'conversation_lost' });

    const later = await again.reopen({
      'Go.': [],
      'And?': [startAgents(['other']), { text: 'I see.' }],
      other: () => ({ text: 'Scope: other.' }),
    });
    expect((await later.run('And?')).result).toMatchObject({ status: 'done', text: 'I see.' });
    expect(eventsOf(later.recordedOf(2), 'agent.ended')).toHaveLength(1);
    expect(eventsOf(later.recordedOf(3), 'agent.ended')).toMatchObject([{ status: 'done' }]);
  });

  test('names an agent whose conversation is lost', async () => {
    const family = await repaired((file) => damageFirst(file, 'message.appended', 'prompt', 2));
    const again = await family.reopen({ 'Go.': () => ({ text: 'Heard.' }) });
    await again.run(null);
    const [warning] = eventsOf(again.recordedOf(1), 'warning.raised').filter(
      ({ code }) => code === 'agent_not_continued',
    );
    expect(warning?.message).toMatch(/^agent \S+\.2 is not resumed: its conversation is lost/);
  });
});

/** The journal as it is when the process is killed now. */
async function copyOfKilled(family: FamilySession, file: string): Promise<Buffer> {
  const copy = join(family.home, 'copy.sqlite');
  using db = new DatabaseSync(file, { readOnly: true });
  await backup(db, copy);
  return readFileSync(copy);
}

function damageFirst(file: string, type: string, holding: string, agent = 0): void {
  using db = new DatabaseSync(file);
  const changed = db
    .prepare(
      `UPDATE events SET data = data || ' ' WHERE seq =
        (SELECT min(seq) FROM events WHERE type = ? AND data LIKE ? AND (? = 0 OR agent LIKE '%.' || ?))`,
    )
    .run(type, `%${holding}%`, agent, String(agent));
  expect(changed.changes).toBe(1);
}

test('AGENT-5: without a witness that saw more, a call that had not begun is made', async () => {
  const family = await cutAfter(1, { 'Go.': [append, never] }, 2);
  writeFileSync(witnessPath(journalIn(family.home)), '');
  const again = await family.reopen({ 'Go.': () => ({ text: 'Done.' }) });
  await again.run(null);
  expect(readFileSync(join(again.cwd, 'one.txt'), 'utf8')).toBe('one\none\n');
});
