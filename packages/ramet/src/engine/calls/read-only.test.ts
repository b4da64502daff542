import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type EngineFixture, startEngine } from '../../../test/fixtures/engine.ts';
import { commandList, type HeldPlace, heldPlace } from '../../../test/fixtures/held-place.ts';
import { contentOf } from '../../conversation/frozen-block.ts';
import type { PermissionBroker } from '../../permission/broker.ts';
import { parseRules, sessionRules } from '../../permission/policy.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { runCalls } from './tool-runner.ts';

interface Reader extends EngineFixture {
  place: HeldPlace;
  /** The questions that were asked. */
  asked: string[];
  call(name: string, input: Record<string, unknown>): Promise<{ text: string; isError: boolean }>;
}

/** An agent that only reads, under the widest mode and with rules that allow everything. */
async function startReader(): Promise<Reader> {
  const place = heldPlace();
  const asked: string[] = [];
  const broker: PermissionBroker = {
    async ask({ summary }) {
      asked.push(summary);
      return { kind: 'once' };
    },
  };
  const origin = { base: place.repository, home: place.env.HOME ?? null };
  const allow = ['Bash', 'Bash(*)', 'Edit(**)', 'Write', 'Edit', 'WebFetch'];
  const { rules } = parseRules({ allow }, { place: 'the test', ...origin });
  const engine = await startEngine({
    provider: scriptedModel(),
    spec: { readOnly: true, permissionMode: 'bypassPermissions', cwd: place.repository },
    runtime: { permissions: sessionRules(rules, origin), broker, childEnvironment: place.env },
  });
  let calls = 0;
  return {
    ...engine,
    place,
    asked,
    async call(name, input) {
      calls += 1;
      const run = { agent: engine.agent, signal: new AbortController().signal };
      const id = `call-${calls}`;
      const block = (await runCalls(run, [{ type: 'tool_use', id, name, input }])).get(id);
      if (block === undefined) throw new Error('no result');
      const result = contentOf(block);
      return { text: String(result.content), isError: result.is_error === true };
    },
  };
}

const REFUSED = /is not permitted: you are an agent that only reads/;

describe('TYPE-2: an agent that only reads', () => {
  test('writes in none of hundreds of ways, whatever mode and rules allow, and nobody is asked', async () => {
    const reader = await startReader();
    const attempts = commandList('write-attempts.txt');
    const before = reader.place.look();
    const passed: string[] = [];
    for (const command of attempts) {
      const { text, isError } = await reader.call('Bash', { command, timeout: 5_000 });
      if (!isError || !REFUSED.test(text)) passed.push(`${command}\n  ${text.slice(0, 200)}`);
    }
    expect(passed).toEqual([]);
    expect(reader.place.look()).toEqual(before);
    expect(reader.asked).toEqual([]);
    expect(attempts.length).toBeGreaterThanOrEqual(300);
  });

  test('writes in the background no more than in the foreground', async () => {
    const reader = await startReader();
    const { text } = await reader.call('Bash', { command: 'touch new', run_in_background: true });
    expect(text).toMatch(REFUSED);
    expect(existsSync(join(reader.cwd, 'new'))).toBe(false);
  });

  test('runs the commands that reading takes, and they leave no trace', async () => {
    const reader = await startReader();
    const before = reader.place.look();
    const failed: string[] = [];
    for (const command of commandList('reading-commands.txt')) {
      const { text, isError } = await reader.call('Bash', { command });
      // Not every machine has every program.
      if (isError && !/not found|Exit code 127/.test(text)) failed.push(`${command}\n  ${text}`);
    }
    expect(failed).toEqual([]);
    expect(reader.place.look()).toEqual(before);
    expect(reader.asked).toEqual([]);
  });

  test('changes no file with a tool, not even when it has the tool', async () => {
    const reader = await startReader();
    const before = reader.place.look();
    const file_path = join(reader.cwd, 'README.md');
    await reader.call('Read', { file_path });
    for (const [name, input] of [
      ['Write', { file_path: join(reader.cwd, 'new'), content: 'x' }],
      ['Edit', { file_path, old_string: 'text a', new_string: 'text c' }],
    ] as const) {
      expect(await reader.call(name, input)).toMatchObject({
        text: expect.stringMatching(REFUSED),
        isError: true,
      });
    }
    expect(reader.place.look()).toEqual(before);
  });

  test('keeps its own list, and reads what it likes', async () => {
    const reader = await startReader();
    const todos = [{ content: 'look', status: 'pending', activeForm: 'Looking' }];
    expect(await reader.call('TodoWrite', { todos })).toMatchObject({ isError: false });
    expect(await reader.call('Grep', { pattern: 'text' })).toMatchObject({ isError: false });
    expect(await reader.call('Glob', { pattern: '**/*.txt' })).toMatchObject({ isError: false });
  });
});
