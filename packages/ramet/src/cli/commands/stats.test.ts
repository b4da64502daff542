import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CommandEnd } from '../../../test/fixtures/command.ts';
import { runHere } from '../../../test/fixtures/command-here.ts';
import { runTask } from '../../../test/fixtures/operator-world.ts';
import { MODEL, RUN_SETTINGS, taskMoved } from '../../../test/fixtures/run-histories.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { agentStarted, requestStarted, responseCompleted } from '../../../test/recorded-events.ts';
import { listSessions, type SessionEntry } from '../../journal/session-list.ts';
import { createSession, resumeSession } from '../../journal/sessions.ts';
import type { JournalEvent } from '../../schema/events.ts';
import { findPlace } from '../../sdk/place.ts';

interface StatsPlace {
  cwd: string;
  project: string;
  /** Newest first. */
  sessions(): SessionEntry[];
  /** A session with these events, each with its time in seconds. */
  record(...events: [seconds: number, agent: string | null, event: JournalEvent][]): Promise<void>;
  run(...args: string[]): Promise<CommandEnd>;
}

function place(): StatsPlace {
  const cwd = temporaryDirectory();
  mkdirSync(join(cwd, '.git'));
  const env = { RAMET_HOME: join(cwd, 'home') };
  const { project } = findPlace({ cwd, env });
  return {
    ...{ cwd, project },
    sessions: () => listSessions(project),
    run: (...args) => runHere(args, { cwd, env }),
    async record(...events) {
      let now = 0;
      const clock = { now: () => now * 1000, sleep: () => Promise.resolve() };
      const journal = await createSession({ project, cwd, clock });
      for (const [seconds, agent, event] of events) {
        now = seconds;
        journal.append(agent, event);
      }
      await journal.close();
    },
  };
}

/** Two tasks at once, a request each. */
function twoTasks(from: number): [number, string | null, JournalEvent][] {
  const running = (id: string, agent: string): JournalEvent =>
    taskMoved(id, 'running', { attempt: { number: 1, name: id, agent } });
  return [
    [from, null, { type: 'operator.started', run: RUN_SETTINGS, tasks: [runTask('T1'), runTask('T2')] }],
    [from, null, running('T1', 's.2')],
    [from, null, running('T2', 's.3')],
    ...['s.2', 's.3'].flatMap((agent): [number, string, JournalEvent][] => [
      [from, agent, agentStarted({ model: MODEL })],
      [from, agent, requestStarted({ request: agent })],
      [from + 30, agent, responseCompleted({ request: agent, costUsd: 0.5 })],
    ]),
    [from + 30, null, taskMoved('T1', 'done')],
    [from + 30, null, taskMoved('T2', 'done')],
    [from + 30, null, { type: 'operator.changed', status: 'ended', cause: null, message: null }],
  ];
}

describe('OP-7: sessions without a run of tasks', () => {
  test('are opened once, and again when they were resumed; a broken cache is replaced', async () => {
    const { record, run, project, sessions } = place();
    await record([1, null, { type: 'warning.raised', code: 'x', message: 'x' }]);
    await run('stats');
    const cache = join(project, 'operator-none.json');
    const [entry] = sessions();
    expect(JSON.parse(readFileSync(cache, 'utf8'))).toEqual({ [entry?.session ?? '']: entry?.ended });
    writeFileSync(cache, '{"broken');
    await record(...twoTasks(100));
    expect((await run('stats')).stdout).toContain('1 run on');
    const { journal, reader } = await resumeSession({ project, session: entry?.session ?? '' });
    reader.close();
    for (const [, agent, event] of twoTasks(200)) journal.append(agent, event);
    await journal.close();
    expect((await run('stats')).stdout).toContain('2 runs');
  });
});

describe('OP-7: ramet plan and ramet stats read earlier runs', () => {
  test('a plan says what it rests on, and repeats what happened', async () => {
    const { cwd, record, run } = place();
    writeFileSync(join(cwd, 'tasks.md'), '- [ ] T1 do T1\n- [ ] T2 [P] do T2\n  - Depends on: none\n');
    await record([1, null, { type: 'warning.raised', code: 'x', message: 'no run in this one' }]);
    await record(...twoTasks(100));
    const { stdout } = await run('plan', '--json', 'tasks.md');
    const plan = JSON.parse(stdout);
    expect(plan).toMatchObject({ model: MODEL, history: true, history_runs: 1, history_same_tasks: 2 });
    expect(plan.widths[0].seconds.likely).toBe(60);
    expect(plan.widths[1]).toMatchObject({ seconds: { likely: 30 }, usd: { cache_planned: { likely: 1 } } });
    const shown = await run('plan', 'tasks.md');
    expect(shown.stdout).toMatch(/^2 \* +30\.0 s ± 5% +\$1\.00 ± 5%/m);
    expect(shown.stdout).toContain('From 2 tasks in 1 earlier run, at the prices of');
    expect(shown.stdout).toContain('2 of these tasks were done before');
    writeFileSync(join(cwd, 'tasks.md'), '- [x] T1 do T1\n- [ ] T2 [P] do T2\n');
    expect((await run('plan', 'tasks.md')).stdout).toContain('1 of these tasks was done before');
  });

  test('statistics say so where there is nothing or too little', async () => {
    const { record, run } = place();
    expect(await run('stats')).toMatchObject({ code: 0, stdout: expect.stringContaining('no run of tasks') });
    await record(...twoTasks(100));
    await record(...twoTasks(1_000));
    const { stdout } = await run('stats');
    expect(stdout).toContain('2 runs on 1970-01-01: 4 of 4 tasks done');
    expect(stdout).toContain('declared no files: 0 of 4 tasks (0%) conflicted');
    expect(stdout).toContain('time: off by 0% in the median, 0% at most');
    expect(stdout).toContain('too little data to rely on');
    const { stdout: json } = await run('stats', '--json');
    expect(JSON.parse(json)).toMatchObject({
      ...{ runs: 2, tasks: { done: 4, all: 4 }, worktrees: null, launches: null },
      predictions: { time_error: { median: 0, worst: 0 }, without_history: 1, enough: false },
    });
  });
});
