import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runToEnd, startEngine } from '../../../test/fixtures/engine.ts';
import { writeFiles } from '../../../test/fixtures/temporary.ts';
import { responseCompleted } from '../../../test/recorded-events.ts';
import { freezeBlock } from '../../conversation/frozen-block.ts';
import type { AgentEvent } from '../../engine/agent/agent-event.ts';
import { runAgent } from '../../engine/loop/loop.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { RECIPE_MODEL } from '../catalog.ts';
import { costOf } from '../prices.ts';
import { TASK_FAILED } from '../provider.ts';
import { recipeProvider, withRecipe } from './recipe.ts';

const spec = { model: RECIPE_MODEL };

function block(label: string, content: string): string {
  return `\`\`\`${label}\n${content}\n\`\`\`\n`;
}

async function run(task: string, files: Record<string, string> = {}) {
  const engine = await startEngine({ provider: recipeProvider(), spec });
  writeFiles(engine.cwd, files);
  const { result, events } = await engine.run(task);
  const calls = events.flatMap((event) => (event.type === 'tool_started' ? [event.call.name] : []));
  const read = (path: string): string => readFileSync(join(engine.cwd, path), 'utf8');
  return { ...engine, result, calls, read };
}

describe('RECIPE-1: a recipe on the real tools', () => {
  test('writes files, runs commands and ends as done', async () => {
    const { result, calls, read } = await run(
      block('write src/a.txt', 'one') + block('sh', 'cat src/a.txt > b.txt'),
    );
    expect(result).toMatchObject({ status: 'done', cause: null, turns: 3 });
    expect(calls).toEqual(['Write', 'Bash']);
    expect(read('b.txt')).toBe('one\n');
    expect(result.text).toMatch(/^Done: 2 steps carried out\./);
  });

  test('reads a file that exists before it replaces it', async () => {
    const { result, calls, read } = await run(block('write a.txt', 'new'), {
      'a.txt': 'old\n'.repeat(5_000),
    });
    expect(result.status).toBe('done');
    expect(calls).toEqual(['Write', 'Read', 'Write']);
    expect(read('a.txt')).toBe('new\n');
  });

  test('writes a file again that a command of its own has changed or deleted', async () => {
    const write = block('write a.txt', 'mine');
    const changed = await run(write + block('sh', 'echo other > a.txt') + write);
    expect(changed.result.status).toBe('done');
    expect(changed.read('a.txt')).toBe('mine\n');
    const deleted = await run(write + block('sh', 'rm a.txt') + write);
    expect(deleted.result.status).toBe('done');
    expect(deleted.read('a.txt')).toBe('mine\n');
  });

  test('a command that fails ends the run as failed, with its exit code, and nothing after it runs', async () => {
    const { result, cwd, recorded } = await run(
      block('sh', 'echo broken; exit 7') + block('sh', 'touch after'),
    );
    const message = 'step 1 of 2 (sh: echo broken; exit 7): exit code 7; 1 step after it not run';
    expect(result).toMatchObject({ status: 'failed', cause: 'recipe', message });
    expect(result.text).toContain('   | broken');
    expect(existsSync(join(cwd, 'after'))).toBe(false);
    expect(recorded().at(-1)).toMatchObject({ type: 'agent.ended', status: 'failed', cause: 'recipe' });
  });

  test('a line that fails in the middle of a block fails the step', async () => {
    const { result, cwd } = await run(block('sh', 'touch a\nfalse\ntouch b'));
    expect(result).toMatchObject({ status: 'failed', message: 'step 1 of 1 (sh: touch a): exit code 1' });
    expect([existsSync(join(cwd, 'a')), existsSync(join(cwd, 'b'))]).toEqual([true, false]);
  });

  test('a command that hangs is stopped when its time is over', async () => {
    const { result } = await run(block('sh timeout=1', 'sleep 600'));
    expect(result).toMatchObject({
      status: 'failed',
      message: 'step 1 of 1 (sh: sleep 600): timed out after 1000 ms',
    });
  });

  test.each([
    ['a directory', 'write src', 'is a directory'],
    ['a binary file', 'write a.bin', 'is a binary file'],
    ['a command too long for the system', 'sh', 'too long for the system'],
  ])('says why %s is refused', async (_, label, reason) => {
    const content = label === 'sh' ? `echo ${'x'.repeat(200_000)}` : 'text';
    const { result } = await run(block(label, content), { 'src/a': '', 'a.bin': '\u0000\u0001' });
    expect(result).toMatchObject({
      status: 'failed',
      cause: 'recipe',
      message: expect.stringContaining(reason),
    });
  });

  test('what a mode does not allow fails with the reason', async () => {
    const engine = await startEngine({
      provider: recipeProvider(),
      spec: { ...spec, permissionMode: 'plan' },
    });
    const { result } = await engine.run(block('sh', 'touch a'));
    expect(result).toMatchObject({
      status: 'failed',
      cause: 'recipe',
      message: expect.stringContaining('plan'),
    });
    expect(existsSync(join(engine.cwd, 'a'))).toBe(false);
  });

  test('a conversation continues after a failure, with the next recipe', async () => {
    const engine = await startEngine({ provider: recipeProvider(), spec });
    expect((await engine.run(block('sh', 'false'))).result.status).toBe('failed');
    expect((await engine.run(block('sh', 'true'))).result.status).toBe('done');
    expect((await engine.run('And now?')).result.status).toBe('failed');
  });

  test('is stopped by an abort, and by the limit of turns', async () => {
    const stopped = new AbortController();
    stopped.abort('SIGINT');
    const engine = await startEngine({ provider: recipeProvider(), spec: { ...spec, maxTurns: 1 } });
    expect((await engine.run(block('sh', 'true'), stopped.signal)).result.status).toBe('interrupted');
    const { result } = await engine.run(block('sh', 'touch a') + block('sh', 'touch b'));
    expect(result).toMatchObject({ status: 'failed', cause: 'max_turns', text: 'Step 2 of 2: sh: touch b' });
    expect([existsSync(join(engine.cwd, 'a')), existsSync(join(engine.cwd, 'b'))]).toEqual([true, false]);
  });

  test('continues with the next step after an interruption', async () => {
    const engine = await startEngine({ provider: recipeProvider(), spec });
    const task = block('sh', 'echo x >> a') + block('sh', 'echo x >> b');
    const stop = new AbortController();
    engine.agent.say('prompt', [freezeBlock({ type: 'text', text: task })]);
    engine.agent.here.sink = ({ type }: AgentEvent): void => {
      if (type === 'tool_completed') stop.abort('SIGINT');
    };
    await runAgent(engine.agent, { signal: stop.signal });
    expect(existsSync(join(engine.cwd, 'b'))).toBe(false);
    const { result } = await runToEnd(engine.agent);
    expect(result.status).toBe('done');
    const counts = ['a', 'b'].map((path) => readFileSync(join(engine.cwd, path), 'utf8'));
    expect(counts).toEqual(['x\n', 'x\n']);
  });

  test('a failure that a killed process had only to report is still a failure', async () => {
    const { agent } = await startEngine({ provider: recipeProvider(), spec });
    agent.say('prompt', [freezeBlock({ type: 'text', text: block('sh', 'false') })]);
    const answer = agent.store([freezeBlock({ type: 'text', text: 'Failed: step 1 of 1\n\nmore' })]);
    agent.record(responseCompleted({ blocks: answer, stopReason: TASK_FAILED }));
    const { result } = await runToEnd(agent);
    expect(result).toMatchObject({ status: 'failed', cause: 'recipe', message: 'step 1 of 1', turns: 0 });
  });

  test('writes 10 MB and says so', async () => {
    const { result, read } = await run(block('write big.txt', 'x'.repeat(10_000_000)));
    expect(result.status).toBe('done');
    expect(read('big.txt')).toHaveLength(10_000_001);
  });
});

