import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { askingOnce } from './asking-once.ts';
import type { PermissionAnswer, PermissionBroker, PermissionQuestion } from './broker.ts';

const question: PermissionQuestion = {
  agent: 's.1',
  agentName: null,
  parent: null,
  cwd: '/srv',
  tool: 'Bash',
  summary: 'npm publish',
  command: 'npm publish',
  reason: 'it runs npm publish',
  suggestedRules: ['Bash(npm publish:*)'],
  input: {},
};
const once: PermissionAnswer = { kind: 'once' };
const never = new AbortController().signal;

interface Put {
  question: PermissionQuestion;
  signal: AbortSignal;
  answer(answer: PermissionAnswer): void;
}

/** The person who is asked, and the open questions. */
function person(): { broker: PermissionBroker; put: Put[] } {
  const put: Put[] = [];
  const broker = askingOnce({
    ask(question, signal) {
      const { promise, resolve } = Promise.withResolvers<PermissionAnswer>();
      put.push({ question, signal, answer: resolve });
      return promise;
    },
  });
  return { broker, put };
}

describe('RES-3: equal questions are asked once', () => {
  test('while the first is open; the answer is everybody’s', async () => {
    const { broker, put } = person();
    const agents = Array.from({ length: 10 }, (_, index) => `s.${index + 2}`);
    const answers = agents.map((agent) => broker.ask({ ...question, agent, input: { agent } }, never));
    expect(put.map(({ question: { agent } }) => agent)).toEqual(['s.2']);
    put[0]?.answer(once);
    expect(await Promise.all(answers)).toEqual(agents.map(() => once));
    void broker.ask(question, never);
    expect(put).toHaveLength(2);
  });

  test.for<[string, Partial<PermissionQuestion>]>([
    ['another command', { summary: 'npm test' }],
    ['another reason', { reason: 'a rule asks' }],
    ['another directory', { cwd: '/elsewhere' }],
    ['another tool', { tool: 'mcp__npm__publish' }],
  ])('%s is another question', ([, change]) => {
    const { broker, put } = person();
    void broker.ask(question, never);
    void broker.ask({ ...question, ...change }, never);
    expect(put).toHaveLength(2);
  });

  test('two edits of one file are two questions when they change something else', () => {
    const { broker, put } = person();
    const edit = { ...question, command: undefined, tool: 'Edit', summary: '/srv/a.ts' };
    for (const new_string of ['b', 'b', 'c']) void broker.ask({ ...edit, input: { new_string } }, never);
    expect(put.map(({ question: { input } }) => input)).toEqual([{ new_string: 'b' }, { new_string: 'c' }]);
  });
});

describe('RES-3: a question of many whose askers go away', () => {
  test('stays while one still asks; who left is answered at once', async () => {
    const { broker, put } = person();
    const [first, second] = [new AbortController(), new AbortController()];
    const left = broker.ask(question, first.signal);
    const stayed = broker.ask(question, second.signal);
    first.abort();
    await expect(left).rejects.toThrow('interrupted');
    expect(put[0]?.signal.aborted).toBe(false);
    put[0]?.answer(once);
    expect(await stayed).toEqual(once);
  });

  test('is withdrawn with the last of them, and an equal one is asked again', async () => {
    const { broker, put } = person();
    const stop = new AbortController();
    const asked = [broker.ask(question, stop.signal), broker.ask(question, stop.signal)];
    stop.abort();
    await Promise.allSettled(asked);
    expect(put[0]?.signal.aborted).toBe(true);
    const again = broker.ask(question, never);
    put[0]?.answer({ kind: 'denied', reason: 'too late' });
    await turn();
    const joined = broker.ask(question, never);
    put[1]?.answer(once);
    expect(await Promise.all([again, joined])).toEqual([once, once]);
    expect(put).toHaveLength(2);
  });

  test('is not asked at all by one that has aborted already', async () => {
    const { broker, put } = person();
    await expect(broker.ask(question, AbortSignal.abort())).rejects.toThrow('interrupted');
    expect(put).toEqual([]);
  });

  test('tells everybody when it could not be asked', async () => {
    const broker = askingOnce({
      ask: () => {
        throw new Error('no screen');
      },
    });
    const answers = [broker.ask(question, never), broker.ask(question, never)];
    for (const answer of answers) await expect(answer).rejects.toThrow('no screen');
  });

  test('leaves nothing behind after ten thousand, one by one and all at once', async () => {
    const { broker, put } = person();
    const life = new AbortController();
    for (let number = 0; number < 10_000; number++) {
      const stop = new AbortController();
      const asked = broker.ask({ ...question, summary: `npm run ${number % 100}` }, stop.signal);
      stop.abort();
      await asked.catch(() => {});
      expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
    }
    const answered = Array.from({ length: 1_000 }, () => broker.ask(question, life.signal));
    put.at(-1)?.answer(once);
    await Promise.all(answered);
    expect(getEventListeners(life.signal, 'abort')).toEqual([]);
    expect(put.slice(0, -1).every(({ signal }) => signal.aborted)).toBe(true);
  });
});
