import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startEngine, toolOf } from '../../../test/fixtures/engine.ts';
import { temporaryDirectory, temporaryRepository } from '../../../test/fixtures/temporary.ts';
import { createCheckouts } from '../../git/shared-git/checkout.ts';
import type { PermissionAnswer, PermissionBroker, PermissionQuestion } from '../../permission/broker.ts';
import { createCommandSandbox } from '../../sandbox/command-sandbox.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { editTool } from '../../tools/files/edit.ts';
import { readTool } from '../../tools/files/read.ts';
import { writeTool } from '../../tools/files/write.ts';
import { builtInTools } from '../../tools/registry.ts';
import type { Tool } from '../../tools/tool.ts';

interface AskedEngine {
  asked: PermissionQuestion[];
  ran: unknown[];
  broker: PermissionBroker;
  tool: Tool;
}

function asking(
  answer: (question: PermissionQuestion, signal: AbortSignal) => Promise<PermissionAnswer>,
): AskedEngine {
  const asked: PermissionQuestion[] = [];
  const ran: unknown[] = [];
  return {
    asked,
    ran,
    broker: {
      ask(question, signal) {
        asked.push(question);
        return answer(question, signal);
      },
    },
    tool: toolOf('mcp__tracker__close', 'execute', async (input) => {
      ran.push(input);
      return { content: 'closed' };
    }),
  };
}

const call = (id: number) => ({ calls: [{ name: 'mcp__tracker__close', input: { id } }] });
const spec = { permissionMode: 'default' } as const;

describe('RES-3: the broker is asked what policy leaves open', () => {
  test('once lets this call pass and asks again for the next', async () => {
    const { asked, ran, broker, tool } = asking(async () => ({ kind: 'once' }));
    const provider = scriptedModel(call(1), call(2), { text: 'done' });
    const engine = await startEngine({ provider, tools: [tool], spec, runtime: { broker } });
    await engine.run('go');
    expect(ran).toEqual([{ id: 1 }, { id: 2 }]);
    expect(asked).toHaveLength(2);
    expect(asked[0]).toMatchObject({
      tool: 'mcp__tracker__close',
      summary: '{"id":1}',
      suggestedRules: ['mcp__tracker__close'],
      input: { id: 1 },
    });
  });

  test('always adds the rules for the session, and is recorded with them', async () => {
    const { asked, ran, broker, tool } = asking(async ({ suggestedRules }) => ({
      kind: 'always',
      rules: suggestedRules,
    }));
    const provider = scriptedModel(call(1), call(2), { text: 'done' });
    const engine = await startEngine({ provider, tools: [tool], spec, runtime: { broker } });
    await engine.run('go');
    expect([ran.length, asked.length]).toEqual([2, 1]);
    const events = engine.recorded().filter(({ type }) => type.startsWith('permission.'));
    expect(events).toMatchObject([
      { type: 'permission.asked', tool: 'mcp__tracker__close' },
      { type: 'permission.answered', answer: 'always', rules: ['mcp__tracker__close'], reason: null },
    ]);
  });

  test.for<[string, () => Promise<PermissionAnswer>, string]>([
    ['a denial', async () => ({ kind: 'denied', reason: 'not on a Friday' }), 'not on a Friday'],
    ['a broker that fails', () => Promise.reject(new Error('no screen')), 'could not be asked: no screen'],
  ])('%s is the answer to the call, which does not run', async ([, answer, reason]) => {
    const { ran, broker, tool } = asking(answer);
    const provider = scriptedModel(call(1), { text: 'sorry' });
    const engine = await startEngine({ provider, tools: [tool], spec, runtime: { broker } });
    await engine.run('go');
    expect(ran).toEqual([]);
    expect(JSON.stringify(provider.requests[1]?.messages.at(-1))).toContain(reason);
  });

  test('an interrupt ends a question that nobody answers', async () => {
    const abort = new AbortController();
    const { ran, broker, tool } = asking(() => {
      queueMicrotask(() => abort.abort('SIGINT'));
      return new Promise(() => {});
    });
    const provider = scriptedModel(call(1), { text: 'never' });
    const engine = await startEngine({ provider, tools: [tool], spec, runtime: { broker } });
    const { result } = await engine.run('go', abort.signal);
    expect(result.status).not.toBe('done');
    expect(ran).toEqual([]);
  });

  test('an interrupt waits for no sandbox that is slow to start', async () => {
    const abort = new AbortController();
    const sandbox = {
      ...createCommandSandbox('off', {}),
      wall: (): Promise<boolean> => {
        queueMicrotask(() => abort.abort('SIGINT'));
        return new Promise(() => {});
      },
    };
    const made = join(temporaryDirectory(), 'made');
    const provider = scriptedModel({ calls: [{ name: 'Bash', input: { command: `touch ${made}` } }] });
    const engine = await startEngine({
      provider,
      tools: builtInTools({ fork: false, types: [] }),
      spec,
      runtime: { sandbox },
    });
    const { result } = await engine.run('go', abort.signal);
    expect(result.status).not.toBe('done');
    expect(existsSync(made)).toBe(false);
  });

  test('a person is asked about the whole input, however long', async () => {
    const { asked, broker, tool } = asking(async () => ({ kind: 'once' }));
    const input = { sql: `SELECT ${'column, '.repeat(200)}x FROM t; DROP TABLE customers` };
    const provider = scriptedModel({ calls: [{ name: tool.name, input }] }, { text: 'done' });
    const engine = await startEngine({ provider, tools: [tool], spec, runtime: { broker } });
    await engine.run('go');
    expect(asked[0]?.summary).toBe(JSON.stringify(input));
  });

  test('of a change in a file a view without diffs gets the whole, without secrets', async () => {
    const { asked, broker } = asking(async () => ({ kind: 'once' }));
    const input = { file_path: 'a.txt', content: 'the key is hunter2' };
    const redact = (text: string): string => text.replaceAll('hunter2', '[redacted]');
    const provider = scriptedModel({ calls: [{ name: 'Write', input }] }, { text: 'done' });
    const engine = await startEngine({ provider, tools: [writeTool], spec, runtime: { broker, redact } });
    await engine.run('go');
    const path = join(engine.agent.spec.cwd, 'a.txt');
    expect(asked[0]).toMatchObject({
      summary: path,
      whole: `${path} {"content":"the key is [redacted]"}`,
    });
  });

  test('secrets are taken out of what is asked and recorded', async () => {
    const { asked, broker, tool } = asking(async () => ({ kind: 'once' }));
    const provider = scriptedModel(
      { calls: [{ name: tool.name, input: { key: 'hunter2' } }] },
      { text: 'done' },
    );
    const redact = (text: string): string => text.replaceAll('hunter2', '[redacted]');
    const engine = await startEngine({ provider, tools: [tool], spec, runtime: { broker, redact } });
    await engine.run('go');
    expect(asked[0]?.summary).toBe('{"key":"[redacted]"}');
    const recorded = engine.recorded().filter(({ type }) => type.startsWith('permission.'));
    expect(JSON.stringify(recorded)).not.toContain('hunter2');
  });
});

