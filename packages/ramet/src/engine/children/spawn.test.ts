import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  call,
  eventsOf,
  lastTexts,
  promptBytes,
  startAgents,
  startFamily,
} from '../../../test/fixtures/family.ts';

const REPORT = { text: 'Scope: done.' };

/** The parent's answer with other tools around its forks, and with thinking. */
const BUSY = {
  thinking: 'I split it. "Quotes" and \\.',
  text: 'I hand it out.',
  tool_use: [
    { name: 'Read', input: { file_path: 'README.md' } },
    { name: 'Agent', input: { prompt: 'fork one', description: 'one' } },
    { name: 'Bash', input: { command: 'echo made > made.txt; echo from bash' } },
    { name: 'Agent', input: { prompt: 'fork two', description: 'two' } },
    { name: 'Write', input: { file_path: 'written.txt', content: 'written' } },
  ],
};

describe('FORK-2: forks asked for beside other tools', () => {
  test('siblings are byte-identical up to the last block and begin with all of their parent', async () => {
    const family = await startFamily({
      cast: { 'Go.': [BUSY, { text: 'All in.' }], 'fork one': [REPORT], 'fork two': [REPORT] },
    });
    const { result } = await family.run('Go.');
    expect(result).toMatchObject({ status: 'done', text: 'All in.' });
    const [asked, after] = family.requestsOf('Go.');
    const [[one], [two]] = [family.requestsOf('fork one'), family.requestsOf('fork two')];
    if (!asked || !after || !one || !two) throw new Error('a request is missing');
    const [first, second] = [promptBytes(one), promptBytes(two)];
    const same = [...first].findIndex((character, at) => character !== second[at]);
    expect(first.slice(same)).toMatch(/^one\\n/);
    expect(second.slice(same)).toMatch(/^two\\n/);
    expect(first.startsWith(promptBytes(asked))).toBe(true);
    expect(promptBytes(after).startsWith(promptBytes(asked))).toBe(true);
    // The parent's answer, thinking and all, is the same bytes in the fork and in the parent's next request.
    const answer = JSON.stringify(after.request?.messages.at(-2));
    expect(JSON.stringify(one.request?.messages.at(-2))).toBe(answer);
    expect(answer).toContain('"signature"');
    const results = lastTexts(one).slice(0, 5);
    expect(new Set(results).size).toBe(1);
    expect(lastTexts(one)).toHaveLength(7);
  });

  test('the parent gets the real results, in the order of its calls', async () => {
    const family = await startFamily({
      cast: {
        'Go.': [BUSY, { text: 'All in.' }],
        'fork one': [{ text: 'Scope: the first.' }],
        'fork two': [{ text: 'Scope: the second.' }],
      },
    });
    await family.run('Go.');
    expect(lastTexts(family.requestsOf('Go.')[1])).toEqual([
      expect.stringContaining('# Test'),
      expect.stringContaining('Scope: the first.'),
      expect.stringContaining('from bash'),
      expect.stringContaining('Scope: the second.'),
      expect.stringContaining('written.txt'),
    ]);
  });

  test('what the other tools change is there before a fork begins', async () => {
    const seen: string[] = [];
    const look = () => {
      for (const file of ['made.txt', 'written.txt'])
        seen.push(readFileSync(join(family.cwd, file), 'utf8').trim());
      return REPORT;
    };
    const family = await startFamily({
      cast: { 'Go.': [BUSY, { text: 'ok' }], 'fork one': look, 'fork two': look },
    });
    await family.run('Go.');
    expect(seen).toEqual(['made', 'written', 'made', 'written']);
  });
});

describe('FORK-2: forks of the library', () => {
  test('continue the conversation as it is: before it, in a request, in a tool, between prompts', async () => {
    const forks: Promise<{ result: Promise<unknown> }>[] = [];
    const fork = (when: string): void => void forks.push(family.session.fork(`fork ${when}`));
    const family = await startFamily({
      cast: {
        'Go.': [
          () => {
            fork('in a request');
            return call('Bash', { command: 'until test -e go; do sleep 0.01; done' });
          },
          { text: 'ok' },
        ],
        'fork in a tool': [call('Bash', { command: 'touch go' }), REPORT],
        fork: [REPORT],
      },
    });
    fork('before it');
    await forks[0];
    const events = family.session.run('Go.');
    for (let next = await events.next(); !next.done; next = await events.next()) {
      if (next.value.type === 'assistant' && next.value.agentId.endsWith('.1') && forks.length === 2)
        fork('in a tool');
    }
    fork('between prompts');
    for (const { result } of await Promise.all(forks)) expect(await result).toMatchObject({ status: 'done' });
    const lengths = ['before it', 'in a request', 'in a tool', 'between prompts'].map(
      (when) => family.requestsOf(`fork ${when}`)[0]?.request?.messages.length,
    );
    expect(lengths).toEqual([1, 2, 3, 5]);
    expect(family.emulator.requests.filter(({ outcome }) => outcome !== 'answered')).toEqual([]);
  });
});