describe('the recipe provider', () => {
  const request = (text: string) => ({
    model: RECIPE_MODEL,
    body: Buffer.from(
      JSON.stringify({ messages: [{ role: 'user', content: text }], tools: [{ name: 'Bash' }] }),
    ),
  });
  const send = (provider = recipeProvider(), text = block('sh', 'true'), model = RECIPE_MODEL) =>
    provider.send({ ...request(text), model }, { signal: new AbortController().signal, onDelta: () => {} });

  test('gives equal answers to equal requests, ids included', async () => {
    const [first, second] = await Promise.all([send(), send()]);
    const { durationMs: _a, firstTokenMs: _b, ...one } = first;
    expect(second).toMatchObject(one);
    expect((await send(undefined, block('sh', 'false'))).id).not.toBe(first.id);
  });

  test('MODEL-3: counts bytes over four, knows no cache and costs nothing', async () => {
    const { usage } = await send();
    const bytes = request(block('sh', 'true')).body.byteLength;
    expect(usage).toMatchObject({
      input_tokens: Math.ceil(bytes / 4),
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    });
    expect(usage?.output_tokens).toBeGreaterThan(10);
    expect(usage && costOf(RECIPE_MODEL, usage)).toMatchObject({ usd: 0, unconfirmed: false });
  });

  test('answers by its name beside another provider, which gets the rest', async () => {
    const both = withRecipe(scriptedModel({ text: 'from the other' }));
    expect(both.name).toBe('scripted');
    expect((await send(both)).stopReason).toBe('tool_use');
    expect((await send(both, 'x', 'claude-sonnet-5')).blocks[0]?.value).toMatchObject({
      text: 'from the other',
    });
    both.close();
  });
});
