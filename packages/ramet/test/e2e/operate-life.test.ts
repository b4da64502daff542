import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { eventually, type RunningCommand } from '../fixtures/command.ts';
import { IDENTITY } from '../fixtures/merge-repository.ts';
import { test, type User } from '../fixtures/user.ts';
import { git } from '../fixtures/worktrees.ts';

const FREE = ['--permission-mode', 'bypassPermissions'];

/** `Write NAME` writes that file; `Hold NAME` waits until the user lets it, and then writes it. */
async function prepare(user: User, tasks: string): Promise<void> {
  mkdirSync(user.rametHome, { recursive: true });
  const settings = { sandbox: { readOnly: 'off', worktree: 'off' } };
  writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify(settings));
  writeFileSync(join(user.repository, 'tasks.md'), tasks);
  git(user.repository, 'add', '--all');
  git(user.repository, 'commit', '--quiet', '--message=tasks');
  git(user.repository, 'switch', '--quiet', '--create', 'desk');
  const respond = ({ request, turn }: { request: { messages: unknown }; turn: number }): Answer => {
    const said = JSON.stringify(request.messages);
    const [, verb, name = 'unknown'] = /Task \S+: (Write|Hold) (\w+\.txt)/.exec(said) ?? [];
    const wait = verb === 'Hold' ? `until [ -e '${goFile(user)}' ]; do sleep 0.05; done; ` : '';
    const input = { command: `${wait}echo x > ${name}`, description: 'write it', timeout: 60_000 };
    return turn === 0 ? { tool_use: [{ name: 'Bash', input }] } : { text: 'Done.' };
  };
  await user.emulate({ respond });
}

function goFile(user: User): string {
  return join(user.root, 'go');
}

function operate(user: User, ...args: string[]): RunningCommand {
  return user.start(['operate', ...args, ...FREE], { env: IDENTITY });
}

describe.concurrent('OP-2, UI-4: the life of a run', () => {
  test('programs get one object or a line for each event, and the report is kept with the session', async ({
    user,
  }) => {
    await prepare(user, '- [ ] T001 Write one.txt\n');
    const bad = await operate(user, 'tasks.md', '--report', 'no/where.md').ended;
    expect(bad).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no directory') });
    const flags = ['--into', 'main', '--output-format', 'stream-json', '--report', 'report.md'];
    const end = await operate(user, 'tasks.md', ...flags).ended;
    expect(end).toMatchObject({ code: 0 });
    const lines = end.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const result = lines.pop();
    const [session] = user.sessions();
    expect(lines.map(({ subtype, event }) => [subtype, event.type])).toContainEqual([
      ...['operator_event', 'operator.started'],
    ]);
    expect(result).toMatchObject({
      ...{ type: 'result', subtype: 'success', session_id: session, num_done: 1, num_tasks: 1 },
      ...{ landing: { state: 'moved' }, tasks: [{ id: 'T001', status: 'done', commit: expect.any(String) }] },
    });
    const own = join(user.project, session ?? '', 'operator', 'report.md');
    expect(readFileSync(own, 'utf8')).toMatch(/^# tasks\.md: 1 of 1 tasks done\n/);
    expect(readFileSync(join(user.repository, 'report.md'), 'utf8')).toBe(readFileSync(own, 'utf8'));
  });

  test('another terminal pauses, skips, adds and resumes; what is not possible is refused with what is', async ({
    user,
  }) => {
    await prepare(user, '- [ ] T001 Hold one.txt\n- [ ] T002 Write two.txt\n- [ ] T003 Write three.txt\n');
    expect(await user.here(['operate', 'pause'])).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('no operator has run in this repository') },
    });
    const run = operate(user, 'tasks.md', '--into', 'main');
    await eventually(() => run.stdout.includes('T001 running'));
    expect(await user.here(['operate', 'pause'])).toMatchObject({ code: 0, stderr: '' });
    expect(await user.here(['operate', 'pause'])).toMatchObject({
      ...{ code: 1, stderr: expect.stringMatching(/the run is paused; possible now: add, resume/) },
    });
    expect(await user.here(['operate', 'retry', 'T001'])).toMatchObject({
      ...{ code: 1, stderr: expect.stringMatching(/T001 is running; possible now: skip/) },
    });
    expect(await user.here(['operate', 'skip', 'T009'])).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('there is no task T009') },
    });
    expect(await user.here(['operate', 'skip', 'T002'])).toMatchObject({ code: 0 });
    writeFileSync(join(user.root, 'more.md'), '- [ ] T004 Write four.txt\n');
    expect(await user.here(['operate', 'add', ' '])).toMatchObject({
      ...{
        code: 2,
        stderr: expect.stringContaining('there is nothing to add: ramet operate add "what to do"'),
      },
    });
    expect(await user.here(['operate', 'add', join(user.root, 'more.md')])).toMatchObject({
      ...{ code: 0, stdout: 'added: T004\n' },
    });
    expect(await user.here(['operate', 'add', 'Write five.txt with a cross'])).toMatchObject({
      ...{ code: 0, stdout: 'added: ADD-1\n' },
    });
    const { stdout: status } = await user.here(['operate', 'status']);
    expect(status).toMatch(
      /T001 +running(?:.|\n)*T002 +skipped(?:.|\n)*paused: nothing new starts; waits for T001/,
    );
    writeFileSync(goFile(user), '');
    // From here on nothing is under way, and the run stays.
    await eventually(() => run.stdout.includes('T001 done'));
    expect(await user.here(['operate', 'resume'])).toMatchObject({ code: 0 });
    const end = await run.ended;
    expect(end).toMatchObject({ code: 0, stdout: expect.stringContaining('4 of 5 tasks done (1 skipped)') });
    expect(readFileSync(join(user.root, 'more.md'), 'utf8')).toBe('- [x] T004 Write four.txt\n');
    for (const name of ['one', 'three', 'four', 'five'])
      expect(git(user.repository, 'show', `main:${name}.txt`)).toBe('x');
  });

  test('Ctrl-C once starts nothing new, twice stops and saves, and the run is resumed with what was asked since', async ({
    user,
  }) => {
    await prepare(user, '- [ ] T001 Hold one.txt\n- [ ] T002 Write two.txt\n- [ ] T003 Write three.txt\n');
    const run = operate(user, 'tasks.md', '--into', 'main');
    await eventually(() => run.stdout.includes('T001 running'));
    run.kill('SIGINT');
    await eventually(() => run.stdout.includes('stopping: nothing new starts; waits for T001'));
    run.kill('SIGINT');
    const end = await run.ended;
    expect(end).toMatchObject({ code: 130, stderr: expect.stringContaining('ramet operate --resume') });
    expect(end.stdout).toMatch(/T001 +interrupted(?:.|\n)*0 of 3 tasks done/);
    expect(existsSync(goFile(user))).toBe(false);
    const [session = ''] = user.sessions();
    expect(await user.here(['stop', session])).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining(`resume with: ramet operate --resume ${session}`) },
    });
    expect(await user.here(['operate', 'skip', 'T002'])).toMatchObject({
      ...{ code: 0, stdout: expect.stringContaining('no operator runs now') },
    });
    writeFileSync(goFile(user), '');
    const again = await operate(user, '--resume').ended;
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('2 of 3 tasks done (1 skipped)'),
    });
  });
});