describe('FORK-3: what a fork may have of its own', () => {
  test('skipTranscript keeps it in the journal and out of what can be continued', async () => {
    const family = await startFamily({
      cast: {
        'Go.': [{ text: 'Ready.' }],
        quiet: [REPORT],
        Continue: [call('SendMessage', { to: 'hush', message: 'more' }), { text: 'ok' }],
      },
    });
    await family.run('Go.');
    const child = await family.session.fork('quiet', { name: 'hush', skipTranscript: true });
    expect(await child.result).toMatchObject({ status: 'done' });
    expect(eventsOf(family.recordedOf(2), 'response.completed')).toHaveLength(1);
    await family.run('Continue');
    expect(lastTexts(family.requestsOf('Continue')[1])[0]).toContain('it kept no transcript');
  });

  test('skipCacheWrite leaves the end unmarked and keeps the shared marks', async () => {
    const family = await startFamily({
      cast: { 'Go.': [{ text: 'Ready.' }], plain: [REPORT], thrifty: [REPORT] },
    });
    await family.run('Go.');
    await (await family.session.fork('plain')).result;
    await (await family.session.fork('thrifty', { skipCacheWrite: true })).result;
    const marks = [2, 3].map(
      (number) => eventsOf(family.recordedOf(number), 'request.started')[0]?.breakpoints,
    );
    const end = marks[0]?.at(-1);
    expect(marks[1]).toEqual(marks[0]?.slice(0, -1));
    expect(end).toMatchObject({ message: 2 });
  });

  test('canUseTool narrows what it may do, and cannot widen it', async () => {
    const family = await startFamily({
      cast: {
        'Go.': [{ text: 'Ready.' }],
        narrowed: [call('Bash', { command: 'touch forbidden' }), REPORT],
        widened: [call('Bash', { command: 'touch forbidden' }), REPORT],
      },
      permissionMode: 'dontAsk',
    });
    await family.run('Go.');
    const refuse = () => ({ allowed: false, reason: 'only reading today' }) as const;
    await (await family.session.fork('narrowed', { canUseTool: refuse })).result;
    expect(lastTexts(family.requestsOf('narrowed')[1])[0]).toContain('only reading today');
    await (await family.session.fork('widened', { canUseTool: () => ({ allowed: true }) })).result;
    expect(lastTexts(family.requestsOf('widened')[1])[0]).toContain('not permitted');
  });

  test('canUseTool has the form of that of the session: one function may serve both', async () => {
    const seen: unknown[] = [];
    const decide = ({ tool, input, agentId }: { tool: string; input: unknown; agentId: string }) => {
      seen.push([agentId, tool, input]);
      return { allowed: tool !== 'Bash', reason: 'no shell' } as { allowed: false; reason: string };
    };
    const family = await startFamily({
      cast: { 'Go.': [{ text: 'Ready.' }], child: [call('Bash', { command: 'touch forbidden' }), REPORT] },
    });
    await family.run('Go.');
    const fork = await family.session.fork('child', { canUseTool: decide });
    await fork.result;
    expect(lastTexts(family.requestsOf('child')[1])[0]).toBe('Bash is not permitted: no shell');
    expect(seen).toEqual([[fork.id, 'Bash', { command: 'touch forbidden' }]]);
  });

  test.each<[string, unknown, string | null]>([
    ['true', true, null],
    ['a yes', { allowed: true }, null],
    ['a yes with a reason', { allowed: true, reason: 'fine' }, null],
    ['false', false, 'the program that runs this session denied it'],
    ['a no without a reason', { allowed: false }, 'the program denied it'],
    ['a text', { allowed: 'false' }, 'canUseTool gave no decision: return true, false, '],
    ['a number', { allowed: 1 }, 'canUseTool gave no decision: '],
    ['nothing', undefined, 'canUseTool gave no decision: '],
    [
      'another field',
      { allowed: true, foo: 1 },
      'canUseTool: there is no option "foo"; there are allowed, reason',
    ],
    [
      'another input',
      { allowed: true, updatedInput: { command: 'x' } },
      'only narrows and takes no updatedInput: ',
    ],
    ['rules', { allowed: true, rules: ['Bash'] }, 'only narrows and takes no rules: deny the call'],
  ])('canUseTool that answers %s decides so', async (_, answer, refusal) => {
    const family = await startFamily({
      cast: { 'Go.': [{ text: 'Ready.' }], child: [call('Bash', { command: 'echo ran' }), REPORT] },
    });
    await family.run('Go.');
    await (await family.session.fork('child', { canUseTool: () => answer as never })).result;
    const [result] = lastTexts(family.requestsOf('child')[1]);
    if (refusal !== null) expect(result).toMatch(/^Bash is not permitted: /);
    expect(result).toContain(refusal ?? 'ran');
  });

  test('abortController ends it, and nobody else', async () => {
    const stuck = Promise.withResolvers<never>();
    const family = await startFamily({
      cast: { 'Go.': [{ text: 'Ready.' }], long: () => stuck.promise, other: [REPORT] },
    });
    await family.run('Go.');
    const abortController = new AbortController();
    const child = await family.session.fork('long', { abortController });
    const sibling = await family.session.fork('other');
    expect(await sibling.result).toMatchObject({ status: 'done' });
    abortController.abort();
    expect(await child.result).toMatchObject({ status: 'interrupted' });
    const late = await family.session.fork('other', { abortController });
    expect(await late.result).toMatchObject({ status: 'interrupted', turns: 0 });
    expect(family.requestsOf('other')).toHaveLength(1);
  });

  test('anything else is refused at run time, with what is allowed', async () => {
    const family = await startFamily({ cast: { 'Go.': [{ text: 'Ready.' }] } });
    await family.run('Go.');
    const other = { maxTokens: 5, thinking: null };
    await expect(family.session.fork('x', other as object)).rejects.toThrow(
      /^session\.fork: there is no option "maxTokens"; there are description, .*abortController/,
    );
    expect(family.session.agents).toEqual([]);
    expect(family.recordedOf(2)).toEqual([]);
  });

  test('a model is refused for a fork, by the tool and by the library', async () => {
    const family = await startFamily({
      cast: { 'Go.': [startAgents(['x'], { model: 'opus' }), { text: 'ok' }] },
    });
    await family.run('Go.');
    expect(lastTexts(family.requestsOf('Go.')[1])[0]).toMatch(
      /No agent was started: a fork runs on its parent's model/,
    );
    await expect(family.session.fork('x', { model: 'opus' } as object)).rejects.toThrow(
      'session.fork: there is no option "model"',
    );
    const request = { prompt: 'x', description: 'x', model: 'opus' };
    await expect(family.session.spawn(request)).rejects.toThrow("a fork runs on its parent's model");
  });
});

