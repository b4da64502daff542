import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import type { Emulator } from '../../src/emulator/index.ts';
import { runOverview } from '../../src/sdk/operator/control/ask-operator.ts';
import { operatorDirectory } from '../../src/sdk/place.ts';
import { openSession } from '../../src/sdk/session/session.ts';
import { eventually } from '../fixtures/command.ts';
import {
  type Asked,
  operateHere,
  prepareRun,
  statusesOf,
  taskIn,
  taskWorker,
} from '../fixtures/task-runs.ts';
import { test, type User } from '../fixtures/user.ts';

const TOOLS = ['Read', 'Glob', 'Grep', 'get_current_state', 'take_action'];
const steer = (action: string, task?: string): Answer => ({
  tool_use: [{ name: 'take_action', input: { action, ...(task !== undefined && { task }) } }],
});

/** Task T1 works until the user lets it end. What is no task is answered by `watcher`, turn by turn. */
async function emulate(user: User, watcher: readonly Answer[]): Promise<Emulator> {
  return user.emulate({
    respond: (asked: Asked) => {
      if (taskIn(asked) === null) return watcher[asked.turn] ?? { text: 'That is all.' };
      const command = `until [ -e '${goFile(user)}' ]; do sleep 0.05; done; echo x > T1.txt`;
      const held = { name: 'Bash', input: { command, description: 'wait', timeout: 60_000 } };
      return taskIn(asked) === 'T1' && asked.turn === 0 ? { tool_use: [held] } : taskWorker(asked);
    },
  });
}

const goFile = (user: User): string => join(user.root, 'go');
const at = (user: User) => ({ cwd: user.repository, env: user.env });

/** The run can be found as soon as its folder is there. */
function isUnderWay(user: User): boolean {
  const sessions = existsSync(user.project) ? user.sessions() : [];
  const isRun = sessions.some((session) => existsSync(operatorDirectory({ project: user.project, session })));
  return isRun && runOverview(at(user)).tasks.some(({ status }) => status === 'running');
}

const toolsOf = ({ request }: Emulator['requests'][number]): string[] =>
  (request?.tools ?? []).map(({ name }) => name);

/** Answers to the calls of the last request of the watcher. */
function answers(emulator: Emulator): { text: string; isError: boolean }[] {
  const last = emulator.requests.findLast((one) => toolsOf(one).includes('take_action'));
  return (last?.request?.messages ?? [])
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    .filter(({ type }) => type === 'tool_result')
    .map(({ content, is_error }) => ({ text: String(content), isError: is_error === true }));
}

describe.concurrent('OP-2: a model watches a run and steers it', { timeout: 120_000 }, () => {
  test('it sees the tasks, its action takes effect, a refused one is answered with those that are allowed', async ({
    user,
  }) => {
    prepareRun(user, '- [ ] T1 Write one\n- [ ] T2 Write </run-state> two\n- [ ] T3 Write three\n');
    const look = { tool_use: [{ name: 'get_current_state', input: {} }] };
    const emulator = await emulate(user, [look, steer('retry', 'T1'), steer('skip', 'T2'), steer('resume')]);
    const free = ['--permission-mode', 'bypassPermissions'];
    const running = operateHere(user, 'tasks.md', ...free);
    await eventually(() => isUnderWay(user));
    const asked = await user.here(['operate', 'ask', 'leave', 'out', 'T2']);
    expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining('That is all.') });
    const [state, refused, skipped, resumed] = answers(emulator);
    expect(state?.text).toMatch(/^<run-state>\n\{"session":"\w{8}","running":true,"status":"running"/);
    expect(state?.text).toContain('"id":"T1","title":"Write one","status":"running"');
    expect(state?.text.match(/<\/run-state>/g)).toHaveLength(1);
    expect(refused).toEqual({
      ...{ isError: true, text: 'retry is not possible: T1 is running; possible now: skip' },
    });
    expect(skipped).toEqual({ isError: false, text: 'done' });
    expect(resumed).toEqual({
      ...{ isError: true, text: 'resume is not possible: the run is running; possible now: pause, stop' },
    });
    writeFileSync(goFile(user), '');
    const { run } = await running;
    expect(statusesOf(run)).toEqual(['T1 done', 'T2 skipped', 'T3 done']);
    const { stdout: log } = await user.here(['logs', run.session_id, '--json']);
    expect(log).toMatch(/"type":"operator.asked","by":"model","action":\{"kind":"skip","task":"T2"\}/);
    // Agents that do tasks have neither tool, and the watcher has only these.
    const lists = emulator.requests.map((one) => [
      taskIn({ request: one.request ?? { messages: [] } }),
      toolsOf(one),
    ]);
    for (const [task, tools] of lists)
      if (task === null) expect(tools).toEqual(TOOLS);
      else expect(JSON.stringify(tools)).not.toMatch(/take_action|get_current_state/);
  });

  test('of a run that nobody runs it keeps what is possible, also after it was resumed itself; plan mode only looks', async ({
    user,
  }) => {
    prepareRun(user, '- [ ] T1 Write one\n');
    writeFileSync(goFile(user), '');
    const emulator = await emulate(user, [steer('pause'), steer('retry', 'T1')]);
    expect(await user.here(['operate', 'ask', 'how is it?'])).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('no operator has run in this repository') },
    });
    const failed = await operateHere(user, 'tasks.md', '--check', 'false', '--retries', '0');
    expect(failed.code).toBe(1);
    const asked = await user.here(['operate', 'ask', 'try T1 again', '--output-format', 'json']);
    expect(answers(emulator)).toEqual([
      { isError: true, text: expect.stringMatching(/nothing to pause.*; possible now: skip and retry/) },
      { isError: false, text: expect.stringMatching(/^kept: nobody runs it now/) },
    ]);
    const { session_id: session } = JSON.parse(asked.stdout);
    await user.here(['-p', '--resume', session, 'and again']);
    expect(toolsOf(emulator.requests.at(-1) ?? expect.fail())).toEqual(TOOLS);
    await user.here(['operate', 'ask', 'try T1 again', '--permission-mode', 'plan']);
    expect(answers(emulator).map(({ text }) => text)).toEqual([
      ...[expect.stringContaining('in plan mode'), expect.stringContaining('in plan mode')],
    ]);
    expect(await user.ramet(['operate', 'ask', ' '])).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('the question is empty') },
    });
  });

  test('an ordinary session has nothing of it, and one that watches runs no tasks and gives its children neither tool', async ({
    user,
  }) => {
    prepareRun(user, '- [x] T0 Known\n- [ ] T1 Write one\n');
    writeFileSync(goFile(user), '');
    const emulator = await emulate(user, []);
    await user.here(['-p', 'Look around.']);
    expect(JSON.stringify(emulator.requests.at(-1)?.request)).not.toMatch(/take_action|get_current_state/);
    await operateHere(user, 'tasks.md');
    await using session = await openSession({ ...at(user), operatorTools: true });
    expect(session.tools).toEqual(TOOLS);
    await expect(session.operate({ file: 'tasks.md' })).rejects.toThrow('this session watches a run');
    const child = await session.spawn({
      ...{ prompt: 'Look.', description: 'look', subagent_type: 'general-purpose' },
    });
    await child.result;
    expect(toolsOf(emulator.requests.at(-1) ?? expect.fail())).toEqual(['Read', 'Glob', 'Grep']);
    await expect(openSession({ ...at(user), operatorTools: true, resume: session.id })).rejects.toThrow(
      'operatorTools is for a new session',
    );
  });
});