describe('RES-3: nobody is asked about a change that cannot be made', () => {
  const edit = (old_string: string) => ({
    calls: [{ name: 'Edit', input: { file_path: 'a.txt', old_string, new_string: 'new' } }],
  });
  const read = { calls: [{ name: 'Read', input: { file_path: 'a.txt' } }] };

  async function asked(...steps: Parameters<typeof scriptedModel>): Promise<[string[], string[]]> {
    const questions: string[] = [];
    const broker: PermissionBroker = {
      async ask({ tool, summary }) {
        questions.push(`${tool} ${summary}`);
        return { kind: 'denied', reason: 'no.' };
      },
    };
    const provider = scriptedModel(...steps, { text: 'done' });
    const engine = await startEngine({
      provider,
      tools: [readTool, editTool, writeTool],
      spec,
      runtime: { broker },
    });
    writeFileSync(join(engine.agent.spec.cwd, 'a.txt'), 'one two one\n');
    const { events } = await engine.run('go');
    const denied = events.flatMap((event) =>
      event.type === 'tool_completed' && event.denied ? [event.call.name] : [],
    );
    return [questions.map((text) => text.split(' ')[0] ?? ''), denied];
  }

  test('an Edit whose text is missing or not unique, or whose file was not read', async () => {
    expect(await asked(edit('two'))).toEqual([[], []]);
    expect(await asked(read, edit('three'), edit('one'), edit('new'))).toEqual([[], []]);
  });

  test('a Write over a file that was not read', async () => {
    const write = (file_path: string) => ({ calls: [{ name: 'Write', input: { file_path, content: 'x' } }] });
    expect(await asked(write('a.txt'))).toEqual([[], []]);
    expect(await asked(write('b.txt'))).toEqual([['Write'], ['Write']]);
    expect(await asked(read, write('a.txt'))).toEqual([['Write'], ['Write']]);
  });

  test('one that can be made is asked about', async () => {
    expect(await asked(read, edit('two'))).toEqual([['Edit'], ['Edit']]);
  });
});

describe('WORK-1: git that would throw away what others have', () => {
  test.for([
    ['is refused before anybody is asked', 'git reset --hard', true, 0],
    ['is asked about where the agent is alone', 'git reset --hard', false, 1],
    ['is not found in a command that harms nobody', 'git commit -m "reset --hard"', true, 1],
    ['is not found in a command without git', 'touch reset', true, 1],
  ] as const)('%s', async ([, command, isShared, questions]) => {
    const cwd = temporaryRepository();
    const checkouts = createCheckouts({
      home: temporaryDirectory(),
      environment: { PATH: process.env.PATH ?? '' },
    });
    if (isShared) checkouts.at(cwd)?.enter('bbbbbbbb.1');
    const { asked, broker } = asking(async () => ({ kind: 'denied', reason: 'no' }));
    const provider = scriptedModel({ calls: [{ name: 'Bash', input: { command } }] }, { text: 'done' });
    const engine = await startEngine({
      provider,
      tools: builtInTools({ fork: false, types: [] }),
      spec: { ...spec, cwd },
      runtime: { broker, checkouts: async () => checkouts },
    });
    await engine.run('go');
    expect(asked).toHaveLength(questions);
    const answer = JSON.stringify(provider.requests[1]?.messages.at(-1));
    expect(answer.includes('Nothing was run: refused while agent bbbbbbbb.1 works')).toBe(questions === 0);
  });
});
