import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Emulator } from '../../src/emulator/index.ts';
import { linesOf } from '../fixtures/command.ts';
import { startOnTerminal } from '../fixtures/terminal.ts';
import { test } from '../fixtures/user.ts';

const PARTS = { type: 'object', properties: { parts: { type: 'array' } }, required: ['parts'] };
const CRITIC = { critic: { description: 'finds faults', prompt: 'You find faults.', tools: ['Read'] } };

function firstOf({ requests }: Emulator): { system: string[]; tools: string[]; said: string } {
  const { system, tools = [], messages } = requests[0]?.request ?? {};
  return {
    system: Array.isArray(system) ? system.map((block) => String(block.text)) : [],
    tools: tools.map(({ name }) => name),
    said: JSON.stringify(messages),
  };
}

describe.concurrent('LIB-1: the options of the library as flags', () => {
  test('--system-prompt replaces the prompt, --append-system-prompt follows it', async ({ user }) => {
    const emulator = await user.model({ text: 'ok' });
    const flags = ['--system-prompt', 'You are terse.', '--append-system-prompt', 'Say please.'];
    expect(await user.ramet(['-p', 'Hi.', ...flags])).toEqual({ code: 0, stdout: 'ok\n', stderr: '' });
    expect(firstOf(emulator).system).toEqual(['You are terse.', 'Say please.']);
  });

  test('--agents defines types, --agent makes the main agent one of them', async ({ user }) => {
    const emulator = await user.model({ text: 'ok' });
    const end = await user.here(['-p', 'Hi.', '--agents', JSON.stringify(CRITIC), '--agent', 'critic']);
    expect(end).toEqual({ code: 0, stdout: 'ok\n', stderr: '' });
    expect(firstOf(emulator)).toMatchObject({ system: ['You find faults.'], tools: ['Read'] });
  });

  test('on a terminal, --agent refuses an unknown type at the start and names a known one', async ({
    user,
  }) => {
    await user.model({ text: 'ok' });
    await using refused = startOnTerminal(user, ['--agent', 'critci']);
    expect(await refused.ended).toBe(2);
    expect(refused.screen).toContain('there is no agent type "critci"');
    const flags = ['--agents', 'types.json', '--agent', 'critic'];
    writeFileSync(join(user.repository, 'types.json'), JSON.stringify(CRITIC));
    await using terminal = startOnTerminal(user, flags, { columns: 160 });
    await terminal.shows(/^ramet .* as critic \(\/help\)/m);
  });

  test('--agents takes a file, and the Agent tool lists its types', async ({ user }) => {
    const emulator = await user.model({ text: 'ok' });
    writeFileSync(join(user.repository, 'types.json'), JSON.stringify(CRITIC));
    expect((await user.here(['-p', 'Hi.', '--agents', 'types.json'])).code).toBe(0);
    expect(JSON.stringify(emulator.requests[0]?.request?.tools)).toContain('- critic: finds faults');
  });

  test('--tools names the built-in tools; an empty list means none', async ({ user }) => {
    const emulator = await user.model({ text: 'ok' });
    expect((await user.here(['-p', 'Hi.', '--tools', 'Grep,Read'])).code).toBe(0);
    expect(firstOf(emulator).tools).toEqual(['Read', 'Grep']);
    const none = await user.model({ text: 'ok' });
    expect((await user.here(['-p', 'Hi.', '--tools', ''])).code).toBe(0);
    expect(firstOf(none).tools).toEqual([]);
    const all = await user.model({ text: 'ok' });
    expect((await user.here(['-p', 'Hi.', '--tools', 'default'])).code).toBe(0);
    expect(firstOf(all).tools).toContain('Bash');
  });

  test('AGENT-5: --json-schema prints JSON that fits, in every format', async ({ user }) => {
    const answer = { text: 'Here: ```json\n{"parts":[1]}\n```' };
    const emulator = await user.model({ text: 'none' }, answer, answer, answer);
    const flags = ['-p', 'List.', '--json-schema', JSON.stringify(PARTS)];
    const text = await user.here(flags);
    expect(text).toEqual({ code: 0, stdout: '{"parts":[1]}\n', stderr: '' });
    expect(firstOf(emulator).said).toContain('JSON Schema');
    const json = JSON.parse((await user.here([...flags, '--output-format', 'json'])).stdout);
    expect(json).toMatchObject({
      subtype: 'success',
      result: '{"parts":[1]}',
      structured_output: { parts: [1] },
    });
    const lines = linesOf((await user.here([...flags, '--output-format', 'stream-json'])).stdout);
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ structured_output: { parts: [1] } });
  });

  test('AGENT-5: an answer that never fits fails with exit code 1 and no structured output', async ({
    user,
  }) => {
    await user.emulate({ respond: () => ({ text: 'no JSON' }) });
    const flags = ['-p', 'List.', '--json-schema', JSON.stringify(PARTS), '--output-format', 'json'];
    const end = await user.here(flags);
    expect(end.code).toBe(1);
    const result = JSON.parse(end.stdout);
    expect(result).toMatchObject({ is_error: true, subtype: 'error_during_execution' });
    expect(result).not.toHaveProperty('structured_output');
    expect(end.stderr).toMatch(/^ramet: failed: schema: /);
  });

  test.for<[string[], string]>([
    [['--agents', '{"critic": '], '--agents is no JSON: '],
    [['--agents', 'missing.json'], '--agents: there is no file missing.json'],
    [['--agents', '[1]'], '--agents is a list; give an object of types by name'],
    [['--agents', '{"bad": {"prompt": "p"}}'], 'agentTypes.bad: description: it is missing'],
    [['--agent', 'critci'], 'there is no agent type "critci"'],
    [['--tools', 'Raed'], 'there is no built-in tool "Raed": did you mean Read?'],
    [['--tools', 'Bash(ls)'], '"Bash(ls)" is a rule'],
    [['--json-schema', '{"type": "objekt"}'], '--json-schema: '],
    [['--json-schema', '{"type": '], '--json-schema is no JSON: '],
    [['--json-schema', '"text"'], '--json-schema: '],
    [['--system-prompt', ' '], 'the option systemPrompt is an empty text'],
    [['--agent', 'Plan', '--system-prompt', 'x'], "cannot be used with option '--system-prompt"],
    [['--agent', 'Plan', '--continue'], "cannot be used with option '-c, --continue'"],
  ])('%j is refused in one line, and nothing is sent', async ([flags, message], { user }) => {
    const emulator = await user.model({ text: 'never' });
    const end = await user.here(['-p', 'x', ...flags]);
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(linesOf(end.stderr)).toEqual([expect.stringContaining(message)]);
    expect(emulator.requests).toHaveLength(0);
  });

  test('--json-schema without -p is refused', async ({ user }) => {
    const end = await user.here(['--json-schema', '{}', 'hello there']);
    expect(end).toMatchObject({ code: 2 });
    expect(end.stderr).toContain('--json-schema is for -p');
  });
});
