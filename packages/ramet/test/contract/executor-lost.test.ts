/** An agent's own process is killed with a real signal: its host resumes the agent from the journal. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isGroupAlive } from '../../src/system/processes/process-group.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { eventually, isRunning } from '../fixtures/command.ts';
import {
  call,
  eventsOf,
  type FamilySession,
  lastTexts,
  promptBytes,
  startAgents,
} from '../fixtures/family.ts';
import { temporaryDirectory } from '../fixtures/temporary.ts';
import { startHosted } from './executor-scenes.ts';

const FRESH = { subagent_type: 'general-purpose' };
const REPORT = { text: 'Scope: child. Done.' };
/** Says who runs it, once that is noted by its process and by the host, and waits. */
const NOTED =
  'until [ "$(ls "$RAMET_HOME"/projects/*/processes | grep -c " $$@")" = 2 ]; do sleep 0.02; done';
const HOLD = call('Bash', {
  command: `${NOTED}; echo "$PPID $$" > held; while [ ! -e go ]; do sleep 0.02; done`,
});

/** The pids of the agent's process and of its command, once it runs; the next one is told apart. */
async function held({ cwd }: FamilySession): Promise<{ agent: number; command: number }> {
  const file = join(cwd, 'held');
  const [agent = 0, command = 0] = await eventually(() => {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    return text.endsWith('\n') && text.split(' ').map(Number);
  });
  rmSync(file);
  return { agent, command };
}

function spawnChild(family: FamilySession) {
  return family.session.spawn({ ...FRESH, prompt: 'child', description: 'd' });
}

describe('EXEC-2: an agent whose process is killed', () => {
  test('resumes in another from its last complete turn, and its commands are gone', async () => {
    const family = await startHosted('process', {
      cast: {
        child: [
          call('Write', { file_path: 'made.txt', content: 'once' }),
          HOLD,
          call('Glob', { pattern: '*' }),
          REPORT,
        ],
      },
    });
    const handle = await spawnChild(family);
    const { agent, command } = await held(family);
    process.kill(agent, 'SIGKILL');
    const result = await handle.result;
    expect(result).toMatchObject({ status: 'done', text: REPORT.text, turns: 4 });
    expect([isRunning(agent), isGroupAlive(command)]).toEqual([false, false]);
    const requests = family.requestsOf('child');
    expect(lastTexts(requests[2])[0]).toContain('may have taken effect');
    expect(new Set(requests.map(promptBytes)).size).toBe(requests.length);
    const recorded = family.recordedOf(2);
    expect(eventsOf(recorded, 'agent.resumed')).toEqual([{ type: 'agent.resumed', from: 'running' }]);
    expect(eventsOf(recorded, 'agent.ended')).toHaveLength(1);
    const costs = eventsOf(recorded, 'response.completed').map(({ costUsd }) => costUsd ?? Number.NaN);
    expect(result.costUsd).toBeCloseTo(costs.reduce((sum, cost) => sum + cost));
  });

  test('gets the messages that arrived meanwhile, and is reported once', async () => {
    const family = await startHosted('process', {
      cast: {
        'Go.': [
          startAgents(['child'], { ...FRESH, run_in_background: true }),
          { text: 'I wait.' },
          { text: 'ok' },
        ],
        child: [HOLD, REPORT],
      },
    });
    const running = family.run('Go.');
    const { agent } = await held(family);
    const [handle] = family.session.agents;
    handle?.steer('Before the kill.');
    process.kill(agent, 'SIGKILL');
    await eventually(() => !isRunning(agent));
    handle?.steer('After the kill.');
    expect((await running).result).toMatchObject({ status: 'done', text: 'ok' });
    const told = family.requestsOf('child').map((record) => lastTexts(record).join('\n'));
    expect(told[1]).toMatch(/Before the kill.*After the kill/s);
    expect(eventsOf(family.recordedOf(1), 'message.received')).toHaveLength(1);
  });

  test('again and again, resumes each time as long as its calls do what they should in between', async () => {
    const kills = 6;
    const steps = Array.from({ length: kills }, () => [call('Glob', { pattern: '*' }), HOLD]).flat();
    const family = await startHosted('process', { cast: { child: [...steps, REPORT] } });
    const handle = await spawnChild(family);
    for (let count = 0; count < kills; count++) process.kill((await held(family)).agent, 'SIGKILL');
    expect(await handle.result).toMatchObject({ status: 'done', text: REPORT.text });
    expect(eventsOf(family.recordedOf(2), 'agent.resumed')).toHaveLength(kills);
  });

  test('again and again, ends as failed: executor', async () => {
    const family = await startHosted('process', { cast: { child: () => HOLD } });
    const handle = await spawnChild(family);
    for (let kills = 0; kills < 4; kills++) process.kill((await held(family)).agent, 'SIGKILL');
    expect(await handle.result).toMatchObject({
      status: 'failed',
      cause: 'executor',
      message: 'its process ended 4 times: it ended by SIGKILL',
      turns: 4,
    });
    expect(eventsOf(family.recordedOf(2), 'agent.ended')).toHaveLength(1);
  });

  test.each(['before', 'after'])(
    'while the model answers, %s that is noticed, has one answer',
    async (when) => {
      const answer = Promise.withResolvers<typeof REPORT>();
      const family = await startHosted('process', { cast: { child: [HOLD, () => answer.promise] } });
      const handle = await spawnChild(family);
      const { agent } = await held(family);
      writeFileSync(join(family.cwd, 'go'), '');
      await eventually(() => family.requestsOf('child').length === 2);
      process.kill(agent, 'SIGKILL');
      if (when === 'after')
        await eventually(() => eventsOf(family.recordedOf(2), 'agent.resumed').length === 1);
      answer.resolve(REPORT);
      const result = await handle.result;
      expect(result).toMatchObject({ status: 'done', text: REPORT.text, turns: 2 });
      const answered = eventsOf(family.recordedOf(2), 'response.completed');
      expect(answered.filter(({ kept }) => kept)).toHaveLength(2);
      expect(eventsOf(family.recordedOf(2), 'agent.ended')).toHaveLength(1);
    },
  );

  test('while its own agents work, is still answered by them', async () => {
    const family = await startHosted('process', {
      cast: {
        child: [
          call('Bash', { command: 'echo "$PPID $$" > held' }),
          startAgents(['inner'], FRESH),
          (view) => ({ text: `heard: ${view.last}` }),
        ],
        inner: [
          call('Bash', { command: 'touch inner; while [ ! -e go ]; do sleep 0.02; done' }),
          { text: 'Inner report.' },
        ],
      },
    });
    const handle = await spawnChild(family);
    const { agent } = await held(family);
    await eventually(() => existsSync(join(family.cwd, 'inner')));
    process.kill(agent, 'SIGKILL');
    await eventually(() => eventsOf(family.recordedOf(2), 'agent.resumed').length === 1);
    writeFileSync(join(family.cwd, 'go'), '');
    const result = await handle.result;
    expect(result).toMatchObject({ status: 'done', turns: 3 });
    expect(result.text).toContain('Inner report.');
    expect(eventsOf(family.recordedOf(3), 'agent.ended')).toMatchObject([{ status: 'done' }]);
    expect(family.recorded().filter(({ event }) => event.type === 'agent.started')).toHaveLength(3);
  });

  test('and stopped then, stops them with it', async () => {
    const family = await startHosted('process', {
      cast: {
        child: [call('Bash', { command: 'echo "$PPID $$" > held' }), startAgents(['inner'], FRESH)],
        inner: [call('Bash', { command: 'touch inner; sleep 600' })],
      },
    });
    const handle = await spawnChild(family);
    const { agent } = await held(family);
    await eventually(() => existsSync(join(family.cwd, 'inner')));
    process.kill(agent, 'SIGKILL');
    await eventually(() => eventsOf(family.recordedOf(2), 'agent.resumed').length === 1);
    handle.stop('stopped');
    expect(await handle.result).toMatchObject({ status: 'cancelled' });
    expect(eventsOf(family.recordedOf(3), 'agent.ended')).toMatchObject([{ status: 'cancelled' }]);
  });
});

