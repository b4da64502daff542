import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { runHere } from '../../../test/fixtures/command-here.ts';
import { RecordedSession } from '../../../test/fixtures/recorded-session.ts';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import { listSessions } from '../../journal/session-list.ts';
import { latestInterrupted } from '../../sdk/calls/status.ts';
import { findPlace } from '../../sdk/place.ts';

interface Kept {
  project: string;
  ramet(...args: string[]): ReturnType<typeof runHere>;
}

function keptIn(directory: string): Kept {
  const env = { RAMET_HOME: join(directory, 'home'), HOME: directory };
  return {
    project: findPlace({ cwd: directory, env }).project,
    ramet: (...args) => runHere(args, { cwd: directory, env }),
  };
}

async function session(project: string, cwd: string, prompt: string, done = true): Promise<string> {
  const recorded = await RecordedSession.open(project, cwd);
  recorded.record(null, { type: 'session.started', version: '0', cwd, repository: cwd, branch: 'topic' });
  const main = recorded.agent(1);
  recorded.say(main, ['<environment>', prompt], 1);
  recorded.exchange(main, { answer: `Answer to ${prompt}`, response: { costUsd: 0.25 } });
  if (done) recorded.end(main);
  await recorded.journal.close();
  return recorded.journal.session;
}

describe('UI-1: ramet sessions', () => {
  test('lists them with time, branch, cost, status and title, and as JSON', async ({ directory }) => {
    const { project, ramet } = keptIn(directory);
    expect((await ramet('sessions')).stdout).toContain('no sessions of this directory yet');
    const id = await session(project, directory, 'fix the parser');
    await ramet('sessions', 'rename', id.slice(0, 5), 'Parser', 'work');
    const { stdout } = await ramet('sessions');
    expect(stdout).toMatch(
      new RegExp(
        `^SESSION +LAST USED +BRANCH +COST +STATUS +TITLE\n${id} .* topic +\\$0\\.2500 +done +Parser work\n$`,
      ),
    );
    expect(JSON.parse((await ramet('sessions', 'ls', '--json')).stdout)).toEqual([
      {
        session_id: id,
        title: 'Parser work',
        status: 'done',
        created: expect.stringMatching(/Z$/),
        last_used: expect.stringMatching(/Z$/),
        cwd: directory,
        branch: 'topic',
        prompts: 1,
        agents: 1,
        total_cost_usd: 0.25,
      },
    ]);
  });

  test.for([
    ['killed', null, 'interrupted'],
    ['left, and not reported yet', 'unread', 'interrupted'],
    ['stopped, and its parent knows', 'read', 'done'],
  ])('AGENT-5: one whose agent in the background was %s', async ([_, report, status], { directory }) => {
    const { project, ramet } = keptIn(directory);
    const kept = await RecordedSession.open(project, directory);
    const main = kept.agent(1);
    kept.say(main, ['<environment>', 'go'], 1);
    const origin = { kind: 'fresh', call: 'c', description: 'd', background: true, depth: 1 } as const;
    const child = kept.agent(2, { parent: main, origin });
    kept.say(child, ['look around']);
    kept.exchange(main, { answer: 'I wait.' });
    kept.end(main);
    if (report !== null) {
      kept.end(child, { status: 'interrupted', cause: 'parent_ended' });
      const item = `${main}:1`;
      kept.record(main, { type: 'message.received', item, kind: 'notification', from: child, blocks: [] });
      if (report === 'read') kept.record(main, { type: 'message.taken', item, call: null });
    }
    await kept.journal.close();
    const [listed] = JSON.parse((await ramet('sessions', 'ls', '--json')).stdout);
    expect(listed).toMatchObject({ status, agents: 2 });
    const at = { cwd: directory, env: { RAMET_HOME: join(directory, 'home'), HOME: directory } };
    if (status === 'done') expect(() => latestInterrupted(at)).toThrow('nothing to resume');
    else expect(latestInterrupted(at)).toBe(kept.journal.session);
  });

  test('renames a session, also while it is written; the title stays without the index', async ({
    directory,
  }) => {
    const { project, ramet } = keptIn(directory);
    const open = await RecordedSession.open(project, directory);
    const { session: id } = open.journal;
    expect(await ramet('sessions', 'rename', id, 'two\u001b[31m\nlines')).toMatchObject({
      code: 0,
      stdout: `session ${id} is now "two lines"\n`,
    });
    await open.journal.close();
    expect(listSessions(project)).toMatchObject([{ title: 'two lines' }]);
    expect(await ramet('sessions', 'rename', id, ' ')).toMatchObject({
      code: 2,
      stderr: 'ramet: the title is empty: give some words\n',
    });
    expect(await ramet('sessions', 'rename', 'zzzz', 'x')).toMatchObject({ code: 2 });
  });

  test('removes what has ended; what runs or could be resumed stays and says why', async ({ directory }) => {
    const { project, ramet } = keptIn(directory);
    const done = await session(project, directory, 'one');
    const stopped = await session(project, directory, 'two', false);
    const open = await RecordedSession.open(project, directory);
    const running = open.journal.session;
    const { code, stdout, stderr } = await ramet('sessions', 'rm', done, done, stopped, running);
    expect(code).toBe(1);
    expect(stdout).toBe(`removed session ${done}\n`);
    expect(stderr).toMatch(
      new RegExp(`session ${stopped} stays: it was interrupted: .*\\(--force removes it\\)\n`),
    );
    expect(stderr).toContain(`session ${running} stays: it is running`);
    expect(await ramet('sessions', 'rm', '--force', stopped)).toMatchObject({ code: 0 });
    await open.journal.close();
    expect(listSessions(project).map((entry) => entry.session)).toEqual([running]);
  });

  test('removes nothing when one of the names is wrong', async ({ directory }) => {
    const { project, ramet } = keptIn(directory);
    const done = await session(project, directory, 'one');
    expect(await ramet('sessions', 'rm', done, 'zzzz')).toMatchObject({ code: 2 });
    expect(listSessions(project)).toHaveLength(1);
  });

  test('exports a page of Markdown or JSON, and overwrites no file unasked', async ({ directory }) => {
    const { project, ramet } = keptIn(directory);
    const id = await session(project, directory, 'fix ``` it');
    const { stdout } = await ramet('sessions', 'export');
    expect(stdout).toContain(`- session: ${id}\n`);
    expect(stdout).toContain('\n> fix ``` it\n\nAnswer to fix ``` it\n');
    expect(stdout).not.toContain('<environment>');
    const file = join(directory, 'page.json');
    writeFileSync(file, 'mine');
    const args = ['sessions', 'export', id, '--format', 'json', '-o', 'page.json'];
    expect((await ramet(...args)).stderr).toContain('it exists: name another file, or use --force');
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect(await ramet(...args, '--force')).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ session_id: id });
    expect((await ramet('sessions', 'export', '-o', 'none/page')).stderr).toContain('cannot write');
    expect(existsSync(join(directory, 'none'))).toBe(false);
  });
});