describe('FORK-4: what a fork clones', () => {
  test('it may edit what its parent has read; what it reads, its parent has not', async () => {
    const edit = (file_path: string) => call('Edit', { file_path, old_string: 'old', new_string: 'new' });
    const family = await startFamily({
      files: { 'a.txt': 'old', 'b.txt': 'old' },
      cast: {
        'Go.': [
          call('Read', { file_path: 'a.txt' }),
          startAgents(['child']),
          edit('b.txt'),
          edit('a.txt'),
          { text: 'ok' },
        ],
        child: [edit('a.txt'), call('Read', { file_path: 'b.txt' }), REPORT],
      },
    });
    await family.run('Go.');
    expect(readFileSync(join(family.cwd, 'a.txt'), 'utf8')).toBe('new');
    expect(readFileSync(join(family.cwd, 'b.txt'), 'utf8')).toBe('old');
    const main = family.requestsOf('Go.').map((record) => lastTexts(record)[0]);
    expect(main[3]).toContain('you have not read it');
    expect(main[4]).toMatch(/was changed by agent \w+\.2 \("about child"\) \d+ s ago since you read it/);
  });

  test('the parent’s abort reaches it', async () => {
    const stop = new AbortController();
    const family = await startFamily({
      cast: {
        'Go.': [startAgents(['child'])],
        child: () => {
          stop.abort('enough');
          return new Promise(() => {});
        },
      },
    });
    const { result } = await family.run('Go.', { signal: stop.signal });
    expect(result).toMatchObject({ status: 'interrupted', cause: 'enough' });
    expect(eventsOf(family.recordedOf(2), 'agent.ended')).toMatchObject([
      { status: 'interrupted', cause: 'enough' },
    ]);
  });

  test('its own end by abort does not reach the parent or a sibling', async () => {
    const family = await startFamily({
      cast: {
        'Go.': [startAgents(['child', 'sibling']), { text: 'ok' }],
        child: () => {
          family.session.agents.find(({ id }) => id.endsWith('.2'))?.stop('stopped');
          return new Promise(() => {});
        },
        sibling: [REPORT],
      },
    });
    const { result } = await family.run('Go.');
    expect(result).toMatchObject({ status: 'done' });
    expect(lastTexts(family.requestsOf('Go.')[1])).toEqual([
      expect.stringContaining('cancelled: stopped'),
      expect.stringContaining('Scope: done.'),
    ]);
  });
});
