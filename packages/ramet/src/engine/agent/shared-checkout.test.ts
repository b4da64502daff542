import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type EngineFixture, startEngine, toolOf } from '../../../test/fixtures/engine.ts';
import { runSync } from '../../../test/fixtures/run-sync.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { textOf } from '../../../test/fixtures/tool-context.ts';
import { createCheckouts } from '../../git/shared-git/checkout.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { builtInTools } from '../../tools/registry.ts';
import type { Tool } from '../../tools/tool.ts';
import { runCalls } from '../calls/tool-runner.ts';
import { Agent } from './agent.ts';

const TOOLS = builtInTools({ fork: true, types: [] });

/** A tool of the main agent’s that lets a second agent of the session make one call. */
function second(engine: () => EngineFixture, call: { name: string; input: unknown }, said: string[]): Tool {
  return toolOf('Other', 'read', async () => {
    const { runtime, agent } = engine();
    const spec = { ...agent.spec, id: agent.spec.id.replace(/\.1$/, '.2'), tools: TOOLS };
    const other = Agent.start(runtime, spec);
    const signal = new AbortController().signal;
    const use = { type: 'tool_use' as const, id: 'toolu_other', ...call, input: call.input as object };
    const results = await runCalls({ agent: other, signal }, [use]);
    for (const block of results.values()) said.push(Buffer.from(block.bytes).toString());
    await other.tasks.find('bash-1')?.ended;
    return { content: 'done' };
  });
}

async function readThenOther(call: {
  name: string;
  input: unknown;
}): Promise<{ said: string[]; conversation: string; cwd: string }> {
  const said: string[] = [];
  const provider = scriptedModel(
    { calls: [{ name: 'Read', input: { file_path: 'a.txt' } }] },
    { calls: [{ name: 'Other', input: {} }] },
    { text: 'done' },
  );
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, 'a.txt'), 'one\n');
  let engine: EngineFixture | null = null;
  const tools = [...TOOLS, second(() => engine as EngineFixture, call, said)];
  engine = await startEngine({ provider, tools, spec: { cwd } });
  await engine.run('go');
  const blocks = engine.agent.conversation.messages.flatMap((message) => message.blocks);
  return { said, conversation: blocks.map(({ bytes }) => Buffer.from(bytes).toString()).join('\n'), cwd };
}

describe('WORK-1: a command that changes what another agent has read', () => {
  test('is told to both: in its own result, and to the reader at its next tool boundary', async () => {
    const { said, conversation } = await readThenOther({
      name: 'Bash',
      input: { command: 'echo two > a.txt; cat a.txt' },
    });
    expect(said.join()).toMatch(
      /two\\nFiles that other agents have read changed while this ran.*a\.txt \(read by \w+\.1\)/,
    );
    expect(conversation).toMatch(
      /Others changed files that you have read\. Read them again.*a\.txt was changed while agent \w+\.2 ran `echo two > a\.txt; cat a\.txt`/,
    );
  });

  test('is told also when it ran in the background, and when it deletes the file', async () => {
    const { conversation } = await readThenOther({
      name: 'Bash',
      input: { command: 'rm a.txt', run_in_background: true },
    });
    expect(conversation).toMatch(/a\.txt was removed while agent \w+\.2 ran `rm a\.txt`/);
  });

  test('is not told when it changes nothing, or puts back what was there', async () => {
    const { said, conversation } = await readThenOther({
      name: 'Bash',
      input: { command: 'touch a.txt; echo two > a.txt; echo one > a.txt; echo three > b.txt' },
    });
    expect(said.join()).not.toContain('other agents');
    expect(conversation).not.toContain('changed by others');
  });
});

describe('WORK-1: git beside other agents', () => {
  test('what throws away their work is refused before it runs, and not when the agent is alone', async () => {
    const cwd = temporaryDirectory();
    const git = (...words: string[]): void => void runSync('git', words, { cwd });
    git('init', '-q');
    writeFileSync(join(cwd, 'a.txt'), 'one\n');
    git('add', '-A');
    git('-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '-qm', 'one');
    writeFileSync(join(cwd, 'a.txt'), 'two\n');
    const home = temporaryDirectory();
    const checkouts = createCheckouts({ home, environment: { PATH: process.env.PATH ?? '' } });
    const leave = checkouts.at(cwd)?.enter('bbbbbbbb.1');
    const bash = (command: string): { calls: { name: string; input: object }[] } => ({
      calls: [{ name: 'Bash', input: { command } }],
    });
    const provider = scriptedModel(
      bash('cd . && git reset --hard && rm a.txt'),
      { calls: [{ name: 'Leave', input: {} }] },
      bash('git reset --hard'),
      { text: 'done' },
    );
    const tools = [
      ...TOOLS,
      toolOf('Leave', 'read', async () => {
        expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('two\n');
        leave?.();
        return { content: 'left' };
      }),
    ];
    const engine = await startEngine({
      provider,
      tools,
      spec: { cwd },
      runtime: { checkouts: async () => checkouts },
    });
    const { events } = await engine.run('go');
    const results = events.flatMap((event) =>
      event.type === 'tool_completed' ? [textOf({ content: event.result.content as string })] : [],
    );
    expect(results[0]).toMatch(
      /Nothing was run: refused while agent bbbbbbbb\.1 works in this checkout too: git reset/,
    );
    expect(results[2]).toContain('HEAD is now at');
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n');
  });

  test('an agent counts from its first call that can change files until it ends; who only reads or delegates does not', async () => {
    const cwd = temporaryDirectory();
    runSync('git', ['init', '-q'], { cwd });
    const checkouts = createCheckouts({
      home: temporaryDirectory(),
      environment: { PATH: process.env.PATH ?? '' },
    });
    const living: string[][] = [];
    const look = toolOf('Look', 'execute', async () => {
      living.push(checkouts.at(cwd)?.others('nobody') ?? []);
      return { content: 'seen' };
    });
    const lookOnce = { calls: [{ name: 'Look', input: {} }] };
    const bash = { calls: [{ name: 'Bash', input: { command: 'true' } }] };
    const provider = scriptedModel(lookOnce, lookOnce, bash, lookOnce, { text: 'done' });
    const engine = await startEngine({
      provider,
      tools: [...TOOLS, look],
      spec: { cwd },
      runtime: { checkouts: async () => checkouts },
    });
    await engine.run('go');
    expect(living).toEqual([[], [], [engine.agent.spec.id]]);
    await engine.agent[Symbol.asyncDispose]();
    expect(checkouts.at(cwd)?.others('nobody')).toEqual([]);
  });
});