describe('SEC-1: an agent’s process', () => {
  test('holds no key, and takes secrets out as its host would', async () => {
    const key = 'sk-ant-api03-0123456789abcdefghijklmnop';
    const secret = 'hunter2-and-more';
    const read = { name: 'Read', input: { file_path: 'secrets.txt' } };
    const look = {
      name: 'Bash',
      input: { command: "tr '\\0' '\\n' < /proc/$PPID/environ; cat secrets.txt" },
    };
    const results: string[] = [];
    for (const executor of ['in-process', 'process'] as const) {
      const model = scriptedModel({ calls: [read] }, { calls: [look] }, { text: 'ok' });
      const family = await startHosted(executor, {
        files: { 'secrets.txt': `key=${key}\ntoken=${secret}\n` },
        env: {
          PATH: process.env.PATH,
          RAMET_HOME: temporaryDirectory(),
          ANTHROPIC_API_KEY: 'sk-ant-not-in-the-environment-0123456789',
          DEPLOY_TOKEN: secret,
        },
        cast: {},
        provider: model,
      });
      expect(await (await spawnChild(family)).result).toMatchObject({ status: 'done' });
      expect(model.bodies.join()).not.toMatch(/hunter2|api03-0123/);
      const said =
        model.requests
          .at(-1)
          ?.messages.map(({ content }) => JSON.stringify(content))
          .join() ?? '';
      results.push(/token=\[[^\]]*\]/.exec(said)?.[0] ?? 'nothing');
      if (executor === 'process') expect(said).not.toMatch(/ANTHROPIC_API_KEY|DEPLOY_TOKEN=/);
    }
    expect(results).toEqual(['token=[redacted: DEPLOY_TOKEN]', 'token=[redacted: DEPLOY_TOKEN]']);
  });
});
